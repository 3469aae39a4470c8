"""The cotangent of written memory is that of all its views, also where entries of one overlap."""

from collections import namedtuple

import numpy as np
import pytest

from rulescore import RuleSet, Tangent
from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import grad, gradient
from zygote_lite.errors import DifferentiationError, NoRuleError
from zygote_lite.testing import recorded_only


def repeated(x):
    w = x * x
    v = np.broadcast_to(w, (4, 3))
    w[1] = x[0] * 3.0
    return np.sum(v * v * np.arange(12.0).reshape(4, 3))


def one_entry_repeated(x):
    w = x * x
    v = np.broadcast_to(w[1:2], (4,))
    w[1] = x[0] * 3.0
    return np.sum(v * v * np.arange(4.0))


def windows(x):
    w = x * x
    v = np.lib.stride_tricks.sliding_window_view(w, 2)
    w[1] = x[0] * 3.0
    return np.sum(v * v * np.array([[1.0, 2.0], [3.0, 4.0]]))


def assert_gradient_of_differences(f):
    x = np.array([0.7, 3.2, -5.1])
    [(_, want, _)] = slopes(f, (x,))
    with recorded_only():
        for _ in range(3):
            np.testing.assert_allclose(gradient(f, x)[0], want, rtol=1e-7)


@pytest.mark.parametrize("f", [repeated, one_entry_repeated, windows])
def test_entries_of_a_view_that_are_one_place_add_up(f):
    assert_gradient_of_differences(f)


def in_a_tuple_after_a_write(x):
    w = x * x
    w[0] = x[1] * 3.0
    y = np.concatenate((w, x))
    w[1] = 7.0
    return np.sum(y * y * np.arange(6.0)) + np.sum(w)


def constants_are_added(x):
    w = x * x
    np.add.at(w, [0, 0], 1.0)
    return np.sum(w * w)


def a_view_that_is_gone(x):
    w = x * x
    v = w[1:]
    w[2] = x[1] * 3.0
    return np.sum(v)


@pytest.mark.parametrize(
    "f",
    [
        in_a_tuple_after_a_write,
        constants_are_added,
        a_view_that_is_gone,
    ],
)
def test_a_cotangent_goes_to_the_memory_as_it_was_then(f):
    assert_gradient_of_differences(f)


def test_a_tuple_of_arrays_of_which_one_was_written():
    def f(pair):
        pair[0][0] = pair[1][0] * 3.0
        return np.sum(np.concatenate(pair) * np.arange(1.0, 5.0))

    with recorded_only():
        [(first, second)] = gradient(f, (np.ones(2), np.ones(2)))
    np.testing.assert_array_equal(first, [0.0, 2.0])
    np.testing.assert_array_equal(second, [6.0, 4.0])


def test_two_results_with_a_mask_are_refused():
    def f(x):
        a, b = np.zeros(3), np.zeros(3)
        np.divmod(x, 2.0, out=(a, b), where=x > 0)
        return np.sum(a * b)

    with pytest.raises(DifferentiationError, match="assign the result"):
        gradient(f, np.array([0.7, 3.2, -5.1]))


def test_an_entry_of_an_active_array_of_objects_is_refused():
    with pytest.raises(NoRuleError, match="dtype object"):
        gradient(lambda a: a[0] * 2.0, np.array([1.0, 2.0], dtype=object))


class Point(namedtuple("Point", "x y")):
    __slots__ = ()

    def __new__(cls, x):
        return super().__new__(cls, x, 2.0 * x)


def test_the_cotangent_of_a_named_tuple_is_made_of_its_fields_whatever_its_class_takes():
    def f(p):
        return p.x * p.y

    def as_a_tuple(y, d):
        return tuple.__new__(Point, (y, d))

    for _ in range(3):
        (d,) = gradient(f, Point(3.0))
        assert type(d) is Point
        assert d == as_a_tuple(6.0, 3.0)
    assert grad(lambda p: 1.0)(Point(3.0)) == as_a_tuple(0.0, 0.0)
    assert grad(lambda x: grad(f)(Point(x)).x * x)(3.0) == 12.0


class Box:
    def __init__(self, x):
        self.x = x


def read(box):
    return box.x * 3


def test_a_tangent_with_a_field_that_the_object_does_not_have_is_an_error():
    rule = RuleSet("of_a_box")

    @rule(read)
    def _(box: Box):
        return box.x * 3, lambda dy: (Tangent(Box, y=3 * dy),)

    rule.register()
    try:
        for _ in range(3):
            with pytest.raises(TypeError, match=r"fields that the object does not have: 'y'"):
                grad(lambda x: read(Box(x)))(2.0)
    finally:
        rule.unregister()
