"""Programs made at random that read, write and add to a few places, again and again.

A program is the text of `f(x, p)`: an array or a list of numbers, and a number. Its places
overlap: the same ones by several indices, parts of arrays, items appended.
"""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts

INDICES = ("i", "i", "j", "0", "-1", "2", "i - 1")
PARTS = ("[1:-1]", "[2:]", "[:-2]", "[1:3]", "[::2]")


class Author:
    """Write a program from a number."""

    def __init__(self, seed, lists):
        self.random = random.Random(seed)
        self.lists = lists
        self.lines = []

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def place(self):
        return f"{self.random.choice('yyz')}[{self.random.choice(INDICES)}]"

    def expression(self, depth=0):
        r = self.random
        if depth > 1 or r.random() < 0.35:
            return r.choice([self.place(), self.place(), "p", "s", "t", f"{r.uniform(-1, 1):.1f}"])
        if r.random() < 0.75:
            left, right = self.expression(depth + 1), self.expression(depth + 1)
            return f"({left} {r.choice('+-*')} {right})"
        return f"math.sin({self.expression(depth + 1)})"

    def statement(self, depth):
        r, place, value = self.random, self.place(), self.expression()
        kind = r.random()
        if kind < 0.25:
            self.line(depth, f"{place} {r.choice(['+=', '-=', '*='])} {value}")
        elif kind < 0.4:
            sums = [f"{place} + {value}", f"{value} + {place}", f"{place} - {value}",
                    f"{place} + {place}", f"{value} - {place}"]  # fmt: skip
            self.line(depth, f"{place} = {r.choice(sums)}")
        elif kind < 0.55:
            self.line(depth, f"{place} = {value}")
        elif kind < 0.7:
            self.line(depth, f"{r.choice('st')} {r.choice(['=', '+=', '-='])} {value}")
        elif kind < 0.8:
            name = r.choice("st")
            self.line(depth, f"{name} = {place}")
            self.statement(depth)
            self.line(depth, f"{place} = {name} + {value}")
        elif kind < 0.87 and not self.lists:
            part = r.choice("yz") + r.choice(PARTS)
            change = r.choice([f"{part} * 0.5", "p", f"np.sin({part})", f"0.1 * {part}"])
            self.line(depth, f"{part} {r.choice(['+=', '-='])} {change}")
        elif kind < 0.93 and depth < 3:
            self.line(depth, f"if {value} > 0.2:")
            for _ in range(r.randint(1, 2)):
                self.statement(depth + 1)
            if r.random() < 0.5:
                self.line(depth, "else:")
                self.statement(depth + 1)
        elif kind < 0.96 and self.lists:
            self.line(depth, f"z.append({value})")
        else:
            self.line(depth, f"h = p * {r.uniform(-1, 1):.1f} {r.choice('+-')} 0.5")
            self.line(depth, f"s = s + h * {value}")

    def program(self):
        r = self.random
        self.line(0, "def f(x, p):")
        self.line(1, "y = [v for v in x]" if self.lists else "y = x.copy()")
        self.line(1, "z = [0.1] * len(x)" if self.lists else "z = np.zeros(len(x))")
        self.line(1, "s, t, j = 0.5, p, 1")
        self.line(1, f"for i in range({r.randint(2, 4)}):")
        for _ in range(r.randint(1, 4)):
            self.statement(2)
        if r.random() < 0.5:
            self.line(2, "for j in range(2):")
            for _ in range(r.randint(1, 4)):
                self.statement(3)
        if self.lists or r.random() < 0.5:
            self.line(1, "for i in range(len(x)):")
            self.line(2, "s = s + y[i] * z[i] + 0.3 * y[i]")
        else:
            self.line(1, "s = s + np.sum(y * z) + 0.3 * np.sum(y)")
        self.line(1, "return s + t")
        return "\n".join(self.lines) + "\n"


def program(seed, lists):
    """Return the text of a program, on a list or on an array."""
    return Author(seed, lists).program()


def load(text, seed):
    """Compile a program so that its source is found."""
    return texts.load(text, f"<places {seed}>", np=np, math=math)


def arguments(seed, lists):
    """Return a few choices of arguments."""
    source = np.random.default_rng(seed)
    arrays = [source.uniform(-1, 1, n) for n in (5, 5, 7)]
    numbers = (0.7, -0.4, 0.3)
    return [(x.tolist() if lists else x, p) for x, p in zip(arrays, numbers, strict=True)]
