"""Attempts: in which ways code is made for lists, one after another, until one succeeds."""

import contextlib
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.typed.inputs import Inputs, OutsidePlace
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound

_MOST_ITEMS_OF_LISTS = 64  # items of lists that are taken one by one
_MOST_RECURSIVE = 3  # functions that call themselves
_FEW_STEPS, _TIMES_STEPS = 2000, 8  # of the attempts before: statements that are interpreted
_NEVER_HELD = {
    NotSupported.STATEMENT, NotSupported.NO_PYTHON_FUNCTION,
    NotSupported.NAMES, NotSupported.SECOND_ORDER, NotSupported.RULE_FORM, Unsound.CLASS,
    Unsound.OWN_RULE, Unsound.COMPUTED_ATTRIBUTE, Unsound.REPLACED,
}  # fmt: skip


class Way(NamedTuple):
    """One of the ways to make code.

    Attributes:
        handlers: whether errors reach the handlers of the program; without it, the tape.
        uniform: whether lists may have any length; else they are taken item by item.
        held: whether lists and dicts are made as the code runs (`infer.held`).
        by_rows: whether rows of data are taken apart into columns.
        optional: whether variables may be numbers or `None`.
        guesses: why code with all branches cannot be made: those of the samples are taken.
        is_long: whether all branches are taken so, outside of loops.
    """

    handlers: bool = False
    uniform: bool = False
    held: bool = False
    by_rows: bool = False
    optional: bool = False
    guesses: NotSpecializable | None = None
    is_long: bool = False


class Failed(NamedTuple):
    """An attempt that failed.

    Attributes:
        way: the way in which code was to be made.
        read: what was read of it: another way that differs in nothing of that fails alike.
        recursive: how many functions were known to call themselves.
        reason: why it failed.
    """

    way: Way
    read: frozenset[str]
    recursive: int
    reason: NotSpecializable

    def foretells(self, way: Way, recursive: int) -> bool:
        """Return whether an attempt in another way is known to fail alike."""
        names = {"handlers", "optional", *self.read}
        flags = [(bool(getattr(self.way, n)), bool(getattr(way, n))) for n in names]
        return self.recursive == recursive and all(before == now for before, now in flags)


class Attempts:
    """The attempts to make the code of a function.

    Attributes:
        make: makes the code in one way, with inputs that it begins, or raises `NotSpecializable`.
        f: the function.
        xs: its arguments, which the code is tried out on.
        define: writes a function of the code that calls itself.
        compiled: whether Numba compiles the code.
        knows_recursive: whether code is made again where it meets such a function.
        varying: the places of ints that are read at entry.
        recursive: the code of those that have been met.
        tried: what each attempt has read.
        failed: those that failed.
    """

    def __init__(
        self, make: Callable[[Way, Callable[[], Inputs]], Specialized], f: Any,
        xs: tuple[Any, ...], define: Any, *, compiled: bool = False, knows_recursive: bool = True,
        varying: frozenset[OutsidePlace] = frozenset(),
    ) -> None:  # fmt: skip
        self.make, self.f, self.xs, self.define = make, f, xs, define
        self.compiled, self.knows_recursive = compiled, knows_recursive
        self.varying = varying
        self.recursive: set[Any] = set()
        self.tried: list[Inputs] = []
        self.failed: list[Failed] = []

    def in_some_way(self, handlers: bool, optional: bool) -> Specialized:
        """Return the first code that can be made: with all branches, or with those of the samples.

        Arguments:
            handlers: whether errors reach the handlers of the program.
            optional: whether variables may be numbers or `None`.
        """
        try:
            return self.for_lists(Way(handlers=handlers))
        except NotSpecializable as reason:
            if handlers or self.compiled:
                raise
            with contextlib.suppress(NotSpecializable):
                if self.tried[-1].caught:
                    return self.for_lists(Way(handlers=True))
            with contextlib.suppress(NotSpecializable):
                if optional and any(inputs.meets_none for inputs in self.tried):
                    return self.for_lists(Way(optional=True))
            for is_long in (False, True):
                with contextlib.suppress(NotSpecializable):
                    return self.code(Way(guesses=reason, is_long=is_long))
            raise reason from None

    def for_lists(self, way: Way) -> Specialized:
        """Return the code that takes lists item by item, or of any length, or as they run."""
        many = not self.compiled and sum(map(_items_of_lists, self.xs)) > _MOST_ITEMS_OF_LISTS
        whole = way._replace(uniform=True)
        try:
            made = self.code(way._replace(uniform=many))
        except NotSpecializable as first:
            reason = first
            if not (self.compiled or many) and self.tried[-1].lists:
                try:
                    return self.code(whole)
                except NotSpecializable as second:
                    reason = second
            if self.compiled or {first.reason, reason.reason} <= _NEVER_HELD:
                raise reason from None
            # with rows of data first: then the code is for any number of them
            has_rows = any(inputs.has_rows for inputs in self.tried)
            held = way._replace(held=True)
            others = [whole._replace(by_rows=True)] * has_rows + [held]
            for other in others + [held._replace(by_rows=True)] * has_rows:
                try:
                    return self.code(other)
                except NotSpecializable as further:
                    reason = further if reason.unless_held else reason
            raise reason from None
        lists = self.tried[-1].lists and (made.structured or self.tried[-1].places)
        if lists and not self.compiled and not many:
            with contextlib.suppress(NotSpecializable):  # one code for all lengths, a shorter one
                return self.code(whole)
        return made

    def code(self, way: Way) -> Specialized:
        """Return the code that is made in one way; it is made again to know what is recursive."""
        for failed in self.failed:
            if failed.foretells(way, len(self.recursive)):
                raise failed.reason.with_traceback(None)
        while True:
            before = len(self.tried)
            try:
                return self.make(way, functools.partial(self.inputs, way))
            except NotSpecializable as reason:
                known = reason.code in (None, *self.recursive)
                if known or not self.knows_recursive or len(self.recursive) > _MOST_RECURSIVE:
                    if begun := self.tried[before:]:
                        read = frozenset().union(*[inputs.read_of_way for inputs in begun])
                        self.failed.append(Failed(way, read, len(self.recursive), reason))
                    raise
                self.recursive.add(reason.code)

    def inputs(self, way: Way) -> Inputs:
        """Return what one more attempt reads, and add it to those that were tried."""
        inputs = Inputs(self.f)
        inputs.recursive, inputs.define = self.recursive, self.define
        inputs.by_rows, inputs.optional = way.by_rows, way.optional
        inputs.varying = self.varying
        inputs.guesses, inputs.is_long = way.guesses, way.is_long
        if way.guesses is not None and not way.is_long:  # or each branch is taken as now: quick
            most = max(found.steps for found in self.tried)
            inputs.most_steps = _FEW_STEPS + _TIMES_STEPS * most
            inputs.read_of_way.add("is_long")  # which may succeed where these do not suffice
        self.tried.append(inputs)
        return inputs


def _items_of_lists(x: Any) -> int:
    if type(x) is list:
        return sum(max(1, _items_of_lists(item)) for item in x)
    parts = x.values() if type(x) is dict else x if type(x) is tuple else ()
    return sum(map(_items_of_lists, parts))
