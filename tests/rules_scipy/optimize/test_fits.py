"""Rules of `rules_scipy.optimize.fits`, against differences of fits that have converged further."""

import numpy as np
import pytest
from scipy import optimize as so

from tests.rules_scipy.tiers import differences
from zygote_lite import NoRuleError, gradient, value_and_grad

TIMES = np.linspace(0.0, 2.0, 8)
HEIGHTS = 2 * np.exp(-1.3 * TIMES) + 0.1 * np.cos(7 * TIMES)
SIGMA = 0.5 + 0.1 * TIMES
COVARIANCE = np.diag(SIGMA[:4]) + 0.05
W = np.array([1.0, 2.0])
SMALL = np.arange(0, 160, 20, dtype=np.uint8)  # the squares do not fit


def model(x, a, b):
    return a * np.exp(-b * x)


def slopes(x, a, b):
    return np.stack([np.exp(-b * x), -a * x * np.exp(-b * x)], axis=1)


def left(p, heights, times=TIMES):
    return model(times, *p) - heights


def curve(times=TIMES, heights=HEIGHTS, sigma=None, p0=None, bounds=(-np.inf, np.inf)):
    return so.curve_fit(model, times, heights, p0, sigma, bounds=bounds, jac=slopes, xtol=1e-14,
                        ftol=1e-14, gtol=1e-14)[0]  # fmt: skip


def solved(heights, bounds=(-np.inf, np.inf)):
    return so.least_squares(left, [1.0, 1.0], "3-point", bounds, "trf", 1e-14, 1e-14, 1e-14,
                            args=(heights,))  # fmt: skip


FITS = {
    "heights": (lambda y: curve(heights=y), HEIGHTS),
    "times": (lambda x: curve(times=x), TIMES),
    "sigma": (lambda s: curve(sigma=s), SIGMA),
    "covariance": (lambda s: curve(TIMES[:4], HEIGHTS[:4], s), COVARIANCE),
    "bounds": (lambda y: curve(heights=y, bounds=(0, [1.5, 9])), HEIGHTS),
    "small integers": (lambda y: so.curve_fit(
        lambda x, a, b: 1e-4 * a * (x * x) + b, SMALL, y)[0], HEIGHTS),
    "closure": (lambda c: so.curve_fit(
        lambda x, a, b: model(x, a, b) + c, TIMES, HEIGHTS, jac=slopes)[0], np.array(0.1)),
    "leastsq": (lambda y: so.leastsq(left, [1.0, 1.0], args=(y,), xtol=1e-14, ftol=1e-14)[0],
                HEIGHTS),
    "least_squares": (lambda y: solved(y, bounds=(0, [1.5, 9])).x, HEIGHTS),
}  # fmt: skip


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore:Covariance", "ignore:invalid value")
def test_parameters_move_as_the_data_say(name):
    fit, data = FITS[name]
    expected = differences(lambda x: np.sum(W * fit(x)), data)
    for _ in range(3):  # on the tape, then by transformed code
        _, found = value_and_grad(lambda x: np.sum(W * fit(x)))(data)
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


def test_the_cost_and_what_is_left():
    for part in (lambda r: r.cost, lambda r: np.sum(r.fun**3)):
        expected = differences(lambda y: part(solved(y)), HEIGHTS)
        np.testing.assert_allclose(gradient(lambda y: part(solved(y)), HEIGHTS)[0], expected,
                                   rtol=1e-4, atol=1e-5)  # fmt: skip


REFUSED = {
    "entry 1": lambda y: so.curve_fit(model, TIMES, y)[1],
    "loss='linear'": lambda y: so.least_squares(left, [1.0, 1.0], args=(y,), loss="huber").x,
    "and not grad": lambda y: so.least_squares(left, [1.0, 1.0], args=(y,)).grad,
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_has_no_rule_is_refused(message):
    with pytest.raises(NoRuleError, match=message):
        gradient(lambda y: np.sum(REFUSED[message](y)), HEIGHTS)


def test_residuals_may_take_arguments_by_name():
    by_name = lambda y, n: (
        so.least_squares(
            lambda p, y, n: left(p, y) * n, [1.0, 1.0], args=(y,), kwargs={"n": n}
        ).cost
    )
    y = HEIGHTS
    dy, dn = gradient(by_name, y, 1.5)
    want = gradient(lambda y: so.least_squares(left, [1.0, 1.0], args=(y,)).cost, y)[0]
    np.testing.assert_allclose(dy, 1.5**2 * want, rtol=1e-6)
    h = 1e-5
    np.testing.assert_allclose(dn, (by_name(y, 1.5 + h) - by_name(y, 1.5 - h)) / (2 * h), rtol=1e-6)
