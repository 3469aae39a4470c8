"""`python -m zygote_lite explain` and `code`: tiers, reasons and rules as a table, and code."""

import functools
import os
import re
import subprocess
import sys

import pytest

from zygote_lite import code_adjoint, explain
from zygote_lite.__main__ import _function_and_names, command

PROGRAM = """
import numpy as np
from scale import SCALE


def half(x):
    return np.sin(x) / SCALE


def loss(x, y):
    return np.sum(half(x)) * y


class Model:
    def loss(self, x):
        return x * x

    def fails(self, x):
        raise ValueError("no value")

    @staticmethod
    def by_keyword(x, *, factor):
        for _ in range(5):
            x = x * factor
        return x

    @staticmethod
    def of_text(x):
        return float(str(x))
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "scale.py").write_text("SCALE = 2.0\n")
    (tmp_path / "model_of_the_test.py").write_text(PROGRAM)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return str(tmp_path / "model_of_the_test.py")


def test_the_table_says_what_explain_says(model, capsys):
    assert command(["explain", f"{model}::loss", "--args", "np.ones(3) * SCALE", "2.0"]) == 0
    head, rule, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["place", "call", "how"]
    assert set(rule) == {"-", " "}
    f, names = _function_and_names(f"{model}::loss")
    said = explain(f, names["np"].ones(3) * 2, 2.0).splitlines()
    assert [line.split() for line in lines[1:]] == [line.split() for line in said[1:]]
    assert "transformed" in lines[0]
    assert any("numpy.sin" in line and "rules_base" in line for line in lines)


def test_the_code_is_printed_as_the_function_gives_it(model, capsys, monkeypatch):
    asked = ["code", f"{model}::loss", "--args", "np.ones(3) * SCALE", "2.0", "--argnums", "0"]
    assert command(asked) == 0
    printed = capsys.readouterr().out
    f, names = _function_and_names(f"{model}::loss")
    assert printed == code_adjoint(f, names["np"].ones(3) * 2, 2.0, argnums=0).rstrip() + "\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert command(asked) == 0
    colored = capsys.readouterr().out
    assert "\x1b[" in colored
    shown = re.sub(r"\x1b\[[0-9;]*m", "", colored).splitlines()
    assert [line.rstrip() for line in shown] == printed.splitlines()


def test_a_file_of_a_package_and_one_that_exits(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    package = tmp_path / "package_of_the_test"
    package.mkdir()
    texts = {
        "__init__": "",
        "scale": "SCALE = 2.0",
        "f": "from .scale import SCALE\n\n\ndef f(x):\n    return sum(x * v for v in [SCALE])",
        "exits": "raise SystemExit('no model')",
    }
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text + "\n")
    assert command(["explain", f"{package}/f.py::f", "--args", "0.5"]) == 0
    printed = capsys.readouterr().out
    assert "package_of_the_test.f.f(float)" in printed
    assert "Generated" not in printed
    assert command(["explain", f"{package}/exits.py::f"]) == 2
    assert capsys.readouterr().err.endswith("SystemExit: no model\n")


def test_a_call_by_the_command_stands_at_no_line(capsys, monkeypatch):
    found = [("<frozen runpy>:88", "math.sin(float)", "transformed")]
    monkeypatch.setattr("zygote_lite.__main__.resolutions", lambda *_: found)
    assert command(["explain", "math::sin", "--args", "0.5"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["-", *found[0][1:]]


def test_arguments_by_keyword_and_calls_of_a_loop(model, capsys):
    assert command(["explain", f"{model}::Model.by_keyword", "--args", "2.0", "factor = 3.0"]) == 0
    *_, call = capsys.readouterr().out.splitlines()
    assert "operator.mul(float, float)" in call
    assert call.endswith("(5 times)")
    assert command(["explain", f"{model}::loss", "--args", "1.0", "y=undefined"]) == 2
    assert "y=undefined: NameError" in capsys.readouterr().err
    assert command(["explain", f"{model}::half", "--args", "1.0 == 2.0"]) == 0


def test_the_page_about_an_error_of_rules(capsys):
    assert command(["error", "rc001"]) == 0
    assert capsys.readouterr().out.startswith("# RC001")
    assert command(["error", "RC999"]) == 2
    assert "RC" in capsys.readouterr().err.removeprefix("there is no error RC999")


@pytest.mark.parametrize("code", ["zl012", "ZL12", "zl12", "12", "012"])
def test_a_code_is_found_without_its_zeros_and_letters(code, capsys):
    assert command(["error", code]) == 0
    assert capsys.readouterr().out.startswith("# ZL012: ")


@pytest.mark.parametrize("code", ["", "abc", "0", "ZL", "XX012"])
def test_a_code_that_is_none_is_not_guessed(code, capsys):
    assert command(["error", code]) == 2
    assert f"there is no error {code}: " in capsys.readouterr().err


@pytest.mark.parametrize("package", ["zygote_lite", "rulescore"])
def test_a_reader_that_ends_first_is_no_error(package):
    read, write = os.pipe()
    os.close(read)
    told = subprocess.run(
        [sys.executable, "-m", package, "error"], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert told.stderr == b""
    assert told.returncode == 1


def test_one_argument_of_a_function_of_a_module(model, capsys):
    assert command(["explain", "math::sin", "--args", "0.5", "--argnums", "0"]) == 0
    assert "rules_base" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "args", "status", "told"),
    [
        ("{}::Model.of_text", ["1.0"], 1, "[ZL007]"),
        ("{}::los", ["1.0"], 2, "no los in"),
        ("{}::loss", ["undefined"], 2, "undefined"),
        ("{}::loss", ["1/0"], 2, "1/0: ZeroDivisionError"),
        ("{}::loss", ["1.0"], 1, "missing 1 required positional argument"),
        ("{}::Model.fails", ["Model()", "1.0"], 1, "ValueError: no value"),
        ("{}::np", ["1.0"], 1, "[ZL036]"),
        ("no.module::f", [], 2, "no.module::f: ModuleNotFoundError"),
        ("no.py::f", [], 2, "no file no.py"),
        ("{}", [], 2, "file.py::function"),
        ("::f", [], 2, "file.py::function"),
    ],
)
def test_what_goes_wrong_is_told(model, capsys, target, args, status, told):
    assert command(["explain", target.format(model), "--args", *args]) == status
    printed = capsys.readouterr().err
    assert told in printed
    assert "_interface" not in printed  # no frames of ours


def test_methods_and_partial_functions_are_answered_by_code_for_their_function(model):
    f, names = _function_and_names(f"{model}::loss")
    for asked in (names["Model"]().loss, functools.partial(f, y=2.0), functools.partial(f, 2.0)):
        assert "transformed" in explain(asked, 2.0).splitlines()[0]


def test_a_method_is_asked_for_by_an_object(model, capsys):
    assert command(["explain", f"{model}::Model.loss", "--args", "2.0"]) == 2
    assert "name it by an object, as in Model().loss" in capsys.readouterr().err
    for asked, given in (("Model().loss", ["2.0"]), ("Model.loss", ["Model()", "2.0"])):
        assert command(["explain", f"{model}::{asked}", "--args", *given]) == 0
        assert "operator.mul(float, float)" in capsys.readouterr().out
