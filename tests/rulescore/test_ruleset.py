"""Declaring rules: what is taken, and what is refused at once, with the place and the fix."""

import contextlib
import functools
import importlib
import operator
import runpy
import sys
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pytest

from rulescore import Array, RuleError, RuleSet, find_rule, generation, rrule


@runtime_checkable
class HasLength(Protocol):
    def __len__(self): ...


UNFAITHFUL = [
    Literal[1],
    npt.NDArray[np.float64],
    tuple[int, ...],
    list[float],
    type[int],
    Annotated[int, "positive"],
    HasLength,
    float | list[int],
]


@pytest.mark.parametrize("annotation", UNFAITHFUL, ids=map(str, range(len(UNFAITHFUL))))
def test_an_unfaithful_annotation_is_refused_with_the_fix(annotation):
    rule = RuleSet("mine")

    def body(x, axis=None):
        raise AssertionError

    for name in ("x", "axis"):
        body.__annotations__ = {name: annotation}
        with pytest.raises(RuleError) as caught:
            rule(np.sort)(body)
        message = str(caught.value)
        assert f"rule set mine, {__file__}:{body.__code__.co_firstlineno}" in message
        assert "numpy.sort" in message
        assert "annotate with the plain class" in message
    assert rule.rules == []


def test_a_string_annotation_is_refused_with_the_fix():
    rule = RuleSet("mine")

    def body(x: "float"):
        raise AssertionError

    for declare in (rule(np.sort), rule.of_instances):
        with pytest.raises(RuleError, match="remove `from __future__ import annotations`") as c:
            declare(body)
        assert f"{__file__}:{body.__code__.co_firstlineno}" in str(c.value)
    assert rule.rules == []


def test_a_module_with_annotations_of_the_future_is_refused(install, python):
    install(
        "rules_future",
        """
        from __future__ import annotations
        import numpy as np
        from rulescore import RuleSet
        rule = RuleSet("rules_future")
        @rule(np.sort)
        def _(x: np.ndarray):
            return np.sort(x), None
        """,
    )
    done = python("import rules_future")
    assert "rules_future.py:6: the annotation 'np.ndarray' of the rule for numpy.sort" in (
        done.stderr
    )


FAITHFUL = [Any, float, int | str, np.ndarray | None, tuple, list, Array, object, type(None)]


@pytest.mark.parametrize("annotation", FAITHFUL, ids=map(str, range(len(FAITHFUL))))
def test_a_faithful_annotation_is_taken(annotation):
    rule = RuleSet("mine")

    def body(x):
        raise AssertionError

    body.__annotations__ = {"x": annotation}
    rule(np.sort)(body)
    assert [r.types for r in rule.rules] == [(annotation,)]


class Silent:
    """Its instances cannot be called."""


def halved(x):
    return x / 2


REFUSED = [
    (lambda rule: rule.scalar(halved)(0.5), "0.5 is not a plain function: give `rule.scalar"),
    (lambda rule: rule.scalar(halved)(lambda x, y: (0.5, 0.0)), "takes 2 arguments, .* 1 by posi"),
    (lambda rule: rule(halved)(lambda x, y: x), "halved takes 2 arguments, .* takes 1 by position"),
    (lambda rule: rule.forward(halved)(lambda dx, x: x), "halved takes 2 arguments, .* takes 1 by"),
    (lambda rule: rule.batched(halved)(lambda x, y: x), "halved takes 2 arguments, .* takes 1 by"),
    (lambda rule: rule(3.0)(lambda x: x), "3.0 is not callable"),
    (lambda rule: rule.constant("f"), "'f' is not callable"),
    (lambda rule: rule()(lambda x: x), "name it first"),
    (lambda rule: rule.scalar()(lambda x: x), "name it first"),
    (lambda rule: rule.scalar(np.exp)(lambda x, y: 1.0), "numpy.exp has 1 input and 1 output, "),
    (lambda rule: rule.scalar(np.frexp)(lambda x: 1.0), "has 1 input and 2 outputs"),
    (lambda rule: rule.scalar(np.exp)(lambda x, y=1: 1.0), "take the inputs one by one"),
    (lambda rule: rule.scalar(np.exp)(lambda *x: 1.0), "take the inputs one by one"),
    (lambda rule: rule.scalar(np.sin)(np.cos), "is not a plain function"),
    (lambda rule: rule(np.sin)(functools.partial(max, 1)), "is not a plain function"),
    (lambda rule: rule.of_instances(lambda x: x), "annotate its first parameter"),
    (lambda rule: rule.of_instances(lambda: 1), "annotate its first parameter"),
]


@pytest.mark.parametrize(("declare", "message"), REFUSED, ids=map(str, range(len(REFUSED))))
def test_what_cannot_be_a_rule_is_refused_where_it_is_declared(declare, message):
    rule = RuleSet("mine")
    with pytest.raises(RuleError, match=message) as caught:
        declare(rule)
    assert "rule set mine" in str(caught.value)
    assert rule.rules == []


def test_objects_that_cannot_be_called_have_no_rule_of_instances():
    def body(x: Silent):
        raise AssertionError

    with pytest.raises(RuleError, match="a class of callable objects: annotate"):
        RuleSet("mine").of_instances(body)


def test_a_declaration_for_several_functions_is_all_or_nothing(rule):
    def f(x):
        return x

    def g(x):
        return x

    rule.scalar(g)(lambda x: 1.0)
    assert rrule(f, 1.0) is None
    before = generation()
    with pytest.raises(RuleError, match="two rules for"):
        rule.scalar(f, g)(lambda x: 2.0)
    with pytest.raises(RuleError, match="is not callable"):
        rule.constant(f, None)
    assert rrule(f, 1.0) is None
    assert rrule(g, 1.0)[1](1.0) == (None, 1.0)
    assert (len(rule.rules), generation()) == (1, before)


def test_one_function_under_two_names_is_one_rule(rule):
    def f(x):
        return -x

    g = f
    rule.scalar(f, g)(lambda x: -1.0)
    rule.constant(h := lambda: 0, h)
    assert len(rule.rules) == 2


def test_the_declared_functions_are_returned_as_they_are():
    rule = RuleSet("mine")

    def body(x: float):
        raise AssertionError

    def partials(x):
        raise AssertionError

    assert rule(np.sort)(body) is body
    assert rule.scalar(np.exp)(partials) is partials
    assert rule.of_instances(_of_operator) is _of_operator
    assert rule.constant(np.shape) is None
    assert [r.kind for r in rule.rules] == ["general", "scalar", "instance", "constant"]
    assert repr(rule) == "RuleSet('mine', 4 rules)"


def _of_operator(f: operator.itemgetter, x: list):
    raise AssertionError


def test_what_is_declared_later_is_used_from_the_next_call_on(rule):
    def f(x):
        return x * x

    assert rrule(f, 3.0) is None
    before = generation()
    rule.scalar(f)(lambda x: 2 * x)
    assert generation() > before
    assert rrule(f, 3.0)[1](1.0) == (None, 6.0)

    @rule(f)
    def _(x: str):
        return x, lambda dy: (None,)

    assert rrule(f, "a")[0] == "a"
    assert rrule(f, 3.0)[1](1.0) == (None, 6.0)
    rule.unregister()
    assert rrule(f, 3.0) is None
    rule.register()
    assert rrule(f, 3.0)[1](1.0) == (None, 6.0)


def test_options(rule):
    def f(x, *, scale=1.0):
        return x * scale

    @rule(f)
    def _(x: float, *, scale=1.0):
        def pullback(dy):
            return (dy * scale,)

        return x * scale, pullback

    def g(x, **options):
        return x

    @rule(g)
    def _(x: float, **options):
        return len(options), lambda dy: (dy,)

    assert rrule(f, 2.0, scale=3.0)[1](1.0) == (None, 3.0)
    assert rrule(f, 2.0, size=3.0) is None
    assert rrule(g, 2.0, a=1, b=2)[0] == 2
    rule.constant(h := lambda x, k=1: k)
    assert rrule(h, 2.0, k=3)[0] == 3
    rule.scalar(e := lambda x: x)(lambda x: 1.0)
    assert rrule(e, 2.0, out=1) is None
    assert find_rule(e, 2.0, out=1) is None


def test_the_ad_is_handed_to_the_rules_that_ask_for_it(rule):
    def twice(f, x):
        return f(f(x))

    @rule(twice)
    def _(f: object, x: float, *, ad):
        y, back_first = ad(f, x)
        z, back_second = ad(f, y)

        def pullback(dy):
            return None, back_first(back_second(dy)[1])[1]

        return z, pullback

    rule.scalar(square := lambda x: x * x)(lambda x: 2 * x)
    assert rrule(twice, square, 3.0) is None
    assert find_rule(twice, square, 3.0) is None
    y, back = rrule(twice, square, 3.0, ad=rrule)
    assert (y, back(1.0)) == (81.0, (None, None, 108.0))


def test_examples_are_kept():
    rule = RuleSet("mine")
    rule.example(np.sum, np.ones(2), axis=0)
    ((f, xs, options),) = rule.examples
    assert f is np.sum
    np.testing.assert_array_equal(xs[0], np.ones(2))
    assert options == {"axis": 0}


def module_of_examples(directory, monkeypatch, text):
    """Write a rule module, and beside it a module with its examples; return the rule set."""
    (directory / "rules_apart.py").write_text(
        "from rulescore import RuleSet\n"
        "rule = RuleSet('apart', examples='examples_apart')\n"
        "rule.example(abs, 1.0)\n"
    )
    (directory / "examples_apart.py").write_text(f"from rules_apart import rule\n{text}\n")
    monkeypatch.syspath_prepend(directory)
    for name in ("rules_apart", "examples_apart"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("rules_apart").rule


def test_a_module_of_examples_is_imported_when_it_is_asked_for(tmp_path, monkeypatch):
    rule = module_of_examples(tmp_path, monkeypatch, "rule.example(abs, 2.0)")
    assert "examples_apart" not in sys.modules
    expected = [(abs, (1.0,), {}), (abs, (2.0,), {})]
    assert rule.examples == expected
    assert "examples_apart" in sys.modules
    assert rule.examples == expected


def test_a_broken_module_of_examples_is_told_each_time(tmp_path, monkeypatch):
    rule = module_of_examples(tmp_path, monkeypatch, "rule.example(abs, 2.0)\n1 / 0")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            rule.examples
    assert rule._examples.recorded == [(abs, (1.0,), {})]


def test_a_missing_module_of_examples_is_told():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        RuleSet("mine", examples="no_such_module").examples


def test_an_attribute_may_have_a_rule(rule):
    class Box:
        __slots__ = ("count", "weight")

    @rule(Box.weight)
    def _(box: Box):
        return box.weight, lambda dy: (None,)

    rule.constant(Box.count)
    box = Box()
    box.weight, box.count = 2.0, 3
    assert rrule(Box.weight, box)[0] == 2.0
    y, back = rrule(Box.count, box)
    assert (y, back(1.0)) == (3, (None, None))


def make(form, rule):
    """Return what stands above the `def` where the function was forgotten."""
    return {"rule": rule, "rule.scalar": rule.scalar, "rule.constant": rule.constant}[form]


@pytest.mark.parametrize("form", ["rule", "rule.scalar", "rule.constant"])
def test_a_declaration_without_its_function_is_refused_whatever_the_name(form):
    rule = RuleSet("bare")
    bare = make(form, rule)
    with pytest.raises(
        RuleError, match=r"rule set bare, .*test_ruleset.py:\d+: .*@?rule"
    ) as caught:

        @bare
        def my_rule(
            x,
            y=None,
        ):
            return x, None

    assert (f"@{form}(np.sin)" if form != "rule.constant" else "below the function") in str(
        caught.value
    )
    assert "my_rule" in str(caught.value)
    with pytest.raises(RuleError):

        class _Namespace:
            @bare
            def my_rule(self):
                return self, None

    assert rule.rules == []
    rule.register()  # nothing is left waiting
    rule.unregister()


def test_a_forgotten_function_is_found_when_the_rule_is_called_or_registered():
    """A decorator below hides that the function is just being made."""
    for use in (lambda f, rule: f(3.0), lambda f, rule: f(), lambda f, rule: rule.register()):
        rule = RuleSet("bare")

        @rule
        @contextlib.contextmanager
        def my_rule(x):
            yield x, None

        with pytest.raises(RuleError, match=r"`?@?rule\(f\)`"):
            use(my_rule, rule)


def test_a_declaration_that_is_given_no_body_is_refused_once_at_registration():
    rule = RuleSet("bodiless")
    rule.scalar(np.sin)
    with pytest.raises(RuleError, match=r"`rule.scalar\(numpy.sin\)` was not given the body"):
        rule.register()
    assert rrule(np.sin, "x") is None
    rule.register()  # who mends it in a running session goes on
    rule.unregister()


def test_a_plugin_with_a_declaration_without_body_is_broken(install, python):
    install("rules_bodiless", "import math\nfrom rulescore import *\nrule = RuleSet('bodiless')\n"
            "rule(math.cos)\n@hookimpl\ndef rulescore_rules():\n    return [rule]\n")  # fmt: skip
    done = python("import rulescore; print([p.error for p in rulescore.plugins()])")
    assert "`rule(math.cos)` was not given the body of the rule" in done.stdout
    assert "could not be loaded" in done.stderr


def test_functions_made_on_the_line_of_their_declaration_have_rules(rule, tmp_path):
    def f(x): return x  # fmt: skip

    rule(f)(lambda x: (x, None))
    module = tmp_path / "on_one_line.py"
    module.write_text("g = lambda x: x; rule(g)(lambda x: (x, None))\n", encoding="utf8")
    g = runpy.run_path(str(module), {"rule": rule})["g"]

    @rule(h := lambda x: x)
    def _(x):
        return x, None

    waiting = rule(k := lambda x: x)
    waiting(lambda x: (x, None))
    for function in (f, g, h, k):
        assert find_rule(function, 1.0).function is function


def test_a_rule_without_the_function_that_it_is_for_is_refused():
    """`@rule` alone took the body for the function, and declared nothing."""
    rule = RuleSet("bare")
    with pytest.raises(
        RuleError, match=r"test_ruleset.py:\d+: `@rule` is given .*: write `@rule\(f\)`"
    ):

        @rule
        def _(x: float):
            return x, lambda dy: (dy,)
