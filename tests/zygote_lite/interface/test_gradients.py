"""`gradient`, `grad`, `value_and_grad`, `jacobian`, and what they refuse."""

# the code that is differentiated may be odd on purpose
# ruff: noqa: E501

import functools
import math

import numpy as np
import pytest

import zygote_lite
from zygote_lite import grad, gradient, jacobian, pullback, value_and_grad


def f(a, b, c=1.0):
    return a * b**2 * c


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return self.w * x * x


def loss(model, xs, ys):
    r = model.w * xs - ys
    return np.sum(r * r)


def test_gradient_has_one_entry_for_each_argument():
    assert gradient(f, 2.0, 3.0) == (9.0, 12.0)
    assert gradient(f, 2.0, 3.0, 4.0) == (36.0, 48.0, 18.0)
    assert gradient(lambda: 1.0) == ()


@pytest.mark.parametrize(
    ("argnums", "expected"),
    [(0, 9.0), (1, 12.0), (-1, 12.0), ((0,), (9.0,)), ((1, 0), (12.0, 9.0)), ([0, 1], (9.0, 12.0)), ((), ()), ((0, 0), (9.0, 9.0)), ("b", 12.0), (("b", 0), (12.0, 9.0)), (("a",), (9.0,))],
)  # fmt: skip
def test_argnums(argnums, expected):
    assert grad(f, argnums)(2.0, 3.0) == expected
    assert grad(f, argnums=argnums)(2.0, 3.0) == expected
    assert value_and_grad(f, argnums=argnums)(2.0, 3.0) == (18.0, expected)
    assert gradient(f, 2.0, 3.0, argnums=argnums) == expected
    for differentiated in (grad(f, argnums), lambda a, b: gradient(f, a, b, argnums=argnums)):
        _, back = pullback(differentiated, 2.0, 3.0)  # and inside
        if expected == 12.0:  # 2 a b
            assert back(1.0) == (None, 6.0, 4.0)


@pytest.mark.parametrize("argnums", [2, -3, (0, 2), 17])
def test_argnums_out_of_range(argnums):
    for call in (grad, value_and_grad):
        with pytest.raises(TypeError, match=r"argnums.* of .*f, .*2 positional arguments"):
            call(f, argnums)(2.0, 3.0)


@pytest.mark.parametrize("argnums", ["0", 0.0, None, ("d",), "c", True, {0}])
def test_argnums_that_are_no_arguments(argnums):
    with pytest.raises(TypeError, match="argnums"):
        grad(f, argnums)(2.0, 3.0)


def test_keyword_arguments_are_not_differentiated_by_grad():
    assert grad(f)(2.0, 3.0, c=4.0) == 36.0
    assert value_and_grad(f, (0, 1))(2.0, 3.0, c=4.0) == (72.0, (36.0, 48.0))
    assert grad(f)(2.0, b=3.0) == 9.0


class OfNames:
    def __call__(self, a, /, b=2.0, *, c=1.0, **more):
        return a * b**2 * c * more.get("d", 1.0)

    def method(self, a, b, c=1.0):
        return f(a, b, c)


NAMED = [f, OfNames(), OfNames().method, functools.partial(f, c=1.0), functools.partial(f, b=3.0)]


@pytest.mark.parametrize("g", NAMED, ids=["function", "object", "method", "partial", "named"])
def test_arguments_by_name_are_differentiated_where_they_are_named(g):
    by_both, by_b, inside = grad(g, ("c", 0)), grad(g, "b"), grad(grad(g, "b"), "b")
    for c in (4.0, 4.0, 4.0, 5.0):
        assert by_both(2.0, c=c, b=3.0) == (18.0, 9.0 * c)
        assert by_b(2.0, b=3.0, c=c) == 12.0 * c
        assert inside(2.0, b=3.0, c=c) == 4.0 * c
        with pytest.raises(TypeError, match=r"the argument 'b' of .*without one"):
            by_b(2.0, c=c)
    if g is NAMED[1]:
        assert grad(g, ("d", "a"))(2.0, 3.0, d=4.0) == (18.0, 36.0)


def test_the_wrapped_function_keeps_its_name():
    assert grad(f).__name__ == "f"
    assert value_and_grad(f).__name__ == "f"
    assert jacobian(f).__name__ == "f"


def test_a_model_first():
    xs, ys = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    value, d = value_and_grad(loss, argnums=0)(Model(2.0), xs, ys)
    assert value == 10.0
    assert d.w == pytest.approx(np.sum(2 * (2 * xs - ys) * xs))


def test_a_bound_method():
    model = Model(3.0)
    assert gradient(model.loss, 2.0) == (12.0,)
    assert grad(model.loss)(2.0) == 12.0


def test_what_is_not_differentiated_needs_no_rule():
    import json

    def g(x, text):
        return x * json.loads(text)

    assert grad(g)(2.0, "3") == 3.0


def test_int_argument_has_a_float_gradient():
    d = grad(lambda x: x**2)(3)
    assert type(d) is float
    assert d == 6.0


def test_an_int_as_value():
    assert gradient(lambda x, y: x * y, 2, 3) == (3.0, 2.0)


@pytest.mark.parametrize(
    "y", [np.float32(2), np.array(2.0), np.array(2, np.float32), np.float64(2)]
)
def test_numpy_numbers_as_value(y):
    (d,) = gradient(lambda v: v * 3.0, y)
    assert d == 3.0
    assert np.asarray(d).dtype == y.dtype
    assert type(d) is type(y)


# -- refused -----------------------------------------------------------------------------------

NOT_A_NUMBER = {
    "array": (lambda x: x * np.ones((2, 3)), 1.0, r"ndarray of shape \(2, 3\)"),
    "one_entry": (lambda x: x * np.ones(1), 1.0, r"ndarray of shape \(1,\)"),
    "bool": (lambda x: x > 0, 1.0, "bool"),
    "numpy_bool": (lambda x: np.sum(x) > 0, np.ones(2), "bool"),
    "complex": (lambda x: x * 1j, 1.0, "complex"),
    "numpy_complex": (lambda x: np.sum(x * 1j), np.ones(2), "complex128"),
    "complex_array": (lambda x: x * 1j, np.array(1.0), "complex128"),
    "none": (lambda x: None, 1.0, "None"),
    "text": (lambda x: "text", 1.0, "str"),
    "tuple": (lambda x: (x, x), 1.0, "tuple of length 2"),
    "list": (lambda x: [x], 1.0, "list of length 1"),
    "dict": (lambda x: {"a": x}, 1.0, "dict"),
    "object": (lambda x: Model(x), 1.0, "Model"),
    "function": (lambda x: lambda: x, 1.0, "function"),
}


@pytest.mark.parametrize("name", NOT_A_NUMBER)
def test_a_value_that_is_no_real_number(name):
    g, x, pattern = NOT_A_NUMBER[name]
    for call in (gradient, lambda h, v: grad(h)(v), lambda h, v: value_and_grad(h)(v)):
        with pytest.raises(TypeError, match=pattern) as caught:
            call(g, x)
        assert ("`return`" if name == "none" else "pullback") in str(caught.value)


@pytest.mark.parametrize("g", [3, None, "f", [math.sin]], ids=repr)
def test_what_is_not_callable(g):
    for call in (
        lambda: pullback(g, 1.0),
        lambda: gradient(g, 1.0),
        lambda: grad(g)(1.0),
        lambda: value_and_grad(g)(1.0),
        lambda: jacobian(g)(1.0),
    ):
        with pytest.raises(TypeError, match="not callable"):
            call()


def test_wrong_numbers_of_arguments_are_what_python_says():
    for xs, pattern in (
        ((), "missing 2"),
        ((1.0,), "missing 1"),
        ((1.0,) * 4, "takes from 2 to 3"),
    ):
        with pytest.raises(TypeError, match=pattern):
            pullback(f, *xs)
    with pytest.raises(TypeError, match="unexpected keyword argument 'd'"):
        pullback(f, 1.0, 2.0, d=3.0)
    with pytest.raises(TypeError, match="multiple values for argument 'a'"):
        pullback(f, 1.0, 2.0, a=3.0)


@pytest.mark.parametrize("dy", [np.ones(3), [1.0], (1.0,), "text", {"a": 1.0}], ids=repr)
def test_a_cotangent_that_does_not_fit_the_value(dy):
    _, back = pullback(lambda x: x * 2.0, 1.0)
    with pytest.raises((TypeError, ValueError)):
        back(dy)


@pytest.mark.parametrize("dy", [[1.0], [1.0, 2.0, 3.0], {"a": 1.0}, 1.0], ids=repr)
def test_a_cotangent_that_does_not_fit_a_list(dy):
    _, back = pullback(lambda x: [x, x], 1.0)
    with pytest.raises((TypeError, ValueError)):
        back(dy)


# -- jacobian ----------------------------------------------------------------------------------

A = np.arange(6.0).reshape(2, 3)


def test_the_jacobian_of_a_linear_map():
    np.testing.assert_array_equal(jacobian(lambda x: A @ x)(np.ones(3)), A)


def test_the_shape_is_that_of_the_value_then_that_of_the_argument():
    J = jacobian(lambda X: X @ np.ones((3, 4)))(A)
    assert J.shape == (2, 4, 2, 3)
    np.testing.assert_array_equal(J[1, 2, 1], np.ones(3))
    np.testing.assert_array_equal(J[1, 2, 0], np.zeros(3))


def test_the_jacobian_of_numbers():
    assert jacobian(lambda x: x * x)(3.0) == 6.0
    np.testing.assert_array_equal(jacobian(lambda x: np.array([1.0, 2.0]) * x)(3.0), [1.0, 2.0])
    np.testing.assert_array_equal(jacobian(lambda x: np.sum(x * x))(np.ones(3)), [2.0, 2.0, 2.0])


def test_the_jacobian_in_another_argument():
    J = jacobian(lambda M, x: M @ x, argnums=1)(A, np.ones(3))
    np.testing.assert_array_equal(J, A)
    with pytest.raises(TypeError, match="argnums"):
        jacobian(lambda x: x, 1)(1.0)


def test_the_jacobian_of_what_does_not_matter_is_zero():
    np.testing.assert_array_equal(jacobian(lambda x: np.ones(2))(np.ones(3)), np.zeros((2, 3)))


def test_the_jacobian_of_an_empty_array():
    assert jacobian(lambda x: x * 2.0)(np.zeros(0)).shape == (0, 0)
    assert jacobian(lambda x: np.zeros(0) * x)(2.0).shape == (0,)
    assert jacobian(lambda x: x[:0])(np.ones(3)).shape == (0, 3)


def test_the_jacobian_keeps_float32():
    J = jacobian(lambda x: x * x)(np.ones(3, np.float32))
    assert J.dtype == np.float32


@pytest.mark.parametrize(
    ("g", "x"),
    [
        (lambda x: {x}, 1.0),
        (lambda x: [x, x * 1j], 1.0),
        (lambda x: x * 1j, 1.0),
        (lambda x: x["a"], {"a": 1.0, "b": [1j]}),
        (lambda x: x, "text"),
        (lambda x: None, 1.0),
        (lambda x: lambda y: x * y, 1.0),
    ],
    ids=["set", "complex in list", "complex", "complex in argument", "text", "none", "function"],
)
def test_the_jacobian_refuses_what_is_no_array(g, x):
    with pytest.raises(TypeError, match="Jacobian"):
        jacobian(g)(x)


def test_the_public_names():
    assert all(hasattr(zygote_lite, name) for name in zygote_lite.__all__)
    assert len(set(zygote_lite.__all__)) == len(zygote_lite.__all__)


def test_a_gradient_holds_what_it_differentiates_and_no_more():
    def scaled(w):
        return lambda a, b: a * a * b * w

    _, back = pullback(grad(scaled(2.0), 1), 2.0, 3.0)
    held, da, db = back(1.0)
    assert [*held] == ["f"]
    assert (held["f"]["w"], da, db) == (4.0, 8.0, None)
