"""Networks of arrays: two perceptrons, a recurrent one, a logistic regression, a Hessian."""

from itertools import pairwise

import numpy as np

from benchmarks.workload import Workload


def moons(w1, b1, w2, b2, w3, b3, X, label):
    h = np.tanh(X @ w1 + b1)
    h = np.tanh(h @ w2 + b2)
    z = h @ w3 + b3
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(label)), label])


def cross_entropy_by_hand(z, label):
    """Return the mean cross-entropy of the softmax of `z`, and its gradient by `z`."""
    n = len(label)
    picked = np.arange(n), label
    p = np.exp(z)
    total = p.sum(axis=1, keepdims=True)
    value = (np.log(total).sum() - z[picked].sum()) / n
    p /= total
    p[picked] -= 1.0
    p /= n
    return value, p


def moons_by_hand(w1, b1, w2, b2, w3, b3, X, label):
    h1 = np.tanh(X @ w1 + b1)
    h2 = np.tanh(h1 @ w2 + b2)
    z = h2 @ w3 + b3
    value, p = cross_entropy_by_hand(z, label)
    da2 = p @ w3.T
    da2 *= 1.0 - h2 * h2
    da1 = da2 @ w2.T
    da1 *= 1.0 - h1 * h1
    return value, (
        X.T @ da1,
        da1.sum(axis=0),
        h1.T @ da2,
        da2.sum(axis=0),
        h2.T @ p,
        p.sum(axis=0),
    )


def make_layers(rng, *widths):
    """Return the weights and biases of layers of the given widths."""
    parts = []
    for fan_in, fan_out in pairwise(widths):
        parts.append(rng.normal(size=(fan_in, fan_out)) / np.sqrt(fan_in))
        parts.append(rng.normal(size=fan_out) * 0.1)
    return parts


def make_moons(rng, batch):
    t = rng.uniform(0.0, np.pi, batch)
    label = rng.integers(0, 2, batch)
    X = np.stack([np.cos(t) + label, np.sin(t) * (1 - 2 * label) + 0.5 * label], axis=1)
    return (*make_layers(rng, 2, 16, 16, 2), X + rng.normal(size=(batch, 2)) * 0.1, label)


MOONS = Workload(
    name="mlp_moons",
    title="MLP 2-16-16-2, batch 100",
    f=moons,
    by_hand=moons_by_hand,
    arguments=make_moons,
    argnums=(0, 1, 2, 3, 4, 5),
    sizes={"batch": 100},
    small={"batch": 4},
    goal=1.2,
)


def mnist(w1, b1, w2, b2, w3, b3, X, label):
    h = np.maximum(X @ w1 + b1, 0.0)
    h = np.maximum(h @ w2 + b2, 0.0)
    z = h @ w3 + b3
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(label)), label])


def mnist_by_hand(w1, b1, w2, b2, w3, b3, X, label):
    h1 = X @ w1
    h1 += b1
    np.maximum(h1, 0.0, out=h1)
    h2 = h1 @ w2
    h2 += b2
    np.maximum(h2, 0.0, out=h2)
    z = h2 @ w3
    z += b3
    z -= z.max(axis=1, keepdims=True)
    value, p = cross_entropy_by_hand(z, label)
    da2 = p @ w3.T
    da2 *= h2 > 0.0
    da1 = da2 @ w2.T
    da1 *= h1 > 0.0
    return value, (
        X.T @ da1,
        da1.sum(axis=0),
        h1.T @ da2,
        da2.sum(axis=0),
        h2.T @ p,
        p.sum(axis=0),
    )


def make_mnist(rng, pixels, hidden1, hidden2, batch):
    layers = make_layers(rng, pixels, hidden1, hidden2, 10)
    return (*layers, rng.uniform(size=(batch, pixels)), rng.integers(0, 10, batch))


MNIST = Workload(
    name="mlp_mnist",
    title="MLP 784-512-256-10, batch 128",
    f=mnist,
    by_hand=mnist_by_hand,
    arguments=make_mnist,
    argnums=(0, 1, 2, 3, 4, 5),
    sizes={"pixels": 784, "hidden1": 512, "hidden2": 256, "batch": 128},
    small={"pixels": 7, "hidden1": 5, "hidden2": 4, "batch": 6},
    goal=1.1,
)


def rnn(W, U, b, X, h):
    for x in X:
        h = np.tanh(x @ U + h @ W + b)
    return np.mean(h * h)


def rnn_by_hand(W, U, b, X, h):
    states = [h]
    for x in X:
        h = x @ U
        h += states[-1] @ W
        h += b
        np.tanh(h, out=h)
        states.append(h)
    value = np.vdot(h, h) / h.size
    dh = h * (2.0 / h.size)
    dW, dU, db = np.zeros_like(W), np.zeros_like(U), np.zeros_like(b)
    for x in X[::-1]:
        h = states.pop()
        dh *= 1.0 - h * h
        dW += states[-1].T @ dh
        dU += x.T @ dh
        db += dh.sum(axis=0)
        dh = dh @ W.T
    return value, (dW, dU, db)


def rnn_hoisted(W, U, b, X, h):
    """Take out of the loop what need not be in it: one product for all steps."""
    steps, batch, inputs = X.shape
    flat = X.reshape(-1, inputs)
    Z = flat @ U
    Z += b
    Z = Z.reshape(steps, batch, -1)
    states = np.empty((steps + 1, *h.shape))
    states[0] = h
    for z, before, after in zip(Z, states, states[1:]):
        z += before @ W
        np.tanh(z, out=after)
    h = states[-1]
    value = np.vdot(h, h) / h.size
    dh = h * (2.0 / h.size)
    dZ = 1.0 - states[1:] * states[1:]
    for dz in dZ[::-1]:
        dz *= dh
        dh = dz @ W.T
    dZ = dZ.reshape(steps * batch, -1)
    dW = states[:-1].reshape(steps * batch, -1).T @ dZ
    return value, (dW, flat.T @ dZ, dZ.sum(axis=0))


def make_rnn(rng, steps, batch, hidden):
    W, U = (rng.normal(size=(hidden, hidden)) / np.sqrt(hidden) for _ in range(2))
    X = rng.normal(size=(steps, batch, hidden))
    return W, U, rng.normal(size=hidden) * 0.1, X, np.zeros((batch, hidden))


RNN = Workload(
    name="rnn",
    title="RNN, 50 steps, 16x32",
    f=rnn,
    by_hand=rnn_by_hand,
    rewritten=rnn_hoisted,
    arguments=make_rnn,
    argnums=(0, 1, 2),
    sizes={"steps": 50, "batch": 16, "hidden": 32},
    small={"steps": 4, "batch": 2, "hidden": 3},
    goal=1.3,
)


def logistic(w, b, X, sign):
    return np.mean(np.logaddexp(0.0, -sign * (X @ w + b)))


def logistic_by_hand(w, b, X, sign):
    m = X @ w
    m += b
    m *= sign
    e = np.exp(-np.abs(m))
    value = np.mean(np.log1p(e) - np.minimum(m, 0.0))
    # the logistic function of -m, from an exponential that does not overflow
    d = np.where(m > 0.0, e, 1.0)
    e += 1.0
    d /= e
    d *= sign
    d /= -len(sign)
    return value, (d @ X, d.sum())


def make_logistic(rng, rows, columns):
    X, w = rng.normal(size=(rows, columns)), rng.normal(size=columns) / np.sqrt(columns)
    return w, 0.1, X, np.where(X @ w + rng.normal(size=rows) > 0.0, 1.0, -1.0)


LOGISTIC = Workload(
    name="logistic",
    title="logistic regression, 1e5 x 50",
    f=logistic,
    by_hand=logistic_by_hand,
    arguments=make_logistic,
    argnums=(0, 1),
    sizes={"rows": 100_000, "columns": 50},
    small={"rows": 8, "columns": 3},
)

SHAPES = ((2, 16), (16,), (16, 16), (16,), (16, 2), (2,))


def unpack(flat):
    """Return the weights and biases in one vector, as views of it."""
    parts, start = [], 0
    for shape in SHAPES:
        stop = start + int(np.prod(shape))
        parts.append(flat[start:stop].reshape(shape))
        start = stop
    return parts


def flat_moons(parameters, X, label):
    w1, b1, w2, b2, w3, b3 = unpack(parameters)
    return moons(w1, b1, w2, b2, w3, b3, X, label)


def hvp_by_hand(parameters, X, label, v):
    """Differentiate the gradient forwards, along v (Pearlmutter's method)."""
    w1, b1, w2, b2, w3, b3 = unpack(parameters)
    v1, c1, v2, c2, v3, c3 = unpack(v)
    n = len(label)
    h1 = np.tanh(X @ w1 + b1)
    slope1 = 1.0 - h1 * h1
    th1 = slope1 * (X @ v1 + c1)
    h2 = np.tanh(h1 @ w2 + b2)
    slope2 = 1.0 - h2 * h2
    th2 = slope2 * (th1 @ w2 + h1 @ v2 + c2)
    tz = th2 @ w3 + h2 @ v3 + c3
    p = np.exp(h2 @ w3 + b3)
    p /= p.sum(axis=1, keepdims=True)
    p /= n
    tp = p * tz
    tp -= p * (n * tp.sum(axis=1, keepdims=True))
    p[np.arange(n), label] -= 1.0 / n
    dh2 = p @ w3.T
    da2 = dh2 * slope2
    ta2 = (tp @ w3.T + p @ v3.T) * slope2 - 2.0 * dh2 * h2 * th2
    dh1 = da2 @ w2.T
    ta1 = (ta2 @ w2.T + da2 @ v2.T) * slope1 - 2.0 * dh1 * h1 * th1
    product = np.empty_like(parameters)
    o1, o2, o3, o4, o5, o6 = unpack(product)
    np.matmul(X.T, ta1, out=o1)
    ta1.sum(axis=0, out=o2)
    np.add(th1.T @ da2, h1.T @ ta2, out=o3)
    ta2.sum(axis=0, out=o4)
    np.add(th2.T @ p, h2.T @ tp, out=o5)
    tp.sum(axis=0, out=o6)
    return None, (product,)


def make_hvp(rng, batch):
    *layers, X, label = make_moons(rng, batch)
    parameters = np.concatenate([part.ravel() for part in layers])
    return parameters, X, label, rng.normal(size=parameters.shape)


HVP = Workload(
    name="hvp",
    title="Hessian-vector product, MLP 2-16-16-2",
    f=flat_moons,
    by_hand=hvp_by_hand,
    arguments=make_hvp,
    argnums=(0,),
    sizes={"batch": 100},
    small={"batch": 4},
    hvp=True,
)
