"""The table of rules: what holds the rules at each place, which a change replaces at once.

A function is found by its identity, calls of objects by their class, and forward and batching rules
at places of their own. The sections of plugins whose libraries have been imported meanwhile are
loaded by `wake`, and those that wait for a look-up of one function (`deferred`) by `primitive_at`.
"""

from collections.abc import Callable
from sys import modules
from types import BuiltinFunctionType, CodeType, MethodType, ModuleType
from typing import Any

from rulescore._rule import Rule
from rulescore._table.deferred import Deferred, Part
from rulescore._table.primitive import Entry, Primitive

BOUND = (BuiltinFunctionType, MethodType)


# A change of the table replaces these, so that a thread that reads them meanwhile sees the old
# table or the new one, and what it remembers is forgotten with the old.
functions: dict[Any, Primitive | Deferred] = {}  # by identity: functions need not be hashable
instances: dict[type, Primitive] = {}
resolved_types: dict[type, list[Primitive]] = {}
plain: dict[type, bool] = {}  # types of functions that no rule of instances is for
_by_code: dict[CodeType, list[Any]] = {}  # places, filled when they are first asked for
others: dict[Any, Primitive] = {}  # forward and batching rules, by their kind and function
_generation = 0
load_plugins: Callable[[], None] | None = None  # set by `_plugins`: loads them at the first look-up
# set by `_plugins` while sections wait for their libraries: loads those that need wait no longer
load_due: Callable[[], bool] | None = None
quiet = -1  # how many modules there were when `load_due` last saw none that a section waits for
_told: list[Callable[[], Any]] = []  # after each change


def generation() -> int:
    """Return a number that rises whenever the table of rules changes.

    An AD asks for it before it uses code that it made with the rules. It therefore first loads the
    sections of plugins whose libraries have been imported meanwhile.
    """
    due = load_due  # which another thread may take away meanwhile
    if due is not None and len(modules) != quiet:  # as many are nearly always the same
        due()
    return _generation


def place_of(f: Any) -> Any:
    """Return what a function is found by: bound methods are made anew at each access."""
    if type(f) in BOUND:
        owner = f.__self__
        if type(f) is MethodType:
            return id(owner), id(f.__func__)
        if owner is not None and not isinstance(owner, ModuleType):
            return id(owner), f.__name__
    return id(f)


def primitive_in(known: dict[type, Primitive], kind: type) -> Primitive | None:
    """Return what holds the rules for calling objects of a class."""
    try:
        return known.get(kind)
    except TypeError:  # its metaclass makes it unhashable
        return None


def load() -> None:
    """Load the plugins, where that has not happened yet."""
    first = load_plugins  # which another thread may take away meanwhile
    if first is not None:
        first()


def wake() -> bool:
    """Load what plugins have for libraries that were imported meanwhile; return whether any had."""
    load()
    due = load_due
    return due is not None and due()


def primitives_of(f: Any) -> list[Primitive]:
    """Return what holds the rules for a function, or for calling an object."""
    wake()
    found = [primitive_at(place_of(f)), *(primitive_in(instances, c) for c in type(f).__mro__)]
    return [primitive for primitive in found if primitive is not None]


def primitive_at(place: Any) -> Primitive | None:
    """Return what holds the rules at a place, once all of them have been loaded."""
    known = functions.get(place)
    if isinstance(known, Deferred):
        known.load()
        known = functions.get(place)
        if isinstance(known, Deferred):  # it is asked by what it waits for
            return Primitive(known.entries) if known.entries else None
    return known


def methods_of(function: Any) -> Primitive | None:
    """Return what holds the methods of `project`, `accumulate` or `zero`, if there are any."""
    load()
    return primitive_at(("method", id(function)))


def rules_of(f: Any) -> list[Rule]:
    """Return all rules for a function, or for calling an object, whatever the arguments.

    Arguments:
        f: the function, the object, or the class that constructs one; or a code object, for the
            rules of all functions that have it.
    """
    primitives = _with_code(f) if type(f) is CodeType else primitives_of(f)
    return [rule for primitive in primitives for rule in primitive.rules]


def _with_code(code: CodeType) -> list[Primitive]:
    """Return those of the functions that have this code object."""
    known = _by_code
    if not known:
        found: dict[CodeType, list[Any]] = {}
        for place, primitive in functions.items():
            own = getattr(primitive.function, "__code__", None)
            if own is not None:
                found.setdefault(own, []).append(place)
        known.update(found)
    return [p for p in map(primitive_at, known.get(code, ())) if p is not None]


def place_in(rule: Rule) -> Any:
    """Return where in the table a rule stands."""
    if rule.kind == "method":  # it is not a derivative of the function
        return "method", id(rule.function)
    if rule.kind in ("forward", "batched"):
        return rule.kind, place_of(rule.function)
    return rule.function if rule.kind == "instance" else place_of(rule.function)


def settle(rules: list[Rule]) -> None:
    """Load the sections that wait for the functions of these rules."""
    for rule in rules:
        if rule.kind not in ("instance", "method"):
            primitive_at(place_of(rule.function))


def defer(found: list[tuple[Any, Part]]) -> None:
    """Note for each of these functions a section of a plugin that has rules for it."""
    global functions, _by_code
    table = dict(functions)
    for f, part in found:
        place = place_of(f)
        known = table.get(place)
        waiting = known.waiting if isinstance(known, Deferred) else ()
        table[place] = Deferred(f, (*waiting, part), () if known is None else known.entries)
    functions, _by_code = table, {}
    _note_change()


def entries_at(place: Any) -> tuple[Entry, ...]:
    """Return the rules that stand at a place now, each with how it came there."""
    known = (instances if isinstance(place, type) else functions).get(place)
    return () if known is None else known.entries


def replace(entries: dict[Any, tuple[Entry, ...]], *, foreseen: bool = False) -> None:
    """Put a new table in the place of the old one, with these rules at these places.

    Arguments:
        entries: the rules at each place that changes.
        foreseen: whether the rules are those that the table said were to be loaded: nobody has
            been given another answer.
    """
    global functions, instances, resolved_types, plain, _by_code, others
    by_identity, by_class = dict(functions), dict(instances)
    for place, those in entries.items():
        table: dict[Any, Any] = by_class if isinstance(place, type) else by_identity
        known = table.get(place)
        if isinstance(known, Deferred) and known.waiting:
            table[place] = Deferred(known.function, known.waiting, those)
        elif those:
            table[place] = Primitive(those)
        else:
            table.pop(place, None)
    functions, instances = by_identity, by_class
    resolved_types, plain, _by_code, others = {}, {}, {}, {}
    if not foreseen:
        _note_change()


def _note_change() -> None:
    global _generation
    _generation += 1
    for forget in _told:
        forget()


def when_changed(forget: Callable[[], Any]) -> None:
    """Call `forget` after each change of the table of rules, so that an AD can empty its caches.

    Arguments:
        forget: a function without arguments. It is held for good.
    """
    _told.append(forget)
