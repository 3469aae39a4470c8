"""Cells: variables that functions share, and that are given several values.

A function defined inside reads such a variable where it is called, and may assign it (`nonlocal`).
The variable is the attribute of an object that is never made: see `models.instances`.
"""

from zygote_lite._specialize.infer.models.instances import new_object, put
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import LOST
from zygote_lite._specialize.typed.values import Value

_CONTENTS = "contents"


class Cell:
    """The class of the objects whose attribute is a variable that functions share."""


def is_cell(x: Value | None) -> bool:
    """Return whether a value is the cell of a variable."""
    return x is not None and type(x.sample) is Cell


def with_cells(builder: Builder, names: list[str], env: Env) -> Env:
    """Return the variables at the start of a function, with new cells for some of them."""
    env = dict(env)
    for name in names:
        cell = new_cell(builder)
        if name in env:
            put(builder, cell, _CONTENTS, env[name])
        env[name] = cell
    return env


def new_cell(builder: Builder) -> Value:
    """Return the cell of a variable that has no value yet."""
    return new_object(builder, Cell)


def contents(cell: Value, name: str) -> Value:
    """Return the value of a variable."""
    assert cell.fields is not None
    value = cell.fields.get(_CONTENTS)
    if value is None:
        raise Unsound.UNSET(f"`{name}` may have no value")
    if value is LOST:
        raise NotSupported.DEPENDS_ON_PATH(
            f"`{name}` is different after two branches, or has no value"
        )
    return value


def assign(builder: Builder, cell: Value, value: Value) -> None:
    """Give a variable another value."""
    put(builder, cell, _CONTENTS, value)


def cell_from_outside(builder: Builder, value: Value) -> Value:
    """Return the cell of a variable from outside, which has a value at entry."""
    cell = Value(Other(Cell), Cell())
    builder.adopt(cell, {_CONTENTS: value})
    return cell


def value_at_entry(builder: Builder, cell: Value) -> Value:
    """Return the value that the variable of a cell from outside has at entry."""
    return builder.at_entry[cell][_CONTENTS]
