"""The example of counts beside the scores and the Hessians that statsmodels wrote."""

import importlib
from pathlib import Path

import numpy as np

from tests.zygote_lite.libraries.test_likelihoods import needs
from zygote_lite import gradient, hessian

EXAMPLES = Path(__file__).parents[3] / "examples"


@needs("statsmodels", "rules_scipy")
def test_the_example_has_the_scores_of_statsmodels(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    example = importlib.import_module("count_regression")
    api = importlib.import_module("statsmodels.api")
    X, y = example.counts()
    params = np.array([0.5, 0.4, 0.7])
    overdispersed = api.NegativeBinomial(y, X)
    overdispersed._transparams = False  # the last parameter is `alpha`, and not its logarithm
    models = (
        (example.poisson, api.Poisson(y, X), params[:2]),
        (example.negative_binomial, overdispersed, params),
    )
    for loglike, model, at in models:
        np.testing.assert_allclose(loglike(at, X, y), model.loglike(at), rtol=1e-10)
        np.testing.assert_allclose(
            gradient(lambda p, f=loglike: f(p, X, y), at)[0], model.score(at), rtol=1e-8
        )
        np.testing.assert_allclose(hessian(loglike)(at, X, y), model.hessian(at), rtol=1e-7)
