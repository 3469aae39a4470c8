"""Rules of `rules_scipy.sparse.rearranging`."""

import numpy as np
import pytest
import scipy.sparse as sp

from rulescore.testing import check_rrule
from zygote_lite import NoRuleError, check_gradient, gradient, hessian, jvp


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


A = sp.coo_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))


def sums_of_columns(values, **options):
    a = sp.coo_array((values, A.coords), shape=A.shape)
    return np.sum((sp.permute_dims(a, (1, 0), **options) @ np.ones(2)) ** 2)


def test_permute_dims_of_coo_writes_to_its_argument_unless_it_makes_a_copy():
    def of_copy(values):
        return sums_of_columns(values, copy=True)

    v = np.array([1.0, -2.0, 0.5])
    for _ in range(3):
        check_gradient(of_copy, A.data)
        np.testing.assert_allclose(hessian(of_copy)(A.data), 2.0 * np.eye(3))
        np.testing.assert_allclose(jvp(of_copy, (A.data,), (v,))[1], 2.0 * A.data @ v)
        with pytest.raises(NoRuleError, match="in place: give `copy=True`"):
            gradient(sums_of_columns, A.data)
