"""What libraries ask of arrays: their shapes, flags and items, and whether they are converted."""

import copy
import math
import sys

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import testing, value_and_grad


def writes_where_it_may(x):
    y = np.abs(x)
    if not y.flags.writeable:
        y = y.copy()
    y[0] = x[-1] * 2.0
    return np.sum(y * x)


def is_the_array_itself(x):
    a = x * 2.0
    b = np.asanyarray(np.asarray(a), x.dtype)
    b[0] = x[0] * x[-1]
    return np.sum(a * b) * (2.0 if b is a else 1.0)


def size_of(x):
    if None in x.shape:
        return None
    n = math.prod(x.shape)
    return None if math.isnan(n) else n


def asks_for_the_size(x):
    if not (x, None) or size_of(x) == 0:
        return np.sum(x)
    return np.sum(x * x) / size_of(x)


def middle(x):
    return np.median(np.abs(x - 0.1), overwrite_input=True) * np.median(x)


def listed(x):
    first, *rest = list(x)
    return first * len(rest) + sum(tuple(x)) * first


def differences(x):
    n = len(x)
    c, last = np.zeros((n + 1, 1)), np.zeros((n, 1))
    c[0] = x[0]
    for k in range(1, n):
        s = 0
        while s <= k and x[k - s] == x[k]:
            s += 1
        s -= 1
        last[0] = x[k] / float(math.factorial(s))
        for i in range(k - s):
            last[i + 1] = (c[i] - last[i]) / (x[i] - x[k])
        c[k] = last[k - s]
    return np.sum(c * c)


def copies(x):
    y = copy.deepcopy(np.outer(x, x + 1.0).T)
    y[0] = x * 2.0
    return np.sum(np.ravel(y.T) * np.arange(y.size)) * copy.copy(x)[0]


def keeps_nothing_yet(x):
    seen = np.array([[None] * 2]).T
    least = sys.float_info.min
    if seen is not None:
        seen = copy.copy(x)
    return np.sum(seen * x) + least


def of_one_shape(x):
    shapes = {a.shape for a in (x, x * 2.0)}
    if not shapes or len(shapes) > 1:
        raise ValueError("several shapes")
    return np.sum(x * x) * len(next(iter(shapes)))


def of_an_entry(x):
    a = x[0]
    return np.sum(x * x) * (a.size + a.ndim) if a.shape == () else a


def of_a_shape_among_others(x):
    shorter, longer = (1, x[0]), (1, x[0], 3.0)
    return np.sum(x * x) * (2.0 if x.shape in ((3,), (3, 4)) else 3.0) * (1 + (shorter < longer))


def of_a_namespace(x):
    """As code for the array API standard asks for its functions, whatever the array is of."""
    xp = x.__array_namespace__(api_version="2023.12")
    y = xp.astype(xp.linalg.vecdot(x, x), x.dtype)
    both = xp.concat([x, xp.permute_dims(x, (0,)) * y])
    return y.__array_namespace__().sqrt(xp.sum(both**2)) + getattr(xp, "mean")(x)


def of_two_shapes(x):
    shapes = {a.shape for a in (x, x[1:])}
    return np.sum(x * x) * len(shapes)


def test_the_number_of_shapes_is_not_guessed():
    assert_agreement(of_two_shapes, (V,), (W,), (V[:1],))


V = np.array([0.5, -1.25, 2.0])
W = np.array([0.25, 0.75, -2.0, 1.5])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "f",
    [
        writes_where_it_may, is_the_array_itself, asks_for_the_size, middle, listed, differences,
        copies, keeps_nothing_yet, of_one_shape, of_an_entry,
        of_a_shape_among_others, of_a_namespace,
    ],
)  # fmt: skip
def test_gradients(f):
    assert assert_agreement(
        f, (V,), (W,), (V * 2.0,), (V.astype(np.float32),), (np.array([0.5]),), tolerance=1e-5
    )
    with testing.recorded_only():
        y, d = value_and_grad(f)(W)
    assert y == f(W)
    for i, h in enumerate(np.eye(4) * 1e-6):
        assert d[i] == pytest.approx((f(W + h) - f(W - h)) / 2e-6, rel=1e-6)
