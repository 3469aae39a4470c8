"""Softmax and its relatives, against SciPy's and finite differences of those."""

import math

import numpy as np
import pytest
import scipy.special as sp

from rules_nnlib import logsoftmax, logsumexp, softmax
from rulescore import rrule

REFERENCES = {softmax: sp.softmax, logsoftmax: sp.log_softmax, logsumexp: sp.logsumexp}
LOGITS = np.random.default_rng(1).normal(size=(2, 3, 4)) * 2
AXES = [-1, 0, 1, (0, 2), None]
every_function = pytest.mark.parametrize("f", REFERENCES, ids=lambda f: f.__name__)


def gradient(f, x, dy, h=1e-4):
    """Return the gradient of sum(dy * f(x)) by finite differences."""
    dx = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = h
        there = 8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))
        dx[i] = np.sum(dy * there) / (12 * h)
    return dx


@every_function
@pytest.mark.parametrize("axis", AXES)
def test_value_and_gradient(f, axis):
    expected = REFERENCES[f](LOGITS, axis=axis)
    np.testing.assert_allclose(f(LOGITS, axis=axis), expected, rtol=1e-14)
    dy = np.random.default_rng(2).normal(size=expected.shape)
    numerical = gradient(lambda x: REFERENCES[f](x, axis=axis), LOGITS, dy)
    for y, back in (rrule(f, LOGITS, axis=axis), rrule(f, LOGITS, axis)):
        np.testing.assert_allclose(y, expected, rtol=1e-14)
        cotangents = back(dy)
        assert [c is None for c in cotangents] in ([True, False], [True, False, True])
        np.testing.assert_allclose(cotangents[1], numerical, rtol=1e-9, atol=1e-10)
        np.testing.assert_array_equal(back(dy)[1], cotangents[1])


@pytest.mark.parametrize("axis", AXES)
def test_logsumexp_keepdims(axis):
    y, back = rrule(logsumexp, LOGITS, axis=axis, keepdims=True)
    np.testing.assert_allclose(y, sp.logsumexp(LOGITS, axis=axis, keepdims=True), rtol=1e-14)
    flat, flat_back = rrule(logsumexp, LOGITS, axis=axis)
    dy = np.random.default_rng(2).normal(size=y.shape)
    np.testing.assert_array_equal(back(dy)[1], flat_back(dy.reshape(np.shape(flat)))[1])


def test_defaults():
    np.testing.assert_array_equal(softmax(LOGITS), softmax(LOGITS, axis=2))
    np.testing.assert_array_equal(logsoftmax(LOGITS), logsoftmax(LOGITS, axis=2))
    assert logsumexp(LOGITS) == pytest.approx(sp.logsumexp(LOGITS))


@every_function
@pytest.mark.parametrize("scale", [1e4, 1e300])
def test_far_out(f, scale):
    x = np.array([[scale, 0.0, -scale], [-scale, -scale, -scale]])
    y, back = rrule(f, x, axis=-1)
    expected = {
        softmax: [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]],
        logsoftmax: [[0, -scale, -2 * scale], [-math.log(3)] * 3],
        logsumexp: [scale, -scale + math.log(3)],
    }[f]
    np.testing.assert_allclose(y, expected, rtol=1e-15)
    dx = back(np.ones_like(y))[1]
    expected = [[1, 0, 0], [1 / 3] * 3] if f is logsumexp else np.zeros((2, 3))
    if f is logsoftmax:
        expected = [[-2, 1, 1], [0, 0, 0]]
    np.testing.assert_allclose(dx, expected, atol=1e-15)


@every_function
def test_impossible_classes(f):
    """A logit of -inf is probability 0: a mask."""
    x = np.array([0.3, -math.inf, 1.2])
    y, back = rrule(f, x, axis=-1)
    rest, rest_back = rrule(f, x[[0, 2]], axis=-1)
    dy = np.array([0.5, 0.0, 2.0]) if f is not logsumexp else 1.0
    rest_dy = np.array([0.5, 2.0]) if f is not logsumexp else 1.0
    np.testing.assert_allclose(np.delete(y, 1) if np.ndim(y) else y, rest, rtol=1e-15)
    np.testing.assert_allclose(back(dy)[1][[0, 2]], rest_back(rest_dy)[1], rtol=1e-14)
    assert back(dy)[1][1] == 0


def test_logsumexp_of_nothing_and_of_the_impossible():
    for x in [np.zeros(0), np.full(3, -math.inf)]:
        y, back = rrule(logsumexp, x)
        assert y == -math.inf
        np.testing.assert_array_equal(back(1.0)[1], np.zeros(x.size))
    assert logsumexp(np.array([math.inf, 0.0])) == math.inf


@every_function
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_empty(f, shape):
    y, back = rrule(f, np.zeros(shape), axis=-1)
    assert y.shape == (shape[:-1] if f is logsumexp else shape)
    assert back(np.ones_like(y))[1].shape == shape


@every_function
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_precision_is_kept(f, dtype):
    x = LOGITS.astype(dtype)
    y, back = rrule(f, x, axis=1)
    assert y.dtype == dtype
    dy = np.linspace(-1, 1, y.size).reshape(y.shape)
    assert back(dy)[1].dtype == dtype
    tolerance = 20 * float(np.finfo(dtype).eps)
    exact, exact_back = rrule(f, x.astype(float), axis=1)
    np.testing.assert_allclose(y, exact, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(back(dy)[1], exact_back(dy)[1], rtol=tolerance, atol=tolerance)


@every_function
def test_integers_numbers_and_layouts(f):
    x = np.array([[3, -128, 127], [1, 1, 2]], np.int8)
    y, back = rrule(f, x, axis=1)
    exact, exact_back = rrule(f, x.astype(float), axis=1)
    np.testing.assert_array_equal(y, exact, strict=True)
    dy = np.arange(y.size, dtype=float).reshape(y.shape)
    np.testing.assert_array_equal(back(dy)[1], exact_back(dy)[1], strict=True)
    expected = {softmax: 1.0, logsoftmax: 0.0, logsumexp: 2.5}[f]
    for number in (2.5, np.float32(2.5), np.array(2.5)):
        y, back = rrule(f, number)
        assert y == expected
        assert back(1.0)[1] == (1.0 if f is logsumexp else 0.0)
        assert np.shape(back(1.0)[1]) == ()
    assert type(f(2.5)) is float
    assert type(rrule(f, 2.5)[1](1.0)[1]) is float
    backwards = LOGITS[::-1, :, ::-2]
    y, back = rrule(f, backwards, axis=0)
    dy = np.arange(y.size, dtype=float).reshape(y.shape)
    expected = rrule(f, backwards.copy(), axis=0)[1](dy)[1]
    np.testing.assert_allclose(back(dy)[1], expected, rtol=1e-14, atol=1e-14)


@every_function
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_zero_cotangent_is_a_strong_zero(f, value):
    """A row that is masked out leaves no trace, though its softmax is undefined."""
    x = LOGITS[0].copy()
    x[1] = value
    with np.errstate(all="ignore"):
        y, back = rrule(f, x, axis=1)
    dy = np.arange(1.0, 1 + y.size).reshape(y.shape)
    dy[1] = 0
    dx = back(dy)[1]
    np.testing.assert_array_equal(dx, rrule(f, LOGITS[0], axis=1)[1](dy)[1])
    assert not dx[1].any()


@every_function
def test_what_is_not_real_is_refused(f):
    with pytest.raises(TypeError, match="real numbers and arrays"):
        f(np.ones(3, complex))
    assert rrule(f, "abc") is None


@every_function
def test_foreign_arrays_stay_foreign(f, foreign):
    y, back = rrule(f, foreign(LOGITS), axis=1)
    expected, expected_back = rrule(f, LOGITS, axis=1)
    assert type(y) is foreign
    np.testing.assert_array_equal(y.data, expected)
    dx = back(foreign(np.ones_like(expected)))[1]
    assert type(dx) is foreign
    np.testing.assert_array_equal(dx.data, expected_back(np.ones_like(expected))[1])
