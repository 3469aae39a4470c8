"""Trees: `tree_map`, `ravel`, and the optimizers over them."""

import collections
import dataclasses
import functools
import itertools
import math
import pickle

import numpy as np
import pytest
import scipy.optimize

from rulescore import Tangent
from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from zygote_lite import (
    grad,
    gradient,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    pullback,
    ravel,
    tree_map,
    value_and_grad,
)
from zygote_lite.optimizers import adam, sgd

Point = collections.namedtuple("Point", ["x", "y"])
X = np.array([0.5, -1.0, 2.0])


class Layer:
    def __init__(self, w, b):
        self.w, self.b, self.name, self.size = w, b, "layer", 3

    def __call__(self, x):
        return np.tanh(self.w * x + self.b)


@dataclasses.dataclass(frozen=True)
class Model:
    layers: list
    scale: float
    options: dict


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


def model():
    return Model(
        [Layer(np.array([0.1, 0.2, 0.3]), 0.5), Layer(np.float32(0.7), np.ones((3, 1)))],
        2.0,
        {"point": Point(1.5, (np.array([4.0]), "text", True)), "slots": Slotted(3.0, None)},
    )


def loss(m):
    x = m.layers[0](X)
    y = m.layers[1](x)
    p = m.options["point"]
    return np.sum(y) * m.scale + p.x * p.y[0][0] ** 2 + math.sin(m.options["slots"].a)


def numbers_of(m):
    p = m.options["point"]
    parts = [m.layers[0].w, m.layers[0].b, m.layers[1].w, m.layers[1].b, m.scale, p.x, p.y[0],
             m.options["slots"].a]  # fmt: skip
    return np.concatenate([np.ravel(part) for part in parts])


def test_a_tree_like_another():
    m = model()
    doubled = tree_map(lambda x: 2 * x, m)
    assert type(doubled) is Model
    assert type(doubled.options["point"]) is Point
    assert doubled.layers[1].w.dtype == np.float32
    assert (doubled.layers[0].name, doubled.layers[0].size) == ("layer", 6)
    assert doubled.options["point"].y[1:] == ("text", True)
    np.testing.assert_array_equal(numbers_of(doubled), 2 * numbers_of(m))
    np.testing.assert_array_equal(numbers_of(m), numbers_of(model()))
    step = tree_map(lambda x, d: x if d is None else x - d, m, grad(loss)(m))
    assert_close(step.scale, 2.0 - grad(loss)(m).scale)
    assert tree_map(lambda x, y: x + y, [1, {"a": 2.0}], [3, {"a": 4.0}]) == [4, {"a": 6.0}]
    assert tree_map(lambda x: x + 1, Tangent(Layer, w=1.0, b=None)).w == 2.0
    with pytest.raises(ValueError, match="differ at a"):
        tree_map(lambda x, y: x, {"a": [1.0]}, {"a": [1.0, 2.0]})


def test_what_is_one_object_stays_one():
    shared = Layer(X, 1.0)
    shared.itself = shared
    made = tree_map(lambda x: x * 2, {"a": shared, "b": [shared]})
    assert made["a"] is made["b"][0] is made["a"].itself
    assert made["a"] is not shared
    np.testing.assert_array_equal(made["a"].w, 2 * X)


def test_a_tree_as_a_vector_and_back():
    m = model()
    v, back = ravel(m)
    np.testing.assert_array_equal(v, numbers_of(m))
    again = back(v + 1.0)
    np.testing.assert_allclose(numbers_of(again), v + 1.0, rtol=1e-7)  # one is a float32
    assert again.layers[1].w.dtype == np.float32
    assert type(again.scale) is float
    assert again.layers[0].size == 3
    np.testing.assert_array_equal(back.flat(m), v)
    slopes = jacobian_by_differences(lambda u: loss(back(u)), (v.copy(),))
    d = grad(loss)(m)
    np.testing.assert_allclose(back.flat(d), slopes, rtol=1e-3, atol=1e-4)
    for _ in range(3):
        np.testing.assert_allclose(grad(lambda u: loss(back(u)))(v), back.flat(d), rtol=1e-6)
    assert ravel([])[0].shape == (0,)
    with pytest.raises(ValueError, match="shape"):
        back(v[1:])
    with pytest.raises(TypeError, match="complex"):
        ravel([1j])
    with pytest.raises(TypeError, match=r"vector is complex.* give `v.real` \[ZL"):
        back(v * 1j)
    assert ravel([])[1](np.zeros(0, complex).real) == []


def test_fields_that_are_frozen_are_left_out():
    m = model()
    v, back = ravel(m, frozen=("scale", "layers.0.b", "slots"))
    left = np.delete(numbers_of(m), [3, 8, 11])
    np.testing.assert_array_equal(v, left)
    made = back(v * 0)
    assert (made.scale, made.layers[0].b, made.options["slots"].a) == (2.0, 0.5, 3.0)
    np.testing.assert_array_equal(back.flat(m), v)


def test_a_tree_is_made_a_vector_inside_of_a_gradient():
    def f(p):
        v, back = ravel(p)
        return np.sum(v**2) * back(v * 2)["w"][0]

    p = {"w": X, "b": [2.0, "text"], "n": 3}
    expected = jacobian_by_differences(lambda w, b: f({"w": w, "b": [b]}), (X, 2.0))
    for _ in range(3):
        (d,) = gradient(f, p)
        assert_close(d["w"], expected, 1e-6)
        assert_close(
            d["b"][0], jacobian_by_differences(lambda b: f({"w": X, "b": [b]}), (2.0,)), 1e-6
        )
    _, back = pullback(lambda p: tree_map(lambda x: x * x, p), p)
    assert_close(back({"w": X, "b": [1.0, None]})[1]["w"], 2 * X * X)


def test_scipy_minimizes_models():
    xs = np.linspace(-1.0, 1.0, 20)
    ys = np.tanh(1.5 * xs - 0.3)

    def cost(layer):
        return np.sum((layer(xs) - ys) ** 2)

    v, back = ravel(Layer(0.1, 0.1))
    found = scipy.optimize.minimize(value_and_grad(lambda u: cost(back(u))), v, jac=True)
    best = back(found.x)
    assert (best.w, best.b) == pytest.approx((1.5, -0.3), abs=1e-4)


# -- optimizers ------------------------------------------------------------------------------------


def by_hand(kind, x, slopes, rate, momentum, weight_decay):
    """Return a vector after some steps, by the formulas of the papers (of PyTorch, AdamW)."""
    v, s = np.zeros_like(x), np.zeros_like(x)
    for count, d in enumerate(slopes, start=1):
        if kind is sgd:
            v = momentum * v + d
            x = x - rate * v - rate * weight_decay * x
        else:
            v = 0.9 * v + 0.1 * d
            s = 0.999 * s + 0.001 * d * d
            change = (v / (1 - 0.9**count)) / (np.sqrt(s / (1 - 0.999**count)) + 1e-8)
            x = x - rate * change - rate * weight_decay * x
    return x


@pytest.mark.parametrize("kind", [sgd, adam])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_steps_are_those_of_the_formulas(kind, weight_decay):
    more = {"momentum": 0.8} if kind is sgd else {}
    m, state, slopes = model(), None, []
    start, back = ravel(m)
    for _ in range(5):
        d = grad(loss)(m)
        slopes.append(back.flat(d))
        m, state = kind(m, d, state, rate=0.05, weight_decay=weight_decay, **more)
    expected = by_hand(kind, start, slopes, 0.05, 0.8, weight_decay)
    np.testing.assert_allclose(numbers_of(m), expected, rtol=1e-5)
    assert type(m) is Model
    assert m.layers[1].w.dtype == np.float32
    assert m.layers[0].size == 3


@pytest.mark.parametrize("kind", [sgd, adam])
def test_what_is_frozen_or_has_no_gradient_stays(kind):
    m = {"w": X, "b": 1.0, "c": 2.0}
    d = {"w": X, "b": 1.0, "c": None}
    made, state = kind(m, d, rate=0.1, frozen="b")
    made, state = kind(made, d, state, rate=0.1, frozen="b")
    assert (made["b"], made["c"]) == (1.0, 2.0)
    assert np.all(made["w"] != X)
    assert m["w"] is X


@pytest.mark.parametrize("kind", [sgd, adam])
def test_a_model_is_trained(kind):
    xs, ys = np.linspace(-1.0, 1.0, 20), np.tanh(1.5 * np.linspace(-1.0, 1.0, 20) - 0.3)
    step = value_and_grad(lambda layer: np.mean((layer(xs) - ys) ** 2))
    layer, state = Layer(0.1, 0.1), None
    more = {"rate": 0.5, "momentum": 0.5} if kind is sgd else {"rate": 0.05}
    first, _ = step(layer)
    for _ in range(100):
        last, d = step(layer)
        layer, state = kind(layer, d, state, **more)
    assert last < 0.01 * first


@pytest.mark.parametrize("step", [sgd, adam])
def test_steps_refuse_what_does_not_fit(step):
    with pytest.raises(ValueError, match=r"\(3, 1\).* has a gradient .*\(1, 3\)"):
        step(np.ones((3, 1)), np.ones((1, 3)))
    with pytest.raises(ValueError, match="the first has no 'b'"):
        step({"a": 1.0}, {"b": 1.0})
    for model_and_state in ((model(),), ({"a": 1.0}, None), (2.0,)):
        with pytest.raises(ValueError, match=r"gradient of the whole model is `None`.*\[ZL"):
            step(model_and_state[0], None, *model_and_state[1:])
    assert step({"a": 1.0, "b": {"c": 2.0}}, {"a": 1.0, "b": None})[0]["b"] == {"c": 2.0}
    with pytest.raises(ValueError, match="nothing in the dict has the name 'bias'"):
        step({"a": [1.0]}, {"a": [1.0]}, frozen=["bias", "a.0"])
    made, _ = step({"a": [1.0], "b": 2.0}, {"a": [1.0], "b": None}, frozen=("a", "a.0"))
    assert made == {"a": [1.0], "b": 2.0}


@pytest.mark.parametrize("kind", [sgd, adam])
def test_steps_refuse_a_state_that_is_not_theirs(kind):
    m, d = {"w": X, "b": 1.0}, {"w": X, "b": 1.0}
    _, state = kind(m, d)
    _, of_the_other = {sgd: adam, adam: sgd}[kind](m, d)
    for given in (0.1, {}, of_the_other):
        with pytest.raises(ValueError, match=f"the state given to {kind.__name__} is .*rate="):
            kind(m, d, given)
    for other in ({**m, "c": 1.0}, {"w": X}, {"b": 1.0}, {"w": X[:2], "b": 1.0}):
        with pytest.raises(ValueError, match="the state is that of another model"):
            kind(other, other, state)
    with pytest.raises(
        ValueError, match="the state is that of another model, or of other `frozen`"
    ):
        kind(m, d, state, frozen="b")
    with pytest.raises(ValueError, match="give the two factors"):
        adam(m, d, decay=0.9)
    kind(m, d, state)


@pytest.mark.parametrize("kind", [sgd, adam])
def test_numbers_keep_their_kind_and_infinities_stay(kind):
    m = {
        "0-d": np.array(1.5),
        "empty": np.zeros((0, 2)),
        "single": np.ones(2, np.float32),
        "none": None,
        "integer": 3,
        "number": np.float32(2.0),
        "mask": np.array([-np.inf, 1]),
    }
    d = {**{name: x for name, x in m.items() if name != "mask"}, "integer": None, "none": None}
    made, state = kind(m, {**d, "mask": np.array([0.0, 1.0])}, rate=0.1)
    made, _ = kind(made, {**d, "mask": np.array([0.0, 1.0])}, state, rate=0.1)
    for name, x in m.items():
        assert type(made[name]) is type(x)
        assert np.shape(made[name]) == np.shape(x)
        assert getattr(made[name], "dtype", None) == getattr(x, "dtype", None)
    assert made["mask"][0] == -np.inf
    assert made["mask"][1] < 1.0


@pytest.mark.parametrize("kind", [sgd, adam])
@pytest.mark.parametrize(
    ("model", "other"),
    [
        (1.0, 1j),
        (np.ones(2), np.ones(2) * 1j),
        (np.ones(2), [1.0, 2.0]),
        (np.ones(2), np.array(["a", "b"])),
        (1.0, True),
        ({"a": 1.0, "b": 2.0}, {"a": 1.0}),
    ],
)
def test_what_is_not_the_gradient_of_the_model_is_refused(kind, model, other):
    with pytest.raises(ValueError, match=r"give the gradient of this model|has no 'b'"):
        kind(model, other)


def test_a_dict_that_lacks_a_key_has_another_structure():
    given = Slotted(1.0, 2.0)
    made = tree_map(lambda x, d: d, given, Tangent(given, a=3.0))
    assert (made.a, made.b) == (3.0, None)  # a `Tangent` has no field where it is zero
    with pytest.raises(ValueError, match="another has no 'b'"):
        tree_map(np.add, {"a": 1.0, "b": 2.0}, {"a": 1.0})


@pytest.mark.parametrize(
    ("tree", "other", "place"),
    [
        ([], [1.0], "the top"),
        ({"a": {"b": ()}}, {"a": {"b": 2.0}}, "a.b"),
        ([1.0, {}], [1.0, 2.0], "1"),
        ([{"a": 1.0}], [{"b": 1.0}], "0"),
        ({"a": [1.0, [2.0]]}, {"a": [1.0, [2.0, 3.0]]}, "a.1"),
    ],
)
def test_trees_that_differ_are_refused_where_they_differ(tree, other, place):
    with pytest.raises(ValueError, match=rf"the trees differ at {place}: "):
        tree_map(lambda x, _: x, tree, other)
    assert tree_map(lambda x, _: x, tree, None) == tree


# -- Jacobians and Hessians of trees, by trees ---------------------------------------------------


def blocks(p):
    w, (t, rest) = p["w"], p["t"]
    return {"y": w @ np.ones(3) * p["b"], "z": (t.sum() * rest[0], [w[0] * p["n"]])}


def test_jacobians_of_trees_are_trees_of_blocks():
    p = {"w": np.arange(6.0).reshape(2, 3), "b": 0.5, "n": 3, "text": "x", "t": (X, [2.0])}
    for made in (jacobian, jacfwd):
        for _ in range(3):
            found = made(blocks)(p)
            assert found["y"]["text"] is None
            np.testing.assert_array_equal(found["y"]["w"], 0.5 * np.eye(2)[:, :, None] * np.ones(3))
            np.testing.assert_array_equal(found["y"]["b"], p["w"].sum(1))
            np.testing.assert_array_equal(found["z"][0]["t"][0], 2 * np.ones(3))
            np.testing.assert_array_equal(found["z"][0]["t"][1][0], X.sum())
            np.testing.assert_array_equal(found["z"][1][0]["w"][:, 0], 3 * np.eye(3))
            np.testing.assert_array_equal(found["z"][1][0]["n"], p["w"][0])


def test_hessians_of_objects_are_objects_of_objects():
    def energy(layer):
        return np.sum(layer.w**3) * layer.b

    for _ in range(3):
        found = hessian(energy)(Layer(X, 2.0))
        assert isinstance(found, Tangent)
        assert isinstance(found.w, Tangent)
        np.testing.assert_allclose(found.w.w, np.diag(12 * X))
        np.testing.assert_allclose(found.w.b, 3 * X**2)
        np.testing.assert_allclose(found.b.w, 3 * X**2)
        assert found.b.b == 0.0


@pytest.mark.parametrize("method", ["L-BFGS-B", "trust-exact", "Newton-CG"])
def test_scipy_takes_hessians_of_models_too(method):
    xs = np.linspace(-1.0, 1.0, 9)
    start, back = ravel(Point(np.zeros(2), 0.0))

    def error(v):
        line = back(v)
        return np.mean((line.x[0] * xs + line.x[1] * xs**2 + line.y - xs + 2 * xs**2) ** 2)

    more = {"trust-exact": {"hess": hessian(error)}, "Newton-CG": {"hessp": hvp(error)}}
    found = scipy.optimize.minimize(
        error, start, jac=grad(error), method=method, **more.get(method, {})
    )
    np.testing.assert_allclose(found.x, [1.0, -2.0, 0.0], atol=1e-4)


@pytest.mark.parametrize("optimizer", [functools.partial(sgd, momentum=0.5), adam])
def test_the_state_of_an_optimizer_belongs_to_keys_and_not_to_positions(optimizer):
    g = {"a": 1.0, 1: 10.0, "1": 100.0}
    model, state = optimizer({"a": 0.0, 1: 0.0, "1": 0.0}, g, rate=1.0)
    state = pickle.loads(pickle.dumps(state))
    expected, _ = optimizer(model, g, state, rate=1.0)
    for keys in itertools.permutations(model):
        turned = {key: model[key] for key in keys}
        assert optimizer(turned, g, state, rate=1.0)[0] == expected


@pytest.mark.parametrize("optimizer", [functools.partial(sgd, momentum=0.5), adam])
def test_the_state_of_other_parts_is_refused(optimizer):
    g = {"a": 1.0, "b": 100.0}
    model, state = optimizer({"a": 0.0, "b": 0.0}, g, frozen=["b"])
    optimizer(model, g, state, frozen=["b"])
    for other, frozen in ((model, ["a"]), (model, []), ({"c": 0.0, "b": 0.0}, ["b"])):
        with pytest.raises(ValueError, match="the state is that of another model"):
            optimizer(other, {key: 1.0 for key in other}, state, frozen=frozen)
