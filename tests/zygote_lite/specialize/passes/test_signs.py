"""Signs: a negative is left out where a sum can take its sign, and nowhere else."""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import jvp, testing, value_and_grad
from zygote_lite._specialize.driver import specialize
from zygote_lite._specialize.tangents import specialize_forward

X = np.linspace(0.3, 1.2, 1200)


def difference(x, y):
    return np.sum(np.tanh(x - y * np.sin(x)) * (x / y - y))


def quotient(x, y):
    d = (np.log(x / y) + 0.5 * y) / (y * np.sqrt(x))
    e = d - y * np.sqrt(x)
    return np.sum(x * np.tanh(d) - y * np.tanh(e))


def softmax(x, y):
    z = x * y
    p = z - np.log(np.sum(np.exp(z)))
    return -np.mean(p[: len(p) // 2] * y[: len(p) // 2])


def parts(x, y):
    z = x * 1.0
    z[1:-1] = y[2:] - 2 * x[1:-1] * y[:-2]
    z[1:] = z[1:] - np.sin(z[:-1])
    return np.sum(z * z)


def in_a_loop(x, y):
    for k in range(3):
        x = y * 0.5 - np.cos(x) / (1 + k - x * x / 9.0)
    return np.sum(x * y - 1 / x)


def both_signs(x, y):
    z = np.exp(x) - y
    return np.sum(y - z) - np.sum(z * (x - z)) + np.sum((0.5 - z) / (3 - y))


def in_lists(x, y):
    kept, seen = [], []
    for k in range(3):
        kept.append(x * y)
        x = x - y * 0.1
        seen.append(x / (k + 2))
    z = kept[-1]
    for k in range(1, -1, -1):
        z = kept[k] + y * (z - seen[k + 1])
    return np.sum(z * z)


def alone(x, y):
    return np.sum(y - x) + np.sum(-y * 2)


def of_a_row(x, y):
    return np.sum((x[:, None] - x[None, :]) / (2 + x * y) - y[::-1])


def around_a_number(x, y):
    m = x[0] * y[0]
    return np.sum(np.tanh(x - m) * y) + m * np.sin(m)


PROGRAMS = [
    difference, quotient, softmax, parts, in_a_loop, both_signs, in_lists, alone, of_a_row,
    around_a_number,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [4, 1200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradients(f, n, dtype):
    n = min(n, 40) if f is of_a_row else n
    xs = X[:n].astype(dtype), (1.5 - X[:n]).astype(dtype)
    with testing.transformed_only():
        y, found = value_and_grad(f, (0, 1))(*xs)
    with testing.recorded_only():
        right, expected = value_and_grad(f, (0, 1))(*xs)
    assert y == right
    for d, e in zip(found, expected, strict=True):
        assert d.dtype == dtype
        np.testing.assert_allclose(d, e, rtol=1e-12 if dtype is np.float64 else 2e-3, atol=1e-4 * (
            dtype is np.float32) + 1e-12)  # fmt: skip
    if n == 4 and dtype is np.float64:
        assert_slopes(found, f, xs, 1e-6)


def test_arguments_are_not_written_to():
    x, y = X.copy(), 1.5 - X
    with testing.transformed_only():
        value_and_grad(alone, (0, 1))(x, y)
        dy = value_and_grad(alone, (0, 1))(x, y)[1][1]
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, 1.5 - X)
    np.testing.assert_array_equal(dy, np.full(len(X), -1.0))


def text_of(f):
    return str(specialize(f, (X, 1.5 - X), (True, True)).text)


def test_a_sum_to_a_number_takes_a_sign():
    text = text_of(around_a_number)
    assert "= -" not in text
    assert "dm -= " in text


@pytest.mark.parametrize(("f", "count"), [(difference, 1), (quotient, 0), (parts, 1)])
def test_negatives_are_left_out(f, count):
    text = text_of(f)
    assert text.count("np.negative") == count, text
    assert "-= " in text


def test_a_negative_that_is_a_gradient_is_computed():
    assert "np.negative(y" in text_of(lambda x, y: np.sum(np.tanh(y) - x * y))


def dual_text_of(f, xs):
    return str(specialize_forward(f, xs, (True, True), xs).text)


def test_tangents_take_signs():
    text = dual_text_of(lambda x, y: np.sum(np.exp(-x * x) - y * np.cos(x)), (X, 1.5 - X))
    assert "np.negative" not in text, text
    assert text.count("-x") == 1  # the function's own


def test_tangents_of_numbers_take_signs():
    text = dual_text_of(lambda x, y: math.cos(x) / y - math.cos(y), (0.3, 1.2))
    assert "-d" not in text, text
    assert "-(" not in text, text


def test_a_tangent_of_a_quotient_is_divided_once():
    text = dual_text_of(lambda x, y: math.sin(x) / y, (0.3, 1.2))
    assert text.count("/ y") == 2, text


def of_an_array_and_a_number(x, y):
    return np.sum(-x / (y + x[0])) - y / x[1] - np.sum(-np.exp(-x) / y)


@pytest.mark.parametrize("f", [*PROGRAMS, of_an_array_and_a_number])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tangents(f, dtype):
    xs = X[:6].astype(dtype), (1.5 - X[:6]).astype(dtype)
    if f is of_an_array_and_a_number:
        xs = xs[0], 0.7
    dxs = tuple([x * 0 + 0.1 + x * x for x in xs])
    with testing.transformed_only():
        y, dy = jvp(f, xs, dxs)
    with testing.recorded_only():
        right, expected = jvp(f, xs, dxs)
    assert y == right
    np.testing.assert_allclose(dy, expected, rtol=1e-12 if dtype is np.float64 else 2e-4)
