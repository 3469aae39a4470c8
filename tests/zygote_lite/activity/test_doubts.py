"""Calls that may reach something active: how far a walk goes, and what is recorded in doubt."""

import contextlib
import csv
import gc
import marshal
import operator
import types
from collections import deque

import pytest
from scipy import integrate, optimize

from tests.zygote_lite.checks.finite_differences import assert_slopes, slopes
from zygote_lite import DifferentiationError, gradient, value_and_grad
from zygote_lite._activity import deeds, doubts, heap, hooks, side_effects, walk
from zygote_lite._cotangents.run import state
from zygote_lite._specialize import callee
from zygote_lite.testing import recorded_only

said: list[object] = []
written = {"h": 0.0}


class Counted:
    """An object that is written into, with methods that nothing active reaches but `hidden`."""

    def __init__(self):
        self.w, self.settings, self.items = 1.0, {"a": 1}, [1, 2, 3]

    def name(self):
        said.append("name")
        return f"m{self.settings['a']}"

    def hidden(self):
        return written["h"]

    @property
    def size(self):
        return len(self.items)

    @staticmethod
    def following(k):
        said.append(k)
        return k + 1

    def fails(self):
        raise KeyError("no")

    def __call__(self, k):
        said.append(("called", k))
        return k * 2


counted = Counted()


def safely(k):
    said.append(("before", k))
    try:
        Counted().fails()
    except KeyError:
        return k
    finally:
        said.append("after")


def looks_at_names(k):
    return len(eval("[k]")) * k


def generated(k):
    return sum(i for i in range(k))


def counts_down(k):
    while k > 1:
        k -= 1
    return k


def program(x):
    counted.w = x
    written["h"] = x * 2
    a = len(counted.name()) + Counted.following(4) + safely(5) + Counted().size + counted(2)
    b = looks_at_names(3) + generated(3) + counts_down(4)
    return counted.w * a + counted.hidden() * b * x


@pytest.fixture
def all_in_doubt(monkeypatch):
    monkeypatch.setattr(walk, "_GIVEN", -(10**9))


def test_what_is_recorded_in_doubt_does_what_it_does_when_it_is_run(all_in_doubt):
    said.clear()
    y = program(1.5)
    expected = said[:]
    ((_path, best, _off),) = slopes(program, (1.5,), 1e-2)
    for _ in range(4):
        said.clear()
        assert value_and_grad(program)(1.5) == (y, pytest.approx(float(best), rel=1e-9))
        assert said == expected


@pytest.mark.parametrize("f", [looks_at_names, generated, counts_down])
def test_what_looks_at_frames_or_loops_unseen_is_walked_for_longer(all_in_doubt, f):
    def g(x):
        counted.w = x
        return counted.w * f(3)

    with recorded_only():
        assert gradient(g, 2.0) == (float(f(3)),)
    assert doubts._is_long(f.__code__) or not doubts._is_recordable(f)


MANY = [[i] for i in range(3000)]


def size_of_many(k):
    return len(marshal.dumps(MANY)) * k


def test_what_is_recorded_in_doubt_is_not_refused_because_it_is_large():
    def f(x):
        counted.w = x
        return counted.w * size_of_many(2)

    with recorded_only():
        assert gradient(f, 2.0) == (float(size_of_many(2)),)


def library_with(count):
    """Return the class and the object of a module that names much of what it holds."""
    module = types.ModuleType("large")
    text = """
class Part:
    pass

class Model:
    def describe(self, k):
        return f"{k}" if self.settings["a"] else all_parts

    def check(self, k):
        return helper(k) + len(self.settings)

def helper(k):
    return k if k >= 0 else len(all_parts)

all_parts = []
"""
    exec(text, vars(module))
    for i in range(count):
        part = module.Part()
        part.number, part.others = i, module.all_parts[-2:]
        module.all_parts.append(part)
    model = module.Model()
    model.settings, model.w = {"a": 1}, 1.0
    return model


def use(model, x, count):
    y = x
    for k in range(count):
        model.w = y
        y = model.w + x * (model.check(k) + len(model.describe(k)))
    return y


@pytest.fixture
def steps(monkeypatch):
    """Count the steps of walks, but for those of checks."""
    monkeypatch.setattr(walk, "CHECKED", False)
    found = [0]
    kind_of = heap.kind_of

    def counting(x):
        found[0] += 1
        return kind_of(x)

    for module in (walk, heap):
        monkeypatch.setattr(module, "kind_of", counting)
    return found


def test_walks_take_what_the_run_does_whatever_the_heap_looks_like(steps):
    counts = {}
    for count in (3_000, 30_000):
        model = library_with(count)
        for uses in (5, 50):
            steps[0], resolved = 0, []

            def f(x, model=model, uses=uses, resolved=resolved):
                y = use(model, x, uses)
                resolved.append(calls_resolved())
                return y

            with recorded_only():
                (d,) = gradient(f, 0.5)
            assert d == pytest.approx(use(model, 1.0, uses))
            counts[count, uses] = steps[0]
            assert steps[0] < 5 * (walk._GIVEN + walk._EARNED * resolved[-1]) + 20 * uses
    assert counts[3_000, 5] == counts[30_000, 5]
    assert counts[3_000, 50] == counts[30_000, 50]


def calls_resolved():
    return state.resolved


@pytest.fixture
def short_walks(monkeypatch):
    """Give up early, so that a few thousand objects are as many as a million."""
    monkeypatch.setattr(walk, "LIMIT", 500)
    monkeypatch.setattr(walk, "FOR_ERRORS", 1000)
    for module in (walk, doubts, callee):
        monkeypatch.setattr(module, "FOR_LONG_CALLS", 1000)


ITEMS = {
    "min": lambda items: min(items).number,
    "max": lambda items: max(items, key=lambda item: item.number).number,
    "sorted": lambda items: sorted(items)[1].number,
}


@pytest.mark.parametrize("name", ITEMS)
def test_the_least_of_objects_that_reach_many_is_found(short_walks, name):
    class Ordered:
        def __init__(self, number, before):
            self.number, self.before = number, before

        def __lt__(self, other):
            return self.number < other.number

    items = [Ordered(0, None)]
    for number in range(1, 3000):
        items.append(Ordered(number, items[-1]))

    def f(x):
        counted.w = x
        return counted.w * (ITEMS[name](items[-5:]) + 1)

    with recorded_only():
        assert gradient(f, 2.0) == (f(1.0),)


def test_a_set_is_made_where_every_walk_is_given_up(monkeypatch):
    """Its Python equivalent begins with an empty set."""
    monkeypatch.setattr(doubts, "may_reach_active", lambda *xs, given=0: True)

    def f(x):
        counted.w = x
        return counted.w * (len(set()) + len(frozenset([1, 2])) + len({1} | set([3])))

    with recorded_only():
        assert gradient(f, 2.0)[0] == 4.0


def test_what_a_walk_gives_up_on_is_not_put_aside_for_it(monkeypatch):
    put_items, put = heap._put_items, []

    def counting(x, kind, stack, *room):
        before = len(stack)
        put_items(x, kind, stack, *room)
        put.append(len(stack) - before)

    monkeypatch.setattr(heap, "_put_items", counting)
    for parts in (list, tuple, set, lambda items: dict(enumerate(items))):
        model = library_with(20_000)
        namespace = type(model).check.__globals__
        namespace["all_parts"] = parts(namespace["all_parts"])
        with recorded_only():
            (d,) = gradient(lambda x, model=model: use(model, x, 20), 0.5)
        assert d == use(model, 1.0, 20)
        assert max(put) <= 5 * walk.LIMIT + 1


def test_what_takes_longer_than_a_walk_is_walked_in_later_runs():
    model = library_with(300)
    resolved = []

    def work(k):
        total = 0
        for i in range(k):
            total = helper(i, total)
        return total if k else model.describe(k)

    def helper(i, total):
        return total + i

    def f(x):
        counted.w = x
        y = counted.w * work(3000)
        resolved.append(calls_resolved())
        return y

    with recorded_only():
        for _ in range(2):
            assert gradient(f, 2.0) == (float(work(3000)),)
    assert resolved[0] > 3000
    assert resolved[1] < 100


# -- large objects as arguments ----------------------------------------------------------------


def scaled(x, model, count):
    total = 0.0
    model.w = x
    for k in range(count):
        total = total + model.w * model.parts.get(k) * len(model.parts)
    return total


def test_a_large_argument_is_looked_at_once(steps):
    looked_at = {}
    for size in (1_000, 20_000):
        model = types.SimpleNamespace(parts={k: 1.0 for k in range(size)}, w=0.0)
        for count in (10, 1_000):
            steps[0] = 0
            with recorded_only():
                assert gradient(scaled, 1.5, model, count)[0] == count * size
            looked_at[size, count] = steps[0]
    assert looked_at[1_000, 1_000] == looked_at[20_000, 1_000]
    assert looked_at[20_000, 1_000] - looked_at[20_000, 10] < 20 * 990


def test_dicts_are_not_searched_for_the_methods_of_what_they_hold(monkeypatch):
    held = {k: [k] for k in range(1000)}
    searched = []
    parts = hooks._items_of
    monkeypatch.setattr(hooks, "_items_of", lambda x: searched.append(x) or parts(x))

    def f(x):
        counted.w = x
        y = held.get(3)[0] + (4 in held) + held.setdefault(5, [0])[0]
        return counted.w * y

    with recorded_only():
        assert gradient(f, 2.0) == (9.0,)
    assert not any(x is held for x in searched)


# -- memory ------------------------------------------------------------------------------------


def of_objects(x):
    kept = Counted()
    kept.w = x * 2.0
    return kept.w * len(kept.name())


def of_arrays(x):
    y = [x * k for k in range(5)]
    return sum(y) * x


def with_a_counter(x):
    counted.w = x
    return counted.w * Counted.following(2)


def that_raises(x):
    kept = [x]
    try:
        return Counted().fails() or kept[0]
    except KeyError as error:
        kept.append(x * len(error.args))
    raise ValueError(kept)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("tier", ["recorded", "as it comes"])
@pytest.mark.parametrize("f", [of_objects, of_arrays, that_raises, with_a_counter])
def test_gradients_leave_nothing_behind(f, tier):
    def one():
        said.clear()
        with contextlib.suppress(ValueError):
            gradient(f, 1.5)

    with recorded_only() if tier == "recorded" else contextlib.nullcontext():
        gc.collect()  # long caches forget all that is in them now, not while objects are counted
        for _ in range(20):
            one()
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(100):
            one()
        gc.collect()
        assert len(gc.get_objects()) - before < 10


# -- gradients inside, after an attribute was assigned --------------------------------------------


def by_gradient(x):
    counted.w = x
    return gradient(lambda y: y * y * counted.w, x)[0]


def by_a_loop(x):
    total = 0.0
    counted.w = x
    for _ in range(3):
        total = total + gradient(lambda y: y * y * counted.w, x)[0]
        counted.w = counted.w * x
    return total


def by_value_and_grad(x):
    counted.w = x
    return value_and_grad(lambda y: y * counted.w)(x)[0] * x


@pytest.mark.parametrize("f", [by_gradient, by_a_loop, by_value_and_grad])
def test_a_gradient_inside_reads_an_attribute_that_was_assigned_before(f):
    for x in (1.5, 1.5, 1.5, 2.0):
        counted.w = 1.0
        ((_path, best, _off),) = slopes(f, (x,), 1e-2)
        assert value_and_grad(f)(x) == (pytest.approx(f(x)), pytest.approx(float(best), rel=1e-7))


def by_an_integral(x):
    counted.w = x
    return integrate.quad(lambda t: t * counted.w, 0.0, 1.0)[0]


def by_a_root(x):
    counted.w = x
    return optimize.brentq(lambda t: t * t - counted.hidden() - counted.w, 0.0, 10.0)


@pytest.mark.parametrize("f", [by_an_integral, by_a_root])
def test_a_function_that_a_rule_is_given_may_not_read_what_was_assigned(f):
    for _ in range(3):
        with pytest.raises(DifferentiationError, match="reads a Counted that was given what"):
            gradient(f, 1.5)


def test_a_function_that_a_rule_is_given_may_read_what_holds_nothing_active():
    def f(x):
        counted.w = x
        return counted.w * integrate.quad(lambda t: t * x * len(counted.items), 0.0, 1.0)[0]

    for _ in range(3):
        assert gradient(f, 1.5) == (pytest.approx(4.5),)


# -- what C or a module calls unasked ---------------------------------------------------------


class OfCounted:
    def __format__(self, spec):
        return repr(counted.w)

    def __eq__(self, other):
        counted.w = counted.w * 2.0
        return True

    __hash__ = None


held_by_name = types.SimpleNamespace(of=OfCounted())
BY_PLACE, BY_NAME, BY_ITEM = "{}", "{x:}", "{[0]}"
FORMATTED = [
    lambda: f"{held_by_name.of}",
    lambda: BY_PLACE.format(held_by_name.of),
    lambda: BY_NAME.format(x=held_by_name.of),
    lambda: BY_ITEM.format([held_by_name.of]),
]


@pytest.mark.parametrize("formatted", FORMATTED, ids=["f-string", "place", "name", "item"])
def test_numbers_are_not_made_of_what_a_method_formats(formatted):
    def f(x):
        counted.w = x
        return float(formatted()) * x

    for _ in range(3):
        with pytest.raises(DifferentiationError, match="no gradient passes through a text"):
            gradient(f, 3.0)


@pytest.mark.parametrize("ask", [deque.remove, deque.index, deque.count, operator.contains])
def test_deques_that_ask_whether_entries_are_equal_are_followed(ask):
    def f(x):
        counted.w = x
        entries = deque([OfCounted()])
        ask(entries, 5)
        return counted.w * (1 + len(entries))

    for _ in range(3):
        assert_slopes(gradient(f, 3.0), f, (3.0,), 1e-6)


computing = types.ModuleType("computing")
computing.held = types.SimpleNamespace(w=0.0)
exec(
    """def __getattr__(name):
    if name == "times":
        return lambda y: y * held.w
    if name != "doubled":
        raise AttributeError(name)
    return held.w * 2.0
""",
    vars(computing),
)


@pytest.mark.parametrize(
    "read",
    [
        lambda x: computing.doubled * x,
        lambda x: computing.doubled * computing.times(x),
        lambda x: getattr(computing, "missing", x) * x + hasattr(computing, "doubled"),
    ],
    ids=["attribute", "method", "getattr"],
)
def test_what_a_module_computes_where_it_is_read_is_followed(read):
    def f(x):
        computing.held.w = x
        return read(x)

    for _ in range(3):
        assert_slopes(gradient(f, 3.0), f, (3.0,), 1e-6)
    with recorded_only():
        assert_slopes(gradient(f, 3.0), f, (3.0,), 1e-6)


def test_iterators_in_c_are_run_where_every_walk_is_given_up(monkeypatch):
    """Recorded as its Python equivalent, `zip` would step the reader without an end."""
    monkeypatch.setattr(doubts, "may_reach_active", lambda *xs, given=0: True)

    def f(x):
        counted.w = x
        rows = csv.reader(["1,2", "3,4", "5,6"])
        return counted.w * (len(list(zip([1, 2], rows, strict=False))) + len(list(rows)))

    with recorded_only():
        assert gradient(f, 2.0)[0] == f(1.0)


class Compared:
    """An object that Python compares, and that writes where it does."""

    count = 0

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        Compared.count += 1
        return self is other


def test_classes_are_asked_once_for_what_their_methods_write(monkeypatch):
    """However many objects a list has, and however often is asked."""
    asked = []
    may_write = deeds.may_write

    def counting(f, *xs):
        asked.append(f)
        return may_write(f, *xs)

    monkeypatch.setattr(hooks, "may_write", counting)
    kept = [0.0]
    for size in (20, 2_000):
        parts = [Compared(i) for i in range(size)]
        table = {part: part.number for part in parts}

        def f(x, parts=parts, table=table):
            kept[0] = x
            for _ in range(3):
                x = x * (1 + (parts[1] in parts)) * (table[parts[1]] + (parts == parts))
            return x

        with recorded_only():
            assert gradient(f, 2.0)[0] == 64.0
    assert len(asked) < 500


def test_a_search_is_looked_at_as_far_as_it_goes():
    kept, parts = [0.0], [types.SimpleNamespace(number=float(i)) for i in range(1000)]

    def f(x):
        kept[0] = x
        return x * (parts[2] in parts) * (1 + (parts[999] in parts)) * (1 + parts.index(parts[1]))

    with recorded_only():
        assert gradient(f, 2.0)[0] == 4.0
    lengths = [len(side_effects.as_far_as_found((parts, x))[0]) for x in (parts[2], 7.0)]
    assert lengths == [3, 1000]
