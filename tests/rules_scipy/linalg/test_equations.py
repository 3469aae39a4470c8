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
