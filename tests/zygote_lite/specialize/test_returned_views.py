"""Views of written arrays that a function returns: what was written later has its gradient."""

import numpy as np
import pytest

from zygote_lite import jacobian, pullback, testing

X = np.array([1.3, 0.4, 2.1])


def written_once(x):
    w = x * 2.0
    v = w[1:]
    w[1] = x[0] ** 2
    return v


def written_in_a_loop(x):
    w = np.zeros(3)
    v = w[::-1]
    for i in range(3):
        w[i] = x[i] ** 2
    return v


def written_in_place(x):
    w = x * 2.0
    v = w.reshape(1, -1).T
    w += x * x
    np.multiply(w, x, out=w)
    return v


def view_of_a_view(x):
    w = np.outer(x, x)
    v = w[0]
    u = v[1:]
    w[0, 2] = x[0] * 3.0
    return u * 1.0, u


def view_and_array(x):
    w = x * x
    v = w[:2]
    w[0] *= x[2]
    return v, w


def written_before(x):
    w = np.zeros(4)
    for i in range(3):
        w[i] = x[i] * x[0]
    return w.reshape(2, 2)


def flat(y):
    return np.concatenate([np.ravel(part) for part in y]) if isinstance(y, tuple) else np.ravel(y)


@pytest.mark.parametrize(
    "f",
    [written_once, written_in_a_loop, written_in_place, view_of_a_view, view_and_array,
     written_before],
)  # fmt: skip
def test_a_returned_view_has_the_gradient_of_what_was_written_later(f):
    exact = np.array([
        (flat(f(X + h)) - flat(f(X - h))) / 2e-6 for h in 1e-6 * np.eye(3)
    ]).T  # fmt: skip
    testing.forget(f)
    for _ in range(4):
        y, back = pullback(f, X)
        for i, row in enumerate(exact):
            seed = np.eye(len(exact))[i]
            if isinstance(y, tuple):
                n = y[0].size
                dy = (seed[:n].reshape(y[0].shape), seed[n:].reshape(y[1].shape))
            else:
                dy = seed.reshape(y.shape)
            np.testing.assert_allclose(back(dy)[-1], row, rtol=1e-6, atol=1e-8)


def test_a_jacobian_of_a_returned_view():
    for _ in range(4):
        np.testing.assert_allclose(
            jacobian(written_in_a_loop)(X), np.diag(2.0 * X)[::-1], rtol=1e-12
        )
    assert testing.why_recorded(lambda x: np.sum(written_in_a_loop(x)), X) is None
