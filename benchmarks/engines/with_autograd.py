"""The workloads in autograd: the user's code with `autograd.numpy`, and without writes."""

import sys

import autograd.numpy as np
from autograd import hessian_vector_product, value_and_grad
from autograd.builtins import tuple as differentiable_tuple

from benchmarks.engines import Engine, as_is, function_of
from benchmarks.workloads.elements import matmul as matmul_loops
from benchmarks.workloads.networks import unpack as unpack_parameters
from benchmarks.workloads.scalars import lotka_volterra

__all__ = ["lotka_volterra", "matmul_loops"]  # these run as they are


def scalar_expression(x, y):
    return np.sin(x) * np.exp(y) + np.log(x * x + 1.0) / np.cos(y)


def scalar_loop(x, a, b, steps):
    for _ in range(steps):
        x = a * np.sin(x) + b
    return x


def mlp_moons(w1, b1, w2, b2, w3, b3, X, label):
    h = np.tanh(X @ w1 + b1)
    h = np.tanh(h @ w2 + b2)
    z = h @ w3 + b3
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(label)), label])


def mlp_mnist(w1, b1, w2, b2, w3, b3, X, label):
    h = np.maximum(X @ w1 + b1, 0.0)
    h = np.maximum(h @ w2 + b2, 0.0)
    z = h @ w3 + b3
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(label)), label])


def chain_1e3(x):
    return np.sum(np.tanh(x) * np.exp(-x * x) + np.sin(x))


chain_1e6 = chain_1e3


def rnn(W, U, b, X, h):
    for x in X:
        h = np.tanh(x @ U + h @ W + b)
    return np.mean(h * h)


def layer(w, b, x):
    out = []
    for row, bias in zip(w, b):
        total = bias
        for weight, value in zip(row, x):
            total = total + weight * value
        out.append(np.tanh(total))
    return out


def scalar_mlp(w1, b1, w2, b2, w3, b3, x, target):
    h = layer(w1, b1, x)
    h = layer(w2, b2, h)
    y = layer(w3, b3, h)
    return (y[0] - target) ** 2


def heat(u, k, steps):
    for _ in range(steps):
        inner = u[1:-1, 1:-1]
        laplacian = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner
        middle = np.concatenate([u[1:-1, :1], inner + k * laplacian, u[1:-1, -1:]], axis=1)
        u = np.concatenate([u[:1], middle, u[-1:]], axis=0)
    return np.sum(u * u)


def logistic(w, b, X, sign):
    return np.mean(np.logaddexp(0.0, -sign * (X @ w + b)))


def indexing_loop(x, n):
    s = 1.0
    for i in range(n):
        if x[i] < 0:
            break
        s = s + x[i] * s
    return s


def hvp(parameters, X, label):
    return mlp_moons(*unpack_parameters(parameters), X, label)


def start():
    value_and_grad(lambda x: x * x)(3.0)


def prepare(workload, arguments):
    f = function_of(sys.modules[__name__], workload)
    if workload.hvp:
        return hessian_vector_product(f), arguments
    return value_and_grad(f, workload.argnums), arguments


def unpack(result):
    if isinstance(result, (tuple, differentiable_tuple)):
        return as_is(result)
    return None, [result]


ENGINE = Engine("autograd", prepare, unpack)
