"""What specialized code costs beside its own work: its guards at each call, and to be made once.

Run it as a script. For each function it prints how long its guards take at a call, and how long the
look at the result takes, for what is not finite (microseconds); how long its first call takes
(milliseconds, rules and NumPy loaded already), and how long it takes to be specialized, at its
second call: first with every rule that it uses met for the first time, then again. What is over
the limit is marked.
"""

import math
import timeit
from time import process_time

import numpy as np

from zygote_lite import value_and_grad
from zygote_lite._specialize import cache as _cache
from zygote_lite._specialize import entry as _entry

LIMIT = 1.0  # microseconds of an entry
MAKING_LIMIT = 50.0  # milliseconds
RATE = 0.5
NAMES = ["w1", "b1", "w2", "b2", "w3", "b3"]


def expression(x, y):
    """Compute an expression of two numbers."""
    return math.sin(x) * y + math.exp(-x * y)


def captured(x):
    """Compute with a global, an inner function and a module's constant."""
    return expression(x, RATE) * math.pi


def elementwise(x):
    """Compute entry by entry."""
    return np.sum(np.tanh(x) * x)


def twenty_lines(x, n):
    """Go through twenty lines of loops and branches."""
    s = 0.5
    t = 1.0
    for i in range(n):
        if s < 3:
            s = s + x * i
        else:
            s = s - x
        t = t * math.sin(s)
        t = t + s * s
    u = s * t
    v = math.exp(-u * u)
    w = u * v
    if w > 1:
        w = math.atan(w)
    elif w < -1:
        w = w * w
    a = w + s
    b = w - t
    c = a * b
    d = c / (1 + c * c)
    e = math.cos(d) * a
    return d + a + b * e


def network(parameters, x, labels):
    """Compute the loss of a network of three layers."""
    w1, b1, w2, b2, w3, b3 = parameters
    h = np.tanh(x @ w1 + b1)
    h = np.tanh(h @ w2 + b2)
    o = h @ w3 + b3
    o = o - np.max(o, axis=1, keepdims=True)
    logits = o - np.log(np.sum(np.exp(o), axis=1, keepdims=True))
    return -np.mean(logits[np.arange(len(x)), labels])


def network_of_dict(parameters, x, labels):
    """Compute the same loss, of a dict of parameters."""
    return network([*parameters.values()], x, labels)


def arguments():
    """Return the arguments of each function."""
    source = np.random.default_rng(0)
    shapes = [(2, 16), 16, (16, 16), 16, (16, 2), 2]
    parameters = [source.normal(size=shape) for shape in shapes]
    x, labels = source.normal(size=(100, 2)), source.integers(0, 2, 100)
    return {
        expression: (0.5, 0.6),
        captured: (0.5,),
        elementwise: (source.normal(size=100),),
        twenty_lines: (0.5, 3),
        network: (parameters, x, labels),
        network_of_dict: (dict(zip(NAMES, parameters, strict=True)), x, labels),
    }


def entry_cost(f, xs):
    """Return the microseconds that the guards take, and the look at the result."""
    (known,) = _cache.specializations_for(f)
    enter = known.made[0]
    space = enter.__globals__
    seen = {**space, "f": f, **{f"x{i}": x for i, x in enumerate(xs)}}
    for name, expression in space["holders"].items():
        seen[name] = eval(expression, seen)
    found = space["fast"](*xs, *(eval(e, seen) for e in space["outside"]))
    space = {**space, "fast": lambda *_: found}
    text = space["made_of"][0]
    times = []
    for body in (text, text[: text.index("    if ", text.index("except"))]):
        exec(body, space)
        times.append(microseconds(space["enter"], f, *xs))
    whole, guards = times
    return guards - microseconds(space["fast"], *xs), whole - guards


def microseconds(f, *xs):
    """Return how long a call takes at best."""
    count = 2000
    return min(timeit.repeat(lambda: f(*xs), number=count, repeat=40)) / count * 1e6


def marked(x, limit, unit):
    """Return a figure as text, with a mark where it is over the limit."""
    return f"{x:8.2f} {unit}{' !' if x > limit else '  '}"


def main():
    """Print the table."""
    value_and_grad(lambda x: x * x)(1.0)  # loads the rules
    print(f"{'':16}{'guards':>12}{'result':>12}{'first call':>15}{'made':>13}{'again':>13}")
    for f, xs in arguments().items():
        run = value_and_grad(f)
        times = []
        for _ in (1, 2):
            start = process_time()
            run(*xs)
            times.append((process_time() - start) * 1e3)
        start = process_time()
        active = tuple([i == 0 for i in range(len(xs))])
        _entry.entered(f, xs, active, single=True)
        times.append((process_time() - start) * 1e3)
        figures = [marked(t, MAKING_LIMIT, "ms") for t in times]
        costs = [marked(t, LIMIT, "us") for t in entry_cost(f, xs)]
        print(f"{f.__name__:16}{''.join([*costs, *figures])}")


if __name__ == "__main__":
    main()
