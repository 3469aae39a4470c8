"""NumPy functions that write at indices or call user functions, in simpler steps."""

import inspect
import operator
import types
from typing import Any

import numpy as np

from rulescore import find_rule, project
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.walk import reaches_active_at_all
from zygote_lite._cotangents.kinds import is_foreign
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced, ValueAndPullback
from zygote_lite._cotangents.store import Boxed, through
from zygote_lite._ir.intrinsics import refuse_resize
from zygote_lite._ir.places import where
from zygote_lite._numpy.writes import refuse_overlap, write_array
from zygote_lite._tape.arguments import option_in_the_way
from zygote_lite._tape.refusals.refusal import refusal, text_refusal
from zygote_lite._tape.rules import raise_own_error
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import DifferentiationError, Fault

handlers = Handlers()


@handlers.desugared(np.ndarray.resize)
def _(tape: Tape, nodes: Nodes, x: Any, *shape: Any, **kws: Any) -> Traced | None:
    return refuse_resize()


@handlers.desugared(np.loadtxt, np.genfromtxt, np.fromregex, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    raise text_refusal(f, xs)


# -- writes at places --------------------------------------------------------------------------


@handlers.desugared(np.ndarray.put)
def _(tape: Tape, nodes: Nodes, x: Any, indices: Any, values: Any, mode: Any = "raise") -> Traced:
    np.copy(x).put(indices, values, mode)  # raises what NumPy raises
    places = np.ravel(np.asarray(indices)).astype(int)
    if mode == "clip":
        places = np.clip(places, 0, x.size - 1)
    else:
        places = places % x.size
    return _write_places(tape, nodes, x, places, values, np.arange(places.size))


@handlers.desugared(np.place)
def _(tape: Tape, nodes: Nodes, arr: Any, mask: Any, vals: Any) -> Traced:
    np.place(np.copy(arr), mask, vals)
    refuse_overlap(arr, vals, nodes)
    places = np.flatnonzero(np.asarray(mask))
    return _write_places(tape, nodes, arr, places, vals, np.arange(places.size))


@handlers.desugared(np.putmask)
def _(tape: Tape, nodes: Nodes, a: Any, mask: Any, values: Any) -> Traced:
    np.putmask(np.copy(a), mask, values)
    places = np.flatnonzero(np.asarray(mask))
    return _write_places(tape, nodes, a, places, values, places)


def _write_places(
    tape: Tape, nodes: Nodes, x: Any, places: Any, values: Any, numbers: Any
) -> Traced:
    """Write `values[numbers]`, values repeated as often as needed, at places counted in C order."""
    if not places.size or not np.size(values):
        return None, None
    if not isinstance(values, np.ndarray):
        values, node = tape.call((None, nodes[3]), np.array, values)
    else:
        node = nodes[3]
    flat, node = tape.call((None, node), np.ravel, values)
    taken, node = tape.call((None, node, None), np.take, flat, numbers % flat.size)
    index: Any = np.unravel_index(places, x.shape) if x.ndim else ()
    if not x.ndim:  # one entry, where the last value stays
        taken, node = tape.call((None, node, None), operator.getitem, taken, -1)
    tape.call((None, nodes[1], None, node), write_array, x, index, taken)
    return None, None


@handlers.structural(np.ndarray.view)
def _(nodes: Nodes, x: Any, *xs: Any, **kws: Any) -> ValueAndPullback | None:
    """Look at complex numbers as pairs of real ones, or at pairs as complex numbers."""
    y = x.view(*xs, **kws)
    if type(y) is not np.ndarray or {x.dtype.kind, y.dtype.kind} - {*"fc"}:
        return None
    if np.real(x).dtype != np.real(y).dtype:
        return None

    def view_back(dy: Any) -> tuple[Any, ...]:
        return None, through(dy, viewed, y.dtype, x.dtype)

    return y, view_back


def viewed(d: Any, made: Any, seen: Any) -> Any:
    """Return the cotangent of an array of the type `made` as that of what it was a view of."""
    return np.asarray(d, made, order="C").view(seen)


@handlers.structural(viewed, new_array=True)
def _(nodes: Nodes, d: Any, made: Any, seen: Any) -> ValueAndPullback:
    def viewed_back(dy: Any) -> tuple[Any, ...]:
        return None, through(through(dy, viewed, seen, made), project, d), None, None

    return viewed(d, made, seen), viewed_back


@handlers.desugared(np.ndarray)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    """Make an array without values; one over memory that is active cannot be followed."""
    named = [*zip(kws, nodes[1 + len(xs) :], strict=True)]
    memory = [n for name, n in named if name not in ("shape", "dtype", "order")]
    if any(n is not None for n in (*nodes[3 : 1 + len(xs)], *memory)) or reaches_active_at_all(
        *xs[2:], kws.get("buffer")
    ):
        raise refusal(np.ndarray, xs, kws)
    return np.ndarray(*xs, **kws), None


# -- calls of user functions ---------------------------------------------------------------------


@handlers.in_python(np.apply_along_axis)
def _apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    x = np.asarray(arr)
    axis = tuple(range(x.ndim))[axis]
    rows = np.moveaxis(x, axis, -1)
    shape = rows.shape[:-1]
    found = []
    for place in np.ndindex(shape):
        found.append(np.asarray(func1d(rows[place], *args, **kwargs)))
    if not found:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    inner = found[0].ndim
    whole = np.reshape(np.stack(found), (*shape, *found[0].shape))
    last = tuple(range(len(shape), len(shape) + inner))
    return np.moveaxis(whole, last, tuple(range(axis, axis + inner)))


@handlers.in_python(np.broadcast_arrays)
def _broadcast_arrays(*args: Any, subok: Any = False) -> Any:
    arrays = [np.asarray(x) for x in args]
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return tuple([x if x.shape == shape else np.broadcast_to(x, shape) for x in arrays])


class BroadcastEntries:
    """The replacement of an `np.broadcast`."""

    def __init__(self, *xs: Any) -> None:
        wide = np.broadcast_arrays(*xs)
        self.shape = wide[0].shape
        self.nd = self.ndim = len(self.shape)
        self.size = wide[0].size
        self.numiter = len(wide)
        self.index = 0
        self.flat = [np.ravel(x) for x in wide]

    @property
    def iters(self) -> tuple[Any, ...]:
        """Iterators over the entries of each array."""
        return tuple([x.flat for x in self.flat])

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> tuple[Any, ...]:
        if self.index >= self.size:
            raise StopIteration
        entries = tuple([x[self.index] for x in self.flat])
        self.index += 1
        return entries

    def reset(self) -> None:
        """Go to the first entries."""
        self.index = 0


@handlers.in_python(np.broadcast)
def _broadcast_object(*args: Any) -> Any:
    return BroadcastEntries(*args)


@handlers.in_python(np.vdot._implementation)  # type: ignore[attr-defined]
def _vdot(a: Any, b: Any, /) -> Any:
    return np.vdot(a, b)  # rules call what stands below it, which is quicker


@handlers.desugared(np.from_dlpack, always=True)
def _(tape: Tape, nodes: Nodes, x: Any, /, *, device: Any = None, copy: Any = None) -> Traced:
    """Resolve `np.from_dlpack(x)`: of NumPy's arrays it is a view, though without a base."""
    if type(x) is np.ndarray and device in (None, "cpu"):
        return tape.call(nodes[:2], np.copy if copy else np.ndarray.view, x)
    if nodes[1]:
        return tape.refuse(nodes, np.from_dlpack, (x,), {})
    options = {"device": device, "copy": copy}
    return np.from_dlpack(x, **{k: v for k, v in options.items() if v is not None}), None


@handlers.in_python(np.ndenumerate)
def _ndenumerate(arr: Any) -> Any:
    x = np.asarray(arr)
    for place in np.ndindex(x.shape):
        yield place, x[place]


@handlers.structural(np.lib.stride_tricks.as_strided)
def _(
    nodes: Nodes, x: Any, shape: Any = None, strides: Any = None, subok: bool = False,
    writeable: bool = True,
) -> ValueAndPullback:  # fmt: skip
    """Show the memory of an array in another way: what is shown twice adds up."""
    y = np.lib.stride_tricks.as_strided(x, shape, strides, subok, writeable)
    steps = [step // x.itemsize for step in y.strides]
    ends = [(n - 1) * step for n, step in zip(y.shape, steps, strict=True) if y.size]
    is_inside = all(end >= 0 for end in ends) and sum(ends) < max(x.size, 1)
    if not (x.flags.c_contiguous and is_inside) or any(s % x.itemsize for s in y.strides):
        raise Fault.MEMORY(
            f"{where()}: `as_strided` of an array that is not contiguous, or of memory beside it, "
            "cannot be differentiated: use `sliding_window_view`, or slices"
        )

    def strided_back(dy: Any) -> tuple[Any, ...]:
        if dy is None:
            return (None,) * len(nodes)
        if isinstance(dy, Boxed):
            raise Fault.MEMORY(
                "`as_strided` is differentiated once, and not forward: use `sliding_window_view`"
            )
        positions = np.arange(x.size)
        bytes_ = [step * positions.itemsize for step in steps]
        dx = np.zeros_like(x, shape=x.size)
        np.add.at(dx, np.lib.stride_tricks.as_strided(positions, y.shape, bytes_), dy)
        return None, dx.reshape(x.shape), *(None for _ in nodes[2:])

    return y, strided_back


def _makes_an_array(kind: type) -> bool:
    """Return whether a class says in Python what its objects are as arrays."""
    method = None if is_foreign(kind) else member_of(kind, "__array__")
    return isinstance(method, types.FunctionType)


@handlers.desugared(np.asarray, np.asanyarray, np.array, of=_makes_an_array, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any, *xs: Any, **kws: Any) -> Traced | None:
    """Ask an object what it is as an array, as NumPy does, in recorded code."""
    method = member_of(type(x), "__array__")
    dtype = xs[0] if xs else kws.get("dtype")
    named = {"copy": kws.get("copy", True if f is np.array else None)}
    named = {name: value for name, value in named.items() if value is not None}
    if not isinstance(method, types.FunctionType) or not takes_options(method, named):
        return None
    given = () if dtype is None else (np.dtype(dtype),)
    flags = (None, nodes[1], *(None for _ in (*given, *named)))
    y, node = tape.call(flags, method, x, *given, **named)
    if not isinstance(y, np.ndarray):
        raise ValueError("object __array__ method not producing an array")
    if named.get("copy"):  # NumPy takes what it was given for the copy that it asked for
        kws["copy"] = None
    return tape.call((None, node, *(None for _ in (*xs, *kws))), f, y, *xs, **kws)


def takes_options(f: types.FunctionType, options: Any) -> bool:
    """Return whether a function has parameters of some names."""
    code = f.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return bool(code.co_flags & inspect.CO_VARKEYWORDS) or all(name in names for name in options)


@handlers.in_python(np.fromiter)
def _fromiter(iter: Any, dtype: Any, count: Any = -1) -> Any:
    items = []
    if count != 0:
        for y in iter:
            items.append(y)
            if len(items) == count:
                break
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)}")
    return np.array(items, dtype=dtype)


@handlers.in_python(vars(np.vectorize)["_vectorize_call"])
def _vectorize_call(self: Any, func: Any, args: Any) -> Any:
    if self.signature is not None:
        return self._vectorize_call_with_signature(func, args)
    if not args:
        return func()
    kinds, found = self.otypes, []
    if kinds is None:  # it is called with the first entries once more, which decides
        if any(np.size(x) == 0 for x in args):
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        first = func(*[np.ravel(x)[0] for x in args])
        outputs = first if isinstance(first, tuple) else (first,)
        kinds = "".join([np.asarray(y).dtype.char for y in outputs])
        if self.cache:
            found.append(first)
    arrays = np.broadcast_arrays(*args)
    for place in [*np.ndindex(arrays[0].shape)][len(found) :]:
        found.append(func(*[as_of_python(x[place]) for x in arrays]))
    if not found:
        empty = [np.empty(arrays[0].shape, kind) for kind in kinds]
        return empty[0] if len(empty) == 1 else tuple(empty)
    if not isinstance(found[0], tuple):
        return joined(found, arrays[0].shape, kinds, 0)
    parts = zip(*found, strict=True)
    return tuple([joined(p, arrays[0].shape, kinds, i) for i, p in enumerate(parts)])


def as_of_python(x: Any) -> Any:
    """Return an entry of an array as an array of objects has it: of NumPy's numbers, Python's."""
    return x.item() if isinstance(x, np.generic) else x


@handlers.callables(np.ufunc)
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced | None:
    """Make arrays of the lists that a ufunc is given, for which rules have no pattern."""
    if not any(type(x) in (list, tuple) for x in xs):
        return None
    given = [
        tape.call((None, node), np.asarray, x) if type(x) in (list, tuple) else (x, node)
        for x, node in zip(xs, nodes[1 : 1 + len(xs)], strict=True)
    ]
    at = (nodes[0], *[node for _, node in given], *nodes[1 + len(xs) :])
    return tape.call(at, f, *[x for x, _ in given], **kws)


def joined(found: Any, shape: Any, kinds: Any, i: Any) -> Any:
    """Return values as an array of a shape, of the kind that one of some letters asks for."""
    if np.dtype(kinds[i]).kind != "c" and any(type(y) is complex for y in found):
        raise TypeError("float() argument must be a string or a real number, not 'complex'")
    whole = np.reshape(np.array([*found]), shape)
    return whole if whole.dtype.char == kinds[i] else whole.astype(kinds[i])


@handlers.callables(type(np.sum))
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced | None:
    """Run a public function of NumPy by its Python source."""
    source = getattr(f, "_implementation", None)
    if not isinstance(source, types.FunctionType):
        return None
    if find_rule(operator.add, 1.0, 1.0) is None:  # its source would meet operators
        return tape.refuse(nodes, f, xs, kws)
    try:
        return tape.call(nodes, source, *xs, **kws)
    except DifferentiationError:
        option = option_in_the_way(nodes, f, xs, kws)
        if option is not None:
            raise option from None
        raise_own_error(f, xs, kws)
        raise
