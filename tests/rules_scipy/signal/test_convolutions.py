"""Rules of `rules_scipy.signal.convolutions`, against differences."""

import numpy as np
import pytest
from scipy import signal

from rulescore.testing import check_rrule

IMAGE, SMALL = np.cos(np.arange(30.0)).reshape(5, 6), np.sin(np.arange(6.0)).reshape(3, 2)


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("f", [signal.convolve2d, signal.correlate2d])
@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("fillvalue", [0.0, 0.6])
@pytest.mark.parametrize("unit", [1.0, 1.0 + 0.5j])
def test_no_border_is_read_where_the_images_overlap(f, boundary, fillvalue, unit):
    for xs in ((IMAGE, unit * SMALL), (SMALL, unit * IMAGE), (unit * SMALL, IMAGE)):
        check_rrule(f, *xs, mode="valid", boundary=boundary, fillvalue=fillvalue)
