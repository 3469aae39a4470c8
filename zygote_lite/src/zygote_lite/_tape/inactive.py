"""Calls without active operands: they are simply run, but for what may come to be active.

Which values such a call may change is told as far as its function shows. The steps of a `for` are
calls as well: those of an inactive iterable are simply run.
"""

import functools
import inspect
import operator
import types
from abc import abstractmethod
from collections.abc import Iterator
from numbers import Number
from typing import Any

import numpy as np

from rulescore import find_rule
from zygote_lite._activity.activity import is_active
from zygote_lite._activity.classes import member_of, only_reads
from zygote_lite._activity.marks import PLAIN, is_reading, is_storing, note_kept, note_stored
from zygote_lite._activity.named import may_be_seen_elsewhere
from zygote_lite._activity.outputs import may_read_descriptors
from zygote_lite._activity.reachability import is_users_class
from zygote_lite._activity.saved import guarded, is_writer
from zygote_lite._activity.side_effects import hooks_called, unknown_hooks
from zygote_lite._activity.walk import captured_within, may_reach_active, reaches_active_at_all
from zygote_lite._cotangents.kinds import OBJECT, VALUE, dict_of, is_opaque, kind_of
from zygote_lite._cotangents.registry import (
    DESUGARED,
    EVEN_IF_INACTIVE,
    NAMES_EVEN_IF_INACTIVE,
    STRUCTURAL,
    NodeId,
    Traced,
    has_handler,
)
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import (
    apply,
    build_dict,
    build_list,
    build_set,
    build_slice,
    build_tuple,
    exit_context,
    frame_refusal,
    invoke,
    join_keywords,
    read_cell,
    refuse_locals,
)
from zygote_lite._ir.traits import BY_ID
from zygote_lite._tape.functions import RecordedFunctions
from zygote_lite._tape.generators import Generated, let_go_of_sources, only_the_engine_holds
from zygote_lite._tape.holders import refuse_names_of_caller
from zygote_lite._tape.overwriting import may_overwrite
from zygote_lite._tape.refusals.refusal import hook_refusal, refuse_frame
from zygote_lite.caches import classes_may_have_changed
from zygote_lite.errors import DifferentiationError

CALLS_PYTHON = (types.FunctionType, types.MethodType, type, functools.partial)


HARMLESS = {id(f) for f in (
    build_tuple, build_list, build_dict, build_set, build_slice, isinstance, issubclass, len, type,
    id, callable, bool, operator.truth, operator.not_, operator.is_, operator.is_not,
)}  # fmt: skip


def is_resolved_later(f: Any) -> bool:
    """Return whether a callable stands for another call, which takes generators as they are."""
    if isinstance(f, types.BuiltinFunctionType | types.MethodWrapperType):
        return not isinstance(f.__self__, types.ModuleType | None)
    return isinstance(f, CALLS_PYTHON)


def is_harmless(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether an inactive call cannot change anything that was saved."""
    if f is read_cell:
        return True
    if f is getattr and only_reads(type(xs[0]), xs[1]):
        return True
    if id(f) in HARMLESS and all(type(x) in PLAIN or kind_of(x) != VALUE for x in xs):
        return True  # of what it calls, `hooks` have told
    if is_writer(f, kws) or may_overwrite(f, xs, kws):
        return False
    if isinstance(f, CALLS_PYTHON) or (getattr(f, "__module__", None) or "").startswith(
        "numpy.random"
    ):
        return False
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        descriptor = descriptor_of(f)  # a bound method: what it is bound to may change
        if descriptor is None or is_writer(descriptor, kws):
            return False
        f, xs = descriptor, (owner, *xs)
    if all(isinstance(x, Number | str | bytes | None) for x in (*xs, *kws.values())):
        return True
    if (f is operator.getitem or f is dict.__getitem__) and hasattr(type(xs[0]), "__missing__"):
        return False  # a dict may put there what it makes for the key
    if has_handler(f):
        return all(kind_of(x) != OBJECT and not is_opaque(x) for x in xs)
    return find_rule(f, *xs) is not None


def resolved_anyway(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    """Return the function and its operands, of a call that has a handler even if it is inactive.

    It may be called by its name, as an attribute of a module or as a method.
    """
    if f is apply:
        f, xs, kws = xs[0], xs[1], join_keywords(xs[0], xs[2:])
    elif f is exit_context and xs[1] is None:
        f, xs = type(xs[0]).__exit__, (xs[0], None, None, None)
    elif f is invoke and xs[1] in NAMES_EVEN_IF_INACTIVE:
        x, name, *xs = xs  # type: ignore[assignment]
        if isinstance(x, types.ModuleType):
            f = vars(x).get(name)
        elif name not in (dict_of(x) or ()):
            f, xs = member_of(type(x), name), (x, *xs)
    held: tuple[Any, ...] = ()
    if type(f) is types.MethodType:
        f, held = f.__func__, (f.__self__,)
    elif (
        type(f) is types.BuiltinFunctionType
        and f.__name__ in NAMES_EVEN_IF_INACTIVE
        and not isinstance(f.__self__, types.ModuleType | None)
    ):
        f, held = descriptor_of(f), (f.__self__,)
    return (f, (*held, *xs), kws) if id(f) in EVEN_IF_INACTIVE else None


def refuse_looking(f: Any, xs: tuple[Any, ...]) -> None:
    """Refuse a builtin that looks at the variables of its caller: here that is the engine."""
    if f is apply:
        f, xs = xs[0], xs[1]
    least = _GIVEN_ALL.get(id(f))
    if least is not None and len(xs) < least:
        raise frame_refusal(f"`{f.__name__}` by another name")


_GIVEN_ALL = {id(f): 1 for f in (locals, globals, vars, dir)} | {id(f): 2 for f in (eval, exec)}
"""How many arguments builtins are given at least that look at no variables of their caller."""
_LOOKING_AT_CALLERS = {types.BuiltinFunctionType, type(apply)}


def descriptor_of(f: Any) -> Any:
    """Return the method of a built-in type that a bound method is of."""
    owner = getattr(f, "__objclass__", None)
    if owner is not None:
        return owner.__dict__.get(f.__name__)
    for base in type(f.__self__).__mro__:
        member = base.__dict__.get(f.__name__)
        if isinstance(member, types.MethodDescriptorType | types.WrapperDescriptorType):
            return member
    return None


def _with_its_function(f: Any, xs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return the Python function that is called, as a method too, with all that it is given."""
    if f is invoke:
        x, name, *rest = xs
        if isinstance(x, types.ModuleType):
            f, xs = vars(x).get(name), tuple(rest)
        elif name not in (dict_of(x) or ()):
            f, xs = member_of(type(x), name), (x, *rest)
    elif type(f) is types.MethodType:
        f, xs = f.__func__, (f.__self__, *xs)
    return (f, xs) if type(f) is types.FunctionType else (None, xs)


class InactiveCalls(RecordedFunctions):
    """Run calls that no gradient depends on, so far."""

    __slots__ = ()

    def run_inactive(self, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
        """Run a call without active operands; log its changes of values that pullbacks saved."""
        generated = self.generator_of(f, xs, kws)
        if generated is not None:
            return generated
        if f is invoke or type(f) in (types.FunctionType, types.MethodType):
            refuse_names_of_caller(f, xs, kws)
        if type(f) in _LOOKING_AT_CALLERS:
            refuse_looking(f, xs)
        called, given = _with_its_function(f, xs)
        if called is not None:
            refuse_locals(called)
            reads = state.written_files is not None and may_read_descriptors(called)
            if reads or may_be_seen_elsewhere(called, given):
                nodes = (None,) * (1 + len(given) + len(kws))
                return self.function(nodes, called, given, kws)
        hooks = hooks_called(f, (*xs, *kws.values()))
        if not hooks and id(f) not in STRUCTURAL and id(f) not in DESUGARED:
            hooks = unknown_hooks(f, xs)
            if hooks and reaches_active_at_all(*hooks):
                raise hook_refusal(f, hooks)
        harmless = not (state.captured or state.clean) or (not hooks and is_harmless(f, xs, kws))
        if not harmless:
            state.linked = True  # something may be written into what was found to be inactive
        held = captured_within(f, *xs, *kws.values()) if state.captured and not harmless else []
        if held:
            y, back = guarded(f, xs, kws, held)
            if back is not None:
                self.entries.append((None, (), back))
        else:
            y = f(*xs, **kws)
        if id(f) not in BY_ID or hooks:
            classes_may_have_changed()
        note_kept(f, xs, kws, y)
        if id(f) in STRUCTURAL and not is_reading(f):
            self.note_unmarked(f, (*xs, *kws.values()))
        if type(y) is types.FrameType:
            refuse_frame()
        return y, None

    def note_unmarked(self, f: Any, xs: tuple[Any, ...]) -> None:
        """Note that something holds values that reach something active unmarked, as closures do."""
        kept = xs[is_storing(f) :]
        if not PLAIN.issuperset(map(type, kept)) and may_reach_active(*kept):
            note_stored(f, xs)

    def generator_of(self, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced | None:
        """Make the generator that an inactive call makes, if it does: it may come to be active."""
        made = member_of(type(xs[0]), "__iter__") if f is iter and len(xs) == 1 else f
        if (
            not isinstance(made, types.FunctionType)
            or not made.__code__.co_flags & inspect.CO_GENERATOR
        ):
            return None
        try:
            return self.function((None,) * (1 + len(xs) + len(kws)), made, xs, kws)
        except DifferentiationError:
            return f(*xs, **kws), None  # it can generate nothing active


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
            yield from steps_by_index(self, x, node)
            return
        iterator, at = self.call((None, node), iter, x)
        is_made_here = type(iterator) is Generated and (owned or iterator is not x)
        sources = iterator.sources() if is_made_here and state.generators else []
        try:
            while True:
                try:
                    step = self.call((None, at), next, iterator)
                except StopIteration:
                    break
                yield step
        finally:
            # In `state.active` and `iterator`. A generator that is iterated itself is also in `x`,
            # and in the variable of the recording code that it came from.
            held = 4 if iterator is x else 2
            if is_made_here and only_the_engine_holds(iterator, held):
                iterator.let_go()
                let_go_of_sources(sources)

    def iterate_inactive(self, x: Any) -> Iterator[Traced]:
        """Yield the elements of an inactive iterable, which may become active during iteration."""
        if type(x) is list or (type(x) is np.ndarray and x.ndim and x.dtype == object):
            i = 0
            while i < len(x):
                state.resolved += 1
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
            state.resolved += 1
            yield y, None
            if len(state.active or ()) != known:
                known = len(state.active or ())
                if is_active((None,), next, (iterator,), {}):
                    break
        else:
            return
        yield from steps_by_next(self, iterator, None)


def steps_by_index(tape: Iteration, x: Any, node: NodeId) -> Iterator[Traced]:
    """Yield the items of a sequence, each read by its index when it is asked for."""
    i = 0
    while i < len(x):
        yield tape.call((None, node, None), operator.getitem, x, i)
        i += 1


def steps_by_next(tape: Iteration, iterator: Any, node: NodeId) -> Iterator[Traced]:
    """Yield what calls of `next` give."""
    while True:
        try:
            step = tape.call((None, node), next, iterator)
        except StopIteration:
            return
        yield step
