"""Gradients by arrays of other libraries are right, or an error: the table of the page."""

import pytest

from tests.interop.tables import END

arrays = pytest.importorskip("tests.interop.array_table", reason="`nox -s interop` has them all")
pytestmark = pytest.mark.filterwarnings("default")


def test_the_page_has_the_table():
    """No cell is a wrong gradient, which `outcome` raises for."""
    text = arrays.PAGE.read_text(encoding="utf-8")
    assert text.count(arrays.BEGIN) == text.count(END) == 1
    assert arrays.written(text) == text, "write it anew: python -m tests.interop.array_table"


def test_a_subscript_of_a_sparse_array_is_refused_in_words():
    x = arrays.LIBRARIES["pydata sparse"](arrays.X)
    with pytest.raises(NotImplementedError, match=r"subscript of a COO.*np\.where"):
        arrays.gradient(arrays.OPERATIONS["`x[0]`"], x)
