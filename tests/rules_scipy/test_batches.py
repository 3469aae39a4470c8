"""`vmap` of functions of SciPy: at once, and as a loop over the entries gives it."""

import numpy as np
import pytest
from scipy import fft as sf
from scipy import integrate as si
from scipy import linalg as sl
from scipy import ndimage as nd
from scipy import special as sp

from rulescore import plugins
from rulescore.testing import check_batched
from zygote_lite import explain, grad, vmap

M = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.1]]) + np.arange(4)[
    :, None, None
] * np.eye(3)
B = np.arange(12.0).reshape(4, 3)

SAMPLES = B**2 - 3 * B
BESIDE = [  # of batching rules in modules that hold nothing else, and so have no examples
    *((f, (SAMPLES.T,), {"axis": 0})
      for f in (si.trapezoid, si.simpson, si.romb, si.cumulative_trapezoid,
                si.cumulative_simpson)),
    *((f, (M[0],), {}) for f in (sl.cholesky, sl.cho_factor, sl.lu_factor)),
    (sl.cho_solve, ((M[0], True), B[0]), {}),
    (sl.lu_solve, (sl.lu_factor(M[0]), M[1]), {"trans": 1}),
]  # fmt: skip


def by_cholesky(a, b):
    factor = sl.cho_factor(a, lower=True)
    return sl.cho_solve(factor, b) + sl.cho_solve((factor[0].T, False), b, check_finite=False)


FUNCTIONS = {
    "solutions by Cholesky factors": (by_cholesky, M, B),
    "solutions of matrices by Cholesky factors": (by_cholesky, M, M),
    "solutions by one factor": (lambda b: sl.cho_solve((M[0], True), b), B),
    "solutions by LU": (lambda a, b: sl.lu_solve(sl.lu_factor(a), b, 1), M, B),
    "roots and logarithms": (lambda a: sl.sqrtm(a) @ sl.logm(a) + sl.sinm(a), M),
    "integrals of samples": (
        lambda y: si.simpson(y) + si.trapezoid(y, dx=0.5) + si.romb(y),
        SAMPLES,
    ),
    "integrals at places": (lambda y: si.simpson(y, x=B[0] ** 2 + B[0]), SAMPLES),
    "cumulative integrals": (
        lambda y: si.cumulative_trapezoid(y, initial=0) + si.cumulative_simpson(y, initial=0.0),
        SAMPLES,
    ),
    "inverses": (lambda a: sl.inv(a, assume_a="sym"), M),
    "inverses in single precision": (lambda a: sl.inv(a), M.astype("f4")),
    "determinants": (lambda a: sl.det(a), M),
    "systems of vectors": (lambda a, b: sl.solve(a, b), M, B),
    "systems of matrices": (lambda a, b: sl.solve(a, b, assume_a="pos"), M, M),
    "softmax": (lambda x: sp.softmax(x, axis=-2), M),
    "log_softmax of all": (lambda x: sp.log_softmax(x), M),
    "logsumexp": (lambda x: sp.logsumexp(x, axis=1, keepdims=True), M),
    "universal functions": (lambda x: sp.gammaln(x + 1) + sp.jv(0.5, x + 1) * sp.expit(x), M),
    "transforms": (lambda x: np.abs(sf.fft(x, n=4, axis=0, norm="ortho")), M + np.eye(3, 3, 1)),
    "real transforms": (lambda x: np.real(sf.rfft(x)), B),
    "inverses, with options by position": (lambda a: sl.inv(a, False, False), M),
    "triangular systems": (lambda a, b: sl.solve_triangular(a, b, lower=True), M, B),
    "pseudo-inverses": (lambda a: sl.pinv(a[:, :2]), M),
    "exponentials": (lambda a: sl.expm(a / 4), M),
    "exponentials in single precision": (lambda a: sl.expm(a / 4), M.astype("f4")),
    "Cholesky factors": (lambda a: sl.cholesky(a, True), M),
    "spectra": (lambda a: sl.eigh(a)[1] ** 2 + sl.eigvalsh(a, lower=False), M),
    "singular values": (lambda a: sl.svd(a, False)[0] ** 2 + sl.svdvals(a), M),
    "transforms along all axes": (lambda x: np.abs(sf.fftn(x, s=(2, 4))), M[..., None]),
    "transforms along two axes": (lambda x: np.real(sf.irfft2(sf.rfft2(x, axes=(0, -1)))), M),
    "cosine transforms": (lambda x: sf.dct(x, 3, axis=0, norm="ortho", orthogonalize=False), M),
    "sine transforms along many axes": (lambda x: sf.dstn(x, 2, (2, 5), axes=(1, 0)), M),
    "weighted logsumexp": (lambda x, b: sp.logsumexp(x, 0, b), M, M),
    "logsumexp with weights by name": (lambda x: sp.logsumexp(x, b=B[0], axis=-1), M),
    "signs of sums": (lambda x: sp.logsumexp(x, 1, -1.0, return_sign=True)[0], M),
    "filters along an axis": (lambda x: nd.correlate1d(x, [1.0, 2, 0, -1], 0, mode="wrap"), M),
    "Gaussian filters": (lambda x: nd.gaussian_filter1d(x, 0.7, -2, order=1), M.astype("f4")),
}


def loop(f, xs):
    return np.stack([f(*entries) for entries in zip(*xs, strict=True)])


def test_all_examples():
    (plugin,) = [p for p in plugins() if p.name == "rules_scipy"]
    reached, rules = set(), set()
    for ruleset in plugin.rulesets:
        of_set = {r.function: r.body for r in ruleset.rules if r.kind == "batched"}
        rules |= {*of_set.values()}
        for f, xs, options in ruleset.examples if of_set else ():
            given = {name: x for name, x in options.items() if not name.startswith("check_")}
            reached.add(getattr(check_batched(f, *xs, **given), "body", None))
    for f, xs, options in BESIDE:
        reached.add(getattr(check_batched(f, *xs, **options), "body", None))
    assert len(rules) >= 55
    assert rules - reached == set()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name):
    f, *xs = FUNCTIONS[name]

    def total(*xs):
        return np.sum(np.sin(f(*xs)))

    exact = 1e-4 if xs[0].dtype == np.float32 else 1e-9
    found, due = vmap(f)(*xs), loop(f, xs)
    assert found.dtype == due.dtype
    np.testing.assert_allclose(found, due, exact, exact)
    assert "a loop" not in str(explain(vmap(f), *xs))
    inside = vmap(grad(total))(*xs)
    around = grad(lambda x, *more: np.sum(np.sin(vmap(f)(x, *more))))(*xs)
    np.testing.assert_allclose(inside, loop(grad(total), xs), exact, exact)
    np.testing.assert_allclose(around, inside, exact, exact)
    assert inside.dtype == around.dtype == xs[0].dtype


def test_axes_of_batches():
    np.testing.assert_allclose(vmap(sl.solve, in_axes=(None, 1))(M[0], B.T), sl.solve(M[0], B.T).T)
    np.testing.assert_allclose(
        vmap(sl.solve, in_axes=(0, None))(M, B[0]), loop(sl.solve, (M, B[[0] * 4]))
    )
    np.testing.assert_allclose(vmap(vmap(sl.det))(M[None]), sl.det(M)[None])


def test_errors_and_overwriting_are_those_of_an_entry():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        vmap(sl.inv)(0 * M)
    with pytest.raises(np.exceptions.AxisError, match="dimension 2"):
        vmap(lambda x: sp.softmax(x, axis=2))(M)
    assert "a loop" in str(explain(vmap(lambda a: sl.inv(a, overwrite_a=True)), M.copy()))
