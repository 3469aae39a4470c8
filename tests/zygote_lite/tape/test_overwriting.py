"""Options by which SciPy may overwrite an array: what that holds afterwards has no gradient."""

import numpy as np
import pytest
from scipy import fft, linalg
from scipy.linalg import lapack

from zygote_lite import DifferentiationError, grad, gradient, hessian, hvp, jvp

X = np.array([0.3, -0.8, 1.1, 0.6])
A = np.asfortranarray([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.6, 0.5, 1.8]])


def read_after_a_transform(x):
    y = 1.5 * x
    z = fft.dct(y, overwrite_x=True)
    return y[0] ** 2 + z[1]


def argument_read_after_a_transform(x):
    z = fft.dst(x, 2, None, -1, None, True)
    return z[1] ** 2 + np.sum(x)


def read_after_an_inverse(x):
    a = A * x[:3]
    b = linalg.inv(a, overwrite_a=True)
    return b[0, 1] + a[1, 0] * x[0]


def data_read_after_a_solution(x):
    a = A.copy(order="F")
    b = linalg.solve(a, x[:3], overwrite_a=True)
    return b[0] + a[0, 1] * x[0]


@pytest.mark.parametrize(
    "f",
    [
        read_after_a_transform,
        argument_read_after_a_transform,
        read_after_an_inverse,
        data_read_after_a_solution,
    ],
)
def test_no_gradient_passes_through_what_may_be_overwritten(f):
    for _ in range(3):
        with pytest.raises(DifferentiationError, match="may overwrite the array"):
            gradient(f, X.copy())
        with pytest.raises(DifferentiationError, match="may overwrite the array"):
            jvp(f, (X.copy(),), (X,))
    with pytest.raises(DifferentiationError, match="may overwrite the array"):
        hessian(f)(X.copy())


def read_before(x, overwrite=True):
    y = x * x
    before = np.sum(y**3)
    z = fft.dct(y, overwrite_x=overwrite)
    return before + z[1] ** 2 + np.sum(z**3)


def test_what_was_read_before_has_its_gradient():
    plain = lambda x: read_before(x, overwrite=False)
    second = hessian(plain)(X)
    for _ in range(3):
        np.testing.assert_allclose(grad(read_before)(X), grad(plain)(X))
        np.testing.assert_allclose(
            jvp(read_before, (X,), (A[0, 0] * X,))[1], grad(plain)(X) @ X * 2
        )
        np.testing.assert_allclose(hessian(read_before)(X), second)
        np.testing.assert_allclose(hvp(read_before)(X, X), second @ X)
        np.testing.assert_allclose(jvp(grad(read_before), (X,), (X,))[1], second @ X)


@pytest.mark.parametrize(
    "overwriting",
    [
        lambda a: fft.dct(a, overwrite_x=True),
        lambda a: fft.dct(a, 2, None, -1, None, True),
        lambda a: linalg.inv(a, True),
        lambda a: lapack.dgetrf(a, overwrite_a=1)[0],
    ],
    ids=["dct", "dct by position", "inv by position", "dgetrf"],
)
def test_data_that_is_overwritten_holds_for_the_reverse_what_it_held(overwriting):
    """The call depends on nothing differentiated, and is simply run."""

    def f(w, a):
        before = np.sum(w * a)
        return before * overwriting(a)[0, 0]

    for _ in range(3):
        given = A.copy(order="F")
        np.testing.assert_allclose(
            grad(f)(A * 2, given), A * overwriting(A.copy(order="F"))[0, 0], rtol=1e-12
        )
