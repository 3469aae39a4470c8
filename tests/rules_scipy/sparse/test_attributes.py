"""Rules of `rules_scipy.sparse.attributes`."""

import numpy as np
import pytest
from scipy import sparse

from rulescore.testing import check_rrule
from zygote_lite import NoRuleError, gradient
from zygote_lite.errors import DifferentiationError


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("name", ["tolil", "todok", "maximum", "minimum"])
def test_methods_without_a_gradient_are_named(name):
    v, places = np.array([1.0, -2.0]), ([0, 2], [1, 0])
    given = [sparse.eye_array(3, format="csr")] if name.startswith("m") else []
    for kind in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        with pytest.raises(NoRuleError, match=f"`{name}` of a {kind.__name__} has no rule"):
            gradient(lambda v, k=kind: getattr(k((v, places), (3, 3)), name)(*given).sum(), v)


@pytest.mark.parametrize("name", ["setdiag", "eliminate_zeros"])
def test_methods_in_place_are_named(name):
    v, given = np.array([1.0, -2.0]), [2.0] if name == "setdiag" else []
    for form in ("csr", "coo", "bsr")[: 2 if given else 3]:
        make = lambda v, form=form: sparse.coo_array((v, ([0, 2], [1, 0])), (3, 3)).asformat(form)
        told = f"{form}_array.{name} has no rule.* in place: make a new one"
        with pytest.raises(DifferentiationError, match=told):
            gradient(lambda v, make=make: getattr(make(v), name)(*given), v)


@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_of_numbers_at_one_place_are_refused_by_name(name):
    v, places = np.array([1.0, 2.0, -4.0]), ([0, 0, 1], [1, 1, 0])
    with pytest.raises(NoRuleError, match=f"coo_array.{name} has no rule.* use that of `tocsr"):
        gradient(lambda v: getattr(sparse.coo_array((v, places), (2, 2)), name)(), v)
    found = gradient(lambda v: getattr(sparse.coo_array((v, places), (2, 2)).tocsr(), name)(), v)
    np.testing.assert_array_equal(found[0], [1.0, 1.0, 0.0] if name == "max" else [0.0, 0.0, 1.0])


def test_the_numbers_that_find_returns_carry_a_gradient():
    v, places, w = np.array([1.0, -2.0, 0.5]), ([2, 0, 2], [1, 0, 1]), np.array([3.0, 5.0])
    f = lambda v, k: w @ sparse.find(k(sparse.coo_array((v, places), (3, 3))))[2] ** 2
    for kind in (sparse.csr_array, sparse.dia_array, lambda a: a):
        np.testing.assert_allclose(gradient(f, v, kind)[0], [15.0, -12.0, 15.0])
    with pytest.raises(NoRuleError, match="zeros that are stored"):
        gradient(f, v * [1, 0, 1], sparse.csr_array)
