"""Python functions on the tape: their recording code is run, with companions of its parameters."""

import inspect
from typing import Any

from zygote_lite._activity.doubts import note_length
from zygote_lite._activity.marks import mark_new, note_made, note_outside, note_shared
from zygote_lite._activity.namespaces import refuse_variables
from zygote_lite._activity.walk import reaches_active
from zygote_lite._activity.watching import unwatched
from zygote_lite._cotangents.registry import NodeId, Traced, TupleNode, UndoOnly
from zygote_lite._cotangents.run import slots_of, state
from zygote_lite._ir.compile import recording_of, run_as_called
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import place_of, where
from zygote_lite._tape.arguments import place_arguments
from zygote_lite._tape.entries import Entries
from zygote_lite._tape.generators import Generated, has_handlers
from zygote_lite._tape.refusals.refusal import note_resolution
from zygote_lite.errors import Fault


class RecordedFunctions(Entries):
    """Run the recording code of functions."""

    __slots__ = ()

    def function(
        self, nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced:
        """Run the recording code of a Python function on this tape."""
        if state.variables:
            refuse_variables(f)
        run, is_generator = unwatched(recording_of, f)
        note_resolution(f, xs, f"recorded; {place_of(f)}")
        given = self.bind(nodes, f, xs, kws)
        if f.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            for x in (*xs, *kws.values()):
                note_shared(x)  # Python itself makes a tuple or dict of it
        before = state.resolved
        result = run_as_called(run, self, given, f, xs, kws)
        note_length(f, state.resolved - before)
        if is_generator:
            return self.generated(result, f, nodes)
        y, node = result
        return y, node

    def generated(self, frame: Any, f: Any, nodes: tuple[NodeId, ...]) -> Traced:
        """Return a generator whose steps are recorded: those of the function `f`."""
        generated = Generated(frame, self, f, any(n is not None for n in nodes))
        mark_new(generated)
        if has_handlers(f.__code__):
            state.generators.append(generated)
        return generated, None

    def bind(
        self, nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Return the companions of a function's parameters, from those of a call's operands."""
        names, places = place_arguments(f.__code__, len(xs), tuple(kws))
        given: list[Any] = [None] * len(names)
        variable: dict[int, dict[Any, NodeId]] = {}
        for (position, key), node in zip(places, nodes[1:], strict=False):
            if key is None:
                given[position] = node
            else:
                variable.setdefault(position, {})[key] = node
        known = self.defaults_of(f)
        for name, node in known.items():
            position = names.index(name)
            if (position, None) not in places:
                given[position] = node
        _, active = state.defaulted.get(id(f), (f, ()))
        if any(name not in known and (names.index(name), None) not in places for name in active):
            raise Fault.HANDED_TO_RULE(
                f"{where()}: {name_of(f)} has defaults through which a gradient passes, and is "
                "called within a function that is given to a rule or to `checkpoint`: let it read "
                "them from around it, or take them as arguments"
            )
        if f.__kwdefaults__ and id(f.__kwdefaults__) in (state.active or ()):
            raise Fault.ATTRIBUTE(
                f"{where()}: the defaults of {name_of(f)} were given what depends on what is "
                "differentiated, and no gradient passes through them: give it as an argument"
            )
        for position, entries in variable.items():
            if any(entries.values()):
                given[position] = self.collected(entries)
        return tuple(given)

    def defaults_of(self, f: Any) -> dict[str, NodeId]:
        """Return the nodes of the defaults of a function that recorded code has defined."""
        known = self.defaults.get(id(f))
        return {} if known is None else known[1]

    def collected(self, entries: dict[Any, NodeId]) -> Any:
        """Return the companion of `*args`; that of `**kwargs` is settled where the dict is made."""
        if isinstance(next(iter(entries)), str):
            return entries
        return self.node_of_entries(tuple([entries.get(i) for i in range(len(entries))]))

    def node_of_entries(self, nodes: tuple[NodeId, ...]) -> Any:
        """Return the node of a tuple from those of what it holds: what is constant stays so."""
        if state.has_texts:
            return self.record(None, of_entries(len(nodes)), (None, *nodes))[1]
        return TupleNode(nodes)

    def parts_of(self, node: NodeId) -> tuple[NodeId, ...] | None:
        """Return the nodes of what a tuple holds, where recorded code made it."""
        return node if type(node) is TupleNode else None

    def keywords(self, made: dict[str, Any], entries: Any) -> None:
        """Note where the cotangents of the entries of a function's `**kwargs` go."""
        if not state.outside and reaches_active(*made.values()):
            note_outside()
        if entries:
            back = _adopted(made, list(entries))
            self.record(None, back, tuple(entries.values()))

    def cell_of(self, holder: Any) -> Any:
        """Return the cell of the one variable that `holder` captures."""
        return holder.__closure__[0]

    def own_cell_of(self, holder: Any) -> Any:
        """Return the cell of a variable of the function that runs, which has just been made."""
        cell = self.cell_of(holder)
        note_made(cell)
        return cell


def of_entries(count: int) -> Any:
    """Return the pullback of a tuple that Python itself made of its entries."""

    def entries_back(dy: Any) -> tuple[Any, ...]:
        return (None,) * (count + 1) if dy is None else (None, *dy)

    return entries_back


def _adopted(y: dict[str, Any], names: list[str]) -> Any:
    """Return the pullback of the making of a function's `**kwargs`."""
    mark_new(y)

    def adopted_back(dy: Any) -> tuple[Any, ...]:
        slots = slots_of(y)
        return tuple([slots.pop(name, None) for name in names])

    return UndoOnly(adopted_back)
