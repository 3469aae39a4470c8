"""Marks: which containers hold active values, and whether code outside the run can reach one.

What was there before the run reaches something active only after an active value was written into
something that code outside the run can reach. `state.outside` counts such writes; the arguments
that are differentiated and have an address count too. While it is zero, a container holds active
values only if it is marked, so that nothing needs to be walked (`walk`).

A container that recorded code makes is *private* until a call that is simply run is given it:
that call may keep it anywhere. What is stored in a private container is private as long as that is.
"""

import operator
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._activity.classes import computes
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    OBJECT,
    VALUE,
    held_by,
    is_written_in_python,
    kind_of,
    own_fields,
    owner_of,
)
from zygote_lite._cotangents.run import FieldsView, is_shared, state
from zygote_lite._ir.intrinsics import (
    build_dict,
    build_list,
    build_set,
    build_tuple,
    invoke,
    join_dict,
    join_list,
    join_set,
    join_tuple,
    matches_sequence,
    read_cell,
    write_cell,
)
from zygote_lite._ir.places import where
from zygote_lite._ir.traits import BY_ID, HEAPTYPE, NO_TRAITS
from zygote_lite.errors import Fault

_MOST_PRIVATE, _NEWEST, _SMALL_ENOUGH = 256, 32, 64
"""Private containers that are remembered, and of the older ones those that are small.

What is not remembered counts as if anything could reach it.
"""


def forget_marks() -> None:
    """Forget what is known of who holds what, as a run begins or ends."""
    state.linked, state.outside = False, 0
    state.resolved, state.walked, state.searched, state.looked = 0, 0, 0, 0
    state.doubted = False
    for known in (
        state.clean,
        state.vast,
        state.private,
        state.holders,
        state.reaching,
        state.shared,
        state.lent,
        state.bindings,
        state.variables,
    ):
        known.clear()


def mark_new(x: Any) -> None:
    """Note that a container that has just been made holds an active value."""
    if state.active is not None:
        state.active[id(x)] = x


def mark_active(x: Any) -> None:
    """Note that a container holds an active value now."""
    active = state.active
    if active is None or id(x) in active:
        return
    if is_shared(x):
        raise Fault.THREAD(
            f"{where()}: what depends on what is differentiated is written into "
            f"{an(type(x).__name__)} that another thread may read, and no gradient passes through "
            "what is computed there: join the thread first, or call the function here"
        )
    active[id(x)] = x
    above = _above(x)
    if above is None:
        note_outside(x)
        return
    for holder in above:
        state.reaching[id(holder)] = holder
        state.clean.pop(id(holder), None)


def note_reaching(x: Any) -> None:
    """Note that a container may hold one that holds an active value."""
    state.reaching[id(x)] = x


def mark_fields(x: Any, fields: Any) -> None:
    """Note that the `__dict__` of an object (or class) holds an active value now."""
    if state.active is not None:
        known = own_fields(x) is fields
        state.active.setdefault(id(fields), fields if known else FieldsView(fields))
        if id(fields) in state.clean:
            note_outside(fields)


def note_outside(x: Any = None) -> None:
    """Note that code outside the run may reach something active, by what `x` is now."""
    known = not state.linked and id(x) not in state.clean and stays_clean(x)
    if not state.outside or not known or (type(x) is dict and is_namespace(x)):
        forget_clean()
    state.outside += 1


def note_stored(f: Any, xs: tuple[Any, ...]) -> None:
    """Note that some of the operands of a call may now hold what reaches something active."""
    known = id(f) in _WRITES_NOTHING or (not state.linked and all(map(_holds_itself_alone, xs)))
    if not known or not state.outside:
        forget_clean()
    state.outside += 1


_WRITES_NOTHING = {id(f) for f in (
    dict.__getitem__, dict.get, dict.items, dict.keys, dict.values, list.__getitem__,
    tuple.__getitem__,
)}  # fmt: skip


def writes_nothing(*functions: Any) -> None:
    """Declare that functions of the engine write into nothing that was there before."""
    _WRITES_NOTHING.update(map(id, functions))


def _holds_itself_alone(x: Any) -> bool:
    """Return whether nothing that was found to reach nothing active can hold a value."""
    if type(x) in PLAIN:
        return True
    return stays_clean(x) and id(x) not in state.clean and id(own_fields(x)) not in state.clean


def forget_clean() -> None:
    """Forget what was found to reach nothing active."""
    state.clean.clear()
    state.linked = False


def is_namespace(variables: dict[str, Any]) -> bool:
    """Return whether a dict is that of a module, which functions reach by name."""
    return "__builtins__" in variables or "__spec__" in variables


def stays_clean(x: Any) -> bool:
    """Return whether a value holds something active only after it, or what it holds, is marked."""
    kind = kind_of(x)
    if kind == FUNCTION:  # a private cell is marked without a look at the functions that hold it
        return not any(map(is_private, held_by(x)))
    if kind == OBJECT:
        return type(x) is types.CellType or is_users_object(x)
    return kind != VALUE  # such as an iterator, which holds now this and now that


def is_users_object(x: Any) -> bool:
    """Return whether an object gets what it holds by code that is recorded, or inactive."""
    kind = type(x)
    return is_written_in_python(kind) and not kind.__module__.startswith("zygote_lite.")


def _above(x: Any) -> list[Any] | None:
    """Return a private container and all that holds it; `None` where it is not private."""
    found: dict[int, Any] = {}
    stack = [x]
    while stack:
        y = stack.pop()
        if id(y) in found:
            continue
        if not is_private(y):
            if y is x or id(y) not in state.active:  # type: ignore[operator]
                return None
            continue
        found[id(y)] = y
        stack += state.holders.get(id(y), ())
    return [*found.values()]


# -- what calls that are simply run do with their operands --------------------------------------

_KEEP_NOTHING = {id(f) for f in (
    len, bool, isinstance, issubclass, callable, operator.truth, operator.not_, operator.is_,
    operator.is_not, operator.contains, read_cell, matches_sequence,
)}  # fmt: skip
_BUILD = {id(f) for f in (
    build_dict, build_list, build_set, build_tuple, join_dict, join_list, join_set, join_tuple,
    list, tuple, dict, set,
)}  # fmt: skip
_COMBINE = {id(f) for f in (operator.mul, operator.add, operator.concat)}
_STORE = {id(f) for f in (setattr, object.__setattr__, operator.setitem, write_cell, list.append)}
_METHODS_THAT_STORE = {"append", "add", "insert", "setdefault"}
_METHODS_THAT_COPY = {"extend", "update"}
_METHODS_THAT_KEEP_NOTHING = {"clear", "count", "get", "index", "pop", "remove"}
_BUILTIN = {list, tuple, dict, set}
PLAIN = {float, int, bool, complex, str, bytes, type(None), np.float64, np.int64, slice}
_SIMPLE = _BUILTIN | PLAIN
BOUND = {types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType}
_PLAIN_KEYS = {int, str, float, np.int64}


def note_made(y: Any) -> None:
    """Note a container that the run has made, and that nothing but its variables holds."""
    private = state.private
    private[id(y)] = weakref.ref(y) if type(y) is np.ndarray else y
    if len(private) > _MOST_PRIVATE:
        _forget(next(iter(private)))
    state.made += 1
    if state.made % _NEWEST == 0:
        for identity, x in [*private.items()][:-_NEWEST]:
            if type(x) in _BUILTIN and len(x) > _SMALL_ENOUGH:  # it may take much memory
                _forget(identity)


def note_kept(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], y: Any) -> None:
    """Note what a call that was simply run may have kept of its operands, and what it made."""
    if type(y) in _BUILTIN and not any(y is x for x in xs):
        if id(f) in _BUILD or (id(f) in _COMBINE and _SIMPLE.issuperset(map(type, xs))):
            note_made(y)
            _note_held(y, [*y.keys(), *y.values()] if type(y) is dict else y)
            for x in xs:
                if type(x) not in _SIMPLE:
                    note_shared(x)  # an iterator, say
            return
    elif type(y) is np.ndarray and y.base is None and BY_ID.get(id(f), NO_TRAITS).creates:
        note_made(y)
    if state.private and not (PLAIN.issuperset(map(type, xs)) and not kws):
        _note_operands(f, xs, kws, y)


def _note_operands(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], y: Any) -> None:
    """Note what a call may have kept of its operands."""
    if id(f) in _KEEP_NOTHING:
        return
    owner = type(xs[0]) if xs else None
    if f is operator.getitem and type(xs[1]) in _PLAIN_KEYS and owner in (*_BUILTIN, np.ndarray):
        return
    if f is getattr and not xs[1].startswith("__") and not computes(owner, xs[1]):  # type: ignore[arg-type]
        if type(y) in BOUND:
            note_shared(y)
    elif id(f) in _STORE:
        _note_held(xs[0], xs[1:])
    elif f is invoke and owner in _BUILTIN and xs[1] in _METHODS_THAT_STORE:
        _note_held(xs[0], xs[2:])
    elif f is invoke and owner in _BUILTIN and xs[1] in _METHODS_THAT_COPY:
        for x in (*xs[2:], *kws.values()):
            note_shared(x)
    elif f is not invoke or owner not in _BUILTIN or xs[1] not in _METHODS_THAT_KEEP_NOTHING:
        for x in (f, *xs, *kws.values()):
            note_shared(x)


def is_reading(f: Any) -> bool:
    """Return whether a function makes no container, and stores nothing in one."""
    return id(f) in _KEEP_NOTHING or f is getattr or f is operator.getitem or f is build_tuple


def is_storing(f: Any) -> bool:
    """Return whether a function puts its later operands into its first one."""
    return id(f) in _STORE


def note_shared(x: Any) -> None:
    """Note that anything may hold a value from now on."""
    if state.private and type(x) not in PLAIN:
        for part in _with_held(x):
            _forget(id(part))


def _note_held(holder: Any, xs: Any) -> None:
    """Note what a container has been given."""
    if PLAIN.issuperset(map(type, xs)):
        return
    within = is_private(holder)
    for part in (part for x in xs for part in _with_held(x)):
        if is_private(part):
            if within:
                state.holders.setdefault(id(part), []).append(holder)
            else:
                _forget(id(part))


def _with_held(x: Any) -> Iterator[Any]:
    """Yield a value; of a function its cells or its object, of a class what its attributes are."""
    yield x
    if kind_of(x) == FUNCTION:
        yield from held_by(x)
    elif isinstance(x, type) and x.__flags__ & HEAPTYPE:  # those in C hold nothing of the run's
        for member in vars(x).values():
            yield member
            if isinstance(member, types.FunctionType):
                yield from held_by(member)
    elif isinstance(x, np.ndarray) and x.base is not None:
        yield owner_of(x)


def is_private(x: Any) -> bool:
    """Return whether only variables of the run, and what is private, hold a container."""
    known = state.private.get(id(x))
    return known is x or (type(known) is weakref.ref and known() is x)


def _forget(identity: int) -> None:
    state.private.pop(identity, None)
    state.holders.pop(identity, None)
