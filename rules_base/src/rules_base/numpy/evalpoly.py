"""Polynomials by their coefficients: `evalpoly`, and NumPy's functions, from `polyval` on."""

import numpy as np

from rules_base.shared.axes import like
from rules_base.shared.nesting import in_kind_of, unstacked
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.evalpoly")


def evalpoly(x, coeffs):
    """Evaluate the polynomial `coeffs[0] + coeffs[1] * x + coeffs[2] * x**2 + ...`.

    Arguments:
        x: a number or an array of any shape.
        coeffs: the coefficients, ascending: a list, a tuple or an array.

    Returns a number, or an array of the shape of `x`. Raises `ValueError` where there are no
    coefficients. Horner's method, as Julia's `evalpoly`.
    """
    if len(coeffs) == 0:
        raise ValueError("a polynomial has at least one coefficient")
    y = coeffs[-1] + np.zeros_like(x) if isinstance(x, Array) else coeffs[-1]
    for k in range(len(coeffs) - 2, -1, -1):
        y = y * x + coeffs[k]
    return y


def polynomial_cotangents(dy, x, coeffs):
    """Return the cotangents of `x` and of each coefficient, by Horner's method and by powers."""
    degree = len(coeffs) - 1
    slope = 1.0 * degree * coeffs[degree] if degree else 0.0
    for k in range(degree - 1, 0, -1):
        slope = slope * x + k * coeffs[k]
    dcoeffs = [project(dy, coeffs[0])]
    power = 1.0
    for k in range(1, degree + 1):
        power = power * x
        dcoeffs.append(project(dy * np.conjugate(power), coeffs[k]))
    return project(dy * np.conjugate(slope), x), dcoeffs


@rule(evalpoly)
def _(x: Numeric, coeffs: list | tuple):
    def pullback(dy):
        dx, dcoeffs = polynomial_cotangents(dy, x, coeffs)
        return dx, in_kind_of(coeffs, dcoeffs)

    return evalpoly(x, coeffs), pullback


@rule(evalpoly)
def _(x: Numeric, coeffs: Array):
    def pullback(dy):
        dx, dcoeffs = polynomial_cotangents(dy, x, coeffs)
        return dx, project(np.stack(dcoeffs), coeffs)

    return evalpoly(x, coeffs), pullback


@rule(np.polyval)
def _(p: Array, x: Numeric):
    def pullback(dy):
        dx, dp = polyval_cotangents(dy, x, p[::-1], True)
        return dp[::-1], dx

    return np.polyval(p, x), pullback


@rule(np.polyval)
def _(p: list | tuple, x: Numeric):
    array = np.array(p)

    def pullback(dy):
        dx, dp = polyval_cotangents(dy, x, array[::-1], True)
        return unstacked(dp[::-1], p), dx

    return np.polyval(array, x), pullback


def polyval_cotangents(dy, x, c, tensor):
    """Return the cotangents of `x` and of the array `c`, whose first axis counts the powers."""
    wide = np.reshape(c, c.shape + (1,) * np.ndim(x)) if tensor else c
    dx, dc = polynomial_cotangents(dy, x, wide)
    return dx, project(np.reshape(np.stack(dc), c.shape), c)


@rule(np.polyadd)
def _(p: Array, q: Array):
    def pullback(dy):
        return project(dy[dy.size - p.size :], p), project(dy[dy.size - q.size :], q)

    return np.polyadd(p, q), pullback


@rule(np.polysub)
def _(p: Array, q: Array):
    def pullback(dy):
        return project(dy[dy.size - p.size :], p), project(-dy[dy.size - q.size :], q)

    return np.polysub(p, q), pullback


@rule(np.polymul)
def _(p: np.ndarray, q: np.ndarray):
    def by_p(dy):
        return of_factor(dy, p, q)

    def by_q(dy):
        return of_factor(dy, q, p)

    return np.polymul(p, q), (by_p, by_q)


def of_factor(dy, p, q):
    """Return the cotangent of a factor of a product without the leading zeros of its factors."""
    if p.size > 1 and p[0] == 0:
        raise NotImplementedError(
            "np.polymul drops leading coefficients that are 0, and their gradient would be lost: "
            "use np.convolve, which keeps them"
        )
    dy = np.pad(dy, (p.size + q.size - 1 - dy.size, 0))
    return project(np.correlate(dy, q, "full")[q.size - 1 :][: p.size], p)


@rule(np.polyder)
def _(p: Array, m=1):
    y = np.polyder(p, m)

    def pullback(dy):
        powers = np.arange(p.size - 1, m - 1, -1.0, **like(p))
        for k in range(m):
            dy = dy * (powers - k)
        return (project(np.pad(dy, (0, p.size - dy.size)), p),)

    return y, pullback


@rule(np.polyint)
def _(p: Array, m=1, k=None):
    def pullback(dy):
        dp = dy[: p.size]
        powers = np.arange(p.size - 1, -1, -1.0, **like(p))
        for step in range(1, m + 1):
            dp = dp / (powers + step)
        return (project(dp, p),)

    return np.polyint(p, m, k), pullback
