"""Attempts: in which ways code is made for lists, one after another, until one succeeds."""

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.typed.inputs import Inputs
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound

_MOST_ITEMS_OF_LISTS = 64  # items of lists that are taken one by one
_NEVER_HELD = {
    NotSupported.STATEMENT, NotSupported.NO_PYTHON_FUNCTION,
    NotSupported.NAMES, NotSupported.SECOND_ORDER, NotSupported.RULE_FORM, Unsound.CLASS,
    Unsound.OWN_RULE, Unsound.COMPUTED_ATTRIBUTE, Unsound.REPLACED,
}  # fmt: skip


def code_in_some_way(
    code: Callable[..., Specialized], xs: tuple[Any, ...], tried: list[Inputs],
    handlers: bool = False, compiled: bool = False, optional: bool = True,
) -> Specialized:  # fmt: skip
    """Return the first code that can be made: with all branches, or with those of the samples.

    Arguments:
        code: makes it, with `handlers` or without.
        xs: the arguments, which the code is tried out on.
        tried: what each attempt has read.
        handlers: whether errors reach the handlers of the program.
        compiled: whether Numba compiles the code.
        optional: whether variables may be numbers or `None`.
    """
    try:
        return code_for_lists(functools.partial(code, handlers), xs, compiled, tried)
    except NotSpecializable as reason:
        if handlers or compiled:
            raise
        with contextlib.suppress(NotSpecializable):
            if tried[-1].caught:
                return code_for_lists(functools.partial(code, True), xs, compiled, tried)
        with contextlib.suppress(NotSpecializable):
            if optional and any(inputs.meets_none for inputs in tried):
                some = functools.partial(code, False, optional=True)
                return code_for_lists(some, xs, compiled, tried)
        for is_long in (False, True):
            with contextlib.suppress(NotSpecializable):
                return code(False, False, guesses=reason, is_long=is_long)
        raise reason from None


def code_for_lists(
    code: Callable[..., Specialized], xs: tuple[Any, ...], compiled: bool, tried: list[Inputs]
) -> Specialized:  # fmt: skip
    """Return the code that takes lists item by item, or as lists of any length, or as they run."""
    many = not compiled and sum(map(_items_of_lists, xs)) > _MOST_ITEMS_OF_LISTS
    try:
        made = code(many)
    except NotSpecializable as first:
        reason = first
        if not (compiled or many) and tried[-1].lists:
            try:
                return code(True)
            except NotSpecializable as second:
                reason = second
        if compiled or {first.reason, reason.reason} <= _NEVER_HELD:
            raise reason from None
        # with rows of data first: then the code is for any number of them
        has_rows = any(inputs.has_rows for inputs in tried)
        attempts = [(True, False, True)] * has_rows + [(False, True, False)]
        attempts += [(False, True, True)] * has_rows
        for uniform, held, by_rows in attempts:
            try:
                return code(uniform, held, by_rows=by_rows)
            except NotSpecializable as other:
                reason = other if reason.unless_held else reason
        raise reason from None
    if tried[-1].lists and (made.structured or tried[-1].places) and not compiled and not many:
        with contextlib.suppress(NotSpecializable):  # one code for all lengths, and a shorter one
            return code(True)
    return made


def _items_of_lists(x: Any) -> int:
    if type(x) is list:
        return sum(max(1, _items_of_lists(item)) for item in x)
    parts = x.values() if type(x) is dict else x if type(x) is tuple else ()
    return sum(map(_items_of_lists, parts))
