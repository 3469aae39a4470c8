"""The definition of a function without source text, if it only passes its arguments on.

Libraries create such functions from a template, by `exec`, to give them certain parameters: SciPy's
distributions do, for their shape parameters.
"""

import ast
import dis
import inspect
from types import CodeType

_LOADS = {
    "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_FAST_LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
}  # fmt: skip


def handing_on(code: CodeType) -> ast.FunctionDef | None:
    """Return the definition of a function that returns arguments and constants, or a tuple of them.

    Of all others, `None`.
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
        elif name not in ("RESUME", "RETURN_VALUE", "NOP"):
            return None
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE) or len(stack) != 1:
        return None
    body: list[ast.stmt] = [ast.Return(stack[0])]
    made = ast.FunctionDef(code.co_name, _parameters(code), body, [])
    if "type_params" in made._fields:
        made.type_params = []  # type: ignore[attr-defined]
    for node in ast.walk(made):
        node.lineno = node.end_lineno = code.co_firstlineno  # type: ignore[attr-defined]
        node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    return made


def _parameters(code: CodeType) -> ast.arguments:
    names = [ast.arg(name) for name in code.co_varnames]
    n, m = code.co_argcount, code.co_kwonlyargcount
    positional, keyword, rest = names[:n], names[n : n + m], names[n + m :]
    varargs = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else None
    varkeywords = rest.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else None
    first = code.co_posonlyargcount
    return ast.arguments(
        positional[:first], positional[first:], varargs, keyword, [None] * m, varkeywords, []
    )
