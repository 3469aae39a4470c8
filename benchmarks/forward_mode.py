"""Forward mode beside dual code that an expert writes by hand.

Run it as a script. For each function it prints the microseconds of the value and the tangent by
hand, and `jvp` as a multiple of that; then what the dual code takes without the guards, likewise;
then what no `jvp` written in Python can do without: a function with its arguments that finds the
code by hand in a dict, unpacks both tuples and calls it. The rounds of all four are interleaved.

The scalar expression is above the goal of 1.3, at 1.6 to 1.8. As parts of the code by hand, on
CPython 3.11: the dual code 1.0; `jvp` with options, and the look-up by the function, 0.2 to 0.4, of
which 0.1 is for keywords that are refused by name; the types of arguments, tangents and the two
tuples, 0.13; the functions of `math` that the code names, and the module, 0.14; whether rules have
changed, 0.04; the code of the function, 0.05; whether the tangent is finite, 0.02; whether a tape
runs, 0.02. Without any guard it is 1.3, so that the test of the types alone exceeds that. Code and
guards in one function save 0.07, and would lose the lines of the function in warnings. Tests in one
comparison of tuples or in a chain save nothing. Without a guard a later change would give a wrong
derivative.
"""

import math
from statistics import median

import numpy as np

from benchmarks.second_derivatives import ROUNDS, SECONDS, seconds
from benchmarks.workloads.networks import make_moons, moons
from benchmarks.workloads.scalars import expression, loop
from zygote_lite import jvp
from zygote_lite._specialize.cache import specializations_for


def expression_dual(x, y, dx, dy):
    """Differentiate `expression` forwards."""
    sin_x, exp_y, cos_y = math.sin(x), math.exp(y), math.cos(y)
    u = x * x + 1.0
    a, b = sin_x * exp_y, math.log(u) / cos_y
    da = math.cos(x) * dx * exp_y + a * dy
    db = (2.0 * x * dx / u + b * math.sin(y) * dy) / cos_y
    return a + b, da + db


def loop_dual(x, a, b, steps, dx, da, db):
    """Differentiate `loop` forwards."""
    for _ in range(steps):
        sin_x = math.sin(x)
        dx = da * sin_x + a * math.cos(x) * dx + db
        x = a * sin_x + b
    return x, dx


def moons_dual(w1, b1, w2, b2, w3, b3, X, label, v1, c1, v2, c2, v3, c3):
    """Differentiate `moons` forwards."""
    h1 = np.tanh(X @ w1 + b1)
    th1 = (1.0 - h1 * h1) * (X @ v1 + c1)
    h2 = np.tanh(h1 @ w2 + b2)
    th2 = (1.0 - h2 * h2) * (th1 @ w2 + h1 @ v2 + c2)
    z = h2 @ w3 + b3
    tz = th2 @ w3 + h2 @ v3 + c3
    p = np.exp(z)
    total = p.sum(axis=1, keepdims=True)
    rows = np.arange(len(label))
    value = -np.mean((z - np.log(total))[rows, label])
    return value, -np.mean((tz - (p * tz).sum(axis=1, keepdims=True) / total)[rows, label])


def elementwise(x):
    """Compute entry by entry."""
    return np.sum(np.tanh(x) * np.exp(-x * x))


def elementwise_dual(x, dx):
    """Differentiate `elementwise` forwards."""
    t, e = np.tanh(x), np.exp(-x * x)
    y = t * e
    return np.sum(y), np.sum(((1.0 - t * t) * e - 2.0 * x * y) * dx)


def cases():
    """Return for each name the function, its dual, its arguments, and the tangents of the first."""
    rng = np.random.default_rng(0)
    network = make_moons(rng, 100)
    moves = tuple([rng.normal(size=w.shape) for w in network[:6]])
    small, large = rng.normal(size=1_000), rng.normal(size=1_000_000)
    return {
        "scalar expression": (expression, expression_dual, (0.6, 1.3), (1.0, 0.5)),
        "scalar loop, 200": (loop, loop_dual, (0.5, 1.0, 0.001, 200), (1.0, 0.5, 2.0)),
        "moons": (moons, moons_dual, network, moves),
        "elementwise, 1e3": (elementwise, elementwise_dual, (small,), (small,)),
        "elementwise, 1e6": (elementwise, elementwise_dual, (large,), (large,)),
    }


def least_jvp(f, by_hand, count, moving):
    """Return a `jvp` of one function, which calls dual code by hand and tests nothing."""
    names = [f"x{i}" for i in range(count)]
    text = f"""
def enter(f, primals, tangents):
    {", ".join(names)}, = primals
    {", ".join([f"d{name}" for name in names])}, = tangents
    return by_hand({", ".join(names + [f"d{name}" for name in names[:moving]])})
"""
    space = {"by_hand": by_hand}
    exec(text, space)
    made = {id(f): space["enter"]}

    def jvp(f, primals, tangents):
        enter = made.get(id(f))
        if enter is not None:
            return enter(f, primals, tangents)
        return None

    return jvp


def main():
    """Print the table; raise where the two differ."""
    print(f"{'':20}{'by hand':>12}{'jvp':>8}{'code':>8}{'least':>8}")
    for name, (f, by_hand, xs, dxs) in cases().items():
        whole = (*dxs, *[None] * (len(xs) - len(dxs)))
        for _ in range(4):
            np.testing.assert_allclose(jvp(f, xs, whole), by_hand(*xs, *dxs), rtol=1e-10)
        (known,) = specializations_for(f)
        code = known.made[0].__globals__["fast"]
        least = least_jvp(f, by_hand, len(xs), len(dxs))
        calls = (
            lambda by_hand=by_hand, xs=xs, dxs=dxs: by_hand(*xs, *dxs),
            lambda f=f, xs=xs, whole=whole: jvp(f, xs, whole),
            lambda code=code, xs=xs, dxs=dxs: code(*xs, *dxs),
            lambda least=least, f=f, xs=xs, whole=whole: least(f, xs, whole),
        )
        counts = [max(1, math.ceil(SECONDS / seconds(call, 2))) for call in calls]
        pairs = [*zip(calls, counts, strict=True)]
        rounds = [[seconds(call, n) for call, n in pairs] for _ in range(ROUNDS)]
        hand, *others = map(median, zip(*rounds, strict=True))
        print(f"{name:20}{hand * 1e6:9.1f} us{''.join(f'{t / hand:8.2f}' for t in others)}")


if __name__ == "__main__":
    main()
