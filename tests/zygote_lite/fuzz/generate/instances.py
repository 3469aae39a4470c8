"""Random programs with objects: made inside, written, aliased, given, and rebound named tuples."""

import copy
import math
import random
import types
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tests.zygote_lite.checks import texts


class Vec:
    """A vector with methods that write."""

    scale = 0.5

    def __init__(self, a, b=0.25):
        self.a = a
        self.b = b

    def push(self, by):
        self.a = 0.5 * self.a + 0.1 * by
        return self.b

    def other(self):
        return Vec(self.b, self.a)

    @property
    def size(self):
        return self.a * self.a + self.b

    @size.setter
    def size(self, value):
        self.b = math.tanh(value)

    def __add__(self, other):
        return Vec(self.a + other.a, self.b - other.b)

    def __mul__(self, factor):
        return type(self)(self.a * factor, self.b)

    def __call__(self, x):
        return self.a * x + self.b


class Sub(Vec):
    """A vector that counts."""

    def __init__(self, a, b=0.5):
        super().__init__(a, b)
        self.count = 0

    def push(self, by):
        self.count += 1
        if self.count % 2:
            self.b = 0.5 * by
        return super().push(by) * self.scale


@dataclass
class State:
    """A state."""

    a: float
    b: float = 0.75

    def push(self, by):
        if by > 0.5:
            self.a, self.b = self.b, self.a
        return by


class Pt(NamedTuple):
    """A point."""

    a: float
    b: float = 0.5

    def moved(self, by):
        return self._replace(a=self.a + 0.1 * by)


HEADER = "def f(x, y, m, n):\n"
SPACE = {"math": math, "types": types, "np": np, "Vec": Vec, "Sub": Sub, "State": State, "Pt": Pt,
         "replace": replace, "copy": copy}  # fmt: skip


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = ["o0 = Vec(x, y)", "p0 = Pt(y)"]
    for _ in range(author.source.randint(4, 9)):
        lines += author.statement(0)
    total = " + ".join(f"{o}.a * {i + 1} + {o}.b" for i, o in enumerate(author.objects))
    lines.append(f"return {total} + {' + '.join(f'{p}.a' for p in author.points)}")
    return HEADER + "".join(f"    {line}\n" for line in lines)


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of objects {seed}>", **SPACE)


def arguments(seed):
    """Return choices of arguments: models of several classes, which may hold one object twice."""
    source = np.random.default_rng(seed)
    x, y, a, b = source.normal(size=4).tolist()
    inner = State(a, b)
    models = [
        Vec(inner, [Vec(a, b), Vec(b, 1.0)]), Vec(State(b, a), [Vec(1.0), Vec(a)]),
        Sub(inner, [inner, Vec(b)]), Vec(Pt(a, b), [Vec(a), Pt(b)]),
    ]  # fmt: skip
    choices = [(x, y, models[seed % 4], 3), (y, x, models[0], 2), (x, 2, models[1], 0),
               (np.float64(x), y, models[3], 4), (x, y, models[2], 1)]  # fmt: skip
    return [copy.deepcopy(xs) for xs in choices]


class Author:
    """Write statements and expressions by random choice."""

    def __init__(self, source):
        self.source = source
        self.objects, self.points, self.inside = ["o0"], ["p0"], 0
        self.count = 0

    def pick(self, *options):
        return self.source.choice(options)

    def number(self):
        o, p = self.source.choice(self.objects), self.source.choice(self.points)
        return self.pick(
            "x", "y", f"{o}.a", f"{o}.b", f"{p}.a", f"{p}[1]", "m.a.a", "m.b[0].a", "m.b[1].b",
            f"math.sin({o}.a)", f"{o}.a * {p}.b", "0.5", f"getattr({o}, 'size', x)",
            f"(1.0 if hasattr({o}, 'extra') else y)", f"math.tanh({p}.a + {o}.b)", "sum(p0) * 0.1",
        )  # fmt: skip

    def condition(self):
        o, q = self.source.choice(self.objects), self.source.choice(self.objects)
        return self.pick(
            f"{o}.a > {self.number()}", "n % 2", f"{o} is {q}", f"isinstance({o}, Vec)", "n > 2",
            f"{o}.b < 0.3", *(["i == 1"] if self.inside else []),
        )  # fmt: skip

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def statement(self, depth):
        o = self.source.choice(self.objects)
        simple = [
            lambda: [f"{o}.a = {self.number()}"],
            lambda: [f"{o}.b += 0.3 * {self.number()}"],
            lambda: [f"{o}.{self.pick('a', 'b')} *= math.cos({self.number()})"],
            lambda: [f"{o}.b = {o}.push({self.number()})"],
            lambda: [f"{o}.push({self.number()})"],
            lambda: [f"setattr({o}, {self.pick('a', 'extra')!r}, {self.number()})"],
            self.rebound,
            self.another,
        ]
        if depth == 0:
            simple += [self.made, self.made, self.alias, self.point, self.chain, self.namespace]
        if depth < 2:
            simple += [self.branch, self.loop, self.over, self.branch, self.loop]
        return self.source.choice(simple)()

    def rebound(self):
        p = self.source.choice(self.points)
        made = self.pick(f"Pt({self.number()}, {p}.a * 0.5)", f"{p}.moved({self.number()})",
                         f"{p}._replace(b=math.tanh({self.number()}))")  # fmt: skip
        return [f"{p} = {made}"]

    def another(self):
        """Let a name stand for another object."""
        o, q = self.source.choice(self.objects), self.source.choice(self.objects)
        new = self.pick(
            q, f"Vec({self.number()}, {o}.b * 0.5)", f"State({o}.b, math.tanh({self.number()}))",
            f"copy.copy({q})", f"Vec({o}.a) + {q}", f"Vec({q}.b).other() * {self.number()}",
        )  # fmt: skip
        return [f"{o} = {new}"]

    def made(self):
        o, q = self.source.choice(self.objects), self.source.choice(self.objects)
        new = self.name("o")
        kind = self.pick("Vec", "Sub", "State")
        whole = f"{kind}({self.number()}, b={self.number()})"
        lines = [f"{new} = {self.pick(f'{kind}({self.number()})', f'copy.copy({o})', whole)}"]
        if self.source.random() < 0.2:
            lines = [f"{new} = replace(State(x), b={self.number()})"]
        elif self.source.random() < 0.2:
            lines = [f"{new} = (Vec({self.number()}) + {q}) * {self.number()}"]
        self.objects.append(new)
        return lines

    def chain(self):
        """Link objects, and walk over them: some writes to them, and some leaves early."""
        o, new = self.source.choice(self.objects), self.name("c")
        values = ", ".join(self.number() for _ in range(self.source.randint(1, 3)))
        lines = [f"{new} = None", f"for v in ({values},):", f"    {new} = Vec(v, {new})"]
        if self.source.random() < 0.2:
            lines += [f"{new}.extra = {new}", f"{o}.b = {new}.extra.a"]
        lines += [f"while {self.pick(new, f'{new} is not None')}:",
                  f"    {o}.a = {o}.a * 0.5 + {new}.a"]  # fmt: skip
        if self.source.random() < 0.4:
            lines += [
                f"    if {self.condition()}:",
                f"        {self.pick(f'{o}.b = {new}.a * 0.5', f'{new}.a = x', 'break')}",
            ]
        return [*lines, f"    {new} = {new}.b"]

    def namespace(self):
        o, new = self.source.choice(self.objects), self.name("o")
        lines = [f"{new} = types.SimpleNamespace(a={self.number()}, b={o}.b)"]
        lines += ["for i in range(n):", f"    {new}.a = {new}.a * 0.5 + {self.number()} * 0.1"]
        return [*lines, f"{o}.b = {new}.a * {new}.b"]

    def alias(self):
        o, new = self.source.choice(self.objects), self.name("o")
        self.objects.append(new)
        return [f"{new} = {o}"]

    def point(self):
        new = self.name("p")
        line = f"{new} = Pt({self.number()}, {self.number()})"
        self.points.append(new)
        return [line]

    def block(self, depth, head):
        lines = []
        for _ in range(self.source.randint(1, 3)):
            lines += self.statement(depth)
        return [head, *(f"    {line}" for line in lines)]

    def branch(self):
        depth = 1 + bool(self.inside)
        lines = self.block(depth, f"if {self.condition()}:")
        return lines + (self.block(depth, "else:") if self.source.random() < 0.6 else [])

    def loop(self):
        self.inside += 1
        head = self.pick("for i in range(n):", "for i in range(2):")
        lines = self.block(self.inside, head)
        if self.source.random() < 0.3:
            lines += [f"    if {self.condition()}:", f"        {self.pick('break', 'continue')}"]
            lines.append(f"    {self.source.choice(self.objects)}.a = {self.number()}")
        self.inside -= 1
        return lines

    def over(self):
        names = ", ".join(self.source.choices(self.objects, k=2))
        factor = self.number()
        return [f"for one in [{names}]:", f"    one.b = one.b * 0.5 + 0.1 * {factor}"]
