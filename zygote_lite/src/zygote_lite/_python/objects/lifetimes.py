"""Lifetimes: weak references, and code that runs when Python lets go of an object."""

import threading
import types
import weakref
from typing import Any

from rulescore.faults import an
from zygote_lite._activity.marks import mark_new
from zygote_lite._activity.side_effects import callbacks
from zygote_lite._activity.walk import is_reached
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import place_of, where
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()


def refused_end(f: Any) -> Exception:
    """Return the error for code that runs when Python lets go of an object."""
    is_in_python = isinstance(f, types.FunctionType)
    told = f"{f.__qualname__} ({place_of(f)})" if is_in_python else name_of(f)
    return Fault.LIFETIME(
        f"{where()}: {told} runs when Python lets go of an object, and may change what a gradient "
        "depends on: call it yourself, or let it change nothing"
    )


# One with a callback to an object that the run created is refused. The engine holds objects longer
# than the user's code does: until the pullback is gone. So the callback (a `WeakKeyDictionary` has
# one for each key) would run at another time; and if it ran between the call and the pullback, it
# would remove entries that have a cotangent.


def _check_callback(x: Any, callback: Any) -> None:
    """Refuse a callback, unless it changes nothing or the object outlives the run."""
    if callback is None or isinstance(x, type):  # a class lives until the garbage is collected
        return
    if callback is threading._dangling._remove:  # type: ignore[attr-defined]  # of all threads
        return
    hooks = callbacks((callback,))
    if hooks:
        raise refused_end(hooks[0][0])
    if not is_reached(x, state.given):
        raise Fault.LIFETIME(
            f"{where()}: a weak reference with a callback, as `WeakKeyDictionary`, `WeakSet` and "
            f"their kin keep, to {an(type(x).__qualname__)} that the function made itself cannot "
            "be differentiated: when Python lets go of it is not followed; make the object "
            "outside, keep the value in an attribute of it, or use a plain dict"
        )


@handlers.desugared(
    weakref.ref, weakref.proxy, weakref.ref.__new__, weakref.KeyedRef, given=True, always=True
)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any) -> Traced:
    """Make a weak reference or a proxy: of an object, with or without a callback."""
    is_new = f is weakref.ref.__new__  # which is given the class first
    x, *rest = xs[1:] if is_new else xs
    _check_callback(x, rest[0] if rest else None)
    return f(*xs), None


@handlers.desugared(
    weakref.WeakKeyDictionary, weakref.WeakSet, weakref.WeakValueDictionary,
    given=True, always=True,
)  # fmt: skip
def _(cls: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    """Make a container of weak references: all that is done with it is recorded."""
    y = cls()
    mark_new(y)
    if xs or kws:
        tape.call((None, None, *nodes[1:]), cls.update, y, *xs, **kws)
    return y, None


@handlers.desugared(weakref.finalize)
def _(tape: Tape, nodes: Nodes, x: Any, f: Any, *xs: Any, **kws: Any) -> Traced | None:
    hooks = callbacks((f,))
    if hooks or not isinstance(f, types.FunctionType):
        raise refused_end(hooks[0][0] if hooks else f)
    return None
