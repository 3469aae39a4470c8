"""Random programs of complex numbers and arrays, by real and by complex arguments.

A program is the text of `f(x, z, v, w)`: a real and a complex number, a real and a complex vector
(some of them of single precision, some without axes). It gives a real number.
"""

import cmath
import math
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor

HELPERS = """def turned(a, k):
    return a * cmath.exp(1j * k)


def squared(a):
    return (a * np.conj(a)).real


"""
HEADER = "def f(x, z, v, w):\n"


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = author.block(author.source.randint(3, 7), 0)
    terms = [author.real(author.source.choice(author.numbers)) for _ in range(2)]
    terms += [f"np.sum({author.real(author.source.choice(author.arrays))})" for _ in range(2)]
    lines.append(f"return float({' + '.join(terms)})")
    return HELPERS + HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)
    x, a, b = map(float, source.normal(size=3))
    v, w = source.normal(size=3), source.normal(size=3) + 1j * source.normal(size=3)
    z = complex(a, b)
    return [
        (x, z, v, w),
        (-x, z.conjugate(), -v, w[::-1]),
        (np.float64(x), np.complex128(z), v, w),
        (x, a, v, w),
        (x, z, v, v * 2.0),
        (z, x, w, w),
        (x, z, v.astype(np.float32), w.astype(np.complex64)),
        (np.array(x), np.array(z), v, w),
        (x, z, v[:1].copy(), w),
        (0.0, 0j, v * 0.0, w * 0.0),
        (2, z, v, w),
    ]


def load(seed):
    """Return the function of a number."""
    text = program(seed)
    return texts.load(text, f"<program of complex numbers {seed}>", np=np, math=math, cmath=cmath)


class Author(RandomAuthor):
    """Write statements by random choice."""

    def __init__(self, source):
        super().__init__(source)
        self.numbers = ["x", "z"]
        self.arrays = ["v", "w"]
        self.made = []  # arrays that are made here, and may be written to

    def real(self, a):
        """Return a real number, or an array of these, that is made of another."""
        return self.choice(
            f"{a}.real", f"np.real({a})", f"np.imag({a} * 2j)", f"abs({a})", f"np.abs({a}) ** 2",
            f"squared({a})", f"({a} * 1j).imag", f"np.angle({a} + 3.0)", f"({a} + 0j).real",
        )  # fmt: skip

    def operand(self):
        return self.choice(*self.numbers, *self.numbers, "1j", "0.5", "(2)", "(1 - 2j)", "w[0]",
                           "v[1]", "w.sum()", "np.sum(v)")  # fmt: skip

    def number(self):
        a, b = self.operand(), self.operand()
        return self.choice(
            f"{a} * {b}", f"{a} + {b}", f"{a} - 0.5j * {b}", f"{a} / ({b} + 3.0)", f"-{a}",
            f"np.exp(0.3j * {a})", f"cmath.exp(0.2 * {a})", f"np.sin({a})", f"{a} ** 2",
            f"({a} + 4.0) ** 0.5", f"cmath.sqrt({a} + 1.5)", f"np.conj({a})", f"turned({a}, {b})",
            f"complex({self.real(a)}, {self.real(b)})", f"np.vdot(v, w) * {a}", f"{a} * 1.0",
            f"np.conjugate({a}) * {a}", f"np.log({a} + 5.0)", self.real(a), f"np.sum({a} * w)",
            f"({a} if {self.test()} else {b})", f"np.dot(w, v) + {a}", f"np.sqrt({a} + 3j)",
            f"{self.choice(*self.arrays)}[0] * {a}", f"np.mean({self.choice(*self.arrays)})",
            f"{a} * {a} * {a}", f"np.tanh({a} * 0.2)", f"cmath.phase({a} + 2.0)",
        )  # fmt: skip

    def array(self):
        a, b, c = self.choice(*self.arrays), self.choice(*self.arrays), self.operand()
        return self.choice(
            f"{a} * {b}", f"{a} + {c}", f"{a} * {c}", f"np.exp(0.1j * {a})", f"np.conj({a})",
            f"{a} - {b}[::-1]", f"{a}.real", f"{a}.imag", f"np.fft.fft({a})", f"np.fft.ifft({a})",
            f"np.abs({a})", f"{a} / (2.0 + {b} * {b})", f"np.where({a}.real > 0, {a}, {c})",
            f"np.outer({a}, {b})[0]", f"{a}[[0, 0, -1]]", f"np.cumsum({a})", f"{a} ** 2",
            f"np.array([{c}, {self.operand()}, {self.operand()}])", f"{a} * 1j", f"{a}.conj()",
            f"np.stack([{a}, {b}])[1]", f"np.concatenate([{a}, {b}])[:3]", f"{a} @ np.eye(3)",
            f"np.fft.irfft(np.fft.rfft({a}.real), 3)", f"np.linalg.solve(np.eye(3) * 3 + 1j, {a})",
            f"np.real({a}) + 1j * np.imag({b})", f"({a}[:, None] * {b}).sum(axis=0)",
            f"np.sign({a})", f"np.mean({a}) * {b}", f"np.square({a})", f"np.sqrt({a} + 3.0)",
            f"np.maximum({a}.real, {b}.imag)", f"np.einsum('i,i->i', {a}, {b})", f"{a} * 2.0",
        )  # fmt: skip

    def test(self):
        a, b = self.operand(), self.operand()
        return self.choice(
            f"{self.real(a)} > 0.3", f"abs({a}) < abs({b})", f"np.iscomplexobj({a})",
            f"isinstance({a}, complex)", f"{a} == {b}", f"np.isreal({a})", "x.real > 0.0",
        )  # fmt: skip

    def statement(self, depth):
        kind = self.source.random()
        if depth < 2 and kind < 0.12:
            return self.branch(depth)
        if depth < 2 and kind < 0.24:
            return self.loop(depth)
        if kind < 0.34:
            name = self.new("m")
            self.made.append(name)
            self.arrays.append(name)
            make = self.choice("np.zeros(3, complex)", "np.zeros(3)", "np.zeros_like(w)",
                               "np.ones(3, dtype=np.complex128)", "w.copy()", "v.copy()",
                               f"np.array({self.choice(*self.arrays)})")  # fmt: skip
            return [f"{name} = {make}"]
        if self.made and kind < 0.5:
            return self.write()
        if kind < 0.58:
            return self.several()
        if kind < 0.75:
            text = self.array()
            name = self.name(self.arrays, "a")
            return [f"{name} = {text}"]
        text = self.number()
        return [f"{self.name(self.numbers, 'b')} = {text}"]

    def several(self):
        """Return statements that make a list of numbers, and take something from it."""
        many, one, whole = self.new("c"), self.new("b"), self.new("a")
        a, b = self.number(), self.operand()
        make = self.choice(
            [f"{many} = [{a}, {b}]"],
            [f"{many} = [{b} * k for k in {self.choice('v', 'w', 'range(4)', '(1, 2j)')}]"],
            [f"{many} = []", f"for k in range({self.choice('3', 'len(w)', '20')}):",
             f"    {many}.append({self.choice(a, f'{b} * k', f'{b} * cmath.exp(1j * k)')})"],
            [f"{many} = [0.0] * 3", f"{many}[1] = {b}", f"{many}[2] += {a}"],
            [f"{many} = [{b}, {a}]", f"{many}.append({many}[0] * {many}[1])"],
            [f"{many} = [w * {b}, v * {a}]"],
        )  # fmt: skip
        take = [
            f"{one} = {self.choice(f'sum({many})', f'{many}[-1] * {many}[0]', f'sum({many}, 0j)')}",
            f"{whole} = np.array({many}) * 1j",
        ]
        if "w *" in make[0]:
            self.arrays.append(one)
        else:
            self.numbers.append(one)
        take = take[: self.source.randint(1, 2)]
        if len(take) == 2:
            self.numbers.append(f"np.sum({whole})")
        return [*make, *take]

    def name(self, names, stem):
        """Return a name: a new one, or one that is bound."""
        known = [name for name in names if name.startswith(stem)]
        if known and self.source.random() < 0.5:
            return self.choice(*known)
        names.append(self.new(stem))
        return names[-1]

    def write(self):
        a, b = self.choice(*self.made), self.choice(*self.arrays)
        value = self.choice(self.operand(), self.number())
        return self.choice(
            [f"{a}[{self.choice(0, 1, -1)}] {self.choice('', '+', '*')}= {value}"],
            [f"{a}[:] = {b}"],
            [f"{a}[1:] {self.choice('', '+')}= {b}[1:]"],
            [f"{a} {self.choice('+', '*', '-')}= {self.choice(value, b)}"],
            [f"{a}[{a}.real > 0] = {value}"],
            [f"{a}[[0, 2]] += {b}[:2]"],
            [f"np.add.at({a}, [0, 0, 1], {b})"],
            [f"{a} = {a}.real"],
        )

    def branch(self, depth):
        test = self.test()
        numbers, arrays, made = [*self.numbers], [*self.arrays], [*self.made]
        body = [f"    {line}" for line in self.block(self.source.randint(1, 2), depth + 1)]
        self.numbers, self.arrays, self.made = [*numbers], [*arrays], [*made]
        lines = [f"if {test}:", *body]
        if self.source.random() < 0.5:
            other = [f"    {line}" for line in self.block(1, depth + 1)]
            lines += ["else:", *other]
        self.numbers, self.arrays, self.made = numbers, arrays, made
        return lines

    def loop(self, depth):
        total = self.new("b")
        start = self.choice("0", "0.0", "0j", self.operand())
        numbers, arrays, made = [*self.numbers, total], [*self.arrays], [*self.made]
        self.numbers = [*numbers, "k"]
        over = self.choice("range(3)", "range(len(v))", "w", "v", f"{self.choice(*self.arrays)}")
        step = self.choice(
            f"{total} = {total} + {self.number()}", f"{total} += {self.operand()} * k",
            f"{total} = {total} * 0.5j + {self.operand()}",
            f"{total} = {total} * {total} * 0.1 + k",
        )  # fmt: skip
        body = [f"    {line}" for line in [*self.block(self.source.randint(0, 2), depth + 1), step]]
        if self.source.random() < 0.2:
            body.append(f"    if {self.test()}:")
            body.append(f"        {self.choice('break', 'continue')}")
        self.numbers, self.arrays, self.made = numbers, arrays, made
        return [f"{total} = {start}", f"for k in {over}:", *body]
