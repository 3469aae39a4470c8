"""Noncentral distributions, against differences."""

import math

import mpmath as mp
import pytest
from scipy import special as sp

from rulescore import rrule
from rulescore.testing import check_rrule
from tests.rules_scipy.sweep import differences


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (sp.chndtr, (3.0, 2.5, 1.0)),
        (sp.chndtr, (60.0, 3.5, 40.0)),
        (sp.ncfdtr, (3.0, 5.0, 2.0, 1.4)),
        (sp.ncfdtr, (0.7, 30.0, 9.0, 5.0)),
        (sp.nctdtr, (3.0, 0.5, 0.7)),
        (sp.nctdtr, (0.8, -0.5, 0.7)),  # fewer than one degree of freedom
        (sp.nctdtr, (1, 0.5, 0.7)),
    ],
)
def test_all_parameters(f, xs):
    _, back = rrule(f, *xs)
    for i, found in enumerate(back(1.0)[1:]):
        expected, error = differences(f, list(map(float, xs)), i)
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-10 + 10 * error)


def test_where_the_search_for_degrees_of_freedom_ends_at_a_bound():
    assert sp.nctdtridf(0.6, 1.1, 1.2) == 1e100
    assert rrule(sp.nctdtridf, 0.6, 1.1, 1.2)[1](1.0)[1:] == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("f", "xs", "at"),
    [
        (sp.chndtr, (math.inf, 2.0, 1.0), 1),
        (sp.chndtr, (3.0, 2.0, math.inf), 3),
        (sp.ncfdtr, (3.0, 4.0, 2.0, math.inf), 4),
        (sp.nctdtr, (3.0, 1.0, math.inf), 2),
        (sp.nctdtr, (3.0, 1.0, -math.inf), 3),
    ],
)
def test_slopes_at_infinity_are_zero(f, xs, at):
    _, back = rrule(f, *xs)
    assert back.only([i == at for i in range(len(xs) + 1)])(1.0)[at] == 0


@pytest.mark.parametrize(("x", "nc"), [(1e-12, 60.0), (1e-10, 200.0), (1e-3, 900.0)])
def test_far_on_the_left_of_a_noncentral_chi_square(x, nc):
    """SciPy's own density is 0 there, though it is none of the smallest numbers."""
    found = rrule(sp.chndtr, x, 2.5, nc)[1](1.0)[1:]
    with mp.workdps(40):
        density = lambda df: sum(
            mp.exp(-mp.mpf(nc) / 2 - mp.mpf(x) / 2) * mp.mpf(nc / 2) ** j / mp.factorial(j)
            * mp.mpf(x / 2) ** (df / 2 + j - 1) / mp.gamma(df / 2 + j) / 2
            for j in range(40)
        )  # fmt: skip
        expected = float(density(mp.mpf(2.5))), float(-density(mp.mpf(4.5)))
    assert (found[0], found[2]) == pytest.approx(expected, rel=1e-8, abs=1e-308)
