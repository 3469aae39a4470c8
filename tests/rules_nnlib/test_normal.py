"""The error function on NumPy alone, against `math` and SciPy."""

import math

import numpy as np
import pytest
import scipy.special as sp

from rules_nnlib._normal import erfc, normal_cdf

POINTS = np.concatenate([np.linspace(-30, 30, 60_001), [0.46875, -0.46875, 4.0, -4.0, 0.0]])


def test_erfc_is_precise():
    expected = np.array([math.erfc(x) for x in POINTS])
    given = erfc(POINTS)
    normal = expected > np.finfo(float).tiny  # what is denormal has fewer digits
    assert np.max(np.abs(given[normal] / expected[normal] - 1)) < 1e-15
    assert np.max(np.abs(given - expected)) < 5e-16
    assert np.max(np.abs((1 - given) - [math.erf(x) for x in POINTS])) < 5e-16


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_erfc_keeps_precision(dtype):
    x = np.linspace(-4, 4, 999).astype(dtype)
    assert erfc(x).dtype == dtype
    np.testing.assert_allclose(
        erfc(x), sp.erfc(x.astype(float)), rtol=8 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny
    )


def test_erfc_of_special_values():
    x = np.array([math.inf, -math.inf, math.nan, 1e300, -1e300, -0.0])
    np.testing.assert_array_equal(erfc(x), [0, 2, math.nan, 0, 2, 1])
    assert erfc(np.zeros((0, 2))).shape == (0, 2)
    assert erfc(0.3) == math.erfc(0.3)


def test_normal_cdf_is_precise_in_both_tails():
    x = np.linspace(-37, 9, 4001)
    np.testing.assert_allclose(normal_cdf(x), sp.ndtr(x), rtol=1e-13)
