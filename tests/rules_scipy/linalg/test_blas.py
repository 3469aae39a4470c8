"""Rules of `rules_scipy.linalg.blas`, against differences and NumPy."""

import numpy as np
import pytest
from scipy.linalg import blas

from rulescore.testing import check_rrule
from zygote_lite import gradient
from zygote_lite.errors import NoRuleError

A = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_arguments_by_keyword():
    def wrapped(s, a, c):
        return np.sum(blas.dgemm(alpha=s, a=a, b=a, c=c, beta=s * 0.5, trans_a=True) ** 2)

    def plain(s, a, c):
        return np.sum((s * (a.T @ a) + 0.5 * s * c) ** 2)

    for found, expected in zip(gradient(wrapped, 0.7, A, A[::-1]), gradient(plain, 0.7, A, A[::-1]),
                               strict=True):  # fmt: skip
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_what_would_be_overwritten_is_refused():
    c = np.zeros((3, 3), order="F")
    with pytest.raises(NoRuleError, match=r"blas.dgemm has no rule that overwrites"):
        gradient(lambda a: np.sum(blas.dgemm(1.0, a, a, c=c, overwrite_c=True)), A)


def test_parts_of_vectors_are_refused():
    with pytest.raises(NoRuleError, match=r"blas.dgemv has no rule with offsets"):
        gradient(lambda a: np.sum(blas.dgemv(1.0, a[:, :1], a[0], incx=3)), A)
