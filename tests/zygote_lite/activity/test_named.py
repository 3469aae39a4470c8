"""What functions that are given nothing active may read of their callers, two calls away."""

import sys
import types

import pytest

from zygote_lite import gradient
from zygote_lite._activity.named import may_be_seen_elsewhere, reached_by_name
from zygote_lite.errors import DifferentiationError

seen = []


def two_calls_above():
    return sys._getframe(2).f_locals.get("number", 0.0)


def above():
    return two_calls_above()


class Reader:
    def read(self):
        return two_calls_above()


reader = Reader()


def by_a_method():
    return reader.read()


def note(frame, event, value):
    if event == "return" and frame.f_code is square.__code__:
        seen.append(value)


def begin():
    sys.setprofile(note)


def square(x):
    return x * x


def plain():
    return 1.0


def reads_a_caller(number):
    return number * 3.0 + above()


def reads_a_caller_by_a_method(number):
    return number * 3.0 + by_a_method()


def is_profiled(x):
    seen.clear()
    before = sys.getprofile()
    begin()
    try:
        square(x)
    finally:
        sys.setprofile(before)
    return seen[0]


@pytest.mark.parametrize("f", [reads_a_caller, reads_a_caller_by_a_method, is_profiled])
def test_variables_of_callers_are_refused(f):
    for _ in range(3):
        with pytest.raises(DifferentiationError, match="looks at the frames"):
            gradient(f, 2.0)


def test_an_end_of_profiling_is_no_look_at_frames():
    def f(x):
        sys.setprofile(None)
        return plain() * square(x)

    before = sys.getprofile()
    assert gradient(f, 3.0) == (6.0,)
    sys.setprofile(before)
    assert may_be_seen_elsewhere(above, ())
    assert not may_be_seen_elsewhere(plain, ())


def test_functions_that_many_name_are_looked_at_once():
    names = {}
    text = "def g0(): return h0()\ndef h0(): return 1.0\n"
    for i in range(1, 60):
        text += f"def g{i}(): return g{i - 1}() + h{i - 1}()\n"
        text += f"def h{i}(): return g{i - 1}() - h{i - 1}()\n"
    exec(text, names)
    assert len(list(reached_by_name(names["g59"]))) == 119


HELPED = compile("def named(): return helper()", "<helper>", "exec")


def named_with(helper):
    """Return a function of one code by the name of a helper, whose variables are its own."""
    space = {"helper": helper}
    exec(HELPED, space)
    return space["named"]


def rebound():
    f = named_with(plain)
    assert not may_be_seen_elsewhere(f, ())
    f.__globals__["helper"] = above
    return f


def of_other_variables():
    f = named_with(plain)
    assert not may_be_seen_elsewhere(f, ())
    return types.FunctionType(f.__code__, {"helper": above})


def of_a_cell():
    helper = plain

    def f():
        return helper()

    assert not may_be_seen_elsewhere(f, ())
    f.__closure__[0].cell_contents = above
    return f


@pytest.mark.parametrize("change", [rebound, of_other_variables, of_a_cell])
def test_a_helper_that_is_another_by_now_is_looked_at_again(change):
    f = change()
    assert may_be_seen_elsewhere(f, ())

    def reads(number):
        return number * 3.0 + f()

    for number in (1.0, 2.0, 3.0):
        with pytest.raises(DifferentiationError):
            gradient(reads, number)
