"""Sparse arrays that a function is given, and is not differentiated by: transformed code."""

import copy

import numpy as np
import pytest
from scipy import sparse as sp
from scipy.sparse.linalg import spsolve

from tests.rules_scipy.tiers import differences
from zygote_lite import hessian, testing, value_and_grad

U = np.sin(np.arange(1.0, 5.0))
ROWS = np.array([[2.0, 0.0, 1.0, 0.0], [0.0, 3.0, 0.0, 0.5], [1.0, 0.0, 4.0, 0.0], [0.3, 0, 0, 1]])
A, B = sp.csr_array(ROWS), sp.csc_array(ROWS.T - np.eye(4))


class Operator:
    def __init__(self, matrix):
        self.matrix = matrix

    def __call__(self, u):
        return self.matrix @ u


def steps(u, a):
    for _ in range(3):
        u = u - 0.1 * (a @ u)
    return np.sum(u * u)


def from_around(u):
    return np.sum((A @ u) ** 2) + np.sum(OPERATOR(u) * u)


def one_of_two(u, a, b, k):
    m = a if k > 0 else b
    return np.sum((m @ u) ** 2)


def in_place(u, a):
    a *= 2.0
    return np.sum(a @ u)


def memory(u, d, a):
    d[0] = 5.0
    return u @ (a @ u)


OPERATOR = Operator(B)
TRANSFORMED = {
    "steps": (steps, (U, A)),
    "another class": (steps, (U, sp.dia_array(A))),
    "a matrix": (lambda u, a: np.sum((a * u) ** 2), (U, sp.csr_matrix(ROWS))),
    "from around": (from_around, (U,)),
    "from the right": (lambda u, a: np.sum((u @ a) ** 2), (np.outer(U, U), A)),
    "transposed": (lambda u, a: np.sum((a.T @ u) ** 2) + np.sum(a.T.T @ u), (U, A)),
    "scaled": (lambda u, a, b: np.sum((0.5 * a - b / 2) @ u) ** 2, (U, A, B)),
    "methods": (lambda u, a: np.sum(a.dot(u) * a.diagonal() * a.sum(axis=0)), (U, A)),
    "shape": (lambda u, a: np.sum((a @ u)[: a.shape[0] - 1]) / a.shape[1], (U, A)),
    "a list": (lambda u, ms: np.sum(ms[0] @ (ms[1] @ u)), (U, [A, B])),
    "a branch": (one_of_two, (U, A, sp.csr_array(B), -1)),
    "solved": (lambda u, a: np.sum(spsolve(a, u) ** 2), (U, sp.csc_array(A))),
    "precision": (steps, (U.astype(np.float32), A.astype(np.float32))),
}
RECORDED = {
    "written in place": (in_place, (U, A)),
    "by an item": (lambda u, a: (a.__setitem__((0, 0), 7.0), np.sum(a @ u))[1], (U, A)),
    "memory": (memory, (U, A.data, A)),
    "data": (lambda u, a: np.sum(a.data) * np.sum(a @ u), (U, A)),
}


def gradient_by(f, xs, times):
    """Return what the last of some calls gives, what its arguments hold then, and who answered."""
    differentiated = value_and_grad(f)
    for _ in range(times):
        given = copy.deepcopy(xs)
        with testing.observed() as answers:
            found = differentiated(*given)
    return found, given, answers[-1].tier


@pytest.mark.parametrize("name", [*TRANSFORMED, *RECORDED])
def test_constants(name):
    f, xs = (TRANSFORMED | RECORDED)[name]
    with testing.recorded_only():
        (value, d), left, _ = gradient_by(f, xs, 1)
    found, given, tier = gradient_by(f, xs, 3)
    assert tier == ("transformed" if name in TRANSFORMED else "recorded")
    np.testing.assert_allclose(found[0], value, rtol=1e-6)
    np.testing.assert_allclose(found[1], d, rtol=1e-6)
    assert found[1].dtype == xs[0].dtype
    if xs[0].dtype == np.float64:
        want = differences(lambda u: f(u, *copy.deepcopy(xs[1:])), xs[0])
        np.testing.assert_allclose(found[1], want, rtol=1e-8)
    for x, y in zip(given[1:], left[1:], strict=True):
        for a, b in [(x, y)] if sp.issparse(x) else []:
            assert np.array_equal(a.toarray(), b.toarray())


def test_another_array_at_later_calls():
    """Another class, shape, dtype or content is noticed."""
    value = value_and_grad(lambda u, a: np.sum(np.abs(a @ u) ** 2))
    others = [A, sp.csc_array(A), sp.csr_array(ROWS[:1]), sp.csr_array(ROWS * 1j), 2.0 * A, ROWS]
    for a in others:
        for _ in range(3):
            _, d = value(U, a)
        np.testing.assert_allclose(d, 2 * (a.conj().T @ (a @ U)).real, rtol=1e-12)
    changed = A.copy()
    for scale in (2.0, 3.0):
        changed.data[:] = scale * A.data
        np.testing.assert_allclose(value(U, changed)[1], 2 * scale**2 * (A.T @ (A @ U)), rtol=1e-12)


def test_second_derivatives():
    for _ in range(3):
        found = hessian(from_around)(U)
    np.testing.assert_allclose(found, (2 * A.T @ A + B + B.T).toarray(), rtol=1e-12)
