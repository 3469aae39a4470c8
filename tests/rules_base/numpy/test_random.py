"""Random numbers: with the generator's state held, a draw is a function of its parameters."""

import numpy as np
import pytest

from rulescore import rrule

Generator = np.random.Generator
FAMILIES = ["normal", "laplace", "logistic", "gumbel", "uniform"]
SCALES = ["exponential", "rayleigh"]


def slopes(draw, xs):
    """Return the finite differences of a draw from seed 5 by each parameter."""
    found = []
    for i in range(len(xs)):
        up, down = [
            draw(np.random.default_rng(5), *xs[:i], xs[i] + h, *xs[i + 1 :]) for h in (1e-6, -1e-6)
        ]
        found.append((up - down) / 2e-6)
    return found


@pytest.mark.parametrize("name", FAMILIES + SCALES)
def test_methods_of_generators(name):
    method = getattr(Generator, name)
    xs = (0.3, 1.7) if name in FAMILIES else (1.7,)
    y, back = rrule(method, np.random.default_rng(5), *xs)
    assert y == method(np.random.default_rng(5), *xs)
    none, generator, *dxs = back(1.0)
    assert none is None
    assert generator is None
    np.testing.assert_allclose(dxs, slopes(method, xs), rtol=1e-6)


@pytest.mark.parametrize("name", FAMILIES + SCALES)
def test_functions(name):
    draw = getattr(np.random, name)
    xs = (0.3, 1.7) if name in FAMILIES else (1.7,)

    def seeded(_, *xs):
        np.random.seed(5)
        return draw(*xs)

    np.random.seed(5)
    y, back = rrule(draw, *xs)
    assert y == seeded(None, *xs)
    np.testing.assert_allclose(back(1.0)[1:], slopes(seeded, xs), rtol=1e-6)


def test_many_draws_add_up():
    y, back = rrule(Generator.normal, np.random.default_rng(5), 0.3, np.ones((2, 1)), (2, 4))
    _, _, dlocation, dscale, none = back(np.ones((2, 4)))
    assert dlocation == 8.0
    assert none is None
    np.testing.assert_allclose(dscale, (y - 0.3).sum(1, keepdims=True))


def test_draws_without_parameters_are_constant():
    assert rrule(Generator.normal, np.random.default_rng(5), size=3)[1](np.ones(3)) == (None, None)
    assert rrule(np.random.rand, 3)[1](np.ones(3)) == (None, None)


def test_families_without_a_rule_are_refused():
    for name in ("gamma", "beta", "poisson", "permutation", "choice", "shuffle"):
        assert rrule(getattr(Generator, name), np.random.default_rng(5), 2.0) is None


def test_a_choice_among_so_many_numbers_is_constant():
    for maker in (np.random.default_rng, np.random.RandomState):
        y, back = rrule(type(maker(5)).choice, maker(5), 5, 3, replace=False)
        np.testing.assert_array_equal(y, maker(5).choice(5, 3, replace=False))
        assert back(np.ones(3)) == (None,) * 4
    p = np.ones(5) / 5.0
    assert rrule(Generator.choice, np.random.default_rng(5), np.arange(3.0)) is None
    assert rrule(Generator.choice, np.random.default_rng(5), 5, None, True, p) is None


def test_methods_of_the_legacy_generator():
    method = np.random.RandomState.normal
    y, back = rrule(method, np.random.RandomState(5), 0.3, 1.7)
    assert y == np.random.RandomState(5).normal(0.3, 1.7)
    assert back(1.0) == pytest.approx((None, None, 1.0, (y - 0.3) / 1.7))
