"""Straight code: each value and gradient against a formula and finite differences."""

# the code that is differentiated may be odd on purpose
# ruff: noqa: E501, F601, F841, RUF015, UP008

import copy
import functools
import math
import operator
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from rulescore import Tangent
from zygote_lite import DifferentiationError, gradient, pullback

sin, cos, exp = math.sin, math.cos, math.exp
SCALE = 3.0
Point = namedtuple("Point", "x y")


# -- functions ---------------------------------------------------------------------------------


def cube(x):
    return x * x * x


def twice(f, x):
    return f(f(x))


def mixed(a, b, /, c, *, d=2.0, e=3.0):
    return a * b + c**2 * d - e * a


def with_defaults(x, y=2.0, z=None):
    return x * y


def collects(*xs):
    return xs[0] * xs[1] + xs[-1] ** 2


def collects_named(x, **kws):
    return x * kws["a"] + kws["b"] ** 2


def collects_both(x, *xs, y=1.0, **kws):
    return x * xs[0] * y + kws["z"] * xs[1]


def scaled(x):
    return SCALE * x


def make_adder(n):
    def add(x):
        return x * n + n * n

    return add


def several(x):
    a = x * 2.0
    b = a
    c = b * a
    a = c + x
    return a * b


def documented(x):
    """Return a square, with text, `pass` and annotations."""
    pass
    y: float = x * x
    return y


def chain_assignment(x):
    a = b = x * 2.0
    return a * b


def unpacks(p):
    (a, b), *rest, c = p
    return a * b + c * rest[0] - rest[1]


def swaps(x, y):
    x, y = y, x
    return x / y


def walrus(x):
    return (y := x * 2.0) * y


def rebinding_walrus(x):
    return x * (x := x + 1.0)


def augmented(x):
    y = x
    y += x * 2.0
    y *= y
    y -= 1.0
    y /= x
    y **= 2
    return y


def local_import(x):
    import math as m

    return m.exp(x)


def text(x):
    name = f"{x:.2f} and {x!s:.2}"
    return x * len(name)


def superfluous(x):
    sin(x)
    y = cos(x)
    z = y * exp(x)
    return x * x


def confused(x):
    y = cube(x)
    z = cube(y)
    w = [y, z]
    return y + x


def nested_def(x, y):
    def inner(z):
        return z * x + y

    return inner(x * y)


def nested_twice(x):
    def outer(y):
        def inner(z):
            return x * y * z

        return inner

    return outer(2.0 * x)(3.0 * x)


def lambda_inside(x):
    f = lambda y: x * y
    return f(x) + f(2.0)


def default_in_lambda(x):
    return (lambda y, k=3.0: k * y)(x)


def matrix_functions(W, b, x):
    h = np.tanh(W @ x + b)
    return np.sum(h * h)


def array_methods(x):
    y = x.reshape(2, 3).T
    return (y * y).sum() + x.mean()


def keyword_primitives(x):
    return np.sum(a=x) + np.sum(x * x, axis=0) + np.max(a=x, axis=None)


def evaluation_order(x):
    order = []
    y = (order.append(1), x)[1] * (order.append(2), x)[1]
    assert_order(order)
    return y


def assert_order(order):
    if order != [1, 2]:
        raise AssertionError(order)


FUNCTIONS = {
    "sin_cos": (lambda x: sin(cos(x)), (0.6,), (-cos(cos(0.6)) * sin(0.6),)),
    "call": (lambda x: cube(x) + cube(2.0 * x), (0.7,), (27 * 0.49,)),
    "function_argument": (lambda x: twice(cube, x), (0.9,), (9 * 0.9**8,)),
    "identity": (lambda x: x, (0.5,), (1.0,)),
    "constant": (lambda x: 2.0, (0.5,), (None,)),
    "unused": (lambda x, y: x, (0.5, 0.6), (1.0, None)),
    "quotient": (lambda a, b: a / (a + b * b), (2.0, 3.0), (9 / 121, -12 / 121)),
    "many_uses": (lambda x: x * x * x + x / x - x, (0.8,), (3 * 0.64 - 1,)),
    "operators": (lambda x, y: -x**2 + +y / x - (x - y) ** 3, (1.2, 0.7), None),
    "global": (scaled, (0.5,), (3.0,)),
    "mixed": (mixed, (0.5, 0.6, 0.7), (0.6 - 3.0, 0.5, 2.8)),
    "mixed_by_keyword": (
        lambda a, b, c, d, e: mixed(a, b, e=e, c=c, d=d),
        (0.5, 0.6, 0.7, 0.8, 0.9),
        (0.6 - 0.9, 0.5, 2 * 0.7 * 0.8, 0.49, -0.5),
    ),
    "positional_by_keyword": (lambda x, y: with_defaults(y=y, x=x), (0.5, 0.6), (0.6, 0.5)),
    "default_used": (with_defaults, (0.5,), (2.0,)),
    "default_given": (with_defaults, (0.5, 0.6), (0.6, 0.5)),
    "varargs": (collects, (0.5, 0.6, 0.7), (0.6, 0.5, 1.4)),
    "varargs_two": (collects, (0.5, 0.6), (0.6, 0.5 + 1.2)),
    "varkeywords": (lambda x, a, b: collects_named(x, a=a, b=b), (0.5, 0.6, 0.7), (0.6, 0.5, 1.4)),
    "both": (
        lambda x, y, z: collects_both(x, y, z, y=z, z=x),
        (0.5, 0.6, 0.7),
        (0.6 * 0.7 + 0.7, 0.35, 0.3 + 0.5),
    ),
    "spread": (lambda xs: collects(*xs), ([0.5, 0.6, 0.7],), ([0.6, 0.5, 1.4],)),
    "spread_tuple": (lambda xs: collects(*xs), ((0.5, 0.6, 0.7),), ((0.6, 0.5, 1.4),)),
    "spread_after": (lambda x, xs: collects(x, *xs), (0.5, [0.6, 0.7]), (0.6, [0.5, 1.4])),
    "spread_array": (lambda x: collects(*x), (np.array([0.5, 0.6, 0.7]),), None),
    "spread_named": (
        lambda kws: collects_named(2.0, **kws),
        ({"a": 0.5, "b": 0.6},),
        ({"a": 2.0, "b": 1.2},),
    ),
    "spread_both": (
        lambda xs, kws: collects_both(*xs, y=xs[0], **kws),
        ([0.5, 0.6, 0.7], {"z": 0.8}),
        ([2 * 0.5 * 0.6, 0.25, 0.8], {"z": 0.7}),
    ),
    "closure": (lambda n, x: make_adder(n)(x), (0.5, 0.6), (0.6 + 1.0, 0.5)),
    "several": (several, (0.7,), None),
    "documented": (documented, (0.7,), (1.4,)),
    "chain_assignment": (chain_assignment, (0.7,), (5.6,)),
    "unpacks": (unpacks, (((0.5, 0.6), 0.7, 0.8, 0.9),), (((0.6, 0.5), 0.9, -1.0, 0.7),)),
    "unpacks_list": (unpacks, ([[0.5, 0.6], 0.7, 0.8, 0.9],), ([[0.6, 0.5], 0.9, -1.0, 0.7],)),
    "swaps": (swaps, (0.5, 0.6), (-0.6 / 0.25, 2.0)),
    "walrus": (walrus, (0.7,), (5.6,)),
    "rebinding_walrus": (rebinding_walrus, (0.7,), (2.4,)),
    "augmented": (augmented, (0.7,), None),
    "local_import": (local_import, (0.7,), (exp(0.7),)),
    "text": (text, (0.7,), (float(len("0.70 and 0.")),)),
    "superfluous": (superfluous, (0.7,), (1.4,)),
    "confused": (confused, (0.7,), (3 * 0.49 + 1,)),
    "nested_def": (nested_def, (0.7, 0.6), (2 * 0.7 * 0.6, 0.49 + 1)),
    "nested_twice": (nested_twice, (0.7,), (18 * 0.49,)),
    "lambda_inside": (lambda_inside, (0.7,), (1.4 + 2.0,)),
    "default_in_lambda": (default_in_lambda, (0.7,), (3.0,)),
    "evaluation_order": (evaluation_order, (0.7,), (1.4,)),
    "immediate_lambda": (lambda x: (lambda y: y * x)(x * x), (0.7,), (3 * 0.49,)),
    "partial": (lambda x, y: functools.partial(mixed, x, e=y)(y, 0.3), (0.5, 0.6), None),
    "partial_given": (functools.partial(mixed, 0.5, d=3.0), (0.6, 0.7), (0.5, 4.2)),
    "reduce": (lambda xs: functools.reduce(operator.mul, xs), ([0.5, 0.6, 0.7],), None),
    "sorted": (lambda xs: sorted(xs)[0] * 2.0, ([0.7, 0.5, 0.6],), ([None, 2.0, None],)),
    "sum": (lambda xs: sum(xs), ([0.5, 0.6],), ([1.0, 1.0],)),
    "sum_of_map": (lambda xs: sum(map(cube, xs)), ([0.5, 0.6],), ([0.75, 3 * 0.36],)),
    "abs_min_max": (lambda x, y: abs(x) + max(x, y) * min(x, y), (-0.5, 0.6), (-1 + 0.6, -0.5)),
    "int": (lambda x: x**2, (3,), (6.0,)),
    "int_and_float": (lambda n, x: n * x, (3, 0.5), (0.5, 3.0)),
    "matrices": (matrix_functions, (np.eye(3) * 0.3, np.ones(3) * 0.1, np.arange(3.0)), None),
    "array_methods": (array_methods, (np.arange(6.0),), (2 * np.arange(6.0) + 1 / 6,)),
    "keyword_primitives": (keyword_primitives, (np.array([0.5, 0.7]),), (np.array([2.0, 3.4]),)),
    "dimension_0": (lambda x: np.sin(x) * x, (np.array(0.5),), None),
    "empty_array": (lambda x: np.sum(x) + 1.0, (np.zeros(0),), (np.zeros(0),)),
    "lru_cache": (lambda x: cached(x) * x, (0.6,), (4 * 0.6**3,)),
    "wrapped": (lambda x: decorated(x) * x, (0.6,), (8 * 0.6**3,)),
    "starred_display": (lambda x, ys: [x, *ys][2] * (*ys, x)[0], (0.5, [0.6, 0.7]), None),
    "comprehensive_call": (
        lambda x: mixed(*(x, x * 2.0), **{"c": x, "d": x * x}),
        (0.6,),
        None,
    ),
}  # fmt: skip


@functools.lru_cache
def cached(x):
    return x * x * x


def doubles(f):
    @functools.wraps(f)
    def wrapper(*args, **kws):
        return 2.0 * f(*args, **kws)

    return wrapper


@doubles
def decorated(x):
    return x * x * x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name, check):
    f, xs, expected = FUNCTIONS[name]
    check(f, *copy.deepcopy(xs), expected=expected)


# -- containers --------------------------------------------------------------------------------


def index():
    return np.int64(1)


CONTAINERS = {
    "tuple": (lambda p: p[0] * p[1], ((0.5, 0.6),), ((0.6, 0.5),)),
    "tuple_negative": (lambda p: p[-1] * p[-2], ((0.5, 0.6, 0.7),), ((None, 0.7, 0.6),)),
    "list": (lambda p: p[0] * p[-1], ([0.5, 0.6, 0.7],), ([0.7, None, 0.5],)),
    "dict": (lambda p: p["a"] * p["b"], ({"a": 0.5, "b": 0.6},), ({"a": 0.6, "b": 0.5},)),
    "dict_keys": (lambda p: p[1] * p[(2, 3)], ({1: 0.5, (2, 3): 0.6},), ({1: 0.6, (2, 3): 0.5},)),
    "dict_get": (lambda p: p.get("a") * p.get("c", 2.0), ({"a": 0.5, "b": 0.6},), None),
    "nested": (
        lambda p: p["w"][0][1] * p["b"] * p["w"][1],
        ({"w": [(0.5, 0.6), 0.7], "b": 0.8},),
        ({"w": [(None, 0.56), 0.48], "b": 0.42},),
    ),
    "arrays_in_list": (lambda p: np.sum(p[0] * p[1]), ([np.ones(3), np.arange(3.0)],), None),
    "arrays_in_dict": (
        lambda p: np.sum(p["W"] @ p["x"]),
        ({"W": np.eye(3), "x": np.arange(3.0)},),
        None,
    ),
    "build_tuple": (lambda x, y: (x, y, x)[2] * (y, x)[0], (0.5, 0.6), (0.6, 0.5)),
    "build_list": (lambda x, y: [x, y][1] * [x * y][0], (0.5, 0.6), (0.36, 0.6)),
    "build_dict": (lambda x, y: {"a": x, "b": y, "a": x * y}["a"], (0.5, 0.6), (0.6, 0.5)),
    "dict_call": (lambda x, y: dict(a=x, b=y)["a"] * y, (0.5, 0.6), (0.6, 0.5)),
    "list_call": (lambda p: list(p)[0] * list(p)[1], ((0.5, 0.6),), ((0.6, 0.5),)),
    "tuple_call": (lambda p: tuple(p)[0] * p[1], ([0.5, 0.6],), ([0.6, 0.5],)),
    "list_of_array": (lambda x: list(x)[0] * x[1], (np.array([0.5, 0.6]),), (np.array([0.6, 0.5]),)),
    "slice_tuple": (lambda p: p[1:][0] * p[::-1][0], ((0.5, 0.6, 0.7),), ((None, 0.7, 0.6),)),
    "slice_list": (lambda p: p[:-1][1] * p[::2][1], ([0.5, 0.6, 0.7],), ([None, 0.7, 0.6],)),
    "slice_array": (lambda x: np.sum(x[1:] * x[:-1]), (np.arange(4.0),), None),
    "slice_steps": (lambda x: np.sum(x[::-2, 1] * x[0, ::-1][:2]), (np.arange(12.0).reshape(4, 3),), None),
    "fancy": (lambda x: np.sum(x[[0, 0, 2]] ** 2), (np.arange(1.0, 4.0),), (np.array([4.0, 0, 6.0]),)),
    "mask": (lambda x: np.sum(x[x > 1.5] ** 2), (np.arange(1.0, 4.0),), (np.array([0, 4.0, 6.0]),)),
    "index_is_used": (lambda x: x[len(x) - 1] * x[index()], ([0.5, 0.6, 0.7],), None),
    "concatenated": (lambda p, q: (p + q)[2] * (q + p)[0], ([0.5, 0.6], [0.7]), None),
    "concatenated_tuples": (lambda p, q: (p + q)[2] * (q + p)[1], ((0.5, 0.6), (0.7,)), None),
    "repeated": (lambda p: (p * 2)[2] * ([p[1]] * 3)[2], ([0.5, 0.6],), ([0.6, 0.5],)),
    "merged": (lambda p, q: (p | q)["a"] * {**p, **q}["b"], ({"a": 0.5, "b": 0.3}, {"b": 0.6}), None),
    "named_tuple": (lambda p: p.x * p.y + p[0], (Point(0.5, 0.6),), (Point(1.6, 0.5),)),
    "make_named_tuple": (lambda x, y: Point(x, y=y).y * x, (0.5, 0.6), (0.6, 0.5)),
    "replace_named_tuple": (lambda p, x: p._replace(x=x).x * p.y, (Point(0.5, 0.6), 0.7), None),
    "ordered_dict": (lambda x, y: OrderedDict(a=x, b=y)["b"] * x, (0.5, 0.6), (0.6, 0.5)),
    "dict_values": (lambda p: sum(p.values()), ({"a": 0.5, "b": 0.6},), ({"a": 1.0, "b": 1.0},)),
    "dict_items": (
        lambda p: sum(map(lambda kv: len(kv[0]) * kv[1], p.items())),
        ({"a": 0.5, "bb": 0.6},),
        ({"a": 1.0, "bb": 2.0},),
    ),
    "zip": (lambda p, q: sum(map(lambda ab: ab[0] * ab[1], zip(p, q))), ([0.5, 0.6], [0.7, 0.8]), None),
    "enumerate": (lambda p: sum(map(lambda ix: ix[0] * ix[1], enumerate(p))), ([0.5, 0.6, 0.7],), None),
    "reversed": (lambda p: list(reversed(p))[0] * p[0], ([0.5, 0.6],), ([0.6, 0.5],)),
    "unpack_call": (lambda p: collects(*p, *p), ([0.5, 0.6],), None),
    "map_two": (lambda p, q: sum(map(operator.mul, p, q)), ([0.5, 0.6], (0.7, 0.8)), None),
    "map_uneven": (lambda p, q: sum(map(operator.mul, p, q)), ([0.5, 0.6, 0.9], [0.7, 0.8]), None),
    "map_array": (lambda x: sum(map(lambda v: v * v, x)), (np.array([0.5, 0.6]),), None),
    "map_closure": (lambda x, p: sum(map(lambda v: v * x, p)), (0.3, [0.5, 0.6]), (1.1, [0.3, 0.3])),
    "shared_entry": (lambda x: [x, x][0] * (x, x)[1], (0.7,), (1.4,)),
    "aliased_list": (lambda x: (lambda a, b: a[0] * b[0])(*([[x]] * 2)), (0.7,), (1.4,)),
    "same_list_twice_inside": (lambda p: (lambda a, b: a[0] * b[1])(p, p), ([0.5, 0.6],), ([0.6, 0.5],)),
    "list_in_list": (lambda x: [[x], [x * 2.0]][1][0] * x, (0.7,), (2.8,)),
    "build_from_list": (lambda p: [p, p][0][0] * [p, p][1][1], ([0.5, 0.6],), ([0.6, 0.5],)),
    "array_of_list": (lambda p: np.sum(np.array(p) ** 2), ([0.5, 0.6],), ([1.0, 1.2],)),
    "array_of_active": (lambda x, y: np.prod(np.array([x, y, x])), (0.5, 0.6), (0.6, 0.25)),
    "stack": (lambda p: np.sum(np.stack(p) ** 2), ([np.ones(2), np.arange(2.0)],), None),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTAINERS)
def test_container(name, check):
    f, xs, expected = CONTAINERS[name]
    check(f, *copy.deepcopy(xs), expected=expected)


# -- objects -----------------------------------------------------------------------------------


class Line:
    slope_unit = 2.0

    def __init__(self, slope, offset=1.0):
        self.slope = slope
        self.offset = offset

    def __call__(self, x):
        return self.slope * x + self.offset

    def at(self, x, *, factor=1.0):
        return self(x) * factor * self.slope_unit

    @property
    def root(self):
        return -self.offset / self.slope

    @functools.cached_property
    def doubled(self):
        return self.slope * 2.0

    @classmethod
    def through(cls, x):
        return cls(x * 2.0, x)

    @staticmethod
    def square(x):
        return x * x

    def __add__(self, other):
        return Line(self.slope + other.slope, self.offset + other.offset)

    def __mul__(self, x):
        return Line(self.slope * x, self.offset * x)

    def __rmul__(self, x):
        return self * x

    def __neg__(self):
        return Line(-self.slope, -self.offset)

    def __getitem__(self, index):
        return (self.slope, self.offset)[index]

    def __len__(self):
        return 2

    def with_private(self, x):
        self.__private = x
        return self.__private * self.slope


class Parabola(Line):
    def __init__(self, curvature, slope, offset):
        super().__init__(slope, offset)
        self.curvature = curvature

    def __call__(self, x):
        return self.curvature * x**2 + super().__call__(x)


class Left(Line):
    def __call__(self, x):
        return 2.0 * super().__call__(x)


class Right(Line):
    def __call__(self, x):
        return super(Right, self).__call__(x) + x


class Both(Left, Right):
    pass


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Fallback:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.x * len(name)


@dataclass
class Data:
    w: float
    b: float = 0.5
    tags: list = field(default_factory=list)

    def norm(self):
        return self.w**2 + self.b**2


@dataclass(frozen=True)
class Frozen:
    w: float
    b: float = 0.5


@dataclass(slots=True)
class DataSlots:
    w: float
    b: float = 0.5


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    w: float
    b: float = 0.5


@dataclass
class Post:
    w: float
    square: float = field(init=False)

    def __post_init__(self):
        self.square = self.w * self.w


@dataclass
class Derived(Data):
    c: float = 2.0


@dataclass(kw_only=True)
class Keywords:
    w: float
    b: float


class Chain:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        first, second = self.layers
        return second(first(x))


def with_function_field(x):
    holder = Data(x)
    holder.f = lambda y: y * x
    return holder.f(2.0) * holder.w


def writes_attribute(x):
    line = Line(x, x)
    line.slope = line.slope * 3.0
    line.offset += x
    return line(x)


def new_attribute(x):
    line = Line(x)
    line.extra = x * x
    return line.extra * line.slope


OBJECTS = {
    "attribute": (lambda m: m.slope * m.offset, (Line(0.5, 0.6),)),
    "attribute_twice": (lambda m: m.slope * m.slope, (Line(0.5, 0.6),)),
    "call": (lambda m, x: m(x), (Line(0.5, 0.6), 0.7)),
    "method": (lambda m, x: m.at(x), (Line(0.5, 0.6), 0.7)),
    "method_keyword": (lambda m, x: m.at(x=x, factor=x), (Line(0.5, 0.6), 0.7)),
    "method_kept": (lambda m, x: (lambda f: f(x) * f(2.0))(m.at), (Line(0.5, 0.6), 0.7)),
    "method_of_class": (lambda m, x: Line.at(m, x), (Line(0.5, 0.6), 0.7)),
    "property": (lambda m: m.root * m.slope, (Line(0.5, 0.6),)),
    "classmethod": (lambda x: Line.through(x)(x), (0.7,)),
    "classmethod_of_instance": (lambda m, x: m.through(x)(x), (Line(0.5), 0.7)),
    "staticmethod": (lambda m, x: m.square(x) * Line.square(m.slope), (Line(0.5), 0.7)),
    "operators": (lambda m, n, x: (m + n * x)(x) + (x * -m)(2.0), (Line(0.5), Line(0.6, 0.7), 0.7)),
    "getitem": (lambda m: m[0] * m[1], (Line(0.5, 0.6),)),
    "len": (lambda m: m.slope * len(m), (Line(0.5, 0.6),)),
    "private": (lambda x: Line(x, x).with_private(x), (0.7,)),
    "construct": (lambda x, y: Line(x, offset=y)(x), (0.5, 0.6)),
    "construct_default": (lambda x: Line(x)(x), (0.5,)),
    "inherited": (lambda m, x: m(x) * m.root, (Parabola(0.4, 0.5, 0.6), 0.7)),
    "construct_inherited": (lambda x, y: Parabola(x, y, x * y)(x), (0.5, 0.6)),
    "diamond": (lambda m, x: m(x), (Both(0.5, 0.6), 0.7)),
    "construct_diamond": (lambda x: Both(x, x * x)(x), (0.7,)),
    "slots": (lambda m: m.a * m.b, (Slotted(0.5, 0.6),)),
    "construct_slots": (lambda x, y: (lambda m: m.a * m.b + m.a)(Slotted(x, y)), (0.5, 0.6)),
    "fallback": (lambda m: m.missing * m.x, (Fallback(0.5),)),
    "dataclass": (lambda m: m.w * m.norm(), (Data(0.5, 0.6),)),
    "construct_dataclass": (lambda x, y: Data(x, b=y).norm() * x, (0.5, 0.6)),
    "construct_dataclass_defaults": (lambda x: Data(x).norm(), (0.5,)),
    "default_factory": (lambda x: Data(x).w * (len(Data(x).tags) + 1), (0.5,)),
    "frozen": (lambda m: m.w * m.b, (Frozen(0.5, 0.6),)),
    "construct_frozen": (lambda x, y: (lambda m: m.w * m.b * m.w)(Frozen(x, y)), (0.5, 0.6)),
    "dataclass_slots": (lambda m: m.w * m.b, (DataSlots(0.5, 0.6),)),
    "construct_dataclass_slots": (lambda x, y: (lambda m: m.w * m.b)(DataSlots(x, y)), (0.5, 0.6)),
    "construct_frozen_slots": (lambda x, y: (lambda m: m.w * m.b)(FrozenSlots(x, y)), (0.5, 0.6)),
    "post_init": (lambda x: Post(x).square * x, (0.7,)),
    "derived": (lambda x: (lambda m: m.norm() * m.c)(Derived(x, x, c=x)), (0.7,)),
    "keyword_only": (lambda x, y: (lambda m: m.w * m.b)(Keywords(b=x, w=y)), (0.5, 0.6)),
    "replace": (lambda m, x: replace(m, w=x).norm() * m.w, (Data(0.5, 0.6), 0.7)),
    "nested": (lambda m, x: m(x), (Chain(Line(0.5, 0.6), Parabola(0.1, 0.2, 0.3)), 0.7)),
    "construct_nested": (lambda x: Chain(Line(x), Line(x, x))(x), (0.7,)),
    "in_containers": (lambda p: p["m"][0].slope * p["m"][1](2.0), ({"m": [Line(0.5), Line(0.6)]},)),
    "arrays": (lambda m, x: np.sum(m(x)), (Line(np.arange(3.0), np.ones(3)), np.ones(3) * 0.7)),
    "broadcast": (lambda m, x: np.sum(m(x)), (Line(0.5, np.ones(3)), np.arange(6.0).reshape(2, 3))),
    "function_field": (with_function_field, (0.7,)),
    "writes": (writes_attribute, (0.7,)),
    "new_attribute": (new_attribute, (0.7,)),
    "getattr": (lambda m: getattr(m, "slope") * getattr(m, "nothing", 2.0), (Line(0.5),)),
    "cached_property": (lambda x: (lambda m: m.doubled * m.doubled)(Line(x)), (0.7,)),
    "bound_partial": (lambda m, x: functools.partial(m.at, factor=x)(x), (Line(0.5, 0.6), 0.7)),
    "map_of_model": (lambda m, xs: sum(map(m, xs)), (Line(0.5, 0.6), [0.7, 0.8])),
    "map_of_method": (lambda m, xs: sum(map(m.at, xs)), (Line(0.5, 0.6), [0.7, 0.8])),
    "attrgetter": (lambda m: operator.attrgetter("slope")(m) * m.offset, (Line(0.5, 0.6),)),
    "itemgetter": (lambda p: operator.itemgetter(1)(p) * p[0], ([0.5, 0.6],)),
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_object(name, check):
    f, xs = OBJECTS[name]
    check(f, *copy.deepcopy(xs))


# -- ∂self -------------------------------------------------------------------------------------


def test_the_closure_has_the_gradients_of_captured_variables():
    n = 3.0
    weights = [0.5, 0.6]

    def f(x):
        return n * x + weights[1] * x

    y, back = pullback(f, 2.0)
    d_f, d_x = back(1.0)
    assert y == 7.2
    assert d_x == 3.6
    assert d_f.n == 2.0
    assert d_f.weights == [None, 2.0]


def test_a_callable_object_has_a_tangent():
    y, back = pullback(Line(0.5, 0.6), 2.0)
    d_model, d_x = back(1.0)
    assert y == 1.6
    assert isinstance(d_model, Tangent)
    assert dict(d_model.items()) == {"slope": 2.0, "offset": 1.0}
    assert d_x == 0.5


def test_a_bound_method_has_the_tangent_of_its_object():
    line = Line(0.5, 0.6)
    d_method, d_x = pullback(line.at, 2.0)[1](1.0)
    assert dict(d_method["__self__"].items()) == {"slope": 4.0, "offset": 2.0}
    assert d_x == 1.0


def test_a_partial_has_the_gradients_of_what_it_holds():
    held = functools.partial(mixed, 0.5, d=3.0)
    d_partial, d_b, d_c = pullback(held, 0.6, 0.7)[1](1.0)
    assert d_partial.args == (pytest.approx(0.6 - 3.0),)
    assert d_partial.keywords == {"d": pytest.approx(0.49)}
    assert (d_b, d_c) == (0.5, pytest.approx(4.2))


def test_a_class_returns_an_object_whose_cotangent_goes_to_the_arguments():
    y, back = pullback(Line, 0.5, 0.6)
    assert isinstance(y, Line)
    assert back(Tangent(Line, slope=2.0, offset=3.0)) == (None, 2.0, 3.0)
    assert back(Tangent(Line, offset=3.0)) == (None, None, 3.0)


def test_keyword_arguments_of_the_call_have_cotangents_too():
    _y, back = pullback(mixed, 0.5, 0.6, c=0.7, e=0.9)
    d_f, d_a, d_b, d_c, d_e = back(1.0)
    assert d_f is None
    assert (d_a, d_b) == (pytest.approx(0.6 - 0.9), 0.5)
    assert (d_c, d_e) == (pytest.approx(2.8), -0.5)


# -- map ---------------------------------------------------------------------------------------


def test_map_goes_in_order_forward_and_in_reverse_order_back():
    calls = []

    def f(x):
        calls.append(x)
        return x * x

    y, back = pullback(lambda xs: list(map(f, xs)), [1.0, 2.0, 3.0])
    assert y == [1.0, 4.0, 9.0]
    assert calls == [1.0, 2.0, 3.0]
    assert back([1.0, 1.0, 1.0])[1] == [2.0, 4.0, 6.0]
    assert calls == [1.0, 2.0, 3.0]


def test_map_pulls_back_in_reverse_order():
    from rulescore import RuleSet

    order = []

    def noted(x):
        return x

    rule = RuleSet("test_map")

    @rule(noted)
    def _(x: float):
        def pullback(dy):
            order.append(x)
            return (dy,)

        return x, pullback

    rule.register()
    try:
        _, back = pullback(map, noted, [1.0, 2.0, 3.0])
        assert back([1.0, 1.0, 1.0]) == (None, None, [1.0, 1.0, 1.0])
    finally:
        rule.unregister()
    assert order == [3.0, 2.0, 1.0]


@pytest.mark.parametrize("xs", [[], ()])
def test_map_over_nothing(xs):
    y, back = pullback(lambda f, v: list(map(f, v)), cube, xs)
    assert y == []
    assert back([]) == (None, None, None)


def test_gradient_of_a_sum_over_nothing():
    assert gradient(lambda xs: sum(map(cube, xs)) + 1.0, []) in ((None,), ([],))


# -- cotangents --------------------------------------------------------------------------------


def test_back_may_be_called_again_and_again():
    xs = [1.0, 2.0]
    _y, back = pullback(lambda p: [p[0] * p[1], p], xs)
    assert back([1.0, None])[1] == [2.0, 1.0]
    assert back([2.0, [1.0, 1.0]])[1] == [5.0, 3.0]
    assert back([1.0, None])[1] == [2.0, 1.0]
    assert xs == [1.0, 2.0]


def test_no_cotangent_in_none_out():
    _y, back = pullback(lambda x, m: (m(x), x), 2.0, Line(1.0))
    assert back(None) == (None, None, None)
    assert back((None, None)) == (None, None, None)


def test_structured_values_take_structured_cotangents():
    _y, back = pullback(lambda x: {"a": (x * x, [x]), "b": Line(x, 2.0 * x)}, 3.0)
    assert back({"a": (1.0, None), "b": None})[1] == 6.0
    assert back({"a": (None, [1.0])})[1] == 1.0
    assert back({"a": None, "b": Tangent(Line, slope=1.0, offset=1.0)})[1] == 3.0


@pytest.mark.parametrize("x", [True, "text", b"bytes", None, np.True_])
def test_arguments_without_gradient(x):
    assert gradient(lambda a, b: a * 2.0, 1.0, x) == (2.0, None)


def test_a_bool_that_is_used_has_no_gradient():
    assert gradient(lambda a, b: a * b, 2.0, True) == (1.0, None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_the_precision_is_kept(dtype):
    x = np.array([0.5, 0.25], dtype)
    _y, back = pullback(lambda v: np.sum(np.exp(v) * v), x)
    d = back(dtype(1))[1]
    assert d.dtype == dtype
    np.testing.assert_allclose(d, np.exp(x) * (1 + x), rtol=1e-2 if dtype is np.float16 else 1e-6)
    s = gradient(lambda v: v * v, dtype(0.5))[0]
    assert type(s) is dtype
    assert s == 1.0


def test_an_array_of_ints_counts_as_real():
    (d,) = gradient(lambda v: np.sum(v * v), np.array([1, 2]))
    assert d.dtype == np.float64
    np.testing.assert_array_equal(d, [2.0, 4.0])


def test_a_holomorphic_function_conjugates_its_derivative():
    z = 0.3 + 0.4j
    _y, back = pullback(lambda v: v * v * v, z)
    assert back(1.0 + 0.0j)[1] == pytest.approx(np.conj(3 * z * z))


def test_a_real_function_of_a_complex_number_has_the_descent_direction():
    z = np.array([0.3 + 0.4j, -1.0 + 2.0j])
    (d,) = gradient(lambda v: np.sum(np.abs(v) ** 2), z)
    np.testing.assert_allclose(d, 2 * z)


def test_a_0_d_array_keeps_its_kind():
    (d,) = gradient(lambda x: np.sum(x * x), np.array(3.0))
    assert isinstance(d, np.ndarray)
    assert d.shape == ()
    assert d == 6.0


def test_a_cotangent_shares_no_memory_that_the_user_may_write_to():
    x = np.ones(3)
    _y, back = pullback(lambda v: v, x)
    dy = np.ones(3)
    d = back(dy)[1]
    again = back(dy)[1]
    np.testing.assert_array_equal(d, again)
    np.testing.assert_array_equal(dy, np.ones(3))


def test_two_uses_do_not_add_in_place():
    def f(v):
        a = v + 0.0
        return a, a

    x = np.ones(3)
    _y, back = pullback(f, x)
    dy = (np.ones(3), np.ones(3))
    np.testing.assert_array_equal(back(dy)[1], 2 * np.ones(3))
    np.testing.assert_array_equal(back(dy)[1], 2 * np.ones(3))
    np.testing.assert_array_equal(dy[0], np.ones(3))


# -- aliasing ----------------------------------------------------------------------------------


def test_a_list_reachable_twice_in_one_argument():
    inner = [2.0, 3.0]
    xs = [inner, inner]
    (d,) = gradient(lambda p: p[0][0] * p[1][1], xs)
    # the one list has one gradient, [3, 2]; it may be shown at one place or at both
    assert d[0] == [3.0, 2.0]
    assert d[1] in (None, [3.0, 2.0])


def test_one_list_passed_twice_is_refused():
    xs = [2.0, 3.0]
    f = lambda p, q: p[0] * q[1]
    with pytest.raises(DifferentiationError, match=r"share one list.*copy"):
        gradient(f, xs, xs)
    assert gradient(f, xs, [*xs]) == ([3.0, None], [None, 2.0])
    assert gradient(lambda p, q, x: x * x, xs, xs, 3.0) == (None, None, 6.0)


def test_one_array_passed_twice_has_two_gradients():
    x = np.array([2.0, 3.0])
    d_a, d_b = gradient(lambda a, b: np.sum(a * a * b), x, x)
    np.testing.assert_allclose(d_a, 2 * x * x)
    np.testing.assert_allclose(d_b, x * x)


def test_one_array_passed_twice_and_written_is_refused():
    def f(a, b):
        a[0] = a[0] * 2.0
        return np.sum(a) * np.sum(b)

    x = np.ones(3)
    for y in (x, x[:], x[1:]):
        with pytest.raises(DifferentiationError, match=r"one array, or views of one.*copy"):
            gradient(f, x, y)


def test_one_array_in_two_places_has_a_gradient_at_each():
    w = np.array([2.0, 3.0])
    (d,) = gradient(lambda p: np.sum(p["a"] * p["b"] ** 2), {"a": w, "b": w})
    np.testing.assert_allclose(d["a"], w**2)
    np.testing.assert_allclose(d["b"], 2 * w * w)


def test_an_argument_that_is_captured_as_well():
    xs = [2.0, 3.0]

    def f(p):
        return p[0] * xs[1]

    (d,) = gradient(f, xs)
    assert d == [3.0, 2.0]  # the list is one: both uses see what is done to it


def test_an_object_that_holds_itself():
    line = Line(2.0, 3.0)
    line.me = line
    (d,) = gradient(lambda m: m.me.me.slope * m.offset, line)
    assert (d.slope, d.offset) == (3.0, 2.0)


def test_two_names_of_one_list_inside():
    def f(x):
        a = [x, 1.0]
        b = a
        return b[0] * a[0]

    assert gradient(f, 3.0) == (6.0,)


def test_an_argument_returned_inside_containers():
    xs = [2.0, 3.0]
    y, back = pullback(lambda p: (p, [p, p[0]]), xs)
    assert y[0] is xs
    assert y[1][0] is xs
    assert back(([1.0, 2.0], [[10.0, None], 100.0]))[1] == [111.0, 2.0]


# -- activity ----------------------------------------------------------------------------------


def test_what_is_not_differentiated_is_simply_run():
    import json
    import re
    import time

    def f(x, text):
        scale = json.loads(text)["scale"]
        now = time.time()
        words = re.findall(r"\w+", text)
        name = "-".join(words).upper().split("-")
        return x * scale * len(name) + 0.0 * (now > 0)

    assert gradient(f, 2.0, '{"scale": 3}') == (6.0, None)


def test_shapes_lengths_and_types_carry_no_gradient():
    def f(x):
        n, m = x.shape
        return np.sum(x) * n * m * x.ndim * len(x) * x.size * isinstance(x, np.ndarray)

    (d,) = gradient(f, np.ones((2, 3)))
    np.testing.assert_array_equal(d, np.full((2, 3), 2 * 3 * 2 * 2 * 6))


def test_side_effects_happen_once_and_in_order(capsys):
    def f(x):
        print("first", x)
        y = x * 2.0
        print("second", y)
        return y * x

    _, back = pullback(f, 3.0)
    back(1.0)
    back(1.0)
    assert capsys.readouterr().out == "first 3.0\nsecond 6.0\n"


# -- the kind of the primal, also where a cotangent only passes through --------------------------


def test_the_identity_gives_the_cotangent_the_kind_of_its_primal():
    identity = lambda x: x
    d = pullback(identity, np.ones(3, np.float32))[1](np.ones(3))[1]
    assert d.dtype == np.float32
    assert type(pullback(identity, np.float32(1))[1](1.0)[1]) is np.float32
    d = pullback(identity, 3.0)[1](np.float64(1.0))[1]
    assert type(d) is float
    assert pullback(identity, 3.0)[1](1.0 + 2.0j)[1] == 1.0
    assert pullback(identity, True)[1](1.0)[1] is None
    assert pullback(identity, "text")[1](1.0)[1] is None


def test_the_sum_of_0_d_cotangents_stays_an_array():
    (d,) = gradient(lambda x: x + x, np.array(3.0))
    assert isinstance(d, np.ndarray)


def test_an_entry_of_an_array_of_ints_has_a_gradient_of_full_precision():
    (d,) = gradient(lambda x: x[0] * 1.5, np.array([1, 2]))
    assert d.dtype == np.float64
    (d,) = gradient(lambda x: x[0], np.array([1, 2]))
    assert d.dtype == np.float64


@pytest.mark.parametrize(
    ("x", "dy"),
    [
        (np.ones(3), np.ones(2)),
        (np.ones(3), np.ones((3, 3))),
        ({"a": 1.0}, {"b": 2.0}),
        ((1.0, 2.0), (1.0,)),
        ([1.0, 2.0], [1.0]),
        ((1.0, 2.0), 1.0),
        (Line(1.0), Tangent(Line, nothing=1.0)),
        (Line(1.0), 2.0),
    ],
    ids=["shorter", "wider", "key", "tuple", "list", "number", "field", "object"],
)
def test_a_cotangent_that_does_not_fit_is_refused(x, dy):
    with pytest.raises((TypeError, ValueError), match="cotangent"):
        pullback(lambda v: v, x)[1](dy)


def test_functions_among_the_arguments_show_what_they_captured():
    def make(a):
        return lambda y: a[0] * y

    d_f, d_x = gradient(lambda f, x: f(x), make([3.0]), 2.0)
    assert d_f.a == [2.0]
    assert d_x == 3.0
    d_f, d_x = gradient(lambda f, x: f(x), Line(3.0).__call__, 2.0)
    assert d_f["__self__"].slope == 2.0


def test_an_alias_shows_its_gradient_at_one_place_in_tuples_too():
    inner = [3.0]
    for shared in ((inner, inner), [inner, inner]):
        (d,) = gradient(lambda p: p[0][0] * p[1][0], shared)
        assert d[0] == [6.0]
        assert d[1] is None
