"""Effects that are told from code: those of what a function uses, and not of all that is there."""

import logging

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.stats

from zygote_lite import checkpoint, grad
from zygote_lite._activity.effects import effect_of

log = logging.getLogger(__name__)


def spline(x):
    return scipy.interpolate.CubicSpline([0.0, 1.0, 2.0, 3.0], x)(1.3)


def decay(x):
    solved = scipy.integrate.solve_ivp(lambda t, y: -x[0] * y, (0.0, 1.0), x[1:], rtol=1e-8)
    return np.sum(solved.y[:, -1])


def log_density(x):
    return np.sum(scipy.stats.norm.logpdf(x, x[0], 2.0))


@pytest.mark.parametrize("f", [spline, decay, log_density])
def test_libraries_have_effects_that_are_not_used(f):
    assert effect_of(f)[0] is None
    x = np.array([0.3, 1.0, 0.5, 2.0])
    np.testing.assert_allclose(grad(lambda x: checkpoint(f)(x))(x), grad(f)(x), rtol=1e-12)


def test_effects_that_are_used_are_found():
    class Noisy:
        def apply(self, x):
            log.info("applied")
            return x

    noisy = Noisy()
    assert effect_of(lambda x: noisy.apply(x))[0] is not None
    assert effect_of(lambda x: x + scipy.stats.norm.rvs())[0] is not None
    assert effect_of(lambda x: scipy.interpolate.BarycentricInterpolator(x, x)(x))[0] is not None
    assert "print" in effect_of(lambda x: scipy.integrate.romb(x, show=True))[0]
