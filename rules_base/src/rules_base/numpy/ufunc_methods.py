"""Methods of ufuncs: reduce, accumulate, reduceat and outer."""

import numpy as np

from rules_base.numpy.cumulative import cumprod_back, cumprod_forward, cumsum_back
from rules_base.numpy.reductions import (
    forward_of_hits,
    product_back,
    product_in_type_back,
    reduced,
    shared_by_hits,
)
from rules_base.shared.axes import (
    as_read,
    given,
    inexact_type,
    restored,
    spread,
    truncates,
    zeros_kept,
)
from rules_base.shared.nesting import as_array, unstacked
from rulescore import Array, Numeric, RuleSet, frule, project, rrule

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.ufunc_methods", may_raise=False)


@rule(np.add.reduce)
def _(x: Numeric, axis=0, dtype=None, out: None = None, keepdims=False, initial=None, where=None):
    more = given(initial=initial, where=where)

    def pullback(dy):
        if dtype is not None and truncates(x, dtype):
            return (None,)
        dx = spread(dy, x, axis, keepdims)
        return (project(dx if where is None else np.where(where, dx, 0.0), x),)

    return np.add.reduce(x, axis, dtype, keepdims=keepdims, **more), pullback


@rule.forward(np.add.reduce)
def _(x: Numeric, axis=0, dtype=None, out: None = None, keepdims=False, initial=None, where=None):
    more = given(where=where)

    def pushforward(dx):
        if dtype is not None and truncates(x, dtype):
            return None
        return np.add.reduce(as_read(dx, dtype), axis, dtype, keepdims=keepdims, **more)

    more_of_value = given(initial=initial, where=where)
    return np.add.reduce(x, axis, dtype, keepdims=keepdims, **more_of_value), pushforward


@rule.forward(np.add.accumulate)
def _(x: Array, axis=0, dtype=None):
    def pushforward(dx):
        if dtype is not None and truncates(x, dtype):
            return None
        return np.add.accumulate(as_read(dx, dtype), axis)

    return np.add.accumulate(x, axis, dtype), pushforward


@rule.forward(np.multiply.accumulate)
def _(x: Array, axis=0, dtype=None):
    def pushforward(dx):
        if dtype is not None and truncates(x, dtype):
            return None
        return cumprod_forward(as_read(dx, dtype), as_read(x, dtype), axis)

    return np.multiply.accumulate(x, axis, dtype), pushforward


@rule.forward(np.multiply.reduce)
def _(x: Numeric, axis=0, dtype=None, out: None = None, keepdims=False, initial=None, where=None):
    more = given(initial=initial, where=where)
    y = np.multiply.reduce(x, axis, dtype, keepdims=keepdims, **more)

    def pushforward(dx):
        back = product_in_type_back if dtype is not None else product_back
        options = (axis, dtype, keepdims) if dtype is not None else (axis, keepdims)
        slope = back(np.ones_like(y), y, x, *options, initial, where)
        return reduced(slope, dx, y, axis, keepdims)

    return y, pushforward


@rule(np.multiply.reduce)
def _(x: Numeric, axis=0, dtype=None, out: None = None, keepdims=False, initial=None, where=None):
    more = given(initial=initial, where=where)
    y = np.multiply.reduce(x, axis, dtype, keepdims=keepdims, **more)

    def pullback(dy):
        if dtype is not None:
            return (product_in_type_back(dy, y, x, axis, dtype, keepdims, initial, where),)
        return (product_back(dy, y, x, axis, keepdims, initial, where),)

    return y, pullback


def declare_extreme(f):
    """Declare the rules of reducing by a ufunc that chooses, and of its running form."""

    @rule(f.reduce)
    def _(
        x: Numeric,
        axis=0,
        dtype=None,
        out: None = None,
        keepdims=False,
        initial=None,
        where=None,
    ):
        y = f.reduce(x, axis, dtype, keepdims=keepdims, **given(initial=initial, where=where))

        def pullback(dy):
            return (shared_by_hits(dy, y, x, axis, keepdims, initial, where),)

        return y, pullback

    @rule.forward(f.reduce)
    def _(
        x: Numeric,
        axis=0,
        dtype=None,
        out: None = None,
        keepdims=False,
        initial=None,
        where=None,
    ):
        y = f.reduce(x, axis, dtype, keepdims=keepdims, **given(initial=initial, where=where))
        return y, forward_of_hits(y, x, axis, keepdims, initial, where)

    @rule(f.accumulate)
    def _(x: Array, axis=0):
        y = f.accumulate(x, axis)

        def pullback(dy):
            return (running_back(dy, x, y, axis),)

        return y, pullback


for f in (np.maximum, np.minimum, np.fmax, np.fmin):
    declare_extreme(f)


def declare_logarithm(f, exponential):
    """Declare the rule of the logarithm of a sum of exponentials."""

    @rule(f.reduce)
    def _(x: Numeric, axis=0, *, keepdims=False):
        y = f.reduce(x, axis, keepdims=keepdims)

        def pullback(dy):
            # equal infinities share as equal numbers do
            total = restored(y, x, axis, keepdims)
            level = np.logical_and(x == total, np.isinf(x))
            number = np.sum(level, axis=axis, keepdims=np.ndim(x) > 0)
            share = exponential(np.where(level, 0.0, x - total))
            share = np.where(level, 1 / np.maximum(number, 1), share)
            dy = restored(dy, x, axis, keepdims)
            return (project(zeros_kept(dy * share, dy, y), x),)

        return y, pullback


declare_logarithm(np.logaddexp, np.exp)
declare_logarithm(np.logaddexp2, np.exp2)


@rule(np.hypot.reduce)
def _(x: Numeric, axis=0, *, keepdims=False):
    y = np.hypot.reduce(x, axis, keepdims=keepdims)

    def pullback(dy):
        norm = restored(y, x, axis, keepdims)
        dy = restored(dy, x, axis, keepdims)
        return (project(zeros_kept(dy * (x / np.where(norm == 0, np.inf, norm)), dy, y), x),)

    return y, pullback


@rule(np.add.accumulate)
def _(x: Array, axis=0, dtype=None):
    def pullback(dy):
        if dtype is not None and truncates(x, dtype):
            return (None,)
        return (project(cumsum_back(dy, axis), x),)

    return np.add.accumulate(x, axis, dtype), pullback


@rule(np.multiply.accumulate)
def _(x: Array, axis=0, dtype=None):
    def pullback(dy):
        if dtype is not None and truncates(x, dtype):
            return (None,)
        return (project(cumprod_back(dy, as_read(x, dtype), axis), x),)

    return np.multiply.accumulate(x, axis, dtype), pullback


def running_back(dy, x, y, axis):
    """Return the cotangent of `x` in its running extreme `y`: the latest equal entry is meant."""
    shape = [1] * x.ndim
    shape[axis] = -1
    steps = np.reshape(np.arange(x.shape[axis]), shape)
    source = np.maximum.accumulate(np.where(x == y, steps, 0), axis)
    place = list(np.ogrid[tuple(slice(n) for n in x.shape)])
    place[axis] = source
    dx = np.zeros_like(x, dtype=inexact_type(dy))
    np.add.at(dx, tuple(place), dy)
    return project(dx, x)


@rule(np.add.reduceat)
def _(x: Array, indices: object, axis=0):
    def pullback(dy):
        n, starts = x.shape[axis], np.asarray(indices)
        ends = np.append(starts[1:], n)
        ends = np.where(ends > starts, ends, starts + 1)
        dy_first = np.moveaxis(dy, axis, 0)
        change = np.zeros((n + 1, *dy_first.shape[1:]), np.result_type(dy, np.float64))
        np.add.at(change, starts, dy_first)
        np.subtract.at(change, ends, dy_first)
        return project(np.moveaxis(np.cumsum(change, 0)[:n], 0, axis), x), None

    return np.add.reduceat(x, indices, axis), pullback


def declare_chain(f, *methods):
    """Declare the rules of applying a ufunc to entry after entry: its own rule at each step."""
    if "accumulate" in methods:

        @rule(f.accumulate)
        def _(x: np.ndarray, axis=0):
            y = f.accumulate(x, axis)

            def pullback(dy):
                steps = np.moveaxis(dy, axis, 0)
                dx = chain_back(f, steps, np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0))
                return (project(np.moveaxis(dx, 0, axis), x),)

            return y, pullback

    if "reduce" in methods:

        @rule(f.reduce)
        def _(x: np.ndarray, axis=0, *, keepdims=False):
            y = f.reduce(x, axis, keepdims=keepdims)
            only = 0 if axis is None else axis[0] if isinstance(axis, tuple) else axis  # one fits

            def pullback(dy):
                first = np.moveaxis(x, only, 0)
                steps = np.zeros(first.shape, inexact_type(dy))
                if len(steps):
                    steps[-1] = np.reshape(dy, steps.shape[1:])
                dx = chain_back(f, steps, first, f.accumulate(first))
                return (project(np.moveaxis(dx, 0, only), x),)

            return y, pullback


def chain_back(f, dy, x, y):
    """Return the cotangent of `x`, where `y` is what `f` accumulates along the first axis."""
    dx = np.zeros(x.shape, np.result_type(dy, inexact_type(x)))
    later = np.zeros(x.shape[1:])
    for k in range(len(x) - 1, 0, -1):
        _, later, dx[k] = rrule(f, y[k - 1], x[k])[1](dy[k] + later)
    if len(x):
        dx[0] = dy[0] + later
    return dx


CHAINS = (np.subtract, np.true_divide, np.fmod, np.remainder)
for f in CHAINS:
    declare_chain(f, "reduce", "accumulate")
# what NumPy reduces by `power` and `arctan2` along a last axis is no chain of them
RUNNING = (np.power, np.float_power, np.arctan2, np.logaddexp, np.logaddexp2, np.hypot)
for f in RUNNING:
    declare_chain(f, "accumulate")


def declare_pieces(f):
    """Declare the rule of reducing piece by piece: that of reducing each piece."""

    @rule(f.reduceat)
    def _(x: np.ndarray, indices: object, axis=0):
        y = f.reduceat(x, indices, axis)

        def pullback(dy):
            first, pieces = np.moveaxis(x, axis, 0), np.moveaxis(dy, axis, 0)
            dx = np.zeros(first.shape, inexact_type(dy))
            starts = np.asarray(indices)
            for start, end, piece in zip(starts, (*starts[1:], len(dx)), pieces, strict=True):
                part = slice(start, max(end, start + 1))
                dx[part] += rrule(f.reduce, first[part])[1](piece)[1]
            return project(np.moveaxis(dx, 0, axis), x), None

        return y, pullback


PIECES = (np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.logaddexp2)
for f in PIECES:
    declare_pieces(f)


def declare_outer(f):
    """Declare the rule of the outer form of a ufunc: that of the ufunc itself, broadcast."""

    @rule(f.outer)
    def _(a: Numeric, b: Numeric):
        wide = np.reshape(a, np.shape(a) + (1,) * np.ndim(b))
        y, back = rrule(f, wide, b)

        def pullback(dy):
            _, da, db = back(dy)
            return None if da is None else project(np.reshape(da, np.shape(a)), a), db

        return y, pullback

    @rule.forward(f.outer)
    def _(a: Numeric, b: Numeric):
        after = (1,) * np.ndim(b)

        def pushforward(da, db):
            da = None if da is None else np.reshape(da, np.shape(a) + after)
            return frule((None, da, db), f, np.reshape(a, np.shape(a) + after), b)[1]

        return f.outer(a, b), pushforward


OUTER = (np.add, np.subtract, np.multiply, np.true_divide, np.power, np.float_power, np.maximum)
OUTER += (np.minimum, np.fmax, np.fmin, np.hypot, np.arctan2, np.logaddexp, np.logaddexp2, np.fmod)
OUTER += (np.remainder, np.copysign)
for f in OUTER:
    declare_outer(f)


def declare_unbound(name):
    """Declare the rule of a method of ufuncs that is given the ufunc: that of the method itself."""
    operands = 2 if name == "outer" else 1

    @rule(getattr(np.ufunc, name))
    def _(f: np.ufunc, *xs: object, **options):
        arrays = [as_array(x) for x in xs[:operands]]
        found = rrule(getattr(f, name), *arrays, *xs[operands:], **options)
        if found is None:
            getattr(f, name)(*xs, **options)  # what the call itself refuses is its own error
            given = ", ".join([type(x).__name__ for x in xs] + [f"{key}=" for key in options])
            raise NotImplementedError(
                f"np.{f.__name__}.{name} of ({given}) has no rule: call np.{f.__name__} itself"
            )
        y, back = found

        def pullback(dy):
            _, *dxs = back(dy)
            for i, x in enumerate(xs[:operands]):
                if arrays[i] is not x:
                    dxs[i] = unstacked(dxs[i], x)
            return None, *dxs

        return y, pullback


for name in ("reduce", "accumulate", "reduceat", "outer"):
    declare_unbound(name)

COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
LOGICAL = (np.logical_and, np.logical_or, np.logical_xor, np.bitwise_and, np.bitwise_or)
rule.constant(*(f.outer for f in (*COMPARISONS, *LOGICAL, np.floor_divide, np.bitwise_xor)))
rule.constant(*(f.reduce for f in (*LOGICAL, np.bitwise_xor, np.gcd, np.lcm)))
rule.constant(*(f.accumulate for f in LOGICAL))
