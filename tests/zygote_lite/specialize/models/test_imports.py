"""Imports inside functions, in specialized code."""

import builtins
import math
import sys
import types
from unittest import mock

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import answers, assert_agreement, generic
from zygote_lite import testing, value_and_grad

X = np.array([0.5, 1.5, -2.0])


def renamed(x):
    import math as m

    return m.sin(x)


def members(x):
    import math
    from math import cos as c
    from math import pi, sin

    return sin(x) * c(x) * pi + math.exp(x)


def of_numpy(x):
    import os.path  # noqa: F401

    import numpy as np

    return np.sum(np.exp(x) * x)


def of_a_module_inside(x):
    import numpy.linalg as la
    from numpy.linalg import det

    return la.det(np.outer(x, x) + np.eye(3)) + det(np.eye(3) * x)


def in_a_loop(x):
    s = 0.0
    for i in range(3):
        import math

        s += math.sin(x * i)
    return s


def relative(x):
    from ...checks import oracles
    from ...checks.oracles import CALLS

    return x**CALLS * oracles.CALLS


def inside(x):
    def sine(y):
        from math import sin

        return sin(y)

    return sine(x) * sine(2.0 * x)


def variables_of_those_names(x):
    np = x * 2.0
    math = np * x
    for _ in range(3):
        math = math * np
    return math + np


CASES = [
    (renamed, 0.5),
    (members, 0.5),
    (of_numpy, X),
    (of_a_module_inside, X),
    (in_a_loop, 0.5),
    (relative, 0.5),
    (inside, 0.5),
    (variables_of_those_names, 0.5),
]


@pytest.mark.parametrize(("f", "x"), CASES)
def test_agrees_with_the_generic_engine(f, x):
    assert assert_agreement(f, (x,), (2.0 * x,))
    assert answers(f, (x,))


def not_there(x):
    if x > 100.0:
        import no_such_module_at_all as module

        return module.f(x)
    return x * x


def a_parameter_named_so(x, np):
    return x * np


@pytest.mark.parametrize(("f", "xs"), [(not_there, (0.5,)), (a_parameter_named_so, (0.5, 2.0))])
def test_what_stays_generic_is_answered_all_the_same(f, xs):
    transformed = assert_agreement(f, xs)
    assert transformed == (f is not_there)  # which is not imported on the path that is taken


def test_a_function_that_is_patched_is_called():
    f = types.FunctionType(members.__code__, globals(), "f")
    run = value_and_grad(f)
    for _ in range(3):
        usual = run(0.5)
    assert answers(f, (0.5,))
    with mock.patch.object(math, "sin", lambda x: 3.0 * x):
        assert run(0.5) == generic(f, (0.5,), 0)[1] != usual
    with mock.patch.object(math, "pi", 1.0):
        assert run(0.5) == generic(f, (0.5,), 0)[1] != usual
    assert run(0.5) == usual


def test_a_module_that_is_replaced_is_used():
    run = value_and_grad(renamed)
    for _ in range(3):
        usual = run(0.5)
    other = types.ModuleType("math")
    other.sin = lambda x: 3.0 * x
    with mock.patch.dict(sys.modules, math=other):
        assert run(0.5) == (1.5, 3.0)
    assert run(0.5) == usual


def test_an_import_of_ones_own_is_made():
    made = []

    def note(name, *args, **kwargs):
        made.append(name)
        return usual(name, *args, **kwargs)

    run, usual = value_and_grad(renamed), builtins.__import__
    for _ in range(3):
        run(0.5)
    with mock.patch.object(builtins, "__import__", note):
        for _ in range(3):
            run(0.5)
    assert made.count("math") >= 3


def test_imports_are_compiled():
    pytest.importorskip("numba", reason="compiled code needs Numba (zygote_lite[jit])")
    run = value_and_grad(members, compile=True)
    assert run(0.5) == pytest.approx(value_and_grad(members)(0.5), rel=1e-12)
    assert testing.programs(members, compiled=True)
