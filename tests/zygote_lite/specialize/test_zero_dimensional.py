"""Arrays without axes, and numbers where arrays are expected, in transformed code."""

import copy

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import grad, pullback, testing, value_and_grad

V = np.array([0.5, 0.6, 0.7, 0.8])
NUMBERS = (0.6, np.float64(-0.6), np.array(0.7), np.array(0.7, np.float32), np.float32(0.4))


def converted(x):
    y = np.asarray(x)
    return y * 2.0 + np.sin(y)


def returned(x):
    return np.asarray(x)


def chosen(x):
    y = np.where(x > 0.5, x * 2.0, x * x)
    return y * np.where(y > 1.0, y, 3.0 * y) + float(y)


def several(x):
    a, b = map(np.asarray, [x, x * 2.0])
    return a * b


def by_axes(x):
    y = np.asarray(x) * 2.0 if np.ndim(x) == 0 else x[0]
    return np.sum(y * y) + (1.0 if np.isscalar(x) else x)


def items(x):
    y = np.asarray(x)
    return y.item() * 2.0 + float(y) * y[()]


def summed(x):
    _ = x * 2.0
    return np.sum(_)


def of_one_entry(x):
    y = np.atleast_1d(x)
    return np.squeeze(np.array([x * 2.0])) * np.sum(y * y) * np.reshape(x, ())


def in_a_loop(x):
    a = np.asarray(x)
    for i in range(3):
        a = np.asarray(a * x + i)
    return a * 1.0


def on_a_path(x):
    a = np.asarray(x)
    b = a if x > 0.5 else np.asarray(x * x)
    return b * b + a


def in_a_list(x):
    a = np.asarray(x)
    return sum([a, a * a, np.sin(a)])


def times_one(x):
    a = np.asarray(x)
    b = a * 1.0
    return b * (3.0 if isinstance(b, np.ndarray) else a) + (a + b.ndim + b.size) ** len(b.shape)


def stored(x):
    a = np.zeros(())
    a[()] = x
    a += x * x
    a[...] = a * a
    return float(a) * x


def stored_in_a_loop(x):
    a = np.zeros(())
    for i in range(3):
        a += x * i
        a *= x
    return a[()] * x


def under_two_names(x):
    a = np.array(x)
    b = a
    b += 1.0
    return a * b


def through_views(x):
    a = np.array(x)
    b, c, d = a[...], a.reshape(1), a[None]
    b += x
    c[0] *= x
    d[0] = d[0] * a
    return a * x + c[0]


def into_an_operand(x):
    a = np.array(x)
    np.negative(a, out=a)
    np.multiply(a, x, out=a)
    a.fill(a * 2.0)
    return a * x


def spread_together(x):
    a, b = np.broadcast_arrays(x, np.asarray(x) * 2.0)
    c, d = np.broadcast_arrays(x, np.arange(3.0))
    return a * b + np.sum(np.conjugate(a) * c * d)


def where_it_is_positive(x):
    y = np.asarray(x) * 1.0
    z = np.log(y, out=np.zeros_like(y), where=np.array(y > 0))
    np.divide(x, z, out=z, where=z != 0.0)
    return z * x + np.sum(
        np.sqrt(x, out=np.ones(3), where=np.array([True, y > 0, False]) & (y > 0))
    )


def until_it_stays(x):
    y, moves = x * 1.0, np.ones_like(x, dtype=bool)
    while moves.sum():
        before = y
        y = 0.3 * np.cos(before) + x
        moves = np.nan_to_num(abs(y - before)) > 1e-3
    return y


def branching(x):
    a = np.asarray(x)
    y = x * 1.0
    if a:
        y = y + a
    return -y if not a - 5.0 else y


def masked(x):
    a = np.array(x)
    a[a > 0] = 2.0 * x
    a[a > 0] *= x
    a[a < 0] = 3.0 * x * x
    return a[()] + np.sum(a[a > 0.1]) * a[...] + np.sum(a[True])


def copied_by_a_truth_value(x):
    a = np.array(x)
    b = a[True]
    b[...] = b + x
    a[True] = b
    return np.sum(a * x)


OF_NUMBERS = (converted, returned, chosen, several, by_axes, items, summed, of_one_entry, in_a_loop,
              on_a_path, in_a_list, times_one, stored, stored_in_a_loop, under_two_names,
              through_views, into_an_operand, spread_together, where_it_is_positive,
              until_it_stays, branching, masked, copied_by_a_truth_value)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", OF_NUMBERS)
@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: f"{type(x).__name__}-{np.result_type(x)}")
def test_gradients_of_numbers(f, x):
    with testing.transformed_only():
        d = grad(f)(copy.deepcopy(x))
    assert type(d) is type(x)
    if isinstance(x, np.ndarray):
        assert (d.shape, d.dtype) == ((), x.dtype)
    kind, h = np.array if isinstance(x, np.ndarray) else np.float64, 1e-6
    kind = float if isinstance(x, float) else kind
    slope = (float(f(kind(float(x) + h))) - float(f(kind(float(x) - h)))) / (2 * h)
    assert d == pytest.approx(slope, rel=1e-4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", OF_NUMBERS)
def test_other_kinds_of_numbers_later(f):
    assert assert_agreement(f, *[(x,) for x in NUMBERS], tolerance=1e-6)


def parts_of_a_vector(v):
    a, b, c, d = np.array([v[..., i] for i in range(4)])
    return np.sum(np.stack([a, b * c, c, d])) * v[..., 0]


def joined(v):
    parts = [v[..., i] for i in range(4)]
    return np.sum(np.concatenate([x[..., None] for x in parts], axis=-1) ** 2)


def spread(v):
    m = np.asarray(v.sum())
    return np.sum(v * m) + np.sum(m / v) + np.asarray(np.mean(v)) * np.max(v)


@pytest.mark.parametrize("f", [parts_of_a_vector, joined, spread])
def test_gradients_of_vectors(f):
    with testing.transformed_only():
        d = grad(f)(V)
    for i, h in enumerate(np.eye(4) * 1e-6):
        assert d[i] == pytest.approx((f(V + h) - f(V - h)) / 2e-6, rel=1e-6)
    assert assert_agreement(f, (V,), (V.astype(np.float32),), tolerance=1e-5)


def test_an_argument_that_is_written_keeps_its_kind():
    def doubled(x, y):
        x *= 2.0
        x[...] = x * y
        return x * x

    x = np.array(0.5)
    with testing.transformed_only():
        y, d = value_and_grad(doubled, (0, 1))(x, np.array(3.0))
    assert (y, x) == (9.0, 3.0)
    assert isinstance(x, np.ndarray)
    assert d == (36.0, 6.0)
    assert all(isinstance(part, np.ndarray) and part.shape == () for part in d)


def test_what_has_other_axes_is_not_added_in_place():
    def wrong(x):
        a = np.array(x)
        a += np.ones(1) * x
        return a * x

    for _ in range(4):
        with pytest.raises(ValueError, match="non-broadcastable output"):
            grad(wrong)(0.5)


def test_the_largest_of_arrays_is_one_of_them():
    def f(v):
        a, b = np.array(v.sum()), np.full((), 1.0)
        view = a[...]
        view += max(a, b)
        a[...] = view
        return (a * a)[()]

    for _ in range(3):
        np.testing.assert_array_equal(grad(f)(np.array([0.5, 1.25])), [14.0, 14.0])
        np.testing.assert_allclose(grad(f)(np.array([0.25, 0.5])), [3.5, 3.5])


def test_a_pullback_takes_and_gives_arrays_without_axes():
    for _ in range(3):
        y, back = pullback(lambda a: np.where(a > 0.0, a * a, a), np.array(1.5))
        d = back(np.array(2.0))[1]
    assert isinstance(y, np.ndarray)
    assert isinstance(d, np.ndarray)
    assert (y, d) == (2.25, 6.0)


def test_what_cannot_be_walked_over_raises_as_it_does():
    def walked(x, v):
        for k in v:
            x = np.sum(np.concatenate([u[..., None] for u in (k, v)]))
        return x

    for _ in range(4):
        with pytest.raises(TypeError, match="iteration over a 0-d array"):
            grad(walked)(0.5, np.array(0.5))
