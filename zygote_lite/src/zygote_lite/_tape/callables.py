"""What calls of each kind of callable stand for: methods, partials, classes, objects, ...

One handler for each class of callables; the tape looks a callable's class up, then the classes
that it inherits from, and `object` last.
"""

import functools
import operator
import types
import weakref
from typing import Any

import numpy as np

from zygote_lite._activity.classes import member_of
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.kinds import TUPLE, VALUE, kind_of
from zygote_lite._cotangents.registry import (
    BY_CODE,
    CLASS_METHODS,
    Handlers,
    Nodes,
    Traced,
)
from zygote_lite._ir.intrinsics import build_tuple, invoke
from zygote_lite._ir.source import compiled_by_numba
from zygote_lite._tape.holders import of_jitclass, refuse_number_of_mpmath, refused_holder
from zygote_lite._tape.inactive import descriptor_of
from zygote_lite._tape.tape import Tape

handlers = Handlers()

Arguments = tuple[Any, ...]
Keywords = dict[str, Any]


@handlers.callables(types.FunctionType)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Arguments, kws: Keywords) -> Traced:
    """Run the recording code of a Python function, or what is declared for its code."""
    if f.__module__ == "mpmath.libmp.libmpf":
        refuse_number_of_mpmath(f)
    declared = BY_CODE.get(f.__code__)
    for body in () if declared is None else declared.bodies(xs, kws, before=3):
        done: Traced | None = body(tape, nodes, f, *xs, **kws)
        if done is not None:
            return done
    return tape.function(nodes, f, xs, kws)


@handlers.callables(types.MethodType)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Arguments, kws: Keywords) -> Traced:
    return tape.call((None, nodes[0], *nodes[1:]), f.__func__, f.__self__, *xs, **kws)


@handlers.callables(functools.partial)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Arguments, kws: Keywords) -> Traced:
    """Resolve a partial: the call of its function with all arguments."""
    given, node = tape.call((None, nodes[0], None), getattr, f, "args")
    parts = [tape.call((None, node, None), operator.getitem, given, i) for i in range(len(given))]
    named = {
        name: tape.call((None, nodes[0], None), operator.getitem, f.keywords, name)
        for name in f.keywords
        if name not in kws
    }
    inner = (None, *(n for _, n in parts), *nodes[1 : 1 + len(xs)])
    inner += (*(n for _, n in named.values()), *nodes[1 + len(xs) :])
    values = {name: value for name, (value, _) in named.items()}
    return tape.call(inner, f.func, *(v for v, _ in parts), *xs, **values, **kws)


@handlers.callables(operator.attrgetter, operator.itemgetter)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Arguments, kws: Keywords) -> Traced:
    found = []
    for name in f.__reduce__()[1]:
        y, node = xs[0], nodes[1]
        if isinstance(f, operator.itemgetter):
            y, node = tape.call((None, node, None), operator.getitem, y, name)
        else:
            for part in name.split("."):
                y, node = tape.call((None, node, None), getattr, y, part)
        found.append((y, node))
    if len(found) == 1:
        return found[0]
    return tape.call((None, *(n for _, n in found)), build_tuple, *(y for y, _ in found))


@handlers.callables(operator.methodcaller)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Arguments, kws: Keywords) -> Traced:
    names = f.__reduce__()[1]
    if not isinstance(names[0], str):
        return tape.refuse(nodes, f, xs, {})
    return tape.call((None, nodes[1], None, *(None for _ in names[1:])), invoke, xs[0], *names)


@handlers.callables(weakref.ref)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Arguments, kws: Keywords) -> Traced | None:
    """Return the object of a weak reference, whose cotangents are known by its address."""
    x = f(*xs, **kws)
    is_known = kind_of(x) not in (VALUE, TUPLE) or not reaches_active(x)
    return (x, None) if is_known else None


@handlers.callables(types.BuiltinFunctionType, types.MethodWrapperType)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Arguments, kws: Keywords) -> Traced | None:
    """Resolve a method written in C that is bound: as the method of its class."""
    owner = getattr(f, "__self__", None)
    known = CLASS_METHODS.get((owner, f.__name__)) if isinstance(owner, type) else None
    if known is not None:
        return tape.call(nodes, known, *xs, **kws)
    is_method = not isinstance(owner, types.ModuleType | type | None)
    if not is_method and not (isinstance(owner, type) and isinstance(f, types.MethodWrapperType)):
        return None
    descriptor = descriptor_of(f)
    if descriptor is None:
        return None
    return tape.call((None, nodes[0], *nodes[1:]), descriptor, owner, *xs, **kws)


@handlers.callables(object)
def _(tape: Tape, nodes: Nodes, f: Any, xs: Arguments, kws: Keywords) -> Traced | None:
    """Resolve an object by the `__call__` of its class, and a function of Numba's by its Python."""
    python: Any = compiled_by_numba(f, of_entries=not kws)
    made = None if python is None or python.__module__ else of_jitclass(f, xs)
    if made is not None:
        raise made  # its code was made by Numba, for data that lie in Numba's own memory
    if python is not None and str(python.__module__).startswith("numba.typed."):
        raise refused_holder(python)  # a method calls itself there, by the code that it stands for
    if python is not None and compiled_by_numba(f) is None and any(map(np.ndim, xs)):
        none = [np.ravel(x)[:0] if np.ndim(x) else x for x in xs]  # no entry runs twice
        python = np.vectorize(python, otypes=[f(*none).dtype])  # and no first one decides
    if python is not None:
        return tape.call(nodes, python, *xs, **kws)
    call = member_of(type(f), "__call__")
    if not isinstance(call, types.FunctionType):
        bound = call.__get__(f) if hasattr(type(call), "__get__") else None
        if type(bound) is not types.MethodType or bound.__self__ is not f:
            return None
        call = bound.__func__  # an object that a decorator made, as `checkpoint` does
    return tape.call((None, nodes[0], *nodes[1:]), call, f, *xs, **kws)
