"""The workloads in JAX, compiled by XLA for the CPU, in float64.

A Python loop becomes `lax.scan`; lists of numbers become arrays.
"""

import sys

import jax
import jax.numpy as jnp
from jax import lax

from benchmarks.engines import Engine, as_is, function_of
from benchmarks.workloads.networks import unpack as unpack_parameters
from benchmarks.workloads.scalars import rates

STEPS = ("steps", "n")  # arguments that are static


def scalar_expression(x, y):
    return jnp.sin(x) * jnp.exp(y) + jnp.log(x * x + 1.0) / jnp.cos(y)


def scalar_loop(x, a, b, steps):
    return lax.fori_loop(0, steps, lambda _, x: a * jnp.sin(x) + b, x)


def mlp_moons(w1, b1, w2, b2, w3, b3, X, label):
    h = jnp.tanh(X @ w1 + b1)
    h = jnp.tanh(h @ w2 + b2)
    log_p = jax.nn.log_softmax(h @ w3 + b3)
    return -jnp.mean(log_p[jnp.arange(len(label)), label])


def mlp_mnist(w1, b1, w2, b2, w3, b3, X, label):
    h = jax.nn.relu(X @ w1 + b1)
    h = jax.nn.relu(h @ w2 + b2)
    log_p = jax.nn.log_softmax(h @ w3 + b3)
    return -jnp.mean(log_p[jnp.arange(len(label)), label])


def chain_1e3(x):
    return jnp.sum(jnp.tanh(x) * jnp.exp(-x * x) + jnp.sin(x))


chain_1e6 = chain_1e3


def rnn(W, U, b, X, h):
    h, _ = lax.scan(lambda h, x: (jnp.tanh(x @ U + h @ W + b), None), h, X)
    return jnp.mean(h * h)


def scalar_mlp(w1, b1, w2, b2, w3, b3, x, target):
    h = jnp.tanh(w1 @ jnp.array(x) + b1)
    h = jnp.tanh(w2 @ h + b2)
    y = jnp.tanh(w3 @ h + b3)
    return (y[0] - target) ** 2


def lotka_volterra(alpha, beta, gamma, delta, x, y, dt, steps):
    def step(_, state):
        x, y = state
        kx1, ky1 = rates(x, y, alpha, beta, gamma, delta)
        kx2, ky2 = rates(x + dt / 2 * kx1, y + dt / 2 * ky1, alpha, beta, gamma, delta)
        kx3, ky3 = rates(x + dt / 2 * kx2, y + dt / 2 * ky2, alpha, beta, gamma, delta)
        kx4, ky4 = rates(x + dt * kx3, y + dt * ky3, alpha, beta, gamma, delta)
        x = x + dt / 6 * (kx1 + 2 * kx2 + 2 * kx3 + kx4)
        y = y + dt / 6 * (ky1 + 2 * ky2 + 2 * ky3 + ky4)
        return x, y

    x, y = lax.fori_loop(0, steps, step, (x, y))
    return x * x + y * y


def heat(u, k, steps):
    def step(_, u):
        laplacian = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].add(k * laplacian)

    u = lax.fori_loop(0, steps, step, u)
    return jnp.sum(u * u)


def logistic(w, b, X, sign):
    return jnp.mean(jnp.logaddexp(0.0, -sign * (X @ w + b)))


def matmul_loops(a, b):
    c = a @ b
    return jnp.sum(c * c)


def indexing_loop(x, n):
    def step(state, t):
        s, going = state
        going = going & (t >= 0)
        return (jnp.where(going, s + t * s, s), going), None

    (s, _), _ = lax.scan(step, (1.0, True), x[:n])
    return s


def hvp(parameters, X, label, v):
    def loss(parameters):
        return mlp_moons(*unpack_parameters(parameters), X, label)

    return jax.jvp(jax.grad(loss), (parameters,), (v,))[1]


def start():
    jax.jit(jax.value_and_grad(lambda x: x * x))(3.0)


def prepare(workload, arguments):
    f = function_of(sys.modules[__name__], workload)
    if workload.hvp:
        compiled = jax.jit(lambda *xs: (None, (f(*xs),)))
    else:
        static = [name for name in STEPS if name in workload.sizes and takes(f, name)]
        compiled = jax.jit(jax.value_and_grad(f, workload.argnums), static_argnames=static)

    def call(*xs):
        return jax.block_until_ready(compiled(*xs))

    return call, [x if isinstance(x, int) else jnp.array(x) for x in arguments]


def takes(f, name):
    return name in f.__code__.co_varnames[: f.__code__.co_argcount]


ENGINE = Engine("jax", prepare, as_is)
