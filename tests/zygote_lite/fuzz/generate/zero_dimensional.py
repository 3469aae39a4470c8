"""Random programs of numbers and arrays without axes: conversions, views, writes, branches, loops.

A program is the text of `f(x, y, v, n)`: two of what may be a number or an array without axes, a
vector and a count. Which of its variables is what depends on the arguments, as in libraries that
begin with `np.asarray(x)`; many programs raise errors for some of them.
"""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor

HELPERS = """def half(a):
    a = np.asarray(a)
    return a / 2.0


def raised(a, k):
    a[...] += k
    return a


def first(a):
    return a if np.ndim(a) == 0 else a[0]


"""
HEADER = "def f(x, y, v, n):\n"


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = author.block(author.source.randint(3, 7), 0)
    names = author.source.sample(author.all, min(3, len(author.all)))
    terms = [f"np.sum({author.choice(name, f'{name} * {name}', 'v * ' + name)})" for name in names]
    total = " + ".join([*terms, "x * y"])
    lines.append(f"return {author.choice(total, total, f'float({total})', f'np.asarray({total})')}")
    return HELPERS + HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments: numbers, arrays without axes and with one, other precision."""
    source = np.random.default_rng(seed)
    x, y = map(float, source.normal(size=2))
    v = source.normal(size=3)
    single = np.float32
    return [
        (x, y, v, 2),
        (np.array(x), y, v, 2),
        (np.array(x), np.array(y), v, 3),
        (-x, np.float64(y), v[:2].copy(), 1),
        (np.array(y), x, -v, 0),
        (np.array(x, single), np.array(y, single), v.astype(single), 2),
        (single(x), y, v, 2),
        (v[:1].copy(), y, v, 2),
        (3, y, v, 2),
        (x, -y, np.array(0.5), 4),
        (np.array(-x), -y, v, 2),
    ]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program without axes {seed}>", np=np, math=math)


class Author(RandomAuthor):
    """Write statements by random choice: of what is surely an array, and of what may be one."""

    def __init__(self, source):
        super().__init__(source)
        self.all = ["x", "y"]
        self.arrays = []  # made here, without axes unless an argument has some

    def operand(self):
        return self.choice(*self.all, *self.all, "v[..., 0]", "v[0]", "v.sum()", "0.5", "2")

    def number(self):
        a, b = self.operand(), self.operand()
        return self.choice(
            f"{a} * {b}", f"{a} + {b}", f"{a} - 0.5 * {b}", f"np.sin({a})", f"np.exp(-{a} * {a})",
            f"{a} / (1.0 + {b} * {b})", f"np.maximum({a}, {b})", f"np.hypot({a}, {b})", f"-{a}",
            f"{a} * 1.0", f"{a} ** 2", f"np.sum({a})", f"np.clip({a}, -0.5, 0.5)", f"first({a})",
            f"np.mean({a} * v)", f"np.dot(v, v) * {a}", f"float({a})", f"half({a})", f"abs({a})",
            f"max({a}, {b})", f"math.tanh({a})", f"np.max({a})", f"({a} if {self.test()} else {b})",
            f"np.abs({a} * {b})", f"np.interp({a}, [-1.0, 0.0, 2.0], [0.5, 1.0, -1.0])",
        )  # fmt: skip

    def array(self):
        a, b = self.operand(), self.operand()
        return self.choice(
            f"np.asarray({a})", f"np.asarray({a}, dtype=float)", f"np.array({a})",
            f"np.where({self.test()}, {a}, {b})", f"np.where({a} > {b}, {a}, 1.5 * {b})",
            f"np.reshape({a}, ())", f"np.squeeze(np.array([{a}]))", f"np.asanyarray({a})",
            f"np.broadcast_to({a}, ())", f"np.asarray({a}) * np.ones(())", "v[..., -1]",
            f"np.copy({a})", f"np.zeros_like({a})", f"np.full((), {a})", f"np.array({a} * {b})",
            f"np.where(np.isnan({a}), 0.0, {a})", f"np.nan_to_num({a})", f"np.transpose({a})",
        )  # fmt: skip

    def test(self):
        a, b = self.operand(), self.operand()
        return self.choice(
            f"{a} > 0.3", f"{a} < {b}", f"np.ndim({a}) == 0", f"np.isscalar({a})", "n > 1",
            f"np.any({a} > {b})", f"np.all({a} < 1.0)", f"np.shape({a}) == ()",
            f"isinstance({a}, np.ndarray)", f"not {a} > 0.1", f"np.size({a}) == 1",
        )  # fmt: skip

    def statement(self, depth):
        kind = self.source.random()
        if depth < 2 and kind < 0.12:
            return self.branch(depth)
        if depth < 2 and kind < 0.22:
            return self.loop(depth)
        if self.arrays and kind < 0.5:
            return self.write()
        if kind < 0.56:
            return self.several()
        if depth < 2 and kind < 0.6:
            return self.begun_late(depth)
        if kind < 0.64:
            return [f"if {self.test()} and {self.operand()} > 2.5:",
                    "    raise ValueError('too large')"]  # fmt: skip
        if kind < 0.8:
            name, text = self.new("a"), self.array()
            self.all.append(name)
            self.arrays.append(name)
            return [f"{name} = {text}"]
        name, text = self.name(), self.number()
        return [f"{name} = {text}"]

    def name(self):
        """Return a name for a number: a new one, or one that is bound."""
        known = [name for name in self.all if name.startswith("b")]
        if known and self.source.random() < 0.5:
            return self.choice(*known)
        self.all.append(self.new("b"))
        return self.all[-1]

    def write(self):
        a, value = self.choice(*self.arrays), self.choice(self.operand(), self.number())
        place = self.choice("...", "()", f"{a} > 0.0", "True", f"{a} < {self.operand()}")
        kind = self.source.random()
        if kind < 0.25:
            return [f"{a} {self.choice('+', '*', '-')}= {value}"]
        if kind < 0.6:
            return [f"{a}[{place}] {self.choice('', '', '+', '*')}= {value}"]
        if kind < 0.8:
            return [
                self.choice(
                    f"{a}.fill({value})", f"np.multiply({a}, {self.operand()}, out={a})",
                    f"np.copyto({a}, {value})", f"raised({a}, {value})",
                    f"np.negative({a}, out={a})", f"np.copyto({a}, {value}, where={a} > 0.0)",
                    f"np.divide({value}, {a}, out={a}, where={a} != 0.0)",
                    f"np.log({value}, out={a}, where=np.asarray({value}) > 0.1)",
                )
            ]  # fmt: skip
        view = self.new("w")
        self.all.append(view)
        taken = self.choice(
            f"{a}[...]", f"{a}.reshape(1)", f"{a}[None]", a, f"{a}.T", f"{a}.ravel()"
        )
        changed = self.choice(f"{view}[...] = {value}", f"{view} += {value}", f"{a}[()] = {value}")
        return [f"{view} = {taken}", changed]

    def several(self):
        one, other = self.new("b"), self.new("b")
        a, b = self.operand(), self.operand()
        lines = self.choice(
            [f"{one}, {other} = map(np.asarray, [{a}, {b}])"],
            [f"{one}, {other} = np.array([{a}, {b}])"],
            [f"{one}, {other} = [np.asarray(k) * 2.0 for k in ({a}, {b})]"],
            [f"{one} = [{a}, {b}, {a}]", f"{other} = sum({one})", f"{one} = {one}[1]"],
            [f"{one} = np.stack([{a}, {b}])", f"{other} = {one}[..., 0]"],
            [f"{one} = np.atleast_1d({a})", f"{other} = {one}[0]"],
            [f"{one}, {other} = np.broadcast_arrays({self.choice(*self.all)}, {b} * 1.0)"],
            [f"{one} = np.concatenate([k[..., None] for k in (v[..., 0], v[..., 1])])",
             f"{other} = {one}[1]"],
            [f"{one} = np.asarray({a})[()]", f"{other} = np.asarray({b}).item()"],
        )  # fmt: skip
        self.all += [one, other]
        return lines

    def branch(self, depth):
        known = [*self.all], [*self.arrays]
        lines = [f"if {self.test()}:", *self.inner(depth)]
        self.all, self.arrays = [*known[0]], [*known[1]]
        if self.source.random() < 0.6:
            lines += ["else:", *self.inner(depth)]
            self.all, self.arrays = known
        return lines

    def loop(self, depth):
        known = [*self.all], [*self.arrays]
        head = self.choice("for i in range(n):", "for i in range(3):", "for k in v:")
        stop = [f"    if {self.test()}:", "        break"] if self.source.random() < 0.3 else []
        lines = [head, *stop, *self.inner(depth)]
        self.all, self.arrays = known
        return lines

    def begun_late(self, depth):
        """Return a loop whose variable is of its kind from the first iteration on."""
        name, count = self.new("c"), self.new("k")
        start = self.choice("None", "None", "0", f"np.asarray({self.operand()})")
        test = self.choice(f"{count} > 0", f"{self.test()} and {count} > 0", f"{count} >= 0")
        first, later = self.number(), self.choice(f"{name} * {self.operand()}", f"np.sin({name})")
        lines = [
            f"{name}, {count} = {start}, n",
            f"while {test}:",
            f"    {count} -= 1",
            f"    {name} = {first} if {name} is None else {later}",
            *self.loop_of(depth),
            f"{name} = {self.operand()} if {name} is None else {name}",
        ]
        self.all.append(name)
        return lines

    def loop_of(self, depth):
        known = [*self.all], [*self.arrays]
        lines = self.inner(depth) if self.source.random() < 0.4 else []
        self.all, self.arrays = known
        return lines

    def inner(self, depth):
        return [f"    {line}" for line in self.block(self.source.randint(1, 3), depth + 1)]
