"""The Python on each README runs, and its expressions have the values that their comments say."""

import ast
import doctest
import io
import re
import tokenize
from pathlib import Path

import pytest

from rulescore import RuleSet

ROOT = Path(__file__).parents[1]
PAGES = [
    path.relative_to(ROOT)
    for path in [ROOT / "README.md", *sorted(ROOT.glob("*/README.md"))]
    if "```python" in path.read_text(encoding="utf-8")
    and ">>>" not in path.read_text(encoding="utf-8")  # a session, which its own test runs
]


def python_of(page):
    """Return all Python of a page as one module, each line where it stands on the page."""
    lines, inside = [], False
    for line in page.splitlines():
        is_fence = line.startswith("```")
        lines.append(line if inside and not is_fence else "")
        inside = line == "```python" if is_fence else inside
    return "\n".join(lines) + "\n"


def outputs_of(page):
    """Return the indented blocks that follow Python directly: what it prints."""
    return [
        re.sub(r"(?m)^    ", "", block).strip()
        for block in re.findall(r"(?m)^```\n\n((?:(?:    .*)?\n)+)", page)
        if block.strip()
    ]


def comments_of(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}


def says(expected, found):
    return doctest.OutputChecker().check_output(f"{expected}\n", f"{found}\n", doctest.ELLIPSIS)


@pytest.mark.parametrize("name", PAGES, ids=str)
def test_the_code_gives_what_the_page_says(name, tmp_path, capsys):
    page = (ROOT / name).read_text(encoding="utf-8")
    source = python_of(page)
    comments = comments_of(source)
    path = tmp_path / "page.py"  # a file, so that functions have source
    path.write_text(source, encoding="utf-8")
    namespace = {"__name__": "page"}
    checked = 0
    try:
        for statement in ast.parse(source).body:
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), path, "exec"), namespace)
                continue
            found = eval(compile(ast.Expression(statement.value), path, "eval"), namespace)
            expected = comments.get(statement.end_lineno)
            if expected:
                line = f"{name}:{statement.lineno}"
                assert says(expected, repr(found)), f"{line} says {expected}, it is {found!r}"
                checked += 1
    finally:
        for made in namespace.values():
            if isinstance(made, RuleSet):
                made.unregister()
    assert checked
    printed = re.sub(r"(?m) +$", "", capsys.readouterr().out)
    for output in outputs_of(page):
        assert output in printed


def test_the_front_page_shows_what_its_code_prints():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(outputs_of(page)) == 3  # the adjoint, the module and the tree


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name):
    page = (ROOT / name).read_text(encoding="utf-8")
    prose = re.sub(r"(?s)```.*?```", "", page)
    for target in re.findall(r"\]\(([^)]+)\)", prose):
        assert (ROOT / target).exists(), f"{name} links to {target}"


def test_the_two_commands_stand_there_as_they_are_run():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    setup = "    python3 -m venv .venv && .venv/bin/pip install -qr requirements.txt && "
    assert f"{setup}.venv/bin/zygote-lite moons\n" in page
    assert f"{setup}.venv/bin/pytest\n" in page
