"""Islands in forward mode: the tape answers one call in dual code, with its value and tangent."""

import math
import subprocess
import sys

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import slope
from zygote_lite import code_jvp, explain, jacfwd, jvp, testing, value_and_grad
from zygote_lite.modes import switched

X = np.array([1.0, 2.0, 0.5])
V = np.array([0.3, -1.0, 2.0])
ran = []


def odd_sum(x, n):
    total = 0.0
    for i in set(range(n)):
        if i % 4:
            total = total + np.sin(x) * i
    return total


def in_straight_code(x):
    return np.sum(odd_sum(x, 5) * x)


def in_a_loop(x):
    s = x[0]
    for k in range(3):
        s = s * np.sum(odd_sum(0.3 * x * s, 4)) + 0.1 * k
    return s


def in_a_branch(x):
    y = odd_sum(x, 3) if x[0] > 0.0 else x
    return np.sum(y * y)


def nested(x):
    return odd_sum(odd_sum(x[0], 4) * x[1], 4) * x[2]


def written_to(x):
    y = odd_sum(x, 4) * 1.0
    y[0] = x[1] * y[2]
    return np.sum(y * x)


def in_a_list(x):
    found = []
    for i in range(3):
        found.append(odd_sum(x[i], 4))
    return sum(found) * found[1]


def in_a_try(x):
    try:
        y = odd_sum(x, 4)
    except ValueError:
        y = 2.0 * x
    return np.sum(y * x)


def of_what_stands_still(x):
    return np.sum(x) * np.sum(odd_sum(np.ones(2), 4))


def returned(x):
    return odd_sum(x, 4)


ALL = [
    in_straight_code, in_a_loop, in_a_branch, nested, written_to, in_a_list, in_a_try,
    of_what_stands_still, returned,
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", ALL)
@pytest.mark.parametrize("x", [X, -X])
def test_the_tangent_is_that_of_differences_and_of_the_tape(f, x):
    with testing.recorded_only():
        by_tape = jvp(f, (x,), (V,))
    with testing.transformed_only(), testing.compared():
        found = [jvp(f, (x.copy(),), (V.copy(),)) for _ in range(3)]
    for each in found:
        assert_close(each, by_tape, 1e-12)
        assert_close(each[0], f(x), 1e-12)
        assert_close(each[1], slope(lambda t: f(x + t * V))[0], 1e-6)


@pytest.mark.parametrize("kind", [float, np.float64, complex, np.float32])
def test_numbers_of_other_kinds(kind):
    x, v = (kind(1.5), kind(0.5)) if kind is not np.float32 else (kind(X), kind(V))

    def f(x):
        return odd_sum(x, 4) * x

    with testing.recorded_only():
        want = jvp(f, (x,), (v,))
    with testing.transformed_only(), testing.compared():
        found = jvp(f, (x,), (v,))
    assert type(found[1]) is type(want[1])
    assert_close(found, want, 1e-6)


def test_the_code_calls_the_island_once_and_says_why():
    text = code_jvp(in_straight_code, X)
    assert text.startswith("# odd_sum is recorded: it calls set")
    assert text.count("island_jvp(odd_sum, (x, 5), (dx, None))") == 1
    assert text.count("odd_sum(") == 0
    assert "recorded inside of transformed code: it calls set" in explain(in_straight_code, X)


def test_columns_of_a_jacobian():
    with testing.recorded_only():
        want = jacfwd(returned)(X)
    np.testing.assert_allclose(jacfwd(returned)(X), want)
    np.testing.assert_allclose(np.diag(want), 6.0 * np.cos(X))


# -- effects, errors, and later calls -------------------------------------------------------------


def test_effects_around_an_island_happen_once_and_in_order(capsys):
    def f(x):
        print("before", len(ran))
        y = odd_sum(x, 4)
        print("after")
        ran.append(1)
        return np.sum(y)

    ran.clear()
    for n in range(4):
        jvp(f, (X,), (V,))
        assert capsys.readouterr().out == f"before {n}\nafter\n"
    assert len(ran) == 4


def rooted(x):
    return math.sqrt(x) * len({1})


def test_what_an_island_raises_on_a_later_call(capsys):
    def f(x):
        print("here")
        return rooted(x) * 2.0

    for _ in range(3):
        assert jvp(f, (4.0,), (1.0,)) == (4.0, 0.5)
    capsys.readouterr()
    for _ in range(2):
        with pytest.raises(ValueError, match="math"), switched(strict=False):
            jvp(f, (-4.0,), (1.0,))
        assert capsys.readouterr().out == "here\n"
    assert jvp(f, (4.0,), (1.0,)) == (4.0, 0.5)


def test_what_the_program_catches_of_an_island():
    def f(x):
        try:
            y = rooted(x)
        except ValueError:
            y = 3.0 * x
        return y * x

    for _ in range(3):
        for x, slope_at in ((4.0, 3.0), (-4.0, -24.0)):
            with testing.compared():
                assert_close(jvp(f, (x,), (1.0,))[1], slope_at)


def test_a_value_of_another_kind_on_a_later_call():
    def f(x):
        return np.sum(kind_by_sign(x) * x)

    for x in (X, X, -X, X):
        with testing.compared():
            found = jvp(f, (x,), (V,))
        assert_close(found[1], slope(lambda t, x=x: f(x + t * V))[0], 1e-6)


def kind_by_sign(x):
    return x * len({1}) if x[0] > 0.0 else x[1] * len({1})


def test_another_callee_on_a_later_call(monkeypatch):
    for _ in range(3):
        before = jvp(in_straight_code, (X,), (V,))
    monkeypatch.setitem(globals(), "odd_sum", lambda x, n: n * x)
    for _ in range(3):
        assert_close(jvp(in_straight_code, (X,), (V,)), (np.sum(5.0 * X * X), 10.0 * np.sum(X * V)))
    monkeypatch.undo()
    assert_close(jvp(in_straight_code, (X,), (V,)), before)


# -- memory that an island shares -----------------------------------------------------------------


def itself(x):
    once = 0
    for i in set(range(3)):
        if i % 4 == 1:
            once = once + 1
    return x if once and x[0] < 5.0 else 2.0 * x


def tail_of(x):
    once = 0
    for i in set(range(3)):
        if i % 4 == 1:
            once = once + 1
    return x[once:]


def of_itself(x):
    y = x * 1.0
    z = itself(y)
    y[0] = 7.0 * x[1]
    return np.sum(z * y)


def of_its_tail(x):
    y = x * 1.0
    z = tail_of(y)
    y[1] = 3.0 * x[0]
    return np.sum(z * 2.0) * y[0]


def of_weights(x):
    weights = np.ones(3)
    same = itself(weights)
    weights[1] = 4.0
    return np.sum(same * x)


@pytest.mark.parametrize("f", [of_itself, of_its_tail, of_weights])
def test_an_array_that_an_island_returns_may_be_one_that_is_written_to_later(f):
    for x in (X, X, 6.0 * X, X, X, X):  # for which another array is returned
        with testing.compared():
            y, dy = jvp(f, (x,), (V,))
            value, slopes = value_and_grad(f)(x)
        assert_close((y, value), (f(x), f(x)))
        want = slope(lambda t, x=x: f(x + t * V))[0]
        assert_close((dy, slopes @ V), (want, want), 1e-6)


def test_there_are_islands_whatever_was_differentiated_before():
    program = """
import numpy as np
from zygote_lite import code_adjoint, code_jvp, gradient, jvp

def odd(x, n):
    total = 0.0
    for i in set(range(n)):
        if i % 4:
            total = total + x * i
    return total

x = np.ones(3)
gradient(lambda x: np.sum(odd(x, 3)), x)
print("island(odd" in code_adjoint(lambda x: np.sum(odd(x, 3)), x))
print("island_jvp(odd" in code_jvp(lambda x: np.sum(odd(x, 3)), x))
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert found.stdout == "True\nTrue\n"
