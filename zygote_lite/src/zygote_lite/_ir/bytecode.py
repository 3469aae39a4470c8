"""Code objects and definitions: what is inside, and their parameters."""

import ast
import dis
import inspect
import itertools
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple, TypeVar

from zygote_lite.caches import cached

Defined = TypeVar("Defined", ast.FunctionDef, ast.ClassDef)


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions and classes inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def names_from_outside(code: CodeType) -> set[str]:
    """Return the names of globals, and of variables around it, that code may read."""
    parts = [(c.co_names, c.co_freevars, c.co_cellvars) for c in codes_in(code)]
    return {name for part in parts for names in part for name in names}


_BY_NAME = {  # instructions, and by how many bits the number of the name is shifted
    dis.opmap[name]: name == "LOAD_GLOBAL"
    for name in ("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_NAME", "STORE_NAME",
                 "DELETE_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
    if name in dis.opmap
}  # fmt: skip


def variables_named(code: CodeType) -> set[str]:
    """Return the names of variables of the module that code reads, assigns or deletes.

    It is asked of all code that a program may reach, so that it does not wait for `dis`.
    """
    steps = code.co_code
    found = set[str]()
    high = 0
    for i in range(0, len(steps), 2):
        operation, operand = steps[i], steps[i + 1] | high
        high = operand << 8 if operation == dis.EXTENDED_ARG else 0
        if operation in _BY_NAME:
            found.add(code.co_names[operand >> _BY_NAME[operation]])
    return found


def parameters_of(code: CodeType) -> tuple[list[str], str | None, list[str], str | None]:
    """Return the parameters of a function: positional, `*`, keyword-only, `**`."""
    n, m = code.co_argcount, code.co_kwonlyargcount
    names = [*code.co_varnames]
    rest = names[n + m :]
    varargs = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else None
    varkeywords = rest.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else None
    return names[:n], varargs, names[n : n + m], varkeywords


def placed(node: Any, origin: ast.AST) -> Any:
    """Return a syntax tree of which every part stands where `origin` does."""
    for part in ast.walk(node):
        ast.copy_location(part, origin)
    return node


def in_signature_order(arguments: ast.arguments) -> list[ast.arg]:
    """Return parameters in the order of the signature: positional, `*`, keyword-only, `**`."""
    a = arguments
    found = [*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg]
    return [p for p in found if p is not None]


def without_type_parameters(node: Defined) -> Defined:
    """Return a definition that has no type parameters, of which older Python knows nothing."""
    if "type_params" in node._fields:
        node.type_params = []  # type: ignore[attr-defined]
    return node


# -- what code does ----------------------------------------------------------------------------

Named = tuple[str, bool]

_STORES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "STORE_NAME", "STORE_SLICE",
           "DELETE_ATTR", "DELETE_SUBSCR", "DELETE_GLOBAL", "DELETE_DEREF", "IMPORT_NAME",
           "STORE_MAP")  # fmt: skip


@cached(4096)
def deeds_of(code: CodeType) -> tuple[bool, set[Named], set[str], set[Named]]:
    """Return whether code writes itself, and the globals, free variables and methods it names.

    With each global and method goes whether it is called there. Code that calls another value, such
    as a local variable or an item, may write.
    """
    writes = False
    names: set[Named] = set()
    free: set[str] = set()
    methods: set[Named] = set()
    for part in codes_in(code):
        instructions = [*dis.get_instructions(part)]
        called = _called_by_value(instructions)
        for k, i in enumerate(instructions):
            if i.opname.startswith(_STORES) or (
                i.opname == "BINARY_OP" and i.argrepr.endswith("=")
            ):
                writes = True
            elif i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                names.add((str(i.argval), "NULL" in i.argrepr or k in called))
            elif i.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
                free.add(str(i.argval))
            elif i.opname in ("LOAD_METHOD", "LOAD_ATTR", "LOAD_SUPER_ATTR"):
                is_called = i.opname == "LOAD_METHOD" or "NULL" in i.argrepr or k in called
                methods.add((str(i.argval), is_called))
            elif k in called and i.opname != "LOAD_BUILD_CLASS":
                writes = True
    return writes, names, free, methods


def _called_by_value(instructions: list[dis.Instruction]) -> set[int]:
    """Return the numbers of instructions that load what is called, and not by name or as a method.

    `PUSH_NULL` stands after what is loaded since Python 3.13, and before that in front of it.
    """
    step = -1 if sys.version_info >= (3, 13) else 1
    return {k + step for k, i in enumerate(instructions) if i.opname == "PUSH_NULL"}


class Use(NamedTuple):
    """A place where code names a variable that is not its own.

    Attributes:
        name: the variable.
        is_global: whether it is one of the module, or a builtin, and not of a function around.
        attributes: those that are read there, one of the other.
        is_called: whether the last of these, or the variable, is called at once.
        is_conditional: whether that may be left out in a call.
    """

    name: str
    is_global: bool
    attributes: tuple[str, ...]
    is_called: bool
    is_conditional: bool


@cached(4096)
def uses_in(code: CodeType) -> list[Use]:
    """Return where code, and the functions inside it, name variables that are not their own."""
    found = list[Use]()
    for part in codes_in(code):
        steps = [i for i in dis.get_instructions(part) if i.opname not in ("EXTENDED_ARG", "NOP")]
        called = _called_by_value(steps)
        conditional = _conditional_in(steps)
        for k, i in enumerate(steps):
            is_global = i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
            if not is_global and i.opname not in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
                continue
            rest = itertools.takewhile(_reads_attribute, steps[k + 1 :])
            attributes = [*rest]
            last = attributes[-1] if attributes else i
            is_called = last.opname == "LOAD_METHOD" or "NULL" in i.argrepr + last.argrepr
            is_called = is_called or k in called or k + len(attributes) in called
            names = tuple([str(a.argval) for a in attributes])
            may_stay_out = part is not code or k in conditional
            found.append(Use(str(i.argval), is_global, names, is_called, may_stay_out))
    return found


def _reads_attribute(step: dis.Instruction) -> bool:
    return step.opname in ("LOAD_ATTR", "LOAD_METHOD")


def _conditional_in(steps: list[dis.Instruction]) -> set[int]:
    """Return the numbers of instructions that may be left out in a call of the code.

    These are between a jump and its target, and behind a return.
    """
    found, until = set[int](), -1
    for k, step in enumerate(steps):
        if step.offset < until:
            found.add(k)
        if step.opcode in _JUMPING and step.argval > step.offset:
            until = max(until, step.argval)
        elif step.opname.startswith(("RETURN_", "RAISE_", "RERAISE")) and (
            step.opname != "RETURN_GENERATOR"
        ):
            until = sys.maxsize
    return found


_JUMPING = {*dis.hasjrel, *dis.hasjabs}
