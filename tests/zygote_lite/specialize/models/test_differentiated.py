"""Objects that are differentiated: their attributes are read at entry; a `Tangent` is given."""

import copy
import functools
import types
from dataclasses import dataclass

import numpy as np
import pytest

from rulescore import Tangent
from tests.zygote_lite.checks.oracles import generic, is_alike, outcome
from zygote_lite import grad, gradient, pullback, testing, value_and_grad

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2))


class Line:
    """A line."""

    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def __call__(self, x):
        return self.slope * x + self.offset

    def at(self, x):
        return self.slope * x * x + self.offset


class Dense:
    """A layer."""

    scale = 0.5

    def __init__(self, n, m):
        self.name = f"{n} to {m}"
        self.w = RNG.normal(size=(n, m))
        self.b = RNG.normal(size=m)
        self.act = np.tanh

    def __call__(self, x):
        return self.act(x @ self.w + self.b) * self.scale

    @property
    def size(self):
        return (self.w**2).sum()


class Net:
    """A network."""

    def __init__(self):
        self.layers = [Dense(3, 4), Dense(4, 2)]
        self.options = {"rate": 2.0, "kind": "net", "pair": (1.5, [0.5, 2])}
        self.calls = 0
        self.unused = np.ones(2)
        self.best = None

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.options["rate"] * self.options["pair"][1][0]

    def penalty(self):
        return sum([layer.size for layer in self.layers])


@dataclass
class Numbers:
    """A dataclass."""

    a: float
    n: int = 2
    flag: bool = True

    def total(self):
        return self.a**self.n + (self.a if self.flag else 0.0)


def loss(model, x, y):
    return np.sum((model(x) - y) ** 2)


def net_loss(model, x, y):
    return loss(model, x, y) + 0.1 * model.penalty()


def total(numbers, x):
    return numbers.total() * x


def of_a_list(lines, x):
    return lines[0](x) * lines[1].at(x)


CASES = {
    "line": (loss, (Line(2.0, 1.0), np.arange(3.0), np.zeros(3)), (0,)),
    "line of numbers": (Line.__call__, (Line(2, np.float64(1.0)), 1.5), (0, 1)),
    "single precision": (
        loss, (Line(np.float32(2.0), np.float32(1.0)), np.arange(3, dtype="f4"),
               np.zeros(3, "f4")), (0,)),
    "net": (net_loss, (Net(), X, Y), (0, 1)),
    "dataclass": (total, (Numbers(1.5), 2.0), (0, 1)),
    "namespace": (lambda m, x: m.a * m.b.c * x, (
        types.SimpleNamespace(a=2.0, b=types.SimpleNamespace(c=3.0, d=None)), 2.0), (0,)),
    "list": (of_a_list, ([Line(2.0, 1.0), Line(3.0, 4.0)], 1.5), (0, 1)),
    "nothing": (lambda m, x: x * 2.0, (Net(), 2.0), (0, 1)),
}  # fmt: skip


def expected(f, xs, argnums):
    """Return what the tape gives."""
    with testing.recorded_only():
        return value_and_grad(f, argnums)(*copy.deepcopy(xs))


@pytest.mark.parametrize("name", CASES)
def test_objects_are_differentiated(name):
    f, xs, argnums = CASES[name]
    given = copy.deepcopy(xs)
    with testing.transformed_only():
        for _ in range(3):
            assert is_alike(value_and_grad(f, argnums)(*given), expected(f, xs, argnums))
        assert is_alike(gradient(f, *given), recorded_gradient(f, given))
    assert is_alike(vars_of(given), vars_of(xs), 0.0)


def recorded_gradient(f, xs):
    """Return what `gradient` gives by the tape."""
    with testing.recorded_only():
        return gradient(f, *xs)


def vars_of(x):
    """Return what objects hold, as dicts."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(vars_of, x))
    if isinstance(x, dict):
        return {key: vars_of(part) for key, part in x.items()}
    return vars_of(vars(x)) if hasattr(x, "__dict__") and not callable(x) else x


def test_against_differences():
    net = Net()
    with testing.transformed_only():
        found = grad(net_loss)(net, X, Y)
    h = 1e-6
    for layer, d in zip(net.layers, found.layers, strict=True):
        for array, slope in ((layer.w, d.w), (layer.b, d.b)):
            at = (0,) * array.ndim
            kept = array[at]
            array[at] = kept + h
            up = net_loss(net, X, Y)
            array[at] = kept - h
            down = net_loss(net, X, Y)
            array[at] = kept
            assert slope[at] == pytest.approx((up - down) / (2 * h), rel=1e-5)
    assert isinstance(found, Tangent)
    assert [*found] == [*vars(net)]


CHANGES = {
    "nothing": lambda m: None,
    "weights": lambda m: setattr(m.layers[0], "w", RNG.normal(size=(3, 4))),
    "single precision": lambda m: setattr(m.layers[0], "w", np.ones((3, 4), "f4")),
    "a number": lambda m: setattr(m.layers[0], "b", 2.0),
    "an int": lambda m: setattr(m.layers[0], "b", 2),
    "function": lambda m: setattr(m.layers[0], "act", np.sin),
    "closure": lambda m: setattr(m.layers[0], "act", (lambda a: lambda x: x * a)(m.unused[0])),
    "a layer more": lambda m: m.layers.append(Dense(2, 2)),
    "layers in a tuple": lambda m: setattr(m, "layers", tuple(m.layers)),
    "one layer twice": lambda m: setattr(m, "layers", [Dense(3, 3)] * 2 + [Dense(3, 2)]),
    "attribute of the class hidden": lambda m: setattr(m.layers[0], "scale", 0.75),
    "rate": lambda m: m.options.update(rate=0.25),
    "more options": lambda m: m.options.update(more=0.25),
    "text for a number": lambda m: m.options.update(kind=1.0),
    "one more attribute": lambda m: setattr(m, "more", 1.0),
    "an attribute less": lambda m: delattr(m, "unused"),
    "what is not read is a list": lambda m: setattr(m, "unused", [1.0, 2.0]),
    "what is not read is text": lambda m: setattr(m, "unused", "none"),
    "what is not read is a layer": lambda m: setattr(m, "best", m.layers[0]),
    "a layer comes before": lambda m: (
        m.__dict__.update({"first": m.layers[0], **m.__dict__}),
        setattr(m, "__dict__", {"first": m.layers[0], **m.__dict__})),
    "the model itself": lambda m: setattr(m, "best", m),
    "options of two": lambda m: setattr(m.layers[0], "options", m.options),
    "attributes of two": lambda m: setattr(m.layers[0], "__dict__", m.layers[1].__dict__),
    "slots": lambda m: m.layers.__setitem__(0, Slotted(m.layers[0].w)),
    "a subclass of arrays": lambda m: setattr(m, "unused", np.ma.ones(2)),
}  # fmt: skip


class Slotted:
    """A layer with a slot."""

    __slots__ = ("__dict__", "w")

    def __init__(self, w):
        self.w = w

    @property
    def size(self):
        return (self.w**2).sum()

    def __call__(self, x):
        return x @ self.w


@pytest.mark.parametrize("name", CHANGES)
def test_a_model_that_changes(name):
    """The guards see each change: in another model, and in one that code was made for."""
    first = Net()
    differentiated = value_and_grad(net_loss)
    for _ in range(4):
        differentiated(first, X, Y)
    other = Net()
    for model in (other, first):
        CHANGES[name](model)
        want = generic_of(net_loss, (model, X, Y))
        for _ in range(4):
            got = outcome(lambda model=model: value_and_grad(net_loss)(model, X, Y))
            assert is_alike(got, want), got


def generic_of(f, xs, argnums=0):
    """Return the outcome of the tape."""
    with testing.recorded_only():
        return outcome(lambda: value_and_grad(f, argnums)(*xs))


SHARED = Line(2.0, 3.0)


def of_a_global(model, x):
    return model.slope * SHARED.slope * x + SHARED.offset


def test_what_is_differentiated_is_read_from_outside_too():
    apart = Line(4.0, 5.0)
    for model in (apart, apart, apart, SHARED, SHARED, apart):
        want = generic_of(of_a_global, (model, 1.5))
        assert is_alike(outcome(lambda m=model: value_and_grad(of_a_global)(m, 1.5)), want)
    assert value_and_grad(of_a_global)(SHARED, 1.5)[1].slope == 6.0


def of_two(a, b, x):
    return a.slope * b.slope * x


def test_an_object_that_is_given_twice():
    one, other = Line(2.0, 1.0), Line(3.0, 1.0)
    for xs in ((one, other), (one, other), (one, other), (one, one), (other, one)):
        want = generic_of(of_two, (*xs, 1.5))
        assert is_alike(outcome(lambda xs=xs: value_and_grad(of_two)(*xs, 1.5)), want)


def written(model, x):
    model.slope = x * 2.0
    return model.slope * model.offset


def counts(model, x):
    model.slope += 1.0
    return model.slope * x


def of_what_a_closure_holds(model, x):
    return model.f(x)


def test_what_is_written():
    with testing.transformed_only():
        assert value_and_grad(written, 1)(Line(2.0, 3.0), 1.5) == (9.0, 6.0)
    model = Line(2.0, 3.0)
    for n in range(4):
        value, found = value_and_grad(counts)(model, 1.5)
        assert (value, found.slope, model.slope) == ((3.0 + n) * 1.5, 1.5, 3.0 + n)


def test_what_is_recorded():
    weight = np.full(2, 3.0)
    holder = types.SimpleNamespace(f=lambda x: (x * weight).sum(), weight=weight)
    for _ in range(4):
        want = generic_of(of_what_a_closure_holds, (holder, 1.5))
        assert is_alike(outcome(lambda: value_and_grad(of_what_a_closure_holds)(holder, 1.5)), want)


def test_methods_partials_and_objects_are_functions():
    line = Line(2.0, 1.0)
    with testing.transformed_only():
        for _ in range(3):
            assert value_and_grad(line.at)(1.5) == (5.5, 6.0)
            assert value_and_grad(line)(1.5) == (4.0, 2.0)
            assert value_and_grad(functools.partial(Line.at, line))(1.5) == (5.5, 6.0)
            assert value_and_grad(functools.partial(loss, y=np.zeros(2)))(
                line, np.ones(2))[1].slope == 12.0  # fmt: skip


def test_pullback_of_an_object():
    line = Line(2.0, 1.0)
    for _ in range(4):
        y, back = pullback(Line.at, line, 1.5)
        _, found, dx = back(2.0)
        assert (y, dict(found), dx) == (5.5, {"slope": 4.5, "offset": 2.0}, 12.0)


def test_the_tape_agrees_with_all(monkeypatch):
    for f, xs, argnums in CASES.values():
        with testing.compared():
            for _ in range(3):
                value_and_grad(f, argnums)(*copy.deepcopy(xs))
    assert generic(total, (Numbers(1.5), 2.0), (0,))[0] == "value"
