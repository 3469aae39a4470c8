"""Arrays made from values: constructors, copies, conversions and fills."""

import numpy as np

from rules_base.shared.batches import of_entries, spread
from rules_base.shared.nesting import unstacked, whole
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.creation", may_raise=False)


def keeps_numbers(x, y):
    """Return whether the conversion of `x` to `y` kept its values: 2.7 to an integer does not."""
    kinds = "iufc" if np.result_type(x).kind in "iu" else "fc"
    return np.result_type(y).kind in kinds


@rule(np.array)
def _(values: list | tuple, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    y = np.array(values, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)

    def pullback(dy):
        if not kept(values, y):
            return (None,)
        return (unstacked(np.reshape(dy, y.shape[y.ndim - ndim_of(values) :]), values),)

    return y, pullback


@rule.forward(np.array)
def _(values: list | tuple, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    y = np.array(values, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)

    def pushforward(dvalues):
        return np.array(whole(dvalues, values), y.dtype, ndmin=ndmin) if kept(values, y) else None

    return y, pushforward


@rule.forward(np.asarray, np.asanyarray, np.asarray_chkfinite)
def _(values: list | tuple, dtype=None, order=None):
    y = np.asarray(values, dtype, order)

    def pushforward(dvalues):
        return np.array(whole(dvalues, values), y.dtype) if kept(values, y) else None

    return y, pushforward


@rule(np.ascontiguousarray, np.asfortranarray)
def _(values: list | tuple, dtype=None):
    y = np.asarray(values, dtype)

    def pullback(dy):
        return (unstacked(dy, values) if kept(values, y) else None,)

    return y, pullback


@rule(np.asarray, np.asanyarray, np.asarray_chkfinite)
def _(values: list | tuple, dtype=None, order=None):
    y = np.asarray(values, dtype, order)

    def pullback(dy):
        return (unstacked(dy, values) if kept(values, y) else None,)

    return y, pullback


def ndim_of(values):
    """Return the number of axes of `np.array(values)`, following the first entries."""
    depth = 0
    while isinstance(values, list | tuple):
        depth += 1
        if not values:
            return depth
        values = values[0]
    return depth + np.ndim(values)


def kept(values, y):
    """Return whether the array `y` holds the numbers of the nested `values` unchanged."""
    return y.dtype.kind in "fc" or np.array(values).dtype.kind in "iub"


@rule(np.array)
def _(x: Numeric, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    y = np.array(x, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)

    def pullback(dy):
        return (project(np.reshape(dy, np.shape(x)), x) if keeps_numbers(x, y) else None,)

    return y, pullback


@rule(np.asarray, np.asanyarray)
def _(x: Numeric, dtype=None, order=None, *, copy=None):
    y = np.asarray(x, dtype, order, **({} if copy is None else {"copy": copy}))

    def pullback(dy):
        return (project(dy, x) if keeps_numbers(x, y) else None,)

    return y, pullback


@rule(np.ascontiguousarray)
def _(x: Numeric, dtype=None):
    y = np.ascontiguousarray(x, dtype)

    def pullback(dy):
        return (project(np.reshape(dy, np.shape(x)), x) if keeps_numbers(x, y) else None,)

    return y, pullback


@rule(np.asfortranarray)
def _(x: Numeric, dtype=None):
    y = np.asfortranarray(x, dtype)

    def pullback(dy):
        return (project(np.reshape(dy, np.shape(x)), x) if keeps_numbers(x, y) else None,)

    return y, pullback


@rule(np.asarray_chkfinite)
def _(x: Numeric, dtype=None, order=None):
    y = np.asarray_chkfinite(x, dtype, order)

    def pullback(dy):
        return (project(dy, x) if keeps_numbers(x, y) else None,)

    return y, pullback


@rule(np.copy)
def _(x: Numeric, order="K", subok=False):
    def pullback(dy):
        return (project(dy, x),)

    return np.copy(x, order, subok), pullback


@rule(np.ndarray.copy, np.generic.copy)
def _(x: Array | np.generic, order="C"):
    def pullback(dy):
        return (project(dy, x),)

    return (x.copy() if order == "C" else x.copy(order)), pullback


@rule.forward(np.copy)
def _(x: Numeric, order="K", subok=False):
    return np.copy(x, order, subok), (lambda dx: np.copy(dx, order),)


@rule.forward(np.ndarray.copy)
def _(x: Array, order="C"):
    return x.copy(order), (lambda dx: dx.copy(order),)


@rule.forward(np.generic.copy)
def _(x: np.generic):
    return x.copy(), (lambda dx: dx,)


@rule(np.ndarray.astype, np.generic.astype)
def _(x: Array | np.generic, dtype=None, order="K", casting="unsafe", subok=True, copy=True):
    if isinstance(x, np.ndarray | np.generic):
        y = x.astype(dtype, order, casting, subok, copy)
    else:
        y = x.astype(dtype, **named(order=order, casting=casting, subok=subok, copy=copy))

    def pullback(dy):
        return (project(dy, x) if keeps_numbers(x, y) else None,)

    return y, pullback


def named(order, casting, subok, copy):
    """Return the options of `astype` that are not the usual ones: few libraries take them all."""
    usual = {"order": "K", "casting": "unsafe", "subok": True, "copy": True}
    chosen = {"order": order, "casting": casting, "subok": subok, "copy": copy}
    return {name: x for name, x in chosen.items() if x != usual[name]}


if hasattr(np, "astype"):

    @rule(np.astype)
    def _(x: Array, dtype=None, *, copy=True):
        y = np.astype(x, dtype, copy=copy)

        def pullback(dy):
            return (project(dy, x) if keeps_numbers(x, y) else None,)

        return y, pullback


def declare_conversion(kind):
    """Let a NumPy scalar type, called as a function, pass the cotangent on."""

    @rule(kind)
    def _(x: Numeric):
        y = kind(x)

        def pullback(dy):
            return (project(dy, x),)

        return y, pullback

    @rule.forward(kind)
    def _(x: Numeric):
        return kind(x), (lambda dx: kind(dx),)


FLOATS = {np.float16, np.float32, np.float64, np.longdouble}
COMPLEXES = {np.complex64, np.complex128, np.clongdouble}
for kind in (*FLOATS, *COMPLEXES):
    declare_conversion(kind)
INTEGERS = {np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64}
rule.constant(*INTEGERS, np.bool_, np.str_, np.bytes_, np.dtype, np.finfo, np.iinfo)


@rule(np.full)
def _(shape: object, value: Numeric, dtype=None, order="C"):
    y = np.full(shape, value, dtype, order)

    def pullback(dy):
        return None, project(dy, value) if keeps_numbers(value, y) else None

    return y, pullback


@rule.forward(np.full)
def _(shape: object, value: Numeric, dtype=None, order="C"):
    y = np.full(shape, value, dtype, order)

    def pushforward(_, dvalue):
        return np.full(shape, dvalue, y.dtype, order) if keeps_numbers(value, y) else None

    return y, pushforward


@rule(np.full)
def _(shape: object, value: list | tuple, dtype=None, order="C"):
    values = np.array(value)
    y = np.full(shape, values, dtype, order)

    def pullback(dy):
        return None, unstacked(project(dy, values), value) if keeps_numbers(values, y) else None

    return y, pullback


@rule(np.full_like)
def _(like: object, value: Numeric, dtype=None, **options):
    y = np.full_like(like, value, dtype=dtype, **options)

    def pullback(dy):
        return None, project(dy, value) if keeps_numbers(value, y) else None

    return y, pullback


@rule.forward(np.full_like)
def _(like: object, value: Numeric, dtype=None, **options):
    y = np.full_like(like, value, dtype=dtype, **options)

    def pushforward(_, dvalue):
        if dvalue is None or not keeps_numbers(value, y):
            return None
        return np.full_like(y, dvalue)

    return y, pushforward


# -- of batches


def filled_of_batches(f):
    """Return the body for an array of the shape of an entry; another shape has none of a batch."""

    def body(x: Numeric, dtype=None):
        return f(x, dtype)

    return body


for _f in (np.zeros_like, np.ones_like):
    rule.batched(_f)(filled_of_batches(_f))
rule.batched(np.copy, np.ndarray.copy, np.generic.copy)(of_entries(np.copy))


@rule.batched(np.ndarray.astype, np.generic.astype)
def _(x: Array | np.generic, dtype=None):
    return x.astype(dtype)


@rule.batched(np.array, np.asarray)
def _(x: Array | np.generic | float | complex, dtype=None):
    return np.copy(x) if dtype is None else x.astype(dtype)


@rule.batched(np.array, np.asarray)
def _(x: list | tuple, dtype=None):
    found = joined(x)
    return NotImplemented if found is None else found if dtype is None else found.astype(dtype)


def joined(x):
    """Return nested lists of arrays and numbers as an array, the axis of the batch in front."""
    if not isinstance(x, list | tuple):
        return x
    parts = [joined(part) for part in x]
    return None if not parts or any(part is None for part in parts) else np.stack(spread(*parts), 1)
