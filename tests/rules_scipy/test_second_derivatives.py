"""Second derivatives where the formula of the first one has a special case, against differences."""

import numpy as np
import pytest
from scipy import linalg as sl
from scipy import special as sp
from scipy import stats
from scipy.sparse import linalg as spl
from scipy.spatial import distance

from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from zygote_lite import gradient, hessian
from zygote_lite.testing import recorded_only

B = np.array([1.0, 2.0])
CASES = {
    "a determinant of 7e-18": (lambda v: sl.det(v.reshape(3, 3)), np.arange(1.0, 10) / 10),
    "a last pivot of 8e-18": (
        lambda v: np.sum(sl.lu(v.reshape(3, 3))[1] ** 2 + sl.lu_factor(v.reshape(3, 3))[0] ** 2),
        np.arange(1.0, 10) / 10,
    ),
    "a last pivot of 0": (lambda v: np.sum(sl.lu(v.reshape(2, 2))[2] ** 3), (2, 4, 1, 2.0)),
    "the order of a norm at 1": (lambda v: np.linalg.norm(v[:2], v[2]), (0.7, -2.0, 1.0)),
    "the order of a norm at 2": (lambda v: np.linalg.norm(v[:2], v[2]), (0.7, -2.0, 2.0)),
    "a coordinate that is equal": (
        lambda v: np.sum(distance.cdist([v, 2 * v], [[1.0, 0.7]], "minkowski")),
        (1.0, 2.0),
    ),
    "an exponential of zeros": (
        lambda v: np.sum(spl.expm_multiply(v.reshape(2, 2), B)),
        (0.0,) * 4,
    ),
    "weights by name": (lambda v: sp.logsumexp(v, b=B), (0.0, 0.0)),
    "weights": (lambda v: sp.logsumexp(v, None, B) ** 2, (0.0, 0.0)),
    "xlogy": (lambda v: sp.xlogy(v[0], v[1]), (0.0, 2.0)),
    "xlog1py": (lambda v: sp.xlog1py(v[0], v[1]), (0.0, 2.0)),
    "powm1": (lambda v: sp.powm1(v[0], v[1]), (2.0, 0.0)),
    "spence": (lambda v: sp.spence(v[0]), (1.0,)),
    "spence by its series": (lambda v: sp.spence(v[0]), (1.0009,)),
    "spence beside it": (lambda v: sp.spence(v[0]), (1.0011,)),
    "kv": (lambda v: sp.kv(v[0], v[1]), (0.0, 2.0)),
    "kve": (lambda v: sp.kve(v[0], v[1]), (0.0, 2.0)),
    "owens_t": (lambda v: sp.owens_t(v[0], v[1]), (0.0, 2.0)),
    "stdtr": (lambda v: sp.stdtr(v[0], v[1]), (2.0, 0.0)),
    "stdtr of many": (lambda v: sp.stdtr(v[0], v[1]), (1500.0, 0.0)),
    "stdtrit": (lambda v: sp.stdtrit(v[0], v[1]), (2.0, 0.5)),
    "struve": (lambda v: sp.struve(1, v[0]), (0.0,)),
    "modstruve": (lambda v: sp.modstruve(1, v[0]), (0.0,)),
    "struve of order 0": (lambda v: sp.struve(0, v[0]), (0.0,)),
    "lambertw": (lambda v: np.real(sp.lambertw(v[0])) ** 2, (0.0,)),
    "peak of Cauchy's density": (lambda v: stats.cauchy.logpdf(0.0, v[0], v[1]), (0.0, 1.0)),
    "peak of the logistic density": (lambda v: stats.logistic.pdf(0.3, v[0], v[1]), (0.3, 2.0)),
    "peak of a kappa density": (lambda v: stats.kappa4.logpdf(v[0], 0.1, 0.0), (0.0,)),
    "peak of an F density": (lambda v: stats.f.logpdf(v[0], 6.0, 4.0), (4 / 9,)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_hessian(name):
    f, x = CASES[name][0], np.array(CASES[name][1])
    expected = jacobian_by_differences(lambda x: gradient(f, x)[0], (x,))
    for _ in range(3):
        np.testing.assert_allclose(hessian(f)(x), expected, rtol=1e-5, atol=1e-7)
    with recorded_only():
        np.testing.assert_allclose(hessian(f)(x), expected, rtol=1e-5, atol=1e-7)


NORMS = {
    "np": lambda x: np.linalg.norm(x, 1.5),
    "np, by axes": lambda x: np.linalg.vector_norm(x, ord=1.5),
    "scipy": lambda x: sl.norm(x, 1.5),
    "a distance": lambda x: distance.cdist([x], [[0.0, 0.0]], "minkowski", p=1.5)[0, 0],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("norm", NORMS)
def test_the_second_derivative_of_a_p_norm_by_an_entry_that_is_0_is_infinite(norm):
    found = hessian(lambda x: NORMS[norm](x) ** 2)(np.array([0.0, 2.0]))
    np.testing.assert_allclose(found, [[np.inf, 0.0], [0.0, 2.0]], atol=1e-12)


def test_the_voigt_profile_without_gauss_obeys_the_heat_equation():
    x = np.array([0.3, 0.0, 0.7])
    found = hessian(lambda v: sp.voigt_profile(v[0], v[1], v[2]))(x)
    by_position = hessian(lambda v: 0.7 / np.pi / (v * v + 0.49))(0.3)
    np.testing.assert_allclose(found[1], [0.0, by_position, 0.0], atol=1e-12)
    np.testing.assert_allclose(found[0, 0], by_position)


def test_a_cotangent_of_zero_has_the_slope_of_its_factor():
    x = np.array([0.3, 0.5])

    def slopes(w):
        return gradient(lambda x: np.sum(w * np.real(sp.lambertw(x))), x)[0]

    w = np.array([0.0, 1.0])
    found = np.stack([gradient(lambda w, i=i: slopes(w)[i], w)[0] for i in range(2)])
    np.testing.assert_allclose(found, jacobian_by_differences(slopes, (w,)), atol=1e-9)
