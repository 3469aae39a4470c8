"""Programs made at random for the optimizer: arrays of several shapes, views, loops, branches.

A program is the text of `f(a, b, x, m, k)`: two numbers, a vector, a matrix whose rows are as
long as it, and a count. It is made from a number, and is run with several choices of arguments:
other branches, other numbers of turns, other shapes and dtypes.
"""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts

NUMBER, VECTOR, COLUMN, MATRIX = "number", "vector", "column", "matrix"  # a column: one per row
HELPERS = """
def twist(p, q):
    r = p * q
    if {test}:
        return r + p
    return math.sin(r) + {second}


def squash(v, scale=0.7):
    e = np.exp(v - np.max(v))
    return scale * e / np.sum(e)


"""


class Scope:
    """The variables that are surely assigned, by kind."""

    def __init__(self):
        self.names = {NUMBER: ["a", "b"], VECTOR: ["x"], COLUMN: [], MATRIX: ["m"]}
        self.made = {VECTOR: [], MATRIX: []}  # arrays that may be written to
        self.counters = []
        self.lists = []
        self.functions = []

    def inside(self):
        new = Scope()
        new.names = {kind: [*names] for kind, names in self.names.items()}
        new.made = {kind: [*names] for kind, names in self.made.items()}
        new.counters, new.lists = [*self.counters], [*self.lists]
        new.functions = [*self.functions]
        return new


class Author:
    """Write a program from a number."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.budget = 14

    def pick(self, *options):
        return self.random.choice(options)

    def chance(self, p):
        return self.random.random() < p

    def new(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    # -- expressions -------------------------------------------------------------------------

    def of(self, kind, scope, depth=0):
        """Write an expression of a kind."""
        return {
            NUMBER: self.number, VECTOR: self.vector, COLUMN: self.column, MATRIX: self.matrix
        }[kind](scope, depth)  # fmt: skip

    def leaf(self, kind, scope):
        names = scope.names[kind]
        if names:
            return self.pick(*names)
        return self.pick("np.sum(m, axis=1)", "m[:, 0]", "m @ x")

    def operator(self):
        return self.pick("+", "-", "*", "*", "+")

    def number(self, scope, depth=0):
        s, d = scope, depth + 1
        k = self.random.random()
        if depth > 2 or k < 0.22:
            return self.leaf(NUMBER, s)
        if k < 0.30:
            return self.pick("0.3", "1.7", "-0.6", "2", "len(x)", "x.shape[0]", "m.shape[0]")
        if k < 0.50:
            return f"({self.number(s, d)} {self.operator()} {self.number(s, d)})"
        if k < 0.54:
            return f"({self.number(s, d)} / ({self.number(s, d)} ** 2 + 1.5))"
        if k < 0.62:
            return f"math.{self.pick('sin', 'cos', 'tanh')}({self.number(s, d)})"
        if k < 0.64:
            return f"np.{self.pick('sin', 'tanh', 'exp')}(0.1 * {self.number(s, d)})"
        if k < 0.67:
            return f"({self.number(s, d)} if {self.test(s)} else {self.number(s, d)})"
        if k < 0.73:
            return f"{self.leaf(VECTOR, s)}[{self.index(s)}]"
        if k < 0.75:
            return f"{self.leaf(MATRIX, s)}[{self.index(s)}, {self.pick('0', '-1')}]"
        if k < 0.84:
            kind = self.pick(VECTOR, MATRIX, COLUMN)
            name = self.pick("sum", "mean", "max", "min", "sum", "linalg.norm")
            return f"np.{name}({self.of(kind, s, d)})"
        if k < 0.87:
            return f"{self.leaf(VECTOR, s)} @ {self.vector(s, d)}"
        if k < 0.91:
            return f"twist({self.number(s, d)}, {self.number(s, d)})"
        if k < 0.93:
            return f"{self.pick('max', 'min')}({self.number(s, d)}, {self.number(s, d)})"
        if k < 0.95:
            return f"abs({self.number(s, d)})"
        if k < 0.97 and s.functions:
            return f"{self.pick(*s.functions)}({self.number(s, d)})"
        if k < 0.98 and s.lists:
            return f"{self.pick(*s.lists)}[{self.pick('0', '-1')}]"
        return f"({self.number(s, d)}) ** {self.pick('2', '3')}"

    def vector(self, scope, depth=0):
        s, d = scope, depth + 1
        k = self.random.random()
        if depth > 2 or k < 0.25:
            return self.leaf(VECTOR, s)
        if k < 0.42:
            return f"({self.vector(s, d)} {self.operator()} {self.vector(s, d)})"
        if k < 0.52:
            return f"({self.vector(s, d)} {self.operator()} {self.number(s, d)})"
        if k < 0.62:
            function, sign = self.pick("sin", "tanh", "exp", "abs"), self.pick("", "-")
            return f"np.{function}({sign}{self.leaf(VECTOR, s)})"
        if k < 0.68:
            chosen = f"{self.leaf(VECTOR, s)} > {self.pick('0', '0.4')}"
            return f"np.where({chosen}, {self.vector(s, d)}, {self.pick('0.0', self.vector(s, d))})"
        m = self.leaf(MATRIX, s)
        return self.pick(
            f"({self.leaf(VECTOR, s)})[::-1]",
            f"np.sum({m}, axis=0)",
            f"{m}.mean(0)",
            f"np.max({m}, axis=0)",
            f"{m}[{self.index(s)}]",
            f"({self.leaf(COLUMN, s)} @ {m})",
            f"({m}.T @ {self.leaf(COLUMN, s)})",
            f"np.cumsum({self.leaf(VECTOR, s)})",
            f"np.sort({self.leaf(VECTOR, s)})",
            f"np.concatenate([{self.leaf(VECTOR, s)}[:1], {self.leaf(VECTOR, s)}[1:]])",
            f"np.maximum({self.vector(s, d)}, {self.pick('0.1', self.leaf(VECTOR, s))})",
            f"np.clip({self.leaf(VECTOR, s)}, -0.5, 0.5)",
            f"squash({self.leaf(VECTOR, s)})",
            f"squash({self.leaf(VECTOR, s)}, {self.number(s, d)})",
            f"{self.leaf(VECTOR, s)}.copy()",
            f"{self.leaf(VECTOR, s)}.reshape(-1)",
            f"np.full(len(x), {self.number(s, d)})",
        )

    def column(self, scope, depth=0):
        s, d = scope, depth + 1
        m = self.leaf(MATRIX, s)
        return self.pick(
            self.leaf(COLUMN, s),
            f"({m} @ {self.leaf(VECTOR, s)})",
            f"np.sum({m}, axis=1)",
            f"np.mean({m}, axis=-1)",
            f"{m}[:, {self.pick('0', '-1')}]",
            f"({self.leaf(COLUMN, s)} {self.operator()} {self.leaf(COLUMN, s)})",
            f"np.tanh({self.leaf(COLUMN, s)}) * {self.number(s, d)}",
        )

    def matrix(self, scope, depth=0):
        s, d = scope, depth + 1
        k = self.random.random()
        if depth > 2 or k < 0.3:
            return self.leaf(MATRIX, s)
        if k < 0.45:
            return f"({self.matrix(s, d)} {self.operator()} {self.matrix(s, d)})"
        if k < 0.6:
            other = self.pick(self.vector(s, d), self.number(s, d), f"{self.column(s, d)}[:, None]")
            return f"({self.matrix(s, d)} {self.operator()} {other})"
        m = self.leaf(MATRIX, s)
        return self.pick(
            f"np.tanh({self.matrix(s, d)})",
            f"np.outer({self.leaf(COLUMN, s)}, {self.leaf(VECTOR, s)})",
            f"({m} - np.mean({m}, axis=1, keepdims=True))",
            f"({m} * np.max({m}, axis=0))",
            f"{m}.T.T",
            f"{m}.reshape(m.shape)",
            f"np.where({m} > 0.1, {self.matrix(s, d)}, {m})",
            f"({self.leaf(COLUMN, s)}.reshape(-1, 1) * {self.leaf(VECTOR, s)})",
            f"np.vstack([{m}[:1], {m}[1:]])",
            f"np.einsum('ij,j->ij', {m}, {self.leaf(VECTOR, s)})",
            f"({m} @ {m}.T @ {m})",
            f"{m}[::-1]",
        )

    def index(self, scope):
        options = ["0", "-1", *(f"{i} % len(m)" for i in scope.counters)]
        return self.pick(*options) if self.chance(0.9) or not scope.counters else "k % len(m)"

    def test(self, scope):
        c = f"{self.number(scope, 2)} {self.pick('<', '>')} {self.number(scope, 2)}"
        k = self.random.random()
        if k < 0.15:
            return f"{c} {self.pick('and', 'or')} {self.number(scope, 2)} > 0"
        if k < 0.25:
            return f"not {c}"
        if k < 0.45 and scope.counters:
            return f"{self.pick(*scope.counters)} {self.pick('<', '>', '==')} {self.pick('0', '1')}"
        return self.pick("k > 2", "len(x) > 2", c, c, c)

    # -- statements --------------------------------------------------------------------------

    def block(self, scope, depth, loop):
        """Write some statements, as lines; the scope learns the names that they assign."""
        lines = []
        for _ in range(self.random.randint(1, 4)):
            self.budget -= 1
            if self.budget < 0 and lines:
                break
            lines += self.statement(scope, depth, loop)
            if isinstance(lines[-1], str) and lines[-1].startswith("return"):
                break
        return lines

    def statement(self, s, depth, loop):
        k = self.random.random()
        if k < 0.22:
            kind = self.pick(NUMBER, NUMBER, VECTOR, VECTOR, COLUMN, MATRIX)
            value = self.of(kind, s)
            name = self.new(kind[0]) if self.chance(0.6) or depth else self.pick("t", "s")
            if name in ("t", "s"):
                value = self.number(s)
                kind = NUMBER
            return self.assign(s, kind, name, value)
        if k < 0.30:
            name = self.pick("s", "t")
            return [f"{name} {self.pick('+=', '*=', '-=')} {self.number(s, 1)}"]
        if k < 0.38:
            return self.making(s)
        if k < 0.56 and (s.made[VECTOR] or s.made[MATRIX]):
            return self.writing(s)
        if k < 0.60:
            kind = self.pick(VECTOR, MATRIX)
            name, value = self.new("f"), self.of(kind, s, 1)
            s.names[kind].append(name)
            more = self.pick(self.number(s, 1), self.leaf(kind, s))
            return [f"{name} = {value} * 1.1", f"{name} {self.pick('+=', '-=', '*=')} {more}"]
        if k < 0.64:
            return self.listing(s)
        if k < 0.67:
            one, other = self.new("p"), self.new("p")
            line = f"{one}, {other} = {self.number(s, 1)}, {self.number(s, 1)}"
            s.names[NUMBER] += [one, other]
            return [line]
        if k < 0.70:
            name = self.new("g")
            known = self.pick("a", "b", "x[0]", "len(x)", "np.sum(m)")  # nobody assigns to these
            body = f"v * {known} + math.sin(v)"
            s.functions.append(name)
            return [f"{name} = lambda v: {body}"] if self.chance(0.3) else [
                f"def {name}(v):", [f"return {body}"]
            ]  # fmt: skip
        if k < 0.82 and depth < 2:
            lines = [f"if {self.test(s)}:", self.block(s.inside(), depth + 1, loop)]
            if self.chance(0.5):
                lines += ["else:", self.block(s.inside(), depth + 1, loop)]
            return lines
        if k < 0.95 and depth < 2:
            return self.loop(s, depth)
        if k < 0.97 and loop:
            return [f"if {self.test(s)}:", [self.pick("break", "continue")]]
        if k < 0.985:
            return [f"if {self.test(s)}:", [f"return {self.number(s)}"]]
        return [f"if {self.number(s, 2)} > 50:", ["raise ValueError(f'{a} is too large')"]]

    def assign(self, s, kind, name, value):
        if name not in s.names[kind]:
            s.names[kind].append(name)
        return [f"{name} = {value}"]

    def making(self, s):
        kind = self.pick(VECTOR, VECTOR, MATRIX)
        name = self.new("y")
        value = {
            VECTOR: self.pick(
                "np.zeros(len(x))", "np.zeros_like(x)", "np.ones(x.shape)", "x.copy()",
                "np.zeros(x.shape[0])", f"np.full(len(x), {self.number(s, 1)})",
                f"np.array([{self.number(s, 1)} for v in x])",
            ),
            MATRIX: self.pick("np.zeros(m.shape)", "np.zeros_like(m)", "m.copy()",
                              "np.zeros((len(m), len(x)))", "np.array(m)"),
        }[kind]  # fmt: skip
        s.names[kind].append(name)
        s.made[kind].append(name)
        return [f"{name} = {value}"]

    def writing(self, s):
        kind = self.pick(*(kind for kind in s.made if s.made[kind]))
        y = self.pick(*s.made[kind])
        if self.chance(0.25):
            return self.view(s, y, kind)
        if kind == MATRIX:
            return [self.pick(
                f"{y}[{self.index(s)}] = {self.vector(s)}",
                f"{y}[{self.index(s)}, 0] {self.pick('=', '+=')} {self.number(s)}",
                f"{y}[:, 0] = {self.column(s)}",
                f"{y}[:] = {self.pick(self.matrix(s), self.vector(s), self.number(s))}",
                f"{y}[1:] {self.pick('=', '*=')} {self.number(s)}",
            )]  # fmt: skip
        return [self.pick(
            f"{y}[{self.index(s)}] = {self.number(s)}",
            f"{y}[{self.index(s)}] {self.pick('+=', '*=', '-=')} {self.number(s, 1)}",
            f"{y}[:] = {self.vector(s)}",
            f"{y}[1:] = {y}[:-1] * {self.number(s, 1)}",
            f"{y}[1:] {self.pick('+=', '*=')} {self.number(s, 1)}",
            f"{y}[x > 0.2] = {self.number(s)}",
            f"{y}[[0, -1]] = {self.number(s)}",
            f"{y} {self.pick('+=', '*=')} {self.pick(self.vector(s), self.number(s))}",
        )]  # fmt: skip

    def view(self, s, y, kind):
        name = self.new("v")
        if kind == MATRIX and self.chance(0.4):
            kind = VECTOR
            value = self.pick(f"{y}[0]", f"{y}[-1]", f"{y}.T[:, 0]")
        elif kind == MATRIX:
            value = self.pick(f"{y}[::-1]", f"{y}.T.T", f"{y}.reshape(m.shape)",
                              f"np.asarray({y})", f"np.transpose({y}).T")  # fmt: skip
        else:
            value = self.pick(f"{y}[::-1]", f"np.ravel({y})", f"{y}[:]", f"{y}.reshape(-1)",
                              f"np.asarray({y})", y)  # fmt: skip
        s.names[kind].append(name)
        return [f"{name} = {value}"]

    def listing(self, s):
        if s.lists and self.chance(0.6):
            held = self.pick(*s.lists)
            return [f"{held}.append({self.number(s, 1)})"]
        name, total = self.new("l"), self.new("p")
        lines = [
            f"{name} = [{self.number(s, 1)}, {self.number(s, 1)}]",
            f"{total} = sum({name}) + len({name})",
        ]
        s.lists.append(name)
        s.names[NUMBER].append(total)
        return lines

    def loop(self, s, depth):
        inner = s.inside()
        k = self.random.random()
        i = self.new("i")
        head = []
        if k < 0.5:
            header = f"for {i} in range({self.pick('k', 'k', '3', '2', 'len(m)', 'len(x)')}):"
            inner.counters.append(i)
        elif k < 0.62:
            e = self.new("e")
            header = f"for {e} in {self.leaf(VECTOR, s)}:"
            inner.names[NUMBER].append(e)
        elif k < 0.72:
            e = self.new("e")
            header = f"for {i}, {e} in enumerate({self.leaf(VECTOR, s)}):"
            inner.names[NUMBER].append(e)
            inner.counters.append(i)
        elif k < 0.80:
            e, g = self.new("e"), self.new("e")
            header = f"for {e}, {g} in zip({self.leaf(VECTOR, s)}, {self.leaf(VECTOR, s)}):"
            inner.names[NUMBER] += [e, g]
        elif k < 0.88:
            header = f"for {i} in {self.leaf(MATRIX, s)}:"
            inner.names[VECTOR].append(i)
        else:
            head = [f"{i} = 0"]
            header = f"while {i} < 4 and ({self.test(s)}):"
            inner.counters.append(i)
        body = self.block(inner, depth + 1, loop=True)
        if header.startswith("while"):
            body = [f"{i} += 1", *body]
        lines = [*head, header, body]
        if self.chance(0.1):
            lines += ["else:", self.block(s.inside(), depth + 1, False)]
        return lines

    def program(self):
        scope = Scope()
        scope.names[NUMBER] += ["s", "t"]
        lines = ["s = a * b", f"t = {self.pick('1.0', 'x[0]', 'b', '2')}"]
        for _ in range(3):
            lines += self.block(scope, 0, False)
        ends = [self.number(scope)]
        for kind in (VECTOR, MATRIX):
            names = [*scope.made[kind], *scope.names[kind][-2:]]
            ends += [f"np.sum({name} * {self.pick('0.5', name)})" for name in names]
        if self.chance(0.8):
            ends.append("a * b + np.sum(m * x)")  # else an argument may not matter
        lines.append(f"return s * t + {' + '.join(dict.fromkeys(ends))}")
        test, second = self.pick("p > q", "k0 > 1", "q > 0"), self.pick("p", "q * q")
        text = "\n".join(render(["def f(a, b, x, m, k):", lines]))
        return f"{HELPERS.format(test=test, second=second)}{text}\n"


def render(lines, indent=0):
    """Return lines of text from nested lists of them."""
    out = []
    for line in lines:
        out += render(line, indent + 1) if isinstance(line, list) else ["    " * indent + line]
    return out


def program(seed):
    """Return the text of the program of a number."""
    return Author(seed).program()


def load(text, name):
    """Return the function `f` of a program."""
    names = {"np": np, "math": math, "k0": 2, "__name__": "program"}
    return texts.load(text, f"<program {name}>", **names)


def arguments(seed):
    """Return choices of arguments: the first is what the program is specialized for."""
    source = np.random.default_rng(seed)

    def given(rows, length, count, dtype=float):
        a, b = (float(v) for v in source.uniform(-1.2, 1.2, 2))
        x = source.uniform(-1, 1, length).astype(dtype)
        m = source.uniform(-1, 1, (rows, length)).astype(dtype)
        return a, b, x, m, count

    first = given(2, 3, 3)
    negative = (-first[0], first[1], -first[2], -first[3], 2)
    ints = (2, first[1], *given(3, 2, 1)[2:])
    turned = given(3, 3, 4)
    turned = (*turned[:3], np.asfortranarray(turned[3])[::-1], 4)
    return [
        first, negative, given(4, 5, 0), turned, ints, given(1, 3, 2), given(3, 1, 3),
        given(2, 3, 3, np.float32),
    ]  # fmt: skip
