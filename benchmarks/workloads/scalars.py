"""Python floats: an expression, loops, a network of lists, a differential equation."""

import math

from benchmarks.workload import Workload


def expression(x, y):
    return math.sin(x) * math.exp(y) + math.log(x * x + 1.0) / math.cos(y)


def expression_by_hand(x, y):
    sin_x, exp_y, cos_y = math.sin(x), math.exp(y), math.cos(y)
    u = x * x + 1.0
    a, b = sin_x * exp_y, math.log(u) / cos_y
    dx = math.cos(x) * exp_y + 2.0 * x / (u * cos_y)
    dy = a + b * math.sin(y) / cos_y
    return a + b, (dx, dy)


EXPRESSION = Workload(
    name="scalar_expression",
    title="scalar expression (math)",
    f=expression,
    by_hand=expression_by_hand,
    arguments=lambda rng: (0.6, 1.3),
    argnums=(0, 1),
    compiles=True,
    goal=3.5,
)


def loop(x, a, b, steps):
    for _ in range(steps):
        x = a * math.sin(x) + b
    return x


def loop_by_hand(x, a, b, steps):
    tape = []
    for _ in range(steps):
        tape.append(x)
        x = a * math.sin(x) + b
    dx, da, db = 1.0, 0.0, 0.0
    for t in reversed(tape):
        da += dx * math.sin(t)
        db += dx
        dx *= a * math.cos(t)
    return x, (dx, da, db)


def loop_forward(x, a, b, steps):
    """Differentiate forwards: three tangents, and no tape."""
    dx, da, db = 1.0, 0.0, 0.0
    for _ in range(steps):
        sin_x, slope = math.sin(x), a * math.cos(x)
        dx *= slope
        da = slope * da + sin_x
        db = slope * db + 1.0
        x = a * sin_x + b
    return x, (dx, da, db)


LOOP = Workload(
    name="scalar_loop",
    title="scalar loop, 200 steps",
    f=loop,
    by_hand=loop_by_hand,
    rewritten=loop_forward,
    arguments=lambda rng, steps: (0.5, 1.0, 0.001, steps),
    argnums=(0, 1, 2),
    sizes={"steps": 200},
    small={"steps": 20},
    compiles=True,
    goal=1.8,
    compiled_goal=0.1,
)


def layer(w, b, x):
    out = []
    for row, bias in zip(w, b):
        total = bias
        for weight, value in zip(row, x):
            total = total + weight * value
        out.append(math.tanh(total))
    return out


def scalar_mlp(w1, b1, w2, b2, w3, b3, x, target):
    h = layer(w1, b1, x)
    h = layer(w2, b2, h)
    y = layer(w3, b3, h)
    return (y[0] - target) ** 2


def scalar_mlp_by_hand(w1, b1, w2, b2, w3, b3, x, target):
    h1 = layer(w1, b1, x)
    h2 = layer(w2, b2, h1)
    y = layer(w3, b3, h2)
    error = y[0] - target
    dw3, db3, dh2 = layer_reverse(w3, h2, y, [2.0 * error])
    dw2, db2, dh1 = layer_reverse(w2, h1, h2, dh2)
    dtotal = [d * (1.0 - t * t) for d, t in zip(dh1, h1)]
    dw1 = [[d * value for value in x] for d in dtotal]
    return error * error, (dw1, dtotal, dw2, db2, dw3, db3)


def layer_reverse(w, x, y, dy):
    dtotal = [d * (1.0 - t * t) for d, t in zip(dy, y)]
    dw = [[d * value for value in x] for d in dtotal]
    dx = [0.0] * len(x)
    for row, d in zip(w, dtotal):
        for j, weight in enumerate(row):
            dx[j] += weight * d
    return dw, dtotal, dx


def make_scalar_mlp(rng, hidden):
    widths = [(hidden, 3), (hidden, hidden), (1, hidden)]
    layers = [(rng.uniform(-1, 1, s).tolist(), rng.uniform(-1, 1, s[0]).tolist()) for s in widths]
    return (*[part for pair in layers for part in pair], [2.0, 3.0, -1.0], 1.0)


SCALAR_MLP = Workload(
    name="scalar_mlp",
    title="scalar MLP 3-4-4-1, lists of floats",
    f=scalar_mlp,
    by_hand=scalar_mlp_by_hand,
    arguments=make_scalar_mlp,
    argnums=(0, 1, 2, 3, 4, 5),
    sizes={"hidden": 4},
    small={"hidden": 2},
    compiles=True,
)


def rates(x, y, alpha, beta, gamma, delta):
    return alpha * x - beta * x * y, delta * x * y - gamma * y


def lotka_volterra(alpha, beta, gamma, delta, x, y, dt, steps):
    for _ in range(steps):
        kx1, ky1 = rates(x, y, alpha, beta, gamma, delta)
        kx2, ky2 = rates(x + dt / 2 * kx1, y + dt / 2 * ky1, alpha, beta, gamma, delta)
        kx3, ky3 = rates(x + dt / 2 * kx2, y + dt / 2 * ky2, alpha, beta, gamma, delta)
        kx4, ky4 = rates(x + dt * kx3, y + dt * ky3, alpha, beta, gamma, delta)
        x = x + dt / 6 * (kx1 + 2 * kx2 + 2 * kx3 + kx4)
        y = y + dt / 6 * (ky1 + 2 * ky2 + 2 * ky3 + ky4)
    return x * x + y * y


def lotka_volterra_by_hand(alpha, beta, gamma, delta, x, y, dt, steps):
    half, third, sixth = dt / 2, dt / 3, dt / 6
    tape = []
    for _ in range(steps):
        xy = x * y
        kx, ky = alpha * x - beta * xy, delta * xy - gamma * y
        x2, y2 = x + half * kx, y + half * ky
        xy2 = x2 * y2
        kx2, ky2 = alpha * x2 - beta * xy2, delta * xy2 - gamma * y2
        x3, y3 = x + half * kx2, y + half * ky2
        xy3 = x3 * y3
        kx3, ky3 = alpha * x3 - beta * xy3, delta * xy3 - gamma * y3
        x4, y4 = x + dt * kx3, y + dt * ky3
        xy4 = x4 * y4
        tape.append((x, y, x2, y2, x3, y3, x4, y4))
        x += sixth * (kx + 2 * kx2 + 2 * kx3 + alpha * x4 - beta * xy4)
        y += sixth * (ky + 2 * ky2 + 2 * ky3 + delta * xy4 - gamma * y4)
    value = x * x + y * y
    # dx, dy: of the state; ax, ay: of the rates of a stage; gx, gy: of the state of a stage
    dx, dy = 2 * x, 2 * y
    dalpha = dbeta = dgamma = ddelta = 0.0
    for x, y, x2, y2, x3, y3, x4, y4 in tape[::-1]:
        ax, ay = sixth * dx, sixth * dy
        bx, by = third * dx, third * dy
        u, v = ax * x4, ay * y4
        dalpha += u
        dbeta += u * y4
        dgamma += v
        ddelta += v * x4
        cross = delta * ay - beta * ax
        gx, gy = alpha * ax + cross * y4, cross * x4 - gamma * ay
        dx += gx
        dy += gy
        ax3, ay3 = bx + dt * gx, by + dt * gy
        u, v = ax3 * x3, ay3 * y3
        dalpha += u
        dbeta += u * y3
        dgamma += v
        ddelta += v * x3
        cross = delta * ay3 - beta * ax3
        gx, gy = alpha * ax3 + cross * y3, cross * x3 - gamma * ay3
        dx += gx
        dy += gy
        ax2, ay2 = bx + half * gx, by + half * gy
        u, v = ax2 * x2, ay2 * y2
        dalpha += u
        dbeta += u * y2
        dgamma += v
        ddelta += v * x2
        cross = delta * ay2 - beta * ax2
        gx, gy = alpha * ax2 + cross * y2, cross * x2 - gamma * ay2
        dx += gx
        dy += gy
        ax += half * gx
        ay += half * gy
        u, v = ax * x, ay * y
        dalpha += u
        dbeta += u * y
        dgamma += v
        ddelta += v * x
        cross = delta * ay - beta * ax
        dx += alpha * ax + cross * y
        dy += cross * x - gamma * ay
    return value, (dalpha, -dbeta, -dgamma, ddelta)


LOTKA_VOLTERRA = Workload(
    name="lotka_volterra",
    title="Lotka-Volterra, Runge-Kutta, 100 steps",
    f=lotka_volterra,
    by_hand=lotka_volterra_by_hand,
    arguments=lambda rng, steps: (1.5, 1.0, 3.0, 1.0, 1.0, 1.0, 0.05, steps),
    argnums=(0, 1, 2, 3),
    sizes={"steps": 100},
    small={"steps": 5},
    compiles=True,
)


def misfit(a, b, xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        try:
            r = math.log(a * x) - math.log(b * y)
            total = total + r * r / (1.0 + r * r)
        except ValueError:
            continue
    return total


def misfit_by_hand(a, b, xs, ys):
    total, tape = 0.0, []
    for x, y in zip(xs, ys):
        try:
            r = math.log(a * x) - math.log(b * y)
        except ValueError:
            continue
        square = r * r
        total += square / (1.0 + square)
        tape.append((r, square))
    slope = 0.0
    for r, square in tape:
        slope += 2.0 * r / (1.0 + square) ** 2
    return total, (slope / a, -slope / b)


LOOP_WITH_TRY = Workload(
    name="loop_with_try",
    title="loop with `try`, 200 entries",
    f=misfit,
    by_hand=misfit_by_hand,
    arguments=lambda rng, entries: (
        1.3, 0.7, rng.uniform(0.5, 2.0, entries).tolist(), rng.uniform(0.5, 2.0, entries).tolist()
    ),
    argnums=(0, 1),
    sizes={"entries": 200},
    small={"entries": 10},
)  # fmt: skip
