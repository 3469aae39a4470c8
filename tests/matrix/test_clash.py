"""Two plugins with a rule for one function: that one raises until somebody chooses.

It runs where `rules_clashing` is installed: `nox -s clash` does.
"""

import math
import os
import subprocess
import sys

import pytest

from rulescore import RuleError, RuleSet, plugins, rrule
from zygote_lite import gradient

if "rules_clashing" not in {p.name for p in plugins()}:
    pytest.skip("rules_clashing is not installed: `nox -s clash` does", allow_module_level=True)

from rules_clashing import doubled


def f(x):
    return math.cbrt(x)


def g(x):
    return math.cos(x) * doubled(x)


def test_calls_of_the_function_raise_with_both_names_and_the_way_to_choose():
    for ask in (lambda: rrule(math.cbrt, 8.0), lambda: gradient(f, 8.0)):
        for _ in range(4):
            with pytest.raises(RuleError, match=r"two rules for math\.cbrt\(Numeric\)") as caught:
                ask()
            for said in ("rules_base", "rules_clashing", "override=True"):
                assert said in str(caught.value)


def test_every_other_rule_answers(answer):
    rules = [rule for p in plugins() for ruleset in p.rulesets for rule in ruleset.rules]
    others = [rule for rule in rules if rule.function is not math.cbrt]
    clashing = [rule for rule in rules if rule.function is math.cbrt and rule.kind != "batched"]
    assert [rule.plugin for rule in clashing] == ["rules_base", "rules_clashing"]
    assert [rule for rule in others if answer(rule) is None] == []
    slope = 2 * math.cos(0.6) - 1.2 * math.sin(0.6)
    assert [gradient(g, 0.6)[0] for _ in range(4)] == pytest.approx([slope] * 4)


def test_the_program_chooses():
    mine = RuleSet("mine")
    mine.scalar(math.cbrt)(lambda x, out: 1 / (3 * out * out))
    mine.register(override=True)
    try:
        assert [gradient(f, 8.0)[0] for _ in range(4)] == pytest.approx([1 / 12] * 4)
    finally:
        mine.unregister()
    with pytest.raises(RuleError, match="two rules"):
        gradient(f, 8.0)


ASK = "import math; from rulescore import plugins, rrule; plugins()"


@pytest.mark.parametrize("off", ["rules_clashing", "rules_base"])
def test_the_environment_chooses(off):
    done = run(ASK + "; print(rrule(math.cbrt, 8.0)[1](12.0))", RULESCORE_DISABLE=off)
    assert (done.stdout, done.stderr) == ("(None, 1.0)\n", "")


def test_one_warning_names_both():
    done = run(ASK, RULESCORE_DISABLE="")
    warned = [line for line in done.stderr.splitlines() if "UserWarning" in line]
    assert len(warned) == 1
    assert "the rules of rules_base and rules_clashing clash" in warned[0]


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
    )
