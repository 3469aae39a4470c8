"""Higher order: gradients of gradients, Jacobians, Hessians, perturbation confusion."""

import math
import statistics

import numpy as np

from tests.zygote_lite.constructs.declare import declaring
from zygote_lite import grad, gradient, hvp, jacobian, pullback

CASES = []
works, refused = declaring(CASES)
V = np.array([0.5, 0.6])


@works("`grad(grad(f))`", (0.5,))
def second_derivative(x):
    return grad(lambda v: math.sin(v) * v)(x) * x


@works("`grad(grad(grad(f)))`", (0.5,))
def third_derivative(x):
    return grad(grad(lambda v: v**5 + math.exp(v)))(x)


@works("perturbation confusion: `x * grad(y -> x + y)(1)`", (0.5,), expected=lambda x: (1.0,))
def perturbation_confusion(x):
    return x * grad(lambda y: x + y)(1.0)


@works("perturbation confusion, nested", (0.5,), expected=lambda x: (2 * x,))
def perturbation_confusion_product(x):
    return x * grad(lambda y: x * y)(2.0)


@works("gradient of a gradient through a loop", (0.5,))
def second_through_loop(x):
    def f(v):
        y = v
        for i in range(3):
            y = y * v + i
        return y

    return grad(f)(x) * x


@works("gradient of a gradient through a branch", (0.5,), (-0.5,))
def second_through_branch(x):
    def f(v):
        if v > 0:
            return v**3
        return v**2 * x

    return grad(f)(x)


@works("gradient of a gradient through lists", (0.5,))
def second_through_lists(x):
    def f(v):
        a = [v]
        a.append(a[0] * v)
        a[0] = a[1] * v
        return a[0] * a[1]

    return grad(f)(x)


@works("gradient of a gradient of arrays", (V,))
def second_of_arrays(x):
    return np.sum(grad(lambda v: np.sum(np.sin(v) * v**2))(x) ** 2)


@works("gradient of a gradient through array writes", (V,))
def second_of_writes(x):
    def f(v):
        a = np.zeros(3)
        a[0] = v[0] * v[1]
        a[1] = a[0] * v[0]
        a *= v[1]
        return np.sum(a * a)

    return np.sum(grad(f)(x))


@works("`jacobian(grad(f))`, the Hessian", (V,))
def hessian(x):
    h = jacobian(grad(lambda v: np.sum(v**3) + v[0] * v[1] ** 2))(x)
    return np.sum(h @ h)


@works("Hessian-vector products", (V,))
def hessian_vector_product(x):
    hvp = grad(lambda v: np.sum(grad(lambda w: np.sum(w**3) * w[0])(v) * np.array([1.0, 2.0])))(x)
    return hvp[0] * hvp[1]


@works("`pullback` inside a differentiated function", (0.5,))
def inner_pullback(x):
    y, back = pullback(lambda a, b: a * b, x, x * x)
    _, da, db = back(x)
    return y * da + db


@works("`gradient` of a closure over an outer variable", (0.5, 0.6))
def inner_gradient_of_closure(x, k):
    (d,) = gradient(lambda v: k * v**2, x)
    return d * d * x


@works("a Newton step: gradient of an optimum", (0.5,))
def newton(x):
    w = 1.0
    for _ in range(3):
        f = lambda v: (v - x) ** 2 + 0.1 * v**4
        w = w - grad(f)(w) / grad(grad(f))(w)
    return w * w


@works("a gradient that is written in place", ([0.5, 0.6, 0.7],))
def gradient_written(p):
    x = np.array(p)

    def f(y):
        total = y[0] * y[1] * x[2]
        for v in y:
            total = total + v**3
        return total

    g = grad(f)(x)
    g[0] *= x[1]
    g /= np.sqrt(g @ g)
    (other,) = gradient(lambda y: np.sum(y**3 * x) if y[0] > 0 else 0.0, x)
    other[1:] += g[:2]
    rows = jacobian(lambda y: y * y[0])(x)
    rows[0] += other
    return g @ x + other @ x + np.sum(rows.T[1] * rows[2]) + rows[0] @ g


@works("`hvp` inside a differentiated function", ([0.5, 0.6, 0.7],))
def hvp_inside(p):
    x = np.array(p)

    def f(a, y):
        return np.sum(y**3 * x) * a + y[0] * y[1]

    h = hvp(f, 1)(x[0], x, x * x)
    h[0] *= x[2]
    return h @ x + hvp(lambda t: t**4 * x[0])(x[1], x[2])


@works("rules over lists of arrays, differentiated twice", ([0.5, 0.6, 0.7],))
def twice_over_lists(p):
    x = np.array(p)

    def f(y):
        chained = np.linalg.multi_dot([np.outer(y, y), np.outer(y, x), y])
        return np.sum(chained) + math.fsum([v * v * v for v in y]) * statistics.mean([*y])

    return grad(f)(x) @ x + np.sum(jacobian(grad(f))(x))


@works("gradient of a gradient through a generator made before what it reads is active", (0.7,))
def early_generator(x):
    def steps(box):
        for i in range(1, 4):
            yield box[0] * i

    def f(y):
        box = [1.0]
        generated, mapped, walked = steps(box), map(lambda i: box[0] * i, [1, 2]), iter(box)
        first = next(generated)
        box[0] = y * y
        return first * next(generated) * y + next(generated) + sum(mapped) * next(walked)

    return grad(f)(x) * x + grad(f)(2.0) * x
