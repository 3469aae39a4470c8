"""The order in which an expression is evaluated: what a later part changes, an earlier one kept."""

import math

import numpy as np

from tests.zygote_lite.constructs.declare import declaring

CASES = []
works, refused = declaring(CASES)


@works("an operand that a later one rebinds, by `nonlocal`", (1.3, 0.7))
def operand_is_rebound(x, y):
    def swap(z):
        nonlocal x
        x, z = z, x
        return z

    return x / (2.0 + math.sin(swap(y))) + x


@works("an operand that a later one rebinds, by `nonlocal` of a sibling", (1.3, 0.7))
def operand_is_rebound_by_a_sibling(x, y):
    def grow(z):
        nonlocal x
        x = x * z
        return z

    def product(z):
        return x * grow(z) + x

    return product(y) * x


@works("an argument that a later one rebinds, by `nonlocal`", (1.3, 0.7))
def argument_is_rebound(x, y):
    def grow(z):
        nonlocal x
        x = x * z
        return z

    def weigh(a, b, *more, c):
        return a + 2.0 * b + 3.0 * sum(more) + 4.0 * c

    p = (x,)
    return weigh(x, grow(y), c=x) + weigh(*p, x, grow(x), c=x) + max(x, grow(2.0), x)


@works("entries of a list, dict or slice that a later one rebinds", (1.3, 0.7))
def entry_is_rebound(x, y):
    def grow(z):
        nonlocal x
        x = x * z
        return z

    a = [x, grow(y), x]
    b = {"p": x, "q": grow(y), "r": x}
    c = np.array([x, grow(y), *[x, grow(2.0)], x])
    d = [x, lambda z=grow(2.0): z * x]
    x = d[0] * d[1]()
    return a[0] + 2.0 * a[2] + b["p"] * b["r"] + np.sum(c[int(grow(1.0)) :] * np.arange(4)) * x


@works("a variable that the right side of `+=` rebinds", (1.3, 0.7))
def augmented_is_rebound(x, y):
    def grow(z):
        nonlocal x
        x = x * z
        return z

    x += grow(y)
    x *= x + grow(y)
    return x


@works("the index or owner of a target that the right side rebinds", (1.3, 0.7))
def target_is_rebound(x, y):
    i, a, b = 0, [x, y], [y, x]

    def following():
        nonlocal i, a
        i, a = 1 - i, b
        return x * i

    a[i] += following()
    kept = a
    a[i] *= following()
    a[following() > 0] = i * y
    return kept[0] * kept[1] + b[0] + 2.0 * b[1] * a[i]


@works("an attribute's owner that the right side rebinds", (1.3, 0.7))
def owner_is_rebound(x, y):
    class Cell:
        def __init__(self, held):
            self.held = held

    p = first = Cell(x)
    q = Cell(y)

    def switch():
        nonlocal p
        p = q
        return 2.0

    p.held += switch() * x
    return first.held * q.held * p.held


@works("a function or method that its arguments rebind", (1.3, 0.7))
def function_is_rebound(x, y):
    f = math.sin

    def change(z):
        nonlocal f
        f = math.cos
        return z

    return f(change(x)) + f(y)


@works("a comparison whose later part rebinds", (1.3, 0.7))
def comparison_is_rebound(x, y):
    def grow(z):
        nonlocal x
        x = x * z
        return z

    return x * y if x < 1.0 + grow(y) < 3.0 else x - y


@works("an operand that a property or an operator rebinds", (1.3, 0.7))
def operand_is_rebound_by_a_hook(x, y):
    class Counting:
        @property
        def twice(self):
            nonlocal y
            y = y * 2.0
            return x

        def __add__(self, other):
            nonlocal y
            y = y * other
            return y

    c = Counting()
    return y * c.twice + y * (c + x) + y


@works("an operand that the caller of a generator rebinds", (1.3, 0.7))
def operand_is_rebound_while_waiting(x, y):
    setters = []

    def generate():
        w = x

        def change(z):
            nonlocal w
            w = z

        setters.append(change)
        yield w * (yield w) + w

    steps = generate()
    next(steps)
    setters[0](y)
    return steps.send(x * y)


RATE = 2.0


def _quicken(to):
    global RATE
    RATE = to
    return to


@works("a global that a call rebinds, which no gradient passes through", (1.3, 0.7))
def global_is_rebound(x, y):
    _quicken(2.0)
    return RATE * _quicken(3.0) * x + RATE * y


wave = math.sin


@works("a function or method that its arguments rebind", (1.3, 0.7))
def global_function_is_rebound(x, y):
    global wave
    wave = math.sin

    def change(z):
        global wave
        wave = math.cos
        return z

    return wave(change(x)) + wave(y)


@works("a chain of comparisons assigned to its own operand", (1.3, 0.7), (1.1, 0.7))
def chain_to_its_operand(x, y):
    kept = x
    x = y < x < 1.2
    return kept * y if x else y * y


@works("what raises half way has assigned nothing", (1.3, 0.7))
def raises_half_way(x, y):
    def demand(z):
        if z > 1.0:
            raise ValueError(z)
        return z

    flag, value, a = 2.0, x, [x, y]
    try:
        flag = y < x < demand(x)
    except ValueError:
        value = value * y
    try:
        value, flag = y, demand(x)
    except ValueError:
        value = value * y
    try:
        a = [demand(z) for z in (y, *a)]
    except ValueError:
        a[0] = value
    try:
        a[0], a[1] = [x]
    except ValueError:
        a[1] = a[1] * x
    return flag * value + a[0] * a[1]


@works("what comes after `*` and `**` is evaluated after the walk over it", (0.6,))
def spread_then_evaluated(x):
    def note(v):
        log.append(v)
        return v

    log, a, d = [], [x, 2.0], {"p": x, "q": 3.0}
    first = [note(1.0), *map(note, [2.0, x]), note(x * x)]
    second = (*a, a.append(x**3), *a)
    third = {**d, "r": d.pop("p"), **d}
    fourth = (lambda *xs, k, **kws: xs[2] * k + kws["q"])(*map(note, first), k=note(x), **d)
    fourth += (lambda *xs, k: xs[2] * k)(x, *map(note, first), k=note(2.0 * x))
    walked = sum(v * (i + 1.0) for i, v in enumerate(log))
    return walked * second[5] + third["p"] * third["r"] * len(third) + fourth


class Asked:
    """A pair, and an index, that counts what it is asked for."""

    def __init__(self, v):
        self.v, self.count = v, 0

    def __len__(self):
        self.count += 1
        return 2

    def __iter__(self):
        return iter([self.v, 2.0 * self.v])


class Index:
    """An index that counts how often it is asked."""

    def __init__(self):
        self.count = 0

    def __index__(self):
        self.count += 1
        return 1


@works("a length, and an index, is asked for as often as Python does", (0.7,))
def asked_for(x):
    pair, index = Asked(x), Index()
    first, second = pair
    head, *rest = pair
    items, numbers = [1.0, 2.0, 3.0], np.array([1.0, 2.0]) * x
    items[0:1] = pair
    numbers[index] = x * numbers[index] * items[index]
    total = sum(pair) * first * second * head * rest[0] * items[0] + np.sum(numbers)
    return total * (1.0 + pair.count + 10.0 * index.count)


@works("the end of an iterator is a `StopIteration`, and has its value", (0.7,))
def ends(x):
    def steps():
        yield x
        return x * x

    total = 1.0
    for made in (steps(), iter([x]), (v * x for v in [1.0])):
        total = total * next(made)
        try:
            next(made)
        except Exception as error:
            if type(error) is StopIteration:
                total = total + (x if error.value is None else error.value)
    return total
