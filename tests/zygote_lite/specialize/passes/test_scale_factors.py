"""Scale factors: numbers are multiplied first, where the range of floats allows it."""

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import testing, value_and_grad
from zygote_lite._specialize.driver import specialize

X = np.linspace(0.3, 1.2, 1200)
C = 0.7


def negated_quotient(x, y):
    return np.sum(-(x * 0.5) * np.tanh(3.0 * y) / (1.0 + x))


def global_factor(x, y):
    return np.sum(C * np.tanh(0.25 * x) * C * y * -2.0)


def square_of_a_half(x, y):
    return np.sum((y + 0.5 * x * x) * y)


def shared_cotangent(x, y):
    z = 3.0 * (0.5 * x * y)
    return np.sum(np.sin(2.0 * z) * z)


def in_a_loop(x, y):
    for _ in range(3):
        x = 0.5 * (2.0 * np.sin(x)) * (0.3 * y)
    return np.sum(x)


def written(x, y):
    z = 0.5 * x
    w = z * 3.0
    z[3] = 7.0
    return np.sum(w * z * y * 2.0)


def handed_on_and_added_to(x, y):
    v = 0.5 * (np.cos(y) * x)
    u = np.sin(x)
    w = np.tanh(u)
    z = u - v
    return np.sum(z * x * 2.0 + w)


def handed_on_to_views(x, y):
    v = 0.5 * (np.cos(y) * x)
    u = np.sin(x)
    w = u[1:] * 0.25
    z = u - v
    return np.sum(z * x * 2.0) + np.sum(w * y[1:])


def handed_on_in_a_loop(x, y):
    for _ in range(3):
        v = 0.5 * (np.cos(y) * x)
        u = np.sin(x)
        w = np.tanh(u)
        x = (u - v) * 2.0 + w
    return np.sum(x * 0.5 * y)


def multiple_of_what_is_written(x, y):
    w = np.sin(x)
    z = 2.0 * w
    w[3] = 7.0
    return np.sum(0.5 * (z * y) * y) + np.sum(w * z * 0.5)


def broadcast(x, y):
    return np.sum(-(0.5 * x[:, None]) * (2.0 * y[:30]) * 3.0)


PROGRAMS = [negated_quotient, global_factor, square_of_a_half, shared_cotangent, in_a_loop, written,
            handed_on_and_added_to, handed_on_to_views, handed_on_in_a_loop,
            multiple_of_what_is_written, broadcast]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [4, 1200])
def test_gradients(f, n):
    xs = (X[:n], 1.5 - X[:n]) if f is not broadcast else (X[:n], X)
    with testing.transformed_only():
        results = [value_and_grad(f, (0, 1))(*xs) for _ in range(2)]
    with testing.recorded_only():
        y, right = value_and_grad(f, (0, 1))(*xs)
    for value, found in results:
        assert value == y
        for d, e in zip(found, right, strict=True):
            np.testing.assert_allclose(d, e, rtol=1e-13, atol=1e-300)
    if n == 4:
        assert_slopes(results[0][1], f, xs, 1e-6)


def text_of(f, *active):
    return str(specialize(f, (X, X), active).text).partition(".sum()")[2]


def test_numbers_are_multiplied_first():
    text = text_of(lambda x, y: np.sum(-(np.sin(x) * 0.5) * np.tanh(y) * 3.0), True, False)
    assert text.count("-1.5") == 1, text
    assert text.count("*=") + text.count(" * ") == 3, text


def test_numbers_that_cancel_are_left_out():
    assert "2.0" not in text_of(square_of_a_half, True, True)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_other_types_are_left_as_they_are(kind):
    x = np.arange(1, 5).astype(kind)
    with testing.transformed_only():
        found = value_and_grad(negated_quotient, 1)(x, X[:4])
    with testing.recorded_only():
        right = value_and_grad(negated_quotient, 1)(x, X[:4])
    np.testing.assert_allclose(found[1], right[1], rtol=1e-6)


def test_constants_outside_of_the_range_of_floats_stay_apart():
    def f(x):
        return np.sum((1e-300 + 0.0 * x) * (1e200 * (1e200 * x)))

    x = 1e-150 * X
    with testing.transformed_only():
        _, found = value_and_grad(f)(x)
    np.testing.assert_allclose(found, np.full(len(X), 1e100), rtol=1e-12)
