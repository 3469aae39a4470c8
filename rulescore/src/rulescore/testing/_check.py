"""`check_rrule`: everything that the rule contract asks, checked for one call.

The checks run in the order of the methods: what a later check needs, an earlier one has shown.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from rulescore._errors import RuleError
from rulescore._rule import Rule
from rulescore._table.resolution import rrule
from rulescore.testing._ad import by_rule_or_differences
from rulescore.testing._compare import kind_of, unequal, unlike, wrong_kind
from rulescore.testing._cotangents import (
    KINDS,
    LAYOUTS,
    NUMBERS,
    arranged,
    changed,
    combine,
    elsewhere,
    settled,
)
from rulescore.testing._differences import quietly
from rulescore.testing._leaves import (
    CheckError,
    arrays,
    children,
    is_number,
    leaves,
    like,
    random_direction,
)
from rulescore.testing._memory import (
    CALLS,
    all_collected,
    copied,
    drawing_anew,
    free_lists_filled,
    kept_by,
    restore,
    shares,
)
from rulescore.testing._tangents import Tangents


def check_rrule(
    f: Any,
    /,
    *xs: Any,
    check_plugin: str | None = None,
    check_tolerance: float | None = None,
    check_direction: Callable[[Any], Any] | None = None,
    check_ad: Any = None,
    **options: Any,
) -> Rule:
    """Check the rule that answers `rrule(f, *xs, **options)`, and return it.

    Arguments:
        f: the function, or the callable object.
        xs: arguments at which `f` is differentiable, and also a little away from them.
        check_plugin: the name of the rule set that must have the rule.
        check_tolerance: the relative tolerance against finite differences; by default what the
            precision of the arguments allows.
        check_direction: maps a random direction to one in which an argument may move, such as
            `lambda v: v + v.T` for functions of symmetric matrices.
        check_ad: the AD for functions that take functions; by default `rrule`, and finite
            differences where there is no rule.
        options: keyword arguments of `f`.

    These are checked:

    - the value, and the number, shape, precision and container of the cotangents;
    - each cotangent, against finite differences along a direction;
    - that `back` is linear, can be called again, and takes every kind of `dy` (`None`, zero, 0-d,
      strided, read-only, broadcast), changes and keeps nothing, and returns memory of its own;
    - that it gives the same cotangent when only that one is asked for;
    - that neither the memory layout of the arguments matters, nor another call of the rule in
      between, and that options do not change the number of cotangents;
    - for a linear rule, that the function is linear, less the options that shift it;
    - that `frule`, if it answers, is the adjoint of the pullback.

    Random numbers are held fixed: each call starts from the present global states, and from a copy
    of each `Generator`, `RandomState` or `random.Random` among the arguments. Raises `CheckError`,
    an `AssertionError` that names the rule, the argument and the leaf.
    """
    ad = check_ad or by_rule_or_differences
    call = _Check(f, xs, options, ad, check_tolerance, check_direction)
    call.finds_the_rule(check_plugin)
    try:
        call.has_the_value()
        call.pulls_none_to_none()
        if call.rule.kind == "constant":
            call.passes_no_cotangent()
        elif call.dy is None:
            call.is_flat()
        else:
            call.has_cotangents_of_the_kind()
            call.agrees_with_differences()
            if call.rule.kind == "linear":
                call.has_a_linear_function()
            call.is_linear()
            call.can_be_repeated()
            call.gives_each_part_alone()
            call.is_the_adjoint_forward()
            call.takes_every_kind_of_cotangent()
            call.takes_every_layout_of_arguments()
            call.shares_no_memory()
        call.leaves_nothing_behind()
        call.has_one_arity_for_all_options()
    except CheckError:
        raise
    except RuleError as error:
        raise CheckError(str(error)) from error
    finally:
        restore(call.start)
    return call.rule


class _Check(Tangents):
    """The checks of one call's cotangents, and of what remains of it."""

    # -- the cotangents

    def is_flat(self) -> None:
        """Check a call whose result is integers, or no number at all: nothing can pass."""
        dy = random_direction(self.y, self.generator)
        for name, dx in zip(self.names(), self.pull(dy), strict=True):
            if any(np.any(leaf) for _, leaf in leaves(dx)):
                self.fail(f"{name}: a cotangent passes, and the result is {kind_of(self.y)}")

    def has_cotangents_of_the_kind(self) -> None:
        before = copied(self.dy)
        self.cotangents = self.pull(self.dy)
        if unlike(self.dy, before, ""):
            self.fail("the pullback changes `dy`")
        self.unchanged("the pullback")
        self.draws_no_random_numbers("the pullback")
        if len(self.cotangents) != len(self.xs) + 1:
            self.fail(f"{len(self.cotangents)} cotangents where {len(self.xs) + 1} were due")
        for name, x, dx in self.arguments():
            problem = wrong_kind(dx, x, name)
            if problem:
                self.fail(problem)

    def can_be_repeated(self) -> None:
        again = self.pull(self.dy)
        for (name, _, dx), found in zip(self.arguments(), again, strict=True):
            problem = unequal(found, dx, 0.0, 0.0)
            if problem:
                self.fail(f"{name}{problem}: a second call of the pullback gives something else")
        kept = copied(self.cotangents)
        for dx in again:
            for _, array in arrays(dx):
                if array.flags.writeable and not shares(array, self.dy):
                    array[...] = 0 if array.dtype.kind == "O" else 77
        self.unchanged("who writes to a cotangent")
        for (name, _, _), dx, found in zip(self.arguments(), kept, self.pull(self.dy), strict=True):
            problem = unequal(found, dx, 0.0, 0.0)
            if problem:
                self.fail(f"{name}{problem}: who writes to a cotangent changes the next one")

        with suppress(Exception):  # elsewhere the function may have no value
            self.apply(*map(elsewhere, self.xs))
        self.unchanged("another call of the rule")
        for (name, _, _), dx, found in zip(self.arguments(), kept, self.pull(self.dy), strict=True):
            problem = unequal(found, dx, 0.0, 0.0)
            if problem:
                self.fail(f"{name}{problem}: another call of the rule changes what this one gives")

    def gives_each_part_alone(self) -> None:
        """Check the pullbacks of one argument each, the last first, and that of all after them."""
        names, count = self.names(), len(self.cotangents)
        _, whole = self.apply()  # one that nobody has called: what a part needs, it computes
        first = 0 if self.rule.kind == "instance" else 1
        for position in reversed(range(first, count)):
            if position - 1 in self.rule.refuses:
                self.refuses(position)
                continue
            what = f"{names[position]} alone"
            back = whole.only([i == position for i in range(count)])
            if back is whole or callable(whole.args[1]):  # it computes all at once
                continue
            if back(None) != (None,) * count:
                self.fail(f"{what}: the pullback of None is not all None")
            before = copied(self.dy)
            found = self.pull(self.dy, f"`dy` for {what}", back)
            if unlike(self.dy, before, ""):
                self.fail(f"{what}: the pullback changes `dy`")
            problem = unequal(found[position], self.cotangents[position], 0.0, 0.0)
            if problem:
                self.fail(f"{what}{problem}: the pullback gives something else than that of all")
            others = [i for i in range(first, len(found)) if i != position]
            if len(found) != count or any(found[i] is not None for i in others):
                self.fail(f"{what}: the pullback gives others too")
        self.unchanged("the pullback of one argument")
        again = self.pull(self.dy, back=whole)
        for (name, _, dx), found in zip(self.arguments(), again, strict=True):
            problem = unequal(found, dx, 0.0, 0.0)
            if problem:
                self.fail(f"{name}{problem}: the pullback of one argument changes that of all")

    def refuses(self, position: int) -> None:
        """Check that a derivative that is not known raises where it is asked for."""
        back = self.apply()[1].only([i == position for i in range(len(self.xs) + 1)])
        try:
            back(self.dy)
        except RuleError:
            return
        self.fail(f"argument {position}: a derivative that the rule refuses is given")

    def takes_every_layout_of_arguments(self) -> None:
        for kind in LAYOUTS:
            xs = [arranged(x, KINDS[kind]) for x in self.xs]
            try:
                y = quietly(partial(self.call, self.f, *xs))
            except Exception:
                continue  # the function writes to it
            if unlike(self.y, y, ""):
                continue  # the function is one of the layout
            try:
                value, back = self.apply(*xs)
                cotangents = quietly(partial(back, self.dy))
            except (CheckError, RuleError):
                raise
            except Exception as error:
                self.fail(f"for {kind} arguments it raises {type(error).__name__}: {error}", error)
            problem = unlike(value, y, "")
            if problem:
                self.fail(f"the value differs from the function's for {kind} arguments: {problem}")
            for (name, _, dx), dz in zip(self.arguments(), cotangents, strict=True):
                problem = unequal(dz, dx, self.relative, self.absolute)
                if problem:
                    self.fail(f"{name}{problem}: {kind} arguments give something else")

    def takes_every_kind_of_cotangent(self) -> None:
        for kind, change in KINDS.items():
            dy = changed(self.dy, change)
            if dy is None:
                continue
            exact = changed(self.dy, partial(settled, change))
            before = copied(dy)
            found, expected = self.pull(dy, f"a {kind} `dy`"), self.pull(exact)
            if unlike(dy, before, ""):
                self.fail(f"the pullback changes a {kind} `dy`")
            for (name, x, _), dx, dz in zip(self.arguments(), found, expected, strict=True):
                problem = wrong_kind(dx, x, name)
                if problem and kind not in NUMBERS:  # a number may come back as it was given
                    self.fail(f"{problem}, for a {kind} `dy`")
                problem = unequal(dx, dz, self.relative, self.absolute)
                if problem:
                    self.fail(f"{name}{problem}: a {kind} `dy` gives something else")
        self.takes_none_in_a_container()

    def takes_none_in_a_container(self) -> None:
        if not isinstance(self.dy, list | tuple) or is_number(self.y):
            return
        for i, (step, part) in enumerate(children(self.dy)):
            if part is None:
                continue
            entries = [entry for _, entry in children(self.dy)]
            without, zero = list(entries), list(entries)
            without[i], zero[i] = None, combine(0.0, part, 0.0, part)
            found = self.pull(like(self.dy, without), f"`dy{step}` of None")
            expected = self.pull(like(self.dy, zero))
            for (name, _, _), dx, dz in zip(self.arguments(), found, expected, strict=True):
                if dx is None or dz is None:
                    continue
                problem = unequal(dx, dz, self.relative, self.absolute)
                if problem:
                    self.fail(f"{name}{problem}: None in `dy{step}` is not taken as zero")

    def shares_no_memory(self) -> None:
        ones = changed(self.dy, lambda d: d * 0 + 1)  # where a product is its other factor
        for dy in (self.dy, ones):
            given = [
                (name + path, array)
                for name, dx in zip(self.names(), self.pull(dy), strict=True)
                for path, array in arrays(dx)
            ]
            for number, (name, array) in enumerate(given):
                for position, x in enumerate(self.xs):
                    if shares(array, x):
                        self.fail(f"{name}: the cotangent is memory of argument {position + 1}")
                if shares(array, dy):
                    continue
                if shares(array, self.y):
                    self.fail(f"{name}: the cotangent is memory of the result")
                for other, second in given[:number]:
                    if np.shares_memory(array, second):
                        self.fail(f"{name}: the cotangent is memory of that of {other}")

    # -- what remains

    def leaves_nothing_behind(self) -> None:
        tries = (
            (free_lists_filled, 1),
            (free_lists_filled, 1),
            (all_collected, 1),
            (all_collected, 16),
            (all_collected, 16),  # some keep memory for some hundred calls, and then no more
        )
        alone = partial(self.ran, *copied(self.xs), **self.options)
        for settle, times in tries:
            allowed = CALLS * times // 2  # the count is not exact, by what else goes on
            grown = kept_by(self.apply_and_pull, settle, times)
            if grown < allowed or grown - kept_by(alone, settle, times) < allowed:
                break
        else:
            self.fail("each call keeps memory")
        self.unchanged("the rule")

    def has_one_arity_for_all_options(self) -> None:
        for left_out in self.options:
            options = {name: x for name, x in self.options.items() if name != left_out}
            try:
                self.starts_anew()
                y = quietly(partial(self.ran, *copied(self.xs), **options))
                dy = random_direction(y, self.generator)
            except Exception:
                continue  # the option is not optional for these arguments
            self.starts_anew()
            found = rrule(self.f, *map(drawing_anew, self.xs), ad=self.ad, **options)
            if found is None:
                self.fail(f"no rule answers without the option {left_out}")
            problem = unlike(found[0], y, "")
            if problem:
                self.fail(f"the value differs without the option {left_out}: {problem}")
            try:
                count = len(quietly(partial(self.known(found[1]), dy)))
            except RuleError as error:
                raise CheckError(f"without the option {left_out}: {error}") from error
            except Exception:
                continue  # what the rule says of other arguments is their own check's business
            if count != len(self.xs) + 1:
                self.fail(f"the number of cotangents changes without the option {left_out}")
