"""Data of pandas from outside: what the code takes of them is computed at entry.

A table is data, through which no gradient passes. The code has none of it but numbers, arrays and
texts: `df["a"].to_numpy()` is an expression of the entry, as the array of a global is. It asks for
what is known to change nothing, and to give the same again, by keys and numbers that are constants.
"""

import operator
from typing import Any

import numpy as np

from zygote_lite._cotangents.kinds import is_of_pandas
from zygote_lite._ir.operators import OF_FUNCTION
from zygote_lite._ir.traits import is_pure
from zygote_lite._specialize.typed.abstract_eval import run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.stand_ins import DataTable, Method, StandIn
from zygote_lite._specialize.typed.values import Value, constant

_PARTS_OF_TABLES = (
    "values", "size", "index", "columns", "T", "iloc", "loc", "at", "iat", "empty", "ndim", "shape",
)  # fmt: skip
_OF_TABLES = (
    "to_numpy", "mean", "sum", "std", "var", "min", "max", "median", "prod", "count", "quantile",
    "head", "tail", "abs", "cumsum", "cumprod", "diff", "shift", "dropna", "fillna", "isna",
    "notna", "isin", "between", "sort_values", "sort_index", "nunique", "astype", "clip", "corr",
)  # fmt: skip
_ASKED_OF_TABLES = (len, float, int, sum, min, max, abs, round)
_PASSED_ON = (tuple, list, operator.getitem, zip, enumerate)


def given_table(builder: Builder, x: Any, expression: str) -> Value | None:
    """Return data of pandas that the code reads from outside; `None` for anything else."""
    if not is_of_pandas(type(x)) or builder.compiled or builder.twice:
        return None
    builder.inputs.mutable_rows = True  # what the code writes to may be its memory
    return _named_table(builder, x, expression)


def _named_table(builder: Builder, x: Any, expression: str) -> Value:
    known = builder.inputs.structures
    if expression not in known:
        known[expression] = constant(DataTable(x, builder.inputs.holder(type(x), expression)))
    return known[expression]


def is_table(x: Value) -> bool:
    """Return whether a value is data of pandas, or an index or a part of such."""
    return isinstance(x.sample, DataTable)


def _read_at_entry(builder: Builder, f: Any, expression: str, *xs: Any, **kws: Any) -> Value:
    """Return what an expression of the entry gives, which gives on the samples what `f` gives."""
    found = run(f, [*xs], kws)
    if type(found).__module__.partition(".")[0] == "pandas":
        return _named_table(builder, found, expression)
    held = builder.inputs.holder(type(found), expression)
    is_shape = type(found) is tuple and all(type(part) is int for part in found)
    if is_shape or type(found) is int:  # what loops are made for
        builder.inputs.guards[f"{held} == {found!r}"] = None
        return constant(found)
    if not isinstance(found, bool | int | float | np.ndarray | np.generic | list):
        raise NotSupported.OUTSIDE_TYPE(
            "it takes something other than numbers from a pandas object"
        )
    return builder.read(found, held, "data", changes=True)


def attribute_of_table(builder: Builder, x: Value, name: str) -> Value:
    """Return `x.name` of a table: a column, a part, or a method."""
    source, where = x.sample.source, x.sample.where
    if name in _OF_TABLES:
        return constant(Method(x, name))
    is_column = name in getattr(source, "columns", ()) and not hasattr(type(source), name)
    if name not in _PARTS_OF_TABLES and not is_column:
        raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of a pandas object")
    return _read_at_entry(builder, getattr, f"{where}.{name}", source, name)


def item_of_table(builder: Builder, x: Value, index: Value) -> Value:
    """Return `x[index]` of a table."""
    return _asked_at_entry(builder, operator.getitem, [x, index], {}, by_key=not is_table(index))


def method_of_table(
    builder: Builder, x: Value, name: str, xs: list[Value], kws: dict[str, Value]
) -> Value:
    """Return what a method of a table gives."""
    if "inplace" in kws:
        raise NotSupported.METHOD("it changes a pandas object in place: assign the result")
    return _asked_at_entry(builder, getattr(type(x.sample.source), name), [x, *xs], kws)


def of_tables(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value | None:
    """Return the result of a call that is given tables; `None` where that is an ordinary call."""
    within = [leaf for x in (*xs, *kws.values()) for leaf in leaves(x) if is_table(leaf)]
    if not within or (hasattr(f, "__code__") and not is_pure(f)) or isinstance(f, StandIn):
        return None
    if f in (operator.is_, operator.is_not) and any(x.sample is None for x in xs):
        return constant(f is operator.is_not)
    if f is isinstance and is_table(xs[0]) and xs[1].is_constant:
        return constant(isinstance(xs[0].sample.source, xs[1].sample))
    if not any(map(is_table, (*xs, *kws.values()))) and f in _PASSED_ON:
        return None
    of_numpy = getattr(f, "__module__", None) or "numpy" if is_pure(f) else ""
    if not (f in _ASKED_OF_TABLES or f in OF_FUNCTION or of_numpy.partition(".")[0] == "numpy"):
        raise NotSupported.RULE_OPERAND(
            f"it passes a pandas object to {getattr(f, '__name__', f)}: pass `.to_numpy()`"
        )
    return _asked_at_entry(builder, f, xs, kws)


def _asked_at_entry(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], by_key: bool = False
) -> Value:
    """Return the value of a call on tables and constants, which is computed at entry."""
    told = [_operand(builder, x, by_key) for x in xs]
    named = {name: _operand(builder, x) for name, x in kws.items()}
    texts = [text for _, text in told] + [f"{name}={text}" for name, (_, text) in named.items()]
    expression = f"{builder.inputs.name_for(f, 'o')}({', '.join(texts)})"
    given = {name: sample for name, (sample, _) in named.items()}
    return _read_at_entry(builder, f, expression, *[sample for sample, _ in told], **given)


def _operand(builder: Builder, x: Value, by_key: bool = False) -> tuple[Any, str]:
    """Return a table, a constant, or a structure of these, and the expression for it."""
    inputs = builder.inputs
    if is_table(x):
        source, where = x.sample.source, x.sample.where
        return (source, where) if by_key else (
            run(without_objects, [source], {}), f"{inputs.name_for(without_objects, 'o')}({where})"
        )  # fmt: skip
    if x.items is not None and type(x.sample) in (tuple, list):
        parts = [_operand(builder, part) for part in x.items]
        kind = inputs.name_for(type(x.sample), "o")
        text = f"{kind}([{', '.join(text for _, text in parts)}])"
        return type(x.sample)(sample for sample, _ in parts), text
    if not x.is_constant or isinstance(x.sample, StandIn):
        raise NotSupported.ITEM("it computes with a pandas object and what is not a constant")
    return x.sample, inputs.name_for(x.sample, "o")


def without_objects(x: Any) -> Any:
    """Return a table whose operators and methods run no code of the program: it has no objects."""
    kinds = x.dtypes if hasattr(x, "columns") else [getattr(x, "dtype", None)]
    if "object" in map(str, kinds):
        raise TypeError("a table has objects")
    return x
