"""Rules of `rules_scipy.ndimage.smoothing`, against differences."""

import numpy as np
import pytest
from scipy import ndimage as nd

from rulescore.testing import check_rrule
from zygote_lite import gradient, jvp

IMAGE = np.sin(np.arange(12.0) ** 2).reshape(3, 4)


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_the_second_derivative_by_the_width():
    def slope(s):
        return gradient(lambda s: np.sum(nd.gaussian_filter(IMAGE, s) ** 3), s)[0]

    differences = (slope(0.7 + 1e-5) - slope(0.7 - 1e-5)) / 2e-5
    assert gradient(slope, 0.7)[0] == pytest.approx(differences, rel=1e-7)
    assert jvp(slope, (0.7,), (1.0,))[1] == pytest.approx(differences, rel=1e-7)


def test_the_length_of_a_gradient_has_no_slope_where_it_is_zero():
    found = gradient(lambda x: np.sum(nd.gaussian_gradient_magnitude(x, 1.0)), np.zeros((3, 4)))[0]
    assert np.array_equal(found, np.zeros((3, 4)))
