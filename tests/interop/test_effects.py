"""Functions that JAX may repeat: those of libraries pass, and effects are refused where they are.

The gradients of libraries' functions are held to central differences.
"""

import concurrent.futures
import datetime
import importlib
import io
import logging
import os
import pathlib
import random
import secrets
import subprocess
import tempfile
import threading
import time
import uuid
import warnings

import numpy as np
import pytest
import scipy.stats as st

from zygote_lite import hessian, interop

jax = pytest.importorskip("jax", reason="JAX is not here: `nox -s interop` installs it")
pytestmark = pytest.mark.filterwarnings("default")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy
log = logging.getLogger(__name__)
X = np.array([0.31, 0.62, 0.17, 0.85, 0.44])
LEVELS = np.arange(5.0)


def declared(x):
    return jax.ShapeDtypeStruct((), x.dtype)


def central(f, x, h=1e-5):
    steps = np.eye(x.size).reshape(x.size, *x.shape) * h
    return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in steps]).reshape(x.shape)


def passes(f, x=X):
    """Hold value and gradients, under `jit` and `vmap` too, to the function and to differences."""
    call = interop.to_jax(f, result=declared)
    want, xs = central(f, x), jnp.stack([x, x])
    np.testing.assert_allclose(call(x), f(x), rtol=1e-12)
    np.testing.assert_allclose(jax.grad(call)(x), want, rtol=1e-5, atol=1e-7)
    both = jax.jit(jax.vmap(jax.grad(call)))(xs)
    np.testing.assert_allclose(both, [want, want], rtol=1e-5, atol=1e-7)


STATISTICS = {
    "norm.pdf": lambda x: st.norm.pdf(x, 0.1, 2.0).sum(),
    "norm.logpdf": lambda x: st.norm.logpdf(x, x[0], 2.0).sum(),
    "norm.cdf": lambda x: st.norm.cdf(x).sum(),
    "gamma.logpdf": lambda x: st.gamma.logpdf(x, 2.0).sum(),
    "beta.pdf": lambda x: st.beta.pdf(x, 2.0, 3.0).sum(),
    "t.logpdf": lambda x: st.t.logpdf(x, 3.0).sum(),
    "t.cdf": lambda x: st.t.cdf(x, 3.0).sum(),
    "expon.logpdf": lambda x: st.expon.logpdf(x, scale=x[1]).sum(),
    "lognorm.pdf": lambda x: st.lognorm.pdf(x, 0.5).sum(),
    "laplace.logpdf": lambda x: st.laplace.logpdf(x).sum(),
    "cauchy.cdf": lambda x: st.cauchy.cdf(x).sum(),
    "logistic.pdf": lambda x: st.logistic.pdf(x).sum(),
    "chi2.logpdf": lambda x: st.chi2.logpdf(x, 3.0).sum(),
    "weibull_min.logpdf": lambda x: st.weibull_min.logpdf(x, 1.5).sum(),
    "uniform.logpdf": lambda x: st.uniform.logpdf(x, scale=1.0 + x[0]).sum(),
    "poisson.logpmf": lambda x: st.poisson.logpmf(3, x).sum(),
    "a frozen norm": lambda x: st.norm(x[0], 1.0 + x[1]).logpdf(x).sum(),
    "multivariate_normal": lambda x: st.multivariate_normal.logpdf(x, np.zeros(5)),
    "zscore": lambda x: (st.zscore(x) * LEVELS).sum(),
    "skew": lambda x: st.skew(x),
    "kurtosis": lambda x: st.kurtosis(x),
    "gmean": lambda x: st.gmean(x),
    "sem": lambda x: st.sem(x),
    "trim_mean": lambda x: st.trim_mean(x, 0.2),
    "entropy": lambda x: st.entropy(x),
    "linregress": lambda x: st.linregress(LEVELS, x).slope,
    "pearsonr": lambda x: st.pearsonr(x, LEVELS).statistic,
    "ttest_1samp": lambda x: st.ttest_1samp(x, 0.0).statistic,
    "gaussian_kde": lambda x: st.gaussian_kde(LEVELS)(x).sum(),
    "boxcox": lambda x: (st.boxcox(x, 0.3) * LEVELS).sum(),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_functions_of_scipy_stats_pass(name):
    passes(STATISTICS[name])


rng = np.random.default_rng(0)
POINTS = rng.normal(size=(30, 3))
TARGETS = POINTS @ np.array([1.0, -2.0, 0.5]) + np.sin(POINTS[:, 0])
CLASSES = np.digitize(TARGETS, [-1.0, 1.0])
NETWORK = {"hidden_layer_sizes": (4,), "max_iter": 20, "random_state": 0, "activation": "tanh"}
ESTIMATORS = {
    "LinearRegression": ("linear_model", {}, TARGETS, "predict"),
    "Ridge": ("linear_model", {}, TARGETS, "predict"),
    "PoissonRegressor": ("linear_model", {}, abs(TARGETS), "predict"),
    "LogisticRegression": ("linear_model", {}, CLASSES, "predict_proba"),
    "PCA": ("decomposition", {"n_components": 2}, None, "transform"),
    "GaussianProcessRegressor": ("gaussian_process", {}, TARGETS, "predict"),
    "MLPRegressor": ("neural_network", NETWORK, TARGETS, "predict"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_of_sklearn_pass(name):
    pytest.importorskip("sklearn", reason="scikit-learn is not here")
    module, parameters, targets, method = ESTIMATORS[name]
    made = getattr(importlib.import_module(f"sklearn.{module}"), name)(**parameters)
    fitted = made.fit(POINTS) if targets is None else made.fit(POINTS, targets)
    weights = np.cos(np.arange(1.0, 3.0))[:, None]

    def value(x):
        y = getattr(fitted, method)(x)
        return np.sum(np.reshape(y, (2, -1)) * weights)

    passes(value, POINTS[:2] + 0.1)


def flagged(x, verbose=False):
    if verbose:
        print(x)
    log.debug("called with %s", x)
    return x.sum()


def drawn_with_a_seed(x):
    noise = np.random.default_rng(0).normal(size=5)
    return (x * noise).sum() * random.Random(1).random()


def warned(x):
    warnings.warn("of nothing", stacklevel=2)
    return np.sin(x).sum()


def written_in_memory(x):
    out = io.StringIO()
    out.write(str(x.shape))
    return len(out.getvalue()) * np.sin(x).sum()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", [flagged, drawn_with_a_seed, warned, written_in_memory])
def test_what_has_no_effect_for_these_arguments_passes(f):
    passes(f)


class Held:
    def __init__(self):
        self.count = 0


HELD, SEEN, BUFFER, CALLS = Held(), {}, np.zeros(5), []
GENERATOR, STREAM = np.random.default_rng(1), iter(range(10**9))
TOTAL = 0


def counted():
    global TOTAL
    TOTAL += 1


def threaded():
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(abs, 1).result()


def started():
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def printed_by_a_method():
    getattr(__import__("builtins"), "print")("x")


EFFECTS = {
    "print": lambda: print("x"),
    "print by another name": printed_by_a_method,
    "logging": lambda: log.error("x"),
    "a stream": lambda: importlib.import_module("sys").stdout.write("x"),
    "open": lambda: open(os.devnull, "w").close(),
    "Path.read_text": lambda: pathlib.Path(os.devnull).read_text(),
    "np.save": lambda: np.save(os.devnull, BUFFER),
    "np.load": lambda: np.load("no such file"),
    "tempfile": lambda: tempfile.TemporaryFile().close(),
    "os.remove": lambda: os.remove("no such file"),
    "os.environ": lambda: os.environ.get("HOME"),
    "subprocess": lambda: subprocess.run(["true"], check=True),
    "time": lambda: time.perf_counter(),
    "time by import": lambda: __import__("time").time(),
    "datetime": lambda: datetime.datetime.now(),
    "datetime64": lambda: np.array("now", dtype="datetime64[us]"),
    "random": lambda: random.random(),
    "random.gauss": lambda: random.gauss(0.0, 1.0),
    "random by import": lambda: __import__("random").random(),
    "np.random": lambda: np.random.normal(),
    "np.random by a name": lambda: getattr(np.random, "norm" + "al")(),
    "np.random.seed": lambda: np.random.seed(1),
    "default_rng": lambda: np.random.default_rng().normal(),
    "RandomState": lambda: np.random.RandomState().normal(),
    "random.Random": lambda: random.Random().random(),
    "a generator from outside": lambda: GENERATOR.normal(),
    "norm.rvs": lambda: st.norm.rvs(),
    "secrets": lambda: secrets.token_bytes(1),
    "uuid": lambda: uuid.uuid4(),
    "an iterator from outside": lambda: next(STREAM),
    "get_ident": lambda: threading.get_ident(),
    "a thread": started,
    "a pool of threads": threaded,
    "a list": lambda: CALLS.append(1),
    "a dict": lambda: SEEN.update({len(SEEN): 1}),
    "an attribute": lambda: setattr(HELD, "count", HELD.count + 1),
    "an array": lambda: np.add(BUFFER, 1.0, out=BUFFER),
    "a global variable": counted,
}


NOT_NOTICED = {  # in a call: these are refused wherever they stand
    "tempfile", "os.environ", "subprocess", "datetime64", "a generator from outside", "secrets",
    "an iterator from outside", "a global variable", "uuid", "np.random by a name",
    "np.random.seed",
}  # fmt: skip


@pytest.mark.parametrize("name", EFFECTS)
def test_effects_are_refused_in_the_call_that_has_them(name, capsys):
    """In the first call or a later one, and at once where there is no way around the effect."""
    act = EFFECTS[name]

    def always(x):
        act()
        return np.sin(x).sum()

    def sometimes(x):
        if x[0] > 1.0:
            act()
        return np.sin(x).sum()

    small, large = jnp.full(2, 0.5), jnp.full(2, 1.5)
    with pytest.raises(Exception, match="has effects"):
        jax.block_until_ready(interop.to_jax(always, result=declared)(large))
    if name in NOT_NOTICED:
        with pytest.raises(TypeError, match="has effects"):
            interop.to_jax(sometimes, result=declared)
        return
    call = interop.to_jax(sometimes, result=declared)
    total = jax.jit(jax.grad(call))
    for transformed in (call, total, jax.vmap(total)):
        for x in (small, large, small):
            given = x if transformed in (call, total) else jnp.stack([x, x])
            if x is large:
                with pytest.raises(Exception, match="has effects"):
                    jax.block_until_ready(transformed(given))
            else:
                jax.block_until_ready(transformed(given))
    assert not capsys.readouterr().out


def of_jax():
    """Return functions of NumPy that call JAX, each with a function that JAX has not compiled."""
    rules_jax = pytest.importorskip("rules_jax")
    f = lambda v: jnp.sum(jnp.sin(v) ** 3)
    compiled = jax.jit(lambda v: f(v))
    wrapped, of_compiled = rules_jax.numpy(lambda v: f(v)), rules_jax.numpy(jax.jit(lambda v: f(v)))
    return {
        "numpy": lambda x: wrapped(x * 2.0) ** 2,
        "numpy of jit": lambda x: of_compiled(x * 2.0) ** 2,
        "numpy inside": lambda x: rules_jax.numpy(lambda v: f(v))(x * 2.0) ** 2,
        "jit": lambda x: float(compiled(x * 2.0)) ** 2,
        "jit inside": lambda x: float(jax.jit(lambda v: f(v))(x * 2.0)) ** 2,
        "functions": lambda x: float(jnp.sum(jnp.sin(x * 2.0) ** 3)) ** 2,
    }


def in_numpy(x):
    return np.sum(np.sin(x * 2.0) ** 3) ** 2


@pytest.mark.parametrize("name", of_jax())
def test_what_jax_does_to_compile_is_no_effect(name):
    call = interop.to_jax(of_jax()[name], result=declared)
    for _ in range(2):
        np.testing.assert_allclose(jax.grad(call)(X), central(in_numpy, X), rtol=1e-6)
        both = jax.jit(jax.jacrev(jax.jacrev(call)))(X)
        np.testing.assert_allclose(both, hessian(in_numpy)(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("host", ["torch", "jax"])
def test_second_derivatives_in_pytorch_of_what_calls_a_library(host):
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    of_torch = rules_torch.numpy(lambda v: torch.sum(torch.sin(v) ** 3))
    f = of_jax()["numpy"] if host == "jax" else lambda x: of_torch(x * 2.0) ** 2
    for _ in range(3):
        x = torch.tensor(X)
        found = torch.autograd.functional.hessian(interop.to_torch(f), x)
        np.testing.assert_allclose(found, hessian(in_numpy)(X), rtol=1e-9, atol=1e-12)


def timed(v):
    return (v**2).sum() * time.time()


def shown(v):
    jax.debug.print("{}", v)
    return (v**2).sum()


@pytest.mark.parametrize("f", [timed, shown])
@pytest.mark.parametrize("compiled", [False, True])
def test_effects_of_functions_that_are_handed_to_a_library_are_refused(f, compiled, capsys):
    rules_jax = pytest.importorskip("rules_jax")
    inner = rules_jax.numpy(jax.jit(lambda v: f(v)) if compiled else f)
    call = interop.to_jax(lambda x: inner(x) ** 2, result=declared)
    with pytest.raises(TypeError, match=r"has effects: it (calls `time`|writes to)"):
        jax.grad(call)(X)
    assert not capsys.readouterr().out
