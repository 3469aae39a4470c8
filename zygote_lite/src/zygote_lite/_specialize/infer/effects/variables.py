"""Variables outside that the code assigns: by `nonlocal`, and by `global` on some paths.

So are numbers that a class or a function of the program has as attributes, such as counters.

Such a variable is a cell, as variables are that functions inside share: it begins with what is
outside at entry, branches join it, and loops carry it. What it holds at the end is assigned when
the call is answered. Where an assignment is found, the code is interpreted again.
"""

import re
import types
from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.infer.cells import (
    assign,
    cell_from_outside,
    contents,
    value_at_entry,
)
from zygote_lite._specialize.infer.effects.attributes import read_at_entry, refuse_to_keep
from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.infer.held.containers import NO_RESULT, mirror
from zygote_lite._specialize.infer.models.classes import definer_of, is_ordinary, settle
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.effects import (
    set_at_the_end,
    set_item_at_the_end,
    set_of_class_at_the_end,
)
from zygote_lite._specialize.typed.facts import Other, Scalar, fact_of
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.notes import adopted, attribute_outside, global_variable
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value, constant

# -- `nonlocal` ----------------------------------------------------------------------------------


def captured(builder: Builder, cell: types.CellType, at: str, name: str) -> Value:
    """Return a variable that a function captures: its cell, if the code assigns it.

    Arguments:
        builder: what writes the code.
        cell: where the variable is outside, with a value.
        at: the expression for that.
        name: the name of the variable.
    """
    inputs, x = builder.inputs, cell.cell_contents
    if adopted(cell) not in builder.own:
        inputs.captured[at] = None
        return builder.read(x, f"{at}.cell_contents", name)
    _demand_whole(builder, name)
    held = inputs.holder(types.CellType, at)
    known: OuterVariable | None = inputs.variables.get(id(cell))
    if known is not None:
        if known.where != held:
            inputs.guards[f"{held} is {known.where}"] = None
        return known.cell
    inputs.assigned_cells[held] = None

    def leave(effects: Value, value: Value) -> None:
        owner = inputs.give(Value(Other(types.CellType), cell, builder.name("cell")), held)
        given = [effects, owner, constant("cell_contents"), value]
        mirror(builder.write(NO_RESULT, set_at_the_end, given, {}), lambda builder, _: [], [])

    return _new(builder, id(cell), x, f"{held}.cell_contents", name, held, leave).cell


def demand_captured(builder: Builder, cell: types.CellType | None) -> None:
    """Have the code interpreted again, where it assigns a variable that a function captures."""
    if cell is not None and builder.may_own:
        builder.wanted.add(adopted(cell))


# -- `global` ------------------------------------------------------------------------------------


def is_global_cell(builder: Builder, globals_: dict[str, Any], name: str) -> bool:
    """Return whether it is known that the code assigns a global on some paths."""
    return global_variable(globals_, name) in builder.own


def global_in_cell(builder: Builder, globals_: dict[str, Any], name: str) -> Value:
    """Return what a global that the code assigns on some paths holds now."""
    return contents(_cell_of_global(builder, globals_, name), name)


def set_global_in_cell(
    builder: Builder, globals_: dict[str, Any], name: str, value: Value
) -> Value:
    """Note what such a global holds from here on: nothing that the tape refuses to keep there."""
    if any(leaf.active for leaf in leaves(value)):
        raise Unsound.LOST_GRADIENT(
            f"the global {name} is assigned what depends on a differentiated argument: return it "
            "instead"
        )
    assign(builder, _cell_of_global(builder, globals_, name), value)
    return constant(None)


def demand_global_cell(builder: Builder, globals_: dict[str, Any], name: str) -> None:
    """Have the code interpreted again, where it assigns a global on some paths."""
    if builder.may_own and not builder.plain and name in globals_:
        builder.wanted.add(global_variable(globals_, name))


def _cell_of_global(builder: Builder, globals_: dict[str, Any], name: str) -> Value:
    _demand_whole(builder, name)
    inputs, key = builder.inputs, global_variable(globals_, name)
    known: OuterVariable | None = inputs.variables.get(key)
    if known is not None:
        return known.cell
    within = inputs.name_for(globals_, "g")

    def leave(effects: Value, value: Value) -> None:
        given = [effects, constant(globals_.__setitem__), constant(name), value]
        mirror(builder.write(NO_RESULT, set_item_at_the_end, given, {}), lambda builder, _: [], [])

    return _new(builder, key, globals_[name], f"{within}[{name!r}]", name, "", leave).cell


# -- attributes of classes and functions ---------------------------------------------------------


def set_attribute_outside(builder: Builder, owner: Any, name: str, value: Value) -> None:
    """Note `owner.name = value` of a class or a function: a number that carries no gradient.

    Raises `NotSpecializable` where the attribute is not one of its own that holds a number.
    """
    key = attribute_outside(owner, name)
    if key in builder.own:
        if any(leaf.active for leaf in leaves(value)) or not value.is_scalar:
            raise Unsound.LOST_GRADIENT(
                f"the attribute {name} of {owner.__name__} is assigned something other than a "
                "number that depends on nothing differentiated"
            )
        assign(builder, _cell_of_attribute(builder, owner, name), value)
        return
    is_ours = isinstance(owner, types.FunctionType) or is_ordinary(owner)
    is_number = isinstance(fact_of(vars(owner).get(name)), Scalar)
    if is_ours and is_number and builder.may_own and not builder.plain:
        builder.wanted.add(key)
    raise Unsound.WRITES_TO_GIVEN("it assigns an attribute of an object that it did not create")


def attribute_now(builder: Builder, owner: Any, name: str) -> Value | None:
    """Return what an attribute of a class or a function holds now, where the code assigns it."""
    if attribute_outside(owner, name) not in builder.own:
        return None
    return contents(_cell_of_attribute(builder, owner, name), name)


def _cell_of_attribute(builder: Builder, owner: Any, name: str) -> Value:
    _demand_whole(builder, name)
    inputs, key = builder.inputs, attribute_outside(owner, name)
    known: OuterVariable | None = inputs.variables.get(key)
    if known is not None:
        return known.cell
    at = inputs.name_for(owner, "o")
    if isinstance(owner, type):
        settle(inputs, owner)
    else:
        inputs.guards[f"{name!r} in {at}.__dict__"] = None

    def leave(effects: Value, value: Value) -> None:
        f = set_of_class_at_the_end if isinstance(owner, type) else set_at_the_end
        has_it = read_at_entry(builder, owner, at, "owner")
        given = [effects, has_it, constant(name), value]
        mirror(builder.write(NO_RESULT, f, given, {}), lambda builder, _: [], [])

    made = _new(builder, key, vars(owner)[name], f"{at}.__dict__[{name!r}]", name, "", leave)
    made.owner = owner
    return made.cell


def _refuse_other_reads(builder: Builder, x: "OuterVariable") -> None:
    """Refuse code that reads such an attribute otherwise: it holds there what it does at entry."""
    inputs, ours = builder.inputs, f".__dict__[{x.name!r}]"
    inheriting = [y for y in inputs.bound.values() if isinstance(y, type) and x.owner in y.__mro__]
    for kind in inheriting:  # those that have an attribute of that name of their own keep it
        settle(inputs, kind)
    owners = [name for name, y in inputs.bound.items() if _finds_in(y, x.owner, x.name)]
    read = re.compile(rf"\b({'|'.join(owners)})(\.{x.name}\b|\.__dict__\[{x.name!r}\])")
    own = inputs.name_for(x.owner, "o") + ours
    for expression in (*inputs.given, *inputs.guards, *inputs.holders):
        if expression != own and read.search(expression):
            raise Unsound.WRITES_TO_GIVEN(
                f"it assigns the attribute {x.name} of a class or a function, and reads it by "
                "another name"
            )


def _finds_in(x: Any, owner: Any, name: str) -> bool:
    return x is owner or (isinstance(x, type) and definer_of(x, name) is owner)


# -- both ----------------------------------------------------------------------------------------


class OuterVariable:
    """A variable outside that the code assigns.

    Attributes:
        name: its name.
        cell: its cell in the code.
        where: of one that functions capture, what holds its cell outside.
        leave: writes what assigns it at the end.
        owner: of an attribute, the class or the function that has it.
    """

    owner: Any = None

    def __init__(
        self, name: str, cell: Value, where: str, leave: Callable[[Value, Value], None]
    ) -> None:
        self.name, self.cell, self.where, self.leave = name, cell, where, leave


def _new(
    builder: Builder, key: Any, x: Any, expression: str, name: str, where: str,
    leave: Callable[[Value, Value], None],
) -> OuterVariable:  # fmt: skip
    if isinstance(fact_of(x), Scalar):
        before = read_at_entry(builder, x, expression, name)
    else:
        before = builder.read(x, expression, name, changes=True)
    made = OuterVariable(name, cell_from_outside(builder, before), where, leave)
    builder.inputs.variables[key] = made
    return made


def _demand_whole(builder: Builder, name: str) -> None:
    if not builder.may_own:
        raise NotSupported.SECOND_ORDER(
            f"it assigns the variable {name}, and reads it in a nested gradient or a recursion"
        )


def settle_variables(builder: Builder) -> None:
    """Write what assigns the variables that hold something else at the end."""
    for x in builder.inputs.variables.values():
        if x.owner is not None:
            _refuse_other_reads(builder, x)
        now = contents(x.cell, x.name)
        if now is not value_at_entry(builder, x.cell):
            refuse_to_keep(builder, f"the variable {x.name}, which is assigned outside,", now)
            x.leave(effects_of(builder, f"an assignment of {x.name}"), now)
    if builder.inputs.variables:
        builder.refuse_all_readers()  # they would read them too early
