"""Random programs of generators and iterators, kept and asked one by one or walked over at once.

Some generators are managers of `with`.
"""

import contextlib
import functools
import itertools
import math
import operator
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor

HEADER = "def f(x, y, v, n, p):\n"
VARIABLES = ("a", "b", "c", "x")
KNOWN = {"contextlib": contextlib, "functools": functools, "itertools": itertools, "math": math,
         "operator": operator}  # fmt: skip


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = ["a = x * 0.5", "b = y + 1.0", "c = x * y", "w = [x, y, 2.0]"]
    for _ in range(author.source.randint(0, 2)):
        lines += author.definition()
    if author.source.random() < 0.3:
        lines += author.manager()
    for _ in range(author.source.randint(1, 3)):
        lines += author.statement(0)
    lines.append("return a + 2.0 * b - c + w[0] * w[-1] + x")
    return HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments, which take other branches and numbers of iterations."""
    source = np.random.default_rng(seed)
    x, y, *p = map(float, source.normal(size=5))
    v = source.normal(size=3)
    choices = [(x, y, v, 3, p), (y, x, v, 1, p[:2]), (-x, y, -v, 5, [*p, 0.5])]
    choices += [(np.float64(x), y, v, 2, p), (x, 1.0, v[:1].copy(), 4, p[:1])]
    return [*choices, (x, y, v[:0].copy(), 3, p), (x, 0.0, v.astype(np.float32), 0, []), choices[1]]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of iterators {seed}>", np=np, **KNOWN)


class Author(RandomAuthor):
    """Write statements and expressions by random choice."""

    def __init__(self, source):
        super().__init__(source)
        self.generators = []
        self.kept = []
        self.managers = []

    def expression(self, *more):
        names = (*VARIABLES, *more, *more)
        a, b = self.choice(*names), self.choice(*names)
        return self.choice(
            f"{a} * {b}", f"{a} - 0.5 * {b}", f"math.sin({a}) + {b}", f"{a} * y", f"{a} + w[1]",
            f"{a} + np.sum(v)", f"({a} if {b} > 0.0 else {b})", f"{a} / (1.0 + {b} * {b})",
            f"{a} * w[0]", self.choice(f"math.log({a})", f"{a} / {b}", a),
        )  # fmt: skip

    def test(self, *more):
        name = self.choice(*VARIABLES, *more, *more)
        return self.choice(f"{name} > 0.0", f"{name} < y", "n > 2", f"abs({name}) > 1.0")

    # -- what is walked over -------------------------------------------------------------------

    def plain(self):
        """Return something that is walked over, of numbers."""
        return self.choice("p", "p", "v", "[x, y, a]", "(x, b)", "w", "{'k': a, 'l': b}.values()")

    def iterable(self, depth=0):
        """Return something that is walked over, maybe by generators inside."""
        deep = depth < 2 and self.source.random() < 0.4
        inner = self.iterable(depth + 1) if deep else self.plain()
        second = self.iterable(depth + 1) if deep else self.plain()
        u = self.new("u")
        made = [
            f"({self.expression(u)} for {u} in {inner})",
            f"({self.expression(u)} for {u} in {inner} if {self.test(u)})",
            f"[{self.expression(u)} for {u} in {inner}]",
            f"map(lambda {u}: {self.expression(u)}, {inner})",
            f"map(operator.mul, {inner}, {second})",
            f"filter(lambda {u}: {self.test(u)}, {inner})",
            f"itertools.chain({inner}, {second})",
            f"itertools.islice({inner}, {self.choice('2', '1, 3', '0, None, 2', 'n')})",
            f"itertools.accumulate({inner})",
            f"itertools.accumulate({inner}, lambda s, t: s * 0.5 + t)",
            f"itertools.takewhile(lambda {u}: {self.test(u)}, {inner})",
            f"itertools.dropwhile(lambda {u}: {self.test(u)}, {inner})",
            f"itertools.starmap(operator.sub, zip({inner}, {second}))",
            f"(s * t for s, t in itertools.pairwise({inner}))",
            f"(s * t for s, t in zip({inner}, {second}))",
            f"(s * t for s, t in itertools.combinations({self.plain()}, 2))",
            f"(s + t for s, t in itertools.product({self.plain()}, [x, 0.5]))",
            f"(i * t for i, t in enumerate({inner}, {self.choice('1', '2')}))",
            f"(s * t for s, t in itertools.zip_longest({inner}, {second}, fillvalue=a))",
            f"sorted({inner}, key=lambda {u}: {self.expression(u)})",
            f"reversed({self.choice('p', '[x, y]', '(a, b, c)')})",
            f"itertools.repeat({self.expression()}, {self.choice('2', 'n')})",
            f"itertools.islice(itertools.cycle({inner}), 4)",
            f"itertools.islice(itertools.count(x, 0.5), {self.choice('3', 'n')})",
        ]
        calls = [f"{name}({self.expression()}, {inner})" for name in self.generators]
        return self.choice(self.plain(), *made, *calls, *calls, *calls, *calls)

    def folded(self):
        """Return a number that uses up something."""
        inner, u = self.iterable(), self.new("u")
        return self.choice(
            f"sum({inner})", f"sum({inner}, a)", f"max({inner}, default=a)",
            f"min({inner}, key=lambda {u}: {self.expression(u)}, default=b)",
            f"functools.reduce(lambda s, t: s * 0.5 + t, {inner}, a)",
            f"len(list({inner})) * a", f"float(any({u} > 0.5 for {u} in {inner})) * b",
            f"sum(list({inner})[:2])", f"float(np.sum(np.array([*{inner}, a])))",
            f"next(iter({inner}), a)", f"sorted([*{inner}, a, b])[0]",
            f"sum(dict(zip('ab', {inner})).values())",
        )  # fmt: skip

    # -- generators ----------------------------------------------------------------------------

    def definition(self):
        """Return a generator function."""
        name = self.new("g")
        body = [line for _ in range(self.source.randint(1, 3)) for line in self.part(0)]
        if not any("yield" in line for line in body):
            body.append("yield s")
        if self.source.random() < 0.25:
            assigned = self.choice("a", "b")
            body = [f"nonlocal {assigned}", *body, f"{assigned} = {assigned} * 0.5 + s"]
        if self.source.random() < 0.2:
            final = self.choice("w[1] = w[1] + s * 0.1", "s = 0.0", "r = s", "w[0] = w[0] * x")
            body = ["try:", *(f"    {line}" for line in body), "finally:", f"    {final}"]
        self.generators.append(name)
        return [f"def {name}(s, t):", *(f"    {line}" for line in body)]

    def part(self, depth):
        kind = self.source.random()
        if kind < 0.35 or depth > 1:
            line = self.choice("yield {}", "yield {}", "s = {}", "r = yield {}", "w[0] = {}")
            more = ["s = s if r is None else s + r"] if line.startswith("r") else []
            return [line.format(self.expression("s")), *more]
        inner = [f"    {line}" for line in self.part(depth + 1)]
        if kind < 0.5:
            return [f"if {self.test('s')}:", *inner]
        if kind < 0.55:
            return [f"if {self.test('s')}:", "    return"]
        if kind < 0.65 and self.generators:
            return [f"yield from {self.choice(*self.generators)}(s * 0.5, {self.plain()})"]
        last = ["    s = s * 0.5 + r"] if self.source.random() < 0.5 else []
        if kind < 0.75:
            return ["k = 0", "while k < 3:", *inner, "    k += 1"]
        head = self.choice("for r in t:", "for r in t:", "for r in range(n):", "for r in range(2):",
                           "for r in v:", "for j, r in enumerate(t):")  # fmt: skip
        return [head, *inner, *last]

    # -- statements ----------------------------------------------------------------------------

    def manager(self):
        """Return the lines of a function whose calls are managers."""
        name = self.new("m")
        self.managers.append(name)
        entered = f"    yield {self.choice('u', 'z * u', 'u + w[1]')}"
        after = [f"    w[1] = w[1] + {self.choice('u', 'z', 'u * w[0]')}"]
        if self.source.random() < 0.4:
            around = ["    try:", f"    {entered}", "    finally:", f"    {after[0]}"]
        else:
            around = [entered, *(after if self.source.random() < 0.7 else [])]
        return [
            "@contextlib.contextmanager", f"def {name}(z):", f"    u = {self.expression('z')}",
            *([f"    w[0] = {self.expression('u')}"] if self.source.random() < 0.5 else []),
            *around,
        ]  # fmt: skip

    def statement(self, depth):
        kind = self.source.random()
        target = self.choice(*VARIABLES)
        if self.managers and self.source.random() < 0.25:
            u, inner = self.new("u"), self.statement(depth + 1)
            return [
                f"with {self.source.choice(self.managers)}({self.expression()}) as {u}:",
                f"    {target} = {self.expression(u)}", *(f"    {line}" for line in inner),
            ]  # fmt: skip
        if kind < 0.3 or depth > 1:
            return [f"{target} = {self.folded()}"]
        if kind < 0.4:
            return [f"{target} = {self.expression()}", f"w[1] = {self.expression()}"]
        if kind < 0.55:
            it = self.new("it")
            self.kept.append(it)
            return [f"{it} = iter({self.iterable()})", f"{target} += next({it}, b)"]
        if kind < 0.65 and self.kept and depth == 0:
            return [f"{target} += {self.choice('next({}, a)', 'sum({})')}".format(*self.kept[-1:])]
        inner = [f"    {line}" for line in self.statement(depth + 1)]
        if kind < 0.72:
            return [f"if {self.test()}:", *inner]
        if kind < 0.78:
            return [f"{target}, *r = [*{self.iterable()}, a]", f"b = b + len(r) * {target}"]
        u = self.new("u")
        leaving = [f"    if {self.test(u)}:", f"        {self.choice('break', 'continue')}"]
        return [
            f"for {u} in {self.iterable()}:", f"    {target} = {self.expression(u)}", *inner,
            *(leaving if self.source.random() < 0.4 else []),
            f"    {self.choice('w[0]', 'a', 'b')} = {self.expression(u)}",
        ]  # fmt: skip
