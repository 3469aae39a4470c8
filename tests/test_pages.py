"""The Python of every page runs, and every output that a page shows is what the code gives.

A page is run from top to bottom, as one module. What is compared:

- the comment behind an expression: its value (`repr`), or the error that it raises, as
  `NoRuleError: message`;
- the block of text that follows Python directly: all that the Python has printed;
- in a block `console`, what each command prints.

`...` stands for anything. Python with a title is a file (`model.py`), which is written beside the
page, or the program of another library (`JAX`), which is run where that library is installed.
"""

import ast
import doctest
import importlib.util
import inspect
import io
import os
import pydoc
import re
import runpy
import shlex
import subprocess
import sys
import tokenize
import types
from pathlib import Path
from statistics import median

import pytest

import rules_base
import rules_nnlib
import rulescore
import rulescore.batching
import rulescore.interop
import rulescore.testing
import zygote_lite
import zygote_lite.distributed
import zygote_lite.interop
import zygote_lite.optimizers
import zygote_lite.testing
import zygote_lite.value
from rulescore import RuleSet
from website.cases import case_page
from website.links import ABSOLUTE, outside_code, place_of
from website.rules import page as page_of_rules

ROOT = Path(__file__).parents[1]
RAISES_NOTHING = {  # of its own: whose description names no error
    *("stop_gradient", "non_differentiable", "zero", "flatten", "find_batched", "rules_of"),
    *("recorded_only", "observed", "why_recorded", "programs", "reasons", "forget"),
    *("goes_by_value", "provider_of", "reason_of", "home_of", "when_changed"),
}
OWN_TESTS = Path("docs/errors")  # their pages are run by tests of their own
ALL = sorted(
    path.relative_to(ROOT)
    for pattern in ("*.md", "[!.]*/README.md", "docs/**/*.md")
    for path in ROOT.glob(pattern)
)
OF_ERRORS = sorted(path.relative_to(ROOT) for path in ROOT.glob("*/src/*/pages/*.md"))
HAS_ITS_OWN_LIST = {Path("README.md"), Path("CHANGELOG.md")}  # the one of pages, the other no page
PAGES = [
    name
    for name in ALL
    if re.search("(?m)^```(python|console)", (ROOT / name).read_text(encoding="utf-8"))
    and ">>>" not in (ROOT / name).read_text(encoding="utf-8")  # a session, which its own test runs
    and OWN_TESTS not in name.parents
]
OTHERS = {
    "autograd": "autograd", "JAX": "jax", "PyTorch": "torch", "pandas": "pandas",
    "dask": "distributed", "joblib": "joblib",
}  # fmt: skip
BROUGHT = {  # by Python, and by `pip install "zygote_lite[all]"`
    *sys.stdlib_module_names,
    *("numpy", "scipy", "rulescore", "rules_base", "rules_nnlib", "rules_scipy", "zygote_lite"),
    *("rules_torch", "rules_jax"),
}
FENCE = re.compile(
    r"(?m)^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?[^\n]*\n(?P<text>.*?)^```$"
    r"(?:\n+(?:^```text\n(?P<printed>.*?)^```$|(?P<indented>(?:^(?: {4}[^\n]*)?\n)+)))?",
    re.DOTALL,
)


def comments_of(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}


def says(expected, found):
    return doctest.OutputChecker().check_output(f"{expected}\n", f"{found}\n", doctest.ELLIPSIS)


def plain(text):
    """Return printed text without spaces at the ends of lines, or of the indentation of a page."""
    lines = [line.rstrip() for line in text.splitlines()]
    if all(line.startswith("    ") for line in lines if line):
        lines = [line[4:] for line in lines]
    return "\n".join(lines).strip("\n")


class Page:
    """A page that is run: its module, and how much of it was compared."""

    def __init__(self, name, folder, printed):
        self.name, self.folder, self.printed = name, folder, printed
        self.module = types.ModuleType(name.stem.lower())
        self.others = {}  # modules of programs of other libraries
        self.left_out = set()  # libraries that are not installed
        self.compared = 0

    def run(self, fence, line):
        """Run a block of the page that begins at a line."""
        language, title, text = fence["language"], fence["title"], fence["text"]
        if language == "console":
            self.run_commands(text, line)
        elif title and "/" in title:  # a file that a command of the page has written
            assert text == (self.folder / title).read_text(encoding="utf-8"), title
            self.compared += 1
        elif language == "python" and title and title.endswith(".py"):
            (self.folder / title).write_text(text, encoding="utf-8")
        elif language == "python" and title and title != "zygote_lite":
            if importlib.util.find_spec(OTHERS[title]) is None:
                self.left_out.add(title)
            else:
                module = types.ModuleType(f"with_{OTHERS[title]}")
                self.run_python(fence, line, self.others.setdefault(title, module))
        elif language == "python":
            self.run_python(fence, line, self.module)

    def run_python(self, fence, line, module):
        source = "\n" * line + fence["text"]  # each line where it stands on the page
        path = self.folder / f"{module.__name__}.py"  # a file, so that functions have source
        known = path.read_text(encoding="utf-8") if path.exists() else ""
        source = known + source[known.count("\n") :]
        path.write_text(source, encoding="utf-8")
        comments = comments_of(source)
        for statement in ast.parse("\n" * line + fence["text"]).body:
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), path, "exec"), vars(module))
                continue
            expected = comments.get(statement.end_lineno)
            try:
                found = repr(
                    eval(compile(ast.Expression(statement.value), path, "eval"), vars(module))
                )
            except Exception as error:
                if not expected or not re.match(r"\w+Error: ", expected):
                    raise
                found = f"{type(error).__name__}: {error}"
            if expected:
                at = f"{self.name}:{statement.lineno}"
                assert says(expected, found), f"{at} says {expected}, it is {found}"
                self.compared += 1
        shown = fence["printed"] or fence["indented"] or ""
        self.compare_printed(shown, self.printed(), line)

    def run_commands(self, text, line):
        """Run the commands of a block that are Python's; others (pip, git) change the machine."""
        for command, shown in re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).*\n)*)", text):
            if not command.startswith("python "):
                assert not shown
                continue
            done = subprocess.run(
                [sys.executable, *shlex.split(command)[1:]],
                cwd=self.folder,
                env={**os.environ, "COLUMNS": "80", "PYTHONPATH": os.pathsep.join(sys.path)},
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0, f"{self.name}:{line}: {command}\n{done.stderr}"
            self.compare_printed(shown, done.stdout + done.stderr, line)

    def compare_printed(self, shown, printed, line):
        for place in (self.folder, ROOT):
            printed = printed.replace(f"{place}{os.sep}", "")
        if shown.strip():
            assert says(plain(shown), plain(printed)), (
                f"{self.name}:{line} shows\n{plain(shown)}\nbut this is printed\n{plain(printed)}"
            )
            self.compared += 1


@pytest.mark.parametrize("name", PAGES, ids=str)
def test_the_code_gives_what_the_page_says(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pictures and files are written there
    monkeypatch.syspath_prepend(str(tmp_path))
    page = Page(name, tmp_path, lambda: capsys.readouterr().out)
    monkeypatch.setitem(sys.modules, page.module.__name__, page.module)
    before = {*sys.modules}
    text = (ROOT / name).read_text(encoding="utf-8")
    try:
        for fence in FENCE.finditer(text):
            page.run(fence, text.count("\n", 0, fence.start("text")))
    finally:
        for made in vars(page.module).values():
            if isinstance(made, RuleSet):
                made.unregister()
        for loaded in {*sys.modules} - before:
            if getattr(sys.modules[loaded], "__file__", None) and str(tmp_path) in str(
                sys.modules[loaded].__file__
            ):
                del sys.modules[loaded]
    if not page.compared and page.left_out:
        pytest.skip(f"{', '.join(page.left_out)} is not installed")
    assert page.compared


def test_every_block_of_python_is_found():
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        found = [fence for fence in FENCE.finditer(text) if fence["language"] == "python"]
        assert len(found) == len(re.findall(r"(?m)^ *```+ *python", text)), name
        for fence in found:
            title = fence["title"]
            assert not title or title.endswith(".py") or title in {*OTHERS, "zygote_lite"}, (
                f"{name}: {title}"
            )


@pytest.mark.parametrize("name", PAGES, ids=str)
def test_a_page_says_how_to_install_what_it_imports(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = [fence for fence in FENCE.finditer(text) if fence["language"] == "python"]
    blocks = [fence for fence in blocks if "/" not in (fence["title"] or "")]  # of a package
    trees = [ast.parse(fence["text"]) for fence in blocks]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    beside = {*re.findall(r'"(\w+)\.py"', text)}  # files that the page writes
    for imported in {name.partition(".")[0] for name in found} - BROUGHT - beside:
        assert re.search(rf"pip install [^`\n]*\b{imported}\b", text), imported


def test_the_front_page_has_the_figures_of_the_benchmarks():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    workloads, columns = runpy.run_path(str(ROOT / "examples" / "speed.py"))["multiples"]()
    own = columns["zygote_lite"]
    said = " ".join(page.split())
    middles = [median(x for x in columns[name] if x) for name in ("autograd", "torch", "jax")]
    assert f"On {len(workloads)} workloads" in said
    assert f"take {min(own):.1f} to {max(own):.1f} times as long" in said
    assert f"the median is {median(own):.1f}." in said
    assert "compiled JAX are {:.1f}, {:.1f} and {:.1f}.".format(*middles) in said


@pytest.mark.parametrize("name", [*ALL, *OF_ERRORS], ids=str)
def test_links_lead_somewhere(name):
    page = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", outside_code(page)):
        if re.match(r"https?:|mailto:|#", target) and not ABSOLUTE.match(target):
            continue
        place, _ = place_of(str(name), target)
        assert (ROOT / place).exists(), f"{name} links to {target}"


def test_each_page_ends_with_what_to_read_next():
    for name in {*ALL, *OF_ERRORS} - HAS_ITS_OWN_LIST:
        *_, last = (ROOT / name).read_text(encoding="utf-8").rstrip().split("\n\n")
        assert last.startswith("Read next: [") or "\nRead next: [" in last, name


def test_the_front_page_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_two_commands_stand_there_as_they_are_run():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    setup = "    python3 -m venv .venv && .venv/bin/pip install -qr requirements.txt && "
    assert f"{setup}.venv/bin/zygote-lite moons\n" in page
    assert f"{setup}.venv/bin/pytest\n" in page


def test_the_page_of_rules_has_those_of_every_plugin():
    text = page_of_rules()
    for name, function in [
        ("rules_base", "`exp`"),
        ("rules_nnlib", "`relu`"),
        ("rules_scipy", "`erf`"),
    ]:
        section = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert function in section


def test_each_line_of_the_table_of_constructs_leads_to_its_case():
    table = (ROOT / "docs" / "constructs.md").read_text(encoding="utf-8")
    found = re.findall(r"\(\.\./tests/zygote_lite/constructs/(\w+)\.py#(\w+)\)", table)
    assert len(found) > 400
    pages = {name: case_page(name) for name in {name for name, _ in found}}
    for name, function in found:
        assert f" {{#{function}}}\n" in pages[name]
        assert f"\ndef {function}(" in pages[name] or f"\n{function} = " in pages[name]


@pytest.mark.parametrize(
    ("package", "page"),
    [
        (zygote_lite, "functions"),
        (rulescore, "functions"),
        (zygote_lite.optimizers, "functions"),
        (zygote_lite.testing, "modules"),
        (zygote_lite.distributed, "modules"),
        (zygote_lite.interop, "modules"),
        (zygote_lite.value, "modules"),
        (rulescore.interop, "modules"),
        (rulescore.batching, "modules"),
        (rulescore.testing, "functions"),
        (rules_nnlib, "activations"),
        (rules_base, "modules"),
    ],
    ids=lambda given: getattr(given, "__name__", given),
)
def test_every_public_function_has_arguments_and_an_example(package, page):
    text = (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")
    documented = re.findall("(?m)^::: .*$", text)
    assert len(documented) == len({*documented})
    own = [name for name, x in vars(package).items() if is_function_of(package, x)]
    for name in getattr(package, "__all__", own):
        entries = re.findall(rf"(?m)^::: [\w.]+\.{name}\n\n(```python)?", text)
        assert {*entries} == {"```python"}, f"{name} has no example"
        found = getattr(package, name)
        if inspect.isfunction(found) and inspect.signature(found).parameters:
            assert "Arguments:\n" in found.__doc__, f"the arguments of {name} are not explained"
            assert re.search("[Rr]aise|error|refuse", found.__doc__) or name in RAISES_NOTHING, name


def is_function_of(package, x):
    is_public = inspect.isfunction(x) and not x.__name__.startswith("_")
    return is_public and x.__module__ == package.__name__


@pytest.mark.parametrize(
    "package", [zygote_lite, rulescore, rules_base, rules_nnlib], ids=lambda p: p.__name__
)
def test_help_begins_with_the_public_names(package):
    listed, _, _ = pydoc.render_doc(package, renderer=pydoc.plaintext).partition("PACKAGE CONTENTS")
    for name in package.__all__:
        assert f"`{name}`" in listed or name == "Pullback"
    assert not re.search(r"\b_[a-z]", listed)


@pytest.mark.parametrize("package", [zygote_lite, rulescore], ids=lambda package: package.__name__)
def test_the_example_of_help_runs(package):
    examples = doctest.DocTestFinder(recurse=False).find(package, package.__name__)
    assert [doctest.DocTestRunner().run(found).failed for found in examples] == [0]
    assert examples[0].examples


def test_every_environment_variable_is_listed():
    page = (ROOT / "docs" / "reference" / "environment.md").read_text(encoding="utf-8")
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("*/src/**/*.py")]
    named = {
        name for text in texts for name in re.findall(r"\b(?:ZYGOTE_LITE|RULESCORE)_[A-Z_]+", text)
    }
    asked = r"(?:environ(?:\.get\(|\[)|getenv\(|= _is_set\()([^),\]]+)"
    read = {name.strip('"') for text in texts for name in re.findall(asked, text)}
    assert read <= {*named, "ALL_FRAMES", "name"}  # a constant, and a parameter
    assert set(re.findall(r"(?m)^\| `(\w+)`", page)) == named


def test_the_changelog_has_the_form_of_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"(?m)^## (.*)$", text)
    assert versions[0] == "[Unreleased]"
    for version in versions[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", version)
    kinds = re.findall(r"(?m)^### (.*)$", text)
    assert {*kinds} <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    for part in re.split(r"(?m)^## .*$", text)[1:]:
        found = re.findall(r"(?m)^### (.*)$", part)
        assert len(found) == len({*found})
        assert len(part.splitlines()) < 120  # of a version: users read it
