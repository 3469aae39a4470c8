"""The functions of the interface inside a function that is itself differentiated.

They share with those outside the choice of arguments, and the seeds of the reverse pass.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._nested.cotangents import Box, box
from zygote_lite._nested.tape import NestedRun
from zygote_lite._tape.seeds import Argnums, argument_numbers, basis, seed


def inside(how: Any) -> Callable[[Any], Any]:
    """Declare what a function of this module does inside a function that is differentiated."""

    def declare(f: Any) -> Any:
        f.__differentiates__ = (f, how)
        return f

    return declare


def inside_run(f: Any) -> Any:
    """Declare that a function is simply run inside one that is differentiated: it makes another."""
    return inside(lambda tape, nodes, xs, kws: (f(*xs, **kws), None))(f)


def inside_gradient(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    """Differentiate on the outer tape: `gradient` inside."""
    f, *arguments = xs
    run = NestedRun(tape, f, nodes[1:], (None, *(True for _ in arguments)), arguments, {})
    return run.value_with(tuple(run.back(Box(seed(f, run.y), None, tape))[1:]))


def inside_value_and_grad(f: Any, argnums: Argnums, both: bool) -> Any:
    """Return what `value_and_grad(f)`, or `grad(f)`, does inside."""

    def how(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
        numbers = argument_numbers(f, argnums, len(xs))
        flags = (None, *(True if i in numbers else None for i in range(len(xs))))
        run = NestedRun(tape, f, nodes, (*flags, *(None for _ in kws)), xs, kws)
        cotangents = run.back(Box(seed(f, run.y), None, tape))
        found: Any = tuple(cotangents[1 + i] for i in numbers)
        found = found[0] if isinstance(argnums, int) else found
        return run.value_with((Box(run.y, run.at_y, tape), found) if both else found)

    return how


def inside_jacobian(f: Any, argnum: int) -> Any:
    """Return what `jacobian(f)` does inside."""

    def how(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
        (number,) = argument_numbers(f, argnum, len(xs))
        flags = (None, *(True if i == number else None for i in range(len(xs))))
        run = NestedRun(tape, f, nodes, (*flags, *(None for _ in kws)), xs, kws)
        rows = []
        for dy in basis(f, run.y, xs[number], number):
            d = run.back(Box(dy, None, tape))[1 + number]
            rows.append(Box(np.zeros(np.shape(xs[number])), None, tape) if d is None else d)
        values, node = run.value_with(rows)
        stacked, node = tape.call((None, node), np.array, values)
        shape = (*np.shape(run.y), *np.shape(xs[number]))
        return tape.call((None, node, None), np.reshape, stacked, shape)

    return how


def inside_hvp(f: Any, derivative: Any, argnum: int) -> Any:
    """Return what `hvp(f)` does inside; `derivative` is that of `f`."""

    def how(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
        *arguments, v = xs
        last = len(xs)  # of the operands: the vector
        (number,) = argument_numbers(f, argnum, len(arguments))
        flags = (None, *(True if i == number else None for i in range(len(arguments))))
        given = (*nodes[:last], *nodes[last + 1 :])
        every = (*flags, *(None for _ in kws))
        run = NestedRun(tape, derivative, given, every, arguments, kws)
        return run.value_with(run.back(box(v, nodes[last], tape))[1 + number])

    return how
