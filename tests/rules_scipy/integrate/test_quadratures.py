"""Rules of `rules_scipy.integrate.quadratures`, against differences of the integrals."""

import numpy as np
import pytest
from scipy import integrate as si

from tests.rules_scipy.tiers import compare
from zygote_lite import NoRuleError, grad, gradient, hessian, jvp

C = np.array([0.7, 1.9])


def wave(x, c):
    return np.exp(-c[0] * x) * np.sin(c[1] * x)


def cut(x, a, b):
    if x < 0.5:  # on each side, one of them has no gradient
        return a * x
    return b * x * x


class Wave:
    def __init__(self, c):
        self.c = c

    def __call__(self, x):
        return wave(x, self.c)


INTEGRALS = {
    "closure": lambda c: si.quad(lambda x: wave(x, c), 0, 2)[0],
    "argument": lambda c: si.quad(wave, 0, 2, (c,))[0],
    "object": lambda c: si.quad(Wave(c), 0, 2)[0],
    "limits": lambda c: si.quad(wave, c[0], c[1], args=(C,))[0],
    "half a line": lambda c: si.quad(wave, 0, np.inf, (c,))[0],
    "a line": lambda c: si.quad(lambda x: np.exp(-c[0] * x * x + c[1] * x), -np.inf, np.inf)[0],
    "branches": lambda c: si.quad(cut, 0, 2, (c[0], c[1]), points=[0.5])[0],
    "singular": lambda c: si.quad(lambda x: c[0] * x ** (-0.2 * c[1]), 0, 1)[0],
    "vectors": lambda c: np.sum(si.quad_vec(lambda x: np.stack([wave(x, c), x]), 0, c[1])[0]),
    "arguments of vectors": lambda c: np.sum(
        si.quad_vec(lambda x, c, a: a * wave(x, c), 0, np.inf, 1e-12, args=(c, c))[0]
    ),
    "an argument of vectors": lambda c: si.quad_vec(lambda x, a: np.exp(a * x), 0, 1, args=c[0])[0],
    "two variables": lambda c: si.dblquad(
        lambda y, x, a: a * x * y + c[1] * y * y, 0, c[0], lambda x: -c[1] * x, 1, args=(c[0],)
    )[0],
    "several variables": lambda c: si.nquad(
        lambda y, x, a: a * y + x * x, [lambda x, a: [0, a * x], (0, c[1])], args=(c[0],)
    )[0],
    "fixed": lambda c: si.fixed_quad(lambda x: wave(x, c), 0, c[1])[0],
    "tanhsinh": lambda c: si.tanhsinh(
        lambda x: np.exp(-c[0] * x) * c[1], 0, 2, maxlevel=3
    ).integral,
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", INTEGRALS)
def test_derivatives_of_integrals(name):
    f = INTEGRALS[name]
    h = 1e-3
    expected = [
        (8 * (f(C + e) - f(C - e)) - f(C + 2 * e) + f(C - 2 * e)) / (12 * h) for e in h * np.eye(2)
    ]
    compare(f, C, expected, name in ("closure", "fixed"), rtol=1e-6, atol=1e-8)


NOTHING = {
    "quad": lambda c: c[0] * si.quad(lambda x, a: 1.0 if x < a else 0.0, 0, 1, (c[1],))[0],
    "quad_vec": lambda c: c[0] * si.quad_vec(lambda x: np.ones(2) * (x < c[1]), 0, 1)[0][1],
    "dblquad": lambda c: c[0] * si.dblquad(lambda y, x: float(c[1] > 0), 0, 1, 0, 1)[0],
}


@pytest.mark.parametrize("name", NOTHING)
def test_integrands_on_which_nothing_depends_pull_nothing_back(name):
    f, c = NOTHING[name], np.array([1.3, 0.5])
    for _ in range(3):
        np.testing.assert_allclose(gradient(f, c)[0], [f(c) / c[0], 0.0], rtol=1e-6)


def test_smooth_integrands_are_differentiated_at_the_nodes_of_one_rule():
    counts = []

    def cubic(z, y, x, a):
        counts[-1] += 1
        return a * x * y * z + a**2 * x

    def volume(a):
        return si.tplquad(cubic, 0, 1, 0, 2, 0, 1, args=(a,))[0]

    def zero(a):
        return si.dblquad(lambda y, x: cubic(1.0, y, x, a), -1, 1, -1, 1)[0]

    for f, expected in ((volume, 0.5 + 2 * 1.3), (zero, 0.0)):
        for g in (f, lambda a, f=f: gradient(f, a)[0]):
            counts.append(0)
            value = g(1.3)
        assert value == pytest.approx(expected)
        assert counts[-1] < 6 * counts[-2]


def peaked(x, a):
    return (x + 1) * np.exp(-(((x - a) / 0.01) ** 2))


PEAKS = {
    "quad": lambda a: si.quad(peaked, -1, 1, (a,))[0],
    "dblquad": lambda a: si.dblquad(lambda y, x: peaked(y, a), 0, 1, -1, 1)[0],
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PEAKS)
def test_peaks_whose_derivative_is_zero_at_all_nodes(name):
    np.testing.assert_allclose(gradient(PEAKS[name], 0.0)[0], 0.01 * np.sqrt(np.pi), rtol=1e-9)


def test_small_gradients_are_as_exact_as_others():
    f = lambda a, b: si.quad(lambda x: np.exp(-a * x**2) + b * x, 0, 1)[0]
    expected = -0.25 * np.sqrt(np.pi) * 1e6**-1.5, 0.5
    np.testing.assert_allclose(gradient(f, 1e6, 2.0), expected, rtol=1e-8)


def test_an_integral_is_differentiated_again():
    f = lambda x: si.quad(lambda t: t * t * x * x, 0, x)[0]  # x**5 / 3
    np.testing.assert_allclose(grad(grad(f))(1.5), 20 / 3 * 1.5**3)
    np.testing.assert_allclose(jvp(f, (1.5,), (1.0,)), (1.5**5 / 3, 5 / 3 * 1.5**4))


@pytest.mark.parametrize("name", ["two variables", "several variables"])
def test_second_derivatives_over_several_variables_are_refused(name):
    f = INTEGRALS[name]
    for again in (lambda: hessian(f)(C), lambda: jvp(f, (C,), (np.ones(2),))):
        with pytest.raises(NoRuleError, match="integrate the derivative of the integrand"):
            again()


def test_an_integral_of_derivatives_has_a_gradient():
    def second(a):
        return si.dblquad(lambda y, x: grad(lambda a: a**3 * x * y)(a), 0, 1, 0, 1)[0]

    assert gradient(second, 2.0)[0] == pytest.approx(3.0)


SAMPLES = {
    "simpson": lambda y: si.simpson(y, x=np.arange(5.0) ** 2),
    "romb": lambda y: si.romb(y**2),
    "trapezoid": lambda y: si.trapezoid(y**2, np.arange(5.0)),
    "cumulative_trapezoid": lambda y: np.sum(si.cumulative_trapezoid(y) ** 3),
    "cumulative_simpson": lambda y: np.sum(si.cumulative_simpson(y, dx=0.5) ** 3),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_integrals_of_samples_are_differentiated_through_their_source(name):
    y, f = np.cos(np.arange(5.0)), SAMPLES[name]
    expected = [(f(y + e) - f(y - e)) / 2e-5 for e in 1e-5 * np.eye(5)]
    compare(f, y, expected, name in ("simpson", "romb"), rtol=1e-6, atol=1e-8)


REFUSED = {
    "entry 1": lambda c: si.quad(wave, 0, 2, (c,))[1],
    "weight": lambda c: si.quad(lambda x: c[0] * x, 0, 1, weight="cos", wvar=3.0)[0],
    "opts": lambda c: si.nquad(lambda x: c[0] * x, [(0, 1)], opts={"limit": 20})[0],
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_has_no_rule_is_refused(message):
    with pytest.raises(NoRuleError, match=message):
        gradient(REFUSED[message], C)


def test_an_empty_vector_has_an_integral():
    integral = lambda c: np.sum(si.quad_vec(lambda x: np.exp(-c * x), 0, 1)[0])
    assert grad(integral)(np.zeros(0)).shape == (0,)
    by_limit = lambda b: np.sum(si.quad_vec(lambda x: np.zeros(0) * x, 0, b)[0])
    assert gradient(by_limit, 1.2)[0] == 0.0
