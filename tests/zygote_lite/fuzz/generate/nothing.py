"""Random programs with variables that are a number on some paths, and `None` on others."""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor

HEADER = """\
class Memory:
    def __init__(self):
        self.last = None

    def step(self, z):
        d = 0.0 if self.last is None else z - self.last
        self.last = z
        return d


def f(x, y, v, n):
"""


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = ["a, b, c = x, y + 1.0, x * y", "p = q = r = None", "memory = Memory()"]
    lines += author.helper()
    for _ in range(author.source.randint(2, 5)):
        lines += author.statement(0)
    ends = [f"(0.3 if {name} is None else {name} * {name})" for name in author.maybe]
    lines.append(f"return a + 2.0 * b - c + {' + '.join(ends)} + x")
    return HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments, which take other branches and numbers of iterations."""
    source = np.random.default_rng(seed)
    x, y = map(float, source.normal(size=2))
    v = source.normal(size=4)
    choices = [(x, y, v, 3), (y, x, -v, 1), (-x, y, v[::-1].copy(), 0), (x, -y, v[:1], 5)]
    return [*choices, (np.float64(x), y, v, 2), (x, 1.0, v[:0], 3), (0.5, 2, v, 4)]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of nothing {seed}>", np=np, math=math)


class Author(RandomAuthor):
    """Write statements by random choice."""

    maybe = ("p", "q", "r")

    def number(self, *more):
        names = ("a", "b", "c", "x", "y", *more, *more)
        s, t = self.choice(*names), self.choice(*names)
        return self.choice(
            f"{s} * {t}", f"{s} - 0.5 * {t}", f"math.sin({s})", f"{s} / (1.0 + {t} * {t})", s,
            f"np.sum(v) * {s}", f"abs({s})", f"({s} if {t} > 0.0 else 0.5)", "1.0", "2",
        )  # fmt: skip

    def test(self, *more):
        s, m = self.choice("a", "b", "x", *more), self.choice(*self.maybe)
        return self.choice(
            f"{s} > 0.0", f"{s} < y", "n > 2", f"{m} is None", f"{m} is not None",
            f"{m} is None or {s} < {m}", f"{m} is not None and {m} > {s}",
            f"not ({m} is None) and {m} * {s} < 0.5",
        )  # fmt: skip

    def value(self, *more):
        """Return a number, or `None`."""
        m = self.choice(*self.maybe)
        return self.choice(
            self.number(*more), self.number(*more), "None", m, f"found({self.number(*more)})",
            f"({self.number(*more)} if {self.test(*more)} else None)",
            f"(None if {m} is None else {m} * 0.5)",
        )  # fmt: skip

    def used(self, *more):
        """Return a number that may be made of what may be `None`."""
        m = self.choice(*self.maybe)
        return self.choice(
            self.number(*more), f"({self.number(*more)} if {m} is None else {m} * x)",
            f"chosen({m}, {self.number(*more)})", f"memory.step({self.number(*more)})",
            "(0.1 if memory.last is None else memory.last)", f"({m} or 0.25)",
        )  # fmt: skip

    def helper(self):
        return [
            "def found(z):",
            "    for u in v:",
            f"        if u * z > {self.choice('0.0', '0.5', 'x')}:",
            f"            return {self.choice('u', 'u * z', 'z', 'u - y')}",
            *self.choice(["    return None"], [], ["    if z > 0.0:", "        return z * x"]),
            "def chosen(z, other=None):",
            "    if z is None:",
            "        return 0.0 if other is None else other",
            f"    return {self.choice('z', 'z * z', 'z if other is None else z * other')}",
        ]

    def statement(self, depth, *more):
        kind, m = self.source.random(), self.choice(*self.maybe)
        target = self.choice("a", "b", "c")
        if kind < 0.2:
            return [f"{m} = {self.value(*more)}"]
        if kind < 0.4 or depth > 2:
            return [f"{target} = {self.used(*more)}"]
        if kind < 0.5:
            return [f"if {m} is None:", f"    {m} = {self.value(*more)}"]
        if kind < 0.56:
            return [f"p, q = q, {self.value(*more)}"]
        inner = self.block_inside(depth, *more)
        if kind < 0.72:
            other = self.block_inside(depth, *more) if self.source.random() < 0.4 else []
            return [f"if {self.test(*more)}:", *inner, *(["else:", *other] if other else [])]
        u = self.new("u")
        inner = self.block_inside(depth, *more, u)
        if self.source.random() < 0.3:
            inner += [
                f"    if {self.test(*more, u)}:",
                f"        {self.choice('break', 'continue')}",
            ]
        inner += [f"    {m} = {self.value(*more, u)}"] if self.source.random() < 0.6 else []
        walked = self.choice("v", "v", "range(n)", "range(3)", "[x, y, a]")
        if walked == "v" and self.source.random() < 0.4:  # the least, or the latest
            inner += [f"    if {m} is None or {u} < {m}:", f"        {m} = {u}"]
        return [f"for {u} in {walked}:", *inner]

    def block_inside(self, depth, *more):
        lines = []
        for _ in range(self.source.randint(1, 2)):
            lines += self.statement(depth + 1, *more)
        return [f"    {line}" for line in lines]
