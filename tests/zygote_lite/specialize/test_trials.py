"""Code whose calls mostly end by an exception that is caught is not entered for a while."""

import math

import pytest

from zygote_lite import testing, value_and_grad


def root(x):
    try:
        return math.sqrt(x) * x
    except ValueError as error:
        return x * x * min(len(str(error)), 1)  # no handler that code could have


def tiers(*xs):
    """Return which engine answers each of some calls."""
    with testing.observed() as answers:
        for x in xs:
            y, d = value_and_grad(root)(x)
            assert y == root(x)
            assert d == pytest.approx(1.5 * math.sqrt(x) if x >= 0 else 2.0 * x)
    return [answer.tier for answer in answers]


@pytest.fixture(autouse=True)
def _anew():
    testing.forget(root)
    tiers(0.5, 0.5)


def test_calls_that_raise_now_and_then_keep_the_code():
    for _ in range(40):
        assert tiers(-0.5, 0.5, 0.5) == ["recorded", "transformed", "transformed"]
    for _ in range(40):
        assert tiers(-0.5, 0.5) == ["recorded", "transformed"]


def test_calls_that_always_raise_do_without_it():
    assert set(tiers(*[-0.5] * 40)) == {"recorded"}
    with testing.observed() as answers:
        value_and_grad(root)(0.5)
    assert "nearly every recent call" in answers[0].reason
    assert tiers(*[0.5] * 100)[-10:] == ["transformed"] * 10


def test_the_pauses_become_longer():
    tiers(*[-0.5] * 40)
    assert tiers(*[0.5] * 45).count("transformed") == 0
    tiers(*[-0.5] * 80)
    assert tiers(*[0.5] * 60).count("transformed") == 0
    assert tiers(*[0.5] * 150)[-10:] == ["transformed"] * 10


def test_an_error_that_is_not_caught_costs_nothing():
    def f(x):
        return math.sqrt(x)

    for _ in range(3):
        value_and_grad(f)(0.5)
    for _ in range(50):
        with pytest.raises(ValueError, match="math domain"):
            value_and_grad(f)(-0.5)
    with testing.observed() as answers:
        value_and_grad(f)(0.5)
    assert answers[0].is_transformed
