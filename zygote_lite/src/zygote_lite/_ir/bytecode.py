"""Code objects and definitions: what is inside, parameters, functions that only pass arguments on.

Libraries create functions without source text from a template, by `exec`, to give them certain
parameters: SciPy's distributions do, for their shape parameters, and `namedtuple` for `__new__`.
"""

import ast
import dis
import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any, TypeVar

Defined = TypeVar("Defined", ast.FunctionDef, ast.ClassDef)
_LOADS = {
    "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
}  # fmt: skip


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions and classes inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def handing_on(code: CodeType) -> ast.FunctionDef | None:
    """Return the definition of a function that hands its arguments on; of all others, `None`.

    It returns arguments and constants, tuples of them, or what a global function makes of them.
    """
    stack: list[ast.expr] = []
    for instruction in dis.get_instructions(code):
        name, value = instruction.opname, instruction.argval
        if name in _LOADS:
            names = value if isinstance(value, tuple) else (value,)
            stack += [ast.Name(n, ast.Load()) for n in names]
        elif name in ("LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST"):
            stack.append(ast.Constant(value))
        elif name == "BUILD_TUPLE":
            first = len(stack) - value
            stack[first:] = [ast.Tuple(stack[first:], ast.Load())]
        elif name == "LOAD_GLOBAL":
            stack.append(ast.Name(value, ast.Load()))
        elif name == "CALL":
            first = len(stack) - instruction.arg  # type: ignore[operator]
            stack[first - 1 :] = [ast.Call(stack[first - 1], stack[first:], [])]
        elif name not in ("RESUME", "RETURN_VALUE", "NOP", "PRECALL", "PUSH_NULL"):
            return None
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE) or len(stack) != 1:
        return None
    body: list[ast.stmt] = [ast.Return(stack[0])]
    made = without_type_parameters(ast.FunctionDef(code.co_name, _parameters(code), body, []))
    for node in ast.walk(made):
        node.lineno = node.end_lineno = code.co_firstlineno  # type: ignore[attr-defined]
        node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    return made


def _parameters(code: CodeType) -> ast.arguments:
    positional, varargs, keyword, varkeywords = parameters_of(code)
    arguments = [ast.arg(name) for name in positional]
    first = code.co_posonlyargcount
    return ast.arguments(
        arguments[:first],
        arguments[first:],
        None if varargs is None else ast.arg(varargs),
        [ast.arg(name) for name in keyword],
        [None for _ in keyword],
        None if varkeywords is None else ast.arg(varkeywords),
        [],
    )


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
