"""Linear algebra against finite differences."""

import numpy as np
import pytest

from rules_base.numpy.linalg import solve
from rulescore import rrule

EXAMPLES = [pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(solve.rule.examples)]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("dtype", [float, complex])
def test_determinant_of_a_singular_matrix(rank, dtype):
    rng = np.random.default_rng(0)
    factors = [rng.integers(-3, 4, (3, rank)).astype(dtype) for _ in range(2)]
    if dtype is complex:
        factors = [m + 1j * rng.integers(-3, 4, (3, rank)) for m in factors]
    a = factors[0] @ factors[1].T
    _, back = rrule(np.linalg.det, a)
    da = back(1.0)[1]
    # the cofactors, from the minors
    for i in range(3):
        for j in range(3):
            minor = np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
            np.testing.assert_allclose(np.conj(da[i, j]), (-1) ** (i + j) * minor, atol=1e-10)


def test_determinant_of_nearly_singular_matrices():
    a = np.array([[1.0, 2.0], [2.0, 4.0 + 1e-12]])
    _, back = rrule(np.linalg.det, a)
    np.testing.assert_allclose(back(1.0)[1], [[4.0 + 1e-12, -2.0], [-2.0, 1.0]], rtol=1e-9)


def test_logarithm_of_the_determinant_of_a_singular_matrix():
    stack = np.stack([np.ones((2, 2)), np.diag([2.0, 4.0])])
    with np.errstate(divide="ignore"):
        _, back = rrule(np.linalg.slogdet, stack)
    # a matrix without influence may be singular
    (da,) = back((None, np.array([0.0, 1.0])))[1:]
    np.testing.assert_array_equal(da, [np.zeros((2, 2)), np.diag([0.5, 0.25])])
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        back((None, np.array([1.0, 1.0])))


def test_logarithm_of_the_determinant_takes_its_named_tuple_back():
    result, back = rrule(np.linalg.slogdet, np.diag([2.0, -4.0]))
    assert result.sign == -1
    np.testing.assert_allclose(back(type(result)(None, 2.0))[1], np.diag([1.0, -0.5]))
    np.testing.assert_array_equal(back(type(result)(1.0, None))[1], np.zeros((2, 2)))


EMPTY = np.zeros((0, 0))


@pytest.mark.parametrize(
    "a", [EMPTY, np.zeros((2, 0, 0)), np.zeros((0, 3, 3))], ids=lambda a: str(a.shape)
)
@pytest.mark.parametrize("f", [np.linalg.inv, np.linalg.det, np.linalg.pinv, np.linalg.slogdet])
def test_empty_matrices(f, a):
    y, back = rrule(f, a)
    dy = tuple(np.ones(np.shape(part)) for part in y) if isinstance(y, tuple) else np.ones(y.shape)
    np.testing.assert_array_equal(back(dy)[1], a)


def test_integer_matrices_count_as_real():
    a, b = np.array([[2, 1], [1, 3]]), np.array([1, -2])
    for f, xs in ((np.linalg.inv, (a,)), (np.linalg.solve, (a, b)), (np.linalg.det, (a,))):
        y, back = rrule(f, *xs)
        for d, x in zip(back(np.ones(np.shape(y)))[1:], xs, strict=True):
            assert d.dtype == np.float64
            assert d.shape == x.shape


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (4, 4)])
def test_least_squares_of_low_rank(check, shape):
    # along changes of `b`, and of `a` that keep the rank
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(shape[0], 2)), rng.normal(size=(2, shape[1]))
    b = rng.normal(size=shape[0])
    x, back = rrule(np.linalg.lstsq, left @ right, b, 1e-10)
    assert x[2] == 2
    dx = rng.normal(size=shape[1])
    _, da, db, _ = back((dx, None, None, None))
    moved_left, moved_b, h = rng.normal(size=left.shape), rng.normal(size=b.shape), 1e-6

    def along(h):
        a = (left + h * moved_left) @ right
        return np.vdot(dx, np.linalg.lstsq(a, b + h * moved_b, 1e-10)[0])

    expected = (along(h) - along(-h)) / (2 * h)
    found = np.vdot(da, moved_left @ right) + np.vdot(db, moved_b)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_pseudo_inverse_of_low_rank():
    rng = np.random.default_rng(1)
    left, right, moved = (rng.normal(size=shape) for shape in ((4, 2), (2, 3), (4, 2)))
    y, back = rrule(np.linalg.pinv, left @ right, 1e-10)
    dy = rng.normal(size=y.shape)
    ends = [np.linalg.pinv((left + h * moved) @ right, 1e-10) for h in (1e-6, -1e-6)]
    expected = np.vdot(dy, ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(np.vdot(back(dy)[1], moved @ right), expected, rtol=1e-6)


def test_matrix_rank_is_constant():
    y, back = rrule(np.linalg.matrix_rank, np.eye(3))
    assert y == 3
    assert back(1.0) == (None, None)


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "pinv", "solve"])
def test_against_autograd(name):
    anp = pytest.importorskip("autograd.numpy", reason="autograd is not installed")
    from autograd import grad

    a = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
    xs = (a, a[0]) if name == "solve" else (a,)
    y, back = rrule(getattr(np.linalg, name), *xs)

    def total(*xs):
        y = getattr(anp.linalg, name)(*xs)
        return anp.sum(anp.sin(y[1] if name == "slogdet" else y))

    dy = (None, np.cos(y[1])) if name == "slogdet" else np.cos(y)
    expected = grad(total, argnum=tuple(range(len(xs))))(*xs)
    for d, e in zip(back(dy)[1:], expected, strict=True):
        np.testing.assert_allclose(d, e, rtol=1e-10, atol=1e-12)
