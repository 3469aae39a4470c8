"""Random programs that take gradients of functions defined inside, and compute with them.

The functions have loops, branches, writes, lists and errors, and read variables from around them;
gradients, Jacobians, products with Hessians and pullbacks are taken in straight code, in loops and
in branches, of functions that take gradients themselves too.
"""

import math
import random

import numpy as np

from tests.zygote_lite.checks import texts
from zygote_lite import grad, gradient, hessian, hvp, jacobian, pullback, value_and_grad

SPACE = {
    "np": np, "math": math, "grad": grad, "gradient": gradient, "hessian": hessian, "hvp": hvp,
    "jacobian": jacobian, "pullback": pullback, "value_and_grad": value_and_grad,
}  # fmt: skip

EXPRESSIONS = (
    "t * y", "math.sin(t) + y", "y + np.sum(u * v)", "np.tanh(y * a)", "y * 0.5 + t * s",
    "np.sum(np.sin(u)) * y", "y / (1.0 + t * t)", "y + u[0] * u[-1]", "np.max(u) * t + y",
    "y * a - t", "np.sum(np.where(u > 0.6, u * u, v)) + y", "y + np.dot(u, w)", "abs(t) * y",
    "math.exp(-t * t) + y * 0.1", "np.sum(u[1:] * u[:-1]) + y * t", "y + math.sqrt(abs(u[0]))",
    "y + u @ (np.outer(u, v) @ w)", "y + np.linalg.norm(u + 1.0)", "y + np.mean(u) * len(u)",
)  # fmt: skip


def program(seed):
    """Return the text of the program of a number."""
    source = random.Random(seed)
    lines = ["def f(a, v, n):", "    s, w = a * 0.5, v * 0.3"]
    for k in range(source.choice((1, 1, 2))):
        lines += inner(source, f"g{k}", [f"g{j}" for j in range(k)])
        for _ in range(source.choice((1, 1, 2))):
            lines += use(source, f"g{k}", 1)
    return "\n".join([*lines, "    return s + np.sum(w * w)", ""])


def inner(source, name, others):
    """Return the lines of a function of a number and an array."""
    lines = [f"    def {name}(t, u):", "        y = t"]
    for _ in range(source.choice((1, 1, 2))):
        lines += [f"        {line}" for line in statement(source)]
    if others and source.random() < 0.4:
        (other,) = others
        lines.append(f"        y = y + grad({other})(t * y, u) * t")
    return [*lines, "        return y * 1.0"]


def statement(source):
    """Return the lines of a statement of the function."""
    e, e2 = source.choice(EXPRESSIONS), source.choice(EXPRESSIONS)
    c = source.choice(("0.2", "0.7", "a", "s"))
    count = source.choice(("2", "3", "n", "n % 3"))
    return source.choice((
        [f"y = {e}"],
        [f"y = {e}"],
        [f"if y > {c}:", f"    y = {e}", "else:", f"    y = {e2}"],
        [f"if t > {c}:", f"    return {e}"],
        [f"for i in range({count}):", f"    y = {e} * 0.5 + i"],
        [f"for i in range({count}):", f"    y = {e} * 0.5", f"    if y > {c}:", "        break",
         f"    y = {e2} * 0.3"],
        [f"for i in range({count}):", "    for j in range(i):", f"        y = {e} * 0.3",
         f"    y = y + {c}"],
        ["k = 0", f"while k < {count} and y < 3.0:", f"    y = {e} * 0.7 + 0.1", "    k = k + 1"],
        ["z = np.zeros(len(u))", "for i in range(len(u)):", "    z[i] = u[i] * t",
         "    if i > 0:", f"        z[i] += z[i - 1] * {c}", "y = y + np.sum(z * z)"],
        ["z = np.zeros(3)", f"z[0] = {e}", "z[1] = z[0] * t", "z *= 0.5", "y = y + np.sum(z)"],
        ["parts = [y, t]", f"parts.append({e})", f"parts[0] = parts[2] * {c}",
         "y = parts[0] + parts[1]"],
        ["out = []", f"for i in range({count}):", f"    out.append({e} * i)",
         "y = y + sum(out)"],
        ["try:", f"    y = {e}", f"    if y > {c}:", "        raise ValueError",
         "except ValueError:", f"    y = y * 0.5 + {e2}"],
        ["if y > 40.0:", "    raise ValueError('large')"],
        ["for x in u:", f"    y = y * 0.9 + x * {c}"],
        [f"p, q = {e}, {e2}", f"for i in range({count}):", "    p, q = q * 0.5, p + t",
         "y = p * q * 0.1"],
    ))  # fmt: skip


def use(source, name, depth):
    """Return the lines that differentiate the function."""
    indent = "    " * depth
    kind = source.random()
    if depth < 3 and kind < 0.2:
        body = use(source, name, depth + 1)
        return [f"{indent}for step in range({source.choice(('2', '3', 'n % 3'))}):", *body]
    if depth < 3 and kind < 0.35:
        test = source.choice(("n > 2", "s > 0.3", "a > 0.0"))
        then, orelse = use(source, name, depth + 1), use(source, name, depth + 1)
        return [f"{indent}if {test}:", *then, f"{indent}else:", *orelse]
    c = source.choice(("0.1", "-0.2", "a"))
    lines = source.choice((
        [f"s = s - {c} * np.tanh(grad({name})(s, w))"],
        [f"w = np.tanh(w - {c} * grad({name}, 1)(s, w))"],
        [f"d, e = gradient({name}, s, w)", f"s = s + {c} * math.tanh(d)",
         "w = w if e is None else w + w * np.tanh(e)"],
        [f"y, (d, e) = value_and_grad({name}, (0, 1))(s, w)", f"s = np.tanh(y * {c}) + np.tanh(d)",
         "w = w if e is None else w + np.tanh(e)"],
        [f"s = s + np.tanh(grad(grad(lambda t: {name}(t, w)))(s))"],
        [f"w = np.tanh(hvp({name}, 1)(s, w, v))"],
        [f"w = w + np.tanh(hvp(lambda u: {name}(s, u))(w, w * {c}))"],
        [f"J = jacobian(lambda u: u * {name}(s, u))(w)", "w = np.tanh(J @ v)"],
        [f"H = hessian(lambda u: {name}(s, u) + np.sum(u ** 3))(w)", "w = np.tanh(H @ w + v)"],
        [f"y, back = pullback({name}, s, w)", "_, d, e = back(y)", "s = s + math.tanh(d)",
         "w = w if e is None else w + np.tanh(e)"],
        [f"y, back = pullback(lambda u: u * {name}(s, u), w)", f"w = np.tanh(back(v)[1] * {c})"],
        ["q = {'t': s, 'u': [w, v]}",
         f"g = grad(lambda p: {name}(p['t'], p['u'][0]) * np.sum(p['u'][1]))(q)",
         "s = s - 0.1 * np.tanh(g['t'])", "w = w + np.tanh(g['u'][0] * g['u'][1])"],
        [f"s = s + math.tanh(grad(lambda t: t * {name}(s, w) + s * {name}(t, w))(s))"],
        [f"h = lambda t: t * grad({name})(t, w)", "s = np.tanh(grad(h)(s)) + s * 0.1"],
        [f"g = grad({name}, 1)(s, w)", "g[0] = s * g[0]", "g *= 0.5", "w = np.tanh(g + w)"],
    ))  # fmt: skip
    return [indent + line for line in lines]


def load(seed):
    """Return the function of a number."""
    return texts.load(program(seed), f"<program of gradients {seed}>", **SPACE)


def arguments(seed):
    """Return choices of arguments."""
    source = random.Random(seed)
    v = np.array([0.5, 0.7, -0.4])
    return [
        (0.6, v, 3),
        (-0.4, v * 1.5, 4),
        source.choice(((0.6, v[:1], 2), (0.3, v[:2], 1), (0.6, np.zeros(0), 3))),
        source.choice(((np.float64(0.6), v, 2), (2, v, 3), (0.0, v * 0.0, 3))),
    ]
