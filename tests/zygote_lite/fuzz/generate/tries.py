"""Random programs with `try`, `with`, `raise`, `assert`, `del` and `match`, in loops and branches.

Some of their operations raise for some of the arguments, and handlers catch some of that. The
arguments of one program are chosen so that later calls raise where the first one did not.
"""

import contextlib
import math
import random
import warnings

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor

HEADER = "def f(x, y, v, n, mode):\n"
VARIABLES = ("a", "b", "c")
KINDS = ("ValueError", "ZeroDivisionError", "KeyError", "IndexError", "OverflowError",
         "ArithmeticError", "LookupError", "Exception", "(ValueError, ArithmeticError)",
         "np.linalg.LinAlgError", "FloatingPointError", "(KeyError, TypeError)")  # fmt: skip
RAISED = (
    "ValueError", "ValueError('odd')", "KeyError(n)", "ZeroDivisionError", "IndexError(f'at {n}')",
    "ValueError(f'{a:.3f} of {v}')", "np.linalg.LinAlgError('singular')", "LookupError(mode)",
)  # fmt: skip


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = ["a = x * 0.5", "b = y + 1.0", "c = v[0] * x"]
    for _ in range(author.source.randint(2, 4)):
        lines += author.statement(0)
    if not any("try:" in line or "with " in line for line in lines):
        lines += author.tried(0)
    lines.append("return a + 2.0 * b - c")
    return HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments: later ones raise where the first did not, and some vary type."""
    source = np.random.default_rng(seed)
    x, y = map(float, np.abs(source.normal(size=2)) + 0.3)
    v = np.abs(source.normal(size=3)) + 0.2
    n, mode = int(source.integers(1, 5)), ("one", "two", "none")[seed % 3]
    choices = [(x, y, v, n, mode), (y, x, v[::-1].copy(), n + 1, mode)]
    choices += [(-x, y, v, n, mode), (x, 0.0, v, 0, mode), (0.0, -y, -v, n, mode)]
    choices += [(x, y, v[:1].copy(), n, mode), (x, y, v, 7, mode), (x, y, v, n, "other")]
    choices += [(np.float64(x), y, v, n, mode), (x, np.float64(-y), v, n, mode)]
    choices += [(x, y, v.astype(np.float32), n, mode), (1e200, y, v * 1e200, n, mode)]
    choices += [(x, y, v[:0].copy(), n, mode)]
    return [choices[0], *(choices[i] for i in source.permutation(range(1, len(choices)))[:5])]


def load(seed):
    """Return the function of a number."""
    names = {"np": np, "math": math, "contextlib": contextlib, "warnings": warnings}
    return texts.load(program(seed), f"<program of tries {seed}>", **names)


class Author(RandomAuthor):
    """Write statements and expressions by random choice."""

    def __init__(self, source):
        super().__init__(source)
        self.loops = 0
        self.counts = 0

    def variable(self):
        return self.choice(*VARIABLES)

    def expression(self):
        """Return a number, by an operation that may raise."""
        a, b = self.variable(), self.variable()
        return self.choice(
            f"{a} * {b}", f"{a} - 0.5 * {b}", f"math.sin({a}) + {b}", f"{a} * x", f"{a} + y",
            f"math.sqrt({a})", f"math.log({a}) * {b}", f"1.0 / {a}", f"{a} / y", f"{a} ** 2",
            f"math.exp({a}) * 0.1", f"v[n] * {a}", f"v[1] + {a}", f"v[-n] * {b}",
            f"np.log({a}) + {b}", f"np.sqrt(v[0]) * {a}", f"np.sum(v * {a})", f"np.max(v) - {a}",
            f"np.sum(np.log(v)) + {a}", f"float(np.sum(v / {a}))", f"{a} * int({b})",
            f"{a} + len(v)", f"np.dot(v, np.ones(3)) * {a}", f"np.linalg.norm(v) * {a}",
            f"{{'one': {a}, 'two': {b}}}[mode]", f"[{a}, {b}][0] * 2.0", f"{a} % 0.7 + {b}",
            f"float(np.linalg.inv(np.diag(v + {a}))[0, 0])", f"abs({a}) ** 0.5",
        )  # fmt: skip

    def test(self):
        a = self.variable()
        return self.choice(
            f"{a} > 0.5", f"{a} < {self.variable()}", "n > 2", "n % 2 == 0", "mode == 'one'",
            f"0.0 < {a} < 2.0", f"not {a}", f"{a} > 0.0 and n > 1",
        )  # fmt: skip

    def assignment(self):
        return [f"{self.variable()} = {self.expression()}"]

    def body(self, depth):
        lines = []
        for _ in range(self.source.randint(1, 2)):
            lines += self.statement(depth + 1)
        return lines

    def block(self, head, lines):
        return [head, *(f"    {line}" for line in lines)]

    def statement(self, depth):
        kind = self.source.random()
        if depth > 2 or kind < 0.35:
            return self.assignment()
        if kind < 0.45:
            return self.block(f"if {self.test()}:", self.body(depth))
        if kind < 0.5:
            first = self.block(f"if {self.test()}:", self.body(depth))
            return [*first, *self.block("else:", self.body(depth))]
        if kind < 0.57:
            return self.loop(depth)
        if kind < 0.65:
            return self.leaving()
        if kind < 0.7:
            return self.context(depth)
        if kind < 0.73:
            return [f"assert {self.test()}, {self.choice('mode', 'f`{a}`', 'x')}".replace("`", '"')]
        if kind < 0.76:
            name = f"t{depth}"
            return [f"{name} = {self.expression()}", f"{self.variable()} = {name}", f"del {name}"]
        if kind < 0.78:
            return self.match(depth)
        if kind < 0.84:
            return self.probing()
        return self.tried(depth)

    def loop(self, depth):
        self.loops += 1
        head = self.choice("for k in range(n):", "for k in range(3):", "for w in v:")
        lines = self.block(head, self.body(depth))
        self.loops -= 1
        if self.source.random() < 0.2:
            lines += self.block("else:", self.assignment())
        return lines

    def leaving(self):
        """Return a statement that leaves a loop, the function, or raises; behind a test."""
        exits = [f"return {self.expression()}", f"raise {self.choice(*RAISED)}"]
        exits.append(f"raise {self.choice(*RAISED)}")
        if self.loops:
            exits += ["break", "continue"]
        return [f"if {self.test()}:", f"    {self.choice(*exits)}"]

    def tried(self, depth):
        lines = self.block("try:", self.body(depth))
        handled = self.source.random() < 0.85
        if handled:
            for _ in range(self.source.randint(1, 2)):
                kind = self.choice(*KINDS)
                head = f"except {kind}{self.choice('', '', ' as error')}:"
                body = self.body(depth) if self.source.random() < 0.6 else self.assignment()
                if self.source.random() < 0.15:
                    body.append(self.choice("raise", f"raise {self.choice(*RAISED)} from None"))
                lines += self.block(head, body)
            if self.source.random() < 0.3:
                leaving = self.leaving() if self.source.random() < 0.4 else []
                lines += self.block("else:", [*self.body(depth), *leaving])
        if not handled or self.source.random() < 0.35:
            body = self.assignment()
            if self.source.random() < 0.15:
                body += self.leaving()
            lines += self.block("finally:", body)
        return lines

    def probing(self):
        """Return a statement that asks what a value can do, or for what is not there."""
        a, b = self.variable(), self.variable()
        asked, kinds = self.choice(
            (f"len({a})", "TypeError"), (f"{a}.shape[0]", "AttributeError"),
            (f"{a}[0]", "TypeError"), ("len(v)", "TypeError"), ("x.nothing", "Exception"),
            (f"{{'one': {a}}}['two']", "KeyError"), (f"{{'one': {a}}}[mode]", "LookupError"),
            (f"[{a}, {b}][2]", "IndexError"), ("missing", "NameError"),
            ("float('q')", "ValueError"), ("v.shape[0]", "AttributeError"),
            (f"[{a}, {b}].index", "AttributeError"), (f"math.sqrt({a}) + len({b})", "TypeError"),
            (f"{a} + mode", "(TypeError, ValueError)"), ("(lambda: missing)()", "NameError"),
        )  # fmt: skip
        lines = [f"{a} = {b} + 0.0"]
        lines += self.block(
            "try:", [*self.maybe(), f"q = {asked}", *self.maybe(), f"{b} = {a} * 2.0"]
        )
        kinds = self.choice(kinds, kinds, "Exception", "KeyError")
        lines += self.block(f"except {kinds}:", self.choice(self.assignment(), self.leaving()))
        return lines

    def maybe(self):
        return self.assignment() if self.source.random() < 0.3 else []

    def context(self, depth):
        heads = [
            "with np.errstate(all='ignore'):",
            "with np.errstate(divide='raise', invalid='raise'):",
            "with contextlib.suppress(ValueError, ZeroDivisionError):",
            "with contextlib.nullcontext():",
            f"with contextlib.nullcontext(x) as {self.variable()}:",
            "with contextlib.suppress(Exception), np.errstate(all='raise'):",
        ]  # fmt: skip
        if self.source.random() < 0.2:
            head, first = "with warnings.catch_warnings():", "warnings.simplefilter('ignore')"
            return self.block(head, [first, *self.body(depth)])
        return self.block(self.choice(*heads), self.body(depth))

    def match(self, depth):
        subject = self.choice("mode", "n", "(mode, n)", "(a, n)")
        patterns = {
            "mode": ["'one'", "'two' | 'none'", "str()"],
            "n": ["0", "1 | 2", "int(k) if k > 3"],
            "(mode, n)": ["('one', k)", "('two' | 'none', 1 | 2)", "[_, 3]", "(_, _, _)"],
            "(a, n)": ["(z, 1) if z > 0.0", "(_, 2 | 3)", "[z, *rest]"],
        }[subject]
        lines = [f"match {subject}:"]
        for pattern in patterns:
            lines += [f"    {line}" for line in self.block(f"case {pattern}:", self.body(depth))]
        return lines
