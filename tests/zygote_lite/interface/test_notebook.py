"""A notebook: cells that are changed and run again, modules that are reloaded, an error."""

import re

import pytest

nbclient = pytest.importorskip("nbclient", reason="a notebook needs nbclient and ipykernel")
nbformat = pytest.importorskip("nbformat", reason="a notebook needs nbformat")
pytest.importorskip("ipykernel", reason="a notebook needs ipykernel")

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
