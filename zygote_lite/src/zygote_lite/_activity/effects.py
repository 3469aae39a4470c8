"""Effects that running a function again would repeat: output, random draws, time, outer variables.

They are told from the code of the function and of all that it names or holds, before it is run.
Changes of what it was given or captured are told from these themselves, where it is run.
"""

import array
import builtins
import dis
import functools
import io
import logging
import os
import random
import sys
import types
import uuid
from typing import Any

import numpy as np

from rulescore import rules_of
from rulescore.faults import an
from zygote_lite._activity import asking
from zygote_lite._activity.reachability import (
    functions_in,
    held_beside,
    is_users_class,
    methods_of,
)
from zygote_lite._cotangents.kinds import OBJECT, TUPLE, VALUE, entries_of, kind_of
from zygote_lite._ir.bytecode import codes_in
from zygote_lite._ir.places import are_ours, is_installed, is_library
from zygote_lite.caches import cached

_CALLED = {id(f) for f in (print, input, open, exec, eval, breakpoint, globals,
                           np.save, np.savez, np.savez_compressed, np.savetxt,
                           os.urandom, os.system, os.write, os.remove, os.unlink, os.rename,
                           os.replace, os.mkdir, os.rmdir, uuid.uuid1, uuid.uuid4,
                           *asking.ASKING_FUNCTIONS)}  # fmt: skip
_WRITES_FILES = {"tofile", "write_bytes", "write_text"}  # methods, of arrays and of paths
_HOLDERS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random,
            io.IOBase)  # fmt: skip
BUFFERS = (np.ndarray, bytearray, array.array)
PLAIN_VALUES = (int, float, complex, str, np.generic)
_HARMLESS = {logging.getLogger, logging.Logger.isEnabledFor, os.fspath}
_ON_DEMAND = {"__repr__", "__str__", "__format__", "__dir__", "__sizeof__", "__del__",
              "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__",
              "__setstate__", "__init_subclass__", "__subclasshook__"}  # fmt: skip
_MOST_VALUES = 10_000  # values that are looked at


def effect_of(*values: Any, all_read: bool = False) -> tuple[str | None, list[Any]]:
    """Return an effect that calling one of some values may have, and the variables that they read.

    The effect is `None` where none was found. Whether the lists, dicts, objects and classes among
    these variables are changed is told by calling it. Behind an effect, variables are looked for
    if `all_read` asks for that, and then numbers and texts are among them.
    """
    stack, seen, read = [*values], dict[int, Any](), list[Any]()
    effect: str | None = None
    named, of_libraries, looked_at = set[str](), list[Any](), (0, 0)
    while len(seen) < _MOST_VALUES:
        if not stack:
            if looked_at == (len(of_libraries), len(named)):
                break
            looked_at = len(of_libraries), len(named)
            stack = _used_of(of_libraries, named)
            read += filter(_is_writable, stack)
            continue
        x = stack.pop()
        if all_read and isinstance(x, PLAIN_VALUES):
            read.append(x)
        if id(x) in seen or hasattr(type(x), "__dlpack__"):  # arrays of any library are data
            continue
        seen[id(x)] = x
        effect = _effect_itself(x) or effect
        if effect is not None and not all_read:
            return effect, read
        if isinstance(x, types.FunctionType):
            path = x.__code__.co_filename
            of_library = is_installed(path) or are_ours(path, x.__module__)
            if is_library(path) or (of_library and rules_of(x)):
                continue
            deed, names = _deeds_of(x.__code__)
            if deed is not None and not all_read:
                return f"{x.__qualname__} {deed}", read
            named |= names
            around = [*held_beside(x), *_named_by(x, names)]
            around += asking.methods_that_ask(around, names)
            if asking.asks_for_now(around, x.__code__):
                effect = f"{x.__qualname__} asks `datetime64` for the time"
                if not all_read:
                    return effect, read
            stack += [y for y in around if not isinstance(y, types.ModuleType)]
            read += filter(_is_writable, around)
        elif isinstance(x, types.BuiltinMethodType | types.MethodWrapperType):
            if not isinstance(x.__self__, types.ModuleType):  # as `found.append` has `found`
                stack.append(x.__self__)
                read.append(x.__self__)
        elif isinstance(x, types.CellType):
            stack += [value for _, value in entries_of(x)]
        elif isinstance(x, types.MethodType | functools.partial):
            held = [getattr(x, "__func__", None), getattr(x, "__self__", None)]
            held += [getattr(x, "func", None), *getattr(x, "args", ())]
            held += getattr(x, "keywords", {}).values()
            stack += held
            read += filter(_is_writable, held)
        elif isinstance(x, type):
            if _is_installed_class(x):
                of_libraries.append(x)
            elif is_users_class(x):
                stack += methods_of(x)
                bases = [base for base in x.__mro__ if is_users_class(base)]
                read += [x, *[y for base in bases for y in vars(base).values() if _is_writable(y)]]
        elif isinstance(x, types.ModuleType) or (
            kind_of(x) == OBJECT and _is_installed_class(type(x))
        ):
            of_libraries.append(x)
        elif kind_of(x) >= TUPLE:
            stack += [value for _, value in entries_of(x)]
            stack += [type(x)] if kind_of(x) == OBJECT else []
    return effect, read


def _is_writable(x: Any) -> bool:
    """Return whether a value is a container, an object or a buffer, which may be written into."""
    return kind_of(x) >= TUPLE or isinstance(x, BUFFERS)


def _is_installed_class(cls: type) -> bool:
    """Return whether a class is one of an installed library, and not of the user."""
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return path is not None and is_installed(path)


def _used_of(values: list[Any], named: set[str]) -> list[Any]:
    """Return what code uses by name of modules, and of classes and objects of libraries.

    A library has methods that print or draw random numbers beside those that are called. A class
    with a rule is what its author says.
    """
    found = list[Any]()
    for x in values:
        if isinstance(x, types.ModuleType):  # that is held, and not named as a global variable
            found += [vars(x)[name] for name in named & vars(x).keys()]
            continue
        cls = x if isinstance(x, type) else type(x)
        if rules_of(cls):
            continue
        members = {name: vars(base)[name] for base in cls.__mro__[::-1] for name in vars(base)}
        reached, names = set[str](), {name for name in members if _is_by_syntax(name)} | named
        while names:
            reached |= names
            used = [members[name] for name in names if name in members]
            functions = [f for member in used for f in functions_in(member) or ()]
            names = {name for f in functions for name in _deeds_of(f.__code__)[1]} - reached
            found += functions
        if x is not cls:
            found += [value for key, value in entries_of(x) if key in reached]
    return found


def _is_by_syntax(name: str) -> bool:
    """Return whether code may call a method that it does not name: to index, iterate, add."""
    return name.startswith("__") and name not in _ON_DEMAND


def _effect_itself(x: Any) -> str | None:
    """Return the effect that a value stands for, such as `print` or a random generator."""
    if isinstance(x, _HOLDERS) or (kind_of(x) == VALUE and hasattr(type(x), "__next__")):
        return f"it reads {an(type(x).__name__)}"  # an iterator ends
    if not callable(x) or isinstance(x, type):
        return None
    owner = getattr(x, "__self__", None)
    is_effect = isinstance(owner, _HOLDERS) or (
        isinstance(x, types.BuiltinFunctionType | types.FunctionType)
        and x.__module__ in asking.ACTING_MODULES
        and x not in _HARMLESS
    )
    if is_effect or id(x) in _CALLED or asking.asks_outside(x):
        name = getattr(x, "__qualname__", str(x))
        return f"it calls `{name.replace('_VariableFunctionsClass.', 'torch.')}`"
    return None


def _named_by(f: types.FunctionType, names: frozenset[str]) -> list[Any]:
    """Return what the code of a function names: globals, builtins, and attributes of modules."""
    around = [f.__globals__.get(name, getattr(builtins, name, None)) for name in names]
    modules = [x for x in around if isinstance(x, types.ModuleType)]
    modules += [sys.modules[name] for name in _imports_of(f.__code__) if name in sys.modules]
    for module in modules:  # and the modules that these hold, as `np.random`
        for x in [vars(module)[name] for name in names & vars(module).keys()]:
            if not isinstance(x, types.ModuleType):
                around.append(x)
            elif x not in modules:
                modules.append(x)
    return around


@cached(4096)
def _imports_of(code: types.CodeType) -> frozenset[str]:
    """Return the modules that code imports itself."""
    steps = [step for part in codes_in(code) for step in dis.get_instructions(part)]
    return frozenset([str(step.argval) for step in steps if step.opname == "IMPORT_NAME"])


@cached(4096)
def _deeds_of(code: types.CodeType) -> tuple[str | None, frozenset[str]]:
    """Return what code does by itself to what is around it, if anything, and all names in it."""
    names = set[str]()
    for part in codes_in(code):
        names.update(part.co_names)
        for step in dis.get_instructions(part):
            outer = (
                step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars
            )
            if outer or step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                return f"assigns the outer variable `{step.argval}`", frozenset()
    writes = min(names & _WRITES_FILES, default=None)
    return writes and f"calls `{writes}`, which writes a file", frozenset(names)
