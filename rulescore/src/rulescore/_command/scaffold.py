"""`python -m rulescore new rules_mylib --for mylib`: a distribution of rules, whose tests pass."""

import importlib.metadata
import importlib.util
import keyword
import re
import sys
import tempfile
from pathlib import Path

_PINS = "rulescore>=0.1,<0.2"


def write_plugin(name: str, library: str, folder: Path) -> list[Path]:
    """Write a distribution of rules for a library; return its files.

    Arguments:
        name: that of the distribution, and of its module.
        library: the name of the library's module. The first rule is for a function `half` of the
            new module itself, and shows where those of the library go.
        folder: where the folder of the distribution is made.

    Raises `LookupError` for a name that no module can have, or another one has, and where the
    folder exists or cannot be written: then nothing is.
    """
    for word in (name, *library.split(".")):
        if not word.isidentifier() or keyword.iskeyword(word):
            raise LookupError(
                f"{word!r} can be no module: give the name that is imported, of letters, digits "
                "and underscores"
            )
    if re.fullmatch("[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?", name) is None:
        raise LookupError(
            f"{name!r} can be no distribution: its name begins with a letter, ends with a letter "
            "or a digit, and has none beyond ASCII"
        )
    if is_there(name) or name == library.partition(".")[0]:
        raise LookupError(f"there is a module {name} already: choose another name")
    root = folder / name
    if root.exists():
        raise LookupError(f"{root} exists already: choose another name, or remove it")
    paths = {path.replace("NAME", name): text for path, text in _FILES.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            for path, text in paths.items():
                target = Path(unfinished, name, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(_filled(text, name, library), encoding="utf-8")
            Path(unfinished, name).rename(root)
    except OSError as error:
        raise LookupError(f"{root} cannot be written: {error}") from error
    return [root / path for path in paths]


def is_there(name: str) -> bool:
    """Return whether a module is installed; an empty folder of its name is none."""
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    return name in sys.modules or (spec is not None and spec.origin is not None)


def _filled(text: str, name: str, library: str) -> str:
    package = library.partition(".")[0]
    needed, note = [_PINS, "numpy>=2.0"], ""
    if package not in {"numpy", "rulescore"} | sys.stdlib_module_names:
        found = _requirement(package)
        needed += [found] if found else []
        note = "" if found else f"  # and {package}, where it is on PyPI"
    listed = ", ".join(f'"{requirement}"' for requirement in needed)
    words = {"NAME": name, "LIBRARY": library, "DEPENDENCIES": f"[{listed}]{note}"}
    return re.sub("@([A-Z]+)@", lambda found: words[found[1]], text)


def _requirement(package: str) -> str | None:
    """Return what brings a module, from its installed version on; None if that is not known."""
    owners = {*importlib.metadata.packages_distributions().get(package, ())}
    if len(owners) != 1:
        return None
    (owner,) = owners
    major, *minor = importlib.metadata.version(owner).split(".")
    return f"{owner}>={'.'.join([major, *minor[:1]])}"


_FILES = {
    "pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "@NAME@"
version = "0.1.0"
description = "Derivative rules for @LIBRARY@"
readme = "README.md"
requires-python = ">=3.11"
dependencies = @DEPENDENCIES@

[project.optional-dependencies]
tests = ["pytest>=8"]

[project.entry-points.rulescore]
@NAME@ = "@NAME@"

[tool.hatch.build.targets.wheel]
packages = ["src/@NAME@"]
""",
    "README.md": """\
# @NAME@

Derivative rules for @LIBRARY@, by [rulescore](https://pypi.org/project/rulescore/). An automatic
differentiation that asks rulescore for rules uses them once this is installed:

    pip install .

The rules are in `src/@NAME@/_rules.py`. Each has an example, which the tests check against
differences of the function:

    pip install -e ".[tests]"
    pytest
    python -m rulescore check @NAME@
""",
    "src/NAME/__init__.py": '''\
"""Derivative rules for @LIBRARY@."""

from rulescore import RuleSet, Section, hookimpl

__version__ = "0.1.0"


@hookimpl
def rulescore_rules() -> list[RuleSet | Section]:
    """Return the rules. They are imported when @LIBRARY@ has been, and never before.

    Replace `@NAME@._functions` by `@LIBRARY@` when the first rule is for a function of it.
    """
    return [Section("@NAME@._functions", "@NAME@._rules")]
''',
    "src/NAME/_functions.py": '''\
"""A function that stands for those of @LIBRARY@, until there is a rule for one."""


def half(x: float) -> float:
    """Return half of a number."""
    return x / 2
''',
    "src/NAME/_rules.py": '''\
"""Rules for @LIBRARY@: replace the first by those of its functions."""

import numpy as np
from rulescore import RuleSet

from @NAME@._functions import half

rule = RuleSet("@NAME@")


@rule(half)
def _(x: float | np.ndarray):
    def pullback(dy):
        return (dy / 2,)

    return half(x), pullback


rule.example(half, 3.0)
rule.example(half, np.array([1.0, -2.0]))
''',
    "src/NAME/py.typed": "",
    "tests/test_rules.py": '''\
"""Every rule has an example, and agrees with differences of its function."""

import pytest
from rulescore import plugins
from rulescore.__main__ import main
from rulescore.testing import check_rrule

# all sections: the library is imported, too
FOUND = [p for p in plugins(all_sections=True) if p.name == "@NAME@"]
assert FOUND, 'rules are found once they are installed: pip install -e ".[tests]"'
EXAMPLES = [example for ruleset in FOUND[0].rulesets for example in ruleset.examples]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_the_rule_agrees_with_differences(f, xs, options):
    assert check_rrule(f, *xs, **options).plugin == "@NAME@"


def test_every_rule_has_an_example(capsys):
    assert main(["check", "@NAME@"]) == 0
    assert "no example" not in capsys.readouterr().out
''',
    "noxfile.py": '''\
"""`nox` builds the wheel, tests it, and sees that without it there are no rules."""

import nox


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session):
    """Install the distribution as a wheel, run its tests, and see its rules go with it."""
    session.install(".[tests]", "pip")
    session.run("pytest", "tests")
    session.run("python", "-m", "rulescore", "check", "@NAME@")
    session.run("python", "-m", "pip", "uninstall", "-qy", "@NAME@")
    session.run("python", "-m", "rulescore", "check", "@NAME@", success_codes=[2])
''',
    ".github/workflows/tests.yml": """\
name: tests
on: [push, pull_request]

permissions:
  contents: read

jobs:
  tests:
    strategy:
      fail-fast: false
      matrix:
        os: [ubuntu-latest, macos-latest, windows-latest]
        python: ["3.11", "3.12", "3.13", "3.14"]
    runs-on: ${{ matrix.os }}
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python }}
      - run: pip install ".[tests]"
      - run: pytest tests
      - run: python -m rulescore check @NAME@
""",
}
