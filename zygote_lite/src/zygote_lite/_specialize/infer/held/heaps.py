"""Heaps of containers, as `heapq` keeps them, and heaps of numbers, by its Python."""

import heapq
from collections.abc import Callable
from typing import Any

from zygote_lite._python.library.heapq import in_python
from zygote_lite._specialize.infer.held import lists as _lists
from zygote_lite._specialize.infer.held.changes import note_change
from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    hold,
    kept,
    mirror,
    note_item,
    taken,
)
from zygote_lite._specialize.infer.held.questions import Options
from zygote_lite._specialize.rules.contributions import Contribution
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, contents_in, holds_active
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.values import Value, constant


def heap_call(f: Any) -> Callable[..., Value | None]:
    """Return what writes a function of `heapq` on a list of containers, as it stands.

    What a gradient passes through is in these, and it does not matter where they stand.
    """

    def call(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
        x = hold(builder, xs[0])
        note_change(builder, x)
        more = [kept(builder, y) for y in xs[1:]]
        for y in more:
            note_item(builder, x, ANY, y)
        slot = contents_in(x).slots.get(ANY)
        if slot is None:
            builder.leave()
        if slot.active:
            return builder.inline(_written_heaps()[f], [x, *more], {})
        _lists.refuse_arrays(x)
        _lists.note_resized(builder, x)
        x.sample.extend(y.sample for y in more[len(x.sample) :])
        gives = f is not heapq.heappush and f is not heapq.heapify
        if gives:
            op = taken(builder, slot, f, [x, *more])
        else:
            op = builder.write(NO_RESULT, f, [x, *more], {})

        def back(builder: Builder, _: Value | None) -> list[Contribution]:
            if holds_active(contents_in(x)):
                raise NotSupported.LIST_OPERATION("a heap gets numbers that carry gradients later")
            return []

        mirror(op, back, [])
        return op.target if gives else constant(None)

    return call


def _written_heaps() -> dict[Any, Any]:
    return in_python(heapq)
