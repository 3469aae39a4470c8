"""Rules of `rules_scipy.ndimage.ranks`, against differences."""

import numpy as np
import pytest
from scipy import ndimage as nd

from rulescore.testing import check_rrule
from zygote_lite import gradient

IMAGE = np.sin(np.arange(12.0) ** 2 + 1).reshape(3, 4)


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_equal_entries_share_the_gradient():
    found = gradient(lambda x: nd.maximum_filter(x, 3)[1], np.array([2.0, 1.0, 2.0]))[0]
    assert found.tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize(
    "f",
    [nd.grey_opening, nd.grey_closing, nd.morphological_gradient, nd.morphological_laplace,
     nd.white_tophat, nd.black_tophat],
)  # fmt: skip
def test_morphology_is_differentiated_through_its_source(f):
    def loss(x):
        return np.sum(np.sin(f(x, size=(2, 3), mode="wrap")))

    found = gradient(loss, IMAGE)[0]
    step = 1e-5 * np.eye(12).reshape(12, 3, 4)
    expected = [(loss(IMAGE + e) - loss(IMAGE - e)) / 2e-5 for e in step]
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-9)
