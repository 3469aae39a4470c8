"""Rows of data are taken apart by their form, or are not of that form."""

import numpy as np

from zygote_lite._specialize.infer.iteration.columns import ARRAY, NUMBER, OTHER, TEXT, columns_of

FORM = (tuple, (0, 1, 2, 3), (NUMBER, TEXT, ARRAY, OTHER))


def row(number=1.0, text="a", array=None):
    return (number, text, np.ones(2) if array is None else array, object())


def test_rows_of_a_form_are_taken_apart():
    numbers, texts, arrays, others = columns_of([row(), row(2.0, "b")], FORM)
    assert (numbers, texts, others) == ([1.0, 2.0], ["a", "b"], None)
    assert np.array_equal(arrays, np.ones((2, 2)))


def test_rows_with_another_kind_of_text_or_array_are_not_of_the_form():
    assert columns_of([row(), row(text=2.0)], FORM) is None
    assert columns_of([row(), row(array=2.0)], FORM) is None
    assert columns_of([row(), row()[:3]], FORM) is None
    assert columns_of([row(), [*row()]], FORM) is None
