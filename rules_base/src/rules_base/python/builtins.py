"""Python's built-in functions of numbers: round, float, complex, sum, max and min."""

from numbers import Real

import numpy as np

from rules_base.shared.nesting import in_kind_of
from rulescore import Array, Numeric, RuleSet, project
from rulescore.faults import an

rule = RuleSet("rules_base", examples="rules_base.examples.python.builtins", may_raise=False)

rule.scalar(round)(lambda x: None)
rule.scalar(round)(lambda x, digits: (None, None))
rule.scalar(complex)(lambda re: 1)
rule.scalar(complex)(lambda re, im: (1, 1j))


@rule(float)
def _(x: Numeric):
    def pullback(dy):
        return (project(dy, x),)

    return float(x), pullback


@rule.forward(float)
def _(x: Numeric):
    return float(x), (lambda dx: float(dx),)


@rule(float)
def _(text: str):
    def pullback(dy):
        return (None,)

    return float(text), pullback


@rule(float)
def _(text: np.str_):  # which is both a text and a NumPy scalar
    def pullback(dy):
        return (None,)

    return float(text), pullback


@rule(pow)
def _(x: int, y: int, modulus: int):
    def pullback(dy):
        return None, None, None

    return pow(x, y, modulus), pullback


@rule(sum)
def _(xs: list | tuple):
    refuse_containers(xs)

    def pullback(dy):
        return (in_kind_of(xs, [project(dy, x) for x in xs]),)

    return sum(xs), pullback


@rule(sum)
def _(xs: list | tuple, start: Numeric):
    refuse_containers(xs)

    def pullback(dy):
        return in_kind_of(xs, [project(dy, x) for x in xs]), project(dy, start)

    return sum(xs, start), pullback


@rule(sum)
def _(xs: Array):
    def pullback(dy):
        return (project(np.broadcast_to(dy, xs.shape), xs),)

    return sum(xs), pullback


@rule(sum)
def _(xs: Array, start: Numeric):
    def pullback(dy):
        return project(np.broadcast_to(dy, xs.shape[:1] + np.shape(dy)), xs), project(dy, start)

    return sum(xs, start), pullback


def refuse_containers(xs):
    """Raise `NotImplementedError` where an element is neither a number nor an array."""
    for x in xs:
        if not isinstance(x, Numeric):
            raise NotImplementedError(
                f"the rule for sum adds numbers and arrays, and found {an(type(x).__qualname__)}: "
                "write the sum as a loop to differentiate it"
            )


@rule(max)
def _(xs: list | tuple):
    y = max(xs)

    def pullback(dy):
        return (in_kind_of(xs, shared_by_equals(dy, y, xs)),)

    return y, pullback


@rule(min)
def _(xs: list | tuple):
    y = min(xs)

    def pullback(dy):
        return (in_kind_of(xs, shared_by_equals(dy, y, xs)),)

    return y, pullback


@rule(max)
def _(x: object, y: object, *more: object):
    out = max(x, y, *more)

    def pullback(dy):
        return tuple(shared_by_equals(dy, out, (x, y, *more)))

    return out, pullback


@rule(min)
def _(x: object, y: object, *more: object):
    out = min(x, y, *more)

    def pullback(dy):
        return tuple(shared_by_equals(dy, out, (x, y, *more)))

    return out, pullback


@rule(max)
def _(x: Real, y: Real):
    def pullback(dy):
        share = dy / 2 if x == y else dy
        first, second = 0.0 if y > x else share, share if y >= x else 0.0
        return project(first, x), project(second, y)

    return max(x, y), pullback


@rule(min)
def _(x: Real, y: Real):
    def pullback(dy):
        share = dy / 2 if x == y else dy
        first, second = 0.0 if y < x else share, share if y <= x else 0.0
        return project(first, x), project(second, y)

    return min(x, y), pullback


@rule(max)
def _(xs: Array):
    y = max(xs)

    def pullback(dy):
        hits = xs == y
        return (project(np.where(hits, dy / np.sum(hits), 0.0), xs),)

    return y, pullback


@rule(min)
def _(xs: Array):
    y = min(xs)

    def pullback(dy):
        hits = xs == y
        return (project(np.where(hits, dy / np.sum(hits), 0.0), xs),)

    return y, pullback


def shared_by_equals(dy, y, xs):
    """Return the cotangents of `xs`, of which `y` was chosen: equal numbers share `dy`."""
    if not isinstance(y, Numeric):
        first = next(i for i, x in enumerate(xs) if x is y)
        return [dy if i == first else None for i in range(len(xs))]
    hits = [bool(x == y) for x in xs]
    share = dy / sum(hits) if any(hits) else dy  # nan equals nothing
    return [project(share if hit or x is y else 0.0, x) for x, hit in zip(xs, hits, strict=True)]


@rule(int.conjugate, float.conjugate, complex.conjugate)
def _(x: Numeric):
    def pullback(dy):
        return (project(np.conjugate(dy), x),)

    return x.conjugate(), pullback


rule.constant(float.is_integer, float.hex)
rule.constant(int.bit_length, int.bit_count, int.to_bytes)
