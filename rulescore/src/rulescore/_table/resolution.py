"""`rrule`, the verb, and the look-up of the rule that answers a call.

A call is resolved in this order:

1. the rules of the function itself, found by its identity; among them plum dispatches on the
   types of the arguments, then, where there are 0-d arrays and no rule for arrays, on those of
   the numbers that these hold;
2. the rules of instances: those for the function's own type, then for its base classes;
3. `None`: nobody has declared a rule.

Forward and batching rules are found likewise (`find_frule`, `find_batched`).

What was found is kept by the types of the arguments until the table changes. Where nothing was
kept, the sections of plugins that are due are loaded first.
"""

from typing import Any

import numpy as np

from rulescore._errors import RuleError, keep_callers_frames
from rulescore._rule import Pullback, Rule, those_given
from rulescore._table import table
from rulescore._table.primitive import Primitive, remember
from rulescore._table.table import entries_at, load, place_of, primitive_at, primitive_in, wake


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
    if table.load_plugins is not None:
        load()
    primitive = table.functions.get(id(f))
    if primitive is None and type(f) in table.BOUND:
        primitive = table.functions.get(place_of(f))
    if primitive is None and wake():
        return find_rule(f, *xs, ad=ad, **options)
    types = type(xs[0]) if len(xs) == 1 else tuple(map(type, xs))
    rule = None
    if primitive is not None:
        try:
            rule = primitive.cache[types]
        except (KeyError, TypeError):
            loaded = primitive_at(place_of(f))
            if wake():
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
    load()
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
    load()
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
    others, key = table.others, (kind, place_of(f))
    if key not in others:
        primitive_at(key[1])  # its section, if it waits, has those of all kinds
        others, entries = table.others, entries_at(key)
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
    if table.load_plugins is not None:
        load()
    rule = None
    primitive = table.functions.get(id(f))
    try:
        if primitive is None:
            kind = type(f)
            plain = kind in table.plain
            if kind in table.BOUND:
                plain = plain and place_of(f) not in table.functions
            due = table.load_due  # which another thread may take away meanwhile
            if plain and (due is None or not due()):
                return None
        else:
            count = len(xs)  # one or two arguments, as nearly always, take half the time
            if count == 1:
                rule = primitive.cache[type(xs[0])]
            elif count == 2:
                rule = primitive.cache[type(xs[0]), type(xs[1])]
            else:
                rule = primitive.cache[tuple(map(type, xs))]
            if rule is None and type(f) in table.plain and not any(map(_is_0d, xs)):
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
    resolved, plain = (
        table.resolved_types,
        table.plain,
    )  # before `instances`: that is replaced first
    try:
        return resolved[kind]
    except (KeyError, TypeError):
        instances = table.instances
    found = [
        primitive
        for base in kind.__mro__
        if (primitive := primitive_in(instances, base)) and not _replaces_call(kind, base)
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


def primitives_in_play(f: Any) -> list[Primitive]:
    """Return what holds the rules that a call is resolved by."""
    own = primitive_at(place_of(f))
    found = _primitives_of_instances(type(f))
    return found if own is None else [own, *found]


def _is_0d(x: Any) -> bool:
    return type(x) is np.ndarray and x.ndim == 0
