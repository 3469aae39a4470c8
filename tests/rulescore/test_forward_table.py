"""The page of forward rules says what is so."""

import subprocess
import sys

import pytest

from tests.rulescore.forward_table import PAGE, ROOT, versions


def test_the_page_is_that_of_the_rules():
    written = PAGE.read_text(encoding="utf-8")
    if versions() not in written:
        pytest.skip("the page was written with other versions of NumPy and SciPy")
    script = "from tests.rulescore.forward_table import *; print(page(ways()), end='')"
    run = [sys.executable, "-c", script]  # anew: tests declare rules of their own
    found = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout == written, "write it anew: python -m tests.rulescore.forward_table"
