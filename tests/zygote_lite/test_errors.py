"""Each kind of error has a code, and a page whose example provokes it."""

import ast
import re
from pathlib import Path

import pytest

import zygote_lite
from rulescore._errors import Fault as FaultOfRules
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
    *page, last = capsys.readouterr().out.splitlines()
    assert page == Fault.NO_SOURCE.page.splitlines()[:-1]
    assert last == "Read next: differentiate a library (docs/howto/libraries.md)."
    assert command(["error", "ZL999"]) == 2
    assert capsys.readouterr().err == "there is no error ZL999: the codes go up to ZL044\n"


ADVICE = {  # names of what holds advice where a message ends with it
    *("instead", "hint", "almost", "advice", "declaring", "hint_on_library", "_advice_on_options"),
    "_with_remedy",
    *("_own_rule", "_for_another_value", "_MEND", "refused_view", "way_to_choose", "refusal"),
    *("told", "text", "why", "wanted"),  # put together before, where this is seen, too
}
DO = re.compile(
    r"[:;.,(?] (?:and |or |it )?(?:add|annotate|ask|assign|build|call|check|choose|close|compute"
    r"|convert|count|declare|define|differentiate|do|draw|export|give|hand|install|keep|leave|let|make|mend"
    r"|name|move|pass|put|read|reload|remove|return|run|send|set|start|take|turn|use|write)\b"
)


WITH_ERROR = {"checking.py", "refusals.py", "ruleset.py"}


def text_of(node):
    """Return the text of a message, with that of the constants in its fields."""
    return "".join(x.value for x in ast.walk(node) if isinstance(x, ast.Constant) and is_text(x))


def is_text(node):
    return isinstance(node.value, str)


def messages(path):
    """Yield the messages of a module, each with its line: of errors of ours, and put together."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func)
            if re.search(r"\bFault\.[A-Z_]+\)?$", called):
                yield node.lineno, node.args[0]
            elif called in ("self.error", "self._refuse.error") and path.name in WITH_ERROR:
                yield node.lineno, node.args[-1]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.JoinedStr | ast.BinOp):
            if ast.unparse(node.targets[0]) == "told":
                yield node.lineno, node.value


@pytest.mark.parametrize("package", ["rulescore", "zygote_lite"])
def test_every_message_says_what_to_do(package):
    seen, without = 0, []
    for path in sorted((REPOSITORY / package / "src").rglob("*.py")):
        if {"testing", "_command"} & {*path.parts}:
            continue  # whose texts are reports
        for line, message in messages(path):
            seen += 1
            names = {x.id for x in ast.walk(message) if isinstance(x, ast.Name)}
            names |= {x.attr for x in ast.walk(message) if isinstance(x, ast.Attribute)}
            if not DO.search(text_of(message)) and not names & ADVICE:
                without.append(f"{path.name}:{line}: {ast.unparse(message)}")
    assert seen > 60
    assert without == []


@pytest.mark.parametrize("kind", [*Fault, *FaultOfRules], ids=lambda kind: kind.code)
def test_the_error_that_a_page_shows_says_what_to_do(kind):
    (told,) = re.findall(r"```text\n(.*?)\n```", kind.page, re.DOTALL)
    assert DO.search(told)


def test_messages_have_the_article_that_a_name_asks_for():
    told = re.compile(r"""\ba[ "\n]+(?:f")?\{[^{}]*\.__(?:qual)?name__\}""")
    found = [
        (path.name, line)
        for path in REPOSITORY.glob("*/src/**/*.py")
        for line in told.findall(path.read_text(encoding="utf8"))
    ]
    assert found == []  # `an(...)` of rulescore.faults has it
    assert [an("ndarray"), an("int"), an("list")] == ["an ndarray", "an int", "a list"]
