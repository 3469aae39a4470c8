"""Rows of data that the code is given, or reads from outside: any number of them, all alike.

The entry takes them apart into columns (`columns`), of which an iteration reads its items. They
are read alone: what a row is written to, or who else holds it, the code does not know.
"""

import operator
from collections.abc import Iterator
from typing import Any

from zygote_lite._specialize.infer.iteration.columns import (
    ARRAY,
    LEAVES,
    NUMBER,
    OTHER,
    TEXT,
    columns_of,
    form_of_rows,
    has_mutable_rows,
    leaves_of_form,
)
from zygote_lite._specialize.infer.models.named import is_named_tuple
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ListOf, Other, Scalar, fact_of
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import RowsOfData, Unfollowed
from zygote_lite._specialize.typed.structures import mapping, named_tuple, structure
from zygote_lite._specialize.typed.values import Value, constant

FEWEST_ROWS = 17  # fewer are walked over one by one


def given_rows(builder: Builder, x: Any, expression: str, stem: str) -> Value | None:
    """Return rows of data, which are read at entry; `None` for what has no rows."""
    inputs = builder.inputs
    if type(x) not in (list, tuple) or len(x) < FEWEST_ROWS or builder.compiled or builder.twice:
        return None
    if not inputs.by_rows:
        inputs.has_rows = True
        return None
    if expression in inputs.structures:
        return inputs.structures[expression]
    form = form_of_rows(x, is_named_tuple)
    if form is None:
        return None
    held = inputs.holder(type(x), expression)
    if type(x) is list:
        inputs.containers[held] = None
    if form not in LEAVES and form[0] in (list, dict):
        inputs.containers[f"*{held}"] = None
    inputs.mutable_rows |= has_mutable_rows(form)
    taking = f"{inputs.name_for(columns_of, 'o')}({held}, {inputs.name_for(form, 'o')})"
    taken, samples = inputs.holder(list, taking), columns_of(x, form) or []
    columns = []
    for i, (leaf, sample) in enumerate(zip(leaves_of_form(form), samples, strict=True)):
        columns.append(
            constant(None)
            if leaf == OTHER
            else _column(builder, leaf, sample, f"{taken}[{i}]", f"{stem}_{i}")
        )
    found = constant(RowsOfData(form, columns))
    inputs.structures[expression] = found
    return found


def _column(builder: Builder, leaf: str, sample: Any, expression: str, stem: str) -> Value:
    """Return a column, which is read at each entry."""
    fact: Any = Other(list)
    if leaf == NUMBER:
        fact = ListOf(Scalar(frozenset({*map(type, sample)})))
    elif leaf == ARRAY:
        fact = fact_of(sample)
    value = Value(fact, sample, builder.name(stem))
    value.sizes = {}
    return builder.inputs.give(value, expression)


def number_of_rows(builder: Builder, x: Value) -> Value:
    """Write `len(x)`."""
    return builder.write(
        Result(Scalar(frozenset((int,))), len(x.sample.first.sample)), len, [x.sample.first], {}
    ).target


def item_of_rows(builder: Builder, x: Value, index: Value) -> Value:
    """Write `x[index]`: a row, or some of the rows."""
    rows: RowsOfData = x.sample
    if isinstance(index.sample, slice):
        columns = [c if c.is_constant else _some_of(builder, c, index) for c in rows.columns]
        return constant(RowsOfData(rows.form, columns))
    if not isinstance(index.fact, Scalar) or not isinstance(index.sample, int):
        raise NotSupported.LIST_OPERATION(
            "it indexes rows of data by something other than an integer"
        )
    return _row(builder, rows.form, iter(rows.columns), index)


def _some_of(builder: Builder, column: Value, index: Value) -> Value:
    if isinstance(column.fact, Other):
        part = builder.write(
            Result(column.fact, column.sample[index.sample]), operator.getitem, [column, index], {}
        )
        return part.target
    return builder.item(column, index)


def _row(builder: Builder, form: Any, columns: Iterator[Value], index: Value) -> Value:
    """Return the item of a row, or of a part of it."""
    if form in LEAVES:
        column = next(columns)
        if form == OTHER:
            return constant(Unfollowed("a row of data holds something other than numbers and text"))
        if form == TEXT:
            result = Result(Other(str), column.sample[0])
            return builder.write(result, operator.getitem, [column, index], {}).target
        return builder.item(column, index)
    kind, keys, parts = form
    values = [_row(builder, part, columns, index) for part in parts]
    if kind is dict:
        return mapping(dict(zip(keys, values, strict=True)))
    return structure(kind, values) if kind in (tuple, list) else named_tuple(kind, values)


def refuse_changed_rows(builder: Builder) -> None:
    """Refuse code that changes what it is given, where rows of data may be part of that."""
    inputs = builder.inputs
    if inputs.mutable_rows and (builder.copies or inputs.changing or inputs.assigned):
        raise Unsound.SHARED_WRITE(
            "it changes an argument that rows of data may hold: change a copy"
        )
