"""`None` and zero: what is promised by `gradient`, and what by `grad` and its kin."""

import collections
import dataclasses
import functools
import types
from fractions import Fraction

import numpy as np
import pytest

from rulescore import Tangent
from tests.zygote_lite.checks.comparing import assert_same
from zygote_lite import (
    DifferentiationError,
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    pullback,
    testing,
    value_and_grad,
)

CALLS = 4  # the last two of them are answered by transformed code, where there is some


def constant(x, y):
    return y * y


@dataclasses.dataclass
class Layer:
    w: object
    b: float = 1.0
    name: str = "layer"


class Slotted:
    __slots__ = ("unset", "w")

    def __init__(self, w):
        self.w = w


Pair = collections.namedtuple("Pair", "first second")
V = np.array([1.0, 2.0])
Z = np.zeros(2)

ZEROS = {
    "float": (2.0, 0.0),
    "int": (3, 0.0),
    "complex": (1 + 2j, 0j),
    "numpy float": (np.float64(2), np.float64(0)),
    "float32": (np.float32(2), np.float32(0)),
    "numpy int": (np.int64(2), np.float64(0)),
    "numpy complex": (np.complex64(2), np.complex64(0)),
    "fraction": (Fraction(1, 2), 0.0),
    "array": (V, Z),
    "matrix": (np.ones((2, 3)), np.zeros((2, 3))),
    "array of float32": (V.astype(np.float32), Z.astype(np.float32)),
    "array of ints": (np.array([1, 2]), Z),
    "complex array": (V * 1j, Z * 0j),
    "array without axes": (np.array(2.0), np.array(0.0)),
    "empty array": (np.zeros((0, 3)), np.zeros((0, 3))),
    "list": ([1.0, V, "a"], [0.0, Z, None]),
    "empty list": ([], []),
    "tuple": ((1.0, (V, True)), (0.0, (Z, None))),
    "named tuple": (Pair(1.0, V), Pair(0.0, Z)),
    "dict": ({"w": V, "n": 3, "on": True, 4: [1.0]}, {"w": Z, "n": 0.0, "on": None, 4: [0.0]}),
    "empty dict": ({}, {}),
    "read-only dict": (types.MappingProxyType({"w": V}), {"w": Z}),
    "deque": (collections.deque([1.0, V]), [0.0, Z]),
    "object": (Layer(V), Tangent(Layer, w=Z, b=0.0, name=None)),
    "objects": ([Layer({"a": 1.0})], [Tangent(Layer, w={"a": 0.0}, b=0.0, name=None)]),
    "slots": (Slotted(V), Tangent(Slotted, w=Z)),
    "partial": (
        functools.partial(constant, 2.0),
        Tangent(functools.partial, func=None, args=(0.0,), keywords={}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ZEROS)
def test_an_argument_that_is_not_used(name):
    x, zero = ZEROS[name]
    for _ in range(CALLS):
        assert gradient(constant, x, 3.0)[1] == 6.0
        assert_same(grad(constant)(x, 3.0), zero)
        assert_same(value_and_grad(constant)(x, 3.0), (9.0, zero))
        assert_same(grad(constant, (0, 1))(x, 3.0), (zero, 6.0))
    with testing.recorded_only():
        assert_same(grad(constant)(x, 3.0), zero)
    (shared, again) = grad(lambda a, y: y * y, (0, 1))(x, 3.0)
    assert_same(shared, zero)
    assert again == 6.0


def closure(w, name):
    return lambda x: x * w if name else x


def test_a_function_that_is_not_used():
    for _ in range(CALLS):
        found = grad(constant)(closure(V, "a"), 3.0)
        assert_same(found.w, Z)
        assert found.name is None
        model = Layer(V)
        assert_same(grad(constant)(model.__repr__, 3.0)["__self__"].w, Z)


class Text(str):
    pass


NOTHING = {
    "text": ("text", "str"),
    "text of a class": (Text("text"), "Text"),
    "bytes": (b"text", "bytes"),
    "truth": (True, "bool"),
    "numpy truth": (np.True_, "bool"),
    "None": (None, "NoneType"),
    "function": (constant, "function"),
    "truths": (np.array([True, False]), "dtype bool"),
    "texts": (np.array(["a"]), "dtype <U1"),
    "type": (int, "type"),
    "slice": (slice(1, 2), "slice"),
    "set": ({1.0}, "set"),
    "masked array": (np.ma.array([1.0]), "MaskedArray"),
}


@pytest.mark.parametrize("name", NOTHING)
def test_an_argument_that_cannot_have_a_gradient_is_refused(name):
    x, kind = NOTHING[name]
    message = (
        rf"the argument `x` of .*constant is to be differentiated, but it is .*{kind}.*argnums"
    )
    for _ in range(CALLS):
        for call in (
            lambda: grad(constant)(x, 3.0),
            lambda: value_and_grad(constant, (1, 0))(x, 3.0),
            lambda: value_and_grad(constant, (0, 1))(x, 3.0),
            lambda: gradient(lambda y: grad(constant)(x, y), 3.0),
        ):
            with pytest.raises(TypeError, match=message):
                call()
        assert gradient(constant, x, 3.0) == (None, 6.0)
        assert pullback(constant, x, 3.0)[1](1.0) == (None, None, 6.0)
        assert grad(constant, 1)(x, 3.0) == 6.0


def test_the_refusal_names_an_argument_without_a_name():
    with pytest.raises(TypeError, match=r"the argument 1 of .*<lambda>"):
        grad(lambda *xs: xs[0] * 2.0, 1)(1.0, "text")


def test_a_descent_by_an_unused_parameter():
    def loss(p, x):
        return np.sum((p["w"] * x) ** 2)

    p = {"w": V, "unused": np.ones(3), "rate": 0.5, "layers": [np.ones(2), 1.0]}
    for _ in range(CALLS):
        g = grad(loss)(p, V)
        p = {
            "w": p["w"] - 0.1 * g["w"],
            "unused": p["unused"] - 0.1 * g["unused"],
            "rate": p["rate"] - 0.1 * g["rate"],
            "layers": [a - 0.1 * d for a, d in zip(p["layers"], g["layers"], strict=True)],
        }
    np.testing.assert_array_equal(p["unused"], np.ones(3))
    assert p["rate"] == 0.5


@pytest.mark.parametrize(
    "f",
    [lambda x: 3.0, lambda x: float(len(x)), lambda x: x.shape[0]],
    ids=["number", "length", "shape"],
)
def test_constant_functions(f):
    for _ in range(CALLS):
        assert_same(grad(f)(V), Z)
        np.testing.assert_array_equal(jacobian(f)(V), Z)
        np.testing.assert_array_equal(hessian(f)(V), np.zeros((2, 2)))
        np.testing.assert_array_equal(hvp(f)(V, V), Z)
    single = V.astype(np.float32)
    assert_same(grad(f)(single), Z.astype(np.float32))
    assert_same(hvp(f)(single, single), Z.astype(np.float32))


def test_the_second_derivative_of_a_linear_function():
    f = lambda x: np.sum(3.0 * x)
    for _ in range(CALLS):
        np.testing.assert_array_equal(hessian(f)(V), np.zeros((2, 2)))
        assert_same(hvp(f)(V, V), Z)
        assert grad(grad(lambda x: 3.0 * x))(2.0) == 0.0
        assert grad(grad(grad(lambda x: x * x)))(2.0) == 0.0


def test_inside_a_differentiated_function():
    def f(x):
        unused = grad(constant, (0, 1))(x, x[0])
        return np.sum((unused[0] + x) ** 2) + unused[1]

    for _ in range(CALLS):
        np.testing.assert_allclose(gradient(f, V)[0], 2 * V + np.array([2.0, 0.0]))


def test_what_a_branch_decides_is_a_zero_for_these():
    def f(x, y):
        return np.sum(x) if y > 0 else y * y

    for y, expected in ((1.0, np.ones(2)), (-1.0, Z)) * CALLS:
        assert_same(grad(f)(V, y), expected)


def test_optimizers_run_on_a_constant_function():
    optimize = pytest.importorskip("scipy.optimize")
    for method in ("BFGS", "CG", "L-BFGS-B", "TNC", "SLSQP"):
        found = optimize.minimize(value_and_grad(lambda x: 3.0), V, jac=True, method=method)
        np.testing.assert_array_equal(found.x, V)
    f = lambda x: np.float64(3.0)
    found = optimize.minimize(f, V, jac=grad(f), hess=hessian(f), method="trust-exact")
    np.testing.assert_array_equal(found.x, V)
    found = optimize.minimize(f, V, jac=grad(f), hessp=hvp(f), method="trust-krylov")
    np.testing.assert_array_equal(found.x, V)


def test_what_is_shared_has_its_gradient_at_the_first_place():
    shared = [1.0, 2.0]
    found = grad(lambda d: d["a"][0] * d["b"][0])({"a": shared, "b": shared, "c": [3.0]})
    assert found == {"a": [2.0, 0.0], "b": None, "c": [0.0]}
    pair = (1.0, 2.0)  # by value
    found = grad(lambda d: d["a"][0])({"a": pair, "b": pair})
    assert found == {"a": (1.0, 0.0), "b": (0.0, 0.0)}


class Knot:
    def __init__(self, value):
        self.value, self.others = value, []


def test_an_object_inside_itself():
    knot = Knot(2.0)
    knot.others += [knot, Knot(3.0)]
    found = grad(lambda k: k.value**2)(knot)
    assert found.value == 4.0
    assert found.others[0] is None
    assert found.others[1].value == 0.0


def test_what_is_shared_many_times_over_takes_no_longer_than_it_is():
    x = Knot(1.0)
    for _ in range(60):
        above = Knot(2.0)
        above.others += [x, x]
        x = above
    found = grad(lambda x, y: y)(x, 1.0)
    for _ in range(60):
        found = found.others[0]
    assert found.value == 0.0
    knots = [Knot(float(i)) for i in range(40)]
    for knot in knots:
        knot.others += knots
    assert grad(lambda k, y: y)(knots, 1.0)[0].value == 0.0


def test_zeros_belong_to_the_caller():
    w = np.ones(2)
    a, b = grad(lambda a, b: 1.0, (0, 1))(w, w)
    a += 1.0
    assert_same(b, Z)
    assert_same(w, np.ones(2))


def test_argnums_of_numpy():
    for number in (np.int64(0), np.int32(0), np.intp(-2)):
        for _ in range(CALLS):
            assert grad(constant, number)(2.0, 3.0) == 0.0
            assert value_and_grad(constant, number)(2.0, 3.0) == (9.0, 0.0)
            assert grad(constant, [np.int64(1)])(2.0, 3.0) == (6.0,)


def test_a_function_without_a_gradient_by_its_value_is_refused():
    with pytest.raises(DifferentiationError, match="elements"):
        grad(lambda s: sum(s))({1.0, 2.0})
