"""Random programs with functions that call themselves, and each other.

They go down by a number, a slice of an array, or a tree of tuples, that the calls are given; other
calls go another number of levels down, with numbers of other types, or raise.
"""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.author import RandomAuthor
from zygote_lite import grad, value_and_grad

HEADER = "def f(x, y, v, n, tree):\n"


def program(seed):
    """Return the text of the program of a number."""
    author = Author(random.Random(seed))
    lines = ["k = x * 2.0 + K", "a = x", "b = y + 1.0"]
    lines += ["def h(t):", "    return math.sin(t) * x + t * t * k"]
    for number in range(author.source.randint(1, 2)):
        lines += author.function(number)
    lines += [f"a = a + {author.call()}", f"b = b * {author.call()}"]
    if author.chance(0.3):
        lines += ["for j in range(2):", f"    a = a + 0.1 * {author.call()}"]
    if author.chance(0.3):
        lines += ["try:", f"    b = b + {author.call()}", "except (ValueError, ZeroDivisionError):",
                  "    b = b * 2.0"]  # fmt: skip
    lines.append("return a * 0.5 + b - y")
    return HEADER + "".join(f"    {line}\n" for line in lines)


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)
    x, y = map(float, 0.3 + 0.5 * np.abs(source.normal(size=2)))
    v, n = 0.2 + 0.5 * np.abs(source.normal(size=5)), int(source.integers(0, 7))
    tree = (0.5, (0.3, (0.2,), (0.7,)), (0.4, (0.1, (0.9, (0.6,)))))
    choices = [(x, y, v, n, tree), (y, x, v[::-1].copy(), n + 1, tree), (x, y, v, 0, tree)]
    choices += [
        (x, y, v[:2].copy(), 1, tree[1]),
        (-x, y, v, 6, tree),
        (np.float64(x), y, v, n, (1.0,)),
    ]
    choices += [(x, 2, v, 3, tree), (x, 0.0, -v, 5, tree[2])]
    return [choices[0], *(choices[i] for i in source.permutation(range(1, len(choices)))[:4])]


def load(seed):
    """Return the function of a number."""
    names = {"np": np, "math": math, "K": 0.7, "grad": grad, "value_and_grad": value_and_grad}
    return texts.load(program(seed), f"<program of recursions {seed}>", **names)


class Author(RandomAuthor):
    """Write functions that call themselves by random choice."""

    def __init__(self, source):
        super().__init__(source)
        self.calls = []

    def chance(self, p):
        return self.source.random() < p

    def call(self):
        """Return a call from outside."""
        name, way = self.source.choice(self.calls)
        given = self.choice("x", "y", "a", "a * b", "0.5", "x + y")
        return {
            "number": f"{name}({given}, {self.choice('n', 'n', '3', 'n // 2')})",
            "slice": f"{name}({given}, v)",
            "tree": f"{name}({given}, tree)",
        }[way]

    def number(self):
        """Return a number in the body of a function that is given `s`."""
        return self.choice(
            "s", "s * 0.5", "math.sin(s)", "s * x", "s + 0.1 * k", "s * s * 0.3", "K * s", "s - y",
            "math.sqrt(s)", "math.log(s + 1.0)", "1.0 / (s + y)", "math.exp(-s)", "s * v[0]",
            "grad(h)(s)", "grad(lambda t: h(t) * s)(s) * 0.3", "value_and_grad(h)(s + y)[1]",
            "np.sum(grad(lambda u: np.sum(u * u) * s)(v))", "s",
        )  # fmt: skip

    def function(self, number):
        """Return the lines of a function, or of two that call each other."""
        name = f"go{number}"
        way = self.choice("number", "number", "slice", "tree")
        inner = {"number": "m - 1", "slice": "m[1:]", "tree": "m[1]"}[way]
        test = {"number": "m <= 0", "slice": "len(m) == 0", "tree": "len(m) < 2"}[way]
        own = {"number": "m", "slice": "m[0]", "tree": "m[0]"}[way]
        self.calls.append((name, way))
        other = f"other{number}" if self.chance(0.25) else None
        lines = [f"def {name}(s, m):", f"    if {test}:", f"        return {self.base()}"]
        if self.chance(0.3):
            lines += [
                f"    if s > {self.choice('0.6', '2.0')}:",
                f"        return {self.number()}",
            ]
        calls = [f"{other or name}({self.number()}, {inner})"]
        if way == "number" and self.chance(0.4):
            calls.append(f"{name}({self.number()}, m - 2)")
        if way == "tree" and self.chance(0.5):
            lines += [
                "    t = s",
                "    for kid in m[1:]:",
                f"        t = t + {name}({self.number()}, kid) * 0.5",
            ]
            calls = ["t"]
        more = self.choice("+ 0.1 * s", f"* 0.5 + {own} * s", "- k", "", "* 0.9")
        body = f"{' + '.join(calls)} {more}"
        if self.chance(0.25):
            lines += ["    try:", f"        return {body}"]
            lines += ["    except (ValueError, ZeroDivisionError):"]
            lines += [f"        return {self.choice('s * 2.0', 's', '0.5')}"]
        else:
            lines.append(f"    return {body}")
        if other:
            times = self.choice("s", "0.5", "x")
            lines += [f"def {other}(s, m):", f"    if {test}:", f"        return {self.base()}"]
            lines += [f"    return {name}({self.number()}, {inner}) * {times}"]
        return lines

    def base(self):
        """Return what a function gives that calls no other."""
        return self.choice("s", "s * s", "1.0", "1", "0", "s * k", "math.tanh(s)", "x")
