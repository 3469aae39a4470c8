"""The run of a function for a whole batch: its recording code, whose calls are resolved here."""

import functools
import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore import Array, find_rule, rules_of
from rulescore.faults import an
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.walk import reaches_active
from zygote_lite._batch.around import CallsAround, KeywordOperands, PositionalOperands
from zygote_lite._batch.rules import WRITING, by_batching_rule, does_nothing_else, out_of_place
from zygote_lite._batch.structure import (
    CONTAINERS,
    DICT_VIEWS,
    HARMLESS_WITHOUT_ENTRIES,
    STRUCTURE,
    constructed,
    method_called,
)
from zygote_lite._batch.tracers import (
    NotBatched,
    Tracer,
    entry_of,
    has_users_methods,
    is_batched,
    tracers_in,
)
from zygote_lite._cotangents.kinds import is_known_by_rule, own_derivative
from zygote_lite._ir.compile import recording_of
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import is_installed, is_library, where
from zygote_lite._ir.traits import changes_nothing, is_pure
from zygote_lite._nested.cotangents import pair
from zygote_lite._tape.arguments import place_arguments
from zygote_lite._tape.generators import has_handlers

_ITERATED = (list, tuple, dict, range, str, *DICT_VIEWS)


INSIDE: dict[int, Any] = {}
"""What functions of the interface do for a batch, by what they do inside of a gradient."""


class BatchRun(CallsAround):
    """Run the function of an entry once, for a batch.

    It is what recorded code takes for its tape. Variables hold values, and a `Tracer` for what
    differs between entries (or has a number on the tape around). A call is resolved in this order:

    1. what does not compute: building and reading containers, attributes, types (`STRUCTURE`);
    2. a batching rule, or an elementwise function, where an operand is a batch;
    3. a function of the interface that differentiates (`derivatives`), or another `vmap`;
    4. a Python function: its code, which is run likewise; a method, a partial: what it calls;
    5. a call without batches that changes nothing: it is run, on the tape around if there is one.

    All else raises `NotBatched`, before it is run: nothing that can be seen from outside has
    happened then, and a loop may start anew.

    Attributes:
        count: how many entries there are.
        is_empty: whether there is none: then the run is that of one, which tells what they are.
        parent: the run inside which this one differentiates the same batch.
        made: containers that this run has made, by identity: those may be changed.
        cells: variables that this run has made.
        arguments: the arrays that it was given.
    """

    def __init__(self, count: int, around: Any = None, parent: "BatchRun | None" = None) -> None:
        super().__init__(around)
        self.count, self.is_empty, self.parent = count or 1, not count, parent
        self.made: dict[int, Any] = {}
        self.cells: dict[int, Any] = {}
        self.arguments: dict[int, Any] = {}

    # -- what recorded code asks of a tape

    def call(self, nodes: Any, f: Any, /, *xs: Any, **kws: Any) -> tuple[Any, None]:
        """Run a call."""
        return self.resolve(f, xs, kws), None

    def iterate(self, x: Any, node: Any, owned: bool = False) -> Iterator[tuple[Any, None]]:
        """Yield the elements of an iterable, as `for` takes them."""
        x = self.own(x)
        if type(x) is Tracer or isinstance(x, Array):
            for i in range(np.shape(entry_of(x))[0]):
                yield self.resolve(operator.getitem, (x, i), {}), None
            return
        if not isinstance(x, _ITERATED) and id(x) not in self.made:
            raise NotBatched(f"{where()}: {an(type(x).__name__)} is iterated")
        for y in x:
            yield self.own(y), None

    def keywords(self, made: Any, entries: Any) -> None:
        """Note the dict of a function's `**kwargs`, which Python has made."""
        self.made[id(made)] = made

    def cell_of(self, holder: Any) -> Any:
        """Return the cell of the one variable that `holder` captures."""
        return holder.__closure__[0]

    def own_cell_of(self, holder: Any) -> Any:
        """Return the cell of a variable of the function that runs, which has just been made."""
        cell = holder.__closure__[0]
        self.cells[id(cell)] = cell
        return cell

    def note_refusal(self) -> None:
        """Leave a `finally` that may swallow a refusal to the loop."""
        raise NotBatched(f"{where()}: a `finally` may leave an error behind")

    def raise_refusal(self) -> None:
        """Do nothing: no refusal was noted."""

    # -- resolving a call

    def resolve(self, f: Any, xs: PositionalOperands, kws: KeywordOperands) -> Any:
        """Resolve a call in the order that the class describes."""
        xs = tuple(map(self.own, xs))
        kws = {name: self.own(x) for name, x in kws.items()} if kws else kws
        handler = STRUCTURE.get(id(f))
        if handler is not None:
            return handler(self, f, xs, kws)
        if id(f) in WRITING:
            f = out_of_place(self, f, xs)
        if (f is operator.add or f is operator.mul) and _are_joined(xs):
            return self.noted(f(*xs))
        if is_batched(xs) or (kws and is_batched(kws)):
            done = by_batching_rule(self, f, xs, kws)
            if done is not NotImplemented:
                return done
        own = own_derivative(f)
        if isinstance(own, tuple) and own[0] is f:
            return self.differentiated(f, own[1], xs, kws)
        if type(f) in _CALLABLES:
            return _CALLABLES[type(f)](self, f, xs, kws)
        if isinstance(f, type):
            done = constructed(self, f, xs, kws)
            if done is not NotImplemented:
                return done
        called = member_of(type(f), "__call__")
        is_own = isinstance(called, types.FunctionType) and not tracers_in(kws)
        if is_own and find_rule(f, *[entry_of(x) for x in xs], **kws) is None:
            return self.function(called, (f, *xs), kws)
        return self.without_batches(f, xs, kws)

    def differentiated(self, f: Any, how: Any, xs: PositionalOperands, kws: KeywordOperands) -> Any:
        """Answer a function of the interface, by what is declared for how it differentiates."""
        known = INSIDE.get(id(getattr(how, "func", how)))
        if known is None:
            raise NotBatched(f"{where()}: {name_of(f)} is called")
        return known(self, *getattr(how, "args", ()), xs, kws)

    def function(self, f: Any, xs: PositionalOperands, kws: KeywordOperands) -> Any:
        """Run the code of a Python function for the batch."""
        path = f.__code__.co_filename
        entries = [entry_of(x) for x in xs]
        rule = None if tracers_in(kws) else find_rule(f, *entries, **kws)
        if rule is None and kws and rules_of(f):
            raise NotBatched(f"{where()}: {name_of(f)} has a rule, and is given operands by name")
        if rule is not None and not is_batched((xs, kws)) and does_nothing_else(f):
            return self.computed(f, xs, kws)
        if is_library(path) or is_installed(path) or (rule is not None and self.around is not None):
            return self.without_batches(f, xs, kws)
        run, is_generator = recording_of(f)
        if is_generator and has_handlers(f.__code__):  # they run when Python lets go of it
            raise NotBatched(f"{where()}: the generator {name_of(f)} has a `try` or a `with`")
        if any(id(f) in tape.defaults for tape in self.tapes()):
            raise NotBatched(f"{where()}: a default of {name_of(f)} is differentiated")
        names, _ = place_arguments(f.__code__, len(xs), tuple(kws))
        y: Any = run(self, (None,) * len(names), *xs, **kws)
        return self.noted(self.generated(y)) if is_generator else self.own(y[0])

    def tapes(self) -> Iterator[Any]:
        """Yield the tapes around."""
        around = self.around
        while around is not None:
            if isinstance(around, BatchRun):
                around = around.around
                continue
            yield around
            around = getattr(around, "outer", None)

    def generated(self, frame: Any) -> Iterator[Any]:
        """Yield what a generator yields, whose code is run for the batch."""
        try:
            y, _ = next(frame)
            while True:
                yield self.own(y)
                y, _ = frame.send((None, None))
        except StopIteration:
            return

    def without_batches(self, f: Any, xs: PositionalOperands, kws: KeywordOperands) -> Any:
        """Run a call that changes nothing, and is given no batch."""
        if is_batched(xs) or is_batched(kws):
            given = ", ".join(type(x).__name__ if type(x) is not Tracer else "batch" for x in xs)
            raise NotBatched(f"{where()}: {name_of(f)} of ({given}) has no batching rule")
        if kws.get("out") is not None or any(map(_is_function, (*xs, *kws.values()))):
            raise NotBatched(f"{where()}: {name_of(f)} may write, or call a function")
        quiet = is_pure(f) or id(f) in HARMLESS_WITHOUT_ENTRIES
        if not quiet and not (changes_nothing(f) and not any(map(has_users_methods, xs))):
            raise NotBatched(f"{where()}: {name_of(f)} may have side effects")
        if any(map(has_users_methods, xs)) and not any(is_known_by_rule(type(x)) for x in xs):
            raise NotBatched(f"{where()}: {name_of(f)} may call methods of a class")
        return self.computed(f, xs, kws)

    def indexed(self, x: Any, index: Any) -> Any:
        """Return a part of an array, for a batch of arrays or of indices."""
        parts = [np.array(i) if type(i) is list and i and not tracers_in(i) else i
                 for i in (index if type(index) is tuple else [index])]  # fmt: skip
        index = tuple(parts) if type(index) is tuple else parts[0]
        if is_batched((x, index)):
            done = by_batching_rule(self, operator.getitem, (x, index), {})
            if done is NotImplemented:
                raise NotBatched(f"{where()}: an index of a batch")
            return done
        if not isinstance(entry_of(x), Array | np.generic | str | range):
            raise NotBatched(f"{where()}: an entry of {an(type(x).__name__)} is read")
        return self.computed(operator.getitem, (x, index))

    def noted(self, container: Any) -> Any:
        """Note a container that has been made, which may be changed."""
        self.made[id(container)] = container
        return container

    # -- what comes from outside

    def own(self, x: Any) -> Any:
        """Return a value as one of this run: tracers of runs around, what is active there."""
        if type(x) is Tracer:
            return x if x.run is self else self.adopted(x)
        if not isinstance(x, CONTAINERS) or self.around is None:
            return x
        if id(x) in self.made or id(x) in self.read_only:
            return x
        is_active = reaches_active(x) or (self.parent is not None and tracers_in(x))
        return self.copied(x) if is_active else x

    def adopted(self, x: Tracer) -> Tracer:
        """Return a tracer of the run around, for the same batch, as one of this run."""
        if isinstance(self.around, BatchRun):
            return Tracer(self, self.around.own(x), None, batched=False)
        if self.parent is None or self.around is None:
            raise NotBatched("an entry of another batch is used")
        x = x if x.run is self.parent else self.parent.adopted(x)
        node = x.node if x.node is None else self.lifted(x.node)
        return Tracer(self, x.value, node, x.batched, x.plain, x.is_array)

    def lifted(self, node: Any) -> Any:
        """Return the number, on the tape around, of a value of the run that this one is inside."""
        return pair(None, node)

    def copied(self, x: Any) -> Any:
        """Return a container from outside, with tracers for what it holds; it may not change."""
        if type(x) not in CONTAINERS and not hasattr(x, "_make"):
            raise NotBatched(f"{where()}: {an(type(x).__name__)} holds what is differentiated")
        if isinstance(x, dict):
            found: Any = {key: self.own(self.part(x, key)) for key in x}
        else:
            parts = [self.own(self.part(x, i)) for i in range(len(x))]
            found = tuple.__new__(type(x), parts) if isinstance(x, tuple) else parts
        self.read_only[id(found)] = found
        return found

    def part(self, x: Any, key: Any) -> Any:
        """Return what a container from outside holds, by the tape around."""
        return x[key] if tracers_in(x[key]) else self.computed(operator.getitem, (x, key))


def _are_joined(xs: PositionalOperands) -> bool:
    """Return whether operands are lists or tuples, which are put together or repeated."""
    numeric = any(isinstance(x, Array) or type(x) is Tracer for x in xs)
    return not numeric and any(type(x) in CONTAINERS for x in xs)


def _is_function(x: Any) -> bool:
    return type(x) is not Tracer and callable(x) and not isinstance(x, type)


def _method_bound(run: BatchRun, f: Any, xs: PositionalOperands, kws: KeywordOperands) -> Any:
    return run.resolve(f.__func__, (f.__self__, *xs), kws)


def _of_partial(run: BatchRun, f: Any, xs: PositionalOperands, kws: KeywordOperands) -> Any:
    """Resolve a call of a partial: what it holds may be differentiated around."""
    given, named = f.args, f.keywords
    if run.around is not None:
        if tracers_in((given, named)):
            raise NotBatched(f"{where()}: a partial holds an entry of the batch")
        if reaches_active(f):
            given, named = [run.own(run.computed(getattr, (f, x))) for x in ("args", "keywords")]
    return run.resolve(f.func, (*given, *xs), {**named, **kws})


_CALLABLES: dict[type, Any] = {
    types.FunctionType: lambda run, f, xs, kws: run.function(f, xs, kws),
    types.MethodType: _method_bound,
    functools.partial: _of_partial,
    types.BuiltinFunctionType: method_called,
}
