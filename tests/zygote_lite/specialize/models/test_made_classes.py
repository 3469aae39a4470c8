"""Classes that a function defines inside: methods are functions, attributes are variables."""

import abc
import functools
import math
import types
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import assert_agreement, generic, is_alike, outcome
from tests.zygote_lite.checks.programs import (
    assert_transformed,
    declaring,
    for_each,
    not_counts,
)
from zygote_lite import testing, value_and_grad

PROGRAMS = []
declare = declaring(PROGRAMS)


class Scaled:
    """A class from outside, which others inherit from."""

    factor = 0.5

    def __init__(self, x):
        self.x = x

    def value(self):
        return self.x * self.factor


@declare((0.6, 0.7), (0.2, -0.4))
def vectors(x, y):
    class Vec:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def __add__(self, other):
            return Vec(self.a + other.a, self.b + other.b)

        def __mul__(self, k):
            return Vec(self.a * k, self.b * k)

        __rmul__ = __mul__

        @property
        def norm(self):
            return math.sqrt(self.a * self.a + self.b * self.b)

    v = Vec(x, y)
    for _ in range(5):
        v = v + 0.1 * Vec(v.b, -v.a)
    return v.norm * (v + Vec(1.0, x)).a


@declare((0.6, 4), (0.6, 0), (0.3, 7))
def filtered(x, n):
    class Filter:
        def __init__(self, q):
            self.m, self.p, self.q = 0.0, 1.0, q

        def step(self, z):
            p = self.p + self.q
            k = p / (p + 0.5)
            self.m = self.m + k * (z - self.m)
            self.p = (1 - k) * p
            return self.m

    f, out = Filter(x), 0.0
    for i in range(n):
        out += f.step(math.sin(i * x)) ** 2
    return out


@declare((np.eye(2) + 0.1, np.full((3, 2), 0.2)), (np.eye(2), np.ones((1, 2))))
def layers(w, x):
    class Layer:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            return np.tanh(x @ self.w)

    class Net:
        def __init__(self, *layers):
            self.layers = [*layers]

        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    return np.sum(Net(Layer(w), Layer(w * 0.5), Layer(w.T))(x) ** 2)


@declare((0.7,), (0.9,), (2.0,))
def counted(x):
    class Counter:
        n, total = 0, 0.0

        @classmethod
        def bump(cls, v):
            cls.n += 1
            Counter.total = cls.total + v * cls.n

    for i in range(4):
        if x > 0.2 * i:
            Counter.bump(x * i)
    return Counter.total * Counter.n


@declare((0.6,), (0.9,))
def abstract(x):
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

        def double(self):
            return 2.0 * self.area()

    class Square(Shape):
        def __init__(self, side):
            self.side = side

        def area(self):
            return self.side**2

    class Circle(Square):
        def area(self):
            return math.pi * super().area()

    shapes = [Square(x), Circle(x * 2.0)]
    return sum([s.double() for s in shapes]) + x * isinstance(shapes[0], Circle)


@declare((0.6,), (0.9,))
def of_a_class_from_outside(x):
    class Inner(Scaled):
        def value(self):
            return super().value() * x

    return Inner(x).value() + Inner(2.0).factor


@declare((0.6,), (0.9,))
def variables_of_the_function(x):
    y = x
    w = 3.0 * x

    class Inner:
        w = x * x

        def product(self, k=w):
            return y * w * self.w * k  # the function's `w`, the class's, and its default

    first = Inner().product()
    y = y * 3.0
    return first + Inner().product()


@declare((0.6, 3), (0.9, 0))
def lists_of_a_class(x, n):
    class Inner:
        kept = []
        made = [x * i for i in range(3)]

        def keep(self, v):
            self.kept.append(v)

    a, b = Inner(), Inner()
    a.keep(x * x)
    b.keep(2.0 * x)
    for i in range(n):
        b.keep(x * i)
    return sum(a.kept) * a.made[2]


@declare((0.6,), (0.9,), (1.1,))
def dataclasses_inside(x):
    @dataclass
    class Plain:
        """A class whose first statement is no field."""

        a: float
        b: float = x * 2.0
        c: float = field(default=x * 3.0)
        d: list = field(default_factory=lambda: [x])

        def __post_init__(self):
            self.e = self.a * self.b

    @dataclass(frozen=True, order=True)
    class Ordered:
        key: float
        held: float = field(compare=False, default=x)

    @dataclass(slots=True)
    class Slotted:
        e: float
        f: float = 3.0

    first, second = replace(Ordered(x), held=2.0 * x), Ordered(0.8)
    best = max(first, second)
    equal = (first == Ordered(x)) + (first != second)
    p, s = Plain(x, b=2.0), Slotted(x)
    y = p.e * p.c * p.d[0] + Plain.c + s.f * s.e
    return y + best.held * best.key * (2.0 if first < second else 3.0) * equal


@declare((0.6,), (0.9,))
def dataclasses_that_go_on(x):
    class Base:
        def __post_init__(self):
            self.a = self.a * x

    @dataclass
    class Above(Base):
        a: float

    class Inherits(Above):
        def __post_init__(self):
            super().__post_init__()
            self.a = self.a * 3.0

    @dataclass
    class Plain:
        a: float

    class Below(Plain):
        def __post_init__(self):  # which nobody calls
            self.a = self.a * 5.0

    return Above(x).a + Inherits(x).a * Below(x).a


@dataclass
class Halving:
    """A dataclass that says how its attributes are set, and has a property for a field."""

    a: float
    b: float = 2.0

    def __setattr__(self, name, value):
        super().__setattr__(name, value * 0.5)

    @property
    def size(self):
        return self.a

    @size.setter
    def size(self, value):
        self.a = value


@declare((0.6,), (0.9,))
def dataclasses_with_hooks(x):
    @dataclass
    class Inner:
        v: float
        w: float = x

        def __setattr__(self, name, value):
            object.__setattr__(self, name, value * x)

    h = Halving(x)
    h.size = h.a * h.b + x
    return h.a * h.b * Inner(x).v * Inner(2.0).w


@declare((0.6,), (0.9,))
def compared_with_others(x):
    class Small:
        def __init__(self, v):
            self.v = v

        def __lt__(self, other):
            return self.v < (other.v if isinstance(other, Small) else other)

        def __gt__(self, other):
            return NotImplemented

    class Large(Small):
        def __gt__(self, other):
            return 2.0 * self.v > other.v

    a, b = Small(x), Large(x)
    return (x if a < b else 3.0 * x) * (2.0 if 0.5 > b else x) * (x if b < 1.0 else 5.0)


@declare((0.6,), (0.9,))
def made_by_functions(x):
    def make(k):
        class Line:
            slope = k

            def at(self, v):
                return v * self.slope * x

        return Line

    a, b = make(x), make(3.0)
    return a().at(2.0) * b().at(x) + isinstance(a(), a) * x + (a is b) + (type(b()) is b)


@declare((0.6,), (0.9,))
def hooks(x):
    class Lazy:
        def __init__(self, v):
            self.v = v

        def __getattr__(self, name):
            return self.v * len(name)

        def __setattr__(self, name, value):
            object.__setattr__(self, name, value * 2.0)

        def __delattr__(self, name):
            super().__setattr__("gone", x)
            super().__delattr__(name)

    a = Lazy(x)
    y = a.missing
    a.w = x
    y = y * a.w
    del a.w
    return y * a.w * a.gone


@declare((0.6,), (0.9,))
def descriptors(x):
    class Positive:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, obj, kind=None):
            return getattr(obj, self.name) * x

        def __set__(self, obj, value):
            setattr(obj, self.name, abs(value))

    class Held:
        a = Positive()
        b = Positive()

        def __init__(self, a, b):
            self.a, self.b = a, b

        @functools.cached_property
        def both(self):
            return self.a * self.b

    h = Held(-x, x * x)
    h.a = h.a * 3.0
    return h.both + h.both * h.b


@declare((0.6,), (0.9,))
def made_by_new(x):
    class Unit:
        def __new__(cls, v):
            made = super().__new__(cls)
            made.k = v * v
            return made

        def __init__(self, v):
            self.v = v

    class Number:
        def __new__(cls, v):
            return v * 3.0

    return Unit(x).k * Unit(2.0 * x).v * Number(x)


@declare((0.6,), (0.9,))
def decorated(x):
    def doubled(f):
        @functools.wraps(f)
        def g(self, *xs):
            return 2.0 * f(self, *xs)

        return g

    def with_extra(cls):
        cls.extra = x
        return cls

    @with_extra
    class Inner:
        @doubled
        def f(self, v):
            return v * self.extra

    return Inner().f(x)


@declare((0.6,), (1.6,))
def matched(x):
    class Pair:
        __match_args__ = ("a", "b")

        def __init__(self, a, b):
            self.a, self.b = a, b

    class Other:
        pass

    match Pair(x * x, x):
        case Other():
            return x
        case Pair(a, b=b):
            return a * b


@declare((0.6,), (1.6,))
def calls_itself(x):
    class Power:
        def at(self, n):
            return x if n == 1 else x * self.at(n - 1)

    return Power().at(3)


@declare((0.6,), (1.6,))
def in_a_context(x):
    class Scale:
        def __enter__(self):
            return x * 2.0

        def __exit__(self, *error):
            return False

    with Scale() as s:
        y = s * x
    return y * s


@for_each(PROGRAMS)
def test_classes_are_transformed(f, choices):
    assert_transformed(f, choices, not_counts(choices[0]), by_differences=1e-5)


# -- what stays recorded ------------------------------------------------------------------------


def unset_attribute(x):
    class Inner:
        if x > 1.0:
            w = x

    return x * hasattr(Inner, "w")


def of_another_class_by_path(x):
    if x > 1.0:

        class Inner:
            w = x

    else:

        class Inner:
            w = x * x

    return Inner().w


def from_the_module(x):
    class Inner:
        Scaled = Scaled  # which the function has no variable for: that of the module

    return Inner.Scaled(x).value()


def returned(x):
    class Inner:
        def __init__(self):
            self.y = x * x

    return [Inner()][0].y, 2.0


def deleted_in_a_loop(x, n=3):
    class Inner:
        w = x

    a = Inner()
    a.w = 3.0
    for i in range(n):
        if i == 1:
            del a.w
    return a.w * x


def array_behind_a_method(x):
    z = np.array([1.0, 2.0]) * x
    y = z

    class Inner:
        def get(self):
            return y

    kept = Inner()

    def change(a):
        a += 1.0
        return a

    return np.sum(change(z) * kept.get()) * 1.0


@pytest.mark.parametrize("f", [of_another_class_by_path, array_behind_a_method])
def test_what_other_names_stand_for(f):
    assert testing.why_recorded(f, 1.5) is None
    for x in (1.5, 1.5, 1.5, 0.5):
        assert is_alike(outcome(lambda x=x: value_and_grad(f)(x)), generic(f, (x,), 0))


@pytest.mark.parametrize("f", [from_the_module, returned, unset_attribute, array_behind_a_method])
def test_tape_and_code_agree(f):
    assert_agreement(f, (1.5,), (0.5,))


def test_attributes_that_a_loop_deletes():
    assert_agreement(deleted_in_a_loop, (1.5, 3), (0.5, 1), (0.5, 0), argnums=(0,))


def test_changes_of_an_outside_base_are_seen():
    class Base:
        k = 2.0

        def value(self):
            return self.x * self.k

    def f(x):
        class Inner(Base):
            def __init__(self, x):
                self.x = x

        return Inner(x).value() * x

    def slope():
        return [value_and_grad(f)(0.5)[1] for _ in range(4)][-1]

    assert slope() == pytest.approx(2.0)
    Base.k = 3.0
    assert slope() == pytest.approx(3.0)
    Base.value = lambda self: self.x
    assert slope() == pytest.approx(1.0)
    Base.__setattr__ = lambda self, name, value: object.__setattr__(self, name, 2.0 * value)
    assert slope() == pytest.approx(2.0)
    Base.__new__ = lambda cls, x: types.SimpleNamespace(value=lambda: 5.0)
    assert slope() == pytest.approx(5.0)


def test_the_error_of_a_class_is_the_users():
    def f(x):
        class Inner:
            def __init__(self, v):
                self.v = v

        return Inner(x).w if x > 1.0 else Inner(x).v

    for x in (0.5, 0.5, 0.5, 1.5, 0.5):
        assert is_alike(outcome(lambda x=x: value_and_grad(f)(x)), generic(f, (x,), 0))
