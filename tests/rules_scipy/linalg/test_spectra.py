"""Rules of `rules_scipy.linalg.spectra`, against differences."""

import numpy as np
import pytest
from scipy import linalg

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def refused(f, *xs, match, dy):
    y, back = rrule(f, *xs)
    with pytest.raises(linalg.LinAlgError, match=match):
        back(dy(y))


def test_vectors_of_repeated_values_are_refused():
    ones = np.ones((3, 3))
    refused(linalg.eigh, np.eye(3), match="repeated", dy=lambda y: (None, ones))
    refused(linalg.svd, np.eye(3), match="repeated", dy=lambda y: (ones, None, None))
    refused(
        linalg.svd, np.diag([2.0, 1.0, 0.0]), match="vanishing", dy=lambda y: (ones, None, None)
    )
    _, da = rrule(linalg.eigvalsh, np.eye(3))[1](np.ones(3))
    np.testing.assert_allclose(da, np.eye(3), atol=1e-15)


def test_phases_are_refused():
    z = np.array([[2.0, 0.5j, 0.3], [-0.5j, 1.0, 0.2j], [0.3, -0.2j, 4.0]])
    refused(linalg.eigh, z, match="phase", dy=lambda y: (None, 1j * y[1]))
    refused(linalg.svd, z, match="phase", dy=lambda y: (1j * y[0], None, None))
