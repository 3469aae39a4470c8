"""The examples of counts and of a mixture: against SciPy's formulas, and as scripts."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from tests.examples.conftest import assert_is_the_picture_of
from zygote_lite import gradient


def test_the_slopes_of_the_regressions_are_those_of_their_formulas(example):
    module = example("count_regression")
    X, y = module.counts()
    params = np.array([0.5, 0.4, 0.7])
    (found,) = gradient(lambda p: module.poisson(p, X, y), params[:2])
    mean = np.exp(X @ params[:2])
    np.testing.assert_allclose(found, X.T @ (y - mean), rtol=1e-10)
    assert module.poisson(params[:2], X, y) == pytest.approx(stats.poisson.logpmf(y, mean).sum())

    (found,) = gradient(lambda p: module.negative_binomial(p, X, y), params)
    size = 1 / params[2]
    np.testing.assert_allclose(found[:2], X.T @ ((y - mean) / (1 + mean / size)), rtol=1e-10)
    by_size = special.psi(y + size) - special.psi(size) - np.log1p(mean / size)
    by_size += (mean - y) / (size + mean)
    np.testing.assert_allclose(found[2], -np.sum(by_size) * size**2, rtol=1e-10)


def test_the_regression_prints_the_fit_and_writes_the_picture(example, tmp_path, capsys):
    module = example("count_regression")
    module.main(tmp_path / "count_regression.png")
    printed = capsys.readouterr().out
    assert "0.63 ± 0.05" in printed
    assert "0.48 ± 0.06" in printed
    assert_is_the_picture_of("count_regression", tmp_path / "count_regression.png")


def test_the_fit_of_the_mixture_is_a_minimum(example, tmp_path, capsys):
    module = example("mixture")
    x = module.times()
    (found,) = gradient(module.loss, module.START, x)[:1]
    slopes = optimize.approx_fprime(module.START, module.loss, 1e-7, x)
    np.testing.assert_allclose(found, slopes, atol=1e-5)

    fitted = np.array([-0.648588, 0.81648, 0.185955, 2.156462, 0.21118])  # as the page shows it
    (found,) = gradient(module.loss, fitted, x)[:1]
    np.testing.assert_allclose(found, 0, atol=1e-5)
    assert module.loss(fitted, x) < module.loss(module.START, x)

    module.main(tmp_path / "mixture.png", 2)
    assert "deviation" in capsys.readouterr().out
    assert_is_the_picture_of("mixture", tmp_path / "mixture.png", whole=False)
