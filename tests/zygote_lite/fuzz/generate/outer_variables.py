"""Random programs that assign variables outside: counters, the best so far, the last values.

They are globals, and variables of a function around that other functions assign, too: in loops,
branches and `try`, before they raise, and with another type from call to call.
"""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.generate.given import caught, failing, loop_or_branch
from zygote_lite import grad

VALUES = (
    "s", "x", "s * x", "v[0]", "v", "v * s", "w", "i", "2.0", "n", "None", "(s, i)", "float(s)",
    "k", "COUNT", "x > 0.0", '"b"', "best", "BEST", "np.sum(v)", "[s]", "v[:2]",
)  # fmt: skip
OF_GLOBALS = ("n", "2.0", "None", "COUNT", '"b"', "i", "n * 0.5", "np.ones(2)", "k", "w", "BEST",
              "DATA", "s")  # fmt: skip
ASSIGNED = (
    "k += 1", "k = k + i", "COUNT += 1", "COUNT = COUNT + n", "last = {v}", "LAST = {c}",
    "best = {v}", "BEST = {c}", "if s < best: best = s", "if n < BEST: BEST = n", "put({v})",
    "s = s + bump(s)", "keep({c})", "MODE = {c}", "k, last = k + 1, {v}", "s = s * inner(s)",
    "best *= 0.5", "BEST = max(BEST, n)", "s = s + sum(turns(s))", "w[i % 3] = s",
    "Kind.n += 1", "Kind.n += i", "s = s + o.tick(s)", "Sub.m = {c}", "Kind.m = s", "total.n += 1",
    "o.n += 1", "s = s * Sub().tick(x)",
)  # fmt: skip
READS = (
    "s = s * k", "s = s + x * COUNT", "s = s + best * x", "s = s * BEST", "s = s + total()",
    "if k % 2 == 0: s = s * x", "if COUNT > 2: s = s + x", "if last is None: s = s * 2.0",
    'if MODE == "b": s = s * 0.5', "s = s + np.sum(LAST)", "s = s + np.sum(last)", "print(k)",
    "s = s + (lambda: k * x)()", "if k == 3: raise KeyError(k)",
    "s = s + grad(lambda y: y * y * COUNT)(x)",
    "s = s * Kind.n", "s = s + o.n * x", "s = s + Sub.n * Kind.m", "s = s * total.n",
    "s = s + grad(lambda y: y * y * Kind.n)(x)", "if o.m > 1.0: s = s * 0.5",
)  # fmt: skip
HEAD = """class Kind:
    n, m = 0, 1.0

    def tick(self, value):
        type(self).n += 1
        return value * self.n


class Sub(Kind):
    m = 2.0


o = Kind()


def keep(value):
    global LAST, COUNT
    LAST = value
    COUNT += 1


def total():
    return COUNT * 0.5


total.n = 0


def make():
    k, best, last = 0, 9.0, None

    def put(value):
        nonlocal last, k
        last = value
        k += 1

    def bump(value):
        nonlocal k
        if value > 0.0:
            k += 2
        return k * value

    def turns(value):
        nonlocal k
        for _ in range(2):
            k += 1
            yield value * k

    def f(x, v, n):
        nonlocal k, best, last
        global COUNT, BEST, LAST, MODE
        s, w, i = x, np.zeros(3), 0

        def inner(value):
            nonlocal k
            k += 1
            return value + k

"""
TAIL = """
    def told():
        return k, best, last, Kind.n, Kind.m, vars(Sub).get("n"), Sub.m, total.n, vars(o)

    def reset(i):
        nonlocal k, best, last
        k = Kind.n = i % 3
        Kind.m, Sub.m, total.n = 1.0, 2.0 if i % 4 else "b", i % 4
        vars(o).clear()
        if "n" in vars(Sub):
            del Sub.n
        best, last = (9.0, None) if i % 4 else (np.float64(1.0), np.ones(2) * i)

    return f, told, reset


f, told, reset = make()
"""


def fresh(k):
    """Return the globals as they are before a call."""
    return {
        "COUNT": k % 4, "BEST": 9.0 if k % 3 else 1, "LAST": None if k % 5 else np.ones(3),
        "MODE": "ab"[k % 2], "DATA": np.arange(3.0),
    }  # fmt: skip


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    kept = source.sample(ASSIGNED, 5), source.sample(READS, source.choice((1, 2, 4)))
    lines = []
    for _ in range(source.randint(2, 6)):
        lines += statement(source, 2, kept)
    end = source.choice(["np.sum(w)", "x", "np.sum(v)", "0.0"])
    return HEAD + "\n".join([*lines, f"        return s * 1.0 + {end}", TAIL])


def statement(source, depth, kept):
    """Return the lines of a statement."""
    indent, kind = "    " * depth, source.random()

    def inner():
        return statement(source, depth + 1, kept)

    if depth < 4 and kind < 0.27:
        return loop_or_branch(source, indent, kind, ["n % 2 == 0", "s > 0.5", "k > 1"], inner)
    if depth < 4 and kind < 0.34:
        return caught(source, indent, inner)
    if kind < 0.39:
        return failing(indent, kind)
    if kind < 0.75:
        line = source.choice(kept[0]).replace("{v}", source.choice(VALUES))
        return [indent + line.replace("{c}", source.choice(OF_GLOBALS))]
    if kind < 0.88:
        return [indent + source.choice(kept[1])]
    return [f"{indent}s = 0.5 * s + x * {source.choice(['s', 'v[0]', '2.0', 'v[i % 3]'])}"]


def load(seed):
    """Return the function of a number."""
    f = texts.load(
        program(seed), f"<program on variables outside {seed}>", np=np, math=math, grad=grad,
        **fresh(0),
    )  # fmt: skip
    f.__globals__["fresh"] = fresh
    return f


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)
    choices = [(float(source.normal()), source.normal(size=3), n) for n in (3, 4, 3, 5, 0, 2)]
    return [*choices, (np.float64(source.normal()), source.normal(size=3), 3)]
