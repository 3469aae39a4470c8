"""What is reached by the names of globals is looked up anew where a name was rebound."""

import collections
import contextvars
import itertools
import marshal
import struct
import threading
import weakref

import numpy as np
import pytest

from zygote_lite import DifferentiationError, gradient
from zygote_lite.testing import recorded_only

STORE = [1.0]


def one():
    return 1.0


def stored():
    return STORE[0]


helper = one


def caller():
    return helper()


def stores(x):
    STORE[0] = x
    return x * caller()


def test_a_helper_that_is_rebound(monkeypatch):
    with recorded_only():
        for _ in range(2):
            assert gradient(stores, 3.0) == (1.0,)
        monkeypatch.setattr(f"{__name__}.helper", stored)
        assert gradient(stores, 3.0) == (6.0,)


class Counted:
    """A key that changes where it is looked up."""

    def __init__(self, x):
        self.x, self.n = x, 1.0

    def __hash__(self):
        self.n = self.n * self.x
        return 1

    def __eq__(self, other):
        return self is other


@pytest.mark.parametrize(
    "look_up",
    [
        lambda key: {1.0: 3.0}.get((key,)),
        lambda key: {1.0: 3.0}.setdefault((1, (key,)), 2.0),
        lambda key: {1.0: 3.0}.pop((key,), 2.0),
        lambda key: hash((key,)),
        lambda key: {(key,)},
    ],
    ids=["get", "setdefault", "pop", "hash", "set"],
)
def test_keys_within_tuples_are_asked_for_their_hash(look_up):
    def f(x):
        key = Counted(x)
        look_up(key)
        return key.n

    with recorded_only(), pytest.raises(DifferentiationError, match="__hash__"):
        gradient(f, 3.0)


class Registry:
    """An object with a weak reference to what is gone."""

    def __init__(self):
        self.rate, self.last = 3.0, weakref.proxy(collections.Counter())


def scaled(x, registry):
    if np.size(x) > 1:
        return np.sum(x) * registry.rate
    return x * registry.rate


def test_weak_references_to_what_is_gone_are_passed_over():
    registry = Registry()
    with pytest.raises(ReferenceError):
        registry.last.clear()
    for x in (1.5, np.ones(2)):
        with recorded_only():
            assert np.all(gradient(scaled, x, registry)[0] == 3.0)
            assert np.all(gradient(lambda x: scaled([x][0], registry), x)[0] == 3.0)


class Box:
    """An object outside the function that is differentiated."""

    def __init__(self):
        self.w, self.inner = 1.0, None


BOX, OTHER = Box(), Box()


def by_keyword(*, w=1.0):
    return w


def make_inner():
    OTHER.inner = Box()
    return len([OTHER])


WAYS = {
    "an attribute": (lambda: OTHER.w, lambda x: setattr(OTHER, "w", x)),
    "the attributes as a dict": (lambda: OTHER.w, lambda x: OTHER.__dict__.update(w=x)),
    "an item of that dict": (lambda: OTHER.w, lambda x: vars(OTHER).__setitem__("w", x)),
    "what a call has made": (lambda: OTHER.inner.w, lambda x: setattr(OTHER.inner, "w", x)),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_was_found_to_reach_nothing_active_is_walked_again_once_it_is_written(way):
    read, write = WAYS[way]

    def f(x):
        BOX.w = 2.0 * x  # from now on there are walks
        make_inner()
        before = read()
        write(x)
        y = x * read()
        write(before)
        BOX.w = 1.0
        return y

    with recorded_only():
        assert gradient(f, 3.0) == (6.0,)


def test_defaults_that_are_written_are_refused():
    def f(x):
        by_keyword.__kwdefaults__["w"] = x
        try:
            return x * by_keyword()
        finally:
            by_keyword.__kwdefaults__["w"] = 1.0

    with pytest.raises(DifferentiationError, match=r"the defaults of .*by_keyword"):
        gradient(f, 3.0)


FUNCTIONS = []


def value_of_the_last():
    return FUNCTIONS[-1]()


@pytest.mark.parametrize("store", [FUNCTIONS.append, lambda f: FUNCTIONS.__setitem__(0, f)])
def test_a_closure_is_stored_where_nothing_active_was_found(store):
    def f(x):
        FUNCTIONS[:] = [lambda: 1.0]
        before = value_of_the_last() * value_of_the_last()
        store(lambda: x * 1.0)
        return before * value_of_the_last() * x

    with recorded_only():
        assert gradient(f, 3.0) == (6.0,)


class Shown:
    """What a function in C asks for a number."""

    def __float__(self):
        return CONFIGURATION["scale"]


class ShownToo(Shown):
    pass


class Read:
    def __float__(self):
        for f in STORED:
            return float(f())
        return 1.0


CONFIGURATION = {"scale": 2.0}
STORED = collections.deque()
NUMBERS = []
MANY = [[float(i)] for i in range(5000)]


def asked(x):
    return struct.unpack("d", struct.pack("d", x))[0]


def test_what_two_classes_name_is_walked_once():
    def f(x):
        NUMBERS.append([x])
        y = asked(Shown()) * asked(ShownToo()) * x
        return y + NUMBERS.pop()[0]

    assert gradient(f, 3.0) == (5.0,)


@pytest.mark.parametrize("way", ["append", "appendleft", "extend", "__iadd__"])
def test_a_function_that_a_deque_is_given_is_found_in_it(way):
    def f(x):
        NUMBERS.append([x])
        scale = asked(Read())
        y = x * x
        getattr(STORED, way)(*[lambda: y] if "append" in way else [[lambda: y]])
        return asked(Read()) + scale * x

    STORED.clear()
    with pytest.raises(DifferentiationError, match=r"test_reachability\.py:\d+"):
        gradient(f, 3.0)


def shared_variable():
    value = 1.0

    def put(x):
        nonlocal value
        value = x

    return put, lambda: value


put, kept = shared_variable()


class Kept:
    def __float__(self):
        return float(kept())


def test_a_variable_that_functions_outside_share_is_found_by_name():
    def f(x):
        put(x * x)
        return x * asked(Kept())

    with pytest.raises(DifferentiationError, match=r"test_reachability\.py:\d+"):
        gradient(f, 3.0)


def test_a_variable_that_functions_inside_share_is_no_reason_to_walk():
    def f(x):
        y = x * x
        return (lambda: y)() * len(marshal.dumps(MANY))

    assert gradient(f, 3.0) == (6.0 * len(marshal.dumps(MANY)),)


def test_an_iterator_over_nothing_can_be_walked():
    it = itertools.product([], [1.0])
    assert next(it, None) is None  # it holds a tuple that was never filled

    def f(x):
        return x * len(sorted([2.0, 1.0], key=lambda v: (it, v)[1]))

    with recorded_only():
        assert gradient(f, 3.0) == (2.0,)
    empty = np.vectorize(lambda v: 2.0 * v, otypes=[float])
    with recorded_only():
        assert gradient(lambda x: x + np.sum(empty(np.zeros(0))), 3.0) == (1.0,)


NODE = Box()
NODE.value = 1.0
BY_NODE = {NODE: 2.0}
ORDERED_NODES = collections.OrderedDict({(NODE, 0): 2.0})
WEAK_NODES = weakref.WeakKeyDictionary({NODE: 2.0})
WEAK_SET = weakref.WeakSet([NODE])
WEAKLY_NAMED = weakref.WeakValueDictionary({"a": NODE})
REFERENCE = weakref.ref(NODE)
VARIABLE = contextvars.ContextVar("variable", default=NODE)
LOCAL = threading.local()
LOCAL.node = NODE
CAUSED = ValueError("caused")
CAUSED.__cause__ = KeyError(NODE)

HOLDERS = {
    "keys of a dict": lambda: sum([node.value for node in BY_NODE]),
    "tuples as keys": lambda: sum([node.value for node, _ in ORDERED_NODES]),
    "weak keys": lambda: sum([node.value for node in WEAK_NODES]),
    "a weak set": lambda: sum([node.value for node in WEAK_SET]),
    "weak values": lambda: WEAKLY_NAMED["a"].value,
    "a weak reference": lambda: REFERENCE().value,
    "a context variable": lambda: VARIABLE.get().value,
    "variables of a thread": lambda: LOCAL.node.value,
    "the cause of an error": lambda: CAUSED.__cause__.args[0].value,
}


@pytest.mark.parametrize("read", HOLDERS.values(), ids=HOLDERS)
def test_what_a_helper_reads_is_found_whatever_holds_it(read):
    def f(x):
        NODE.value = x
        return x * read()

    for _ in range(4):
        assert gradient(f, 3.0) == (6.0,)


class Meta(type):
    scale = 1.0


class OfMeta(metaclass=Meta):
    pass


def read_through_class():
    return OfMeta.scale


def test_an_attribute_of_a_metaclass_is_read_through_its_class():
    def f(x, read):
        Meta.scale = x
        return x * read()

    try:
        for read in (lambda: OfMeta.scale, read_through_class):
            for _ in range(4):
                assert gradient(f, 3.0, read)[0] == 6.0
    finally:
        Meta.scale = 1.0


class Scaled(tuple):
    """A tuple that is given an attribute by its `__dict__`."""

    def __init__(self, items):
        self.__dict__["scale"] = items[0]

    @property
    def total(self):
        return self.scale * 3.0


def test_the_dict_of_a_tuple_is_what_the_tuple_reaches():
    kept = [0.0]

    def f(x):
        kept[0] = x  # from here on, what is found to reach nothing active is remembered
        return Scaled([x, 2.0]).total + Scaled((x * x,)).total

    with recorded_only():
        assert gradient(f, 0.7)[0] == pytest.approx(3.0 + 6.0 * 0.7)
