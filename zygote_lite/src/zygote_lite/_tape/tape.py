"""The tape: it runs the calls of recorded code, resolves each, and records its pullback.

One tape serves a whole tree of calls: a function called from recorded code records on the same
tape, so that exceptions, generators and callbacks need nothing of their own.
"""

import inspect
import operator
import types
from collections import deque
from typing import Any

import numpy as np

from rulescore import find_rule
from zygote_lite._activity.activity import is_active, is_fields_view
from zygote_lite._activity.classes import fields_of, member_of, overrides_iteration
from zygote_lite._activity.doubts import is_of_objects
from zygote_lite._activity.saved import note_captured
from zygote_lite._activity.side_effects import hooks_called, hooks_of_operands
from zygote_lite._activity.walk import captured_within, reaches_active, reaches_active_at_all
from zygote_lite._activity.wholes import note_whole, rewritten
from zygote_lite._cotangents.indexed import is_part, part_back
from zygote_lite._cotangents.kinds import (
    TUPLE,
    is_converted,
    is_known_by_rule,
    is_opaque,
    kind_of,
    own_derivative,
)
from zygote_lite._cotangents.registry import (
    BY_OPTION,
    CALLABLES,
    DESUGARED,
    DIRECT,
    EVEN_IF_INACTIVE,
    IN_PYTHON,
    RETURNS_NEW_ARRAY,
    STRUCTURAL,
    NodeId,
    NoPullback,
    TextPullback,
    Traced,
    UndoOnly,
    ValueAndPullback,
    no_pullback,
)
from zygote_lite._cotangents.run import state
from zygote_lite._tape.arguments import is_called_in_python, with_named_out
from zygote_lite._tape.entries import hand_on
from zygote_lite._tape.generators import Generated, class_of_iterator, refuse_whole_iterators
from zygote_lite._tape.holders import computes_in_c, refuse_plain_numbers, refused_holder
from zygote_lite._tape.inactive import Iteration, is_resolved_later, resolved_anyway
from zygote_lite._tape.overwriting import overwritten, refuse_contents
from zygote_lite._tape.refusals.refusal import (
    hook_refusal,
    no_rule,
    refusal,
    refused_fields,
    refused_whole,
)
from zygote_lite._tape.room import expected_entries, note_entries, with_room
from zygote_lite._tape.rules import apply_rule, with_texts


class Tape(Iteration):
    """Run the calls of recorded code, and record the pullback of each."""

    __slots__ = ()

    def call(self, nodes: tuple[NodeId, ...], f: Any, /, *xs: Any, **kws: Any) -> Traced:
        """Run `f(*xs, **kws)`, record it, and return its value and the value's number.

        The plainest calls are resolved at once, as what follows would resolve them (`DIRECT`):
        operations of numbers, reading what lists and objects hold, building and unpacking tuples.
        All others are resolved in this order:

        1. inactive, because no operand depends on a differentiated argument: it is simply run;
        2. `x[i]` of an array, whose cotangent is added in place (`read`), and a rule for values
           of a type that a rule set knows as a whole (`of_known`);
        3. a call that stands for other calls: `out=`, and the handlers that desugar it;
        4. the Python equivalent, if C would call user methods that matter (`hooks`);
        5. a structural pullback of the engine: attributes, construction, subscripts;
        6. a rule of an installed plugin, through `rulescore`;
        7. the Python equivalent of a function written in C;
        8. the call again with its generators run out into lists, if C would step them, and its
           deques, if a rule takes lists;
        9. the meaning of the callable, by its class: transformed code for a function, or its
           code; a method's function, the `__call__` of an object, ... (`by_callable`);
        10. an error that names the function and the place, unless it cannot carry a gradient.

        Why in this order: writes and containers (2, 3, 5) come before rules (6), because a rule
        sees only values, and their cotangents are known by address. Step 4 comes before 5 and
        6, because handlers and rules would let C call such methods unrecorded. A rule comes
        before the Python equivalent (7) and the function's source (9): its author declares it to
        be the derivative, and it is faster.
        """
        direct = None if kws else DIRECT.get(id(f))
        if direct is not None:
            done: Traced | None = direct(self, nodes, f, xs)
            if done is not None:
                return done
        return self.resolve(nodes, f, xs, kws)

    def resolve(
        self, nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced:
        """Resolve a call in the order that `call` describes."""
        state.resolved += 1
        if state.has_texts:
            nodes = with_texts(nodes, (*xs, *kws.values()), self.text_node())
        hooks = hooks_called(f, xs if not kws or f is dict else (*xs, *kws.values()))
        active = is_active(nodes, f, xs, kws) or id(f) in EVEN_IF_INACTIVE
        if not active and not (hooks and reaches_active(*hooks)):
            meant = resolved_anyway(f, xs, kws)
            if meant is None:
                return self.run_inactive(f, xs, kws)
            f, xs, kws = meant
            return self.call((None,) * (1 + len(xs) + len(kws)), f, *xs, **kws)
        if self.written:
            nodes = self.numbered(nodes, xs)
        if dict in map(type, xs) and any(map(is_fields_view, xs)):
            raise refused_fields("an object")
        of_array = hooks and xs and isinstance(xs[0], np.ndarray)
        if of_array and not any(id(x) in state.held for x in xs) and reaches_active_at_all(*hooks):
            raise hook_refusal(f, hooks)
        if f is operator.getitem and not kws and is_part(*xs):
            return self.read(nodes, *xs)
        if not _WITHOUT_METHODS.issuperset(map(type, xs)) and any(
            is_known_by_rule(type(x)) for x in xs
        ):
            done = self.of_known(nodes, f, xs, kws)
            if done is not None:
                return done
        done = self.desugared(nodes, f, xs, kws)
        if done is not None:
            return done
        declared = IN_PYTHON.get(id(f))
        known = None if declared is None else next(iter(declared.bodies(xs, kws)), None)
        reaches = reaches_active if known is not None else reaches_active_at_all
        if hooks and (reaches(*hooks) or captured_within(*hooks)):
            if known is None:
                raise hook_refusal(f, hooks)
            return self.call(nodes, known, *xs, **kws)
        declared = STRUCTURAL.get(id(f))
        for body in () if declared is None else declared.bodies(xs, kws, before=1):
            pulled = body(nodes, *xs, **kws)
            if pulled is not None:
                y, back = pulled
                return self.record(y, back, nodes, fresh=id(f) in RETURNS_NEW_ARRAY)
        # C would step a generator unrecorded, and call methods: a rule is for the values
        in_python = known is not None and (
            any(type(x) is Generated for x in xs) or is_of_objects(f, xs)
        )
        done = None if in_python else self.by_rule(nodes, f, xs, kws)
        if done is not None:
            return done
        if known is not None:
            y, node = self.call(nodes, known, *xs, **kws)
            if type(y) is Generated and all(x is not y for x in xs):
                y.kind = class_of_iterator(f, xs)
            return y, node
        as_lists = deque in map(type, xs) and takes_lists(f, xs)
        if as_lists or (any(type(x) is Generated for x in xs) and not is_resolved_later(f)):
            refuse_whole_iterators(f, xs)
            xs, nodes = self.run_out(xs, nodes)
            return self.call(nodes, f, *xs, **kws)
        return self.by_callable(nodes, f, xs, kws)

    def of_known(
        self, nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced | None:
        """Apply the rule for a value that goes by value because a rule set says so.

        It comes before the methods of its class, which would be recorded field by field. A rule
        for `getattr` is for what is in the `__dict__`; a property has a rule of its own.
        """
        if f is getattr and len(xs) == 2 and is_known_by_rule(type(xs[0])):
            member = member_of(type(xs[0]), xs[1])
            if inspect.isdatadescriptor(member) and find_rule(member, xs[0]) is not None:
                return self.by_rule((None, nodes[1]), member, xs[:1], {})
            if xs[1] not in fields_of(xs[0]):
                return None
        return self.by_rule(nodes, f, xs, kws)

    def desugared(
        self, nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced | None:
        """Resolve a call by the other calls that it stands for, if it does."""
        is_asked = kws or len(xs) > 2 or isinstance(f, np.ufunc)
        if is_asked and not isinstance(f, types.FunctionType | type) and not is_called_in_python(f):
            nodes, xs, kws = with_named_out(nodes, f, xs, kws)
            for name, option in BY_OPTION.items():
                if kws.get(name) is not None:
                    done: Traced | None = option.for_all[0](self, nodes, f, xs, kws)
                    return done
        declared = DESUGARED.get(id(f))
        for body in () if declared is None else declared.bodies(xs, kws, before=2):
            done = body(self, nodes, *xs, **kws)
            if done is not None:
                return done
        declared = DESUGARED.get(id(type(f))) if isinstance(f, np.ufunc) else None
        for body in () if declared is None else declared.bodies(xs, kws, before=3):
            done = body(self, nodes, f, *xs, **kws)
            if done is not None:
                return done
        return None

    def text_node(self) -> NodeId:
        """Return a node for a text that comes out of a container: it gets no cotangent."""
        return self.input()

    def read(self, nodes: tuple[NodeId, ...], x: Any, index: Any) -> Traced:
        """Read a part of an array."""
        return self.record(x[index], part_back(x, index), nodes)

    def write(self, nodes: tuple[NodeId, ...], f: Any, x: Any, index: Any, value: Any) -> None:
        """Write into an array (by `write_array` or `add_at`), and record it in any case."""
        nodes = self.numbered(nodes, (x, index, value))
        y, back = STRUCTURAL[id(f)].for_all[0](nodes, x, index, value)
        self.record(y, back, nodes)

    def run_out(
        self, xs: tuple[Any, ...], nodes: tuple[NodeId, ...]
    ) -> tuple[Any, tuple[NodeId, ...]]:
        """Return arguments with lists for generators, deques and lists that iterate by themselves.

        A rule would take the cotangents of what is generated for those of what the list holds.
        """
        given, flags = list(xs), list(nodes)
        for i, x in enumerate(xs):
            if type(x) in (Generated, deque) or overrides_iteration(type(x)):
                given[i], flags[i + 1] = self.call((None, nodes[i + 1]), list, x)
        return tuple(given), tuple(flags)

    def as_read_by_rules(
        self, nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> tuple[tuple[NodeId, ...], tuple[Any, ...]]:
        """Return the operands of a call as its rule reads them; refuse those that it may not."""
        if find_rule(f, *xs) is not None:  # else nothing is read: to look for hooks takes time
            hooks = hooks_of_operands(f, (*xs, *kws.values()))
            if hooks and reaches_active_at_all(*hooks):
                raise hook_refusal(f, hooks)
        if any(overrides_iteration(type(x)) for x in xs):
            rule = None if isinstance(f, types.FunctionType) else find_rule(f, *xs)
            if rule is not None and rule.kind != "constant":
                if getattr(f, "__module__", None) not in ("builtins", "math"):
                    raise refusal(f, xs)  # others read by index, or by the memory of a list
                xs, nodes = self.run_out(xs, nodes)
        return nodes, xs

    def by_rule(
        self, nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced | None:
        """Apply a rule, if there is one."""
        simple = _WITHOUT_METHODS.issuperset(map(type, xs)) and not kws
        if not simple:
            refuse_plain_numbers(xs)
            nodes, xs = self.as_read_by_rules(nodes, f, xs, kws)
        pulled = apply_rule(nodes, f, xs, kws)
        if pulled is None:
            return None
        if type(pulled[1]) is NoPullback:  # which saves nothing: `len(x)` reads no entry
            return self.record(*pulled, nodes, fresh=True)
        for n, x in () if simple else zip(nodes[1:], xs, strict=False):
            if id(x) in state.held and computes_in_c(x):
                raise refused_holder(x)
            if (
                n is None
                and is_opaque(x)
                and not is_known_by_rule(type(x))
                and reaches_active_at_all(x)
            ):
                raise refusal(f, xs)  # it is over memory that was written since
        whole = rewritten(nodes[1:], xs) if state.written and not simple else None
        if whole is not None:
            raise refused_whole(f, whole)
        if type(pulled[1]) is not TextPullback:  # which saves nothing, either
            note_captured(f, (*xs, *kws.values()) if kws else xs)
        y, node = self.record(*pulled, nodes, fresh=True)
        if kws or bool in map(type, xs):
            for option, x in overwritten(f, xs, kws):
                refuse_contents(self, f, option, x)
        if node is not None and is_known_by_rule(type(y)):
            note_whole(y)
        return y, node

    def by_callable(
        self, nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced:
        """Resolve a call by the class of its callable."""
        own = own_derivative(f)
        if isinstance(own, tuple) and own[0] is f:  # not one that `functools.wraps` copied
            found: Traced = own[1](self, nodes, xs, kws)
            return found
        for kind in type(f).__mro__:
            declared = CALLABLES.get(id(kind))
            for body in () if declared is None else declared.bodies(xs):
                done: Traced | None = body(self, nodes, f, xs, kws)
                if done is not None:
                    return done
        return self.refuse(nodes, f, xs, kws)

    def refuse(
        self, nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
    ) -> Traced:
        """Run a call without a gradient, if none has to pass through it, or raise `NoRuleError`.

        NumPy makes arrays of JAX its own, in calls of its functions: then that is recorded, too.
        """
        of_numpy = type(f) is np.ufunc or str(getattr(f, "__module__", "")).startswith("numpy")
        given = [np.asarray(x) if is_converted(type(x)) else x for x in xs] if of_numpy else []
        if any(x is not y for x, y in zip(given, xs, strict=False)) and find_rule(f, *given, **kws):
            found = [
                self.call((None, n), np.asarray, x) if is_converted(type(x)) else (x, n)
                for x, n in zip(xs, nodes[1:], strict=False)
            ]
            xs, at = zip(*found, strict=True)
            return self.call((nodes[0], *at, *nodes[1 + len(xs) :]), f, *xs, **kws)
        return self.record(*no_rule(nodes, f, xs, kws), nodes)


def takes_lists(f: Any, xs: tuple[Any, ...]) -> bool:
    """Return whether there is a rule for a call with lists in the place of its deques."""
    return find_rule(f, *[[*x] if type(x) is deque else x for x in xs]) is not None


_WITHOUT_METHODS = {
    float,
    int,
    bool,
    complex,
    str,
    type(None),
    slice,
    np.ndarray,
    np.float64,
    np.int64,
}


def via_tape(
    flags: tuple[Any, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> ValueAndPullback:
    """Run a call on a tape of its own, and return its value and its pullback.

    Arguments:
        flags: for `f`, for each argument and each keyword in order, whether it is differentiated.
        f, xs, kws: the call.

    The pullback maps the cotangent of the value to a tuple of those of `f`, the arguments and
    the keywords; it is false where the value is inactive.
    """
    tape = Tape()
    operands = (f, *xs, *kws.values())
    nodes = tuple(
        [tape.input(x) if flag else None for flag, x in zip(flags, operands, strict=True)]
    )
    chooses = state.chooses
    y, node = with_room(tape.call, expected_entries(f))(nodes, f, *xs, **kws)
    note_entries(f, len(tape.entries))
    if tape.written:
        _, node = tape.numbered((None, node), (y,))  # an array of the function's own, written

    def tape_back(dy: Any) -> tuple[Any, ...]:
        cotangents: dict[Any, Any] = {}
        if node is not None and dy is not None:
            hand_on(cotangents, node, dy, set())
        chose, state.chooses = state.chooses, chooses
        try:
            with_room(tape.back, len(tape.entries))(cotangents)
        finally:
            state.chooses = chose
        return tuple(map(cotangents.get, nodes))

    if not tape.entries and node is None:
        return y, no_pullback(len(flags))
    return y, tape_back if node is not None or kind_of(y) >= TUPLE else UndoOnly(tape_back)
