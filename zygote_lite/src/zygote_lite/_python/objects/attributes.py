"""Structural pullbacks of attributes: reading, writing and deleting one."""

import collections
import functools
import gc
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import find_rule
from zygote_lite._activity.activity import (
    has_active_class,
    holder_of,
    is_fields_view,
    mark_active,
    mark_fields,
)
from zygote_lite._activity.classes import attribute_in_c, fields_of, member_of
from zygote_lite._cotangents.kinds import (
    DICT,
    FUNCTION,
    HEAPTYPE,
    INERT,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    VALUE,
    dict_of,
    is_known_by_rule,
    kind_of,
    slot_names,
)
from zygote_lite._cotangents.registry import (
    Handlers,
    Nodes,
    UndoOnly,
    ValueAndPullback,
    no_pullback,
)
from zygote_lite._cotangents.run import current_store, give, slots_of, state
from zygote_lite._ir.places import where
from zygote_lite._python.literals import field_of_tuple_back
from zygote_lite._tape.refusal import (
    COMPUTING,
    refusal,
    refused_fields,
    refused_holder,
    refused_part,
)
from zygote_lite.errors import DifferentiationError

handlers = Handlers()


@handlers.structural(getattr, object.__getattribute__)
def _(nodes: Nodes, x: Any, name: str, *default: Any) -> ValueAndPullback:
    count = len(nodes)
    if isinstance(x, types.ModuleType):
        y = getattr(x, name, *default)
        is_held = id(vars(x)) in (state.active or {}) and name in vars(x)
        return y, _field_back(vars(x) if is_held else None, name, y, count)
    if isinstance(x, type):
        if name == "__dict__" and has_active_class(x):
            raise refused_fields(f"the class {x.__qualname__}")
        y = getattr(x, name, *default)
        return y, _field_back(holder_of(x.__mro__, name, y), name, y, count)
    if id(x) in state.held and isinstance(x, COMPUTING) and name not in _OF_SHAPE:
        raise refused_holder(x)
    member = member_of(type(x), name)
    fields = dict_of(x)
    if kind_of(x) == OBJECT and type(fields) is dict and not slot_names(type(x)):
        if name == "__dict__":
            return fields, no_pullback(count)  # it shares the cotangents of the object
    elif name == "__dict__" or (id(fields) in (state.active or {}) and not is_fields_view(fields)):
        raise refused_fields(f"a {type(x).__qualname__}")
    if isinstance(member, _DESCRIPTORS) and kind_of(x) != OBJECT:
        return attribute_by_rule(nodes, x, name, member)
    y = attribute_in_c(x, name)
    if kind_of(x) == TUPLE and type(member) is _TUPLE_GETTER:
        return y, field_of_tuple_back(x, type(x)._fields.index(name), count)
    if isinstance(x, BaseException) and isinstance(member, _DESCRIPTORS) and name != "args":
        place = next((i for i, given in enumerate(x.args) if given is y), None)
        if place is not None:  # such as the `value` of a StopIteration
            return y, _argument_back(x, place, count)
        in_c = not name.startswith("__") and not member.__objclass__.__flags__ & HEAPTYPE
        if in_c and kind_of(y) == VALUE:
            raise refusal(member, (x,))  # such as the `filename` of an OSError
    if is_known_by_rule(type(x)) and name in fields_of(x) and kind_of(y) != INERT:
        raise refused_part(x, name)
    holder = x if kind_of(x) != FUNCTION or _is_own_attribute(x, name) else None
    if holder is x and member is y and name not in fields_of(x):
        holder = holder_of(type(x).__mro__, name, y) or x
    return y, _field_back(holder, name, y, count)


_OF_SHAPE = ("shape", "ndim", "size", "dtype", "mask", "__class__", "__dict__")
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_TUPLE_GETTER = type(collections.namedtuple("_Pair", "a").__dict__["a"])


def attribute_by_rule(nodes: Nodes, x: Any, name: str, member: Any) -> ValueAndPullback:
    """Read an attribute of a class in C by its rule."""
    rule = find_rule(member, x)
    if rule is None or rule.kind == "constant":
        y = getattr(x, name)
        says_where = isinstance(x, collections.deque | np.flatiter) and name != "base"  # `maxlen`
        if rule is None and kind_of(y) != INERT and not says_where:
            raise refusal(member, (x,))
        return y, no_pullback(len(nodes))
    y, back = rule(member, x)
    nothing = (None,) * (len(nodes) - 2)

    def attribute_back(dy: Any) -> tuple[Any, ...]:
        return None, back(dy)[1], *nothing

    return y, attribute_back


def _field_back(x: Any, name: str, y: Any, count: int) -> Any:
    """Return the pullback of reading an attribute `y` of what holds it, if something does."""
    nothing = (None,) * count
    if x is None or kind_of(y) in (INERT, FUNCTION):
        return no_pullback(count)

    def getattr_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), name, dy)
        return nothing

    return getattr_back


def _is_own_attribute(x: Any, name: str) -> bool:
    """Return whether an attribute is one that the user gave a function."""
    its_own = not name.startswith("__") or name == "__wrapped__"
    return its_own and isinstance(x, types.FunctionType)


def _argument_back(x: BaseException, place: int, count: int) -> Any:
    def argument_back(dy: Any) -> tuple[Any, ...]:
        given = [None] * len(x.args)
        given[place] = dy
        give(slots_of(x), "args", tuple(given))
        return (None,) * count

    return argument_back


def _change_field(
    change: Callable[..., None], nodes: Nodes, x: Any, name: str, *value: Any
) -> ValueAndPullback:
    """Write or delete an attribute.

    The pullback puts it back, and hands on the cotangent of the new value.
    """
    known = kind_of(x) in (OBJECT, LIST, DICT, SET) or isinstance(x, type)
    if value and not known and not _is_own_attribute(x, name):
        change(x, name, *value)
        if is_known_by_rule(type(x)):
            raise refused_part(x, name)  # perhaps in its `__init__`
        raise DifferentiationError(
            f"{where()}: writing `.{name}` of a {type(x).__qualname__} cannot be differentiated"
        )
    before = _field(x, name)
    change(x, name, *value)
    if value:
        mark_active(x)
        mark_fields(x, gc.get_referents(x.__dict__)[0] if isinstance(x, type) else fields_of(x))

    def change_back(dy: Any) -> tuple[Any, ...]:
        d_value = slots_of(x).pop(name, None)
        after = _field(x, name)
        _put_field(x, name, before)
        current_store().redo.append(lambda: _put_field(x, name, after))
        return (None, None, None, d_value)[: len(nodes)]

    return None, UndoOnly(change_back)


for _change in (
    setattr, object.__setattr__, vars(type)["__setattr__"],
    delattr, object.__delattr__, vars(type)["__delattr__"],
):  # fmt: skip
    handlers.structural(_change)(functools.partial(_change_field, _change))


def _field(x: Any, name: str) -> tuple[Any, ...]:
    """Return, in a tuple, the attribute that an object (or a class) itself has, if it has it."""
    fields = x.__dict__ if isinstance(x, type) else fields_of(x)
    if name in fields:
        return (fields[name],)
    if isinstance(x, type) or not isinstance(member_of(type(x), name), _DESCRIPTORS):
        return ()
    try:
        return (object.__getattribute__(x, name),)
    except AttributeError:
        return ()


def _put_field(x: Any, name: str, held: tuple[Any, ...]) -> None:
    """Make an attribute what it was, whatever the class makes of it; without `held`, delete it."""
    kind: Any = type if isinstance(x, type) else object
    if held:
        kind.__setattr__(x, name, *held)
    elif _field(x, name):
        kind.__delattr__(x, name)
