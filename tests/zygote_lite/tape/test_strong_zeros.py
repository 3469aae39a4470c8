"""What was not chosen gets no gradient, even where that of what follows is infinite."""

import math

import numpy as np
import pytest

import rules_nnlib as nn
from zygote_lite import gradient

X = np.array([-1.0, 4.0, 0.25])
ROOT = np.where(X > 0, 0.5 / np.sqrt(np.abs(X)), 0.0)


@pytest.mark.parametrize(
    "chosen",
    [
        lambda x: np.maximum(x, 0.0), lambda x: np.maximum(0.0, x), lambda x: -np.minimum(-x, 0.0),
        lambda x: np.fmax(x, 0.0), lambda x: -np.fmin(-x, 0.0), nn.relu, lambda x: np.clip(x, 0, 9),
    ],
    ids=["maximum", "the other way", "minimum", "fmax", "fmin", "relu", "clip"],
)  # fmt: skip
def test_roots_of_what_is_chosen(chosen):
    def f(x):
        return np.sum(np.sqrt(chosen(x)))

    for _ in range(4):
        np.testing.assert_allclose(gradient(f, X)[0], ROOT)
        np.testing.assert_allclose(gradient(f, X.astype(np.float32))[0], ROOT, rtol=1e-6)
        (d,) = gradient(f, np.array([[-1.0], [4.0]]))
        np.testing.assert_allclose(d, [[0.0], [0.25]])


def test_numbers():
    for _ in range(4):
        assert gradient(lambda x: np.sqrt(np.maximum(x, 0.0)), -1.0) == (0.0,)
        assert gradient(lambda x: np.sqrt(nn.relu(x)), np.float64(-1.0)) == (0.0,)
        assert gradient(lambda x: np.sqrt(np.maximum(x, 0.0)), 4.0) == (0.25,)


def test_the_other_operand_is_broadcast():
    def f(x, y):
        return np.sum(np.sqrt(np.maximum(x, y)))

    for _ in range(4):
        dx, dy = gradient(f, X, np.array([0.0]))
        np.testing.assert_allclose(dx, ROOT)
        assert dy.shape == (1,)
        assert math.isinf(dy[0])  # it was chosen once, and there the root has no slope


def test_products_have_no_choice():
    with np.errstate(invalid="ignore"):
        (d,) = gradient(lambda x: np.sum(np.sqrt(x * 0.0)), X)
    assert np.isnan(d).all()
