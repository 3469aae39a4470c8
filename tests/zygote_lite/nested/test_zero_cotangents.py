"""A zero cotangent wins over nan and infinity: its own derivative must not be lost by that.

The Hessian of a sum of squares, where a residual is exactly zero, is made of such derivatives.
"""

import cmath
import math

import numpy as np
import pytest

from zygote_lite import gradient

A = np.array([[2.5, 0.1], [0.3, 1.0]])
WITH_ZERO = np.array([0.0, 2.0])
AT_ZERO = {
    "hypot": (lambda x: math.hypot(x, 0.2), 0.3),
    "dist": (lambda x: math.dist([x, 0.2], [0.1, 0.3]), 0.3),
    "prod of a list": (lambda x: math.prod([x, 0.2]), 0.3),
    "phase": (lambda x: cmath.phase(complex(x, 0.2)), 0.3),
    "polar": (lambda x: sum(cmath.polar(complex(x, 0.2))), 0.3),
    "angle": (lambda x: np.angle(x + 0.2j), 0.3),
    "abs": (abs, -0.3),
    "slogdet": (lambda x: np.linalg.slogdet(x)[1], A),
    "slogdet of a stack": (lambda x: np.sum(np.linalg.slogdet(x)[1]), np.stack([A, A.T])),
    "norm": (np.linalg.norm, A),
    "std": (np.std, A),
    "prod": (np.prod, WITH_ZERO),
    "cumprod": (lambda x: np.sum(np.cumprod(x)), WITH_ZERO),
    "logaddexp": (np.logaddexp.reduce, WITH_ZERO),
    "interp": (lambda x: np.sum(np.interp(x, [0.0, 1.0], [0.5, 2.0])), np.array([0.3, 0.6])),
    "clip": (lambda x: np.sum(np.clip(x, 0.5, 3.0)), A),
}


@pytest.mark.parametrize("name", AT_ZERO)
def test_the_derivative_of_a_zero_cotangent(name):
    """What a pullback makes of `a * dy` is linear in `a`: its slope at 0 is that at 1."""
    f, x = AT_ZERO[name]

    def slope(a):
        return np.sum(np.cos(x) * gradient(lambda x: a * f(x), x)[0])

    assert slope(1.0) != 0
    np.testing.assert_allclose(gradient(slope, 0.0)[0], slope(1.0))
