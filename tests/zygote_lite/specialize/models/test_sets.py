"""Sets of constants, which the code knows and never makes."""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import testing, value_and_grad


def of_answers(x, n):
    kinds = set(isinstance(part, float) for part in (x, 2.0 * x))
    if len(kinds) == 1:
        return x * x if kinds.pop() else x
    return x * 2.0


def of_functions(x, n):
    wanted = {math.sin, math.cos, math.sin}
    y = 0.0
    if math.cos in wanted and math.tan not in wanted:
        y = math.cos(x) * len(wanted)
    return y * x


def of_words(x, n):
    names = {"a", "b"} | {"c"}
    names.add("d")
    names.discard("a")
    names.update(["e"], {"b"})
    names -= {"e"}
    both = names & {"b", "c", "q"}
    y = x * (both == {"b", "c"}) + x * x * (both < names) * names.isdisjoint({"z"})
    for name in sorted(names):
        y = y * 1.5 + x * (name == "c")
    (only,) = frozenset(["w"])
    return y * len(only) if names else x


def removed_in_vain(x, n):
    names = {"a"}
    try:
        names.remove("b")
    except KeyError:
        return x * x
    return x


def changed_on_a_path(x, n):
    names = {"a"}
    if n > 2:
        names.add("b")
    return x**2 * len(names)


PROGRAMS = [of_answers, of_functions, of_words, removed_in_vain, changed_on_a_path]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_sets_of_constants(f):
    testing.forget(f)
    with testing.transformed_only():
        y, dx = value_and_grad(f)(1.5, 3)
    assert y == f(1.5, 3)
    assert dx == pytest.approx((f(1.5 + 1e-6, 3) - f(1.5 - 1e-6, 3)) / 2e-6, rel=1e-6)
    assert assert_agreement(f, (1.5, 3), (0.5, 1), (np.float64(2.0), 3), (2, 3), argnums=(0,))


def holds_what_is_differentiated(x, n):
    return x * len({x, 2.0, x})


def grows_while_it_is_walked_over(x, n):
    names = {"a"}
    for name in names:
        names.add(name + "b")
    return x * len(names)


def changed_in_a_loop(x, n):
    names = {"a"}
    for i in range(n):
        if i > 1:
            names.add("b")
    return x * x * len(names)


@pytest.mark.parametrize(
    "f", [holds_what_is_differentiated, grows_while_it_is_walked_over, changed_in_a_loop]
)
def test_what_is_not_known_is_recorded(f):
    assert assert_agreement(f, (2.0, 3), (1.5, 3), (1.5, 1), argnums=(0,)) in (False, True)
