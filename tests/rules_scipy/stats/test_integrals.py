"""Rules of `rules_scipy.stats.integrals`, against differences: they need an AD."""

import numpy as np
import pytest
from scipy import special, stats
from scipy.integrate import quad

from tests.rules_scipy.sweep import judge
from zygote_lite import gradient
from zygote_lite.errors import NoRuleError

CALLS = {
    "norminvgauss": ("cdf", 0.4, 1.25, 0.5, 0.2, 1.3),
    "truncweibull_min": ("entropy", 2.5, 0.25, 1.75, 0.0, 1.0),
    "kappa4": ("entropy", 0.1, 0.2, 0.0, 1.0),
    "genhyperbolic": ("sf", 0.4, 0.5, 1.5, -0.5, 0.2, 1.3),
    "geninvgauss": ("cdf", 0.9, 2.3, 1.5, 0.2, 1.3),
    "kstwo": ("logcdf", 0.4, 10, 0.2, 1.3),
    "rice": ("mean", 0.8, 0.2, 1.3),
    "levy_stable": ("sf", 0.7, 1.6, -0.5, 0.2, 1.3),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    method, *xs = CALLS[name]
    assert {verdict for _, verdict, _ in judge(name, method, xs)} <= {"right", "a count"}


def test_moments_of_a_turn():
    (found,) = gradient(lambda kappa: stats.vonmises._mom1_sc(2, kappa), 0.9)
    mean = special.i1(0.9) / special.i0(0.9)
    expected = quad(
        lambda x: x * x * (np.cos(x) - mean) * stats.vonmises.pdf(x, 0.9), -np.pi, np.pi
    )
    assert found == pytest.approx(expected[0], rel=1e-9)


class Hill(stats.rv_continuous):
    """A density of the user's own, with a field."""

    def _pdf(self, x, power):
        scaled = np.exp(-(np.abs(x / self.width) ** power))
        return scaled / (2 * self.width * special.gamma(1 + 1 / power))


def test_a_density_of_the_users_own_has_fields_that_are_differentiated():
    hill = Hill(name="hill", shapes="power")

    def below(width, x, power):
        hill.width = width
        return hill.cdf(x, power)

    def exact(width, x, power):
        return stats.gennorm.cdf(x, power, scale=width)

    given = (1.3, 0.7, 2.5)
    assert below(*given) == pytest.approx(exact(*given))
    np.testing.assert_allclose(gradient(below, *given), gradient(exact, *given), rtol=1e-7)


def test_an_integral_that_is_not_found_is_refused():
    class Odd(stats.rv_continuous):
        def _pdf(self, x, a):
            return np.where(np.floor(x * a * 1e9) % 2 == 0, 2.0, 0.0)

    odd = Odd(a=0.0, b=1.0, name="odd", shapes="a")
    with pytest.raises(NoRuleError, match="does not converge"):
        gradient(lambda a: odd.cdf(0.5, a), 1.0)
