"""Batching rules give what a loop over the entries of a batch gives, on all examples."""

import operator

import numpy as np
import pytest

from rulescore import find_batched, plugins
from rulescore.testing import check_batched


def test_all_examples():
    (plugin,) = [p for p in plugins() if p.name == "rules_base"]
    rules = [r for ruleset in plugin.rulesets for r in ruleset.rules if r.kind == "batched"]
    reached = set()
    for ruleset in plugin.rulesets:
        for f, xs, options in ruleset.examples:
            given = {name: x for name, x in options.items() if not name.startswith("check_")}
            found = check_batched(f, *xs, **given)
            reached.add(found and found.body)
    assert [r for r in rules if r.body not in reached] == []


@pytest.mark.parametrize("of_a", [(3,), (2, 3), (5, 2, 3)])
@pytest.mark.parametrize("of_b", [(3,), (3, 4), (5, 3, 4)])
def test_products_of_vectors_matrices_and_stacks(of_a, of_b):
    a, b = [np.sin(np.arange(np.prod(s)) + 1.0).reshape(s) for s in (of_a, of_b)]
    for f in (np.matmul, np.dot, np.inner, np.tensordot, np.outer, np.vdot):
        try:
            f(a, b)
        except (ValueError, IndexError):
            continue
        known = check_batched(f, a, b)
        assert known is not None or (f is np.dot and 3 in (a.ndim, b.ndim))


def test_an_axis_that_an_entry_does_not_have_is_not_that_of_the_batch():
    x = np.ones((4, 3))
    for f in (np.sum, np.cumsum, np.sort, np.var):
        with pytest.raises(np.exceptions.AxisError):
            find_batched(f, x[0]).body(x, axis=-2)


def test_matrices_alone_are_no_stack():
    x = np.eye(3)
    for f in (np.linalg.inv, np.linalg.det, np.linalg.eigh, np.tril):
        assert find_batched(f, x[0]).body(x) is NotImplemented


def test_a_mask_of_each_entry_has_no_rule():
    x, mask = np.ones((2, 3)), np.ones((2, 3), bool)
    assert find_batched(operator.getitem, x[0], mask[0]).body(x, mask) is NotImplemented


def test_lengths_that_an_entry_may_not_have_are_errors_and_are_not_repeated():
    one, three = np.ones((4, 1)), np.ones((4, 3))
    for f in (np.inner, np.vdot, np.dot, np.matmul):
        with pytest.raises(ValueError, match="mismatch"):
            find_batched(f, one[0], three[0]).body(one, three)
    with pytest.raises(ValueError, match="mismatch"):
        find_batched(np.tensordot, one[0], three[0], axes=1).body(one, three, axes=1)
    with pytest.raises(ValueError, match="mismatch"):
        find_batched(np.tensordot, three[0], three[0], axes=2).body(three, three, axes=2)
