"""Two names for one array: a function is given it twice, and its shadow is one, too.

The picture is that of `memory.py`, for `a[0] += b[0]` where `a` and `b` are the same array.

    python examples/two_names.py two_names.png
"""

import sys

import numpy as np
from memory import draw


def add(a, b):
    a[0] += b[0]


def product(a, b):
    return a[0] * b[1]


def main(path="two_names.png"):
    texts = "a = b = y", "a[0] += b[0]"
    steps = [lambda y: add(y, y)]
    x = np.array([2.0, 5.0])
    draw(steps, lambda y: product(y, y), x, texts, {"a = b": slice(0, 2)}, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
