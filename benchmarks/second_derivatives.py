"""Second derivatives: forward over reverse beside reverse over reverse, and beside the gradient.

Run it as a script. For each function it prints the microseconds of its gradient, and how many
gradients a Hessian times a vector costs in three ways: the gradient run backwards again (`twice`),
dual code of the gradient, and `hvp`, which chooses. Nothing is printed where there is no such code:
code with loops is not run backwards twice. A last figure is of `hessian`. Rounds are interleaved.
"""

import math
from statistics import median
from time import process_time

import numpy as np

from zygote_lite import grad, hessian, hvp, value_and_grad
from zygote_lite._specialize.entry import compile_text
from zygote_lite._specialize.tangents import specialize_forward, specialize_twice
from zygote_lite._specialize.typed.derivatives import TakenBy, Verb
from zygote_lite._specialize.typed.reasons import NotSpecializable

ROUNDS = 15
SECONDS = 0.02  # that one of them takes, at least


def rosenbrock(x):
    """Compute Rosenbrock's function of many variables."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_loop(x):
    """Compute the same, entry by entry."""
    s = 0.0
    for i in range(len(x) - 1):
        s = s + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return s


def network(w):
    """Compute the loss of a network of two layers on points of a line."""
    x = np.linspace(-1.0, 1.0, 20)
    h = np.tanh(x[:, None] * w[:4] + w[4:8])
    return np.mean((h @ w[8:] - x * x) ** 2)


def recurrent(w):
    """Compute what a layer gives that is run nine times."""
    h = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
    for _ in range(len(w) * 3):
        h = np.tanh(h @ w)
    return np.sum(h * h)


def arguments():
    """Return the argument of each function."""
    rng = np.random.default_rng(0)
    return {
        rosenbrock: rng.normal(size=1000),
        rosenbrock_loop: rng.normal(size=1000),
        network: rng.normal(size=12),
        recurrent: rng.normal(size=(3, 3)),
    }


def ways(f, x, v):
    """Return the gradient, the products by each way, and the Hessian; or `None`."""
    gradient, product, whole = grad(f), hvp(f), hessian(f)
    twice = code(f, lambda: specialize_twice(f, (x,), 0, v))
    over = TakenBy(Verb.GRAD, 0)
    dual = code(f, lambda: specialize_forward(f, (x,), (True,), (v,), over, alone=True))
    return [
        lambda: gradient(x),
        twice and (lambda: twice(x, v)),
        dual and (lambda: dual(x, v)),
        lambda: product(x, v),
        (lambda: whole(x)) if x.size < 100 else None,
    ]


def code(f, make):
    """Return code that is made; `None` where it cannot be."""
    try:
        return compile_text(make(), f)
    except NotSpecializable:
        return None


def times(calls):
    """Return the seconds that each call takes: the median of interleaved rounds."""
    counts = [call and max(1, math.ceil(SECONDS / seconds(call, 3))) for call in calls]
    pairs = [*zip(calls, counts, strict=True)]
    rounds = [[call and seconds(call, n) for call, n in pairs] for _ in range(ROUNDS)]
    return [None if taken[0] is None else median(taken) for taken in zip(*rounds, strict=True)]


def seconds(call, count):
    """Return what a call takes."""
    start = process_time()
    for _ in range(count):
        call()
    return (process_time() - start) / count


def main():
    """Print the table."""
    value_and_grad(lambda x: x * x)(1.0)  # loads the rules
    print(f"{'':16}{'gradient':>12}{'twice':>8}{'dual':>8}{'hvp':>8}{'hessian':>9}")
    for f, x in arguments().items():
        calls = ways(f, x, np.ones_like(x))
        for call in calls:
            for _ in range(4 if call else 0):
                call()
        base, *others = times(calls)
        figures = [" " * 8 if t is None else f"{t / base:8.2f}" for t in others]
        print(f"{f.__name__:16}{base * 1e6:9.1f} us{''.join(figures)}")


if __name__ == "__main__":
    main()
