"""Whole arrays: a chain of elementwise functions, and the heat equation written in place."""

import numpy as np

from benchmarks.workload import Workload

BLOCK = 16_384  # elements, so that the temporaries of a block stay in the cache


def chain(x):
    return np.sum(np.tanh(x) * np.exp(-x * x) + np.sin(x))


def chain_by_hand(x):
    tanh, exp = np.tanh(x), np.exp(-x * x)
    value = np.vdot(tanh, exp) + np.sum(np.sin(x))
    # cos(x) + exp(-x * x) * (1 - tanh(x) * (tanh(x) + 2 * x))
    dx = x + x
    dx += tanh
    dx *= tanh
    np.subtract(1.0, dx, out=dx)
    dx *= exp
    dx += np.cos(x)
    return value, (dx,)


def chain_by_blocks(x):
    """Take the array block by block."""
    value, dx = 0.0, np.empty_like(x)
    for i in range(0, len(x), BLOCK):
        part, (dx[i : i + BLOCK],) = chain_by_hand(x[i : i + BLOCK])
        value += part
    return value, (dx,)


CHAIN_1E3 = Workload(
    name="chain_1e3",
    title="elementwise chain, 1e3",
    f=chain,
    by_hand=chain_by_hand,
    arguments=lambda rng, n: (rng.normal(size=n),),
    argnums=(0,),
    sizes={"n": 1_000},
    small={"n": 10},
    goal=1.4,
)
CHAIN_1E6 = Workload(
    name="chain_1e6",
    title="elementwise chain, 1e6",
    f=chain,
    by_hand=chain_by_hand,
    rewritten=chain_by_blocks,
    arguments=lambda rng, n: (rng.normal(size=n),),
    argnums=(0,),
    sizes={"n": 1_000_000},
    small={"n": 2 * BLOCK + 5},
    goal=1.1,
)


def heat(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
    return np.sum(u * u)


def regions(u):
    """Return views of the inner points and of their neighbours on four sides."""
    return u[1:-1, 1:-1], u[2:, 1:-1], u[:-2, 1:-1], u[1:-1, 2:], u[1:-1, :-2]


def heat_by_hand(u, k, steps):
    u = u.copy()
    inner, below, above, right, left = regions(u)
    tape = []
    for _ in range(steps):
        laplacian = below + above
        laplacian += right
        laplacian += left
        laplacian -= 4 * inner
        tape.append(laplacian)
        inner += k * laplacian
    value = np.vdot(u, u)
    du, dk = 2 * u, 0.0
    inner, below, above, right, left = regions(du)
    for laplacian in reversed(tape):
        d = inner.copy()
        dk += np.vdot(d, laplacian)
        d *= k
        inner *= 1 - 4 * k
        below += d
        above += d
        right += d
        left += d
    return value, (du, dk)


HEAT = Workload(
    name="heat",
    title="heat equation in place, 64x64, 50 steps",
    f=heat,
    by_hand=heat_by_hand,
    arguments=lambda rng, n, steps: (rng.uniform(size=(n, n)), 0.2, steps),
    argnums=(0, 1),
    sizes={"n": 64, "steps": 50},
    small={"n": 6, "steps": 3},
)
