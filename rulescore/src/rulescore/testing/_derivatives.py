"""The derivatives of one call: its cotangents agree with differences, and are linear in `dy`."""

from functools import partial
from typing import Any

import numpy as np

from rulescore._linear import push_linear
from rulescore._tangent import Tangent
from rulescore.testing._call import Call
from rulescore.testing._compare import unequal
from rulescore.testing._cotangents import combine, parts, with_fields
from rulescore.testing._differences import derivatives, quietly
from rulescore.testing._leaves import double, inner, is_integer, is_number, leaves, random_direction

_LINEAR = 1e-8  # how far double precision may be off where nothing but rounding is in between
_SHARPER = 1e-3  # the absolute error of a complex step, in that of differences


class Derivatives(Call):
    """The checks of what the cotangents are, as numbers."""

    def agrees_with_differences(self) -> None:
        for position, (name, x, dx) in enumerate(self.arguments()):
            pattern = dx if isinstance(dx, Tangent) else x
            if position - 1 in self.rule.refuses:
                continue
            if self.is_option(position) or (dx is None and not has_floats(x)):
                continue
            whole = self.direction(random_direction(with_fields(x, pattern), self.generator))
            if whole is None:
                continue
            for part, v in parts(whole, name):
                self.compare(position, part, dx, v)

    def compare(self, position: int, name: str, dx: Any, v: Any) -> None:
        given = inner(dx, v)
        try:
            found, exact = derivatives(self.call, (self.f, *self.xs), position, v, self.dy)
        except Exception as error:
            numbers = list(leaves((self.f, *self.xs)[position]))
            if numbers and all(is_integer(leaf) for _, leaf in numbers):
                return  # who takes nothing but integers has no derivative to compare with
            self.fail(
                f"{name}: no finite differences, as the function raises "
                f"{type(error).__name__}: {error}",
                error,
            )
        scale = max(1.0, abs(inner(double(self.dy), double(self.y)) if is_number(self.y) else 1.0))
        estimates = found if exact is None else [*found, exact]
        if any(abs(d - given) <= self.relative * max(abs(d), abs(given)) for d in estimates):
            return
        # differences of a large value tell little of a small slope, and the complex step does
        absolute = self.absolute if exact is None else self.absolute * _SHARPER
        best = min(found, key=lambda d: abs(d - given)) if exact is None else exact
        off = self.relative * max(abs(best), abs(given)) + absolute * scale
        if abs(best - given) <= off:
            return
        self.fail(
            f"{name}: along a random direction the cotangent gives {given:.10g}, and finite "
            f"differences {best:.10g}{' (the cotangent is None)' if dx is None else ''}"
        )

    def has_a_linear_function(self) -> None:
        """Check that the function of a linear rule is linear, and that the adjoint is its adjoint.

        So the rule can push tangents forward: by the function itself.
        """
        arguments = [(self.xs[i], self.cotangents[i + 1]) for i in self.rule.linear]
        if any(dx is None for _, dx in arguments):
            return  # as where NumPy computes in a type of integers
        us, vs = (
            [self.direction(random_direction(x, self.generator)) for x, _ in arguments]
            for _ in range(2)
        )
        both = [combine(2.0, u, -3.0, v) for u, v in zip(us, vs, strict=True)]
        try:
            y_u, y_v, y_both = map(self.push, (us, vs, both))
        except Exception as error:
            self.fail(f"the function of tangents raises {type(error).__name__}: {error}", error)
        names = " and ".join(f"argument {i + 1}" for i in self.rule.linear)
        if unequal(y_both, combine(2.0, y_u, -3.0, y_v), self.relative, self.absolute):
            self.fail(f"the function is not linear in {names}")
        forward = inner(self.dy, y_u)
        back = sum(inner(dx, u) for (_, dx), u in zip(arguments, us, strict=True))
        scale = max(1.0, abs(inner(self.dy, self.dy)))
        if abs(forward - back) > self.relative * max(abs(forward), abs(back)) + (
            self.absolute * scale
        ):
            self.fail(
                f"{names}: the function of a random tangent gives {forward:.10g}, and the adjoint "
                f"{back:.10g}"
            )

    def push(self, dxs: list[Any]) -> Any:
        self.starts_anew()
        return quietly(partial(push_linear, self.rule, self.f, tuple(dxs), self.xs, self.options))

    def is_linear(self) -> None:
        other = random_direction(self.dy, self.generator)
        dx_other = self.pull(other)
        combined = self.pull(combine(2.0, self.dy, -3.0, other))
        # what was computed in a lower precision on the way is not linear to so many digits
        exact = self.by_default and self.precision == 8 and not self.rule.needs_ad
        relative = _LINEAR if exact else self.relative
        for (name, _, dx), dz, found in zip(self.arguments(), dx_other, combined, strict=True):
            problem = unequal(found, combine(2.0, dx, -3.0, dz), relative, relative)
            if problem:
                self.fail(f"{name}{problem}: the pullback is not linear in `dy`")
        exponent = 32 if self.relative < 1e-2 else 8  # of half precision is the range small
        for factor in (2.0**exponent, 2.0**-exponent):
            scaled = self.pull(combine(factor, self.dy, 0.0, self.dy), "a scaled `dy`")
            for (name, _, dx), found in zip(self.arguments(), scaled, strict=True):
                expected = combine(factor, dx, 0.0, dx)
                problem = unequal(found, expected, self.relative, self.absolute * factor)
                if problem:
                    self.fail(f"{name}{problem}: {factor:.0e} times `dy` gives something else")
        nothing = self.pull(combine(0.0, self.dy, 0.0, other), "a zero `dy`")
        for name, dx in zip(self.names(), nothing, strict=True):
            if any(np.any(leaf) for _, leaf in leaves(dx)):
                self.fail(f"{name}: the cotangent of a zero `dy` is not zero")


def has_floats(x: Any) -> bool:
    """Return whether anything in a value is a number other than an integer."""
    return any(not is_integer(leaf) for _, leaf in leaves(x))
