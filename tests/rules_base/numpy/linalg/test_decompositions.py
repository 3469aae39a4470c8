"""Decompositions against finite differences."""

import numpy as np
import pytest

from rules_base.numpy.linalg import decompositions
from rulescore import rrule

EXAMPLES = [
    pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(decompositions.rule.examples)
]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


def derivative_along(f, xs, dy, value):
    """Return the derivative of `value(f(a))` along a direction, by the rule and by differences."""
    (a, *options) = xs
    rng = np.random.default_rng(4)
    v = rng.normal(size=a.shape)
    if np.iscomplexobj(a):
        v = v + 1j * rng.normal(size=a.shape)
    y, back = rrule(f, *xs)
    ends = [value(f(a + h * v, *options)) for h in (1e-6, -1e-6)]
    return np.sum(np.real(np.conj(back(dy(y))[1]) * v)), (ends[0] - ends[1]) / 2e-6


def hermitian(rng, n):
    w = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    return w + w.conj().T


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5)])
@pytest.mark.parametrize("full", [False, True])
def test_complex_singular_vectors_where_the_phase_does_not_matter(shape, full):
    rng = np.random.default_rng(1)
    a = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    wu, wv = (hermitian(rng, n) for n in shape)

    def value(y):
        u, vh = y[0][:, :2], y[2][:2]
        pair = np.vdot(wu[:, 0], u @ vh @ wv[:, 0])
        return np.real(np.trace(wu @ u @ u.conj().T) + np.trace(wv @ vh.conj().T @ vh) + pair)

    def dy(y):
        u, vh = y[0][:, :2], y[2][:2]
        du, dvh = np.zeros_like(y[0]), np.zeros_like(y[2])
        du[:, :2] = 2 * wu @ u + np.outer(wu[:, 0], np.conj(vh @ wv[:, 0]))
        dvh[:2] = 2 * vh @ wv + np.outer(u.conj().T @ wu[:, 0], np.conj(wv[:, 0]))
        return du, None, dvh

    found, expected = derivative_along(np.linalg.svd, (a, full), dy, value)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
@pytest.mark.parametrize("dtype", [float, complex])
def test_singular_vectors_of_the_null_space(shape, dtype):
    rng = np.random.default_rng(1)
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype is complex else 0)
    wu, wv = (hermitian(rng, n) for n in shape)
    if dtype is float:
        wu, wv = wu.real, wv.real

    def value(y):
        u, vh = y[0][:, 3:], y[2][3:]
        return np.real(np.trace(wu @ u @ u.conj().T) + np.trace(wv @ vh.conj().T @ vh))

    def dy(y):
        du, dvh = np.zeros_like(y[0]), np.zeros_like(y[2])
        du[:, 3:], dvh[3:] = 2 * wu @ y[0][:, 3:], 2 * y[2][3:] @ wv
        return du, None, dvh

    found, expected = derivative_along(np.linalg.svd, (a,), dy, value)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [float, complex])
def test_complete_qr_where_the_basis_of_the_null_space_does_not_matter(dtype):
    rng = np.random.default_rng(1)
    a = rng.normal(size=(5, 3)) + (1j * rng.normal(size=(5, 3)) if dtype is complex else 0)
    w = hermitian(rng, 5) if dtype is complex else hermitian(rng, 5).real
    dr = rng.normal(size=(5, 3))

    def value(y):
        null = y[0][:, 3:]
        return np.real(np.trace(w @ null @ null.conj().T)) + np.real(np.vdot(dr, y[1]))

    def dy(y):
        dq = np.zeros_like(y[0])
        dq[:, 3:] = 2 * w @ y[0][:, 3:]
        return dq, dr

    found, expected = derivative_along(np.linalg.qr, (a, "complete"), dy, value)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def refused(f, *xs, dy, match):
    y, back = rrule(f, *xs)
    with pytest.raises(np.linalg.LinAlgError, match=match):
        back(dy(y))


SINGULAR = {
    "zero": np.zeros((2, 2)),
    "equal columns": np.ones((2, 2)),
    "tall": np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]),
    "wide": np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 5.0]]),
    "float32": np.array([[1, 3], [0.1, 0.3]], "f4"),
    "complex": np.array([[1j, -1.0], [1.0, 1j]]),
    "one of two": np.stack([np.eye(2), np.ones((2, 2))]),
}


@pytest.mark.parametrize("mode", ["reduced", "r", "complete"])
@pytest.mark.parametrize("a", SINGULAR.values(), ids=SINGULAR)
def test_dependent_columns_have_no_gradient(a, mode):
    def ones(y):
        return np.ones_like(y) if mode == "r" else tuple(map(np.ones_like, y))

    refused(np.linalg.qr, a, mode, dy=ones, match=r"Singular R in np\.linalg\.qr")


def test_dependent_columns_without_influence_get_zeros():
    a = np.stack([np.ones((2, 2)), np.diag([2.0, 1e-30])])  # a small scale is no dependence
    (_, r), back = rrule(np.linalg.qr, a)
    dr = np.zeros_like(r)
    dr[1, 0, 0] = 1.0
    np.testing.assert_array_equal(back((None, 0 * dr))[1], np.zeros_like(a))
    expected = np.zeros_like(a)
    expected[1, 0, 0] = np.sign(r[1, 0, 0])
    np.testing.assert_allclose(back((None, dr))[1], expected, atol=1e-15)
    assert back(None) == (None, None)


def test_what_is_not_determined_is_refused():
    rng = np.random.default_rng(1)
    tall, noise = rng.normal(size=(5, 3)), rng.normal(size=(5, 5))
    phase = (tall + 1j * noise[:, :3],)
    svd, qr = np.linalg.svd, np.linalg.qr
    refused(svd, *phase, dy=lambda y: (noise[:, :5], None, None), match="not determined")
    refused(svd, *phase, False, dy=lambda y: (noise[:, :3], None, None), match="the phase")
    refused(svd, tall, dy=lambda y: (noise, None, None), match="the basis of a null space")
    refused(qr, tall, "complete", dy=lambda y: (noise, None), match="the basis of a null space")


@pytest.mark.parametrize(
    "a", [np.eye(3), np.diag([1.0, 2.0, 2.0]), np.diag([2.0, 1.0, 0.0])], ids=str
)
def test_singular_vectors_of_repeated_or_vanishing_values(a):
    def some(y):
        return np.ones((3, 3)), None, None

    refused(np.linalg.svd, a, dy=some, match="repeated or vanishing singular value")
    y, back = rrule(np.linalg.svd, a)
    # the values themselves have a gradient, and so have vectors of single values
    da = back(type(y)(None, np.ones(3), None))[1]
    np.testing.assert_allclose(da, np.sign(a), atol=1e-15)
    assert not np.any(back((np.zeros((3, 3)), None, np.zeros((3, 3))))[1])


def test_singular_values_that_differ_by_rounding_are_repeated():
    q = np.linalg.qr(np.sin(np.arange(25.0) ** 2).reshape(5, 5))[0]
    for values in ([3.0, 2.0, 2.0, 2.0, 1.0], [3.0, 2.0, 1.0, 0.0, 0.0]):
        refused(np.linalg.svd, (q * values) @ q, dy=lambda y: (q, None, None), match="repeated")


def test_vector_of_the_single_one_among_repeated_values():
    first = np.zeros((3, 3))
    first[0, 0] = 1.0
    _, back = rrule(np.linalg.svd, np.diag([2.0, 1.0, 1.0]))
    assert np.all(np.isfinite(back((first, None, None))[1]))


def test_singular_value_has_no_gradient_at_its_kink():
    _, back = rrule(np.linalg.svdvals, np.diag([2.0, 0.0]))
    np.testing.assert_array_equal(back(np.ones(2))[1], np.diag([1.0, 0.0]))


def test_cholesky_reads_one_triangle():
    a = np.array([[4.0, np.nan], [2.0, 5.0]])
    for a, upper, unread in ((a, False, (0, 1)), (a.T, True, (1, 0))):
        _, back = rrule(np.linalg.cholesky, a, upper=upper)
        da = back(np.ones((2, 2)))[1]
        assert np.all(np.isfinite(da))
        assert da[unread] == 0


@pytest.mark.parametrize("mode", ["raw", "economic"])
def test_qr_has_no_rule_for_other_modes(mode):
    with pytest.raises(NotImplementedError, match=mode):
        rrule(np.linalg.qr, np.eye(2), mode)


def test_qr_of_a_singular_matrix():
    refused(np.linalg.qr, np.zeros((3, 3)), dy=lambda y: (None, np.ones((3, 3))), match="Singular")


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)], ids=str)
@pytest.mark.parametrize("f", [np.linalg.cholesky, np.linalg.qr, np.linalg.svd, np.linalg.svdvals])
def test_empty_matrices(f, shape):
    y, back = rrule(f, np.zeros(shape))
    dy = tuple(np.ones(part.shape) for part in y) if isinstance(y, tuple) else np.ones(y.shape)
    assert back(dy)[1].shape == shape
