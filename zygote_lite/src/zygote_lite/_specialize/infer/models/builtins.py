"""Functions that the interpreter knows: of sequences, iterables and numbers."""

import copy
import inspect
import math
import operator
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from zygote_lite._ir import intrinsics as _intrinsics
from zygote_lite._ir.intrinsics import unpack
from zygote_lite._specialize.infer.effects.output import message
from zygote_lite._specialize.infer.held.new_lists import list_repeated
from zygote_lite._specialize.infer.iteration import known as _known
from zygote_lite._specialize.infer.iteration.rows import number_of_rows
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import errors as _errors
from zygote_lite._specialize.infer.models import imports as _imports
from zygote_lite._specialize.infer.models.arrays import (
    known_parts,
    open_mesh,
    parts_of_array,
    spread_arrays,
)
from zygote_lite._specialize.infer.models.lists import items as _lists
from zygote_lite._specialize.infer.models.lists import whole as _whole_lists
from zygote_lite._specialize.infer.models.lookups import by_known_name, contains, signature_of
from zygote_lite._specialize.infer.models.patterns import PATTERNS
from zygote_lite._specialize.normalize.blocks import catches
from zygote_lite._specialize.normalize.exits import imported_member, imported_module
from zygote_lite._specialize.normalize.handlers import raised_error
from zygote_lite._specialize.rules.contributions import LinearRule
from zygote_lite._specialize.typed.abstract_eval import Result, result_of, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    INTS,
    TRUTHS,
    ArrayOf,
    ListOf,
    Other,
    Scalar,
    may_be_complex,
)
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.plugins import are_of_one_plugin
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import abandon, exactly
from zygote_lite._specialize.typed.stand_ins import Error, Message, RowsOfData
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


def _unpack(builder: Builder, xs: list[Value]) -> Value | None:
    x, count, star = _known.still_given(builder, xs[0]), *xs[1:]
    items = _known.known_items(x) if x.items is not None or x.is_object else None
    if items is not None:
        try:
            parts = run(unpack, [items, count.sample, star.sample], {})
        except NotSpecializable as reason:
            reason.always(ValueError)
            raise
        return _with_rest(builder, parts)
    if x.is_constant and star.sample is None:
        return structure(tuple, [constant(part) for part in unpack(x.sample, count.sample, None)])
    if x.is_array:
        wanted = count.sample if star.sample is None else None
        given = [parts_of_array(builder, x, wanted), count.sample, star.sample]
        return _with_rest(builder, run(unpack, given, {}))
    named = len(getattr(type(x.sample), "_fields", ())) if isinstance(x.sample, tuple) else -1
    if star.sample is None and named == count.sample:
        taken = [builder.apply(operator.getitem, [x, constant(i)]) for i in range(named)]
        return structure(tuple, taken)
    as_a_whole = type(x.fact) is Other and x.contents is None  # by a call
    if star.sample is None and type(x.sample) in (tuple, list) and as_a_whole:
        result = result_of(exactly, [x, count], {})
        result.fact, result.certain = x.fact, True
        checked = builder.write(result, exactly, [x, count], {}).target
        checked.base, checked.fresh = None, False
        parts = [builder.apply(operator.getitem, [checked, constant(i)])
                 for i in range(count.sample)]  # fmt: skip
        return structure(tuple, parts)
    raise NotSupported.UNKNOWN_LENGTH("it unpacks something whose length is not fixed")


_MOST_REPEATED = 64


def _with_rest(builder: Builder, parts: tuple[Any, ...]) -> Value:
    """Return what is assigned in an unpacking; what `*` takes is a new list."""
    return structure(tuple, [builder.build("list", p) if type(p) is list else p for p in parts])


def _length(builder: Builder, xs: list[Value]) -> Value | None:
    if len(xs) == 1 and isinstance(xs[0].sample, RowsOfData):
        return number_of_rows(builder, xs[0])
    if len(xs) != 1 or not isinstance(xs[0].fact, ListOf):
        return None
    _lists.settled(xs[0])
    return builder.inactive(len, xs, {}, "")


def _repeated_list(builder: Builder, xs: list[Value]) -> Value | None:
    """Return what stands for `[a] * n`: item by item, where that is not too long."""
    x, count = xs[::-1] if xs[0].is_scalar and xs[0].is_constant else xs
    if type(x.sample) is tuple and count.is_constant and type(count.sample) is int:
        items = _known.known_items(x)
        few = items is not None and len(items) * count.sample <= _MOST_REPEATED
        return structure(tuple, (items or []) * count.sample) if few else None
    if type(x.sample) is not list:
        return None
    is_count = isinstance(count.fact, Scalar) and count.fact.classes <= INTS | TRUTHS
    if x.items is None or not is_count:
        raise NotSupported.LIST_OPERATION(
            "it repeats a list whose length is not fixed, or not a whole number of times"
        )
    if builder.uniform:
        return _whole_lists.repeated(builder, x, count)
    if builder.held:
        few = count.is_constant and len(x.items) * count.sample <= _MOST_REPEATED
        return (
            builder.build("list", x.items * count.sample)
            if few
            else list_repeated(builder, x, count)
        )
    builder.inputs.lists = True
    if not count.is_constant or len(x.items) * count.sample > _MOST_REPEATED:
        raise NotSupported.UNKNOWN_LENGTH(
            "it repeats a list very often, or a number of times that is not a constant"
        )
    made = structure(list, x.items * count.sample)  # one that is written is no structure
    if builder.guesses:
        builder.settle_home(made)
    return made


def _joined_lists(builder: Builder, xs: list[Value]) -> Value | None:
    """Return what stands for `a + b` of lists or of tuples."""
    a, b = xs
    if isinstance(a.fact, ListOf) and isinstance(b.fact, ListOf):
        return _whole_lists.joined_lists(builder, a, b)
    kind = type(a.sample)
    if kind not in (list, tuple) or type(b.sample) is not kind:
        return None
    first, second = _known.known_items(a), _known.known_items(b)
    if first is None or second is None:
        return None
    return builder.build(kind.__name__, [*first, *second])


def _sequence(kind: type, builder: Builder, xs: list[Value]) -> Value | None:
    items = _known.known_items(xs[0]) if xs else []
    if kind is list and builder.uniform:
        if not xs:
            return _lists.new_list(builder)
        if isinstance(xs[0].fact, ListOf):
            return _whole_lists.copied(builder, xs[0])
    builder.inputs.lists = builder.inputs.lists or kind is list
    if items is None and xs[0].is_array and not (xs[0].has_no_axes or builder.plain):
        items = parts_of_array(builder, xs[0])
    if items is None and xs[0].is_constant and type(xs[0].sample) is range:
        few = len(xs[0].sample) <= _MOST_REPEATED
        items = [constant(i) for i in xs[0].sample] if few else None
    if items is None:
        return None
    made = structure(kind, [*items])
    if kind is list:
        builder.settle_home(made)
    return made


def _joined_sequences(kind: type, builder: Builder, xs: list[Value]) -> Value | None:
    parts = [known_parts(builder, x) for x in xs]
    if any(part is None for part in parts):
        raise NotSupported.UNKNOWN_LENGTH(
            "it makes a tuple or list of something whose length is not fixed"
        )
    made = structure(kind, [item for part in parts for item in part or ()])
    if kind is list:
        builder.settle_home(made)
    return made


def _several(kind: str, builder: Builder, xs: list[Value]) -> Value | None:
    """Return several iterables that are walked together; those known item by item came before."""
    if kind == "reversed" and type(xs[0].sample) is range:
        return builder.apply(operator.getitem, [xs[0], constant(slice(None, None, -1))])
    x = xs[0]
    has_rows = isinstance(x.fact, ListOf) or (x.is_array and not x.has_no_axes)
    if kind == "reversed" and not (x.contents or has_rows):
        return None
    if any(x.is_scalar for x in xs):
        raise Unsound.RAISES(f"{kind} gets a number")
    value = constant(_known.Several(kind, xs))
    builder.iterators[value] = [y for x in xs for y in builder.iterators.get(x, [x])]
    return value


def _join_dict(builder: Builder, xs: list[Value]) -> Value | None:
    if not all(map(_dicts.is_dict, xs)):
        raise NotSupported.UNKNOWN_LENGTH(
            "it makes a dict with `**` of something whose keys are not fixed"
        )
    return _dicts.made(builder, xs, {})


def _deleted_item(builder: Builder, xs: list[Value]) -> Value | None:
    """Note `del x[key]`, of a dict."""
    if not _dicts.is_dict(xs[0]):
        return None
    _dicts.delete_from_dict(builder, xs[0], xs[1])
    return constant(None)


def _folded_text(f: Callable[..., str], builder: Builder, xs: list[Value]) -> Value | None:
    """Fold the parts of an f-string."""
    if all(x.is_constant and type(x.sample) in (str, int, bool) for x in xs):
        return constant(run(f, [x.sample for x in xs], {}))
    x, *rest = xs
    texts = all(isinstance(part.sample, str | Message) for part in xs)
    texts = texts or (f is _intrinsics.format_value and isinstance(x.sample, Error))
    if not texts and not (f is _intrinsics.format_value and _is_formatted(x, rest[-1])):
        raise NotSupported.TEXT("it makes text of a value that is known only as it runs")
    return message(builder, f, xs)


def _is_formatted(x: Value, spec: Value) -> bool:
    """Return whether any value like this one has a text, by the specification of an f-string."""
    if not spec.is_constant or not all(part.is_scalar or part.is_array for part in leaves(x)):
        return False
    if not isinstance(x.fact, Scalar):
        return spec.sample == "" and (x.is_array or type(x.sample) in (tuple, list))
    for kind in x.fact.classes:
        run(format, [kind(1), spec.sample], {})
    return True


def _real(builder: Builder, xs: list[Value]) -> Value | None:
    """Return the conjugate or real part of a real value: itself; of a boolean, an integer."""
    x = xs[0]
    if (isinstance(x.fact, Scalar) and x.fact.classes & TRUTHS) or may_be_complex(x.fact):
        return None
    if x.made or (x.base is not None and x.base.made):
        return None
    return x if isinstance(x.fact, Scalar | ArrayOf) else None


def _conjugate(builder: Builder, xs: list[Value]) -> Value | None:
    """Return what `np.conjugate` gives: the same, but of an array without axes a number.

    Of Python's numbers it gives NumPy's.
    """
    x = xs[0]
    is_python = isinstance(x.fact, Scalar) and not x.fact.classes <= {np.float64, np.float32}
    return None if is_python or x.has_no_axes or builder.distinct else _real(builder, xs)


def _array_as_it_is(f: Any, builder: Builder, xs: list[Value]) -> Value | None:
    """`np.asarray(x)` of an array is that array, if it need not be of another dtype."""
    if not xs or not xs[0].is_array or not are_of_one_plugin(f, operator.add):
        return None
    x, *dtype = xs
    if dtype and not (dtype[0].is_constant and dtype[0].sample in (None, x.sample.dtype)):
        return None
    return x if len(xs) <= 2 else None


def _copy_of(builder: Builder, xs: list[Value]) -> Value | None:
    """`copy.copy(x)` and `copy.deepcopy(x)` of an array, a number or a text."""
    x = xs[0]
    if len(xs) == 1 and x.is_array:
        return builder.apply(np.copy, [x], {"order": constant("K")})  # as `__deepcopy__` does
    is_itself = x.is_scalar or (x.is_constant and type(x.sample) in (str, type(None)))
    return x if len(xs) == 1 and is_itself else None


def _as_is(builder: Builder, xs: list[Value]) -> Value | None:
    """`float(x)` of a float is `x`."""
    fact = xs[0].fact if xs else None
    same = isinstance(fact, Scalar) and fact.classes == {float}
    return xs[0] if same else None


_WRITTEN_WITH = {sum: operator.add, math.prod: operator.mul}


def refuse_other_rules(f: Any) -> None:
    """Refuse to write a fold with its operator where a program has another rule for one of them."""
    if f in _WRITTEN_WITH and not are_of_one_plugin(f, _WRITTEN_WITH[f]):
        raise Unsound.OWN_RULE(
            f"the rules for {f.__name__} and operator.{_WRITTEN_WITH[f].__name__} are not of one "
            "plugin, and may not agree"
        )


def _summed_items(builder: Builder, xs: list[Value]) -> Value | None:
    items, is_list = _known.known_items(xs[0]), isinstance(xs[0].fact, ListOf)
    if items is None and not is_list:
        return None
    if builder.follows:
        refuse_other_rules(sum)
    if is_list or items is None:
        return _whole_lists.total(builder, xs)
    total = xs[1] if len(xs) > 1 else constant(0)
    if sys.version_info >= (3, 12) and _is_compensated([total, *items]):
        return _compensated(builder, total, items)
    for element in items:
        total = builder.apply(operator.add, [total, element])
    return total


_EXACT = frozenset((float, int, bool))


def _is_compensated(terms: list[Value]) -> bool:
    """Return whether `sum` keeps what rounding loses, as from Python 3.12 on it does of floats.

    Of two floats there is nothing to keep: the result is the rounded one all the same.
    """
    kinds = [x.fact.classes if isinstance(x.fact, Scalar) else frozenset() for x in terms]
    first = next((i for i, kind in enumerate(kinds) if not kind <= _EXACT), len(kinds))
    known_zero = terms[0].is_constant and terms[0].sample == 0
    return first - known_zero > 2 and any(float in kind for kind in kinds[:first])


def _compensated(builder: Builder, start: Value, items: list[Value]) -> Value:
    """Write `sum((a, b, c))`, of floats and integers."""
    samples = [[x.sample for x in items], start.sample]
    if start.is_constant and all(x.is_constant for x in items):
        return constant(run(sum, samples, {}))
    kinds = [x.fact.classes if isinstance(x.fact, Scalar) else frozenset() for x in (start, *items)]
    if not all(kind <= _EXACT for kind in kinds) or {float} not in kinds:
        raise NotSupported.CONTAINER("it sums floats together with something else")
    given = [structure(tuple, items), *([start] if start.sample != 0 or start.name else [])]
    result = Result(Scalar(frozenset((float,))), run(sum, samples, {}))
    op = builder.write(result, sum, given, {})
    if builder.follows and any(x.active for x in (start, *items)):
        op.target.active = True
        op.active_operands = [start, *items]
        op.reverse_rule = LinearRule(lambda dy: [dy] * (len(items) + 1))
    return op.target


def _catches(builder: Builder, xs: list[Value]) -> Value:
    """Return whether a handler catches an exception; leave the code where that is not known."""
    if builder.handlers:
        return _errors.caught_by(builder, xs[0], tuple([x.sample for x in xs[1:]]))
    try:
        return constant(catches(*[x.sample for x in xs]))
    except TypeError:
        builder.demand(abandon)
        return constant(False)


SPECIAL: dict[Any, Callable[[Builder, list[Value]], Value | None]] = {
    len: _length,
    operator.mul: _repeated_list,
    operator.add: _joined_lists,
    operator.contains: contains,
    getattr: partial(by_known_name, getattr),
    hasattr: partial(by_known_name, hasattr),
    operator.delitem: _deleted_item,
    unpack: _unpack,
    tuple: partial(_sequence, tuple),
    list: partial(_sequence, list),
    zip: partial(_several, "zip"),
    _known.strict_zip: partial(_several, "strict zip"),
    enumerate: partial(_several, "enumerate"),
    reversed: partial(_several, "reversed"),
    float: _as_is,
    sum: _summed_items,
    np.broadcast_arrays: spread_arrays,
    np.ix_: open_mesh,
    np.conjugate: _conjugate,
    np.real: _real,
    inspect.signature: partial(signature_of, inspect.signature),
    inspect.getfullargspec: partial(signature_of, inspect.getfullargspec),
    copy.copy: _copy_of,
    copy.deepcopy: _copy_of,
    np.asarray: partial(_array_as_it_is, np.asarray),
    np.asanyarray: partial(_array_as_it_is, np.asanyarray),
    np.ndarray.__getitem__: lambda builder, xs: builder.item(xs[0], xs[1]),
    np.ndarray.conj: _real,
    np.ndarray.conjugate: _real,
    imported_module: _imports.import_module,
    imported_member: _imports.import_member,
    _intrinsics.join_dict: _join_dict,
    _intrinsics.join_text: partial(_folded_text, _intrinsics.join_text),
    _intrinsics.format_value: partial(_folded_text, _intrinsics.format_value),
    _intrinsics.join_arguments: lambda builder, xs: _joined_sequences(tuple, builder, xs[1:]),
    _intrinsics.join_tuple: partial(_joined_sequences, tuple),
    _intrinsics.join_list: partial(_joined_sequences, list),
    **PATTERNS,
    catches: _catches,
    raised_error: lambda builder, xs: _errors.error_of(builder, xs[0]),
}
