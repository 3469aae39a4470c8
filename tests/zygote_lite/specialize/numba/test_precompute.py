"""Costly functions of the reverse of a loop: computed in the forward loop, where that can be."""

import math

import numpy as np
import pytest

from zygote_lite import testing, value_and_grad

pytest.importorskip("numba", reason="compiled code needs Numba (zygote_lite[jit])")


def after_its_operand(x, n):
    r = 0.0
    for i in range(n):
        u = x * i
        v = u + 1.0
        w = v * v
        r = r + math.sin(u) * math.cos(w)
    return r


def of_a_power(x, n):
    r = 0.0
    for i in range(n):
        t = x * i + 1.0
        r = r + t**2.5
    return r


def of_what_is_carried(x, n):
    r, s = x, x
    for _ in range(n):
        s, r = math.sin(r), math.sin(s)
    return r + s


def of_the_target(x, n):
    r = 0.0
    for i in range(1, n):
        r = r + math.atan2(x, i)
    return r


def of_what_was_before(x, n):
    c = x * 2.0
    r = 0.0
    for i in range(n):
        r = r + math.sin(c) * i
    return r


def of_the_outer_iteration(x, n):
    r = 0.0
    for i in range(n):
        t = x * i
        for j in range(i):
            r = r + math.sin(t) * j
    return r


EARLY = [
    (after_its_operand, "u = x * i\n        t11 = checked_cos(u)\n", "t7 = checked_sin(w)\n"),
    (of_a_power, "t = x * i + 1.0\n        t4 = power(t, 1.5)\n"),
    (of_what_is_carried, "in t1:\n        t7 = checked_cos(r)\n        t5 = checked_cos(s)\n"),
    (of_the_target, " = checked_hypot(i, x)\n"),
    (of_what_was_before, "for i in t1:\n        t5 = checked_cos(c)\n"),
    (of_the_outer_iteration, "            t6 = checked_cos(t)\n"),
]


def passes_of(f, *xs):
    """Return the text of the compiled code of a function, as its forward and its reverse pass."""
    compiled = value_and_grad(f, compile=True)
    expected = value_and_grad(f)(*xs)
    for _ in range(3):
        np.testing.assert_allclose(compiled(*xs), expected, rtol=1e-13)
    (text,) = testing.programs(f, compiled=True)
    forward, _, reverse = text.partition("    for k in range(")
    return forward, reverse


@pytest.mark.parametrize(("f", "parts"), [(f, parts) for f, *parts in EARLY])
def test_a_costly_function_of_what_the_iteration_knows_is_computed_there(f, parts):
    forward, reverse = passes_of(f, 0.7, 4)
    assert [part for part in parts if part not in forward] == []
    assert "checked" not in reverse
    assert "power" not in reverse


def of_an_inner_iteration(x, n):
    r = 0.0
    for i in range(1, n):
        t = 0.0
        for j in range(i):
            t = t + x * j
        r = r + math.sin(t)
    return r


def of_a_cotangent(x, n):
    r = 0.0
    for i in range(n):
        r = r + math.erf(x * i)
    return r


def of_a_branch(x, n):
    r = 0.0
    for i in range(n):
        r = r + (math.sin(x * i) if i > 1 else x)
    return r


def of_a_loop_that_is_left(x, n):
    r = 0.0
    for i in range(n):
        if x * i > 1.0:
            break
        r = r + math.sin(x * i)
    return r


LATE = {
    of_an_inner_iteration: "cos",
    of_a_cotangent: "exp",
    of_a_branch: "cos",
    of_a_loop_that_is_left: "cos",
}


@pytest.mark.parametrize("f", LATE)
def test_other_functions_stay_in_the_reverse_pass(f):
    forward, reverse = passes_of(f, 0.7, 4)
    assert f"checked_{LATE[f]}(" in reverse
    assert f"checked_{LATE[f]}(" not in forward
