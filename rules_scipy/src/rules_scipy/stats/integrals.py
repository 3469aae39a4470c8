"""Integrals over a density: distribution functions, moments and entropies without a formula.

The derivative of an integral by a parameter is the integral of the derivative of its integrand. The
density is differentiated by the AD, at nodes on which the integrals of all these derivatives have
converged. Where the support moves with the parameters, the nodes move along.
"""

import numpy as np
from scipy import special as sp
from scipy import stats

from rules_scipy.shared.panels import IntegralError, quadrature
from rulescore import Numeric, RuleSet, accumulate, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.integrals")
Continuous = stats.rv_continuous
Circular = type(stats.vonmises)


@rule(Continuous._cdf_single, type(stats.geninvgauss)._cdf)
def _(self: Continuous, x: Numeric, *args: Numeric, ad):
    return below_or_above(ad, type(self)._cdf, self, x, args)


def defined_by(distribution, name):
    """Return the methods of such a name that a distribution itself defines: one, or none."""
    return [f for attribute, f in vars(type(distribution)).items() if attribute == name]


# that of norminvgauss is inherited before SciPy 1.18
@rule(type(stats.genhyperbolic)._cdf, *defined_by(stats.norminvgauss, "_cdf"))
def _(self: Continuous, x: Numeric, *args: Numeric, ad):
    return below_or_above(ad, type(self)._cdf, self, x, args)


@rule(type(stats.genhyperbolic)._sf, type(stats.norminvgauss)._sf)
def _(self: Continuous, x: Numeric, *args: Numeric, ad):
    return below_or_above(ad, type(self)._sf, self, x, args, above=True)


@rule(Continuous._mom0_sc, Continuous._mom1_sc)
def _(self: Continuous, m: Numeric, *args: Numeric, ad):
    return moment(
        ad, type(self)._mom1_sc if self.moment_type else type(self)._mom0_sc, self, m, args
    )


@rule(Continuous._mom0_sc, Continuous._mom1_sc)
def _(self: Circular, m: Numeric, *args: Numeric, ad):
    return moment(ad, type(self)._mom1_sc, self, m, args, lower=-np.pi, upper=np.pi)


@rule(type(stats.gausshyper)._munp, type(stats.rice)._munp)
def _(self: Continuous, n: Numeric, *args: Numeric, ad):
    return moment(ad, type(self)._munp, self, n, args)


@rule(type(stats.kappa3)._mom1_sc, type(stats.kappa4)._mom1_sc)
def _(self: Continuous, m: Numeric, *args: Numeric, ad):
    return moment(ad, type(self)._mom1_sc, self, m, args)


@rule(Continuous._entropy)
def _(self: Continuous, *args: Numeric, ad):
    def integrand(self, x, *args):
        return sp.entr(self._pdf(x, *args))

    y = type(self)._entropy(self, *args)
    pullbacks = each(lambda y, *args: over(ad, integrand, self, args, y), y, *args)
    return y, gathered(pullbacks, y, args)


def moment(ad, f, self, m, args, **limits):
    """Return a moment about the origin, over the support or between limits, and its pullback."""
    order = float(m)

    def integrand(self, x, *args):
        return x**order * self._pdf(x, *args)

    y = f(self, m, *args)
    pullbacks = each(lambda y, *args: over(ad, integrand, self, args, y, **limits), y, *args)
    back = gathered(pullbacks, y, args)

    def pullback(dy):
        dself, *dargs = back(dy)
        return dself, None, *dargs

    return y, pullback


def below_or_above(ad, f, self, x, args, above=False):
    """Return the probability below or above `x`, and its pullback."""

    def integrand(self, x, *args):
        return self._pdf(x, *args)

    def at(y, x, *args):
        return over(ad, integrand, self, args, y, **{"lower" if above else "upper": float(x)})

    y = f(self, x, *args)
    back = gathered(each(at, y, x, *args), y, args)

    def pullback(dy):
        dself, *dargs = back(dy)
        density = self._pdf(x, *args) if np.size(x) else x  # SciPy's may refuse empty arrays
        return dself, project(-dy * density if above else dy * density, x), *dargs

    return y, pullback


def each(f, *xs):
    """Return the values of a function for each entry of arrays that broadcast, in their order."""
    return [f(*entry) for entry in zip(*map(np.ravel, np.broadcast_arrays(*xs)), strict=True)]


def gathered(pullbacks, y, args):
    """Return the pullback of an array from those of its entries, all by one object and `args`."""

    def pullback(dy):
        dself, rows = None, np.zeros((np.size(y), len(args)))
        for i, (back, d) in enumerate(zip(pullbacks, np.ravel(dy), strict=True)):
            if d != 0:
                own, *rows[i] = back(float(d))
                dself = accumulate(dself, own)
        shaped = rows.T.reshape(len(args), *np.shape(y))
        return dself, *[project(d, a) for d, a in zip(shaped, args, strict=True)]

    return pullback


def over(ad, integrand, self, args, value, *, lower=None, upper=None):
    """Return the pullback of an integral over the support, by the object and the parameters.

    Arguments:
        ad: the AD.
        integrand: a function of the object, an array of nodes, and parameters of its shape.
        self, args: the object, and the parameters, which are numbers.
        value: the integral, as SciPy has found it.
        lower, upper: limits that take the place of the ends of the support.
    """
    args = [float(a) for a in args]
    ends, by_ends = support(ad, self, args)
    from_lower, from_upper = by_ends[0] * (lower is None), by_ends[1] * (upper is None)
    lower = ends[0] if lower is None else lower
    upper = ends[1] if upper is None else upper
    moves = np.any(from_lower) or np.any(from_upper)

    def at(nodes):
        return ad(integrand, self, nodes, *[np.full(nodes.shape, a) for a in args])

    def by_parameters(nodes, dx, dargs):
        found = np.stack([np.zeros_like(nodes) if d is None else d for d in dargs])
        if moves and dx is not None:
            share_lower, share_upper = moving(nodes, lower, upper)
            found = found + dx * (np.outer(from_lower, share_lower)
                                  + np.outer(from_upper, share_upper))  # fmt: skip
        return found

    def integrands(nodes):
        y, back = at(nodes)
        _, _, dx, *dargs = back(np.ones(nodes.shape))
        return np.vstack([y, by_parameters(nodes, dx, dargs)])

    def pullback(dy):
        with np.errstate(all="ignore"):
            nodes, weights = quadrature(integrands, lower, upper)
            y, back = at(nodes)
            _, dself, dx, *dargs = back(dy * weights)
            rows = by_parameters(nodes, dx, dargs)
        terms = np.where(np.isfinite(y), weights * y, 0.0)
        if not abs(np.sum(terms) - value) <= 1e-6 * max(abs(value), np.sum(np.abs(terms))):
            raise IntegralError(
                f"the derivative of an integral over a density is not found: its value would be "
                f"{np.sum(terms)}, where SciPy has {value}: let the parameters be constant "
                "(`stop_gradient`)"
            )
        found = np.sum(np.where(np.isfinite(rows), rows, 0.0), axis=1)
        if moves and np.isfinite(upper - lower):
            found = found + dy * value / (upper - lower) * (from_upper - from_lower)
        return dself, *found

    return pullback if args else lambda dy: (None,)


def moving(nodes, lower, upper):
    """Return how far nodes move with each limit of an interval."""
    if np.isinf(lower) or np.isinf(upper):
        return np.full(nodes.shape, np.isfinite(lower)), np.full(nodes.shape, np.isfinite(upper))
    part = (nodes - lower) / (upper - lower)
    return 1 - part, part


def support(ad, self, args):
    """Return the ends of the support, and their derivatives by the parameters, in two rows."""
    ends, back = ad(type(self)._get_support, self, *args)
    rows = []
    for i in range(2):
        given = [np.ones(np.shape(end)) if j == i else None for j, end in enumerate(ends)]
        _, _, *dargs = back(tuple(given))
        rows.append([0.0 if d is None else float(np.sum(d)) for d in dargs])
    return [float(np.squeeze(end)) for end in ends], np.array(rows)
