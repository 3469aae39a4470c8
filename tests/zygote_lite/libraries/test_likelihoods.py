"""Other people's libraries as they stand: their likelihoods, and the scores that they wrote.

`nox -s library` installs them. What is not here is skipped, and says so. Every gradient is held to
two others: the library's own, and Richardson's differences.
"""

import importlib
import importlib.util

import numpy as np
import pytest

from rulescore import Array, RuleSet, plugins
from tests.zygote_lite.checks.comparing import assert_same
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
    assert_same(second, first)
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

random = np.random.default_rng(0)
X = np.column_stack([np.ones(20), random.normal(size=(20, 2))])
BETA = np.array([0.2, -0.5, 0.3])
REAL = X @ BETA + random.normal(size=20)
POSITIVE = np.exp(REAL)
BINARY = (random.uniform(size=20) < 1 / (1 + np.exp(-X @ BETA))).astype(float)
COUNTS = random.poisson(np.exp(X @ BETA)).astype(float)
CLASSES = np.arange(20) % 3
WEIGHTS = random.uniform(1, 2, 20)


def module(name):
    return importlib.import_module(f"statsmodels.{name}")


def generalized(family, y, **options):
    families = module("api").families
    link = families.links.Log() if family in ("Gamma", "InverseGaussian") else None
    model = module("api").GLM(y, X, family=getattr(families, family)(link, **options))
    # without a scale the library takes the derivative with the estimated scale held still
    return lambda p: model.loglike(p, scale=1.0), BETA, lambda p: model.score(p, scale=1.0)


def of(model, p, score=True):
    return (lambda p: model.loglike(p)), np.asarray(p, float), model.score if score else None


SM = {
    "OLS": lambda sm: of(sm.OLS(REAL, X), BETA),
    "WLS": lambda sm: of(sm.WLS(REAL, X, weights=WEIGHTS), BETA, score=False),
    "GLS": lambda sm: of(sm.GLS(REAL, X, sigma=WEIGHTS), BETA, score=False),
    "Logit": lambda sm: of(sm.Logit(BINARY, X), BETA),
    "Poisson": lambda sm: of(sm.Poisson(COUNTS, X), BETA),
    "MNLogit": lambda sm: of(sm.MNLogit(CLASSES, X), [0.1, 0.4, -0.3, 0.2, 0.5, -0.1]),
    "GeneralizedPoisson": lambda sm: of(sm.GeneralizedPoisson(COUNTS, X), [*BETA, 0.2]),
    "ZeroInflatedPoisson": lambda sm: of(sm.ZeroInflatedPoisson(COUNTS, X), [0.2, *BETA]),
    "GLM, Gaussian": lambda sm: generalized("Gaussian", REAL),
    "GLM, binomial": lambda sm: generalized("Binomial", BINARY),
    "GLM, Poisson": lambda sm: generalized("Poisson", COUNTS),
    "GLM, inverse Gaussian": lambda sm: generalized("InverseGaussian", POSITIVE),
    "GLM, negative binomial": lambda sm: generalized("NegativeBinomial", COUNTS, alpha=0.5),
    "Cox regression": lambda sm: of(sm.PHReg(POSITIVE, X[:, 1:]), BETA[1:]),
    "conditional Logit": lambda sm: of(
        module("discrete.conditional_models").ConditionalLogit(
            BINARY, X[:, 1:], groups=np.repeat(range(4), 5)
        ),
        BETA[1:],
    ),
}
SM_SPECIAL = {  # these call scipy.special, which a plugin has rules for
    "Probit": lambda sm: of(sm.Probit(BINARY, X), BETA),
    "NegativeBinomial": lambda sm: of(sm.NegativeBinomial(COUNTS, X), [*BETA, 0.5]),
    "NegativeBinomialP": lambda sm: of(sm.NegativeBinomialP(COUNTS, X), [*BETA, 0.5]),
    "GLM, gamma": lambda sm: generalized("Gamma", POSITIVE),
    "beta regression": lambda sm: of(
        module("othermod.betareg").BetaModel(1 / (1 + np.exp(-REAL)), X), [*BETA, 0.5]
    ),
}


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

POINTS = random.normal(size=(12, 2))
TARGETS = np.sin(POINTS[:, 0]) + 0.1 * random.normal(size=12)
LABELS = TARGETS > 0


@pytest.fixture
def rules_for_scipy():
    """Add rules for what Gaussian processes call in compiled libraries, as a user's script may."""
    import scipy.spatial.distance

    rule = RuleSet("of the test")

    @rule(scipy.spatial.distance.pdist)
    def _(x: Array, metric="euclidean"):
        y = scipy.spatial.distance.pdist(x, metric)
        slope = {"sqeuclidean": 2 * np.ones_like(y), "euclidean": 1 / np.where(y == 0, np.inf, y)}
        slope = slope[metric]

        def pullback(dy):
            weights = scipy.spatial.distance.squareform(dy * slope)
            return (np.sum(weights, axis=1)[:, None] * x - weights @ x,)

        return y, pullback

    @rule(scipy.spatial.distance.squareform)
    def _(x: Array):  # here always from a vector to a matrix
        def pullback(dy):
            return (scipy.spatial.distance.squareform(dy + dy.T, checks=False),)

        return scipy.spatial.distance.squareform(x), pullback

    rule.register()
    yield
    rule.unregister()


def kernels():
    from sklearn.gaussian_process import kernels as k

    return {
        "RBF": k.RBF(1.2) + k.WhiteKernel(0.1),
        "RBF with a scale for each feature": k.RBF([1.2, 2.0]) + k.WhiteKernel(0.1),
        "constant times RBF": k.ConstantKernel(2.0) * k.RBF(1.2) + k.WhiteKernel(0.1),
        "Matern 3/2": k.Matern(1.2, nu=1.5) + k.WhiteKernel(0.1),
        "Matern 5/2": k.Matern(1.2, nu=2.5) + k.WhiteKernel(0.1),
        "rational quadratic": k.RationalQuadratic(1.2, 0.8) + k.WhiteKernel(0.1),
        "dot product": k.DotProduct(0.7) ** 2 + k.WhiteKernel(0.1),
    }


KERNELS = (
    "RBF", "RBF with a scale for each feature", "constant times RBF", "Matern 3/2", "Matern 5/2",
    "rational quadratic", "dot product",
)  # fmt: skip


@needs("sklearn")
@pytest.mark.parametrize("name", KERNELS)
def test_gaussian_processes_of_scikit_learn(name, rules_for_scipy):
    from sklearn.gaussian_process import GaussianProcessRegressor

    kernel = kernels()[name]
    process = GaussianProcessRegressor(kernel, optimizer=None, alpha=1e-6).fit(POINTS, TARGETS)
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
