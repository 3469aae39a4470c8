"""The iterators that loops take most, stepped on the tape without recorded code of their own.

What they mean is written in Python in `builtins`. Recorded, that code makes a dozen calls for each
element; the generators here make one for each value that is read.
"""

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from zygote_lite._cotangents.registry import Handlers, NodeId, Nodes, Traced
from zygote_lite._ir.intrinsics import build_list, build_tuple
from zygote_lite._python.library.builtins import (
    _NO_DEFAULT,
    _enumerate,
    _iter,
    _list,
    _zip,
    check_strict,
    hint,
    iterate_sequence,
)
from zygote_lite._python.library.folds import _sum, are_exact_numbers, folded
from zygote_lite._tape.inactive import steps_by_index, steps_by_next
from zygote_lite._tape.tape import Tape

handlers = Handlers()


def _each_step(tape: Tape, x: Any, node: NodeId) -> Iterator[Traced]:
    """Return what yields the elements of an iterable, with their nodes."""
    if type(x) in (list, tuple):
        return steps_by_index(tape, x, node)
    iterator, at = tape.call((None, node), iter, x)
    return steps_by_next(tape, iterator, at)


@handlers.by_code(_iter)
def _(tape: Tape, nodes: Nodes, f: Any, x: Any, sentinel: Any = _NO_DEFAULT) -> Traced | None:
    if type(x) not in (list, tuple) or sentinel is not _NO_DEFAULT:
        return None
    return tape.generated(steps_by_index(tape, x, nodes[1]), iterate_sequence, nodes)


@handlers.by_code(_list)
def _(tape: Tape, nodes: Nodes, f: Any, x: Any = ()) -> Traced:
    steps = _each_step(tape, x, nodes[1] if len(nodes) > 1 else None)
    tape.call((None, None), hint, x)
    found = [*steps]
    return tape.call((None, *[node for _, node in found]), build_list, *[y for y, _ in found])


@handlers.by_code(_sum)
def _(tape: Tape, nodes: Nodes, f: Any, x: Any, start: Any = 0) -> Traced | None:
    if isinstance(x, list | tuple | np.ndarray):
        return None
    found = [*_each_step(tape, x, nodes[1])]
    values = [y for y, _ in found]
    items, node = tape.call((None, *[node for _, node in found]), build_list, *values)
    at = nodes[2] if len(nodes) > 2 else None
    if are_exact_numbers(values, start):
        return tape.call((None, node, at), sum, items, start)
    return tape.call((None, None, node, at), folded, operator.add, items, start)


@handlers.by_code(_enumerate)
def _(tape: Tape, nodes: Nodes, f: Any, iterable: Any, start: Any = 0) -> Traced:
    def frame() -> Iterator[Traced]:
        n, at = start, nodes[2] if len(nodes) > 2 else None
        for y, node in _each_step(tape, iterable, nodes[1]):
            yield tape.call((None, at, node), build_tuple, n, y)
            n, at = tape.call((None, at, None), operator.add, n, 1)

    return tape.generated(frame(), f, nodes)


@handlers.by_code(_zip)
def _(tape: Tape, nodes: Nodes, f: Any, *xs: Any, strict: Any = False) -> Traced:
    def frame() -> Iterator[Traced]:
        each = []
        for x, node in zip(xs, nodes[1:], strict=False):
            if isinstance(x, str | bytes):
                x, node = tape.call((None, node), list, x)  # what is read from it may be active
            each.append(_each_step(tape, x, node))
        while each:
            row = []
            for i, steps in enumerate(each):
                try:
                    row.append(next(steps))
                except StopIteration:
                    if strict:
                        check_strict(each, i)
                    return
            yield tape.call((None, *[n for _, n in row]), build_tuple, *[y for y, _ in row])

    return tape.generated(frame(), f, nodes)
