"""Context variables: what is set is kept beside the variable, in a list that the tape follows.

A value that is read must be the one that was set last here. Where it is another one, a copy of the
context was made, and no gradient is known.
"""

import contextvars
import operator
from typing import Any

from zygote_lite._activity.marks import note_outside
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import build_list
from zygote_lite._ir.places import where
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault
from zygote_lite.modes import current, switched

handlers = Handlers()

Variable = contextvars.ContextVar[Any]
_VARIABLE = contextvars.ContextVar
_Bindings = list[tuple[Any, list[Any]]]


def _bindings_of(variable: Variable) -> _Bindings | None:
    """Return the tokens of a variable and what each stands for, since it was set to what is active.

    The values are in lists, by which the tape knows them.
    """
    found = state.bindings.get(id(variable))
    return None if found is None else found[1]


@handlers.desugared(contextvars.ContextVar.set, always=True)
def _(tape: Tape, nodes: Nodes, variable: Variable, value: Any) -> Traced:
    token = variable.set(value)
    active = nodes[2] is not None or reaches_active(value)
    if active and id(variable) not in state.bindings:
        state.bindings[id(variable)] = variable, []
    bindings = _bindings_of(variable)
    if bindings is not None:
        bindings.append((token, tape.call((None, nodes[2]), build_list, value)[0]))
    if active and state.active is not None:
        state.active[id(variable)] = variable
        note_outside()  # functions reach it by name
    return token, None


@handlers.desugared(contextvars.ContextVar.get, always=True)
def _(tape: Tape, nodes: Nodes, variable: Variable, *default: Any) -> Traced:
    y = variable.get(*default)
    bindings = _bindings_of(variable)
    if not bindings:
        return y, nodes[2] if default and y is default[0] else None
    held = bindings[-1][1]
    if held[0] is not y:
        raise _refused_copy(variable)
    return tape.call((None, None, None), list.__getitem__, held, 0)


@handlers.desugared(operator.getitem, contextvars.Context.get, of=contextvars.Context, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, context: Any, *xs: Any) -> Traced | None:
    """Read a copy of the context: what a variable holds there is what it was set to, once."""
    if not isinstance(context, contextvars.Context) or not isinstance(xs[0], _VARIABLE):
        return None
    y = f(context, *xs)
    if xs[0] not in context:
        return y, nodes[3] if len(nodes) > 3 else None
    bindings = _bindings_of(xs[0])
    for _, held in reversed(bindings or []):
        if held[0] is y:
            return tape.call((None, None, None), list.__getitem__, held, 0)
    if bindings is not None:  # it was set, and reset since
        raise _refused_copy(xs[0])
    return y, None


@handlers.desugared(contextvars.ContextVar.reset, always=True)
def _(tape: Tape, nodes: Nodes, variable: Variable, token: Any) -> Traced:
    variable.reset(token)
    bindings = _bindings_of(variable)
    while bindings and bindings.pop()[0] is not token:
        pass
    return None, None


@handlers.desugared(contextvars.Context.run, always=True)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    for variable, bindings in state.bindings.values():
        if bindings:
            raise _refused_copy(variable)
    if len(xs) < 2 or not (any(n is not None for n in nodes) or reaches_active(*xs)):
        return None
    context, f, *given = xs
    mode = dict(vars(current()))

    def call() -> Traced:
        with switched(**mode):  # a mode belongs to a context, too
            return tape.call(tuple(nodes[2:]), f, *given, **kws)

    found: Traced = context.run(call)
    return found


def _refused_copy(variable: Variable) -> Exception:
    return Fault.THREAD(
        f"{where()}: the context variable `{variable.name}` was set to what depends on what is "
        "differentiated, and code runs in another copy of the context: no gradient is known "
        "there; give it the value as an argument"
    )
