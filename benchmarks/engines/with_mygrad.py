"""The workloads in MyGrad, whose tensors may be written in place."""

import sys

import mygrad as mg
import numpy as np

from benchmarks.engines import Engine, NotAvailableError, function_of
from benchmarks.workloads.elements import matmul as matmul_loops
from benchmarks.workloads.scalars import lotka_volterra

__all__ = ["lotka_volterra", "matmul_loops"]  # these run as they are


def scalar_expression(x, y):
    return mg.sin(x) * mg.exp(y) + mg.log(x * x + 1.0) / mg.cos(y)


def scalar_loop(x, a, b, steps):
    for _ in range(steps):
        x = a * mg.sin(x) + b
    return x


def mlp_moons(w1, b1, w2, b2, w3, b3, X, label):
    h = mg.tanh(X @ w1 + b1)
    h = mg.tanh(h @ w2 + b2)
    z = h @ w3 + b3
    log_p = z - mg.log(mg.sum(mg.exp(z), axis=1, keepdims=True))
    return -mg.mean(log_p[np.arange(len(label)), label])


def mlp_mnist(w1, b1, w2, b2, w3, b3, X, label):
    h = mg.maximum(X @ w1 + b1, 0.0)
    h = mg.maximum(h @ w2 + b2, 0.0)
    z = h @ w3 + b3
    z = z - mg.max(z, axis=1, keepdims=True)
    log_p = z - mg.log(mg.sum(mg.exp(z), axis=1, keepdims=True))
    return -mg.mean(log_p[np.arange(len(label)), label])


def chain_1e3(x):
    return mg.sum(mg.tanh(x) * mg.exp(-x * x) + mg.sin(x))


chain_1e6 = chain_1e3


def rnn(W, U, b, X, h):
    for x in X:
        h = mg.tanh(x @ U + h @ W + b)
    return mg.mean(h * h)


def layer(w, b, x):
    out = []
    for row, bias in zip(w, b):
        total = bias
        for weight, value in zip(row, x):
            total = total + weight * value
        out.append(mg.tanh(total))
    return out


def scalar_mlp(w1, b1, w2, b2, w3, b3, x, target):
    h = layer(w1, b1, x)
    h = layer(w2, b2, h)
    y = layer(w3, b3, h)
    return (y[0] - target) ** 2


def heat(u, k, steps):
    u = +u
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
    return mg.sum(u * u)


def logistic(w, b, X, sign):
    return mg.mean(mg.logaddexp(0.0, -sign * (X @ w + b)))


def indexing_loop(x, n):
    s = 1.0
    for i in range(n):
        if x[i] < 0:
            break
        s = s + x[i] * s
    return s


def start():
    x = mg.tensor(3.0)
    (x * x).backward()


def tensors(x, leaves):
    """Return lists of tensors for lists of numbers; note the tensors in `leaves`."""
    if isinstance(x, list):
        return [tensors(entry, leaves) for entry in x]
    leaves.append(mg.tensor(x))
    return leaves[-1]


def gradients(x):
    return [gradients(entry) for entry in x] if isinstance(x, list) else x.grad


def prepare(workload, arguments):
    if workload.hvp:
        raise NotAvailableError("mygrad has no second derivatives")
    f, leaves = function_of(sys.modules[__name__], workload), []
    own = [tensors(x, leaves) if i in workload.argnums else x for i, x in enumerate(arguments)]
    wanted = [own[i] for i in workload.argnums]

    def value_and_gradients(*xs):
        y = f(*xs)
        y.backward()
        return y, wanted

    return value_and_gradients, own


def unpack(result):
    y, wanted = result
    return y.data, [gradients(x) for x in wanted]


ENGINE = Engine("mygrad", prepare, unpack)
