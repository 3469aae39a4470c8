"""Arrays that are written as a whole: by `out=`, the operators in place, `copyto`, `x.sort()`.

Each is the call that gives the value, and a write of the whole array, `x[...] = value`.
"""

import operator
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._cotangents.kinds import is_of_pandas
from zygote_lite._cotangents.registry import Handlers, NodeId, Nodes, Traced
from zygote_lite._ir.names import name_of
from zygote_lite._ir.operators import IN_PLACE
from zygote_lite._ir.places import where
from zygote_lite._ir.traits import traits_of
from zygote_lite._numpy.conversions import as_array
from zygote_lite._numpy.writes import check_kinds, refuse_overlap, write_array
from zygote_lite._tape.arguments import takes_out
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()


def write_whole(tape: Tape, x: Any, at_x: NodeId, value: Any, at_value: NodeId) -> Traced:
    """Write the whole of an array, as `out=` and the operators in place do."""
    check_kinds(x, value, at_value is not None)
    if not np.can_cast(np.result_type(value), x.dtype, "same_kind"):
        np.copyto(np.empty_like(x), value)  # raises what NumPy raises
    tape.call((None, at_x, None, at_value), write_array, x, Ellipsis, value)
    return x, at_x


@handlers.desugared(*IN_PLACE, of=np.ndarray, given=True)
def _(in_place: Any, tape: Tape, nodes: Nodes, a: Any, b: Any) -> Traced | None:
    """Resolve `a += b` on an array: the operator, and a write of the whole array."""
    of = IN_PLACE[in_place]
    if not isinstance(a, np.ndarray):
        return None
    try:
        value, node = tape.call((None, nodes[1], nodes[2]), of.function, a, b)
    except ValueError as error:
        refused = error
    else:
        if np.shape(value) == a.shape:
            return write_whole(tape, a, nodes[1], value, node)
        refused = ValueError(f"an array of shape {a.shape} cannot hold one of {np.shape(value)}")
    of.in_place(a.copy(), b)  # raises what Python raises: of three shapes
    raise refused


_SIZE_AT = {"random": 1, "standard_normal": 1, "standard_exponential": 1, "standard_gamma": 2}
"""Methods of generators that take `out`, and the place of `size`, the generator counted."""


@handlers.by_option("out")
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
    """Resolve a call with `out=`: the call without it, and a write of the whole array."""
    out = kws["out"]
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    mask = kws.get("where", True)
    if target is None:  # `out=(None,)`
        place = 1 + len(xs) + list(kws).index("out")
        others = {name: value for name, value in kws.items() if name != "out"}
        return tape.call((*nodes[:place], *nodes[place + 1 :]), f, *xs, **others)
    if mask is not True and isinstance(f, np.ufunc) and f.nout == 1 and f.signature is None:
        return _with_mask(tape, nodes, f, xs, kws, target, mask)
    if not isinstance(target, np.ndarray) or mask is not True:
        option = "`where` and `out`" if isinstance(target, np.ndarray) else "this `out`"
        raise Fault.MEMORY(
            f"{where()}: {name_of(f)} with {option} ({an(type(out).__name__)}) cannot be "
            "differentiated; assign the result instead"
        )
    names = list(kws)
    at = nodes[1 + len(xs) + names.index("out")]
    if traits_of(f).writes_early:
        refuse_overlap(target, xs, nodes)
    left_out = {"out", "where"}
    if "casting" in kws and _only_forbids(f, xs, kws, target):
        left_out.add("casting")
    rest = {name: value for name, value in kws.items() if name not in left_out}
    flags = tuple(
        node for name, node in zip(names, nodes[1 + len(xs) :], strict=True) if name not in left_out
    )
    is_draw = bool(xs) and type(xs[0]) is np.random.Generator
    at_size = _SIZE_AT.get(f.__name__) if is_draw else None
    if at_size is not None and len(xs) > at_size and xs[at_size] is None:
        xs = (*xs[:at_size], target.shape, *xs[at_size + 1 :])
    elif at_size == len(xs) and "size" not in rest:
        rest, flags = {**rest, "size": target.shape}, (*flags, None)
    value, node = tape.call((*nodes[: 1 + len(xs)], *flags), f, *xs, **rest)
    if is_of_pandas(type(value)):
        value, node = tape.call((None, node), np.asarray, value)
    is_alike = (np.shape(value), np.result_type(value)) == (target.shape, target.dtype)
    if not (is_alike and takes_out(f) and (out is target or isinstance(f, np.ufunc))):
        _raise_as_numpy(f, (np.random.default_rng(), *xs[1:]) if is_draw else xs, kws, target)
    return write_whole(tape, target, at, value, node)


def _only_forbids(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], out: Any) -> bool:
    """Return whether the option `casting` of a call changes nothing; raise where it forbids it."""
    if not isinstance(f, np.ufunc) or kws["casting"] not in ("no", "equiv", "safe", "same_kind"):
        return False
    _raise_as_numpy(f, xs, kws, out)
    return True


def _raise_as_numpy(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], out: Any) -> None:
    """Call a function with an array in the place of `out`: it raises where NumPy refuses that."""
    spare = np.empty_like(out)
    f(*xs, **{**kws, "out": spare if kws["out"] is out else (spare,)})


def _with_mask(
    tape: Tape,
    nodes: Nodes,
    f: Any,
    xs: tuple[Any, ...],
    kws: dict[str, Any],
    out: Any,
    mask: Any,
) -> Traced:
    """Resolve a call of a ufunc with `out=` and `where=`: a call for the entries asked for."""
    mask = np.array(np.broadcast_to(mask, out.shape))
    parts = []
    for x, node in zip(xs, nodes[1:], strict=False):
        whole, at = tape.call((None, node, None), np.broadcast_to, x, out.shape)
        parts.append(tape.call((None, at, None), operator.getitem, whole, mask))
    others = {name: x for name, x in kws.items() if name not in ("out", "where")}
    flags = (None, *(at for _, at in parts), *(None for _ in others))
    value, node = tape.call(flags, f, *(part for part, _ in parts), **others)
    at_out = nodes[1 + len(xs) + list(kws).index("out")]
    tape.call((None, at_out, None, node), write_array, out, mask, value)
    return out, at_out


@handlers.desugared(np.copyto)
def _(
    tape: Tape, nodes: Nodes, dst: Any, src: Any, casting: str = "same_kind", where: Any = True
) -> Traced:
    src, at_src = as_array(tape, nodes[2], src)
    if where is not True:
        src, at_src = tape.call((None, None, at_src, nodes[1]), np.where, where, src, dst)
    write_whole(tape, dst, nodes[1], src, at_src)
    return None, None


def _replaced_by(of: Any, tape: Tape, nodes: Nodes, x: Any, *xs: Any, axis: int = -1) -> Traced:
    """Resolve a method that gives an array the value that a function makes of it."""
    value, node = tape.call((None, nodes[1], *(None for _ in (*xs, axis))), of, x, *xs, axis)
    write_whole(tape, x, nodes[1], value, node)
    return None, None


handlers.desugared(np.ndarray.sort)(
    lambda tape, nodes, x, axis=-1, **kws: _replaced_by(np.sort, tape, nodes, x, axis=axis)
)
handlers.desugared(np.ndarray.partition)(
    lambda tape, nodes, x, kth, axis=-1: _replaced_by(np.partition, tape, nodes, x, kth, axis=axis)
)
