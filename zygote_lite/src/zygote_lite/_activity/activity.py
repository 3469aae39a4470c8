"""Activity: which values depend on a differentiated argument, and which have pullbacks saved.

Both are found from the operands of a call, through what they reach (`walk`).
"""

import fractions
import operator
import re
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from zygote_lite._activity.classes import (
    computes,
    hook_of,
    intercepts,
    is_class_active,
    is_read_in_c,
)
from zygote_lite._activity.doubts import may_depend
from zygote_lite._activity.marks import PLAIN, mark_new, note_outside
from zygote_lite._activity.operands import (
    array_of_objects,
    holds_itself,
    is_written_for_thread,
)
from zygote_lite._activity.outputs import is_output
from zygote_lite._activity.walk import reaches_active
from zygote_lite._cotangents.kinds import (
    DICT,
    FUNCTION,
    INERT,
    LIST,
    OBJECT,
    SET,
    TUPLE,
    VALUE,
    dict_of,
    is_of_pandas,
    is_written_in_python,
    kind_of,
    owner_of,
    slot_names,
    within,
)
from zygote_lite._cotangents.registry import STRUCTURAL, Flags, TextPullback
from zygote_lite._cotangents.run import FieldsView, state
from zygote_lite._ir.intrinsics import format_value
from zygote_lite._ir.module_hooks import hook_of_module
from zygote_lite._ir.traits import BY_ID, NO_TRAITS


def is_active(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether a call can depend on a differentiated argument."""
    for flag in flags:
        if flag:
            return True
    active = state.active
    if not active:
        return False
    if type(f) is types.BuiltinFunctionType and type(f.__self__) is dict and f.__name__ == "get":
        f, xs = dict.get, (f.__self__, *xs)
    if f is operator.getitem and type(xs[1]) in (int, str) and is_read_in_c(type(xs[0])):
        return id(xs[0]) in active
    if f is len and type(xs[0]) is np.ndarray:
        return False
    if f is len and kind_of(xs[0]) in (LIST, DICT, SET) and hook_of(type(xs[0]), "__len__") is None:
        return id(xs[0]) in active
    if (
        id(f) in STRUCTURAL
        and f is not operator.truth
        and (f not in _SUBSCRIPTS or type(xs[0]) in (list, dict))
    ):
        if f is getattr or f is object.__getattribute__:
            hook = hook_of_module(xs[0], xs[1])
            if hook is not None:
                return may_depend(hook, (xs[1],), {})
            if not computes(type(xs[0]), xs[1]):
                return (
                    id(dict_of(xs[0])) in active
                    or _is_any_active(active, xs)
                    or is_class_active(active, xs[0])
                    or is_written_for_thread(xs[0])
                    or (type(xs[0]) is types.MethodType and holds_itself(xs[0].__func__))
                )
        elif not _has_methods(f, (*xs, *kws.values())) and not any(
            kind_of(x) == FUNCTION for x in kws.values()
        ):
            is_written = f in _ATTRIBUTE_WRITERS and id(dict_of(xs[0])) in active
            if state.written_files is not None and any(map(is_output, xs)):
                return True  # it may take the lines, of a file that another stream has written
            return is_written or _is_any_active(active, (*xs, *kws.values()))
    return may_depend(f, xs, kws)


_MAKING_TEXTS = (format_value, str.format)
_SUBSCRIPTS = (operator.getitem, operator.setitem)
_ATTRIBUTE_WRITERS = (setattr, delattr, object.__setattr__, object.__delattr__)


def _has_methods(f: Any, xs: tuple[Any, ...]) -> bool:
    """Return whether a user class overrides what a structural function does."""
    if f in _ATTRIBUTE_WRITERS:
        return intercepts(type(xs[0]), xs[1])
    if f in _MAKING_TEXTS:  # of a list, say, they call the methods of what it holds
        return not PLAIN.issuperset(map(type, xs))
    count = BY_ID.get(id(f), NO_TRAITS).overridable
    return any(is_written_in_python(type(x)) for x in xs[:count])


def _is_any_active(active: dict[int, Any], xs: tuple[Any, ...]) -> bool:
    return any(id(x) in active or (kind_of(x) == VALUE and _is_value_active(x)) for x in xs)


def _is_value_active(x: Any) -> bool:
    array = array_of_objects(x)
    return reaches_active(x) if array is None else holds_itself(array)


def text_pullback(y: Any, count: int) -> TextPullback:
    """Return the pullback of a text that was computed from active values, and note the text.

    A text may be kept in a container, whose cotangents know nothing of it: so it is known by its
    identity wherever it comes up again. Texts of one character are shared by all that read them.
    """
    if state.active is not None:
        note_outside()  # a text may be kept anywhere
        stack = [y]
        while stack:
            x = stack.pop()
            if isinstance(x, list | tuple):
                stack += x
            elif isinstance(x, dict):
                stack += x.values()
            elif isinstance(x, np.ndarray | re.Match) or (isinstance(x, _TEXTS) and len(x) > 1):
                x = owner_of(x) if isinstance(x, np.ndarray) else x
                state.active[id(x)] = x
                state.has_texts = True
        if isinstance(y, list | dict):
            mark_new(y)
    return TextPullback(count)


_TEXTS = (str, bytes, bytearray)


def is_active_text(x: Any) -> bool:
    """Return whether a text was computed from active values, as far as its identity tells."""
    return state.has_texts and isinstance(x, _TEXTS) and id(x) in (state.active or ())


def holds_text(x: Any, flag: Any) -> bool:
    """Return whether a text that was made of active values is an operand, or in a sequence.

    Arguments:
        x: the operand.
        flag: whether it is active.
    """
    if isinstance(x, _TEXTS):
        return bool(flag) or is_active_text(x)
    if not state.has_texts:
        return False
    if isinstance(x, np.ndarray):
        return is_text(x) and id(owner_of(x)) in (state.active or ())
    return isinstance(x, list | tuple) and any(holds_text(y, None) for y in x)


def is_text(x: Any) -> bool:
    """Return whether a value is a text, or an array or a sequence of nothing but texts."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "UST"
    if type(x) in (list, tuple):
        return bool(x) and all(map(is_text, x))
    return isinstance(x, _TEXTS)


def is_fields_view(x: Any) -> bool:
    """Return whether something is the `__dict__` of a class that is active, say."""
    return type(x) is dict and type((state.active or {}).get(id(x))) is FieldsView


HOLDERS: tuple[Any, ...] = (np.ma.MaskedArray, np.matrix, fractions.Fraction, Iterator,
                            type({}.keys()), type({}.values()), type({}.items()))  # fmt: skip
"""Kinds of what holds numbers, computes or walks in its own way, and carries no gradient."""


def mark_arguments(operands: tuple[Any, ...], flags: tuple[Any, ...]) -> tuple[Any, ...]:
    """Note that what is reached from differentiated arguments is active; return their flags.

    An argument that cannot have a gradient, such as a text, is not differentiated.
    """
    flags = tuple(
        [flag if kind_of(x) != INERT else None for x, flag in zip(operands, flags, strict=True)]
    )
    for x, flag in zip(operands, flags, strict=True):
        if flag:
            add_addresses(x)
    return flags


def only_floats(operands: tuple[Any, ...], flags: tuple[Any, ...]) -> bool:
    """Return whether all numbers within the differentiated arguments are floating-point ones.

    Then no integer carries a gradient, whatever it was computed from.
    """
    given = within(*[x for x, flag in zip(operands, flags, strict=True) if flag])
    return all(kind_of(x) in _WITHOUT_INTEGERS or is_floating(x) for x in given)


_WITHOUT_INTEGERS = {INERT, FUNCTION, TUPLE, LIST, DICT}


def is_floating(x: Any) -> bool:
    """Return whether a value is a floating-point number, or an array of such."""
    return type(x) in (float, complex) or _letter(x) in ("f", "c")


def is_integer(x: Any) -> bool:
    """Return whether a value is an integer, or an array of integers."""
    return isinstance(x, int) or _letter(x) in ("i", "u", "b")


def _letter(x: Any) -> Any:
    """Return NumPy's letter for the kind of numbers that a value holds, if it has one."""
    return getattr(getattr(x, "dtype", None), "kind", None)


def add_addresses(x: Any) -> None:
    """Note that all that can be reached from a differentiated argument is active."""
    assert state.active is not None
    found = addresses_of(x)
    state.active.update(found)
    if found:
        note_outside()
        state.clean.clear()


def addresses_of(x: Any) -> dict[int, Any]:
    """Return all that has an address and can be reached from `x`, but not data that it holds."""
    found: dict[int, Any] = {}
    if is_of_pandas(type(x)):  # an argument itself
        state.held[id(x)] = x
        state.tables.pop(id(x), None)
    for value in within(x, with_data=False):
        kind = kind_of(value)
        t = type(value)
        if kind in (VALUE, OBJECT) and issubclass(t, HOLDERS):
            state.held[id(value)] = value
        if kind >= LIST:
            found[id(value)] = value
        if kind == OBJECT and type(dict_of(value)) is dict:
            fields = dict_of(value)
            found[id(fields)] = FieldsView(fields) if slot_names(t) else fields
    return found


def holder_of(classes: Iterable[type], name: str, y: Any) -> Any:
    """Return the first class whose attribute `name` is `y`, if it holds what is active."""
    for cls in classes:
        if name in cls.__dict__:
            held = cls.__dict__[name] is y and state.active and id(cls) in state.active
            return cls if held and kind_of(y) not in (INERT, FUNCTION) else None
    return None


def has_active_class(x: Any) -> bool:
    """Return whether an attribute of a class, or of the class of an object, is active."""
    return is_class_active(state.active or {}, x)
