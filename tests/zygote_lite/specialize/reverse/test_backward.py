"""The reverse pass of a loop that is left by `break`: what the last iteration did before counts."""

import numpy as np
import pytest

from zygote_lite import code_adjoint, value_and_grad
from zygote_lite.testing import recorded_only, transformed_only

X = np.array([0.5, 2.0, 0.1])


def written(x):
    a = np.zeros(3)
    for i in range(3):
        if x[i] > 1.0:
            a[i] = x[i] * 5.0
            break
        a[i] = x[i] * x[i]
    return np.sum(a)


def appended(x):
    out = []
    for i in range(3):
        if x[i] > 1.0:
            out.append(x[i] * 5.0)
            break
        out.append(x[i] * x[i])
    return sum(out)


def assigned(x):
    s = 0.0
    for i in range(3):
        if x[i] > 1.0:
            s = s * x[i]
            break
        s = s + x[i] * x[i]
    return s


def in_a_loop(x):
    s = 0.0
    for i in range(3):
        if x[i] > 1.0:
            for j in range(2):
                s = s + x[j] * x[i]
            break
        s = s + x[i] * x[i]
    return s


def in_a_branch(x):
    a = np.zeros(3)
    for i in range(3):
        if x[i] > 1.0:
            if x[0] < 1.0:
                a[0] = x[i] * x[0]
            break
        a[i] = x[i] * x[i]
    return np.sum(a)


@pytest.mark.parametrize("f", [written, appended, assigned, in_a_loop, in_a_branch])
def test_a_break_after_something_that_counts(f):
    with recorded_only():
        y, d = value_and_grad(f)(X)
    with transformed_only():
        got = value_and_grad(f)(X)
    assert got[0] == y
    np.testing.assert_allclose(got[1], d)


def column(x):
    rows = np.arange(3)
    return np.sum(x[rows, 1] ** 2 * 3.0)


def test_rows_that_are_counted_name_each_entry_once():
    x = np.arange(9.0).reshape(3, 3)
    text = code_adjoint(column, x)
    assert "[rows, 1] = " in text
    assert "add.at" not in text


def test_a_break_before_anything_that_counts_is_not_saved():
    def f(x, n):
        s = 1.0
        for _ in range(n):
            if s > 10.0:
                break
            s = s * x
        return s

    assert value_and_grad(f)(2.0, 3) == (8.0, 12.0)
    assert value_and_grad(f)(2.0, 9) == (16.0, 32.0)
    _, _, backward = str(code_adjoint(f, 2.0, 5)).partition("def back(")
    assert "for " in backward
    assert "if " not in backward
