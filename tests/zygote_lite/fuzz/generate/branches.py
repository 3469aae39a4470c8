"""Random programs in which a branch decides whether the value depends on an argument.

What decides is an integer and a text, so that the value is smooth in all other arguments, and the
complex step gives the derivatives of the very same program. Where a branch leaves an argument out
the tape answers `None` or a zero, and transformed code may answer the other one.
"""

import copy
import math
import random

import numpy as np

from tests.zygote_lite.checks import texts

MODES = ("all", "some", "none")
HEADER = "def f(a, v, items, p, n, mode):\n"


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    author = Author(source)
    lines = [f"y = {source.choice(['0.0', '1.0', 'a', '0.5 * a * a'])}"]
    if source.random() < 0.5:
        lines += ["def g(x):", f"    return {author.choice('x')}"]
        author.helpers.append("g")
    for _ in range(source.randint(2, 5)):
        lines += author.statement(0)
    lines.append("return y")
    return HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments, which differ in what decides."""
    source = np.random.default_rng(seed)
    a, v = float(source.normal()), source.normal(size=3)
    p = {"w": source.normal(size=3), "s": float(source.normal()), "unused": 2.0, "name": "p"}
    items = source.normal(size=3).tolist()
    numbers = source.permutation(7)[:4]
    mode = MODES[seed % 3]
    choices = [(a, v, items, p, int(n), mode) for n in numbers]
    choices.append((a, v, items, p, int(numbers[0]), MODES[(seed + 1) % 3]))
    return [copy.deepcopy(xs) for xs in choices]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of branches {seed}>", np=np, math=math)


def derivatives(f, xs, step=1e-30):
    """Return the gradient by the first four arguments by the complex step."""
    a, v, items, p, *rest = xs
    slope = lambda *given: float(np.imag(f(*given, *rest))) / step
    units = np.eye(3) * 1j * step
    at = lambda values, unit: [x + d for x, d in zip(values, unit, strict=True)]
    return (
        slope(a + 1j * step, v, items, p),
        np.array([slope(a, v + unit, items, p) for unit in units]),
        [slope(a, v, at(items, unit), p) for unit in units],
        {
            "w": np.array([slope(a, v, items, {**p, "w": p["w"] + unit}) for unit in units]),
            "s": slope(a, v, items, {**p, "s": p["s"] + 1j * step}),
            "unused": slope(a, v, items, {**p, "unused": p["unused"] + 1j * step}),
            "name": None,
        },
    )


class Author:
    """Write statements and expressions by random choice."""

    def __init__(self, source):
        self.source = source
        self.helpers = []
        self.locals = []
        self.in_loop = False

    def condition(self):
        """Return what decides a branch."""
        k = self.source.randint(2, 3)
        return self.source.choice(
            [
                f"n % {k} == {self.source.randrange(k)}",
                f"n > {self.source.randint(0, 5)}",
                f"mode == {self.source.choice(MODES)!r}",
                f"mode != {self.source.choice(MODES)!r} and n < {self.source.randint(2, 6)}",
                *([f"i == {self.source.randrange(3)}"] if self.in_loop else []),
            ]
        )

    def number(self):
        """Return an expression for a number, of one argument."""
        i = self.source.randrange(3)
        return self.source.choice(
            [
                "a",
                "a * a",
                f"v[{i}]",
                "np.sum(v * v)",
                "np.sum(np.sin(v))",
                f"items[{i}]",
                f"items[{i}] * items[{self.source.randrange(3)}]",
                "p['s']",
                "np.sum(p['w'] * v)",
                f"p['w'][{i}]",
                "0.5",
                *self.locals,
                *(
                    f"{g}({self.source.choice(['a', 'y', 'p[' + repr('s') + ']'])})"
                    for g in self.helpers
                ),
            ]
        )

    def choice(self, other=None):
        """Return an expression in which a branch decides what is used."""
        one, two = self.number(), other or self.number()
        if self.source.random() < 0.3:
            one, two = self.source.choice([("np.sum(v)", "0.0"), ("a", "1.0"), ("0.0", two)])
        return f"({one} if {self.condition()} else {two})"

    def update(self):
        """Return a statement that changes the value."""
        expression = self.choice() if self.source.random() < 0.3 else self.number()
        return self.source.choice(
            [
                f"y = y + {expression}",
                f"y += 0.5 * {expression}",
                f"y = y * {expression}",
                f"y = y - {expression} * {self.number()}",
                f"y = {expression}",
            ]
        )

    def block(self, depth):
        """Return the lines of a block."""
        lines = []
        for _ in range(self.source.randint(1, 2)):
            lines += self.statement(depth + 1)
        return [f"    {line}" for line in lines]

    def statement(self, depth):
        """Return the lines of a statement."""
        kind = self.source.random()
        if depth > 2 or kind < 0.3:
            return [self.update()]
        if kind < 0.6:
            lines = [f"if {self.condition()}:", *self.block(depth)]
            if self.source.random() < 0.5:
                lines += ["else:", *self.block(depth)]
            return lines
        if kind < 0.7:
            return [f"if {self.condition()}:", f"    return {self.source.choice(['y', 'y * a'])}"]
        if kind < 0.85 and not self.in_loop:
            self.in_loop = True
            lines = [f"for i in range({self.source.choice(['3', 'n % 4', 'n'])}):"]
            if self.source.random() < 0.4:
                word = self.source.choice(["continue", "break"])
                lines += [f"    if {self.condition()}:", f"        {word}"]
            lines += self.block(depth)
            self.in_loop = False
            return lines
        name = f"u{len(self.locals)}"
        lines = [f"{name} = {self.source.choice(['0.0', 'a', '1.0'])}"]
        lines += [f"if {self.condition()}:", f"    {name} = {self.number()}"]
        if depth == 0:  # elsewhere it may not be set
            self.locals.append(name)
        return lines
