"""Gradients of SciPy's functions beside those of JAX and autograd, which rewrote a part of them.

`nox -s peers` runs this where both are installed. It prints what each peer has, and ends with an
error where a gradient differs.
"""

import importlib
import sys

import numpy as np

from zygote_lite import gradient

X, Y = np.array([0.3, 0.7, 1.6]), np.array([1.2, 0.4, 2.3])
UNIT, COUNTS = np.array([0.2, 0.55, 0.9]), np.array([1, 0, 3])
A = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]])
L = np.tril(A)

CALLS = {
    "special": {
        **dict.fromkeys(
            ["dawsn", "digamma", "entr", "erf", "erfc", "exp1", "expi", "expit", "fresnel", "gamma",
             "gammaln", "i0", "i0e", "i1", "i1e", "j0", "j1", "log_ndtr", "log_softmax",
             "logsumexp", "ndtr", "psi", "rgamma", "sici", "softmax", "y0", "y1"], (X,)),
        **dict.fromkeys(["erfcinv", "erfinv", "logit", "ndtri", "spence"], (UNIT,)),
        **dict.fromkeys(["beta", "betaln", "gammainc", "gammaincc", "kl_div", "poch", "rel_entr",
                         "xlog1py", "xlogy"], (X, Y)),
        **dict.fromkeys(["iv", "ive", "jn", "polygamma", "yn"], (2, X)),
        "betainc": (X, Y, UNIT),
        "expn": (2, X),
        "hyp1f1": (2, 3, X),
        "multigammaln": (X + 2, 2),
        "zeta": (X + 1.5, Y),
    },
    "linalg": {
        **dict.fromkeys(["cholesky", "det", "eigh", "expm", "inv", "lu", "sqrtm", "svdvals"], (A,)),
        **dict.fromkeys(["solve"], (A, X)),
        "block_diag": (A, L),
        "cho_solve": ((L, True), X),
        "qr": (A,),
        "solve_sylvester": (A, L, A),
        "solve_triangular": (A, X),
        "svd": (A + np.diag(X),),
        "toeplitz": (X, Y),
    },
    "fft": dict.fromkeys(["dct", "dctn", "idct", "idctn"], (X,)),
    "stats": {
        **{f"{name}.{method}": (X, *shapes)
           for name, shapes in {
               "cauchy": (), "chi2": (3.1,), "expon": (), "gamma": (1.7,), "gennorm": (1.4,),
               "gumbel_l": (), "gumbel_r": (), "laplace": (), "logistic": (), "norm": (),
               "pareto": (2.2,), "t": (3.3,), "uniform": (), "vonmises": (1.3,)}.items()
           for method in ("logpdf", "pdf", "cdf")},
        **{f"{name}.{method}": (UNIT, *shapes)
           for name, shapes in {"beta": (1.7, 2.4), "wrapcauchy": (0.4,)}.items()
           for method in ("logpdf", "pdf")},
        "truncnorm.logpdf": (UNIT, -1.2, 1.4),
        "bernoulli.logpmf": (COUNTS[:2], 0.4),
        "betabinom.logpmf": (COUNTS, 5, 1.4, 2.2),
        "binom.logpmf": (COUNTS, 5, 0.3),
        "dirichlet.logpdf": (UNIT / np.sum(UNIT), Y),
        "geom.logpmf": (COUNTS + 1, 0.3),
        "multivariate_normal.logpdf": (X, Y, A),
        "nbinom.logpmf": (COUNTS, 2.4, 0.3),
        "poisson.logpmf": (COUNTS, 1.7),
    },
}  # fmt: skip

OF_A_TRIANGLE = ("linalg.cholesky", "linalg.eigh", "stats.multivariate_normal.logpdf")
"""What reads a triangle of a symmetric matrix: a gradient may lie in it, or in both."""


def of_floats(f, given, sums):
    """Return what a function becomes as one of its floats and arrays of floats; and these.

    It is a number that depends on each entry of the value, or of the first value of several.
    """
    places = [i for i, x in enumerate(given) if isinstance(x, float | np.ndarray) and
              np.asarray(x).dtype == float]  # fmt: skip

    def number(*xs):
        filled = list(given)
        for i, x in zip(places, xs, strict=True):
            filled[i] = x
        y = f(*filled)
        y = y[0] if isinstance(y, tuple) else y
        return sums(y * np.linspace(0.5, 1.5, np.size(y)).reshape(np.shape(y)))

    return number, [given[i] for i in places]


def compared(name, given, peer, gradients, sums):
    """Return how far the gradients of one function are apart, relatively; `None` where it has none.

    Arguments:
        name: of the function, from its section on.
        given: its arguments.
        peer: the peer's package.
        gradients: maps a function and arguments to the peer's gradients.
        sums: the peer's sum.
    """
    section, *parts = name.split(".")
    ours, theirs = (importlib.import_module(f"{root}.{section}") for root in ("scipy", peer))
    for part in parts:
        ours, theirs = getattr(ours, part), getattr(theirs, part, None)
    if theirs is None:
        return None
    f, xs = of_floats(theirs, given, sums)
    try:
        expected = gradients(f, *xs)
    except (NotImplementedError, TypeError, ValueError, AssertionError):
        return None
    f, xs = of_floats(ours, given, np.sum)
    pairs = zip(gradient(f, *xs), expected, strict=True)
    if name in OF_A_TRIANGLE:
        pairs = [(d + np.transpose(d), e + np.transpose(e)) for d, e in pairs]
    return max(apart(*pair) for pair in pairs)


def apart(found, expected):
    """Return how far two gradients are apart, where the second one is a number."""
    found, expected = np.zeros(np.shape(expected)) if found is None else found, np.array(expected)
    return float(np.max(np.abs(found - expected)) / max(1.0, np.max(np.abs(expected))))


def by_jax(f, *xs):
    """Return JAX's gradients."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.grad(f, tuple(range(len(xs))))(*xs)


def by_autograd(f, *xs):
    """Return autograd's gradients."""
    return [importlib.import_module("autograd").grad(f, i)(*xs) for i in range(len(xs))]


def main():
    """Compare all calls with both peers; return how many differ."""
    sums = {"jax.scipy": "jax.numpy", "autograd.scipy": "autograd.numpy"}
    differing = 0
    for peer, gradients in (("jax.scipy", by_jax), ("autograd.scipy", by_autograd)):
        total = importlib.import_module(sums[peer]).sum
        count = 0
        for section, calls in CALLS.items():
            for name, given in calls.items():
                try:
                    off = compared(f"{section}.{name}", given, peer, gradients, total)
                except ModuleNotFoundError:  # a section that the peer does not have
                    continue
                count += off is not None
                if off is not None and not off < 1e-8:
                    differing += 1
                    print(f"{peer}.{section}.{name}: off by {off:.1e}")
        print(f"{peer}: {count} functions compared")
    return differing


if __name__ == "__main__":
    sys.exit(main())
