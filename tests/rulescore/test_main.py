"""The command `python -m rulescore`: list, why and check, on plugins of its own."""

import functools
import importlib
import io
import math
import sys
import textwrap

import numpy as np
import pytest

from rulescore import RuleError, RuleSet, Section, find_rule, why
from rulescore.__main__ import main
from rulescore._command import examples, lookup, survey
from rulescore._naming import name_of
from rulescore._plugins.plugin import Plugin
from rulescore._table import changes

PLUGIN = """
import math, operator
from rulescore import RuleSet, hookimpl
rule = RuleSet("rules_demo")
rule.scalar(math.cbrt)(lambda x, out: 1 / (3 * out**2))
@rule(math.cbrt)
def _(x: str):
    return 0.0, None
rule.scalar(math.exp2)(lambda x, out: {partial})
rule.constant(math.factorial)
rule.example(math.cbrt, 0.7)
rule.example(math.exp2, 0.7)
@hookimpl
def rulescore_rules():
    return [rule]
"""


@pytest.fixture
def command(install, python):
    """Run the command with one plugin installed besides those that are switched off."""

    def run(*arguments, partial="out * math.log(2)"):
        install("rules_demo", PLUGIN.format(partial=partial))
        return python(None, "-m", "rulescore", *arguments)

    return run


def rows(done):
    return [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in done.stdout.splitlines()
        if line.startswith("│")
    ]


def test_list_shows_the_rules_by_plugin(command, tmp_path):
    done = command("list")
    place = tmp_path / "rules_demo.py"
    assert rows(done) == [
        ["math.cbrt(Numeric)", "scalar", f"{place}:5"],
        ["math.cbrt(str)", "general", f"{place}:6"],
        ["math.exp2(Numeric)", "scalar", f"{place}:9"],
        ["math.factorial(*Any)", "constant", f"{place}:10"],
    ]
    assert "rules_demo 1.2.3: 4 rules" in done.stdout
    assert "rules_base (switched off)" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_without_rich_it_prints_plain_lines(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)  # as where it is not installed
    assert main(["why", "math.sin", "float"]) == 0
    title, heads, answers = capsys.readouterr().out.splitlines()
    assert (title, heads) == ("math.sin(float)", "  rule  kind  plugin  place")
    assert answers.startswith("answers  math.sin(Numeric)  scalar  rules_base  ")
    with examples.shown_progress() as progress_of:
        assert progress_of(None)(math.sin) is None


def test_why_shows_the_rule_that_answers_and_those_that_lost(command, tmp_path):
    done = command("why", "math.cbrt", "str")
    place = tmp_path / "rules_demo.py"
    assert rows(done) == [
        ["answers", "math.cbrt(str)", "general", "rules_demo", f"{place}:6"],
        ["lost", "math.cbrt(Numeric)", "scalar", "rules_demo", f"{place}:5"],
    ]
    assert done.returncode == 0


def test_check_runs_the_examples_and_lists_the_gaps(command):
    done = command("check", "rules_demo")
    assert rows(done) == [["rules_demo", "2", "0", "1", "1"]]
    assert "no example: math.cbrt(str) (rules_demo, " in done.stdout
    assert done.returncode == 0


def test_check_tells_what_failed_and_exits_with_1(command):
    done = command("check", partial="out")
    failed = [line for line in done.stdout.splitlines() if line.startswith("failed:")]
    assert len(failed) == 1
    assert failed[0].startswith("failed: exp2(0.7): math.exp2(Numeric) (rules_demo, ")
    assert "argument 1: along a random direction" in failed[0]
    assert ["rules_demo", "2", "1", "1", "1"] in rows(done)
    assert done.returncode == 1


def test_what_does_not_exist_is_an_error(capsys):
    assert main(["why", "numpy.no_such_function", "float"]) == 2
    assert main(["why", "len", "no_such_type"]) == 2
    assert main(["why", "len", "len"]) == 2
    assert main(["check", "no_such_plugin"]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert errors[0] == "there is nothing named numpy.no_such_function"
    assert errors[1] == "there is nothing named no_such_type"
    assert errors[2] == "len is not a type"
    assert errors[3].startswith("no rule plugin named no_such_plugin is installed")


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        ("numpy.sinn", "float", "did you mean numpy.sin or numpy.sin"),
        ("cbrt", "float", "did you mean math.cbrt"),
        ("math.cbrt", "floot", "there is nothing named floot; did you mean float?"),
        ("numpy.linalg", "float", "numpy.linalg is no function, but a module"),
        ("numpy.pi", "float", "numpy.pi is no function, but a float"),
    ],
)
def test_errors_say_what_may_be_meant(capsys, monkeypatch, function, kind, message):
    rule = RuleSet("mine")
    rule.constant(np.sin, np.sinh, np.sinc)
    rule.scalar(math.cbrt)(lambda x, out: 1 / (3 * out**2))
    monkeypatch.setattr(survey, "plugins", lambda **_: (Plugin("mine", "mine", "1", (rule,)),))
    assert main(["why", function, kind]) == 2
    assert message in capsys.readouterr().err


def test_methods_of_ufuncs_have_the_names_of_their_ufuncs():
    assert name_of(np.add.reduce) == "numpy.add.reduce"
    assert name_of(np.ufunc.reduce) == "numpy.ufunc.reduce"


def test_a_broken_plugin_fails_the_check(install, python):
    install("rules_broken", "import no_such_module_at_all")
    done = python(None, "-m", "rulescore", "check")
    assert "failed: rules_broken: the plugin is broken" in done.stdout
    assert done.returncode == 1


def test_examples_that_cannot_be_imported_fail_the_check(monkeypatch, capsys):
    rule = RuleSet("mine", examples="no_such_module_of_examples")
    rule.scalar(math.cbrt)(lambda x, out: 1 / (3 * out**2))
    monkeypatch.setattr(
        "rulescore.__main__.plugins", lambda **_: (Plugin("mine", "mine", "1", (rule,)),)
    )
    assert main(["check"]) == 1
    shown = capsys.readouterr().out
    assert "failed: mine: its examples cannot be imported: ModuleNotFoundError" in shown
    assert "no example: math.cbrt(Numeric)" in shown


def test_check_says_what_waits_for_a_library_that_is_not_installed(monkeypatch, capsys):
    waiting = Plugin("mine", "mine", "1", waiting=(Section("no_such_host", "mine.calls"),))
    monkeypatch.setattr("rulescore.__main__.plugins", lambda **_: (waiting,))
    assert main(["check"]) == 0
    told = "not checked: mine 1, without those for no_such_host, not installed\n"
    assert told in capsys.readouterr().out


def test_a_call_without_a_rule_exits_with_1(capsys):
    assert main(["why", "help", "float", "request="]) == 1
    assert capsys.readouterr().out == "no rule answers help(float, request=)\n"


NAMES = [
    ("len", len),
    ("numpy.linalg.inv", np.linalg.inv),
    ("numpy.ndarray.sum", np.ndarray.sum),
    ("numpy.ndarray.T", np.ndarray.T),
    ("float.fromhex", vars(float)["fromhex"]),
    ("numpy.polynomial.polynomial.polyval", np.polynomial.polynomial.polyval),
]


@pytest.mark.parametrize(("name", "value"), NAMES, ids=[n for n, _ in NAMES])
def test_names(name, value):
    assert lookup.named(name) is value


SAMPLES = [("float", float), ("float32", np.float32), ("numpy.float32", np.float32)]
SAMPLES += [("ndarray", np.ndarray), ("None", type(None)), ("list", list), ("bool", bool)]
SAMPLES += [("fractions.Fraction", __import__("fractions").Fraction)]


@pytest.mark.parametrize(("name", "kind"), SAMPLES, ids=[n for n, _ in SAMPLES])
def test_samples(name, kind):
    assert type(lookup.sample(name)) is kind


def test_missing_are_those_without_rule_constant_and_source(new_ruleset):
    before = survey.missing("numpy")
    assert "numpy.copyto" in before or "numpy.frompyfunc" in before
    assert "numpy.median" not in before
    assert "numpy.test" not in before
    names = list(before)
    one = names[0]
    rule = new_ruleset("for_missing")
    rule.constant(lookup.named(one))
    rule.register()
    assert list(survey.missing("numpy")) == names[1:]


def test_list_missing_prints_them_and_their_number(capsys):
    reasons = survey.missing("numpy")
    bare = [name for name, reason in reasons.items() if not reason]
    assert main(["list", "--missing", "numpy"]) == bool(bare)
    shown = capsys.readouterr().out.splitlines()
    listed, (last, *ending) = shown[: len(reasons)], shown[len(reasons) :]
    assert listed == [f"{name}: {reason}" if reason else name for name, reason in reasons.items()]
    assert last == (
        f"{len(reasons)} functions of numpy without a rule or Python source, {len(bare)} of them "
        "without a reason"
    )
    ends = survey.ending("numpy")
    assert ends["numpy.load"] == ["numpy.frombuffer", "numpy.fromfile"]
    why = {name: f"; {reason}" for name, reason in survey.reasons().items()}
    assert any(name in why for name in ends)
    assert ending == [
        *(
            f"{name}: its source calls {', '.join(c)}{why.get(name, '')}"
            for name, c in ends.items()
        ),
        f"{len(ends)} functions of numpy with Python source that calls compiled code "
        "without a rule",
    ]


def test_a_missing_function_comes_with_the_reason_that_a_plugin_gives(monkeypatch):
    rule = RuleSet("mine")
    rule.without_rule("nobody knows", "numpy.frompyfunc")
    monkeypatch.setattr(survey, "plugins", lambda **_: (Plugin("mine", "mine", "1", (rule,)),))
    reasons = survey.missing("numpy")
    assert reasons["numpy.frompyfunc"] == "nobody knows"
    assert reasons["numpy.nested_iters"] == ""


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_check_shows_its_progress_on_a_terminal_alone(monkeypatch, capsys, stream):
    rule = RuleSet("mine")
    rule.scalar(math.cbrt)(lambda x, out: 1 / (3 * out**2))
    rule.example(math.cbrt, 0.7)
    rule.example(math.cbrt, 1.7)
    monkeypatch.setattr(
        "rulescore.__main__.plugins", lambda **_: (Plugin("mine", "mine", "1", (rule,)),)
    )
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", stream())
    assert main(["check"]) == 1  # there is no rule: the set is not registered
    shown = sys.stderr.getvalue()
    if stream is Terminal:
        assert "math.cbrt" in shown
        assert "2/2" in shown
    else:
        assert shown == ""
    assert "2/2" not in capsys.readouterr().out


def test_an_example_that_raises_is_a_failure():
    rule = RuleSet("mine")
    rule.example(len)
    report = examples.run_examples(Plugin("mine", "mine", "1", (rule,)))
    assert [call for call, _ in report.failures] == ["len()"]


LIBRARY = """
import functools
import math
import numpy as np
from numpy.char import compare_chararrays

def direct(x):
    return [compare_chararrays(x, 2) for _ in range(1)]

def through(x):
    return through(direct(x)) + len(sorted([x]))

def dotted(x, direct=None):
    direct(x)
    return np.char.compare_chararrays(x, 2)

def hidden(compare_chararrays):
    return compare_chararrays(1)

def fine(x):
    return np.sin(x) + math.cos(x)

def outer(g):
    @functools.wraps(g)
    def inner(x):
        return g(x)
    return inner

wrapped = outer(direct)
closed = outer(compare_chararrays)
del closed.__wrapped__

class Layer:
    slope = 2.0
    @property
    def computed(self):
        return compare_chararrays(1, 2)
    def method(self, x):
        return direct(x)
    @classmethod
    def make(cls, x):
        return x
    @staticmethod
    def plain(x):
        return x
    def __call__(self, x):
        return x

class WithArguments(Layer):
    def __init__(self, slope):
        self.slope = slope

layer = Layer()
"""
COMPILED = ["numpy.char.compare_chararrays"]


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Give a module of Python source, `mylib`, and a registered rule set."""
    (tmp_path / "mylib.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("mylib")
    del sys.modules["mylib"]


def test_functions_whose_source_ends_in_compiled_code_are_counted(library, capsys, rule):
    ends = dict.fromkeys(["closed", "direct", "dotted", "through", "wrapped"], COMPILED)
    assert survey.ending("mylib") == {f"mylib.{name}": c for name, c in ends.items()}
    ends = dict.fromkeys(["computed", "method"], COMPILED)
    assert survey.ending("mylib.Layer") == {f"mylib.Layer.{name}": c for name, c in ends.items()}
    assert main(["list", "--missing", "mylib"]) == 1  # it imports that function itself
    told = capsys.readouterr().out.splitlines()
    assert "mylib.through: its source calls numpy.char.compare_chararrays" in told
    assert told[-1] == (
        "5 functions of mylib with Python source that calls compiled code without a rule"
    )
    rule.constant(library.compare_chararrays)
    assert survey.ending("mylib") == {}


def test_why_shows_the_docstring_of_the_rule_that_answers(library, capsys, rule):
    @rule(library.Layer.plain)
    def _(x: float):
        """Hold the steps fixed."""
        return 1.0, None

    @rule(library.Layer.make)
    def _(x: float):
        return 1.0, None

    assert main(["why", "mylib.Layer.plain", "float"]) == 0
    assert capsys.readouterr().out.endswith("\nHold the steps fixed.\n")
    assert main(["why", "mylib.Layer.make", "float"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("┘")


def test_why_answers_for_methods_attributes_and_callable_objects(library, capsys, rule):
    rule(library.Layer.computed)(lambda layer: (1.0, None))
    rule(library.Layer.method)(lambda layer, x: (1.0, None))
    rule(library.Layer.make)(lambda x: (1.0, None))
    rule(library.Layer.plain)(lambda x: (1.0, None))

    @rule.of_instances
    def _(layer: library.Layer, x: float):
        return 1.0, None

    calls = [
        ("computed", "mylib.Layer.computed", "mylib.Layer"),
        ("method", "mylib.Layer.method", "mylib.Layer", "float"),
        ("make", "mylib.Layer.make", "float"),
        ("plain", "mylib.Layer.plain", "float"),
        ("Layer", "mylib.layer", "float"),
        ("Layer", "mylib.Layer", "float"),
        ("Layer", "mylib.WithArguments", "float"),
        ("Layer", "mylib.Layer.__call__", "mylib.Layer", "float"),
        ("T", "ndarray.T", "ndarray"),
        ("sum", "ndarray.sum", "ndarray"),
        ("normal", "numpy.random.normal", "float"),
    ]
    for name, *given in calls:
        assert main(["why", *given]) == 0, given
        answers = next(line for line in capsys.readouterr().out.splitlines() if "answers" in line)
        assert f"{name}(" in answers.split("│")[2], given
    assert main(["why", "mylib.layer", "str"]) == 1
    assert "no rule answers mylib.layer(str)" in capsys.readouterr().out
    assert main(["why", "mylib.direct", "float"]) == 1
    assert capsys.readouterr().out.endswith(": an AD differentiates its source\n")
    assert main(["why", "mylib.Layer.slope", "mylib.Layer"]) == 2


def test_methods_of_objects_that_nobody_sees_have_the_names_of_functions():
    import random

    assert name_of(np.random.normal) == "numpy.random.normal"
    assert name_of(random.gauss) == "random.gauss"
    assert name_of(random.Random(1).gauss) == "random.Random.gauss"


def test_why_shows_who_won_over_whom(capsys, new_ruleset):
    ruleset = new_ruleset("mine")
    ruleset.scalar(math.sin)(lambda x: 5.0)

    @ruleset(math.sin)
    def _(x: str):
        return 1.0, None

    ruleset.register(override=True)
    assert [(said, rule.plugin) for said, rule in why(math.sin, 1.0)] == [
        ("answers", "mine"),
        ("overridden by mine", "rules_base"),
        ("lost", "mine"),
    ]
    assert main(["why", "math.sin", "float"]) == 0
    shown = capsys.readouterr().out
    assert "│ overridden by mine │ math.sin(Numeric)" in shown
    assert [said for said, _ in why(math.sin, "s")] == ["answers", "lost", "lost"]
    assert why(math.sin, 1.0)[0][1] is find_rule(math.sin, 1.0)
    assert why(test_names, 1.0) == []


def test_why_answers_for_a_bound_method_of_a_compiled_class(capsys, monkeypatch):
    x = np.ones(2)
    known = why(np.ndarray.sum, x)
    assert known[0][0] == "answers"
    assert why(x.sum) == known
    assert why(x.sum, axis=0) == why(np.ndarray.sum, x, axis=0)
    assert why(x.__add__, x) == why(np.ndarray.__add__, x, x)
    assert why(dict.fromkeys, "ab") == []
    monkeypatch.setattr(textwrap, "total", x.sum, raising=False)
    assert main(["why", "textwrap.total"]) == 0
    assert "│ answers │ numpy.ndarray.sum(" in capsys.readouterr().out


def test_why_answers_for_what_is_behind_partials_and_bound_methods(library, rule):
    rule(library.Layer.method)(lambda layer, x: (1.0, None))
    x, layer = np.ones(2), library.Layer()
    known = why(np.sum, x, axis=0)
    assert known[0][0] == "answers"
    assert why(functools.partial(np.sum, axis=0), x) == known
    assert why(functools.partial(functools.partial(np.sum, x), axis=1), axis=0) == known
    known = why(library.Layer.method, layer, 1.0)
    assert [said for said, _ in known] == ["answers"]
    assert why(layer.method, 1.0) == why(functools.partial(layer.method), 1.0) == known
    rule(layer.method)(lambda x: (2.0, None))  # of this object
    assert why(layer.method, 1.0)[0][1].varargs is None
    assert why(layer.method, 1.0) != known


@pytest.mark.parametrize(
    ("call", "status", "told"),
    [
        ("functools.partial object", 1, "no rule answers functools.partial(object)\n"),
        ("numpy.sum ndarray misspelt=", 1, "misspelt=): no rule takes the options misspelt\n"),
        ("numpy.random.Generator.normal Generator float", 0, "│ answers │"),
        (".sum float", 2, "'.sum' is not a name\n"),
        ("numpy..sum float", 2, "'numpy..sum' is not a name\n"),
        ("numpy.random.Generator.normal Generatr", 2, "there is nothing named Generatr\n"),
    ],
)
def test_why_of_what_has_no_rule_or_no_such_name(capsys, call, status, told):
    assert main(["why", *call.split()]) == status
    shown = capsys.readouterr()
    assert told in shown.out + shown.err


def test_why_shows_a_clash(capsys, new_ruleset):
    first, second = new_ruleset("first"), new_ruleset("second")
    for ruleset in (first, second):
        ruleset.scalar(textwrap.dedent)(lambda x: 5.0)

        @ruleset(textwrap.dedent)
        def _(x: str, y: str = ruleset.name):
            return 1.0, None

        changes.register(ruleset, ruleset.name)
    with pytest.raises(RuleError):
        find_rule(textwrap.dedent, 1.0)
    assert [(said, rule.plugin, rule.kind) for said, rule in why(textwrap.dedent, 1.0)] == [
        ("clashes", "first", "scalar"),
        ("lost", "first", "general"),
        ("clashes", "second", "scalar"),
        ("lost", "second", "general"),
    ]
    assert main(["why", "textwrap.dedent", "float"]) == 1
    shown = capsys.readouterr().out
    assert shown.count("│ clashes │") == 2
    assert "no rule answers textwrap.dedent(float): two rules for textwrap.dedent(Numeric)" in shown


def test_a_function_that_takes_functions_is_answered_for(rule):
    def of_functions(f):
        return f()

    @rule(of_functions)
    def _(f: object, *, ad):
        return ad(f)

    assert [said for said, _ in why(of_functions, len)] == ["answers"]
