"""The rule of a function holds, however the function is reached.

The rules here are not the derivatives of the source, so that a call by the source is seen.
"""

import functools

import numpy as np
import pytest

from rulescore import RuleSet
from zygote_lite import checkpoint, grad, jvp, testing, vmap

rule = RuleSet("of_ways_to_call")


def square(x):
    return x * x


class Holder:
    @staticmethod
    def squared(x):
        return x * x


rule.scalar(square)(lambda x: 100 * x)
rule.scalar(Holder.squared)(lambda x: 100 * x)


@pytest.fixture(autouse=True)
def registered():
    rule.register()
    yield
    rule.unregister()


def in_a_loop(x):
    for f in [square]:
        x = f(x)
    return x


def by_a_default(x, f=square):
    return f(x)


def by_a_generator(x):
    def values():
        yield square(x)

    return sum(values())


def by_a_write(x):
    y = np.zeros(2)
    y[0] = square(x)
    return y[0]


WAYS = {
    "by name": lambda x: square(x=x),
    "by stars": lambda x: square(*[x]),
    "partial": lambda x: functools.partial(square, x)(),
    "function": lambda x: (lambda f: f(x))(square),
    "map": lambda x: sum(map(square, [x])),
    "dict": lambda x: {"f": square}["f"](x),
    "reduce": lambda x: functools.reduce(lambda a, f: f(a), [square], x),
    "static": lambda x: Holder.squared(x),
    "static by name": lambda x: Holder().squared(x=x),
    "closure": lambda x: (lambda: square(x))(),
    "vectorize": lambda x: np.vectorize(square)(np.array([x]))[0],
    "vmap": lambda x: np.sum(vmap(square)(np.array([x]))),
    "checkpoint": lambda x: checkpoint(square)(x),
    "inside": lambda x: grad(lambda w: square(x) * w)(x),
    "inside, by name": lambda x: grad(lambda w: square(x=x) * w)(x),
    "inside, map": lambda x: grad(lambda w: sum(map(square, [x])) * w)(x),
    "loop": in_a_loop,
    "default": by_a_default,
    "generator": by_a_generator,
    "write": by_a_write,
}


@pytest.mark.parametrize("f", WAYS.values(), ids=WAYS)
def test_a_rule_holds_however_its_function_is_called(f):
    with testing.recorded_only():
        assert grad(f)(2.0) == 200.0
    for _ in range(4):
        assert grad(f)(2.0) == 200.0
        assert jvp(f, (2.0,), (1.0,))[1] == 200.0
    both = np.array([2.0, 2.0])
    np.testing.assert_array_equal(vmap(grad(f))(both), [200.0, 200.0])
    np.testing.assert_array_equal(grad(lambda x: np.sum(vmap(f)(x)))(both), [200.0, 200.0])
