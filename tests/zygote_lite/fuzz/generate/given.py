"""Random programs that change what they are given: lists, dicts and attributes of objects.

They append and pop, write and delete items, in loops and branches, read what was written before,
raise after a change, and change what is reached from another list, and a global object.
"""

import random

import numpy as np

from tests.zygote_lite.checks import texts

VALUES = (
    "o.w", "o.n", "np.sum(o.v)", "o.half", "x", "s", "h[0]", "h[-1]", "x * h[0]", 'p["w"]', "2.0",
    "rows[0][0]", "np.sum(a[-1])",
)  # fmt: skip
CHANGES = (
    "h.append({v})", "h.append(s)", "h[0] = {v}", "h[-1] += {v}", "h.insert(0, {v})",
    "h.pop()", "h.extend([{v}, 1.0])", "h += [{v}]", "h.reverse()", "del h[0]", "h[1:] = [{v}]",
    'p["w"] = {v}', 'p["w"] += {v}', 'p["new"] = {v}', 'p["n"] += 1', 'p.update(w={v})',
    'p["h"].append({v})', "rows[0][0] = {v}", "rows[-1].append({v})", "rows.append([{v}, s])",
    "rows[0] = [{v}, 1.0]", "a.append(a[-1] * {v})", "a.append(a[0])", "a[0] = a[-1] + {v}",
    "o.n += 1", "o.w = {v}", "o.w += s", "o.v = o.v * {v}", "o.last = s", "s = s + o.bump({v})",
    "o.new = {v}", "o.half = {v}", "h.append(h.pop(0))", 'p["h"][0] = {v}',
    "h.clear(); h.extend([x, {v}])", "h.sort()",
    "SHARED.n += 1", "SHARED.w = {v}", "SHARED.w += s", "s = s * SHARED.w",
)  # fmt: skip


class Thing:
    """An object with state."""

    def __init__(self, w, v):
        self.n, self.w, self.v, self.last = 1, w, v, None

    def __repr__(self):
        return f"Thing({vars(self)})"

    def __deepcopy__(self, memo):
        made = Thing(self.w, self.v.copy())
        made.n, made.last = self.n, self.last
        return made

    @property
    def half(self):
        """Half of `w`."""
        return 0.5 * self.w

    @half.setter
    def half(self, value):
        self.w = 2.0 * value

    def bump(self, x):
        """Add to what is kept."""
        self.n += 1
        self.w = self.w + x
        return self.w


def fresh():
    """Return a global object as it is before each call."""
    return Thing(0.5, np.ones(2))


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    kept = source.sample(CHANGES, 6) if seed % 2 else source.sample(CHANGES[-10:-2], 5)
    lines = ["def f(x, h, p, rows, a, o, n):", "    s = x"]
    for _ in range(source.randint(2, 5)):
        lines += statement(source, 1, kept)
    end = source.choice(["sum(h)", "h[-1]", 'p["w"]', "rows[0][0]", "np.sum(a[-1] * a[0])", "0.0"])
    return "\n".join([*lines, f"    return s * 1.0 + {end}", ""])


def statement(source, depth, kept):
    """Return the lines of a statement."""
    indent, kind = "    " * depth, source.random()

    def inner():
        return statement(source, depth + 1, kept)

    if depth < 3 and kind < 0.3:
        tests = ["n % 2 == 0", "s > 0.5", "len(h) > 2", "h[0] > 0.0"]
        return loop_or_branch(source, indent, kind, tests, inner)
    if kind < 0.35:
        return [f"{indent}if n == 5:", f"{indent}    raise KeyError('n')"]
    if kind < 0.38:
        return [f"{indent}s = s + np.sqrt(np.float64(s - s)) * (n - n)"]
    value = source.choice(VALUES)
    if kind < 0.75:
        change = source.choice(kept).replace("{v}", value)
        return [indent + part for part in change.split("; ")]
    return [f"{indent}s = 0.5 * s + {value}"]


def loop_or_branch(source, indent, kind, tests, inner):
    """Return the lines of a loop, which may end early, or of a branch with one of some tests."""
    if kind < 0.15:
        left = [f"{indent}    if s > 3.0:", f"{indent}        break"] * (source.random() < 0.4)
        return [f"{indent}for i in range({source.choice(['3', 'n', '2'])}):", *inner(), *left]
    return [f"{indent}if {source.choice(tests)}:", *inner(), f"{indent}else:", *inner()]


def caught(source, indent, inner):
    """Return the lines of a `try` that may raise, and catches that."""
    return [f"{indent}try:", *inner(), f"{indent}    if s > {source.choice('012')}.5:",
            f"{indent}        raise ValueError('s')", f"{indent}except ValueError:",
            *inner()]  # fmt: skip


def failing(indent, kind):
    """Return the lines of an error for one number, or of a derivative that is not finite."""
    if kind < 0.37:
        return [f"{indent}if n == 5:", f"{indent}    raise KeyError('n')"]
    return [f"{indent}s = s + np.sqrt(np.float64(s - s)) * (n - n)"]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program on what is given {seed}>", np=np, SHARED=fresh())


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)

    def floats(n):
        return [float(x) for x in source.normal(size=n)]

    choices = [
        (*floats(1), floats(k), {"w": floats(1)[0], "n": 1, "h": floats(2)},
         [floats(2), floats(2)], [source.normal(size=2)],
         Thing(*floats(1), source.normal(size=2)), n)
        for k, n in ((2, 3), (3, 4), (2, 5), (5, 0))
    ]  # fmt: skip
    other = (np.float64(source.normal()), floats(20), {"w": 1.0, "n": 2, "h": floats(1)})
    return [
        *choices,
        (*other, [floats(2)], [source.normal(size=2), np.ones(2)], Thing(1.5, np.ones(2)), 3),
    ]
