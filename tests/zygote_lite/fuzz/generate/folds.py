"""Random programs in which a built-in function uses up a comprehension."""

import functools
import math
import random

import numpy as np

from tests.zygote_lite.checks import texts

_NAMES = ["i", "v", "x", "found", "total"]


class Writer:
    """Write a program `f(xs, ys, a, x, n)`: two lists or tuples, an array, and numbers."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.counts = 0

    def number(self, scope):
        r = self.random
        return r.choice([*scope, "x", "x", "n", f"{r.uniform(-2, 2):.1f}", f"{r.randint(-2, 3)}"])

    def expression(self, scope, depth=0, folds=True):
        r, kind = self.random, self.random.random()
        if depth > 2 or kind < 0.25:
            return self.number(scope)
        if folds and depth < 2 and kind < 0.45:
            return self.fold(scope, depth + 1)
        x, y = (self.expression(scope, depth + 1, folds) for _ in range(2))
        if kind < 0.75:
            return f"({x} {r.choice('+-*')} {y})"
        if kind < 0.85:
            return f"math.sin({x})"
        if kind < 0.92:
            return f"({x} if {self.test(scope)} else {y})"
        return f"{r.choice(['max', 'min'])}({x}, {y})"

    def test(self, scope):
        if self.random.random() < 0.15:
            return self.search(scope)
        sign = self.random.choice(["<", ">", ">=", "!="])
        return f"{self.number(scope)} {sign} {self.number(scope)}"

    def name(self):
        self.counts += 1
        return self.random.choice([f"v{self.counts}", *_NAMES])

    def loops(self, scope):
        """Return the `for` clauses of a comprehension, and what its element may read."""
        r, scope, clauses = self.random, [*scope], []
        for _ in range(r.choice([1, 1, 1, 2])):
            name, kind = self.name(), r.random()
            own = [name]
            if kind < 0.5:
                over = r.choice(["xs", "ys", "a"])
            elif kind < 0.7:
                over = r.choice(["range(n)", "range(3)", "range(len(xs))", "range(n, 4)"])
            elif kind < 0.85:
                own.append(next(n for n in iter(self.name, None) if n != name))
                over = r.choice(["zip(xs, ys)", "enumerate(xs)", "zip(ys, xs)", "enumerate(ys)"])
            else:
                over = f"({self.expression(scope, 2)}, {self.expression(scope, 2)})"
            scope += own
            clauses.append(f"for {', '.join(own)} in {over}")
            while r.random() < 0.25:
                clauses.append(f"if {self.test(scope)}")
        return " ".join(clauses), scope

    def search(self, scope):
        loops, scope = self.loops(scope)
        sign = self.random.choice("<>")
        test = f"{self.number(scope)} {sign} {self.number(scope)}"
        return f"{self.random.choice(['any', 'all'])}({test} {loops})"

    def mapped(self, scope, start):
        """Return a call that uses up a `map`, or reduces what there is."""
        r, p, q = self.random, self.name(), f"w{self.counts}"
        body = self.expression([*scope, p, q], 2, folds=False)
        over = r.choice(["xs", "ys", "a", "(x, 0.5)"])
        if r.random() < 0.4:
            more = r.choice([f", {start}", ""])
            return f"functools.reduce(lambda {p}, {q}: {body}, {over}{more})"
        walked = r.choice([f"map(lambda {p}, {q}: {body}, {over}, ys)", f"map(math.sin, {over})"])
        return r.choice(["sum", "max", "min", "math.prod", "math.fsum"]) + f"({walked})"

    def fold(self, scope, depth=0):
        r, kind = self.random, self.random.random()
        start = self.number(scope)
        if r.random() < 0.15:
            return self.mapped(scope, start)
        loops, scope = self.loops(scope)
        each = f"{self.expression(scope, depth + 1, r.random() < 0.4)} {loops}"
        if kind < 0.5:
            forms = [f"({each})", f"([{each}])", f"(({each}), {start})", f"(({each}), start=1.5)"]
            return "sum" + r.choice(forms)
        if kind < 0.75:
            more = r.choice([f"({each})", f"(({each}), default={start})"])
            return r.choice(["max", "min"]) + more
        if kind < 0.85:
            return f"math.prod({each})"
        return r.choice([f"math.fsum({each})", f"sum(list({each}))", f"sum(tuple({each}))"])

    def program(self):
        r, scope = self.random, []
        lines = ["def f(xs, ys, a, x, n):"]
        for _ in range(r.randint(0, 2)):
            lines.append(f"    z{len(scope)} = {self.expression(scope)}")
            scope.append(f"z{len(scope)}")
        if r.random() < 0.3:
            lines += [f"    if {self.search(scope)}:", f"        x = {self.expression(scope, 1)}"]
        if r.random() < 0.3:
            lines += ["    for i in range(2):", f"        x = {self.expression([*scope, 'i'], 1)}"]
        lines.append(f"    return {self.fold(scope)} + {self.expression(scope)}")
        return "\n".join(lines) + "\n"


def program(seed):
    """Return a function, with its source where the engine looks for it."""
    text = Writer(seed).program()
    return texts.load(text, f"<fold {seed}>", math=math, functools=functools)


def arguments(seed):
    """Return a few choices of arguments: some lists are empty, or long; some numbers are equal."""
    r = random.Random(seed)

    def number():
        return r.choice([r.uniform(-2, 2), 1.0, 0.0, 2.0, r.uniform(-1, 1)])

    def choice():
        count = r.choice([0, 1, 2, 2, 3, r.choice([3, 3, 70])])
        xs = [number() for _ in range(count)]
        if xs and r.random() < 0.1:
            xs[0] = 1
        ys = [number() for _ in range(r.choice([count, count, 2]))]
        a = np.array([number() for _ in range(r.randint(1, 3))])
        return tuple(xs) if r.random() < 0.3 else xs, ys, a, number(), r.randint(0, 3)

    return [choice() for _ in range(4)]
