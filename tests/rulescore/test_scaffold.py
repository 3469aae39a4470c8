"""The plugin that `python -m rulescore new` writes: its tests pass as it is."""

import os
import runpy
import subprocess
import sys
import tomllib

import pytest

import rulescore
from rulescore.__main__ import main

NAME = "rules_of_scaffold"


@pytest.fixture
def plugin(tmp_path, capsys):
    assert main(["new", NAME, "--for", "os.path", "--in", str(tmp_path)]) == 0
    assert "pip install -e" in capsys.readouterr().out
    return tmp_path / NAME


def test_its_tests_pass_where_it_is_installed(plugin):
    project = tomllib.loads((plugin / "pyproject.toml").read_text())["project"]
    metadata = plugin / "src" / f"{NAME}-{project['version']}.dist-info"
    metadata.mkdir()  # as an installer does
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 0.1.0\n")
    points = "\n".join(f"{k} = {v}" for k, v in project["entry-points"]["rulescore"].items())
    (metadata / "entry_points.txt").write_text(f"[rulescore]\n{points}\n")
    path = [str(plugin / "src"), os.path.dirname(os.path.dirname(rulescore.__file__))]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=plugin,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_its_tests_say_that_it_is_to_be_installed(plugin):
    with pytest.raises(
        AssertionError, match=r'once they are installed: pip install -e "\.\[tests\]"'
    ):
        runpy.run_path(str(plugin / "tests" / "test_rules.py"))


def test_its_pins_are_those_of_this_version(plugin):
    (pin, *_) = tomllib.loads((plugin / "pyproject.toml").read_text())["project"]["dependencies"]
    major, minor, _ = rulescore.__version__.split(".")
    assert pin == f"rulescore>={major}.{minor},<{major}.{int(minor) + 1}"


def test_names_that_cannot_be_are_refused(tmp_path, capsys):
    for name in ("rules-mine", "1rules", "class"):
        assert main(["new", name, "--for", "math", "--in", str(tmp_path)]) == 2
        assert "can be no module" in capsys.readouterr().err
    for name in ("_rules", "rules_", "rules_\u00e9"):
        assert main(["new", name, "--for", "math", "--in", str(tmp_path)]) == 2
        assert "can be no distribution" in capsys.readouterr().err
    file = tmp_path / "file"
    file.touch()
    assert main(["new", NAME, "--for", "math", "--in", str(file)]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == [file]
    for name in ("json", "rulescore", "own"):
        assert main(["new", name, "--for", "own", "--in", str(tmp_path)]) == 2
        assert f"there is a module {name} already" in capsys.readouterr().err
    for expected in (0, 2):
        assert main(["new", NAME, "--for", "math", "--in", str(tmp_path)]) == expected
    assert "exists already" in capsys.readouterr().err


def test_the_library_is_a_dependency_where_it_is_installed(tmp_path):
    for library, expected in (
        ("pytest", [f"pytest>={'.'.join(pytest.__version__.split('.')[:2])}"]),
        ("importlib.metadata", []),
        ("never_installed", []),
    ):
        name = f"rules_for_{library.partition('.')[0]}"
        assert main(["new", name, "--for", library, "--in", str(tmp_path)]) == 0
        text = (tmp_path / name / "pyproject.toml").read_text()
        dependencies = tomllib.loads(text)["project"]["dependencies"]
        assert dependencies[2:] == expected
        assert ("# and never_installed" in text) == (library == "never_installed")
