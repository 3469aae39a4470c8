"""Third stage: the forward code, in which every call also gives its pullback.

The user's own statements stay; each call becomes `y, back = pull(flags, f, *xs)`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from zygote_lite import _ir as ir
from zygote_lite._errors import unsupported

Flags = dict[str, ir.Atom]
INACTIVE = ir.Const(None)
ACTIVE = ir.Const(True)


@dataclass
class Primal:
    """The forward code of a straight function, and the flag of what it returns."""

    function: ir.Function
    body: list[ir.Statement]
    result: ir.Atom
    flag: ir.Atom


def primal(function: ir.Function, active: Iterable[str]) -> Primal:
    """Return the forward code of an instrumented function.

    Arguments:
        function: the instrumented IR.
        active: the parameters and captured variables that are differentiated.

    Raises `UnsupportedSyntaxError` where control flow is met.
    """
    flags: Flags = dict.fromkeys(active, ACTIVE)
    body: list[ir.Statement] = []
    for s in function.body[:-1]:
        match s:
            case ir.Call():
                body.append(_pull(function, s, flags))
            case ir.Move(_, target, source):
                flags[target] = _flag(source, flags)
                body.append(s)
            case _:
                raise _control_flow(function, s)
    last = function.body[-1]
    if not isinstance(last, ir.Return):
        raise _control_flow(function, last)
    return Primal(function, body, last.value, _flag(last.value, flags))


def _pull(function: ir.Function, s: ir.Call, flags: Flags) -> ir.Pull:
    keywords = [value for _, value in s.keywords]
    operands = [_flag(atom, flags) for atom in (s.function, *s.arguments, *keywords)]
    back = function.numbered("back")
    target = s.target if s.target != "_" else function.fresh("done")
    flags[target] = ir.Name(back)
    return ir.Pull(s.origin, target, back, operands, s.function, s.arguments, s.keywords)


def _flag(atom: ir.Atom, flags: Flags) -> ir.Atom:
    return flags.get(atom.id, INACTIVE) if isinstance(atom, ir.Name) else INACTIVE


def _control_flow(function: ir.Function, s: ir.Statement) -> Exception:
    line = getattr(s.origin, "lineno", 0)
    what = f"control flow (`{type(s).__name__.lower()}`)"
    return unsupported(function.filename, line, function.name, what)


def forward(p: Primal) -> ir.Function:
    """Return the forward code as a function, without the adjoint: what `code_primal` shows."""
    end = ir.ReturnTuple(p.function.body[-1].origin, [p.result, p.flag])
    return replace(p.function, body=[*p.body, end])
