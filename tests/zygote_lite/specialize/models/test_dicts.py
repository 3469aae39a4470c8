"""Dicts in specialized code, as arguments and made inside: as the tape has them."""

import copy
import math
from collections import OrderedDict, defaultdict

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import answers, assert_agreement, generic, is_alike
from zygote_lite import DifferentiationError, export_adjoint, hvp, jit, testing, value_and_grad
from zygote_lite._interface.gradients import raw_value_and_gradient

RNG = np.random.default_rng(0)


def parameters():
    """Return the parameters of a network of two layers, and what else one keeps with them."""
    shapes = {"W1": (2, 4), "b1": (4,), "W2": (4, 3), "b2": (3,)}
    made = {key: RNG.normal(size=shape) for key, shape in shapes.items()}
    return {**made, "rate": 0.5, "steps": 3, "name": "net", "unused": RNG.normal(size=2)}


def data():
    return RNG.normal(size=(5, 2)), RNG.normal(size=(5, 3))


def network(params, x, y):
    h = np.tanh(x @ params["W1"] + params["b1"])
    out = h @ params["W2"] + params["b2"]
    return np.mean((out - y) ** 2) * params["rate"] + 0.1 * params["steps"]


def penalty(params):
    total = 0.0
    for key, value in params.items():
        if key.startswith("W"):
            total = total + np.sum(value**2)
    return total


def by_number(params):
    x = 0.5
    for i in range(1, 3):
        x = np.sum(np.tanh(x * params[f"W{i}"])) + params["b" + str(i)][0]
    return x


def asks(params):
    if "rate" in params and "absent" not in params and len(params) > 2:
        entry = params["W1"] if params.get("none") is None else params["none"]
        return params["rate"] * params.get("absent", 2.0) + entry[0, 0]
    return params["absent"]


def changed_copies(params):
    doubled = {key: params[key] * 2.0 for key in ("W1", "b1")}
    doubled["b1"] = doubled["b1"] * params["rate"]
    doubled["rate"] = 3.0
    doubled["rate"] *= params["rate"]
    merged = {**params, **doubled, "more": params["b2"]}
    kept = dict(merged, last=params["W2"])
    again = kept.copy()
    again["last"] = again["last"] * 0.5
    total = 0.0
    for key in again:
        if key not in ("name", "steps", "rate"):
            total = total + np.sum(again[key] * kept[key])
    return total * len(again) * again["rate"]


def as_keywords(params):
    return weighted(**{"x": params["rate"], **{"w": params["steps"]}}) + weighted(
        w=params["rate"], **{"x": 2.0}
    )


def weighted(x, w, scale=2.0):
    return x * x * w * scale


PROGRAMS = [penalty, by_number, asks, changed_copies, as_keywords]


def keys_in_order(d):
    """Return the keys of a gradient, in their order, with those inside."""
    if isinstance(d, dict):
        return [(key, type(key), keys_in_order(part)) for key, part in d.items()]
    return [keys_in_order(part) for part in d] if isinstance(d, tuple | list) else None


def assert_answered(f, *xs, argnums=(0,)):
    """Assert that specialized code answers, as the tape does, keys in order too."""
    assert assert_agreement(f, xs, argnums=argnums)
    assert answers(f, xs)
    _, (_, want) = generic(f, xs, argnums)
    assert keys_in_order(raw_value_and_gradient(f, argnums)(*xs)[1]) == keys_in_order(want)


def difference(f, params, key, xs=(), h=1e-6):
    """Return the gradient by one entry, by differences."""
    found = np.zeros(np.shape(params[key]))
    for at in np.ndindex(found.shape):
        ends = []
        for step in (h, -h):
            given = copy.deepcopy(params)
            given[key] = np.array(given[key], dtype=float)
            given[key][at] += step
            ends.append(f(given, *xs))
        found[at] = (ends[0] - ends[1]) / (2 * h)
    return found


def test_a_network_of_a_dict_of_parameters():
    params, (x, y) = parameters(), data()
    assert_answered(network, params, x, y, argnums=(0, 1))
    value, (found, _) = value_and_grad(network, (0, 1))(params, x, y)
    assert value == network(params, x, y)
    assert [*found] == [*params]
    np.testing.assert_array_equal(found["unused"], np.zeros_like(params["unused"]))
    assert found["name"] is None
    for key in ("W1", "b1", "W2", "b2"):
        expected = difference(network, params, key, (x, y))
        np.testing.assert_allclose(found[key], expected, rtol=1e-6, atol=1e-8)
    assert found["steps"] == pytest.approx(0.1)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f):
    params = parameters()
    assert_answered(f, params)
    found = value_and_grad(f)(params)[1]
    for key in ("W1", "b1", "rate"):
        expected = difference(f, params, key)
        got = np.zeros(expected.shape) if found[key] is None else found[key]
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


def test_a_dict_that_is_constant():
    params, (x, y) = parameters(), data()
    assert_answered(network, params, x, y, argnums=(1,))


def nested(p):
    total = p["t"][0] * p["deep"]["inner"]["x"]
    for layer in p["layers"]:
        total = total + np.sum(layer["w"] * layer["scale"])
    for a, b in zip(p["deep"]["inner"].values(), p["list"]):
        total = total + a * b
    return total


def structures():
    return {
        "t": (2.0, 3.0),
        "layers": [{"w": RNG.normal(size=3), "scale": 0.5}, {"w": RNG.normal(size=4), "scale": 2}],
        "deep": {"inner": {"x": 1.5, "y": -0.5}, "empty": {}, "text": {"a": "b"}},
        "list": [1.0, 2.0],
        "": 1.0,
        'a "quoted" \\ key': 2.0,
        "class": 3.0,
    }


def test_structures_inside():
    assert_answered(nested, structures())


def test_a_long_list_in_a_dict():
    def f(p):
        total = 0.0
        for x in p["xs"]:
            total = total + x * x * p["a"]
        return total

    assert_agreement(f, ({"xs": RNG.normal(size=100).tolist(), "a": 2.0},))
    assert answers(f, ({"xs": RNG.normal(size=90).tolist(), "a": 2.0},))


def in_order(p):
    total = 0.0
    for value in p.values():
        total = total * 2.0 + value
    return total


class Text(str):
    """A text with a class of its own."""


SUBCLASSES = [OrderedDict, lambda d: defaultdict(float, d), type("Own", (dict,), {})]


OTHERS = [
    {"b": 2.0, "a": 1.0}, {"a": 1.0}, {"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.0, "c": 2.0}, {},
    {"a": 1, "b": 2.0}, {"a": True, "b": 2.0}, {"a": np.float64(1.0), "b": 2.0}, {"a": 1.0, 3: 2.0},
    {"a": np.ones(2), "b": 2.0}, {"a": None, "b": 2}, {"a": (1.0,), "b": 2.0}, [1.0, 2.0], None,
    {Text("a"): 1.0, "b": 2.0}, {np.str_("a"): 1.0, "b": 2.0},
    *[kind({"a": 1.0, "b": 2.0}) for kind in SUBCLASSES],
]  # fmt: skip


@pytest.mark.parametrize("other", OTHERS, ids=range(len(OTHERS)))
def test_dicts_that_do_not_enter(other):
    first = ({"a": 1.0, "b": 2.0},)
    assert assert_agreement(in_order, first, (other,))
    kind, *want = generic(in_order, (other,), (0,))
    if kind == "value":
        found = raw_value_and_gradient(in_order, (0,))(other)
        assert keys_in_order(found[1]) == keys_in_order(want[0][1])


def test_keys_that_are_equal_and_not_the_same_objects_enter():
    first = {"".join(["layer", " 1"]): 1.0, "b": 2.0}
    assert_answered(in_order, first)
    assert answers(in_order, ({"".join(["layer", " 1"]): 1.0, "b": 2.0},))


def product(p, q):
    return np.sum(p["a"] * q["a"]) * np.sum(p["b"])


@pytest.mark.parametrize("n", [2, np.int64(3), True])
def test_an_integer_among_arrays(n):
    def f(p):
        return np.sum(p["n"] * p["x"] ** 2) + np.sum(p["x"])

    x = RNG.normal(size=3)
    assert_answered(f, {"n": n, "x": x})
    found = value_and_grad(f)({"n": n, "x": x})[1]
    assert found["n"] == (None if n is True else pytest.approx(np.sum(x**2)))


def test_one_array_at_two_places():
    w = RNG.normal(size=3)
    apart = ({"a": w, "b": w.copy()}, {"a": w.copy()})
    assert assert_agreement(product, apart)
    shared = {"a": w, "b": w}, {"a": w}
    assert answers(product, shared)
    differentiated = value_and_grad(product, (0, 1))
    want = generic(product, shared, (0, 1))[1]
    assert is_alike(differentiated(*shared), want)
    found = differentiated(*shared)[1]
    arrays = [found[0]["a"], found[0]["b"], found[1]["a"]]
    assert not any(np.shares_memory(a, b) for a in arrays for b in arrays if a is not b)


def test_one_dict_or_list_at_two_places():
    def f(p):
        return p["a"]["x"] * p["b"]["x"] ** 2 * p["c"][0] * p["d"][0]

    shared, xs = {"x": 3.0}, [2.0]
    first = {"a": {"x": 3.0}, "b": {"x": 3.0}, "c": [2.0], "d": [2.0]}
    assert assert_agreement(f, (first,))
    assert answers(f, (first,))
    for given in ({**first, "a": shared, "b": shared}, {**first, "c": xs, "d": xs}):
        assert not answers(f, (given,))
        assert is_alike(value_and_grad(f, (0,))(given), generic(f, (given,), (0,))[1])


def test_one_dict_given_twice_is_refused():
    p = {"a": RNG.normal(size=2), "b": RNG.normal(size=2)}
    differentiated = value_and_grad(product, (0, 1))
    for _ in range(3):
        differentiated(p, dict(p))
    with pytest.raises(DifferentiationError, match="arguments 1 and 2 share one dict"):
        differentiated(p, p)


def test_the_gradient_is_a_new_dict_each_time():
    differentiated = value_and_grad(in_order)
    p = {"a": 1.0, "b": 2.0}
    first = [differentiated(p)[1] for _ in range(4)][-1]
    first["a"] = 99.0
    assert differentiated(p)[1] == {"a": 2.0, "b": 1.0}


def writes(p):
    p["a"] = p["a"] * 2.0
    return p["a"] * p["b"]


def pops(p):
    return p.pop("a") * p["b"]


def fills(p):
    return p.setdefault("c", p["a"]) * p["b"]


@pytest.mark.parametrize("f", [writes, pops, fills], ids=lambda f: f.__name__)
def test_an_argument_is_changed_as_by_the_program(f):
    assert assert_agreement(f, ({"a": 1.5, "b": 2.0},)) or f is pops


def keys_that_are_no_names(x, n):
    d = {"of x": x, "for": x * x}
    for _ in range(n):
        d = {"of x": d["for"] * 2.0, "for": d["of x"]}
    return d["of x"] + d["for"]


def test_keys_in_a_loop_need_not_be_names():
    assert assert_agreement(keys_that_are_no_names, (1.5, 3), (0.5, 2), argnums=(0,))
    assert value_and_grad(keys_that_are_no_names)(1.5, 3) == (12.0, 14.0)


def changed(x, y):
    d = {"a": x, "b": y, "gone": 3.0}
    d.update({"a": x * y}, c=x + y)
    d.update([("d", x)])
    total = d.pop("gone") * d.pop("none", 2.0) + d.setdefault("a", 7.0) * d.setdefault("e", y)
    key, value = d.popitem()
    total = total * value + len(key) + d["c"] * d["d"]
    del d["c"]
    seen = 0.0
    for k in d:
        seen = seen + d[k] * len(d)
    d.clear()
    return total * seen + len(d)


def popped_in_vain(x, y):
    d = {"a": x}
    try:
        return d.pop("b") * x
    except KeyError:
        return d["a"] * y


def taken_of_nothing(x, y):
    try:
        return {}.popitem()[1] * x
    except KeyError:
        return x * y


def grown_by_update(x, y):
    d = {"a": x}
    for key in d:
        d.update(b=y, c=key)
    return d["a"] * d["b"]


def updated_on_a_path(x, y):
    d = {"a": x}
    if x > 1.0:
        d.update(a=x * x, b=y)
    return d["a"] * d.get("b", 2.0)


@pytest.mark.parametrize("f", [changed, popped_in_vain, taken_of_nothing, updated_on_a_path])
def test_dicts_that_are_changed_where_they_are_made(f):
    with testing.transformed_only():
        assert value_and_grad(f, (0, 1))(1.5, 2.0)[0] == f(1.5, 2.0)
    assert assert_agreement(f, (1.5, 2.0), (0.5, 3.0), (2, 1.0))


def test_a_dict_that_grows_under_a_loop_raises():
    assert assert_agreement(grown_by_update, (1.5, 2.0)) is False


def made_inside(x, y):
    d = {"a": x, "b": {"c": y}}
    d["e"] = d["a"] * d["b"]["c"]
    alias = d
    alias["a"] = 3.0
    counts = dict(zip(("k", "l"), (x, y)))
    pairs = dict([("m", x)], n=y)
    table = {(0, 1): x, None: y, True: 2.0}
    total = d["a"] * d["e"] + counts["k"] * pairs["n"] + table[0, 1] * table[None] * table[1]
    for key, value in sorted_like(d):
        total = total + value * len(key)
    return total + sum({"u": x, "v": y}.values())


def sorted_like(d):
    return [(key, d[key]) for key in list(d) if key != "b"]


def test_dicts_made_inside():
    x, y = 1.5, 0.5
    assert_answered(made_inside, x, y, argnums=(0, 1))
    h = 1e-6
    found = value_and_grad(made_inside, (0, 1))(x, y)[1]
    assert found[0] == pytest.approx((made_inside(x + h, y) - made_inside(x - h, y)) / (2 * h))
    assert found[1] == pytest.approx((made_inside(x, y + h) - made_inside(x, y - h)) / (2 * h))


def written_on_a_path(x):
    d = {"a": x}
    if x > 1:
        d["a"] = x * x
    return d["a"]


def written_in_a_loop(x):
    d = {"a": x, "n": 0.0}
    for i in range(3):
        d["a"] = d["a"] * x
        d["n"] = d["n"] + i
    return d["a"] * d["n"]


def grows_while_walked(x):
    d = {"a": x}
    for key in d:
        d[key + "b"] = x
    return d["a"]


def grows_while_its_items_are_walked(x):
    d = {"a": x}
    for key, value in d.items():
        d[key + "b"] = value
    return d["a"]


def holds_itself(x):
    d = {"a": x}
    d["d"] = d
    return d["d"]["d"]["a"] * x


def unpacks(x):
    return x if x > 0 else unpacked({"only": x})


def unpacked(d):
    _, b = d
    return b


def takes_an_item_of_a_view(x):
    return x if x > 0 else {"a": x}.values()[0]


def takes_an_item_of_an_iterator(x):
    return x if x > 0 else reversed([x, 2.0])[0]


def missing(x):
    d = {"a": x}
    return d["a"] if x > 0 else d["b"]


@pytest.mark.parametrize("f", [
    written_on_a_path, written_in_a_loop, grows_while_walked, grows_while_its_items_are_walked,
    holds_itself, unpacks, takes_an_item_of_a_view, takes_an_item_of_an_iterator, missing,
], ids=lambda f: f.__name__)  # fmt: skip
def test_what_dicts_do_otherwise(f):
    assert_agreement(f, (1.5,), (0.5,), (-0.5,))


def test_a_dict_that_grows_while_it_is_walked_has_no_code():
    """Not even at the first call, before the tape has raised the program's error."""
    for f in (grows_while_walked, grows_while_its_items_are_walked):
        assert "iterates over" in testing.why_recorded(f, 1.5)


def loaded(text):
    space = {"np": np, "math": math}
    exec(compile(text, "<exported>", "exec"), space)
    return space


def test_export():
    params, (x, y) = parameters(), data()
    text = export_adjoint(network, params, x, y, argnums=0)
    module = loaded(text)
    value, found = module["network_value_and_gradient"](params, x, y)
    want, expected = value_and_grad(network)(params, x, y)
    assert value == pytest.approx(want)
    assert [*found] == [*expected]
    assert is_alike(found, expected)
    with pytest.raises(TypeError, match="expected params: dict"):
        module["network_value_and_gradient"](dict(reversed(params.items())), x, y)
    text = export_adjoint(nested, structures(), argnums=0)
    given = structures()
    _, found = loaded(text)["nested_value_and_gradient"](given)
    assert is_alike(found, value_and_grad(nested)(given)[1])
    twice = {**given, "layers": [given["layers"][0]] * 2}
    with pytest.raises((TypeError, ValueError)):
        loaded(text)["nested_value_and_gradient"](twice)


def test_export_refuses_keys_that_are_no_text():
    with pytest.raises(
        DifferentiationError, match="the dict p has too many keys, or keys that are not text"
    ):
        export_adjoint(in_order, {1: 2.0})


def test_hvp():
    def f(p, x):
        return np.sum(np.sin(x * p["a"]) * p["b"])

    p = {"a": 0.5, "b": RNG.normal(size=3)}
    x, v = RNG.normal(size=3), RNG.normal(size=3)
    expected = -(p["a"] ** 2) * np.sin(x * p["a"]) * p["b"] * v
    for _ in range(3):
        np.testing.assert_allclose(hvp(f, 1)(p, x, v), expected)
    assert testing.programs(f, "product")

    def g(p):
        return p["a"] ** 3 * p["b"]

    for _ in range(3):
        assert hvp(g)({"a": 2.0, "b": 3.0}, {"a": 1.0, "b": 10.0}) == {"a": 156.0, "b": 12.0}


def oscillator(p, n):
    x, v = p["start"], 0.0
    for _ in range(n):
        v = v - p["k"] * x * p["step"]
        x = x + v * p["step"]
    return x * x


def test_jit():
    pytest.importorskip("numba")
    p = {"start": 1.0, "k": 2.0, "step": 0.01, "unused": 1.0, "kind": "spring"}
    want = generic(oscillator, (p, 50), (0,))[1]
    compiled = jit(oscillator)
    differentiated = value_and_grad(compiled, (0,))
    for _ in range(2):
        assert compiled(p, 50) == pytest.approx(oscillator(p, 50), rel=1e-12)
        value, (found,) = differentiated(p, 50)
        assert value == pytest.approx(want[0], rel=1e-12)
        assert is_alike(found, want[1][0], 1e-12)
        assert [*found] == [*p]
    assert len(testing.programs(oscillator)) == 2
    other = {key: p[key] for key in reversed(p)}
    assert [*differentiated(other, 50)[1][0]] == [*other]


def test_jit_warns_of_a_dict_that_it_does_not_take():
    pytest.importorskip("numba")

    def f(p):
        return p[1] * 2.0

    with pytest.warns(
        RuntimeWarning, match="f runs uncompiled: an argument is not a number, array"
    ):
        assert jit(f)({1: 2.0}) == 4.0


def of_unpacked(p):
    a, b = p.values()
    (k, _), (name, *_) = p, p.items()
    first, *rest = [*p.values(), a * 2.0]
    scale = math.hypot(*[y.sum() for y in (*p.values(),)]) + len(name)
    return (a * b * p[k]).sum() + (rest[-1] * scale + first * len([*p.keys(), *p.items()])).sum()


def test_views_of_dicts_are_unpacked():
    p = {"w": np.array([0.5, -0.3]), "b": np.array([0.7, 1.1])}
    testing.forget(of_unpacked)
    assert testing.why_recorded(of_unpacked, p) is None
    for given in (p, {"b": p["b"], "w": p["w"] * 2.0}, {"one": p["w"], "other": p["b"]}):
        with testing.transformed_only():
            y, d = value_and_grad(of_unpacked)(given)
        with testing.recorded_only():
            right = value_and_grad(of_unpacked)(given)
        assert y == right[0] == of_unpacked(given)
        assert d.keys() == given.keys()
        for key in d:
            np.testing.assert_allclose(d[key], right[1][key], rtol=1e-13)
    for given in ({"w": p["w"]}, {**p, "c": p["w"]}):
        for _ in range(4):
            with pytest.raises(ValueError, match="unpack"):
                value_and_grad(of_unpacked)(given)
