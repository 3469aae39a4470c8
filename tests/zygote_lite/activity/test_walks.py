"""What a question about a part of a large object costs: what the run does, whatever the heap.

Something active was written into another object before, so that anything may reach it. All calls of
Python and C are counted: no walk goes unseen, whoever makes it.
"""

import bisect
import collections
import contextlib
import copy
import dataclasses
import functools
import gc
import heapq
import inspect
import itertools
import json
import logging
import math
import operator
import statistics
import sys
import traceback
import types
import weakref

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import DifferentiationError, gradient, value_and_grad
from zygote_lite._activity import doubts, heap, walk
from zygote_lite._specialize import callee
from zygote_lite.testing import recorded_only

outside = types.SimpleNamespace(w=1.0)
TEMPLATE = "%s %s %d"
quiet = logging.getLogger(__name__)
quiet.propagate = False
quiet.addHandler(logging.NullHandler())


class Part:
    """One of many parts, from which all are reached."""

    def __init__(self, number, model):
        self.number, self.all, self.model = number, model.parts, model


class Shown(Part):
    def __repr__(self):
        return f"Shown({self.number})"


class Key(Part):
    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        return self.number == other.number

    def __lt__(self, other):
        return self.number < other.number


class Number(Part):
    """What Python and NumPy ask for a number, or for its items."""

    def __float__(self):
        return float(self.number)

    def __index__(self):
        return self.number

    def __bool__(self):
        return True

    def __len__(self):
        return 2

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, self.number])

    def __iter__(self):
        return iter([1, 2])

    def __getitem__(self, k):
        return k + 1

    def __contains__(self, k):
        return True

    def __add__(self, k):
        return k + 1

    def __call__(self, k):
        return k + 1

    def __format__(self, spec):
        return "number"


@dataclasses.dataclass
class Data:
    number: float
    model: object = dataclasses.field(repr=False, compare=False)


Named = collections.namedtuple("Named", "number model")


class Model:
    """A model with many parts; each of them reaches all others, and the model."""

    def __init__(self, size):
        self.parts = []
        self.parts += [Part(i, self) for i in range(size)]
        self.shown, self.keys, self.numbers = (
            [kind(k, self) for k in range(3)] for kind in (Shown, Key, Number)
        )
        self.data = [Data(float(k), self) for k in range(3)]
        self.tuples = [Named(float(k), self) for k in range(3)]
        self.by_key = {key: key.number for key in self.keys}
        self.by_name = {f"p{k}": part for k, part in enumerate(self.parts[:3])}
        self.array = np.array(self.parts, dtype=object)
        self.floats = [1.0] * size
        self.few = set(self.parts[:3])
        self.weak = weakref.WeakKeyDictionary({self.parts[0]: 1})
        self.cached = functools.lru_cache(lambda k: self.parts[k].number)
        self.filled = functools.lru_cache(lambda k: self.parts[k])
        for k in range(3):
            self.filled(k)

    def __len__(self):
        return 3

    def scaled(self, k):
        return 2 * self.parts[k].number

    @property
    def first(self):
        return self.parts[0].number

    @functools.cached_property
    def second(self):
        return self.parts[1].number

    @contextlib.contextmanager
    def within(self):
        yield self.parts[1].number


def counted_up(m, k):
    i = 0
    while i < m.parts[k].number:
        i += 1
    return i + 1


def numbers_of(m, k):
    for part in m.parts[:k]:
        yield part.number


def number_of(m, k):
    return m.parts[k].number


def in_a_context(m, k):
    with m.within() as number:
        return number + k


def caught(m, k):
    try:
        raise ValueError(m.parts[k])
    except ValueError as error:
        return error.args[0].number + len(traceback.format_exc())


def matched(m, k):
    match m.parts[k]:
        case Part(number=number):
            return number + 1


def of_a_local_class(m, k):
    class Local:
        def number(self):
            return m.parts[k].number + 1

    return Local().number()


def of_wrapped(m, k):
    @functools.wraps(counted_up)
    def wrapper(*xs):
        return counted_up(*xs)

    return wrapper(m, k)


def set_attribute(m, k):
    m.parts[k].extra = k
    return 1


def stored_in_a_list(m, k):
    kept = []
    kept.append(m.parts[k])
    return kept[0].number + 1


QUESTIONS = {
    "an attribute": lambda m, k: m.parts[k].number + 1,
    "getattr": lambda m, k: getattr(m.parts[k], ("number", "all")[0]) + 1,
    "hasattr": lambda m, k: hasattr(m.parts[k], "none") + 1,
    "setattr": set_attribute,
    "isinstance": lambda m, k: isinstance(m.parts[k], Part) + 1,
    "type": lambda m, k: len(type(m.parts[k]).__name__),
    "a method": lambda m, k: m.scaled(k) + 1,
    "a property": lambda m, k: m.first + 1,
    "a cached property": lambda m, k: m.second + 1,
    "len": lambda m, k: len(m) + len(m.numbers[k]),
    "a loop": lambda m, k: sum([part.number for part in m.parts[:3]]),
    "a generator": lambda m, k: sum(numbers_of(m, k + 1)) + 1,
    "a generator expression": lambda m, k: sum(part.number for part in m.parts[:3]),
    "while": counted_up,
    "map": lambda m, k: sum(map(lambda part: part.number, m.parts[: k + 1])) + 1,
    "filter": lambda m, k: len([*filter(lambda part: part.number, m.parts[:3])]),
    "reduce": lambda m, k: functools.reduce(lambda y, part: y + part.number, m.parts[:3], 0),
    "sorted": lambda m, k: sorted(m.parts[:3], key=lambda part: -part.number)[0].number,
    "min": lambda m, k: min(m.keys).number + 1,
    "enumerate": lambda m, k: [i for i, _ in enumerate(m.parts[:3])][-1],
    "zip": lambda m, k: len([*zip(m.parts[:3], "abc", strict=True)]),
    "zip of an array": lambda m, k: sum([p.number for p, _ in zip(m.array, [1, 2])]) + 1,
    "reversed": lambda m, k: next(reversed(m.parts)).number > 0,
    "chain": lambda m, k: len([*itertools.chain(m.parts[:3], m.parts[:2])]),
    "islice": lambda m, k: len([*itertools.islice(m.parts, 3)]),
    "product": lambda m, k: len([*itertools.product(m.parts[:2], m.parts[:2])]),
    "groupby": lambda m, k: len([*itertools.groupby(m.parts[:3], key=lambda p: p.number)]),
    "lru_cache": lambda m, k: m.cached(k) + m.filled(k).number + 1,
    "a key": lambda m, k: m.by_key[m.keys[k]] + 1,
    "dict.get": lambda m, k: m.by_key.get(m.keys[k]) + (m.keys[k] in m.by_key),
    "a weak key": lambda m, k: m.weak[m.parts[0]] + len(m.weak),
    "in": lambda m, k: (m.parts[k] in m.parts) + (m.parts[k] in m.few),
    "index": lambda m, k: m.parts.index(m.parts[k]) + m.parts[:3].count(m.parts[k]),
    "hash": lambda m, k: hash(m.keys[k]) + (hash(m.parts[k]) != 0.5),
    "==": lambda m, k: (m.parts[k] == m.parts[0]) + (m.keys[k] == m.keys[0]) + 1,
    "== of a dataclass": lambda m, k: (m.data[k] == m.data[0]) + 1,
    "<": lambda m, k: (m.keys[k] < m.keys[0]) + 1,
    "float": lambda m, k: float(m.numbers[k]) + 1,
    "an index": lambda m, k: operator.index(m.numbers[k]) + 1,
    "if": lambda m, k: 2 if m.numbers[k] else 1,
    "items": lambda m, k: m.numbers[k][1] + sum([*m.numbers[k]]) + (1 in m.numbers[k]),
    "a call": lambda m, k: m.numbers[k](1) + (m.numbers[k] + 1),
    "math": lambda m, k: math.floor(math.sqrt(m.numbers[k])) + 1,
    "__array__": lambda m, k: np.asarray(m.numbers[k])[0],
    "np.array": lambda m, k: np.array(m.parts[: k + 1], dtype=object)[0].number + 1,
    "a slice of an array": lambda m, k: m.array[k : k + 2][0].number + 1,
    "a mask": lambda m, k: m.array[:3][np.array([True, False, True])][0].number + 1,
    "flat": lambda m, k: m.array.flat[k].number + m.array.item(k).number + 1,
    "tolist": lambda m, k: m.array[:3].tolist()[k].number + len(m.array.shape),
    "set": lambda m, k: len({*m.parts[:3]}) + len(m.few & m.few),
    "a dict": lambda m, k: len({part.number: part for part in m.parts[:3]}) + len(m.by_name | {}),
    "keywords": lambda m, k: dict(**m.by_name)["p0"].number + 1,
    "append": stored_in_a_list,
    "OrderedDict": lambda m, k: len(collections.OrderedDict(m.by_name)),
    "deque": lambda m, k: collections.deque(m.parts[:3])[k].number + 1,
    "heapq": lambda m, k: heapq.nsmallest(1, [(0, 0, m.parts[0]), (1, 1, m.parts[1])])[0][0] + 1,
    "bisect": lambda m, k: bisect.bisect(m.parts[:3], k, key=lambda part: part.number),
    "a named tuple": lambda m, k: m.tuples[k].number + m.tuples[k]._replace(number=2.0).number,
    "partial": lambda m, k: functools.partial(number_of, m)(k) + 1,
    "attrgetter": lambda m, k: operator.attrgetter("number")(m.parts[k]) + 1,
    "methodcaller": lambda m, k: operator.methodcaller("scaled", k)(m) + 1,
    "a weak reference": lambda m, k: weakref.ref(m.parts[k])().number + 1,
    "a proxy": lambda m, k: weakref.proxy(m.parts[k]).number + 1,
    "a namespace": lambda m, k: types.SimpleNamespace(part=m.parts[k]).part.number + 1,
    "copy": lambda m, k: copy.copy(m.parts[k]).number + copy.copy(m.shown[k]).number + 1,
    "copy of a list": lambda m, k: len(copy.copy(m.parts[:3])) + len(m.parts[:3].copy()),
    "deepcopy": lambda m, k: copy.deepcopy({"a": [m.parts[k].number]})["a"][0] + 1,
    "replace": lambda m, k: dataclasses.replace(m.data[k], number=2.0).number,
    "fields": lambda m, k: len(dataclasses.fields(m.data[k])),
    "print": lambda m, k: print(m.parts[k], m.shown[k], end="", file=sys.stderr) is None,
    "str": lambda m, k: len(str(m.parts[k])) + len(str(m.shown[k])) > 0,
    "repr": lambda m, k: len(repr(m.parts[k])) + len(repr(m.shown[:2])) > 0,
    "repr of a dataclass": lambda m, k: len(repr(m.data[k])) > 0,
    "an f-string": lambda m, k: len(f"{m.parts[k]} {m.shown[k]} {m.numbers[k]:x}") > 0,
    "format": lambda m, k: len("{0} {0.number}".format(m.shown[k])) > 0,
    "%": lambda m, k: len(TEMPLATE % (m.parts[k], m.shown[k], k)) > 0,
    "join": lambda m, k: len(",".join(str(part.number) for part in m.parts[:3])),
    "a log": lambda m, k: quiet.warning("%s", m.shown[k]) is None,
    "json": lambda m, k: len(json.dumps({"a": m.parts[k].number})),
    "statistics": lambda m, k: statistics.mean([part.number for part in m.parts[:3]]),
    "locals": lambda m, k: len(locals()) + len(vars()) + len(dir()),
    "globals": lambda m, k: len(globals()) > 0,
    "vars": lambda m, k: len(vars(m.parts[k])) + m.parts[k].__dict__["number"],
    "signature": lambda m, k: len(inspect.signature(m.scaled).parameters),
    "getsizeof": lambda m, k: sys.getsizeof(m.parts[k]) + sys.getrefcount(m.parts[k]) > 0,
    "numbers": lambda m, k: max(m.floats[:3]) + sum(m.floats[:3]),
    "with": in_a_context,
    "try": caught,
    "eval": lambda m, k: len(eval("[k]")),
    "match": matched,
    "a local class": of_a_local_class,
    "wraps": of_wrapped,
    "a gradient": lambda m, k: gradient(lambda y: y * m.parts[k].number, 2.0)[0] + 1,
}
EITHER = {
    "a frame": lambda m, k: sys._getframe().f_lineno > 0,
    "inspect": lambda m, k: inspect.currentframe() is not None,
    "vectorize": lambda m, k: float(np.vectorize(number_of_part, otypes=[float])(m.array[:3])[1]),
    "referents": lambda m, k: len(gc.get_referents(m.parts[k])) > 0,
    "range": lambda m, k: len(range(m.numbers[k])) + 1,
}
"""What is refused where the objects around are too many."""


def number_of_part(part):
    return part.number


@pytest.fixture(scope="module")
def models():
    found = Model(4_000), Model(16_000)
    yield found
    for model in found:
        for part in model.parts:
            del part.all, part.model


@pytest.fixture
def short_walks(monkeypatch):
    """Give up early, so that a few thousand objects are as many as a million."""
    monkeypatch.setattr(walk, "CHECKED", False)
    monkeypatch.setattr(walk, "FOR_ERRORS", 1000)
    for module in (walk, heap):
        monkeypatch.setattr(module, "LIMIT", 300)
    for module in (walk, doubts, callee):
        monkeypatch.setattr(module, "FOR_LONG_CALLS", 1000)


def calls_made(ask, model, times):
    """Return how many calls a gradient makes, and whether it was refused."""
    calls = [0]

    def f(x):
        outside.w = x
        total = 0.0
        for k in range(times):
            total = total + outside.w * ask(model, k % 3)
        return total

    def count(frame, event, what):
        calls[0] += event in ("call", "c_call")

    expected = f(1.0)
    with recorded_only():
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            d = gradient(f, 2.0)
        except DifferentiationError:
            d = None
        finally:
            sys.setprofile(before)
    assert d is None or d == (pytest.approx(expected, rel=1e-12),)
    return calls[0], d is None


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", QUESTIONS | EITHER)
def test_a_question_costs_the_same_beside_four_times_as_many_objects(models, short_walks, name):
    ask = (QUESTIONS | EITHER)[name]
    for model in models:
        calls_made(ask, model, 1)  # what is found of classes and code is remembered
    (few, _), (many, is_refused) = (calls_made(ask, model, 3) for model in models)
    assert abs(many - few) < 500 + few / 100
    assert many < 400_000
    assert is_refused == (name in EITHER)


def written_before(m, k, x):
    m.parts[k].weight = x * x
    return copy.copy(m.parts[k]).weight * x


def written_through_an_alias(m, k, x):
    same = m.by_name[f"p{k}"]
    same.weight = x * 3.0
    copied = copy.copy(m.parts[k])
    same.weight = x
    return copied.weight * m.parts[k].weight


def read_by_a_method_of_a_shared_part(m, k, x):
    m.keys[0].weight, m.keys[1].weight = x, 2.0
    return sum([key.weight for key in sorted(m.keys[:2])]) * max(m.keys[:2]).weight * x


def replaced(m, k, x):
    m.data[k].number = x
    return dataclasses.replace(m.data[k]).number * m.data[k].number


def merged(m, k, x):
    held = {"w": x, **m.by_name}
    held.update(v=x * x)
    return held["w"] * dict(**held)["v"]


def by_a_gradient_inside(m, k, x):
    m.parts[k].weight = x
    return gradient(lambda y: y * y * copy.copy(m.parts[k]).weight, x)[0]


@pytest.mark.parametrize("f", [
    written_before, written_through_an_alias, read_by_a_method_of_a_shared_part, replaced, merged,
    by_a_gradient_inside,
])  # fmt: skip
def test_what_is_recorded_in_doubt_has_the_slope_of_the_program(models, short_walks, f):
    def g(x):
        outside.w = x
        y = outside.w * f(models[0], 1, x)
        outside.w = 1.0
        return y

    for x in (1.5, 2.0, 0.7):
        ((_path, best, _off),) = slopes(g, (x,), 1e-2)
        with recorded_only():
            assert value_and_grad(g)(x) == (g(x), pytest.approx(float(best), rel=1e-7))
        assert value_and_grad(g)(x) == (g(x), pytest.approx(float(best), rel=1e-7))
    second = gradient(lambda x: gradient(g, x)[0], 1.5)[0]
    ((_path, best, _off),) = slopes(lambda x: gradient(g, x)[0], (1.5,), 1e-2)
    assert second == pytest.approx(float(best), rel=1e-6)


class Kept(Key):
    def __hash__(self):
        return hash(float(self.number))


def test_what_an_earlier_call_kept_is_refused_where_its_key_reaches_many(models, short_walks):
    kept = {}

    def f(x):
        outside.w = x
        key = Kept(x, models[0])
        if key not in kept:
            kept[key] = x * x
        return kept[key] * 1.0

    f(2.0)
    with recorded_only(), pytest.raises(DifferentiationError, match="kept by an earlier call"):
        gradient(f, 2.0)
