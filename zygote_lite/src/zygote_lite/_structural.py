"""Structural pullbacks: what has no derivative of its own, and only takes values apart or together.

Attribute access, construction of tuples, lists and dicts, subscripts, writes, and the cells of
variables that functions share. Each takes the flags of the call and its operands, and returns the
value and its pullback, or `None` for "not for these arguments".
"""

import builtins
import collections
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from rulescore import Tangent, accumulate, find_rule

from zygote_lite._containers import delete_item, extend, set_slice
from zygote_lite._errors import DifferentiationError
from zygote_lite._pull import Effect, Flags, Opaque, Pulled, inert, refusal, structural, where
from zygote_lite._store import (
    DICT,
    FUNCTION,
    INERT,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    current_store,
    forget,
    give,
    kind_of,
    mark_active,
    slots_of,
    state,
)


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
    if not hasattr(type(x), "__iter__") and not hasattr(type(x), "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {type(x).__name__} object")
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


def join_arguments(f: Any, /, *parts: Any) -> tuple[Any, ...]:
    """Return the positional arguments of a call of `f` with `*`."""
    for part in parts:
        if not hasattr(type(part), "__iter__") and not hasattr(type(part), "__getitem__"):
            f(*part)  # raises what Python raises
    return join_tuple(*parts)


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


def read_cell(cell: Any, /) -> Any:
    """Return the value of a variable that functions share."""
    try:
        return cell.cell_contents
    except ValueError:
        raise NameError("a variable of an enclosing function has no value yet") from None


def write_cell(cell: Any, value: Any, /) -> None:
    """Give a variable that functions share a value."""
    cell.cell_contents = value


def cell_of(holder: Any, /) -> Any:
    """Return the cell of the one variable that `holder` captures."""
    return holder.__closure__[0]


# -- tuples, lists, dicts ----------------------------------------------------------------------


structural(join_text)(lambda flags, *xs: (join_text(*xs), Opaque(len(flags))))
structural(format_value)(lambda flags, *xs: (format_value(*xs), Opaque(len(flags))))
structural(build_slice)(lambda flags, *xs: (slice(*xs), inert(len(flags))))


@structural(build_tuple)
def _(flags: Flags, *xs: Any) -> Pulled:
    nothing = (None,) * len(flags)

    def build_tuple_back(dy: Any) -> tuple[Any, ...]:
        return nothing if dy is None else (None, *dy)

    return xs, build_tuple_back


@structural(build_list)
def _(flags: Flags, *xs: Any) -> Pulled:
    y = list(xs)
    mark_active(y)

    def build_list_back(dy: Any) -> tuple[Any, ...]:
        slots = forget(y)
        return (None, *[slots.get(i) for i in range(len(xs))])

    return y, build_list_back


@structural(build_set)
def _(flags: Flags, *xs: Any) -> Pulled:
    y = set(xs)
    mark_active(y)

    def build_set_back(dy: Any) -> tuple[Any, ...]:
        slots = forget(y)
        return (None, *[slots.pop(x, None) for x in xs])

    return y, build_set_back


@structural(build_dict)
def _(flags: Flags, *items: Any) -> Pulled:
    y = build_dict(*items)
    mark_active(y)
    keys = items[::2]
    last = {key: i for i, key in enumerate(keys)}

    def build_dict_back(dy: Any) -> tuple[Any, ...]:
        slots = forget(y)
        values = [slots.get(key) if last[key] == i else None for i, key in enumerate(keys)]
        return (None, *[d for value in values for d in (None, value)])

    return y, build_dict_back


def adopted(y: dict[str, Any], names: list[str]) -> Any:
    """Return the pullback of the making of a function's `**kwargs`."""
    mark_active(y)

    def adopted_back(dy: Any) -> tuple[Any, ...]:
        slots = slots_of(y)
        return tuple([slots.pop(name, None) for name in names])

    return Effect(adopted_back)


def _are_sequences(parts: Any) -> bool:
    return all(kind_of(part) in (LIST, TUPLE) for part in parts)


def _joined(items: Any, parts: Any, count: int) -> Pulled:
    """Return a new list or tuple of the elements of `parts`, and its pullback."""
    is_list = isinstance(items, list)
    if is_list:
        mark_active(items)
    lengths = [len(part) for part in parts]

    def join_back(dy: Any) -> tuple[Any, ...]:
        if is_list:
            slots = forget(items)
            dy = [slots.get(i) for i in range(len(items))]
        cotangents: list[Any] = []
        start = 0
        for part, length in zip(parts, lengths, strict=True):
            d = None if dy is None else dy[start : start + length]
            start += length
            cotangents.append(_into(part, d))
        return None, *cotangents, *(None,) * (count - 1 - len(cotangents))

    return items, join_back


def _into(x: Any, parts: Any) -> Any:
    """Give the entries of a sequence their cotangents; return what goes by value."""
    if parts is None or all(d is None for d in parts):
        return None
    if isinstance(x, tuple):
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    slots = slots_of(x)
    for i, d in enumerate(parts):
        give(slots, i, d)
    return None


@structural(join_list)
def _(flags: Flags, *parts: Any) -> Pulled | None:
    return _joined(join_list(*parts), parts, len(flags)) if _are_sequences(parts) else None


@structural(join_tuple)
def _(flags: Flags, *parts: Any) -> Pulled | None:
    return _joined(join_tuple(*parts), parts, len(flags)) if _are_sequences(parts) else None


@structural(list)
def _(flags: Flags, *parts: Any) -> Pulled | None:
    return _joined(list(*parts), parts, len(flags)) if _are_sequences(parts) else None


@structural(tuple)
def _(flags: Flags, *parts: Any) -> Pulled | None:
    return _joined(tuple(*parts), parts, len(flags)) if _are_sequences(parts) else None


@structural(operator.add, operator.concat)
def _(flags: Flags, a: Any, b: Any) -> Pulled | None:
    if type(a) is type(b) and type(a) in (list, tuple):
        return _joined(a + b, (a, b), 3)
    return None


@structural(operator.mul)
def _(flags: Flags, a: Any, b: Any) -> Pulled | None:
    if type(a) in (list, tuple) and isinstance(b, int):
        return _repeated(a, b, first=True)
    if type(b) in (list, tuple) and isinstance(a, int):
        return _repeated(b, a, first=False)
    return None


def _repeated(x: Any, count: int, first: bool) -> Pulled:
    y, back = _joined(x * count, (x,) * max(count, 0), max(count, 0) + 1)

    def repeat_back(dy: Any) -> tuple[Any, ...]:
        total = functools.reduce(accumulate, back(dy)[1:], None)
        return (None, total, None) if first else (None, None, total)

    return y, repeat_back


@structural(dict)
def _(flags: Flags, /, *xs: Any, **kws: Any) -> Pulled | None:
    if not all(kind_of(x) == DICT for x in xs):
        return None
    y = dict(*xs, **kws)
    mark_active(y)

    def dict_back(dy: Any) -> tuple[Any, ...]:
        slots = forget(y)
        named = [slots.pop(name, None) for name in kws]
        for x in xs:
            given = slots_of(x)
            for key, d in slots.items():
                give(given, key, d)
        return (None, *(None for _ in xs), *named)

    return y, dict_back


@structural(operator.or_)
def _(flags: Flags, a: Any, b: Any) -> Pulled | None:
    return join_dicts(flags, a, b) if type(a) is type(b) is dict else None


@structural(join_dict)
def join_dicts(flags: Flags, *parts: Any) -> Pulled | None:
    """Return the entries of several dicts as a new one, and its pullback."""
    if not all(kind_of(part) == DICT for part in parts):
        return None
    y = join_dict(*parts)
    mark_active(y)
    source = {key: i for i, part in enumerate(parts) for key in part}

    def join_dict_back(dy: Any) -> tuple[Any, ...]:
        for key, d in forget(y).items():
            give(slots_of(parts[source[key]]), key, d)
        return (None,) * len(flags)

    return y, join_dict_back


@structural(unpack)
def _(flags: Flags, x: Any, count: int, star: int | None) -> Pulled | None:
    if kind_of(x) not in (LIST, TUPLE):
        return None
    y = unpack(x, count, star)
    middle = None if star is None else y[star]
    if middle is not None:
        mark_active(middle)

    def unpack_back(dy: Any) -> tuple[Any, ...]:
        given: list[Any] = [None] * len(y) if dy is None else list(dy)
        if star is not None and middle is not None:
            slots = forget(middle)
            given[star : star + 1] = [slots.get(i) for i in range(len(middle))]
        return None, _into(x, given), None, None

    return y, unpack_back


# -- shared variables --------------------------------------------------------------------------


@structural(read_cell)
def _(flags: Flags, cell: Any) -> Pulled:
    y = read_cell(cell)
    if kind_of(y) == INERT:
        return y, inert(2)

    def read_cell_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(cell), "cell_contents", dy)
        return None, None

    return y, read_cell_back


@structural(write_cell)
def _(flags: Flags, cell: Any, value: Any) -> Pulled:
    cell.cell_contents = value
    mark_active(cell)

    def write_cell_back(dy: Any) -> tuple[Any, ...]:
        return None, None, slots_of(cell).pop("cell_contents", None)

    return None, Effect(write_cell_back)


# -- attributes --------------------------------------------------------------------------------


def member_of(kind: type, name: str) -> Any:
    """Return what a class (or a base class of it) defines under a name, or `None`."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


@structural(getattr)
def _(flags: Flags, x: Any, name: str, *default: Any) -> Pulled:
    count = len(flags)
    if isinstance(x, types.ModuleType | type):
        return getattr(x, name, *default), inert(count)
    member = member_of(type(x), name)
    if name == "__dict__" or (state.active and id(getattr(x, "__dict__", None)) in state.active):
        raise DifferentiationError(
            f"{where()}: the attributes of a {type(x).__qualname__} are reached through its "
            "`__dict__`, which cannot be differentiated; use `getattr` and `setattr`"
        )
    if isinstance(member, _DESCRIPTORS) and kind_of(x) != OBJECT:
        return _builtin_attribute(flags, x, name, member)
    y = getattr(x, name, *default)
    if kind_of(x) == TUPLE and type(member) is _TUPLE_GETTER:
        return y, _tuple_field_back(x, type(x)._fields.index(name), count)
    if isinstance(x, BaseException) and name == "args":
        raise DifferentiationError(
            f"{where()}: the arguments of an exception carry no gradient, and a gradient would have "
            "to pass through them here; keep the value in an attribute of an exception class"
        )
    if kind_of(y) in (INERT, FUNCTION) or kind_of(x) == FUNCTION:
        return y, inert(count)
    return y, _field_back(x, name, count)


_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_TUPLE_GETTER = type(collections.namedtuple("_Pair", "a").__dict__["a"])


def _builtin_attribute(flags: Flags, x: Any, name: str, member: Any) -> Pulled:
    rule = find_rule(member, x)
    if rule is None:
        y = getattr(x, name)
        if kind_of(y) == INERT:
            return y, inert(len(flags))
        raise refusal(member, (x,))
    if rule.kind == "constant":
        return getattr(x, name), inert(len(flags))
    y, back = rule(member, x)
    nothing = (None,) * (len(flags) - 2)

    def attribute_back(dy: Any) -> tuple[Any, ...]:
        return None, back(dy)[1], *nothing

    return y, attribute_back


def _tuple_field_back(x: Any, index: int, count: int) -> Any:
    def getattr_back(dy: Any) -> tuple[Any, ...]:
        if dy is None:
            return (None,) * count
        parts = [None] * len(x)
        parts[index] = dy
        return None, _into(x, parts), *(None,) * (count - 2)

    return getattr_back


def _field_back(x: Any, name: str, count: int) -> Any:
    nothing = (None,) * count

    def getattr_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), name, dy)
        return nothing

    return getattr_back


@structural(setattr)
def _(flags: Flags, x: Any, name: str, value: Any) -> Pulled:
    return write_attribute(x, name, value, setattr)


@structural(object.__setattr__)
def _(flags: Flags, x: Any, name: str, value: Any) -> Pulled:
    return write_attribute(x, name, value, object.__setattr__)


def write_attribute(x: Any, name: str, value: Any, write: Callable[..., None]) -> Pulled:
    """Write an attribute; the pullback takes the cotangent of the new value and restores the old."""
    if kind_of(x) not in (OBJECT, LIST, DICT, SET):
        write(x, name, value)
        raise DifferentiationError(
            f"{where()}: writing `.{name}` of a {type(x).__qualname__} cannot be differentiated"
        )
    had, old = _field(x, name)
    write(x, name, value)
    mark_active(x)

    def setattr_back(dy: Any) -> tuple[Any, ...]:
        d_value = slots_of(x).pop(name, None)
        now_had, now = _field(x, name)
        if had:
            object.__setattr__(x, name, old)
        elif now_had:
            object.__delattr__(x, name)
        if now_had:
            current_store().redo.append(lambda: object.__setattr__(x, name, now))
        return None, None, None, d_value

    return None, Effect(setattr_back)


@structural(delattr)
def _(flags: Flags, x: Any, name: str) -> Pulled:
    had, old = _field(x, name)
    delattr(x, name)

    def delattr_back(dy: Any) -> tuple[Any, ...]:
        slots_of(x).pop(name, None)
        if had:
            object.__setattr__(x, name, old)
            current_store().redo.append(lambda: object.__delattr__(x, name))
        return None, None, None

    return None, Effect(delattr_back)


def _field(x: Any, name: str) -> tuple[bool, Any]:
    try:
        return True, object.__getattribute__(x, name)
    except AttributeError:
        return False, None


# -- subscripts --------------------------------------------------------------------------------

_BUILTIN_GETITEM = (tuple.__getitem__, list.__getitem__, dict.__getitem__)


@structural(operator.getitem, dict.__getitem__, list.__getitem__, tuple.__getitem__)
def _(flags: Flags, x: Any, index: Any) -> Pulled | None:
    kind = kind_of(x)
    if kind not in (TUPLE, LIST, DICT) or type(x).__getitem__ not in _BUILTIN_GETITEM:
        return None
    if isinstance(index, slice):
        return _get_slice(x, index)
    y = x[index]
    if kind_of(y) == INERT:
        return y, inert(3)
    if kind == TUPLE:
        return y, _tuple_field_back(x, index, 3)
    if kind == LIST:
        index = operator.index(index) % len(x)

    def getitem_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), index, dy)
        return None, None, None

    return y, getitem_back


def _get_slice(x: Any, index: slice) -> Pulled:
    y = x[index]
    size = len(x)
    positions = range(size)[index]
    if isinstance(y, list):
        mark_active(y)

    def getitem_back(dy: Any) -> tuple[Any, ...]:
        if isinstance(y, list):
            slots = forget(y)
            dy = [slots.get(i) for i in range(len(y))]
        if dy is None:
            return None, None, None
        parts = [None] * size
        for position, d in zip(positions, dy, strict=True):
            parts[position] = d
        return None, _into(x, parts), None

    return y, getitem_back


@structural(operator.setitem, dict.__setitem__, list.__setitem__)
def _(flags: Flags, x: Any, index: Any, value: Any) -> Pulled | None:
    kind = kind_of(x)
    if kind == LIST and isinstance(index, slice):
        return set_slice(x, index, value)
    if kind == LIST:
        index = operator.index(index)
        index = index + len(x) if index < 0 else index
    elif kind != DICT:
        return None
    had = kind == LIST or index in x
    old = x.get(index) if kind == DICT else x[index]
    x[index] = value
    mark_active(x)

    def setitem_back(dy: Any) -> tuple[Any, ...]:
        d_value = slots_of(x).pop(index, None)
        now = x[index]
        if had:
            x[index] = old
        else:
            del x[index]
        current_store().redo.append(lambda: operator.setitem(x, index, now))
        return None, None, None, d_value

    return None, Effect(setitem_back)


@structural(operator.delitem)
def _(flags: Flags, x: Any, index: Any) -> Pulled | None:
    return delete_item(x, index) if kind_of(x) in (LIST, DICT) else None


@structural(operator.iadd)
def _(flags: Flags, a: Any, b: Any) -> Pulled | None:
    return extend(a, b, a) if type(a) is list else None


structural(list.copy)(lambda flags, x: _joined(list(x), (x,), 2))

INTRINSICS: dict[str, Any] = {
    name: globals()[name]
    for name in (
        "apply", "build_dict", "build_list", "build_set", "build_slice", "build_tuple", "capture",
        "cell_of", "format_value", "invoke", "join_arguments", "join_dict", "join_list", "join_set", "join_text",
        "join_tuple", "read_cell", "unpack", "write_cell",
    )
}  # fmt: skip
INTRINSICS |= {
    name: getattr(builtins, name)
    for name in ("AssertionError", "delattr", "dict", "getattr", "iter", "list", "next", "set",
                 "setattr", "super")
}  # fmt: skip
INTRINSICS |= {"accumulate": accumulate, "operator": operator, "Tangent": Tangent}
