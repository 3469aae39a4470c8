"""What caches keep: functions under `lru_cache`, and dicts of the program's own."""

import dataclasses
import functools
import io

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import DifferentiationError, gradient, testing, value_and_grad
from zygote_lite._activity import doubts


def nested_counter(x):
    counts = {"all": {"n": 0}}

    def effect():
        counts["all"]["n"] += 1

    return effect


def written_array(x):
    array = np.zeros(1)

    def effect():
        array[0] += 1.0

    return effect


def iterator(x):
    it = iter([1.0, 2.0, 3.0])
    return lambda: next(it)


def generator(x):
    draws = np.random.default_rng(0)
    return lambda: draws.normal()


def stream(x):
    file = io.StringIO()
    return lambda: file.write("called")


@pytest.mark.parametrize("make", [nested_counter, written_array, iterator, generator, stream])
def test_what_would_have_its_effect_twice_is_refused(make):
    def f(x):
        effect = make(x)

        @functools.cache
        def square(v):
            effect()
            return v * v

        return square(x) + square(x * 1.0)

    with pytest.raises(DifferentiationError, match=r"\[ZL026\]"):
        gradient(f, 3.0)


@pytest.mark.parametrize("maxsize", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("typed", [False, True])
def test_what_is_forgotten_is_what_python_forgets(maxsize, typed):
    def f(x, y, calls):
        @functools.lru_cache(maxsize=maxsize, typed=typed)
        def g(v):
            calls.append(v)
            return v * v

        first = g(x) + 2.0 * g(y) + 3.0 * g(1) + 4.0 * g(1.0) + 5.0 * g(x)
        return first + 6.0 * g(2.0) + 7.0 * g(y) + 8.0 * g(True) + 9.0 * g(x)

    calls, calls_on_the_tape = [], []
    want = f(1.5, 0.5, calls)
    with testing.recorded_only():
        assert value_and_grad(f, (0, 1))(1.5, 0.5, calls_on_the_tape)[0] == want
    assert calls == calls_on_the_tape


def test_equal_arguments_have_gradients_of_their_own():
    def f(x, y):
        @functools.lru_cache(maxsize=2)
        def g(v):
            return v**3

        return g(x) + 2.0 * g(y) + 5.0 * g(x * 1.0) + 7.0 * g(3.0) + 11.0 * g(y)

    with testing.recorded_only():
        assert gradient(f, 2.0, 2.0) == (6.0 * 12.0, 13.0 * 12.0)


class Kept:
    def __init__(self, v):
        self.v = v


CHANGES = [
    (lambda v: [v], lambda y: y.append(7.0)),
    (lambda v: (v, [v]), lambda y: y[1].clear()),
    (lambda v: {"v": v}, lambda y: y.update(v=7.0)),
    (lambda v: np.array([v, v]), lambda y: y.fill(7.0)),
    (Kept, lambda y: setattr(y, "v", 7.0)),
]


@pytest.mark.parametrize(("make", "change"), CHANGES, ids=range(len(CHANGES)))
@pytest.mark.parametrize("when", [0, 1])
def test_a_value_is_one_object_for_all_calls(make, change, when):
    def f(x, changed):
        kept = functools.cache(make)
        values = []
        for i in range(2):
            values.append(kept(x * 1.0))
            if i == when and changed:
                change(values[0])
        return x

    with testing.recorded_only():
        assert gradient(f, 3.0, False)[0] == 1.0
        with pytest.raises(DifferentiationError, match=r"\[ZL026\]"):
            gradient(f, 3.0, True)


@pytest.mark.parametrize("maxsize", [4, None])
def test_keys_are_asked_as_often_as_by_python(maxsize):
    class Key:
        asked = 0

        def __init__(self, value):
            self.value = value

        def __hash__(self):
            Key.asked += 1
            return hash(self.value)

        def __eq__(self, other):
            Key.asked += 100
            return self.value == other.value

    def f(x):
        Key.asked = 0

        @functools.lru_cache(maxsize=maxsize)
        def scaled(key):
            return key.value * x

        total = scaled(Key(1)) + scaled(Key(1)) + scaled(Key(2))
        return total * Key.asked

    value = f(0.7)
    for _ in range(4):
        assert value_and_grad(f)(0.7) == (value, pytest.approx(value / 0.7))


def test_a_call_inside_with_the_same_arguments_is_refused():
    def f(x):
        count = [0]

        @functools.lru_cache(maxsize=2)
        def g(v):
            count[0] += 1
            return 2.0 * g(v) if count[0] == 1 else v

        return g(x) + g(x)

    with testing.recorded_only(), pytest.raises(DifferentiationError, match=r"\[ZL026\]"):
        gradient(f, 3.0)


KEPT = {}


def remembered(key):
    def f(x):
        name = key(x)
        if name not in KEPT:
            KEPT[name] = x * x
        return KEPT[name]

    return f


def remembered_by_get(x):
    y = KEPT.get(str(x))
    if y is None:
        y = KEPT[str(x)] = x * x
    return y


@dataclasses.dataclass(frozen=True)
class Key:
    of: float


REMEMBERED = {
    "str": remembered(str),
    "format": remembered("{:.6f}".format),
    "frozenset": remembered(lambda x: frozenset([x])),
    "bytes": remembered(lambda x: np.asarray(x).tobytes()),
    "tuple": remembered(lambda x: ("square", f"{x!r}")),
    "object": remembered(Key),
    "get": remembered_by_get,
    "setdefault": lambda x: KEPT.setdefault(str(x), x * x),
}


@pytest.mark.parametrize("f", REMEMBERED.values(), ids=REMEMBERED)
def test_what_an_earlier_call_kept_under_a_key_made_of_the_argument_is_refused(f):
    KEPT.clear()
    assert gradient(f, 3.0) == (6.0,)
    for _ in range(4):
        with pytest.raises(DifferentiationError, match=r"kept by an earlier call.*\[ZL026\]"):
            gradient(f, 3.0)


def test_what_a_call_without_a_gradient_kept_is_refused():
    KEPT.clear()
    f = remembered(lambda x: x)
    f(3.0)
    with pytest.raises(DifferentiationError, match=r"\[ZL026\]"):
        gradient(f, 3.0)


class Outside:
    def __init__(self, w):
        self.w = w


outside = Outside(1.0)


@functools.lru_cache
def scaled(k):
    return outside.w * k


@functools.lru_cache(typed=True)
def same(k, *, of=0):
    return outside


@functools.cache
def square(k):
    return k * k


@pytest.fixture
def filled():
    for f in (scaled, same, square):
        f.cache_clear()
    outside.w = 1.0
    scaled(2), same(1), same(1.0, of=2), square(2.0), square(3.0)


def by_an_old_value(x):
    outside.w = x
    return scaled(2) * x


def by_an_object_that_is_kept(x):
    outside.w = x
    return same(1).w * same(1.0, of=2).w * square(3.0)


def by_an_object_that_is_not_kept(x):
    outside.w = x
    return same(5).w * x


def inside(x):
    return gradient(lambda y: y * square(y) * square(x) * square(3.0), x)[0]


KEPT_BEFORE = [by_an_old_value, by_an_object_that_is_kept, by_an_object_that_is_not_kept, inside]


@pytest.mark.parametrize("f", KEPT_BEFORE)
def test_what_the_users_cache_holds_is_what_a_call_gives(filled, f, monkeypatch):
    """Also where every walk is given up: Python gives the value that it kept."""
    want = f(2.0)
    for given_up in (False, True):
        if given_up:
            monkeypatch.setattr(doubts, "may_reach_active", lambda *xs, given=0: True)
        for _ in range(4):
            outside.w = 1.0
            y, (d,) = value_and_grad(f, (0,))(2.0)
            assert y == want
            assert_slopes((d,), f, (2.0,), 1e-6)


def test_another_value_that_the_users_cache_holds_for_the_argument_is_refused(filled):
    scaled(3.0)
    outside.w = 4.0
    for _ in range(3):
        with pytest.raises(DifferentiationError, match=r"keeps another value.*\[ZL026\]"):
            gradient(scaled, 3.0)


def test_what_was_written_into_a_value_that_the_users_cache_holds_is_refused():
    made = functools.lru_cache(lambda k: [k])
    made(2.0)

    def f(x):
        made(2.0)[0] = x
        return made(x)[0] * x

    for _ in range(3):
        with pytest.raises(DifferentiationError, match=r"\[ZL026\]"):
            gradient(f, 2.0)


def test_tables_are_read_by_names():
    def f(weights, edges, x):
        return sum([weights[edge] * x for edge in edges]) + TABLE[f"{len(edges)}"] * x

    weights = {(0, 1): 1.0, (1, 2): 2.0, 2.5: 4.0}
    edges = [tuple([0, 1]), tuple([1, 2]), 2.5]
    for _ in range(4):
        assert gradient(f, weights, edges, 3.0) == (dict.fromkeys(weights, 3.0), None, 12.0)


TABLE = {"3": 5.0}
