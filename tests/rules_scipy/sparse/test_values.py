"""Rules of `rules_scipy.sparse.values`, and what cotangents of sparse arrays are."""

import numpy as np
import pytest
from scipy import sparse as sp

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare
from zygote_lite import (
    DifferentiationError,
    NoRuleError,
    grad,
    gradient,
    hessian,
    jvp,
    linearize,
    pullback,
)


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


DENSE = np.array([[1.5, 0.0, -2.0, 0.0], [0.0, 0.5, 0.0, 0.0], [3.0, 0.0, 1.0, -0.5]])
A = sp.csr_array(DENSE)
PLACES = A.tocoo().coords
X, Y = np.array([0.5, -1.0, 2.0, 0.3]), np.array([1.0, 2.0, -0.7])


def of_data(kind, v):
    return kind(sp.coo_array((v, PLACES), shape=(3, 4)))


PROGRAMS = {
    "products": lambda a: np.sum((a @ X) ** 2) + np.sum((Y @ a) ** 3) + np.sum((a.T @ Y) ** 2),
    "of two": lambda a: np.sum(((a.T @ a) @ X) ** 2),
    "cancelling": lambda a: np.sum(((a - A) @ X + Y) ** 2),
    "a loop": lambda a: sum([np.sum((a @ X * k) ** 2) for k in range(3)]),
    "sums": lambda a: np.sum((a.sum() * a.multiply(a)) @ X) + a.mean() ** 2 + a.trace(),
    "conversions": lambda a: np.sum((a.tocsc().tocoo().tobsr().todia().tocsr() @ X) ** 2),
    "slices": lambda a: np.sum((a.tocsr()[1:][:, [0, 2, 2]] @ X[:3]) ** 2),
    "kron": lambda a: np.sum(sp.kron(a, A).toarray() ** 2),
    "triangles": lambda a: np.sum((sp.tril(a) @ X + sp.triu(a, 1) @ X) ** 2),
    "functions": lambda a: np.sum((a.sin() / 3 + abs(a) * 0.2 - np.tanh(a)) @ X),
    "norm": lambda a: sp.linalg.norm(a) ** 3,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_by_the_data(name):
    data = A.data + 0.1
    for kind in (sp.csr_array, sp.coo_array, sp.csr_matrix):
        f = lambda v, kind=kind: PROGRAMS[name](of_data(kind, v))
        steps = 1e-5 * np.eye(data.size)
        expected = [(f(data + h) - f(data - h)) / 2e-5 for h in steps]
        compare(f, data, expected, name == "products", rtol=1e-6, atol=1e-7)


def test_a_dense_array_has_a_gradient_where_it_is_zero():
    f = lambda d: np.sum(sp.csr_array(d) @ X)
    np.testing.assert_array_equal(gradient(f, DENSE)[0], np.broadcast_to(X, (3, 4)))
    with pytest.raises(NoRuleError, match=r"`\.nnz` of a csr_array that was made of a dense"):
        gradient(lambda d: np.sum(sp.csr_array(d) @ X) * sp.csr_array(d).nnz, DENSE)


LOOKS = {
    "compared": lambda a: a > 0.1,
    "signs": lambda a: a.sign(),
    "counted": lambda a: a.count_nonzero(),
    "summed": lambda a: a.sum(),
    "norm": lambda a: sp.linalg.norm(a),
}


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("column", [0, 3])  # stored twice, or out of order
def test_arrays_that_are_looked_at_stay_as_they_are(name, column):
    def f(v):
        a = sp.csr_array((v * v, np.array([3, column, 1]), np.array([0, 2, 3])), shape=(2, 4))
        b = a * 2.0
        LOOKS[name](a)
        return Y[:2] @ (b @ X) + np.sum(a @ X)

    v = np.array([1.0, 2.0, 3.0])
    for _ in range(3):
        found = gradient(f, v)[0]
        places = X[[3, column, 1]] * (1 + 2 * Y[[0, 0, 1]])
        np.testing.assert_allclose(found, 2 * v * places, rtol=1e-12)


def test_a_row_times_a_vector():
    for kind in (sp.csr_array, sp.coo_array):  # of which the second one returns a number
        f = lambda v, kind=kind: np.sum(kind(v[None, :]) @ X + Y[:1] * (X @ kind(v[:, None])))
        np.testing.assert_allclose(gradient(f, X + 1)[0], 2 * X, rtol=1e-12)


def test_a_sum_of_a_list_is_refused_by_name():
    with pytest.raises(
        NoRuleError, match=r"test_values\.py:.*a csr_array: write the sum as a loop"
    ):
        gradient(lambda a: np.sum(sum([a, a]) @ X), A)


def test_second_derivatives():
    f = lambda v: np.sum((of_data(sp.csr_array, v * v) @ X) ** 2)
    slope = lambda v: gradient(f, v)[0]
    expected = [(slope(A.data + h) - slope(A.data - h)) / 2e-5 for h in 1e-5 * np.eye(A.nnz)]
    np.testing.assert_allclose(hessian(f)(A.data), expected, rtol=1e-6, atol=1e-8)


def test_gradients_have_memory_of_their_own():
    before = A.copy()
    one, other = gradient(lambda a, b: np.sum(a @ X) + np.sum(b @ X), A, A)
    one.data[:], one.indices[:] = 0.0, 0
    one.eliminate_zeros()
    assert other.data.all()
    assert (A != before).nnz == 0


def after_an_inactive_write(x):
    a = A.copy()
    y = a @ x
    a.data[0] = 7.0
    return np.sum(y * y) + np.sum(a @ x)


def test_what_is_overwritten_with_constants_is_restored_going_back():
    later = A.copy()
    later.data[0] = 7.0
    expected = 2 * A.T @ (A @ X) + later.sum(axis=0)
    for _ in range(3):
        np.testing.assert_allclose(gradient(after_an_inactive_write, X)[0], expected, rtol=1e-12)


def written(a, v):
    a.data[0] = v
    return np.sum(a @ X)


def made_and_written(d, v):
    a = sp.csr_array((d, A.indices, A.indptr), A.shape)
    d[1] = v
    return np.sum(a @ X)


def scaled(a, v):
    a *= v
    return np.sum(a @ X)


def an_entry(a, v):
    a[0, 0] = v
    return np.sum(a @ X)


def shared(a, v):
    a.T.data[0] = 5.0
    return np.sum(a @ X) * v


WRITING = [written, scaled, an_entry, shared]


@pytest.mark.parametrize("f", WRITING, ids=[f.__name__ for f in WRITING])
def test_writes_are_refused(f):
    for _ in range(3):
        with pytest.raises(DifferentiationError):
            gradient(lambda a, v: f(a.copy(), v), A, 2.0)
        with pytest.raises(DifferentiationError):
            gradient(lambda a, v: made_and_written(a.data * 2, v), A, 2.0)


def test_formats_for_writing_are_constants_alone():
    for a in (A.tolil(), A.todok()):
        np.testing.assert_allclose(gradient(lambda x, a=a: np.sum(a @ x), X)[0], A.sum(axis=0))
        for f in (lambda a: np.sum(a @ X), lambda a: a[0, 0], lambda a: np.sum((a + A) @ X)):
            with pytest.raises(NoRuleError, match=r"test_values\.py:.*made for writing"):
                gradient(f, a)


def test_a_cotangent_may_have_another_pattern():
    y, back = pullback(lambda a: a * 2.0, A)
    assert (y != 2 * A).nnz == 0
    for dy in (np.full((3, 4), 3.0), sp.coo_array(np.full((3, 4), 3.0))):
        np.testing.assert_array_equal(back(dy)[1].toarray(), 6.0 * (DENSE != 0))


OF_SPARSE_VALUE = {
    "transposed": lambda a: a.T, "product": lambda a: (a @ a.T).tocsc(), "sum": lambda a: a + a,
    "absolute": abs, "in a dict": lambda a: {"a": a.multiply(a), "sum": a.sum()}["a"],
    "itself": lambda a: a, "constant": lambda a: A * 1.0, "rows": lambda a: sp.hstack([a, a]),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_SPARSE_VALUE)
def test_tangents_of_sparse_values(name):
    f, step = OF_SPARSE_VALUE[name], 1e-4
    moves = of_data(sp.csr_array, np.arange(1.0, 7.0))
    expected = (f(A + step * moves) - f(A - step * moves)).toarray() / (2 * step)
    for _ in range(2):
        y, dy = jvp(f, (A,), (moves,))
        assert type(dy) is type(y)
        np.testing.assert_allclose(dy.toarray(), expected, atol=1e-9)
        assert not np.shares_memory(dy.data, moves.data)
    np.testing.assert_allclose(linearize(f, A)[1](moves).toarray(), expected, atol=1e-9)
    found = grad(lambda v: jvp(f, (A,), (of_data(sp.csr_array, v),))[1].sum())(np.ones(6))
    np.testing.assert_allclose(found @ moves.data, expected.sum(), atol=1e-8)


def test_places_that_are_stored_twice():
    def twice(numbers):
        return sp.coo_array((numbers, ([0, 2, 0, 1], [1, 3, 1, 0])), shape=(3, 4))

    a, moves = twice(np.array([0.5, -1.5, 2.0, 0.7])), np.array([1.0, 10.0, 100.0, 1000.0])
    tangent = twice(moves)
    for f in (sp.coo_array.tocsr, lambda a: a, lambda a: a.astype(complex), sp.coo_array.toarray):
        _, dy = jvp(f, (a,), (tangent,))
        dense = dy.toarray() if sp.issparse(dy) else dy
        np.testing.assert_array_equal(dense, tangent.toarray())
        pullback(lambda a: a.tocsr() * 1.0, a)[1](tangent)
        np.testing.assert_array_equal(tangent.data, moves)  # neither of them sums the user's
    summed = tangent.copy()
    summed.sum_duplicates()
    for v in (summed, sp.coo_array(np.ones((3, 4)))):
        with pytest.raises(TypeError, match="stores none, or stores two"):
            jvp(lambda a: a * 2.0, (a,), (v,))


def test_kinds_stay():
    for dtype, kind in ((np.float32, "float32"), (int, "float64"), (complex, "complex128")):
        found = gradient(lambda a: np.sum(np.real(a @ X)), A.astype(dtype))[0]
        assert (type(found), found.dtype) == (sp.csr_array, kind)
    assert gradient(lambda a: np.sum(a @ X), A != 0) == (None,)
