"""Methods, properties and defaults of classes that are replaced between gradients are followed.

Python tells nobody that a class has changed. What is remembered of it would answer for what it was.
"""

import dataclasses
import sys
from collections import namedtuple
from unittest import mock

import pytest

from zygote_lite import grad
from zygote_lite.errors import DifferentiationError
from zygote_lite.testing import recorded_only


class Box:
    """An object outside the run, which holds what is active."""

    value = 0.0


BOX = Box()
BOX.value = 0.0
METHODS = {
    "__eq__": ("thing == 1", True),
    "__ne__": ("thing != 1", True),
    "__lt__": ("thing < 1", True),
    "__bool__": ("3.0 if thing else 4.0", False),
    "__len__": ("bool(thing) + 1.0", 2),
    "__float__": ("float(thing)", 3.0),
    "__index__": ("[1.0, 2.0, 3.0][thing]", 2),
    "__contains__": ("(1 in thing) + 1.0", True),
    "__repr__": ("len(repr(thing))", "longer"),
    "__str__": ("len(str(thing))", "longer"),
    "__format__": ("len(f'{thing}')", "longer"),
    "__dir__": ("len(dir(thing))", ["a", "b"]),
    "__sizeof__": ("sys.getsizeof(thing)", 40),
    "in a list": ("(thing in [1, 2]) + 1.0", True),
    "in a set": ("len({thing})", 2),
    "sorted": ("len(sorted([thing, thing]))", True),
}
NAMES = {"in a list": "__eq__", "in a set": "__hash__", "sorted": "__lt__"}


class Desc:
    """A data descriptor."""

    def __get__(self, x, kind):
        return BOX.value * 3.0

    def __set__(self, x, value):
        BOX.value = BOX.value * value


def scale(x, name, value):
    BOX.value = BOX.value * 3.0
    object.__setattr__(x, name, value)


ATTRIBUTES = {
    "a property": ("thing.v * x", {"v": property(lambda thing: BOX.value * 3.0)}),
    "a descriptor": ("thing.v * x", {"v": Desc()}),
    "a default": ("thing.default * x", {"default": property(lambda thing: BOX.value * 3.0)}),
    "a method": ("thing.m() * x", {"m": lambda thing: BOX.value * 3.0}),
    "a static method": ("thing.m() * x", {"m": staticmethod(lambda: BOX.value * 3.0)}),
    "a class method": ("thing.m() * x", {"m": classmethod(lambda kind: BOX.value * 3.0)}),
    "a property that gives a method": (
        "thing.m() * x",
        {"m": property(lambda thing: lambda: BOX.value * 3.0)},
    ),
    "all attributes": (
        "thing.v * x",
        {"__getattribute__": lambda thing, name: BOX.value * 3.0},
    ),
    "a missing attribute": (
        "thing.gone * x",
        {"gone": None, "__getattr__": lambda thing, name: BOX.value * 3.0},
    ),
    "assignment": ("set_v(thing)", {"__setattr__": scale}),
    "a setter": ("set_v(thing)", {"v": Desc()}),
}


def class_of_things():
    class Thing:
        default = 2.0
        gone = 2.0

        def __init__(self):
            self.v = 2.0

        def m(self):
            return 2.0

        def __lt__(self, other):
            return False

        def __index__(self):
            return 1

        def __float__(self):
            return 1.0

        def __len__(self):
            return 1

        def __contains__(self, x):
            return False

    return Thing


def set_v(thing):
    thing.v = 5.0
    return 1.0


def patch(kind, members):
    for name, x in members.items():
        if x is None:
            delattr(kind, name)
        else:
            setattr(kind, name, x)


def right_or_refused(f):
    """Demand what differences give, or an error, of four calls and of the tape."""
    want = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    for call in range(5):
        try:
            if call == 4:
                with recorded_only():
                    found = grad(f)(0.7)
            else:
                found = grad(f)(0.7)
        except DifferentiationError:
            return
        assert found == pytest.approx(want, rel=1e-6), call


def function_of(thing, expression):
    space = {"BOX": BOX, "thing": thing, "set_v": set_v, "sys": sys}
    exec(f"def f(x):\n    BOX.value = x * 2\n    y = {expression}\n    return BOX.value * y", space)
    return space["f"]


@pytest.mark.parametrize("name", METHODS)
def test_a_special_method_that_is_replaced_is_followed(name):
    expression, result = METHODS[name]
    kind = class_of_things()
    f = function_of(kind(), expression)
    right_or_refused(f)

    def method(self, *xs):
        BOX.value = BOX.value * 3.0
        return result

    setattr(kind, NAMES.get(name, name), method)
    right_or_refused(f)


@pytest.mark.parametrize("base", [object, dict, list])
@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_that_is_replaced_is_followed(name, base):
    expression, members = ATTRIBUTES[name]
    ancestor = class_of_things()
    kind = ancestor if base is object else type("Kind", (ancestor, base), {})
    f = function_of(kind(), expression)
    right_or_refused(f)
    patch(ancestor, members)
    right_or_refused(f)


@pytest.mark.parametrize("kind", [dict, list])
def test_an_item_that_a_class_computes_later_is_followed(kind):
    of = type("Kind", (kind,), {})
    thing = of({0: 2.0}) if kind is dict else of([2.0])
    f = function_of(thing, "thing[0]")
    right_or_refused(f)
    of.__getitem__ = lambda thing, i: BOX.value * 3.0
    right_or_refused(f)


def test_a_metaclass_that_says_later_what_is_an_instance_is_followed():
    meta = type("Meta", (type,), {})
    f = function_of(meta("Kind", (), {}), "isinstance(1, thing) + 1.0")
    right_or_refused(f)

    def is_instance(kind, x):
        BOX.value = BOX.value * 3.0
        return True

    meta.__instancecheck__ = is_instance
    right_or_refused(f)


def test_a_class_that_gets_another_base_is_followed():
    kind = class_of_things()
    other = type("Other", (class_of_things(),), {"v": Desc()})
    heir = type("Heir", (kind,), {})
    f = function_of(heir(), "thing.v * x")
    right_or_refused(f)
    heir.__bases__ = (other,)
    right_or_refused(f)


def test_a_class_that_is_patched_in_the_run_is_followed():
    kind = class_of_things()
    thing = kind()

    def f(x):
        BOX.value = x * 2
        first = thing.v * x + (thing == 1) * x
        with mock.patch.object(kind, "v", Desc(), create=True):
            second = thing.v * x
        return first * second

    right_or_refused(f)

    def g(x):
        BOX.value = x * 2
        first = thing.v * x
        patch(kind, {"v": Desc()})
        second = thing.v * x
        del kind.v
        return first * second

    right_or_refused(g)


def test_a_property_that_takes_the_place_of_a_default_runs_once():
    calls = []
    kind = class_of_things()
    thing = kind()

    def f(x):
        return thing.default * x

    right_or_refused(f)
    kind.default = property(lambda thing: calls.append(1) or 3.0)
    assert grad(f)(0.7) == 3.0
    assert calls == [1]


def by_defaults(kind, method):
    """Return what replaces the first default of a method, and what replaces that by keyword."""

    def by_place():
        getattr(kind, method).__defaults__ = (5.0, *getattr(kind, method).__defaults__[1:])

    def by_keyword():
        getattr(kind, method).__kwdefaults__ = {"last": 7.0}

    return by_place, by_keyword


def test_a_default_of_a_dataclass_that_is_replaced_is_followed():
    @dataclasses.dataclass
    class Thing:
        first: float
        second: float = 2.0
        made: list = dataclasses.field(default_factory=list)
        last: float = dataclasses.field(default=3.0, kw_only=True)

    def f(x):
        y = Thing(x)
        y.made.append(x)
        return y.first * y.second * y.made[0] * y.last

    right_or_refused(f)
    for change in by_defaults(Thing, "__init__"):
        change()
        right_or_refused(f)
    Thing.__init__.__defaults__ = None
    for _ in range(3):
        with pytest.raises(TypeError, match=r"missing 2 required positional"):
            grad(f)(0.7)


def test_a_field_of_a_named_tuple_that_is_replaced_is_followed():
    kind = namedtuple("Pair", "a b", defaults=(2.0,))

    def f(x):
        y = kind(x)
        return y.a * y.b * x

    def g(x):
        return f(kind(x, x * x).b)

    for h in (f, g):
        right_or_refused(h)
    by_defaults(kind, "__new__")[0]()
    for h in (f, g):
        right_or_refused(h)
    kind.b = property(lambda y: y[0] * 3.0)
    for h in (f, g):
        right_or_refused(h)
    kind.b = 4.0
    for h in (f, g):
        right_or_refused(h)
