"""Random programs that write to arrays: to arguments, views, buffers that loops swap, in functions.

A program is the text of `f(x, y, m, s, n)`: two vectors of one length, a matrix whose rows are as
long, a number and a count. Which arrays share memory is for chance, and so is whether an index is
out of bounds, or a view one of an argument.
"""

import math
import operator
import random
import types

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor

HELPERS = """def scale(a, c):
    a *= c
    return a


def tail(a):
    return a[1:]


def first_row(q):
    return q[0]


def shift(a, b):
    a[1:] = b[:-1]
    a[0] += b[-1] * 0.5


def relax(q, k):
    for i in range(1, len(q)):
        q[i] += k * q[i - 1]
    return q.sum()


"""
HEADER = "def f(x, y, m, s, n):\n"


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = author.block(author.source.randint(3, 7), 0)
    terms = [author.total(name) for name in author.vectors] + [author.total("m")]
    lines.append(f"return s * {' + '.join(terms)}")
    return HELPERS + HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments: of other lengths, types and memory, and one array twice."""
    source = np.random.default_rng(seed)

    def choice(length=4, count=3, dtype=float):
        x, y = source.normal(size=(2, length)).astype(dtype)
        m = source.normal(size=(length, length)).astype(dtype)
        return x, y, m, float(source.normal()), count

    x, y, m, s, n = choice()
    readonly = x.copy()
    readonly.flags.writeable = False
    return [
        (x, y, m, s, n),
        choice(),
        choice(count=0),
        choice(3, 5),
        (x, x, m, s, n),
        (x, y, np.asfortranarray(m), s, n),
        (x, y, m[:, ::-1], s, 2),
        (readonly, y, m, s, 1),
        choice(dtype=np.float32),
        choice(1, 2),
        choice(4, 7),
        choice(2),
    ]


def load(seed):
    """Return the function of a number."""
    return texts.load(
        program(seed),
        f"<program of writes {seed}>",
        np=np,
        math=math,
        operator=operator,
        types=types,
    )


class Author(RandomAuthor):
    """Write statements by random choice."""

    def __init__(self, source):
        super().__init__(source)
        self.vectors = ["x", "y"]

    def vector(self):
        return self.choice(*self.vectors)

    def total(self, name):
        return self.choice(f"np.sum({name} * {name})", f"np.sum(np.sin({name}))", f"{name}.sum()")

    def number(self):
        v = self.vector()
        return self.choice("s", "0.5", "1.5", f"{v}[0]", f"{v}[-1]", f"{v}.sum()", "m[0, -1]")

    def whole(self):
        """Return an expression of the length of the vectors."""
        a, b = self.vector(), self.vector()
        return self.choice(
            a,
            f"{a} * {b}",
            f"{a} + 0.5 * {b}",
            f"np.sin({a})",
            f"{a} * {self.number()}",
            f"m @ {a}",
            "m[0]",
            "m[:, -1]",
            f"np.where({a} > 0.0, {a}, {b})",
            f"{a}[::-1]",
            f"np.exp(-{a} * {a}) * {b}",
        )

    def block(self, count, depth):
        known = [*self.vectors]
        lines = []
        for _ in range(count):
            lines += self.statement(depth)
        self.vectors = known if depth else self.vectors
        return lines

    def statement(self, depth):
        kinds = [
            self.made,
            self.item,
            self.part,
            self.augmented,
            self.view,
            self.of_matrix,
            self.by_function,
            self.mask,
            self.call,
            self.kept,
        ]
        kinds = [*kinds, *kinds, self.branch, self.loop, self.swap, self.rows]
        return self.source.choice(kinds if depth < 2 else kinds[:10])(depth)

    def made(self, depth):
        name = self.new("v")
        value = self.choice(
            self.whole(),
            self.whole(),
            "np.zeros(len(x))",
            f"{self.vector()}.copy()",
            self.vector(),
            "np.ones_like(y)",
        )
        if depth == 0:
            self.vectors.append(name)
        else:
            return [f"{self.vector()}[...] = {value}"]
        return [f"{name} = {value}"]

    def item(self, depth):
        place = self.choice("0", "-1", "n % len(x)", "1" if self.source.random() < 0.3 else "0")
        sign = self.choice("=", "+=", "*=", "-=")
        return [f"{self.vector()}[{place}] {sign} {self.number()}"]

    def part(self, depth):
        a, b = self.vector(), self.vector()
        return [
            self.choice(
                f"{a}[1:] = {b}[:-1]",
                f"{a}[1:] += {b}[:-1] * {self.number()}",
                f"{a}[:] = {self.whole()}",
                f"{a}[::2] *= {self.number()}",
                f"{a}[::-1] = {b}",
                f"{a}[:-1] -= {b}[1:]",
                f"{a}[0], {a}[-1] = {a}[-1], {b}[0]",
            )
        ]

    def augmented(self, depth):
        sign = self.choice("+=", "*=", "-=")
        return [f"{self.vector()} {sign} {self.choice(self.whole(), self.number())}"]

    def view(self, depth):
        a, name = self.vector(), self.new("w")
        part = self.choice(
            "[1:]", "[::2]", "[:-1]", ".reshape(-1, 1)", "[::-1]", "[...]", "[:, None]"
        )
        write = self.choice(
            f"{name} *= {self.number()}",
            f"{name}[0] = {self.number()}",
            f"{name} += {self.number()}",
            f"{name}[...] = {self.number()}",
            f"{a} *= 1.5",
            f"{a}[-1] = {self.number()}",
            f"{name}[-1:] += {name}[:1]",
        )
        lines = [f"{name} = {a}{part}", write, *self.augmented(depth)[: self.choice(0, 1)]]
        return [*lines, f"s = s + {self.choice(f'np.sum({name} ** 2)', f'{name}.sum()')} * 0.1"]

    def kept(self, depth):
        """Return writes to views that a container or an object keeps."""
        a, b, name = self.vector(), self.vector(), self.new("k")
        one, two = self.choice((f"{a}[1:]", f"{a}[:-1]"), (f"{a}[::-1]", b), (a, f"{a}[::2]"))
        made, first, second = self.choice(
            (f"{{'p': {one}, 'q': {two}}}", f"{name}['p']", f"{name}['q']"),
            (f"[{one}, {two}]", f"{name}[0]", f"{name}[1]"),
            (f"types.SimpleNamespace(p={one}, q={two})", f"{name}.p", f"{name}.q"),
        )
        writes = [f"{first} += {self.number()}", f"{second} *= {self.number()}"]
        writes += [f"{first}[0] = {self.number()}", f"{second} = {second} * 2.0"]
        writes += [f"{second} = {first}", f"{a} *= 0.5", f"{first} -= {first} * s"]
        steps = self.source.sample(writes, 3)
        return [f"{name} = {made}", *steps, f"s = s + np.sum({first}) * np.sum({second}) * 0.1"]

    def of_matrix(self, depth):
        a, name = self.vector(), self.new("q")
        return self.choice(
            [f"m[0] = {self.whole()}"],
            [f"m[:, 0] += {a}"],
            ["m *= 0.5"],
            [f"m[0, -1] *= {self.number()}"],
            [f"{name} = m.T", f"{name}[0] = {self.whole()}", f"s = s * {name}[-1, 0]"],
            [f"{name} = m.ravel()", f"{name}[1:3] = {self.number()}"],
            [f"{name} = m[0]", f"m[0] *= {self.number()}", f"s = s + np.sum({name} * {a})"],
            [f"{name} = m.reshape(-1)", f"{name}[::2] *= {self.number()}"],
            [f"{name} = m @ m", f"{name}[0] = {a}", f"s = s + np.sum({name})"],
        )

    def by_function(self, depth):
        a, b, name = self.vector(), self.vector(), self.new("w")
        return self.choice(
            [f"{a} = scale({a}, {self.number()})"],
            [f"scale({a}, {b})"],
            [f"shift({a}, {b})"],
            [f"{name} = tail({a})", f"{name} *= {self.number()}"],
            [f"s = s + relax(m, {self.number()})"],
            [f"{name} = first_row(m)", f"{name} += {a}"],
            [f"s = s + relax({a}, 0.3)"],
        )

    def mask(self, depth):
        a, b = self.vector(), self.vector()
        return [
            self.choice(
                f"{a}[{b} > 0.0] = {self.number()}",
                f"{a}[{b} < 0.0] *= 0.5",
                f"{a}[[0, -1]] = {b}[[-1, 0]]",
                f"{a}[np.arange(len(x))] += {b}",
            )
        ]

    def call(self, depth):
        """Return a call of a function or a method that writes to an array."""
        a, b, c = self.vector(), self.vector(), self.vector()
        index = self.choice(
            "[0, 0]", "[0, -1]", "np.array([0, 1])", "np.arange(len(x))", "0", "[n % 2]"
        )
        return [
            self.choice(
                f"np.multiply({b}, {c}, out={a})",
                f"np.sin({b}, {a})",
                f"np.add({a}, {b}, {a})",
                f"np.cumsum({b}, out={a})",
                f"np.matmul(m, {b}, out={a})",
                f"np.copyto({a}, {self.choice(b, self.number())})",
                f"np.copyto({a}, {b} * 2.0, where={c} > 0.0)",
                f"{a}.fill({self.number()})",
                f"{a}.sort()",
                f"np.putmask({a}, {c} > 0.0, {self.choice(f'{b} * {c}', self.number())})",
                f"np.place({a}, {c} > 0.5, {self.number()})",
                f"np.add.at({a}, {index}, {self.number()})",
                f"np.add.at({a}, np.arange(len(x)) // 2, {b})",
                f"{a}[{index}] = {self.number()}",
                f"{a}[np.arange(len(x)) // 2] = {b}",
                f"{a}[np.arange(len(x)) // 2] += {b}",
                f"{a}.__imul__({b})",
                f"operator.iadd({a}, {b})",
                "m.sort(axis=0)",
            )
        ]

    def branch(self, depth):
        test = self.choice("s > 0.0", "n > 2", f"{self.vector()}[0] > 0.0")
        body = self.block(self.source.randint(1, 2), depth + 1)
        orelse = self.block(1, depth + 1) if self.source.random() < 0.6 else []
        if self.source.random() < 0.3:
            a, b = self.vector(), self.vector()
            body.append(f"{a} = {self.choice(b, f'{b} * 2.0', f'{b}.copy()')}")
        lines = [f"if {test}:", *(f"    {line}" for line in body)]
        return lines + (["else:", *(f"    {line}" for line in orelse)] if orelse else [])

    def loop(self, depth):
        i = self.new("i")
        body = self.block(self.source.randint(1, 3), depth + 1)
        if self.source.random() < 0.3:
            body.append(
                self.choice(
                    f"{self.vector()}[{i} % len(x)] += {self.number()}",
                    f"m[{i} % len(x)] *= 0.9",
                    f"if s > {self.choice('1.0', '-1.0')}:\n            break",
                )
                if depth == 0
                else "s = s * 0.9"
            )
        head = self.choice(
            f"for {i} in range(n):", f"for {i} in range(3):", f"for {i} in range(1, len(x)):"
        )
        return [head, *(f"    {line}" for line in body)]

    def swap(self, depth):
        a, b = self.new("a"), self.new("b")
        start = self.choice(f"{self.vector()}.copy()", self.whole(), "np.zeros(len(x))")
        step = self.choice(
            f"{b}[1:-1] = {a}[1:-1] + 0.1 * ({a}[2:] - {a}[:-2])",
            f"{b}[:] = {a} * {self.number()}",
            f"{b}[1:] = {a}[:-1] * {a}[1:]",
            f"{b} *= {a}",
        )
        end = self.choice(
            [f"{a}, {b} = {b}, {a}"],
            [f"{a} = {b}.copy()"],
            [f"{a}, {b} = {b}, {a} * 0.5"],
            [f"{b} += {a}", f"{a} = {a} + {b}"],
            [f"{a} = {b}"],
        )
        head = self.choice("for _ in range(n):", "for _ in range(2):")
        extra = self.item(2) if self.source.random() < 0.3 else []
        lines = [
            f"{a}, {b} = {start}, {self.choice('np.zeros(len(x))', f'{self.vector()} * 1.0')}",
            head,
        ]
        lines += [f"    {line}" for line in [step, *extra, *end]]
        return [*lines, f"s = s + np.sum({a} * {b}) * 0.1"]

    def rows(self, depth):
        name, a = self.new("r"), self.vector()
        body = self.choice(
            [f"{name} *= {self.number()}"],
            [f"{name}[0] = {a}[0]"],
            [f"{name} += {a}", f"{name}[-1] *= 0.5"],
            [f"{a} += {name}"],
        )
        return [f"for {name} in m:", *(f"    {line}" for line in body)]
