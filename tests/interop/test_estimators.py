"""The table of the page about estimators of scikit-learn is that of today."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop import estimators
from tests.interop.tables import END

ROOT = Path(__file__).parents[2]
pytest.importorskip("sklearn", reason="scikit-learn is not here: `nox -s interop` installs it")


def test_the_page_has_the_table():
    """No entry is a wrong gradient, which `outcome` raises for.

    It is made in a process of its own, as the command does: what other tests leave behind, such as
    threads, decides what may be refused.
    """
    text = estimators.PAGE.read_text(encoding="utf-8")
    assert text.count(estimators.BEGIN) == text.count(END) == 1
    code = "from tests.interop import estimators as e; print(e.written(e.PAGE.read_text('utf-8')))"
    made = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert made.stdout[:-1] == text, "write it anew: python -m tests.interop.estimators"
