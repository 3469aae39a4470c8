"""Other people's libraries as they stand: their likelihoods, and the scores that they wrote.

`nox -s library` installs them. What is not here is skipped, and says so. Every gradient is held to
two others: the library's own, and Richardson's differences.
"""

import importlib
import importlib.util

import numpy as np
import pytest

from benchmarks.likelihoods import (
    BETA,
    BINARY,
    COUNTS,
    KERNELS,
    LABELS,
    POINTS,
    SM,
    SM_SPECIAL,
    TARGETS,
    X,
    module,
    process_of,
    rules_for_distances,
)
from rulescore import plugins
from tests.zygote_lite.checks.comparing import assert_close, assert_same
from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import gradient, hessian, value_and_grad

HAVE = {name for name in ("scipy", "statsmodels", "sklearn") if importlib.util.find_spec(name)}


def needs(*names):
    """Skip a test where a library or a rule plugin is missing."""
    missing = {*names} - HAVE - {p.name for p in plugins()}
    return pytest.mark.skipif(
        bool(missing), reason=f"not installed: {', '.join(sorted(missing))}; see nox -s library"
    )


def check_score(value, x, score, tolerance=1e-9):
    """Compare the gradient of `value` at `x` with the library's own and with differences."""
    before = x.copy()
    plain = value(x)
    (first,) = gradient(value, x)
    y, second = value_and_grad(value)(x)
    assert_same(y, plain)
    assert_close(second, first, 1e-13)  # sums may be taken in another order
    assert_same(x, before)
    assert first.shape == x.shape
    assert np.any(first)
    ((_path, best, off),) = slopes(value, (x,), 1e-2)
    limit = 1e-6 * (1 + np.max(np.abs(best)))
    assert np.max(off) < limit
    np.testing.assert_allclose(first, best, rtol=0, atol=limit)
    if score is not None:
        np.testing.assert_allclose(first, score(x), rtol=tolerance, atol=tolerance)


# -- statsmodels: `loglike` and `score` --------------------------------------------------------


@needs("statsmodels")
@pytest.mark.parametrize("name", SM)
def test_likelihoods_of_statsmodels(name):
    check_score(*SM[name](module("api")))


@needs("statsmodels", "rules_scipy")
@pytest.mark.parametrize("name", SM_SPECIAL)
def test_likelihoods_of_statsmodels_with_rules_for_scipy(name):
    check_score(*SM_SPECIAL[name](module("api")))


@needs("statsmodels")
@pytest.mark.parametrize("name", ["Logit", "Poisson"])
def test_hessians_of_statsmodels(name):
    model = getattr(module("api"), name)({"Logit": BINARY, "Poisson": COUNTS}[name], X)
    np.testing.assert_allclose(hessian(model.loglike)(BETA), model.hessian(BETA), rtol=1e-9)


# -- scikit-learn: marginal likelihoods, losses, deviances -------------------------------------


@pytest.fixture
def rules_for_scipy():
    rule = rules_for_distances()
    rule.register()
    yield
    rule.unregister()


@needs("sklearn")
@pytest.mark.parametrize("name", KERNELS)
def test_gaussian_processes_of_scikit_learn(name, rules_for_scipy):
    process = process_of(name)
    check_score(
        lambda theta: process.log_marginal_likelihood(theta),
        process.kernel_.theta,
        lambda theta: process.log_marginal_likelihood(theta, eval_gradient=True)[1],
        1e-8,
    )


@needs("sklearn")
def test_the_huber_loss_of_scikit_learn():
    from sklearn.linear_model._huber import _huber_loss_and_gradient as huber

    def both(w):
        return huber(w, POINTS, TARGETS, 1.35, 0.01, np.ones(12))

    w = np.array([0.1, 0.2, 0.3, 0.8])
    check_score(lambda w: both(w)[0], w, lambda w: both(w)[1])


@needs("sklearn", "rules_scipy")
def test_neighbourhood_components_of_scikit_learn():
    import sklearn
    from sklearn.neighbors import NeighborhoodComponentsAnalysis

    model = NeighborhoodComponentsAnalysis()
    model.n_iter_ = 0
    same = LABELS[:, None] == LABELS
    w = np.array([1.0, 0.2, 0.1, 0.9])
    with sklearn.config_context(skip_parameter_validation=True):
        check_score(
            lambda w: model._loss_grad_lbfgs(w, POINTS, same, -1.0)[0],
            w,
            lambda w: model._loss_grad_lbfgs(w, POINTS, same, -1.0)[1],
        )


@needs("sklearn")
def test_the_mixture_of_gaussians_of_scikit_learn():
    from sklearn.mixture._gaussian_mixture import _estimate_log_gaussian_prob as log_probability

    factors = np.array([np.eye(2), 2 * np.eye(2)])
    means = np.array([[0.1, 0.2], [-0.3, 0.4]])

    def score(means):
        z = POINTS[None] - means[:, None]
        return np.einsum("kni,kij,klj->kl", z, factors, factors)

    check_score(lambda m: np.sum(log_probability(POINTS, m, factors, "full")), means, score)


def deviances():
    from sklearn import metrics

    t = np.abs(TARGETS) + 0.1
    return {
        "squared error": (
            lambda p: metrics.mean_squared_error(t, p),
            lambda p: 2 * (p - t) / 12,
        ),
        "Poisson deviance": (
            lambda p: metrics.mean_poisson_deviance(t, p),
            lambda p: 2 * (1 - t / p) / 12,
        ),
        "gamma deviance": (
            lambda p: metrics.mean_gamma_deviance(t, p),
            lambda p: 2 * (1 / p - t / p**2) / 12,
        ),
    }


@needs("sklearn", "rules_scipy")
@pytest.mark.parametrize("name", ["squared error", "Poisson deviance", "gamma deviance"])
def test_metrics_of_scikit_learn(name):
    import sklearn

    value, score = deviances()[name]
    with sklearn.config_context(skip_parameter_validation=True):
        check_score(value, np.linspace(0.4, 1.5, 12), score)
