"""The search for methods that C calls: it finds those that write, and looks at little else."""

import bisect
import collections
import copy
import dataclasses
import functools
import heapq
import itertools
import operator
import types
import weakref

import numpy as np
import pytest

from rulescore import Tangent
from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import DifferentiationError, gradient
from zygote_lite._activity import deeds, hooks, walk
from zygote_lite._activity.side_effects import hooks_called
from zygote_lite._cotangents.store import Store
from zygote_lite.testing import recorded_only

outside = types.SimpleNamespace(w=1.0)


class Linked:
    """A part of a model, compared by a number; all others are reached from it."""

    def __init__(self, number, model):
        self.number, self.model = number, model

    def __eq__(self, other):
        return isinstance(other, Linked) and self.number == other.number

    def __lt__(self, other):
        return self.number < other.number

    def __hash__(self):
        return hash(self.number)

    def __repr__(self):
        return f"{type(self).__name__}({self.number})"

    def __len__(self):
        return 2

    def __bool__(self):
        return len(self) > 1

    def __iter__(self):
        return iter([self.number, self.number])

    def __float__(self):
        return float(self.number)


@dataclasses.dataclass(order=True)
class Data:
    number: int
    model: object = dataclasses.field(compare=False, repr=False)


class Model:
    def __init__(self, size):
        self.all = []
        self.all += [Linked(k, self) for k in range(size)]
        self.parts = [Linked(k, self) for k in range(10)]
        self.data = [Data(k, self) for k in range(10)]
        self.pairs = [(k // 2, part) for k, part in enumerate(self.parts)]
        self.by_key = {part: part.number for part in self.parts}
        self.few = {*self.parts}


TEMPLATE = "%s"
QUESTIONS = {
    "sorted": lambda m: sorted(m.parts)[1].number,
    "sorted pairs": lambda m: sorted(m.pairs)[1][0] + 1,
    "sorted dataclasses": lambda m: sorted(m.data)[1].number,
    "max": lambda m: max(m.parts).number,
    "min of two": lambda m: min(m.data[2], m.data[1]).number,
    "sort": lambda m: m.parts[:].sort() is None,
    "repr": lambda m: len(repr(m.parts)) + len(repr(m.by_key)),
    "str": lambda m: len(f"{m.parts[1]} {m.pairs}") + len(TEMPLATE % m.parts[1]),
    "repr of a dataclass": lambda m: len(repr(m.data)),
    "join": lambda m: len(",".join([repr(part) for part in m.parts])),
    "index": lambda m: m.parts.index(m.parts[3]) + m.parts.count(m.parts[2]),
    "in": lambda m: (Linked(-1, m) in m.parts) + (m.parts[9] in m.parts) + 1,
    "in a tuple": lambda m: (m.parts[9] in (*m.parts,)) + 1,
    "== of dataclasses": lambda m: (m.data[0] == m.data[1]) + (m.data[0] < m.data[1]) + 1,
    "== of lists": lambda m: (m.parts == m.parts[:]) + (m.pairs < m.pairs[:]),
    "== of dicts": lambda m: (m.by_key == dict(m.by_key)) + 1,
    "==": lambda m: (m.parts[0] == m.parts[1]) + (m.parts[0] < m.parts[1]) + 1,
    "hash": lambda m: (hash(m.parts[0]) + hash(m.pairs[0]) != 0.5) + 1,
    "a key": lambda m: m.by_key[m.parts[2]] + (m.parts[3] in m.by_key),
    "set": lambda m: len(set(m.parts)) + len(m.few & m.few) + len(m.few | {m.parts[1]}),
    "dict": lambda m: len({part: 1 for part in m.parts}) + len(dict.fromkeys(m.parts)),
    "any": lambda m: any(m.parts) + all(m.parts),
    "filter": lambda m: len([*filter(None, m.parts)]),
    "iteration": lambda m: len([*m.parts[1]]) + sum(m.parts[1]) + len(m.parts[0]),
    "float": lambda m: float(m.parts[1]) + bool(m.parts[1]),
    "map": lambda m: len([*map(repr, m.parts)]),
    "bisect": lambda m: bisect.bisect(m.parts, m.parts[3]),
    "heapq": lambda m: heapq.nsmallest(2, m.parts)[1].number,
    "Counter": lambda m: len(collections.Counter(m.parts)),
    "copy": lambda m: len(copy.copy(m.parts)),
}


@pytest.fixture
def looked_at(monkeypatch):
    """Return a list of what the search looks at, an item for each."""
    found = []
    look_at, items = hooks._Search.look_at, hooks._items_of

    def looking(self, x, is_beyond):
        found.append(1)
        look_at(self, x, is_beyond)

    def taking(x):
        found.extend(y := items(x))
        return y

    monkeypatch.setattr(hooks._Search, "look_at", looking)
    monkeypatch.setattr(hooks, "_items_of", taking)
    return found


@pytest.fixture(scope="module")
def models():
    return Model(500), Model(8_000)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", QUESTIONS)
def test_methods_that_may_write_are_sought_in_what_methods_read(name, models, looked_at):
    counts = []
    for model in models:

        def f(x, model=model):
            outside.w = x
            total = 0.0
            for _ in range(5):
                total = total + outside.w * QUESTIONS[name](model)
            return total

        looked_at.clear()
        with recorded_only():
            assert gradient(f, 2.0) == (5.0 * QUESTIONS[name](model),)
        counts.append(len(looked_at))
    assert max(counts) < 4_000


CHOICES = {
    "reduce": lambda m: functools.reduce(max, m.parts).number,
    "max of two": lambda m: max(m.parts[1], m.parts[2]).number,
    "min of data": lambda m: min(m.data[2], m.data[1], m.data[3]).number,
    "accumulate": lambda m: [*itertools.accumulate(m.parts, max)][-1].number,
    "in": lambda m: (m.parts[3] in m.parts) + 1,
}


@pytest.mark.parametrize("name", CHOICES)
def test_the_reverse_pass_looks_at_no_more_where_more_is_reached(name, models, monkeypatch):
    found, collect = [], Store.collect

    def collecting(self, *xs):
        found.append(1)
        return collect(self, *xs)

    monkeypatch.setattr(Store, "collect", collecting)
    monkeypatch.setattr(walk, "LIMIT", 1_000)
    counts = []
    for model in models:

        def f(x, model=model):
            outside.w = x
            total = 0.0
            for _ in range(5):
                total = total + outside.w * CHOICES[name](model)
            return total

        found.clear()
        with recorded_only():
            assert gradient(f, 2.0) == (5.0 * CHOICES[name](model),)
        counts.append(len(found))
    assert max(counts) < 100


def test_the_greatest_object_has_the_gradient():
    def f(x, y):
        parts = [Linked(x * x, y), Linked(x * y, x), Linked(3.0 * x, x * y)]
        best, worst = functools.reduce(max, parts), min(*parts)
        return best.number * best.model + worst.number * worst.model

    for xs in [(2.0, 1.5), (3.5, 4.0), (0.5, 5.0)]:
        with recorded_only():
            assert_slopes(gradient(f, *xs), f, xs, 1e-6)
        for _ in range(3):
            assert_slopes(gradient(f, *xs), f, xs, 1e-6)


def test_a_rule_for_the_class_of_objects_is_preferred(rules):
    @rules(max)
    def _(x: Linked, y: Linked):
        z = Linked(max(x.number, y.number), None)
        return z, lambda dz: (Tangent(Linked, number=7.0 * dz["number"]), None)

    with recorded_only():
        assert gradient(lambda x: max(Linked(x, None), Linked(x, None)).number, 2.0) == (7.0,)


def test_a_search_beyond_its_bound_counts_as_found(monkeypatch):
    monkeypatch.setattr(walk, "FOR_ERRORS", 100)
    monkeypatch.setattr(walk, "LIMIT", 100)

    class OfAll(Linked):
        def __lt__(self, other):
            return self.number < len(self.model.all)

    assert hooks_called(sorted, (Model(50).parts,)) == []
    few, many = Model(20), Model(1_000)
    assert hooks_called(sorted, ([OfAll(0, few)],)) == []
    ((f, _),) = hooks_called(sorted, ([OfAll(0, many)],))
    assert f is OfAll.__lt__


def calling_each_other(count, last):
    """Return functions, and a class with methods, that each call all the others."""
    names = range(count)
    calls = "".join(
        f"def g{i}(k): return {' or '.join(f'g{j}(k)' for j in names)}\n" for i in names
    )
    own = " or ".join(f"self.g{j}(k)" for j in names)
    methods = "".join(f"    def g{i}(self, k): return {own}\n" for i in names)
    found = {"outside": outside}
    exec(f"{calls}class Of:\n{methods}".replace(f"g{count - 1}(k): return", last), found)
    return found["g0"], found["Of"]


def test_functions_that_call_each_other_are_looked_at_once(monkeypatch):
    looked, deeds_of = [], deeds.deeds_of
    monkeypatch.setattr(deeds, "deeds_of", lambda code: looked.append(code) or deeds_of(code))
    f, of = calling_each_other(30, "g29(k): return")
    assert not deeds.may_write(f)
    assert not deeds.may_write(of.g0, of)
    assert len(looked) <= 60
    f, of = calling_each_other(30, "g29(k): outside.w = 1.0; return")
    assert deeds.may_write(f)
    assert deeds.may_write(
        of.g0, type("Derived", (of,), {"g29": lambda self, k: setattr(outside, "w", k)})
    )


# -- what must be found ------------------------------------------------------------------------


class Writing:
    """Whatever is asked of it, it writes."""

    def __init__(self, number=1):
        self.number = number

    def _write(self, *xs):
        outside.w = outside.w * 3.0
        return True

    __eq__ = __lt__ = __bool__ = __contains__ = __call__ = get = _write
    shown = property(_write)

    def __hash__(self):
        outside.w = outside.w * 3.0
        return hash(self.number)

    def __repr__(self):
        outside.w = outside.w * 3.0
        return "writing"

    def __len__(self):
        outside.w = outside.w * 3.0
        return 2

    def __add__(self, other):
        outside.w = outside.w * 3.0
        return 2.0

    def __neg__(self):
        outside.w = outside.w * 3.0
        return 2.0

    def __iter__(self):
        outside.w = outside.w * 3.0
        return iter([1.0])

    def __getitem__(self, key):
        outside.w = outside.w * 3.0
        return 1.0


class WritingBase:
    def __lt__(self, other):
        outside.w = outside.w * 3.0
        return self.number < other.number


class WritingIfMissing:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        outside.w = outside.w * 3.0
        return 1.0


class Descriptor:
    def __get__(self, x, kind=None):
        outside.w = outside.w * 3.0
        return 1.0


class Slots:
    __slots__ = ("inner",)

    def __init__(self):
        self.inner = Writing()


KEPT = Writing()


def reads_what_is_shown(x):
    return x.shown


def of_a_closure():
    kept = Writing()
    return lambda self, other: kept == other


def matched(self, other):
    match self.inner:
        case Writing(shown=True):
            return True
    return False


def by_super(self, other):
    return super(type(self), self).__lt__(other)


METHODS = {
    "an attribute": lambda self, other: self.inner == other.inner,
    "of a holder": lambda self, other: self.holder.inner == other.holder.inner,
    "slots": lambda self, other: self.slots.inner == other.slots.inner,
    "a list": lambda self, other: self.list[0].inner == other.list[0].inner,
    "a dict": lambda self, other: self.dict["a"] == other.dict["a"],
    "a deque": lambda self, other: self.deque == other.deque,
    "an array": lambda self, other: self.array[0] == other.array[0],
    "a namespace": lambda self, other: self.namespace == other.namespace,
    "a weak reference": lambda self, other: self.weak() == other.weak(),
    "a class attribute": lambda self, other: self.of_class == other.of_class,
    "a closure": of_a_closure(),
    "a global": lambda self, other: KEPT == other,
    "in": lambda self, other: self.inner in (other.inner, KEPT),
    "contains": lambda self, other: 1 in self.inner,
    "hash": lambda self, other: hash(self.inner) < hash(other.inner),
    "a set": lambda self, other: {self.inner} < {other.inner},
    "repr": lambda self, other: repr(self.inner) < repr(other.inner),
    "an f-string": lambda self, other: f"{self.inner}" < f"{other.inner}",
    "if": lambda self, other: 1 if self.inner else 2,
    "not": lambda self, other: not self.inner,
    "len": lambda self, other: len(self.inner) < 2,
    "+": lambda self, other: self.inner + 1 < other.inner + 1,
    "-": lambda self, other: -self.inner < 1,
    "[]": lambda self, other: self.inner[0] < other.inner[0],
    "*": lambda self, other: [*self.inner] < [*other.inner],
    "for": lambda self, other: [y for y in self.inner] < [1.0],
    "sum": lambda self, other: sum(self.inner) < 1,
    "max": lambda self, other: max(self.inner, other.inner) is self.inner,
    "map": lambda self, other: [*map(bool, [self.inner])] < [1],
    "a property": lambda self, other: self.inner.shown,
    "a method": lambda self, other: self.inner.get(1),
    "a call": lambda self, other: self.inner(),
    "a function": lambda self, other: reads_what_is_shown(self.inner),
    "a key": lambda self, other: min([self, other], key=lambda x: x.inner.shown) is self,
    "getattr": lambda self, other: getattr(self, "inn" + "er") == 1,
    "vars": lambda self, other: vars(self)["inner"] == 1,
    "__dict__": lambda self, other: self.__dict__["inner"] == other.__dict__["inner"],
    "attrgetter": lambda self, other: operator.attrgetter("inner")(self) == 1,
    "__getattr__": lambda self, other: self.missing.something == 1.0,
    "__get__": lambda self, other: self.described == 1.0,
    "a base": lambda self, other: WritingBase.__lt__(self, other),
    "super": by_super,
    "match": matched,
}


def compared_by(method):
    """Return two objects that are compared by a method, which writes nothing itself."""

    class Compared(WritingBase):
        __lt__ = method
        of_class, described = Writing(), Descriptor()

    found = []
    for number in (1, 2):
        x = Compared()
        x.number, x.inner, x.slots, x.missing = number, Writing(), Slots(), WritingIfMissing()
        x.holder = types.SimpleNamespace(inner=Writing())
        x.list, x.dict, x.deque = [x.holder], {"a": Writing()}, collections.deque([Writing()])
        x.array, x.namespace = np.empty(1, dtype=object), types.SimpleNamespace(a=KEPT)
        x.array[0] = KEPT
        x.weak = weakref.ref(x.inner)
        found.append(x)
    return found


@pytest.mark.parametrize("name", METHODS)
def test_methods_that_write_are_found_where_other_methods_read(name):
    assert hooks_called(sorted, (compared_by(METHODS[name]),))
    assert hooks_called(bisect.bisect_left, ([0], compared_by(METHODS[name])[0]))


@pytest.mark.parametrize("name", METHODS)
def test_what_methods_of_other_objects_write_is_differentiated_or_refused(name):
    one, other = compared_by(METHODS[name])

    def f(x):
        outside.w = x
        max(one, other)
        return outside.w * x

    expected = f(1.5)
    with recorded_only():
        try:
            d = gradient(f, 1.5)
        except DifferentiationError:
            return
    assert f(1.5) == expected
    assert_slopes(d, f, (1.5,), 1e-6)


def test_what_is_not_read_does_not_count():
    one, other = compared_by(lambda self, other: self.number < other.number)
    assert hooks_called(sorted, ([one, other],)) == []
    data = [Data(1, Writing())]
    assert hooks_called(sorted, (data,)) == hooks_called(repr, (data,)) == []


def test_each_call_earns_room_for_the_search(monkeypatch):
    monkeypatch.setattr(walk.state, "resolved", 10_000, raising=False)
    monkeypatch.setattr(walk.state, "looked", walk.FOR_ERRORS, raising=False)
    earned = walk.room_for_hooks()
    assert earned > walk.LIMIT
    monkeypatch.setattr(walk.state, "resolved", 20_000)
    assert walk.room_for_hooks() == 2 * earned
