"""Each kind of error has a code, and a page whose example provokes it."""

import re
from pathlib import Path

import pytest

import zygote_lite
from rulescore.faults import an
from tests.zygote_lite.checks.pages import are_users_frames, run, shown
from zygote_lite.__main__ import command
from zygote_lite.errors import Fault

ROOT = Path(zygote_lite.__file__).parent
REPOSITORY = Path(__file__).parents[2]
INDEX = REPOSITORY / "docs" / "errors" / "index.md"
OURS = {
    "DifferentiationError",
    "UnsupportedSyntaxError",
    "NoRuleError",
    "NoSourceError",
    "GradientCheckError",
}


@pytest.mark.parametrize("kind", Fault, ids=lambda kind: kind.name.lower())
@pytest.mark.filterwarnings("ignore:.*'where' used without:UserWarning")
def test_the_example_of_each_page_gives_the_error_that_it_shows(kind):
    page = kind.page
    assert page.startswith(f"# {kind.code}: {kind.title}\n")
    bad, *good = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (told,) = re.findall(r"```text\n(.*?)\n```", page, re.DOTALL)
    error = run(bad)
    assert are_users_frames(error)
    assert shown(error) == told
    assert re.match(r"\w+: example\.py:\d+: ", told)  # the user's file and line come first
    assert told.endswith(f"[{kind.code}]")
    assert getattr(error, "code", kind.code) == kind.code
    assert [run(text) for text in good] == [None] * len(good)


def test_every_error_of_ours_is_of_a_kind():
    texts = [(path.name, path.read_text(encoding="utf8")) for path in ROOT.rglob("*.py")]
    made = [
        (name, *found)
        for name, text in texts
        for found in re.findall(rf"(?<!class )\b({'|'.join(OURS)})\((.*)", text)
    ]
    # one that is given the user's line
    assert made == [("compile.py", "NoSourceError", 'f"{where()}: {error}") from None')]
    used = {name for _, text in texts for name in re.findall(r"\bFault\.([A-Z_]+)\(", text)}
    assert used == {kind.name for kind in Fault}


def test_codes_are_listed_and_pages_printed(capsys):
    assert [kind.code for kind in Fault] == [f"ZL{n:03d}" for n in range(1, len(Fault) + 1)]
    assert {path.stem for path in (ROOT / "pages").glob("*")} == {kind.code for kind in Fault}
    for kind in Fault:
        assert f"| [{kind.code}](zygote_lite/{kind.code}.md) | {kind.title} |" in INDEX.read_text()
    assert command(["error"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{k.code}  {k.title}" for k in Fault]
    assert command(["error", "zl012"]) == 0
    assert capsys.readouterr().out == Fault.NO_SOURCE.page
    assert command(["error", "ZL999"]) == 2
    assert capsys.readouterr().err == "there is no error ZL999: the codes go up to ZL042\n"


def test_messages_have_the_article_that_a_name_asks_for():
    told = re.compile(r"""\ba[ "\n]+(?:f")?\{[^{}]*\.__(?:qual)?name__\}""")
    found = [
        (path.name, line)
        for path in REPOSITORY.glob("*/src/**/*.py")
        for line in told.findall(path.read_text(encoding="utf8"))
    ]
    assert found == []  # `an(...)` of rulescore.faults has it
    assert [an("ndarray"), an("int"), an("list")] == ["an ndarray", "an int", "a list"]
