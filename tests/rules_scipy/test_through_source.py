"""Functions of SciPy that have no rule and are followed through their source, by differences."""

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg, ndimage, signal, spatial
from scipy.signal import windows
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg

from tests.rules_scipy.tiers import differences
from zygote_lite import gradient
from zygote_lite.testing import recorded_only

AT = np.array([0.7, 1.3, 0.4])
SIGNAL = np.sin(np.arange(1.0, 13.0) ** 2)
LABELS = np.array([1, 1, 2, 2, 1, 3, 3, 3, 0, 2, 1, 2])
B, A = np.array([0.5, 0.2, 0.1]), np.array([1.0, -0.4, 0.3])
ZEROS, POLES = np.array([0.3 + 0.4j, 0.3 - 0.4j]), np.array([0.2 + 0.5j, 0.2 - 0.5j])
STATE = np.array([[0.1, 0.7], [-0.4, 0.2]]), np.array([[1.0], [0.5]]), np.array([[0.3, 1.0]])
X = np.array([0.0, 0.6, 1.1, 1.9, 3.0])
WINDOWS = {
    "dpss": lambda p: windows.dpss(9, 1 + p[0]),
    "dpss, several": lambda p: windows.dpss(8, 2 + p[0], 3, return_ratios=True),
    "dpss, not symmetric": lambda p: windows.dpss(8, 1 + p[0], sym=False, norm="subsample"),
    "chebwin": lambda p: windows.chebwin(8, 50 + p[0]),
    "exponential": lambda p: windows.exponential(7, 2.1 + p[0], p[1], sym=False),
    "gaussian": lambda p: windows.gaussian(7, p[0]),
    "general_cosine": lambda p: windows.general_cosine(7, p),
    "general_gaussian": lambda p: windows.general_gaussian(7, p[0], p[1]),
    "general_hamming": lambda p: windows.general_hamming(7, p[0]),
    "kaiser": lambda p: windows.kaiser(7, p[0]),
    "kaiser_bessel_derived": lambda p: windows.kaiser_bessel_derived(8, p[0]),
    "taylor": lambda p: windows.taylor(7, 3, 20 + p[0]),
    "tukey": lambda p: windows.tukey(9, p[0]),
    "get_window": lambda p: signal.get_window(("general_gaussian", p[0], p[1]), 7),
}
SIGNALS = {
    "bilinear": lambda p: signal.bilinear(p, A, 2 + p[0]),
    "coherence": lambda p: signal.coherence(SIGNAL * p[0], SIGNAL**2 + p[1], nperseg=6)[1],
    "cont2discrete": lambda p: signal.cont2discrete((STATE[0] * p[0], *STATE[1:], p[1]), 0.5)[0],
    "detrend": lambda p: signal.detrend(SIGNAL**2 * p[0] + p[1] ** 2),
    "detrend, constant": lambda p: signal.detrend(np.outer(SIGNAL, p) ** 2, 0, "constant"),
    "freqs": lambda p: np.abs(signal.freqs(p, A, [0.5, 1.0])[1]),
    "freqz": lambda p: np.abs(signal.freqz(p, A * p[0], 5)[1]),
    "freqz_sos": lambda p: np.abs(signal.freqz_sos([[*p, 1.0, -p[0], 0.3]], 5)[1]),
    "freqz_zpk": lambda p: np.abs(signal.freqz_zpk(ZEROS * p[0], POLES * p[1], p[2], 5)[1]),
    "gausspulse": lambda p: signal.gausspulse(p, 2 + p[0], p[1], retquad=True),
    "group_delay": lambda p: signal.group_delay((p, A), [0.3, 0.9])[1],
    "hilbert": lambda p: np.abs(signal.hilbert(SIGNAL * p[0] + p[1])),
    "resample": lambda p: signal.resample(SIGNAL * p[0] + p[1], 7),
    "sos2tf": lambda p: signal.sos2tf(np.array([[*p, 1.0, -p[0], 0.3]] * 2)),
    "sos2zpk": lambda p: np.abs(np.concatenate(signal.sos2zpk([[*p, 1.0, -p[0], 0.3]])[:2])),
    "ss2tf": lambda p: signal.ss2tf(STATE[0] * p[0], STATE[1], STATE[2] * p[1], [[p[2]]]),
    "ss2zpk": lambda p: signal.ss2zpk(STATE[0] * p[0], STATE[1], STATE[2], [[p[2]]])[2],
    "tf2sos": lambda p: signal.tf2sos(p, A),
    "tf2ss": lambda p: signal.tf2ss(p, A * p[0])[2],
    "tf2zpk": lambda p: signal.tf2zpk(p, A * p[0])[2] * np.abs(signal.tf2zpk(p, A)[0]),
    "zpk2sos": lambda p: signal.zpk2sos(ZEROS * p[0], POLES * p[1], p[2]),
    "zpk2ss": lambda p: signal.zpk2ss(ZEROS * p[0], POLES * p[1], p[2])[2],
    "zpk2tf": lambda p: signal.zpk2tf(ZEROS * p[0], POLES * p[1], p[2]),
}
OTHERS = {
    "cumulative_simpson": lambda p: integrate.cumulative_simpson(SIGNAL * p[0], x=X[-1] * LABELS
                                                                 + np.arange(12.0) ** 2 * p[1]),
    "fixed_quad": lambda p: integrate.fixed_quad(lambda x: np.exp(-p[0] * x), p[1], 2 + p[2])[0],
    "Akima1DInterpolator": lambda p: interpolate.Akima1DInterpolator(X * p[0], np.sin(X * p[1]))(p),
    "PchipInterpolator": lambda p: interpolate.PchipInterpolator(X * p[0], np.sin(X * p[1]))(p),
    "pade": lambda p: interpolate.pade([*p, 0.2, 0.7], 2)[0](p[0]),
    "label statistics": lambda p: (ndimage.sum(SIGNAL * p[0], LABELS, [1, 2])
                                   + ndimage.mean(SIGNAL + p[1], LABELS, [2, 3])
                                   + ndimage.variance(SIGNAL * p[2], LABELS, [1, 3])),
    "procrustes": lambda p: spatial.procrustes(np.cos(np.outer(X, p[:2])),
                                               np.outer(X, p[1:]) ** [1, 2])[2],
}  # fmt: skip
MATRIX = np.diag(np.arange(1.0, 13.0)) + 0.1 * np.cos(np.add.outer(range(12), range(12)))
GUESS = np.array([np.sin(3 * np.linspace(0, 1, 5)), 3 * np.cos(3 * np.linspace(0, 1, 5))])


def boundary(p):
    """Return the eigenvalue of an equation between two walls, and the slope of another's."""
    rates = lambda x, y, k: np.vstack([y[1], -(k[0] ** 2) * y[0] * (1 + p[0] * x)])
    walls = lambda a, b, k: np.array([a[0], b[0] - 0.1 * p[1], a[1] - k[0]])
    found = integrate.solve_bvp(rates, walls, np.linspace(0, 1, 5), GUESS, p=[3.0], tol=1e-5)
    return found.p[0] + found.sol(0.3)[1]


def pairs(p):
    """Return the largest eigenvalues of two matrices, and a part of their vectors."""
    weight = np.diag(1 + p[0] * np.linspace(0, 1, 12))
    w, v = sparse_linalg.lobpcg(p[1] * MATRIX + p[2] * MATRIX**2, np.eye(12)[:, -2:], weight,
                                tol=1e-10, maxiter=99)  # fmt: skip
    return w, np.abs(v[3])


SYSTEMS = {
    "funm_multiply_krylov": lambda p: sparse_linalg.funm_multiply_krylov(
        linalg.expm, MATRIX[:8, :8] * p[0], X[:1] + np.arange(8.0) * p[1], t=0.3 * p[2]),
    "laplacian": lambda p: csgraph.laplacian(np.outer(p, p) ** 2, normed=True),
    "lobpcg": pairs,
    "solve_bvp": boundary,
}  # fmt: skip
FOLLOWED = {**SYSTEMS, **WINDOWS, **SIGNALS, **OTHERS}


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:.pade. is deprecated")  # by SciPy 1.18
@pytest.mark.parametrize("name", FOLLOWED)
def test_functions_without_a_rule_have_the_gradients_of_their_source(name):
    def weighed(p):
        y = FOLLOWED[name](p)
        parts = y if isinstance(y, tuple) else (y,)
        sums = [np.sum(part * np.cos(1.0 + np.arange(np.size(part))).reshape(np.shape(part)))
                for part in parts]  # fmt: skip
        return sum(sums)

    with recorded_only():
        found = gradient(weighed, AT)[0]
    np.testing.assert_allclose(found, differences(weighed, AT), rtol=1e-6, atol=1e-8)
