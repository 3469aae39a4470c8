"""Structural pullbacks: what has no derivative of its own, and only takes values apart or together.

Attribute access, construction of tuples, lists and dicts, subscripts, writes, calls with `*` and
`**`, functions defined inside, and `map`. Each takes the flags of the call and its operands, and
returns the value and its pullback; `None` leaves the call to the rules.
"""

import builtins
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from rulescore import Tangent, accumulate, find_rule

from zygote_lite._pull import (
    Effect,
    Flags,
    Pulled,
    inert,
    mark_active,
    no_rule,
    pull,
    structural,
    take,
    where,
)
from zygote_lite._errors import DifferentiationError
from zygote_lite._store import DICT, INERT, LIST, OBJECT, TUPLE, has_address, kind_of, state


def _slots(x: Any) -> dict[Any, Any]:
    store = state.store
    assert store is not None
    return store.slots(x)


def _give(slots: dict[Any, Any], key: Any, d: Any) -> None:
    """Add the cotangent `d` to that of one entry."""
    if d is not None:
        slots[key] = accumulate(slots.get(key), d)


# -- functions that only lowered code calls ----------------------------------------------------


def capture(f: Any, /, *captured: Any) -> Any:
    """Return a function defined inside, which captures the given values."""
    return f


def invoke(x: Any, name: str, /, *xs: Any, **kws: Any) -> Any:
    """Call a method."""
    return getattr(x, name)(*xs, **kws)


def apply(f: Any, xs: Any, kws: Any, /) -> Any:
    """Call a function with a sequence of arguments and a mapping of keywords."""
    return f(*xs, **kws)


def unpack(x: Any, count: int, star: int | None, /) -> tuple[Any, ...]:
    """Take a sequence apart, as an assignment to `count` targets does."""
    parts = tuple(x)
    if star is None:
        if len(parts) < count:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(parts)})")
        if len(parts) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
        return parts
    if len(parts) < count - 1:
        raise ValueError(
            f"not enough values to unpack (expected at least {count - 1}, got {len(parts)})"
        )
    after = len(parts) - (count - 1 - star)
    return (*parts[:star], list(parts[star:after]), *parts[after:])


def build_tuple(*items: Any) -> tuple[Any, ...]:
    """Return a tuple."""
    return items


def build_list(*items: Any) -> list[Any]:
    """Return a list."""
    return list(items)


def build_set(*items: Any) -> set[Any]:
    """Return a set."""
    return set(items)


def build_slice(*items: Any) -> slice:
    """Return a slice."""
    return slice(*items)


def build_dict(*items: Any) -> dict[Any, Any]:
    """Return a dict of keys and values that alternate."""
    return dict(zip(items[::2], items[1::2], strict=True))


def join_tuple(*parts: Any) -> tuple[Any, ...]:
    """Return the elements of all parts as a tuple."""
    return tuple(x for part in parts for x in part)


def join_list(*parts: Any) -> list[Any]:
    """Return the elements of all parts as a list."""
    return [x for part in parts for x in part]


def join_set(*parts: Any) -> set[Any]:
    """Return the elements of all parts as a set."""
    return {x for part in parts for x in part}


def join_dict(*parts: Any) -> dict[Any, Any]:
    """Return the entries of all parts as a dict."""
    return {key: value for part in parts for key, value in dict(part).items()}


def join_text(*parts: str) -> str:
    """Return an f-string from its parts."""
    return "".join(parts)


def format_value(x: Any, conversion: int, spec: str) -> str:
    """Return one part of an f-string."""
    converted = {-1: lambda v: v, 115: str, 114: repr, 97: ascii}[conversion](x)
    return format(converted, spec)


# -- construction ------------------------------------------------------------------------------


@structural(join_text, format_value, build_slice)
def _(flags: Flags, *xs: Any) -> Pulled:
    y = join_text(*xs) if isinstance(xs[0], str) else format_value(*xs)
    return y, inert(len(flags))


structural(join_text)(lambda flags, *xs: (join_text(*xs), inert(len(flags))))
structural(format_value)(lambda flags, *xs: (format_value(*xs), inert(len(flags))))
structural(build_slice)(lambda flags, *xs: (slice(*xs), inert(len(flags))))


@structural(build_tuple)
def _(flags: Flags, *xs: Any) -> Pulled:
    def build_tuple_back(dy: Any) -> tuple[Any, ...]:
        return (None, *xs_none) if dy is None else (None, *dy)

    xs_none = (None,) * len(xs)
    return xs, build_tuple_back


@structural(build_list)
def _(flags: Flags, *xs: Any) -> Pulled:
    y = list(xs)
    mark_active(y)

    def build_list_back(dy: Any) -> tuple[Any, ...]:
        slots = _forget(y)
        return (None, *(slots.get(i) for i in range(len(xs))))

    return y, build_list_back


@structural(build_dict)
def _(flags: Flags, *items: Any) -> Pulled:
    y = build_dict(*items)
    mark_active(y)
    keys = items[::2]

    def build_dict_back(dy: Any) -> tuple[Any, ...]:
        slots = _forget(y)
        last = {key: i for i, key in enumerate(keys)}
        values = [slots.get(key) if last[key] == i else None for i, key in enumerate(keys)]
        return (None, *(d for value in values for d in (None, value)))

    return y, build_dict_back


@structural(join_list, join_tuple)
def _(flags: Flags, *parts: Any) -> Pulled | None:
    if not all(isinstance(part, list | tuple) for part in parts):
        return None
    items = [x for part in parts for x in part]
    return _joined(flags, items, parts)


def _joined(flags: Flags, items: Any, parts: Any) -> Pulled:
    """Return a new sequence of the elements of `parts`, and its pullback."""
    is_list = isinstance(items, list)
    if is_list:
        mark_active(items)

    def join_back(dy: Any) -> tuple[Any, ...]:
        if is_list:
            slots = _forget(items)
            dy = [slots.get(i) for i in range(len(items))]
        cotangents: list[Any] = []
        start = 0
        for part in parts:
            d = None if dy is None else dy[start : start + len(part)]
            start += len(part)
            cotangents.append(_into(part, d))
        return (None, *cotangents)

    return items, join_back


def _into(x: Any, parts: Any) -> Any:
    """Give the entries of a sequence their cotangents; return what goes by value."""
    if parts is None or all(d is None for d in parts):
        return None
    if isinstance(x, tuple):
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    slots = _slots(x)
    for i, d in enumerate(parts):
        _give(slots, i, d)
    return None


def _forget(x: Any) -> dict[Any, Any]:
    """Return the cotangents of the entries of a container at its creation."""
    store = state.store
    assert store is not None
    entry = store.entries.pop(id(x), None)
    return {} if entry is None else entry[1]


structural(join_tuple)(
    lambda flags, *parts: (
        _joined(flags, join_tuple(*parts), parts)
        if all(isinstance(part, list | tuple) for part in parts)
        else None
    )
)


@structural(list, tuple)
def _(flags: Flags, *xs: Any) -> Pulled | None:
    return None


structural(list)(
    lambda flags, *xs: (
        _joined(flags, list(*xs), xs)
        if all(isinstance(x, list | tuple) for x in xs)
        else _elements(flags, list, *xs)
    )
)
structural(tuple)(
    lambda flags, *xs: (
        _joined(flags, tuple(*xs), xs)
        if all(isinstance(x, list | tuple) for x in xs)
        else _elements(flags, tuple, *xs)
    )
)


def _elements(flags: Flags, kind: Callable[..., Any], x: Any) -> Pulled | None:
    """Return the elements of an iterable, each taken out by a call of its own."""
    if not hasattr(x, "dtype") or not x.ndim:
        return None
    items, backs = [], []
    for i in range(len(x)):
        y, back = pull((None, flags[1], None), operator.getitem, x, i)
        items.append(y)
        backs.append(back)
    y = kind(items)
    if kind is list:
        mark_active(y)

    def elements_back(dy: Any) -> tuple[Any, ...]:
        if kind is list:
            slots = _forget(y)
            dy = [slots.get(i) for i in range(len(y))]
        dx = None
        for d, back in zip(dy or (), backs, strict=False):
            if d is not None:
                dx = accumulate(dx, back(d)[1])
        return None, dx

    return y, elements_back


@structural(unpack)
def _(flags: Flags, x: Any, count: int, star: int | None) -> Pulled | None:
    parts, back = pull((None, flags[1]), tuple, x)
    y = unpack(parts, count, star)
    middle = None if star is None else y[star]
    if middle is not None:
        mark_active(middle)

    def unpack_back(dy: Any) -> tuple[Any, ...]:
        given: list[Any] = [None] * len(y) if dy is None else list(dy)
        if star is not None and middle is not None:
            slots = _forget(middle)
            given[star : star + 1] = [slots.get(i) for i in range(len(middle))]
        return None, back(tuple(given))[1], None, None

    return y, unpack_back


@structural(capture)
def _(flags: Flags, f: Any, *captured: Any) -> Pulled:
    names = [name for name in f.__code__.co_freevars]
    order = sorted(names)

    def capture_back(d_f: Any) -> tuple[Any, ...]:
        if d_f is None:
            return (None,) * len(flags)
        return (None, None, *(d_f[name] if name in d_f else None for name in order))

    return f, capture_back


@structural(apply)
def _(flags: Flags, f: Any, xs: Any, kws: Any) -> Pulled:
    arguments, back_xs = pull((None, flags[2]), tuple, xs)
    keywords = dict(kws)
    inner = (flags[1], *(flags[2] for _ in arguments), *(flags[3] for _ in keywords))
    y, back = pull(inner, f, *arguments, **keywords)

    def apply_back(dy: Any) -> tuple[Any, ...]:
        d_f, *rest = back(dy)
        d_xs = tuple(rest[: len(arguments)])
        d_kws = dict(zip(keywords, rest[len(arguments) :], strict=True))
        if kws and flags[3]:
            slots = _slots(kws)
            for name, d in d_kws.items():
                _give(slots, name, d)
        return None, d_f, back_xs(None if all(d is None for d in d_xs) else d_xs)[1], None

    return y, back and apply_back or Effect(apply_back)


# -- attributes --------------------------------------------------------------------------------


@structural(getattr)
def _(flags: Flags, x: Any, name: str, *default: Any) -> Pulled:
    kind = type(x)
    member = _member(kind, name)
    if isinstance(x, types.ModuleType | type):
        return getattr(x, name, *default), inert(len(flags))
    if isinstance(member, property) and isinstance(member.fget, types.FunctionType):
        y, back = pull((None, flags[1]), member.fget, x)
        return y, _with(back, lambda dy: (None, back(dy)[1], *(None,) * (len(flags) - 2)))
    if isinstance(member, types.GetSetDescriptorType | types.MemberDescriptorType) and not (
        kind_of(x) == OBJECT
    ):
        return _builtin_attribute(flags, x, name, member)
    hook = _member(kind, "__getattr__")
    fields = getattr(x, "__dict__", {})
    if isinstance(member, functools.cached_property) and name not in fields:
        y, back = pull((None, flags[1]), member.func, x)
        pull((None, True, None, True), setattr, x, name, y)
        return y, _with(back, lambda dy: (None, back(dy)[1], *(None,) * (len(flags) - 2)))
    if member is None and name not in fields and isinstance(hook, types.FunctionType):
        y, back = pull((None, flags[1], None), hook, x, name)
        return y, _with(back, lambda dy: (None, back(dy)[1], *(None,) * (len(flags) - 2)))
    y = getattr(x, name, *default)
    if isinstance(y, types.MethodType | types.BuiltinFunctionType | types.MethodWrapperType):
        return y, _bound_back(x, len(flags))
    if kind_of(x) == TUPLE and isinstance(member, operator.itemgetter | _TupleGetter):
        return pull((None, flags[1], None), operator.getitem, x, type(x)._fields.index(name))
    if isinstance(x, types.FunctionType | types.MethodType | functools.partial):
        return y, inert(len(flags))
    if kind_of(y) == INERT:
        return y, inert(len(flags))
    return y, _field_back(x, name, len(flags))


_TupleGetter = type(type("T", (), {}))  # replaced below by the getter type of named tuples


def _member(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def _with(back: Any, new: Callable[[Any], tuple[Any, ...]]) -> Any:
    return new if back else Effect(new)


def _builtin_attribute(flags: Flags, x: Any, name: str, member: Any) -> Pulled:
    rule = find_rule(member, x)
    if rule is None:
        y = getattr(x, name)
        if kind_of(y) == INERT:
            return y, inert(len(flags))
        return no_rule(flags, member, (x,), {})
    if rule.kind == "constant":
        return getattr(x, name), inert(len(flags))
    y, back = rule(member, x)

    def attribute_back(dy: Any) -> tuple[Any, ...]:
        return None, back(dy)[1], *(None,) * (len(flags) - 2)

    return y, attribute_back


def _bound_back(x: Any, count: int) -> Any:
    """Return the pullback of looking up a method: what the method has got goes to its object."""

    def method_back(dy: Any) -> tuple[Any, ...]:
        d = dy["__self__"] if isinstance(dy, Tangent) and "__self__" in dy else None
        return None, d, *(None,) * (count - 2)

    return method_back


def _field_back(x: Any, name: str, count: int) -> Any:
    def getattr_back(dy: Any) -> tuple[Any, ...]:
        if dy is not None:
            _give(_slots(x), name, dy)
        return (None,) * count

    return getattr_back


@structural(setattr, object.__setattr__)
def _(flags: Flags, x: Any, name: str, value: Any) -> Pulled:
    member = _member(type(x), name)
    if isinstance(member, property) and isinstance(member.fset, types.FunctionType):
        y, back = pull((None, flags[1], flags[3]), member.fset, x, value)

        def set_back(dy: Any) -> tuple[Any, ...]:
            _, d_x, d_value = back(dy)
            return None, d_x, None, d_value

        return y, Effect(set_back)
    if kind_of(x) != OBJECT:
        raise DifferentiationError(
            f"{where()}: writing `.{name}` of a {type(x).__qualname__} cannot be differentiated"
        )
    write = _own_setattr(type(x))
    had, old = _field(x, name)
    write(x, name, value)
    if flags[3] or had:
        mark_active(x)

    def setattr_back(dy: Any) -> tuple[Any, ...]:
        store = state.store
        assert store is not None
        d_value = store.slots(x).pop(name, None)
        now_had, now = _field(x, name)
        if had:
            object.__setattr__(x, name, old)
        elif now_had:
            object.__delattr__(x, name)
        if now_had:
            store.redo.append(lambda: object.__setattr__(x, name, now))
        return None, None, None, d_value

    return None, Effect(setattr_back)


def _own_setattr(kind: type) -> Callable[..., None]:
    if kind.__setattr__ is object.__setattr__ or getattr(kind, "__dataclass_fields__", None):
        return object.__setattr__ if _constructing(kind) else setattr
    return setattr


def _constructing(kind: type) -> bool:
    return False


def _field(x: Any, name: str) -> tuple[bool, Any]:
    try:
        return True, object.__getattribute__(x, name)
    except AttributeError:
        return False, None


@structural(invoke)
def _(flags: Flags, x: Any, name: str, *xs: Any, **kws: Any) -> Pulled:
    member = _member(type(x), name)
    fields = getattr(x, "__dict__", None)
    if (
        isinstance(member, types.FunctionType | types.MethodDescriptorType)
        and not isinstance(x, type)
        and not (fields and name in fields)
    ):
        y, back = pull((None, *flags[1:2], *flags[3:]), member, x, *xs, **kws)

        def invoke_back(dy: Any) -> tuple[Any, ...]:
            _, d_x, *rest = back(dy)
            return None, d_x, None, *rest

        return y, _with(back, invoke_back)
    method, back_x = pull((None, flags[1], None), getattr, x, name)
    y, back = pull((flags[1] and (back_x or None), *flags[3:]), method, *xs, **kws)

    def method_back(dy: Any) -> tuple[Any, ...]:
        d_method, *rest = back(dy)
        return None, back_x(d_method)[1], None, *rest

    return y, _with(back, method_back)


# -- subscripts --------------------------------------------------------------------------------


@structural(operator.getitem)
def _(flags: Flags, x: Any, index: Any) -> Pulled | None:
    kind = kind_of(x)
    if kind in (TUPLE, LIST, DICT) and type(x).__getitem__ in _BUILTIN_GETITEM:
        if isinstance(index, slice):
            return _get_slice(x, index)
        y = x[index]
        if kind_of(y) == INERT:
            return y, inert(3)
        return y, _tuple_item_back(x, index) if kind == TUPLE else _item_back(x, index)
    if kind == OBJECT and isinstance(_member(type(x), "__getitem__"), types.FunctionType):
        return pull(flags, type(x).__getitem__, x, index)
    return None


_BUILTIN_GETITEM = (tuple.__getitem__, list.__getitem__, dict.__getitem__)


def _tuple_item_back(x: Any, index: int) -> Any:
    def getitem_back(dy: Any) -> tuple[Any, ...]:
        if dy is None:
            return None, None, None
        parts = [None] * len(x)
        parts[index] = dy
        return None, _into(x, parts), None

    return getitem_back


def _item_back(x: Any, index: Any) -> Any:
    if isinstance(x, list):
        index = operator.index(index) % len(x)

    def getitem_back(dy: Any) -> tuple[Any, ...]:
        if dy is not None:
            _give(_slots(x), index, dy)
        return None, None, None

    return getitem_back


def _get_slice(x: Any, index: slice) -> Pulled:
    y = x[index]
    positions = range(len(x))[index]
    if isinstance(y, list):
        mark_active(y)

    def getitem_back(dy: Any) -> tuple[Any, ...]:
        if isinstance(y, list):
            slots = _forget(y)
            dy = [slots.get(i) for i in range(len(y))]
        if dy is None:
            return None, None, None
        parts = [None] * len(x)
        for position, d in zip(positions, dy, strict=True):
            parts[position] = d
        return None, _into(x, parts), None

    return y, getitem_back


@structural(operator.setitem)
def _(flags: Flags, x: Any, index: Any, value: Any) -> Pulled | None:
    kind = kind_of(x)
    if kind == OBJECT and isinstance(_member(type(x), "__setitem__"), types.FunctionType):
        return pull(flags, type(x).__setitem__, x, index, value)
    builtin = type(x).__setitem__ in (list.__setitem__, dict.__setitem__)
    if kind not in (LIST, DICT) or not builtin or isinstance(index, slice):
        raise DifferentiationError(
            f"{where()}: a write into a {type(x).__qualname__} cannot be differentiated yet: make "
            "a new one instead"
        )
    if kind == LIST:
        index = operator.index(index)
        index = index + len(x) if index < 0 else index
    had = kind == LIST or index in x
    old = x[index] if had else None
    x[index] = value
    mark_active(x)

    def setitem_back(dy: Any) -> tuple[Any, ...]:
        store = state.store
        assert store is not None
        d_value = store.slots(x).pop(index, None)
        now = x[index]
        if had:
            x[index] = old
        else:
            del x[index]
        store.redo.append(lambda: operator.setitem(x, index, now))
        return None, None, None, d_value

    return None, Effect(setitem_back)


# -- map ---------------------------------------------------------------------------------------


def map_over(f: Any, /, *xs: Any) -> list[Any]:
    """Return `list(map(f, *xs))`."""
    return list(map(f, *xs))


@structural(map)
def _(flags: Flags, f: Any, *xs: Any) -> Pulled:
    sequences, backs_xs = [], []
    for flag, x in zip(flags[2:], xs, strict=True):
        sequence, back_x = pull((None, flag), tuple, x)
        sequences.append(sequence)
        backs_xs.append((back_x, flag))
    inner = (flags[1], *flags[2:])
    pulled = [pull(inner, f, *arguments) for arguments in zip(*sequences, strict=False)]
    y = [value for value, _ in pulled]
    mark_active(y)

    def map_back(dy: Any) -> tuple[Any, ...]:
        if dy is None:
            slots = _forget(y)
            dy = [slots.get(i) for i in range(len(y))]
        d_f = None
        d_xs: list[list[Any]] = [[None] * len(s) for s in sequences]
        for i in range(len(pulled) - 1, -1, -1):
            d_fi, *d_args = pulled[i][1](dy[i])
            d_f = accumulate(d_f, d_fi)
            for d_x, d in zip(d_xs, d_args, strict=True):
                d_x[i] = d
        cotangents = [
            back(tuple(d_x))[1] if flag and any(d is not None for d in d_x) else None
            for (back, flag), d_x in zip(backs_xs, d_xs, strict=True)
        ]
        return None, d_f, *cotangents

    return y, map_back


INTRINSICS: dict[str, Any] = {
    name: globals()[name]
    for name in (
        "apply", "build_dict", "build_list", "build_set", "build_slice", "build_tuple", "capture",
        "format_value", "invoke", "join_dict", "join_list", "join_set", "join_text", "join_tuple",
        "unpack",
    )
}  # fmt: skip
INTRINSICS |= {
    "pull": pull,
    "accumulate": accumulate,
    "operator": operator,
    "getattr": builtins.getattr,
    "setattr": builtins.setattr,
    "super": builtins.super,
    "AssertionError": AssertionError,
}
