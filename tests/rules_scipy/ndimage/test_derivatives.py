"""Rules of `rules_scipy.ndimage.derivatives`, against differences."""

import numpy as np
import pytest
from scipy import ndimage as nd

from rulescore.testing import check_rrule
from zygote_lite import NoRuleError, gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def into(x, axis, output, mode, cval):
    return nd.sobel(x, axis, output, mode, cval)


def ignoring(x, axis, output, mode, cval):
    return nd.sobel(x, axis, None, mode, cval)


@pytest.mark.parametrize("f", [nd.generic_laplace, nd.generic_gradient_magnitude])
def test_a_derivative_that_does_not_write_to_its_output_is_refused(f):
    x = np.sin(np.arange(12.0) ** 2).reshape(3, 4)
    loss = lambda x, derivative: np.sum(f(x, derivative))
    assert loss(x, into) != loss(x, ignoring)  # SciPy reads zeros for the first axis
    for _ in range(3):
        assert np.any(gradient(lambda x: loss(x, into), x)[0])
        with pytest.raises(NoRuleError, match="hand `output` on"):
            gradient(lambda x: loss(x, ignoring), x)
