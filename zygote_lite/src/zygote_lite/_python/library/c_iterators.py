"""C iterators (`enumerate`, `zip`, ...) that were created before their source became active.

`enumerate(a)` in a loop that writes into `a` is an example: when it was created nothing in it was
active, so it was left to Python. Once the source is active, each step is traced back to the element
that it came from, which `__reduce__` of the iterator tells. The iterator itself takes the same
step, so that its state is what the program expects.
"""

import collections
import copy
import gc
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.kinds import VALUE, kind_of
from zygote_lite._cotangents.registry import IN_PYTHON, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import build_tuple
from zygote_lite._ir.places import where
from zygote_lite._ir.traits import is_pure
from zygote_lite._python.library.builtins import check_strict
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

_END: Any = object()
Ahead = Callable[[Tape, Any, int], Traced | None]
Step = Callable[[Tape, Any], Traced | None]
_AHEAD: dict[type, Ahead] = {}
_STEPS: dict[type, Step] = {}


def _for(table: dict[type, Any], *kinds: type) -> Callable[[Any], Any]:
    def declare(f: Any) -> Any:
        table.update(dict.fromkeys(kinds, f))
        return f

    return declare


_TEE: Any = type(itertools.tee(())[0])
_REFUSED = {itertools.cycle, itertools.groupby, _TEE, itertools.zip_longest, itertools.dropwhile}


def is_native(x: Any) -> bool:
    """Return whether an object is an iterator written in C, other than over a text."""
    kind = type(x)
    return kind in _AHEAD or kind in _STEPS or kind in _REFUSED


def take_step(tape: Tape, it: Any) -> Traced:
    """Take the next element, and its source; refuse if the source cannot be determined."""
    step = _STEPS.get(type(it), _taken_ahead)
    found = step(tape, it)
    if found is None:
        raise refused_step(it)
    return found


def refused_step(it: Any) -> Exception:
    """Return the error for an iterator that does not tell where its next element comes from."""
    return Fault.ITERATOR(
        f"{where()}: what a `{type(it).__name__}` walks over (it is written in C) has come to "
        "depend on what is differentiated since the iterator was made, and a gradient cannot be "
        "followed through it: walk over a list of its elements, or use a loop over the places"
    )


def _taken_ahead(tape: Tape, it: Any) -> Traced | None:
    found = look_ahead(tape, it)
    if found is None:
        return None
    y = next(it)
    return None if found[0] is _END or _differ(y, found[0]) else found


def look_ahead(tape: Tape, it: Any, skip: int = 0) -> Traced | None:
    """Return an element to come without taking it; `None` where that cannot be told.

    It is the next one, or that after `skip` others.
    """
    look = _AHEAD.get(type(it))
    if look is not None:
        return look(tape, it, skip)
    if reaches_active(it) or type(it) not in _COPIED:
        return None
    return next(itertools.islice(copy.copy(it), skip, None), _END), None


def _differ(y: Any, z: Any) -> bool:
    """Return whether two values cannot be the same element."""
    return y is not z and (type(y) is not type(z) or kind_of(y) > VALUE) and type(y) is not tuple


_COPIED = {type(iter(x)) for x in (range(1), range(2**70), "a", "\u1234", b"", ())}
_COPIED.add(type(reversed(range(1))))
_READ: list[tuple[type, Any]] = [
    (list, list.__getitem__), (tuple, tuple.__getitem__), (np.ndarray, operator.getitem),
]  # fmt: skip
_SEQUENCE = type(iter(np.ones(1)))  # of whatever has `__getitem__` only


@_for(_AHEAD, type(iter([])), type(iter(())), _SEQUENCE, type(reversed([])), type(reversed(())))
def _(tape: Tape, it: Any, skip: int) -> Traced | None:
    f, (x,), *rest = it.__reduce__()
    if not rest:
        return _END, None
    i = rest[0] - skip if f is reversed else rest[0] + skip
    read = next((read for kind, read in _READ if isinstance(x, kind)), None)
    if read is None:
        return None
    return tape.call((None, None, None), read, x, i) if 0 <= i < len(x) else (_END, None)


@_for(_AHEAD, type(iter(collections.deque())), type(reversed(collections.deque())))
def _(tape: Tape, it: Any, skip: int) -> Traced:
    kind, (x, i) = it.__reduce__()
    i += skip
    if i >= len(x):
        return _END, None
    i = i if kind is type(iter(x)) else -1 - i
    return tape.call((None, None, None), operator.getitem, x, i)


_VIEWS: tuple[Any, ...] = ({}, {}.values(), {}.items())
_FORWARD = {type(iter(x)): kind for kind, x in enumerate(_VIEWS)}
_BACKWARD = {type(reversed(x)): kind for kind, x in enumerate(_VIEWS)}


@_for(_AHEAD, *_FORWARD, *_BACKWARD)
def _(tape: Tape, it: Any, skip: int) -> Traced | None:
    x = next((x for x in gc.get_referents(it) if isinstance(x, dict)), None)
    left = it.__length_hint__() - skip
    if x is None or left <= 0:
        return _END, None
    keys: Iterator[Any] = dict.__iter__(x) if type(it) in _FORWARD else dict.__reversed__(x)
    key = next(itertools.islice(keys, len(x) - left, None))
    kind = _FORWARD.get(type(it), _BACKWARD.get(type(it)))
    if kind == 0:
        return key, None
    y, node = tape.call((None, None, None), dict.__getitem__, x, key)
    return (y, node) if kind == 1 else tape.call((None, None, node), build_tuple, key, y)


@_for(_AHEAD, type(iter(collections.OrderedDict())))
def _(tape: Tape, it: Any, skip: int) -> Traced | None:
    left = it.__reduce__()[1][0][skip:]
    x = next((x for x in gc.get_referents(it) if isinstance(x, collections.OrderedDict)), None)
    if x is None or not left:
        return _END, None
    key = next(itertools.islice(x, len(x) - len(left), None))
    y, node = tape.call((None, None, None), dict.__getitem__, x, key)
    if left[0] is key:
        return None if y is key else (key, None)
    if left[0] is y:
        return y, node
    if type(left[0]) is tuple and left[0][:1] == (key,) and left[0][1:] == (y,):
        return tape.call((None, None, node), build_tuple, key, y)
    return None  # one that goes backwards


@_for(_AHEAD, type(iter(set())))
def _(tape: Tape, it: Any, skip: int) -> Traced | None:
    """Tell the next element of a set: what has an address is the same, whatever it holds."""
    active = state.active or {}
    if skip or any(id(x) in active for x in gc.get_referents(it) if isinstance(x, set)):
        return None
    return next(iter(it.__reduce__()[1][0]), _END), None


@_for(_AHEAD, np.flatiter)
def _(tape: Tape, it: Any, skip: int) -> Traced:
    if it.index + skip >= it.base.size:
        return _END, None
    place = tuple(map(int, np.unravel_index(it.index + skip, it.base.shape)))
    return tape.call((None, None, None), operator.getitem, it.base, place)


@_for(_AHEAD, enumerate)
def _(tape: Tape, it: Any, skip: int) -> Traced | None:
    inner, count = it.__reduce__()[1]
    found = look_ahead(tape, inner, skip)
    if found is None or found[0] is _END:
        return found
    return tape.call((None, None, found[1]), build_tuple, count + skip, found[0])


@_for(_AHEAD, zip)
def _(tape: Tape, it: Any, skip: int) -> Traced | None:
    inner = it.__reduce__()[1]
    if len({id(x) for x in inner}) < len(inner):
        return None  # one iterator twice
    row: list[Any] = [look_ahead(tape, x, skip) for x in inner]
    if None in row:
        return None
    if any(y is _END for y, _ in row) or not row:
        return _END, None
    return _called(tape, build_tuple, row)


@_for(_AHEAD, map)
def _(tape: Tape, it: Any, skip: int) -> Traced | None:
    """Call the function of a `map` within another iterator, if a second call changes nothing."""
    f, *inner = it.__reduce__()[1]
    if not is_pure(f) or len({id(x) for x in inner}) < len(inner):
        return None
    row: list[Any] = [look_ahead(tape, x, skip) for x in inner]
    if None in row:
        return None
    return (_END, None) if any(y is _END for y, _ in row) else _called(tape, f, row)


# -- iterators that call functions, or take from several others: their own step, with ours ------


def _sources(it: Any) -> list[Any]:
    """Return what an iterator refers to, in order (`__reduce__` of those of `itertools` warns)."""
    return [x for x in gc.get_referents(it) if x is not type(it)]


def _called(tape: Tape, f: Any, row: list[Traced]) -> Traced:
    return tape.call((None, *(node for _, node in row)), f, *(y for y, _ in row))


@_for(_STEPS, zip, map)
def _(tape: Tape, it: Any) -> Traced:
    kind, sources, *strict = it.__reduce__()  # strict: `True` is there, or nothing
    f, *inner = (build_tuple, *sources) if kind is zip else sources
    row: list[Traced] = []
    for i, x in enumerate(inner):
        try:
            row.append(tape.call((None, None), next, x))
        except StopIteration:
            if strict:
                check_strict(inner, i)
            raise
    return _called(tape, f, row)


def _first_of_another(tape: Tape, kind: Any, sources: Any) -> Traced:
    """Take the first element of another such iterator over the same source: it has no state."""
    (made_by,) = IN_PYTHON[id(kind)].for_all
    again, _ = tape.call((None,) * (1 + len(sources)), made_by, *sources)
    return tape.call((None, None), next, again)


@_for(_STEPS, filter, itertools.filterfalse, itertools.starmap)
def _(tape: Tape, it: Any) -> Traced:
    return _first_of_another(tape, type(it), _sources(it)[::-1])


@_for(_STEPS, type(iter(int, 0)))
def _(tape: Tape, it: Any) -> Traced:
    """Call the function once more, unless the sentinel has been met: then the iterator is over."""
    if id(it) in state.ended:
        raise StopIteration
    try:
        return _first_of_another(tape, *it.__reduce__())
    except StopIteration:
        state.ended[id(it)] = it
        raise


@_for(_STEPS, itertools.islice, itertools.chain)
def _(tape: Tape, it: Any) -> Traced | None:
    """Take an element, and look back at where it came from."""
    y = next(it)
    found = look_ahead(tape, _sources(it)[-1], -1)
    return None if found is None or found[0] is _END or _differ(y, found[0]) else found


def _kept_of(it: Any, value: Any) -> Any:
    """Return the node of what an iterator keeps of its last step; `_END` where it is not known.

    What it kept before it was followed came from what was inactive then.
    """
    known = state.stepped.get(id(it))
    return None if known is None else known[2] if known[1] is value else _END


@_for(_STEPS, itertools.pairwise)
def _(tape: Tape, it: Any) -> Traced | None:
    inner, *before = _sources(it)
    y = next(it)
    second = look_ahead(tape, inner, -1)
    first = (before[0], _kept_of(it, before[0])) if before else look_ahead(tape, inner, -2)
    pair: list[Any] = [first, second]
    if None in pair or any(z is _END or node is _END for z, node in pair):
        return None
    if any(map(_differ, y, [z for z, _ in pair])):
        return None
    state.stepped[id(it)] = it, y[1], pair[1][1]
    return _called(tape, build_tuple, [(z, node) for z, (_, node) in zip(y, pair, strict=True)])


@_for(_STEPS, itertools.accumulate)
def _(tape: Tape, it: Any) -> Traced | None:
    """Add an element to the total so far, or call another function in C that changes nothing."""
    inner, *before, initial = _sources(it)
    f: Any = operator.add
    if callable(inner) and not hasattr(inner, "__next__"):
        f, (inner, *before) = inner, before
    if initial is not None or not is_pure(f):
        return None
    y = next(it)
    found = look_ahead(tape, inner, -1)
    if found is None or found[0] is _END:
        return None
    if before:
        node = _kept_of(it, before[0])
        if node is _END:
            return None
        found = tape.call((None, node, found[1]), f, before[0], found[0])
    if _differ(y, found[0]):
        return None
    state.stepped[id(it)] = it, y, found[1]
    return y, found[1]


@_for(_STEPS, itertools.takewhile)
def _(tape: Tape, it: Any) -> Traced:
    """Take an element as long as the function says so: after that the iterator is over."""
    if id(it) in state.ended:
        raise StopIteration
    f, inner = _sources(it)[::-1]
    y, node = tape.call((None, None), next, inner)
    if not tape.call((None, None), operator.truth, tape.call((None, node), f, y)[0])[0]:
        state.ended[id(it)] = it
        raise StopIteration
    return y, node


@_for(_STEPS, itertools.compress)
def _(tape: Tape, it: Any) -> Traced:
    items, selectors = _sources(it)
    while True:
        y, node = tape.call((None, None), next, items)
        if tape.call((None, None), operator.truth, tape.call((None, None), next, selectors)[0])[0]:
            return y, node


@_for(_STEPS, itertools.product, itertools.combinations, itertools.permutations, itertools.repeat,
       itertools.combinations_with_replacement, itertools.count, *_COPIED)  # fmt: skip
def _(tape: Tape, it: Any) -> Traced:
    """Take an element of what was fixed when the iterator was made."""
    return next(it), None


@_for(_STEPS, _SEQUENCE)
def _(tape: Tape, it: Any) -> Traced | None:
    _, (x,), *place = it.__reduce__()
    if not place or isinstance(x, np.ndarray):
        return _taken_ahead(tape, it)
    try:
        found = tape.call((None, None, None), operator.getitem, x, place[0])
    except IndexError:
        raise StopIteration from None
    it.__setstate__(place[0] + 1)
    return found
