"""Random programs of loops that are left, on a few variables that are carried in all ways.

Few variables, few expressions and many jumps: a value that is computed in one place is often needed
in another, under another name, on some of the paths alone.
"""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor

HEADER = "def f(x, y, v, n):\n    a, b, c, k = x, y, 1.0, n\n"
VARIABLES = ("a", "b", "c")


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = [*author.block(0, False), *author.loop(0), *author.block(0, False)]
    lines.append(f"return {author.source.choice(('a', 'c', 'a * b', 'a + 2.0 * b - c', 'b'))}")
    return HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments, which take other branches and numbers of iterations."""
    source = np.random.default_rng(seed)
    x, y = map(float, source.normal(size=2))
    v = source.normal(size=4)
    choices = [(x, y, v, 3), (y, x, -v, 4), (-x, y, v, 1), (x, y, v, 0), (2.0 * x, -y, v[:0], 6)]
    return [*choices, (np.float64(x), y, v[:2].copy(), 5), (3, y, v, 2)]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of jumps {seed}>", np=np, math=math)


class Author(RandomAuthor):
    """Write statements and expressions by random choice."""

    def __init__(self, source):
        super().__init__(source)
        self.temporaries = []

    def operand(self):
        return self.choice(*VARIABLES, *self.temporaries, "x", "y")

    def expression(self):
        a, b = self.operand(), self.operand()
        return self.choice(
            f"{a} * 1.5", f"{a} * y", f"{a} + {b}", f"{a} - 0.5 * {b}", f"0.5 * {a} * {b}",
            f"math.sin({a})", f"math.tanh({a} * {b})", f"{a}", f"-{a}", "0.0",
            f"{a} / (1.0 + {b} * {b})", f"({a} if {b} > 0.0 else {b})",
        )  # fmt: skip

    def test(self):
        a, b = self.operand(), self.operand()
        return self.choice(
            f"{a} > 0.5", f"{a} < {b}", f"abs({a} - {b}) < 0.3", "k % 2 == 0", "k > 1", f"{a} > 3.0"
        )

    def block(self, depth, inside):
        lines = []
        for _ in range(self.source.randint(1, 3 if inside else 2)):
            lines += self.statement(depth, inside)
        return lines

    def statement(self, depth, inside):
        kind = self.source.random()
        if depth < 3 and kind < 0.15:
            return self.branch(depth, inside)
        if depth < 2 and kind < 0.27:
            return self.loop(depth)
        if inside and kind < 0.45:
            jump = self.choice("break", "break", "continue", f"return {self.expression()}")
            before = [f"    {self.assignment()}"] if self.source.random() < 0.3 else []
            return [f"if {self.test()}:", *before, f"    {jump}"]
        if kind < 0.6:
            name = f"t{self.source.randint(0, 1)}"
            line = f"{name} = {self.expression()}"
            self.temporaries = [*dict.fromkeys([*self.temporaries, name])]
            return [line]
        return [self.assignment()]

    def assignment(self):
        one, other = self.source.sample(VARIABLES, 2)
        return self.choice(
            f"{one} = {self.expression()}", f"{one} = {self.expression()}",
            f"{one} += {self.expression()}", f"{one}, {other} = {other}, {self.expression()}",
            f"{one} = {other} = {self.expression()}", "k -= 1",
        )  # fmt: skip

    def branch(self, depth, inside):
        known = self.temporaries
        lines = [f"if {self.test()}:", *self.inner(depth, inside)]
        self.temporaries = known
        if self.source.random() < 0.5:
            lines += ["else:", *self.inner(depth, inside)]
            self.temporaries = known
        return lines

    def loop(self, depth):
        known = self.temporaries
        head = self.choice(
            "for i in range(n):", "for i in range(3):", "for c in v:", "for w in v:",
            "while True:", "while abs(a) < 4.0 and k > -9:",
        )  # fmt: skip
        first = ["    k -= 1", "    if k < -3:", "        break"] if head[0] == "w" else []
        lines = [head, *first, *self.inner(depth, True)]
        if self.source.random() < 0.5:  # what a test sees is kept, or is not
            lines += [f"    t = {self.expression()}", f"    if {self.test()}:", "        break"]
            lines += [f"    {self.choice(*VARIABLES)} = t"]
        self.temporaries = known
        if self.source.random() < 0.25:
            lines += ["else:", *self.inner(depth, False)]
            self.temporaries = known
        return lines

    def inner(self, depth, inside):
        return [f"    {line}" for line in self.block(depth + 1, inside)]
