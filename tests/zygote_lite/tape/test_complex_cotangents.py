"""Rules whose pullback gives a complex cotangent for a real argument: its real part counts."""

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.comparing import assert_close
from zygote_lite import gradient

rule = RuleSet("complex_cotangents")


def square(x):
    return x * x


@rule(square)
def _(x: np.ndarray):
    return x * x, lambda dy: (dy * (2.0 * x + 1j),)


@rule(square)
def _(x: float):
    return x * x, lambda dy: (dy * (2.0 * x + 1j),)


def product(x, y):
    return x * y


@rule(product)
def _(x: np.ndarray, y: np.ndarray):
    return x * y, lambda dy: (dy * np.conj(y), dy * np.conj(x))


@pytest.fixture(autouse=True)
def _registered():
    rule.register()
    yield
    rule.unregister()


Z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
FUNCTIONS = {
    "real": lambda z: np.sum(square(z.real)),
    "imag": lambda z: np.sum(square(z.imag)),
    "abs": lambda z: np.sum(square(np.abs(z))),
    "number": lambda z: square(float(np.abs(z[0]))),
    "product": lambda z: np.sum(np.abs(product(np.abs(z), z))),
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_real_arguments_have_real_cotangents(f):
    steps = [1e-6 * e for e in (*np.eye(2), *(1j * np.eye(2)))]
    slopes = [(f(Z + h) - f(Z - h)) / 2e-6 for h in steps]
    want = np.array(slopes[:2]) + 1j * np.array(slopes[2:])
    for _ in range(4):
        assert_close(gradient(f, Z)[0], want, 1e-8)


def test_second_derivatives():
    def f(x):
        (d,) = gradient(lambda z: np.sum(square(np.abs(z))) * 1.0, x + 0.5j)
        return np.sum(d.real**2 + d.imag)

    x = np.array([1.0, 0.5])
    want = [(f(x + h) - f(x - h)) / 2e-5 for h in 1e-5 * np.eye(2)]
    assert_close(gradient(f, x)[0], np.array(want), 1e-7)
