"""The functions of the interface inside a function that is itself differentiated.

They use the same functions of a value and a pullback as those outside (`_tape.seeds`): only the
pullback is another one, whose cotangents are values on the outer tape.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from zygote_lite._cotangents.zeros import forms_of
from zygote_lite._ir.intrinsics import build_tuple
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import where
from zygote_lite._nested.cotangents import Box, box
from zygote_lite._nested.run import NestedRun
from zygote_lite._tape.jacobians import jacobian_by
from zygote_lite._tape.seeds import (
    ActiveArguments,
    Argnums,
    arguments_and_vector,
    gradient_by,
    hessian_product_of,
    of_first,
    pair_of,
    seed,
    with_zeros,
)
from zygote_lite._tape.validate import refuse_keywords
from zygote_lite.errors import Fault

Derivative = TypeVar("Derivative")


def inside(how: Any) -> Callable[[Callable[..., Derivative]], Callable[..., Derivative]]:
    """Declare what a function of this module does inside a function that is differentiated."""

    def declare(f: Any) -> Callable[..., Derivative]:
        f.__differentiates__ = (f, how)
        declared: Callable[..., Derivative] = f
        return declared

    return declare


def inside_run(f: Any) -> Any:
    """Declare that a function is simply run inside one that is differentiated: it makes another."""
    return inside(functools.partial(simply_run, f))(f)


def simply_run(f: Any, tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    """Run what makes another function, or nothing that is differentiated."""
    for x, node in zip(xs, nodes[1:], strict=False):
        if node is not None and isinstance(getattr(x, "__self__", None), np.ndarray):
            raise Fault.NESTED(
                f"{where()}: {name_of(f)} is given a method of an array that is differentiated: "
                f"write `lambda x: a.{x.__name__}(x)`"
            )
    return f(*xs, **kws), None


def refused_inside(f: Any, instead: str = "call it outside") -> None:
    """Declare that a function is refused inside one that is differentiated."""

    def refuse(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
        raise Fault.NESTED(
            f"{where()}: `{f.__name__}` inside a function that is differentiated: {instead}"
        )

    inside(refuse)(f)


def inside_gradient(
    f: Any, argnums: Argnums, both: bool, tape: Any, nodes: Any, xs: Any, kws: Any,
    *, zeros: bool = True,
) -> Any:  # fmt: skip
    """Do what `value_and_grad(f)`, or `grad(f)`, does inside; `gradient(f)`, without zeros."""
    active = ActiveArguments(f, argnums, len(xs), kws)
    forms = forms_of((*xs, *kws.values()), active.numbers)
    run = NestedRun(tape, f, nodes, active.flags, xs, kws)
    found = gradient_by(f, run.y, from_seed(run), active)
    if zeros:
        found = with_zeros(f, forms, active.numbers, active.is_single, found)
    return run.value_with((Box(run.y, run.at_y, tape), found) if both else found)


def inside_gradient_of_all(tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    """Differentiate on the outer tape: `gradient` inside."""
    f, *arguments = xs
    argnums = kws.get("argnums")
    refuse_keywords("gradient", f, kws, argnums=argnums)
    numbers = range(len(arguments)) if argnums is None else argnums
    given = nodes[1 : 1 + len(xs)]
    return inside_gradient(f, numbers, False, tape, given, arguments, {}, zeros=False)


def inside_auxiliary(
    f: Any, argnums: Argnums, both: bool, tape: Any, nodes: Any, xs: Any, kws: Any
) -> Any:
    """Do what `value_and_grad(f, has_aux=True)`, or `grad`, does inside."""
    active = ActiveArguments(f, argnums, len(xs), kws)
    forms = forms_of((*xs, *kws.values()), active.numbers)
    run = NestedRun(tape, f, nodes, active.flags, xs, kws)
    y, _ = pair_of(f, run.y)
    found = active.of(from_seed(run)((seed(f, y), None)))
    found = with_zeros(f, forms, active.numbers, active.is_single, found)
    if both:
        return run.value_with((Box(run.y, run.at_y, tape), found))
    _, (aux, at_aux) = run.parts()
    return run.value_with((found, Box(aux, at_aux, tape)))


def inside_jacobian(f: Any, argnums: Argnums, tape: Any, nodes: Any, xs: Any, kws: Any) -> Any:
    """Do what `jacobian(f)` does inside."""
    run, found = _jacobian_inside(f, argnums, False, tape, nodes, xs, kws)
    return run.value_with(found)


def inside_jacobian_with_aux(
    f: Any, argnums: Argnums, tape: Any, nodes: Any, xs: Any, kws: Any
) -> Any:
    """Do what `jacobian(f, has_aux=True)` does inside."""
    run, found = _jacobian_inside(f, argnums, True, tape, nodes, xs, kws)
    _, (aux, at_aux) = run.parts()
    return run.value_with((found, Box(aux, at_aux, tape)))


def _jacobian_inside(
    f: Any, argnums: Argnums, has_aux: bool, tape: Any, nodes: Any, xs: Any, kws: Any
) -> tuple[NestedRun, Any]:
    active, operands = ActiveArguments(f, argnums, len(xs), kws), (*xs, *kws.values())
    forms = forms_of(operands, active.numbers)
    run = NestedRun(tape, f, nodes, active.flags, xs, kws)
    y, back = run.y, from_seed(run)
    if has_aux:
        y, back = pair_of(f, y)[0], of_first(back)

    def stack(rows: list[Any], shape: tuple[int, ...]) -> Box:
        values, node = run.value_with(rows)
        stacked, node = tape.call((None, node), np.array, values)
        y, node = tape.call((None, node, None), np.reshape, stacked, shape)
        return Box(y, node, tape)

    found = jacobian_by(f, y, back, active.numbers, active.is_single, operands, forms, stack)
    return run, found


def inside_hvp(
    f: Any, derivative: Any, argnums: Argnums, has_aux: bool, tape: Any, nodes: Any, xs: Any,
    kws: Any,
) -> Any:  # fmt: skip
    """Do what `hvp(f)` does inside; `derivative` is that of `f`."""
    arguments, v = arguments_and_vector(f, xs, kws)
    last = len(xs)  # of the operands: the vector
    active = ActiveArguments(f, argnums, len(arguments), kws)
    given = (*nodes[:last], *nodes[last + 1 :])
    forms = forms_of((*arguments, *kws.values()), active.numbers)
    run = NestedRun(tape, derivative, given, active.flags, arguments, kws)
    if not has_aux:
        found = run.back(box(v, nodes[last], tape))
        return run.value_with(hessian_product_of(found, forms, active))
    pair, node = tape.call((None, nodes[last], None), build_tuple, v, None)
    product = hessian_product_of(run.back(box(pair, node, tape)), forms, active)
    _, (aux, at_aux) = run.parts()
    return run.value_with((product, Box(aux, at_aux, tape)))


def from_seed(run: NestedRun) -> Callable[[Any], Any]:
    """Return the pullback of a run for cotangents that do not depend on anything active."""
    return lambda dy: run.back(box(dy, None, run.outer))
