"""Each case of the table of constructs: its gradient, its value, its side effects, its error."""

import copy
import linecache
import sys
import types

import pytest

from tests.zygote_lite.checks.comparing import assert_close, assert_same
from tests.zygote_lite.checks.finite_differences import assert_slopes
from tests.zygote_lite.checks.oracles import CALLS, generic, is_alike, outcome
from tests.zygote_lite.constructs.remedies import INSTEAD
from tests.zygote_lite.constructs.table import (
    CASES,
    PAGE,
    RECORDED,
    TRANSFORMED,
    WITH_ISLAND,
    listed,
    reasons_of_cases,
    table_of_constructs,
    tier_of,
    why_recorded,
)
from zygote_lite import DifferentiationError, gradient, pullback
from zygote_lite._interface.gradients import raw_value_and_gradient

WORKING = [(n, i) for n, case in CASES.items() if not case.message for i in range(len(case.inputs))]
REFUSED = [
    (n, i) for n, case in CASES.items() if case.message is not None for i in range(len(case.inputs))
]
TOLERANCE = 2e-7


def test_the_table_is_large_enough():
    assert len(CASES) >= 150


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "i"), WORKING)
def test_works(name, i):
    case = CASES[name]
    f, xs = case.function, case.inputs[i]
    after = copy.deepcopy(xs)
    value = f(*after)
    numbers = tuple(range(len(xs)))
    expected = copy.deepcopy(xs)
    want = generic(f, expected, numbers)
    assert want[0] == "value", want
    assert_same(expected, after)  # what the plain call leaves, no more and no less
    first = want[1][1]

    differentiated = raw_value_and_gradient(f, numbers)
    for _ in range(CALLS):  # until specialized code answers
        given = copy.deepcopy(xs)
        got = outcome(lambda given=given: differentiated(*given))
        assert is_alike(got, want), f"{got}, and generic {want}"
        assert_same(given, after)

    def run(differentiate, g):
        given = copy.deepcopy(xs)
        result = differentiate(g, *given)
        assert_same(given, after)
        return result

    assert is_alike(run(gradient, lambda *ys: (lambda *zs: f(*zs))(*ys)), first, 1e-12)

    def both(g, *given):
        y, back = pullback(g, *given)
        assert_same(y, value)
        once = back(1.0)[1:]
        assert_same(given, after)
        assert_same(back(1.0)[1:], once)
        return once

    assert is_alike(run(both, f), first, 1e-12)
    assert_slopes(first, f, xs, TOLERANCE)
    if case.expected is not None:
        assert_close(first, case.expected(*xs))


@pytest.mark.parametrize(("name", "i"), REFUSED)
def test_is_refused(name, i):
    case = CASES[name]
    f, xs = case.function, case.inputs[i]
    before = copy.deepcopy(xs)
    value = f(*copy.deepcopy(xs))
    for _ in range(2):
        with pytest.raises(DifferentiationError, match=case.message) as caught:
            gradient(f, *xs)
        text = str(caught.value)
        assert f.__code__.co_filename in text
        line = int(text.split(f.__code__.co_filename + ":")[1].split(":")[0].split()[0])
        lines = linecache.getlines(f.__code__.co_filename)
        assert f.__code__.co_firstlineno <= line
        assert lines[line - 1].startswith(" ")
        assert_same(xs, before)
    assert_same(f(*copy.deepcopy(xs)), value)


def test_what_is_refused_has_a_remedy_and_its_error():
    first = {}
    for case in CASES.values():
        if case.message is not None:
            first.setdefault(case.construct, case)
    assert first.keys() == INSTEAD.keys()
    for construct, case in first.items():
        with pytest.raises(DifferentiationError) as caught:
            gradient(case.function, *case.inputs[0])
        assert caught.value.code == INSTEAD[construct][0], construct
        assert str(caught.value).count(f"[{caught.value.code}]") == 1


def test_the_page_is_what_the_cases_make():
    reasons = reasons_of_cases()
    print(listed(reasons))
    page, made = PAGE.read_text().splitlines(), table_of_constructs(reasons).splitlines()
    assert len(page) == len(made)
    others = {a for a, b in zip(page, made, strict=True) if a != b}
    if sys.version_info >= (3, 12):  # there `astuple` asks a set of types, and is recorded
        others = {row for row in others if "#dataclasses_taken_apart" not in row}
    assert not others, "write it anew: python -m tests.zygote_lite.constructs.table"


def test_an_island_is_told_from_what_is_recorded_and_transformed():
    cases = {
        WITH_ISLAND: lambda x: odd(x, 3) * x,
        TRANSFORMED: lambda x: x * x,
        RECORDED: lambda x: x * len(memoryview(b"1")),
    }
    for tier, f in cases.items():
        case = types.SimpleNamespace(function=f, inputs=[(2.0,)])
        assert tier_of(why_recorded(case)) == tier


def odd(x, n):
    total = 0.0
    for i in set(range(n)):
        total = total + x * i
    return total
