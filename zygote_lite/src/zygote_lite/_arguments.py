"""Arguments: which parameter of a function each operand of a call is for."""

import functools
import inspect
import types
from typing import Any

import numpy as np

from zygote_lite._pullbacks import Flags
from zygote_lite._tables import Node


def parameter_names(f: Any) -> tuple[str, ...]:
    """Return the names of the positional parameters of a function, as far as they are known."""
    if isinstance(f, types.MethodDescriptorType) and f.__objclass__ is np.ndarray:
        f = getattr(np, f.__name__, f)
    try:
        return _parameter_names(f)
    except TypeError:  # not hashable
        return ()


@functools.lru_cache(maxsize=1024)
def _parameter_names(f: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)


def out_position(f: Any, count: int) -> int | None:
    """Return where `out` stands among `count` arguments of a function in C, if it does."""
    if isinstance(f, types.FunctionType | type | np.ufunc):
        return None
    names = parameter_names(f)
    return names.index("out") if "out" in names[:count] else None


def moved(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], flags: Flags) -> list[str]:
    """Return the active keywords that name the next positional parameters.

    A positional argument that the caller passed by keyword is positional all the same.
    """
    names = parameter_names(f)
    active = {name for name, flag in zip(kws, flags[1 + len(xs) :], strict=True) if flag}
    following = names[len(xs) :]
    last = max((i for i, name in enumerate(following) if name in active), default=-1)
    taken = following[: last + 1]
    return [*taken] if all(name in kws for name in taken) else []


def moved_last(nodes: tuple[Node, ...], count: int) -> tuple[Node, ...]:
    """Return the flags of a call whose last positional argument becomes its last keyword."""
    last = nodes[1 + count]
    return (*nodes[: 1 + count], *nodes[2 + count :], last)


VARARGS, VARKEYWORDS = 0x04, 0x08


@functools.lru_cache(maxsize=4096)
def place_arguments(
    code: types.CodeType, count: int, keywords: tuple[str, ...]
) -> tuple[list[str], list[tuple[int, Any]]]:
    """Return a function's parameters, and for each operand of a call the parameter it is for.

    A place is the number of the parameter, and the index within `*args` or the key within
    `**kwargs`, or `None`. Operands that do not fit are left out: the call itself will tell.
    """
    n, m = code.co_argcount, code.co_kwonlyargcount
    rest = list(code.co_varnames[n + m :])
    varargs = rest.pop(0) if code.co_flags & VARARGS else None
    varkeywords = rest.pop(0) if code.co_flags & VARKEYWORDS else None
    every = [*code.co_varnames[:n], varargs, *code.co_varnames[n : n + m], varkeywords]
    names = [name for name in every if name is not None]
    places: list[tuple[int, Any]] = []
    for i in range(count):
        if i < n:
            places.append((i, None))
        elif varargs is not None:
            places.append((n, i - n))
    for name in keywords:
        if name in names and name not in (varargs, varkeywords):
            places.append((names.index(name), None))
        elif varkeywords is not None:
            places.append((len(names) - 1, name))
    return names, places
