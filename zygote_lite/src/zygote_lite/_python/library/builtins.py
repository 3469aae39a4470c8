"""Built-in functions that iterate, as Python equivalents of their C code.

They are recorded like any user function, so that the functions that they call are differentiated.
"""

import builtins
import collections
import gc
import operator
import types
from typing import Any

import numpy as np

from zygote_lite._activity.classes import member_of
from zygote_lite._activity.marks import writes_nothing
from zygote_lite._activity.outputs import is_output
from zygote_lite._cotangents.registry import Handlers, no_pullback
from zygote_lite._python.containers.dicts import gathered
from zygote_lite._tape.refusals.refusal import no_rule, read_refusal

handlers = Handlers()

_NO_DEFAULT = object()
KEYS: Any = type({}.keys())
VALUES: Any = type({}.values())
ITEMS: Any = type({}.items())


def iterate_sequence(x: Any, count: Any = len, item: Any = operator.getitem) -> Any:
    """Yield the elements of a sequence, read at each step from its current state."""
    i = 0
    while i < count(x):
        yield item(x, i)
        i += 1


@handlers.in_python(iter)
def _iter(x: Any, sentinel: Any = _NO_DEFAULT) -> Any:
    return way_to_iterate(x)(x) if sentinel is _NO_DEFAULT else iterate_calls(x, sentinel)


_WAYS_TO_ITERATE: list[tuple[Any, Any]] = [
    (list, lambda x: iterate_sequence(x, list.__len__, list.__getitem__)),
    (tuple, lambda x: iterate_sequence(x, tuple.__len__, tuple.__getitem__)),
    (KEYS, lambda x: iterate_sequence(keys_of(x))),
    (VALUES, lambda x: iterate_view(shown_by(x), False)),
    (ITEMS, lambda x: iterate_view(shown_by(x), True)),
    (dict, lambda x: iterate_unchanged(x, keys_of(x))),
    (set | frozenset, lambda x: iterate_unchanged(x, elements_of_set(x))),
    (collections.deque, lambda x: iterate_unchanged(x, range(len(x)), operator.getitem)),
]


def way_to_iterate(x: Any) -> Any:
    """Return the function that yields the elements of a value, by its class."""
    for kind, way in _WAYS_TO_ITERATE:
        if isinstance(x, kind):
            return way
    if isinstance(x, np.ndarray) and x.ndim:
        return iterate_sequence
    if isinstance(x, np.flatiter) and x.base.flags.c_contiguous:
        return iterate_flat
    if not hasattr(type(x), "__iter__"):
        builtins.iter(x)  # raises what Python raises, of a number of NumPy, too
    return iterate_elements


handlers.structural(way_to_iterate)(lambda flags, x: (way_to_iterate(x), no_pullback(2)))


def iterate_unchanged(x: Any, places: Any, read: Any = None, with_place: Any = False) -> Any:
    """Yield what a container holds at some places, which must not change its size meanwhile."""
    size = len(x)
    for place in places:
        if len(x) != size:
            raise RuntimeError(changed_in_loop(x))
        y = place if read is None else read(x, place)
        yield (place, y) if with_place else y
    if len(x) != size:
        raise RuntimeError(changed_in_loop(x))


def iterate_view(x: Any, with_keys: Any) -> Any:
    """Yield the values of a dict, or its entries."""
    return iterate_unchanged(x, keys_of(x), dict.__getitem__, with_keys)


def changed_in_loop(x: Any) -> str:
    """Return what Python says of a container that has another size in the middle of a loop."""
    if isinstance(x, collections.deque):
        return "deque mutated during iteration"
    return f"{'dictionary' if isinstance(x, dict) else 'Set'} changed size during iteration"


def iterate_calls(f: Any, sentinel: Any) -> Any:
    """Yield the values of calls of `f` until one equals the sentinel."""
    while True:
        y = f()
        if y == sentinel:
            return
        yield y


def iterate_elements(x: Any) -> Any:
    """Yield the elements of whatever else can be iterated."""
    if hasattr(type(x), "__iter__"):
        for y in native_iterator(x):
            yield y
    else:
        i = 0
        while True:
            try:
                y = x[i]
            except IndexError:
                return
            yield y
            i += 1


@handlers.in_python(list)
def _list(x: Any = ()) -> Any:
    out: list[Any] = []
    _extend(out, x)
    return out


def hint(x: Any) -> None:
    """Ask an iterable for its length, as C does before it creates a list: user code may answer."""


@handlers.desugared(hint)
def _(tape: Any, nodes: Any, x: Any) -> Any:
    for name in ("__len__", "__length_hint__"):
        method = member_of(type(x), name)
        if isinstance(method, types.FunctionType):
            tape.call((None, nodes[1]), method, x)
            break
    return None, None


@handlers.in_python(list.extend)
def _extend(x: Any, values: Any, /) -> Any:
    it = iter(values)
    hint(values)
    for y in it:
        list.append(x, y)


@handlers.in_python(list.__iadd__)
def _extended(x: Any, values: Any, /) -> Any:
    list.extend(x, values)
    return x


@handlers.in_python(tuple)
def _tuple(x: Any = ()) -> Any:
    return tuple(_list(x))


@handlers.in_python(set)
def _set(x: Any = ()) -> Any:
    out = set()
    for y in x:
        out.add(y)
    return out


@handlers.in_python(set.update)
def _set_update(x: Any, *given: Any) -> Any:
    for values in given:
        for y in values:
            x.add(y)


@handlers.in_python(set.union)
def _set_union(x: Any, *given: Any) -> Any:
    out = set(x)
    out.update(*given)
    return out


@handlers.in_python(set.clear)
def _set_clear(x: Any) -> Any:
    while x:
        x.pop()


@handlers.in_python(frozenset)
def _frozenset(x: Any = ()) -> Any:
    return x if type(x) is frozenset else frozen(set(x))


def frozen(x: Any) -> Any:
    """Return a set as one that cannot be changed."""
    return frozenset(x)


@handlers.structural(frozen)
def _(flags: Any, x: Any) -> Any:
    return gathered(frozen(x), lambda key: (x, key), 2)


@handlers.in_python(dict.fromkeys)
def _fromkeys(keys: Any, value: Any = None) -> Any:
    out = {}
    for key in keys:
        out[key] = value
    return out


@handlers.in_python(dict)
def _dict(x: Any = (), /, **kws: Any) -> Any:
    out: dict[Any, Any] = {}
    _update(out, x, **kws)
    return out


@handlers.in_python(dict.update, collections.OrderedDict.update)
def _update(d: Any, x: Any = (), /, **kws: Any) -> Any:
    if hasattr(x, "keys"):
        for key in x.keys():  # noqa: SIM118 - `update` asks for the keys
            d[key] = x[key]
    else:
        for key, value in x:
            d[key] = value
    for key in kws:
        d[key] = kws[key]


@handlers.in_python(collections._count_elements)  # type: ignore[attr-defined]
def _count_elements(d: Any, x: Any, /) -> Any:
    for key in x:
        d[key] = d.get(key, 0) + 1


@handlers.in_python(builtins.map)
def _map(f: Any, *xs: Any) -> Any:
    if len(xs) == 1:
        for x in xs[0]:
            yield f(x)
    else:
        for arguments in zip(*xs):
            yield f(*arguments)


@handlers.in_python(builtins.filter)
def _filter(f: Any, x: Any) -> Any:
    for y in x:
        if y if f is None else f(y):
            yield y


@handlers.in_python(builtins.enumerate)
def _enumerate(iterable: Any, start: Any = 0) -> Any:
    n = start
    for y in iterable:
        yield n, y
        n += 1


@handlers.in_python(builtins.zip)
def _zip(*xs: Any, strict: Any = False) -> Any:
    if not xs:
        return
    # what is read from the list may be active: an iterator over a text would not do
    iterators = [iter(list(x) if isinstance(x, str | bytes) else x) for x in xs]
    while True:
        row: Any = ()
        for i, it in enumerate(iterators):
            try:
                y = next(it)
            except StopIteration:
                if strict:
                    check_strict(iterators, i)
                return
            row = (*row, y)
        yield row


def check_strict(iterators: Any, i: Any) -> Any:
    """Refuse iterables of unequal length; number `i` ended first."""
    if i:
        plural = " " if i == 1 else "s 1-"
        raise ValueError(f"zip() argument {i + 1} is shorter than argument{plural}{i}")
    for k in range(1, len(iterators)):
        try:
            next(iterators[k])
        except StopIteration:
            continue
        plural = " " if k == 1 else "s 1-"
        raise ValueError(f"zip() argument {k + 1} is longer than argument{plural}{k}")


@handlers.in_python(builtins.reversed)
def _reversed(x: Any) -> Any:
    method = getattr(type(x), "__reversed__", None)
    if method is not None and not isinstance(
        x, list | tuple | dict | range | collections.deque | VALUES | ITEMS
    ):
        return method(x)
    return iterate_backwards(x, len(x) - 1)


def iterate_backwards(x: Any, i: Any) -> Any:
    """Yield the elements of a sequence or the keys of a dict, from number `i` to the first."""
    if isinstance(x, dict | VALUES | ITEMS):
        x = list(x)
    is_list = isinstance(x, list)
    while i >= 0:
        if is_list and i >= len(x):
            return  # it has lost entries meanwhile
        yield x[i]
        i -= 1


@handlers.in_python(collections.OrderedDict.popitem)
def _popitem(x: Any, last: Any = True) -> Any:
    keys = keys_of(x)
    if not keys:
        raise KeyError("dictionary is empty")
    key = keys[-1 if last else 0]
    return key, x.pop(key)


def keys_of(x: Any) -> list[Any]:
    """Return the keys of a dict, or of a view of its keys; they carry no gradient."""
    if isinstance(x, KEYS):
        return list(x)
    kind = collections.OrderedDict if isinstance(x, collections.OrderedDict) else dict
    return list(kind.keys(x))


def shown_by(x: Any) -> Any:
    """Return the dict that a view of one shows."""
    return gc.get_referents(x)[0]


handlers.structural(shown_by)(lambda flags, x: (shown_by(x), no_pullback(2)))
writes_nothing(way_to_iterate, shown_by, keys_of)
handlers.structural(keys_of)(lambda flags, x: (keys_of(x), no_pullback(2)))


def elements_of_set(x: Any) -> list[Any]:
    """Return the elements of a set, in its order."""
    return list(x)


@handlers.structural(elements_of_set)
def _(flags: Any, x: Any) -> Any:
    y = list(x)
    return gathered(y, lambda i: (x, y[i]), 2)


def flat_entries(x: Any) -> Any:
    """Return the entries that a flat iterator goes over as an array, a view."""
    return x.base.reshape(-1)


handlers.structural(flat_entries)(lambda flags, x: (flat_entries(x), lambda dy: (None, dy)))


def iterate_flat(x: Any) -> Any:
    """Yield what is left of a flat iterator, which goes on where it was left."""
    while x.index < len(x):
        yield next(x)


def native_iterator(x: Any) -> Any:
    """Return an iterator written in C over something that holds nothing active."""
    if is_output(x):  # which a stream of its own may have written to
        raise read_refusal(builtins.iter, (x,))
    return builtins.iter(x)


@handlers.structural(native_iterator)
def _(flags: Any, x: Any) -> Any:
    given = flags if isinstance(x, np.flatiter) else (None, None)  # an array by its number
    return no_rule(given, builtins.iter, (x,), {})[0], no_pullback(2)
