"""Objects, lists and dicts from outside in specialized code: read where it is entered."""

import copy
import enum
import gc
import types
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.oracles import (
    answers,
    assert_agreement,
    generic,
    is_alike,
    outcome,
)
from zygote_lite import (
    DifferentiationError,
    export_adjoint,
    gradient,
    hvp,
    jit,
    testing,
    value_and_grad,
)
from zygote_lite._specialize.entry import INTERNAL

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 3))


class Square:
    """A coefficient times a square."""

    def __init__(self, a):
        self.a = a

    def __call__(self, x):
        return self.a * x * x


class Layer(ABC):
    """A layer of a network."""

    scale = 0.5

    @abstractmethod
    def __call__(self, x):
        """Return what it makes of `x`."""


class Dense(Layer):
    """A layer with weights."""

    def __init__(self, n, m, bias=True):
        self.w = RNG.normal(size=(n, m))
        self.b = RNG.normal(size=m) if bias else None
        self.act = np.tanh
        self.__times = 2.0

    def __call__(self, x):
        y = x @ self.w
        if self.b is not None:
            y = y + self.b
        return self.act(y) * self.scale * self.__times


class Model:
    """A network."""

    def __init__(self):
        self.layers = [Dense(3, 4), Dense(4, 2, bias=False)]
        self.options = {"rate": 0.5, "norm": True, "steps": 2}
        self.norm = types.SimpleNamespace(mean=0.25, power=2)

    def predict(self, x):
        for layer in self.layers:
            x = layer(x)
        for _ in range(self.options["steps"]):
            x = x * self.options["rate"]
        if self.options["norm"]:
            x = self.centred(x, self.norm)
        return x

    @staticmethod
    def centred(x, norm):
        return (x - norm.mean) ** norm.power

    def loss(self, x, weight=1.0):
        return np.sum(self.predict(x)) * weight


def loss_of(model):
    """Return a function that reads a model from around it."""

    def loss(x):
        return model.predict(x).sum() + model.loss(x, weight=0.5)

    return loss


def assert_answered(f, *xs, argnums=(0,)):
    assert assert_agreement(f, xs, argnums=argnums)
    assert answers(f, xs)


def ready(f, x):
    """Return the value and gradient of a function, for whose next call specialized code is made."""
    assert_answered(f, x, argnums=0)
    return value_and_grad(f)


square = Square(2.0)


def of_a_global(x):
    return square(x)


def test_a_global_object_is_called():
    square.a = 2.0
    differentiated = ready(of_a_global, 1.5)
    for a in (3.0, 2, -1.5, np.float64(2.5), np.ones(2), None, 2.0):
        square.a = a
        want = generic(of_a_global, (1.5,), 0)
        for _ in range(3):
            assert is_alike(outcome(lambda: differentiated(1.5)), want)
    assert differentiated(1.5) == (4.5, 6.0)


def test_a_model():
    model = Model()
    loss = loss_of(model)
    assert_answered(loss, X)
    differentiated = value_and_grad(loss)
    h = 1e-6
    found = differentiated(X)[1]
    for at in ((0, 0), (2, 1)):
        step = np.zeros_like(X)
        step[at] = h
        assert found[at] == pytest.approx((loss(X + step) - loss(X - step)) / (2 * h), rel=1e-5)


def changed(change):
    """Return a model after a change."""
    model = Model()
    change(model)
    return model


class Other(Dense):
    """A layer that does something else."""

    def __call__(self, x):
        return -super().__call__(x)


def shadow(model):
    model.predict = lambda x: x * 3.0


CHANGES = {
    "nothing": lambda m: None,
    "weights": lambda m: setattr(m.layers[0], "w", RNG.normal(size=(3, 4))),
    "shape": lambda m: setattr(m.layers[0], "b", np.ones((1, 4))),
    "a number in place of an array": lambda m: setattr(m.layers[0], "b", 2.0),
    "single precision": lambda m: setattr(m.layers[0], "w", np.ones((3, 4), "f4")),
    "a bias": lambda m: setattr(m.layers[1], "b", np.ones(2)),
    "no bias": lambda m: setattr(m.layers[0], "b", None),
    "function": lambda m: setattr(m.layers[0], "act", np.sin),
    "a layer more": lambda m: m.layers.append(Dense(2, 2)),
    "a layer less": lambda m: m.layers.pop(),
    "layers in a tuple": lambda m: setattr(m, "layers", tuple(m.layers)),
    "class of a layer": lambda m: setattr(m.layers[1], "__class__", Other),
    "attribute of the class hidden": lambda m: setattr(m.layers[0], "scale", 0.75),
    "rate": lambda m: m.options.update(rate=0.25),
    "steps": lambda m: m.options.update(steps=3),
    "norm": lambda m: m.options.update(norm=False),
    "order": lambda m: setattr(m, "options", dict(reversed(m.options.items()))),
    "key": lambda m: m.options.update(more=1.0),
    "missing key": lambda m: m.options.pop("rate"),
    "missing attribute": lambda m: delattr(m.norm, "mean"),
    "namespace": lambda m: setattr(m, "norm", Square(1.0)),
    "method hidden": shadow,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_model_that_changes(name):
    """The guards see each change: in a second model, and in the first one, between two calls."""
    first = Model()
    loss = loss_of(first)
    differentiated = value_and_grad(loss)
    for _ in range(4):
        differentiated(X)
    for given in (loss_of(changed(CHANGES[name])), loss):
        if given is loss:
            CHANGES[name](first)
        want = generic(given, (X,), 0)
        for _ in range(3):
            assert is_alike(outcome(lambda given=given: value_and_grad(given)(X)), want)


def test_models_share_code_and_are_let_go():
    model = Model()
    loss = loss_of(model)
    assert_answered(loss, X)
    other = Model()
    assert answers(loss_of(other), (X,))
    assert is_alike(value_and_grad(loss_of(other))(X), generic(loss_of(other), (X,), 0)[1])
    seen = weakref.ref(model)
    del model, loss
    gc.collect()
    assert seen() is None


def test_a_class_that_changes():
    class Changing(Square):
        pass

    thing = Changing(2.0)

    def f(x):
        return thing(x)

    def cube(self, x):
        return self.a * x**3

    differentiated = ready(f, 1.5)
    Changing.__call__ = cube
    assert differentiated(1.5) == (2.0 * 1.5**3, 6.0 * 1.5**2)
    Changing.a = property(lambda self: 5.0, lambda self, value: None)
    assert differentiated(1.5) == (5.0 * 1.5**3, 15.0 * 1.5**2)
    Changing.__call__ = Square.__call__
    assert differentiated(1.5) == (5.0 * 1.5**2, 15.0)


class Stands:
    """Stands for an object of another class."""

    a = 2.0

    @property
    def __class__(self):
        return Square


def test_methods_are_bound_to_the_object_that_they_are_looked_up_on():
    class Scaled(Square):
        a = 7.0

        def times(self, x):
            return self.a * x

    thing, other = Scaled(2.0), Scaled(5.0)

    def f(x):
        return thing.times(x)

    differentiated = ready(f, 1.5)
    thing.times = other.times
    assert differentiated(1.5) == (7.5, 5.0)
    del thing.times
    assert differentiated(1.5) == (3.0, 2.0)
    Scaled.times = classmethod(vars(Scaled)["times"])
    assert differentiated(1.5) == (10.5, 7.0)


def test_a_call_is_bound_to_the_object():
    class Free(Square):
        def __call__(self, x=4.0, y=2.0):
            return y * y * 3.0

    thing = Free(2.0)

    def f(x):
        return thing(x) * x

    ready(f, 1.5)
    Free.__call__ = staticmethod(vars(Free)["__call__"])
    direct = [outcome(lambda: value_and_grad(g)(1.5)) for g in (f, thing)]
    assert all(kind == "error" for kind, *_ in direct), "the tape has no such calls"


def test_the_ancestors_of_a_class_change():
    class Base:
        pass

    class Before(Base):
        a = 2.0

    class After(Base):
        a = 3.0

    class Thing(Before):
        pass

    thing = Thing()

    def f(x):
        return x * thing.a if isinstance(thing, After) else x * x * thing.a

    def g(x):
        return x * 3.0 if issubclass(type(thing), After) else x * x

    of_object, of_class = ready(f, 1.5), ready(g, 1.5)
    Thing.__bases__ = (After,)
    assert of_object(1.5) == of_class(1.5) == (4.5, 3.0)


@pytest.mark.parametrize("kind", [Mapping, (int, Mapping), int | Mapping])
def test_a_class_is_registered_later(kind):
    class Thing(Square):
        pass

    thing = Thing(2.0)

    def f(x):
        return x * 2.0 if isinstance(thing, kind) else thing(x)

    for _ in range(4):
        assert value_and_grad(f)(1.5) == (4.5, 6.0)
    Mapping.register(Thing)
    assert value_and_grad(f)(1.5) == (3.0, 2.0)


def test_an_object_that_stands_for_another():
    thing = Stands()

    def f(x):
        return x * thing.a if isinstance(thing, Square) else x * x

    for _ in range(4):
        assert value_and_grad(f)(1.5) == (3.0, 2.0)


def test_objects_are_read_once():
    """What another thread puts in their place between two reads is for the next call."""
    reads = []

    class Swaps(Square):
        pass

    holder = types.SimpleNamespace(pair=types.SimpleNamespace(a=2.0, b=[3.0, 3.0]))
    box = Swaps(1.0)
    box.holder = holder

    def f(x):
        pair = box.holder.pair
        return pair.a * x * pair.b[0] * pair.b[1]

    differentiated = ready(f, 1.5)

    def swapped(self):
        reads.append(holder.pair.a)
        holder.pair = types.SimpleNamespace(a=-holder.pair.a, b=[-y for y in holder.pair.b])
        return holder

    Swaps.holder = property(swapped)
    for _ in range(3):
        value, d = differentiated(1.5)
        want = -reads[-1] * 9.0
        assert (value, d) == (want * 1.5, want)
    assert len(reads) == 3


def of_an_argument(x, model, options):
    return model.loss(x) * options["models"][0].a


def test_objects_as_constant_arguments():
    model, options = Model(), {"models": [Square(2.0), None]}
    assert_answered(of_an_argument, X, model, options)
    for change in CHANGES.values():
        other = changed(change)
        want = generic(of_an_argument, (X, other, options), (0,))
        got = outcome(lambda o=other: value_and_grad(of_an_argument, (0,))(X, o, options))
        assert is_alike(got, want)
    other = {"models": [Model(), None]}
    want = generic(of_an_argument, (X, model, other), (0,))
    assert is_alike(outcome(lambda: value_and_grad(of_an_argument, (0,))(X, model, other)), want)


def test_a_differentiated_object():
    def f(thing, x):
        return thing(x)

    for _ in range(3):
        value, (found, dx) = value_and_grad(f, (0, 1))(Square(2.0), 1.5)
        assert (value, found.a, dx) == (4.5, 2.25, 6.0)


@dataclass(frozen=True)
class Options:
    """Numbers for a formula."""

    rate: float
    names: tuple[str, ...] = ("a", "b")
    weights: tuple[float, ...] = (0.5, 1.5)


WEIGHTS = [0.5, 1.5, np.float64(2.5)]
TABLE = {"a": 2.0, "b": {"c": [1.0, np.arange(3.0)]}, "options": Options(0.25)}


def of_structures(x):
    total = 0.0
    for w in WEIGHTS:
        total = total * x + w
    for name, w in zip(TABLE["options"].names, TABLE["options"].weights):
        total = total + w * x * len(name)
    return total * TABLE["a"] + np.sum(TABLE["b"]["c"][1] * x) * TABLE["b"]["c"][0]


def test_global_lists_and_dicts(monkeypatch):
    assert_answered(of_structures, 1.5)
    here = globals()
    changes = [
        ("WEIGHTS", [1.0, 2.0, np.float64(3.0)]), ("WEIGHTS", [1.0, 2.0]), ("WEIGHTS", (1.0, 2.0)),
        ("WEIGHTS", [1, 2.0, 3.0]), ("WEIGHTS", []), ("TABLE", {**TABLE, "a": 3.0}),
        ("TABLE", {**TABLE, "options": Options(1.0, ("u",), (2.0,))}), ("WEIGHTS", ["text"]),
        ("TABLE", {**TABLE, "b": {"c": [1.0, np.arange(2)]}}), ("TABLE", {}),
    ]  # fmt: skip
    for name, x in changes:
        with monkeypatch.context() as patch:
            patch.setitem(here, name, x)
            want = generic(of_structures, (1.5,), 0)
            for _ in range(3):
                assert is_alike(outcome(lambda: value_and_grad(of_structures)(1.5)), want)
    assert answers(of_structures, (1.5,))


def test_what_is_differentiated_is_read_from_outside_too():
    """A list or dict is one value, wherever it is met: the tape tells what that gives."""
    holder = types.SimpleNamespace(d={"a": 2.0}, xs=[1.0, 2.0], w=np.ones(3))

    def f(d, xs, w):
        return d["a"] * holder.d["a"] + xs[0] * holder.xs[0] + np.sum(w * holder.w)

    apart = ({"a": 3.0}, [3.0, 4.0], np.ones(3))
    assert_answered(f, *apart, argnums=(0, 1, 2))
    differentiated = value_and_grad(f, (0, 1, 2))
    for xs in (
        (holder.d, apart[1], apart[2]), (apart[0], holder.xs, apart[2]), (*apart[:2], holder.w),
    ):  # fmt: skip
        assert is_alike(differentiated(*xs), generic(f, xs, (0, 1, 2))[1])
    assert differentiated(holder.d, *apart[1:])[1][0] == {"a": 4.0}


RATES = {"w": 0.5, "rate": 0.25}


def rated(x):
    return x * RATES["w"]


def named_alike(x, n):
    s = 0.0
    for _ in range(n):
        x = rated(x) * 0.75
        w = x + 1.0
        RATES_w = w * RATES["rate"]
        s = s + w * rated(x) * RATES_w
    return s


def test_variables_named_as_what_is_read_from_outside():
    """What a loop reads keeps its name, however often the loop is written anew."""
    assert_answered(named_alike, 1.5, 7)
    h = 1e-6
    slope = (named_alike(1.5 + h, 7) - named_alike(1.5 - h, 7)) / (2 * h)
    value, found = value_and_grad(named_alike)(1.5, 7)
    assert value == pytest.approx(named_alike(1.5, 7))
    assert found == pytest.approx(slope, rel=1e-6)


w = 2.0


def by_the_global(x):
    return x * w


def hides_the_global(x, n):
    s = 0.0
    for _ in range(n):
        x = by_the_global(x) * 0.25
        w = x + 1.0
        s = s + w * by_the_global(x)
    return s


def test_variables_named_as_a_global():
    assert_answered(hides_the_global, 1.5, 7)
    assert value_and_grad(hides_the_global)(1.5, 7)[0] == hides_the_global(1.5, 7)


def test_the_generic_engine_is_what_is_compared_with():
    square.a = 2.0
    assert_answered(of_a_global, 1.5)
    with testing.transformed_only(), testing.observed() as answers:
        assert value_and_grad(of_a_global)(1.5) == (4.5, 6.0)
        assert generic(of_a_global, (1.5,), 0) == ("value", (4.5, 6.0))
    assert [answer.tier for answer in answers] == ["transformed", "recorded"]


def test_an_attribute_of_none_on_a_path_that_is_not_taken():
    thing = types.SimpleNamespace(sub=None)

    def f(x):
        return x * x if x > 0 else thing.sub.a * x

    for x in (1.5, 1.5, 1.5, -1.5):
        assert is_alike(outcome(lambda x=x: value_and_grad(f)(x)), generic(f, (x,), 0))
    reasons = testing.reasons(f)
    assert not any(reason.startswith(INTERNAL) for reason in reasons)


class Computes:
    """Attributes that are computed, each in its own way."""

    __slots__ = ("__dict__", "slot")

    def __init__(self):
        self.slot = 2.0
        self.calls = 0

    @property
    def half(self):
        return self.slot / 2

    @classmethod
    def made(cls, x):
        return x * 2.0

    def counts(self, x):
        self.calls += 1
        return x * self.calls


class Answers:
    """An object that computes what it has not."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return 2.0


class Numbers(list):
    """A list with a method."""

    def total(self):
        return self[0] + self[1]


computes, any_name, numbers = Computes(), Answers(), Numbers([1.0, 2.0])
LEFT_ALONE = {
    "property": lambda x: computes.half * x,
    "slot": lambda x: computes.slot * x,
    "class method": lambda x: computes.made(x),
    "writes": lambda x: computes.counts(x),
    "getattr": lambda x: any_name.rate * x,
    "list with a method": lambda x: numbers.total() * x,
    "truth": lambda x: x * 2.0 if square else x,
    "missing": lambda x: x * 2.0 if x > 0 else square.missing,
    "subscript": lambda x: x * 2.0 if x > 0 else square["a"],
    "sum": lambda x: x * 2.0 if x > 0 else np.sum(square) * x,
    "product": lambda x: x * 2.0 if x > 0 else square * x,
    "depends on the path": lambda x: (square if x > 0 else Square(3.0)).a * x,
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_stays_generic(name):
    square.a = 2.0
    f = LEFT_ALONE[name]
    differentiated = value_and_grad(f)
    for x in (1.5, 1.5, 1.5, 0.5, -0.5):
        before = computes.calls
        want = generic(f, (x,), 0)
        after, computes.calls = computes.calls, before
        assert is_alike(outcome(lambda x=x: differentiated(x)), want)
        assert computes.calls == after


def test_the_class_of_a_function_defined_inside():
    def f(x):
        def inner(y):
            return y * y

        return inner(x) if isinstance(inner, types.FunctionType) else x

    assert_agreement(f, (1.5,))


def test_hvp_reads_objects():
    thing, x, v = Square(2.0), RNG.normal(size=3), RNG.normal(size=3)

    def f(x):
        return np.sum(np.sin(thing(x)))

    want = 4.0 * np.cos(2 * x * x) * v - 16.0 * x * x * np.sin(2 * x * x) * v
    for _ in range(3):
        np.testing.assert_allclose(hvp(f)(x, v), want)


def test_export_writes_attributes_down():
    model = Model()
    text = export_adjoint(loss_of(model), X, argnums=0)
    space = {"np": np}
    exec(compile(text, "<exported>", "exec"), space)
    want = value_and_grad(loss_of(model))(X)
    found = space["loss_value_and_gradient"](X)
    assert found[0] == pytest.approx(want[0])
    np.testing.assert_allclose(found[1], want[1])
    with pytest.raises(DifferentiationError, match="an argument is an object"):
        export_adjoint(of_an_argument, X, model, {"models": [Square(2.0)]}, argnums=0)


def stepped(x, system, n):
    for _ in range(n):
        x = x + system.rate * system(x)
    return x


def test_jit_reads_objects():
    pytest.importorskip("numba")
    system = copy.copy(Square(0.5))  # the first copy adds `__slotnames__` to a class
    system.rate = 0.01
    compiled = jit(stepped)
    differentiated = value_and_grad(compiled)
    for rate in (0.01, 0.01, 0.02):
        system.rate = rate
        want = generic(stepped, (1.5, system, 20), 0)[1]
        assert compiled(1.5, system, 20) == pytest.approx(want[0], rel=1e-12)
        assert differentiated(1.5, system, 20) == pytest.approx(want, rel=1e-12)
    assert answers(stepped, (1.5, copy.copy(system), 20))


SQUARE = Square(1.5)
HELD = {"first": Square(1.5)}


def called_directly(x):
    return SQUARE(x) * 1.0


def called_by_map(x):
    return sum(map(SQUARE, [x, x])) * 0.5


def called_from_a_dict(x):
    return HELD["first"](x) * 1.0


@pytest.mark.parametrize("f", [called_directly, called_by_map, called_from_a_dict, SQUARE])
def test_a_rule_of_instances_answers_for_objects_from_outside(f):
    rules = RuleSet("of a script")

    @rules.of_instances
    def _(square: Square, x: float):
        return square(x), lambda dy: (None, 100.0 * dy)

    for _ in range(2):
        assert [gradient(f, 2.0) for _ in range(4)] == [(6.0,)] * 4
        rules.register()
        try:
            assert [gradient(f, 2.0) for _ in range(4)] == [(100.0,)] * 4
        finally:
            rules.unregister()


class Unit(enum.Enum):
    """A system of units."""

    SI, IP = 1, 2


UNIT = Unit.SI


def by_unit(x):
    if UNIT == Unit.SI:
        return x * 2
    if UNIT is not Unit.IP:
        return x * 3
    return x * x


def test_which_object_from_outside_a_value_is_is_asked_at_each_entry(monkeypatch):
    assert testing.why_recorded(by_unit, 2.0) is None
    for unit, slope in [(Unit.SI, 2.0), (Unit.IP, 4.0), (3, 3.0), (Unit.SI, 2.0)] * 2:
        monkeypatch.setattr(f"{__name__}.UNIT", unit)
        assert value_and_grad(by_unit)(2.0) == (by_unit(2.0), slope)
    monkeypatch.setattr(Unit, "__eq__", lambda a, b: False, raising=False)
    assert value_and_grad(by_unit)(2.0) == (6.0, 3.0)


WHEN = {"end": 0, "begin": 1, 0: 0, 1: 1}


def paid(x, when):
    try:
        late = WHEN[when]
    except KeyError:
        late = 9
    return x * x * late + x * WHEN[1]


def test_keys_of_dicts_from_outside_may_be_whole_numbers(monkeypatch):
    def outcomes():
        return [value_and_grad(paid)(2.0, when) for when in ("begin", "never")]

    assert testing.why_recorded(paid, 2.0, "begin", argnums=0) is None
    assert outcomes() == [(6.0, 5.0), (38.0, 37.0)]
    monkeypatch.setitem(WHEN, 1, 3)
    assert outcomes() == [(10.0, 7.0), (42.0, 39.0)]
    monkeypatch.delitem(WHEN, 1)
    monkeypatch.setitem(WHEN, True, 4)  # it equals 1
    assert outcomes() == [(12.0, 8.0), (44.0, 40.0)]


def test_whether_an_object_from_outside_has_an_attribute_is_asked_at_each_entry():
    class Kept:
        scale = 2.0

    kept, other = Kept(), Kept()
    other.more = None

    def f(x, by):
        return x * getattr(by, "scale", 5.0) * (1.0 if hasattr(by, "more") else 3.0)

    for by, slope in ((kept, 6.0), (other, 2.0), (kept, 6.0)):
        for _ in range(3):
            assert value_and_grad(f)(1.5, by) == (1.5 * slope, slope)
    kept.more, kept.scale = None, 7.0
    assert value_and_grad(f)(1.5, kept) == (10.5, 7.0)
