"""Calls that make iterators, and calls that take from them.

What is written in C has an equivalent in Python, which the tape runs, too: a generator function, or
a function that walks over what it is given.
"""

import functools
import itertools
import math
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._cotangents.registry import CLASS_METHODS, IN_PYTHON
from zygote_lite._ir import intrinsics as _intrinsics
from zygote_lite._python.library.folds import folded, order_of
from zygote_lite._python.library.itertools import native_rows
from zygote_lite._specialize.infer.iteration.generators import is_new
from zygote_lite._specialize.infer.iteration.in_python import (
    extended,
    list_of_all,
    places,
    sorted_by,
)
from zygote_lite._specialize.infer.iteration.iterators import (
    RESULT,
    Generator,
    backwards_over,
    end,
    is_iterator,
    iterators_together,
    next_by_place,
    source_of_loop,
    unwrapped,
)
from zygote_lite._specialize.infer.iteration.known import known_items, strict_zip
from zygote_lite._specialize.infer.iteration.own import is_own, with_iterators
from zygote_lite._specialize.infer.models.arrays import one_by_one
from zygote_lite._specialize.infer.models.builtins import refuse_other_rules
from zygote_lite._specialize.typed.abstract_eval import Result, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ListOf, Scalar
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import SOURCE, View
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant

LAZY = {
    map, filter, itertools.accumulate, itertools.chain, itertools.islice, itertools.product,
    itertools.combinations, itertools.permutations, itertools.combinations_with_replacement,
    itertools.pairwise, itertools.repeat, itertools.cycle, itertools.count, itertools.starmap,
    itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.zip_longest,
    itertools.compress, itertools.tee, itertools.groupby,
}  # fmt: skip
"""Classes of iterators that have an equivalent in Python, whatever they are given."""
_TOGETHER = (zip, strict_zip, enumerate, reversed)
_MOST_TAKEN = 1000  # elements that are taken one by one


def of_iterators(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what a call gives that makes an iterator or takes from one; `None` for other calls."""
    if not is_hashable(f):
        return None
    if f is next and len(xs) == 1 and is_own(xs[0]):
        return builder.call(builder.attribute(xs[0], "__next__"), [], {})
    xs = with_iterators(builder, f, xs)
    if builder.plain and f not in _TOGETHER and not any(map(is_iterator, xs)):
        return None
    if f in LAZY or f in (itertools.chain.from_iterable, dict.fromkeys):
        return builder.body_of(_equivalent_of(f), xs, kws)
    if f is np.ndindex and not kws:
        return builder.body_of(places, [one_by_one(builder, x) for x in xs])
    if f is np.ndenumerate and len(xs) == 1 and xs[0].is_array:
        return builder.body_of(_equivalent_of(f), xs, kws)
    if f is math.prod and xs and xs[0].is_array and kws.keys() <= {"start"}:
        return _product_of_taken(builder, *xs, **kws)
    if f is iter and xs and not kws:
        return _iterator_of_call(builder, *xs)
    if (f is functools.reduce and not kws) or (f in (max, min) and kws):
        return builder.body_of(_equivalent_of(f), xs, kws)
    if f is sorted and len(xs) == 1 and kws.keys() <= {"key", "reverse"}:
        return builder.body_of(sorted_by, [_sortable(builder, xs[0])], kws)
    if f is reversed and len(xs) == 1 and not kws and _is_reversible(xs[0]):
        return backwards_over(builder, xs[0])
    if f is order_of:
        return _order_of_keys(builder, *xs)
    if f is native_rows and all(x.is_constant for x in xs):
        return _constants(run(f, [x.sample for x in xs], {}))
    if f is enumerate and (kws or len(xs) > 1 or any(map(_runs, xs))):
        return builder.body_of(_equivalent_of(enumerate), xs, kws)
    if f in _TOGETHER[:3] and not kws and all(map(is_stepped, xs)):
        if f is enumerate:
            numbers = constant(range(sys.maxsize))
            return iterators_together(builder, [numbers, *xs], strict=False)
        return iterators_together(builder, xs, strict=f is strict_zip)
    if not any(map(is_iterator, xs)):
        return None
    if f in _TOGETHER[:3] and not kws and builder.held:
        whole = [unwrapped(builder, x) for x in xs]
        if not any(map(is_iterator, whole)):
            return builder.apply(f, whole)
    if any(isinstance(x.sample, View) for x in xs):
        return _of_views(builder, f, xs, kws)
    if f is next and len(xs) <= 2 and not kws:
        return _next(builder, *xs)
    if f is _intrinsics.value_returned:
        return (xs[0].fields or {}).get(RESULT, constant(None))
    write, most, options = _TAKING.get(f, (None, 0, set()))
    if write is not None and len(xs) <= most and kws.keys() <= options:
        return write(builder, *xs, **kws)
    if f in _FOLDING:
        return builder.body_of(_equivalent_of(f), xs, kws)
    if f is operator.iadd and type(xs[0].sample) is list:
        return builder.body_of(extended, xs)
    if f in _USING_UP:
        given = [all_taken(builder, x) if is_iterator(x) else x for x in xs]
        return builder.apply(f, given, kws)
    if f in (operator.is_, operator.is_not):
        return None
    if f is isinstance and _are_no_iterators(xs[1].sample):
        return constant(False)
    if hasattr(f, "__code__") or (isinstance(f, type) and is_written_in_python(f)):
        return None
    raise Unsound.ITERATOR(f"it passes an iterator to {getattr(f, '__name__', f)}: pass a list")


def _sortable(builder: Builder, x: Value) -> Value:
    """Return a sorted iterable as a list or an array: one of any length, where numbers decide."""
    if isinstance(x.fact, ListOf) or x.is_array:
        return x
    items = all_taken(builder, x)
    numbers = items.items and all(i.is_scalar and not i.is_constant for i in items.items)
    return builder.body_of(list_of_all, [items]) if builder.uniform and numbers else items


def _is_reversible(x: Value) -> bool:
    return isinstance(x.sample, View) or known_items(x) is not None


def _of_views(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what a call gives of views of dicts, which is walked over as often as one likes."""
    x, source = xs[0], (xs[0].fields or {}).get(SOURCE)
    is_keys = isinstance(x.sample, View) and x.sample.name == "keys"
    if f is len or (f is operator.contains and is_keys):
        return builder.apply(f, [source or x, *xs[1:]], kws)
    if f is operator.contains:
        return builder.apply(f, [all_taken(builder, x), *xs[1:]], kws)
    given = [builder.iterator(x) if isinstance(x.sample, View) else x for x in xs]
    if f is next or (hasattr(f, "__code__") and f not in _USING_UP):
        return None
    return of_iterators(builder, f, given, kws)


def _constants(x: Any) -> Value:
    """Return a list or a tuple of constants, item by item."""
    if type(x) in (list, tuple):
        return structure(type(x), [*map(_constants, x)])
    return constant(x)


def _order_of_keys(builder: Builder, keys: Value, reverse: Value) -> Value:
    """Return the order of keys: where they are not known, the code finds it when it runs."""
    if not reverse.is_constant:
        raise NotSupported.LIST_OPERATION("it sorts with a `reverse` that is not a constant")
    if isinstance(keys.fact, ListOf):
        if not isinstance(keys.fact.item, Scalar):
            raise NotSupported.LIST_OPERATION("it sorts by something other than numbers")
        found = run(order_of, [keys.sample, reverse.sample], {})
        result = Result(ListOf(Scalar(frozenset((int,)))), found)
        return builder.write(result, order_of, [keys, reverse], {}).target
    items = known_items(keys)
    if items is None or not all(
        x.is_constant and type(x.sample) in (int, float, str, bool) for x in items
    ):
        builder.inputs.lists = True
        raise NotSupported.LIST_OPERATION("it sorts by keys that are known only as it runs")
    return _constants(run(order_of, [[x.sample for x in items], reverse.sample], {}))


def _equivalent_of(f: Any) -> Any:
    """Return the Python function that means the same as one in C."""
    known = next((k for k in CLASS_METHODS.values() if k == f), f)
    return IN_PYTHON[id(known)].for_all[0]


def is_stepped(x: Value) -> bool:
    """Return whether what a value gives can be taken one by one."""
    is_range = x.is_constant and type(x.sample) is range
    return is_iterator(x) or is_range or (known_items(x) is not None)


def _are_no_iterators(kinds: Any) -> bool:
    """Return whether no iterator is an instance of some classes."""
    parts = kinds.__args__ if isinstance(kinds, types.UnionType) else kinds
    given = parts if isinstance(parts, tuple) else (parts,)
    return all(kind in (str, bytes, list, tuple, dict, int, float, np.ndarray) for kind in given)


def _runs(x: Value) -> bool:
    return isinstance(x.sample, Generator)


def _iterator_of_call(builder: Builder, x: Value, *sentinel: Value) -> Value:
    if sentinel:
        return builder.body_of(_equivalent_of(iter).__globals__["iterate_calls"], [x, *sentinel])
    return builder.iterator(x)


def _next(builder: Builder, it: Value, *default: Value) -> Value:
    item = None if default else next_by_place(builder, it)
    if item is None:
        item = builder.advance(it)
    if item is not None:
        return item
    if default:
        return default[0]
    ended = Unsound.RAISES("an iterator has come to its end").always(StopIteration)
    raise ended.after_what_is_written()


def all_taken(builder: Builder, it: Value) -> Value:
    """Return the list of all that an iterator still gives."""
    it = builder.iterator(it)
    if not is_new(it) and source_of_loop(it) is None:
        return _taken_one_by_one(builder, it)
    if not builder.uniform:
        return builder.body_of(list_of_all, [it])
    attempt, tables = builder.attempt(), builder.tables()
    try:
        return builder.body_of(list_of_all, [it])
    except NotSpecializable as reason:
        if reason.reason is NotSupported.TOO_LONG:
            raise
        builder.give_up(attempt)
        builder.go_back_to(tables)
        return _taken_one_by_one(builder, it)


def _taken_one_by_one(builder: Builder, it: Value) -> Value:
    items: list[Value] = []
    while (item := builder.advance(it)) is not None:
        items.append(item)
        if len(items) > _MOST_TAKEN:
            raise NotSupported.TOO_LONG("it takes many elements of an iterator one by one")
    return builder.build("list", items)


def method_of_iterator(
    builder: Builder, it: Value, name: str, xs: list[Value], kws: dict[str, Value]
) -> Value:
    """Return what a method of an iterator gives."""
    runs = isinstance(it.sample, Generator)
    if kws or len(xs) != (name == "send"):
        raise NotSupported.METHOD(f"it calls the method {name} of an iterator with arguments")
    if name == "__iter__":
        return it
    if name == "__next__":
        return _next(builder, it)
    if name == "send" and runs:
        item = builder.advance(it, xs[0])
        if item is None:
            raise Unsound.RAISES("a generator has come to its end").always(StopIteration)
        return item
    if name == "close" and runs:
        if it in builder.inputs.unfinished:
            raise NotSupported.METHOD("it closes a generator that stands inside a `try`")
        end(it)
        return constant(None)
    raise NotSupported.METHOD(f"it calls the method {name} of an iterator")


# -- what walks over an iterator -------------------------------------------------------------------


def _sum_of_taken(builder: Builder, x: Value, start: Value | None = None) -> Value:
    """Write `sum`: from Python 3.12 on it keeps what rounding loses, so a list is summed."""
    if sys.version_info >= (3, 12):
        return builder.apply(sum, [all_taken(builder, x), *([] if start is None else [start])])
    refuse_other_rules(sum)
    return builder.body_of(folded, [constant(operator.add), x, start or constant(0)])


def _product_of_taken(builder: Builder, x: Value, start: Value | None = None) -> Value:
    refuse_other_rules(math.prod)
    return builder.body_of(folded, [constant(operator.mul), x, start or constant(1)])


_TAKING: dict[Any, tuple[Callable[..., Value] | None, int, set[str]]] = {
    sum: (_sum_of_taken, 2, {"start"}), math.prod: (_product_of_taken, 1, {"start"}),
    list: (all_taken, 1, set()),
}  # fmt: skip
"""What writes these, how many operands it takes at most, and its options."""
_FOLDING = {any, all, max, min}
_USING_UP = {tuple, dict, set, frozenset, sorted, math.fsum, _intrinsics.unpack,
             _intrinsics.join_tuple, _intrinsics.join_list, _intrinsics.join_arguments,
             reversed}  # fmt: skip
"""Functions that use up an iterator before they do anything else."""
