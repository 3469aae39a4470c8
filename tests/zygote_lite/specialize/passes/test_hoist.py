"""What is computed before a loop: arithmetic of floats, which neither raises nor warns."""

import math

import pytest

from zygote_lite import code_adjoint, testing, value_and_grad


def product(x, y):
    s = 0.0
    for k in range(3):
        t = y * 2.5
        s = s + t * x * k
    return s


def quotient(x, y):
    s = 0.0
    for k in range(3):
        t = 2.5 / y
        s = s + t * x * k
    return s


def half(x, y):
    s = 0.0
    for k in range(3):
        t = y / 2.0
        s = s + t * x * k
    return s


def exponential(x, y):
    s = 0.0
    for k in range(3):
        t = math.exp(y)
        s = s + t * x * k
    return s


def is_before_the_loop(f, *xs):
    text = str(code_adjoint(f, *xs))
    return text.index("t = ") < text.index("for k in")


@pytest.mark.parametrize(
    ("f", "y", "expected"),
    [
        (product, 3.0, True),
        (half, 3.0, True),
        (product, 3, False),  # an integer may be too large for a float
        (quotient, 3.0, False),  # may raise
        (exponential, 3.0, False),
    ],
    ids=["product", "half", "of an integer", "quotient", "exponential"],
)
def test_what_stands_before_the_loop(f, y, expected):
    assert is_before_the_loop(f, 2.0, y) is expected


def test_no_error_comes_before_the_loop():
    def f(x, n):
        s = x
        for _ in range(0):
            s = s + n * 2.5
        return s

    for _ in range(4):
        assert value_and_grad(f)(2.0, 10**400) == (2.0, 1.0)


def test_what_may_be_none_is_not_read_before_the_loop():
    def f(x, v, n):
        q = None
        for u in v:
            if u > 0.5:
                q = u * x
        s = x
        for _ in range(n):
            s = s + q * q
        return s

    with testing.strict():
        for v, n, slope in (([1.0], 2, 9.0), ([1.0], 2, 9.0), ([1.0], 2, 9.0), ([0.1], 0, 1.0)):
            assert value_and_grad(f)(2.0, v, n)[1] == slope
