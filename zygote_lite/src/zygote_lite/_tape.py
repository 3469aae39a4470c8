"""The tape: what recorded code ran, in order, and the walk backwards over it.

A value is known by the number of the entry that it came from. One tape serves a whole tree of
calls: a function called from recorded code records on the same tape, so that exceptions,
generators and callbacks need nothing of their own.
"""

import functools
import inspect
import operator
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore import accumulate, find_rule
from zygote_lite._errors import DifferentiationError
from zygote_lite._guard import guarded, is_writer
from zygote_lite._intrinsics import build_tuple, invoke
from zygote_lite._parts import Part, add_part, is_part, part_back
from zygote_lite._pull import (
    STRUCTURAL,
    Effect,
    Inert,
    apply_rule,
    apply_structural,
    inert,
    is_active,
    no_rule,
    note_resolution,
    out_position,
    parameter_names,
    place_arguments,
)
from zygote_lite._source import place_of
from zygote_lite._store import (
    DICT,
    LIST,
    OBJECT,
    TUPLE,
    VALUE,
    captured_within,
    current_store,
    entries_of,
    kind_of,
    mark_active,
    owner_of,
    reaches_active,
    state,
)

Node = int | None
Recorded = tuple[Any, Node]
Composite = Callable[..., Recorded | None]

COMPOSITE: dict[int, tuple[Any, Composite]] = {}
"""What is resolved by other calls, by identity: `(tape, nodes, *xs, **kws) -> (y, node)`.

One may return `None`: not for these arguments.
"""

EQUIVALENT: dict[int, tuple[Any, Any]] = {}
"""Functions written in C, by identity, and Python that means the same and is transformed."""


def composite(*functions: Any) -> Callable[[Composite], Composite]:
    """Declare how calls of `functions` are resolved by other calls."""

    def declare(body: Composite) -> Composite:
        for f in functions:
            COMPOSITE[id(f)] = (f, body)
        return body

    return declare


def equivalent(*functions: Any) -> Callable[[Any], Any]:
    """Declare the Python function that means the same as `functions` written in C."""

    def declare(body: Any) -> Any:
        for f in functions:
            EQUIVALENT[id(f)] = (f, body)
        return body

    return declare


class Tape:
    """Hold what was run: pullbacks, where their cotangents go, and what value they are of."""

    __slots__ = ("arrays", "count", "defaults", "entries", "seen", "written")

    def __init__(self) -> None:
        self.entries: list[tuple[Any, tuple[Node, ...], Node]] = []
        self.count = 0
        self.written = state.written if state.written is not None else {}
        self.arrays: dict[int, tuple[Any, bool]] = {}  # by number: the array, and if it was new
        self.defaults: dict[int, tuple[Any, dict[str, Node]]] = {}  # of functions defined inside
        self.seen: dict[int, Any] = {}  # arrays that own memory, by identity

    def input(self, x: Any = None) -> Node:
        """Return the number of a new value that no entry of the tape made."""
        self.count += 1
        if isinstance(x, np.ndarray):
            self.note_array(self.count, x, fresh=False)
        return self.count

    def note_array(self, node: int, x: Any, fresh: bool) -> None:
        """Note which memory a value lives in, should it be written in place."""
        owner = owner_of(x)
        known = self.seen.get(id(owner))
        if known is None or known() is not owner:
            self.seen[id(owner)] = weakref.ref(owner)
        else:
            fresh = False
        self.arrays[node] = (weakref.ref(x) if x is owner else x, fresh)

    def array_of(self, node: Node) -> tuple[Any, bool]:
        """Return the array that a number stands for, if it was written, and if it was made so."""
        found = self.arrays.get(node) if node is not None else None
        if found is None:
            return None, False
        x, fresh = found
        x = x() if isinstance(x, weakref.ref) else x
        if x is None or id(owner_of(x)) not in self.written:
            return None, False
        return x, fresh

    def record(self, y: Any, back: Any, nodes: tuple[Node, ...], fresh: bool = False) -> Recorded:
        """Note that `y` was made from the values `nodes`, and how its cotangent goes back."""
        if type(back) is Inert:
            return y, None
        if not back:
            self.entries.append((back, nodes, None))
            return y, None
        self.count = node = self.count + 1
        self.entries.append((back, nodes, node))
        if isinstance(y, np.ndarray):
            self.note_array(node, y, fresh)
        return y, node

    def back(self, cotangents: dict[Any, Any]) -> None:
        """Walk backwards: pull the cotangents of values back to the inputs, by their numbers."""
        if self.written:
            self.back_with_writes(cotangents)
            return
        owned: set[Node] = set()  # whose cotangent is a buffer of our own
        for back, nodes, node in reversed(self.entries):
            dy = cotangents.pop(node, None) if node is not None else None
            for operand, d in zip(nodes, back(dy), strict=False):
                if operand is None or d is None:
                    continue
                if type(d) is Part:
                    add_part(cotangents, owned, operand, d)
                    continue
                known = cotangents.get(operand)
                if operand in owned:
                    known += d
                else:
                    cotangents[operand] = d if known is None else accumulate(known, d)

    def back_with_writes(self, cotangents: dict[Any, Any]) -> None:
        """Walk backwards where arrays were written: their cotangents live in shadows."""
        store = current_store()
        for node in list(cotangents):
            self.give(store, cotangents, node, cotangents.pop(node))
        for back, nodes, node in reversed(self.entries):
            dy = cotangents.pop(node, None) if node is not None else None
            y, fresh = self.array_of(node)
            if y is not None:
                dy = None
                shadow = store.shadow_view(y) if fresh else None
                if shadow is not None:
                    dy = np.copy(shadow)
                    shadow[...] = 0
            for operand, d in zip(nodes, back(dy), strict=False):
                if operand is not None and d is not None:
                    self.give(store, cotangents, operand, d)

    def give(self, store: Any, cotangents: dict[Any, Any], node: int, d: Any) -> None:
        """Add a cotangent to that of a value: in its shadow, if it lives in written memory."""
        x, _ = self.array_of(node)
        if type(d) is Part:
            if x is not None and not store.overlaps(x):
                d.add_to(store.shadow_view(x, make=True))
                return
            whole = d.zeros()
            d.add_to(whole)
            d = whole
        if x is not None:
            store.add_to_shadow(x, d)
            return
        known = cotangents.get(node)
        cotangents[node] = d if known is None else accumulate(known, d)

    def numbered(self, nodes: tuple[Node, ...], xs: tuple[Any, ...]) -> tuple[Node, ...]:
        """Give written arrays that came from inactive code a number, so that theirs is followed."""
        given = list(nodes)
        for i, x in enumerate(xs, 1):
            if given[i] is None and isinstance(x, np.ndarray) and id(owner_of(x)) in self.written:
                given[i] = self.input(x)
        return tuple(given)

    def run_inactive(self, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Recorded:
        """Run a call that nothing active goes into; log what it changes of what was saved."""
        if isinstance(f, types.FunctionType) and f.__code__.co_flags & 0x20:
            try:
                return self.function((None,) * (1 + len(xs) + len(kws)), f, xs, kws)
            except DifferentiationError:
                return f(*xs, **kws), None  # it can generate nothing active
        if state.captured and not _is_harmless(f, xs, kws):
            held = captured_within(f, *xs, *kws.values())
            if held:
                y, back = guarded(f, xs, kws, held)
                if back is not None:
                    self.entries.append((back, (), None))
                return y, None
        return f(*xs, **kws), None

    def pull(self, nodes: tuple[Node, ...], f: Any, /, *xs: Any, **kws: Any) -> Recorded:
        """Run `f(*xs, **kws)`, record it, and return its value and the value's number."""
        if not is_active(nodes, f, xs, kws):
            return self.run_inactive(f, xs, kws)
        if self.written:
            nodes = self.numbered(nodes, xs)
        if isinstance(f, np.ufunc) and len(xs) == f.nin + 1 and f.nout == 1:
            kws, nodes, xs = {**kws, "out": xs[-1]}, _moved_last(nodes, f.nin), xs[:-1]
        at = out_position(f, len(xs)) if len(xs) > 2 else None
        if at is not None and isinstance(xs[at], np.ndarray | tuple):
            names = parameter_names(f)[at : len(xs)]
            given = dict(zip(names, xs[at:], strict=True))
            nodes = (*nodes[: 1 + at], *nodes[1 + len(xs) :], *nodes[1 + at : 1 + len(xs)])
            xs, kws = xs[:at], {**kws, **given}
        if f is operator.getitem and is_part(*xs):
            return self.read(nodes, *xs)
        if kws.get("out") is not None and not isinstance(f, types.FunctionType | type):
            from zygote_lite._writes import with_out

            return with_out(self, nodes, f, xs, kws)
        found = COMPOSITE.get(id(f))
        if found is not None:
            done = found[1](self, nodes, *xs, **kws)
            if done is not None:
                return done
        pulled = apply_structural(nodes, f, xs, kws)
        if pulled is not None:
            return self.record(*pulled, nodes)
        known = EQUIVALENT.get(id(f))
        done = self.by_rule(nodes, f, xs, kws)
        if done is not None:
            return done
        if known is not None:
            y, node = self.pull(nodes, known[1], *xs, **kws)
            if type(y) is Generated and isinstance(f, type):
                y.kind = f
            return y, node
        if any(type(x) is Generated for x in xs) and not isinstance(f, _MAY_WRITE):
            xs, nodes = self.run_out(xs, nodes)
            done = self.by_rule(nodes, f, xs, kws)
            if done is not None:
                return done
        return self.call(nodes, f, xs, kws)

    def read(self, nodes: tuple[Node, ...], x: Any, index: Any) -> Recorded:
        """Read a part of an array."""
        return self.record(x[index], part_back(x, index), nodes)

    def run_out(self, xs: tuple[Any, ...], nodes: tuple[Node, ...]) -> tuple[Any, tuple[Node, ...]]:
        """Return arguments in which generators are lists of what they generate."""
        given, flags = list(xs), list(nodes)
        for i, x in enumerate(xs):
            if type(x) is Generated:
                given[i], flags[i + 1] = self.pull((None, nodes[i + 1]), list, x)
        return tuple(given), tuple(flags)

    def by_rule(
        self, nodes: tuple[Node, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Recorded | None:
        """Apply a rule, if there is one."""
        pulled = apply_rule(nodes, f, xs, kws)
        if pulled is None:
            return None
        _capture(f, xs)
        return self.record(*pulled, nodes, fresh=True)

    def call(
        self, nodes: tuple[Node, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Recorded:
        """Resolve a call by what the callable stands for."""
        own = getattr(f, "__differentiates__", None)
        if isinstance(own, tuple) and own[0] is f:  # not one that `functools.wraps` copied
            return own[1](self, nodes, xs, kws)  # type: ignore[no-any-return]
        if isinstance(f, types.FunctionType):
            return self.function(nodes, f, xs, kws)
        if isinstance(f, types.MethodType):
            return self.pull((None, nodes[0], *nodes[1:]), f.__func__, f.__self__, *xs, **kws)
        if isinstance(f, functools.partial):
            return self.partial(nodes, f, xs, kws)
        if isinstance(f, types.WrapperDescriptorType) and f.__name__ == "__init__":
            from zygote_lite._construct import initialize

            return initialize(self, nodes, f, xs, kws)
        if isinstance(f, type):
            from zygote_lite._construct import construct

            return construct(self, nodes, f, xs, kws)
        if isinstance(f, types.BuiltinFunctionType | types.MethodWrapperType):
            owner = getattr(f, "__self__", None)
            if isinstance(owner, np.ufunc) and f.__name__ == "at":
                from zygote_lite._writes import ufunc_at

                done = ufunc_at(self, nodes, owner, *xs)
                return self.refuse(nodes, f, xs, kws) if done is None else done
            descriptor = _descriptor_of(f)
            if owner is None or isinstance(owner, types.ModuleType | type) or descriptor is None:
                return self.refuse(nodes, f, xs, kws)
            return self.pull((None, nodes[0], *nodes[1:]), descriptor, owner, *xs, **kws)
        inner = getattr(f, "_implementation", None)
        if inner is None and isinstance(f, functools._lru_cache_wrapper):
            inner = f.__wrapped__
        if isinstance(inner, types.FunctionType):
            if find_rule(operator.add, 1.0, 1.0) is None:  # its source would meet operators
                return self.refuse(nodes, f, xs, kws)
            return self.pull(nodes, inner, *xs, **kws)
        if isinstance(f, operator.attrgetter | operator.itemgetter | operator.methodcaller):
            return self.getter(nodes, f, xs)
        call = inspect.getattr_static(type(f), "__call__", None)
        if isinstance(call, types.FunctionType):
            return self.pull((None, nodes[0], *nodes[1:]), call, f, *xs, **kws)
        return self.refuse(nodes, f, xs, kws)

    def getter(self, nodes: tuple[Node, ...], f: Any, xs: tuple[Any, ...]) -> Recorded:
        """Resolve an `attrgetter`, an `itemgetter` or a `methodcaller`."""
        names = f.__reduce__()[1]
        if isinstance(f, operator.methodcaller):
            if not isinstance(names[0], str):
                return self.refuse(nodes, f, xs, {})
            flags = (None, nodes[1], None, *(None for _ in names[1:]))
            return self.pull(flags, invoke, xs[0], *names)
        found = []
        for name in names:
            y, node = xs[0], nodes[1]
            if isinstance(f, operator.itemgetter):
                y, node = self.pull((None, node, None), operator.getitem, y, name)
            else:
                for part in name.split("."):
                    y, node = self.pull((None, node, None), getattr, y, part)
            found.append((y, node))
        if len(found) == 1:
            return found[0]
        return self.pull((None, *(n for _, n in found)), build_tuple, *(y for y, _ in found))

    def refuse(
        self, nodes: tuple[Node, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Recorded:
        """Run what no gradient can pass through, or raise `NoRuleError`."""
        return self.record(*no_rule(nodes, f, xs, kws), nodes)

    def partial(
        self, nodes: tuple[Node, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Recorded:
        given, node = self.pull((None, nodes[0], None), getattr, f, "args")
        parts = [
            self.pull((None, node, None), operator.getitem, given, i) for i in range(len(given))
        ]
        named = {
            name: self.pull((None, nodes[0], None), operator.getitem, f.keywords, name)
            for name in f.keywords
            if name not in kws
        }
        inner = (None, *(n for _, n in parts), *nodes[1 : 1 + len(xs)])
        inner += (*(n for _, n in named.values()), *nodes[1 + len(xs) :])
        values = {name: value for name, (value, _) in named.items()}
        return self.pull(inner, f.func, *(v for v, _ in parts), *xs, **values, **kws)

    def function(
        self, nodes: tuple[Node, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Recorded:
        """Run the recording code of a Python function on this tape."""
        from zygote_lite._transform import recording_of, run_as_called

        run, is_generator = recording_of(f)
        note_resolution(f, xs, f"transformed, recorded on a tape; {place_of(f)}")
        given = self.bind(nodes, f, xs, kws)
        result = run_as_called(run, (self, given), f, xs, kws)
        if is_generator:
            generated = Generated(result, self)
            mark_active(generated)
            return generated, None
        y, node = result
        return y, node

    def bind(
        self, nodes: tuple[Node, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Return the companions of a function's parameters, from those of a call's operands."""
        names, places = place_arguments(f.__code__, len(xs), tuple(kws))
        given: list[Any] = [None] * len(names)
        variable: dict[int, dict[Any, Node]] = {}
        for (position, key), node in zip(places, nodes[1:], strict=False):
            if key is None:
                given[position] = node
            else:
                variable.setdefault(position, {})[key] = node
        if id(f) in self.defaults:
            for name, node in self.defaults[id(f)][1].items():
                position = names.index(name)
                if (position, None) not in places:
                    given[position] = node
        for position, entries in variable.items():
            if any(entries.values()):
                given[position] = self.collected(entries)
        return tuple(given)

    def collected(self, entries: dict[Any, Node]) -> Any:
        """Return the companion of `*args`; that of `**kwargs` is settled where the dict is made."""
        if isinstance(next(iter(entries)), str):
            return entries
        nodes = (None, *(entries.get(i) for i in range(len(entries))))
        return self.record(None, _spread(len(entries)), nodes)[1]

    def keywords(self, made: dict[str, Any], entries: Any) -> None:
        """Note where the cotangents of the entries of a function's `**kwargs` go."""
        if entries:
            from zygote_lite._structural import adopted

            back = adopted(made, list(entries))
            self.record(None, back, tuple(entries.values()))

    def iterate(self, x: Any, node: Node) -> Iterator[Recorded]:
        """Yield the elements of an iterable, with their numbers, as `for` takes them."""
        if not is_active((node,), iter, (x,), {}):
            for y in x:
                yield y, None
            return
        if type(x) in (list, tuple) or (type(x) is np.ndarray and x.ndim):
            i = 0
            while i < len(x):
                yield self.pull((None, node, None), operator.getitem, x, i)
                i += 1
            return
        iterator, at = self.pull((None, node), iter, x)
        while True:
            try:
                step = self.pull((None, at), next, iterator)
            except StopIteration:
                return
            yield step


def _capture(f: Any, xs: tuple[Any, ...]) -> None:
    """Note what the pullback of a rule may have saved."""
    captured = state.captured
    if captured is None:
        return
    for x in (f, *xs):
        kind = kind_of(x)
        if isinstance(x, np.ndarray):
            owner = owner_of(x)
            captured[id(owner)] = owner
        elif kind in (LIST, DICT, TUPLE):
            if kind != TUPLE:
                captured[id(x)] = x
            for _, entry in entries_of(x):
                if isinstance(entry, np.ndarray):
                    owner = owner_of(entry)
                    captured[id(owner)] = owner


def _is_harmless(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether an inactive call cannot change anything that was saved."""
    if is_writer(f, kws):
        return False
    if all(kind_of(x) <= VALUE and not isinstance(x, np.ndarray) for x in (*xs, *kws.values())):
        return not isinstance(f, _MAY_WRITE)
    if id(f) in STRUCTURAL or id(f) in COMPOSITE or id(f) in EQUIVALENT:
        return all(kind_of(x) != OBJECT for x in xs)
    return not isinstance(f, _MAY_WRITE) and find_rule(f, *xs) is not None


_MAY_WRITE = (types.FunctionType, types.MethodType, type, functools.partial)


def _moved_last(nodes: tuple[Node, ...], count: int) -> tuple[Node, ...]:
    """Return the flags of a call whose last positional argument becomes its last keyword."""
    last = nodes[1 + count]
    return (*nodes[: 1 + count], *nodes[2 + count :], last)


def _descriptor_of(f: Any) -> Any:
    """Return the method of a built-in type that a bound method is of."""
    owner = getattr(f, "__objclass__", None)
    if owner is not None:
        return owner.__dict__.get(f.__name__)
    for base in type(f.__self__).__mro__:
        member = base.__dict__.get(f.__name__)
        if isinstance(member, types.MethodDescriptorType | types.WrapperDescriptorType):
            return member
    return None


def _spread(count: int) -> Any:
    def spread_back(dy: Any) -> tuple[Any, ...]:
        return (None,) * (count + 1) if dy is None else (None, *dy)

    return spread_back


class Returned(StopIteration):
    """The end of a generator: the value that it returned, and the value's number."""

    def __init__(self, value: Any, node: Node) -> None:
        super().__init__(*(() if value is None else (value,)))
        self.node = node


class Generated:
    """A generator whose frame is recorded on a tape."""

    def __init__(self, frame: Any, tape: Tape) -> None:
        self.frame = frame
        self.tape = tape
        self.started = False
        self.kind: type = types.GeneratorType  # what it stands for: a generator, `map`, `zip`, ...

    def step(self, sent: Any = (None, None), throw: tuple[Any, ...] = ()) -> Recorded:
        """Run to the next `yield`, sending a value and its number in, or throwing an error."""
        if not self.started:
            self.started, sent = True, None
        try:
            done: Recorded = self.frame.throw(*throw) if throw else self.frame.send(sent)
            return done
        except StopIteration as stop:
            y, node = stop.value or (None, None)
            end = Returned(y, node)
            if node is not None:
                mark_active(end)
            raise end from None

    def send(self, value: Any) -> Any:
        """Send a value in (differentiated code calls `step`)."""
        return self.__next__()

    def throw(self, *error: Any) -> Any:
        """Raise an error where the generator stands."""
        return self.step(throw=error)[0]

    def close(self) -> None:
        """End the generator."""
        self.frame.close()

    def __iter__(self) -> "Generated":
        return self

    def __next__(self) -> Any:
        y, node = self.step()
        if node is None and not reaches_active(y):
            return y
        raise RuntimeError("a generator through which a gradient passes was iterated from outside")


def via_tape(
    flags: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Any, Any]:
    """Run a call on a tape of its own, and return its value and its pullback."""
    tape = Tape()
    operands = (f, *xs, *kws.values())
    nodes = tuple(
        [tape.input(x) if flag else None for flag, x in zip(flags, operands, strict=True)]
    )
    y, node = tape.pull(nodes, f, *xs, **kws)

    def tape_back(dy: Any) -> tuple[Any, ...]:
        cotangents: dict[Any, Any] = {}
        if node is not None and dy is not None:
            cotangents[node] = dy
        tape.back(cotangents)
        return tuple([cotangents.get(n) if n is not None else None for n in nodes])

    if not tape.entries and node is None:
        return y, inert(len(flags))
    return y, tape_back if node is not None or kind_of(y) >= TUPLE else Effect(tape_back)
