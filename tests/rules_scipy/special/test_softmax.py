"""Rules of `rules_scipy.special.softmax`, against differences."""

import numpy as np
import pytest
from scipy import special as sp

from rulescore.testing import check_rrule
from zygote_lite import gradient, jvp


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_weights_of_zero():
    b = np.array([0.5, 0.0, 2.0])
    (da,) = gradient(lambda a: sp.logsumexp(a, b=b), np.array([1.0, np.inf, 0.0]))
    np.testing.assert_allclose(da, [np.e / (np.e + 4), 0.0, 4 / (np.e + 4)])

    def slope(b):
        (db,) = gradient(lambda b: sp.logsumexp(np.array([1.0, 0.3, 0.0]), b=b), b)
        return db[0]

    (found,) = gradient(slope, b)  # of exp(1) / (b . exp(a))
    total = b @ np.exp([1.0, 0.3, 0.0])
    np.testing.assert_allclose(found, -np.exp([2.0, 1.3, 1.0]) / total**2)


A = np.array([0.3 + 0.2j, 0.1j, -0.4 + 1j])
B = np.array([1.0, -2.0, 0.5])
PHASES = B * np.exp(1j * np.arange(3))
COMPLEX = {
    "softmax": lambda z: np.sum(B * sp.softmax(z)),
    "logarithm of softmax": lambda z: np.sum(B * sp.log_softmax(z)),
    "no weights": sp.logsumexp,
    "real weights": lambda z: sp.logsumexp(z, b=B),
    "complex weights": lambda z: sp.logsumexp(z, b=PHASES),
    "as weights": lambda z: sp.logsumexp(A, b=z),
    "as weights of real entries": lambda z: sp.logsumexp(B, b=z),
    "by position": lambda z: sp.logsumexp(z, 0, PHASES),
    "sign": lambda z: sp.logsumexp(z, return_sign=True)[1],
    "sign with weights": lambda z: sp.logsumexp(z, b=B, return_sign=True)[1],
    "logarithm and sign": lambda z: np.prod(sp.logsumexp(z, 0, PHASES, return_sign=True)),
    "sign of weights": lambda z: np.prod(sp.logsumexp(B, 0, z, return_sign=True)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", COMPLEX)
def test_of_complex_numbers(name):
    def f(z):
        return np.real((1 + 2j) * COMPLEX[name](z))

    steps = 1e-5 * np.concatenate([np.eye(3), 1j * np.eye(3)])
    slopes = np.array([f(A + h) - f(A - h) for h in steps]) / 2e-5
    for _ in range(3):
        np.testing.assert_allclose(gradient(f, A)[0], slopes[:3] + 1j * slopes[3:], rtol=1e-7)
        dz = np.array([0.2 - 1j, 0.5, 1j])
        expected = slopes[:3] @ dz.real + slopes[3:] @ dz.imag
        np.testing.assert_allclose(jvp(f, (A,), (dz,))[1], expected, rtol=1e-7)


def test_complex_weights_of_real_entries():
    f = lambda a: np.real((1 + 2j) * sp.logsumexp(a, b=PHASES))
    slopes = [(f(B + h) - f(B - h)) / 2e-5 for h in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(gradient(f, B)[0], slopes, rtol=1e-7)
