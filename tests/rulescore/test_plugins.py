"""Rule plugins, as distributions on disk: found by entry point, tolerated when broken."""

from importlib.metadata import entry_points

import pytest

from rulescore._plugins.switches import is_disabled

GOOD = """
import operator
from rulescore import RuleSet, hookimpl
rule = RuleSet("{name}")
rule.scalar(operator.{function})(lambda x: {partial})
@hookimpl
def rulescore_rules():
    return [rule]
"""
OTHERS = ",".join(sorted({point.name for point in entry_points(group="rulescore")}))
LIST = f"""
from rulescore import plugins
for p in plugins():
    if p.name not in {OTHERS.split(",")}:
        print(p.name, p.distribution, p.version, len(p.rulesets), p.disabled, p.error is not None)
"""


def good(name, function="index", partial="7.0"):
    return GOOD.format(name=name, function=function, partial=partial)


BROKEN = {
    "a syntax error": ("def (", "SyntaxError: "),
    "an import error": ("import no_such_library", "ModuleNotFoundError: No module named 'no_such"),
    "an exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "no hook": ("x = 1", "RuleError: it implements no hook: define `rulescore_rules`"),
    "an unmarked hook": ("def rulescore_rules(): return []", "RuleError: it implements no hook"),
    "another hook": (
        "from rulescore import hookimpl\n@hookimpl\ndef rulescore_rule(): return []",
        "PluginValidationError: unknown hook 'rulescore_rule'",
    ),
    "a hook with arguments": (
        "from rulescore import hookimpl\n@hookimpl\ndef rulescore_rules(config): return []",
        "PluginValidationError: ",
    ),
    "a hook that fails": (
        "from rulescore import hookimpl\n@hookimpl\ndef rulescore_rules(): return 1 / 0",
        "ZeroDivisionError: division by zero",
    ),
    "a hook that returns nothing": (
        "from rulescore import hookimpl\n@hookimpl\ndef rulescore_rules(): pass",
        "RuleError: its hook returned NoneType: return a list of RuleSet",
    ),
    "a hook that returns no rule sets": (
        "from rulescore import hookimpl\n@hookimpl\ndef rulescore_rules(): return [3]",
        "RuleError: its hook returned int in its list: return RuleSets, or Sections",
    ),
    "an unfaithful rule": (
        "import math\nfrom rulescore import RuleSet\n"
        "@RuleSet('broken')(math.fsum)\ndef _(x: list[float]): pass",
        "RuleError: rule set broken, ",
    ),
}


def test_broken_plugins_are_named_by_one_warning_each_and_the_rest_works(install, python):
    for number, (text, _) in enumerate(BROKEN.values()):
        install(
            f"mod_{number}",
            text,
            distribution=f"Broken_{number}",
            version="0.9",
            point=f"b{number}",
        )
    install("good", good("good"))
    done = python(
        "import operator; from rulescore import rrule\n"
        "for _ in range(2): print(rrule(operator.index, 3)[1](1.0))\n" + LIST
    )
    first, second, *listed = done.stdout.splitlines()
    assert (first, second) == ("(None, 7.0)", "(None, 7.0)")
    assert sorted(listed) == sorted(
        [f"b{n} Broken_{n} 0.9 0 False True" for n in range(len(BROKEN))]
        + ["good good 1.2.3 1 False False"]
    )
    warned = [line for line in done.stderr.splitlines() if "UserWarning" in line]
    assert len(warned) == len(BROKEN)
    for number, (_, cause) in enumerate(BROKEN.values()):
        told = (
            f"the rule plugin 'b{number}' of Broken_{number} 0.9 could not be loaded, "
            f"and its rules are missing: {cause}"
        )
        assert sum(told in line for line in warned) == 1, told


@pytest.mark.parametrize("source", ["an import error", "a hook that fails"])
def test_strict_raises(install, python, source):
    text, cause = BROKEN[source]
    install("aaa_broken", text)
    install("good", good("good"))
    done = python(
        "import operator; from rulescore import rrule\n"
        "for _ in range(2):\n"
        "    try: print(rrule(operator.index, 3))\n"
        "    except Exception as error: print(type(error).__name__)\n",
        RULESCORE_STRICT="1",
    )
    assert done.stdout.split() == [cause.split(":")[0]] * 2
    assert done.stderr == ""


DISABLED = [
    ("first", "first", "dist", True),
    ("first", "second", "dist", False),
    ("dist-one", "first", "dist_one", True),
    ("Dist.One , nothing", "first", "dist_one", True),
    ("nothing,first", "first", "dist", True),
    ("*", "first", "dist", True),
    ("", "first", "dist", False),
]


@pytest.mark.parametrize(("setting", "name", "distribution", "expected"), DISABLED)
def test_names_of_what_is_switched_off(monkeypatch, setting, name, distribution, expected):
    monkeypatch.setenv("RULESCORE_DISABLE", setting)
    assert is_disabled(name, distribution) is expected


@pytest.mark.parametrize("disable", [f"first,{OTHERS}", "*"])
def test_a_plugin_that_is_switched_off_is_not_imported(install, python, disable):
    install("mod_one", good("first"), distribution="dist_one", point="first")
    install("mod_two", good("second"), distribution="dist_two", point="second")
    done = python(
        "import sys, operator; from rulescore import find_rule, plugins\n"
        "print([p.disabled for p in plugins() if p.name in ('first', 'second')])\n"
        "print('mod_one' in sys.modules, find_rule(operator.index, 3) is not None)\n",
        disable=disable,
    )
    second = disable == "*"
    assert done.stdout.splitlines() == [f"[True, {second}]", f"False {not second}"]


def test_a_clash_of_two_plugins_is_one_warning_and_calls_of_that_function_raise(
    install, python, tmp_path
):
    more = "rule.scalar(operator.neg, operator.pos)(lambda x: 1.0)\n"
    install("one", good("one") + more.replace("operator.neg, ", ""))
    install("two", good("two") + "@rule(operator.index)\ndef _(x: str): return 's', None\n" + more)
    code = (
        "import operator; from rulescore import rrule, generation\n"
        "for _ in range(2):\n"
        "    try: print(rrule(operator.index, 3))\n"
        "    except Exception as error: print(type(error).__name__, error)\n"
        "print(rrule(operator.neg, 3.0)[1](1.0), rrule(operator.index, 's')[0])"
    )
    done = python(code)
    first, second, last = done.stdout.splitlines()
    assert first == second
    assert first.startswith("RuleError two rules for operator.index(Numeric): ")
    assert f"one from one, {tmp_path}/one.py:5, one from two, {tmp_path}/two.py:5" in first
    assert "RULESCORE_DISABLE=one" in first
    assert "RULESCORE_DISABLE=two" in first
    assert "override=True" in first
    assert last == "(None, 1.0) s"
    warned = [line for line in done.stderr.splitlines() if "UserWarning" in line]
    assert len(warned) == 1
    assert "the rules of one and two clash, and calls of these functions raise" in warned[0]
    assert "; and for operator.pos(Numeric); choose one: RULESCORE_DISABLE=one" in warned[0]
    assert "neg" not in warned[0]
    strict = python(code.replace("range(2)", "range(1)"), RULESCORE_STRICT="1")
    assert strict.stdout.startswith("RuleError the rules of one and two clash")
    for other in ("one", "two"):
        code = "import operator, rulescore; print(rulescore.rrule(operator.index, 3)[1](1.0))"
        done = python(code, disable=f"{other},{OTHERS}")
        assert (done.stdout, done.stderr) == ("(None, 7.0)\n", "")


def test_a_rule_set_that_clashes_with_itself_is_a_broken_one(install, python):
    install("one", good("one") + "rule.scalar(operator.index)(lambda x: 7.0)\n")
    install("two", good("two", "neg", "-1.0"))
    done = python(
        "import operator; from rulescore import rrule\n"
        "print(rrule(operator.index, 3), rrule(operator.neg, 3.0)[1](1.0))\n" + LIST
    )
    first, *listed = done.stdout.splitlines()
    assert first == "None (None, -1.0)"
    assert listed == ["one one 1.2.3 0 False True", "two two 1.2.3 1 False False"]
    assert done.stderr.count("UserWarning: a rule set of the rule plugin 'one' of one 1.2.3") == 1


def test_plugins_load_at_the_first_look_up_and_not_at_import(install, python):
    install("good", "print('loaded')\n" + good("good"))
    done = python(
        "import operator, rulescore\nprint('imported')\n"
        "rulescore.rrule(operator.index, 3)\nrulescore.rrule(operator.index, 3)"
    )
    assert done.stdout.split() == ["imported", "loaded"]


def test_a_plugin_that_asks_for_a_rule_while_it_is_loaded(install, python):
    install(
        "asks",
        "import operator\nfrom rulescore import rrule, plugins\n"
        "print(rrule(operator.index, 3), plugins())\n" + good("asks"),
    )
    done = python(
        "import operator; from rulescore import rrule; print(rrule(operator.index, 3)[1](1.0))"
    )
    assert done.stdout.splitlines() == ["None ()", "(None, 7.0)"]


def test_two_entry_points_of_one_name_and_a_plugin_that_is_an_object(install, python, tmp_path):
    install("one", good("one"), point="same")
    install(
        "two",
        good("two", "neg", "-1.0").replace(
            "@hookimpl\ndef rulescore_rules():\n    return [rule]",
            "class Plugin:\n    @hookimpl\n    def rulescore_rules(self):\n        return (rule,)\n"
            "plugin = Plugin()",
        ),
        point="same",
    )
    (tmp_path / "two-1.2.3.dist-info" / "entry_points.txt").write_text(
        "[rulescore]\nsame = two:plugin\n"
    )
    done = python(LIST)
    assert done.stdout.splitlines() == [
        "same one 1.2.3 1 False False",
        "same two 1.2.3 1 False False",
    ]
    assert done.stderr == ""


def test_a_script_that_clashes_with_a_plugin_is_refused(install, python):
    install("good", good("good"))
    done = python(
        "import operator; from rulescore import RuleSet, RuleError, rrule\n"
        "rrule(operator.index, 3)\n"
        "rule = RuleSet('script'); rule.scalar(operator.index)(lambda x: 1.0)\n"
        "try: rule.register()\n"
        "except RuleError as error: print('good' in str(error), 'script' in str(error))\n"
        "print(rrule(operator.index, 3)[1](1.0))"
    )
    assert done.stdout.splitlines() == ["True True", "(None, 7.0)"]


def test_an_unknown_name_that_is_to_be_switched_off_is_warned_of(install, python):
    install("good", good("good"))
    code = "from rulescore import plugins; print([p.name for p in plugins() if not p.disabled])"
    done = python(code, disable=f"{OTHERS},goood, *x")
    assert done.stdout == "['good']\n"
    assert done.stderr.count("UserWarning") == 1
    assert "names no installed rule plugin by goood, *x; installed are: good" in done.stderr
    assert python(code, disable=f"{OTHERS},Good,").stderr == ""
    assert python(code, disable="*").stderr == ""


def test_the_advice_on_a_clash_names_the_entry_point_of_the_second(install, python):
    install("one", good("rules_one"), point="first")
    install("two", good("rules_two"), point="second")
    done = python("import rulescore; rulescore.plugins()")
    assert "RULESCORE_DISABLE=second switches the plugin of the second one off" in done.stderr
