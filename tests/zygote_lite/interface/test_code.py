"""Code that is shown: text, which is highlighted in a terminal and in a notebook."""

import html
import math
import pickle
import re
import sys

import numpy as np
import pytest
from rich.console import Console

from zygote_lite import code_adjoint, code_jvp, code_lowered, code_primal, explain


def loss(x):
    return np.sum(np.where(x < 0.5, math.pi * x, x & x if False else x**2))


CODES = {
    "adjoint": lambda: code_adjoint(loss, np.ones(3)),
    "recording": lambda: code_adjoint(loss),
    "primal": lambda: code_primal(loss),
    "lowered": lambda: code_lowered(loss),
    "jvp": lambda: code_jvp(loss, np.ones(3)),
    "explain": lambda: explain(loss, np.ones(3)),
}


@pytest.mark.parametrize("name", CODES)
def test_the_same_text_is_shown_everywhere(name, monkeypatch):
    code = CODES[name]()
    assert isinstance(code, str)
    assert repr(code) == str(code) == f"{code}"
    shown = html.unescape(re.sub(r"<[^>]*>", "", code._repr_html_()))
    lines = str(code).rstrip().splitlines()
    assert [line.rstrip() for line in shown.rstrip().splitlines()] == lines
    assert 'style="color' in code._repr_html_()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    colored = repr(code)
    assert "\x1b[" in colored
    plain = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [x.rstrip() for x in plain.splitlines()] == lines


def test_it_is_plain_text_without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)  # as where it is not installed
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    code = CODES["adjoint"]()
    assert repr(code) == str(code)
    assert code._repr_html_() is None


def test_rich_prints_it_highlighted(capsys):
    console = Console(force_terminal=True, width=200)
    with console.capture() as captured:
        console.print(CODES["adjoint"]())
    assert "\x1b[" in captured.get()


def test_a_list_of_calls_has_a_color_for_each_answer():
    shown = explain(lambda x: np.sum(x) * len({x[0], 1}), np.ones(3))
    of = {
        answer: {
            re.findall(r"color: (#\w+)", line)[-1]
            for line in shown._repr_html_().splitlines()
            if f">{answer}" in line
        }
        for answer in ("recorded", "rule of")
    }
    assert [len(colors) for colors in of.values()] == [1, 1]
    assert of["recorded"] != of["rule of"]
    copied = pickle.loads(pickle.dumps(shown))
    assert (type(copied), copied) == (type(shown), shown)


def test_it_is_pickled_and_compiled_as_text():
    code = CODES["adjoint"]()
    copied = pickle.loads(pickle.dumps(code))
    assert (type(copied), copied) == (type(code), code)
    compile(code, "<shown>", "exec")


def test_a_variable_that_each_iteration_sets_has_no_value_before_the_loop():
    def f(x, n):
        s = x
        for i in range(n):
            t = s * s
            if t > 10.0:
                s = s * 0.5
            else:
                s = t * x
        return s * s

    assert "None\n    for" not in code_adjoint(f, 1.5, 5)
