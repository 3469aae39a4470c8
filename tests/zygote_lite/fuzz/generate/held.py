"""Random programs on containers that change: stacks, queues, heaps, tables, dicts, aliases."""

import random

import numpy as np

from tests.zygote_lite.checks import texts

HEADER = """\
import bisect
import copy
import heapq
import math
from collections import OrderedDict, defaultdict, deque

import numpy as np

"""
# what a statement may use, and the statement; `E` stands for a number, `I` for an index
CHANGES = """\
a.append(E)
a.append(E)
a.insert(I, E)
a.extend([E, E])
a += [E]
a[I % len(a)] = E
a[I % len(a)] += E
a[-1], a[0] = a[0], a[-1]
b = a
b = a[:]
b = list(a)
b = [E for u in a]
b = b + [E]
a, b = b, a
a[1:2] = [E, E]
a[:2] = b[-2:]
del a[0]; a.append(E)
s += a.pop(); a.append(E)
s += a.pop(I % len(a)); a.append(E)
s += a.pop(-1 - I % len(a)); a.append(E)
a.reverse()
a.sort()
b = sorted(a, reverse=True)
a.sort(key=lambda u: math.cos(u))
s += sum(a) * 0.1
s += max(a) - min(b)
s += a[I % len(a)] * b[I % len(b)]
s += a.index(a[I % len(a)]) * 0.1 + len(b)
rows.append([E, E])
rows.append(a)
rows.append(a[:2])
rows[I % len(rows)][0] = E
rows[I % len(rows)].append(E)
rows = [row[:] for row in rows]
rows[0], rows[-1] = rows[-1], rows[0]
a = rows[I % len(rows)]
s += rows[I % len(rows)][-1]
s += sum(row[0] for row in rows)
s += sum(map(len, rows)) * 0.1
table[I % 3][I % 2] += E
table[I % 3][I % 2] = E
table = [[E for _ in range(2)] for _ in range(3)]
s += table[I % 3][I % 2]
d[I] = E
d[I % 2] = d.get(I, E)
d[I] = d[I] + E if I in d else E
s += d.pop(I % 2, E)
s += d.get(I, 0.5)
s += d.setdefault(I, E)
d.update({0: E, 5: E})
s += sum(d.values()) * 0.1
s += sum(v * (k + 1) for k, v in d.items()) * 0.1
if I in d: del d[I]
d = dict(d)
d[I, 1] = E
g["u" if E > 0.2 else "v"].append(E)
g.setdefault("w", []).append(E)
s += sum(len(v) * v[0] for v in g.values() if v)
g["u"] = a
p = {"x": E, "n": I}; hist.append(p)
hist.append({"x": E, "n": I})
hist[-1]["x"] += E
hist[I % len(hist)]["x"] *= 0.5
s += hist[I % len(hist)]["x"] * hist[-1]["n"]
s += sum(h["x"] for h in hist) * 0.1
stack.append((I, E))
stack.append((I, E)); k, w = stack.pop(); s += k * w
if stack: k, w = stack.pop(); s += w
while stack: k, w = stack.pop(); s += k * w
heapq.heappush(heap, (E, len(heap)))
if heap: w, k = heapq.heappop(heap); s += w * (k + 1)
s += heap[0][0] if heap else E
q.append(E)
q.appendleft(E)
if len(q) > 1: s += q.popleft() * 0.5
if len(q) > 1: s += q.pop() * 0.5
q.extend(a[:2])
s += q[0] - q[-1] * 0.3 + sum(q) * 0.1
window.append(E)
s += sum(window) / len(window)
window.append(E); s += np.mean(window)
s += np.array(q).sum() * 0.1
seen.add(I % 3)
if I % 3 in seen: s += E
s += len(seen) * 0.1
bisect.insort(b, E)
h = change(a, E); s += h
h = change(b, E); s += h
best = a if E > 0.3 else b
best = best[:]; best[0] = E
s += best[0] * best[-1]
z = sum(w for _, w in stack); s += z
if stack: ks, ws = zip(*stack); s += sum(ws) * 0.1 + ks[0] * ws[-1]
if stack: s += sum(sum(column) for column in zip(*stack)) * 0.1
fixed = tuple(a); a[0] = E; s += fixed[0] * fixed[-1] + sum(fixed[1:]) * 0.1
fixed = fixed + tuple(q); s += fixed[I % len(fixed)] * 0.1
fixed = tuple(u * E for u in b); s += sum(fixed) / len(fixed)
s += sum(u * t for u, t in zip(fixed, tuple(window)))
s += np.array(a).mean()
s += np.sum(a)
t = max(stack)[1] if stack else E; s += t
o[I % 4] = E; o.move_to_end(I % 4)
if len(o) > 2: s += o.popitem(last=False)[1]
window.appendleft(E)
window += [E, E]
window.rotate(I - 1)
q.rotate(I); q.extendleft(a[:2])
a *= 1 + I % 2 * (len(a) < 30)
a.extend(u * 0.5 for u in b[:2])
m[I % 3] += E
s += m[I] * 0.1
m = copy.copy(m)
if I in memo: s += memo[I] * E
memo[I] = E
table2["k"] = E; table2[I % 2] = E
s += sum(w * (i + 1) for i, w in enumerate(table2.values())) * 0.1
if empty: s += empty.pop()
if s > 2.0: empty.append(E)
c.append(v)
v = np.sin(c[I % len(c)]) + E
s += c[I % len(c)].sum() * 0.1
s += sum(c).mean()
s += np.stack(c).mean()
s += (lambda u: u[0])(c)[0]
s += sum(u * t for u, t in zip(reversed(a), reversed(b)))
for u, t in zip(reversed(q), a): s += u * t
for u, t in zip(reversed(hist), window): s += u["x"] * t
for (u, t), w in zip(zip(a, window), reversed(b)): s += u * t * w
for u, t in zip(reversed(b[:2]), c): b[0] = b[0] * 0.5; s += u * t.sum()
r = reversed(a); a[0] = E; s += sum(u * t for u, t in zip(r, q))
""".splitlines()
START = """\
    s, h, t, k, w = p, 0.5, 0.25, 1, 0.5
    a = list(xs)
    b = [p, 0.4, xs[0]]
    best = a
    rows = [[p, 0.3], xs[:2]]
    table = [[0.0] * 2 for _ in range(3)]
    d = {0: p, 1: xs[1]}
    g = defaultdict(list)
    hist = [{"x": p, "n": 0}]
    stack, heap, seen = [], [], set()
    q = deque([p, xs[0]])
    window = deque(maxlen=3)
    o, memo, table2, empty = OrderedDict(), {}, {}, []
    m = defaultdict(lambda: p * 0.5)
    v = np.array([p, xs[0]])
    c = [v]
    fixed = tuple(a)
"""
HELPER = """\
def change(u, w):
    u.append(w)
    u[0] = u[0] * 0.5 + w
    return u[-1] * u[0]


"""
END = """\
    total = s + sum(a) * 0.3 + sum(b) * 0.2 + table[0][0] + table[2][1] + sum(q) * 0.1
    total += sum(row[0] for row in rows) + sum(d.values()) * 0.3
    total += sum(m.values()) * 0.1 + sum(memo.values()) + sum(window) + sum(empty) + m[9]
    total += sum(w * (i + 1) for i, w in stack) + hist[-1]["x"] + sum(best) * 0.1 + fixed[0]
    return float(total) if total == total else 0.0 * p
"""


def program(seed):
    """Return the text of a program `f(xs, p, n)`: a list, a number, a count."""
    r = random.Random(seed)
    few = r.sample(CHANGES, r.randint(2, 12))
    names = r.sample(["i", "j"], 2)

    def number(depth=0):
        kind = r.random()
        if depth > 1 or kind < 0.5:
            return r.choice(["p", "s * 0.1", "xs[0]", "xs[-1] * 0.5", f"{r.uniform(-1, 1):.2f}",
                             "math.sin(s)", "a[0] * 0.2", "h * 0.1"])  # fmt: skip
        if kind < 0.8:
            return f"({number(depth + 1)} {r.choice('+-*')} {number(depth + 1)})"
        return f"{r.choice(['math.sin', 'math.cos', 'math.tanh'])}({number(depth + 1)})"

    def statement(depth, indices):
        text = r.choice(few)
        while "E" in text.replace("KeyError", ""):
            if "I" not in text and "E" not in text:
                break
            text = text.replace("E", number(), 1)
        while " I" in text or "(I" in text or "[I" in text or "I " in text:
            at = text.index("I")
            text = text[:at] + r.choice([*indices, "2", "1"]) + text[at + 1 :]
        space = "    " * depth
        head, colon, rest = text.partition(": ")
        if colon and head.split()[0] in ("if", "while", "for"):
            return [f"{space}{head}:", *[f"{space}    {one}" for one in rest.split("; ")]]
        return [f"{space}{one}" for one in text.split("; ")]

    def block(depth, indices):
        lines = []
        for _ in range(r.randint(1, 4)):
            kind = r.random()
            if kind < 0.2 and depth < 3 and len(indices) < 2:
                i = names[len(indices)]
                lines.append(f"{'    ' * depth}for {i} in range({r.choice(['n', '3', 'n + 1'])}):")
                lines += block(depth + 1, [*indices, i])
            elif kind < 0.35 and depth < 4:
                test = r.choice(["p > 0.3", "s > 0.5", "len(a) > 3", "a[0] > b[0]", "len(q) > 2"])
                lines.append(f"{'    ' * depth}if {test}:")
                lines += block(depth + 1, indices)
                if r.random() < 0.4:
                    lines += [f"{'    ' * depth}else:", *block(depth + 1, indices)]
            elif kind < 0.4 and indices:
                lines.append(f"{'    ' * depth}if s > {r.uniform(0, 3):.1f}:")
                lines.append(f"{'    ' * (depth + 1)}{r.choice(['break', 'continue'])}")
            else:
                lines += statement(depth, indices)
        return lines

    body = "\n".join(
        ["    for i in range(n):", *block(2, ["i"]), *block(1, []), "    for i in range(n):"]
        + block(2, ["i"])
    )
    return f"{HEADER}\n{HELPER}def f(xs, p, n):\n{START}{body}\n{END}"


def load(seed):
    """Return the function of a program."""
    return texts.load(program(seed), f"held {seed}")


def arguments(seed):
    """Return choices of arguments: of the same types, of other lengths, of other types."""
    r = random.Random(seed)
    given = [([r.uniform(-1, 1) for _ in range(k)], r.uniform(-1, 1), n)
             for k, n in ((4, 3), (4, 3), (4, 1), (2, 0), (6, 5), (4, 3))]  # fmt: skip
    xs, p, n = given[0]
    same = ([0.5] * 4, 0.5, 2)
    integers = ([1.0, *xs[1:]], 1, n)
    single = ([np.float64(x) for x in xs], np.float64(p), n)
    return [*given[:3], same, *given[3:], r.choice([integers, single])]
