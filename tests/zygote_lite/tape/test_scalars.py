"""Operations of numbers on the tape, which are resolved at once."""

import gc
import math
import operator

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import gradient, hessian
from zygote_lite._ir.compile import recording_of
from zygote_lite._tape.outermost import Run
from zygote_lite._tape.tape import Tape
from zygote_lite.testing import recorded_only


def power_of_negative(x):
    return (-x) ** 3.0 + (-x) ** 2


def with_integers(x):
    return operator.truediv(3, x) + 2 * x - x % 2 + x // 1 + math.floor(x) * x


def compared(x):
    s = x
    while s < 10 and not s == 3.0:
        s = s * 2.0 + math.hypot(s, 3.0)
    return s if s else 0.0


def caught(x):
    try:
        return x / 0.0
    except ZeroDivisionError:
        pass
    try:
        return math.log(-x)
    except ValueError:
        return math.atan2(x, -x) + math.pow(x, 2.0)


def by_entries(x):
    v = np.array([x, 2.0, x * x])
    total = v[-1] / 3
    for i in range(len(v)):
        total += v[i] * i - v[i] ** 2.0
        if v[i] > 1.5:
            v[0] = total
    return total * v[0]


OF_NUMBERS = [power_of_negative, with_integers, compared, by_entries]
CASES = [(f, kind) for f in OF_NUMBERS for kind in (float, np.float64)]


@pytest.mark.parametrize(("f", "kind"), [*CASES, (caught, float)])
def test_agrees_with_differences(f, kind):
    ((_, expected, off),) = slopes(f, (1.3,))
    with recorded_only():
        (d,) = gradient(f, kind(1.3))
    assert type(d) is kind
    assert d == pytest.approx(expected, abs=10 * off + 1e-9)


def test_an_integer_that_is_differentiated_has_a_gradient():
    with recorded_only():
        assert gradient(lambda n: n * n + 0.5 * n, 3) == (6.5,)


def test_derivatives_of_derivatives():
    with recorded_only():
        assert hessian(lambda x: x * x * x + math.exp(0.0 * x))(2.0) == pytest.approx(12.0)


class Box:
    def __init__(self, value):
        self.value = value


def moves(x, n=300):
    """Write numbers to a list, a dict and an object, over what was there, and read them."""
    a, d, box = [x], {"s": 1.0, 0: x}, Box(x)
    for i in range(n):
        a.append(a[i] * 0.9 + d["s"])
        d["s"] = box.value * 0.1
        d[i % 3] = a[-1]
        box.value = a[i // 2] + d[i % 2] * x
        a[i] = 0.5 * box.value
        if i % 7 == 0:
            box.value = 0.25
    return box.value * d["s"] + sum(a) * d[2]


def test_numbers_in_containers():
    ((_, expected, off),) = slopes(moves, (0.3,))
    with recorded_only():
        (d,) = gradient(moves, 0.3)
    assert d == pytest.approx(expected, abs=10 * off + 1e-9)


def test_python_does_not_collect_what_the_tape_holds_of_numbers():
    tape = Tape()
    given = tape.input(0.3)
    run, _ = recording_of(moves)
    with Run((moves, 0.3)):
        run(tape, (given, None), 0.3)
    gc.collect()
    collected = sum(map(gc.is_tracked, tape.entries))
    assert len(tape.entries) > 3000
    assert collected < 20
