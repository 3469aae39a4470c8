"""The reverse of a call by its rule, as calls on the outer tape: its cotangents are boxed."""

import functools
import operator
from typing import Any

import numpy as np

from rulescore import project
from rulescore.scaling import scales
from zygote_lite._cotangents.run import current_store, state, take
from zygote_lite._ir.names import name_of
from zygote_lite._nested.cotangents import Box, box, projected_entries, scaled, unbox
from zygote_lite._tape.rules import holds_complex
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault


def back_of_scalar(
    outer: Tape, rule: Any, xs: tuple[Any, ...], at: tuple[Any, ...], y: Any, node: Any, needed: Any
) -> Any:
    """Return the pullback of a scalar rule: the cotangent times the partial derivatives."""

    def scalar_back(dy: Any) -> tuple[Any, ...]:
        if dy is None:
            return (None,) * (len(xs) + 1)
        given = tuple([x.astype(np.float64) if _is_whole(x) else x for x in xs])
        given = (*given, y) if rule.takes_out else given
        nodes = (None, *at, node) if rule.takes_out else (None, *at)
        with np.errstate(all="ignore"):
            if rule.partials is None:
                partials, at_all = _partials_at(outer, nodes, rule.body, given)
            found: list[Any] = []
            for i, x in enumerate(xs):
                if not needed[i + 1]:
                    found.append(None)
                    continue
                if rule.partials is not None:
                    p, at_p = _partials_at(outer, nodes, rule.partials[i], given)
                elif len(xs) == 1:
                    p, at_p = partials, at_all
                else:
                    p, at_p = outer.call((None, at_all, None), operator.getitem, partials, i)
                if p is None:
                    found.append(None)
                    continue
                d = Box(*outer.call((None, dy.node, at_p), scaled, dy.value, p), outer)
                found.append(d.through(project, x))
        return None, *found

    return scalar_back


def _is_whole(x: Any) -> bool:
    """Return whether `x` is made of NumPy's integers, whose arithmetic is another."""
    return isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "iub"


def _partials_at(outer: Tape, nodes: tuple[Any, ...], f: Any, given: tuple[Any, ...]) -> Any:
    """Return partial derivatives: at a pole those of NumPy, where Python's floats raise."""
    try:
        return outer.call(nodes, f, *given)
    except (ArithmeticError, ValueError):
        ieee = [np.float64(x) if type(x) in (int, float) else x for x in given]
        return outer.call(nodes, f, *ieee)


def back_of_linear(
    outer: Tape,
    rule: Any,
    xs: tuple[Any, ...],
    at: tuple[Any, ...],
    options: dict[str, Any],
    y: Any,
) -> Any:
    """Return the pullback of a linear rule: its adjoint."""
    # an adjoint depends on no number of the arguments in which a function is linear
    flags = [None if i in rule.linear else node for i, node in enumerate(at)]

    def linear_back(dy: Any) -> tuple[Any, ...]:
        dy = take(y, dy, xs)
        found: list[Any] = [None] * (len(xs) + 1)
        if dy is None:
            return tuple(found)
        value, node = unbox(dy, outer)
        nodes = (None, node, *flags, *(None for _ in options))
        given = box(*outer.call(nodes, rule.body, value, *xs, **options), outer)
        store = current_store()
        for i, d in zip(rule.linear, (given,) if len(rule.linear) == 1 else given, strict=True):
            found[i + 1] = store.add(xs[i], projected_entries(d, xs[i]))
        return tuple(found)

    return linear_back


def back_of_general(
    outer: Tape, rule: Any, pullback: Any, at_back: Any, y: Any, operands: tuple[Any, ...],
    needed: tuple[bool, ...],
) -> Any:  # fmt: skip
    """Return the pullback of a rule with a body; `operands` are the function and arguments."""
    of_body = slice(rule.kind != "instance", None)

    def general_back(dy: Any) -> tuple[Any, ...]:
        dy = take(y, dy, operands)
        if dy is None or pullback is None:
            return (None,) * len(operands)
        value, node = unbox(dy, outer)
        if type(pullback) is tuple:
            given = _parts(outer, pullback, at_back, needed[of_body], value, node)
            found: Any = tuple([d for d, _ in given])
            boxed: Any = tuple([None if d is None else box(d, at, outer) for d, at in given])
        else:
            found, at = outer.call((at_back, node), pullback, value)
            boxed = box(found, at, outer)
        misfit = rule.misfit(found, operands[of_body])
        if misfit is not None:
            raise misfit
        if state.transposes and not (rule.of_plugin or rule.needs_ad):
            _refuse_not_linear(pullback, value, found, operands[0])
        if rule.watches:
            pairs = zip(boxed, operands[of_body], strict=False)
            boxed = tuple(
                [
                    projected_entries(d, x) if isinstance(d, Box) and holds_complex(d.value) else d
                    for d, x in pairs
                ]
            )
        boxed = boxed if rule.kind == "instance" else (None, *boxed)
        store = current_store()
        return tuple([store.add(x, d) for x, d in zip(operands, boxed, strict=False)])

    return general_back


def pulled_by_parts(parts: Any, dy: Any, needed: Any) -> Any:
    """Return what the parts of a pullback give, `None` for what is not needed."""
    shared = None
    if len(parts) == 2 and type(parts[1]) is tuple:  # what the parts share comes first
        shared, parts = parts
    if needed is not None:
        parts = tuple([part if n else None for part, n in zip(parts, needed, strict=False)])
    if shared is not None and any(part is not None for part in parts):
        dy = shared(dy)
    return tuple([None if part is None else part(dy) for part in parts])


def _refuse_not_linear(pullback: Any, dy: Any, found: tuple[Any, ...], f: Any) -> None:
    """Refuse a pullback that is not linear, as one that clips: forward mode transposes it."""
    if type(pullback) is tuple:
        needed = [d is not None for d in found]
        pullback = functools.partial(pulled_by_parts, pullback, needed=needed)
    if not scales(pullback, (dy,), found):
        raise Fault.NOT_LINEAR(
            f"the pullback of {name_of(f)} is not linear in the cotangent, and forward mode takes "
            "its transpose: use reverse mode, or declare what is linear"
        )


def _parts(
    outer: Tape, parts: tuple[Any, ...], at: Any, needed: tuple[bool, ...], value: Any, node: Any
) -> list[tuple[Any, Any]]:
    """Return the cotangents that the parts of a pullback give, with their nodes, where needed."""
    if len(parts) == 2 and type(parts[1]) is tuple:  # what the parts share comes first
        shared, at_shared = outer.call((None, at, None), operator.getitem, parts, 0)
        value, node = outer.call((at_shared, node), shared, value)
        parts, at = outer.call((None, at, None), operator.getitem, parts, 1)
    found: list[tuple[Any, Any]] = []
    for i in range(len(parts)):
        part, at_part = outer.call((None, at, None), operator.getitem, parts, i)
        if part is None or not any(needed[i : i + 1]):
            found.append((None, None))
        else:
            found.append(outer.call((at_part, node), part, value))
    return found
