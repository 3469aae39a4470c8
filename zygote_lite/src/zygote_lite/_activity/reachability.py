"""What code can reach by name: the variables of modules, through the functions that it names.

To find out whether a call can reach something active, the names in its function are followed, then
the names in the functions and classes that these stand for, and so on. Names change rarely: they
are resolved once for each function, and tested again in each run. The values of the variables may
change at any time, so they are read each time.
"""

import builtins
import dis
import functools
import gc
import os
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._ir.bytecode import codes_in
from zygote_lite._ir.places import is_library

Variable = tuple[Any, str]  # the namespace, and the name in it

_NOT_BOUND = object()


@functools.lru_cache(maxsize=4096)
def is_users_class(cls: type) -> bool:
    """Return whether a class is defined in Python, and not in a library file."""
    if not is_written_in_python(cls) or cls.__module__ in ("builtins", "typing", "abc"):
        return False
    module = sys.modules.get(cls.__module__)
    path = getattr(module, "__file__", None)
    if path is None or not is_library(os.path.abspath(path)):
        return True
    if cls.__module__.split(".")[0] == __name__.split(".")[0]:
        # `type(...)` or `namedtuple(...)` of the user's, which takes the name from its caller
        return "<locals>" not in cls.__qualname__ and not hasattr(module, cls.__name__)
    return False


class Reach:
    """The variables that functions can read or write by name."""

    __slots__ = ("bindings", "functions", "values", "variables")

    def __init__(self, functions: list[types.FunctionType]) -> None:
        self.variables: list[Variable] = []
        self.functions: list[types.FunctionType] = []  # on the way, which hold values themselves
        self.values: list[Any] = []  # classes, and functions under `lru_cache`
        self.bindings: list[tuple[Any, str, Any]] = []
        seen: set[Any] = set()
        named: set[tuple[int, str]] = set()
        stack = list(functions)
        while stack:
            f = stack.pop()
            key = (f.__code__, id(f.__globals__))
            if key in seen or is_library(f.__code__.co_filename):
                continue
            seen.add(key)
            for space, name in _variables_of(f):
                if (id(space), name) in named:
                    continue
                named.add((id(space), name))
                value = space.get(name, _NOT_BOUND)
                found = _functions_in(value)
                if found is None:
                    self.variables.append((space, name))
                    continue
                self.bindings.append((space, name, value))
                self.functions += found
                stack += found
                if isinstance(value, functools._lru_cache_wrapper):
                    self.values.append(value)
                if isinstance(value, type):
                    self.add_class(value)

    def add_class(self, cls: type) -> None:
        """Add a user class, and the values of its attributes."""
        self.values.append(cls)
        for base in cls.__mro__:
            if is_users_class(base):
                for name, value in vars(base).items():
                    if _functions_in(value) is not None:
                        self.bindings.append((vars(base), name, value))
                    elif not name.startswith("__"):
                        self.variables.append((vars(base), name))

    def is_current(self) -> bool:
        """Return whether all names stand for the functions that they stood for."""
        return all(space.get(name, _NOT_BOUND) is value for space, name, value in self.bindings)

    def now(self) -> list[Any]:
        """Return what the variables hold now, and what the functions on the way hold."""
        held = [x for f in self.functions for x in held_beside(f)]
        return [*[space.get(name) for space, name in self.variables], *self.values, *held]


def _variables_of(f: types.FunctionType) -> list[Variable]:
    """Return the variables of modules that the code of a function names."""
    names, attributes = _names_in(f.__code__)
    found: list[Variable] = []
    for name in names:
        value = f.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            path = getattr(value, "__file__", None)
            if path is None or not is_library(os.path.abspath(path)):
                found += [(vars(value), n) for n in attributes if n in vars(value)]
        elif name in f.__globals__ or not hasattr(builtins, name):
            found.append((f.__globals__, name))
    return found


def _functions_in(x: Any) -> list[types.FunctionType] | None:
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
        for f in _functions_in(member) or ()
    ]


def held_beside(f: types.FunctionType) -> list[Any]:
    """Return what a function holds itself: cells, defaults, attributes."""
    held: list[Any] = [*(f.__closure__ or ()), *(f.__defaults__ or ()), f.__dict__]
    if f.__kwdefaults__:
        held += f.__kwdefaults__.values()
    return held


@functools.lru_cache(maxsize=4096)
def _names_in(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the variables and the attributes that a function names, with functions inside it."""
    codes = [*codes_in(code)]
    steps = [i for part in codes for i in dis.get_instructions(part)]
    names = frozenset([str(i.argval) for i in steps if i.opname in _BY_NAME])
    return names, frozenset([name for part in codes for name in part.co_names])


_BY_NAME = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "STORE_NAME", "DELETE_GLOBAL")
_reaches: dict[Any, tuple[Any, Reach]] = {}  # holds the globals that are part of a key
_MOST_REACHES = 2048  # classes may be made anew in each call


def _reached(key: Any, held: Any, find: Callable[[], Reach]) -> list[Any]:
    """Return what can be reached by name now; `find` is asked where the names have changed."""
    known = _reaches.get(key)
    if known is None or not known[1].is_current():
        if len(_reaches) >= _MOST_REACHES:
            _reaches.clear()
        known = _reaches[key] = held, find()
    return known[1].now()


def reached_by_function(f: types.FunctionType) -> list[Any]:
    """Return what a function can reach by name now."""
    if is_library(f.__code__.co_filename):
        return []
    return _reached((f.__code__, id(f.__globals__)), f.__globals__, lambda: Reach([f]))


def reached_by_class(cls: type) -> list[Any]:
    """Return the values that a user class and its methods hold, and those they reach by name."""
    return _reached(cls, cls, lambda: _reach_of_class(cls)) if is_users_class(cls) else []


def _reach_of_class(cls: type) -> Reach:
    methods = methods_of(cls)
    found = Reach(methods)
    found.add_class(cls)
    found.functions += methods
    return found


def referents(x: Any) -> list[Any]:
    """Return what an object written in C refers to, as far as it tells."""
    if type(x) in weakref.ProxyTypes:
        return [referent(x)]
    if isinstance(x, np.nditer):
        return [*x.operands]
    if isinstance(x, memoryview):
        return [x.obj]
    if isinstance(x, np.broadcast):
        return [part.base for part in x.iters]
    return [*gc.get_referents(x), *([x.base] if isinstance(x, np.flatiter) else [])]


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
    if not isinstance(f, types.FunctionType):
        owner = getattr(f, "__self__", None)
        return [] if owner is None else [owner], []
    return held_beside(f), reached_by_function(f) if by_name else []
