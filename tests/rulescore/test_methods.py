"""Types of other libraries: rule sets say how their cotangents are projected, summed, and zero."""

from fractions import Fraction

import numpy as np
import pytest

from rulescore import (
    Array,
    RuleError,
    Tangent,
    accumulate,
    find_rule,
    generation,
    goes_by_value,
    project,
    when_changed,
    zero,
)


class Length:
    """A quantity with a unit."""

    def __init__(self, number, unit="m"):
        self.number = number
        self.unit = unit

    def __eq__(self, other):
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None


class Distance(Length):
    pass


@pytest.fixture
def lengths(rule):
    """Declare all three methods for `Length`."""

    @rule.method(project)
    def _(dx: object, x: Length):
        number = dx.number if isinstance(dx, Length) else dx
        return type(x)(project(number, x.number), "1/" + x.unit)

    @rule.method(accumulate)
    def _(a: Length, b: Length):
        assert a.unit == b.unit
        return type(a)(a.number + b.number, a.unit)

    @rule.method(zero)
    def _(x: Length):
        return type(x)(zero(x.number), "1/" + x.unit)

    return rule


def test_a_type_is_projected_summed_and_zero_as_its_rule_set_says(lengths):
    for _ in range(2):
        assert project(2, Length(1.0)) == Length(2.0, "1/m")
        assert project(Length(1 + 2j, "1/s"), Distance(1.0, "s")) == Distance(1.0, "1/s")
        assert accumulate(Length(1.0), Length(2.0)) == Length(3.0)
        assert accumulate(None, Length(2.0)) == accumulate(Length(2.0), None) == Length(2.0)
        assert project(None, Length(2.0)) is None
        assert zero(Length(5.0, "s")) == Length(0.0, "1/s")


def test_containers_ask_for_each_entry(lengths):
    assert project([1, (2,)], [Length(1.0), (Length(2.0),)]) == [
        Length(1.0, "1/m"),
        (Length(2.0, "1/m"),),
    ]
    assert accumulate({"a": Length(1.0)}, {"a": Length(2.0)}) == {"a": Length(3.0)}
    found = Tangent(Line, a=Length(1.0)) + Tangent(Line, a=Length(2.0))
    assert found.a == Length(3.0)
    assert zero({"a": [Length(1.0), 2.0]}) == {"a": [Length(0.0, "1/m"), 0.0]}


class Line:
    pass


def test_methods_go_with_their_rule_set(lengths):
    before = generation()
    lengths.unregister()
    assert generation() > before
    x = Length(1.0)
    assert project(x, x) is x
    assert zero(x) is None
    with pytest.raises(TypeError):
        accumulate(x, x)
    lengths.register()
    assert accumulate(x, x) == Length(2.0)


def test_the_most_specific_method_answers_and_a_set_may_override(lengths, new_ruleset):
    other = new_ruleset("other")

    @other.method(zero)
    def _(x: Distance):
        return "distance"

    other.register()
    assert (zero(Distance(1.0)), zero(Length(1.0))) == ("distance", Length(0.0, "1/m"))
    over = new_ruleset("over")

    @over.method(zero)
    def _(x: object):
        return "over"

    over.register(override=True)
    assert (zero(Distance(1.0)), zero(Length(1.0))) == ("over", "over")
    assert zero(1.0) == 0.0  # what is settled is not asked for
    again = new_ruleset("again")
    again.method(zero)(lambda x: None)
    with pytest.raises(RuleError, match=r"two rules for .*zero"):
        again.register()


def test_where_only_project_is_declared_it_makes_the_zero(rule):
    @rule.method(project)
    def _(dx: object, x: Fraction):
        return Fraction(dx)

    assert zero(Fraction(1, 3)) == Fraction(0)
    assert type(zero(Fraction(1, 3))) is Fraction
    assert type(project(1.0, Fraction(1, 3))) is Fraction


def test_a_subclass_of_array_may_have_methods_of_its_own(rule):
    class Marked(np.ndarray):
        pass

    marked = np.ones((2, 3)).view(Marked)

    @rule.method(project)
    def _(dx: Array, x: Marked):
        return "marked"

    assert project(np.ones((2, 3)), marked) == "marked"
    assert project(marked, np.ones((2, 3))) is marked
    assert project(1.0, np.ones(())).shape == ()


def test_a_type_goes_by_value_where_project_knows_it(lengths):
    assert goes_by_value(Length)
    assert goes_by_value(Distance)
    assert not any(map(goes_by_value, (Line, float, np.ndarray, object, list)))
    lengths.unregister()
    assert not goes_by_value(Length)


def test_who_remembers_types_is_told_of_changes(new_ruleset):
    told = []
    when_changed(lambda: told.append(generation()))
    ruleset = new_ruleset()
    ruleset.method(zero)(lambda x: None)
    ruleset.register()
    ruleset.unregister()
    assert told == [generation() - 1, generation()]


def test_methods_are_no_rules_for_the_functions(lengths):
    assert find_rule(project, 1.0, Length(1.0)) is None
    assert {r.kind for r in lengths.rules} == {"method"}


REFUSED = [
    (np.sin, lambda x: x, "`accumulate`, `zero` and `flatten`, and not for numpy.sin"),
    (zero, lambda x, y: x, r"a method of rulescore.*zero takes 1 argument: give .* \[RC003\]$"),
    (project, lambda x: x, "a method of rulescore.*project takes 2 arguments"),
    (accumulate, lambda *xs: xs, "a method of rulescore.*accumulate takes 2 arguments"),
]


@pytest.mark.parametrize(("function", "body", "message"), REFUSED, ids=range(len(REFUSED)))
def test_other_functions_and_bodies_are_refused(rule, function, body, message):
    with pytest.raises(RuleError, match=message):
        rule.method(function)(body)
    assert rule.rules == []


ZEROS = [
    (1.5, 0.0),
    (3, 0.0),
    (1j, 0j),
    (np.float32(2), np.float32(0)),
    (np.int8(2), np.float64(0)),
    (np.ones(2, np.float32), np.zeros(2, np.float32)),
    (np.ones((2, 1), int), np.zeros((2, 1))),
    (np.ones(1, complex), np.zeros(1, complex)),
    (np.array(2.0), np.array(0.0)),
    (np.ones((0, 3)), np.zeros((0, 3))),
    ([1.0, (2, "a")], [0.0, (0.0, None)]),
    ({"a": 1.0, "b": True}, {"a": 0.0, "b": None}),
    ("text", None),
    (None, None),
    (np.array(["a"]), None),
    (Line(), None),
]


@pytest.mark.parametrize(("x", "due"), ZEROS, ids=range(len(ZEROS)))
def test_zeros(x, due):
    found = zero(x)
    assert type(found) is type(due)
    assert getattr(found, "dtype", None) == getattr(due, "dtype", None)
    np.testing.assert_equal(found, due)


def test_a_zero_of_a_foreign_array_is_foreign(foreign):
    assert isinstance(zero(foreign(np.ones(2, np.float32))), foreign)
