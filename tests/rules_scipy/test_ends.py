"""Derivatives at ends of what SciPy's functions are defined for, and at limits that they take.

Each is compared with differences of SciPy's function along the same argument, on the side that
there is.
"""

import numpy as np
import pytest
from scipy import special as sp
from scipy import stats
from scipy.special import _ufuncs

from rulescore import rrule
from zygote_lite import grad, jvp

CALLS = [
    # a quantile at the lower end stays there, whatever the shape; and at the upper end
    (sp.gdtrix, (0.7, 2.0, 0.0), 1),
    (sp.gdtria, (0.0, 2.0, 0.7), 1),
    (sp.gammaincinv, (2.0, 0.0), 0),
    (sp.chdtri, (3.0, 1.0), 0),
    (sp.fdtri, (5.0, 3.0, 0.0), 0),
    (sp.fdtri, (5.0, 3.0, 0.0), 1),
    (sp.betaincinv, (1.3, 2.0, 1.0), 0),
    (sp.betaincinv, (1.3, 2.0, 1.0), 1),
    (sp.betainccinv, (1.3, 2.0, 0.0), 1),
    (_ufuncs._beta_ppf, (0.0, 2.0, 1.5), 1),
    (_ufuncs._beta_ppf, (1.0, 2.0, 1.5), 2),
    (sp.chndtrix, (0.0, 3, 1.0), 2),
    (sp.ncfdtri, (3, 4, 0.8, 0.0), 2),
    # SciPy's search ends at a bound
    (sp.gdtrib, (1.0, 1.0, 0.7), 2),
    (sp.chdtriv, (1.0, 2.0), 1),
    (sp.btdtria, (1.0, 1.5, 0.3), 2),
    (sp.btdtrib, (1.5, 0.0, 0.3), 0),
    (sp.stdtridf, (1.0, 0.5), 1),
    # a factor is zero
    (sp.gdtr, (0.0, 0.5, 1.3), 2),
    (sp.gdtrc, (0.0, 0.5, 1.3), 2),
    (sp.powm1, (0.0, 0.0), 0),
    (_ufuncs._beta_pdf, (0.0, 2.5, 1.5), 1),
    (_ufuncs._beta_pdf, (1.0, 2.5, 1.5), 2),
    (_ufuncs._nbinom_pmf, (2, 2.5, 0.0), 1),
    (_ufuncs._beta_pdf, (1.0, 2.5, 4.0), 0),
    (_ufuncs._beta_pdf, (0.0, 2.0, 1.5), 0),
    (_ufuncs._beta_pdf, (0.0, 1.0, 2.5), 0),
    (_ufuncs._beta_pdf, (1.0, 3.5, 1.0), 0),
    (_ufuncs._ncf_pdf, (0.0, 9.0, 5.0, 0.4), 0),
    (_ufuncs._ncf_pdf, (0.0, 9.0, 5.0, 0.4), 1),
    (_ufuncs._ncx2_pdf, (0.0, 9.0, 0.4), 1),
    # limits of quotients
    (sp.boxcox, (0.0, 0.7), 1),
    (sp.boxcox1p, (-1.0, 0.7), 1),
    (sp.elliprc, (0.0, -0.5), 1),
    (sp.elliprg, (0.0, 0.0, 0.7), 2),
    (sp.elliprg, (0.7, 0.0, 0.0), 0),
    (sp.beta, (0.5, -0.5), 0),
    (sp.beta, (-1.5, 0.5), 1),
    (sp.beta, (0.3, -2.3), 0),
    (sp.beta, (-3.0, 2.0), 0),
    (sp.beta, (2.0, -3.0), 1),
    (sp.betaln, (-3.0, 2.0), 0),
    (sp.lpmv, (-1, 1, 0.4), 2),
    (sp.lpmv, (-2, 2, -0.3), 2),
    (sp.struve, (-1, 0.0), 1),
    (sp.modstruve, (-1, 0.0), 1),
    (sp.it2struve0, (0.0,), 0),
    (sp.ncfdtr, (2, 4, 0.8, 0.0), 3),
    # where a parameter equals another one, SciPy takes a power of `1 - z`
    (sp.hyp2f1, (0.0, 1.5, 0.0, 0.3), 3),
    (sp.hyp2f1, (-2.0, 1.5, -2.0, 0.3), 3),
    (sp.hyp2f1, (-2.0, -1.0, -1.0, 0.3), 3),
    (sp.hyp2f1, (1.5, 0.0, 0.0, 0.3), 3),
]


def slope_of(f, xs, i):
    """Return the derivative by differences in the middle, or on the side that there is."""

    def moved(h):
        try:
            return f(*xs[:i], xs[i] + h, *xs[i + 1 :])
        except OverflowError:  # SciPy's own, outside
            return np.nan

    h = 1e-5
    middle = (moved(h) - moved(-h)) / (2 * h)
    sides = [(-3 * moved(0.0) + 4 * moved(s * h) - moved(2 * s * h)) / (2 * s * h) for s in (1, -1)]
    agree = abs(sides[0] - sides[1]) < 1e-3
    return middle if agree else next(side for side in sides if np.isfinite(side))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "xs", "i"), CALLS)
def test_at_ends_and_limits(f, xs, i):
    needed = [j == i + 1 for j in range(len(xs) + 1)]
    expected = slope_of(f, xs, i)
    for given in (xs, tuple(x if isinstance(x, int) else np.full(2, x) for x in xs)):
        y, back = rrule(f, *given)
        found = back.only(needed)(np.ones_like(y) if np.ndim(y) else 1.0)[i + 1]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


def test_distributions_there():
    """What uses these functions has no `nan` at the ends of a support."""
    assert grad(lambda a: stats.beta.pdf(0.0, a, 1.5))(2.5) == 0.0
    assert grad(lambda a: stats.beta.ppf(1.0, a, 1.5))(2.5) == 0.0
    assert grad(lambda a: stats.gamma.ppf(0.0, a))(2.5) == 0.0
    assert grad(lambda b: stats.f.ppf(0.0, 3.0, b))(2.5) == 0.0


def test_integrals_of_struve_functions_that_scipy_gets_wrong_are_refused():
    assert rrule(sp.itstruve0, 29.0)[1](1.0)[1] == pytest.approx(sp.struve(0, 29.0))
    y, back = rrule(sp.itstruve0, np.array([1.0, 31.0]))
    with pytest.raises(NotImplementedError, match="values are wrong"):
        back(y)


SECOND = [
    (sp.gammainc, (2.0, 0.0), 1),
    (sp.chdtr, (4.0, 0.0), 1),
    (sp.pdtr, (1, 0.0), 1),
    (sp.betainc, (2.0, 2.0, 0.0), 2),
    (sp.betainc, (1.0, 2.0, 1.0), 2),
    (sp.bdtr, (1, 3, 1.0), 2),
    (sp.fdtr, (4.0, 3.0, 0.0), 2),
    (_ufuncs._beta_pdf, (0.0, 2.0, 2.0), 0),
    (_ufuncs._beta_pdf, (1.0, 3.0, 2.0), 0),
    (_ufuncs._nbinom_pmf, (1, 3.0, 1.0), 2),
    # a quantile moves with the square of the probability
    (sp.chdtri, (1.0, 1.0), 1),
    (sp.betaincinv, (1.5, 0.5, 1.0), 2),
    (sp.fdtri, (1.0, 3.0, 0.0), 2),
    (sp.ncfdtri, (1.0, 3.0, 0.5, 0.0), 3),
    (sp.chndtrix, (0.0, 1.0, 0.5), 0),
    # the first of infinitely many terms is alone
    (_ufuncs._ncx2_pdf, (0.7, 3.0, 0.0), 2),
    (sp.chndtridf, (0.7, 0.4, 0.0), 2),
    (lambda mu: stats.poisson.pmf(1, mu), (0.0,), 0),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "xs", "i"), SECOND)
def test_second_derivatives_at_ends(f, xs, i):
    at = lambda x: f(*xs[:i], x, *xs[i + 1 :])
    h = 2e-3 if xs[i] == 0 else -2e-3
    y = np.array([at(xs[i] + k * h) for k in range(5)])
    expected = y @ [35 / 12, -26 / 3, 19 / 2, -14 / 3, 11 / 12] / h**2
    for derivative in (grad(grad(at)), lambda x: jvp(grad(at), (x,), (1.0,))[1]):
        assert derivative(xs[i]) == pytest.approx(expected, rel=1e-3)
