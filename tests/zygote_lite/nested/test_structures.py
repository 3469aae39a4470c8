"""Gradients by dicts, lists and objects, differentiated again: against differences."""

import copy
import functools
import math

import numpy as np
import pytest

from rulescore import RuleSet, Tangent, accumulate
from tests.zygote_lite.checks.comparing import assert_close, assert_same, entry_at
from tests.zygote_lite.checks.finite_differences import leaves, replaced
from tests.zygote_lite.checks.structures import Line, Pair
from zygote_lite import (
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    jvp,
    pullback,
    testing,
    value_and_grad,
)
from zygote_lite.errors import DifferentiationError

X = np.array([[0.5, -1.0], [1.5, 0.3], [-0.2, 0.8]])
Y = np.array([0.3, -0.4, 0.9])


class Network:
    def __init__(self):
        self.first = Line(np.array([[0.3, -0.5], [0.2, 0.7]]), 0.1)
        self.last = Line(np.array([0.9, -0.4]), -0.2)

    def __call__(self, x):
        return self.last(self.first(x))


class Slots:
    __slots__ = ("u", "v")

    def __init__(self, u, v):
        self.u, self.v = u, v


class Cached:
    def __init__(self, x):
        self.x = x

    @property
    def square(self):
        return self.x * self.x

    def grow(self):
        self.x = self.square + self.x
        return self


def params():
    return {"w": np.array([0.6, -0.9]), "b": 0.4}


def fit(p):
    return np.mean((np.tanh(X @ p["w"]) + p["b"] - Y) ** 2)


def by_names(p):
    return sum(p[name] ** 3 * i for i, name in enumerate(sorted(p), 1))


def by_items(p):
    total = 1.0
    for value in p.values():
        total = total * value
    return total * total


def written(p):
    q = dict(p)
    q["a"] = q["a"] * q["b"]
    q["c"] = q.pop("a") ** 2
    return q["c"] * p["a"]


def written_in_place(p):
    y = p["w"] * 1.0
    y[0] = y[1] * p["b"] ** 2
    return np.sum(y**3)


def unpacked(p):
    def inner(*, a, b):
        return a * b * b

    return inner(**p)


def of_rows(p):
    return sum((row[0] * row[1]) ** 2 for row in p["rows"])


def merged(p):
    q = {**p, "c": p["a"] * p["b"]}
    return q["c"] ** 2 * q["a"]


def closures(p):
    f = lambda x: p["a"] * x * x
    return f(f(p["b"]))


def matrix(p):
    return np.linalg.det(p["m"]) * p["s"] ** 2


def branches(p):
    return p["a"] ** 3 if p["a"] > 0 else p["b"]


def folded(items):
    return functools.reduce(lambda a, b: a * b + a, items)


def appended(items):
    rest = [*items]
    rest.append(items[0] * items[1])
    rest[0] = rest[2] ** 2
    return rest[0] * rest[1] + rest[-1]


def model_loss(model):
    return np.sum((model(X) - Y) ** 2)


def moved(model):
    model = copy.copy(model)
    model.b = model.b * model.b
    return np.sum(model(X) ** 2)


def loop(p):
    x, v = p["x"], p["v"]
    for _ in range(3):
        v = v - 0.1 * p["k"] * x
        x = x + 0.1 * v
    return x * x


A, B = {"a": 0.7, "b": -1.2}, {"a": 1.3, "b": 0.4}
SQUARE = np.array([[2.0, 0.3], [0.1, 1.0]])
FUNCTIONS = {
    "least squares": (fit, params()),
    "names": (by_names, A),
    "items": (by_items, {"a": 0.7, "b": 1.3, "c": -0.5}),
    "a dict that is written": (written, B),
    "an array that is written": (written_in_place, params()),
    "keywords": (unpacked, A),
    "rows": (of_rows, {"rows": [[0.3, 0.5], [1.1, -0.7]]}),
    "dicts of dicts": (
        lambda p: p["in"]["x"] ** 2 * p["out"]["y"] ** 3,
        {"in": {"x": 1.2}, "out": {"y": 0.8}},
    ),
    "tuples in dicts": (lambda p: p["t"][0] * p["t"][1] ** 2 * p["s"], {"t": (0.5, 1.5), "s": 2.0}),
    "named tuples in dicts": (lambda p: p["t"].a ** 2 * p["t"].b, {"t": Pair(0.5, 1.5)}),
    "merged dicts": (merged, B),
    "closures": (closures, B),
    "a matrix": (matrix, {"m": SQUARE, "s": 1.5}),
    "a branch": (branches, B),
    "an unused entry": (lambda p: np.sum(p["w"] ** 3), {**params(), "name": "p", "n": 3}),
    "a linear function": (lambda p: 2.0 * p["b"] + np.sum(p["w"]), params()),
    "a constant": (lambda p: 3.0, params()),
    "numbers of NumPy": (lambda p: np.sin(p["a"]) * p["b"] ** 2, {"a": np.float64(0.7), "b": 2.0}),
    "keys that are numbers": (lambda p: p[0] * p[1] ** 2, {0: 0.7, 1: 1.3}),
    "a loop": (loop, {"x": 1.0, "v": 0.5, "k": 2.0}),
    "a list": (lambda v: v[0] ** 2 * v[1] + math.exp(v[1]), [0.7, 1.3]),
    "a list that is folded": (folded, [0.7, 1.3, 0.2]),
    "a list that is appended to": (appended, [0.7, 1.3, 0.2]),
    "a tuple": (lambda t: t[0] * np.sum(t[1] ** 3), (0.7, np.array([1.0, 2.0]))),
    "a tuple of dicts": (lambda t: fit(t[0]) * t[1]["s"] ** 2, (params(), {"s": 0.7})),
    "a line": (model_loss, Line(np.array([0.6, -0.9]), 0.4)),
    "a network": (model_loss, Network()),
    "slots": (lambda s: np.sum(s.u**2) * s.v**3, Slots(np.array([0.5, 1.5]), 0.7)),
    "a property": (lambda c: c.square * c.x, Cached(1.3)),
    "an object that is written": (lambda c: Cached(c.x * 2.0).grow().square, Cached(0.7)),
    "a copy of an object": (moved, Line(np.array([0.6, -0.9]), 0.4)),
    "objects in lists": (lambda v: v[0].square * v[1].x, [Cached(0.7), Cached(1.3)]),
    "objects in dicts": (
        lambda p: np.sum(p["m"](X) ** 2) * p["s"],
        {"m": Line(Y[:2], 0.1), "s": 2.0},
    ),
}  # fmt: skip


def blocks(f, x, step=1e-5):
    """Yield the paths of two leaves, and the Hessian's block for them by differences."""
    known = [*leaves(x)]
    for path, leaf in known:
        for other, moving in known:
            shape = np.shape(leaf)
            block = np.zeros(shape + np.shape(moving))
            for index in np.ndindex(np.shape(moving)):
                ends = []
                for h in (step, -step):
                    moved = np.array(moving, float)
                    moved[index] += h
                    given = moved if isinstance(moving, np.ndarray) else float(moved)
                    found = gradient(f, replaced(copy.deepcopy(x), other, given))[0]
                    d = entry_at(found, path)
                    ends.append(np.zeros(shape) if d is None else d)
                block[(..., *index)] = (ends[0] - ends[1]) / (2 * step)
            yield path, other, block


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_hessians(name):
    f, x = FUNCTIONS[name]
    before = copy.deepcopy(x)
    expected = [*blocks(f, x)]
    assert expected
    for _ in range(3):
        found = hessian(f)(x)
        for path, other, block in expected:
            got = entry_at(entry_at(found, path), other)
            np.testing.assert_allclose(got, block, rtol=1e-5, atol=1e-6, err_msg=f"{path} {other}")
    with testing.recorded_only():
        assert_close(hessian(f)(x), found, 1e-12)
    v = grad(f)(x)
    for _ in range(3):
        product = hvp(f)(x, v)
        for path, leaf in leaves(x):
            total = np.zeros(np.shape(leaf))
            for one, other, block in expected:
                if one == path:
                    part = entry_at(v, other)
                    total = total + np.tensordot(block, part, axes=np.ndim(part))
            np.testing.assert_allclose(entry_at(product, path), total, rtol=1e-4, atol=1e-5)
    assert_same(x, before)


def test_the_form_of_a_hessian():
    """It has the structure of the argument, twice, as in JAX."""
    found = hessian(lambda p: p["a"] ** 2 * p["b"][0] + len(p["name"]))(
        {"a": 3.0, "b": [2.0], "name": "p"}
    )
    expected = {
        "a": {"a": 4.0, "b": [6.0], "name": None},
        "b": [{"a": 6.0, "b": [0.0], "name": None}],
        "name": None,
    }
    assert_close(found, expected)
    found = hessian(lambda line: line.b**3)(Line(np.ones(2), 2.0))
    assert repr(found.b) == "Tangent[Line](w=array([0., 0.]), b=array(12.), name=None)"
    assert (type(found), found._primal, found.name) == (Tangent, Line, None)


def test_jacobians_of_structures():
    def f(p, n):
        return {"a": p["w"] * p["b"], "n": n, "t": (p["b"] ** 2, [p["w"][:n]])}

    w, b = np.array([2.0, 3.0]), 4.0
    for _ in range(3):
        found = jacobian(f)({"w": w, "b": b, "label": "p"}, 1)
        assert [*found] == ["a", "n", "t"]
        np.testing.assert_array_equal(found["a"]["w"], b * np.eye(2))
        np.testing.assert_array_equal(found["a"]["b"], w)
        assert found["a"]["label"] is None
        np.testing.assert_array_equal(found["n"]["w"], np.zeros(2))
        np.testing.assert_array_equal(found["t"][0]["b"], 8.0)
        np.testing.assert_array_equal(found["t"][1][0]["w"], [[1.0, 0.0]])
    found = jacobian(lambda x: Line(x * x, 3.0))(w)
    np.testing.assert_array_equal(found.w, np.diag(2 * w))
    np.testing.assert_array_equal(found.b, np.zeros(2))
    assert jacobian(lambda x: [])(w) == []
    assert jacobian(lambda p: np.zeros(0))({"w": w})["w"].shape == (0, 2)


def test_a_hessian_inside_a_differentiated_function():
    def f(s):
        found = hessian(lambda p: p["a"] ** 3 * p["b"] ** 2)({"a": s, "b": 2.0 * s})
        return found["a"]["b"] * found["b"]["b"] + found["a"]["a"]

    h = 1e-5
    expected = (f(0.7 + h) - f(0.7 - h)) / (2 * h)
    assert gradient(f, 0.7)[0] == pytest.approx(float(expected), rel=1e-7)


def test_a_product_with_the_hessian_inside():
    def f(s, v):
        return hvp(lambda p: p["a"] ** 3 * p["b"])({"a": s, "b": 2.0}, {"a": v, "b": v * v})["a"]

    # 6ab v + 3a^2 v^2
    found = gradient(f, 0.7, 0.3)
    assert found == (
        pytest.approx(12 * 0.3 + 6 * 0.7 * 0.09),
        pytest.approx(12 * 0.7 + 6 * 0.49 * 0.3),
    )


def test_a_descent_that_is_differentiated():
    """What learns a learning rate, or a start, differentiates gradients by dicts and objects."""

    def by_dict(rate, start):
        p = {"w": start, "b": 0.0, "unused": 1.0}
        for _ in range(3):
            g = grad(fit)(p)
            p = {name: p[name] - rate * g[name] for name in p}
        return fit(p)

    def by_object(rate, start):
        line = Line(start, 0.0)
        for _ in range(3):
            value, g = value_and_grad(model_loss)(line)
            line = Line(line.w - rate * g.w, line.b - rate * g["b"])
        return model_loss(line) + 0.0 * value

    start, h = np.array([0.6, -0.9]), 1e-6
    for f in (by_dict, by_object):
        d_rate, d_start = gradient(f, 0.1, start)
        assert d_rate == pytest.approx((f(0.1 + h, start) - f(0.1 - h, start)) / (2 * h), rel=1e-6)
        for i in range(2):
            step = h * np.eye(2)[i]
            slope = (f(0.1, start + step) - f(0.1, start - step)) / (2 * h)
            assert d_start[i] == pytest.approx(slope, rel=1e-6)


READ = {
    "attribute": lambda d: np.sum(d.w**2) * d.b,
    "subscript": lambda d: np.sum(d["w"] ** 2) * d["b"],
    "items": lambda d: sum(np.sum(x**2) * d.b for _, x in d.items() if x is not None),
    "names": lambda d: sum(np.sum(d[n] ** 2) * d.b for n in d if d[n] is not None),
    "keys": lambda d: len(d) * d.b ** sum(name in d for name in d.keys()),
    "dict": lambda d: np.sum(dict(d)["w"] ** 2),
    "default": lambda d: getattr(d, "b", 1.0) ** 2 * getattr(d, "missing", 3.0),
    "another name": lambda d: [d, d][1].b * d.b,
    "copy": lambda d: copy.copy(d).b ** 2,
    "written in place": lambda d: (d.w.__imul__(2.0), np.sum(d.w**2))[1],
    "accumulated": lambda d: accumulate(d, d).b ** 2 * np.sum(accumulate(d, d).w),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read_of_the_gradient_of_an_object(name):
    f = lambda s: READ[name](grad(lambda m: np.sum(m(X) ** 2))(Line(np.array([0.6, s]), 0.4 * s)))
    h = 1e-5
    expected = (f(-0.9 + h) - f(-0.9 - h)) / (2 * h)
    for _ in range(3):
        assert gradient(f, -0.9)[0] == pytest.approx(float(expected), rel=1e-7)
    found = gradient(READ[name], grad(model_loss)(Line(np.array([0.6, -0.9]), 0.4)))[0]
    assert type(found) is Tangent
    assert found._primal is Line


def test_a_third_derivative_by_a_dict():
    f = lambda p: p["a"] ** 3 * p["b"] ** 2
    found = jacobian(hessian(f))({"a": 0.7, "b": 1.3})
    assert found["a"]["b"]["a"] == pytest.approx(6 * 0.7 * 2 * 1.3)
    assert found["b"]["b"]["b"] == pytest.approx(0.0)
    assert found["a"]["a"]["a"] == pytest.approx(6 * 1.3**2)


def test_a_vector_that_does_not_fit():
    p = {"a": 0.7, "b": [1.3]}
    for v in (1.0, {"c": 1.0}, {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": [1.0, 2.0]}):
        with pytest.raises(TypeError, match="same shape and structure"):
            hvp(lambda p: p["a"] * p["b"][0])(p, v)
    with pytest.raises(TypeError, match="same shape and structure"):
        hvp(model_loss)(Line(Y[:2], 0.4), Line(Y[:2], 0.4))


# -- rules that take the ad --------------------------------------------------------------------


def twice(f, x):
    return f(f(x))


@pytest.fixture
def rule_of_twice():
    """The example of rulescore's README."""
    rule = RuleSet("twice_in_structures")

    @rule(twice)
    def _(f: object, x: object, *, ad):
        y, back_of_first = ad(f, x)
        z, back_of_second = ad(f, y)

        def pullback(dz):
            df, dy = back_of_second(dz)
            df_too, dx = back_of_first(dy)
            return accumulate(df, df_too), dx

        return z, pullback

    rule.register()
    yield
    rule.unregister()


class Power:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return self.scale * x * x

    def at(self, x):
        return self.scale * x * x


HANDED_IN = {
    "closure": lambda a: twice(lambda x: a * x * x, 1.5),
    "closure over an array": lambda a: np.sum(twice(lambda x: a * x * x * X[0], Y[0])),
    "closure over a dict": lambda a: (lambda p: twice(lambda x: p["a"] * x * x, 1.5))({"a": a}),
    "closure over a list": lambda a: (lambda p: twice(lambda x: p[1] * x * x, 1.5))([1.0, a]),
    "closure over an object": lambda a: (lambda m: twice(lambda x: m.scale * x * x, 1.5))(Power(a)),
    "object": lambda a: twice(Power(a), 1.5),
    "method": lambda a: twice(Power(a).at, 1.5),
    "partial": lambda a: twice(functools.partial(lambda b, x: b * x * x, a), 1.5),
    "two variables": lambda a: (lambda b: twice(lambda x: a * x * x + b * x, 1.5))(a * a),
    "the argument": lambda a: twice(lambda x: x**3, a),
    "both": lambda a: twice(lambda x: x * x * a, a),
    "nested": lambda a: twice(lambda x: twice(lambda y: a * y * y + x, x), 0.5),
    "gradient inside": lambda a: twice(lambda x: grad(lambda y: a * y**3)(x), 0.5),
    "gradient around": lambda a: grad(lambda b: twice(lambda x: a * b * x * x, 1.5))(a),
    "gradient of an object": lambda a: grad(lambda m: twice(m, 1.5))(Power(a)).scale,
    "gradient of a dict": lambda a: grad(
        lambda p: twice(lambda x: p["a"] * x * x * p["b"], 1.5)
    )({"a": a, "b": 2.0})["b"],
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", HANDED_IN)
@pytest.mark.usefixtures("rule_of_twice")
def test_functions_that_take_functions_are_differentiated_again(name):
    f, x, h = HANDED_IN[name], 0.6, 1e-4
    for order in range(2 if "gradient" in name or name == "nested" else 3):
        expected = (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h)
        for _ in range(3 - order):
            assert grad(f)(x) == pytest.approx(float(expected), rel=1e-6), order
        f = grad(f)


@pytest.mark.usefixtures("rule_of_twice")
def test_hessians_through_functions_that_take_functions():
    f = lambda p: np.sum(twice(lambda x: p["a"] * x * x + p["b"], p["c"]))
    x = {"a": 0.6, "b": np.array([0.3, -0.2]), "c": 0.9}
    found = hessian(f)(x)
    for path, other, block in blocks(f, x):
        got = entry_at(entry_at(found, path), other)
        np.testing.assert_allclose(got, block, rtol=1e-5, atol=1e-6, err_msg=f"{path} {other}")


class Parabola:
    def __init__(self, level):
        self.level = level

    def __call__(self, x):
        return x * x - self.level


def root(f, x):
    """Newton's method, with the slope by differences."""
    for _ in range(40):
        x = x - f(x) * 2e-6 / (f(x + 1e-6) - f(x - 1e-6))
    return x


def at_once(f, x):
    return f(x)


@pytest.fixture(params=["forward", "reverse"])
def rules_that_ask(request):
    """Rules that pull back several times, and drop part of what they get."""
    rule = RuleSet("rules_that_ask")

    @rule(root)
    def _(f: object, x: object, *, ad):
        y = root(f, x)
        early = ad(f, y)[1] if request.param == "forward" else None

        def pullback(dy):
            back = early or ad(f, y)[1]
            slope = back(1.0)[1]
            return back(-dy / slope)[0], None

        return y, pullback

    @rule(at_once)
    def _(f: object, x: object, *, ad):
        return ad(f, x)

    rule.register()
    yield
    rule.unregister()


@pytest.mark.usefixtures("rules_that_ask")
@pytest.mark.parametrize(
    "f",
    [
        lambda k: root(lambda x: x * x - k, 1.0),
        lambda k: root(Parabola(k), 1.0),
        lambda k: root(functools.partial(lambda k, x: x * x - k, k), 1.0),
        lambda k: (lambda p: root(lambda x: x * x - p["k"][0], 1.0))({"k": [k]}),
        lambda k: (lambda g: root(lambda x: g(x) - k, 1.0))(lambda x: x * x + 0.0 * k),
    ],
    ids=["closure", "object", "partial", "dict", "shared cell"],
)
def test_a_rule_may_drop_what_a_pullback_of_its_ad_gives(f):
    for _ in range(4):
        assert grad(f)(4.0) == pytest.approx(0.25)
    assert float(hessian(f)(4.0)) == pytest.approx(-1 / 32)


@pytest.mark.usefixtures("rules_that_ask")
@pytest.mark.parametrize(
    "f",
    [
        lambda k: at_once(lambda x: {"a": k * x * k}, 3.0)["a"],
        lambda k: at_once(lambda x: [x, k * k * x], 3.0)[1],
        lambda k: at_once(lambda x: Parabola(-k * x * k), 3.0).level * -1.0,
        lambda k: at_once(lambda q: {"a": q["a"] * k}, {"a": 3.0 * k})["a"],
    ],
    ids=["dict", "list", "object", "dict given"],
)
def test_what_a_function_given_to_a_rule_returns_may_be_a_container(f):
    for _ in range(4):
        assert grad(f)(2.0) == pytest.approx(12.0)
    assert float(hessian(f)(2.0)) == pytest.approx(6.0)


def test_cells_that_two_functions_share_are_counted_once(rule_of_twice):
    def f(k):
        inner = lambda z: k * z
        return twice(lambda x: inner(x) + k, 0.7)

    # k * (0.7 k + k) + k
    for _ in range(4):
        assert grad(f)(1.1) == pytest.approx(3.4 * 1.1 + 1)
    assert float(hessian(f)(1.1)) == pytest.approx(3.4)


def test_a_function_given_to_a_rule_may_count_but_keep_no_numbers(rule_of_twice):
    def counts(k):
        calls = 0

        def f(x):
            nonlocal calls
            calls += 1
            return k * x

        return twice(f, 1.0) * calls

    def keeps(k):
        kept = []

        def f(x):
            kept.append(k * x)
            return kept[-1]

        return twice(f, 1.0) + kept[0]

    def writes(k):
        kept = np.ones(1)

        def f(x):
            kept[0] = kept[0] * k * x
            return kept[0]

        return twice(f, 1.0) + kept[0]

    def writes_again(k):
        kept = np.ones(1)
        kept[0] = k

        def f(x):
            kept[0] = kept[0] * x
            return kept[0]

        return twice(f, 1.0) + kept[0]

    for _ in range(3):
        assert grad(counts)(2.0) == pytest.approx(8.0)
        for f in (keeps, writes, writes_again):
            with pytest.raises(DifferentiationError, match=r"test_structures\.py:\d+.*changes wh"):
                grad(f)(2.0)


# -- arrays that the inner function makes of constants, and writes to ------------------------------


def filled(z):
    o = np.zeros(2)
    o[0] = z[0] * z[1]
    return o


def filled_by_view(z):
    o = np.zeros(3)
    part = o[1:]
    part += z[1:] * z[0]
    return part


def in_a_tuple(z):
    return filled(z), z * 2.0


INSIDE = {
    "jacobian": lambda x: (jacobian(filled)(x) ** 2).sum(),
    "of a view": lambda x: (jacobian(filled_by_view)(x) ** 2).sum(),
    "pullback": lambda x: (pullback(filled, x)[1](np.array([1.0, 0.0]))[1] ** 2).sum(),
    "the value, too": lambda x: (pullback(filled, x)[1](filled(x))[1] ** 2).sum(),
    "in a tuple": lambda x: (
        pullback(in_a_tuple, x)[1]((np.array([1.0, 0.0]), np.ones(3)))[1] ** 2
    ).sum(),
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_written_array_is_returned_inside(name):
    f, x = INSIDE[name], np.array([0.5, 1.5, -0.7])
    with testing.recorded_only():
        value, d = value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-14)
    step = 1e-6
    differences = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(d, differences, rtol=1e-7, atol=1e-8)


def of_two(f, g, x):
    return f(x) * g(x)


def test_what_functions_share_that_a_rule_is_given_counts_once():
    rule = RuleSet("of_two")

    @rule(of_two)
    def _(f: object, g: object, x: float, *, ad):
        y, back = ad(lambda f, g, x: f(x) * g(x), f, g, x)
        return y, lambda dy: back(dy)[1:]

    rule.register()
    try:
        f = lambda k: of_two(lambda x: divmod(k * x, 1.0)[1], lambda x: k * x, 0.3)
        assert gradient(f, 2.0)[0] == pytest.approx(0.36)
    finally:
        rule.unregister()


def test_a_default_that_is_differentiated_around():
    w, x = np.array([0.5, -1.0]), np.array([2.0, 3.0])

    def f(w):
        return np.sum(grad(lambda x, p=w: np.sum((x * p) ** 2))(x) ** 2)

    for _ in range(3):
        np.testing.assert_allclose(grad(f)(w), 16 * x**2 * w**3)


def test_texts_in_a_gradient_that_forward_mode_goes_over():
    def f(x):
        kinds = {"size": f"{x:.3f}"}
        return x**3 * len(kinds["size"])

    with testing.recorded_only():
        slope, change = jvp(grad(f), (0.5,), (1.0,))
    assert (slope, change) == (3 * 0.25 * 5, 6 * 0.5 * 5)


def powered(x, n):
    return x**n


@pytest.fixture
def rule_with_an_option():
    """A rule that has no derivative by its second argument."""
    rule = RuleSet("rule_with_an_option")

    @rule(powered)
    def _(x: object, n=2.0):
        return powered(x, n), lambda dy: (dy * n * x ** (n - 1),)

    rule.register()
    yield
    rule.unregister()


def unpacked(k):
    x, n = k, 3.5
    pair = (x, n)
    x, n = pair
    return powered(x, n)


def through_a_function(k):
    return (lambda *xs: powered(*xs))(*(k,), 3.5)


def within(k):
    pairs = ((k, 3.5), (k * k, 0.5))
    return powered(*pairs[0]) * powered(pairs[1][0], pairs[1][1])


@pytest.mark.usefixtures("rule_with_an_option")
@pytest.mark.parametrize("f", [unpacked, through_a_function, within])
def test_a_constant_in_a_tuple_beside_what_is_differentiated_is_an_option(f):
    n = 4.5 if f is within else 3.5
    slope, curvature = n * 1.3 ** (n - 1), n * (n - 1) * 1.3 ** (n - 2)
    with testing.recorded_only():
        assert jvp(f, (1.3,), (1.0,))[1] == pytest.approx(slope)
        assert jvp(grad(f), (1.3,), (1.0,))[1] == pytest.approx(curvature)
        assert grad(grad(f))(1.3) == pytest.approx(curvature)
        assert grad(lambda k: jvp(f, (k,), (1.0,))[1])(1.3) == pytest.approx(curvature)
        assert grad(grad(grad(f)))(1.3) == pytest.approx(curvature * (n - 2) / 1.3)


@pytest.mark.parametrize(
    "f",
    [
        lambda k: grad(lambda x: (x, k)[0] * (k, x)[1] * k)(k),
        lambda k: gradient(lambda t: t[0] * t[1] ** 2, (k, 3.0))[0][1],
        lambda k: gradient(lambda t: math.prod((2.0, *t)), (k, 3.0))[0][1],
        lambda k: gradient(lambda t: (lambda *xs: xs[1] * xs[2] ** 2)(2.0, *t), (k, 3.0))[0][1],
        lambda k: pullback(lambda x: (x * k, 2.0, k), k)[1]((k, 1.0, 1.0))[1],
        lambda k: jvp(lambda x: (x * x, 2.0, k * x), (k,), (k,))[1][2],
        lambda k: jacobian(lambda x: np.stack((x, k, x * k)))(k)[2],
    ],
    ids=["closure", "argument", "joined", "called", "value", "tangent", "stacked"],
)
def test_tuples_whose_entries_are_of_either_level(f):
    h = 1e-5
    expected = (f(1.3 + h) - f(1.3 - h)) / (2 * h)
    for within_modes in (testing.recorded_only, testing.strict):
        with within_modes():
            assert grad(f)(1.3) == pytest.approx(expected, rel=1e-8)


class OfItsKind:
    """A callable object that is compared with its own kind alone."""

    def __init__(self, w):
        self.w = w

    def __call__(self, x, total=0.0):
        return self.w * x + total

    def __eq__(self, other):
        return self.w == other.w


class ByName(dict):
    """A dict whose entries are attributes, too."""

    def __getattr__(self, name):
        return self[name]


def test_the_engine_asks_the_users_containers_for_nothing():
    table = ByName(n=2.0, kept=[])

    def f(x):
        table.kept.append(x)
        table["n"] += 1
        return x * x

    for _ in range(4):
        assert grad(f)(1.5) == 3.0
    assert table == {"n": 6.0, "kept": [1.5] * 4}


CALLED = {
    "called": lambda x: OfItsKind(x)(x),
    "by reduce": lambda x: functools.reduce(OfItsKind(x), [x, 2 * x, 3 * x]),
    "as a key": lambda x: sorted([x, -x], key=OfItsKind(x))[0] * x,
    "over an iterator": lambda x: sum(OfItsKind(x)(t) for t in iter([x, x * x])),
}


@pytest.mark.parametrize("name", CALLED)
def test_the_engine_does_not_compare_the_users_objects(name):
    f = CALLED[name]
    with testing.recorded_only():
        slope = gradient(f, 1.3)[0]
        assert_close(slope, (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, 1e-6)
        assert_close(jvp(f, (1.3,), (1.0,))[1], slope, 1e-12)
        steps = [grad(f)(1.3 + step) for step in (1e-6, -1e-6)]
        assert_close(hvp(f)(1.3, 1.0), (steps[0] - steps[1]) / 2e-6, 1e-6)
