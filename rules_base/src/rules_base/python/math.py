"""The `math` module: functions of Python numbers, with partials that stay Python numbers."""

import math

import numpy as np

from rules_base.shared.axes import inexact
from rules_base.shared.constants import DEGREE, LOG2, LOG10, RADIAN
from rules_base.shared.nesting import in_kind_of
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.python.math", may_raise=False)

SQRT_PI = math.sqrt(math.pi)
RECIPROCAL = 2.0**-1024  # only larger numbers have a reciprocal that is finite

# A partial that math refuses (a pole) is written with an operator, which NumPy's scalars answer
# with inf: the rule set asks once more with those.
rule.scalar(math.sqrt)(lambda x, out: 0.5 / out)
rule.scalar(math.cbrt)(lambda x, out: 1 / (3 * out * out))
rule.scalar(math.exp)(lambda x, out: out)
rule.scalar(math.exp2)(lambda x, out: out * LOG2)
rule.scalar(math.expm1)(lambda x, out: out + 1)
rule.scalar(math.log)(lambda x: 1 / x)
rule.scalar(math.log)(
    lambda x, base, out: (1 / (x * math.log(base)), -out / (base * math.log(base)))
)
rule.scalar(math.log1p)(lambda x: 1 / (1 + x))
rule.scalar(math.log2)(lambda x: 1 / (x * LOG2))
rule.scalar(math.log10)(lambda x: 1 / (x * LOG10))
rule.scalar(math.pow)(
    lambda x, y, out: math_power_of_base(x, y),
    lambda x, y, out: math_power_of_exponent(x, y, out),
)

rule.scalar(math.sin)(lambda x: math.cos(x))
rule.scalar(math.cos)(lambda x: -math.sin(x))
rule.scalar(math.tan, poles=False)(lambda x, out: 1 + out * out)
rule.scalar(math.asin)(lambda x: ((1 - x) * (1 + x)) ** -0.5)
rule.scalar(math.acos)(lambda x: -(((1 - x) * (1 + x)) ** -0.5))
rule.scalar(math.atan)(lambda x: 1 / (1 + x * x))
rule.scalar(math.atan2)(
    lambda y, x: over_square_norm(x, y),
    lambda y, x: -over_square_norm(y, x),
)
rule.scalar(math.sinh)(lambda x: math.cosh(x))
rule.scalar(math.cosh)(lambda x: math.sinh(x))
rule.scalar(math.tanh, poles=False)(lambda x, out: 1 - out * out)
rule.scalar(math.asinh, poles=False)(lambda x: 1 / math.hypot(1, x))
rule.scalar(math.acosh)(lambda x: ((x - 1) * (x + 1)) ** -0.5)
rule.scalar(math.atanh)(lambda x: 1 / ((1 - x) * (1 + x)))
rule.scalar(math.degrees)(lambda x: RADIAN)
rule.scalar(math.radians)(lambda x: DEGREE)

rule.scalar(math.erf)(lambda x: 2 / SQRT_PI * math.exp(-x * x))
rule.scalar(math.erfc)(lambda x: -2 / SQRT_PI * math.exp(-x * x))
rule.scalar(math.gamma)(lambda x, out: out * digamma(x))
rule.scalar(math.lgamma)(lambda x: digamma(x))

rule.scalar(math.fabs)(lambda x: (x > 0) - 1.0 * (x < 0))
rule.scalar(math.copysign)(lambda x, y: (((x > 0) - 1.0 * (x < 0)) * math.copysign(1.0, y), None))
rule.scalar(math.fmod)(lambda x, y, out: (1, (out - x) / y))
rule.scalar(math.remainder)(lambda x, y, out: (1, (out - x) / y))
rule.scalar(math.ldexp)(lambda x, n: (math.ldexp(1.0, n), None))
rule.scalar(math.nextafter)(lambda x, y: (1, None))
if hasattr(math, "fma"):
    rule.scalar(math.fma)(lambda x, y, z: (y, x, 1))


def over_square_norm(x, y):
    """Return `x / (x**2 + y**2)`, without the overflow of the squares."""
    norm = math.hypot(x, y)
    return x / norm / norm


def math_power_of_base(x, y):
    """Return the derivative of `x**y` by `x`: zero where `y` is zero, even at `x = 0`.

    There it is written as 0 where `1 / x`, its own derivative by `y`, is not a finite number.
    """
    return y * x ** (y - 1) if y or abs(x) > RECIPROCAL else 0.0


def math_power_of_exponent(x, y, out):
    """Return the derivative of `x**y` by `y`, `out * log(abs(x))`, zero at `x = 0` for `y >= 0`."""
    if x == 0:
        return 0.0 if y >= 0 else -math.inf
    return out * math.log(abs(x))


def digamma(x):
    """Return the logarithmic derivative of the gamma function.

    Reflection for negative arguments, the recurrence up to 10, and from there the asymptotic
    series (Abramowitz and Stegun 6.3.5, 6.3.7 and 6.3.18).
    """
    if x <= 0:
        if x == -math.inf or x == math.floor(x):
            return math.nan
        return digamma(1 - x) - math.pi / math.tan(math.pi * x)
    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x = x + 1  # not in place: it may be an array
    z = 1 / (x * x)
    series = z * (
        1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * 691 / 32760))))
    )
    return shift + math.log(x) - 0.5 / x - series


@rule(math.hypot)
def _(*xs: Numeric):
    y = math.hypot(*xs)

    def pullback(dy):
        # the norm has a minimum at the origin, and at infinity a zero in `dy` wins: no slope
        flat = not y or (not dy and not math.isfinite(y))
        # of NumPy's complex numbers `math` takes the real part, with a warning
        return tuple([project(0.0 if flat else dy * (np.real(x) / y), x) for x in xs])

    return y, pullback


@rule(math.dist)
def _(p: np.ndarray, q: np.ndarray):
    y = math.dist(p, q)

    def pullback(dy):
        flat = not y or (not dy and not math.isfinite(y))
        dp = np.zeros(p.shape) if flat else dy * ((inexact(p) - inexact(q)) / y)
        return project(dp, p), project(-dp, q)

    return y, pullback


@rule(math.dist)
def _(p: list | tuple, q: list | tuple):
    y = math.dist(p, q)

    def pullback(dy):
        flat = not y or (not dy and not math.isfinite(y))
        dp = [0.0 if flat else dy * ((a - b) / y) for a, b in zip(p, q, strict=True)]
        return in_kind_of(p, dp), in_kind_of(q, [-d for d in dp])

    return y, pullback


@rule(math.modf)
def _(x: Numeric):
    def pullback(dy):
        return (project(dy[0], x),)

    return math.modf(x), pullback


@rule(math.frexp)
def _(x: Numeric):
    mantissa, exponent = math.frexp(x)

    def pullback(dy):
        dmantissa = dy[0]
        return (None if dmantissa is None else project(math.ldexp(dmantissa, -exponent), x),)

    return (mantissa, exponent), pullback


@rule(math.fsum)
def _(xs: list | tuple):
    def pullback(dy):
        return (in_kind_of(xs, [project(dy, x) for x in xs]),)

    return math.fsum(xs), pullback


@rule(math.fsum)
def _(xs: np.ndarray):
    def pullback(dy):
        return (project(np.full(xs.shape, dy), xs),)

    return math.fsum(xs), pullback


@rule(math.prod)
def _(xs: list | tuple, *, start=1):
    def pullback(dy):
        return (in_kind_of(xs, product_cotangents(dy, xs, start)),)

    return math.prod(xs, start=start), pullback


def product_cotangents(dy, xs, start):
    """Return the cotangents of the factors of a product, right where factors are zero too."""
    before = [start]
    for x in xs[:-1]:
        before.append(before[-1] * x)
    after, dxs = 1, []
    for x, left in zip(reversed(xs), reversed(before[: len(xs)]), strict=True):
        others = np.conj(left * after)
        dxs.append(project(others * dy if dy or np.isfinite(others) else 0.0, x))
        after = after * x
    return dxs[::-1]


if hasattr(math, "sumprod"):

    @rule(math.sumprod)
    def _(p: list | tuple, q: list | tuple):
        def pullback(dy):
            dp = in_kind_of(p, [project(dy * b, a) for a, b in zip(p, q, strict=True)])
            dq = in_kind_of(q, [project(dy * a, b) for a, b in zip(p, q, strict=True)])
            return dp, dq

        return math.sumprod(p, q), pullback


rule.constant(math.ceil, math.floor, math.trunc, math.ulp, math.isqrt, math.comb, math.factorial)
rule.constant(math.gcd, math.lcm, math.perm, math.isclose, math.isfinite, math.isinf, math.isnan)


# -- of batches


def of_doubles(f):
    """Return the body for a function of Python numbers, by that of NumPy.

    Where the function of `math` would raise an error, one entry has no finite value.
    """

    def body(*xs: float):
        y = f(*[x.astype(np.float64) if isinstance(x, Array) else x for x in xs])
        return y if np.all(np.isfinite(y)) else NotImplemented

    return body


for _f, _of_arrays in (
    (math.sqrt, np.sqrt), (math.cbrt, np.cbrt), (math.exp, np.exp), (math.exp2, np.exp2),
    (math.expm1, np.expm1), (math.log1p, np.log1p), (math.log2, np.log2), (math.log10, np.log10),
    (math.pow, np.power), (math.sin, np.sin), (math.cos, np.cos), (math.tan, np.tan),
    (math.asin, np.arcsin), (math.acos, np.arccos), (math.atan, np.arctan),
    (math.atan2, np.arctan2), (math.sinh, np.sinh), (math.cosh, np.cosh), (math.tanh, np.tanh),
    (math.asinh, np.arcsinh), (math.acosh, np.arccosh), (math.atanh, np.arctanh),
    (math.degrees, np.degrees), (math.radians, np.radians), (math.fabs, np.fabs),
    (math.copysign, np.copysign),
):  # fmt: skip
    rule.batched(_f)(of_doubles(_of_arrays))


@rule.batched(math.log)
def _(x: float):
    return of_doubles(np.log)(x)
