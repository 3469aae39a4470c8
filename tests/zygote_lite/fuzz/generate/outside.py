"""Random programs that write to arrays and variables outside: buffers, work arrays, counters.

A program is the text of `f(u, s, n)`. What it does to arrays is what `written` does: they are
globals, attributes, entries, defaults or variables of a function around it. From call to call they
are other ones, of other types and lengths, read-only, or one and the same.
"""

import collections
import math
import operator
import random
import types

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.generate import written

PLACES = (
    "x, y, m = X, Y, M", "x, y, m = K.x, K.y, K.m", 'x, y, m = D["x"], K.y, M',
    "x, y, m = L[0], L[1], M", "x, y, m = X, u, M", "x, y, m = X, Y, X[:, None] * X",
    "x, y, m = u * 1.0, Y, K.m", "x, y, m = D['x'], X, np.eye(len(X))",
)  # fmt: skip
USES = (
    "X[0] = s", "X[...] += 0.5", "Y[-1] += u[0]", "s = s + X[0]", "M[0] = Y", "s = s * np.sum(M)",
    "X[:] = u", "K.x[0] += s", "D['x'][-1] = 0.5", "s = s + L[0][0]", "I[n % 2] += 1",
    "s = s * (1.0 + I[0])", "if s > 2.0: raise ValueError(s)", "H.append(s)",
)  # fmt: skip


class Kept:
    """An object with arrays."""

    def __init__(self, x, y, m):
        self.x, self.y, self.m = x, y, m


def fresh(k):
    """Return the globals as they are before a call."""
    length = 3 if k % 6 == 3 else 4
    source = np.random.default_rng(k)
    x, y, a, b = source.normal(size=(4, length))
    m, q = source.normal(size=(2, length, length))
    if k % 7 == 2:
        x = np.round(3.0 * x).astype(int)
    if k % 7 == 4:
        y = x
    if k % 9 == 5:
        x.flags.writeable = False
    if k % 8 == 6:
        x, m = m[0], m.T
    kept = Kept(x if k % 5 == 4 else a, b, m if k % 5 == 3 else q)
    return {
        "X": x, "Y": y, "M": m, "K": kept, "D": {"x": a if k % 4 == 3 else y * 1.0},
        "L": [b if k % 4 == 2 else x * 2.0, y * 3.0], "I": np.zeros(2, int), "H": [],
    }  # fmt: skip


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    author = written.Author(source)
    author.vectors = ["x", "y", "u"]
    lines = [source.choice(PLACES), *source.sample(USES, source.randint(0, 2))]
    lines += author.block(source.randint(1, 5), 0)
    lines += source.sample(USES, source.randint(0, 2))
    terms = [author.total(name) for name in author.vectors] + [author.total("m")]
    lines.append(f"return s * {' + '.join(terms)}")
    return written.HELPERS + "def f(u, s, n):\n" + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)

    def choice(length=4, count=3):
        return source.normal(size=length), float(source.normal()), count

    return [choice(), choice(), choice(), choice(3, 2), choice(), choice(count=0), choice()]


def load(seed):
    """Return the function of a number."""
    f = texts.load(
        program(seed), f"<program on arrays outside {seed}>", np=np, math=math, operator=operator,
        types=types, collections=collections, **fresh(0),
    )  # fmt: skip
    f.__globals__["fresh"] = fresh
    return f
