"""Random programs on lists of numbers, and lists of those: appended to, written, walked over."""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts


class Writer:
    """Write a program `f(xs, a, p)`: a list, a list of lists, a number."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.counts = 0

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def name(self):
        self.counts += 1
        return f"v{self.counts}"

    def operand(self, scope):
        """Return a number: a variable, an item, a constant."""
        r = self.random
        choices = ["p", f"{r.uniform(-2, 2):.2f}", "xs[0]", "xs[-1]", "a[0][-1]", "len(xs) * 0.25"]
        choices += scope["numbers"] * 2
        for i in scope["indices"]:
            choices += [f"xs[{i}]", f"xs[-1 - {i}]", f"c[{i}]", f"a[0][{i} % len(a[0])]"]
            if scope["rows"]:
                choices += [f"a[{i} % len(a)][0]", f"t[{i} % len(t)][{i} % len(t[0])]"]
        if scope["out"]:
            choices += ["out[-1]", "out[0]", "len(out) * 0.5"]
        return r.choice(choices)

    def expression(self, scope, depth=0):
        r = self.random
        if depth > 2 or r.random() < 0.3:
            return self.operand(scope)
        kind = r.random()
        x, y = self.expression(scope, depth + 1), self.expression(scope, depth + 1)
        if kind < 0.6:
            return f"({x} {r.choice('+-*')} {y})"
        if kind < 0.75:
            return f"math.sin({x})"
        if kind < 0.85:
            return f"({x} / (2.5 + math.cos({y})))"
        return f"({x} if {y} > 0.1 else {self.operand(scope)})"

    def statement(self, scope, depth):
        r = self.random
        kind = r.random()
        if kind < 0.2:
            self.line(depth, f"s {r.choice(['+=', '-=', '='])} {self.expression(scope)}")
        elif kind < 0.3:
            name = self.name()
            self.line(depth, f"{name} = {self.expression(scope)}")
            scope["numbers"].append(name)
        elif kind < 0.45 and scope["indices"]:
            i = r.choice(scope["indices"])
            self.line(depth, f"c[{i}] {r.choice(['=', '+=', '*='])} {self.expression(scope)}")
        elif kind < 0.55 and scope["indices"] and scope["rows"]:
            i, j = r.choice(scope["indices"]), r.choice(scope["indices"])
            at = f"t[{i} % len(t)][{j} % len(t[0])]"
            self.line(depth, f"{at} {r.choice(['=', '+='])} {self.expression(scope)}")
        elif kind < 0.62 and not scope["walks_out"]:
            self.line(depth, f"out.append({self.expression(scope)})")
            scope["out"] = True
        elif kind < 0.72:
            test = f"{self.operand(scope)} > {self.operand(scope)}"
            self.line(depth, f"if {r.choice([test, test, 'out', 'not out'])}:")
            self.block(scope, depth + 1, 1)
            if r.random() < 0.5:
                self.line(depth, "else:")
                self.block(scope, depth + 1, 1)
        elif kind < 0.76 and scope["loops"]:
            self.line(depth, f"if {self.operand(scope)} > 1.4:")
            self.line(depth + 1, r.choice(["break", "continue"]))
        elif kind < 0.8:
            self.line(depth, f"s += {r.choice(['sum(xs)', 'sum(c)', 'sum(xs[1:])', 'sum(a[0])'])}")
        elif scope["loops"] < 2:
            self.loop(scope, depth)

    def loop(self, scope, depth):
        r = self.random
        inner = {**scope, "loops": scope["loops"] + 1}
        inner["numbers"], inner["indices"] = [*scope["numbers"]], [*scope["indices"]]
        kind = r.randrange(6)
        i, v, w = self.name(), self.name(), self.name()
        if kind == 0:
            self.line(depth, f"for {i} in range(len(xs)):")
            inner["indices"].append(i)
        elif kind == 1:
            self.line(depth, f"for {v} in xs:")
            inner["numbers"].append(v)
        elif kind == 2:
            self.line(depth, f"for {i}, {v} in enumerate(xs):")
            inner["indices"].append(i)
            inner["numbers"].append(v)
        elif kind == 3:
            self.line(depth, f"for {v}, {w} in zip(xs, c):")
            inner["numbers"] += [v, w]
        elif kind == 4:
            self.line(depth, f"for {v} in a:")
            self.line(depth + 1, f"for {w} in {v}:")
            inner["numbers"].append(w)
            depth += 1
        else:
            self.line(depth, f"for {v}, {w} in zip(xs, xs[1:]):")
            inner["numbers"] += [v, w]
        self.block(inner, depth + 1, r.randint(1, 3))

    def block(self, scope, depth, count):
        scope = {**scope, "numbers": [*scope["numbers"]]}
        before = len(self.lines)
        for _ in range(count):
            self.statement(scope, depth)
        if len(self.lines) == before:
            self.line(depth, "s += 0.5")

    def program(self):
        """Return the text of a function."""
        r = self.random
        rows = r.random() < 0.6
        self.line(0, "def f(xs, a, p):")
        self.line(1, r.choice(["c = [0.0] * len(xs)", "c = list(xs)", "c = [p * x for x in xs]"]))
        if rows:
            self.line(1, r.choice(["t = [[0.5] * len(r) for r in a]",
                                   "t = [[v * v for v in r] for r in a]"]))  # fmt: skip
        self.line(1, "out = []")
        self.line(1, "s = 0.25")
        scope = {"numbers": ["s"], "indices": [], "rows": rows, "out": False, "loops": 0}
        scope["walks_out"] = False
        for _ in range(r.randint(2, 4)):
            self.loop(scope, 1)
            scope["out"] = False
            if r.random() < 0.5:
                self.statement(scope, 1)
        self.line(1, "return s + sum(c) * p")
        return "\n".join(self.lines) + "\n"


def program(seed):
    """Return the text of the program of a seed."""
    return Writer(seed).program()


def load(seed):
    """Return the function of a seed."""
    return texts.load(program(seed), f"<list program {seed}>", math=math)


def arguments(seed, many=False):
    """Return choices of arguments; `many` numbers are not taken one by one."""
    source = np.random.default_rng(seed)
    sizes = ((5, 20, 3), (4, 17, 4), (1, 1, 1)) if many else ((5, 3, 4), (4, 2, 2), (1, 1, 1))
    return [
        (
            source.normal(size=n).tolist(),
            source.normal(size=(m, k)).tolist(),
            float(source.normal()),
        )
        for n, m, k in sizes
    ]
