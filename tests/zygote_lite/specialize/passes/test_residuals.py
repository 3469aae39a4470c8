"""Variables that loops carry, under the names that a reader expects, on every path out of them."""

import math

import numpy as np

from tests.zygote_lite.checks import programs

V = np.array([1.0, 2.0, 0.5])
PROGRAMS = []
transformed = programs.declaring(PROGRAMS)


@transformed((1.0, 1.5, 5), (1.0, 1.5, 1), (1.0, 1.5, 0), (4.0, 1.5, 3), (1.0, -1.0, 4))
def keeps_what_was_before_the_break(x, k, n):
    c = x
    for _ in range(n):
        new = c * 1.5 - 0.1
        if new > 3.0:
            break
        c = new
    return c * k


@transformed((2.0, 3.0, V, 0), (2.0, 3.0, V, 1), (2.0, 3.0, V[:0], 0))
def one_expression_twice(x, y, v, n):
    c, s = y, 0.0
    for b in v:
        s = b * y * x
        if n % 2 == 0:
            break
        c = b * y
    return s + c


@transformed((1.0, 1.5, 5), (1.0, 3.5, 5), (1.0, 0.1, 5))
def breaks_on_two_paths(x, k, n):
    a = b = x
    while True:
        new, other = a * k, b + a
        if new > 3.0:
            a = -new
            break
        if math.sin(other) < 0.0 or n == 0:
            break
        n -= 1
        a, b = new, other
    return a * b


@transformed((1.0, 1.5, 3), (1.0, 0.5, 3), (2.5, 1.5, 0))
def leaves_loops_inside_loops(x, k, n):
    a = x
    for i in range(n):
        b = a
        for _ in range(n):
            new = b * k
            if new > 2.0 + i:
                break
            b = new
        following = b + 0.1 * a
        if following > 3.0:
            break
        a = following
    return a * x


@programs.for_each(PROGRAMS)
def test_break_keeps_the_values_before_it(f, choices):
    programs.assert_transformed(f, choices, programs.not_counts(choices[0]))
