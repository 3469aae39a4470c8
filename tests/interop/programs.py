"""Whole programs of NumPy, as people write them: arrays in place, loops, branches, dicts."""

import numpy as np

U = np.array([0.0, 0.4, 1.0, 0.7, 0.2, -0.3])
V = np.array([0.3, -0.7, 1.1])
W = np.array([[0.2, -0.4, 0.1], [0.5, 0.3, -0.6]])


def heat(u0, k, steps=4):
    u = np.zeros((steps + 1, u0.size))
    u[0] = u0
    for t in range(steps):
        u[t + 1] = u[t]
        u[t + 1, 1:-1] += k * (u[t, 2:] - 2 * u[t, 1:-1] + u[t, :-2])
    return u[steps]


def pendulum(angle, length):
    speed, path = 0.0, np.empty(8)
    for i in range(8):
        speed = speed - 0.1 * 9.81 / length * np.sin(angle)
        angle = angle + 0.1 * speed
        path[i] = angle
    return path


def population(n, r):
    history = []
    for _ in range(5):
        n = n + r * n * (1.0 - n)
        history.append(n)
    return sum(h * h for h in history)


def recurrent(w, x):
    h = np.zeros(w.shape[1])
    for i in range(x.size):
        h = np.tanh(h + w[0] * x[i]) + w[1] * h
    return h


def clipped(x, limit):
    out = x.copy()
    for i in range(out.size):
        if out[i] > limit:
            out[i] = limit + 0.1 * (out[i] - limit)
    return out * out


def newton_root(a, c):
    x = 1.0
    for _ in range(6):
        x = x - (x**3 + a * x - c) / (3 * x * x + a)
    return x


def gravity(x, m):
    force = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(i):
            d = x[i] - x[j]
            pull = m[i] * m[j] * d / (0.1 + d @ d) ** 1.5
            force[i] -= pull
            force[j] += pull
    return force


def likelihood(mean, scale):
    data = np.array([0.2, -0.4, 0.9])
    z = (data - mean) / scale
    return -0.5 * np.sum(z * z) - data.size * np.log(scale)


def layers(w, x):
    parameters = {"first": w, "second": w[:, :2]}
    h = np.maximum(parameters["first"] @ x, -0.05)
    return parameters["second"].T @ h + np.sum(h)


def kernel(x, width):
    k = np.exp(-((x[:, None] - x[None, :]) ** 2) / width)
    k[np.diag_indices(x.size)] += 0.5
    return np.linalg.slogdet(k)[1]


PROGRAMS = [
    (heat, (U, 0.2)),
    (pendulum, (0.5, 1.3)),
    (population, (0.3, 1.7)),
    (recurrent, (W, U)),
    (clipped, (U, 0.6)),
    (newton_root, (1.2, 2.5)),
    (gravity, (np.arange(6.0).reshape(3, 2) ** 1.3 / 4, np.array([1.0, 2.0, 0.5]))),
    (likelihood, (0.3, 0.8)),
    (layers, (W, V)),
    (kernel, (V, 0.9)),
]
