"""The tree: every module of rules is collected, and has a file of examples in the same place."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import rules_base
from rules_base import MODULES
from rulescore._naming import name_of
from tests.rules_base import contents

ROOT = Path(rules_base.__file__).parent
WITHOUT_EXAMPLES = {"numpy.without_rules"}  # it declares no rule


def modules_below(folder):
    paths = [path for path in folder.rglob("*.py") if path.name != "__init__.py"]
    return {".".join(path.relative_to(folder).with_suffix("").parts) for path in paths}


def test_every_module_is_collected_once():
    found = {f"{name}.{m}" for name in ("python", "numpy") for m in modules_below(ROOT / name)}
    assert sorted(MODULES) == sorted(found)


def test_the_table_of_functions_is_that_of_the_rules():
    """Else `python -m tests.rules_base.contents` writes it anew."""
    assert contents.FILE.read_text() == contents.text()


def test_what_is_shared_declares_nothing():
    for name in modules_below(ROOT / "shared"):
        assert not hasattr(importlib.import_module(f"rules_base.shared.{name}"), "rule")


def test_examples_have_the_same_tree():
    assert modules_below(ROOT / "examples") == set(MODULES) - WITHOUT_EXAMPLES


@pytest.mark.parametrize("name", sorted(set(MODULES) - WITHOUT_EXAMPLES))
def test_a_module_has_its_own_examples(name):
    """Each example stands in the file that mirrors the file of a rule for its function."""
    rule = importlib.import_module(f"rules_base.{name}").rule
    functions = {name_of(r.function) for r in rule.rules}
    assert rule.examples
    assert {name_of(f) for f, _, _ in rule.examples} - functions == set()


def test_rules_are_loaded_without_their_examples():
    program = (
        "import sys, rulescore\n"
        "import numpy\n"
        "assert rulescore.rrule(numpy.tan, -1.0)\n"
        "assert 'rules_base.numpy.ufuncs' in sys.modules\n"
        "print([name for name in sys.modules if name.startswith('rules_base.examples')])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
