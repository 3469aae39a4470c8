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


def test_vectors_of_a_general_matrix():
    a = np.array([[2.5, -1.5, 0.5], [0.75, 4.25, -0.25], [-0.5, 1.0, 8.75]])
    v = np.cos(np.arange(9.0)).reshape(3, 3)

    def value(a):
        return np.sum(np.abs(linalg.eig(a)[1]) ** 4 * v)

    x = linalg.eig(a)[1]
    _, da = rrule(linalg.eig, a)[1]((None, (4 * np.abs(x) ** 2 * x * v).astype(x.dtype)))
    direction = np.sin(np.arange(9.0) ** 2).reshape(3, 3)
    found = (value(a + 1e-6 * direction) - value(a - 1e-6 * direction)) / 2e-6
    assert np.sum(da * direction) == pytest.approx(found, rel=1e-7)
