"""`functools`: within one run, calls of functions under `lru_cache` are cached on the tape.

The user's cache cannot be used, because its values are not on this tape. Calls are cached by their
arguments *and* the nodes of these, because equal numbers may have different histories, and then
their gradients go to different places. Such a call is run again; it is refused if its value differs
from the one that the cache would have returned.
"""

import contextlib
import functools
import types
from collections import OrderedDict
from collections.abc import Callable
from numbers import Number
from typing import Any, cast

import numpy as np

from zygote_lite._activity.contents import contents_of, hold_the_same
from zygote_lite._activity.marks import note_outside
from zygote_lite._activity.reachability import referents
from zygote_lite._activity.side_effects import callbacks
from zygote_lite._activity.walk import surely_reaches_active
from zygote_lite._cotangents.kinds import DICT, LIST, OBJECT, TUPLE, entries_of, kind_of
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.places import where
from zygote_lite._tape.repeats import Surroundings
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()

Cached: Any = functools._lru_cache_wrapper


@handlers.callables(Cached)
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
    """Resolve a call of a function under `lru_cache`: it is run once for the same arguments."""
    options = f.cache_parameters()
    values = (*xs, *kws.values())
    alone = len(values) == 1 and not kws and type(xs[0]) in (int, str)  # a key by itself
    kinds = tuple([type(x) for x in values]) if options["typed"] or alone else ()
    key = _Key((xs, tuple(kws.items()), kinds))
    _, known = tape.memo.setdefault(id(f), (f, OrderedDict()))
    own, found = known.get(key, (None, None))
    if found is not None:
        known.move_to_end(own)
        if nodes in found:
            return found[nodes]  # type: ignore[no-any-return]
    kept = _kept_before(f, xs, kws, options["typed"]) if key not in known else ()
    if kept and not any(nodes):
        return kept[0], None
    if surely_reaches_active(*kept):
        raise Fault.CACHE(
            f"{where()}: what depends on what is differentiated has been written into a value that "
            f"{f.__qualname__} under `lru_cache` keeps: return the value without the cache"
        )
    around = None if found is None else Surroundings(f.__wrapped__, values)
    if around is not None and around.effect is not None:
        raise _refused_again(f, around.effect)
    with contextlib.ExitStack() as watched:
        if around is not None:
            watched.enter_context(around.watched(_refusals(f), is_compared=True))
        done = tape.call(nodes, f.__wrapped__, *xs, **kws)
    if around is not None:
        first = next(iter(found.values()))[0]
        if not (are_same(first, done[0]) and around.are_unchanged()):
            raise _refused_again(f, "it changes something else, or what it reads has changed")
        _demand_unchanged(f, first, done[0])
    elif key in known:
        raise _refused_again(f, "it called itself with the same arguments")
    if kept and not are_same(kept[0], done[0]):
        raise Fault.CACHE(
            f"{where()}: {f.__qualname__} under `lru_cache` keeps another value of an earlier call "
            "for these arguments, through which no gradient passes: let it depend on its arguments "
            "alone, or call `cache_clear` before"
        )
    if found is None:
        known[key] = key, (found := {})
    found[nodes] = done
    if options["maxsize"] is not None and len(known) > options["maxsize"]:
        known.popitem(last=False)
    return done


def _kept_before(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], typed: bool) -> tuple[Any, ...]:
    """Return, in a tuple, what the user's cache held for a call before the run."""
    if not f.cache_info().currsize:
        return ()
    parts = referents(f)
    kept = next(x for x in parts if type(x) is dict and x is not vars(f))
    key: Any = xs
    if kws:
        mark = next(x for x in parts if type(x) is object)  # it parts them, as C does it
        key = (*xs, mark, *(part for item in kws.items() for part in item))
    if typed:
        key = (*key, *map(type, (*xs, *kws.values())))
    elif len(xs) == 1 and not kws and type(xs[0]) in (int, str):
        key = xs[0]
    return (f(*xs, **kws),) if key in kept else ()


class _Key(tuple[Any, ...]):
    """The arguments of a call: their `__hash__` is asked once, as by Python's cache."""

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.hash = tuple.__hash__(self)

    def __hash__(self) -> int:
        return self.hash


def _refusals(f: Any) -> Callable[[str], Exception]:
    return lambda effect: _refused_again(f, effect)


def _refused_again(f: Any, reason: str) -> Exception:
    return Fault.CACHE(
        f"{where()}: {f.__qualname__} under `lru_cache` is called again with equal arguments "
        f"that carry a gradient of their own, and has to run again for it; but {reason}: let it "
        "depend on its arguments alone, and change nothing"
    )


def _demand_unchanged(f: Any, *values: Any) -> None:
    """Refuse, when the run is over, what was changed: for Python the values are one object."""
    before = contents_of(values, whole=True)
    refused = _refused_again(f, "its value, one object for both calls, is changed afterwards")

    def refuse_changes() -> None:
        if not hold_the_same(before, contents_of(values, whole=True), counts=True):
            raise refused

    state.later.append(refuse_changes)


def are_same(x: Any, y: Any, inside: tuple[int, ...] = ()) -> bool:
    """Return whether two values of a function cannot be told apart, as far as they are numbers."""
    if isinstance(x, np.ndarray | Number) and isinstance(y, np.ndarray | Number):
        a, b = np.asarray(x), np.asarray(y)
        return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc")
    if kind_of(x) not in (TUPLE, LIST, DICT, OBJECT) or type(x) is not type(y) or id(x) in inside:
        return True
    entries, others = dict(entries_of(x)), dict(entries_of(y))
    return [*entries] == [*others] and all(
        are_same(entries[key], others[key], (*inside, id(x))) for key in entries
    )


@handlers.desugared(Cached.cache_clear)
def _(tape: Tape, nodes: Nodes, f: Any) -> Traced:
    tape.memo.pop(id(f), None)
    f.cache_clear()
    return None, None


@handlers.desugared(Cached.cache_info)
def _(tape: Tape, nodes: Nodes, f: Any) -> Traced:
    raise Fault.CACHE(
        f"{where()}: `cache_info()` of {f.__qualname__} does not count the calls that are "
        "differentiated: leave it out here"
    )


@handlers.by_code(cast(types.FunctionType, functools.lru_cache(1)))
def _(tape: Tape, nodes: Nodes, decorate: Any, f: Any) -> Traced:
    return decorate(f), None


# -- singledispatchmethod ------------------------------------------------------------------------

# From Python 3.13 on it keeps methods by weak reference, which is only quicker. An entry would
# outlive the object in the run, since the tape holds it: so they are made anew at each access.


@handlers.in_python(functools.singledispatchmethod.__get__)
def _bind(descriptor: Any, obj: Any, cls: Any = None) -> Any:
    dispatch = descriptor.dispatcher.dispatch
    wrapped = descriptor.func
    name = getattr(wrapped, "__name__", "singledispatchmethod method")

    def method(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"{name} requires at least 1 positional argument")
        return dispatch(args[0].__class__).__get__(obj, cls)(*args, **kwargs)

    method.__isabstractmethod__ = descriptor.__isabstractmethod__  # type: ignore[attr-defined]
    method.register = descriptor.register  # type: ignore[attr-defined]
    functools.update_wrapper(method, wrapped)
    return method


# -- cmp_to_key ----------------------------------------------------------------------------------


class Compared:
    """A key that compares by a function of two values: what `cmp_to_key` makes in C."""

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare = compare
        self.obj = obj

    def __lt__(self, other: Any) -> bool:
        return self.compare(self.obj, other.obj) < 0  # type: ignore[no-any-return]

    def __gt__(self, other: Any) -> bool:
        return self.compare(self.obj, other.obj) > 0  # type: ignore[no-any-return]

    def __le__(self, other: Any) -> bool:
        return self.compare(self.obj, other.obj) <= 0  # type: ignore[no-any-return]

    def __ge__(self, other: Any) -> bool:
        return self.compare(self.obj, other.obj) >= 0  # type: ignore[no-any-return]


@handlers.desugared(functools.cmp_to_key, always=True)
def _(tape: Tape, nodes: Nodes, mycmp: Any) -> Traced:
    if callbacks((mycmp,)):
        return functools.cmp_to_key(mycmp), None  # it may write, and sorting calls it from C
    note_outside()  # the partial has no mark
    return functools.partial(Compared, mycmp), None
