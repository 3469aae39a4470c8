"""Whether two code objects do the same: in lock-step, each instruction of the one as of the other.

Both start with the same stack and variables. Where they do the same thing next, they still have
the same stack and variables after it, and go on at two places of which the same has to hold, or
raise, and go on at their handlers. So code that is laid out otherwise, or copied, is the same.
"""

import inspect
from types import CodeType
from typing import Any

from zygote_lite._ir.decompile.graph import constant_key
from zygote_lite._ir.decompile.instructions import instructions_of
from zygote_lite._ir.recompile import MEANING

_ABOUT_CLASSES = {"__module__", "__qualname__", "__firstlineno__", "__static_attributes__"}


def first_difference(a: CodeType, b: CodeType) -> str | None:
    """Return what the first code object does that the second does not; `None` if nothing."""
    if _interface(a) != _interface(b):
        return f"the parameters or variables of {a.co_name}"
    ops, others = instructions_of(a), instructions_of(b)
    rest = [(0, 0)]
    seen = {*rest}
    while rest:
        i, j = rest.pop()
        x, y = ops[i], others[j]
        if x.name != y.name or len(x.following) != len(y.following):
            return f"{x.name} in {x}"
        if isinstance(x.value, CodeType) and isinstance(y.value, CodeType):
            inner = first_difference(x.value, y.value)
            if inner is not None:
                return inner
        elif constant_key(x.value) != constant_key(y.value) and not _is_aside(ops, i):
            return f"{x.name} in {x}"
        pairs = list(zip(x.following, y.following, strict=True))
        if x.handler is not None and y.handler is not None:
            pairs.append((x.handler.index, y.handler.index))
            same = (x.handler.depth, x.handler.notes_place) == (
                y.handler.depth, y.handler.notes_place)  # fmt: skip
        else:
            same = x.handler is y.handler
        if not same:
            return f"the handler of {x.name} in {x}"
        rest += [pair for pair in pairs if pair not in seen]
        seen.update(pairs)
    return None


def _interface(code: CodeType) -> Any:
    """Return what a code object shows: its parameters, what it captures and is captured of it."""
    is_function = code.co_flags & inspect.CO_OPTIMIZED
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return (
        code.co_name, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
        code.co_flags & MEANING, code.co_varnames[:count], {*code.co_cellvars},
        code.co_freevars, documentation(code) if is_function else None,
    )  # fmt: skip


def documentation(code: CodeType) -> str | None:
    """Return the documentation of a function."""
    first = code.co_consts[0] if code.co_consts else None
    return first if isinstance(first, str) else None


def _is_aside(ops: list[Any], i: int) -> bool:
    """Return whether a constant is what a class notes of its name, its place and its methods."""
    return (
        ops[i].name == "LOAD_CONST"
        and i + 1 < len(ops)
        and ops[i + 1].name == "STORE_NAME"
        and ops[i + 1].value in _ABOUT_CLASSES
    )
