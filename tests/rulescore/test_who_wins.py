"""Which of several rule sets answers: overriding, running code anew, and clashes."""

import gc
import math
import operator
import types

import numpy as np
import pytest

from rulescore import RuleError, RuleSet, find_rule, generation, rrule, why


def named(x):
    return x


def another(x):
    return x


def answer(f, *xs):
    """Return what the value of a call is by its rule: the rules here return their own names."""
    return rrule(f, *xs)[0]


def returning(ruleset, f, kind, name):
    @ruleset(f)
    def _(x: kind):
        return name, None


def test_a_set_that_overrides_wins_over_what_was_registered_before(new_ruleset):
    first, second = new_ruleset("first"), new_ruleset("second")
    returning(first, named, object, "first")
    returning(second, named, object, "second")
    first.register()
    assert answer(named, 1.0) == "first"
    before = generation()
    with pytest.raises(RuleError, match=r"lets the rule set 'second' win"):
        second.register()
    assert (generation(), answer(named, 1.0)) == (before, "first")
    second.register(override=True)
    assert answer(named, 1.0) == "second"
    assert generation() > before
    second.unregister()
    assert answer(named, 1.0) == "first"


def test_it_wins_also_over_a_rule_for_more_special_types_where_it_matches(new_ruleset):
    first, second = new_ruleset("first"), new_ruleset("second")
    returning(first, named, float, "float")
    returning(first, named, object, "object")
    returning(second, named, np.ndarray | float, "second")
    first.register()
    second.register(override=True)
    for _ in range(2):
        assert answer(named, 1.0) == "second"
        assert answer(named, np.ones(2)) == "second"
        assert answer(named, "text") == "object"


def test_of_two_that_override_the_last_one_wins(new_ruleset):
    sets = [new_ruleset(name) for name in "abc"]
    for ruleset in sets:
        returning(ruleset, named, object, ruleset.name)
        ruleset.register(override=True)
        assert answer(named, 1.0) == ruleset.name
    before = generation()
    sets[2].register(override=True)
    sets[0].register()
    assert (generation(), answer(named, 1.0)) == (before, "c")
    sets[0].register(override=True)
    assert answer(named, 1.0) == "a"
    sets[0].unregister()
    assert answer(named, 1.0) == "c"
    late = new_ruleset("late")
    returning(late, named, object, "late")
    with pytest.raises(RuleError, match="two rules for"):
        late.register()


def test_a_registered_set_may_be_registered_anew_to_override(new_ruleset):
    first, second = new_ruleset("first"), new_ruleset("second")
    returning(first, named, object, "first")
    returning(second, named, float, "second")
    first.register()
    second.register()
    assert (answer(named, 1.0), answer(named, "text")) == ("second", "first")
    first.register(override=True)
    assert (answer(named, 1.0), answer(named, "text")) == ("first", "first")


def test_overriding_by_name_wins_over_that_set_alone(new_ruleset):
    first, other, second = (new_ruleset(name) for name in ("first", "other", "second"))
    returning(first, named, float, "first")
    returning(other, named, int, "other")
    returning(second, named, object, "second")
    first.register()
    other.register()
    second.register(override="first")
    assert answer(named, 1.0) == "second"
    assert answer(named, 1) == "other"  # nobody overrides it, and it is the most specific
    clashing = new_ruleset("clashing")
    returning(clashing, named, int, "clashing")
    with pytest.raises(RuleError, match="two rules for"):
        clashing.register(override=["first", "second"])
    clashing.register(override=["first", "other"])
    assert answer(named, 1) == "clashing"


def test_a_name_that_nobody_has_is_refused(new_ruleset):
    ruleset = new_ruleset("mine")
    with pytest.raises(RuleError, match=r"mine: there is no .* named rules_bsae to override"):
        ruleset.register(override="rules_bsae")
    with pytest.raises(RuleError, match=r"name one of: .*rules_base"):
        ruleset.register(override="mine_too")
    ruleset.register(override=("rules_base", "rules_nnlib"))


@pytest.mark.parametrize("override", [True, "rules_base"])
def test_a_rule_of_the_program_overrides_one_of_a_plugin(new_ruleset, override):
    ruleset = new_ruleset("mine")
    ruleset.scalar(math.sin)(lambda x: 5.0)
    with pytest.raises(RuleError, match="two rules for"):
        ruleset.register()
    ruleset.register(override=override)
    assert rrule(math.sin, 1.0)[1](1.0) == (None, 5.0)
    assert find_rule(math.cos, 1.0).plugin == "rules_base"
    ruleset.scalar(math.cos)(lambda x: 6.0)
    assert rrule(math.cos, 1.0)[1](1.0) == (None, 6.0)
    ruleset.unregister()
    assert rrule(math.sin, 1.0)[1](1.0) == (None, math.cos(1.0))


def test_it_overrides_also_a_plugin_that_is_loaded_later(install, python):
    install(
        "good",
        "import operator\nfrom rulescore import RuleSet, hookimpl\nrule = RuleSet('good')\n"
        "rule.scalar(operator.index, operator.neg)(lambda x: 7.0)\n"
        "@hookimpl\ndef rulescore_rules(): return [rule]\n",
    )
    code = (
        "import operator; from rulescore import RuleSet, rrule\n"
        "rule = RuleSet('script'); rule.scalar(operator.index)(lambda x: 1.0)\n"
        "rule.register({})\n"
        "try: print(rrule(operator.index, 3)[1](1.0))\n"
        "except Exception as error: print(error)\n"
        "print(rrule(operator.neg, 3)[1](1.0))"
    )
    done = python(code.format("override=True"))
    assert (done.stdout, done.stderr) == ("(None, 1.0)\n(None, 7.0)\n", "")
    done = python(code.format(""))
    first, last = done.stdout.splitlines()
    assert first.startswith("two rules for operator.index(Numeric): one from script, ")
    assert "RULESCORE_DISABLE=good switches the plugin of the second one off" in first
    assert "`register(override=True)` lets the rule set 'script' win" in first
    assert last == "(None, 7.0)"
    assert done.stderr.count("the rules of script and good clash") == 1


def test_rules_of_instances_are_overridden(new_ruleset):
    class Layer:
        def __call__(self, x):
            return x

    for name, override in (("first", False), ("second", True)):
        ruleset = new_ruleset(name)

        @ruleset.of_instances
        def _(layer: Layer, x: object, name=name):
            return name, None

        ruleset.register(override=override)
    assert answer(Layer(), 1.0) == "second"


@pytest.mark.parametrize("override", [True, "first"])
def test_a_rule_for_a_base_overrides_those_for_the_classes_below(new_ruleset, override):
    class Layer:
        def __call__(self, x):
            return x

    class Dense(Layer):
        pass

    first, second, third = map(new_ruleset, ("first", "second", "third"))

    @first.of_instances
    def _(layer: Dense, x: object):
        return "first", None

    @second.of_instances
    def _(layer: Layer, x: float):
        return "second", None

    @third.of_instances
    def _(layer: Layer, x: object):
        return "third", None

    first.register()
    third.register()
    assert answer(Dense(), 1.0) == "first"
    second.register(override=override)
    for _ in range(2):
        assert (answer(Dense(), 1.0), answer(Dense(), "text")) == ("second", "first")
    assert [(said, rule.plugin) for said, rule in why(Dense(), 1.0)] == [
        ("answers", "second"),
        ("overridden by second", "first"),
        ("overridden by second" if override is True else "lost", "third"),
    ]
    second.unregister()
    assert answer(Dense(), 1.0) == "first"


def test_three_that_override_each_other_in_a_circle_are_ambiguous(new_ruleset):
    sets = [new_ruleset(name) for name in "abc"]
    for ruleset in sets:
        ruleset.register()
    for ruleset, other in zip(sets, "bca", strict=True):
        ruleset.register(override=other)
    for ruleset in sets:
        returning(ruleset, named, object, ruleset.name)
    with pytest.raises(RuleError, match="two rules for"):
        answer(named, 1.0)


# -- code that is run again


CELL = """
rule = RuleSet("cell")
{}rule.scalar(named)(lambda x: {})
rule.register()
"""


@pytest.fixture
def run():
    """Run code in a module of its own, as a notebook does, and take its rule sets back."""
    module = types.ModuleType("notebook")
    module.__dict__.update(RuleSet=RuleSet, named=named, another=another, operator=operator)
    module.returning = returning
    made = []

    def run(source, filename="<cell>"):
        exec(compile(source, filename, "exec"), module.__dict__)
        made.append(module.__dict__.get("rule"))
        return made[-1]

    yield run
    for ruleset in made:
        ruleset.unregister()


def slope(f):
    found = rrule(f, 2.0)
    return None if found is None else found[1](1.0)[1]


def test_a_cell_that_is_run_again_replaces_its_rule_set(run):
    first = run(CELL.format("", "3.0"))
    first.constant(another)
    assert slope(named) == 3.0
    for factor in (4.0, 5.0):
        second = run(CELL.format("", factor))
        assert slope(named) == factor
        assert find_rule(another, 1.0) is None
    first.scalar(operator.neg)(lambda x: 9.0)  # it is in the table no more
    assert find_rule(operator.neg, 1.0).plugin == "rules_base"
    second.unregister()
    assert slope(named) is None


def test_an_edited_cell_replaces_the_rules_for_its_functions(run):
    head, tail = "rule = RuleSet('cell')\n", "\nrule.register()"
    run(head + "@rule(named)\ndef _(x: float): return 'old', None" + tail)
    run(head + "rule.constant(another)" + tail, "<another cell>")
    assert (answer(named, 1.0), find_rule(another, 1.0).plugin) == ("old", "cell")
    run("\n" + head + "@rule(named)\ndef _(x: object): return 'new', None" + tail)
    assert answer(named, 1.0) == "new"
    assert find_rule(another, 1.0).plugin == "cell"
    run("#\n\n" + head + "rule.register(); rule.constant(named)", "<third>")
    assert find_rule(named, 1.0).kind == "constant"


def test_a_cell_that_declares_on_a_set_of_another_cell_is_run_again(run):
    run("rule = RuleSet('cell'); rule.register()", "<first>")
    declare = "rule.scalar(named, another)(lambda x: {}); rule.constant(returning)"
    for factor, filename in ((3.0, "<second>"), (4.0, "<second>"), (5.0, "<edited>")):
        rule = run(declare.format(factor), filename)
        assert (slope(named), slope(another)) == (factor, factor)
        assert find_rule(returning, 1).plugin == "cell"
        assert len(rule.rules) == 3
    run("@rule(named)\ndef _(x: str): return 'text', None", "<third>")
    assert (answer(named, "a"), slope(named)) == ("text", 5.0)


def test_declarations_are_replaced_before_the_set_is_registered(run):
    run("rule = RuleSet('cell')", "<first>")
    for factor in (3.0, 4.0):
        run(f"rule.scalar(named)(lambda x: {factor})", "<second>")
    run("rule.register()")
    assert slope(named) == 4.0


@pytest.mark.parametrize("twice", ["for _ in 'ab': {}", "{0}; {0}", "{0}\n{0}"])
def test_one_piece_of_code_declares_a_rule_once(run, twice):
    run("rule = RuleSet('cell'); rule.register()")
    with pytest.raises(RuleError, match=r"two rules for .* remove one of them"):
        run(twice.format("rule.scalar(named)(lambda x: 3.0)"))
    assert slope(named) == 3.0


def test_an_edited_cell_may_make_the_set_that_another_cell_registers(run):
    make = "rule = RuleSet('cell')\nrule.scalar(named)(lambda x: {})"
    register = "rule.register()"
    run(make.format(3.0), "<make>")
    run(register, "<register>")
    run("\n" + make.format(4.0), "<edited>")
    gc.collect()
    run(register, "<register>")
    assert slope(named) == 4.0


def test_a_module_that_is_edited_and_reloaded_replaces_its_rule_set(run):
    first = run(CELL.format("rule.constant(another)\n", "3.0"), "module.py")
    assert find_rule(another, 1.0).plugin == "cell"
    run("\n" + CELL.format("", "4.0"), "module.py")
    assert (slope(named), find_rule(another, 1.0)) == (4.0, None)
    first.unregister()


@pytest.mark.parametrize("filename", ["<stdin>", "<string>"])
def test_what_is_typed_in_line_by_line_is_no_one_place(run, filename):
    for f, factor in (("named", 3.0), ("another", 4.0), ("named", 5.0)):
        for line in ("rule = RuleSet('typed')", f"rule.scalar({f})(lambda x: {factor})"):
            run(line, filename)
        run("rule.register()", filename)
    assert (slope(named), slope(another)) == (5.0, 4.0)


def test_a_cell_of_another_name_clashes(run):
    run(CELL.format("", "3.0"))
    with pytest.raises(RuleError, match="two rules for"):
        run(CELL.format("", "4.0").replace('"cell"', '"other"'))
    assert slope(named) == 3.0


def test_a_cell_that_clashes_leaves_what_it_would_have_replaced(run):
    run(CELL.format("", "3.0"))
    with pytest.raises(RuleError, match="two rules for"):
        run(CELL.format("rule.scalar(operator.neg)(lambda x: 9.0)\n", "4.0"))
    assert slope(named) == 3.0


FACTORY = """
def make(*functions, slope=1.0):
    rule = RuleSet("cell")
    for f in functions:
        rule.scalar(f)(lambda x: slope)
    rule.register()
    return rule
"""


def test_one_piece_of_code_may_make_several_sets_of_one_name(run):
    run(FACTORY + "rule = make(named, slope=2.0); other = make(another, slope=3.0)")
    assert (slope(named), slope(another)) == (2.0, 3.0)
    other = run("other.unregister(); rule = make(named, another, slope=4.0)", "<next>")
    assert (slope(named), slope(another)) == (4.0, 4.0)
    other.unregister()
    assert slope(named) is None


def test_two_sets_of_one_name_at_two_places_of_one_module_clash(run):
    with pytest.raises(RuleError, match="two rules for"):
        run(CELL.format("", 3.0) + CELL.format("", 4.0))
    assert slope(named) == 3.0
