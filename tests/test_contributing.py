"""Every path, command and name on the page for contributors exists."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from benchmarks import engines
from benchmarks.workloads import WORKLOADS
from tests.zygote_lite.constructs.table import CASES
from zygote_lite import modes, testing

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ENGINE = ROOT / "zygote_lite" / "src" / "zygote_lite"
WORDS = [word.rstrip("`().|:;,").lstrip("`(|") for word in re.split(r"\s+|\]\(", PAGE)]
NOT_THERE_YET = ".venv/bin/"  # what the first command makes


def is_path(word):
    of_engine = re.fullmatch(r"_[a-z][\w/.]*", word)
    return bool(of_engine or "/" in word or re.fullmatch(r"[\w.]+\.(py|md|txt)", word))


PATHS = sorted({word for word in WORDS if is_path(word) and not word.startswith(NOT_THERE_YET)})


def test_the_page_names_paths():
    assert {"_ir/lower", "_tape/tape.py", "_specialize/passes/", "docs/constructs.md"} <= {*PATHS}
    assert len(PATHS) > 40


@pytest.mark.parametrize("word", PATHS)
def test_paths(word):
    path, _, test = word.partition("::")
    found = [root / path for root in (ROOT, ENGINE) if (root / path).exists()]
    assert found or [*ENGINE.glob(f"*/{path}")], f"{path} does not exist"
    assert not path.endswith("/") or found[0].is_dir()
    if test:
        tree = ast.parse(found[0].read_text(encoding="utf-8"))
        assert test in [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]


def test_every_folder_of_the_engine_is_on_the_map():
    folders = {path.parent.name for path in ENGINE.glob("_*/__init__.py")}
    assert folders <= {word.partition("/")[0] for word in WORDS}
    told = [*re.findall(r"(?m)^- `(_\w+)`:", PAGE)]
    assert sorted(told) == sorted(folders)
    stages = {path.parent.name for path in (ENGINE / "_specialize").glob("*/__init__.py")}
    assert {f"_specialize/{stage}" for stage in stages - {"typed"}} <= {*WORDS}


def test_every_private_module_of_rulescore_is_told():
    names = {path.stem for path in (ROOT / "rulescore/src/rulescore").glob("_[a-z]*")}
    told = {*re.findall(r"`rulescore\.(_\w+)`", PAGE)}
    assert told <= names
    assert names - told <= {"_array", "_naming", "_methods"}


@pytest.mark.parametrize("module", re.findall(r"python -m ([\w.]+)", PAGE))
def test_commands(module):
    assert importlib.util.find_spec(module) is not None


def test_sessions():
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    sessions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {*re.findall(r"nox -s (\w+)", PAGE)} <= sessions
    assert "nox -s fuzz" in PAGE


def test_one_benchmark():
    (workload, engine), *_ = re.findall(r"--only (\w+) --engines (\w+) --quick", PAGE)
    assert workload in [known.name for known in WORKLOADS]
    assert engine in engines.MODULES


def test_one_construct():
    (expression,) = re.findall(r'-k "([^"]+)"', PAGE)
    words = expression.split(" and ")
    assert any(all(word in name for word in words) for name in CASES)


def test_modes_and_switches():
    source = Path(modes.__file__).read_text(encoding="utf-8")
    asked = {*re.findall(r"ZYGOTE_LITE_\w+", PAGE)}
    assert asked == {"ZYGOTE_LITE_CHECK", "ZYGOTE_LITE_STRICT"}
    assert all(name.removeprefix("ZYGOTE_LITE_") in source for name in asked)
    _, _, after = PAGE.partition("`zygote_lite.testing`")
    for name in re.findall(r"`(\w+)\(", after):
        assert callable(getattr(testing, name))


FOLDERS = sorted(path.parent for path in ENGINE.rglob("__init__.py") if path.parent != ENGINE)
OTHER = {"driver", "pullback", "typed", "builder", "abstract_eval"}  # the text says where they are


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ENGINE)))
def test_reading_orders_name_modules_of_the_folder(folder):
    doc = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    order, _, _ = doc.partition("Read ")[2].partition("\n\n")
    there = {path.stem for path in folder.iterdir()} | OTHER
    assert [name for name in re.findall(r"`([a-z_]+)`", order) if name not in there] == []
