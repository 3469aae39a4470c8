"""A notebook: cells that are changed and run again, modules that are reloaded, errors."""

import contextlib
import io
import re

import pytest

nbclient = pytest.importorskip("nbclient", reason="a notebook needs nbclient and ipykernel")
nbformat = pytest.importorskip("nbformat", reason="a notebook needs nbformat")
pytest.importorskip("ipykernel", reason="a notebook needs ipykernel")
interactive = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not here")

CELLS = """
import numpy as np
from zygote_lite import code_adjoint, explain, grad, pullback

def loss(x):
    return np.sum(x**2)

g = [grad(loss)(np.ones(2)).tolist() for _ in range(4)]
print(g[0], g[3])
# ---
def loss(x):
    return np.sum(x**3)

print([grad(loss)(np.ones(2)).tolist() for _ in range(4)][3])
# ---
%load_ext autoreload
%autoreload 2
import os, pathlib, sys, time
sys.path.insert(0, os.getcwd())
pathlib.Path("scaled.py").write_text("def scaled(x):\\n    return 2 * x\\n")
import scaled
print([grad(lambda x: scaled.scaled(x))(1.0) for _ in range(4)])
# ---
pathlib.Path("scaled.py").write_text("def scaled(x):\\n    return 30 * x\\n")
os.utime("scaled.py", (time.time() + 10, time.time() + 10))
# ---
print([grad(lambda x: scaled.scaled(x))(1.0) for _ in range(4)])
# ---
%time found = grad(loss)(np.ones(2))
print(found.tolist())
# ---
code_adjoint(loss, np.ones(2))
# ---
def failing(x):
    y = x * 2
    return np.sum(y) + float(str(y[0]))

grad(failing)(np.ones(2))
# ---
print(pullback(loss, np.ones(2))[1])
# ---
from rulescore import RuleSet

RuleSet("mine")(np.sinc)(lambda x: x.size, 3)
# ---
print(explain(loss, np.ones(2)).splitlines()[0])
"""


def test_a_notebook_with_redefinitions_reloads_times_and_an_error(tmp_path):
    cells = [nbformat.v4.new_code_cell(text.strip()) for text in CELLS.split("# ---\n")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, allow_errors=True, resources=place).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert "error" not in [out.output_type for out in outputs[0]], outputs[0]
    texts = ["".join(out.get("text", "") for out in one) for one in outputs]
    assert texts[0] == "[2.0, 2.0] [2.0, 2.0]\n"
    assert texts[1] == "[3.0, 3.0]\n"
    assert texts[2] == "[2.0, 2.0, 2.0, 2.0]\n"
    assert texts[4] == "[30.0, 30.0, 30.0, 30.0]\n"
    assert "Wall time" in texts[5]
    assert texts[5].endswith("[3.0, 3.0]\n")
    (shown,) = [out for out in outputs[6] if "data" in out]
    assert "<pre" in shown["data"]["text/html"]
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown["data"]["text/plain"])
    assert plain.startswith("def loss_pullback(x):")
    (error,) = [out for out in outputs[7] if out.output_type == "error"]
    told = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
    assert error["ename"] == "NoRuleError"
    assert re.match(r"Cell In\[8\]:3: ", error["evalue"])  # as IPython names the cell
    assert error["evalue"].endswith("[ZL007]")
    assert "in failing(x)" in told  # with the parameters that the user wrote
    assert re.search(r"-> 3 +return np\.sum", told)  # the line as it is numbered in the cell
    assert "zygote_lite/_" not in told  # the one frame of ours is hidden, as by pytest
    assert texts[8] == "∂(loss)\n"
    (error,) = [out for out in outputs[9] if out.output_type == "error"]
    assert re.match(r"rule set mine, Cell In\[10\]:3: ", error["evalue"])
    assert "_declaring" not in "".join(error["traceback"])  # no frame of rulescore
    assert re.match(r"Cell In\[11\]:1 +loss\(ndarray\) +transformed; Cell In\[2\]:1$", texts[10])


DEFINED = """
import numpy as np
from rulescore import RuleSet
from scipy.cluster.vq import vq
from scipy.integrate import quad
from zygote_lite import *

def missing(x):
    known = {}
    return x * known["k"]

def looked_up(x, known):
    return x * known["k"]

def of_text(x):
    return float(str(x))

def distances(x):
    return np.sum(vq(x, np.ones((1, 1)))[1])

def height(t, a):
    return t * a.height

def area(a):
    return quad(height, 0, 1, args=(a,))[0]

def doubled(x):
    return 2 * x
"""
OF_ENGINE = "the frame of ours"
FAILING = {  # the call, the visible frames behind the cell, the end of the message
    "error of the user": ("grad(missing)(1.0)", ["missing(x)"], "KeyError: 'k'"),
    "fourth call": (
        "for known in [{'k': 2.0}] * 3 + [{}]: grad(looked_up)(1.0, known)",
        ["looked_up(x, known)"],
        "KeyError: 'k'",
    ),
    "refusal": ("grad(of_text)(1.0)", ["of_text(x)"], "[ZL007]"),
    "tangent": ("jvp(of_text, (1.0,), (1.0,))", ["of_text(x)"], "[ZL007]"),
    "batch": ("vmap(missing)(np.ones(2))", ["missing(x)"], "KeyError: 'k'"),
    "second derivative": ("hessian(missing)(np.ones(2))", ["missing(x)"], "KeyError: 'k'"),
    "check": ("check_gradient(of_text, 1.0)", ["of_text(x)"], "[ZL007]"),
    "explain": ("explain(missing, 1.0)", ["missing(x)"], "KeyError: 'k'"),
    "checkpoint": ("grad(checkpoint(missing))(1.0)", ["missing(x)"], "KeyError: 'k'"),
    "compiled function of a library": (
        "grad(distances)(np.ones((3, 1)))",
        ["distances(x)", "vq(obs, code_book, check_finite)"],
        "[ZL001]",
    ),
    "function that a library calls": (
        "grad(area)(1.0)",
        ["area(a)", "quad(", "_quad(", "height(t, a)"],
        "has no attribute 'height'",
    ),
    "cotangent": ("pullback(doubled, 1.0)[1]('a')", [OF_ENGINE], "[ZL034]"),
    "pushforward": ("linearize(doubled, 1.0)[1](np.ones(3))", [OF_ENGINE], "[ZL031]"),
    "argnums": ("grad(doubled, argnums=3)(1.0)", [OF_ENGINE], "[ZL035]"),
    "value": ("grad(lambda x: 'a')(1.0)", [OF_ENGINE], "[ZL033]"),
    "trees": ("tree_map(doubled, [1.0], [1.0, 2.0])", [OF_ENGINE], "[ZL038]"),
    "export": ("export_adjoint(np.sin, 1.0)", [OF_ENGINE], "[ZL032]"),
    "declaration": ("RuleSet('mine')(np.sinc)(lambda x: x.size, 3)", [OF_ENGINE], "[RC001]"),
}


@pytest.fixture(scope="module")
def shell():
    """Return a shell of IPython in this process, without a kernel."""
    interactive.InteractiveShell.clear_instance()
    made = interactive.InteractiveShell.instance(colors="nocolor")
    made.history_manager.enabled = False
    made.run_cell(DEFINED)
    yield made
    interactive.InteractiveShell.clear_instance()


@pytest.mark.parametrize("kind", FAILING)
def test_an_error_shows_the_frames_of_the_user_and_at_most_one_of_ours(shell, kind):
    call, frames, end = FAILING[kind]
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        result = shell.run_cell(f"# {kind}\n{call}")
    text = told.getvalue()
    assert text.rstrip().endswith(end)
    assert str(result.error_in_exec) in text
    heads = re.findall(r"^(?:File|Cell) .*$", text, re.MULTILINE)
    assert len(heads) == len(frames) + 1
    assert re.match(r"Cell In\[\d+\], line 2$", heads[0])  # what the user called
    for head, frame in zip(heads[1:], frames, strict=False):
        ours = re.search(r"/(zygote_lite|rulescore)/_", head)
        assert ours if frame == OF_ENGINE else f" in {frame}" in head
    assert text.count("skipping hidden 1 frame") == (OF_ENGINE not in frames)
