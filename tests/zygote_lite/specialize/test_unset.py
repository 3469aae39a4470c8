"""Variables that are first assigned in a loop or a branch: they may have no value."""

import copy

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from tests.zygote_lite.checks.oracles import (
    answers,
    assert_agreement,
    generic,
    is_alike,
    specialized_only,
)
from zygote_lite import export_adjoint, value_and_grad

X = np.array([1.0, 2.0])


def in_a_loop(x):
    for _ in range(3):
        v = x * 2.0
    return np.sum(v * v)


def in_some_turns(x, n):
    for k in range(n):
        v = x * (k + 1.0)
    return np.sum(v * v)


def of_a_number(x, n):
    for k in range(n):
        s = x[0] * x[1] * (k + 1.0)
    return s * s


def changed_after(x, n):
    for k in range(n):
        if k == 0:
            v = x * 2.0
        else:
            v = v * x
    return np.sum(v)


def of_another_length(x, n):
    for k in range(n):
        v = x[k:] * x[0]
    return np.sum(v * v)


def in_a_branch_of_a_loop(x, n):
    for k in range(n):
        if k % 2 == 0:
            v = x * (k + 1.0)
    return np.sum(v * v)


def in_nested_loops(x, n):
    for i in range(n):
        for j in range(i):
            v = x * (i + j)
    return np.sum(v * v)


def in_a_while_loop(x, n):
    k = 0
    while k < n:
        v = np.sin(x) * (k + 1)
        k += 1
    return np.sum(v)


def before_break(x, n):
    for k in range(n):
        v = x * (k + 1.0)
        if v[0] > 1.5:
            break
    return np.sum(v * v)


def of_what_a_list_holds(x, n):
    for k in range(n):
        values = [x[0] * k, x[1]]
        v = x * values[1]
    return np.sum(v)


def written_in_place(x, n):
    for k in range(n):
        v = np.zeros(2)
        v[0] = x[0] * k
        v[1] = x[1] * v[0]
    return np.sum(v)


LOOPS = [
    in_some_turns, of_a_number, changed_after, in_a_branch_of_a_loop, in_nested_loops,
    in_a_while_loop, before_break, of_what_a_list_holds, written_in_place,
]  # fmt: skip
SPECIALIZED = {
    in_some_turns, of_a_number, in_a_branch_of_a_loop, in_nested_loops, in_a_while_loop,
    before_break,
}  # fmt: skip


def assert_right(f, xs, numbers=(0,)):
    """Assert that each of five calls gives the tape's gradient, which differences confirm."""
    kind, want = generic(f, xs, numbers)
    assert kind == "value"
    for call in range(5):
        given = copy.deepcopy(xs)
        assert is_alike(value_and_grad(f, numbers)(*given), want), call
    for i, d in zip(numbers, want[1], strict=True):

        def of_one(x, i=i):
            return f(*xs[:i], x, *xs[i + 1 :])

        ((_, slope, off),) = slopes(of_one, (xs[i],))
        np.testing.assert_allclose(d, slope, atol=np.max(off) + 1e-6)


@pytest.mark.parametrize("f", LOOPS)
def test_what_is_first_assigned_in_a_loop(f):
    for n in (4, 2, 3):
        assert_right(f, (X, n))
    if f in SPECIALIZED:
        with specialized_only():
            value_and_grad(f, (0,))(X, 5)


@pytest.mark.parametrize("f", LOOPS)
def test_a_loop_that_has_no_turn(f):
    """The value was tried with four turns: of none, Python's error comes."""
    assert_agreement(f, (X, 4), (X, 0), (X + 1, 3), argnums=(0,))
    for _ in range(5):
        with pytest.raises(UnboundLocalError):
            value_and_grad(f, 0)(X, 0)


def test_a_loop_that_has_always_turns():
    assert_right(in_a_loop, (X,))
    with specialized_only():
        value_and_grad(in_a_loop, (0,))(X)


def test_an_array_that_has_another_length_in_each_turn():
    x = np.array([1.0, 2.0, 0.5, 3.0])
    for n in (2, 3, 1):
        assert_right(of_another_length, (x, n))


def on_one_path(x, s):
    if s > 1:
        v = x * 2.0
    if s > 1:
        y = np.sum(v * v)
    else:
        y = np.sum(x)
    return y * s


def on_one_path_in_a_loop(x, n):
    y = 0.0
    for k in range(n):
        if k > 1:
            v = x * k
        if k > 1:
            y += np.sum(v * v)
        else:
            y += np.sum(x)
    return y


def test_an_array_that_one_path_assigns():
    for s in (0.5, 1.5, 0.7):
        assert_right(on_one_path, (X, s), (0, 1))
        assert answers(on_one_path, (X, s))
    for n in (4, 1, 3):
        assert_right(on_one_path_in_a_loop, (X, n), (0,))


def number_on_one_path(x):
    if x > 1:
        c = 2.0
    else:
        if x > 0.5:
            c = 5
    return x * c if x > 0.5 else x


def number_that_may_be_none(x):
    if x > 1:
        c = 2
    return x * c


def test_a_number_that_one_path_assigns():
    for x in (0.3, 0.7, 1.5):
        assert_right(number_on_one_path, (x,))
        assert answers(number_on_one_path, (x,))
        assert type(value_and_grad(number_on_one_path)(x)[1]) is float
    assert_right(number_that_may_be_none, (1.5,))
    assert answers(number_that_may_be_none, (1.5,))
    with pytest.raises(UnboundLocalError):
        value_and_grad(number_that_may_be_none)(0.5)


@pytest.mark.parametrize("f", sorted(SPECIALIZED, key=lambda f: f.__name__))
def test_a_module_of_its_own(f):
    space = {}
    exec(export_adjoint(f, X, 4, argnums=0), space)
    run = space[f"{f.__name__}_value_and_gradient"]
    for n in (4, 3, 2):
        assert is_alike(run(X, n), value_and_grad(f)(X, n))
    with pytest.raises(ValueError, match="other code"):
        run(X, 0)


def returns_from_two_loops(x, n):
    for i in range(3):
        if x[i] > n:
            return x * 2.0
    for i in range(3):
        if x[i] < n - 5.0:
            return x * 3.0
    return x * x


def test_an_array_that_two_loops_may_return():
    assert assert_agreement(
        lambda x, n: np.sum(returns_from_two_loops(x, n)),
        (np.array([1.0, 2.0, 3.0]), 3.0), (np.array([1.0, 2.0, 3.0]), 1.5),
        (np.array([1.0, 2.0, 3.0]), 9.0), argnums=(0,),
    )  # fmt: skip
