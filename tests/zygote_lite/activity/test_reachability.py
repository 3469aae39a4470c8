"""What is reached by the names of globals is looked up anew where a name was rebound."""

import collections
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
