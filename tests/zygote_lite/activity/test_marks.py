"""Objects from before the run that are given active values in one way, and read in another."""

import bisect
import collections
import contextlib
import copy
import functools
import heapq
import itertools
import operator
import types
import weakref

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import DifferentiationError, gradient, vmap
from zygote_lite._activity import marks, walk
from zygote_lite._cotangents.run import state
from zygote_lite.modes import InternalError
from zygote_lite.testing import recorded_only


class Box:
    """An object whose attribute can be written in several ways."""

    def __init__(self, value=None):
        self.value = value

    @property
    def doubled(self):
        return 2.0 * self.value

    @doubled.setter
    def doubled(self, value):
        self.value = value / 2.0


class Slots:
    __slots__ = ("value",)


class Descriptor:
    """A descriptor that keeps values in a dict of its own."""

    def __init__(self):
        self.kept = {}

    def __get__(self, x, kind=None):
        return self.kept["x"]

    def __set__(self, x, value):
        self.kept["x"] = value


class Described:
    value = Descriptor()


class Items(collections.UserList):
    """A list in Python."""


BOX, SLOTS, DESCRIBED = Box(), Slots(), Described()
LIST, DICT, DEQUE, DEFAULT = [0.0], {}, collections.deque([0.0]), collections.defaultdict(list)
OBJECTS = np.array([None, None], dtype=object)
ARRAY = np.zeros(2)
NESTED = {"inner": [Box()]}
ITEMS, SPACE, HEAP = Items([0.0]), types.SimpleNamespace(), []
WEAK = weakref.WeakKeyDictionary()
MAP = collections.ChainMap({})


def make_cell():
    kept = 0.0

    def write(x):
        nonlocal kept
        kept = x

    return write, lambda: kept


WRITE_CELL, READ_CELL = make_cell()


@functools.lru_cache
def shared_list(n):
    return [0.0] * n


def by_two_names(x):
    alias = NESTED["inner"]
    box = alias[0]
    box.value = x
    return NESTED["inner"][0].value


def later(x):
    """Link an object to one from before, and give it an active value afterwards."""
    kept = []
    BOX.value = kept
    kept.append(x)
    return BOX.value[0]


def later_in_a_call(x):
    kept = Box()
    register(kept)
    kept.value = x
    return total_of_registered()


def register(x):
    NESTED["registered"] = x


def total_of_registered():
    return NESTED["registered"].value


def later_in_a_tuple(x):
    kept, array = [], np.zeros(2)
    DICT["pair"] = (kept, array)
    array[0] = x
    kept.extend([x])
    return sum(DICT["pair"][0]) * DICT["pair"][1][0]


def later_in_a_closure(x):
    y = 1.0

    def read():
        return y

    LIST[0] = read
    y = x
    return LIST[0]()


def later_in_a_method(x):
    kept = []
    DICT["append"] = kept.append
    DICT["append"](x)
    return kept[0]


def later_in_a_slice(x):
    kept = [[], []]
    DICT["part"] = kept[1:]
    kept[1].append(x)
    return DICT["part"][0][0]


def later_unpacked(x):
    kept = [1.0, [], []]
    _, *rest = kept
    DICT["rest"] = rest
    kept[2].append(x)
    return DICT["rest"][1][0]


def later_copied(x):
    kept = {"a": []}
    DICT.update(kept)
    kept["a"].append(x)
    return DICT["a"][0]


def later_by_varargs(x):
    kept = []

    def store(*given, **named):
        LIST[0] = (given, named)

    store(kept, other=kept)
    kept.append(x)
    return LIST[0][0][0][0] * LIST[0][1]["other"][0]


def later_in_a_class(x):
    kept = []

    class Kept:
        values = kept

        def first(self):
            return kept[0]

    DICT["class"] = Kept
    kept.append(x)
    return DICT["class"].values[0] * DICT["class"]().first()


def later_by_iterators(x):
    kept = []
    LIST[0] = iter([kept])
    kept.append(x)
    return next(LIST[0])[0]


def later_as_an_argument(x):
    kept = Box([])
    LIST[0] = functools.partial(operator.attrgetter("value"), kept)
    kept.value.append(x)
    return LIST[0]()[0]


def later_of_many(x):
    made = [[] for _ in range(100)]
    DICT["first"] = made[0]
    for one in made:
        one.append(x)
    return DICT["first"][0]


def later_in_a_cycle(x):
    a, b = Box(), Box()
    a.value, b.value = b, a
    BOX.value = a
    b.other = x
    return BOX.value.value.other


def later_by_exceptions(x):
    kept = []
    DICT["error"] = ValueError(kept)
    kept.append(x)
    return DICT["error"].args[0][0]


def later_in_a_generator(x):
    kept = []

    def walk():
        yield kept

    DICT["walk"] = walk()
    kept.append(x)
    return next(DICT["walk"])[0]


def later_in_a_context(x):
    kept = []

    @contextlib.contextmanager
    def given():
        yield kept

    DICT["given"] = given
    kept.append(x)
    with DICT["given"]() as found:
        return found[0]


def write_by_map(x):
    list(map(LIST.append, [x]))
    return LIST[-1]


def write_by_reduce(x):
    functools.reduce(lambda kept, y: kept.append(y) or kept, [x], LIST)
    return LIST[-1]


def write_by_operator(x):
    operator.setitem(LIST, 0, x)
    return LIST.copy()[0]


def push(x):
    HEAP.clear()
    heapq.heappush(HEAP, (0, x))


WRITES = {
    "setattr": (lambda x: setattr(BOX, "value", x), lambda: BOX.value),
    "property": (lambda x: setattr(BOX, "doubled", x), lambda: vars(BOX)["value"]),
    "object.__setattr__": (lambda x: object.__setattr__(BOX, "value", x), lambda: BOX.doubled),
    "__dict__": (lambda x: BOX.__dict__.update(value=x), lambda: getattr(BOX, "value", 0.0)),
    "vars": (lambda x: operator.setitem(vars(BOX), "value", x), lambda: BOX.doubled),
    "slots": (lambda x: setattr(SLOTS, "value", x), lambda: operator.attrgetter("value")(SLOTS)),
    "descriptor": (lambda x: setattr(DESCRIBED, "value", x), lambda: DESCRIBED.value),
    "namespace": (lambda x: setattr(SPACE, "x", x), lambda: vars(SPACE)["x"]),
    "class": (lambda x: setattr(Box, "shared", x), lambda: BOX.shared),
    "list.append": (lambda x: LIST.append(x), lambda: LIST[-1]),
    "list.append, bound": (lambda x: BOUND(x), lambda: sum(LIST[-1:])),
    "list +=": (lambda x: operator.iadd(LIST, [x]), lambda: LIST.pop()),
    "list.extend": (lambda x: LIST.extend(y for y in [x]), lambda: LIST[-1]),
    "list.insert": (lambda x: LIST.insert(0, x), lambda: max(LIST[:1])),
    "slice": (lambda x: operator.setitem(LIST, slice(0, 1), [x]), lambda: next(iter(LIST))),
    "dict": (lambda x: DICT.setdefault("s", []).append(x), lambda: [*DICT["s"]][-1]),
    "dict.update": (lambda x: DICT.update(u=x), lambda: dict(DICT)["u"]),
    "dict |=": (lambda x: operator.ior(DICT, {"v": x}), lambda: {**DICT}["v"]),
    "defaultdict": (lambda x: DEFAULT["k"].append(x), lambda: sum(DEFAULT["k"][-1:])),
    "deque": (lambda x: DEQUE.appendleft(x), lambda: DEQUE[0]),
    "ChainMap": (lambda x: operator.setitem(MAP, "x", x), lambda: MAP["x"]),
    "UserList": (lambda x: ITEMS.append(x), lambda: ITEMS.data[-1]),
    "heap": (lambda x: push(x), lambda: heapq.heappop(HEAP)[1]),
    "bisect": (lambda x: HEAP.clear() or bisect.insort(HEAP, (-1, x)), lambda: HEAP[0][1]),
    "array of objects": (lambda x: operator.setitem(OBJECTS, 0, x), lambda: OBJECTS[0]),
    "list in an array": (lambda x: OBJECTS[1].append(x), lambda: OBJECTS.tolist()[1][-1]),
    "array": (lambda x: operator.setitem(ARRAY, 0, x), lambda: ARRAY.sum()),
    "array, by copyto": (lambda x: np.copyto(ARRAY, x), lambda: ARRAY[::-1][0]),
    "cell": (lambda x: WRITE_CELL(x), lambda: READ_CELL()),
    "weak dict": (lambda x: operator.setitem(WEAK, BOX, x), lambda: WEAK[BOX]),
    "cached": (lambda x: operator.setitem(shared_list(2), 1, x), lambda: shared_list(2)[1]),
    "default": (lambda x: with_default(x), lambda: with_default.__defaults__[0][-1]),
    "attribute of a function": (lambda x: setattr(register, "x", x), lambda: register.x),
    "__dict__ of a function": (lambda x: FIELDS.update(x=x), lambda: register.x),
    "variable of a module": (lambda x: operator.setitem(globals(), "WRITTEN", x), lambda: WRITTEN),
    "keyword of a partial": (lambda x: PARTIAL.keywords.update(y=x), lambda: PARTIAL.keywords["y"]),
    "partial": (lambda x: PARTIAL.args[0].append(x), lambda: PARTIAL()),
}
BOUND = LIST.append
KEPT, WRITTEN, FIELDS = [0.0], 0.0, register.__dict__


def with_default(x, kept=[]):
    kept.append(x)


PARTIAL = functools.partial(lambda kept, y=0.0: kept[-1], [0.0])


def right_or_refused(f):
    """Compare with differences, unless it is refused; the function itself is run first."""
    ((_, expected, off),) = slopes(f, (1.3,))
    try:
        (d,) = gradient(f, 1.3)
    except DifferentiationError:
        return
    finally:
        OBJECTS[1] = [0.0]
    assert d == pytest.approx(expected, abs=10 * off + 1e-9)


@pytest.fixture(autouse=True)
def recorded():
    OBJECTS[1], BOX.value = [0.0], 0.0
    with recorded_only():
        yield


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", WRITES)
def test_what_is_written_outside_is_read_back(name):
    write, read = WRITES[name]

    def f(x):
        write(x * x)
        return 3.0 * read()

    right_or_refused(f)


@pytest.mark.parametrize("name", WRITES)
def test_what_is_written_outside_after_a_walk_is_read_back(name):
    write, read = WRITES[name]

    def f(x):
        kept = {"x": x}
        LIST[0] = kept  # from here on, what is outside may reach what is active
        try:
            before = float(read() or 0.0) * 0.0
        except (AttributeError, IndexError, KeyError, TypeError):
            before = 0.0
        write(x * x)
        return 3.0 * read() + before

    right_or_refused(f)


@pytest.mark.parametrize("name", WRITES)
def test_what_is_written_outside_after_a_question_is_read_back(name):
    """A question walks through what it is given, and links nothing."""
    write, read = WRITES[name]

    def f(x):
        KEPT[0] = x  # from here on, what is outside may reach what is active
        callable(read), isinstance(BOX, Box)
        write(x * x)
        return 3.0 * read()

    right_or_refused(f)


@pytest.mark.parametrize(
    "f",
    [
        by_two_names, later, later_in_a_call, later_in_a_tuple, later_in_a_closure,
        later_in_a_method, later_in_a_slice, later_unpacked, later_copied, later_by_varargs,
        later_in_a_class, later_by_iterators, later_as_an_argument, later_of_many,
        later_in_a_cycle, later_by_exceptions, later_in_a_generator, later_in_a_context,
        write_by_map, write_by_reduce, write_by_operator,
    ],
)  # fmt: skip
def test_what_is_linked_first_and_written_later_is_read_back(f):
    right_or_refused(f)
    right_or_refused(lambda x: BOX.value is not None and f(x * x) * 2.0 + f(x))


def test_a_walk_checks_what_the_marks_tell(monkeypatch):
    monkeypatch.setattr(walk, "CHECKED", True)
    monkeypatch.setattr(marks, "note_outside", lambda x=None: None)
    with pytest.raises(InternalError, match=r"a list that is active is reached from .*read_list"):
        gradient(lambda x: LIST.append(x) or read_list(), 2.0)


def test_a_call_without_keywords_is_checked_too(monkeypatch):
    monkeypatch.setattr(walk, "CHECKED", True)
    f = vmap(lambda p: p["x"] ** 2)
    (d,) = gradient(lambda x: np.sum(f({"x": x})), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(d, [2.0, 4.0])


def read_list():
    return LIST[-1]


def test_a_large_object_is_not_walked():
    large = [Box([i]) for i in range(10_000)]

    def f(x):
        kept = []
        for i in range(3):
            kept.append(x * large[i].value[0])
            seen.append(len(state.clean))
        return sum(kept) * count(large)

    seen = []
    assert gradient(f, 2.0) == (3.0 * 10_000,)
    assert seen == [0, 0, 0]


def count(items):
    return len(items)


def taken_out(**fields):
    (taken,) = map(fields.pop, ("p",))
    return taken


def test_a_bound_method_reaches_the_dict_that_it_is_bound_to():
    assert gradient(lambda x: taken_out(p=x * x, q=1.0), 3.0) == (6.0,)


@functools.lru_cache
def doubled_and_kept(i):
    return [2.0 * i]


def test_a_large_cache_is_no_reason_to_refuse():
    for i in range(5000):
        doubled_and_kept(i)

    def f(x):
        BOX.value = x
        return BOX.value * doubled_and_kept(3)[0]

    assert gradient(f, 2.0) == (6.0,)


OF_NAMES, KEPT = collections.defaultdict(list), {"inner": {}}


@pytest.mark.parametrize(
    "total",
    [
        lambda: sum(map(sum, OF_NAMES.values())),
        lambda: sum(itertools.chain.from_iterable(OF_NAMES.values())),
        lambda: copy.deepcopy(OF_NAMES)["a"][0],
    ],
    ids=["summed", "chained", "copied"],
)
def test_what_a_dict_makes_for_a_key_is_found(total):
    def f(x):
        KEPT["inner"]["x"] = x
        OF_NAMES["a"].append(x)
        return x * total()

    for _ in range(3):
        OF_NAMES.clear()
        with recorded_only():
            assert gradient(f, 1.5) == (3.0,)
