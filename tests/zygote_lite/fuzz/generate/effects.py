"""Random programs with effects that can be seen from outside: they print, and draw numbers.

Generators are made inside, given or Python's own. Programs raise after an effect, catch what they
raise, print inside loops and branches, print arrays that are written later, assign globals, and
meet infinities.
"""

import random

import numpy as np

from tests.zygote_lite.checks import texts

VALUES = ("x", "s", "x * s", "np.sin(s)", "v[0]", "v[i % 3]", "2.0")
TEXTS = ('"a"', 'f"{s:.3f}"', "s", "i", 'f"{v}"', "v", "[s, i]", '"%.2f" % s', "str(i)", "w")
DRAWS = (
    "rng.normal()", "np.sum(v * rng.normal(size=3))", "rng.random()", "rng.integers(0, 3)",
    "own.normal(0.0, 0.5)", "np.sum(own.random(len(v)) * w)", "np.random.rand()",
    "np.sum(v[np.random.permutation(3)] * w)", "random.random()", "random.uniform(0.5, 1.5)",
    "v[rng.integers(0, 3)]",
)  # fmt: skip

GLOBALS = {"CALLS": 0, "RATE": 1.0}
ASSIGNING = """def count():
    global CALLS
    CALLS += 1


def slow(k):
    global RATE
    RATE = RATE * k + 0.5
    return CALLS


"""
OF_GLOBALS = ("count()", "s = s + 0.1 * CALLS", "print(CALLS, RATE)", "s = s * RATE", "slow(0.5)",
              "s = s * slow(0.9) + x", "if CALLS > 4: s = s * 2.0")  # fmt: skip


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    lines = ["def helper(a, b):"]
    if source.random() < 0.6:
        lines.append('    print("helper", a)')
    lines += ["    return a * b + 0.5", "", "def f(x, v, n, rng):"]
    lines += [f"    s, w, i = {source.choice(['x', '1.0', 'x * v[0]'])}, np.zeros(3), 0"]
    if source.random() < 0.5:
        lines.append("    np.random.seed(n)")
    lines.append(f"    own = np.random.default_rng({source.choice(['n', '3'])})")
    for _ in range(source.randint(3, 6)):
        lines += statement(source, 1)
    end = source.choice(["0.0", "np.sum(w)", "x"])
    lines.append(f"    return s * 1.0 + {end}")
    return ASSIGNING + "\n".join([*with_globals(lines, random.Random(f"globals {seed}")), ""])


def with_globals(lines, source):
    """Return the lines with some more, at places of the last function, that are about globals."""
    start = next(i for i, line in enumerate(lines) if line.startswith("def f("))
    places = [
        i for i, line in enumerate(lines)
        if i > start + 1 and line[4] != " " and not line[4:].startswith(("else", "except"))
    ]  # fmt: skip
    for place in sorted(source.choices(places, k=source.choice((0, 1, 3))), reverse=True):
        lines.insert(place, f"    {source.choice(OF_GLOBALS)}")
    return lines


def statement(source, depth):
    """Return the lines of a statement."""
    indent, kind = "    " * depth, source.random()

    def inner():
        return statement(source, depth + 1)

    if depth < 3 and kind < 0.15:
        left = [f"{indent}    if s > 3.0:", f"{indent}        break"] * (source.random() < 0.4)
        return [f"{indent}for i in range({source.choice(['3', 'n', '2'])}):", *inner(), *left]
    if depth < 3 and kind < 0.3:
        test = source.choice(["n % 2 == 0", "s > 0.5", "own.random() < 0.5", "rng.random() < 0.6"])
        return [f"{indent}if {test}:", *inner(), f"{indent}else:", *inner()]
    if depth < 3 and kind < 0.38:
        return [f"{indent}try:", *inner(), f"{indent}    if s > {source.choice('012')}.5:",
                f"{indent}        raise ValueError('s')", f"{indent}except ValueError:",
                *inner()]  # fmt: skip
    if kind < 0.6:
        parts = ", ".join(source.choice(TEXTS) for _ in range(source.randint(1, 3)))
        return [f"{indent}print({parts}{source.choice(['', '', ', sep=chr(45)', ', end=str()'])})"]
    if kind < 0.63:
        return [f"{indent}if n == 5:", f"{indent}    raise KeyError('n')"]
    if kind < 0.67:
        return [f"{indent}s = s + np.sqrt(np.float64(s - s)) * (n - n)"]
    if kind < 0.74:
        return [f"{indent}w[{source.choice(['i % 3', '1', ':2'])}] = {source.choice(VALUES)}"]
    if kind < 0.8:
        return [f"{indent}s = helper(s, {source.choice(VALUES)})"]
    return [f"{indent}s = 0.5 * s + {source.choice(DRAWS)} * {source.choice(VALUES)}"]


def load(seed):
    """Return the function of a number."""
    return texts.load(
        program(seed), f"<program with effects {seed}>", np=np, random=random, **GLOBALS
    )


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)
    choices = [
        (float(source.normal()), source.normal(size=3), n, np.random.default_rng(n))
        for n in (3, 4, 5, 0)
    ]
    choices.append((np.float64(source.normal()), source.normal(size=3), 3, choices[0][3]))
    single = source.normal(size=3).astype(np.float32)
    choices.append((float(source.normal()), single, 4, np.random.default_rng(4)))
    return choices
