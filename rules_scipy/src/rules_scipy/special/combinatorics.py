"""Binomial coefficients and factorials; those of integers alone are constant."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import digamma, is_pole, piecewise, psi_difference, rgamma_slope
from rules_scipy.special.gamma import poch_by_base
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.combinatorics")

rule.scalar(sp.binom)(  # 1.2.6, by 5.2.2
    lambda n, k, out: binom_by_size(n, k, out),
    lambda n, k, out: binom_by_count(n, k, out),
)
rule.constant(sp.bernoulli, sp.euler, sp.factorial2, sp.factorialk, sp.stirling2)


def binom_by_size(n, k, out):
    """Return the derivative of `binom(n, k)` by `n`, where it is zero too."""
    zero = is_pole(n - k + 1) & ~is_pole(n + 1)

    def at_zero(n, k, out):
        rest = sp.rgamma(n - k + 1)  # which is zero, and its derivative is not
        slope = rgamma_slope(n - k + 1, rest) + digamma(n + 1) * rest
        return sp.gamma(n + 1) * sp.rgamma(k + 1) * slope

    def usual(n, k, out):
        return out * psi_difference(n - k + 1, k)

    return piecewise(zero, (n, k, out), at_zero, (1.0, 2.0, 0.0), usual, (1.0, 0.0, 0.0))


def binom_by_count(n, k, out):
    """Return the derivative of `binom(n, k)` by `k`, where it is zero too."""
    zero = is_pole(n - k + 1) | is_pole(k + 1)

    def at_zero(n, k, out):
        first, second = sp.rgamma(k + 1), sp.rgamma(n - k + 1)
        slope = rgamma_slope(k + 1, first) * second - first * rgamma_slope(n - k + 1, second)
        return sp.gamma(n + 1) * slope

    def usual(n, k, out):
        return out * (digamma(n - k + 1) - digamma(k + 1))

    return piecewise(zero, (n, k, out), at_zero, (1.0, 2.0, 0.0), usual, (1.0, 0.0, 0.0))


@rule(sp.factorial)
def _(n: Numeric, exact=False, extend="zero"):
    y = sp.factorial(n, exact, **({} if extend == "zero" else {"extend": extend}))

    def pullback(dy):
        counted = np.where(np.real(n) < 0, 0.0, 1.0) if extend == "zero" else 1.0
        x = np.where(counted == 0, 0.0, n)
        slope = sp.gamma(x + 1) * digamma(x + 1)
        return (None if exact else project(dy * counted * np.conj(slope), n),)

    return y, pullback


@rule(sp.comb)
def _(N: Numeric, k: Numeric, *, exact=False, repetition=False):
    y = sp.comb(N, k, exact=exact, repetition=repetition)

    def slopes(dy):
        n = N + k - 1 if repetition else N
        counted = (n >= k) & (n >= 0) & (np.asarray(k) >= 0)
        out = np.where(counted, sp.binom(n, k), 0.0)
        by_size = np.where(counted, binom_by_size(n, k, out), 0.0)
        by_count = np.where(counted, binom_by_count(n, k, out), 0.0)
        return dy * by_size, dy * (by_count + (by_size if repetition else 0.0))

    def by_n(shared):
        return project(shared[0], N)

    def by_k(shared):
        return project(shared[1], k)

    return y, None if exact else (slopes, (by_n, by_k))


@rule(sp.perm)
def _(N: Numeric, k: Numeric, exact=False):
    y = sp.perm(N, k, exact)

    def slopes(dy):
        counted = np.less_equal(k, N) & np.greater_equal(N, 0) & np.greater_equal(k, 0)
        base = np.where(counted, N - k + 1, 1.0)
        out = np.where(counted, sp.poch(base, k), 0.0)
        by_n = np.where(counted, poch_by_base(base, np.where(counted, k, 1.0), out), 0.0)
        return dy * by_n, dy * (out * digamma(base + k) - by_n)

    def by_n(shared):
        return project(shared[0], N)

    def by_k(shared):
        return project(shared[1], k)

    return y, None if exact else (slopes, (by_n, by_k))
