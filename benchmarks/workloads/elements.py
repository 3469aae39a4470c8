"""Arrays and lists, one element at a time."""

import numpy as np

from benchmarks.workload import Workload


def matmul(a, b):
    rows, inner, columns = len(a), len(b), len(b[0])
    c = [[0.0] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            for k in range(inner):
                c[i][j] += a[i][k] * b[k][j]
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            total += c[i][j] * c[i][j]
    return total


def matmul_by_hand(a, b):
    columns = [list(column) for column in zip(*b)]
    total = 0.0
    da = [[0.0] * len(b) for _ in a]
    dcolumns = [[0.0] * len(b) for _ in columns]
    for row, drow in zip(a, da):
        for column, dcolumn in zip(columns, dcolumns):
            c = 0.0
            for x, y in zip(row, column):
                c += x * y
            total += c * c
            dc = c + c
            for k, x in enumerate(row):
                drow[k] += dc * column[k]
                dcolumn[k] += dc * x
    return total, (da, [list(row) for row in zip(*dcolumns)])


def matmul_by_numpy(a, b):
    """Leave the loops to NumPy."""
    a, b = np.array(a), np.array(b)
    c = a @ b
    dc = 2 * c
    return float(np.vdot(c, c)), ((dc @ b.T).tolist(), (a.T @ dc).tolist())


MATMUL = Workload(
    name="matmul_loops",
    title="matrix product by three loops, 12x12 lists",
    f=matmul,
    by_hand=matmul_by_hand,
    rewritten=matmul_by_numpy,
    arguments=lambda rng, n: (rng.normal(size=(n, n)).tolist(), rng.normal(size=(n, n)).tolist()),
    argnums=(0, 1),
    sizes={"n": 12},
    small={"n": 3},
    compiles=True,
)


def indexing(x, n):
    y = np.zeros(n)
    s = 1.0
    for i in range(n):
        if x[i] < 0:
            break
        y[i] = x[i] * s
        s = s + y[i]
    return s


def indexing_by_hand(x, n):
    s = 1.0
    tape = []
    for i in range(n):
        t = x[i]
        if t < 0:
            break
        tape.append((i, t, s))
        s = s + t * s
    dx, ds = np.zeros_like(x), 1.0
    for i, t, before in reversed(tape):
        dx[i] = ds * before
        ds += ds * t
    return s, (dx,)


def indexing_by_list(x, n):
    """Take the elements out of the array at once, as Python floats."""
    s = 1.0
    tape = []
    for t in x[:n].tolist():
        if t < 0:
            break
        tape.append((t, s))
        s += t * s
    dx, ds = [0.0] * (len(x) - len(tape)), 1.0
    for t, before in reversed(tape):
        dx.append(ds * before)
        ds += ds * t
    return s, (np.array(dx[::-1]),)


INDEXING = Workload(
    name="indexing_loop",
    title="loop over x[i], 1,000 elements",
    f=indexing,
    by_hand=indexing_by_hand,
    rewritten=indexing_by_list,
    arguments=lambda rng, n: (rng.uniform(0.0, 2.0 / n, size=n), n),
    argnums=(0,),
    sizes={"n": 1_000},
    small={"n": 10},
    compiles=True,
)
