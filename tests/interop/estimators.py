"""The table of estimators of scikit-learn whose predictions have a gradient by their input.

python -m tests.interop.estimators

writes it into its page. Each estimator is fitted, and what its method gives is differentiated and
compared with differences.
"""

import importlib
import warnings
from pathlib import Path

import numpy as np

from tests.interop.tables import with_table
from zygote_lite import DifferentiationError, gradient

PAGE = Path(__file__).parents[2] / "docs/howto/libraries.md"
BEGIN = "<!-- python -m tests.interop.estimators writes this table -->\n"
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
Y = X @ np.array([1.0, -2.0, 0.5]) + np.sin(X[:, 0])
TWO, THREE, BOTH = (Y > 0).astype(int), np.digitize(Y, [-1.0, 1.0]), np.column_stack([Y, Y**2])
POINTS = rng.normal(size=(2, 3))
METHODS = {  # of the classes of each module; a class is fitted to what `TARGETS` has for it
    "linear_model": """
        LinearRegression.predict Ridge.predict Lasso.predict ElasticNet.predict
        BayesianRidge.predict ARDRegression.predict HuberRegressor.predict
        TheilSenRegressor.predict RANSACRegressor.predict SGDRegressor.predict
        PoissonRegressor.predict GammaRegressor.predict TweedieRegressor.predict
        QuantileRegressor.predict LogisticRegression.decision_function
        LogisticRegression.predict_proba LogisticRegression.predict_log_proba
        RidgeClassifier.decision_function Perceptron.decision_function SGDClassifier.predict_proba
    """,
    "neural_network": "MLPRegressor.predict MLPClassifier.predict_proba BernoulliRBM.transform",
    "gaussian_process": "GaussianProcessRegressor.predict GaussianProcessClassifier.predict_proba",
    "kernel_ridge": "KernelRidge.predict",
    "svm": """
        LinearSVR.predict LinearSVC.decision_function SVR.predict NuSVR.predict
        SVC.decision_function OneClassSVM.decision_function
    """,
    "discriminant_analysis": """
        LinearDiscriminantAnalysis.decision_function LinearDiscriminantAnalysis.predict_proba
        LinearDiscriminantAnalysis.transform QuadraticDiscriminantAnalysis.decision_function
        QuadraticDiscriminantAnalysis.predict_proba
    """,
    "naive_bayes": "GaussianNB.predict_proba MultinomialNB.predict_proba BernoulliNB.predict_proba",
    "cross_decomposition": "PLSRegression.predict PLSRegression.transform CCA.predict",
    "preprocessing": """
        StandardScaler.transform StandardScaler.inverse_transform MinMaxScaler.transform
        MaxAbsScaler.transform RobustScaler.transform Normalizer.transform
        PowerTransformer.transform QuantileTransformer.transform SplineTransformer.transform
        PolynomialFeatures.transform
    """,
    "decomposition": """
        PCA.transform PCA.score_samples PCA.inverse_transform KernelPCA.transform
        FactorAnalysis.transform FastICA.transform TruncatedSVD.transform IncrementalPCA.transform
        NMF.transform
    """,
    "mixture": """
        GaussianMixture.score_samples GaussianMixture.predict_proba
        BayesianGaussianMixture.predict_proba
    """,
    "neighbors": """
        NeighborhoodComponentsAnalysis.transform KNeighborsRegressor.predict
        KernelDensity.score_samples
    """,
    "cluster": "KMeans.transform",
    "covariance": "EmpiricalCovariance.mahalanobis EllipticEnvelope.decision_function",
    "kernel_approximation": "RBFSampler.transform Nystroem.transform",
    "random_projection": "GaussianRandomProjection.transform",
    "impute": "SimpleImputer.transform",
    "feature_selection": "SelectKBest.transform VarianceThreshold.transform",
    "tree": "DecisionTreeRegressor.predict",
    "ensemble": """
        VotingRegressor.predict StackingRegressor.predict BaggingRegressor.predict
        RandomForestRegressor.predict GradientBoostingRegressor.predict
        HistGradientBoostingRegressor.predict
    """,
    "multioutput": "MultiOutputRegressor.predict",
    "multiclass": "OneVsRestClassifier.decision_function",
    "calibration": "CalibratedClassifierCV.predict_proba",
    "compose": "ColumnTransformer.transform TransformedTargetRegressor.predict",
    "model_selection": "GridSearchCV.predict",
    "pipeline": "Pipeline.predict FeatureUnion.transform",
}
TARGETS = {
    "GammaRegressor": abs(Y) + 0.1, "TweedieRegressor": abs(Y) + 0.1, "PoissonRegressor": abs(Y),
    "LogisticRegression": THREE, "RidgeClassifier": THREE, "Perceptron": TWO, "SGDClassifier": TWO,
    "MLPClassifier": THREE, "GaussianProcessClassifier": TWO, "LinearSVC": THREE, "SVC": TWO,
    "LinearDiscriminantAnalysis": THREE, "QuadraticDiscriminantAnalysis": TWO, "GaussianNB": THREE,
    "MultinomialNB": TWO, "BernoulliNB": TWO, "CCA": BOTH, "NeighborhoodComponentsAnalysis": TWO,
    "SelectKBest": TWO, "MultiOutputRegressor": BOTH, "OneVsRestClassifier": THREE,
    "CalibratedClassifierCV": TWO,
}  # fmt: skip
OF_POSITIVE = ("MultinomialNB", "BernoulliNB", "BernoulliRBM", "NMF")


def parameters():
    """Return the parameters of classes that need some."""
    import sklearn.decomposition as parts
    import sklearn.linear_model as linear
    import sklearn.preprocessing as preparing

    ridge, scaler = linear.Ridge(), preparing.StandardScaler()
    two = [("a", linear.LinearRegression()), ("b", ridge)]
    network = {"hidden_layer_sizes": (4,), "activation": "tanh", "max_iter": 20}
    return {
        "TheilSenRegressor": {"max_subpopulation": 50}, "TweedieRegressor": {"power": 1.5},
        "SGDClassifier": {"loss": "log_loss"}, "MLPRegressor": network, "MLPClassifier": network,
        "BernoulliRBM": {"n_components": 2, "n_iter": 2}, "KernelRidge": {"kernel": "rbf"},
        "BernoulliNB": {"binarize": None}, "CCA": {"n_components": 1}, "PCA": {"n_components": 2},
        "QuantileTransformer": {"n_quantiles": 10}, "GaussianMixture": {"n_components": 2},
        "KernelPCA": {"n_components": 2, "kernel": "rbf"}, "FactorAnalysis": {"n_components": 2},
        "IncrementalPCA": {"n_components": 2}, "TruncatedSVD": {"n_components": 2},
        "BayesianGaussianMixture": {"n_components": 2}, "NMF": {"n_components": 2},
        "NeighborhoodComponentsAnalysis": {"max_iter": 3}, "Nystroem": {"n_components": 5},
        "KMeans": {"n_clusters": 2, "n_init": 1}, "RBFSampler": {"n_components": 5},
        "GaussianRandomProjection": {"n_components": 2}, "SelectKBest": {"k": 2},
        "RandomForestRegressor": {"n_estimators": 2}, "VotingRegressor": {"estimators": two},
        "GradientBoostingRegressor": {"n_estimators": 2}, "StackingRegressor": {"estimators": two},
        "HistGradientBoostingRegressor": {"max_iter": 2},
        "BaggingRegressor": {"estimator": ridge, "n_estimators": 2},
        "MultiOutputRegressor": {"estimator": ridge},
        "OneVsRestClassifier": {"estimator": linear.LogisticRegression()},
        "ColumnTransformer": {"transformers": [("a", scaler, [0, 1]), ("b", "passthrough", [2])]},
        "TransformedTargetRegressor": {"regressor": ridge},
        "GridSearchCV": {"estimator": ridge, "param_grid": {"alpha": [0.1, 1.0]}, "cv": 2},
        "Pipeline": {"steps": [("a", scaler), ("b", parts.PCA(2)), ("c", ridge)]},
        "FeatureUnion": {"transformer_list": [("a", scaler), ("b", parts.PCA(2))]},
    }  # fmt: skip


def outcome(module, name, method):
    """Return whether a gradient is right, `False` for a refusal; raise where it is wrong."""
    kind = getattr(importlib.import_module(f"sklearn.{module}"), name)
    given = parameters().get(name, {})
    if "random_state" in kind.__init__.__code__.co_varnames:
        given = given | {"random_state": 0}
    x, points = (abs(X) / 5, abs(POINTS) / 5) if name in OF_POSITIVE else (X, POINTS)
    estimator = kind(**given).fit(x, TARGETS.get(name, Y))
    points = estimator.transform(points) if method == "inverse_transform" else points

    def value(x):
        y = getattr(estimator, method)(x)
        return np.sum(y * np.cos(1.0 + np.arange(y.size)).reshape(y.shape))

    want = differences(value, points)
    try:
        found = gradient(value, points)[0]
    except DifferentiationError as error:
        if "sklearn" not in str(error):
            raise
        return False
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-6 * (1 + np.max(np.abs(want))))
    return True


def differences(f, x, h=1e-3):
    """Return the gradient by central differences, whose first error cancels."""

    def central(h):
        steps = np.eye(x.size).reshape(x.size, *x.shape) * h
        return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in steps]).reshape(x.shape)

    return (4 * central(h / 2) - central(h)) / 3


def table():
    """Return the table, in Markdown."""
    rows, right, refused = [], 0, 0
    for module, names in METHODS.items():
        told = {True: [], False: []}
        for name in names.split():
            told[outcome(module, *name.split("."))].append(f"`{name}`")
        right, refused = right + len(told[True]), refused + len(told[False])
        cells = [", ".join(told[flag]) or "-" for flag in (True, False)]
        rows.append(f"| `{module}` | {cells[0]} | {cells[1]} |")
    return "\n".join(
        [
            f"Of {right + refused} methods, {right} have a right gradient, {refused} are refused.",
            "",
            "| module | right | refused |",
            "|---|---|---|",
            *rows,
        ]
    )


def written(text):
    """Return the text of the page with the table of today."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return with_table(text, BEGIN, table())


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
