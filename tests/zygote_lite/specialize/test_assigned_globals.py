"""Globals that are assigned: what they hold is read at entry, and set when the call is answered."""

import math
import sys

import pytest

from rulescore import RuleSet
from zygote_lite import grad, gradient, testing, value_and_grad

AT_FIRST = {"CALLS": 0, "RATE": 1.0, "NAME": "a", "IS_DONE": False}
CALLS, RATE, NAME, IS_DONE = AT_FIRST.values()
HERE = sys.modules[__name__]


def counts(x):
    global CALLS
    CALLS += 1
    return x * x * CALLS


def counts_inside(x):
    count(), count()
    return x * CALLS + weight()


def count():
    global CALLS
    CALLS += 1


def weight():
    return CALLS * 2.0


def counts_in_a_loop(x):
    global CALLS
    for _ in range(3):
        CALLS += 1
    return x * CALLS


def reads_it_of_the_module(x):
    global CALLS
    CALLS += 1
    module = HERE
    return x * HERE.CALLS + x * x * module.CALLS


def keeps_several(x):
    global RATE, NAME, IS_DONE
    RATE, NAME = RATE * 0.5 + 1.0, "b"
    IS_DONE = True
    return x * RATE * len(NAME) * IS_DONE


def raises_later(x):
    global CALLS
    CALLS += 1
    return math.sqrt(x) if x > -1.0 else math.log(x)


def sets_it_where_it_is_differentiated(x):
    return grad(lambda y: count() or y * y)(x) * x


def scaled(x):
    return x * RATE


def doubled(x):
    return x * RATE * 2.0


def is_scaled_by_a_rule(x):
    global RATE
    RATE = RATE + 1.0
    return scaled(x)


def is_scaled_before(x):
    global RATE
    y = doubled(x)
    RATE = RATE + 1.0
    return y


def is_scaled_meanwhile(x):
    global CALLS
    before, CALLS = CALLS, 7
    y = counted(x)
    CALLS = before
    return y


def counted(x):
    return x * CALLS


@pytest.fixture(autouse=True)
def _rules():
    rule = RuleSet("of a test")
    rule.scalar(doubled, counted)(lambda x, out: out / x)

    @rule(scaled)
    def _(x: float):
        rate = RATE
        return scaled(x), lambda dy: (dy * rate,)

    rule.register()
    yield
    rule.unregister()
    globals().update(AT_FIRST)


def outcomes(f, xs):
    """Return the answers of calls, with what the globals hold after each."""
    globals().update(AT_FIRST)
    found = []
    for x in xs:
        try:
            answer = value_and_grad(f)(x)
        except ValueError as error:
            answer = str(error)
        found.append((answer, *(globals()[name] for name in AT_FIRST)))
    return found


@pytest.mark.parametrize(
    ("f", "is_transformed"),
    [
        (counts, True),
        (counts_inside, True),
        (counts_in_a_loop, True),
        (reads_it_of_the_module, True),
        (keeps_several, True),
        (raises_later, True),
        (sets_it_where_it_is_differentiated, False),
        (is_scaled_by_a_rule, False),
        (is_scaled_before, False),
        (is_scaled_meanwhile, False),
    ],
)
def test_calls_see_what_those_before_have_assigned(f, is_transformed):
    xs = (1.5, 0.5, 2.0, 2.0, 1.0, -2.0, 1.5)
    with testing.recorded_only():
        want = outcomes(f, xs)
    with testing.observed() as answers, testing.strict(False):  # which runs what raises once more
        found = outcomes(f, xs)
    assert found == want
    assert answers[-1].is_transformed == is_transformed
    with testing.compared():
        assert outcomes(f, xs[:5]) == want[:5]


def test_the_globals_are_those_of_the_function_alone():
    globals().update(AT_FIRST)
    for _ in range(4):
        gradient(counts_inside, 2.0)
    assert CALLS == 8
