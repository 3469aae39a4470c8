"""Batching rules: how they are declared, found and checked."""

import numpy as np
import pytest

from rulescore import Array, Numeric, RuleError, RuleSet, find_batched, generation
from rulescore.testing import CheckError, check_batched

X = np.array([0.3, -0.7, 1.1])


def centred(x, by=1.0):
    return by * (x - np.mean(x))


def test_it_is_dispatched_on_the_types_of_an_entry(rule):
    @rule.batched(centred)
    def _(x: Array, by=1.0):
        return by * (x - np.mean(x, axis=tuple(range(1, x.ndim)), keepdims=True))

    assert find_batched(centred, X).kind == "batched"
    assert find_batched(centred, X, by=2.0) is not None
    assert find_batched(centred, X, other=2.0) is None
    assert find_batched(centred, "text") is None
    assert check_batched(centred, X, by=3.0) is find_batched(centred, X)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (lambda x: x - np.mean(x), "and the stacked ones are"),
        (lambda x: np.mean(x), "and the stacked ones float64"),
        (lambda x: (x - np.mean(x, 1, keepdims=True)).astype("f4"), "float32"),
    ],
)
def test_a_wrong_rule_is_told(rule, body, told):
    body.__annotations__ = {"x": Array}
    rule.batched(centred)(body)
    with pytest.raises(CheckError, match=told):
        check_batched(centred, X)


def test_it_may_not_know(rule):
    @rule.batched(centred)
    def _(x: Array):
        return NotImplemented

    assert check_batched(centred, X) is None
    assert check_batched(np.linalg.eig, np.eye(2)) is None


def test_one_that_is_the_same_for_all_has_length_one(rule):
    def scaled(x, y, n):
        return n * x * y

    @rule.batched(scaled)
    def _(x: Numeric, y: Numeric, n):
        shapes.add((np.shape(x), np.shape(y), n))
        return n * x * y

    shapes = set()
    check_batched(scaled, X, X, 2)
    assert shapes == {((3, 3), (3, 3), 2), ((3, 3), (1, 3), 2), ((1, 3), (3, 3), 2)}


def test_it_comes_and_goes_with_its_rule_set():
    own = RuleSet("own")
    own.batched(centred)(lambda x: x)
    before = generation()
    own.register()
    assert find_batched(centred, X).plugin == "own"
    own.unregister()
    assert find_batched(centred, X) is None
    assert generation() == before + 2


def test_it_takes_no_engine(rule):
    with pytest.raises(RuleError, match="a batched rule takes no `ad`"):

        @rule.batched(centred)
        def _(x: Array, *, ad):
            return x
