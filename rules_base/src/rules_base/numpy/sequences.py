"""Lists and tuples in the place of arrays, where NumPy takes them: a list's cotangent is a list."""

import operator

import numpy as np

from rules_base.shared.nesting import as_array, unstacked
from rulescore import Array, Numeric, RuleSet, rrule

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.sequences", may_raise=False)


def by_arrays(f, *xs, **options):
    """Apply the rule for arrays; where none takes these arguments and options, name them."""
    found = rrule(f, *xs, **options)
    if found is None:
        f(*xs, **options)  # what the call itself refuses is its own error
        given = ", ".join([type(x).__name__ for x in xs] + [f"{name}=" for name in options])
        raise NotImplementedError(f"{f.__name__} of ({given}) has no rule: make arrays of lists")
    return found


def declare_first(f):
    """Let the first argument of `f`, which has a rule for arrays, be a list or tuple."""

    @rule(f)
    def _(xs: list | tuple, *others: object, **options):
        y, back = by_arrays(f, np.array(xs), *others, **options)

        def pullback(dy):
            _, dx, *dothers = back(dy)
            return unstacked(dx, xs), *dothers

        return y, pullback


def declare_either(f):
    """Let the first two arguments of `f`, which has a rule for arrays, be lists or tuples."""

    @rule(f)
    def _(xs: list | tuple, other: Numeric | list | tuple, **options):
        y, back = by_arrays(f, np.array(xs), as_array(other), **options)

        def pullback(dy):
            _, dx, dother = back(dy)
            return unstacked(dx, xs), unstacked(dother, other)

        return y, pullback

    declare_second(f, Numeric)


def declare_second(f, first):
    """Let the second argument of `f` be a list or tuple, where the first is of the type `first`."""

    @rule(f)
    def _(x: first, others: list | tuple, **options):
        y, back = by_arrays(f, x, np.array(others), **options)

        def pullback(dy):
            _, dx, dothers = back(dy)
            return dx, unstacked(dothers, others)

        return y, pullback


def declare_operator(f):
    """Let one operand of an operator be a list or tuple, where the other is an array."""

    @rule(f)
    def _(xs: list | tuple, other: Array):
        y, back = by_arrays(f, np.array(xs), other)

        def pullback(dy):
            _, dx, dother = back(dy)
            return unstacked(dx, xs), dother

        return y, pullback

    declare_second(f, Array)


REDUCTIONS = (np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.ptp, np.cumsum)
REDUCTIONS += (np.cumprod, np.median, np.quantile, np.percentile, np.diff, np.ediff1d, np.sort)
REDUCTIONS += (np.nansum, np.nanmean, np.nanmax, np.nanmin, np.nanvar, np.nanstd, np.trapezoid)
REDUCTIONS += (np.gradient, np.unique, np.partition, np.clip, np.amax, np.amin, np.nanprod)
REDUCTIONS += (np.unique_values, np.unique_all, np.unique_counts, np.unique_inverse)
REDUCTIONS += (np.nanmedian, np.nanquantile, np.nanpercentile)
SHAPES = (np.reshape, np.ravel, np.transpose, np.squeeze, np.expand_dims, np.broadcast_to, np.roll)
SHAPES += (np.flip, np.tile, np.repeat, np.pad, np.diag, np.moveaxis, np.swapaxes, np.take)
SHAPES += (np.tril, np.triu, np.trace, np.diagonal, np.rot90, np.fliplr, np.flipud, np.resize)
SHAPES += (np.delete, np.insert, np.append, np.diagflat)
POSITIVE = (np.log, np.log2, np.log10, np.sqrt, np.cbrt)
UNARY = (np.exp, np.exp2, np.expm1, np.log1p, np.sin, np.cos, np.tan, np.arcsin, np.arccos)
UNARY += (np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.arctanh, np.absolute, np.fabs)
UNARY += (np.square, np.negative, np.positive, np.reciprocal, np.real, np.imag, np.conjugate)
UNARY += (np.sinc, np.deg2rad, np.radians, np.rad2deg, np.degrees, np.nan_to_num, *POSITIVE)
BINARY = (np.add, np.subtract, np.multiply, np.true_divide, np.power, np.maximum, np.minimum)
BINARY += (np.dot, np.matmul, np.hypot, np.arctan2, np.logaddexp, np.logaddexp2, np.fmax, np.fmin)
BINARY += (np.float_power, np.remainder, np.fmod, np.copysign, np.polymul)
OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
OPERATORS += (operator.matmul, operator.mod)

for f in (*REDUCTIONS, *SHAPES, *UNARY):
    declare_first(f)
for f in BINARY:
    declare_either(f)
for f in OPERATORS:
    declare_operator(f)
