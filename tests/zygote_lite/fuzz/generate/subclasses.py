"""Random programs of objects that inherit from containers, and of calls that stand as they are.

Objects are made in straight code, branches and loops, held under two names, changed by the methods
of their own and of the builtin class, walked over, sliced and joined. Helpers of shapes and options
return tuples, lists and dicts of numbers, of another form for some arguments, or raise.
"""

import random

import numpy as np

from tests.zygote_lite.checks import texts

CLASSES = """
class Row(list):
    def total(self):
        return sum(self)

    def scaled(self, c):
        return Row([c * v for v in self])


class Named(list):
    def __init__(self, items, name="n"):
        super().__init__(items)
        self.name = name
        self.count = 0

    def append(self, v):
        self.count += 1
        super().append(v * 2.0)

    def __getitem__(self, i):
        return list.__getitem__(self, i) if isinstance(i, slice) else super().__getitem__(i) * 0.5


class Zeros(dict):
    def __missing__(self, key):
        return 0.25


class Pair(tuple):
    def __new__(cls, a, b):
        x = super().__new__(cls, (a, b))
        x.weight = 1.5
        return x

    def dot(self):
        return self[0] * self[1] * self.weight


def laid_out(shape, n):
    made = {1, 2}
    sizes = [k + n for k in shape]
    if n == 5:
        return [sizes[0]]
    if n > 5:
        raise ValueError("n")
    return [tuple(sizes), {"n": n, "half": n / 2, "name": "even" if n % 2 == 0 else "odd"}]


def changing(sizes):
    made = {1, 2}
    sizes.append(len(made))
    return (sizes[0] + 0.5, len(sizes))
"""
STATEMENTS = (
    "r = Row([a, v[0] * a, s])",
    "r.append(s * a)",
    "r[0] = r[0] + s",
    "r += [a, v[1]]",
    "r = r.scaled(0.5)",
    "q = r",
    "q.append(v[2] * a)",
    "s = s + r.total() * 0.1",
    "s = s + sum(r[1:]) + len(r)",
    "r.pop()",
    "m = Named([a, s])",
    "m.append(v[0])",
    "s = s + m[0] * m[-1] + m.count",
    "s = s + sum(m) * 0.1",
    "d = Zeros(k=a)",
    "d['k'] = d['k'] + v[0]",
    "d['z'] = d['z'] + s",
    "s = s + d['k'] * d['z'] + len(d)",
    "s = s + sum(d.values())",
    "p = Pair(a, s)",
    "s = p.dot() + p[0]",
    "p = Pair(p[1], v[1])",
    "u, w = p",
    "s = s + u * w * 0.1",
    "s = s + (1.0 if a in r else 0.5)",
    "s = s + (2.0 if r else 1.0) * a",
    "l = laid_out(v.shape, n)",
    "s = s + l[0][0] * a",
    "s = s * l[1]['half'] if l[1]['name'] == 'odd' else s + l[1]['n']",
    "s = s + changing([n, len(r)])[0] * v[0]",
    "r = Row(v)",
    "r.reverse()",
    "r.extend(p)",
)


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    lines = [CLASSES, "def f(a, v, n):", "    s = a * 1.5", "    r = q = Row([a, 2.0])"]
    lines += ["    m, d, p = Named([a]), Zeros(k=a, z=1.0), Pair(a, 2.0)"]
    lines += ["    l = [(n, n), {'half': 0.5, 'n': n, 'name': 'odd'}]", "    u = w = 1.0"]
    for _ in range(source.randint(2, 9)):
        lines += _statement(source, 1)
    lines += ["    return s + 0.1 * r.total() + 0.2 * len(q) + m[0] + d['k'] + p.dot()", ""]
    return "\n".join(lines)


def _statement(source, depth):
    indent = "    " * depth
    kind = source.random()
    if depth < 3 and kind < 0.1:
        return [f"{indent}for k in range({source.randint(1, 3)}):", *_statement(source, depth + 1)]
    if depth < 3 and kind < 0.25:
        test = source.choice(["n % 2 == 0", "n > 3", "a > 0.0"])
        return [f"{indent}if {test}:", *_statement(source, depth + 1), f"{indent}else:",
                *_statement(source, depth + 1)]  # fmt: skip
    return [indent + source.choice(STATEMENTS)]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of subclasses {seed}>", np=np)


def arguments(seed):
    """Return choices of arguments."""
    source = np.random.default_rng(seed)
    choices = [(float(source.normal()), source.normal(size=3), int(n)) for n in (3, 4, 5, 6, 3)]
    choices.append((np.float64(source.normal()), source.normal(size=3), 3))
    choices.append((float(source.normal()), source.normal(size=4), 4))
    return choices
