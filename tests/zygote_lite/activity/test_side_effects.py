"""User code that C calls unasked, and that changes what a gradient depends on: right or refused."""

import bisect
import collections
import dataclasses
import functools
import io
import math
import operator
import re
import reprlib
import types

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import DifferentiationError, gradient, pullback

HELD = [1.0]


def doubled(*_):
    HELD[0] = HELD[0] * 2
    return True


class Busy:
    """An object whose every method changes a list that the module holds."""

    __eq__ = __lt__ = __bool__ = __contains__ = __delitem__ = __delattr__ = doubled
    __getitem__ = __setitem__ = __neg__ = __add__ = __radd__ = __or__ = method = doubled
    static = staticmethod(doubled)
    value = property(doubled, doubled)

    def __hash__(self):
        doubled()
        return 1

    def __index__(self):
        doubled()
        return 1

    def __str__(self):
        doubled()
        return "busy"

    def __dir__(self):
        doubled()
        return ["b", "a"]

    def __iter__(self):
        doubled()
        return iter([1, 2])


class Reading:
    def __getattr__(self, name):
        if name == "found":
            return doubled()
        raise AttributeError(name)


class Calling(type):
    def __call__(cls):
        return doubled()


class Made(metaclass=Calling):
    pass


class Keyed:
    def __class_getitem__(cls, key):
        return doubled()


def remove_from_a_list():
    xs = [Busy(), 3]
    xs.remove(5)


def sort_by_key():
    xs = [3, 1, 2]
    xs.sort(key=lambda x: doubled() * x)
    assert xs == [1, 2, 3]


def delete():
    busy = Busy()
    del busy[0]
    del busy.name


def write():
    busy = Busy()
    busy[0] = 1
    busy.value = 2


def loop():
    for _ in Busy():
        pass


OUTSIDE = Busy()
OF_OBJECTS = np.array([OUTSIDE], object)
FROM_PYTHON = np.frompyfunc(lambda x: doubled() * x, 1, 1)
BUSY_VALUES = {0: OUTSIDE}


def branch_on_what_is_outside():
    if OUTSIDE:
        pass


CALLS = {
    "in": lambda: 3 in [Busy()],
    "not in": lambda: 3 not in (Busy(),),
    "in an object": lambda: 3 in Busy(),
    "list.index": lambda: [1, Busy()].index(7),
    "list.count": lambda: [Busy(), 3].count(7),
    "list.remove": remove_from_a_list,
    "list.sort": lambda: [Busy(), Busy()].sort(),
    "list.sort by a key": sort_by_key,
    "sorted": lambda: sorted([Busy(), Busy()]),
    "min": lambda: min(Busy(), Busy()),
    "min of a list": lambda: min([Busy(), Busy()]),
    "lists compared": lambda: [Busy()] == [3],
    "tuples compared": lambda: (Busy(),) < (3,),
    "bisect": lambda: bisect.bisect_left([Busy()], 3),
    "a dict": lambda: {Busy(): 1},
    "dict.get": lambda: {2: 1}.get(Busy()),
    "a set": lambda: {Busy()},
    "hash": lambda: hash(Busy()),
    "an index": lambda: [1, 2][Busy()],
    "an index of an array": lambda: np.ones(3)[Busy()],
    "range": lambda: range(Busy()),
    "operator.index": lambda: operator.index(Busy()),
    "not": lambda: not Busy(),
    "any": lambda: any([Busy()]),
    "filter": lambda: list(filter(None, [Busy()])),
    "str": lambda: str(Busy()),
    "format": lambda: format(Busy()),
    "an f-string": lambda: f"{Busy()}{Busy()!s:>8}",
    "dir": lambda: dir(Busy()),
    "str of a list": lambda: str([Busy(), (Busy(),)]),
    "str.format": lambda: f"{Busy()}".format(),
    "print of a list": lambda: print("a", [Busy()], file=io.StringIO()),
    "print": lambda: print(Busy(), file=io.StringIO()),
    "re.sub": lambda: re.sub("a", lambda m: str(doubled()), "abc"),
    "cmp_to_key": lambda: sorted([2, 1], key=functools.cmp_to_key(doubled)),
    "iteration": lambda: [*Busy()],
    "a loop": loop,
    "del": delete,
    "set": write,
    "an operator": lambda: Busy() + 1,
    "a reflected operator": lambda: 1 + Busy(),
    "a sign": lambda: -Busy(),
    "a method": lambda: Busy().method(),
    "a static method": lambda: Busy.static(),
    "a property": lambda: Busy().value,
    "__getattr__": lambda: Reading().found,
    "a metaclass": Made,
    "__class_getitem__": lambda: Keyed[0],
    "floor": lambda: math.floor(operator.index(Busy())),
    "if": branch_on_what_is_outside,
    "an array of objects": lambda: OF_OBJECTS == 1,
    "frompyfunc": lambda: FROM_PYTHON(2.0),
    "values of a dict": lambda: 3 in BUSY_VALUES.values(),
    "an item of a deque": lambda: 3 in collections.deque([OUTSIDE]),
}


def gradient_or_refusal(f):
    """Return the gradient at 1.3, or `None` where it is refused with the place of the call."""
    try:
        (d,) = gradient(f, 1.3)
    except DifferentiationError as error:
        if re.search(r"test_side_effects\.py:\d+", str(error)):
            return None
        raise
    assert d is not None
    return d


@pytest.mark.parametrize("name", CALLS)
def test_what_it_changes_is_followed_or_refused(name):
    call = CALLS[name]

    def f(x):
        HELD[0] = x * x
        call()
        return HELD[0]

    d = gradient_or_refusal(f)
    if d is None:
        return
    ((_, expected, off),) = slopes(f, (1.3,))
    assert d == pytest.approx(expected, abs=10 * off + 1e-9)


@pytest.mark.parametrize("name", CALLS)
def test_what_a_pullback_saved_is_right_after_it(name):
    call = CALLS[name]
    HELD[0] = 1.0

    def f(x):
        saved = np.array([1.0, 2.0])
        HELD[:] = [saved]
        y = np.sum(x * saved)
        call()
        HELD[:] = [1.0]
        return y

    assert gradient_or_refusal(f) in (3.0, None)


FOLLOWED = ["in", "list.index", "list.count", "list.remove", "min", "list.sort by a key", "hash",
            "operator.index", "not", "any", "filter", "str", "format",
            "an f-string", "dir", "print", "iteration", "a loop", "del", "set",
            "an operator", "a method", "a property", "__getattr__", "a sign"]  # fmt: skip


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_has_a_meaning_in_python_is_not_refused(name):
    def f(x):
        HELD[0] = x * x
        CALLS[name]()
        return HELD[0]

    assert gradient(f, 1.3)[0] == pytest.approx(slopes(f, (1.3,))[0][1])


class Ordered:
    """Compares and hashes without changing anything: never refused."""

    def __init__(self, weight, value):
        self.weight, self.value = weight, value

    def key(self):
        return (self.weight, self.value > 0)

    def __lt__(self, other):
        return self.key() < other.key()

    def __eq__(self, other):
        return isinstance(other, Ordered) and self.key() == other.key()

    def __hash__(self):
        return hash(self.weight)


def test_comparisons_that_change_nothing_are_simply_run():
    def f(x):
        items = [Ordered(3, x), Ordered(1, x * x), Ordered(2, x**3)]
        first = min(items)
        table = {item: item.weight for item in items}
        items.sort()
        assert first in items
        assert items.index(first) == 0
        return sum(item.value * (i + 1) for i, item in enumerate(sorted(items))) + table[first] * x

    x = 1.3
    assert gradient(f, x)[0] == pytest.approx(2 * x + 2 * 3 * x**2 + 3 + 1)


class Worded:
    """Has a text of its own for each way to ask for one, and notes that it was asked."""

    def __init__(self, value, log):
        self.value, self.log = value, log

    def __str__(self):
        self.log.append(self.value)
        return "s"

    def __repr__(self):
        self.log.append(self.value * 10.0)
        return "répr"

    def __format__(self, spec):
        self.log.append(self.value * 100.0)
        return "format" + spec


class WordedFloat(float):
    def __str__(self):
        return "a number"

    def __repr__(self):
        return "n"


class WordedList(list):
    def __repr__(self):
        return "items"


TEXTS = {
    "str": str,
    "repr": repr,
    "ascii": ascii,
    "format": format,
    "format with a specification": lambda w: format(w, ">9"),
    "!r": lambda w: f"{w!r:>12}",
    "!s": lambda w: f"{w!s:>12}",
    "!a": lambda w: f"{w!a}",
    "=": lambda w: f"{w=}",
    "plain": lambda w: f"{w}",
    "specification": lambda w: f"{w:>9}",
    "map": lambda w: "".join(map(repr, [w, w])),
    "reprlib": reprlib.repr,
    "object.__str__": lambda w: object.__str__(w),
    "object.__format__": lambda w: object.__format__(w, ""),
}
PERCENTS, BRACES = "%r %s", "{!r} {}"
INSIDE = {
    "str of a list": lambda w: str([w]),
    "%r": lambda w: PERCENTS % (w, w),
    "str.format": lambda w: BRACES.format(w, w),
}


MAKERS = {
    "dataclass": lambda: dataclasses.make_dataclass("Point", ["a"])(2.0),
    "float": lambda: WordedFloat(2.0),
    "list": lambda: WordedList([2.0]),
    "exception": lambda: ValueError("a", 2),
    "namespace": lambda: types.SimpleNamespace(a=2.0),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_of_an_object_is_by_the_method_that_python_takes(name):
    text = TEXTS[name]

    def f(x):
        log = []
        n = len(text(Worded(x, log)))
        return sum(log) * n * len(log)

    ((_, expected, off),) = slopes(f, (1.3,))
    for _ in range(3):
        y, back = pullback(f, 1.3)
        assert y == f(1.3)
        assert back(1.0)[1] == pytest.approx(expected, abs=10 * off + 1e-9)


@pytest.mark.parametrize("name", [*TEXTS, *INSIDE])
@pytest.mark.parametrize("kind", MAKERS)
def test_texts_of_classes_that_inherit_from_python_s_own(name, kind):
    text, make = {**TEXTS, **INSIDE}[name], MAKERS[kind]

    def f(x):
        try:
            return x * len(text(make()))
        except TypeError as e:
            return x * len(str(e))

    assert gradient(f, 1.3)[0] == f(1.0)


@pytest.mark.parametrize("name", INSIDE)
def test_texts_of_objects_inside_others_are_right_or_refused(name):
    def f(x):
        log = []
        n = len(INSIDE[name](Worded(x, log)))
        return sum(log) * n

    d = gradient_or_refusal(f)
    assert d is None or d == pytest.approx(slopes(f, (1.3,))[0][1])


def test_a_text_that_an_object_makes_of_an_active_number_is_no_way_around():
    class Number:
        def __init__(self, value):
            self.value = value

        def __str__(self):
            return str(self.value)

    with pytest.raises(DifferentiationError, match=r"test_side_effects\.py:\d+"):
        gradient(lambda x: float(f"{Number(x)}"), 1.3)


def test_what_is_no_text_is_the_error_that_python_raises():
    class Silent:
        def __init__(self, value):
            self.value = value

        def __str__(self):
            return 5

        __format__ = lambda self, spec: 5

    for text in (str, format, lambda w: f"{w}", lambda w: f"{w!s}"):
        with pytest.raises(TypeError) as plain:
            text(Silent(1.3))
        with pytest.raises(TypeError) as caught:
            gradient(lambda x, text=text: len(text(Silent(x))) * x, 1.3)
        assert str(caught.value) == str(plain.value)


def test_what_print_writes_is_what_python_writes():
    def f(x, file):
        log = []
        print(Worded(x, log), 1, Worded(x, log), sep="--", end="..", file=file, flush=True)
        return sum(log)

    file = io.StringIO()
    y, back = pullback(f, 1.3, file)
    assert (y, back(1.0)[1], file.getvalue()) == (2.6, 2.0, "s--1--s..")


def test_dir_is_sorted_and_may_ask_the_class_above():
    class Open:
        def __init__(self, value):
            self.value = value

        def __dir__(self):
            self.seen = self.value * 2.0
            return ["zebra", *super().__dir__(), "ant"]

    def f(x):
        item = Open(x)
        names = dir(item)
        assert names == sorted(names)
        assert {"zebra", "ant", "value"} <= {*names}
        return item.seen

    assert gradient(f, 1.3) == (2.0,)


def test_text_in_memory_carries_no_gradient_back():
    def f(x):
        memory = io.StringIO()
        print(x * x, file=memory)
        return float(memory.getvalue())

    with pytest.raises(DifferentiationError, match=r"test_side_effects\.py:\d+"):
        gradient(f, 1.3)

    def g(x):
        memory = io.StringIO()
        print(x * x, file=memory)
        return x * len(memory.getvalue())

    assert gradient(g, 1.5)[0] == len("2.25\n")


class Watching:
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


def test_attributes_behind_a_dict_are_followed():
    def f(x):
        watching = Watching()
        watching.__dict__.update(a=x * x)
        return watching.a * x

    assert gradient(f, 1.3)[0] == pytest.approx(3 * 1.3**2)


def test_a_loop_over_a_flat_array():
    def f(x):
        total = 0.0
        for v in x.flat:
            total = total + v * v
        return total + sum(v * 3 for v in (x * 2).flat)

    x = np.array([[0.5, 1.0], [2.0, 3.0]])
    np.testing.assert_allclose(gradient(f, x)[0], 2 * x + 6)

    with pytest.raises(DifferentiationError, match=r"test_side_effects\.py:\d+"):
        gradient(lambda x: sum(v * v for v in x.T.flat), x)


def test_functions_that_call_no_method_are_given_objects_that_have_some():
    class Weighted:
        def __init__(self, v):
            self.v = v

        def __float__(self):
            self.v = self.v * 2.0
            return 1.0

    def f(x):
        weighted = Weighted(x * x)
        known = isinstance(weighted, Weighted) and type(weighted) is Weighted
        return weighted.v * (3.0 if known and id(weighted) and not callable(weighted) else 1.0)

    assert gradient(f, 2.0) == (12.0,)


def test_functions_in_c_are_not_given_objects_whose_methods_change_what_is_active():
    class Counting:
        def __init__(self, v):
            self.v = v

        def __index__(self):
            self.v = self.v * 2.0
            return 1

    def f(x):
        counting = Counting(x * x)
        return math.comb(2, counting) * counting.v

    def g(x):  # which is asked for its number first
        counting = Counting(x * x)
        return math.ldexp(1.0, counting) * counting.v

    with pytest.raises(DifferentiationError, match=r"comb.*may call .*Counting\.__index__"):
        gradient(f, 2.0)
    assert gradient(g, 2.0) == (16.0,)


class KeyWithAList:
    """A key that is equal to all others, and whose list grows by a factor where it is compared."""

    def __init__(self):
        self.held = [1.0]

    def __hash__(self):
        return 1

    def __eq__(self, other):
        self.held[0] = self.held[0] * 3
        return True


LOOK_UPS = {
    "[]": lambda entries, keys, key: entries[key],
    "get": lambda entries, keys, key: entries.get(key),
    "update": lambda entries, keys, key: entries.update({key: 3.0}),
    "|": lambda entries, keys, key: keys | {key},
    "&": lambda entries, keys, key: keys & {key},
    "isdisjoint": lambda entries, keys, key: keys.isdisjoint({key}),
    "keys": lambda entries, keys, key: entries.keys() - {key: 2.0}.keys(),
    "in": lambda entries, keys, key: key in entries,
    "in a set": lambda entries, keys, key: key in keys,
    "add": lambda entries, keys, key: keys.add(key),
}


@pytest.mark.parametrize("look_up", LOOK_UPS.values(), ids=LOOK_UPS)
def test_a_key_that_others_are_compared_to_is_followed_or_refused(look_up):
    held, key = KeyWithAList(), KeyWithAList()
    entries, keys = {held: 2.0}, {held}

    def f(x):
        held.held = [x]
        look_up(entries, keys, key)
        return held.held[0]

    factor = f(1.0)
    assert factor == 3.0
    assert gradient_or_refusal(f) in (None, factor)


def test_a_function_that_numpy_calls_reads_what_is_differentiated():
    scaled = np.frompyfunc(lambda x: HELD[0] * x, 1, 1)

    def f(x):
        HELD[0] = x
        return float(scaled(2.0))

    assert gradient_or_refusal(f) is None


class Compared:
    """An object whose comparison and hash change a list that the module holds."""

    def __init__(self, w):
        self.w = w

    def __eq__(self, other):
        doubled()
        return self.w == other.w

    def __hash__(self):
        doubled()
        return 1


def put_into_a_list(part):
    parts = [None]
    parts[0] = part
    return parts[0]


def put_into_a_dict(part):
    entries = {}
    entries["part"] = part
    entries.update(entries, more=part)
    return entries["part"]


STORED = {
    "dict by names": lambda part: dict(part=part)["part"],
    "dict display": lambda part: {**{"part": part}, "more": part}["part"],
    "item of a dict": put_into_a_dict,
    "item of a list": put_into_a_list,
    "get": lambda part: {}.get("part", part),
    "setdefault": lambda part: {}.setdefault("part", part),
    "pop": lambda part: {}.pop("part", part),
    "call by names": lambda part: (lambda part: part)(**{"part": part}),
}


@pytest.mark.parametrize("name", STORED)
def test_what_is_stored_is_not_compared(name):
    def f(part, x):
        HELD[0] = x
        return STORED[name](part).w * x * HELD[0]

    dpart, dx = gradient(f, Compared(2.0), 3.0)
    assert (dpart.w, dx) == (9.0, 12.0)


class Noting:
    """Objects that note that they are compared, by what they call."""

    def __init__(self, x):
        self.x, self.noted, self.numbers = x, [], np.zeros(1)


class OfALocal(Noting):
    def __eq__(self, other):
        note = self.noted.append
        note(self.x * 2.0)
        return True


class OfAnItem(Noting):
    def __eq__(self, other):
        [self.noted.append][0](self.x * 2.0)
        return True


class OfAParameter(Noting):
    def __eq__(self, other):
        return (lambda note: note(self.x * 2.0) is None)(self.noted.append)


class OfAModule(Noting):
    def __eq__(self, other):
        np.copyto(self.numbers, self.x * 2.0)
        return True


@pytest.mark.parametrize("kind", [OfALocal, OfAnItem, OfAParameter, OfAModule])
@pytest.mark.parametrize(
    "compared",
    [lambda k: [k].count(1.0), lambda k: (k,) == (1.0,), lambda k: k in [1.0]],
    ids=["count", "==", "in"],
)
def test_a_method_that_calls_what_it_has_found_may_change_something(kind, compared):
    def f(x):
        k = kind(x)
        found = compared(k)
        return sum([*k.noted, *k.numbers]) * x * found

    for _ in range(3):
        try:
            found = gradient(f, 1.5)[0]
        except DifferentiationError:
            continue
        assert found == pytest.approx(6.0)
