"""The README is exact: every output that it shows comes out, and its plugin is one."""

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "rulescore" / "README.md"

RUN = """
import pathlib, sys
text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, "README", None, 0)
runner = doctest.DocTestRunner(checker=Checker(), optionflags=doctest.ELLIPSIS)
result = runner.run(test)
print(result.attempted, result.failed)
"""
CHECKER = """
import doctest, re
class Checker(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        # a doctest has a file name of its own for each example
        got = re.sub("<doctest README[^>]*>", "<README>", got)
        return super().check_output(want, got, optionflags)
"""


def test_every_output_comes_out(python):
    done = python(CHECKER + RUN, str(README), disable="*")
    assert done.stderr == ""
    attempted, failed = map(int, done.stdout.split()[-2:])
    assert failed == 0, done.stdout
    assert attempted == README.read_text(encoding="utf-8").count(">>> ")


def test_the_plugin_is_found(install, python):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    source, with_sections = [block for block in blocks if "hookimpl" in block]
    install("rules_mine", source)
    done = python(
        "from rulescore import plugins\n"
        "print([p.rulesets for p in plugins() if p.name == 'rules_mine'])"
    )
    assert (done.stdout, done.stderr) == ("[(RuleSet('rules_mine', 0 rules),)]\n", "")
    install("sections", with_sections)
    done = python("from rulescore import plugins\nprint([p.waiting for p in plugins()][-1][0])")
    waiting = "Section(libraries='scipy.special', rules='rules_mine.special')"
    assert (done.stdout, done.stderr) == (f"{waiting}\n", "")


def test_the_entry_point_is_that_of_the_other_plugins():
    text = README.read_text(encoding="utf-8")
    (toml,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    theirs = (README.parents[1] / "rules_base" / "pyproject.toml").read_text(encoding="utf-8")
    assert toml.replace("rules_mine", "rules_base") in theirs


def test_the_commands_exist(python):
    commands = re.findall(r"\| `python -m rulescore (\w+)", README.read_text(encoding="utf-8"))
    assert set(commands) == {"list", "why", "check", "error"}
    done = python(None, "-m", "rulescore", "--help")
    assert all(command in done.stdout for command in commands)
