"""The workloads in PyTorch, eager, on the CPU."""

import sys

import numpy as np
import torch
from torch.nn.functional import cross_entropy, softplus

from benchmarks.engines import Engine, function_of
from benchmarks.workloads.elements import matmul as matmul_loops
from benchmarks.workloads.networks import unpack as unpack_parameters
from benchmarks.workloads.scalars import lotka_volterra

__all__ = ["lotka_volterra", "matmul_loops"]  # these run as they are


def scalar_expression(x, y):
    return torch.sin(x) * torch.exp(y) + torch.log(x * x + 1.0) / torch.cos(y)


def scalar_loop(x, a, b, steps):
    for _ in range(steps):
        x = a * torch.sin(x) + b
    return x


def mlp_moons(w1, b1, w2, b2, w3, b3, X, label):
    h = torch.tanh(X @ w1 + b1)
    h = torch.tanh(h @ w2 + b2)
    return cross_entropy(h @ w3 + b3, label)


def mlp_mnist(w1, b1, w2, b2, w3, b3, X, label):
    h = torch.relu(X @ w1 + b1)
    h = torch.relu(h @ w2 + b2)
    return cross_entropy(h @ w3 + b3, label)


def chain_1e3(x):
    return torch.sum(torch.tanh(x) * torch.exp(-x * x) + torch.sin(x))


chain_1e6 = chain_1e3


def rnn(W, U, b, X, h):
    for x in X:
        h = torch.tanh(x @ U + h @ W + b)
    return torch.mean(h * h)


def layer(w, b, x):
    out = []
    for row, bias in zip(w, b):
        total = bias
        for weight, value in zip(row, x):
            total = total + weight * value
        out.append(torch.tanh(total))
    return out


def scalar_mlp(w1, b1, w2, b2, w3, b3, x, target):
    h = layer(w1, b1, x)
    h = layer(w2, b2, h)
    y = layer(w3, b3, h)
    return (y[0] - target) ** 2


def heat(u, k, steps):
    u = u.clone()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
    return torch.sum(u * u)


def logistic(w, b, X, sign):
    return torch.mean(softplus(-sign * (X @ w + b)))


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
    torch.set_num_threads(1)
    x = torch.tensor(3.0, requires_grad=True)
    torch.autograd.grad(x * x, x)


def tensors(x, leaves):
    """Return tensors that want gradients, in lists for lists; note them in `leaves`."""
    if isinstance(x, list):
        return [tensors(entry, leaves) for entry in x]
    leaves.append(torch.tensor(x, dtype=torch.float64, requires_grad=True))
    return leaves[-1]


def given(x):
    return torch.from_numpy(x) if isinstance(x, np.ndarray) else x


def regroup(x, found):
    """Return the next gradients in the form of the argument `x`."""
    return [regroup(entry, found) for entry in x] if isinstance(x, list) else next(found).numpy()


def prepare(workload, arguments):
    f, leaves = function_of(sys.modules[__name__], workload), []
    own = [
        tensors(x, leaves) if i in workload.argnums else given(x) for i, x in enumerate(arguments)
    ]
    wanted = [own[i] for i in workload.argnums]

    def value_and_gradients(*xs):
        y = f(*xs)
        return y, torch.autograd.grad(y, leaves), wanted

    def hessian_times_vector(*xs):
        *xs, v = xs
        (d,) = torch.autograd.grad(f(*xs), leaves, create_graph=True)
        return None, torch.autograd.grad(d, leaves, v), wanted

    return hessian_times_vector if workload.hvp else value_and_gradients, own


def unpack(result):
    y, found, wanted = result
    found = iter(found)
    return None if y is None else y.detach().numpy(), [regroup(x, found) for x in wanted]


ENGINE = Engine("torch", prepare, unpack)
