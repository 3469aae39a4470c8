"""Rules of `rules_scipy.signal.systems`, against differences, and where SciPy leaves parts out."""

import numpy as np
import pytest
from scipy import signal as ss

from rulescore.testing import check_rrule
from zygote_lite import NoRuleError, gradient, jvp

pytestmark = pytest.mark.filterwarnings("ignore:Badly conditioned")
T, U = np.linspace(0, 2, 6), np.sin(np.arange(6.0) ** 2)
TF = np.array([0.0, 1.0, 0.3]), np.array([1.0, 0.5, 2.0])
A, B, C, D = ss.tf2ss([0.2, 1.0, 0.3], TF[1])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def compare(f, *xs):
    found = gradient(f, *xs)
    for i, (x, dx) in enumerate(zip(xs, found, strict=True)):
        v = np.cos(np.arange(np.size(x))).reshape(np.shape(x))
        ends = [f(*xs[:i], x + h * v, *xs[i + 1 :]) for h in (1e-6, -1e-6)]
        assert np.sum(dx * v) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-8), i


def total(found):
    return np.sum(found[1] ** 2) + np.sum(np.cos(found[2]))


@pytest.mark.parametrize("interp", [True, False])
def test_simulations(interp):
    compare(lambda a, b, c, d, u, x: total(ss.lsim((a, b, c, d), u, T, x, interp)),
            A, B, C, D, U, np.array([0.3, -0.2]))  # fmt: skip
    compare(lambda b, a, u: total(ss.lsim((b, a), u, T, interp=interp)), *TF, U)
    compare(lambda u: total(ss.lsim(ss.lti(*TF), u, T, interp=interp)), U)
    compare(lambda u: sum(map(np.sum, ss.lsim(TF, u, list(T), interp=interp))), U)


def test_an_input_of_zeros_has_a_gradient():
    compare(lambda u: np.sum(ss.lsim(TF, u, T)[1]), np.zeros(6))


def test_a_leading_zero_that_is_cut_off_is_refused():
    with pytest.raises(NoRuleError, match="begin with zeros"):
        gradient(lambda b: np.sum(ss.normalize(b, TF[1])[0]), TF[0])


@pytest.mark.parametrize("f", [ss.step, ss.impulse])
def test_responses(f):
    compare(lambda b, a: np.sum(np.cos(f((b, a), T=T)[1])), *TF)
    first = np.array([[0.3], [-0.2]] if f is ss.impulse else [0.3, -0.2])
    compare(lambda a, b, x: sum(map(np.sum, f((a, b, C, D), x, N=5))), A, B, first)


def test_a_tangent_keeps_its_digits_where_the_outputs_are_large():
    system = np.array([0.5, 1.2]), np.array([1.5, 0.7, 0.4, 0.3])  # it grows

    def last(scale):
        return ss.lsim(system, np.ones(9), np.linspace(0, 113 * scale, 9))[1][-1]

    _, slope = jvp(last, (1.0,), (1.0,))
    _, of_square = jvp(lambda scale: last(scale) ** 2, (1.0,), (1.0,))
    assert of_square == pytest.approx(2 * last(1.0) * slope, rel=1e-11)
