"""Objects: a network of layers, a Kalman filter with a state, bodies that attract each other."""

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.workload import Workload
from benchmarks.workloads.networks import cross_entropy_by_hand, make_layers


class Dense:
    """A layer of a network."""

    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return np.tanh(x @ self.w + self.b)


class Network:
    """Layers, one after the other."""

    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def layers(model, X, label):
    z = model(X)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(label)), label])


def layers_by_hand(model, X, label):
    states = [X]
    for layer in model.layers:
        h = states[-1] @ layer.w
        h += layer.b
        states.append(np.tanh(h, out=h))
    z = states[-1]
    value, p = cross_entropy_by_hand(z, label)
    found = []
    for layer in model.layers[::-1]:
        h = states.pop()
        p *= 1.0 - h * h
        found.append({"w": states[-1].T @ p, "b": p.sum(axis=0)})
        if len(states) > 1:
            p = p @ layer.w.T
    return value, ({"layers": found[::-1]},)


def make_network(rng, batch):
    parts = make_layers(rng, 2, 16, 16, 2)
    model = Network([Dense(w, b) for w, b in zip(parts[::2], parts[1::2])])
    return model, rng.normal(size=(batch, 2)), rng.integers(0, 2, batch)


LAYERS = Workload(
    name="layers",
    title="Network of layer objects, 2-16-16-2, batch 100",
    f=layers,
    by_hand=layers_by_hand,
    arguments=make_network,
    argnums=(0,),
    sizes={"batch": 100},
    small={"batch": 4},
    goal=2.0,
)


class Kalman:
    """A Kalman filter of a position and a velocity."""

    def __init__(self, q, r):
        self.x = np.zeros(2)
        self.p = np.eye(2)
        self.q = q
        self.r = r

    def predict(self, move):
        self.x = move @ self.x
        self.p = move @ self.p @ move.T + self.q * np.eye(2)

    def update(self, z, h):
        s = h @ self.p @ h + self.r
        gain = self.p @ h / s
        error = z - h @ self.x
        self.x = self.x + gain * error
        self.p = self.p - np.outer(gain, h @ self.p)
        return 0.5 * (error * error / s + np.log(s))


def kalman(q, r, zs, move, h):
    state = Kalman(q, r)
    total = 0.0
    for z in zs:
        state.predict(move)
        total = total + state.update(z, h)
    return total


def kalman_by_hand(q, r, zs, move, h):
    x, p, one = np.zeros(2), np.eye(2), np.eye(2)
    tape, total = [], 0.0
    for z in zs:
        x = move @ x
        p = move @ p @ move.T + q * one
        hp = h @ p
        s = hp @ h + r
        gain = p @ h / s
        error = z - h @ x
        tape.append((hp, s, gain, error))
        x = x + gain * error
        p = p - np.outer(gain, hp)
        total = total + 0.5 * (error * error / s + np.log(s))
    dx, dp, dq, dr = np.zeros(2), np.zeros((2, 2)), 0.0, 0.0
    for hp, s, gain, error in reversed(tape):
        dgain = dx * error - dp @ hp
        ds = 0.5 / s - 0.5 * (error / s) ** 2 - dgain @ gain / s
        dhp = ds * h - gain @ dp
        dp = dp + np.outer(h, dhp) + np.outer(dgain / s, h)
        dx = dx - (dx @ gain + error / s) * h
        dr += ds
        dq += dp[0, 0] + dp[1, 1]
        dx = move.T @ dx
        dp = move.T @ dp @ move
    return total, (float(dq), float(dr))


def make_kalman(rng, steps):
    move = np.array([[1.0, 0.1], [0.0, 1.0]])
    return 0.1, 0.5, rng.normal(size=steps), move, np.array([1.0, 0.0])


KALMAN = Workload(
    name="kalman",
    title="Kalman filter class, 50 steps",
    f=kalman,
    by_hand=kalman_by_hand,
    arguments=make_kalman,
    argnums=(0, 1),
    sizes={"steps": 50},
    small={"steps": 4},
    goal=2.0,
)


@dataclass
class Body:
    """A body of the plane."""

    x: float
    y: float
    vx: float
    vy: float
    m: float = 1.0


STEP = 0.01


def bodies(x, v, steps):
    them = [Body(0.0, 0.0, 0.0, 0.0, 3.0), Body(x, 0.0, 0.0, v), Body(-2.0 * x, 0.5, 0.2, -v)]
    for _ in range(steps):
        for a in them:
            for b in them:
                if a is not b:
                    dx, dy = b.x - a.x, b.y - a.y
                    r2 = dx * dx + dy * dy
                    f = b.m / (r2 * math.sqrt(r2)) * STEP
                    a.vx += f * dx
                    a.vy += f * dy
        for a in them:
            a.x += STEP * a.vx
            a.y += STEP * a.vy
    return them[0].x * them[1].y + them[2].x


def bodies_by_hand(x, v, steps):
    masses = (3.0, 1.0, 1.0)
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    xs, ys = [0.0, x, -2.0 * x], [0.0, 0.0, 0.5]
    us, vs = [0.0, 0.0, 0.2], [0.0, v, -v]
    tape = []
    for _ in range(steps):
        for i, j in pairs:
            dx, dy = xs[j] - xs[i], ys[j] - ys[i]
            r2 = dx * dx + dy * dy
            f = masses[j] / (r2 * math.sqrt(r2)) * STEP
            tape.append((i, j, dx, dy, r2, f))
            us[i] += f * dx
            vs[i] += f * dy
        for i in range(3):
            xs[i] += STEP * us[i]
            ys[i] += STEP * vs[i]
    value = xs[0] * ys[1] + xs[2]
    gx, gy, gu, gv = [ys[1], 0.0, 1.0], [0.0, xs[0], 0.0], [0.0] * 3, [0.0] * 3
    for _ in range(steps):
        for i in range(3):
            gu[i] += STEP * gx[i]
            gv[i] += STEP * gy[i]
        for _ in pairs:
            i, j, dx, dy, r2, f = tape.pop()
            du, dv = gu[i], gv[i]
            dr2 = -3.0 * f / r2 * (du * dx + dv * dy)
            ddx = f * du + dr2 * dx
            ddy = f * dv + dr2 * dy
            gx[j] += ddx
            gx[i] -= ddx
            gy[j] += ddy
            gy[i] -= ddy
    return value, (gx[1] - 2.0 * gx[2], gv[1] - gv[2])


BODIES = Workload(
    name="bodies",
    title="N-body of small objects, 3 bodies, 100 steps",
    f=bodies,
    by_hand=bodies_by_hand,
    arguments=lambda rng, steps: (1.0, 1.5, steps),
    argnums=(0, 1),
    sizes={"steps": 100},
    small={"steps": 4},
    goal=2.0,
)
