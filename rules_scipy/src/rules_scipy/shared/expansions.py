"""Derivatives whose formula cancels in some region: there they are found from a series."""

import math

import numpy as np
from scipy import special as sp

BERNOULLI = [float(b) for b in sp.bernoulli(24)[2::2]]
SMALL = 1e-5  # of the distance to a pole: a step in which a function is nearly a parabola
LARGE = 8000.0  # the square of `psi` a hundredth from a pole
TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)


def piecewise(condition, xs, inside, safe, outside, other):
    """Return `inside(*xs)` where the condition holds, and `outside(*xs)` elsewhere.

    What holds nowhere is not computed. Where both are, of arrays, each is given the numbers `safe`
    or `other` in the place of what it does not count for.
    """
    kind = type(condition)
    if kind is np.bool_ or kind is bool:
        return inside(*xs) if condition else outside(*xs)
    if isinstance(condition, np.ndarray) and not np.count_nonzero(condition):
        return outside(*xs)
    first = [np.where(condition, x, y) for x, y in zip(xs, safe, strict=True)]
    second = [np.where(condition, y, x) for x, y in zip(xs, other, strict=True)]
    return np.where(condition, inside(*first), outside(*second))


def power_times(x, power, log):
    """Return `x**power * exp(log)`, by the sum of logarithms but at 0.

    There the logarithm has an infinite slope, and the power has its own.
    """
    return piecewise(
        x == 0, (x, power, log), _power_of_zero, (0.0, 1.0, 0.0), _by_logarithm, (1.0, 1.0, 0.0)
    )


def _power_of_zero(x, power, log):
    return np.power(x, power) * np.exp(log)


def _by_logarithm(x, power, log):
    return np.exp(sp.xlogy(power, x) + log)


def truncated(n):
    """Return counts and orders as SciPy takes them where it needs integers: without fractions."""
    return n if isinstance(n, int) else np.trunc(n)


def horner(coefficients, x):
    """Return the polynomial with these coefficients, of the lowest power first."""
    y = coefficients[-1]
    for c in coefficients[-2::-1]:
        y = y * x + c
    return y


def digamma(x):
    """Return `psi(x)`; SciPy's loses digits beside its poles, and a third of it next to them."""
    y = sp.psi(x)
    # beside a pole it is large, and nearly nowhere else
    size = np.vdot(y, y).real if isinstance(y, np.ndarray) else abs(y) ** 2
    if size < LARGE or np.iscomplexobj(x):
        return y
    return piecewise(x < 0, (x,), _digamma_on_the_left, (-0.5,), sp.psi, (1.0,))


def _digamma_on_the_left(x):
    """Return `psi(x)` of negative numbers, beside a pole by its reflection (DLMF 5.5.4)."""
    step = x - np.round(x)
    beside = (step != 0) & (abs(step) < 0.01)
    tangent = np.tan(np.pi * np.where(beside, step, 0.25))
    return np.where(beside, sp.psi(1 - x) - np.pi / tangent, sp.psi(x))


def trigamma(x):
    """Return the derivative of the digamma function (DLMF 5.15.1 and 5.15.8)."""
    if not np.iscomplexobj(x):
        return piecewise(x < -8, (x,), _reflected, (-8.5,), lambda x: sp.zeta(2, x), (1.0,))
    left = np.real(x) < 0
    z, shift = np.where(left, 1 - x, x), 0.0
    for _ in range(12):
        shift = shift + 1 / z**2
        z = z + 1
    w = 1 / (z * z)
    y = shift + 1 / z + w / 2 + w / z * horner(BERNOULLI[:8], w)
    # reflection (DLMF 5.15.6): sin(pi x) overflows far from the axis, where this term vanishes
    sine = np.sin(np.pi * np.where(left, x, 0.5))
    return np.where(left, (np.pi / sine) ** 2 - y, y)


def _reflected(x):
    """Return the same far on the left (5.15.6), where SciPy adds a term for each integer."""
    return (np.pi / np.sin(np.pi * (x - np.round(x)))) ** 2 - sp.zeta(2, 1 - x)


def rgamma_slope(x, out):
    """Return the derivative of `1 / gamma(x)`, at the poles of gamma too (DLMF 5.7.1)."""
    return piecewise(
        is_pole(x), (x, out), slope_at_pole, (0.0, 0.0), slope_beside_poles, (1.0, 0.0)
    )


def slope_at_pole(x, out):
    """Return the derivative of `1 / gamma(x)` at zero or a negative integer (DLMF 5.5.3)."""
    angle = np.pi * x
    return sp.gamma(1 - x) * (np.cos(angle) - sp.psi(1 - x) / np.pi * np.sin(angle))


def slope_beside_poles(x, out):
    """Return the derivative of `1 / gamma(x)` beside the poles; 0 where it is 0 far out."""

    def tiny(x, out):
        far = np.where(out == 0, 0.0, -out * sp.psi(np.where(abs(x) < 1, 1.0, x)))
        return np.where(abs(x) < 1, 1.0, far)  # at zero, where `psi` is infinite

    def near(x, out):
        return -out * digamma(x)

    return piecewise(abs(out) < 1e-300, (x, out), tiny, (1.0, 0.0), near, (1.0, 1.0))


def is_pole(x):
    """Return whether the gamma function has a pole: at zero and the negative integers."""
    real = np.real(x)
    return (real <= 0) & (real == np.floor(real)) & (np.imag(x) == 0)


def psi_difference(x, h):
    """Return `psi(x + h) - psi(x)`, without cancellation for large `x`."""
    large = (np.real(x) > 50) & (np.real(x + h) > 40)
    return piecewise(
        large, (x, h), far_psi_difference, (60.0, 1.0), near_psi_difference, (1.0, 1.0)
    )


def near_psi_difference(x, h):
    """Return `psi(x + h) - psi(x)` as it stands, or of a small step by the slope in its middle."""
    pole = np.minimum(np.round(np.real(x)), 0.0)

    def of_step(x, h):
        return h * trigamma(x + h / 2)

    def usual(x, h):
        return digamma(x + h) - digamma(x)

    return piecewise(abs(h) < SMALL * abs(x - pole), (x, h), of_step, (1.0, 0.0), usual, (1.0, 1.0))


def far_psi_difference(x, h):
    """Return `psi(x + h) - psi(x)` for large `x` and `x + h` (5.11.2)."""
    return np.log1p(h / x) + _behind_logarithms(x, h)


def psi_remainder(x, h):
    """Return `psi(x + h) - psi(x) - h / x` for large `x`, and `h` of at most a tenth of it."""
    ratio = h / x
    return _small_remainder(ratio) + _behind_logarithms(x, h)


def log_remainder(w):
    """Return `log1p(w) - w`."""

    def usual(w):
        return np.log1p(w) - w

    return piecewise(abs(w) < 0.1, (w,), _small_remainder, (0.0,), usual, (1.0,))


def _small_remainder(w):
    return w * w * horner(_LOGARITHM, w)


_LOGARITHM = [(-1) ** (k + 1) / k for k in range(2, 18)]


def _behind_logarithms(x, h):
    """Return the difference of `psi(x) - log(x)` at `x + h` and `x`."""
    w, v = 1 / x, 1 / (x + h)
    gap = h * w * v  # w - v
    series = 0.0
    for i, b in enumerate(BERNOULLI[:6]):
        m = i + 1
        powers = sum((w * w) ** j * (v * v) ** (m - 1 - j) for j in range(m))
        series = series + b / (2 * m) * powers
    return gap / 2 + gap * (w + v) * series


_STIRLING = [b / (2 * m * (2 * m - 1)) for m, b in enumerate(BERNOULLI[:6], 1)]


def log_beta(a, b):
    """Return `betaln(a, b)`, of which SciPy loses digits where the gamma functions are large."""

    def near(a, b):
        return sp.betaln(a, b)

    return piecewise((a > 30) | (b > 30), (a, b), far_log_beta, (60.0, 1.0), near, (1.0, 1.0))


def far_log_beta(a, b):
    """Return the logarithm of the beta function where an argument is large (DLMF 5.11.1)."""
    large, small = np.maximum(a, b), np.minimum(a, b)
    both = small > 30
    size = np.where(both, small, 60.0)
    log = np.where(both, (np.log(2 * np.pi / size)) / 2 + behind_stirling(size), 0.0)
    log = log + np.where(both, sp.xlogy(small, small / large), sp.gammaln(small))
    log = log - np.where(both, 0.0, small * np.log(large) - small)
    total = large + small
    behind = behind_stirling(large) - behind_stirling(total)
    return log - (total - 0.5) * np.log1p(small / large) + behind


def behind_stirling(x):
    """Return the logarithm of the gamma function less Stirling's formula, for large numbers."""
    return horner(_STIRLING, 1 / (x * x)) / x


_EXPREL = [1 / (math.factorial(k) * (k + 2)) for k in range(18)]


def exprel_slope(x):
    """Return the derivative of `(exp(x) - 1) / x`."""

    def near(x):
        return horner(_EXPREL, x)

    def far(x):
        x = np.minimum(x, 1e150)  # of infinities the product and quotient are not numbers
        return (np.exp(x) * (np.maximum(x, -1e200) - 1) + 1) / x**2

    return piecewise(abs(x) < 1, (x,), near, (0.0,), far, (1.0,))


_ROOT = [(-1) ** (k + 1) * (k + 1) / (k + 2) for k in range(40)]


def power_slope(w):
    """Return the derivative of `log1p(w) / w`."""

    def near(w):
        return horner(_ROOT, w)

    def far(w):
        return (w / (1 + w) - np.log1p(w)) / w**2

    return piecewise(abs(w) < 0.3, (w,), near, (0.0,), far, (1.0,))


_ERFCX = [(-1) ** k * math.prod(range(1, 2 * k, 2)) / 2**k for k in range(14)]
_ERFCX_FIRST = [-c * (2 * k + 1) for k, c in enumerate(_ERFCX)]
_ERFCX_SECOND = [-c * (2 * k + 2) for k, c in enumerate(_ERFCX_FIRST)]
_FAR = 12.0


def erfcx_slope(z, out):
    """Return the derivative of `erfcx(z)` (DLMF 7.10.2), far out by 7.12.1.

    Where `z` has a negative real part, by that at `-z`.
    """

    def far(z, out):
        w = 1 / (z * z)
        left = np.real(z) < 0
        grown = 4 * z * np.exp(np.where(left, z * z, 0.0))
        return w * horner(_ERFCX_FIRST, w) * (TWO_BY_ROOT_PI / 2) + np.where(left, grown, 0.0)

    def near(z, out):
        return 2 * z * out - TWO_BY_ROOT_PI

    return piecewise(abs(z) > _FAR, (z, out), far, (_FAR, 0.0), near, (0.0, 0.0))


def erfcx_curvature(z, out, slope):
    """Return the second derivative of `erfcx(z)`."""

    def far(z):
        w = 1 / (z * z)
        return w / z * horner(_ERFCX_SECOND, w) * (TWO_BY_ROOT_PI / 2)

    def near(z):
        return 2 * out + 2 * z * slope

    beyond = (abs(z) > _FAR) & (np.real(z) >= 0)
    return piecewise(beyond, (z,), far, (_FAR,), near, (0.0,))


def scaled_bessel_slope(v, x, sign):
    """Return the derivative of `sqrt(x) * exp(-x) * iv(v, x)` and the like, over that, by series.

    Arguments:
        v, x: the order, and a large argument.
        sign: -1 for `iv`, 1 for `kv`: that of the terms of DLMF 10.40.1 and 10.40.2.

    It returns the derivative of the scaled function divided by the function of order `v`
    with its leading term `x**-0.5`.
    """
    term, total, slope = 1.0, 1.0, -0.5
    mu = 4 * v * v
    for k in range(1, 18):
        term = term * (sign * (mu - (2 * k - 1) ** 2) / (8 * k * x))
        total = total + term
        slope = slope - (k + 0.5) * term
    return slope / (total * x)


def is_far(v, x):
    """Return where the expansion of a modified Bessel function for large arguments converges."""
    return abs(x) > 30 * (1 + v * v)
