"""Calls of rules as a whole: `value, back = quad(a, b)` in the text, of the numbers that it needs.

The rule of a function that takes functions is handed the engine, and differentiates them by it.
Its operands may be functions that are defined inside: they are made when it is called, of what they
capture, and the cotangents of that are taken out of theirs. Its value may be a tuple, or a result
with fields.

As with islands, making code calls the rule on samples: nothing that it calls may have effects.
"""

import contextlib
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rulescore import project
from zygote_lite._cotangents.zeros import filled
from zygote_lite._ir.names import name_of
from zygote_lite._specialize.infer.applied.answered_forms import (
    OneValue,
    SeveralParts,
    compared_count,
    form_of_answer,
)
from zygote_lite._specialize.infer.applied.given_forms import (
    GivenConstant,
    GivenForm,
)
from zygote_lite._specialize.infer.applied.operand_forms import FormsOfGiven
from zygote_lite._specialize.infer.effects.sought import Search
from zygote_lite._specialize.rules.inlined import snapshot, value_of_pair
from zygote_lite._specialize.rules.pullback import parts_of_rule
from zygote_lite._specialize.typed.abstract_eval import run, sealed
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.plugins import is_of_program, takes_engine
from zygote_lite._specialize.typed.reasons import LEFT, NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import has_length
from zygote_lite._specialize.typed.values import Value, constant
from zygote_lite._tape.outermost import Run
from zygote_lite._tape.overwriting import may_overwrite
from zygote_lite._tape.rules import handed_in, plan_rule
from zygote_lite.errors import DifferentiationError

# -- what code calls -----------------------------------------------------------------------------


@contextlib.contextmanager
def left_as_they_are(arrays: Sequence[np.ndarray]) -> Iterator[None]:
    """Give arrays from outside their contents back, and leave the code, where they are written to.

    A function that is given to a rule may do that; the code would read them as they were.
    """
    before = [x.copy() for x in arrays]
    is_left = True
    try:
        yield
        is_left = False
    finally:
        written = [
            (x, y) for x, y in zip(arrays, before, strict=True) if x.tobytes() != y.tobytes()
        ]
        for x, y in written:
            x[...] = y
        if written and not is_left:
            raise RuntimeError(LEFT)


class AppliedRule:
    """Apply a rule, to operands that are made of numbers and arrays.

    Arguments:
        f: the function whose rule it is.
        rule: the rule; `None` to call the function alone, where no gradient passes.
        arguments, options: the forms of what it is given.
        active: which leaves are differentiated.
        answer: the form of the value, once that is known.
        outside: how many of the leaves, the last, are arrays from outside that functions read.
    """

    def __init__(
        self, f: Any, rule: Any, arguments: list[GivenForm], options: dict[str, GivenForm],
        active: tuple[bool, ...],
    ) -> None:  # fmt: skip
        self.f, self.rule, self.arguments, self.options = f, rule, arguments, options
        self.active, self.needed = active, (False, *[form.carries for form in arguments])
        self.may_change = any(form.may_change for form in (*arguments, *options.values()))
        self.answer: OneValue | SeveralParts = OneValue()
        self.outside = 0
        self.__name__ = f.__name__

    def __call__(self, *xs: Any) -> Any:
        with left_as_they_are(xs[len(xs) - self.outside :]):
            return self.called(tuple(map(sealed, xs)))

    def called(self, xs: tuple[Any, ...]) -> Any:
        """Return the value, and the pullback if there is a rule."""
        if self.rule is None:
            given, options = self.operands(xs)
            found = self.answer.parts_of(self.f(*given, **options))
            self.leave_if_written(given, options, xs)
            return found
        y, back = self.applied(xs)
        return self.answer.parts_of(y), AppliedPullback(self, back, xs)

    def operands(self, xs: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
        """Return the operands of a call."""
        given = [form.made(xs) for form in self.arguments]
        return given, {name: form.made(xs) for name, form in self.options.items()}

    def leave_if_written(
        self, given: list[Any], options: dict[str, Any], xs: tuple[Any, ...]
    ) -> None:
        """Leave the code where a function has written to a list or a dict that was made for it.

        The program has one of its own, which may be read later: `calls[0] += 1` counts.
        """
        if self.may_change:
            forms, made = (*self.arguments, *self.options.values()), (*given, *options.values())
            if not all(form.holds(x, xs) for form, x in zip(forms, made, strict=True)):
                raise RuntimeError(LEFT)

    def applied(self, xs: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return the value and the pullback of the rule."""
        with Run((self.f, *xs)) as opened:
            given, options = self.operands(xs)
            y, back = self.rule(self.f, *given, ad=handed_in, **options)
            self.leave_if_written(given, options, xs)
            opened.value = y
        return y, back if all(self.needed[1:]) else back.only(self.needed)


class AppliedPullback:
    """Map the cotangents of what a rule has returned to those of the leaves of its operands.

    There is a zero where no gradient came to a leaf that is differentiated.
    """

    __slots__ = ("back", "call", "xs")

    def __init__(self, call: AppliedRule, back: Any, xs: tuple[Any, ...]) -> None:
        self.call, self.back, self.xs = call, back, xs

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        call, found = self.call, [None] * len(self.xs)
        dy = call.answer.cotangent(dy)
        if dy is not None:
            _, *given = self.back(dy)
            for form, d in zip(call.arguments, given, strict=True):
                form.unmade(d, found)
        of_leaves = zip(found, self.xs, call.active, strict=True)
        return None, *[_with_zeros_in_kind(d, x) if flag else None for d, x, flag in of_leaves]

    def only(self, needed: tuple[bool, ...]) -> "AppliedPullback":
        """Return the pullback itself: which cotangents are needed was told to the rule."""
        return self


def _with_zeros_in_kind(d: Any, x: Any) -> Any:
    """Return a cotangent in the kind of its primal, zero where there is none."""
    return filled(None, x) if d is None else project(d, x)


# -- writing them --------------------------------------------------------------------------------


def applied_as_a_whole(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value | None:
    """Write the call of a function whose rules are handed the engine; nothing for others."""
    counted = compared_count(builder, f, xs) if len(xs) == 2 and not kws else None
    if counted is not None:
        return counted
    if not (is_hashable(f) and callable(f)) or builder.plain or not takes_engine(f):
        return None
    if not builder.has_islands or builder.settings or builder.handlers or builder.lent:
        return None
    if builder.inner or builder.twice or builder.recording or builder.reverse:
        return None
    if builder.protected:
        return None
    search = Search(builder, with_rules=True)
    forms = FormsOfGiven(builder, search)
    arguments = [forms.of(x) for x in xs]
    options = {name: forms.of(x) for name, x in kws.items()}
    given = [*forms.leaves, *search.arrays]
    if any(x.active for x in search.arrays):
        raise Unsound.LOST_GRADIENT(
            f"a function that is given to {name_of(f)} reads an array that is differentiated"
        )
    copies = [copy for _, copy in builder.inputs.owned.values()]
    if any(x in copies for x in search.arrays):
        raise Unsound.SHARED_WRITE(
            f"a function that is given to {name_of(f)} reads an array that it did not create, and "
            "that is written to"
        )
    samples = tuple([sealed(x.sample) for x in given])
    call = _planned(f, arguments, options, samples, tuple([x.active for x in given]))
    call.outside = len(search.arrays)
    with search.ending():
        with_values, named = call.operands(samples)
        found = None
        try:
            with left_as_they_are([x.sample for x in search.arrays]):
                found = form_of_answer(run(call.f, with_values, named), call.rule is None)
                call.leave_if_written(with_values, named, samples)
        except RuntimeError as error:
            if found is None:
                raise
            raise Unsound.EFFECTS(
                f"a function that is given to {name_of(f)} writes to an array, a list or a dict"
            ) from error
        call.answer = found
        if call.rule is None:
            return _without_pullback(builder, call, given, stem)
        builder.inputs.islands[call.__name__] = "its rule is handed the engine"
        return _with_its_pullback(builder, call, given, stem)


def _planned(
    f: Any, arguments: list[GivenForm], options: dict[str, GivenForm], samples: tuple[Any, ...],
    active: tuple[bool, ...],
) -> AppliedRule:  # fmt: skip
    """Return the call of the rule that the tape would apply, of the same operands."""
    alone = AppliedRule(f, None, arguments, options, active)
    if not any(form.carries for form in (*arguments, *options.values())):
        return alone
    with Run((f, *samples)):
        xs, kws = alone.operands(samples)
        if may_overwrite(f, tuple(xs), kws):
            raise Unsound.WRITES_TO_GIVEN(f"{name_of(f)} may write to its arguments")
        flags = [True if form.carries else None for form in (*arguments, *options.values())]
        try:
            plan = plan_rule((None, *flags), f, tuple(xs), kws)
        except DifferentiationError as error:
            raise Unsound.RAISES(str(error)) from error
    if plan is None:
        raise NotSupported.NO_RULE(f"there is no rule for {name_of(f)} of these types")
    f, rule, moved, left, names = plan
    if rule.kind != "general" or is_of_program(rule):
        raise asks_for_engine(rule)
    by_name = [options[n] if n in options else GivenConstant(x)
               for n, x in zip(names, moved[len(xs) :], strict=True)]  # fmt: skip
    rest = {n: form for n, form in options.items() if n in left}
    if {*rest, "ad"} != {*left, "ad"}:
        raise asks_for_engine(rule)
    return AppliedRule(f, rule, [*arguments, *by_name], rest, active)


def asks_for_engine(rule: Any) -> NotSpecializable:
    return NotSupported.RULE_FORM(f"the rule {rule.signature} takes the engine")


def _with_its_pullback(builder: Builder, call: AppliedRule, given: list[Value], stem: str) -> Value:
    """Write the call of a rule, with its reverse; return its value."""
    operands = [snapshot(builder, x) for x in given]
    both = builder.operation(call, operands, certain=True).target
    if isinstance(call.answer, SeveralParts):
        parts = parts_of_rule(builder, both, given, operands)
        return call.answer.value(parts.items or [])
    return value_of_pair(builder, both, given, stem)


def _without_pullback(builder: Builder, call: AppliedRule, given: list[Value], stem: str) -> Value:
    """Write the call of a function through which no gradient passes; return its value."""
    op = builder.operation(call, given, stem=stem, certain=False)
    if isinstance(call.answer, OneValue):
        op.check = op.required = True
        return op.target
    builder.demand(has_length, op.target, constant(len(op.target.sample)))
    parts = []
    for i in range(len(op.target.sample)):
        taken = builder.operation(operator.getitem, [op.target, constant(i)])
        taken.check = True
        taken.target.fresh = taken.target.made = False
        parts.append(taken.target)
    return call.answer.value(parts)
