"""Transformed code changes the lists, dicts and objects that it is given, as the program does."""

import copy
import math
import warnings

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from zygote_lite import testing, value_and_grad

X = np.array([0.5, 1.0, 2.0])


def keeps_a_history(x, history):
    y = np.sum(x**2)
    history.append(y)
    return y


def goes_on_from_the_last(x, history):
    for i in range(3):
        history.append(history[-1] * x + i)
    return history[-1] ** 2 + history[0]


def keeps_states(x, trace):
    for _ in range(3):
        x = x * 1.5
        trace.append(x.copy())
        if x[0] > 3.0:
            trace.pop()
    return np.sum(trace[-1] ** 2) + np.sum(trace[0])


def keeps_twice(x, trace):
    y = x * 2.0
    trace.append(y)
    trace.append(y)
    trace.append(x * 2.0)
    trace[-2][0] = 7.0
    return np.sum(trace[-3] * x)


def counts_calls(x, params):
    params["calls"] += 1
    params["w"] = params["w"] * x
    return params["w"] ** 2 * params["calls"]


def remembers(x, cache):
    if "k" in cache:
        cache["k"] = cache["k"] + x
    else:
        cache["k"] = x * x
    return cache["k"] * x


def works_on_a_stack(x, stack):
    while len(stack) > 1:
        x = x + stack.pop() * x
    stack[0] = x
    stack.insert(0, 2 * x)
    return x * stack[1]


def adds_rows(x, rows):
    rows[0][1] = x * rows[1][0]
    rows.append([x, x])
    return rows[0][1] * rows[2][0]


def log_of_dicts(x, log):
    log.append({"x": float(np.sum(x)), "step": len(log)})
    return np.sum(x * x) * log[-1]["step"]


def raises_after_a_change(x, history):
    history.append(x)
    if x > 3.0:
        raise ValueError("large")
    return np.log(x) + 1.0 / (x - 2.0)


def meets_an_infinity(x, history):
    history.append(1.0)
    return np.sqrt(np.float64(x - x)) * 0.0 + x * history[0]


def nested(x, state):
    state["history"].append(state["params"][0] * x)
    state["params"][0] = x
    return state["history"][-1] * x


def writes_to_a_place(x, history, i):
    history.append(x)
    history[i] = 3.0 * x
    return sum(history)


def test_a_place_that_does_not_exist_is_an_error_after_one_change():
    for mode in (testing.compared, testing.strict):
        with mode():
            for i in (1, 1, 1, 1, 5, 5):
                history = [1.0, 2.0]
                if i == 1:
                    value_and_grad(writes_to_a_place)(0.5, history, i)
                    assert history == [1.0, 1.5, 0.5]
                else:
                    with pytest.raises(IndexError):
                        value_and_grad(writes_to_a_place)(0.5, history, i)
                    assert history == [1.0, 2.0, 0.5]


PROGRAMS = [
    (keeps_a_history, (X, [])), (keeps_a_history, (X, [1.0, 2.0])),
    (goes_on_from_the_last, (0.5, [3.0])), (keeps_states, (X, [])), (keeps_states, (X, [X])),
    (keeps_twice, (X, [])), (counts_calls, (1.5, {"calls": 0, "w": 2.0})),
    (remembers, (1.5, {})), (works_on_a_stack, (1.5, [1.0, 2.0, 3.0])),
    (adds_rows, (1.5, [[1.0, 2.0], [3.0, 4.0]])), (log_of_dicts, (X, [])),
    (raises_after_a_change, (1.5, [])), (raises_after_a_change, (3.5, [0.5])),
    (raises_after_a_change, (2.0, [0.5])), (meets_an_infinity, (1.5, [2.0])),
    (nested, (1.5, {"history": [], "params": [2.0]})),
]  # fmt: skip


def outcome(f, xs):
    """Return what a call gives, or the error that it raises."""
    try:
        return f(*xs)
    except (ValueError, ZeroDivisionError) as error:
        return repr(error)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("f", "xs"), PROGRAMS, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(PROGRAMS)]
)
def test_changes_are_those_of_the_program(f, xs):
    """At each of several calls, which go on with what the one before has left."""
    for mode in (testing.compared, testing.strict):
        plain, given = copy.deepcopy(xs), copy.deepcopy(xs)
        with mode(), testing.observed() as answers, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for k in range(7):
                if k == 2 and isinstance(xs[0], float):
                    plain, given = [(np.float64(x), rest) for x, rest in (plain, given)]
                before = copy.deepcopy(given)
                want = outcome(f, plain)
                found = outcome(value_and_grad(f), given)
                assert repr(given) == repr(plain)
                if isinstance(want, str):
                    assert found == want
                    found = np.inf, None
                    continue
                assert_close(found[0], want)
                if np.isfinite(want) and f is not meets_an_infinity:
                    np.testing.assert_allclose(
                        np.ravel(found[1]), slopes(f, *before), rtol=1e-4, atol=1e-4
                    )
        if mode is testing.compared and f is not keeps_twice and np.isfinite(found[0]):
            assert any(answer.is_transformed for answer in answers)


def slopes(f, x, *rest):
    """Return central differences of a function by its first argument."""
    h, wide = 1e-6, np.asarray(x, float)
    return [
        (f(x + h * e, *copy.deepcopy(rest)) - f(x - h * e, *copy.deepcopy(rest))) / (2 * h)
        for e in np.eye(wide.size).reshape(-1, *wide.shape)
    ]


def test_a_list_that_is_differentiated_has_a_gradient_of_its_first_length():
    f = value_and_grad(adds_rows, (0, 1))
    for _ in range(4):
        _, (dx, rows) = f(1.5, [[1.0, 2.0], [3.0, 4.0]])
        assert (dx, rows) == (9.0, [[0.0, 0.0], [2.25, 0.0]])


def test_a_history_is_transformed_when_it_has_grown():
    history = []
    with testing.observed() as answers:
        for _ in range(8):
            value_and_grad(keeps_a_history)(X, history)
    assert answers[-1].is_transformed
    assert len(history) == 8


# -- attributes ----------------------------------------------------------------------------------


class Model:
    scale = 2.0

    def __init__(self):
        self.n, self.w, self.last = 0, np.array([1.0, 2.0, 3.0]), None

    def counts(self, x):
        self.n += 1
        self.last = np.sum(self.w * x) * self.scale
        return self.last

    def adapts(self, x):
        for i in range(3):
            self.n += i
            self.w = self.w * 0.5 + x
            if self.n > 4:
                self.last = self.w[0]
        return np.sum(self.w**2)

    def branches(self, x):
        if x[0] > 0.0:
            self.n += 1
            self.last = x[0] * 2
        return np.sum(x) * self.n

    def keeps_new(self, x):
        self.cache = x * 2
        return np.sum(self.cache * x) + self.get()

    def get(self):
        return self.n

    def raises(self, x):
        self.n += 1
        if self.n > 4:
            raise ValueError("n")
        return x[0] / (self.n - 3.0) + np.sqrt(x[1] - x[1]) * 0.0

    def sets_by_property(self, x):
        self.half = x[0] * self.half
        return self.half**2 * self.n

    @property
    def half(self):
        return 0.5 * self.n + 1.0

    @half.setter
    def half(self, value):
        self.n = 2.0 * value

    def keeps_one_array_twice(self, x):
        self.last = self.w = x * 2.0
        self.other = x
        return np.sum(self.w * x)


class Doubling(Model):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value if name != "n" else value * 2)


METHODS = ("counts", "adapts", "branches", "keeps_new", "raises", "sets_by_property",
           "keeps_one_array_twice")  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", [Model, Doubling])
def test_attributes_are_those_of_the_program(kind, name):
    for mode in (testing.compared, testing.strict):
        plain, given, x = kind(), kind(), X
        with mode(), testing.observed() as answers, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for k in range(6):
                x = -x if k == 3 else x.astype(np.float32) if k == 5 else x
                before = copy.deepcopy(given)
                want = outcome(getattr(plain, name), (x,))
                found = outcome(value_and_grad(getattr(given, name)), (x,))
                assert repr(vars(given)) == repr(vars(plain))
                if isinstance(want, str):
                    assert found == want
                    continue
                assert_close(found[0], want)
                if np.isfinite(want) and name != "raises":
                    f = lambda x, before=before: getattr(copy.deepcopy(before), name)(x)
                    np.testing.assert_allclose(found[1], slopes(f, x), rtol=1e-3, atol=1e-3)
        assert any(answer.is_transformed for answer in answers) or name == "raises"
    if name == "keeps_one_array_twice":
        assert given.last is given.w
        assert given.other is x


def test_one_object_under_two_names_is_left_to_the_tape():
    def f(x, a, b):
        a.n += 1.0
        b.w = a.n * x
        return b.w * a.n + b.n

    one, other = Model(), Model()
    for _ in range(4):
        assert value_and_grad(f)(2.0, one, other) == (2.0 * one.n**2, one.n**2)
    with testing.observed() as answers:
        for k in range(4):
            assert value_and_grad(f)(2.0, one, one) == (2.0 * one.n**2 + one.n, one.n**2)
            assert one.n == 5.0 + k
    assert not answers[-1].is_transformed


def floating(model):
    model.n = model.last = 1.0
    return model


def test_an_object_that_is_assigned_to_has_a_gradient():
    def f(x, model):
        for _ in range(3):
            x = x + model.counts(x * X) * model.n
            model.w = model.w * x
        return np.sum(model.w) + model.last

    for mode in (testing.recorded_only, testing.transformed_only):
        for _ in range(3):
            given, plain = floating(Model()), floating(Model())
            with mode():
                value, (dx, d) = value_and_grad(f, (0, 1))(0.5, given)
            assert f(0.5, plain) == value
            assert repr(vars(given)) == repr(vars(plain))

            def of_w(w):
                model = floating(Model())
                model.w = w
                return f(0.5, model)

            np.testing.assert_allclose(d.w, slopes(of_w, Model().w), rtol=1e-5)
            np.testing.assert_allclose(dx, slopes(f, 0.5, floating(Model())), rtol=1e-5)


class Shared:
    def __init__(self):
        self.scale, self.calls = 0.5, 0


SHARED = Shared()


def met_in_a_branch(x):
    if x[0] > 0:
        SHARED.scale = 5.0
    else:
        return x[1] * SHARED.scale
    return x[0] * SHARED.scale


def met_in_a_loop(x):
    for i in range(int(x[2])):
        SHARED.calls += 1
        SHARED.scale = SHARED.scale * 1.5 + i
    return x[0] * SHARED.scale + SHARED.calls


def met_before_a_stop(x):
    while True:
        SHARED.scale += 1.0
        if SHARED.scale > x[0] + 3.0:
            break
        SHARED.calls += 1
    return x[0] * SHARED.scale


def met_in_try(x):
    try:
        SHARED.scale = math.sqrt(x[0])
    except ValueError:
        SHARED.calls += 7
    return x[0] * SHARED.scale + x[1] * SHARED.calls


def met_in_calls(x, n=3):
    SHARED.scale *= 1.5
    return x[0] * SHARED.scale if n == 0 else met_in_calls(x * 0.5, n - 1) + x[1]


@pytest.mark.parametrize(
    "f", [met_in_a_branch, met_in_a_loop, met_before_a_stop, met_in_try, met_in_calls]
)
def test_an_object_that_a_path_meets_first_has_what_it_had_at_entry(f):
    def fresh(x):
        vars(SHARED).update(scale=0.5, calls=0)
        return f(x)

    y = X + 0.25
    for x in [y, y, y, -y, y * [1, 1, 0.1], y * [1, 1, 2]]:
        want, kept = fresh(x), dict(vars(SHARED))
        slope = slopes(fresh, x)
        vars(SHARED).update(scale=0.5, calls=0)
        value, gradient = value_and_grad(f)(x)
        assert (value, vars(SHARED)) == (want, kept)
        np.testing.assert_allclose(gradient, slope, rtol=1e-4, atol=1e-5)
    assert testing.why_recorded(f, X) is None or f is met_in_calls
