"""Rules of `rules_scipy.linalg.functions`, against differences."""

import numpy as np
import pytest
from scipy import linalg

from rulescore.testing import check_rrule
from zygote_lite import hessian


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_second_derivatives_of_the_exponential():
    a = np.array([[0.3, -0.7], [0.5, 0.2]])
    second = hessian(lambda t: np.sum(linalg.expm(t * a)))(0.8)
    assert second == pytest.approx(np.sum(a @ a @ linalg.expm(0.8 * a)), rel=1e-10)
