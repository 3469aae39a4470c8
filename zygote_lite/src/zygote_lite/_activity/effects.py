"""Effects that running a function again would repeat: output, random draws, time, outer variables.

They are told from the user's code and all that it names or holds, before it is run. The code of
libraries is not followed: it names far more than a call runs. What that does, and what stands
behind a condition, is noticed where it is run (`watching_effects`). Changes of what a function was
given or captured are told from these themselves.
"""

import array
import builtins
import dis
import functools
import importlib
import io
import logging
import os
import random
import sys
import threading
import types
import uuid
from typing import Any, NamedTuple

import numpy as np

from rulescore import rules_of
from rulescore.faults import an
from zygote_lite._activity import asking
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.reachability import held_beside, is_users_class, methods_of
from zygote_lite._cotangents.kinds import (
    OBJECT,
    TUPLE,
    VALUE,
    dict_of,
    entries_of,
    is_known_by_rule,
    kind_of,
)
from zygote_lite._ir.bytecode import Use, codes_in, uses_in
from zygote_lite._ir.places import are_ours, is_installed, is_library
from zygote_lite.caches import cached

_CALLED = {id(f) for f in (print, input, open, exec, eval, breakpoint, globals,
                           np.save, np.savez, np.savez_compressed, np.savetxt, np.random.seed,
                           os.urandom, os.system, os.write, os.remove, os.unlink, os.rename,
                           os.replace, os.mkdir, os.rmdir, uuid.uuid1, uuid.uuid4,
                           threading.get_ident, threading.get_native_id, threading.current_thread,
                           *asking.ASKING_FUNCTIONS)}  # fmt: skip
_IMPORTING = (__import__, importlib.import_module)
_WRITES_FILES = {"tofile", "write_bytes", "write_text"}  # methods, of arrays and of paths
_HOLDERS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random,
            io.IOBase)  # fmt: skip
BUFFERS = (np.ndarray, bytearray, array.array)
PLAIN_VALUES = (int, float, complex, str, np.generic)
_HARMLESS = {logging.getLogger, logging.Logger.isEnabledFor, os.fspath}
_LOGGERS = (logging.Logger, logging.LoggerAdapter)
_MOST_VALUES = 10_000  # values that are looked at


class FoundEffects(NamedTuple):
    """What calling a function may do.

    Attributes:
        effect: an effect that it has, in words; `None` where none was found.
        read: the variables that it reads.
        is_open: whether it calls what was not looked into, or acts behind a condition. What it
            does then is seen where it is run, by `watching_effects`.
    """

    effect: str | None
    read: list[Any]
    is_open: bool


def effect_of(*values: Any, all_read: bool = False) -> FoundEffects:
    """Return an effect that calling one of some values has, and the variables that they read.

    Whether the lists, dicts, objects and classes among these variables are changed is told by
    calling it. Behind an effect, variables are looked for if `all_read` asks for that, and then
    numbers and texts are among them.
    """
    return _EffectSearch(all_read).of(values)


class _EffectSearch:
    """A search through the user's code.

    Arguments:
        all_read: as for `effect_of`.
    """

    def __init__(self, all_read: bool) -> None:
        self.all_read = all_read
        self.effect: str | None = None
        self.read: list[Any] = []
        self.is_open = False
        self.seen: dict[int, tuple[Any, bool]] = {}
        self.stack: list[tuple[Any, bool]] = []
        self.named: set[str] = set()
        self.modules: list[types.ModuleType] = []  # that are held, and not named as variables

    def of(self, values: tuple[Any, ...]) -> FoundEffects:
        """Return what is found from some values."""
        self.stack += [(x, True) for x in values]
        looked_at = 0
        while self.effect is None or self.all_read:
            if len(self.seen) >= _MOST_VALUES:
                self.is_open = True
                break
            if self.stack:
                self.look_at(*self.stack.pop())
            elif looked_at != len(self.modules) + len(self.named):
                looked_at = len(self.modules) + len(self.named)
                self.add([vars(m)[n] for m in self.modules for n in self.named & vars(m).keys()])
            else:
                break
        return FoundEffects(self.effect, self.read, self.is_open)

    def add(self, values: Any, is_certain: bool = False) -> None:
        """Note values that are to be looked at, and those of them that may be written into.

        Arguments:
            values: the values.
            is_certain: whether a function among them is called whenever `f` is.
        """
        self.stack += [(x, is_certain) for x in values]
        self.read += filter(_is_writable, values)

    def act(self, effect: str | None) -> None:
        """Note an effect."""
        self.effect = effect or self.effect

    def look_at(self, x: Any, is_certain: bool) -> None:
        """Look at one value."""
        if self.all_read and isinstance(x, PLAIN_VALUES):
            self.read.append(x)
        known = self.seen.get(id(x))
        if known is not None and (known[1] or not is_certain):
            return
        if hasattr(type(x), "__dlpack__"):  # arrays of any library are data
            return
        self.seen[id(x)] = x, is_certain
        self.act(_effect_itself(x))
        if isinstance(x, types.FunctionType):
            self.look_at_function(x, is_certain)
        elif isinstance(x, types.BuiltinMethodType | types.MethodWrapperType):
            if not isinstance(x.__self__, types.ModuleType):  # as `found.append` has `found`
                self.add([x.__self__])
            self.is_open = self.is_open or x in _IMPORTING
        elif isinstance(x, types.CellType):
            self.stack += [(value, is_certain) for _, value in entries_of(x)]
        elif isinstance(x, types.MethodType | functools.partial):
            held = [getattr(x, "__self__", None), *getattr(x, "args", ())]
            self.add([*held, *getattr(x, "keywords", {}).values()])
            self.add([getattr(x, "__func__", None) or getattr(x, "func", None)], is_certain)
        elif isinstance(x, type):
            self.look_at_class(x)
        elif isinstance(x, types.ModuleType):
            self.modules.append(x)
            self.is_open = True
        elif isinstance(x, _LOGGERS) or type(x).__name__ == "cython_function_or_method":
            self.is_open = True
        elif kind_of(x) >= TUPLE:
            self.look_at_entries(x, is_certain)
        elif callable(x) and is_known_by_rule(type(x)):  # it may wrap a function of the user's
            held = [*(dict_of(x) or {}).values(), getattr(x, "__wrapped__", None)]
            self.stack += [(y, False) for y in held]

    def look_at_function(self, f: types.FunctionType, is_certain: bool) -> None:
        """Look at a function, at what it holds, and if it is the user's at what its code names."""
        path = f.__code__.co_filename
        if are_ours(path, f.__module__):
            return
        if is_outside(path, f.__module__):
            if rules_of(f):
                return
            self.is_open = True
            if is_installed(path):  # it may wrap one of the user's
                self.stack += [(x, False) for x in f.__closure__ or ()]
            return
        deed, names = _deeds_of(f.__code__)
        self.act(deed and f"{f.__qualname__} {deed}")
        self.named |= names
        self.add(held_beside(f))
        for name in _imports_of(f.__code__):
            if name in sys.modules:
                self.name_in(sys.modules[name], names)
            else:
                self.is_open = True  # what it imports is not known yet
        for use in uses_in(f.__code__):
            self.look_at_use(f, use, names, is_certain)
        if asking.asks_for_now(f.__code__):
            self.act(f"{f.__qualname__} asks `datetime64` for the time")

    def look_at_use(
        self, f: types.FunctionType, use: Use, names: frozenset[str], is_certain: bool
    ) -> None:
        """Look at what code names: a variable, and attributes of it if it is a module."""
        x = _variable_of(f, use)
        attributes = [*use.attributes]
        while attributes and isinstance(x, types.ModuleType) and attributes[0] in vars(x):
            x = vars(x)[attributes.pop(0)]
        if isinstance(x, types.ModuleType):
            self.name_in(x, names)
            return
        asked = [*asking.methods_that_ask([x], frozenset(attributes[:1]) or names)]
        if asked:
            x, attributes = asked[0], attributes[1:]
        is_called = use.is_called and not attributes
        always = is_certain and not use.is_conditional
        effect = _effect_itself(x)
        if effect is not None and _is_noticed(x) and is_called and not (always and _acts(x)):
            self.is_open = True
            return
        self.add([x], always and is_called)

    def name_in(self, module: types.ModuleType, names: frozenset[str]) -> None:
        """Look at all in a module, and in modules that it has, that code may take by its names."""
        modules = [module]
        for module in modules:
            for x in [vars(module)[name] for name in names & vars(module).keys()]:
                if not isinstance(x, types.ModuleType):
                    self.add([x, *asking.methods_that_ask([x], names)])
                elif x not in modules:
                    modules.append(x)
        self.is_open = True

    def look_at_class(self, cls: type) -> None:
        """Look at the methods and the variables of a class, if it is the user's."""
        if _is_of_library(cls):
            if not rules_of(cls) or _draws(cls):  # a rule is what its author says
                self.is_open = True
        elif is_users_class(cls):
            bases = [b for b in cls.__mro__ if is_users_class(b) and not _is_of_library(b)]
            self.stack += [(method, False) for method in methods_of(cls)]
            self.read += [cls, *[y for b in bases for y in vars(b).values() if _is_writable(y)]]

    def look_at_entries(self, x: Any, is_certain: bool) -> None:
        """Look at what a container or an object holds."""
        cls = type(x)
        values = [value for _, value in entries_of(x)]
        if kind_of(x) != OBJECT:
            self.stack += [(value, False) for value in values]
        elif _is_of_library(cls):
            self.look_at_class(cls)
            self.stack += [(y, False) for y in values if _effect_itself(y) is None]
        else:
            self.stack += [(y, False) for y in (*values, cls)]
            self.stack.append((member_of(cls, "__call__"), is_certain))


def _variable_of(f: types.FunctionType, use: Use) -> Any:
    """Return what the variable holds that code names; `None` if it is its own."""
    if use.is_global:
        return f.__globals__.get(use.name, getattr(builtins, use.name, None))
    if use.name not in f.__code__.co_freevars:
        return None
    cell = (f.__closure__ or ())[f.__code__.co_freevars.index(use.name)]
    return next((value for _, value in entries_of(cell)), None)


def _is_writable(x: Any) -> bool:
    """Return whether a value is a container, an object or a buffer, which may be written into.

    A logger is none: what it notes of levels changes no value, and its messages are seen.
    """
    return (kind_of(x) >= TUPLE or isinstance(x, BUFFERS)) and not isinstance(x, _LOGGERS)


def _is_of_library(cls: type) -> bool:
    """Return whether a class is written in Python, or draws, in a library that is not followed."""
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return _draws(cls) or (path is not None and is_outside(path, cls.__module__))


def _draws(cls: type) -> bool:
    return str(cls.__module__).startswith("numpy.random") or cls.__module__ == "random"


def is_outside(path: str, module: str | None) -> bool:
    """Return whether code of a file is of a library whose code is not followed."""
    return not are_ours(path, module) and (is_installed(path) or is_library(path))


def _effect_itself(x: Any) -> str | None:
    """Return the effect that a value stands for, such as `print` or a random generator."""
    if x is os.environ or x is getattr(os, "environb", None):
        return "it reads `os.environ`"
    if isinstance(x, _HOLDERS) or (kind_of(x) == VALUE and hasattr(type(x), "__next__")):
        return f"it reads {an(type(x).__name__)}"  # an iterator ends
    if not callable(x) or isinstance(x, type):
        return None
    return called_effect(x)


def called_effect(x: Any) -> str | None:
    """Return the effect of calling a function, in words; `None` if it is not known for one."""
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


def _is_noticed(x: Any) -> bool:
    """Return whether a call of a function with an effect is noticed where it is run."""
    is_drawn = getattr(x, "__self__", None) in asking.COMMON_GENERATORS
    return is_drawn or not _acts(x) or isinstance(x, types.BuiltinFunctionType) or id(x) in _FILES


_FILES = {id(f) for f in (np.save, np.savez, np.savez_compressed, np.savetxt, np.load, np.loadtxt,
                          np.genfromtxt)}  # fmt: skip


def _acts(x: Any) -> bool:
    """Return whether a function has its effect whenever it is called: one that logs may not."""
    return getattr(x, "__module__", None) != "logging"


@cached(4096)
def _imports_of(code: types.CodeType) -> frozenset[str]:
    """Return the modules that code imports itself."""
    steps = [step for part in codes_in(code) for step in dis.get_instructions(part)]
    return frozenset([str(step.argval) for step in steps if step.opname == "IMPORT_NAME"])


@cached(4096)
def _deeds_of(code: types.CodeType) -> tuple[str | None, frozenset[str]]:
    """Return what code does by itself to what is around it, if anything, and all names in it."""
    names = set[str]()
    deed: str | None = None
    for part in codes_in(code):
        names.update(part.co_names)
        for step in dis.get_instructions(part):
            outer = (
                step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars
            )
            if outer or step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                deed = f"assigns the outer variable `{step.argval}`"
    writes = min(names & _WRITES_FILES, default=None)
    return deed or (writes and f"calls `{writes}`, which writes a file"), frozenset(names)
