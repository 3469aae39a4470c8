"""Rules of `rules_scipy.sparse.attributes`."""

import numpy as np
import pytest
from scipy import sparse

from rulescore.testing import check_rrule
from zygote_lite import NoRuleError, gradient


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
