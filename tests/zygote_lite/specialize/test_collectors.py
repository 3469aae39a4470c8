"""Containers outside that programs put values into: histories, logs and counters.

The oracle of effects is the function itself, called as it is; that of gradients are differences.
"""

import collections
import copy
import functools
import sys

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.fuzz.generate.collected import told
from zygote_lite import gradient, jvp, pullback, testing, value_and_grad
from zygote_lite._specialize import entry

HERE = sys.modules[__name__]
X = np.array([1.0, 2.0, 3.0, 4.0])


class Model:
    """A model that keeps what it was asked for."""

    def __init__(self):
        self.calls, self.history, self.info = 0, [], {"best": 1e9}

    def loss(self, x):
        """Keep the loss, and count."""
        self.calls += 1
        value = np.sum(x * x)
        self.history.append(value)
        self.info["last"] = value
        return value


def fresh():
    """Return what the programs put into, as it is at first."""
    return {
        "H": [], "H2": [], "LOG": {"n": 0, "best": 1e9}, "COUNT": collections.Counter(),
        "QUEUE": collections.deque(maxlen=3), "SEEN": set(), "BY": collections.defaultdict(list),
        "SUMS": collections.defaultdict(int), "ORDER": collections.OrderedDict(),
        "NEST": {"a": [], "b": {"c": []}, "n": 1}, "MODEL": Model(), "DATA": [0.5, 1.5],
        "CFG": {"n": 1.5, "k": 2.0}, "S": [0.0, 5.0], "T": [2],
    }  # fmt: skip


H, H2, LOG, COUNT, QUEUE, SEEN, BY, SUMS, ORDER, NEST, MODEL, DATA, CFG, S, T = fresh().values()


def training_step(x):
    loss = np.sum(x * x)
    H.append(loss)
    LOG["loss"], LOG["norm"] = loss, float(np.linalg.norm(x))
    LOG["n"] += 1
    return loss


def best_so_far(x):
    loss = np.sum(x * x)
    if loss < LOG.get("best", 1e9):
        LOG["best"] = loss
    return loss


def simulation(x):
    position, speed = x[0], x[1]
    for i in range(8):
        speed = speed - 0.1 * position
        position = position + 0.1 * speed
        if i % 3 == 0:
            H.append((i, position))
            QUEUE.append(position)
    return position**2


def newton(a):
    x, steps = a, 0
    while True:
        r = x * x - a
        H.append(abs(r))
        steps += 1
        if abs(r) < 1e-10 or steps > 20:
            break
        x = x - r / (2.0 * x)
    LOG["steps"] = steps
    return x


def several_kinds(x):
    QUEUE.appendleft(x), QUEUE.extend([1, x])
    SEEN.add(3), SEEN.add(("a", 1)), BY["k"].append(x)
    SUMS["z"] += 2
    COUNT["c"] += 1
    ORDER["a"] = x
    LOG.update(a=x, b=2), LOG.update({"c": x * x}), H.extend((x, 1))
    LOG.setdefault("l", []).append(x)
    return x * x


def values_of_each_type(x):
    H.append(1), H.append(True), H.append(None), H.append("a"), H.append(np.float32(2.0))
    H.append(x > 1.0), H.append(int(x)), H.append((1, (x, "b"))), H.append(f"{x:.2f}")
    H.append(1j), H.append([1, [x]]), H.append({"q": {"r": x}}), H.append(()), H.append([])
    return x * x


def inside_others(x):
    NEST["a"].append(x)
    NEST["b"]["c"].append(2.0 * x)
    NEST["n"] += 1
    return x * NEST["n"]


def counts_in_a_loop(x):
    s = x
    for i in range(4):
        LOG["n"] += 1
        SUMS[i] += i
        if LOG["n"] % 2 == 0:
            s = s * x
    return s * LOG["n"]


def asks_for_lengths(x):
    s = x
    for i in range(4):
        H.append(i)
        if len(H) % 3 == 0:
            s = s * x
    return s * len(H)


def asks_for_keys(x):
    if "first" not in LOG:
        LOG["first"] = 1
        return x * x * x
    return x * x


def by_other_functions(x):
    def put(value):
        H.append(value)
        return value

    keep = H2.append
    for h in (H, H2):
        h.append(x)
    keep(x)
    return put(x) * put(x * x)


def counts_in_a_list(x):
    S[0] += 1
    s = x * S[0]
    for i in range(3):
        S[i % 2] += i
        S[-1] -= 0.5
        S.append(0.5), S.extend((2.0, 1.5 * i))
        S[-1] += S[-3] + S[len(S) - 2]
        T.append(i)
        s = s * S[0] if S[1] > 5 else s + len(T) * x
    T[0] = x
    return s * S[0]


def raises_between_counts(x):
    S[0] += 1
    if S[0] == 3:
        S[2] = 1.0
    if S[0] == 5:
        return S[x > 1.0] * x + S[2]
    S[1] = "text" if S[0] > 3 else 1.0
    return x * x


def catches_an_index(x):
    try:
        T[0] -= 1
        y = T[T[0]] * x
    except IndexError:
        T.append(3)
        y = x * x
    return y * len(T)


def of_a_model(x):
    return MODEL.loss(x) + MODEL.loss(2.0 * x)


def made_in_loops(x):
    path = []
    for i in range(3):
        path.append(x * i)
        H.append(path)
    path.append(x)
    LOG["path"] = path
    return sum(path)


def raises_later(x):
    H.append(x)
    if len(H) == 4:
        raise ValueError("four")
    H.append("after")
    return x * x


def catches(x):
    try:
        H.append(x)
        if len(H) % 2 == 0:
            raise ValueError("even")
        y = x
    except ValueError:
        H.append("caught")
        y = x * x
    H.append(y)
    return y * x


def recursive(x, n=7):
    H.append(n)
    return x if n == 0 else x * recursive(x, n - 1)


def leaves_early(x):
    LOG["n"] += 1
    if LOG["n"] > 3:
        LOG["late"] = True
        return x * 3.0
    H.append(x)
    return x * x


def meets_an_infinity(x):
    H.append("in")
    return np.sqrt(x * 0.0) * 0.0 + x


def arrays(x):
    a, b = x * 2.0, x * 2.0
    H.append(a), H.append(b), H.append(a), H.append(x), H.append(x * 1.0), H.append(x[:2])
    H.append(np.eye(2)), H.append(np.eye(2)), H.append(np.linspace(0.0, 1.0, 3))
    H.append(np.linspace(0.0, 1.0, 3)), H.append(X * X), H.append(X * X), H.append(x.copy())
    for _ in range(2):
        H.append(np.eye(2)), H.append(X + 1.0), H.append(np.sin(x))
    return np.sum(a * b)


def one_dict_twice(x):
    row = {"a": x}
    H.append(row)
    H2.append(row)
    return row["a"] * x


def dict_that_changes(x):
    row = {"a": x}
    H.append(row)
    row["b"] = x * x
    return row["a"] * x


def dict_that_a_branch_replaces(x):
    row = {"a": x}
    H.append(row)
    if x > 0.0:
        row = {"a": 2.0 * x}
    row["a"] = row["a"] + 1.0
    return row["a"]


def array_that_is_written(x):
    y = x * 2.0
    H.append(y)
    y[0] = 7.0
    return np.sum(y * y)


def reads_what_it_put(x):
    H.append(x * x)
    return H[-1] * x


def reads_an_entry(x):
    LOG["v"] = x * x
    return LOG["v"] * x


def reads_the_last_iteration(x):
    s = 0.0
    for i in range(3):
        s = s + LOG["n"] * x
        LOG["n"] = x * i
    return s


def reads_an_item_that_it_put(x):
    S[1] = x * x
    return S[1] * x


def reads_the_last_item(x):
    s = 0.0
    for i in range(3):
        s = s + S[-1] * x
        S.append(x * i)
    return s


def walks(x):
    H.append(x)
    return sum(h for h in H)


def asks_whether_empty(x):
    y = x if H else x * x
    H.append(x)
    return y


def compares(x):
    H.append(x)
    return x * (2.0 if H == [x] else 1.0)


def as_text(x):
    H.append(x)
    return x * len(str(H))


def takes_back(x):
    H.append(x)
    return H.pop() * x


def inside_a_gradient(x):
    def g(y):
        H.append(y)
        return y**3

    return gradient(g, x)[0] * x


def asks_in_a_gradient(x):
    H.append(x)
    S[0] += 1
    return gradient(lambda y: y**3 * len(H) * S[0], x)[0] * x


def replaces_what_it_changes(x):
    NEST["a"].append(x)
    NEST["a"] = []
    NEST["a"].append(x)
    return x * x


@functools.lru_cache
def doubled(k):
    H.append(k)
    return 2.0 * k


def under_a_cache(x):
    H.append("first")
    return x * doubled(3)


TRANSFORMED = [
    training_step, best_so_far, simulation, newton, several_kinds, values_of_each_type,
    inside_others, counts_in_a_loop, asks_for_lengths, asks_for_keys, by_other_functions,
    counts_in_a_list, raises_between_counts, catches_an_index,
    of_a_model, made_in_loops, raises_later, catches, recursive, leaves_early, arrays,
    meets_an_infinity, dict_that_a_branch_replaces,
]  # fmt: skip
OTHERS = [
    one_dict_twice, dict_that_changes, array_that_is_written, reads_what_it_put, reads_an_entry,
    reads_the_last_iteration, reads_an_item_that_it_put, reads_the_last_item, walks,
    asks_whether_empty, compares, as_text, takes_back,
    inside_a_gradient, asks_in_a_gradient, replaces_what_it_changes, under_a_cache,
]  # fmt: skip
OF_ARRAYS = {training_step, best_so_far, simulation, of_a_model, arrays, array_that_is_written}


def called(f, call, count=6):
    """Return what calls give, and what is in the containers after each."""
    vars(HERE).update(fresh())
    doubled.cache_clear()
    x, found = X.copy() if f in OF_ARRAYS else 1.5, []
    for _ in range(count):
        try:
            y = call(x)
        except (ValueError, IndexError, TypeError) as error:
            y = repr(error)
        state = [x, *(getattr(HERE, name) for name in fresh() if name != "MODEL"), vars(MODEL)]
        found.append((y, told(copy.copy(state), {})))
    return found


@pytest.mark.parametrize("f", [*TRANSFORMED, *OTHERS])
def test_effects_are_those_of_the_function(f):
    differentiated = value_and_grad(f)

    def value(x):
        y = differentiated(x)[0]
        return y

    for (y, state), (expected, want) in zip(called(f, value), called(f, f), strict=True):
        assert y == expected if isinstance(y, str) else np.isclose(y, expected)
        assert state == want


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", [*TRANSFORMED, *OTHERS])
def test_gradients_are_those_of_the_tape(f):
    def by_tape(x):
        with testing.recorded_only():
            return value_and_grad(f)(x)

    for (y, _), (want, _) in zip(called(f, value_and_grad(f)), called(f, by_tape), strict=True):
        assert y == want if isinstance(y, str) else np.allclose(y[1], want[1], rtol=1e-12)


@pytest.mark.parametrize("f", [training_step, simulation, newton, recursive, by_other_functions])
def test_gradients_are_those_of_differences(f):
    x = X.copy() if f in OF_ARRAYS else 1.5
    for _ in range(4):
        slope = value_and_grad(f)(x)[1]
    step = 1e-6 * np.eye(4)[1] if f in OF_ARRAYS else 1e-6
    along = slope[1] if f in OF_ARRAYS else slope
    assert np.isclose(along, (f(x + step) - f(x - step)) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize("f", TRANSFORMED)
def test_code_answers(f):
    vars(HERE).update(fresh())
    x = X.copy() if f in OF_ARRAYS else 1.5
    with testing.observed() as seen:
        for _ in range(14):
            try:
                value_and_grad(f)(x)
            except (ValueError, IndexError):
                H.clear()
                S[0] = 0
    assert seen[-1].tier == "transformed", testing.why_recorded(f, x)


@pytest.mark.parametrize("f", OTHERS)
def test_the_tape_answers_for_what_is_read(f):
    vars(HERE).update(fresh())
    doubled.cache_clear()
    assert testing.why_recorded(f, X.copy() if f in OF_ARRAYS else 1.5) is not None or (
        f in (dict_that_changes, one_dict_twice)
    )  # which are made as the code runs


def test_a_history_costs_the_same_however_long_it_is():
    vars(HERE).update(fresh())
    H.extend([0.0] * 1000)
    for _ in range(4):
        value_and_grad(training_step)(X)
    (entry,) = testing.programs(training_step)
    assert "append_at_the_end(effects, H, loss)" in str(entry)


# -- other containers from call to call ------------------------------------------------------------


def reads_data(x):
    H.append(x)
    return x * DATA[-1] * len(DATA)


def reads_settings(x):
    LOG["n"] = 7.0
    return x * CFG["n"]


def reads_items(x):
    S[0] += 1
    return x * S[0] * DATA[0]


def reads_an_item_of_an_argument(x, given):
    H[0] += 1.0
    return x * given[0] * H[0]


def reads_an_argument(x, given):
    H.append(5.0)
    return x * given[-1] * len(given)


def reads_another_length(x):
    H.append(x)
    H2.append(x)
    return x * len(H2)


def reads_an_attribute(x):
    MODEL.info["calls"] = 9
    return x * MODEL.calls


READERS = [
    reads_data, reads_settings, reads_an_argument, reads_another_length, reads_an_attribute,
    reads_items, reads_an_item_of_an_argument,
]  # fmt: skip


class Doubling(list):
    """A list that doubles what is appended."""

    def append(self, value):
        """Append twice the value."""
        super().append(2.0 * value)


class Hundred(dict):
    """A dict whose entries are 100."""

    def __setitem__(self, key, value):
        super().__setitem__(key, 100.0)


@pytest.mark.parametrize("f", READERS)
def test_a_container_may_become_one_that_is_read(f):
    differentiated = value_and_grad(f)
    for kind in ("apart", "apart", "apart", "one", "apart", "other", "own", "one", "apart"):
        found = []
        for call in (differentiated, f):
            vars(HERE).update(fresh())
            given = [1.0, 2.0]
            H.append(2.0)
            if kind == "one":
                HERE.H2 = HERE.H = HERE.S = HERE.DATA
                HERE.CFG, given, MODEL.info = LOG, H, vars(MODEL)
            elif kind == "other":
                HERE.H, HERE.LOG = collections.deque([1]), collections.OrderedDict(n=2.0)
                HERE.S = collections.UserList([3])
            elif kind == "own":
                HERE.H, HERE.LOG = Doubling([2.0]), Hundred()
            y = call(*(1.5, given)[: f.__code__.co_argcount])
            info = {k: v for k, v in MODEL.info.items() if k != "info"}
            found.append((y if call is f else y[0], repr((H, H2, LOG, CFG, DATA, S, given, info))))
        assert found[0] == found[1], kind


# -- dicts that hold attributes, and variables of modules ------------------------------------------


def rate(x, *, power=2):
    """Have an attribute, and a parameter by name."""
    return x * rate.scale**power


def puts_into_its_dict(x):
    HELD["scale"] += 1.0
    return x * rate.scale


def puts_into_its_defaults(x):
    HELD["power"] += 1
    return rate(x)


def puts_into_the_module(x):
    HELD["FACTOR"] += 1.0
    return x * FACTOR


def assigns_the_attribute(x):
    rate.scale += 1.0
    return x * HELD["scale"]


def assigns_that_of_an_object(x):
    MODEL.calls = x
    return x * HELD["calls"]


FACTOR, HELD = 3.0, {}
HOLDING = [
    (puts_into_its_dict, lambda: vars(rate)),
    (puts_into_its_defaults, lambda: rate.__kwdefaults__),
    (puts_into_the_module, lambda: vars(HERE)),
    (assigns_the_attribute, lambda: vars(rate)),
    (assigns_that_of_an_object, lambda: vars(MODEL)),
]


@pytest.mark.parametrize(("f", "holder"), HOLDING)
@pytest.mark.parametrize("at_first", [True, False])
def test_a_dict_may_hold_attributes_or_variables(f, holder, at_first, monkeypatch):
    def fresh_of(count):
        vars(HERE).update(fresh())
        vars(rate).update(scale=2.0), rate.__kwdefaults__.update(power=2)
        MODEL.calls, HERE.FACTOR = 4.0, 3.0
        apart = {"scale": 1.0, "power": 1, "FACTOR": 1.0, "calls": 1.0}
        monkeypatch.setattr(HERE, "HELD", apart if count < 3 and not at_first else holder())
        return lambda: (vars(rate), rate.__kwdefaults__, FACTOR, MODEL.calls)

    for count in range(6):
        now = fresh_of(count)
        want, then = f(1.5), repr(now())
        fresh_of(count)
        with testing.recorded_only():
            _, d = value_and_grad(f)(1.5)
        now = fresh_of(count)
        assert value_and_grad(f)(1.5) == (want, d)
        assert repr(now()) == then


# -- who else may read them ------------------------------------------------------------------------


def of_the_length(x):
    return x * len(H)


def of_the_count(x):
    return x * MODEL.calls


def puts_and_asks_a_rule(x):
    H.append(x)
    return of_the_length(x)


def counts_and_asks_a_rule(x):
    MODEL.calls += 1.0
    return of_the_count(x)


@pytest.mark.parametrize("f", [puts_and_asks_a_rule, counts_and_asks_a_rule])
def test_a_rule_of_the_program_reads_what_was_put(f):
    rule = RuleSet("of what is outside")

    @rule(of_the_length)
    def _(x: float):
        return x * len(H), lambda dy: (dy * len(H),)

    @rule(of_the_count)
    def _(x: float):
        return x * MODEL.calls, lambda dy: (dy * MODEL.calls,)

    rule.register()
    try:
        vars(HERE).update(fresh())
        for n in range(1, 6):
            assert value_and_grad(f)(2.0) == (2.0 * n, n)
    finally:
        rule.unregister()


def keeps_and_calls(x):
    H.append(x)
    return odd(x) + x


def odd(x):
    return x * len({y for y in (1, 2, 3) if y > 1})


def test_a_history_stands_beside_an_island():
    vars(HERE).update(fresh())
    for _ in range(4):
        assert value_and_grad(keeps_and_calls)(2.0) == (6.0, 3.0)
    assert H == [2.0] * 4


# -- other ways to call ----------------------------------------------------------------------------


def keeps(x):
    H.append(x)
    LOG["n"] = LOG["n"] + 1
    return x * x * LOG["n"]


WAYS = {
    "jvp": lambda: jvp(keeps, (3.0,), (1.0,)),
    "pullback": lambda: pullback(keeps, 3.0)[1](1.0),
    "nested": lambda: gradient(lambda y: gradient(keeps, y)[0] * y, 3.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_puts_once(way):
    found = []
    for tier in (testing.recorded_only, None):
        vars(HERE).update(fresh())
        for _ in range(5):
            if tier is None:
                y = WAYS[way]()
            else:
                with tier():
                    y = WAYS[way]()
        found.append((y, H, LOG))
    assert found[0] == found[1]


def test_both_tiers_are_compared_and_put_once():
    vars(HERE).update(fresh())
    with testing.compared():
        for _ in range(4):
            value_and_grad(training_step)(X)
    assert LOG["n"] == 4
    assert len(H) == 4


def raises_in_a_try(x, n):
    H.append(x)
    try:
        for _ in range(n):
            if n == 5:
                raise KeyError("n")
        if x > 9.0:
            raise ValueError("x")
    except ValueError:
        H.append("caught")
    return x * x


def test_effects_happen_once_where_internal_errors_are_raised():
    vars(HERE).update(fresh())
    differentiated = value_and_grad(raises_in_a_try)
    with testing.strict():
        for _ in range(4):
            differentiated(2.0, 3)
        for _ in range(3):
            H.clear()
            with pytest.raises(KeyError):
                differentiated(2.0, 5)
            assert H == [2.0]


def test_an_internal_error_beside_an_effect_is_raised_after_the_tape_has_answered(monkeypatch):
    vars(HERE).update(fresh())
    compiled = entry.compile_text

    def broken(made, f):
        compiled(made, f)

        def fast(*xs):
            raise TypeError("a defect")

        return fast

    monkeypatch.setattr(entry, "compile_text", broken)
    testing.forget(newton)
    with testing.strict():
        for _ in range(2):
            value_and_grad(newton)(2.0)
        H.clear()
        with pytest.raises(testing.InternalError, match="a defect"):
            value_and_grad(newton)(2.0)
    steps = len(H)
    testing.forget(newton)
    H.clear()
    newton(2.0)
    assert steps == len(H)


def kept_before_it_is_changed(x):
    v = np.array([x, 2.0 * x])
    H.append(v)
    v *= 3.0
    return np.sum(v)


def kept_in_a_loop(x):
    v = np.array([x, 2.0 * x])
    for _ in range(3):
        v *= 1.5
        H.append(v)
    return np.sum(v)


def kept_with_its_view(x):
    v = np.array([x, 2.0 * x])
    H.append((v.reshape(2, 1), v))
    v /= 2.0
    v = v + 1.0
    v -= x
    return np.sum(v * v)


def kept_by_an_attribute(x):
    v = np.array([x, 2.0 * x])
    MODEL.last = v
    v *= 3.0
    return np.sum(v)


@pytest.mark.parametrize(
    "f", [kept_before_it_is_changed, kept_in_a_loop, kept_with_its_view, kept_by_an_attribute]
)
def test_an_array_outside_changes_with_the_name_that_it_has_inside(f):
    for ask in (value_and_grad(f), lambda x: jvp(f, (x,), (1.0,))):
        for x in (0.5, 0.7, 0.9, 1.1):
            H.clear()
            f(x)
            expected = copy.deepcopy((H, getattr(MODEL, "last", None)))
            H.clear()
            assert ask(x)[1] == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6)
            H.clear()
            ask(x)
            np.testing.assert_equal((H, getattr(MODEL, "last", None)), expected)
    H.clear()
    vars(MODEL).pop("last", None)
