"""Fitted estimators of scikit-learn as they stand, differentiated by their input.

`nox -s library` installs it. What an estimator predicts is followed through the library's own
source, its validation of input included, and held to Richardson's differences.
"""

import importlib

import numpy as np
import pytest

from rulescore import plugins
from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import DifferentiationError, gradient

pytest.importorskip("sklearn", reason="scikit-learn is not here: `nox -s library` installs it")
needs_scipy = pytest.mark.skipif(
    "rules_scipy" not in {p.name for p in plugins()}, reason="rules_scipy is not installed"
)
pytestmark = [needs_scipy, pytest.mark.filterwarnings("ignore")]
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
Y = X @ np.array([1.0, -2.0, 0.5]) + np.sin(X[:, 0])
TWO, THREE = (Y > 0).astype(int), np.digitize(Y, [-1.0, 1.0])
POINTS = rng.normal(size=(2, 3))

# module, class, parameters, targets, method
ESTIMATORS = {
    "linear regression": ("linear_model", "LinearRegression", {}, Y, "predict"),
    "ridge": ("linear_model", "Ridge", {}, Y, "predict"),
    "Poisson regression": ("linear_model", "PoissonRegressor", {}, abs(Y), "predict"),
    "logistic regression": ("linear_model", "LogisticRegression", {}, TWO, "decision_function"),
    "its probabilities": ("linear_model", "LogisticRegression", {}, THREE, "predict_proba"),
    "principal components": ("decomposition", "PCA", {"n_components": 2}, None, "transform"),
    "their likelihood": ("decomposition", "PCA", {"n_components": 2}, None, "score_samples"),
    "kernel ridge": ("kernel_ridge", "KernelRidge", {"kernel": "rbf"}, Y, "predict"),
    "its polynomial kernel": ("kernel_ridge", "KernelRidge", {"kernel": "poly"}, Y, "predict"),
    "Gaussian process": ("gaussian_process", "GaussianProcessRegressor", {}, Y, "predict"),
    "its classifier": ("gaussian_process", "GaussianProcessClassifier", {}, TWO, "predict_proba"),
    "scaler": ("preprocessing", "StandardScaler", {}, None, "transform"),
    "power transformer": ("preprocessing", "PowerTransformer", {}, None, "transform"),
    **{
        f"network with {name}": (
            "neural_network",
            "MLPRegressor",
            {"hidden_layer_sizes": (4,), "activation": name, "max_iter": 20, "random_state": 0},
            Y,
            "predict",
        )
        for name in ("relu", "tanh", "logistic")
    },
}  # fmt: skip


def fitted(module, name, parameters, targets):
    made = getattr(importlib.import_module(f"sklearn.{module}"), name)(**parameters)
    return made.fit(X) if targets is None else made.fit(X, targets)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_an_estimator_predicts_has_a_gradient(name):
    *what, method = ESTIMATORS[name]
    estimator = fitted(*what)

    def value(x):
        y = getattr(estimator, method)(x)
        return np.sum(y * np.cos(1.0 + np.arange(y.size)).reshape(y.shape))

    before, plain = POINTS.copy(), value(POINTS)
    found = [gradient(value, POINTS)[0] for _ in range(3)]  # recorded, then transformed
    assert found[0].shape == POINTS.shape
    assert np.any(found[0])
    for dx in found[1:]:
        assert_close(dx, found[0], 1e-12)
    ((_path, best, off),) = slopes(value, (POINTS,), 1e-2)
    limit = 1e-6 * (1 + np.max(np.abs(best)))
    assert np.max(off) < limit
    np.testing.assert_allclose(found[0], best, rtol=0, atol=limit)
    np.testing.assert_array_equal(POINTS, before)
    assert value(POINTS) == plain  # what was fitted is as it was


def test_the_gradient_of_a_ridge_is_its_coefficients():
    ridge = fitted("linear_model", "Ridge", {}, Y)
    (dx,) = gradient(lambda x: ridge.predict(x)[0] + 3.0 * ridge.predict(x)[1], POINTS)
    np.testing.assert_allclose(dx, np.outer([1.0, 3.0], ridge.coef_), rtol=1e-14)


REFUSED = {
    "support vectors": ("svm", "SVR", {}, Y, "predict"),
    "forest": ("ensemble", "RandomForestRegressor", {"n_estimators": 2}, Y, "predict"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_compiled_predictions_are_refused(name):
    *what, method = REFUSED[name]
    estimator = fitted(*what)
    with pytest.raises(DifferentiationError, match="sklearn"):
        gradient(lambda x: np.sum(getattr(estimator, method)(x)), POINTS)
