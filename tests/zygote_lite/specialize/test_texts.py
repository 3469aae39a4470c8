"""Numbers that are made of the text of a differentiated number are refused, on any path."""

import numpy as np
import pytest

from zygote_lite import NoRuleError, gradient


def at_once(x):
    if x > 0.0:
        return x * x
    return float(str(x)) * 2.0


def through_a_list(x):
    if x > 0.0:
        return x * x
    texts = []
    texts.append(str(x))
    return float(texts[0])


def beside_a_number(x):
    if x > 0.0:
        return x * x
    return np.sum(np.array([str(x), x], dtype=float))


def decided_by_a_branch(x):
    text = str(x) if x < 5.0 else str(x * x)
    if x > 0.0:
        return x * x
    return float(text)


def by_an_index(x):
    if x > 0.0:
        return x * x
    return int(str(x)[1:2]) * x


def by_a_function_inside(x):
    def number(text):
        return np.float64(text)

    if x > 0.0:
        return x * x
    return number(str(x))


@pytest.mark.parametrize(
    "f",
    [at_once, through_a_list, beside_a_number, decided_by_a_branch, by_an_index,
     by_a_function_inside],
)  # fmt: skip
def test_a_path_that_was_not_taken_when_the_code_was_made(f):
    for _ in range(4):
        assert gradient(f, 2.0) == (4.0,)
    for _ in range(3):
        with pytest.raises(NoRuleError, match="text"):
            gradient(f, -2.0)
    assert gradient(f, 2.0) == (4.0,)


def test_the_length_of_a_text_is_no_number_of_it():
    def f(x):
        if x > 0.0:
            return x * x
        return len(str(x)) * x

    for _ in range(4):
        gradient(f, 2.0)
    assert gradient(f, -2.0) == (4.0,)
