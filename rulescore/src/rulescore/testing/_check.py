"""`check_rrule`: everything that the rule contract asks, checked for one call.

The checks run in the order of the methods of `_Call`: what a later check needs, an earlier one has
shown.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from rulescore._rule import Pullback, Rule, RuleError, name_of
from rulescore._table import find_rule, rrule
from rulescore._tangent import Tangent
from rulescore.testing._compare import kind_of, unequal, unlike, wrong_kind
from rulescore.testing._cotangents import (
    KINDS,
    NUMBERS,
    changed,
    combine,
    like,
    parts,
    settled,
    with_fields,
)
from rulescore.testing._differences import derivatives, quietly
from rulescore.testing._leaves import (
    CheckError,
    arrays,
    children,
    double,
    inner,
    is_number,
    leaves,
    random_direction,
)
from rulescore.testing._memory import (
    all_collected,
    copied,
    drawing_anew,
    free_lists_filled,
    random_states,
    restore,
    same_states,
    shares,
)

# how far a rule may be off, relative and absolute, by the coarsest precision that takes part
_TOLERANCE = {8: (1e-6, 1e-8), 4: (2e-3, 2e-4), 2: (5e-2, 2e-2)}
_CALLS = 64  # of which each may leave something behind in memory


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
        xs: arguments at which `f` has a derivative, with some room around them.
        check_plugin: the name of the rule set that the rule has to be of.
        check_tolerance: how far the rule may be off from finite differences, relatively; by
            default what the precision of the arguments allows.
        check_direction: maps a random direction to one in which an argument may move, such as
            `lambda v: v + v.T` for functions of symmetric matrices.
        check_ad: the AD for functions that take functions; by default `rrule`, and finite
            differences where there is no rule.
        options: keyword arguments of `f`.

    Checked are the value; the number, shape, precision and container of the cotangents; each
    against directional finite differences; that `back` is linear, can be called again, takes
    every kind of `dy` (`None`, 0-d, strided, read-only, broadcast), changes and keeps nothing, and
    returns memory that nobody else has; that options leave the number of cotangents alone.
    Random numbers are held fixed: each call starts from the global states found here, and from a
    copy of each `Generator`, `RandomState` or `random.Random` among the arguments.
    Raises `CheckError`, an `AssertionError` that names the rule, the argument and the leaf.
    """
    call = _Call(f, xs, options, check_ad or _ad, check_tolerance, check_direction)
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
            call.is_linear()
            call.can_be_repeated()
            call.takes_every_kind_of_cotangent()
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


class _Call:
    """One call of a function, and what its rule makes of it."""

    def __init__(
        self,
        f: Any,
        xs: tuple[Any, ...],
        options: dict[str, Any],
        ad: Any,
        tolerance: float | None,
        direction: Callable[[Any], Any] | None,
    ) -> None:
        self.f = f
        self.xs = xs
        self.options = options
        self.ad = ad
        self.direction = direction or (lambda v: v)
        self.generator = np.random.default_rng(20240727)
        found = min((_precision(leaf) for x in xs for _, leaf in leaves(x)), default=8)
        self.relative, self.absolute = _TOLERANCE[found]
        if tolerance is not None:
            self.relative = tolerance
        self.before = copied(xs)
        self.start = random_states()
        self.draws = False  # whether the function draws from the global random numbers

    # -- the rule and its value

    def finds_the_rule(self, plugin: str | None) -> None:
        rule = find_rule(self.f, *self.xs, ad=self.ad, **self.options)
        if rule is None:
            types = ", ".join(type(x).__name__ for x in self.xs)
            raise CheckError(
                f"no rule answers for {name_of(self.f)} of ({types})"
                + (f" with the options {', '.join(self.options)}" if self.options else "")
            )
        self.rule = rule
        self.ran = self.f if callable(self.f) else rule.primal
        if plugin is not None and rule.plugin != plugin:
            self.fail(f"it answers instead of a rule of {plugin}")

    def has_the_value(self) -> None:
        primal = self.ran(*copied(self.xs), **self.options)
        self.states = random_states()
        self.draws = not same_states(self.start, self.states)
        try:
            self.y, self.back = self.apply()
        except (CheckError, RuleError):
            raise
        except Exception as error:
            self.fail(f"the rule raises {type(error).__name__}: {error}", error)
        self.unchanged("the rule")
        self.draws_no_random_numbers("the rule")
        if type(self.back) is not Pullback or self.back.rule is not self.rule:
            self.fail(f"another rule fired: {getattr(self.back, 'rule', self.back)}")
        problem = unlike(self.y, primal, "")
        if problem:
            self.fail(f"the value differs from the function's: {problem}")
        moving = any(not _is_integer(leaf) for x in self.xs for _, leaf in leaves(x))
        dy = random_direction(self.y, self.generator, integers=not moving)
        self.dy = dy if any(True for _ in leaves(dy)) else None

    def pulls_none_to_none(self) -> None:
        if self.back(None) != (None,) * (len(self.xs) + 1):
            self.fail("`back(None)` is not all None")

    def passes_no_cotangent(self) -> None:
        if any(dx is not None for dx in self.pull(self.dy if self.dy is not None else 1.0)):
            self.fail("a constant passes a cotangent")

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

    def agrees_with_differences(self) -> None:
        for position, (name, x, dx) in enumerate(self.arguments()):
            pattern = dx if isinstance(dx, Tangent) else x
            if self.is_option(position) or (dx is None and not _has_floats(x)):
                continue
            whole = self.direction(random_direction(with_fields(x, pattern), self.generator))
            if whole is None:
                continue
            for part, v in parts(whole, name):
                self.compare(position, part, dx, v)

    def compare(self, position: int, name: str, dx: Any, v: Any) -> None:
        given = inner(dx, v)
        try:
            found = derivatives(self.call, (self.f, *self.xs), position, v, self.dy)
        except Exception as error:
            numbers = list(leaves((self.f, *self.xs)[position]))
            if numbers and all(_is_integer(leaf) for _, leaf in numbers):
                return  # who takes nothing but integers has no derivative to compare with
            self.fail(
                f"{name}: no finite differences, as the function raises "
                f"{type(error).__name__}: {error}",
                error,
            )
        scale = max(1.0, abs(inner(double(self.dy), double(self.y)) if is_number(self.y) else 1.0))
        if any(
            abs(d - given) <= self.relative * max(abs(d), abs(given)) + self.absolute * scale
            for d in found
        ):
            return
        best = min(found, key=lambda d: abs(d - given))
        self.fail(
            f"{name}: along a random direction the cotangent gives {given:.10g}, and finite "
            f"differences {best:.10g}{' (the cotangent is None)' if dx is None else ''}"
        )

    def is_linear(self) -> None:
        other = random_direction(self.dy, self.generator)
        dx_other = self.pull(other)
        combined = self.pull(combine(2.0, self.dy, -3.0, other))
        for (name, _, dx), dz, found in zip(self.arguments(), dx_other, combined, strict=True):
            problem = unequal(found, combine(2.0, dx, -3.0, dz), self.relative, self.absolute)
            if problem:
                self.fail(f"{name}{problem}: the pullback is not linear in `dy`")

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
        if not isinstance(self.dy, tuple) or is_number(self.y):
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
        for settle in (free_lists_filled, free_lists_filled, all_collected):
            with settle() as collect:
                before = sys.getallocatedblocks()
                for _ in range(_CALLS):
                    quietly(self.apply_and_pull)
                collect()
                grown = sys.getallocatedblocks() - before
            if grown < _CALLS:
                break
        else:
            self.fail("each call keeps memory")
        self.unchanged("the rule")

    def has_one_arity_for_all_options(self) -> None:
        for left_out in self.options:
            options = {name: x for name, x in self.options.items() if name != left_out}
            try:
                y = quietly(partial(self.ran, *copied(self.xs), **options))
                dy = random_direction(y, self.generator)
            except Exception:
                continue  # the option is not optional for these arguments
            found = rrule(self.f, *map(drawing_anew, self.xs), ad=self.ad, **options)
            if found is None:
                self.fail(f"no rule answers without the option {left_out}")
            try:
                count = len(quietly(partial(found[1], dy)))
            except RuleError as error:
                raise CheckError(f"without the option {left_out}: {error}") from error
            except Exception:
                continue  # what the rule says of other arguments is their own check's business
            if count != len(self.xs) + 1:
                self.fail(f"the number of cotangents changes without the option {left_out}")

    # -- tools

    def apply(self) -> tuple[Any, Any]:
        options = dict(self.options)
        if self.rule.needs_ad:
            options["ad"] = self.ad
        if self.draws:
            restore(self.start)
        found = rrule(self.f, *map(drawing_anew, self.xs), **options)
        if found is None:
            self.fail("rrule does not find what find_rule finds")
        return found

    def apply_and_pull(self) -> None:
        _, back = self.apply()
        back(self.dy)

    def call(self, f: Any, *xs: Any) -> Any:
        ran = f if callable(f) else self.rule.primal
        if self.draws:
            restore(self.start)
        return ran(*map(drawing_anew, xs), **self.options)

    def pull(self, dy: Any, what: str = "`dy`") -> tuple[Any, ...]:
        try:
            found: tuple[Any, ...] = quietly(lambda: self.back(dy))
        except RuleError:
            raise
        except Exception as error:
            self.fail(f"the pullback of {what} raises {type(error).__name__}: {error}", error)
        return found

    def arguments(self) -> list[tuple[str, Any, Any]]:
        return list(zip(self.names(), (self.f, *self.xs), self.cotangents, strict=True))

    def names(self) -> list[str]:
        return ["self", *(f"argument {i + 1}" for i in range(len(self.xs)))]

    def is_option(self, position: int) -> bool:
        if self.rule.varargs is not None or self.rule.kind == "scalar":
            return False
        return position > len(self.rule.types) - (self.rule.kind == "instance")

    def unchanged(self, who: str) -> None:
        for i, (x, earlier) in enumerate(zip(self.xs, self.before, strict=True)):
            problem = unlike(x, earlier, "")
            if problem:
                self.fail(f"{who} changes argument {i + 1}: {problem}")

    def draws_no_random_numbers(self, who: str) -> None:
        if not same_states(self.states, random_states()):
            self.fail(f"{who} draws random numbers that the function does not")

    def fail(self, message: str, cause: BaseException | None = None) -> NoReturn:
        raise CheckError(f"{self.rule.signature} ({self.rule.place}): {message}") from cause


def _ad(f: Any, /, *xs: Any, **options: Any) -> tuple[Any, Any]:
    """Differentiate by rule, or by finite differences where there is none."""
    found = rrule(f, *xs, ad=_ad, **options)
    return found if found is not None else _numerical(f, xs, options)


def _numerical(f: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
    def pullback(dy: Any) -> tuple[Any, ...]:
        def gradient(position: int, x: Any) -> Any:
            if not is_number(x) or _is_integer(x):
                return None
            dx = np.zeros(np.shape(x), np.result_type(x))
            units = (1.0, 1j) if np.iscomplexobj(dx) else (1.0,)
            for index in np.ndindex(dx.shape):
                for unit in units:
                    v = np.zeros_like(dx)
                    v[index] = unit
                    found = derivatives(
                        lambda *xs: f(*xs, **options), xs, position, v if dx.ndim else v[()], dy
                    )
                    dx[index] += unit * found[0]
            return dx if isinstance(x, np.ndarray) else type(x)(dx[()])

        return None, *(gradient(i, x) for i, x in enumerate(xs))

    return f(*xs, **options), pullback


def _precision(x: Any) -> int:
    """Return the bytes of one real number of the value: 8 for Python's own."""
    dtype = np.asarray(x).dtype
    if dtype.kind not in "fc":
        return 8
    return min(8, dtype.itemsize // (2 if dtype.kind == "c" else 1))


def _is_integer(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "iu"


def _has_floats(x: Any) -> bool:
    return any(not _is_integer(leaf) for _, leaf in leaves(x))
