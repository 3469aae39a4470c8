"""Likelihoods of statsmodels, and marginal likelihoods of scikit-learn, as they stand there.

`nox -s library` holds their gradients to the scores that these libraries wrote, and to differences;
`library_first_calls` tells what their first gradients cost.
"""

import importlib

import numpy as np

from rulescore import Array, RuleSet

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


# -- scikit-learn: kernels of Gaussian processes ---------------------------------------------------

POINTS = random.normal(size=(12, 2))
TARGETS = np.sin(POINTS[:, 0]) + 0.1 * random.normal(size=12)
LABELS = TARGETS > 0


def rules_for_distances():
    """Return rules for what Gaussian processes call in compiled libraries, as of a script."""
    import scipy.spatial.distance

    rule = RuleSet("of distances")

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

    return rule


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


def process_of(name):
    """Return a Gaussian process with a kernel, which has seen the targets."""
    from sklearn.gaussian_process import GaussianProcessRegressor

    kernel = kernels()[name]
    return GaussianProcessRegressor(kernel, optimizer=None, alpha=1e-6).fit(POINTS, TARGETS)
