"""Calls of whole arrays inside the run for a batch: they are run by what is around it.

That is a tape, or the run of another batch; or nothing, where they are simply run.
"""

import operator
import types
from typing import Any

import numpy as np

from zygote_lite._batch.tracers import NotBatched, Tracer, Whole, tracers_in
from zygote_lite._cotangents.kinds import OBJECT, kind_of
from zygote_lite._ir.intrinsics import build_list, build_tuple

PositionalOperands = tuple[Any, ...]
KeywordOperands = dict[str, Any]


class CallsAround:
    """What a run for a batch has carried out around it.

    Attributes:
        around: what runs calls of whole arrays: a tape, a run of a batch around this one, or
            `None`, where they are simply run.
        read_only: containers that the run was given, or has copied: those may not be changed.
    """

    def __init__(self, around: Any) -> None:
        self.around = around
        self.read_only: dict[int, Any] = {}

    def computed(self, f: Any, xs: PositionalOperands, kws: KeywordOperands | None = None) -> Any:
        """Run a call of values, without batches or of whole batches; return what it gives.

        What has a number on the tape around is traced, as no batch: who asks for a batch says so.
        """
        y, node = self.carried_out(f, xs, kws or {})
        return self.traced(y, node)

    def by_body(self, body: Any, xs: PositionalOperands, kws: KeywordOperands) -> Any:
        """Return what the body of a batching rule gives, as tracers."""
        if self.around is None:
            return self.computed(body, xs, kws)
        return self.unwrapped(body(*map(self.wrapped, xs), **kws))

    def wrapped(self, x: Any) -> Any:
        """Return an operand of a rule, whose tracers are arrays that call the tape around."""
        if type(x) is Tracer:
            return Whole(x.value, x.node, self.call_of_wholes)
        if isinstance(x, list | tuple) and tracers_in(x):
            parts = [self.wrapped(part) for part in x]
            return tuple.__new__(type(x), parts) if isinstance(x, tuple) else parts
        return x

    def unwrapped(self, y: Any) -> Any:
        """Return what a rule gives, or calls, with tracers for the arrays of the tape around."""
        if type(y) is Whole:
            return Tracer(self, y.value, y.node, batched=False)
        if isinstance(y, list | tuple):
            parts = [self.unwrapped(part) for part in y]
            return tuple.__new__(type(y), parts) if isinstance(y, tuple) else parts
        return {key: self.unwrapped(x) for key, x in y.items()} if isinstance(y, dict) else y

    def call_of_wholes(self, f: Any, xs: PositionalOperands, kws: KeywordOperands) -> Any:
        """Run a function of NumPy that a rule calls on the tape around."""
        y = self.computed(f, self.unwrapped(tuple(xs)), self.unwrapped(kws))
        return self.wrapped(y) if type(y) is not np.ndarray else Whole(y, None, self.call_of_wholes)

    def carried_out(self, f: Any, xs: PositionalOperands, kws: KeywordOperands) -> tuple[Any, Any]:
        """Run a call on the tape around, with values in the place of tracers."""
        given = [self.lowered(x) for x in xs]
        named = {name: self.lowered(x) for name, x in kws.items()}
        values = [x for x, _ in given]
        options = {name: x for name, (x, _) in named.items()}
        if self.around is None:
            return f(*values, **options), None
        nodes = (None, *(n for _, n in given), *(n for _, n in named.values()))
        found: tuple[Any, Any] = self.around.call(nodes, f, *values, **options)
        return found

    def lowered(self, x: Any) -> tuple[Any, Any]:
        """Return the value of an operand on the tape around, and its number there."""
        if type(x) is Tracer:
            return x.value, x.node
        if not isinstance(x, list | tuple) or not tracers_in(x):
            return x, None
        parts = [self.lowered(part) for part in x]
        values = [value for value, _ in parts]
        if self.around is None:
            return type(x)(values) if type(x) in (list, tuple) else tuple(values), None
        build = build_list if isinstance(x, list) else build_tuple
        found: tuple[Any, Any] = self.around.call((None, *(n for _, n in parts)), build, *values)
        return found

    def traced(self, y: Any, node: Any) -> Any:
        """Return a value that came from the tape around; what it holds may not be changed."""
        if isinstance(y, list | tuple | dict) and (node is not None or tracers_in(y)):
            keys = y if isinstance(y, dict) else range(len(y))
            parts = {
                key: self.traced(*self.around.call((None, node, None), operator.getitem, y, key))
                for key in keys
            }
            if isinstance(y, tuple):
                return tuple.__new__(type(y), parts.values())
            found: Any = parts if isinstance(y, dict) else [*parts.values()]
            self.read_only[id(found)] = found
            return found
        if type(y) is Tracer and not isinstance(self.around, CallsAround):
            raise NotBatched("an entry of another batch is met")
        if type(y) is not Tracer and kind_of(y) == OBJECT:
            return y  # its cotangent is known by its identity
        if type(y) is Tracer or (node is not None and not _is_code(y)):
            return Tracer(self, y, node, batched=False)
        return y


def _is_code(x: Any) -> bool:
    """Return whether a value is a function, whose gradients are those of what it captured."""
    is_builtin = isinstance(x, types.BuiltinFunctionType)
    if is_builtin:
        return isinstance(x.__self__, types.ModuleType | None)
    return isinstance(x, types.FunctionType | np.ufunc)
