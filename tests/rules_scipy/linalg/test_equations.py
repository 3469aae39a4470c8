"""Rules of `rules_scipy.linalg.equations`, against differences."""

import numpy as np
import pytest
from scipy import linalg as sl

from rulescore.testing import check_rrule
from zygote_lite import gradient
from zygote_lite.errors import NoRuleError


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


TURNING = np.array([[0.3, 0.5], [-0.4, 0.2]])  # its eigenvalues are complex


@pytest.mark.parametrize(
    ("f", "matrices"),
    [
        (sl.solve_sylvester, (TURNING, np.eye(2))),
        (sl.solve_sylvester, (np.eye(2), TURNING)),
        (sl.solve_continuous_lyapunov, (TURNING,)),
        (lambda a, q: sl.solve_discrete_lyapunov(a, q, "bilinear"), (TURNING,)),
    ],
)
def test_what_scipy_solves_wrongly_is_refused(f, matrices):
    def size(q):
        return np.sum(np.abs(f(*matrices, q)))

    assert gradient(size, np.eye(2))[0].shape == (2, 2)
    with pytest.raises(NoRuleError, match="solves systems wrongly that mix complex matrices"):
        gradient(size, np.eye(2) + 0.5j)


@pytest.mark.parametrize(
    ("f", "a", "b", "below"),
    [
        (sl.solve_continuous_are, [[3.0, 1.0], [-5.0, -3.0]], [[1.0], [0.0]], -0.5),
        (sl.solve_discrete_are, [[2.0, -1.0], [2.0, -4.0]], [[0.0], [-1.0]], 0.5),
    ],
)
def test_riccati_equations_that_scipy_balances_wrongly_are_refused(f, a, b, below):
    a, b, e = np.array(a), np.array(b), np.array([[1.0, 0.0], [below, 1.0]])
    q, r = np.eye(2), np.eye(1)
    with pytest.raises(np.linalg.LinAlgError, match="balanced=False"):
        gradient(lambda a: np.sum(f(a, b, q, r, e)), a)
    assert gradient(lambda a: np.sum(f(a, b, q, r, e, balanced=False)), a)[0].shape == (2, 2)


E = np.array([[2.0, 0.3, -0.1], [-0.4, 1.5, 0.2], [0.1, -0.2, 1.0]])
S = 0.1 * np.array([[1.0, -2.0], [0.5, 1.0], [-1.0, 0.3]])


def hermitian(v):
    return (v + v.conj().T) / 2


@pytest.mark.parametrize("turned", [1.0, np.exp(0.4j)])
@pytest.mark.parametrize("e", [None, E])
@pytest.mark.parametrize("s", [None, S])
@pytest.mark.parametrize("f", [sl.solve_continuous_are, sl.solve_discrete_are])
def test_riccati_equations_with_all_their_matrices(f, s, e, turned):
    """Slopes along a direction for each matrix, also by what is given by name."""
    rng = np.random.default_rng(5)
    phase = lambda x: x * turned ** np.sign(np.subtract.outer(*map(np.arange, x.shape)))
    a, b = phase(rng.normal(size=(3, 3))), phase(rng.normal(size=(3, 2)))
    e, s = (None if x is None else phase(x) for x in (e, s))
    q, r = (2 * np.eye(n) + hermitian(phase(np.ones((n, n)))) / 3 for n in (3, 2))
    given = [a, b, q, r, e, s]
    weights = rng.normal(size=(3, 3))

    def loss(a, b, q, r, e, s):
        y = f(a, b, hermitian(q), hermitian(r), e=e, s=s)
        return np.sum(weights * (y.real + 2 * y.imag))

    found = gradient(loss, *given)
    for i, (x, slope) in enumerate(zip(given, found, strict=True)):
        if x is not None:
            step = 1e-6 * phase(rng.normal(size=x.shape))
            moved = [loss(*given[:i], x + k * step, *given[i + 1 :]) for k in (1, -1)]
            expected = (moved[0] - moved[1]) / 2
            assert np.sum((slope.conj() * step).real) == pytest.approx(expected, rel=1e-6), i
