"""A differential fuzzer: programs made at random, their gradients held to two independent ones.

A program is made as text, from a number; it is run with complex numbers (the complex step gives
its derivatives to the last digit) and with floats (Richardson's differences, along one direction).
Where these two disagree the program stands at a kink and is thrown away. Then value, gradient
and side effects of the engine have to be the same, and transformed code has to agree with the tape.
`python -m tests.zygote_lite.fuzz.fuzzer 20000` runs many, and prints what it finds, made small.
With `FUZZ_WITHOUT_FILE=1` programs are run by `exec`, so that the engine has only their code.
"""

import ast
import builtins
import cmath
import collections
import copy
import importlib.util
import itertools
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

from tests.zygote_lite.checks.comparing import assert_same
from tests.zygote_lite.checks.finite_differences import slope
from tests.zygote_lite.fuzz import definitions
from tests.zygote_lite.fuzz.generate.classes import Author
from tests.zygote_lite.fuzz.parts import in_parts
from zygote_lite import DifferentiationError, gradient, pullback, testing

HEADER = """from collections import deque
from contextlib import ExitStack, suppress
from copy import copy, deepcopy
from functools import lru_cache, partial, reduce
from heapq import heapify, heappop, heappush, heappushpop
from itertools import accumulate, chain, combinations, islice, pairwise, product, zip_longest
from math import cos, exp, sin, tanh
from operator import iadd, itemgetter, setitem

import numpy as np

from tests.zygote_lite.fuzz.definitions import Counted, Item, Node, Pair, Point
from tests.zygote_lite.fuzz.definitions import kept, running, steps

zeros = np.zeros


"""
AGREE = 1e-6  # of the two derivatives that are not ours
EQUAL = 1e-8  # of the engine's to the complex step
WITHOUT_FILE = bool(os.environ.get("FUZZ_WITHOUT_FILE"))
LINES = 20_000  # that a program may go through: some walk a list that grows with each item


# -- making them ------------------------------------------------------------------------------


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


def complex_function(text):
    """Return `f` for complex numbers: it takes the branches that their real parts ask for."""
    real = lambda z: np.real(z)
    names = {**vars(definitions)}
    exec(HEADER, names)
    names |= {
        "zeros": lambda n: np.zeros(n, complex),
        "re_": real,
        "sin": cmath.sin,
        "cos": cmath.cos,
        "tanh": cmath.tanh,
        "exp": cmath.exp,
        "max": lambda *xs, key=real: builtins.max(*xs, key=key),
        "min": lambda *xs, key=real: builtins.min(*xs, key=key),
        "sorted": lambda x, key=real, **k: builtins.sorted(x, key=key, **k),
    }
    exec(compile(text, "<complex>", "exec"), names)
    return names["f"]


def load(text, folder):
    """Import the text as a module of its own, or run it without a file."""
    if WITHOUT_FILE:
        names = {"__name__": __name__}
        exec(compile(text, "<string>", "exec"), names)
        return names["f"]
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
        with testing.compared(), testing.strict():  # by transformed code, where there is some
            other = flat(gradient(f, *copy.deepcopy(xs)))
    except DifferentiationError as e:
        return f"loud: {str(e).split(': ', 1)[-1]}"
    except (testing.TierMismatch, testing.InternalError) as e:
        return f"WRONG: {e}"
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
    for some, found in in_parts(run, count, start, size):
        counts.update(some)
        wrong.extend(found)
        print(f"{counts.total()} of {count}: {dict(counts.most_common())}", flush=True)
        for seed, text, verdict in found:
            print(f"--- program {seed}\n{plain(text)}\n# inputs {inputs(seed)}\n# {verdict}\n")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(run_parts(*map(int, sys.argv[1:]))))
