"""The table of kinks, ties and other special points in the README of rules_base, row by row."""

import cmath
import math
import operator
import statistics
from pathlib import Path

import numpy as np
import pytest

from rulescore import rrule

README = Path(__file__).parents[2] / "rules_base" / "README.md"
INF, NAN = math.inf, math.nan
HALF = np.array([0.5, 0.5])
THIRDS = np.array([1 / 3, 0.0, 1 / 3, 1 / 3])
TIES = np.array([2.0, 1.0, 2.0, 2.0])
ABOVE, BELOW = complex(-2.0, 0.0), complex(-2.0, -0.0)
NOTHING = None  # no gradient: the function is constant there


def pairs(*functions, x, y, expected):
    """Give the calls of functions of two numbers, as numbers and as arrays."""
    for f in functions:
        yield f, (x, y), expected
        if isinstance(f, np.ufunc):
            yield f, (np.array([x]), np.array([y])), expected


# Each row of the table, by what stands in its first column: what stands in the second one, and
# calls with their cotangents for a `dy` of ones, one for each argument.
TABLE = {
    "`abs(x)`, `np.fabs(x)`, `np.sign(x)` at 0": (
        "0",
        [
            *((f, (x,), (0.0,)) for f in (abs, np.fabs) for x in (0.0, -0.0, np.zeros(2))),
            (math.fabs, (0.0,), (0.0,)),
            (np.absolute, (np.zeros(2, complex),), (0.0,)),
            (np.sign, (0.0,), (NOTHING,)),
            (np.sign, (np.zeros(2),), (NOTHING,)),
        ],
    ),
    "`np.maximum(x, y)`, `np.minimum`, `np.fmax`, `np.fmin`, `max(x, y)`, `min` at `x == y`": (
        "shared equally",
        [
            *pairs(np.maximum, np.minimum, np.fmax, np.fmin, x=2.0, y=2.0, expected=(0.5, 0.5)),
            *pairs(max, min, x=2.0, y=2.0, expected=(0.5, 0.5)),
            *pairs(max, min, np.maximum, x=0.0, y=-0.0, expected=(0.5, 0.5)),
        ],
    ),
    "`np.fmax(x, nan)`": (
        "1 for `x`, 0 for the missing value",
        [
            *pairs(np.fmax, np.fmin, x=2.0, y=NAN, expected=(1.0, 0.0)),
            *pairs(np.fmax, np.fmin, x=NAN, y=2.0, expected=(0.0, 1.0)),
        ],
    ),
    "`np.max`, `np.min`, `np.ptp`, `max` and `min` of a list, with ties": (
        "shared equally by all of them",
        [
            (np.max, (TIES,), (THIRDS,)),
            (np.min, (-TIES,), (THIRDS,)),
            (np.ptp, (TIES,), (THIRDS - [0.0, 1.0, 0.0, 0.0],)),
            (max, (TIES.tolist(),), (THIRDS.tolist(),)),
            (min, ((-TIES).tolist(),), (THIRDS.tolist(),)),
            (max, (TIES,), (THIRDS,)),
        ],
    ),
    "`np.clip` at a bound": (
        "shared equally by `x` and the bound, as in `minimum(maximum(x, low), high)`",
        [
            (np.clip, (1.0, 1.0, 3.0), (0.5, 0.5, 0.0)),
            (np.clip, (3.0, 1.0, 3.0), (0.5, 0.0, 0.5)),
            (np.clip, (np.array([1.0, 3.0]), 1.0, 3.0), (HALF, 0.5, 0.5)),
            (np.clip, (2.0, 2.0, 2.0), (0.25, 0.25, 0.5)),
        ],
    ),
    "`np.maximum.accumulate` with ties": (
        "all to the latest of them",
        [
            (np.maximum.accumulate, (TIES,), ([2.0, 0.0, 1.0, 1.0],)),
            (np.minimum.accumulate, (-TIES,), ([2.0, 0.0, 1.0, 1.0],)),
        ],
    ),
    "`np.sort`, `np.partition`, `np.unique`, medians and quantiles with ties": (
        "as if the first were the least: equal entries keep their order",
        [
            (np.median, (TIES,), ([0.5, 0.0, 0.5, 0.0],)),
            (np.quantile, (TIES, 1.0), ([0.0, 0.0, 0.0, 1.0], 0.0)),
            (np.unique, (TIES,), ([1.0, 1.0, 0.0, 0.0],)),
        ],
    ),
    "`np.hypot(x, y)`, `math.hypot`, `math.dist`, `np.std`, `statistics.stdev` at 0": (
        "0",
        [
            *pairs(np.hypot, math.hypot, x=0.0, y=0.0, expected=(0.0, 0.0)),
            (math.dist, ([1.0, 2.0], [1.0, 2.0]), ([0.0, 0.0], [0.0, 0.0])),
            (np.std, (np.full(3, 0.5),), (np.zeros(3),)),
            (statistics.stdev, ([0.5, 0.5],), ([0.0, 0.0],)),
            (np.linalg.norm, (np.zeros(2),), (np.zeros(2),)),
        ],
    ),
    "`np.interp` at a knot": (
        "that of the piece to the right; 0 outside of the table",
        [
            (
                np.interp,
                (np.array([1.0, -0.5, 3.5]), [0.0, 1.0, 3.0], [0.0, 1.0, 7.0]),
                ([3.0, 0.0, 0.0], [0.0, -3.0, 0.0], [1.0, 1.0, 1.0]),
            ),
        ],
    ),
    "`np.sqrt`, `np.cbrt`, `np.arcsin`, `np.arccos`, `np.arccosh` at the end of their range": (
        "infinite",
        [
            (np.sqrt, (0.0,), (INF,)),
            (math.sqrt, (0.0,), (INF,)),
            (np.cbrt, (np.array([0.0]),), (INF,)),
            (np.arcsin, (1.0,), (INF,)),
            (math.asin, (-1.0,), (INF,)),
            (np.arccos, (1.0,), (-INF,)),
            (np.arccosh, (1.0,), (INF,)),
            (math.acosh, (1.0,), (INF,)),
        ],
    ),
    "`x**y` by `x`, for `y == 0`": (
        "0, at `x == 0` too",
        [
            (f, (x, 0.0), (0.0, d))
            for f in (pow, operator.pow, np.power, math.pow)
            for x, d in ((0.0, 0.0), (2.0, math.log(2.0)))
        ],
    ),
    "`x**y` by `y`, for `x == 0`": (
        "0 for `y >= 0`, minus infinity for `y < 0`",
        [
            *pairs(pow, np.power, math.pow, x=0.0, y=2.0, expected=(0.0, 0.0)),
            *pairs(np.power, x=0.0, y=-2.0, expected=(-INF, -INF)),
        ],
    ),
    "`x**y` by `y`, for `x < 0`": (
        "`x**y * log(abs(x))`, the real part of that of the complex power",
        pairs(pow, np.power, math.pow, x=-2.0, y=3.0, expected=(12.0, -8.0 * math.log(2.0))),
    ),
    "`np.arctan2(y, x)`, `np.angle(z)` at 0": (
        "not a number: there is none",
        [
            *pairs(np.arctan2, x=0.0, y=0.0, expected=(NAN, NAN)),
            (np.angle, (0j,), (complex(NAN, NAN),)),
        ],
    ),
    "`np.log`, `np.sqrt`, `np.arcsin`, ... of complex numbers on a branch cut": (
        "that of the side that the signed zero names",
        [
            (f, (z,), (slope.conjugate(),))
            for f in (np.sqrt, np.arcsin, cmath.sqrt, cmath.asin)
            for z in (ABOVE, BELOW)
            for slope in [
                0.5 / cmath.sqrt(z)
                if "sqrt" in f.__name__
                else 1 / cmath.cos(cmath.asin(complex(z)))
            ]
        ],
    ),
    "`np.heaviside(x, h)`": (
        "0 by `x`; 1 by `h` where `x == 0`",
        [
            (np.heaviside, (0.0, 0.5), (NOTHING, 1.0)),
            (np.heaviside, (np.array([-1.0, 0.0]), np.array([0.5])), (NOTHING, [1.0])),
        ],
    ),
    "`np.nan_to_num(x)`": (
        "0 where it replaces, else 1",
        [(np.nan_to_num, (np.array([NAN, INF, 0.5]),), ([0.0, 0.0, 1.0],))],
    ),
    "`%`, `//`, `np.fmod`, `np.remainder`, `divmod` at a jump": (
        "that of the pieces: 1 by `x`, minus the quotient by `y`",
        [
            *pairs(operator.mod, np.fmod, np.remainder, x=6.0, y=2.0, expected=(1.0, -3.0)),
            *pairs(operator.floordiv, x=6.0, y=2.0, expected=(NOTHING, NOTHING)),
            *pairs(divmod, x=6.0, y=2.0, expected=(1.0, -3.0)),
        ],
    ),
    "`np.floor`, `np.round`, `int`, comparisons, `np.argmax`, counts of histograms": (
        "constant",
        [
            (np.floor, (2.0,), (NOTHING,)),
            (np.round, (2.5,), (NOTHING,)),
            (int, (2.0,), (NOTHING,)),
            (operator.lt, (2.0, 2.0), (NOTHING, NOTHING)),
            (np.argmax, (TIES,), (NOTHING,)),
        ],
    ),
    "`np.sum(x, dtype=int)`, `np.linspace(a, b, dtype=int)` and the like, of floats": (
        "constant, as `astype(int)`",
        [
            (np.sum, (TIES, None, int), (NOTHING,) * 3),
            (np.cumsum, (TIES, None, int), (NOTHING,) * 3),
            (np.linspace, (0.5, 2.5, 3, True, False, int), (NOTHING,) * 6),
            (np.ndarray.astype, (TIES, int), (NOTHING,) * 2),
        ],
    ),
    "`np.logaddexp.reduce` of equal infinities": (
        "shared equally",
        [
            (np.logaddexp.reduce, (np.array([-INF, -INF]),), (HALF,)),
            (np.logaddexp.reduce, (np.array([INF, 1.0, INF]),), ([0.5, 0.0, 0.5],)),
            *pairs(np.logaddexp, x=-INF, y=-INF, expected=(0.5, 0.5)),
        ],
    ),
}
CALLS = [(row, call) for row, (_, calls) in TABLE.items() for call in calls]


def rows_of_the_readme():
    text = README.read_text(encoding="utf-8")
    table = text.partition("| at | the slope is |\n|---|---|\n")[2].partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return {at: slope for at, slope in cells}


def test_the_table_is_the_one_that_is_tested():
    assert rows_of_the_readme() == {row: slope for row, (slope, _) in TABLE.items()}


def ones(y):
    if isinstance(y, tuple):
        return tuple(map(ones, y))
    return np.ones_like(y) if isinstance(y, np.ndarray) else 1.0


@pytest.mark.parametrize(
    ("row", "call"), CALLS, ids=[f"{row[:30]}-{i}" for i, (row, _) in enumerate(CALLS)]
)
def test_the_slope_is_what_the_table_says(row, call):
    f, xs, expected = call
    with np.errstate(all="ignore"):
        y, back = rrule(f, *xs)
        _, *cotangents = back(ones(y))
    assert len(cotangents) == len(expected)
    for dx, slope in zip(cotangents, expected, strict=True):
        if slope is NOTHING:
            assert dx is None
        else:
            np.testing.assert_allclose(dx, np.broadcast_to(slope, np.shape(dx)), rtol=1e-12)


def test_equal_entries_keep_their_order():
    dy = np.array([1.0, 2.0, 4.0, 8.0])
    for f, more in ((np.sort, ()), (np.partition, (2,))):
        _, dx, *_ = rrule(f, TIES, *more)[1](dy)
        np.testing.assert_array_equal(dx, [2.0, 1.0, 4.0, 8.0])
