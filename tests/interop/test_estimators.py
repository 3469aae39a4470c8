"""The table of the page about estimators of scikit-learn is that of today."""

import pytest

from tests.interop import estimators
from tests.interop.tables import END

pytest.importorskip("sklearn", reason="scikit-learn is not here: `nox -s interop` installs it")


def test_the_page_has_the_table():
    """No entry is a wrong gradient, which `outcome` raises for."""
    text = estimators.PAGE.read_text(encoding="utf-8")
    assert text.count(estimators.BEGIN) == text.count(END) == 1
    assert estimators.written(text) == text, "write it anew: python -m tests.interop.estimators"
