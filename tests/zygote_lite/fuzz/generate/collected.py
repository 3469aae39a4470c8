"""Random programs that put values into containers outside: histories, logs, counters.

They append, put entries and count, in loops and branches, in functions that they call, and before
and after they raise. They ask for lengths and numbers, read what they have put, and draw. From call
to call the containers are other ones, of other classes, or one and the same.
"""

import collections
import random

import numpy as np

from tests.zygote_lite.checks import texts
from tests.zygote_lite.fuzz.generate.given import caught, failing, loop_or_branch

VALUES = ("x", "s", "x * s", "v[0]", "v", "v * s", "v[:2]", "w", "i", "2.0", "len(v)", "None", "n",
          "(s, i)", "(v, x)", "[x, s]", '{"s": s, "i": i}', 'f"{s:.2f}"', "x > 0.0", "np.eye(2)",
          "DATA[0]", "np.sin(w)", "float(s)", "o.n", '"a"', "v.shape")  # fmt: skip
PUTS = (
    "H.append({v})", "H.append({v})", "H.extend([{v}, s])", 'LOG["a"] = {v}', 'LOG["b"] = {v}',
    'LOG["n"] += 1', "LOG[i] = {v}", 'LOG.update(a={v}, c=1)', "QUEUE.append({v})",
    "QUEUE.appendleft({v})", "SEEN.add(i)", 'SEEN.add(("k", n))', 'BY["k"].append({v})',
    'BY["l"].append(s)', 'COUNT["z"] += 1', "COUNT[i] += 2", 'o.log.append({v})', "o.n += 1",
    'o.info["r"] = {v}', 'NEST["h"].append({v})', 'NEST["d"]["k"] = {v}', "note({v})",
    's = s + noted(x)', 'LOG.setdefault("l", []).append({v})', "o.put({v})", "GIVEN.append({v})",
    "C[0] += 1", "C[0] += 1", "C[i % 2] = {v}", "C[-1] += 1", "H[0] = {v}", "o.c[1] += s",
)  # fmt: skip
READS = (
    "s = s * len(H)", 's = s + x * LOG["n"]', 's = s * LOG.get("m", 1.5)', "s = s + len(o.log)",
    'if LOG["n"] % 2 == 0: s = s * x', "if len(H) % 3 == 1: s = s + x", "s = s + DATA[-1] * x",
    'if s < LOG.get("best", 9.0): LOG["best"] = s', 's = s * COUNT["z"] + x', "s = s * o.n",
    'if "a" in LOG: s = s + 1.0', "if H: s = s * 2.0", "s = s + (H[-1] is None) * x",
    "s = s * rng.normal()", "s = s + sum(GIVEN)", "s = s + GIVEN[-1]", "print(s)",
    "o.best = s", "w[i % 3] = s", "v = v * 2.0",
    "s = s * C[0]", "s = s + C[n % 2] * x", "s = s + H[-1] * x", "s = s + o.c[1]", "C.append(n)",
)  # fmt: skip
OTHERS = """def note(value):
    H.append(("note", value))


def noted(value):
    LOG["noted"] = value
    return len(H) * value


"""


class Keeper:
    """An object with a log."""

    def __init__(self):
        self.n, self.log, self.info, self.c = 1, [], {"r": 0.0}, [1.0, 0.0]

    def put(self, value):
        """Put a value into the log, and count it."""
        self.n += 1
        self.log.append(value)


def fresh(k):
    """Return the globals as they are before a call."""
    found = {
        "H": [1.0] * (k % 4), "LOG": {"n": k % 2, "m": 0.5}, "QUEUE": collections.deque(maxlen=3),
        "SEEN": set(), "BY": collections.defaultdict(list, k=[]), "COUNT": collections.Counter(),
        "o": Keeper(), "NEST": {"h": [], "d": {}}, "DATA": [0.5, 1.5], "GIVEN": [2.0],
        "C": [k, 1],
    }  # fmt: skip
    if k % 5 == 4:
        found["LOG"] = collections.OrderedDict(n=2.0, m=1)
    if k % 7 == 5:
        found["H"] = found["C"] = found["DATA"]
        found["o"].log = found["NEST"]["h"]
        found["BY"]["k"] = found["BY"]["l"] = found["GIVEN"]
    return found


def told(x, seen):
    """Return what a value holds: of lists, dicts, arrays and objects, which of them it is, too."""
    has_attributes = hasattr(x, "__dict__")
    if has_attributes or isinstance(x, (list, dict, collections.deque, np.ndarray)):
        if id(x) in seen:
            return f"<{seen[id(x)]}>"
        seen[id(x)] = len(seen)
    if has_attributes:
        return told(vars(x), seen)
    if isinstance(x, dict):
        return type(x), [(told(k, seen), told(y, seen)) for k, y in x.items()]
    if isinstance(x, (list, tuple, collections.deque)):
        return type(x), [told(y, seen) for y in x]
    if isinstance(x, np.ndarray):
        return x.dtype, x.tolist()
    return type(x), repr(x)


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    kept = source.sample(PUTS, 5), source.sample(READS, source.choice((1, 2, 4)))
    lines = ["def f(x, v, n, rng):", "    s, w, i = x, np.zeros(3), 0"]
    for _ in range(source.randint(2, 6)):
        lines += statement(source, 1, kept)
    end = source.choice(["np.sum(w)", "x", "np.sum(v)", "0.0"])
    return OTHERS + "\n".join([*lines, f"    return s * 1.0 + {end}", ""])


def statement(source, depth, kept):
    """Return the lines of a statement."""
    indent, kind = "    " * depth, source.random()

    def inner():
        return statement(source, depth + 1, kept)

    if depth < 3 and kind < 0.27:
        tests = ["n % 2 == 0", "s > 0.5", "rng.random() < 0.5"]
        return loop_or_branch(source, indent, kind, tests, inner)
    if depth < 3 and kind < 0.34:
        return caught(source, indent, inner)
    if kind < 0.39:
        return failing(indent, kind)
    value = source.choice(VALUES)
    if kind < 0.75:
        return [indent + source.choice(kept[0]).replace("{v}", value)]
    if kind < 0.88:
        return [indent + source.choice(kept[1])]
    return [f"{indent}s = 0.5 * s + x * {source.choice(['s', 'v[0]', '2.0', 'v[i % 3]'])}"]


def load(seed):
    """Return the function of a number."""
    f = texts.load(program(seed), f"<program that puts {seed}>", np=np, **fresh(0))
    f.__globals__["fresh"] = fresh
    return f


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)
    choices = [
        (float(source.normal()), source.normal(size=3), n, np.random.default_rng(n))
        for n in (3, 4, 3, 5, 0, 2)
    ]
    choices.append((np.float64(source.normal()), source.normal(size=3), 3, choices[0][3]))
    single = source.normal(size=3).astype(np.float32)
    choices.append((float(source.normal()), single, 4, np.random.default_rng(4)))
    return choices
