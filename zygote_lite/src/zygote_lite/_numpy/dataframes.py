"""Data of pandas in arithmetic: pandas computes the value, and the rules of NumPy the gradient.

`w * series` is a `Series`, as it is in a plain call. Beside it stands the array of what it holds,
which is computed by NumPy on the tape, and through which the gradient passes. The two have to
agree; where they do not, pandas did something else than NumPy (it left out missing values, or
matched rows by their labels), and the call is refused.
"""

import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import stop_gradient
from zygote_lite._activity.activity import text_pullback
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.walk import reaches_active_at_all
from zygote_lite._cotangents.kinds import dict_of, is_of_pandas
from zygote_lite._cotangents.registry import Handlers, NodeId, Nodes, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.names import name_of
from zygote_lite._ir.operators import IN_PLACE, OF_FUNCTION
from zygote_lite._ir.places import where
from zygote_lite._tape.arguments import OPERATORS
from zygote_lite._tape.holders import computes_in_c, refused_holder
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()

_HELD_OF_PANDAS = "_zygote_lite_array"  # the attribute in which the array of what is active stands
_ADVICE_OF_PANDAS = "pass `.to_numpy()` of it, and compute with arrays"
_MATCHING_OF_PANDAS = (  # what matches the labels of two tables
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip
_UNARY_OF_PANDAS = (operator.neg, operator.pos, abs)
_PRODUCTS_OF_PANDAS = (operator.matmul, np.matmul)
_FUNCTIONS_OF_PANDAS = (
    np.sum, np.mean, np.prod, np.max, np.min, np.std, np.var, np.median, np.cumsum, np.cumprod,
    np.dot, np.vdot, np.inner, np.outer, np.linalg.norm, np.einsum, np.where, np.clip, np.interp,
    np.trapezoid, np.diff, np.average, np.ndarray.dot, np.round,
    np.quantile, np.percentile, np.sort, np.nansum, np.nanmean, np.cov, np.corrcoef, np.convolve,
    np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft,
)  # fmt: skip
_REDUCING_OF_PANDAS: dict[str, Callable[..., Any]] = {
    "sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min,
    "median": np.median, "std": np.std, "var": np.var, "cumsum": np.cumsum,
    "cumprod": np.cumprod,
}  # fmt: skip
_BINARY_OF_PANDAS: dict[str, tuple[Any, bool]] = {
    name: meant for name, meant in OPERATORS.items() if meant[0] not in IN_PLACE
} | {
    prefix + name: (f, bool(prefix))
    for prefix in ("", "r")
    for name, f in {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
        "truediv": operator.truediv, "pow": operator.pow,
    }.items()
} | {"dot": (operator.matmul, False)}  # fmt: skip
_SAME_OF_PANDAS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "abs": (np.abs, ()), "clip": (np.clip, ("lower", "upper")), "round": (np.round, ("decimals",)),
    "astype": (np.ndarray.astype, ("dtype",)),
}  # fmt: skip
_CHOOSING_OF_PANDAS = (
    "head", "tail", "copy", "transpose", "squeeze", "rename", "sort_index", "__getitem__", "drop",
    "dropna", "fillna", "to_frame",
)  # fmt: skip
_SHOWN_OF_PANDAS = ("__repr__", "__str__", "to_string", "_repr_html_")
_ASKED_OF_PANDAS = (
    "__len__", "__bool__", "__contains__", "isna", "notna", "isnull", "notnull", "count", "any",
    "all", "idxmax", "idxmin", "argmax", "argmin", "argsort", "keys", "equals", "between", "isin",
    "nunique", "duplicated",
)  # fmt: skip
_TOLD_OF_PANDAS = (
    "shape", "ndim", "size", "index", "columns", "dtype", "dtypes", "name", "empty", "axes",
    "__class__",
)  # fmt: skip


def _is_held(x: Any) -> bool:
    return id(x) in state.tables


def _is_number_table(x: Any) -> bool:
    """Return whether data of pandas hold plain numbers alone, of NumPy's types."""
    kinds = [*x.dtypes] if hasattr(x, "columns") else [x.dtype]
    return bool(kinds) and all(isinstance(t, np.dtype) and t.kind in "biufc" for t in kinds)


def _array(tape: Tape, x: Any) -> Traced:
    """Return the array of what data of pandas hold."""
    if _is_held(x):
        return tape.call((None, None, None), operator.getitem, dict_of(x), _HELD_OF_PANDAS)
    if (id(x) in state.held and computes_in_c(x)) or (state.written and reaches_active_at_all(x)):
        raise refused_holder(x)  # it is differentiated, or shares memory with what is written
    return x.to_numpy(copy=True), None  # which stays as it is until the reverse pass


def _labels(x: Any) -> tuple[Any, ...]:
    return (x.index, x.columns) if hasattr(x, "columns") else (x.index,)


def _are_matched(f: Any, xs: tuple[Any, ...]) -> bool:
    """Return whether pandas takes the rows and columns of operands in their order."""
    tables = [x for x in xs if is_of_pandas(type(x))]
    if len(tables) < 2 or f in _FUNCTIONS_OF_PANDAS:
        return True
    a, b = map(_labels, tables[:2])
    if f in _PRODUCTS_OF_PANDAS:
        return bool(a[-1].equals(b[0]))
    if len(a) != len(b):  # a `Series` beside the columns of a table
        return bool(a[-1].equals(b[-1]))
    return all(p.equals(q) for p, q in zip(a, b, strict=True))


def _is_of_lower_precision(y: Any, found: Any) -> bool:
    """Return whether pandas has computed a `Series` in a lower precision than NumPy."""
    kind = getattr(y, "dtype", None) if is_of_pandas(type(y)) else None
    if not isinstance(kind, np.dtype) or not isinstance(found, np.ndarray):
        return False
    return bool(kind.kind == found.dtype.kind == "f" and kind.itemsize < found.dtype.itemsize)


def _agree(y: Any, found: Any) -> bool:
    """Return whether pandas and NumPy computed the same."""
    if not is_of_pandas(type(y)) and type(y) is not type(found):
        return False
    y, found = np.asarray(y), np.asarray(found)
    if y.shape != found.shape or y.dtype.kind not in "biufc":
        return False
    few = max(np.finfo(t).eps if t.kind in "fc" else 1e-15 for t in (y.dtype, found.dtype))
    most = np.max(np.abs(found), initial=0.0, where=np.isfinite(found))
    return np.allclose(y, found, rtol=1e4 * few, atol=1e4 * few * most, equal_nan=True)


def _refused_of_pandas(name: str, why: str, advice: str = _ADVICE_OF_PANDAS) -> Exception:
    return Fault.HOLDER(
        f"{where()}: a gradient passes through {name} of data of pandas, {why}: {advice}"
    )


def _told_of_pandas(f: Any) -> str:
    """Return a function, a method or an operator as the user writes it."""
    of = OF_FUNCTION.get(f)
    if of is not None:
        return f"`{of.symbol.strip()}`"
    return f"`.{f.__name__}(...)`" if type(f) is types.FunctionType else name_of(f)


def _computed_twice(
    tape: Tape, f: Any, nodes: Nodes, xs: tuple[Any, ...], meant: Any, kws: Any, options: Any
) -> Traced | None:
    """Call `f` by pandas, and `meant`, which is the same of arrays, on the tape.

    Arguments:
        tape, f, nodes, xs, kws: the call.
        meant, options: the function of arrays, and its keywords.
    """
    tables = [x for x in xs if is_of_pandas(type(x))]
    if not all(map(_is_number_table, tables)):
        raise _refused_of_pandas(
            _told_of_pandas(f), "which hold something else than numbers of NumPy"
        )
    if not _are_matched(f, xs):
        raise _refused_of_pandas(
            _told_of_pandas(f), "whose rows or columns have other labels, or another order"
        )
    given = [
        _array(tape, x) if is_of_pandas(type(x)) else (x, n)
        for x, n in zip(xs, nodes[1:], strict=False)
    ]
    y = f(*xs, **kws)
    arrays, at = [x for x, _ in given], [n for _, n in given]
    with np.errstate(all="ignore"):  # pandas has warned
        found, node = tape.call((None, *at, *(None for _ in options)), meant, *arrays, **options)
    if node is None and not is_of_pandas(type(y)):
        return y, None
    if _is_of_lower_precision(y, found):  # as pandas has numbers beside a column of float32
        found, node = tape.call((None, node, None), np.ndarray.astype, found, y.dtype)
    if not _agree(y, found):
        has_gaps = any(np.isnan(x.to_numpy()).any() for x in tables)
        raise _refused_of_pandas(
            _told_of_pandas(f),
            "which leaves missing values (nan) out" if has_gaps
            else "which pandas does not compute as NumPy does",
        )  # fmt: skip
    return _with_array(tape, y, found, node)


def _with_array(tape: Tape, y: Any, found: Any, node: NodeId) -> Traced:
    """Return a result of pandas, which holds the array of what it holds."""
    if not is_of_pandas(type(y)):
        return (found if isinstance(found, np.ndarray) else y), node
    if node is None:
        return y, None
    tape.call((None, None, None, node), object.__setattr__, y, _HELD_OF_PANDAS, found)
    found.setflags(write=False)  # as the arrays are that pandas gives
    state.held[id(y)] = state.tables[id(y)] = y  # what is not followed refuses it
    return y, None


@handlers.desugared(
    *_MATCHING_OF_PANDAS, *_UNARY_OF_PANDAS, operator.matmul, of=is_of_pandas, given=True
)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any) -> Traced | None:
    return _computed_twice(tape, f, nodes, xs, f, {}, {})


@handlers.desugared(np.ufunc, of=is_of_pandas)
def _(tape: Tape, nodes: Nodes, f: Any, *xs: Any) -> Traced | None:
    takes_it = f.nout == 1 and (f.signature is None or f in _PRODUCTS_OF_PANDAS)
    return _computed_twice(tape, f, nodes, xs, f, {}, {}) if takes_it else None


@handlers.desugared(divmod, of=is_of_pandas)
def _(tape: Tape, nodes: Nodes, *xs: Any) -> Traced:
    raise _refused_of_pandas("`divmod`", "which is not followed", "write `x // y` and `x % y`")


@handlers.desugared(stop_gradient, of=is_of_pandas)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced:
    return x.copy(), None


@handlers.desugared(*IN_PLACE, of=is_of_pandas, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any, y: Any) -> Traced | None:
    symbol = IN_PLACE[f].symbol.strip()
    advice = f"write `t = t {symbol} y` for `t {symbol}= y`, which makes a new one"
    raise _refused_of_pandas(f"`{symbol}=`", "which changes them", advice)


@handlers.desugared(len, of=is_of_pandas)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced:
    return len(x), None


@handlers.desugared(iter, of=is_of_pandas)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced | None:
    """Walk over a `Series`; over a table, pandas gives the names of its columns."""
    if not _is_held(x):
        return None
    if x.ndim == 2:
        return iter(x), None
    entries, node = _as_list(tape, x)
    return tape.call((None, node), iter, entries)


def _as_list(tape: Tape, x: Any) -> Traced:
    array, node = _array(tape, x)
    return tape.call((None, node), np.ndarray.tolist, array)


@handlers.desugared(np.where, np.einsum, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    """Resolve a call whose third argument, or a later one, is data of pandas, likewise."""
    if not any(is_of_pandas(type(x)) for x in xs[2:]):
        return None
    found: Traced | None = _of_first_two(f, tape, nodes, *xs, **kws)
    return found


@handlers.desugared(*_FUNCTIONS_OF_PANDAS, of=is_of_pandas, given=True)
def _of_first_two(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    if any(n is not None for n in nodes[1 + len(xs) :]) or any(map(_is_held, kws.values())):
        return None
    options = {n: _array(tape, x)[0] if is_of_pandas(type(x)) else x for n, x in kws.items()}
    return _computed_twice(tape, f, nodes, xs, f, kws, options)


@handlers.desugared(np.asarray, np.asanyarray, np.array, np.ravel, of=is_of_pandas, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any, *xs: Any, **kws: Any) -> Traced | None:
    if not _is_held(x):
        return None
    array, node = _array(tape, x)
    return tape.call((None, node, *nodes[2:]), f, array, *xs, **kws)


@handlers.desugared(operator.getitem, of=lambda t: is_of_pandas(t) or _is_indexer(t))
def _(tape: Tape, nodes: Nodes, x: Any, key: Any) -> Traced | None:
    table = x.obj if _is_indexer(type(x)) else x
    if not _is_held(table):
        return None
    return _chosen_of_table(
        tape, table, lambda t: (t if table is x else getattr(t, _name_of_indexer(x)))[key]
    )


@handlers.desugared(getattr, of=is_of_pandas)
def _(tape: Tape, nodes: Nodes, x: Any, name: str, *default: Any) -> Traced | None:
    """Read an attribute of data of pandas that a gradient passes through."""
    if not _is_held(x):
        return None
    if name in ("values", "_values"):
        return _array(tape, x)
    if name == "T" or name in getattr(x, "columns", ()):
        return _chosen_of_table(tape, x, lambda t: getattr(t, name))
    y = getattr(x, name, *default)
    if name in _TOLD_OF_PANDAS or _is_indexer(type(y)) or isinstance(y, types.MethodType):
        return y, None
    raise _refused_of_pandas(f"`.{name}`", "which is not followed")


@handlers.callables(types.FunctionType, of=is_of_pandas)
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced | None:
    """Call a method of data of pandas, or refuse it where a gradient passes through the data."""
    x, name = xs[0], f.__name__
    if not is_of_pandas(type(x)) or member_of(type(x), name) is not f:
        return None
    if name in _BINARY_OF_PANDAS and len(xs) == 2 and not kws:
        meant, is_swapped = _BINARY_OF_PANDAS[name]
        order = (1, 0) if is_swapped else (0, 1)
        return tape.call((None, *(nodes[1 + i] for i in order)), meant, *(xs[i] for i in order))
    if not _is_held(x):
        return None
    is_plain = all(n is None for n in nodes[2:])
    done = _called_method(tape, nodes, f, xs, kws) if is_plain else None
    if done is None:
        raise _refused_of_pandas(f"`.{name}(...)`", "which is not followed")
    return done


def _called_method(
    tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Traced | None:
    """Call a method of data that a gradient passes through; return `None` for other methods."""
    x, name = xs[0], f.__name__
    if name in _SAME_OF_PANDAS:
        meant, names = _SAME_OF_PANDAS[name]
        names = names[len(xs) - 1 :]
        if not {*kws} <= {*names}:
            return None
        given = (*xs, *map(kws.get, names)) if kws else xs
        flags = (*nodes[: 1 + len(xs)], *(None for _ in given[len(xs) :]))
        return _computed_twice(tape, f, flags, given, meant, {}, {})
    if name in _CHOOSING_OF_PANDAS or (name == "reset_index" and kws == {"drop": True}):
        return _chosen_of_table(tape, x, lambda t: f(t, *xs[1:], **kws))
    if name in _SHOWN_OF_PANDAS:
        y = f(*xs, **kws)
        return tape.record(y, text_pullback(y, len(nodes)), nodes)
    if name in _ASKED_OF_PANDAS:
        return None if any(map(_is_held, (*xs[1:], *kws.values()))) else (f(*xs, **kws), None)
    if len(xs) > 1:
        return None
    if name in ("to_numpy", "__array__") and not kws:
        return _array(tape, x)
    if name in ("tolist", "to_list"):
        return _as_list(tape, x)
    if name in _REDUCING_OF_PANDAS and {*kws} <= {"axis", "ddof", "skipna"}:
        axis = {"index": 0, "columns": 1}.get(kws.get("axis", 0), kws.get("axis", 0))
        ddof = {"ddof": kws.get("ddof", 1)} if name in ("std", "var") else {}
        options = ({"axis": axis} if x.ndim == 2 else {}) | ddof
        return _computed_twice(tape, f, nodes, xs, _REDUCING_OF_PANDAS[name], kws, options)
    return None


def _is_indexer(kind: type) -> bool:
    return kind.__module__ == "pandas.core.indexing"


def _name_of_indexer(indexer: Any) -> str:
    return str(indexer.name)


def _chosen_of_table(tape: Tape, x: Any, choose: Callable[[Any], Any]) -> Traced:
    """Return what is chosen of data of pandas by places and labels, and not by what they hold."""
    array, node = _array(tape, x)
    labels = dict(zip(("index", "columns"), _labels(x), strict=False))
    places = np.asarray(choose(type(x)(np.arange(array.size).reshape(array.shape), **labels)))
    if places.dtype.kind != "i":
        raise _refused_of_pandas(
            "a choice of rows or columns", "which has labels that are not there"
        )
    y = choose(x)
    flat, at = tape.call((None, node), np.ravel, array)
    found, node = tape.call((None, at, None), operator.getitem, flat, places)
    if not _agree(y, found):
        raise _refused_of_pandas("a choice of rows or columns", "which depends on what they hold")
    return _with_array(tape, y, found, node)
