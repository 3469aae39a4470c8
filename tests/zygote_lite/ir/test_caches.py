"""Caches of code and classes: bounded, emptied of what is gone, and shared by threads."""

import functools
import gc
import sys
import threading
import weakref
from collections.abc import Sized
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from zygote_lite import caches, gradient

# a program of its own: functions, classes, errors, generators, attributes, closures over arrays
TEXT = """
import dataclasses
import numpy as np

class Model:
    def __init__(self, w):
        self.w_{i} = w
        self.data = DATA

    @property
    def scaled(self):
        return self.w_{i} * {i}.5

    def __add__(self, other):
        return Model(self.w_{i} + other)

@dataclasses.dataclass
class Pair:
    a: float
    b: float = {i}.0

class Failed{i}(Exception):
    pass

def helper(y, *, factor={i}.0):
    try:
        if y > 1e9:
            raise Failed{i}(y)
    except Failed{i}:
        return y
    return y * factor + sum(v * y for v in (1.0, {i}.0))

DATA = np.zeros(10)

def f(x):
    model, pair = Model(x) + 1.0, Pair(x)
    total = model.scaled + pair.a * pair.b
    for k in range(3):
        total = total + helper(x * k)
    return total + np.sum(np.array([x, {i}.0]) ** 2)
"""


def program(i):
    namespace = {"__name__": "program"}
    exec(TEXT.replace("{i}", str(i)), namespace)
    return namespace


def sizes():
    """Return how much each container and each cached function of the modules of ours holds."""
    found = {}
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] not in ("zygote_lite", "rulescore", "rules_base"):
            continue
        for key, x in [*vars(module).items()]:
            if isinstance(x, functools._lru_cache_wrapper):
                found[name, key] = x.cache_info().currsize
            elif isinstance(x, Sized) and not isinstance(x, type | str | np.ndarray):
                found[name, key] = len(x)
    return found


@pytest.fixture
def quickly(monkeypatch):
    """Let what is gone be forgotten after a few new entries."""
    monkeypatch.setattr(caches, "_FEW", 4)
    for known in caches._caches:  # what other tests have used
        known.turn()
        known.turn()
    gc.collect()


@pytest.mark.parametrize("calls", [1, 4])  # recorded, and transformed
def test_programs_that_are_gone_are_forgotten_by_all_caches(quickly, calls):
    """What does not grow with 5 more programs does not grow: all module-level containers."""

    def run(number):
        gone = []
        for i in number:
            made = program(i)
            step = 1e-6
            slope = (made["f"](2.0 + step) - made["f"](2.0 - step)) / (2 * step)
            for _ in range(calls):
                (d,) = gradient(made["f"], 2.0)
                assert abs(d - slope) < 1e-6 * abs(slope)
            gone.append([weakref.ref(made[name]) for name in ("f", "Model", f"Failed{i}", "Pair")])
            gone[-1].append(weakref.ref(made["DATA"]))
            made.clear()
            gc.collect()
        return gone

    start = 100 * calls
    run(range(start, start + 5))
    before = sizes()
    gone = run(range(start + 5, start + 13))
    run(range(start + 13, start + 16))
    alive = [[reference() for reference in each if reference() is not None] for each in gone]
    assert alive == [[]] * len(gone)
    # tables of which each entry is small and the number is bounded
    small = {("zygote_lite._specialize.typed.functions", "_attributes")}
    after = sizes()
    grown = {key: n - before.get(key, 0) for key, n in after.items() if key not in small}
    assert {key: n for key, n in grown.items() if n >= 8 and after[key] > 60} == {}


def test_no_cache_is_without_a_bound():
    found = [x for m in [*sys.modules.values()] for x in [*getattr(m, "__dict__", {}).values()]]
    ours = [
        x
        for x in found
        if isinstance(x, functools._lru_cache_wrapper)
        and x.__module__.partition(".")[0] in ("zygote_lite", "rulescore", "rules_base")
    ]
    unbounded = [x.__qualname__ for x in ours if x.cache_parameters()["maxsize"] is None]
    assert len(ours) > 10
    assert unbounded == []


def test_what_is_used_stays_and_what_is_not_goes():
    known = caches.Cache(1000)
    for i in range(10):
        known.keep(i, str(i))
    known.turn()
    assert [known.get(i) for i in (3, 4)] == ["3", "4"]
    known.turn()
    assert dict(known.items()) == {3: "3", 4: "4"}


def test_arguments_are_the_key_by_position_alone():
    f = caches.cached(4)(lambda x, y=1: x + y)
    assert (f(1), f(1, 2), f(1)) == (2, 3, 2)
    with pytest.raises(TypeError, match="keyword"):
        f(1, y=2)


def test_a_cache_that_is_full_forgets_what_was_not_used():
    known = caches.Cache(10)
    for i in range(1000):
        known.keep(i, i)
        assert known.get(0) == 0 or i > 10
        assert len(known) <= 20


def test_what_is_used_again_and_again_is_not_forgotten_at_once():
    """A steady program keeps all, however often the garbage is collected."""
    known = caches.Cache(1000)
    for i in range(500):
        known.keep(i, i)
    gc.collect()
    for i in range(500):
        known.get(i)
    for _ in range(5):
        gc.collect()
    assert len({key for key, _ in known.items()}) == 500


def test_few_new_entries_beside_many_that_are_used_are_no_reason_to_forget():
    known = caches.Cache(1000)
    for i in range(500):
        known.keep(i, i)
    known.turn()
    for i in range(500):
        known.get(i)
    known.turn()
    for i in range(500, 600):
        known.keep(i, i)
    assert not known.is_due()
    for i in range(600, 1100):
        known.keep(i, i)
    assert known.is_due()


def test_what_was_found_of_classes_has_a_bound(monkeypatch):
    monkeypatch.setattr(caches, "_MOST_CLASSES", 8)
    monkeypatch.setattr(caches, "_MOST_ANSWERS", 4)
    named = caches.cached_by_class(lambda kind, i: (kind.__name__, i))
    for i in range(30):
        kind = type(f"Kind{i}", (), {})
        assert [named(kind, k) for k in range(10)] == [(f"Kind{i}", k) for k in range(10)]
        assert len(caches._of_classes) <= 8
        assert len(caches._of_classes[kind].found) <= 4


def test_what_one_thread_has_kept_is_what_another_gets():
    known, first, second = caches.Cache(10), [1], [1]
    assert known.keep("a", first) is first
    assert known.keep("a", second) is first


def test_a_thread_waits_to_keep_something_and_forgets_nothing_meanwhile():
    known = caches.Cache(10)
    known.keep(1, 1)
    keeping = threading.Thread(target=known.keep, args=(2, 2), daemon=True)
    forgetting = threading.Thread(target=known.turn, daemon=True)
    with known.lock:
        assert known.lock.acquire(blocking=False)  # as in a finalizer that runs meanwhile
        known.keep(3, 3)
        known.lock.release()
        forgetting.start()
        forgetting.join(10.0)
        assert not forgetting.is_alive()
        assert not known.old
        keeping.start()
        keeping.join(0.05)
        assert keeping.is_alive()
    keeping.join(10.0)
    assert known.young == {1: 1, 3: 3, 2: 2}


def test_threads_share_a_cache(monkeypatch):
    monkeypatch.setattr(caches, "_FEW", 4)
    known = caches.Cache(50)

    def work(number):
        for i in range(2000):
            key = (i * 7 + number) % 97
            found = known.get(key)
            assert found in (None, key)
            assert known.keep(key, key) == key
            if i % 100 == 0:
                known.turn()
            if i % 500 == 0:
                gc.collect()
                assert all(a == b for a, b in known.items())

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(work, range(8))] == [None] * 8


def test_threads_differentiate_while_code_is_forgotten(quickly):
    def work(number):
        for i in range(2):
            made = program(1000 + number)
            step = 1e-6
            slope = (made["f"](2.0 + step) - made["f"](2.0 - step)) / (2 * step)
            for _ in range(2):
                assert abs(gradient(made["f"], 2.0)[0] - slope) < 1e-6 * abs(slope)
            if i % 2:
                gc.collect()
        return True

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(work, range(3)))
