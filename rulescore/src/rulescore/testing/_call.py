"""One call of a function, its rule and the value: what the checks of `check_rrule` work on."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from rulescore._errors import RuleError
from rulescore._naming import name_of
from rulescore._rule import Pullback
from rulescore._table.resolution import find_rule, rrule
from rulescore.testing._compare import unlike
from rulescore.testing._differences import quietly
from rulescore.testing._leaves import CheckError, arrays, is_integer, leaves, random_direction
from rulescore.testing._memory import (
    copied,
    drawing_anew,
    random_states,
    restore,
    same_states,
    shares,
)

# how far a rule may be off, relative and absolute, by the coarsest precision that takes part
_TOLERANCE = {8: (1e-6, 1e-8), 4: (2e-3, 2e-4), 2: (5e-2, 2e-2)}


class Call:
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
        self.precision = found
        self.by_default = tolerance is None
        self.relative, self.absolute = _TOLERANCE[found]
        if tolerance is not None:
            self.relative = tolerance
        self.before = copied(xs)
        self.options_before = copied(options)
        self.start = random_states()
        self.cotangents: tuple[Any, ...] = ()  # once the pullback was called
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
        given = copied(self.xs)
        handling = np.geterr()
        primal = self.ran(*given, **copied(self.options))
        self.states = random_states()
        self.draws = not same_states(self.start, self.states)
        try:
            self.y, self.back = self.apply()
        except (CheckError, RuleError):
            raise
        except Exception as error:
            self.fail(f"the rule raises {type(error).__name__}: {error}", error)
        if np.geterr() != handling:
            np.seterr(**handling)
            self.fail("the rule changes how NumPy handles floating-point errors")
        self.value = copied(self.y)
        self.unchanged("the rule")
        self.draws_no_random_numbers("the rule")
        if type(self.back) is not Pullback or self.back.rule is not self.rule:
            self.fail(f"another rule fired: {getattr(self.back, 'rule', self.back)}")
        problem = unlike(self.y, primal, "")
        if problem:
            self.fail(f"the value differs from the function's: {problem}")
        for i, (x, own) in enumerate(zip(self.xs, given, strict=True)):
            for path, array in arrays(self.y):
                if shares(array, x) and not any(shares(a, own) for _, a in arrays(primal)):
                    self.fail(f"the value{path} is memory of argument {i + 1}: the function copies")
        moving = any(not is_integer(leaf) for x in self.xs for _, leaf in leaves(x))
        dy = random_direction(self.y, self.generator, integers=not moving)
        self.dy = dy if any(True for _ in leaves(dy)) else None

    def pulls_none_to_none(self) -> None:
        if self.back(None) != (None,) * (len(self.xs) + 1):
            self.fail("`back(None)` is not all None")

    def passes_no_cotangent(self) -> None:
        if any(dx is not None for dx in self.pull(self.dy if self.dy is not None else 1.0)):
            self.fail("a constant passes a cotangent")

    # -- tools

    def apply(self, *xs: Any) -> tuple[Any, Any]:
        options = dict(self.options)
        if self.rule.needs_ad:
            options["ad"] = self.ad
        self.starts_anew()
        found = rrule(self.f, *map(drawing_anew, xs or self.xs), **options)
        if found is None:
            self.fail("rrule does not find what find_rule finds")
        return found[0], self.known(found[1])

    def known(self, back: Any) -> Any:
        """Return a pullback less the derivatives that its rule refuses."""
        if not self.rule.refuses:
            return back
        refused = self.rule.refuses
        return back.only([i - 1 not in refused for i in range(len(self.xs) + 1)])

    def starts_anew(self) -> None:
        """Let a function that draws random numbers draw the same ones again."""
        if self.draws:
            restore(self.start)

    def apply_and_pull(self) -> None:
        _, back = self.apply()
        back(self.dy)

    def call(self, f: Any, *xs: Any) -> Any:
        ran = f if callable(f) else self.rule.primal
        self.starts_anew()
        return ran(*map(drawing_anew, xs), **self.options)

    def pull(self, dy: Any, what: str = "`dy`", back: Any = None) -> tuple[Any, ...]:
        def calls() -> Any:
            handling = np.geterr()
            given = (back or self.back)(dy)
            if np.geterr() != handling:
                self.fail(f"the pullback of {what} changes how NumPy handles floating-point errors")
            return given

        try:
            found: tuple[Any, ...] = quietly(calls)
        except (CheckError, RuleError):
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
        for name, x in self.options.items():
            problem = unlike(x, self.options_before[name], "")
            if problem:
                self.fail(f"{who} changes the option {name}: {problem}")
        problem = unlike(self.y, self.value, "")
        if problem:
            self.fail(f"{who} changes the value that the rule returned: {problem}")

    def draws_no_random_numbers(self, who: str) -> None:
        if not same_states(self.states, random_states()):
            self.fail(f"{who} draws random numbers that the function does not")

    def fail(self, message: str, cause: BaseException | None = None) -> NoReturn:
        raise CheckError(f"{self.rule.signature} ({self.rule.place}): {message}") from cause


def _precision(x: Any) -> int:
    """Return the bytes of one real number of the value: 8 for Python's own."""
    dtype = np.asarray(x).dtype
    if dtype.kind not in "fc":
        return 8
    return min(8, int(dtype.itemsize) // (2 if dtype.kind == "c" else 1))
