"""Rules of `rules_scipy.special.orthogonal`, against differences."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special as sp

from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("name", ["laguerre", "legendre", "chebyu"])
def test_large_degrees_in_arrays(name):
    reference = {"laguerre": lambda n, x: mp.laguerre(n, 0, x)}.get(name, getattr(mp, name))
    for n in (np.array([0, 3, 100, 300]), np.array([2.0, 180.0])):
        (found,) = gradient(lambda x, n=n: np.sum(getattr(sp, f"eval_{name}")(n, x)), 0.83 + 0 * n)
        with mp.workdps(30):
            expected = [float(mp.diff(lambda x, k=k: reference(int(k), x), 0.83)) for k in n]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
