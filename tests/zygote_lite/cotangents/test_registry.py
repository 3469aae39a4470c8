"""The registry of handlers: no call has two that could answer it, whatever is imported first."""

import itertools
import operator

import pytest

from zygote_lite._cotangents import registry
from zygote_lite._cotangents.registry import Handlers, Rows


def declared(*bodies, of=None):
    handlers = Handlers()
    for body in bodies:
        handlers.structural(operator.getitem, of=of)(body)
    return handlers.declared


def first(nodes, *xs):
    return None


def second(nodes, *xs):
    return None


@pytest.mark.parametrize("kind", [None, list, (list, dict)])
def test_a_second_handler_for_the_same_calls_is_refused_and_both_are_named(kind):
    rows = Rows(operator.getitem)
    known, new = declared(first, second, of=kind)
    rows.add(known)
    with pytest.raises(ValueError, match="two structural handlers for getitem") as told:
        rows.add(new)
    lines = [str(body.__code__.co_firstlineno) for body in (first, second)]
    assert [place.rpartition(":")[2] for place in str(told.value).split(" and ")] == lines


def test_the_handlers_of_a_function_are_for_kinds_that_share_no_class():
    shared = []
    for form, table in registry._TABLES.items():
        for rows in table.values():
            kinds = [one.kind for one in rows.declared]
            classes = [kind if isinstance(kind, tuple) else (kind,) for kind in kinds]
            plain = [each for each in classes if all(isinstance(cls, type) for cls in each)]
            for a, b in itertools.combinations(plain, 2):
                if any(issubclass(x, b) for x in a) or any(issubclass(x, a) for x in b):
                    shared.append((form, rows.key, a, b))
    assert shared == []
    assert sum(map(len, registry._TABLES.values())) > 500
