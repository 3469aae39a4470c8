"""Options that are given by position, and depend on a differentiated argument."""

import numpy as np
import pytest

from rulescore import RuleSet
from zygote_lite import DifferentiationError, check_gradient, grad, gradient, testing

P = np.array([2.0, 0.5, 3.0, 1.5])


@pytest.mark.parametrize("k", [[0.5, 1.5], (0.5, 1.5), np.array([0.5, 1.5])])
def test_the_source_of_a_function_of_numpy_tells_more_than_its_rule(k):
    def f(p, k):
        return np.sum(np.polyint(p, 2, k) ** 2)

    found = [gradient(f, P, k) for _ in range(4)]
    for dp, dk in found:
        np.testing.assert_array_equal(dp, found[0][0])
        np.testing.assert_allclose(dk, [1.0, 3.0])
    check_gradient(f, P, k)


def scaled(x, scale=1.0):
    return x * scale


def test_a_gradient_through_an_option_of_a_rule_is_refused_at_each_call():
    rule = RuleSet("options")

    @rule(scaled)
    def _(x: float, scale=1.0):
        return x * scale, lambda dy: (dy * scale,)

    def f(x):
        return scaled(x, x * 2.0)

    def of_number(x):
        return scaled(x, 2)

    rule.register()
    try:
        for _ in range(4):
            with pytest.raises(DifferentiationError, match="argument 2 as an option"):
                grad(f)(3.0)
        with testing.transformed_only(), testing.compared():
            assert grad(of_number)(3.0) == 2.0
        with pytest.raises(testing.NotTransformed, match="an option depends on"):
            with testing.transformed_only():
                grad(f)(3.0)
    finally:
        rule.unregister()
