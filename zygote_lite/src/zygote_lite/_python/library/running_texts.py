"""`eval` and `exec`: a text that reads nothing active is run, another one is followed.

It is a function of the dicts that hold its variables (`_ir.text_functions`).
"""

import builtins
import operator
import types
from typing import Any

from zygote_lite._activity.activity import is_active_text
from zygote_lite._activity.walk import may_reach_active
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._ir.bytecode import names_from_outside
from zygote_lite._ir.intrinsics import code_of_text, frame_refusal, run_text, text_as_read
from zygote_lite._ir.places import globals_of_caller, where
from zygote_lite._ir.text_functions import LOOKING_AROUND, NotATextFunctionError, text_function
from zygote_lite._tape.tape import Tape
from zygote_lite.caches import Cache
from zygote_lite.errors import Fault

handlers = Handlers()


def read_variable(variables: Any, module: dict[str, Any], name: str) -> Any:
    """Return a variable of a text: one of its own, of the module, or of Python."""
    for space in (variables, module, vars(builtins)):
        if name in space:
            return space[name]
    raise NameError(f"name {name!r} is not defined", name=name)


@handlers.desugared(read_variable, always=True)
def _(tape: Tape, nodes: Nodes, variables: Any, module: dict[str, Any], name: str) -> Traced:
    for space, node in ((variables, nodes[1]), (module, nodes[2])):
        if name in space:
            return tape.call((None, node, None), operator.getitem, space, name)
    return read_variable(variables, module, name), None


@handlers.desugared(run_text, always=True)
def _(
    tape: Tape, nodes: Nodes, kind: str, source: Any, module: Any, variables: Any, is_around: bool,
    flags: int,
) -> Traced:  # fmt: skip
    """Run a text, or follow it if it reads something active."""
    if nodes[2] is not None or is_active_text(source):
        raise _text_refusal(kind, "that depends on what is differentiated")
    code = code_of_text(source, kind, flags)
    if not isinstance(code, types.CodeType) or not isinstance(module, dict):
        return run_text(kind, source, module, variables, is_around, flags), None  # which raises
    names = names_from_outside(code)
    names |= {*variables, *module} if LOOKING_AROUND & names else set()
    spaces = ((variables, nodes[4]), (module, nodes[3]))
    active = next((n for n in sorted(names) if _is_active(tape, spaces, n)), None)
    if active is None:
        return _run(tape, kind, code, module, variables, names if is_around else None)
    of = f"that reads `{active}`, which depends on what is differentiated,"
    text, mode = (
        (_texts.get(code) or (None, "")) if code is source else (text_as_read(source, kind), kind)
    )
    if text is None:
        raise _text_refusal(kind, f"{of} and is code without its text")
    module.setdefault("__builtins__", vars(builtins))
    try:
        found = text_function(text, mode, flags)
    except NotATextFunctionError as reason:
        raise _text_refusal(kind, f"{of} and {reason}") from None
    hidden = [n for n in sorted(found.of_module) if _is_active(tape, spaces[1:], n)]
    if hidden:
        raise _text_refusal(kind, f"{of} and in which a function reads `{hidden[0]}`")
    operands = (None, nodes[4], nodes[3], None)
    y, node = tape.call(operands, found.made(module), variables, module, read_variable)
    return (y, node) if kind == "eval" else (None, None)


_texts: Cache[tuple[str, str]] = Cache(256)  # and their modes, by the code that was made of them


@handlers.desugared(compile, always=True)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    """Compile a text, which is kept with its code: the code may read something active."""
    if any(node is not None for node in nodes) or any(map(is_active_text, xs)):
        return None
    made = compile(*xs, **kws)
    source, mode = xs[0] if xs else None, xs[2] if len(xs) > 2 else ""
    if isinstance(source, str) and isinstance(made, types.CodeType) and mode in ("eval", "exec"):
        _texts.keep(made, (source, mode))
    return made, None


@handlers.desugared(globals, always=True)
def _(tape: Tape, nodes: Nodes) -> Traced:
    """Return the variables of the module whose code calls `globals` by another name."""
    return globals_of_caller(), None


@handlers.desugared(eval, exec, given=True)
def _(
    f: Any, tape: Tape, nodes: Nodes, source: Any, module: Any = None, variables: Any = None
) -> Traced:
    """Resolve a call by another name, which is given the variables."""
    if module is None:
        raise frame_refusal(f"`{f.__name__}` by another name")
    if variables is None:
        variables, nodes = module, (*nodes[:3], nodes[2])
    operands = (None, None, *nodes[1:4], None, None)
    return tape.call(operands, run_text, f.__name__, source, module, variables, False, 0)


def _run(
    tape: Tape, kind: str, code: Any, module: Any, variables: Any, seen: set[str] | None
) -> Traced:
    """Run code that reads nothing active; of the variables around it gets those that are `seen`."""
    function = getattr(builtins, kind)
    if seen is None:
        return tape.run_inactive(function, (code, module, variables), {})
    given = {n: x for n, x in variables.items() if n in seen}
    before = {**given}
    y, node = tape.run_inactive(function, (code, module, given), {})
    for name in before.keys() - given.keys():
        tape.call((None,) * 3, operator.delitem, variables, name)
    for name, value in given.items():
        if name not in before or before[name] is not value:
            tape.call((None,) * 4, operator.setitem, variables, name, value)
    return y, node


def _is_active(tape: Tape, spaces: Any, name: str) -> bool:
    """Return whether the variable that a name stands for holds or reaches something active."""
    for space, at in spaces:
        if name in space:
            value, node = tape.call((None, at, None), operator.getitem, space, name)
            return node is not None or may_reach_active(value)
    return False


def _text_refusal(kind: str, what: str) -> Exception:
    return Fault.SYNTAX(
        f"{where()}: `{kind}` of code {what} cannot be differentiated; write that code here, or "
        "make a function of it by `exec` before, and call that"
    )
