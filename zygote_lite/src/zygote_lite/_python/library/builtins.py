"""Built-in functions that iterate, as Python equivalents of their C code.

They are recorded like any user function, so that the functions that they call are differentiated.
"""

import builtins
import collections
import gc
import types
from typing import Any

import numpy as np

from zygote_lite._activity.activity import mark_active
from zygote_lite._activity.classes import member_of
from zygote_lite._cotangents.pullbacks import no_pullback
from zygote_lite._cotangents.registry import Handlers
from zygote_lite._cotangents.run import give, slots_of, take_slots
from zygote_lite._tape.refusal import no_rule

handlers = Handlers()

_NO_DEFAULT = object()
KEYS: Any = type({}.keys())
VALUES: Any = type({}.values())
ITEMS: Any = type({}.items())


def iterate_sequence(x: Any) -> Any:
    """Yield the elements of a sequence, read at each step from its current state."""
    i = 0
    while i < len(x):
        yield x[i]
        i += 1


def iterate_own(x: Any, count: Any, item: Any) -> Any:
    """Yield the elements of a list or tuple of a user class, as iterators in C read them."""
    i = 0
    while i < count(x):
        yield item(x, i)
        i += 1


@handlers.in_python(iter)
def _iter(x: Any, sentinel: Any = _NO_DEFAULT) -> Any:
    if sentinel is not _NO_DEFAULT:
        return iterate_calls(x, sentinel)
    if isinstance(x, list) and type(x) is not list:
        return iterate_own(x, list.__len__, list.__getitem__)
    if isinstance(x, tuple) and type(x) is not tuple:
        return iterate_own(x, tuple.__len__, tuple.__getitem__)
    if isinstance(x, list | tuple) or (isinstance(x, np.ndarray) and x.ndim):
        return iterate_sequence(x)
    if isinstance(x, KEYS):
        return iterate_sequence(keys_of(x))
    if isinstance(x, VALUES | ITEMS):
        return iterate_entries(x)
    if isinstance(x, collections.deque):
        return iterate_deque(x)
    if isinstance(x, np.flatiter) and is_new_and_flat(x):
        return iterate_sequence(flat_entries(x))
    if isinstance(x, dict):
        return iterate_keys(x)
    if not hasattr(type(x), "__iter__") and not hasattr(type(x), "__getitem__"):
        raise TypeError(f"'{type(x).__name__}' object is not iterable")
    return iterate_elements(x)


def iterate_entries(x: Any) -> Any:
    """Yield what a view of a dict shows, which must not change its size meanwhile."""
    d = shown_by(x)
    size = len(d)
    for key in keys_of(d):
        if len(d) != size:
            raise RuntimeError("dictionary changed size during iteration")
        value = dict.__getitem__(d, key)
        yield (key, value) if isinstance(x, ITEMS) else value
    if len(d) != size:
        raise RuntimeError("dictionary changed size during iteration")


def iterate_deque(x: Any) -> Any:
    """Yield the entries of a deque, which must not change its size meanwhile."""
    size = len(x)
    for i in range(size):
        if len(x) != size:
            raise RuntimeError("deque mutated during iteration")
        yield x[i]
    if len(x) != size:
        raise RuntimeError("deque mutated during iteration")


def iterate_calls(f: Any, sentinel: Any) -> Any:
    """Yield the values of calls of `f` until one equals the sentinel."""
    while True:
        y = f()
        if y == sentinel:
            return
        yield y


def iterate_keys(x: Any) -> Any:
    """Yield the keys of a dict, which must not change its size meanwhile."""
    size = len(x)
    for key in keys_of(x):
        if len(x) != size:
            raise RuntimeError("dictionary changed size during iteration")
        yield key
    if len(x) != size:
        raise RuntimeError("dictionary changed size during iteration")


def iterate_elements(x: Any) -> Any:
    """Yield the elements of whatever else can be iterated."""
    if isinstance(x, set | frozenset):
        size = len(x)
        for y in elements_of_set(x):
            yield y
            if len(x) != size:
                raise RuntimeError("Set changed size during iteration")
    elif hasattr(type(x), "__iter__"):
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
    out = []
    it = iter(x)
    hint(x)
    for y in it:
        out.append(y)
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


@handlers.in_python(frozenset)
def _frozenset(x: Any = ()) -> Any:
    return x if type(x) is frozenset else frozen(set(x))


def frozen(x: Any) -> Any:
    """Return a set as one that cannot be changed."""
    return frozenset(x)


@handlers.structural(frozen)
def _(flags: Any, x: Any) -> Any:
    y = frozen(x)
    mark_active(y)

    def frozen_back(dy: Any) -> tuple[Any, ...]:
        for key, d in take_slots(y).items():
            give(slots_of(x), key, d)
        return None, None

    return y, frozen_back


@handlers.in_python(dict.fromkeys)
def _fromkeys(keys: Any, value: Any = None) -> Any:
    out = {}
    for key in keys:
        out[key] = value
    return out


@handlers.in_python(dict)
def _dict(x: Any = (), /, **kws: Any) -> Any:
    out = {}
    if hasattr(x, "keys"):
        for key in x:
            out[key] = x[key]
    else:
        for key, value in x:
            out[key] = value
    for key in kws:
        out[key] = kws[key]
    return out


@handlers.in_python(dict.update)
def _update(d: Any, x: Any = (), /, **kws: Any) -> Any:
    if hasattr(x, "keys"):
        for key in x.keys():  # noqa: SIM118 - `update` asks for the keys
            d[key] = x[key]
    else:
        for key, value in x:
            d[key] = value
    for key in kws:
        d[key] = kws[key]


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
    iterators = []
    for x in xs:  # what is read from the list may be active: an iterator over a text would not do
        iterators.append(iter(list(x) if isinstance(x, str | bytes) else x))
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
    return iterate_backwards(x)


def iterate_backwards(x: Any) -> Any:
    """Yield the elements of a sequence or the keys of a dict, last first."""
    if isinstance(x, dict | VALUES | ITEMS):
        x = list(x)
    is_list = isinstance(x, list)
    i = len(x) - 1
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
handlers.structural(keys_of)(lambda flags, x: (keys_of(x), no_pullback(2)))


def elements_of_set(x: Any) -> list[Any]:
    """Return the elements of a set, in its order."""
    return list(x)


@handlers.structural(elements_of_set)
def _(flags: Any, x: Any) -> Any:
    y = list(x)
    mark_active(y)

    def elements_back(dy: Any) -> tuple[Any, ...]:
        slots = slots_of(x)
        for i, d in take_slots(y).items():
            give(slots, y[i], d)
        return None, None

    return y, elements_back


def flat_entries(x: Any) -> Any:
    """Return the entries that a flat iterator goes over as an array, a view."""
    return x.base.reshape(-1)


def is_new_and_flat(x: Any) -> bool:
    """Return whether a flat iterator stands at the start of an array that is flat in memory."""
    return bool(x.index == 0 and x.base.flags.c_contiguous)


handlers.structural(is_new_and_flat)(lambda flags, x: (is_new_and_flat(x), no_pullback(2)))
handlers.structural(flat_entries)(lambda flags, x: (flat_entries(x), lambda dy: (None, dy)))


def native_iterator(x: Any) -> Any:
    """Return an iterator written in C over something that holds nothing active."""
    return builtins.iter(x)


@handlers.structural(native_iterator)
def _(flags: Any, x: Any) -> Any:
    given = flags if isinstance(x, np.flatiter) else (None, None)  # an array by its number
    return no_rule(given, builtins.iter, (x,), {})[0], no_pullback(2)
