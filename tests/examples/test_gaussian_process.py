"""The example of a Gaussian process: its evidence against SciPy's density, and its picture."""

import numpy as np
import pytest
from scipy import stats

from tests.examples.conftest import assert_is_the_picture_of
from zygote_lite import gradient


@pytest.fixture
def process(example):
    return example("gaussian_process")


def test_the_evidence_and_its_gradient(process):
    logs = np.array([0.2, 0.1, -1.0])
    length, height, noise = np.exp(logs)
    covariance = process.kernel(process.X, process.X, length, height)
    covariance += noise**2 * np.eye(len(process.X))
    density = stats.multivariate_normal(np.zeros(len(process.X)), covariance)
    assert process.loss(logs) == pytest.approx(-density.logpdf(process.Y))
    (found,) = gradient(process.loss, logs)
    for i, step in enumerate(1e-5 * np.eye(3)):
        expected = (process.loss(logs + step) - process.loss(logs - step)) / 2e-5
        assert found[i] == pytest.approx(expected, rel=1e-6)


def test_the_fit_ends_where_the_gradient_is_zero(process, tmp_path):
    logs, losses = process.fit()
    assert losses[-1] < losses[0] - 10
    np.testing.assert_allclose(gradient(process.loss, logs)[0], 0.0, atol=1e-3)
    process.draw(tmp_path / "process.png")
    assert_is_the_picture_of("gaussian_process", tmp_path / "process.png")
