"""Gradients by arrays of other libraries are right, or an error: the table of the page."""

import numpy as np
import pytest

from tests.interop.tables import END

arrays = pytest.importorskip("tests.interop.array_table", reason="`nox -s interop` has them all")
pytestmark = pytest.mark.filterwarnings("default")


def test_the_page_has_the_tables():
    """No cell is a wrong gradient, which `outcome` raises for."""
    text = arrays.PAGE.read_text(encoding="utf-8")
    assert text.count(arrays.BEGIN) == text.count(arrays.BEGIN_STANDARD) == 1
    assert text.count(END) == 2
    assert arrays.written(text) == text, "write it anew: python -m tests.interop.array_table"


def test_a_subscript_of_a_sparse_array_is_refused_in_words():
    x = arrays.LIBRARIES["pydata sparse"](arrays.X)
    with pytest.raises(arrays.DifferentiationError, match=r"subscript of a COO.*np\.where"):
        arrays.gradient(arrays.OPERATIONS["`x[0]`"], x)


def test_the_gradient_by_a_quantity_has_the_unit_of_the_value_by_its_own():
    """Beside the gradient by numbers, all in base units."""
    units = arrays.UNITS
    number, time, far = np.array([1.0, 2.0]), np.array([2.0, 4.0]), np.array([0.5, 3.0])
    given = [units.Quantity(x, u) for x, u in ((number, "m"), (time, "s"), (far, "km"))]

    def action(x, t, far):
        both = np.concatenate([far, far])[:2]
        return np.sum((x / t) ** 2 * np.sqrt(x) + both**2 * x**0.5 / t**2)

    value = action(*given)
    want = arrays.gradient(action, number, time, 1e3 * far)
    for dx, x, due in zip(arrays.gradient(action, *given), given, want, strict=True):
        found = dx.to_base_units()
        assert found.units == (value / x).to_base_units().units
        np.testing.assert_allclose(found.magnitude, due, rtol=1e-12)


@pytest.mark.parametrize("f", [lambda x: np.sum(x * x), np.sqrt], ids=["sum", "sqrt"])
def test_a_quantity_of_a_plain_number_is_refused_by_its_name(f):
    for number in (2.0, 3):
        with pytest.raises(arrays.DifferentiationError, match="Quantity that holds a plain number"):
            arrays.gradient(f, arrays.UNITS.Quantity(number, "m"))
