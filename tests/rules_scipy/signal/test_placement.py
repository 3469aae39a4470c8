"""Rules of `rules_scipy.signal.placement`, against differences."""

import numpy as np
import pytest
from scipy import signal

from tests.rules_scipy.tiers import differences
from zygote_lite import NoRuleError, gradient

A = np.array([[0.0, 1.0, 0.3], [0.2, -0.5, 1.0], [1.0, 0.1, 0.4]])
B = np.array([[1.0], [0.3], [0.5]])
REAL, PAIR = np.array([-1.0, -2.0, -3.0]), np.array([-1.0, -2.0 + 1.0j, -2.0 - 1.0j])


@pytest.mark.parametrize("poles", [REAL, PAIR])
def test_the_gain_of_one_input(poles):
    weights = np.array([1.0, -0.5, 2.0])

    def loss(a, b, p):
        moved = poles * (1 + p[0]) + p[1]
        return np.sum(weights * signal.place_poles(a, b, moved).gain_matrix ** 2)

    given = A, B, np.array([0.1, -0.2])
    for _ in range(3):
        found = gradient(loss, *given)
    for i, d in enumerate(found):
        other = lambda x, i=i: loss(*given[:i], x, *given[i + 1 :])
        np.testing.assert_allclose(d, differences(other, given[i]), rtol=1e-6, atol=1e-7)


def test_several_inputs_are_refused_with_the_reason():
    b = np.hstack([B, B**2])
    with pytest.raises(NoRuleError, match="many gains place the poles"):
        gradient(lambda a: np.sum(signal.place_poles(a, b, REAL).gain_matrix), A)
