"""Attributes: what a class of the user's makes of reading, writing and deleting them."""

import collections
import itertools
import math
import operator
import typing
from dataclasses import dataclass, field

from tests.zygote_lite.constructs.declare import declaring

CASES = []
works, refused = declaring(CASES)


class Logged:
    """A class that says in Python how its attributes are written and deleted."""

    def __init__(self, w):
        self.w = w

    def __setattr__(self, name, value):
        if name == "w":
            self.twice = value * 2.0
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self.last = getattr(self, name) * 3.0
        super().__delattr__(name)

    @property
    def w(self):
        return self._w

    @w.setter
    def w(self, value):
        self._w = value * value

    @w.deleter
    def w(self):
        self._w = 0.25


@works("deleters of properties and descriptors, `__delattr__`", (0.5,))
def deleted_attributes(x):
    a = Logged(x)
    first = a.w
    del a.w
    return first * a.last + a.w * x


class Power:
    """A descriptor that keeps the square of what it is given."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, x, owner=None):
        return getattr(x, self.name)

    def __set__(self, x, value):
        setattr(x, self.name, value**2)

    def __delete__(self, x):
        setattr(x, self.name, getattr(x, self.name) ** 3)


class Powers:
    a = Power()
    b = property(operator.attrgetter("_a"))

    @property
    def missing(self):
        return self.nowhere

    def __getattr__(self, name):
        return self._a * len(name)


@works("deleters of properties and descriptors, `__delattr__`", (0.5,))
def deleted_descriptors(x):
    p = Powers()
    p.a = x
    first = p.a
    del p.a
    return first * p.a + p.b * x


@works("`__setattr__` comes before properties", (0.5,))
def hook_before_property(x):
    a = Logged(x)
    a.w = a.w * x
    return a.w * a.twice


class Drawn:
    """Its property draws on what is there."""

    def __init__(self, rest):
        self.rest = rest

    @property
    def some(self):
        self.rest = self.rest * 2.0
        return 1.0


@works("`hasattr` of a property with effects", (0.5,))
def asked_for(x):
    a = Drawn(x)
    found = hasattr(a, "some") and not hasattr(a, "nothing")
    return a.rest * x if found else x


@works("`AttributeError` in a property: `__getattr__`, the default of `getattr`", (0.5,))
def missing_attributes(x):
    p = Powers()
    p.a = x

    class Bare:
        missing = Powers.missing

    return p.missing * p.a + getattr(Bare(), "missing", x) * (
        x if hasattr(Bare(), "missing") else 3.0
    )


class Pair(typing.NamedTuple):
    """A tuple that knows its entries by more names."""

    left: float
    right: float

    def __getattr__(self, name):
        return self["ab".index(name)]


@works("`__getattr__ = dict.__getitem__`", (0.5,))
def hook_of_a_tuple(x):
    p = Pair(x, x * x)
    return p.a * p.b + getattr(math, "nothing", x) * p.left


@works("`object.__getattribute__`, `object.__setattr__` meet properties", (0.5,))
def past_the_hooks(x):
    a = Logged(1.0)
    object.__setattr__(a, "w", x)
    return object.__getattribute__(a, "w") * a.twice


class Entries(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


@works("`__getattr__ = dict.__getitem__`", (0.5,))
def entries_as_attributes(x):
    e = Entries(a=x)
    e.b = e.a * x
    e.a = e.b * e.a
    return e["a"] * e.b


@dataclass
class Noting:
    """A dataclass whose attributes are written by a method of its own."""

    a: float
    b: float = 2.0

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "a":
            self.square = value * value


@dataclass
class Celsius:
    """A dataclass with a property for a field."""

    degrees: float

    @property
    def degrees(self):
        return self._degrees

    @degrees.setter
    def degrees(self, value):
        self._degrees = value * 1.8 + 32.0


@works("dataclasses with `__setattr__`, with properties as fields", (0.5,))
def dataclass_hooks(x):
    w, c = Noting(x), Celsius(x)
    first = w.square
    w.a = w.a * x
    c.degrees += x
    return first * w.square * w.b + c.degrees * x


@dataclass
class Wider(Noting):
    c: float = 3.0
    fixed: float = field(init=False, default=4.0)

    def __init__(self, a, c):
        super().__init__(a, b=c)
        self.c = a * c


@works("the generated `__init__` of a dataclass, called and inherited", (0.5, 0.6))
def dataclass_init_called(x, y):
    @dataclass(init=False)
    class Inheriting(Noting):
        c: float = 5.0

    w, i = Wider(x, y), Inheriting(x * y)
    return w.a * w.b * w.c * w.square * w.fixed + i.a * i.b * i.c


@works("`__self__` of a bound method", (1.3, 0.7))
def owner_of_a_method(x, y):
    groups = collections.defaultdict(lambda: [].append)
    for v in (x, y, x * y):
        groups[v > 1](v)
    return sum(sum(m.__self__) * (k + 1) for k, m in groups.items())


@works("`start`, `stop` and `step` of slices and ranges", (1.3, 0.7))
def ends_of_slices(x, y):
    s = 0.0
    for v, n in [(x, 2), (y, 1)]:
        part, some = slice(n), range(n)
        s = s + sum([x, y, v][part]) * part.stop + some.stop * v
        s = s + len(list(itertools.islice([x, y, x], n))) * v
    return s


class Scaled(tuple):
    """A tuple that holds more than its items."""

    def __new__(cls, x, scale):
        return tuple.__new__(cls, (x, 2.0))

    def __init__(self, x, scale):
        self.__dict__["scale"] = scale * self[0]

    @property
    def total(self):
        return sum(self) * self.scale


class Named(collections.namedtuple("Pair", "a b")):
    """A named tuple that takes attributes."""


class Weighted(list):
    """A list that takes attributes."""


class Options(dict):
    """A dict that takes attributes, and may have items of the same names."""


@works("attributes of a class that inherits from `tuple`, `list` or `dict`", (0.7,))
def attributes_of_containers(x):
    scaled, named, weighted, options = Scaled(1.5, x), Named(x, 2.0), Weighted([x, 1.0]), Options()
    named.w = x * scaled.total
    weighted.w = named.a * x
    weighted.append(weighted.pop(0) * named.w)
    options["w"], options.w = x, weighted.w * weighted[-1]
    vars(options).update(v=3.0 * x)
    scaled.scale *= options["w"]
    return [scaled][0].total * options.w + 5.0 * options["w"] * sum(vars(options).values())
