"""Activity: which values depend on a differentiated argument, and which have pullbacks saved.

Both are found by a search from the operands of a call through all that they reach.
"""

import fractions
import operator
from collections.abc import Iterable, Iterator
from numbers import Number
from typing import Any

import numpy as np

from zygote_lite._activity.classes import computes, intercepts
from zygote_lite._activity.reachability import (
    held_and_named,
    is_users_class,
    reached_by_class,
    referents,
)
from zygote_lite._cotangents.kinds import (
    DICT,
    FUNCTION,
    HEAPTYPE,
    INERT,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    VALUE,
    dict_of,
    entries_of,
    is_written_in_python,
    kind_of,
    owner_of,
    slot_names,
    type_in_c,
    within,
)
from zygote_lite._cotangents.registry import STRUCTURAL, Flags, TextPullback
from zygote_lite._cotangents.run import FieldsView, state
from zygote_lite._ir.traits import BY_ID, NO_TRAITS


def is_active(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether a call can depend on a differentiated argument."""
    for flag in flags:
        if flag:
            return True
    active = state.active
    if not active:
        return False
    if (
        id(f) in STRUCTURAL
        and f is not operator.truth
        and (f not in _SUBSCRIPTS or type(xs[0]) in (list, dict))
    ):
        if f is getattr or f is object.__getattribute__:
            if not computes(type(xs[0]), xs[1]):  # type: ignore[arg-type]
                return (
                    id(dict_of(xs[0])) in active
                    or _is_any_active(active, xs)
                    or _is_class_active(active, xs[0])
                )
        elif not _has_methods(f, xs) and not any(kind_of(x) == FUNCTION for x in kws.values()):
            is_written = f in _ATTRIBUTE_WRITERS and id(dict_of(xs[0])) in active
            return is_written or _is_any_active(active, xs)
    return reaches_active(f, *xs, *kws.values())


_SUBSCRIPTS = (operator.getitem, operator.setitem)
_ATTRIBUTE_WRITERS = (setattr, delattr, object.__setattr__, object.__delattr__)


def _has_methods(f: Any, xs: tuple[Any, ...]) -> bool:
    """Return whether a user class overrides what a structural function does."""
    if f in _ATTRIBUTE_WRITERS:
        return intercepts(type(xs[0]), xs[1])  # type: ignore[arg-type]
    count = BY_ID.get(id(f), NO_TRAITS).overridable
    return any(is_written_in_python(type(x)) for x in xs[:count])


def _is_any_active(active: dict[int, Any], xs: tuple[Any, ...]) -> bool:
    return any(id(x) in active or (kind_of(x) == VALUE and reaches_active(x)) for x in xs)


def _is_class_active(active: dict[int, Any], x: Any) -> bool:
    cls = x if isinstance(x, type) else type(x)
    return bool(cls.__flags__ & HEAPTYPE) and any(id(base) in active for base in cls.__mro__)


def mark_active(x: Any) -> None:
    """Note that a container holds an active value now."""
    if state.active is not None:
        state.active[id(x)] = x
        if id(x) in state.clean:
            state.clean.clear()


def text_pullback(y: Any, count: int) -> TextPullback:
    """Return the pullback of a text that was computed from active values, and note the text.

    A text may be kept in a container, whose cotangents know nothing of it: so it is known by its
    identity wherever it comes up again. Texts of one character are shared by all that read them.
    """
    if state.active is not None:
        stack = [y]
        while stack:
            x = stack.pop()
            if isinstance(x, list | tuple):
                stack += x
            elif isinstance(x, np.ndarray) or (isinstance(x, _TEXTS) and len(x) > 1):
                x = owner_of(x) if isinstance(x, np.ndarray) else x
                state.active[id(x)] = x
                state.has_texts = True
        if isinstance(y, list):
            mark_active(y)
    return TextPullback(count)


_TEXTS = (str, bytes, bytearray)


def is_active_text(x: Any) -> bool:
    """Return whether a text was computed from active values, as far as its identity tells."""
    return state.has_texts and isinstance(x, _TEXTS) and id(x) in (state.active or ())


def holds_text(x: Any, flag: Any) -> bool:
    """Return whether a text that was made of active values is an operand, or in a sequence.

    Arguments:
        x: the operand.
        flag: whether it is active.
    """
    if isinstance(x, _TEXTS):
        return bool(flag) or is_active_text(x)
    if not state.has_texts:
        return False
    if isinstance(x, np.ndarray):
        return is_text(x) and id(owner_of(x)) in (state.active or ())
    return isinstance(x, list | tuple) and any(holds_text(y, None) for y in x)


def is_text(x: Any) -> bool:
    """Return whether a value is a text, or an array or a sequence of nothing but texts."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "UST"
    if type(x) in (list, tuple):
        return bool(x) and all(map(is_text, x))
    return isinstance(x, _TEXTS)


def mark_fields(x: Any, fields: Any) -> None:
    """Note that the `__dict__` of an object (or class) holds an active value now."""
    if state.active is not None:
        is_object = kind_of(x) == OBJECT and type(fields) is dict and not slot_names(type(x))
        state.active.setdefault(id(fields), fields if is_object else FieldsView(fields))


def is_fields_view(x: Any) -> bool:
    """Return whether something is the `__dict__` of a class that is active, say."""
    return type(x) is dict and type((state.active or {}).get(id(x))) is FieldsView


HOLDERS: tuple[Any, ...] = (np.ma.MaskedArray, np.matrix, fractions.Fraction, Iterator,
                            type({}.keys()), type({}.values()), type({}.items()))  # fmt: skip
"""Kinds of what holds numbers, computes or walks in its own way, and carries no gradient."""


def mark_arguments(operands: tuple[Any, ...], flags: tuple[Any, ...]) -> tuple[Any, ...]:
    """Note that what is reached from differentiated arguments is active; return their flags.

    An argument that cannot have a gradient, such as a text, is not differentiated.
    """
    flags = tuple(
        [flag if kind_of(x) != INERT else None for x, flag in zip(operands, flags, strict=True)]
    )
    for x, flag in zip(operands, flags, strict=True):
        if flag:
            add_addresses(x)
    return flags


def only_floats(operands: tuple[Any, ...], flags: tuple[Any, ...]) -> bool:
    """Return whether all numbers within the differentiated arguments are floating-point ones.

    Then no integer carries a gradient, whatever it was computed from.
    """
    given = within(*[x for x, flag in zip(operands, flags, strict=True) if flag])
    return all(kind_of(x) in _WITHOUT_INTEGERS or is_floating(x) for x in given)


_WITHOUT_INTEGERS = {INERT, FUNCTION, TUPLE, LIST, DICT}


def is_floating(x: Any) -> bool:
    """Return whether a value is a floating-point number, or an array of such."""
    return type(x) in (float, complex) or _letter(x) in ("f", "c")


def is_integer(x: Any) -> bool:
    """Return whether a value is an integer, or an array of integers."""
    return isinstance(x, int) or _letter(x) in ("i", "u", "b")


def _letter(x: Any) -> Any:
    """Return NumPy's letter for the kind of numbers that a value holds, if it has one."""
    return getattr(getattr(x, "dtype", None), "kind", None)


def add_addresses(x: Any) -> None:
    """Note that all that can be reached from a differentiated argument is active."""
    assert state.active is not None
    state.active.update(addresses_of(x))
    state.clean.clear()


def addresses_of(x: Any) -> dict[int, Any]:
    """Return all that has an address and can be reached from `x`."""
    found: dict[int, Any] = {}
    for value in within(x):
        kind = kind_of(value)
        t = type(value)
        if kind in (VALUE, OBJECT) and t not in _NUMBERS and issubclass(t, HOLDERS):
            state.held[id(value)] = value
        if kind >= LIST:
            found[id(value)] = value
        if kind == OBJECT and type(dict_of(value)) is dict:
            fields = dict_of(value)
            found[id(fields)] = FieldsView(fields) if slot_names(t) else fields
    return found


_BUILTIN_CONTAINERS = {list, tuple, dict, set, frozenset}
LIMIT = 2000
LIMIT_BY_NAME = 50_000
_NUMBERS = {float, int, bool, complex, str, bytes, type(None), np.float64, np.int64}


def reaches_active(*roots: Any) -> bool:
    """Return whether something active can be reached from `roots`.

    After `LIMIT` objects the search gives up and says yes: that costs time, but no gradient.
    """
    active = state.active
    if not active:
        return False
    seen: dict[int, Any] = {}
    by_name: list[Any] = []
    for _ in _walk(active, [*roots], seen, by_name, LIMIT):
        return True
    return any(
        _is_active_by_name(active, x, seen) for x in by_name if kind_of(x) or isinstance(x, type)
    )


def captured_within(*roots: Any) -> list[Any]:
    """Return what pullbacks have saved and can be reached from `roots` (all of it, if in doubt)."""
    captured = state.captured or {}
    found = {id(x): x for x in _all_within(captured, roots)} if captured else {}
    return list((captured if id(_VAST) in found else found).values())


def is_reached(x: Any, roots: Any) -> bool:
    """Return whether an object can be reached from `roots` (no, if in doubt)."""
    return any(y is x for y in _all_within({id(x): x}, roots))


def _all_within(active: dict[int, Any], roots: Any) -> Iterator[Any]:
    """Yield what of some objects can be reached, by the names of globals too."""
    seen: dict[int, Any] = {}
    by_name: list[Any] = []
    for stack in ([*roots], by_name):
        yield from _walk(active, stack, seen, by_name, LIMIT)


def _is_active_by_name(active: dict[int, Any], x: Any, before: dict[int, Any]) -> bool:
    """Return whether what a variable of a module holds reaches something active.

    What does not is remembered, until something may have been written into it.
    """
    clean = state.clean
    if id(x) in before or id(x) in clean:
        return clean.get(id(x)) is _VAST
    seen: dict[int, Any] = {}
    more: list[Any] = [x]
    for _ in _walk(active, more, seen, more, LIMIT_BY_NAME):
        if len(seen) > LIMIT_BY_NAME:
            clean[id(x)] = _VAST
        return True
    clean.update(seen)
    return False


_VAST = object()


def _walk(
    active: dict[int, Any],
    stack: list[Any],
    seen: dict[int, Any],
    by_name: list[Any],
    limit: int,
) -> Iterator[Any]:
    """Yield what is active of all that can be reached from `stack`; `_VAST` for giving up.

    What is reached by name is put aside.
    """
    clean = state.clean if active is state.active else {}
    while stack:
        x = stack.pop()
        kind = kind_of(x)
        if (kind == VALUE and type(x) in _NUMBERS) or id(x) in seen:
            continue
        if id(x) in clean:
            if clean[id(x)] is _VAST:
                yield _VAST
            continue
        if kind == INERT:
            if isinstance(x, _TEXTS) and id(x) in active:
                yield x
            elif isinstance(x, type):
                seen[id(x)] = x
                if x.__flags__ & HEAPTYPE:
                    yield from (base for base in x.__mro__ if id(base) in active)
                by_name += reached_by_class(x)
                if is_users_class(type(x)):
                    stack.append(type(x))
            elif type(x).__flags__ & HEAPTYPE and id(type(x)) not in seen:
                stack.append(type(x))  # a member of an enumeration: methods may use variables
            continue
        # by the types: `isinstance` asks a weak reference for what may be gone
        if kind == VALUE or issubclass(type(x), np.ndarray):  # masked arrays are objects
            if issubclass(type(x), np.ndarray):
                if id(owner_of(x)) in active:
                    yield owner_of(x)
                elif isinstance(owner_of(x).base, np.nditer):
                    stack += owner_of(x).base.operands
                elif x.dtype.hasobject and x.dtype.names is None:
                    seen[id(x)] = x
                    stack += x.flat[: LIMIT + 1].tolist()
                if type(x) is not np.ndarray:
                    stack += (dict_of(x) or {}).values()
            elif not issubclass(type(x), np.generic | Number):
                if id(x) in active:
                    yield x
                seen[id(x)] = x  # an iterator or a view in C, say: it may hold a container
                stack += referents(x)
            continue
        if len(seen) > limit:
            yield _VAST
            return
        if id(x) in active or (kind == OBJECT and id(dict_of(x)) in active):
            yield x
        seen[id(x)] = x
        if kind == FUNCTION:
            held, named = held_and_named(x)
            stack += held
            by_name += named
        elif kind == SET:
            stack += type_in_c(x).__iter__(x)
        elif kind in (LIST, TUPLE):
            items = x if type(x) in _BUILTIN_CONTAINERS else [*type_in_c(x).__iter__(x)]
            if not _NUMBERS.issuperset(map(type, items)):
                stack += items
            if type(x).__flags__ & HEAPTYPE:
                stack += [value for _, value in entries_of(x)]
        else:
            stack += [value for _, value in entries_of(x)]
        if kind in (LIST, TUPLE, DICT, SET) and type(x) not in _BUILTIN_CONTAINERS:
            stack += (dict_of(x) or {}).values()
            stack.append(getattr(x, "default_factory", None))
        if type(x).__flags__ & HEAPTYPE and id(type(x)) not in seen:
            stack.append(type(x))


def holder_of(classes: Iterable[type], name: str, y: Any) -> Any:
    """Return the first class whose attribute `name` is `y`, if it holds what is active."""
    for cls in classes:
        if name in cls.__dict__:
            held = cls.__dict__[name] is y and state.active and id(cls) in state.active
            return cls if held and kind_of(y) not in (INERT, FUNCTION) else None
    return None


def has_active_class(x: Any) -> bool:
    """Return whether an attribute of a class, or of the class of an object, is active."""
    return _is_class_active(state.active or {}, x)
