"""Calls that do not compute: containers, variables, attributes, types and methods."""

import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import Array
from rulescore.faults import an
from zygote_lite._activity.classes import member_of
from zygote_lite._batch.tracers import NotBatched, Tracer, entry_of, is_batched, tracers_in
from zygote_lite._cotangents.kinds import dict_of, is_written_in_python
from zygote_lite._ir import intrinsics
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import where

STRUCTURE: dict[int, Callable[..., Any]] = {}
CONTAINERS = (list, tuple, dict)
DICT_VIEWS: tuple[Any, ...] = (type({}.items()), type({}.keys()), type({}.values()))
_KEEPING_ALIVE: list[Any] = []


def _of(*functions: Any) -> Callable[[Any], Any]:
    def declare(handler: Any) -> Any:
        for f in functions:
            _KEEPING_ALIVE.append(f)
            STRUCTURE[id(f)] = handler
        return handler

    return declare


@_of(
    intrinsics.build_list, intrinsics.build_tuple, intrinsics.build_slice, intrinsics.join_list,
    intrinsics.join_tuple, intrinsics.unpack, zip, enumerate, reversed, range, slice,
)  # fmt: skip
def _carried(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    """Build, or take apart, what entries are carried along in."""
    if f in (intrinsics.build_slice, range, slice):
        xs = tuple(map(_known_count, xs))
        if any(type(x) is Tracer for x in xs):
            raise NotBatched(f"{where()}: a {name_of(f)} depends on the batch")
    if f not in (intrinsics.build_list, intrinsics.build_tuple, intrinsics.build_slice):
        xs = tuple([_iterable(run, x) for x in xs])
    y = f(*xs, **kws)
    is_new = isinstance(y, list | dict | zip | enumerate | reversed)
    return run.noted(y) if is_new else y


def _known_count(x: Any) -> Any:
    """Return an integer for a tracer that is the same for all: a count has no gradient."""
    if type(x) is Tracer and not x.batched and isinstance(x.value, int):
        return x.value
    return x


def _iterable(run: Any, x: Any) -> Any:
    """Return a tracer, or an array, as the list of its elements."""
    if type(x) is Tracer or isinstance(x, Array):
        return [y for y, _ in run.iterate(x, None)] if np.ndim(entry_of(x)) else x
    if isinstance(x, list | tuple | dict | range | str | int | slice | None):
        return x
    if type(x) in DICT_VIEWS or id(x) in run.made:
        return x
    raise NotBatched(f"{where()}: {an(type(x).__name__)} is iterated")


@_of(list, tuple)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    y = f(*[_iterable(run, x) for x in xs])
    return run.noted(y) if type(y) is list else y


@_of(intrinsics.build_dict, intrinsics.join_dict, dict)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    keys = xs[::2] if f is intrinsics.build_dict else ()
    if any(not isinstance(key, str | int | float | bytes | None) for key in keys):
        raise NotBatched(f"{where()}: a dict has keys that are not text or numbers")
    if f is not intrinsics.build_dict and not all(isinstance(x, dict) for x in xs):
        raise NotBatched(f"{where()}: a dict is made of something other than dicts")
    return run.noted(f(*xs, **kws))


@_of(len)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    x = entry_of(xs[0]) if type(xs[0]) is Tracer else xs[0]
    return len(_looked_up_in_c(x))


def _looked_up_in_c(x: Any) -> Any:
    """Return a value whose length and entries are looked up in C."""
    if isinstance(x, Array | list | tuple | dict | str | range) and not is_written_in_python(
        type(x)
    ):
        return x
    raise NotBatched(f"{where()}: {an(type(x).__name__)} may run methods of a class")


@_of(isinstance, issubclass, type, callable)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    if f is type and len(xs) != 1:
        raise NotBatched(f"{where()}: a class is made")
    x, *kinds = xs
    for kind in kinds:
        for each in kind if isinstance(kind, tuple) else (kind,):
            if isinstance(each, type) and type(each) is not type and each.__module__ != "numbers":
                raise NotBatched(f"{where()}: {name_of(f)} may run a method of a class")
    return f(x.entry if type(x) is Tracer else x, *kinds)


@_of(operator.is_, operator.is_not)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    if type(xs[0]) is Tracer and type(xs[1]) is Tracer:
        raise NotBatched(f"{where()}: it is asked whether two entries are the same object")
    return f(*xs)


@_of(operator.truth, operator.not_, bool)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    x = xs[0] if xs else False
    if type(x) is Tracer:
        if x.batched:
            raise NotBatched(f"{where()}: a branch depends on the batch")
        x = x.entry
    if is_written_in_python(type(x)) and not isinstance(x, types.FunctionType):
        raise NotBatched(f"{where()}: {an(type(x).__name__)} defines its own truth")
    return f(x)


@_of(sum)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    parts = _iterable(run, xs[0])
    total = xs[1] if len(xs) > 1 else kws.get("start", 0)
    for part in parts:
        total = run.resolve(operator.add, (total, part), {})
    return total


@_of(iter)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    return run.noted(iter(_iterable(run, xs[0])))


@_of(next)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    if id(xs[0]) not in run.made:
        raise NotBatched(f"{where()}: it advances an iterator that it did not create")
    return next(*xs)


# -- variables ---------------------------------------------------------------------------------


@_of(intrinsics.read_cell)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    cell, _, _ = xs
    if id(cell) in run.cells:
        return f(*xs)
    held = f(*xs)
    if type(held) is Tracer:
        return run.own(held)
    y, node = run.carried_out(f, xs, {})
    # what a list or a dict holds is known by its address
    return run.own(y) if type(y) in (list, dict) else run.traced(y, node)


@_of(intrinsics.write_cell, intrinsics.delete_cell)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    if id(xs[0]) not in run.cells:
        raise NotBatched(f"{where()}: an outer variable is assigned")
    f(*xs)


@_of(intrinsics.set_defaults, intrinsics.note_annotations)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    return None


# -- attributes and methods --------------------------------------------------------------------


@_of(getattr)
def attribute_of_value(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    """Read an attribute: of a tracer that of an entry, of an object what it holds."""
    x, name, *default = xs
    if default:
        raise NotBatched(f"{where()}: an attribute is read with a default")
    if type(x) is Tracer:
        return _of_entry(run, x, name)
    if isinstance(
        x, types.ModuleType | Array | np.generic | str | int | float | complex | np.dtype
    ):
        return getattr(x, name)
    if isinstance(x, type):
        found = getattr(x, name)
        if is_written_in_python(x) and not isinstance(found, types.FunctionType | type):
            return run.own(run.computed(getattr, (x, name)))
        return found
    kind: type = type(x)
    if kind in CONTAINERS or not is_written_in_python(kind):
        return getattr(x, name)
    if isinstance(x, tuple) and name in getattr(x, "_fields", ()):
        return run.own(x[list(getattr(x, "_fields", ())).index(name)])
    if isinstance(member_of(kind, "__getattribute__"), types.FunctionType):
        raise NotBatched(f"{where()}: {an(kind.__name__)} defines how its attributes are looked up")
    member = member_of(kind, name)
    if isinstance(member, property) and isinstance(member.fget, types.FunctionType):
        return run.resolve(member.fget, (x,), {})
    if isinstance(member, types.FunctionType | staticmethod | classmethod):
        return getattr(x, name)
    if name in (dict_of(x) or ()) and not hasattr(type(member), "__set__"):
        return run.own(run.computed(getattr, (x, name)))
    if member is not None and not hasattr(type(member), "__get__"):
        return run.own(run.computed(getattr, (x, name)))
    if isinstance(member, types.MemberDescriptorType) or isinstance(x, tuple):
        return run.own(getattr(x, name))
    raise NotBatched(f"{where()}: the attribute {name} of {an(kind.__name__)} is computed")


_SHAPES = ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")
_OF_ENTRY = {
    "T": np.ndarray.T,
    "real": np.real,
    "imag": np.imag,
    "mT": np.matrix_transpose,
}


def _of_entry(run: Any, x: Tracer, name: str) -> Any:
    """Return an attribute of an entry."""
    if name in _SHAPES:
        return getattr(x.entry, name)
    if not x.batched:
        return run.computed(getattr, (x, name))
    if name == "T" and not np.ndim(x.entry):
        return x
    if name in _OF_ENTRY and not x.plain:
        return run.resolve(_OF_ENTRY[name], (x,), {})
    raise NotBatched(f"{where()}: the attribute {name} of an entry")


@_of(intrinsics.invoke)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    """Call a method: that of an array for a tracer, a function of a module, what a class has."""
    x, name, *rest = xs
    if type(x) is Tracer:
        return _method_of_entry(run, x, name, tuple(rest), kws)
    if isinstance(x, Array) and any(map(tracers_in, rest)):
        member = getattr(np.ndarray, name, None)
        return run.resolve(member, (x, *rest), kws)
    return run.resolve(attribute_of_value(run, getattr, (x, name), {}), tuple(rest), kws)


@_of(intrinsics.look_up)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    """Look up a method: a tracer, or what has no attributes of its own, stands for it."""
    x, name = xs
    if type(x) is Tracer or type(x) in intrinsics.WITHOUT_FIELDS:
        return x
    return intrinsics.LookedUp(attribute_of_value(run, getattr, (x, name), {}))


@_of(intrinsics.invoke_found)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    """Call a method that was looked up."""
    found, name, *rest = xs
    if type(found) is not intrinsics.LookedUp:
        return run.resolve(intrinsics.invoke, (found, name, *rest), kws)
    return run.resolve(found.method, tuple(rest), kws)


def _method_of_entry(run: Any, x: Tracer, name: str, rest: tuple[Any, ...], kws: Any) -> Any:
    if x.plain:
        raise NotBatched(f"{where()}: the method {name} of a Python number")
    if name == "item" and not rest and not np.ndim(x.entry):
        return run.resolve(float, (x,), {})
    member = getattr(np.ndarray, name, None)
    if member is None or name.startswith("__"):
        raise NotBatched(f"{where()}: the method {name} of an entry")
    return run.resolve(member, (x, *rest), kws)


@_of(intrinsics.apply)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    g, arguments, *keywords = xs
    named = intrinsics.join_keywords(g, keywords)
    return run.resolve(g, tuple(_iterable(run, arguments)), dict(named))


@_of(intrinsics.join_arguments)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    return intrinsics.join_tuple(*[_iterable(run, part) for part in xs[1:]])


# -- entries of containers ---------------------------------------------------------------------


@_of(operator.getitem)
def getitem(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    """Read an entry of a container, or a part of an array."""
    x, index = xs[0], _known_count(xs[1])
    if not is_batched(index) and isinstance(x, list | tuple | dict):
        if type(index) is Tracer:
            raise NotBatched(f"{where()}: an index depends on what is differentiated")
        if not isinstance(index, int | str | slice | float | bytes | np.integer | None):
            raise NotBatched(f"{where()}: a key is {an(type(index).__name__)}")
        if is_written_in_python(type(x)) and not isinstance(x, tuple):
            raise NotBatched(f"{where()}: {an(type(x).__name__)} defines how items are looked up")
        held: Any = x
        y = held[index]
        return run.own(run.noted(y) if isinstance(index, slice) and type(y) is list else y)
    return run.indexed(x, index)


_CHANGES_MADE = {"append", "extend", "insert", "update", "setdefault", "pop", "clear", "reverse",
             "popitem", "remove"}  # fmt: skip
_ONLY_READING = {"items", "keys", "values", "get", "copy", "index", "count"}


@_of(operator.setitem)
def _(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    x, index, _ = xs
    if id(x) not in run.made or tracers_in(index):
        raise NotBatched(f"{where()}: {an(type(entry_of(x)).__name__)} is written into")
    f(*xs)


def method_called(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    """Call a method written in C that is bound, or a function written in C."""
    x, name = getattr(f, "__self__", None), f.__name__
    if isinstance(x, list | dict) and type(x) in CONTAINERS:
        is_known = name in _ONLY_READING or (name in _CHANGES_MADE and id(x) in run.made)
        if not is_known or (name in ("index", "count", "remove") and tracers_in((x, xs))):
            raise NotBatched(f"{where()}: {name_of(f)} of {an(type(x).__name__)}")
        if name == "extend":
            xs = tuple([_iterable(run, y) for y in xs])
        y = f(*xs, **kws)
        return run.noted(y) if name == "copy" else y
    if isinstance(x, Array | np.generic) and run.around is not None:
        raise NotBatched(f"{where()}: the array of {name_of(f)} may be differentiated")
    if isinstance(x, Array | np.generic) and tracers_in(xs):
        return run.resolve(getattr(np.ndarray, name), (x, *xs), kws)
    if isinstance(x, str) and not tracers_in(xs) and name in ("format", "join", "split", "strip"):
        return f(*xs, **kws)
    return run.without_batches(f, xs, kws)


def constructed(run: Any, f: Any, xs: Any, kws: Any) -> Any:
    """Make a named tuple; other classes are not known."""
    if issubclass(f, tuple) and hasattr(f, "_make") and "__new__" in vars(f):
        return f(*xs, **kws)
    return NotImplemented


HARMLESS_WITHOUT_ENTRIES = {
    id(f) for f in (intrinsics.format_value, intrinsics.join_text, intrinsics.build_set)
}
