"""Each kind of error has a code, and a page whose example provokes it."""

import copy
import pickle
import re
import sys
from pathlib import Path

import pytest

import rulescore
from rulescore import RuleError
from rulescore.__main__ import main
from rulescore._errors import Fault
from rulescore.faults import code_in
from tests.zygote_lite.checks.pages import are_users_frames, run, shown

ROOT = Path(rulescore.__file__).parent
CLASSES = {
    Fault.HOST: ModuleNotFoundError,
    Fault.HOST_CALL: TypeError,
    Fault.HOST_RUN: TypeError,
    Fault.FOREIGN: NotImplementedError,
    Fault.BY_VALUE: pickle.PicklingError,
}
INDEX = Path(__file__).parents[2] / "docs" / "errors" / "index.md"


@pytest.fixture
def single_precision():
    """Leave JAX as it is by default: other modules let it compute in double precision."""
    jax = pytest.importorskip("jax", reason="`nox -s interop` installs it")
    pytest.importorskip("rules_jax", reason="the plugin for JAX is not installed")
    with jax.enable_x64(False):
        yield


@pytest.mark.parametrize("kind", Fault, ids=lambda kind: kind.name.lower())
def test_the_example_of_each_page_gives_the_error_that_it_shows(kind, monkeypatch, request):
    page = kind.page
    assert page.startswith(f"# {kind.code}: {kind.title}\n")
    bad, *good = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (told,) = re.findall(r"```text\n(.*?)\n```", page, re.DOTALL)
    if kind is Fault.HOST:
        monkeypatch.setitem(sys.modules, "autograd", None)
        monkeypatch.delitem(sys.modules, "rulescore.interop._autograd", raising=False)
    if "import autograd" in bad:
        pytest.importorskip("autograd", reason="`nox -s interop` installs it")
    if "import cloudpickle" in bad:
        pytest.importorskip("cloudpickle", reason="joblib and dask bring it")
    if "import jax" in bad:
        request.getfixturevalue("single_precision")
    error = run(bad)
    hosts = ("import autograd", "import jax", "import cloudpickle")  # their frames stand between
    assert are_users_frames(error) or any(host in bad for host in hosts)
    assert type(error) is CLASSES.get(kind, RuleError)
    assert re.fullmatch(re.escape(told).replace(r"\.\.\.", ".*"), shown(error)), shown(error)
    assert code_in(str(error)) == kind.code
    assert told.endswith(f" [{kind.code}]")
    assert [run(text) for text in good] == [None] * len(good)


def test_every_error_of_ours_is_of_a_kind():
    texts = {path: path.read_text(encoding="utf8") for path in ROOT.rglob("*.py")}
    made = [path.name for path, text in texts.items() if re.search(r"[^`\w]RuleError\([^E]", text)]
    assert made == ["_errors.py"]
    names = r"\bFault\.([A-Z_]+)\b"
    used = {name for text in texts.values() for name in re.findall(names, text)}
    assert used == {kind.name for kind in Fault}


def test_codes_are_listed_and_pages_printed(capsys):
    assert [kind.code for kind in Fault] == [f"RC{n:03d}" for n in range(1, len(Fault) + 1)]
    assert {path.stem for path in (ROOT / "pages").glob("*")} == {kind.code for kind in Fault}
    for kind in Fault:
        assert f"| [{kind.code}](rulescore/{kind.code}.md) | {kind.title} |" in INDEX.read_text()
    assert main(["error"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{k.code}  {k.title}" for k in Fault]
    assert main(["error", "rc006"]) == 0
    *page, last = capsys.readouterr().out.splitlines()
    assert page == Fault.CLASH.page.splitlines()[:-1]
    assert last.startswith("Read next: ")
    assert last.endswith(".md).")
    assert "://" not in last
    assert main(["error", "RC999"]) == 2
    assert capsys.readouterr().err == "there is no error RC999: the codes go up to RC021\n"


def test_an_error_keeps_its_code_where_it_is_copied():
    error = Fault.COUNT("two were due")
    assert str(error) == "two were due [RC011]"
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (type(again), str(again), again.code) == (RuleError, str(error), "RC011")
    assert RuleError("a text [1]").code == RuleError("RC011").code == ""


def test_all_frames_are_shown_where_they_are_asked_for(monkeypatch):
    def frames():
        with pytest.raises(RuleError) as raised:
            rulescore.RuleSet("mine").scalar(abs)(lambda x, y, z, *w: w)
        return len(raised.traceback)

    hidden = frames()
    monkeypatch.setenv("RULESCORE_ALL_FRAMES", "1")
    assert hidden == 2
    assert frames() > 4
