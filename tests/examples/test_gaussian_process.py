"""The example of a Gaussian process: its evidence against SciPy's density, and its picture."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from zygote_lite import gradient

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    yield import_module("gaussian_process")
    sys.modules.pop("gaussian_process", None)


def test_the_evidence_and_its_gradient(example):
    logs = np.array([0.2, 0.1, -1.0])
    length, height, noise = np.exp(logs)
    covariance = example.kernel(example.X, example.X, length, height)
    covariance += noise**2 * np.eye(len(example.X))
    density = stats.multivariate_normal(np.zeros(len(example.X)), covariance)
    assert example.loss(logs) == pytest.approx(-density.logpdf(example.Y))
    (found,) = gradient(example.loss, logs)
    for i, step in enumerate(1e-5 * np.eye(3)):
        expected = (example.loss(logs + step) - example.loss(logs - step)) / 2e-5
        assert found[i] == pytest.approx(expected, rel=1e-6)


def test_the_fit_ends_where_the_gradient_is_zero(example, tmp_path):
    logs, losses = example.fit()
    assert losses[-1] < losses[0] - 10
    np.testing.assert_allclose(gradient(example.loss, logs)[0], 0.0, atol=1e-3)
    example.draw(tmp_path / "process.png")
    assert (tmp_path / "process.png").read_bytes().startswith(b"\x89PNG")
