"""Forward mode: `jvp`, `linearize` and `jacfwd`, held to gradients and to differences."""

import copy
import dataclasses
import functools
import math
import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from rulescore import RuleSet, Tangent
from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from tests.zygote_lite.checks.structures import Line, Pair
from tests.zygote_lite.constructs.table import CASES
from tests.zygote_lite.fuzz.forward_fuzzer import check, direction
from zygote_lite import (
    DifferentiationError,
    grad,
    gradient,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jvp,
    linearize,
    testing,
)
from zygote_lite._cotangents.zeros import filled
from zygote_lite._interface.linearizing import TransformedPushforward
from zygote_lite._nested import tangents

V = np.array([0.3, -0.7, 1.1])
REFUSED_TWICE = {  # what the tape does not differentiate twice
    "iteration:others_written",
    "library:windows",
}
WORKING = [(n, i) for n, case in CASES.items() if not case.message for i in range(len(case.inputs))]
either = pytest.mark.usefixtures("tier")
FEW = 12  # one in so many cases: `fuzz.forward_fuzzer` takes them all


@pytest.fixture(params=["as it comes", "recorded"])
def tier(request):
    """Have either way answer: code is made at the first call, where it can be."""
    if request.param == "as it comes":
        yield
        return
    with testing.recorded_only():
        yield


@pytest.mark.parametrize(
    ("name", "i"), sorted({*WORKING[::FEW], *((name, 0) for name in REFUSED_TWICE)})
)
def test_constructs(name, i):
    case = CASES[name]
    answered = check(case.function, case.inputs[i], range(len(case.inputs[i])), 0)
    assert (answered == "refused") is (name in REFUSED_TWICE)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case.message][::FEW])
def test_what_is_refused_in_reverse_is_refused(name):
    case = CASES[name]
    xs = copy.deepcopy(case.inputs[0])
    dxs = [direction(filled(None, x), np.random.default_rng(0)) for x in xs]
    with pytest.raises(DifferentiationError):
        jvp(case.function, xs, dxs)


@either
def test_structures():
    def f(pair, line, table):
        table["b"].append(pair.a * table["w"])
        return {"line": line(pair.b), "table": table["b"], "text": "text", "pair": pair}

    pair, line, table = Pair(2.0, V), Line(V, 0.5), {"b": [1.0], "w": 3.0}
    dline = Tangent(Line, w=V, b=1.0)
    y, dy = jvp(f, (pair, line, table), (Pair(1.0, None), dline, {"w": 1.0}))
    slope = 1 - np.tanh(V @ V + 0.5) ** 2
    assert y["table"] == [1.0, 6.0]
    assert dy["table"] == [0.0, 5.0]
    assert dy["text"] is None
    assert type(dy["pair"]) is Pair
    assert dy["pair"].a == 1.0
    np.testing.assert_allclose(dy["line"], slope * (V @ V + 1))


@either
def test_kinds():
    _, dy = jvp(lambda x: x * x, (np.float32(3),), (np.float32(2),))
    assert (type(dy), dy) == (np.float32, 12)
    assert jvp(lambda x: x * x, (3,), (1.0,)) == (9, 6.0)
    assert jvp(lambda z: z * z, (1 + 2j,), (1j,)) == (-3 + 4j, -4 + 2j)
    assert jvp(lambda x: x > 0, (1.0,), (1.0,)) == (True, None)
    assert jvp(lambda x, y: (x, 1.0), (1.0, 2.0), (None, 1.0)) == ((1.0, 1.0), (0.0, 0.0))


def waves(x, k=2.0):
    """Return a value, and beside it a set, whose tangent nothing could hold."""
    return np.sin(k * x) * x[::-1], {"kept": x * k, "names": {"a"}}


@either
def test_what_a_function_returns_beside_its_value_is_handed_on():
    slopes = jacobian_by_differences(lambda x: waves(x)[0], (V,))
    aux = waves(V)[1]
    y, dy, beside = jvp(waves, (V,), (V + 1,), has_aux=True)
    assert_close((y, dy, beside["kept"]), (waves(V)[0], slopes @ (V + 1), aux["kept"]), 1e-7)
    y, push, beside = linearize(waves, V, has_aux=True)
    for v in (V, V + 1):
        assert_close((push(v), beside["kept"]), (slopes @ v, aux["kept"]), 1e-7)
    for verb in (jacfwd, jacobian):
        found, beside = verb(waves, has_aux=True)(V, k=2.0)
        assert_close((found, beside["kept"]), (slopes, aux["kept"]), 1e-7)
        assert beside["names"] == {"a"}
    found, beside = hessian(lambda x: (np.sum(x**3), {"a"}), has_aux=True)(V)
    assert_close(found, np.diag(6 * V))
    assert beside == {"a"}


@either
def test_what_is_returned_beside_is_differentiated_around():
    def f(x):
        return x * x, x * 5.0

    def total(x):
        _, dy, first = jvp(f, tangents=(x,), primals=(x,), has_aux=True)
        parts = [verb(f, has_aux=True)(x) for verb in (jacobian, jacfwd)]
        parts.append(hessian(lambda x: (np.sum(f(x)[0] * x), x * 5.0), has_aux=True)(x))
        return np.sum(dy) + np.sum(first) + sum([np.sum(d) + np.sum(aux) for d, aux in parts])

    assert_close(gradient(total, V)[0], 4 * V + 5 + 2 * (2 + 5) + 6 + 5)


@either
def test_a_function_that_returns_no_pair_is_told():
    verbs = [linearize, lambda f, x, **given: jvp(f, (x,), (x,), **given)]
    verbs += [lambda f, x, verb=verb, **given: verb(f, **given)(x) for verb in (jacfwd, jacobian)]
    for verb in 2 * verbs:
        with pytest.raises(TypeError, match=r"return the pair \(value, aux\)"):
            verb(wave, 1.0, has_aux=True)


@either
def test_infinite_and_zero_slopes():
    assert jvp(np.sqrt, (np.float64(0.0),), (np.float64(1.0),))[1] == math.inf
    _, dy = jvp(
        lambda x: np.where(x > 0, np.sqrt(x), 0.0), (np.array([0.0, 4.0]),), (V[:2] * 0 + 1,)
    )
    np.testing.assert_array_equal(dy, [0.0, 0.25])


@either
def test_the_function_is_run_once():
    calls = []

    def f(x):
        calls.append(x)
        x[0] = x[1] * x[1]
        return x

    x = V.copy()
    y, push = linearize(f, x)
    assert len(calls) == 1
    for _ in range(2):
        np.testing.assert_allclose(push(np.array([5.0, 1.0, 2.0])), [-1.4, 1.0, 2.0])
        np.testing.assert_array_equal(x, [V[1] ** 2, V[1], V[2]])
    assert y is x
    assert len(calls) == 1


def test_linearize_stays_at_its_point():
    def rate():
        k = 3.0

        def f(x, n):
            for _ in range(n):
                x = np.sin(x) * k
            return x

        def change(to):
            nonlocal k
            k = to

        return f, change

    f, change = rate()
    x, v = V.copy(), np.array([5.0, 1.0, 2.0])
    expected = jvp(f, (x, 3), (v, None))[1]
    _, push = linearize(f, x, 3)
    assert type(push) is TransformedPushforward
    x[:] = 0.0
    for k in (3.0, 5.0):  # as on the tape, which has kept what it read
        change(k)
        np.testing.assert_array_equal(push(v, None), expected)
        np.testing.assert_array_equal(push(None, None), np.zeros(3))
        with pytest.raises(TypeError, match="give one of the same shape"):
            push(v[:2], None)
    f.__code__ = rate()[0].__code__.replace(co_name="other")
    with pytest.raises(DifferentiationError, match="has changed since `linearize`"):
        push(v, None)


def test_linearize_asks_the_tape_where_a_tangent_is_not_finite():
    k = 3.0

    def f(x):
        return x * x * k

    def with_auxiliary(x):
        return f(x), "beside"

    def change():
        nonlocal k
        k = 5.0

    pushes = [linearize(f, 2.0)[1], linearize(with_auxiliary, 2.0, has_aux=True)[1]]
    late = linearize(f, 2.0)[1]
    for push in pushes:
        assert type(push) is TransformedPushforward
        assert [push(1.0), push(1e308), push(-1e308), push(1.0)] == [
            12.0,
            math.inf,
            -math.inf,
            12.0,
        ]
    change()
    assert late(1.0) == 12.0
    with pytest.raises(DifferentiationError, match="call `linearize` again"):
        late(1e308)


def test_a_pushforward_refuses_memory_that_a_later_run_has_written():
    scratch = np.zeros(3)

    def f(x):
        scratch[:] = x
        scratch[0] = scratch[1] * scratch[2]
        return np.sum(scratch**2)

    _, push = linearize(f, V)
    expected = 2 * V[1] * V[2] * (V[1] * 2.0 + V[2]) + 2 * V[1] + 4 * V[2]
    np.testing.assert_allclose(push(np.array([5.0, 1.0, 2.0])), expected)
    gradient(f, V + 1)
    with pytest.raises(DifferentiationError, match="later run"):
        push(np.array([5.0, 1.0, 2.0]))


@either
def test_linearize_keeps_what_arrays_held_at_the_call(monkeypatch):
    monkeypatch.setattr(tangents, "runs_alone", lambda: True)  # pytest-xdist has threads

    def f(x, parts):
        return np.sum(x[::2] * parts[0] ** 2) * parts[1]

    x, parts, v = V.copy(), [np.array([2.0, 3.0]), 1.5], np.array([5.0, 1.0, 2.0])
    expected = jvp(f, (x, parts), (v, None))[1]
    _, push = linearize(f, x, parts)
    x[1:] = 7.0
    parts[0] *= 2.0
    for _ in range(2):
        np.testing.assert_array_equal(push(v, None), expected)
    np.testing.assert_array_equal(x, [V[0], 7.0, 7.0])
    np.testing.assert_array_equal(parts[0], [4.0, 6.0])


OUTSIDE, ROWS, LISTED = np.array([1.0, 2.0]), np.ones((3, 2)), [np.array([1.0, 2.0])]


class Holder:
    weights = np.array([1.0, 2.0])


def of_captured(captured):
    return lambda x: np.dot(captured, captured) * x * x


CAPTURED = np.array([1.0, 2.0])
READ_OUTSIDE = {
    "global": (lambda x: np.sum(OUTSIDE * x * x), OUTSIDE),
    "view": (lambda x: np.sum(np.exp(ROWS[1]) * x * x), ROWS),
    "in a list": (lambda x: np.sum(LISTED[0] * x * x), LISTED[0]),
    "of a class": (lambda x: np.sum(Holder.weights * x * x), Holder.weights),
    "captured": (of_captured(CAPTURED), CAPTURED),
    "entry by entry": (lambda x: OUTSIDE[0] * x * x + OUTSIDE[1] * x, OUTSIDE),
}


@pytest.mark.parametrize("name", READ_OUTSIDE)
def test_linearize_keeps_what_arrays_outside_held(name, monkeypatch):
    monkeypatch.setattr(tangents, "runs_alone", lambda: True)
    f, array = READ_OUTSIDE[name]
    before = array.copy()
    for _ in range(4):
        expected = (f(3.0 + 1e-6) - f(3.0 - 1e-6)) / 2e-6
        _, push = linearize(f, 3.0)
        array[...] = 7.0
        np.testing.assert_allclose(push(1.0), expected, rtol=1e-5)
        assert (array == 7.0).all()
        array[...] = before


def test_no_other_thread_sees_what_linearize_has_kept():
    """It keeps copies of arrays, also in lists and dicts, and refuses where objects hold one."""
    x, held = np.array([1.0, 2.0]), SimpleNamespace(y=np.array([3.0, 4.0]))
    parts = [{"y": np.array([3.0, 4.0])}]
    seen, over = set(), threading.Event()
    with testing.recorded_only():
        _, push = linearize(lambda x, held: x * x * held.y, x, held)
        _, of_parts = linearize(lambda x, parts: x * x * parts[0]["y"], x, parts)

    def look():
        while not over.is_set():
            seen.add((x.tobytes(), parts[0]["y"].tobytes()))

    x[0] = parts[0]["y"][0] = 5.0
    other = threading.Thread(target=look)
    other.start()
    try:
        for _ in range(200):
            np.testing.assert_array_equal(push(np.ones(2), None), [6.0, 16.0])
            np.testing.assert_array_equal(of_parts(np.ones(2), None), [6.0, 16.0])
        held.y[0] = 7.0
        with pytest.raises(TypeError, match=r"another thread runs.* give `linearize` a copy"):
            push(np.ones(2), None)
    finally:
        over.set()
        other.join()
    np.testing.assert_array_equal(x, [5.0, 2.0])
    assert seen <= {(np.array([5.0, 2.0]).tobytes(), np.array([5.0, 4.0]).tobytes())}


GLOBAL = np.array([1.0, 2.0])


def writes_and_reads(x):
    x[0] = x[1] * 3.0
    return np.sum(x * GLOBAL)


def writes_and_fails(x):
    x[0] = 9.0
    raise ValueError


@either
def test_what_a_function_writes_into_its_arguments_is_in_them_after_linearize():
    x, v = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    y, push = linearize(writes_and_reads, x)
    assert (y, *x) == (10.0, 6.0, 2.0)
    x[:] = 0.0
    assert push(v) == 3.0 + 2.0
    np.testing.assert_array_equal(x, 0.0)
    with pytest.raises(ValueError, match=r"^$"):
        linearize(writes_and_fails, x)
    np.testing.assert_array_equal(x, [9.0, 0.0])


def writes_into_containers(parts, model):
    w, (b, _) = parts["w"], parts["rest"]
    w[0] = w[1] * 3.0
    parts["log"].append(2.0)
    parts["rest"] = (None, b)
    parts["new"] = model["shared"]
    return np.sum(w * b)


@either
def test_what_a_function_writes_into_containers_is_in_them_after_linearize():
    w, b, log, shared = np.array([1.0, 2.0]), np.array([3.0, 4.0]), [], np.array([5.0])
    parts = {"w": w, "rest": (b, None), "log": log}
    y, push = linearize(writes_into_containers, parts, {"shared": shared})
    assert (y, *w) == (26.0, 6.0, 2.0)
    assert parts["w"] is w
    assert parts["log"] is log
    assert parts["new"] is shared
    np.testing.assert_array_equal(parts["rest"][1], b)
    assert ([*parts], log) == (["w", "rest", "log", "new"], [2.0])
    w[:] = b[:] = 0.0
    assert push({"w": np.array([9.0, 1.0]), "rest": (np.ones(2), None)}, None) == 8.0 + 9.0 + 4.0
    np.testing.assert_array_equal([w, b], 0.0)
    loop = [w]
    loop.append(loop)
    assert linearize(lambda held: held[1][0][0] + 1.0, loop)[0] == 1.0


@either
def test_an_array_that_the_function_also_reads_is_one_for_linearize():
    GLOBAL[:] = [1.0, 2.0]
    want = writes_and_reads(GLOBAL)
    GLOBAL[:] = [1.0, 2.0]
    assert linearize(writes_and_reads, GLOBAL)[0] == want == 40.0
    GLOBAL[:] = [1.0, 2.0]


@either
def test_a_value_that_is_a_part_of_an_argument_is_the_users():
    x = np.array([1.0, 2.0, 3.0])
    y, push = linearize(lambda x: x[1:] * 1.0 if x[0] > 9.0 else x[1:], x)
    y[:] = 7.0
    np.testing.assert_array_equal(push(np.array([1.0, 2.0, 3.0])), [2.0, 3.0])
    y, push, aux = linearize(lambda x: (x, x), x, has_aux=True)
    assert y is x
    assert aux is x


def test_an_error_leaves_the_arrays_as_they_are_now(monkeypatch):
    monkeypatch.setattr(tangents, "runs_alone", lambda: True)
    x, held = np.array([1.0, 2.0]), SimpleNamespace(y=np.array([3.0, 4.0]))
    with testing.recorded_only():
        _, push = linearize(lambda x, held: x * x * held.y, x, held)
    x[0], held.y[1] = 5.0, 6.0

    def fails(self, cotangents):
        assert (x[0], held.y[1]) == (5.0, 4.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(push._tape), "back", fails)
    with pytest.raises(KeyboardInterrupt):
        push(np.ones(2), None)
    assert (x[0], held.y[1]) == (5.0, 6.0)


def test_linearize_refuses_a_read_only_argument_that_was_written_elsewhere(monkeypatch):
    base, other = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    x = base[:]
    x.flags.writeable = False
    monkeypatch.setattr(tangents, "runs_alone", lambda: True)
    with testing.recorded_only():
        _, push = linearize(lambda held, y: held.x**2 * y, SimpleNamespace(x=x), other)
    base[0], other[0] = 5.0, 6.0
    with pytest.raises(TypeError, match="read-only argument"):
        push(None, np.ones(2))
    assert (base[0], other[0]) == (5.0, 6.0)


def test_linearize_of_what_may_change_is_recorded(capsys):
    held = [2.0]

    def by_item(x):
        return x * held[0]

    def printing(x):
        print("once")
        return x * x

    for f, change in ((by_item, lambda: held.__setitem__(0, 9.0)), (printing, lambda: None)):
        y, push = linearize(f, 3.0)
        slope = y / 3.0 if f is by_item else 6.0
        change()
        assert [push(1.0), push(1.0)] == [slope, slope]
    assert capsys.readouterr().out == "once\n"
    _, push = linearize(np.sqrt, np.array([4.0, 0.0]))
    np.testing.assert_array_equal(push(np.ones(2)), [0.25, np.inf])


@either
def test_what_is_returned_shares_no_memory():
    dx = V.copy()
    _, (first, second) = jvp(lambda x: (x, x), (V,), (dx,))
    first[:] = 0
    np.testing.assert_array_equal([second, dx], [V, V])


class Point:
    def __init__(self, x):
        self.x = x


@either
@pytest.mark.parametrize(
    ("xs", "dxs", "told"),
    [
        ((V,), (), "is given 0 tangents"),
        ((V,), (1.0,), "give one of the same shape"),
        ((V,), (1j * V,), "complex"),
        (("text",), (1.0,), "where there is no gradient"),
        (([V, 1.0],), ([V],), "give one of the same shape"),
        ((Point(1.0),), (Point(1.0),), r"shape and structure, `Tangent\(Point, x=...\)`"),
    ],
)
def test_tangents_that_do_not_fit(xs, dxs, told):
    with pytest.raises(TypeError, match=told):
        jvp(lambda x: x, xs, dxs)


@either
def test_values_without_a_form():
    with pytest.raises(DifferentiationError, match="holds set"):
        jvp(lambda x: {x}, (1.0,), (1.0,))
    with pytest.raises(DifferentiationError, match="holds flatiter"):
        jvp(lambda x: [1.0, x.flat], (V,), (V,))
    with pytest.raises(DifferentiationError, match="iterator"):
        jvp(lambda x: (x for _ in range(3)), (1.0,), (1.0,))


@either
def test_one_list_twice_is_refused():
    x = [1.0]
    with pytest.raises(DifferentiationError, match="share one list"):
        jvp(lambda a, b: a[0] * b[0], (x, x), ([1.0], [2.0]))


def wave(x):
    return math.sin(x) * x


def slope_of_wave(x):
    return jvp(wave, (x,), (1.0,))[1]


@either
def test_derivatives_of_tangents():
    second = 2 * math.cos(0.7) - 0.7 * math.sin(0.7)
    third = -3 * math.sin(0.7) - 0.7 * math.cos(0.7)
    assert math.isclose(gradient(slope_of_wave, 0.7)[0], second)
    assert math.isclose(jvp(slope_of_wave, (0.7,), (1.0,))[1], second)
    assert math.isclose(jvp(grad(wave), (0.7,), (1.0,))[1], second)
    twice = lambda x: jvp(slope_of_wave, (x,), (1.0,))[1]
    assert math.isclose(jvp(twice, (0.7,), (1.0,))[1], third)
    assert math.isclose(grad(grad(slope_of_wave))(0.7), third)


@either
def test_tangents_inside_by_their_direction_and_by_what_is_captured():
    def f(a, v):
        return np.sum(jvp(lambda x: a * x * x, (V,), (v,))[1] ** 2)

    da, dv = gradient(f, 2.0, V)
    assert math.isclose(da, 16 * np.sum(V**4))
    np.testing.assert_allclose(dv, 32 * V**3)


def test_linearize_inside_is_differentiated():
    def slope(x):
        y, push, square = linearize(lambda x: (x**3, x * x), x, has_aux=True)
        return push(x) * square + push(y)  # 3 x^5 + 3 x^5

    np.testing.assert_allclose(grad(slope)(2.0), 480.0)
    np.testing.assert_allclose(hessian(slope)(2.0), 960.0)
    assert linearize(slope, 2.0)[1](1.0) == pytest.approx(480.0)


def test_linearize_inside_stays_at_its_point_or_is_refused():
    def changes(x, held):
        copy = x * 1.0
        push = linearize(lambda x: np.sum(x**3) * held["k"], copy)[1]
        held["k"] = 7.0
        copy[0] = held["at 0"] * copy[0]
        return push(np.ones(3))

    held = {"k": 2.0, "at 0": 1.0}
    np.testing.assert_allclose(gradient(changes, V, held)[0], 12 * V)
    with pytest.raises(DifferentiationError, match="call `jvp` before it changes"):
        gradient(changes, V, {"k": 2.0, "at 0": 5.0})
    kept = []
    grad(lambda x: kept.append(linearize(wave, x)[1]) or x)(0.7)
    with pytest.raises(DifferentiationError, match="call it inside"):
        kept[0](1.0)


@either
def test_forward_over_reverse_is_the_hessian_times_a_vector():
    def f(x):
        return np.sum(np.exp(x) * x[::-1] ** 2)

    np.testing.assert_allclose(jvp(grad(f), (V,), (V**2,))[1], hvp(f)(V, V**2))


@dataclasses.dataclass
class Model:
    w: object
    name: str = "model"


@either
@pytest.mark.parametrize(
    ("f", "xs", "argnums"),
    [
        (lambda x: np.outer(x, x), (V,), 0),
        (lambda x: x * x, (2.0,), 0),
        (lambda x, y: {"s": x * y, "t": [x, "text"]}, (V, 3.0), (0, 1)),
        (lambda x, y: (np.sum(x * y), x), (V, V + 1), ("y", "x")),
        (lambda m: m.w @ V, (Model(np.ones((2, 3))),), 0),
        (lambda d: d["a"] * d["b"][0], ({"a": V, "b": (2.0, "text")},), 0),
        (lambda x: np.sum(x), (np.zeros(0),), 0),
        (lambda x: x, (np.zeros((2, 0)),), 0),
    ],
)
def test_jacfwd_gives_what_jacobian_gives(f, xs, argnums):
    found, expected = jacfwd(f, argnums)(*xs), jacobian(f, argnums)(*xs)
    same_structure(found, expected)


def same_structure(a, b):
    assert type(a) is type(b)
    if isinstance(a, Tangent | dict):
        assert dict(a).keys() == dict(b).keys()
        for key in dict(a):
            same_structure(a[key], b[key])
    elif isinstance(a, tuple | list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same_structure(x, y)
    elif a is not None:
        np.testing.assert_allclose(a, b, strict=True)


@either
def test_jacfwd_of_a_function_that_changes_its_argument():
    def f(x):
        x.append(x[0] * 2.0)
        return x

    found = jacfwd(f)([3.0])
    assert [[float(j) for j in row] for row in found] == [[1.0], [2.0]]


@either
def test_jacfwd_inside():
    (d,) = gradient(lambda x: np.sum(jacfwd(lambda z: z**3)(x)), V)
    np.testing.assert_allclose(d, 6 * V)


def test_jacfwd_is_transformed():
    with testing.transformed_only(), testing.compared(), testing.observed() as answers:
        found = jacfwd(lambda x, y: x * x[::-1] * y, (0, "y"))(V, y=2.0)
    expected = jacobian(lambda x, y: x * x[::-1] * y, (0, "y"))(V, y=2.0)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, strict=True)
    assert len(answers) == len(V) + 1


@either
def test_a_list_that_a_linear_function_takes_as_an_array():
    x, v = [1.0, -2.0, 0.5], [0.5, 0.0, 3.0]
    assert_close(jvp(np.fft.fft, (x,), (v,)), (np.fft.fft(x), np.fft.fft(v)))
    found = hvp(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2) / 3)(x, v)
    assert_close(found, [2 * entry for entry in v])


def test_labels_beside_the_operands_of_einsum_are_constants():
    a, v = np.outer(V, V) + np.eye(3), np.outer(V, V**2)
    found = hvp(lambda a: np.sum(np.einsum(a, [0, ...], a, [1, 2], [..., 0, 2]) ** 2))(a, v)
    assert_close(found, hvp(lambda a: np.sum((a[:, :, None] * np.sum(a, 0)) ** 2))(a, v))
    found = hvp(lambda a: np.sum(np.einsum(a, [0, 1], a, [1, 2], [0, 2]) ** 2))(a, v)
    assert_close(found, hvp(lambda a: np.sum((a @ a) ** 2))(a, v))


class Wave:
    def __init__(self, speed):
        self.speed = speed

    def __call__(self, x, by=1.0):
        return np.sum(np.sin(self.speed * x)) * by

    def twice(self, x):
        return 2.0 * self(x)


@pytest.mark.parametrize(
    ("f", "factor"),
    [
        (Wave(3.0), 3.0),
        (Wave(3.0).twice, 6.0),
        (functools.partial(Wave(3.0), by=5.0), 15.0),
        (functools.partial(Wave.__call__, Wave(3.0)), 3.0),
    ],
)
def test_the_first_call_is_transformed_whatever_is_called(f, factor):
    with testing.observed() as answers:
        y, dy = jvp(f, (V,), (V + 1,))
    assert [answer.tier for answer in answers] == ["transformed"]
    assert y == f(V)
    np.testing.assert_allclose(dy, factor * np.cos(3 * V) @ (V + 1))


def test_a_long_loop_costs_no_memory_at_its_first_call():
    def steps(x, n):
        for _ in range(n):
            x = math.sin(x) + 0.5 * x
        return x

    tracemalloc.start()
    _, dy = jvp(steps, (0.5, 20_000), (1.0, None))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6  # of making code; the tape would need 8,000 bytes a step
    assert math.isclose(dy, jvp(steps, (0.5, 20_000), (1.0, None))[1])


def test_functions_of_libraries_go_forward_by_their_rules():
    a, v = np.outer(V, V) + np.diag(V + 1), np.outer(V, V**2)
    found = jvp(np.linalg.det, (a,), (v,))
    assert found[0] == np.linalg.det(a)
    assert_close(found[1], found[0] * np.trace(np.linalg.solve(a, v)))
    _, (values, _) = jvp(np.linalg.eigh, (a,), (v + v.T,))
    step = 1e-6 * (v + v.T)
    differences = np.linalg.eigh(a + step)[0] - np.linalg.eigh(a - step)[0]
    np.testing.assert_allclose(values, differences / 2e-6, rtol=1e-6, atol=1e-8)
    outer = np.multiply.outer  # its pullback cannot be differentiated
    assert_close(jvp(outer, (V, V), (V, None))[1], np.outer(V, V))
    whole = jvp(np.reshape, (V, (3, 1)), (V, None))[1]
    assert not np.shares_memory(whole, V)
    with pytest.raises(TypeError, match="give a real tangent"):
        jvp(np.sin, (V,), (1j * V,))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert jvp(np.log, (np.zeros(1),), (np.zeros(1),))[1] == 0
    y, dy = jvp(math.hypot, (3, 4.0), (1.0, 0.0))
    assert (y, dy) == (5.0, 0.6)


SCALE = 2.0


def scaled(x, y):
    return SCALE * math.sin(x) * y


def test_calls_that_enter_code_at_once_see_what_changes(monkeypatch):
    def found(primals=(0.5, 3.0), tangents=(1.0, 0.5)):
        return jvp(scaled, primals, tangents)

    for _ in range(3):
        assert found() == jvp(lambda *xs: scaled(*xs), (0.5, 3.0), (1.0, 0.5))
    assert_close(found(tangents=(1.0, None))[1], 6 * math.cos(0.5))
    assert_close(found(tangents=(None, 1.0))[1], 2 * math.sin(0.5))
    assert_close(found((np.float64(0.5), 3.0))[1], 6 * math.cos(0.5) + math.sin(0.5))
    with pytest.raises(TypeError, match="takes a tuple of arguments"):
        found(iter((0.5, 3.0)))
    with pytest.raises(TypeError, match="1 tangent for 2 arguments"):
        found(tangents=(1.0,))
    with testing.recorded_only(), testing.observed() as answers:
        found()
    assert not [answer for answer in answers if answer.tier == "transformed"]
    monkeypatch.setattr(math, "sin", lambda x: x * x)
    assert_close(found(), (1.5, 6.25))
    monkeypatch.undo()
    monkeypatch.setitem(globals(), "SCALE", 4.0)
    assert_close(found()[1], 12 * math.cos(0.5) + 2 * math.sin(0.5))
    code = scaled.__code__
    scaled.__code__ = (lambda x, y: x * y).__code__
    assert found() == (1.5, 3.25)
    scaled.__code__ = code


def test_a_rule_for_one_of_two_functions_of_the_same_code():
    def times(k):
        return lambda x: k * x

    plain, ruled = times(2.0), times(3.0)
    rules = RuleSet("of a script")
    rules.scalar(ruled)(lambda x: 100.0)
    rules.register()
    try:
        for _ in range(3):
            assert jvp(plain, (1.0,), (1.0,)) == (2.0, 2.0)
            assert gradient(plain, 1.0) == (2.0,)
        assert testing.why_recorded(plain, 1.0) is None
        assert jvp(ruled, (1.0,), (1.0,)) == (3.0, 100.0)
        assert gradient(ruled, 1.0) == (100.0,)
    finally:
        rules.unregister()
    assert jvp(ruled, (1.0,), (1.0,)) == (3.0, 3.0)
