"""Ranges, grids of coordinates and Vandermonde matrices."""

import numpy as np

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_linspace_of_one_point():
    assert rrule(np.linspace, 1.0, 2.0, 1)[1](np.ones(1))[1:3] == (1.0, 0.0)
