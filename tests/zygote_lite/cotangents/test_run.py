"""Arrays that a rule returned in a tuple are written in place: each keeps a gradient of its own."""

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import gradient, pullback
from zygote_lite.testing import recorded_only

X = np.array([0.7, 3.2, -5.1])


def remainder_times_x(x):
    q, r = np.divmod(x, 2.0)
    r *= x
    return np.sum(q + r)


def both_are_written(x):
    q, r = np.divmod(x, 2.0)
    r *= x
    q += x * x
    q *= r
    return np.sum(q)


def one_entry_is_written(x):
    q, r = np.divmod(x * x, 2.0)
    r[1] = r[0] * x[2]
    return np.sum(q * x + r * r)


def written_through_the_tuple(x):
    pair = np.divmod(x, 2.0)
    pair[1][...] = pair[1] * x
    return np.sum(pair[1]) + np.sum(pair[0])


def written_after_it_was_used(x):
    q, r = np.divmod(x, 2.0)
    s = np.sum(r * r)
    r *= x
    return s + np.sum(r) + np.sum(q)


def fraction_times_x(x):
    r, q = np.modf(x)
    r *= x
    return np.sum(q + r)


def mantissa_times_x(x):
    m, e = np.frexp(x)
    m *= x
    return np.sum(m) + 0.0 * np.sum(e)


@pytest.mark.parametrize(
    "f",
    [
        remainder_times_x,
        both_are_written,
        one_entry_is_written,
        written_through_the_tuple,
        written_after_it_was_used,
        fraction_times_x,
        mantissa_times_x,
    ],
)
def test_arrays_of_a_returned_tuple_are_written(f):
    [(_, want, off)] = slopes(f, (X,))
    with recorded_only():
        first = gradient(f, X)
        gradient(f, X)
        third = gradient(f, X)
    np.testing.assert_allclose(first[0], want, rtol=1e-8, atol=1e-8 + 10 * np.max(off))
    assert_close(third, first, 1e-15)
    _, back = pullback(f, X)
    for _ in range(3):
        assert_close(back(1.0)[1:], first, 1e-15)
    for _ in range(3):
        assert_close(gradient(f, X), first)
