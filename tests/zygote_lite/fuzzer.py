"""A differential fuzzer: programs made at random, their gradients held to two independent ones.

A program is made as text, from a number; it is run with complex numbers (the complex step gives
its derivatives to the last digit) and with floats (Richardson's differences, along one direction).
Where these two disagree the program stands at a kink and is thrown away. Then value, gradient
and side effects of the engine have to be the same. `python -m tests.zygote_lite.fuzzer 20000`
runs many, and prints what it finds, made small.
"""

import ast
import builtins
import cmath
import collections
import copy
import importlib.util
import itertools
import multiprocessing
import random
import sys
import tempfile
import time
import traceback
import types
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from tests.zygote_lite.conftest import assert_same
from tests.zygote_lite.differences import slope
from zygote_lite import DifferentiationError, gradient, pullback

HEADER = "from math import cos, exp, sin, tanh\n\nimport numpy as np\n\nzeros = np.zeros\n\n\n"
CONSTANTS = ("0.3", "0.5", "-0.7", "1.3", "2.0", "-1.1")
AGREE = 1e-6  # of the two derivatives that are not ours
EQUAL = 1e-8  # of the engine's to the complex step
LINES = 20_000  # that a program may go through: some walk a list that grows with each item


# -- making programs ---------------------------------------------------------------------------


class Scope:
    """The names that are surely assigned where the next statement stands."""

    def __init__(self, scalars=(), arrays=(), lists=(), dicts=(), functions=()):
        self.scalars, self.arrays, self.lists = [*scalars], {**dict(arrays)}, [*lists]
        self.dicts, self.functions = [*dicts], [*functions]
        self.depth, self.loop, self.held = 0, False, set()
        self.indices = []  # counters of loops, which nothing else assigns

    def inside(self, loop=None):
        new = Scope(self.scalars, self.arrays, self.lists, self.dicts, self.functions)
        new.depth, new.held = self.depth + 1, set(self.held)
        new.indices = [*self.indices]
        new.loop = self.loop if loop is None else loop
        return new


class Author:
    """Write a program: a module of helpers and of `f(a, b, v, items, table)`."""

    def __init__(self, source):
        self.random = source
        self.names = itertools.count()
        self.budget = self.random.randint(6, 22)  # of statements
        self.pure = False

    def pick(self, options):
        return self.random.choice(options)

    def chance(self, p):
        return self.random.random() < p

    def new(self, letter):
        return f"{letter}{next(self.names)}"

    def module(self):
        helpers, known = [], []
        for _ in range(self.random.randint(0, 2)):
            name = self.new("h")
            self.budget += 3
            scope = Scope(["x", "y"], {"w": 3}, functions=known)
            body = self.block(scope, 3)
            body.append(f"return {self.scalar(scope, 2)}")
            helpers.append(render([f"def {name}(x, y, w):", body]))
            known = [*known, (name, "ssa")]
        scope = Scope(["a", "b"], {"v": 3}, ["items"], ["table"], known)
        lines = self.block(scope, self.budget)
        lines.append("return " + self.total(scope))
        return "\n\n\n".join([*helpers, render(["def f(a, b, v, items, table):", lines])]) + "\n"

    def total(self, scope):
        terms = [*scope.scalars, *(f"np.sum({w})" for w in scope.arrays)]
        terms += [f"sum({x})" for x in scope.lists] + [f"sum({d}.values())" for d in scope.dicts]
        return " + ".join(f"{self.pick(CONSTANTS)} * {t}" for t in terms)

    def block(self, scope, limit):
        """Return some statements; a list among them is the indented block of the line before."""
        lines = []
        for _ in range(self.random.randint(1, max(1, limit))):
            if self.budget <= 0:
                break
            self.budget -= 1
            lines += self.statement(scope)
        return lines or ["pass"]

    def statement(self, scope):
        simple = [
            self.assign, self.assign, self.augment, self.swap, self.list_write, self.list_write,
            self.dict_write, self.array_write, self.array_write, self.array_write, self.array_new,
            self.array_in_place, self.view, self.alias,
        ]  # fmt: skip
        nested = [
            self.branch, self.branch, self.loop, self.loop, self.while_loop, self.attempt,
            self.closure, self.jump,
        ]  # fmt: skip
        kinds = simple + (nested if scope.depth < 3 else [self.jump])
        return self.pick(kinds)(scope)

    # -- expressions

    def scalar(self, scope, depth=2):
        if depth <= 0 or self.chance(0.25):
            return self.atom(scope)
        e = lambda: self.scalar(scope, depth - 1)
        kind = self.random.randrange(17)
        if kind < 3:
            return f"{e()} * {self.atom(scope)}"
        if kind < 5:
            return f"({e()} {self.pick('+-')} {e()})"
        if kind < 8:
            return f"{self.pick(('sin', 'cos', 'tanh'))}({e()})"
        if kind == 8:
            return f"{e()} / (2.0 + sin({e()}))"
        if kind == 9:
            return f"({e()} if {self.condition(scope)} else {e()})"
        if kind == 10:
            return f"{self.pick(('max', 'min'))}({e()}, {e()})"
        if kind == 11 and scope.lists:
            x, t = self.pick(scope.lists), self.new("t")
            inner = f"{t} * {self.atom(scope)} for {t} in {x}"
            if self.chance(0.3):
                inner += f" if re_({t}) > {self.pick(CONSTANTS)}"
            return self.pick((f"sum([{inner}])", f"sum({inner})"))
        if kind == 12 and scope.arrays:
            w = self.array(scope, 3)
            return self.pick((f"np.sum({w})", f"{w} @ {self.array(scope, 3)}", f"np.mean({w})"))
        if kind == 13 and scope.functions:
            return self.call(scope, depth - 1)
        if kind == 14:
            t = self.new("t")
            return f"(lambda {t}: {t} * {self.atom(scope)} + {self.atom(scope)})({e()})"
        if kind == 15 and scope.lists:
            return f"sorted({self.pick(scope.lists)})[{self.random.randrange(2)}]"
        return f"exp(-({e()}) * ({e()}) * 0.1)" if kind == 16 else e()

    def atom(self, scope):
        kind = self.random.randrange(9)
        if kind < 4 and scope.scalars:
            return self.pick(scope.scalars)
        if kind < 6 and scope.arrays:
            w, n = self.pick(list(scope.arrays.items()))
            return f"{w}[{self.index(scope, n)}]"
        if kind == 6 and scope.lists:
            return f"{self.pick(scope.lists)}[{self.index(scope, 2)}]"
        if kind == 7 and scope.dicts:
            return f"{self.pick(scope.dicts)}[{self.pick(('p', 'q'))!r}]"
        return self.pick(scope.scalars) if scope.scalars and kind == 8 else self.pick(CONSTANTS)

    def index(self, scope, n):
        """Return an index into something of length `n`."""
        if scope.indices and self.chance(0.6):
            i = self.pick(scope.indices)
            return self.pick((f"{i} % {n}", f"-1 - {i} % {n}", f"({i} + 1) % {n}"))
        return self.random.randrange(-n, n)

    def condition(self, scope):
        left = f"re_({self.scalar(scope, 1)})"
        kind = self.random.randrange(6)
        if kind == 0:
            return f"-0.5 < {left} < {self.pick(CONSTANTS)}"
        if kind == 1:
            return f"not {left} > {self.pick(CONSTANTS)}"
        if kind == 2:
            joined = self.pick(("and", "or"))
            return f"({left} > 0.1 {joined} re_({self.atom(scope)}) < {self.pick(CONSTANTS)})"
        return f"{left} {self.pick('<>')} {self.pick(CONSTANTS)}"

    def array(self, scope, n, depth=1):
        """Return an expression for an array of length `n` (or a number where there is none)."""
        names = [w for w, m in scope.arrays.items() if m == n]
        kind = self.random.randrange(8)
        if not names:
            return f"np.array([{', '.join(self.scalar(scope, 1) for _ in range(n))}])"
        w = self.pick(names)
        if depth <= 0 or kind < 2:
            return w
        if kind == 2:
            return f"({w} * {self.array(scope, n, depth - 1)})"
        if kind == 3:
            return f"({w} {self.pick('+-')} {self.atom(scope)})"
        if kind == 4:
            return f"np.{self.pick(('sin', 'tanh'))}({w})"
        if kind == 5:
            return f"{w}[::-1]"
        if kind == 6:
            return f"np.where(re_({w}) > {self.pick(CONSTANTS)}, {w}, {self.atom(scope)})"
        return f"np.array([{', '.join(self.scalar(scope, 1) for _ in range(n))}])"

    def call(self, scope, depth):
        name, kind = self.pick(scope.functions)
        if kind == "s":
            return f"{name}({self.scalar(scope, depth)})"
        w = [w for w, n in scope.arrays.items() if n == 3]
        w = self.pick(w) if w and self.chance(0.7) else self.array(scope, 3)
        return f"{name}({self.scalar(scope, depth)}, {self.atom(scope)}, {w})"

    # -- simple statements

    def assign(self, scope):
        value = self.scalar(scope)
        if scope.scalars and self.chance(0.5):
            name = self.pick(scope.scalars)
            return [f"{name} = tanh({value})" if scope.loop else f"{name} = {value}"]
        name = self.new("s")
        scope.scalars.append(name)
        return [f"{name} = {value}"]

    def augment(self, scope):
        if not scope.scalars:
            return self.assign(scope)
        name = self.pick(scope.scalars)
        if self.chance(0.3):
            return [f"{name} *= cos({self.scalar(scope, 1)})"]
        return [f"{name} {self.pick('+-')}= {self.scalar(scope, 1)}"]

    def swap(self, scope):
        if len(scope.scalars) < 2:
            return self.assign(scope)
        names = self.random.sample(scope.scalars, min(len(scope.scalars), self.pick((2, 2, 3))))
        values = [*names[1:], names[0]]
        if self.chance(0.4):
            values[0] = f"sin({values[0]}) * {self.atom(scope)}"
        return [f"{', '.join(names)} = {', '.join(values)}"]

    def list_write(self, scope):
        if not scope.lists or self.chance(0.15):
            name = self.new("l")
            value = f"[{', '.join(self.scalar(scope, 1) for _ in range(self.pick((2, 3))))}]"
            if scope.lists and self.chance(0.3):
                old = self.pick(scope.lists)
                value = self.pick((f"list({old})", f"{old}[:]", f"[0.5 * t for t in {old}]"))
            scope.lists.append(name)
            return [f"{name} = {value}"]
        x, e = self.pick(scope.lists), self.scalar(scope, 1)
        if x in scope.held:
            return [f"{x}[{self.random.randrange(-2, 2)}] = tanh({e})"]
        return [
            self.pick((
                f"{x}[{self.random.randrange(-2, 2)}] = {e}",
                f"{x}[{self.random.randrange(-2, 2)}] = {e}",
                f"{x}[{self.random.randrange(-2, 2)}] += {e}",
                f"{x}.append({e})",
                f"{x}.insert({self.random.randrange(2)}, {e})",
                f"{x}.reverse()",
                f"{x}[0], {x}[1] = {x}[1], {e}",
                f"{x}[:2] = [{e}, {x}[0]]",
                f"{x} += [{e}]",
                f"{x}.extend([{e}, {x}.pop()])",
            ))
        ]  # fmt: skip

    def dict_write(self, scope):
        if not scope.dicts:
            name = self.new("d")
            scope.dicts.append(name)
            return [f"{name} = {{'p': {self.scalar(scope, 1)}, 'q': {self.scalar(scope, 1)}}}"]
        d, e, key = self.pick(scope.dicts), self.scalar(scope, 1), repr(self.pick(("p", "q", "r")))
        return [
            self.pick((
                f"{d}[{key}] = {e}",
                f"{d}[{key}] = {e}",
                f"{d}['p'] += {e}",
                f"{d}.update(p={d}['q'], q={e})",
                f"{d}['q'] = {d}.pop('r', {e})",
                f"{d}['r'] = {d}.setdefault('r', {e}) * 0.5",
                f"{d}['p'], {d}['q'] = {d}['q'], {d}['p'] * {e}",
            ))
        ]  # fmt: skip

    def array_new(self, scope):
        name, n = self.new("w"), self.pick((3, 3, 2))
        names = [w for w, m in scope.arrays.items() if m == n]
        value = self.array(scope, n, 2)
        if value in names or value.endswith("[::-1]"):
            value = f"{value}.copy()"
        if self.chance(0.4):
            value = self.pick((f"zeros({n})", *(f"{w}.copy()" for w in names)))
        scope.arrays[name] = n
        return [f"{name} = {value}"]

    def array_write(self, scope):
        if not scope.arrays:
            return self.array_new(scope)
        w, n = self.pick(list(scope.arrays.items()))
        i, e = self.index(scope, n), self.scalar(scope, 1)
        return [
            self.pick((
                f"{w}[{i}] = {e}",
                f"{w}[{i}] = {e}",
                f"{w}[{i}] += {e}",
                f"{w}[{i}] *= cos({e})",
                f"{w}[1:] = {self.array(scope, n - 1)}" if n == 3 else f"{w}[:] = {e}",
                f"{w}[1:] = {w}[:-1]",
                f"{w}[:-1] += {w}[1:]",
                f"{w}[:] = {self.array(scope, n)}",
                f"{w}[re_({w}) > {self.pick(CONSTANTS)}] = {e}",
                f"{w}[re_({w}) < {self.pick(CONSTANTS)}] *= 0.5",
                f"{w}[[0, -1]] = {w}[[-1, 0]]",
                f"{w}[[0, 0, 1]] += {e}",
                f"np.add.at({w}, [0, 1, 0], {e})",
                f"{w}[0], {w}[1] = {w}[1], {e}",
            ))
        ]  # fmt: skip

    def array_in_place(self, scope):
        if not scope.arrays:
            return self.array_new(scope)
        w, n = self.pick(list(scope.arrays.items()))
        other = self.array(scope, n)
        return [
            self.pick((
                f"{w} += {other}",
                f"{w} -= {self.scalar(scope, 1)}",
                f"{w} *= {other}",
                f"{w} /= 2.0 + np.sin({other})",
                f"np.multiply({w}, {other}, out={w})",
                f"np.sin({other}, out={w})",
                f"np.copyto({w}, {other})",
                f"np.cumsum({other}, out={w})",
                f"np.add({w}, {other}, {w})",
                f"{w}.fill({self.scalar(scope, 1)})",
                f"{w}.sort()",
            ))
        ]  # fmt: skip

    def view(self, scope):
        long = [w for w, n in scope.arrays.items() if n == 3]
        if not long:
            return self.array_new(scope)
        w, name = self.pick(long), self.new("u")
        text, n = self.pick(
            (
                ("[1:]", 2),
                ("[:2]", 2),
                ("[::2]", 2),
                ("[::-1]", 3),
                (".reshape(3, 1)[:, 0]", 3),
                ("[:]", 3),
            )
        )
        scope.arrays[name] = n
        return [f"{name} = {w}{text}"]

    def alias(self, scope):
        kind = self.random.randrange(3)
        if kind == 0 and scope.arrays:
            w, n = self.pick(list(scope.arrays.items()))
            name = self.new("w")
            scope.arrays[name] = n
        elif kind == 1 and scope.lists:
            w, name = self.pick(scope.lists), self.new("l")
            if w in scope.held:
                scope.held.add(name)
            scope.lists.append(name)
        elif scope.dicts:
            w, name = self.pick(scope.dicts), self.new("d")
            scope.dicts.append(name)
        else:
            return self.assign(scope)
        return [f"{name} = {w}"]

    # -- nested statements

    def branch(self, scope):
        lines = [f"if {self.condition(scope)}:", self.block(scope.inside(), 3)]
        if self.chance(0.3):
            lines += [f"elif {self.condition(scope)}:", self.block(scope.inside(), 2)]
        if self.chance(0.5):
            lines += ["else:", self.block(scope.inside(), 3)]
        return lines

    def loop(self, scope):
        inner = scope.inside(loop=True)
        kind = self.random.randrange(6)
        if kind == 0 and scope.lists:
            x, t = self.pick(scope.lists), self.new("t")
            inner.scalars.append(t)
            inner.held |= {*scope.lists}  # it may be the same list under another name
            head = f"for {t} in {x}:"
        elif kind == 1 and scope.arrays:
            w, t, i = self.pick(list(scope.arrays)), self.new("t"), self.new("i")
            inner.scalars += [t, i]
            head = f"for {i}, {t} in enumerate({w}):"
        elif kind == 2 and scope.arrays and scope.lists:
            t, u = self.new("t"), self.new("t")
            inner.scalars += [t, u]
            inner.held |= {*scope.lists}
            head = (
                f"for {t}, {u} in zip({self.pick(scope.lists)}, {self.pick(list(scope.arrays))}):"
            )
        else:
            i = self.new("i")
            self.pick((inner.scalars, inner.indices, inner.indices)).append(i)
            head = f"for {i} in range({self.pick((2, 3, 4))}):"
        lines = [head, self.block(inner, 4)]
        if self.chance(0.2):
            lines += ["else:", self.block(scope.inside(), 2)]
        return lines

    def while_loop(self, scope):
        k = self.new("k")
        inner = scope.inside(loop=True)
        inner.indices.append(k)
        body = self.block(inner, 3)
        more = f" and {self.condition(scope)}" if self.chance(0.4) else ""
        return [
            f"{k} = 0",
            f"while {k} < {self.pick((2, 3, 5))}{more}:",
            [f"{k} += 1", *body],
            *(["else:", self.block(scope.inside(), 1)] if self.chance(0.2) else []),
        ]

    def jump(self, scope):
        if scope.depth == 0:
            return self.assign(scope)
        options = [f"return {self.scalar(scope, 2)}", "raise ValueError"]
        if scope.loop:
            options += ["break", "continue", "break", "continue"]
        return [f"if {self.condition(scope)}:", [self.pick(options)]]

    def attempt(self, scope):
        body = self.block(scope.inside(), 3)
        wrong = self.pick(("raise ValueError", "zeros(2)[7]", "[][1]", "{}['no']"))
        middle = [f"if {self.condition(scope)}:", [wrong]]
        lines = ["try:", [*body, *middle, *self.block(scope.inside(), 2)]]
        lines += ["except (ValueError, LookupError):", self.block(scope.inside(), 2)]
        if self.chance(0.3):
            lines += ["else:", self.block(scope.inside(), 2)]
        if self.chance(0.4):
            inner = scope.inside(loop=False)
            lines += ["finally:", self.block(inner, 2)]
        return lines

    def closure(self, scope):
        name, x = self.new("g"), self.new("x")
        inner = scope.inside(loop=False)
        captured = [s for s in scope.scalars if self.chance(0.4)]
        inner.scalars = [x, *captured]
        inner.functions = []
        owned = [s for s in captured if self.chance(0.5)]
        body = self.block(inner, 3)
        lines = [f"return {self.scalar(inner, 1)}"]
        stored = {n.id for n in ast.walk(ast.parse(render(["def _():", body])))
                  if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}  # fmt: skip
        outer = {*scope.scalars, *scope.arrays, *scope.lists, *scope.dicts} - {x}
        outer = sorted(stored & outer)
        del owned
        head = [f"nonlocal {', '.join(outer)}"] if outer else []
        scope.functions = [*scope.functions, (name, "s")]
        return [f"def {name}({x}):", [*head, *body, *lines]]


def render(lines, indent=0):
    """Return the text of nested lists of lines."""
    text = []
    for line in lines:
        if isinstance(line, list):
            text.append(render(line, indent + 4))
        else:
            text.append(" " * indent + line)
    return "\n".join(text)


def program(seed):
    """Return the text of the program of a number; `re_(x)` in it marks what a branch looks at."""
    return Author(random.Random(seed)).module()


def inputs(seed):
    """Return the arguments that the program of a number is called with."""
    return arguments(random.Random(~seed))


def arguments(source):
    """Return the arguments of a program, from a source of random numbers."""
    u = lambda: round(source.uniform(-1.5, 1.5), 3)
    return u(), u(), np.array([u(), u(), u()]), [u(), u()], {"p": u(), "q": u()}


# -- running them ------------------------------------------------------------------------------


class Unmarked(ast.NodeTransformer):
    """Take the marks `re_(...)` away."""

    def visit_Call(self, node):
        self.generic_visit(node)
        marked = isinstance(node.func, ast.Name) and node.func.id == "re_"
        return node.args[0] if marked else node


def plain(text):
    """Return the text that the engine is given."""
    return HEADER + ast.unparse(Unmarked().visit(ast.parse(text))) + "\n"


class ComplexNumpy(types.SimpleNamespace):
    """Give what the programs use of NumPy, for complex numbers that stand for real ones."""

    def __getattr__(self, name):
        return getattr(np, name)


def complex_function(text):
    """Return `f` for complex numbers: it takes the branches that their real parts ask for."""
    real = lambda z: np.real(z)
    names = {
        "np": np,
        "zeros": lambda n: np.zeros(n, complex),
        "re_": real,
        "sin": cmath.sin,
        "cos": cmath.cos,
        "tanh": cmath.tanh,
        "exp": cmath.exp,
        "max": lambda a, b: builtins.max(a, b, key=real),
        "min": lambda a, b: builtins.min(a, b, key=real),
        "sorted": lambda x: builtins.sorted(x, key=real),
    }
    exec(compile(text, "<complex>", "exec"), names)
    return names["f"]


def load(text, folder):
    """Import the text as a module of its own."""
    path = Path(folder) / f"program_{abs(hash(text))}.py"
    path.write_text(text)
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.f


def finite(f):
    """Return a function that raises where it goes through more than `LINES` lines: no loop ends."""

    def run(*xs):
        left = LINES

        def trace(frame, event, argument):
            nonlocal left
            left -= event == "line"
            if left < 0:
                raise RecursionError(f"more than {LINES} lines")
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return f(*xs)
        finally:
            sys.settrace(before)

    return run


def moved(xs, direction, step):
    """Return the arguments moved along a direction."""
    a, b, v, items, table = xs
    d = direction
    return (
        a + step * d[0],
        b + step * d[1],
        v + step * d[2:5],
        [items[0] + step * d[5], items[1] + step * d[6]],
        {"p": table["p"] + step * d[7], "q": table["q"] + step * d[8]},
    )


def flat(gradient_):
    """Return the nine numbers of a gradient."""
    a, b, v, items, table = gradient_
    items, table = items or [None] * 2, table or {}
    parts = [a, b, *([None] * 3 if v is None else v), *items[:2], table.get("p"), table.get("q")]
    return np.array([0.0 if p is None else float(p) for p in parts])


def derivatives(text, f, xs):
    """Return the nine derivatives by complex step, or `None` where the differences disagree."""
    z = complex_function(text)
    slopes = np.zeros(9)
    for i in range(9):
        slopes[i] = np.imag(z(*moved(xs, np.eye(9)[i], 1e-30j))) / 1e-30
    direction = np.cos(np.arange(9.0) * 1.7)
    best, off = slope(lambda h: float(f(*moved(xs, direction, h))), 1e-4)
    scale = 1 + np.max(np.abs(slopes))
    agree = abs(best - slopes @ direction) + off < AGREE * scale
    return slopes if agree and np.isfinite(scale) and scale < 1e6 else None


def examine(text, xs, folder):
    """Run a program; return "right", "kink", "loud: ...", or "WRONG: ..."."""
    try:
        f = load(plain(text), folder)
        after = copy.deepcopy(xs)
        value = finite(f)(*after)
        expected = derivatives(text, f, xs)
    except Exception as e:  # the program itself fails: of no use
        return f"useless: {type(e).__name__}"
    if expected is None or not np.isfinite(value) or abs(value) > 1e6:
        return "kink"
    given = copy.deepcopy(xs)
    try:
        y, back = pullback(f, *given)
        assert_same(y, value)
        assert_same(given, after)
        once = flat(back(1.0)[1:])
        assert_same(given, after)
        again = flat(back(1.0)[1:])
        other = flat(gradient(f, *copy.deepcopy(xs)))
    except DifferentiationError as e:
        return f"loud: {str(e).split(': ', 1)[-1]}"
    except AssertionError as e:
        return f"WRONG: value or arguments {' '.join(str(e).split())[:200]}"
    except Exception:
        return f"WRONG: {traceback.format_exc(limit=-3)}"
    scale = 1 + np.max(np.abs(expected))
    for got in (once, again, other):
        if not np.allclose(got, expected, rtol=0, atol=EQUAL * scale):
            return f"WRONG: gradient {got} instead of {expected}"
    return "right"


def smaller(text):
    """Yield programs with one statement less, or with its block in its place."""
    tree = ast.parse(text)
    count = sum(1 for _ in ast.walk(tree))
    for number in range(count):
        for keep in (False, True):
            new = ast.parse(text)
            node = next(itertools.islice(ast.walk(new), number, None))
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if not isinstance(block, list):
                    continue
                for i, child in enumerate(block):
                    again = ast.parse(text)
                    same = next(itertools.islice(ast.walk(again), number, None))
                    inside = getattr(child, "body", None)
                    if keep and not (
                        isinstance(inside, list) and not isinstance(child, ast.FunctionDef)
                    ):
                        continue
                    target = getattr(same, name)
                    target[i : i + 1] = getattr(target[i], "body") if keep else []
                    if not target and name == "body":
                        target.append(ast.Pass())
                    yield ast.unparse(ast.fix_missing_locations(again))


def shrunk(text, xs, folder, seconds=20):
    """Return a small program that fails in the same way."""
    kind = examine(text, xs, folder)[:12]
    end, better = time.monotonic() + seconds, True
    while better and time.monotonic() < end:
        better = False
        for candidate in smaller(text):
            if time.monotonic() > end:
                break
            try:
                if len(candidate) < len(text) and examine(candidate, xs, folder)[:12] == kind:
                    text, better = candidate, True
                    break
            except SyntaxError:
                continue
    return text


def run(count, start=0, shrink=True, most=10):
    """Run programs; return how many went how, and the (seed, text, verdict) of the wrong ones."""
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(start, start + count):
            text, xs = program(seed), inputs(seed)
            verdict = examine(text, xs, folder)
            counts[verdict[:110] if verdict.startswith("loud") else verdict.split(":")[0]] += 1
            if verdict.startswith("WRONG"):
                if shrink and len(wrong) < most:
                    text = shrunk(text, xs, folder)
                    verdict = examine(text, xs, folder)
                wrong.append((seed, text, verdict))
    return counts, wrong


def run_parts(count, start=0, size=250):
    """Run programs on all processors and report each part; return the wrong ones, as `run`."""
    counts, wrong = collections.Counter(), []
    parts = [
        (min(size, start + count - first), first) for first in range(start, start + count, size)
    ]
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        for some, found in pool.map(run, *zip(*parts, strict=True)):
            counts.update(some)
            wrong.extend(found)
            print(f"{counts.total()} of {count}: {dict(counts.most_common())}", flush=True)
            for seed, text, verdict in found:
                print(f"--- program {seed}\n{plain(text)}\n# inputs {inputs(seed)}\n# {verdict}\n")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(run_parts(*map(int, sys.argv[1:]))))
