"""The tree: every module of rules is in a section, with examples and tests in the same place."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import rules_scipy
from rules_scipy import SECTIONS
from rulescore._command.survey import ending, missing, reasons
from rulescore._naming import name_of
from tests.rules_scipy.conftest import shown

ROOT = Path(rules_scipy.__file__).parent
HERE = Path(__file__).parent
FOLDERS = [library.removeprefix("scipy.") for library in SECTIONS]
MODULES = {f"{library.removeprefix('scipy.')}.{name}" for library, names in SECTIONS.items()
           for name in names}  # fmt: skip


def modules_below(root):
    found = [path for folder in FOLDERS for path in (root / folder).rglob("*.py")]
    names = [path.relative_to(root).with_suffix("").parts for path in found]
    return {".".join(parts) for parts in names if parts[-1] != "__init__"}


def with_rules():
    """Yield the modules of derivatives; batching rules have tests of their own."""
    for name in MODULES:
        rule = importlib.import_module(f"rules_scipy.{name}").rule
        if any(r.kind not in ("constant", "batched") for r in rule.rules):
            yield name, rule


def test_every_module_is_in_a_section():
    assert modules_below(ROOT) == MODULES


def test_examples_and_tests_have_the_same_tree():
    names = {name for name, _ in with_rules()}
    assert modules_below(ROOT / "examples") == names
    assert {name.replace("test_", "") for name in modules_below(HERE)} == names


def test_a_module_has_its_own_examples():
    for name, rule in with_rules():
        functions = {name_of(r.function) for r in rule.rules}
        for f, _, _ in rule.examples:
            kinds = [f] if shown(f) is f else type(f).__mro__  # or a class above an object's
            assert functions & {name_of(kind) for kind in kinds}, (name, f)


PARTS = ["scipy.spatial.distance", "scipy.spatial.transform"]


@pytest.mark.parametrize("library", [*SECTIONS, *PARTS])
def test_what_has_no_rule_has_a_reason(library):
    assert [name for name, reason in missing(library).items() if not reason] == []


# What stands in the way, as each reason begins; what to do instead comes after a colon.
NOT_KNOWN = {
    "SciPy's values of it are not accurate enough to be differentiated",
    "its derivative is not known to SciPy, and has no formula by other functions",
    "its derivative needs that of the function that it is given",
    "it updates a decomposition",
    "it finds the ripples of equal height by an exchange of points, which SciPy does not return",
}
NO_NUMBERS = {
    "SciPy has dropped it",
    "it sets or tells how errors are handled, or runs SciPy's tests",
    "it sets or tells which implementation is used",
    "it draws random numbers",
    "it reads a file",
    "it solves for integers, and its solution is a step function",
    "it takes differences of a function",
    "it runs SciPy's tests",
    "it looks at which entries are zero, and its value is a step function of the image",
    "it searches for knots",
    "it finds the simplex of a point, and its value is a step function",
    "it drops small entries",
    "a masked array carries no gradient",
    "it changes the array in place",
    "it sums up numbers of one place in the array",
}


COMPILED = [
    library for library in (*SECTIONS, *PARTS) if library != "scipy.stats"
]  # which is its source


@pytest.mark.parametrize("library", COMPILED)
def test_functions_whose_source_ends_in_code_without_a_rule_have_a_reason(library):
    why = reasons()
    assert {name for name in ending(library) if name not in why} == set()


def test_the_reasons_are_few():
    given = {
        name: why.partition(":")[0] for name, why in reasons().items() if name.startswith("scipy.")
    }
    assert set(given.values()) == NOT_KNOWN | NO_NUMBERS
    assert sum(why in NOT_KNOWN for why in given.values()) <= 15


def test_nothing_of_scipy_is_imported_before_the_program_does():
    program = "import sys, rulescore; rulescore.plugins(); print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
