"""Random programs whose helpers cannot be transformed: they make sets, and pass through them.

The helpers are called in straight code, in loops and branches, with numbers and arrays, of which
some are not differentiated; a helper may raise, or give a value of another type.
"""

import random

import numpy as np

from tests.zygote_lite.checks import texts

EXPRESSIONS = (
    "x * y",
    "np.sin(x) + y",
    "x + 2.0 * y",
    "np.tanh(x * y)",
    "x * x",
    "y - x",
    "x / (1.0 + y * y)",
)


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    lines = []
    for name in ("odd", "even"):
        lines += [f"def {name}(x, y, n):", "    seen = {0}", "    total = 0.0 * x"]
        lines += [
            "    for i in range(n):",
            "        if i not in seen:",
            "            seen.add(2 * i)",
        ]
        lines += [f"            total = total + ({source.choice(EXPRESSIONS)}) * i"]
        if source.random() < 0.3:
            lines += ["    if n > 4:", "        return np.sum(total)"]
        if source.random() < 0.2:
            lines += ["    if n > 5:", "        raise ValueError('n')"]
        if source.random() < 0.3:
            lines += [
                "    total = even(total, y, 2)" if name == "odd" else "    total = total * 1.5"
            ]
        lines += ["    return total", ""]
    lines += ["def f(a, v, n):", f"    s = {source.choice(['a', '0.0', 'a * a', 'v'])}"]
    for _ in range(source.randint(1, 4)):
        lines += statement(source, 1)
    lines += ["    return np.sum(s * 1.0)", ""]
    return "\n".join(lines)


def statement(source, depth):
    """Return the lines of a statement."""
    indent = "    " * depth
    kind = source.random()
    if depth < 3 and kind < 0.25:
        return [f"{indent}for k in range({source.randint(1, 3)}):", *statement(source, depth + 1)]
    if depth < 3 and kind < 0.45:
        test = source.choice(["n % 2 == 0", "n > 3", "a > 0.0"])
        return [f"{indent}if {test}:", *statement(source, depth + 1), f"{indent}else:",
                *statement(source, depth + 1)]  # fmt: skip
    x, y = (source.choice(["a", "v", "s", "2.0", "np.ones(3)", "v[0]"]) for _ in range(2))
    m = source.choice(["n", "2", "3"])
    call = f"{source.choice(['odd', 'even'])}({x}, {y}, {m})"
    return [indent + source.choice([f"s = s + {call}", f"s = {call} * s", f"s = 0.5 * s - {call}"])]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of islands {seed}>", np=np)


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)
    choices = [(float(source.normal()), source.normal(size=3), int(n)) for n in (3, 4, 5, 6)]
    choices.append((np.float64(source.normal()), source.normal(size=3), 3))
    choices.append((float(source.normal()), source.normal(size=3).astype(np.float32), 4))
    return choices
