"""The table of rules, and `rrule`, the verb that consults it.

A call is resolved in this order:

1. the rules of the function itself, found by its identity; among them plum dispatches on the
   types of the arguments, then, where there are 0-d arrays and no rule for arrays, on those of
   the numbers that these hold;
2. the rules of instances: those for the function's own type, then for its base classes;
3. `None`: nobody has declared a rule.

Forward and batching rules have places of their own, and are found likewise (`find_frule`,
`find_batched`).

What was found is kept by the types of the arguments until the table changes. Where nothing was
kept, the sections of plugins whose libraries have been imported meanwhile are loaded first, and
those that wait for a look-up of this function (`_deferred`).
"""

from collections.abc import Callable
from sys import modules
from types import BuiltinFunctionType, CodeType, MethodType, ModuleType
from typing import Any

import numpy as np

from rulescore._errors import RuleError, keep_callers_frames
from rulescore._rule import Pullback, Rule, those_given
from rulescore._table.deferred import Deferred, Part
from rulescore._table.primitive import Entry, Primitive, remember

_BOUND = (BuiltinFunctionType, MethodType)


# A change of the table replaces these, so that a thread that reads them meanwhile sees the old
# table or the new one, and what it remembers is forgotten with the old.
_functions: dict[Any, Primitive | Deferred] = {}  # by identity: functions need not be hashable
_instances: dict[type, Primitive] = {}
_resolved_types: dict[type, list[Primitive]] = {}
_plain: dict[type, bool] = {}  # types of functions that no rule of instances is for
_by_code: dict[CodeType, list[Any]] = {}  # places, filled when they are first asked for
_others: dict[Any, Primitive] = {}  # forward and batching rules, by their kind and function
_generation = 0
_load: Callable[[], None] | None = None  # set by _plugins: loads them at the first look-up
# set by _plugins while sections wait for their libraries: loads those that need wait no longer
_wake: Callable[[], bool] | None = None
_quiet = -1  # how many modules there were when `_wake` last saw none that a section waits for
_told: list[Callable[[], Any]] = []  # after each change


def generation() -> int:
    """Return a number that rises whenever the table of rules changes.

    An AD asks for it before it uses code that it made with the rules. It therefore first loads the
    sections of plugins whose libraries have been imported meanwhile.
    """
    load_due = _wake  # which another thread may take away meanwhile
    if load_due is not None and len(modules) != _quiet:  # as many are nearly always the same
        load_due()
    return _generation


def find_rule(f: Any, /, *xs: Any, ad: Any = None, **options: Any) -> Rule | None:
    """Return the rule that answers `rrule(f, *xs, **options)`, or `None` if there is none.

    Arguments:
        f: the function, or a callable object.
        xs: its arguments, whose types choose the rule.
        ad: the AD, as for `rrule`.
        options: keyword arguments of `f`.

    The rule has the place where it was written (`plugin`, `file`, `line`), its types (`signature`)
    and its `kind`. `rule(f, *xs, **options)` applies it. Raises `RuleError` if several rules match
    and none is the most specific.
    """
    if _load is not None:
        _load()
    primitive = _functions.get(id(f))
    if primitive is None and type(f) in _BOUND:
        primitive = _functions.get(place_of(f))
    if primitive is None and _wake is not None and _wake():
        return find_rule(f, *xs, ad=ad, **options)
    types = type(xs[0]) if len(xs) == 1 else tuple(map(type, xs))
    rule = None
    if primitive is not None:
        try:
            rule = primitive.cache[types]
        except (KeyError, TypeError):
            loaded = _primitive_at(place_of(f))
            if _wake is not None and _wake():
                return find_rule(f, *xs, ad=ad, **options)
            rule = None if loaded is None else loaded.find(xs, types)
        if rule is None and any(map(_is_0d, xs)):
            numbers = tuple([x[()] if _is_0d(x) else x for x in xs])
            return find_rule(f, *numbers, ad=ad, **options)
    if rule is None:
        rule = _find_instance_rule(f, xs, types)
    if rule is None or (rule.needs_ad and ad is None):
        return None
    if options and not rule.takes(len(xs), options):
        return None
    return rule


def find_frule(f: Any, /, *xs: Any, **options: Any) -> Rule | None:
    """Return the rule that answers `frule(tangents, f, *xs, **options)`, or `None`.

    Arguments:
        f: the function, or a callable object.
        xs: its arguments, whose types choose the rule.
        options: keyword arguments of `f`.

    This is the forward rule that was declared by hand, unless a rule of another set overrides it;
    otherwise it is the scalar, linear or constant rule that answers `rrule`. Raises the errors of
    `find_rule`.
    """
    if _load is not None:
        _load()
    own = _find_other("forward", f, xs, options)
    if own is not None:
        return own
    rule = find_rule(f, *xs, **options)
    return rule if rule is not None and rule.kind in ("scalar", "linear", "constant") else None


def find_batched(f: Any, /, *xs: Any, **options: Any) -> Rule | None:
    """Return the batching rule for `f(*xs, **options)`, or `None` if there is none.

    Arguments:
        f: the function.
        xs: one entry of the batch for each argument; their types choose the rule.
        options: keyword arguments of `f`.
    """
    if _load is not None:
        _load()
    return _find_other("batched", f, xs, options)


def _find_other(kind: str, f: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> Rule | None:
    """Return the rule of a kind of its own that answers for these arguments."""
    primitive = _primitive_of(kind, f)
    if primitive is None:
        return None
    types = type(xs[0]) if len(xs) == 1 else tuple(map(type, xs))
    try:
        own = primitive.cache[types]
    except (KeyError, TypeError):
        own = primitive.find(xs, types)
    if own is None and any(map(_is_0d, xs)):
        numbers = tuple([x[()] if _is_0d(x) else x for x in xs])
        return _find_other(kind, f, numbers, options)
    return own if own is not None and (not options or own.takes(len(xs), options)) else None


def _primitive_of(kind: str, f: Any) -> Primitive | None:
    """Return what holds such rules for a function, which its other rules may override."""
    others, key = _others, (kind, place_of(f))
    if key not in others:
        _primitive_at(key[1])  # its section, if it waits, has those of all kinds
        others, entries = _others, entries_at(key)
        if not entries:
            return None
        others[key] = Primitive(entries, entries_at(key[1]))
    return others[key]


def rrule(f: Any, /, *xs: Any, ad: Any = None, **options: Any) -> tuple[Any, Pullback] | None:
    """Return `(y, back)` for `y = f(*xs, **options)`, or `None` if no rule is for it.

    Arguments:
        f: the function, or a callable object.
        xs: the arguments, whose types choose the rule.
        ad: the AD for rules of functions that take functions: `ad(g, *xs)` returns `(y, back)`.
            Without it, such rules are not found.
        options: keyword arguments of `f`; they have no gradient.

    `back(dy)` returns `(∂self, ∂x1, ..., ∂xn)`, each of the shape, the precision and the structure
    of its argument; `None` means "no gradient". The first call loads the rule plugins. Raises
    `RuleError` if several rules match and none is the most specific, or if a rule breaks the
    contract. (ChainRules' `rrule`.)
    """
    if _load is not None:
        _load()
    rule = None
    primitive = _functions.get(id(f))
    try:
        if primitive is None:
            kind = type(f)
            plain = kind in _plain and (kind not in _BOUND or place_of(f) not in _functions)
            if plain and (_wake is None or not _wake()):
                return None
        else:
            rule = primitive.cache[type(xs[0]) if len(xs) == 1 else tuple(map(type, xs))]
            if rule is None and type(f) in _plain and not any(map(_is_0d, xs)):
                return None
    except (KeyError, TypeError):
        pass
    try:
        if rule is None or rule.needs_ad:
            rule = find_rule(f, *xs, ad=ad, **options)
            if rule is None:
                return None
            if rule.needs_ad:
                options = {**options, "ad": ad}
        elif options and not rule.takes(len(xs), options):
            return None
        if options:
            options = those_given(options)
        # what `rule(f, *xs, **options)` does, without the call, for the kinds that are most common
        if rule.kind == "scalar" and not options:
            y = rule.primal(*xs)
            return y, Pullback(rule.reverse, rule, y if rule.takes_out else None, f, xs)
        if rule.kind == "general" and not rule.watches:
            given = rule.body(*xs, **options)
            if type(given) is tuple and len(given) == 2:
                back = given[1]
                if type(back) is tuple or callable(back):
                    return given[0], Pullback(rule.reverse, rule, back, f, xs)
            return rule.answer(given, f, xs)
        if rule.kind == "linear" and not rule.watches:
            return rule.primal(*xs, **options), Pullback(rule.reverse, rule, options, f, xs)
        return rule(f, *xs, **options)
    except RuleError as error:
        __tracebackhide__ = keep_callers_frames(error)
        raise


def place_of(f: Any) -> Any:
    """Return what a function is found by: bound methods are made anew at each access."""
    if type(f) in _BOUND:
        owner = f.__self__
        if type(f) is MethodType:
            return id(owner), id(f.__func__)
        if owner is not None and not isinstance(owner, ModuleType):
            return id(owner), f.__name__
    return id(f)


def _find_instance_rule(f: Any, xs: tuple[Any, ...], types: Any) -> Rule | None:
    kind: type = type(f)
    for primitive in _primitives_of_instances(kind):
        key = (kind, types)
        try:
            rule = primitive.cache[key]
        except (KeyError, TypeError):
            rule = primitive.find((f, *xs), key)
        if rule is not None:
            return rule
    return None


def _primitives_of_instances(kind: type) -> list[Primitive]:
    """Return what holds the rules for calling instances of a class: its own, then its bases'."""
    resolved, plain = _resolved_types, _plain  # before `_instances`, which is replaced first
    try:
        return resolved[kind]
    except (KeyError, TypeError):
        instances = _instances
    found = [
        instances[base]
        for base in kind.__mro__
        if _has(instances, base) and not _replaces_call(kind, base)
    ]
    if len(found) > 1 and any(primitive.overrides for primitive in found):
        each = [primitive.entries for primitive in found]
        found = [
            Primitive(own, tuple(entry for other in each if other is not own for entry in other))
            for own in each
        ]
    remember(resolved, kind, found)
    if not found:
        remember(plain, kind, True)
    return found


def _replaces_call(kind: type, base: type) -> bool:
    """Return whether calling instances of a class is another function than for a base of it.

    An abstract `__call__` stands for those of all classes below it.
    """
    own, inherited = (
        next((vars(c)["__call__"] for c in owner.__mro__ if "__call__" in vars(c)), None)
        for owner in (kind, base)
    )
    return own is not inherited and not getattr(inherited, "__isabstractmethod__", False)


def _is_0d(x: Any) -> bool:
    return type(x) is np.ndarray and x.ndim == 0


def _has(instances: dict[type, Primitive], base: type) -> bool:
    try:
        return base in instances
    except TypeError:
        return False


def load() -> None:
    """Load the plugins, where that has not happened yet."""
    if _load is not None:
        _load()


def wake() -> bool:
    """Load what plugins have for libraries that were imported meanwhile; return whether any had."""
    load()
    return _wake is not None and _wake()


def primitives_of(f: Any) -> list[Primitive]:
    """Return what holds the rules for a function, or for calling an object."""
    wake()
    return _of_function(f) + [_instances[c] for c in type(f).__mro__ if _has(_instances, c)]


def primitives_in_play(f: Any) -> list[Primitive]:
    """Return those of them that a call is resolved by."""
    return _of_function(f) + _primitives_of_instances(type(f))


def _of_function(f: Any) -> list[Primitive]:
    primitive = _primitive_at(place_of(f))
    return [] if primitive is None else [primitive]


def _primitive_at(place: Any) -> Primitive | None:
    """Return what holds the rules at a place, once all of them have been loaded."""
    known = _functions.get(place)
    if isinstance(known, Deferred):
        known.load()
        known = _functions.get(place)
        if isinstance(known, Deferred):  # it is asked by what it waits for
            return Primitive(known.entries) if known.entries else None
    return known


def methods_of(function: Any) -> Primitive | None:
    """Return what holds the methods of `project`, `accumulate` or `zero`, if there are any."""
    load()
    return _primitive_at(("method", id(function)))


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
        for place, primitive in _functions.items():
            own = getattr(primitive.function, "__code__", None)
            if own is not None:
                found.setdefault(own, []).append(place)
        known.update(found)
    return [p for p in map(_primitive_at, known.get(code, ())) if p is not None]


def place_in(rule: Rule) -> Any:
    """Return where in the table a rule stands."""
    if rule.kind == "method":  # it is no derivative of the function
        return "method", id(rule.function)
    if rule.kind in ("forward", "batched"):
        return rule.kind, place_of(rule.function)
    return rule.function if rule.kind == "instance" else place_of(rule.function)


def settle(rules: list[Rule]) -> None:
    """Load the sections that wait for the functions of these rules."""
    for rule in rules:
        if rule.kind not in ("instance", "method"):
            _primitive_at(place_of(rule.function))


def defer(found: list[tuple[Any, Part]]) -> None:
    """Note for each of these functions a section of a plugin that has rules for it."""
    global _functions, _by_code
    table = dict(_functions)
    for f, part in found:
        place = place_of(f)
        known = table.get(place)
        waiting = known.waiting if isinstance(known, Deferred) else ()
        table[place] = Deferred(f, (*waiting, part), () if known is None else known.entries)
    _functions, _by_code = table, {}
    _note_change()


def entries_at(place: Any) -> tuple[Entry, ...]:
    """Return the rules that stand at a place now, each with how it came there."""
    known = (_instances if isinstance(place, type) else _functions).get(place)
    return () if known is None else known.entries


def replace(entries: dict[Any, tuple[Entry, ...]], *, foreseen: bool = False) -> None:
    """Put a new table in the place of the old one, with these rules at these places.

    Arguments:
        entries: the rules at each place that changes.
        foreseen: whether the rules are those that the table said were to be loaded: nobody has
            been given another answer.
    """
    global _functions, _instances, _resolved_types, _plain, _by_code, _others
    functions, instances = dict(_functions), dict(_instances)
    for place, those in entries.items():
        table: dict[Any, Any] = instances if isinstance(place, type) else functions
        known = table.get(place)
        if isinstance(known, Deferred) and known.waiting:
            table[place] = Deferred(known.function, known.waiting, those)
        elif those:
            table[place] = Primitive(those)
        else:
            table.pop(place, None)
    _functions, _instances = functions, instances
    _resolved_types, _plain, _by_code, _others = {}, {}, {}, {}
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
