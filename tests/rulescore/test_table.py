"""The table of rules: which rule answers, changes of the table, and threads."""

import abc
import gc
import threading
import types
import weakref
from collections.abc import Callable
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np
import plum
import pytest

from rulescore import Array, Numeric, RuleError, find_rule, generation, plugins, rrule, why
from rulescore._array import pattern
from rulescore._table.primitive import matches


def named(x, y=None):
    return x


def test_dispatch_is_on_types_and_the_most_specific_rule_answers(rule):
    class Number(float):
        pass

    @rule(named)
    def _(x: object):
        return "object", lambda dy: (None,)

    @rule(named)
    def _(x: float):
        return "float", lambda dy: (None,)

    @rule(named)
    def _(x: object, y: object):
        return "two", lambda dy: (None, None)

    for _ in range(2):
        assert rrule(named, 1.0)[0] == "float"
        assert rrule(named, Number(1.0))[0] == "float"
        assert rrule(named, "x")[0] == "object"
        assert rrule(named, 1)[0] == "float"
        assert rrule(named, 1j)[0] == "object"
        assert rrule(named, 1, 2)[0] == "two"
        assert rrule(named) is None
        assert rrule(named, 1, 2, 3) is None


@pytest.mark.parametrize("kind", [Array, Numeric, Array | list])
def test_a_rule_is_more_specific_by_its_second_argument_alone(rule, kind):
    assert issubclass(Array, Array)

    @rule(named)
    def _(x: kind, y: object):
        return "object", None

    @rule(named)
    def _(x: kind, y: float):
        return "float", None

    assert rrule(named, np.ones(2), 1.0)[0] == "float"
    assert rrule(named, np.ones(2), 1)[0] == "float"
    assert rrule(named, np.ones(2), 1j)[0] == "object"


INTEGERS = [3, True, np.int8(3), np.uint64(3), np.array(3)]
REALS = [3.0, np.float16(3), np.float32(3), np.longdouble(3), np.array(3.0), np.array(3, "f4")]
COMPLEX = [3j, np.complex64(3j), np.array(3j)]
OTHERS = ["3", None, np.bool_(True), np.ones(1), np.array("3"), np.array(True), Fraction(3, 4)]


@pytest.mark.parametrize(
    ("kind", "matched", "others"),
    [
        (int, INTEGERS, REALS + COMPLEX + OTHERS),
        (float, INTEGERS + REALS, COMPLEX + OTHERS),
        (complex, INTEGERS + REALS + COMPLEX, OTHERS),
        (float | None, [*INTEGERS, *REALS, None], [*COMPLEX, "3", np.ones(1)]),
        (bool, [True], [1, 1.0, np.bool_(True)]),
    ],
    ids=str,
)
def test_a_number_is_matched_by_its_kind(rule, kind, matched, others):
    @rule(named)
    def _(x: kind):
        return "found", None

    def several(*xs):
        return xs

    def optional(x, y=None):
        return x

    @rule(several)
    def _(*xs: kind):
        return "found", None

    @rule(optional)
    def _(x, y: kind = 0):
        return "found", None

    for _ in range(2):
        for x in matched:
            assert rrule(named, x)[0] == "found"
            assert rrule(several, x, x)[0] == "found"
            assert rrule(optional, "x", x)[0] == "found"
        for x in others:
            assert rrule(named, x) is None
            assert find_rule(several, matched[0], x) is None
            assert rrule(optional, "x", x) is None


def test_a_0d_array_goes_to_a_rule_for_arrays_first(rule):
    @rule(named)
    def _(x: float):
        return "float", lambda dy: (3.0 * dy,)

    for x in (np.array(2.0), np.float64(2.0), np.array(2.0)):
        y, back = rrule(named, x)
        assert (y, back(1.0)) == ("float", (None, 3.0))  # a number is a cotangent of a 0-d array
    assert rrule(named, np.array([2.0])) is None

    @rule(named)
    def _(x: np.ndarray):
        return "array", None

    assert rrule(named, np.array(2.0))[0] == "array"
    assert rrule(named, np.float64(2.0))[0] == "float"


def test_a_rule_for_numbers_is_more_specific_than_one_for_all_and_less_than_one_for_a_class(rule):
    for kind in (Numeric, Number, complex, float, int, bool, np.float32, np.int8):

        @rule(named)
        def _(x: kind):
            raise AssertionError

    expected = [(True, bool), (1, int), (np.int8(1), np.int8), (np.int16(1), int), (1.5, float)]
    expected += [(np.float32(1.5), np.float32), (np.float16(1.5), float), (1j, complex)]
    expected += [(np.bool_(True), Numeric), (Fraction(1, 2), Number)]
    for x, kind in expected:
        assert find_rule(named, x).types == (kind,), x


def test_two_rules_for_the_same_kind_of_number_clash(rule):
    @rule(named)
    def _(x: float):
        return x, None

    with pytest.raises(RuleError, match="two rules for"):

        @rule(named)
        def _(x: float):
            return x, None


def test_several_rules_that_match_alike_are_an_error_that_names_them(rule):
    @rule(named)
    def _(x: float, y: object):
        return 1, None

    @rule(named)
    def _(x: object, y: float):
        return 2, None

    for _ in range(2):
        with pytest.raises(RuleError, match="none is the most specific") as caught:
            rrule(named, 1.0, 2.0)
        assert str(caught.value).count(f"mine, {__file__}:") == 2
    assert rrule(named, "a", 2.0)[0] == 2


def clash(a, b):
    @a(named)
    def _(x: float, n: int = 0):
        return x, None

    return b


CLASHES = {
    "the same types": lambda rule: rule(named)(same_types),
    "an option given": lambda rule: rule(named)(one_more),
    "an option left out": lambda rule: rule(named)(other_option),
}


def same_types(x: float):
    raise AssertionError


def one_more(x: float, n: int):
    raise AssertionError


def other_option(x: float, s: str = ""):
    raise AssertionError


@pytest.mark.parametrize("declare", CLASHES.values(), ids=CLASHES)
def test_two_plugins_with_one_pattern_are_refused_with_both_places(new_ruleset, declare):
    first, second = new_ruleset("first"), new_ruleset("second")
    clash(first, second)
    declare(second)
    second.constant(np.lcm.reduceat)
    first.register()
    before = generation()
    with pytest.raises(RuleError, match="two rules for") as caught:
        second.register()
    assert f"one from first, {__file__}:{first.rules[0].line}" in str(caught.value)
    assert f"one from second, {__file__}:{second.rules[0].line}" in str(caught.value)
    assert generation() == before
    assert find_rule(named, 1.0).plugin == "first"
    assert rrule(np.lcm.reduceat) is None
    first.unregister()
    second.register()
    assert second.rules[0].plugin == "second"


def test_patterns_that_mean_the_same_are_refused(rule):
    @rule(named)
    def _(x: Any):
        return 1, None

    with pytest.raises(RuleError, match="two rules for") as caught:
        rule(named)(of_object)
    assert str(caught.value).count(f"mine, {__file__}:") == 2


def of_object(x: object):
    raise AssertionError


def test_patterns_that_are_found_to_mean_the_same_are_refused_when_they_are_asked(rule):
    @rule(named)
    def _(x: float):
        return 1, None

    @rule(named)
    def _(x: float | np.float64):
        return 2, None

    for _ in range(2):
        with pytest.raises(RuleError, match="two of these rules are for the same types") as caught:
            rrule(named, 1.0)
        assert str(caught.value).count(f"mine, {__file__}:") == 2


def test_types_of_arguments_are_told_as_plum_tells_them():
    given = [3, True, 1.5, 1j, "x", None, [1.0], (1.0,), {}, len, object, np.float32(1), np.int8(1)]
    given += [np.bool_(True), np.zeros(2), np.zeros(()), np.ma.zeros(2)]
    known = {a for plugin in plugins() for s in plugin.rulesets for r in s.rules for a in r.types}
    for annotation in known | {list[int] | int, Callable, Any, types.NoneType, Numeric | None}:
        for x in given:
            rule = types.SimpleNamespace(types=(annotation,), optional=(), varargs=None)
            told = plum.Signature(pattern(annotation)).match((x,))
            assert matches(rule, (x,)) == told, (annotation, x)


def test_a_change_of_the_table_raises_the_generation(new_ruleset):
    ruleset = new_ruleset()
    ruleset.constant(named)
    seen = [generation()]
    for change in (ruleset.register, ruleset.unregister, ruleset.register):
        change()
        seen.append(generation())
    assert sorted(set(seen)) == seen
    ruleset.register()
    assert generation() == seen[-1]
    ruleset.unregister()
    before = generation()
    ruleset.unregister()
    assert generation() == before


class Unhashable:
    __hash__ = None

    def __eq__(self, other):
        raise AssertionError

    def __call__(self, x):
        return 3 * x

    def method(self, x):
        return 4 * x

    @classmethod
    def make(cls, x):
        return 5 * x


def test_functions_are_found_by_identity_not_by_equality(rule):
    f, g = Unhashable(), Unhashable()
    rule.scalar(f)(lambda x: 3.0)
    assert rrule(f, 2.0)[1](1.0) == (None, 3.0)
    assert rrule(g, 2.0) is None


def test_bound_methods_are_found_though_they_are_made_anew(rule):
    f, g = Unhashable(), Unhashable()
    rule.scalar(f.method)(lambda x: 4.0)
    rule.scalar(Unhashable.make)(lambda x: 5.0)
    rule.constant(float.fromhex, dict.fromkeys)
    assert rrule(f.method, 2.0)[1](1.0) == (None, 4.0)
    assert rrule(g.method, 2.0) is None
    for _ in range(2):
        assert rrule(Unhashable.make, 2.0)[1](1.0) == (None, 5.0)
        assert rrule(float.fromhex, "0x1p1")[0] == 2.0
        assert rrule(dict.fromkeys, "a")[0] == {"a": None}
        assert rrule(int.fromhex if hasattr(int, "fromhex") else bytes.fromhex, "00") is None


class Meta(type):
    __hash__ = None

    def __eq__(cls, other):
        return False


class OfMeta(metaclass=Meta):
    def __call__(self, x):
        return x


@pytest.mark.parametrize("n", [1, 2])
def test_types_that_cannot_be_hashed(rule, n):
    x = OfMeta()

    @rule(named)
    def _(*xs: object):
        return len(xs), None

    for _ in range(2):
        assert rrule(named, *[x] * n)[0] == n
        assert rrule(x, 1.0) is None
        assert find_rule(x, 1.0) is None


class Proxy:
    """Pretend to be of the class of what it holds, as the proxies of several libraries do."""

    def __init__(self, held):
        self.held = held

    @property
    def __class__(self):
        return type(self.held)


def test_a_proxy_does_not_decide_for_the_next_one(rule):
    @rule(named)
    def _(x: float):
        return "float", None

    @rule(named)
    def _(x: str):
        return "str", None

    for held in (1.0, "a", 2.0):
        assert rrule(named, Proxy(held))[0] == type(held).__name__
    assert rrule(named, Proxy(1j)) is None


def test_rules_of_instances_follow_the_bases(rule):
    class Layer:
        def __call__(self, x):
            return x

    class Dense(Layer):
        pass

    class Sparse(Layer):
        pass

    @rule.of_instances
    def _(layer: Layer, x: object):
        return "layer", None

    @rule.of_instances
    def _(layer: Dense, x: float):
        return "dense", None

    for _ in range(2):
        assert rrule(Dense(), 1.0)[0] == "dense"
        assert rrule(Dense(), 1)[0] == "dense"
        assert rrule(Dense(), 1j)[0] == "layer"
        assert rrule(Sparse(), 1.0)[0] == "layer"
        assert rrule(Sparse()) is None
    special = Dense()

    @rule(special)
    def _(x: float):
        return "special", None

    assert rrule(special, 1.0)[0] == "special"
    assert rrule(special, 1)[0] == "special"
    assert rrule(special, 1j)[0] == "layer"
    assert rrule(Dense(), 1.0)[0] == "dense"


def test_a_rule_of_instances_is_for_the_call_of_its_class(rule):
    class Layer(abc.ABC):
        @abc.abstractmethod
        def __call__(self, x): ...

    class Dense(Layer):
        def __call__(self, x):
            return x

    class Thin(Dense):
        pass

    class Double(Dense):
        def __call__(self, x):
            return 2 * super().__call__(x)

    class Mixed(type("Mixin", (), {"__call__": lambda self, x: x}), Dense):
        pass

    @rule.of_instances
    def _(layer: Dense, x: object):
        return "dense", None

    for _ in range(2):
        assert rrule(Dense(), 1.0)[0] == rrule(Thin(), 1.0)[0] == "dense"
        assert rrule(Double(), 1.0) is None
        assert rrule(Mixed(), 1.0) is None
    assert [said for said, _ in why(Double(), 1.0)] == ["lost"]

    @rule.of_instances
    def _(layer: Layer, x: object):
        return "layer", None

    assert [rrule(kind(), 1.0)[0] for kind in (Dense, Thin)] == ["dense"] * 2
    assert [rrule(kind(), 1.0)[0] for kind in (Double, Mixed)] == ["layer"] * 2


def test_a_type_made_in_a_loop_is_not_kept_for_ever(rule):
    rule(named)(lambda x: (x, None))
    kept = []
    for _ in range(5000):
        kind = types.new_class("Local", (), {})
        rrule(named, kind())
        rrule(kind(), 1.0)
        kept.append(weakref.ref(kind))
        del kind
        if sum(ref() is not None for ref in kept[-100:]) == 0:
            break
    rule.unregister()
    gc.collect()
    alive = sum(ref() is not None for ref in kept)
    assert alive == 0


def test_what_is_unregistered_is_freed(new_ruleset):
    ruleset = new_ruleset()

    def f(x):
        return x

    ruleset.scalar(f)(lambda x: 1.0)
    ruleset.register()
    rrule(f, 1.0)
    gone = weakref.ref(f)
    ruleset.unregister()
    ruleset.rules.clear()
    del f
    gc.collect()
    assert gone() is None


def test_readers_and_writers_in_threads(new_ruleset):
    def f(x):
        return x * x

    always, sometimes = new_ruleset("always"), new_ruleset("sometimes")
    always.scalar(f)(lambda x: 2 * x)
    for _ in range(50):
        sometimes.constant(lambda: 0)

    @sometimes(f)
    def _(x: str):
        return x, None

    always.register()
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                if rrule(f, 3.0)[1](1.0) != (None, 6.0):
                    raise AssertionError
                found = rrule(f, "a")
                if found is not None and found[0] != "a":
                    raise AssertionError
            except BaseException as error:
                wrong.append(error)
                return

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        sometimes.register()
        sometimes.unregister()
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert rrule(f, "a") is None
    sometimes.register()
    assert rrule(f, "a")[0] == "a"


def test_the_generation_is_told_while_another_thread_loads_the_last_section(monkeypatch):
    asked = []

    class Modules:
        def __len__(self):
            monkeypatch.setattr("rulescore._table.table.load_due", None)  # there is no section left
            return 1

    monkeypatch.setattr("rulescore._table.table.load_due", lambda: asked.append(True))
    monkeypatch.setattr("rulescore._table.table.modules", Modules())
    assert isinstance(generation(), int)
    assert asked == [True]


def test_the_first_call_from_many_threads_loads_the_plugins_once(install, python):
    install(
        "rules_slow",
        """
        import time
        import operator
        from rulescore import RuleSet, hookimpl
        print("imported")
        time.sleep(0.2)
        rule = RuleSet("rules_slow")
        rule.scalar(operator.index)(lambda x: 5.0)
        @hookimpl
        def rulescore_rules():
            print("asked")
            return [rule]
        """,
    )
    done = python(
        """
        import operator, threading
        from rulescore import rrule
        found = []
        start = threading.Barrier(16)
        def call():
            start.wait()
            found.append(rrule(operator.index, 3)[1](1.0))
        threads = [threading.Thread(target=call) for _ in range(16)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(found == [(None, 5.0)] * 16)
        """
    )
    assert (done.stdout.split(), done.stderr) == (["imported", "asked", "True"], "")
