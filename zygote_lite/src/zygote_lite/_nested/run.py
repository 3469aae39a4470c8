"""A function run on a nested tape, and its reverse pass on the outer one."""

import operator
from typing import Any

from zygote_lite._activity.activity import add_addresses, only_floats
from zygote_lite._cotangents.registry import Traced
from zygote_lite._cotangents.run import state
from zygote_lite._cotangents.zeros import filled
from zygote_lite._nested.cotangents import box, pair, unbox
from zygote_lite._nested.tape import NestedStore, NestedTape
from zygote_lite._tape.generators import refuse_iterator
from zygote_lite._tape.run import one_cotangent, pullback_text
from zygote_lite._tape.tape import Tape
from zygote_lite._tape.validate import (
    check_fit,
    refuse_no_function,
    refuse_shared,
    refuse_shared_arrays,
)
from zygote_lite.errors import Fault


class NestedRun:
    """A function run on a nested tape, and its reverse pass."""

    def __init__(
        self, outer: Tape, f: Any, nodes: tuple[Any, ...], flags: tuple[Any, ...], xs: Any, kws: Any
    ) -> None:
        self.outer, self.operands, self.flags = outer, (f, *xs, *kws.values()), flags
        self.tape = NestedTape(outer)
        state.chooses = state.chooses and only_floats(self.operands, flags)
        for x, flag in zip(self.operands, flags, strict=True):
            if flag:
                add_addresses(x)
        self.nodes = tuple(
            [
                pair(self.tape.input(x) if flag else None, node)
                for x, flag, node in zip(self.operands, flags, nodes, strict=True)
            ]
        )
        refuse_no_function(f)
        before = state.writes
        self.y, at = self.tape.call(self.nodes, f, *xs, **kws)
        refuse_iterator(f, self.y)
        if state.writes != before:
            written = {key: n for key, n in state.last_writes.items() if n > before}
            refuse_shared_arrays(self.operands, flags, written)
        if self.tape.written:
            _, at = self.tape.numbered((None, at), (self.y,))  # as `via_tape` does
        self.inner = None if at is None else at.inner
        self.at_y = None if at is None else at.outer

    def back(self, dy: Any) -> list[Any]:
        """Return the boxed cotangents of the function and its arguments."""
        saved, state.store = state.store, NestedStore(self.outer)
        self.store = store = state.store
        try:
            given = store.add(self.y, dy)
            cotangents = {} if self.inner is None or given is None else {self.inner: given}
            self.tape.back(cotangents)
            refuse_shared(self.operands, self.flags, store)
            found = []
            for x, node, flag in zip(self.operands, self.nodes, self.flags, strict=True):
                d = cotangents.get(node.inner) if flag and node is not None else None
                found.append(store.collect(x, d) if flag else None)
            return found
        finally:
            store.restore()
            state.store = saved

    def parts(self) -> list[Traced]:
        """Return the parts of the value, on the outer tape."""
        return parts_on(self.outer, self.y, self.at_y)

    def value_with(self, cotangents: Any) -> Traced:
        """Return cotangents as a value on the outer tape."""
        return unbox(cotangents, self.outer)


def parts_on(tape: Tape, x: Any, node: Any) -> list[Traced]:
    """Return the parts of a sequence, on a tape."""
    return [tape.call((None, node, None), operator.getitem, x, i) for i in range(len(x))]


class NestedPullback:
    """The pullback that `pullback` returns inside a function that is differentiated."""

    def __init__(self, run: NestedRun) -> None:
        self.run = run
        self.__differentiates__ = (self, self.on_tape)

    def on_tape(
        self, tape: Tape, nodes: tuple[Any, ...], xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced:
        """Pull a cotangent back, on the outer tape."""
        dy = one_cotangent(self, xs, kws)
        check_fit(dy, self.run.y, self)
        cotangents = self.run.back(box(dy, nodes[1], tape))
        return self.run.value_with(tuple(cotangents))

    def __call__(self, dy: Any) -> Any:
        raise Fault.NESTED("a pullback outlived the gradient that it was made in: call it inside")

    def __repr__(self) -> str:
        return pullback_text(self.run.operands[0])


class NestedProduct(NestedPullback):
    """What `vjp` returns inside a function that is differentiated."""

    def __init__(self, run: NestedRun, has_aux: bool) -> None:
        super().__init__(run)
        self.has_aux = has_aux

    def on_tape(
        self, tape: Tape, nodes: tuple[Any, ...], xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced:
        """Pull a cotangent back to the arguments, with zeros, on the outer tape."""
        dy = one_cotangent(self, xs, kws)
        check_fit(dy, self.run.y[0] if self.has_aux else self.run.y, self)
        dy = box(dy, nodes[1], tape)
        found = self.run.back((dy, None) if self.has_aux else dy)
        operands = zip(found[1:], self.run.operands[1:], strict=True)
        return self.run.value_with(tuple([filled(d, x) for d, x in operands]))
