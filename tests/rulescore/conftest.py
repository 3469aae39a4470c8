"""What the tests of rulescore share: a rule set that goes when the test ends, plugins on disk."""

import os
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points

import pytest

from rulescore import RuleSet

OTHERS = ",".join(sorted({point.name for point in entry_points(group="rulescore")}))


@pytest.fixture
def new_ruleset():
    """Make rule sets that are taken back when the test ends."""
    made = []

    def make(name="mine"):
        made.append(RuleSet(name))
        return made[-1]

    yield make
    for ruleset in made:
        ruleset.unregister()


@pytest.fixture
def rule(new_ruleset):
    """Give a registered rule set, which is taken back when the test ends."""
    ruleset = new_ruleset()
    ruleset.register()
    return ruleset


@pytest.fixture
def install(tmp_path):
    """Write a distribution that has an entry point in the group `rulescore`, as pip would."""

    def write(module, source, *, distribution=None, version="1.2.3", point=None):
        distribution = distribution or module
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source))
        info = tmp_path / f"{distribution}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(f"[rulescore]\n{point or module} = {module}\n")

    return write


@pytest.fixture
def python(tmp_path):
    """Run Python code in a process of its own, with `tmp_path` on its path."""

    def run(source, *arguments, disable=OTHERS, **environment):
        settings = {
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "RULESCORE_DISABLE": disable,
            "PYTHONWARNINGS": "default",
            **environment,
        }
        settings.pop("RULESCORE_STRICT", None)
        settings.update(environment)
        given = ["-c", textwrap.dedent(source)] if source else []
        return subprocess.run(
            [sys.executable, *given, *arguments],
            capture_output=True,
            text=True,
            env=settings,
            cwd=tmp_path,
            timeout=60,
        )

    return run
