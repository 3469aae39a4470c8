"""What code can reach by name: the variables of modules, through the functions that it names.

To find out whether a call can reach something active, the names in its function are followed, then
the names in the functions and classes that these stand for, and so on. The names are read from the
code once; what they stand for may change at any time, so it is looked up each time.

The variables of some libraries hold no values of the user: those of Python, NumPy, pandas,
xarray, PyTorch and JAX.
"""

import contextlib
import contextvars
import functools
import gc
import os
import re
import sys
import types
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._cotangents.run import state
from zygote_lite._ir.bytecode import codes_in, variables_named
from zygote_lite._ir.places import is_library
from zygote_lite.caches import cached, cached_by_kind


@cached_by_kind(4096)
def is_users_class(cls: type) -> bool:
    """Return whether a class is defined in Python, and not in a library file.

    The module of one that `exec` makes in a dict without a name is that of the builtins.
    """
    if not is_written_in_python(cls) or cls.__module__ in ("typing", "abc"):
        return False
    module = sys.modules.get(cls.__module__)
    path = getattr(module, "__file__", None)
    if path is None or not is_library(os.path.abspath(path)):
        return True
    if cls.__module__.split(".")[0] == __name__.split(".")[0]:
        # `type(...)` or `namedtuple(...)` of the user's, which takes the name from its caller
        return "<locals>" not in cls.__qualname__ and not hasattr(module, cls.__name__)
    return False


def named_by(f: types.FunctionType) -> list[Any]:
    """Return what the variables of modules hold now that the code of a function names.

    What is named by the functions and classes among them is not followed here: whoever walks
    through the heap asks for it in turn, once for each.
    """
    if _is_library_file(f.__code__.co_filename):
        return []
    names, attributes = _names_in(f.__code__)
    variables = f.__globals__
    found: list[Any] = [variables] if id(variables) in state.variables else []
    for name in names:  # of a builtin, say: then it is `None` here
        value = variables.get(name)
        if isinstance(value, types.ModuleType):
            if not _is_library_module(value):
                held = vars(value)
                found += [held[n] for n in attributes if n in held]
        elif value is not None:
            found.append(value)
    return found


def named_by_class(cls: type) -> list[Any]:
    """Return the attributes of a user class and its bases, and the functions that it wraps."""
    if not is_users_class(cls):
        return []
    found: list[Any] = []
    for base in cls.__mro__:
        if is_users_class(base) and base.__module__.partition(".")[0] not in _CLOSED:
            for name, value in vars(base).items():
                wrapped = functions_in(value)
                if wrapped is not None:
                    found += wrapped
                elif not name.startswith("__"):
                    found.append(value)
    return found


def named_within(functions: Iterable[types.FunctionType]) -> list[Any]:
    """Return what functions can reach by name, through the functions and classes named there."""
    found: dict[int, Any] = {}
    stack: list[Any] = [*functions]
    while stack:
        f = stack.pop()
        for x in named_by_class(f) if isinstance(f, type) else named_by(f):
            if id(x) not in found:
                found[id(x)] = x
                stack += [x] if isinstance(x, type) else functions_in(x) or ()
    return [*found.values()]


def _is_library_module(module: types.ModuleType) -> bool:
    """Return whether the variables of a module hold no values of the user."""
    path = getattr(module, "__file__", None)
    return path is not None and _is_library_file(path)


@functools.lru_cache(maxsize=4096)
def _is_library_file(path: str) -> bool:
    path = os.path.abspath(path)
    return is_library(path) or _IN_CLOSED.search(path) is not None


_CLOSED = ("pandas", "torch", "jax", "xarray")
_IN_CLOSED = re.compile(rf"(site|dist)-packages[/\\]({'|'.join(_CLOSED)})[/\\]")


def functions_in(x: Any) -> list[types.FunctionType] | None:
    """Return the Python functions that a value stands for; `None` where it is data."""
    if isinstance(x, functools._lru_cache_wrapper):
        x = x.__wrapped__
    if isinstance(x, _WRAPPERS):
        found = [getattr(x, n, None) for n in ("__func__", "fget", "fset", "fdel", "func")]
        return [f for f in found if isinstance(f, types.FunctionType)]
    if isinstance(x, types.FunctionType):
        return [x]
    if isinstance(x, type):
        return methods_of(x)
    if isinstance(x, types.BuiltinFunctionType | np.ufunc | types.ModuleType):
        return []
    return None


_WRAPPERS = (staticmethod, classmethod, property, functools.cached_property)


def methods_of(cls: type) -> list[types.FunctionType]:
    """Return the functions that a user class defines, those of properties too."""
    return [
        f
        for base in cls.__mro__
        if is_users_class(base)
        for member in vars(base).values()
        if not isinstance(member, type)
        for f in functions_in(member) or ()
    ]


def held_beside(f: types.FunctionType) -> list[Any]:
    """Return what a function holds itself: cells, defaults, attributes."""
    held: list[Any] = [*(f.__closure__ or ()), *(f.__defaults__ or ()), f.__dict__]
    if f.__kwdefaults__:
        held.append(f.__kwdefaults__)
    return held


@cached(32_768)  # a library that plots, or pandas, has ten thousand
def _names_in(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the variables and the attributes that a function names, with functions inside it."""
    variables, names = set[str](), set[str]()
    for part in codes_in(code):
        variables.update(variables_named(part))
        names.update(part.co_names)
    return frozenset(variables), frozenset(names)


def referents(x: Any) -> list[Any]:
    """Return what an object written in C refers to, as far as it tells."""
    if type(x) in weakref.ProxyTypes:
        return [referent(x)]
    if issubclass(type(x), weakref.ref):
        return [weakref.ref.__call__(x)]
    if isinstance(x, contextvars.ContextVar):
        with contextlib.suppress(LookupError):
            return [x.get()]
        return []
    if isinstance(x, contextvars.Context):
        return [*x, *x.values()]  # variables are active by themselves
    if isinstance(x, np.nditer):
        return [*x.operands]
    if isinstance(x, memoryview):
        return [x.obj]
    if isinstance(x, np.broadcast):
        return [part.base for part in x.iters]
    found: list[Any] = []
    for part in gc.get_referents(x):
        items = gc.get_referents(part) if type(part) is tuple else []
        # an exhausted `itertools.product` has a tuple that was never filled: reading it crashes
        found += [part] if type(part) is not tuple or len(items) == len(part) else items
    return [*found, *([x.base] if isinstance(x, np.flatiter) else [])]


def referent(x: Any) -> Any:
    """Return the object that a weak proxy stands for, or `None`."""
    try:
        return x.__repr__.__self__  # proxies hand on all look-ups of attributes
    except ReferenceError:
        return None


def held_and_named(f: Any, by_name: bool = True) -> tuple[list[Any], list[Any]]:
    """Return what a function holds itself, and what it can reach by the names of globals."""
    if isinstance(f, types.MethodType):
        return [f.__self__, f.__func__], []
    if isinstance(f, np.ufunc):
        return gc.get_referents(f), []  # what `np.frompyfunc` made it of
    if not isinstance(f, types.FunctionType):
        owner = getattr(f, "__self__", None)
        return [] if owner is None else [owner], []
    return held_beside(f), named_by(f) if by_name else []
