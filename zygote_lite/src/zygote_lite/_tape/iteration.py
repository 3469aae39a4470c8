"""Iteration in recorded code: each step of a `for` is a call, which is recorded as calls are."""

import operator
import types
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from zygote_lite._activity.activity import is_active
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.reachability import is_users_class
from zygote_lite._cotangents.kinds import VALUE, kind_of
from zygote_lite._cotangents.registry import NodeId, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._tape.generators import Generated, only_the_engine_holds
from zygote_lite._tape.inactive import InactiveCalls


class Iteration(InactiveCalls):
    """Take the elements of iterables, as `for` does."""

    __slots__ = ()

    @abstractmethod
    def call(self, nodes: tuple[NodeId, ...], f: Any, /, *xs: Any, **kws: Any) -> Traced:
        """Run and record a call, as `Tape` does."""

    def iterate(self, x: Any, node: NodeId, owned: bool = False) -> Iterator[Traced]:
        """Yield the elements of an iterable, with their numbers, as `for` takes them.

        A generator that a loop leaves before its end, and that nothing else holds, is closed.
        """
        method = member_of(type(x), "__iter__")
        kind: Any = type(x)
        in_python = isinstance(method, types.FunctionType) or is_users_class(kind)
        if not in_python and not is_active((node,), iter, (x,), {}):
            yield from self.iterate_inactive(x)
            return
        if type(x) in (list, tuple) or (type(x) is np.ndarray and x.ndim):
            i = 0
            while i < len(x):
                yield self.call((None, node, None), operator.getitem, x, i)
                i += 1
            return
        iterator, at = self.call((None, node), iter, x)
        try:
            while True:
                try:
                    step = self.call((None, at), next, iterator)
                except StopIteration:
                    return
                yield step
        finally:
            # In `self.generators`, `state.active` and `iterator`. A generator that is iterated
            # itself is also in `x`, and in the variable of the recording code that it came from.
            held = 5 if iterator is x else 3
            is_made_here = type(iterator) is Generated and (owned or iterator is not x)
            if is_made_here and only_the_engine_holds(iterator, held):
                iterator.frame.close()

    def iterate_inactive(self, x: Any) -> Iterator[Traced]:
        """Yield the elements of an inactive iterable, which may become active during iteration."""
        if type(x) is list:
            i = 0
            while i < len(x):
                if state.active:
                    yield self.call((None, None, None), operator.getitem, x, i)
                else:
                    yield x[i], None
                i += 1
            return
        if kind_of(x) == VALUE and type(x) is not np.ndarray:
            state.linked = True  # an iterator may run any code
        known = len(state.active or ())
        iterator = iter(x)
        for y in iterator:
            yield y, None
            if len(state.active or ()) != known:
                known = len(state.active or ())
                if is_active((None,), next, (iterator,), {}):
                    break
        else:
            return
        while True:
            try:
                step = self.call((None, None), next, iterator)
            except StopIteration:
                return
            yield step
