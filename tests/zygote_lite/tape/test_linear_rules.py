"""Linear rules in both tiers, and where they are differentiated again."""

import numpy as np
import pytest

from rulescore import Array, Numeric, RuleSet, rrule
from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import grad, gradient, hvp
from zygote_lite.testing import recorded_only, transformed_only

X = np.array([0.3, -1.2, 0.7])
CALLS = []


def rotated(x, by=1, *, shift=0.0):
    CALLS.append(by)
    return np.roll(x, by) + shift


def blended(x, weights, y):
    return x * weights + y * (1 - weights)


def gathered(arrays):
    return np.concatenate(arrays)


@pytest.fixture(autouse=True)
def rules():
    """Declare linear rules for the functions above."""
    rule = RuleSet("linear")

    @rule.linear(rotated, shifts=("shift",))
    def _(dy, x: Array, by=1, *, shift=0.0):
        return np.roll(dy, -by)

    @rule.linear(blended, argnums=(0, 2))
    def _(dy, x: Numeric, weights: Numeric, y: Numeric):
        return dy * weights, dy * (1 - weights)

    @rule.linear(gathered)
    def _(dy, arrays: list | tuple):
        parts, start = [], 0
        for x in arrays:
            parts.append(dy[start : start + len(x)])
            start += len(x)
        return parts

    rule.register()
    yield
    rule.unregister()
    CALLS.clear()


def of_rotated(x):
    return np.sum(rotated(x * x, 2, shift=1.0) * x)


def of_blended(x):
    return np.sum(blended(x, np.array([0.2, 0.5, 0.9]), 2.0) * blended(1.0, 0.25, x * x))


def of_gathered(x):
    y = gathered([x, x * 2.0, np.ones(2)]) ** 2
    return np.sum(y[1:] * y[:-1])


@pytest.mark.parametrize("f", [of_rotated, of_blended, of_gathered])
def test_adjoints_that_a_program_declares(f):
    check_gradient(f, X)
    for _ in range(4):
        (d,) = gradient(f, X.astype(np.float32))
        assert d.dtype == np.float32
        np.testing.assert_allclose(d, gradient(f, X)[0], rtol=1e-5)


def reduced(a):
    return (
        np.sum(np.sum(a, axis=0) * np.mean(a * a, axis=0)) + np.sum(a, axis=1, keepdims=True)[0, 0]
    )


def reshaped(a):
    return np.sum(np.reshape(a, (6,)) * a.T.ravel() + np.expand_dims(a, 0).flatten() ** 2)


def stacked(a):
    rows = np.stack([a[0], a[1] * 2.0])
    return np.sum(np.concatenate([rows, a, np.ones((1, 3))])[1:] * np.vstack([a, rows]) ** 2)


def turned(a):
    return np.sum(np.roll(a, 1) * np.flip(a) + np.tril(a) * np.cumsum(a, axis=1)) * np.trace(a)


def differed(a):
    return np.sum(np.diff(a) ** 2) + np.sum(np.diff(a, 2, 1)) * np.sum(np.diff(a, axis=0))


@pytest.mark.parametrize("f", [reduced, reshaped, stacked, turned, differed])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_adjoints_of_rules_base_in_transformed_code(f, dtype):
    a = np.array([[0.5, -1.5, 2.0], [0.25, 1.0, -0.5]], dtype)
    with recorded_only():
        (expected,) = gradient(f, a)
    if dtype == np.float64:
        check_gradient(f, a)
    with transformed_only():
        for x in (a, np.asfortranarray(a)):
            (d,) = gradient(f, x)
            assert d.dtype == dtype
            np.testing.assert_allclose(d, expected, rtol=1e-5)


@pytest.mark.parametrize("f", [of_rotated, of_blended, of_gathered])
def test_gradients_of_gradients(f):
    v = np.array([0.5, 2.0, -1.0])
    step = 1e-6
    expected = (grad(f)(X + step * v) - grad(f)(X - step * v)) / (2 * step)
    with recorded_only():
        np.testing.assert_allclose(hvp(f)(X, v), expected, rtol=1e-6, atol=1e-7)
        found = grad(lambda x: np.sum(grad(f)(x) * v))(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    for _ in range(3):
        np.testing.assert_allclose(hvp(f)(X, v), expected, rtol=1e-6, atol=1e-7)


def test_the_function_itself_is_called_once():
    for _ in range(4):
        CALLS.clear()
        grad(of_rotated)(X)
        assert CALLS == [2]


def test_a_complex_cotangent_of_a_real_argument():
    z = np.array([1.0 + 2.0j, 3.0 - 1.0j])

    def f(x):
        return np.sum(np.abs(gathered((x, z)) * (1.0 + 1.0j)) ** 2)

    (d,) = gradient(f, X)
    assert d.dtype == np.float64
    np.testing.assert_allclose(d, 4 * X)


def test_what_it_is_not_linear_in_has_no_gradient():
    with pytest.raises(Exception, match="takes `shift` as an option"):
        grad(lambda s: np.sum(rotated(X, shift=s)))(0.5)
    assert grad(lambda w: np.sum(blended(X, w, 0.0)))(0.5) == 0.0


def test_rrule_of_a_linear_rule_inside_what_is_differentiated():
    def f(x):
        y, back = rrule(rotated, x * x, 1)
        return np.sum(back(y * x)[1] ** 2)

    def by_hand(x):
        return np.sum(np.roll(np.roll(x * x, 1) * x, -1) ** 2)

    for _ in range(3):
        np.testing.assert_allclose(grad(f)(X), grad(by_hand)(X))
    assert (
        grad(lambda x: 1.0 if rrule(rotated, x)[1](None) == (None, None) else x[0])(X) is not None
    )


def test_rules_of_rules_base_twice():
    a = np.arange(6.0).reshape(2, 3) / 4

    def f(a):
        rows = [np.sum(a, axis=1), np.mean(a.T, axis=0), np.trace(a[:, :2]) * np.ones(2)]
        table = np.stack(rows) @ np.concatenate([a, a[:, ::-1] ** 2], axis=1)
        smooth = np.fft.irfft(np.fft.rfft(np.cumsum(np.ravel(table))) * 0.5)
        return np.sum(np.roll(smooth, 2) * np.tile(np.diff(smooth, append=0.0), 1))

    v = np.cos(a)
    step = 1e-6
    expected = (grad(f)(a + step * v) - grad(f)(a - step * v)) / (2 * step)
    with recorded_only():
        check_gradient(f, a)
        np.testing.assert_allclose(hvp(f)(a, v), expected, rtol=1e-5, atol=1e-6)
