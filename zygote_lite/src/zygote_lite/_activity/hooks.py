"""The search for hooks: methods of user classes that a function in C may call and that may write.

It looks at the operands, at what containers among them hold, and at what the methods read: a
method reads of an object the attributes that its code names, and no others. So the search is as
large as the operands and what their methods read, whatever else can be reached from there. Beyond
the operands it is bounded: where it gives up, a method counts as one that may write.
"""

import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from zygote_lite._activity.deeds import (
    ANY_ATTRIBUTE,
    ANY_METHOD,
    INHERITED,
    may_write,
    names_read,
    values_read,
)
from zygote_lite._activity.reachability import functions_in, is_users_class
from zygote_lite._activity.walk import room_for_hooks
from zygote_lite._cotangents.kinds import (
    DICT,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    dict_of,
    entries_of,
    is_foreign,
    is_known_by_rule,
    kind_of,
    kind_of_type,
    slot_names,
)
from zygote_lite._cotangents.run import state
from zygote_lite._ir.traits import HEAPTYPE, SPECIAL_METHODS
from zygote_lite.caches import cached_by_class

Hook = tuple[types.FunctionType, Any]

_VIEWS_OF_DICTS: Any = (type({}.values()), type({}.items()))
PLAIN_KINDS: set[type] = {float, int, complex, bool, str, bytes, type(None), np.ndarray,
                          np.float64, slice, type, types.FunctionType,
                          types.BuiltinFunctionType}  # fmt: skip
"""Kinds that have no hooks; an array may hold objects."""
CONTAINER_KINDS = {list, tuple, dict, set, frozenset}


def holds_objects(x: Any) -> bool:
    """Return whether a value is an array that may hold objects."""
    return type(x) is np.ndarray and x.dtype.hasobject


@cached_by_class
def has_any_of(kind: type, names: frozenset[str]) -> bool:
    """Return whether one of some methods of a class is another than that of any object."""
    return any(not names.isdisjoint(vars(of)) for of in kind.__mro__ if of is not object)


def hooks_of(xs: Iterable[Any], deep: bool, names: frozenset[str]) -> list[Hook]:
    """Return the hooks of some values: each with the object, or with what holds it.

    Arguments:
        xs: the values.
        deep: whether what they hold counts too, and what their methods read.
        names: the methods that are called.
    """
    search = _Search([*xs], names)
    if not deep:
        for x in search.operands:
            search.meet(type(x), x)
    elif not search.ends():
        return [*search.found(), search.any_hook()]
    return search.found()


class _Search:
    """A search that asks each class once, and looks at each object once.

    Attributes:
        operands: where it begins.
        names: the methods and attributes that may be called or read, as far as is known.
        new: those that have come up since `names` were asked for.
        asked: the classes that were met, each with its methods that may write.
        in_c: those of which a method in C is called, which may read all attributes.
        met: these classes, each with an object that holds an instance.
        opened: objects of one class, whose attributes may be read, each time with whether they
            lie beyond the operands.
        stack: what is to be looked at, likewise.
    """

    def __init__(self, operands: list[Any], names: frozenset[str]) -> None:
        self.operands, self.names, self.new = operands, names, frozenset[str]()
        self.asked: dict[type, list[types.FunctionType]] = {}
        self.in_c: set[type] = set()
        self.met: list[tuple[type, Any]] = []
        self.opened: list[tuple[list[Any], bool]] = []
        self.stack: list[tuple[Any, bool]] = [(x, False) for x in operands]
        self.seen: set[int] = set()
        self.left = room_for_hooks()

    def ends(self) -> bool:
        """Search, and return whether the search has come to its end within its bound."""
        while True:
            while self.stack:
                self.look_at(*self.stack.pop())
                if self.left < 0:
                    return False
            new = self.new - self.names
            if not new:
                return True
            self.names |= new
            for kind in [*self.asked]:
                self.ask(kind, self.names if INHERITED in new else new)
            for objects, is_beyond in [*self.opened]:
                self.read(objects, is_beyond, new)

    def found(self) -> list[Hook]:
        """Return the hooks that were found."""
        return [(f, holder) for kind, holder in self.met for f in self.asked[kind]]

    def any_hook(self) -> Hook:
        """Return a method that may be called, as one that may write what operands reach."""
        kinds = [kind for kind in self.asked if has_any_of(kind, SPECIAL_METHODS)]
        own = [member for kind in kinds for _, member in _own_hooks(kind)]
        return next(iter(own), kinds[0] if kinds else type), self.operands  # type: ignore[return-value]

    def look_at(self, x: Any, is_beyond: bool) -> None:
        """Look at a value, and at what it holds as a container."""
        kind: type = type(x)
        if not _may_hold(x) or id(x) in self.seen:
            return
        self.seen.add(id(x))
        is_container = kind in CONTAINER_KINDS
        if not is_container:
            self.meet(kind, x)
        size = _size_of(x)
        self.spend(1 + size, is_beyond)
        if self.left < 0:
            return
        items = _items_of(x) if size else ()
        kinds = {*map(type, items)}
        for part in kinds - PLAIN_KINDS if kinds else ():
            alike = [y for y in items if type(y) is part]
            if _holds_items(part):
                self.stack += [(y, is_beyond) for y in alike]
            else:
                self.meet(part, x)
                self.open(alike, is_beyond)
        if np.ndarray in kinds:
            self.stack += [(y, is_beyond) for y in items if holds_objects(y)]
        if not is_container and kind is not np.ndarray:
            self.open([x], is_beyond)

    def spend(self, count: int, is_beyond: bool) -> None:
        """Count what is looked at beyond the operands."""
        if is_beyond:
            self.left -= count
            state.looked += count

    def meet(self, kind: type, holder: Any) -> None:
        """Note that an instance of a class is among the operands, or held by one."""
        if kind in PLAIN_KINDS:
            return
        self.met.append((kind, holder))
        if kind not in self.asked:
            self.asked[kind] = []
            self.ask(kind, self.names)

    def ask(self, kind: type, names: frozenset[str]) -> None:
        """Ask a class for its methods, properties and values of some names."""
        for member in _members_of(kind, names):
            functions = functions_in(member)
            if isinstance(member, _METHODS_IN_C):
                self.in_c.add(kind)
            elif functions is None:
                self.stack.append((member, True))
            for f in functions or ():
                if f not in self.asked[kind]:
                    self.call(kind, f)

    def call(self, kind: type, f: types.FunctionType) -> None:
        """Note what a method of a class may do."""
        if may_write(f, kind):
            self.asked[kind].append(f)
        else:
            self.new |= names_read(f)
            self.stack += [(y, True) for y in values_read(f)]

    def open(self, objects: list[Any], is_beyond: bool) -> None:
        """Let the attributes of objects of one class be read, by all names that come up."""
        kind = type(objects[0])
        if kind_of_type(kind) >= TUPLE and not _is_made_by_engine(kind):
            self.opened.append((objects, is_beyond))
            self.read(objects, is_beyond, self.names)

    def read(self, objects: list[Any], is_beyond: bool, names: frozenset[str]) -> None:
        """Look at the attributes of some names of objects of one class."""
        kind = type(objects[0])
        is_object = kind_of_type(kind) == OBJECT
        is_whole = ANY_ATTRIBUTE in names or (is_object and kind in self.in_c)
        names -= _SOUGHT_IN_CLASSES
        if not names and not is_whole:
            return
        self.spend(len(objects), is_beyond)
        has_fields = is_object and not is_whole and not slot_names(kind)
        for x in objects:
            if has_fields:
                fields: Any = dict_of(x) or {}
                values = [fields[name] for name in names.intersection(fields)]
            else:
                values = [y for name, y in _named_fields(x) if is_whole or name in names]
            self.stack += [(y, True) for y in values if _may_hold(y)]
        computing = next(iter(_members_of(kind, _GETATTR)), None)
        if isinstance(computing, types.FunctionType) and computing not in self.asked[kind]:
            self.call(kind, computing)


_GETATTR = frozenset(("__getattr__",))
_SOUGHT_IN_CLASSES = ANY_METHOD | {"__get__", "__enter__", "__exit__", "keys", INHERITED}
"""Names that are looked up in classes alone."""
_METHODS_IN_C = (types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinFunctionType)


def _may_hold(x: Any) -> bool:
    """Return whether a value may have hooks, or hold what has."""
    return type(x) not in PLAIN_KINDS or holds_objects(x)


def _named_fields(x: Any) -> Any:
    """Return the attributes of an object, each with its name."""
    return entries_of(x) if kind_of(x) == OBJECT else (dict_of(x) or {}).items()


def _holds_items(kind: type) -> bool:
    """Return whether values of a class hold others as containers do."""
    return kind_of_type(kind) in (LIST, TUPLE, DICT, SET) or kind in _VIEWS_OF_DICTS


def _is_made_by_engine(kind: type) -> bool:
    """Return whether a class is the engine's own: a tape holds all that was computed."""
    return kind.__module__.startswith("zygote_lite.") and not is_users_class(kind)


@cached_by_class
def _members_of(kind: type, names: frozenset[str]) -> tuple[Any, ...]:
    """Return what a user's class, or a base class, has under some names."""
    if is_foreign(kind) or is_known_by_rule(kind) or _is_made_by_engine(kind):
        return ()  # arrays are for the rules
    is_noted = kind_of_type(kind) >= TUPLE or kind in _VIEWS_OF_DICTS
    if not is_noted and not kind.__flags__ & HEAPTYPE and not _own_hooks(kind):
        PLAIN_KINDS.add(kind)
    found: list[Any] = []
    for base in kind.__mro__:
        defined = names.intersection(vars(base)) if base is not object else ()
        found += [vars(base)[name] for name in defined]
        if INHERITED not in names:
            names = names.difference(defined)
    return tuple(found)


@cached_by_class
def _own_hooks(kind: type) -> tuple[tuple[str, types.FunctionType], ...]:
    """Return the methods that C calls unasked, as the user's classes define them."""
    found: dict[str, Any] = {}
    for base in kind.__mro__:
        for name, member in vars(base).items():
            if name in SPECIAL_METHODS:
                found.setdefault(name, getattr(member, "__func__", member))
    return tuple([(n, f) for n, f in found.items() if isinstance(f, types.FunctionType)])


def _size_of(x: Any) -> int:
    """Return how many items a container holds."""
    kind = type(x)
    for base in (list, tuple, dict, set, frozenset, np.ndarray):
        if issubclass(kind, base):
            return int(x.size) if base is np.ndarray else base.__len__(x)
    if kind in _VIEWS_OF_DICTS:
        return len(x)
    return len(x) if kind_of(x) == LIST else 0  # a deque


def _items_of(x: Any) -> Any:
    """Return what a container holds."""
    kind = kind_of(x)
    if issubclass(type(x), np.ndarray):
        return x.ravel().tolist() if x.dtype.hasobject else ()
    if type(x) in _VIEWS_OF_DICTS:
        return [*x]
    if kind == SET:
        return x
    if kind == DICT:
        return [*dict.keys(x), *dict.values(x)]
    return x if type(x) in CONTAINER_KINDS else [value for _, value in entries_of(x)]
