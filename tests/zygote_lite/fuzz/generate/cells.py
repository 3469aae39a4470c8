"""Random programs with functions inside that read and assign variables of the function around."""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor

HEADER = "def f(x, y, v, n):\n"
VARIABLES = ("a", "b", "c", "x")


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = ["a = x * 0.5", "b = y + 1.0", "c = v[0] * x"]
    for _ in range(author.source.randint(1, 3)):
        lines += author.definition(0)
        lines += author.block_of(0)
    lines += author.block_of(0)
    lines.append(f"return a + 2.0 * b - c + {author.call()} + x")
    return HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments, which take other branches and numbers of iterations."""
    source = np.random.default_rng(seed)
    x, y = map(float, source.normal(size=2))
    v = source.normal(size=3)
    choices = [(x, y, v, 3), (y, x, v, 0), (-x, y, -v, 5), (np.float64(x), y, v, 2)]
    return [*choices, (x, np.float64(y), v.astype(np.float32), 3), (x, y, v[:1].copy(), 4)]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of cells {seed}>", np=np, math=math)


class Author(RandomAuthor):
    """Write statements and expressions by random choice."""

    def __init__(self, source):
        super().__init__(source)
        self.functions = []

    def expression(self):
        a, b = self.choice(*VARIABLES), self.choice(*VARIABLES)
        calls = [self.call()] * 2 if self.functions else []
        return self.choice(
            f"{a} * {b}", f"{a} - 0.5 * {b}", f"math.sin({a}) + {b}", f"{a} * y", f"{a} + v[-1]",
            f"np.sum(v) * {a}", f"({a} if {b} > 0.0 else {b})", f"(lambda: {a} + {b})()", *calls,
        )  # fmt: skip

    def call(self):
        if not self.functions:
            return self.choice(*VARIABLES)
        return f"{self.choice(*self.functions)}({self.choice(*VARIABLES)}, 0.5)"

    def test(self):
        return self.choice("a > 0.0", "b < c", "n > 2", "n % 2 == 0", "abs(x) > 1.0")

    def definition(self, depth):
        """Return a function that may assign variables of the function around."""
        name = f"g{self.count}"
        self.count += 1
        assigned = self.source.sample(VARIABLES, self.source.randint(0, 2))
        known = self.functions
        self.functions = known if self.source.random() < 0.5 else []
        body = [f"nonlocal {', '.join(assigned)}"] if assigned else []
        for variable in assigned:
            body += self.around([f"{variable} = {self.expression()} * 0.3 + u * w"], depth)
        if depth < 1 and self.source.random() < 0.3:
            inner = self.definition(depth + 1)
            body += inner
        body.append(f"return {self.expression()} * u - w")
        self.functions = known
        if depth == 0:
            self.functions = [*self.functions, name]
        return [f"def {name}(u, w):", *(f"    {line}" for line in body)]

    def around(self, lines, depth):
        kind = self.source.random()
        if kind < 0.2:
            return [f"if {self.test()}:", *(f"    {line}" for line in lines)]
        if kind < 0.3:
            return ["for k in range(2):", *(f"    {line}" for line in lines)]
        return lines

    def block_of(self, depth):
        lines = []
        for _ in range(self.source.randint(1, 3)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth):
        kind = self.source.random()
        if depth > 1 or kind < 0.5:
            target = self.choice(*VARIABLES)
            return [
                self.choice(f"{target} = {self.expression()}", f"{target} += {self.expression()}")
            ]
        inner = [f"    {line}" for line in self.block_of(depth + 1)]
        if kind < 0.65:
            return [f"if {self.test()}:", *inner]
        if kind < 0.75:
            other = [f"    {line}" for line in self.block_of(depth + 1)]
            return [f"if {self.test()}:", *inner, "else:", *other]
        leaving = [f"    if {self.test()}:", f"        {self.choice('break', 'continue')}"]
        head = self.choice("for k in range(n):", "for k in range(3):", "for a in v:", "for b in v:")
        last = f"    {self.choice(*VARIABLES)} = {self.expression()}"
        return [head, *inner, *(leaving if self.source.random() < 0.4 else []), last]
