"""Random programs whose loops and branches rebind tuples, lists and dicts, and unpack arrays.

They append to lists, write to places, hold a list under two names, leave loops and raise. What is
not followed is recorded; the values and the gradients must be the same.
"""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor

START = """def step(s, h):
    a, b = s
    return a + 0.1 * b, b - h * math.tanh(a)


def f(x, y, n):
    a, b, c, first = y, 0.5 * y, 1.0, None
    s = (y, 1.0)
    q = (y * y, (0.3, y))
    d = {"u": y, "v": 0.2}
    k = [y, 2.0, y * 0.1]
    m = [0.5, y, y]
    z = x * 1.0
    traj = [y]
    held = [x]
    rest = [y]
    total = 0
"""
END = """    k0, *others = k
    value = s[0] * s[1] + q[0] * q[1][0] + q[1][1] + d["u"] - d["v"] + k0 + others[0] + sum(m)
    value = value + a * b + c + sum(traj) + traj[-1] + sum(rest) + len(held) + np.sum(total)
    grid = np.array(held)
    return value + np.sum(z * 0.3) + np.sum(grid[0] * grid[-1])
"""


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    author = Author(source)
    lines = []
    for _ in range(source.randint(0, 2)):
        lines += author.statement(0)
    for _ in range(source.randint(1, 2)):
        lines += author.loop(0)
    return START + "".join(f"    {line}\n" for line in lines) + END


def arguments(seed):
    """Return choices of arguments: of other lengths, types and numbers of iterations."""
    source = np.random.default_rng(seed)
    x, y = source.normal(size=2), float(source.normal())
    return [
        (x, y, 3), (x, y, 70), (x, y, 0), (x, -y, 2), (np.float32(x), y, 2), (x, np.float64(y), 1),
        (x, 1, 2), (source.normal(size=3), y, 2), (x.tolist(), y, 2), (x, y, 3),
    ]  # fmt: skip


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of structures {seed}>", np=np, math=math)


class Author(RandomAuthor):
    """Write statements; the variables hold the same kinds of values throughout, as a rule."""

    def __init__(self, source):
        super().__init__(source)
        self.loops = 0
        self.odd = source.choice([None, *range(20)])  # the one that may be recorded

    def number(self, depth=0):
        """Return an expression for a number, of values that stay small."""
        if depth > 1 or self.source.random() < 0.4:
            return self.choice(
                "x[0]", "y", "a", "b", "c", "s[0]", "s[1]", "q[0]", "q[1][0]", "q[1][1]", 'd["u"]',
                'd["v"]', "k[0]", "k[1]", "k[-1]", "m[1]", "z[0]", "z[1]", "traj[-1]", "traj[0]",
                "held[-1][0]", "0.5", "1",
            )  # fmt: skip
        one, two = self.number(depth + 1), self.number(depth + 1)
        return self.choice(
            f"math.sin({one})", f"math.tanh({one} + {two})", f"0.3 * ({one} - {two})",
            f"0.5 * {one} + 0.2", f"math.tanh({one}) * math.cos({two})",
        )  # fmt: skip

    def array(self):
        """Return an expression for an array of two numbers."""
        e, g = self.number(), self.number()
        return self.choice(
            f"np.array([{e}, {g}])", "0.5 * z + x", f"np.tanh(z * {e})", "held[-1] * 0.5", "z",
            "np.sin(held[0] + z)", "x", "np.stack(held)[-1] * 0.9", "np.mean(held, axis=0)",
        )  # fmt: skip

    def statement(self, depth, loop=False):
        """Return the lines of a statement."""
        e, g, h = self.number(), self.number(), self.number()
        usual = [
            f"s = ({e}, {g})", f"s = s[1], {e}", "s, q = (q[0], s[0]), (s[1], q[1])",
            f"q = ({e}, ({g}, q[1][0]))", f"q = (q[0], (q[1][1], {e}))", f"s = step(s, {e})",
            f'd = {{"u": {e}, "v": {g}}}', f'd = {{**d, "v": {e}}}', "d = dict(d)",
            f"k = [{e}, {g}, {h}]", "k, m = m, k", f"a, b = {self.choice('z', 'x', 's', 'q[1]')}",
            f"a, (b, c) = {self.choice('q', f'({e}, z)', f'({e}, s)')}", f"a, *others = {e}, *z",
            f"*others, c = ({e}, {g}, 1.0)", f"traj.append({e})", f"held.append({self.array()})",
            f"held.append({self.array()})", f"z = {self.array()}", f"z = {self.array()}",
            f"c = {e}", f"t = ({e}, z)\nz = t[1] * t[0]", "z = z.copy()",
        ]  # fmt: skip
        odd = [
            f"k[0] = {e}", f"k[{self.choice('0', '1', '-1')}] += 0.1 * {e}", f"m[1] = {e}",
            f'd["u"] = {e}', "m = k[:]", "k = [0.5 * v for v in k]", "k = m", "a, *rest = z",
            f"c = float({e})", f"total = total + {e}", "total = total + z",
            f"z += 0.1 * {self.array()}", f"rest = [{e}] * 2 + rest[:1]", f"rest.append({e})",
            "rest = [*k, a]", f"first = {e} if first is None else first",
            "s = tuple(v * 0.9 for v in s)", "held = held[-2:]", "traj = [*traj[-1:], traj[0]]",
            "k.append(k.pop())" if depth else "traj[0] = 0.5 * traj[-1]",
        ]  # fmt: skip
        if depth < 2 and self.source.random() < 0.25:
            return self.branch(depth, loop)
        if depth < 1 and self.source.random() < 0.15:
            return self.loop(depth + 1)
        if self.odd is not None and self.source.random() < 0.2:
            return odd[self.odd].split("\n")
        return self.source.choice(usual).split("\n")

    def branch(self, depth, loop):
        """Return the lines of an `if`, which may leave a loop or raise."""
        test = f"{self.number()} > {self.choice('0.0', '0.4', 'a')}"
        body = [line for _ in range(2) for line in self.statement(depth + 1, loop)]
        if self.source.random() < 0.3:
            leaves = ['raise ValueError("left")', *(["break", "continue"] * 2 if loop else [])]
            body.append(self.source.choice(leaves))
        lines = [f"if {test}:", *indented(body)]
        if self.source.random() < 0.6:
            lines += ["else:", *indented(self.statement(depth + 1, loop))]
        return lines

    def loop(self, depth):
        """Return the lines of a loop."""
        self.loops += 1
        i = f"i{self.loops}"
        head = self.choice(
            f"for {i} in range(n):", f"for {i} in range(n):", f"for {i} in range(2):",
            f"for {i}, w in enumerate(x):", f"for {i}, w in zip(k, m):", f"for {i} in traj[-3:]:",
        )  # fmt: skip
        body = [line for _ in range(self.source.randint(2, 5))
                for line in self.statement(depth, loop=True)]  # fmt: skip
        return [head, *indented(body)]


def indented(lines):
    """Return lines one level further in."""
    return [f"    {line}" for line in lines]
