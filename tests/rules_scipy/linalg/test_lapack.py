"""Rules of `rules_scipy.linalg.lapack`, against differences and NumPy."""

import numpy as np
import pytest
from scipy import linalg
from scipy.linalg import lapack

from rulescore.testing import check_rrule
from zygote_lite import gradient, hessian
from zygote_lite.errors import NoRuleError

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
A = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
B = np.array([0.5, -1.5, 2.0])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def form(a, b):
    potrf, potrs = linalg.get_lapack_funcs(("potrf", "potrs"), (a, b))
    c, info = potrf(a, lower=True, clean=False, overwrite_a=False)
    if info:
        raise ValueError("not positive definite")
    return potrs(c, b, lower=True)[0] @ b


def test_routines_that_a_library_looks_up():
    x = np.linalg.solve(A, B)
    for _ in range(4):
        da, db = gradient(form, A, B)
        np.testing.assert_allclose((da + da.T) / 2, -np.outer(x, x), rtol=1e-12)
        np.testing.assert_allclose(db, 2 * x, rtol=1e-12)
    second = hessian(lambda b: form(A, b))(B)
    np.testing.assert_allclose(second, 2 * np.linalg.inv(A), rtol=1e-10)


def test_arguments_by_keyword():
    x = np.linalg.solve(MATRIX, B)
    da, db = gradient(lambda a, b: np.sum(lapack.dgesv(b=b, a=a)[2]), MATRIX, B)
    z = np.linalg.solve(MATRIX.T, np.ones(3))
    np.testing.assert_allclose(da, -np.outer(z, x), rtol=1e-12)
    np.testing.assert_allclose(db, z, rtol=1e-12)


def test_a_failure_has_no_gradient():
    with pytest.raises(linalg.LinAlgError, match=r"test_lapack.*lapack.dpotrf failed.*info=1"):
        gradient(lambda a: np.sum(lapack.dpotrf(a)[0]), -A)


def test_what_would_be_overwritten_is_refused():
    with pytest.raises(NoRuleError, match=r"lapack.dpotrf has no rule that overwrites"):
        gradient(lambda a: np.sum(lapack.dpotrf(a, overwrite_a=True)[0]), np.asfortranarray(A))
    (da,) = gradient(lambda a: np.sum(lapack.dpotrf(a, overwrite_a=True)[0]), A)  # LAPACK copies
    np.testing.assert_allclose(da, gradient(lambda a: np.sum(lapack.dpotrf(a)[0]), A)[0])
