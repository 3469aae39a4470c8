"""The tangents of one call: its forward mode is the adjoint of its cotangents."""

from functools import partial
from typing import Any

from rulescore._forward import frule
from rulescore._table.resolution import find_frule
from rulescore.testing._compare import unequal, unlike, wrong_kind
from rulescore.testing._cotangents import combine
from rulescore.testing._derivatives import Derivatives, has_floats
from rulescore.testing._differences import quietly
from rulescore.testing._leaves import inner, leaves, random_direction
from rulescore.testing._memory import copied, drawing_anew


class Tangents(Derivatives):
    """The checks of `frule`, where a rule has a forward mode."""

    def is_the_adjoint_forward(self) -> None:
        """Check that `<dy, J dx>` is `<J^T dy, dx>`, of all arguments at once and of each alone."""
        rule = find_frule(self.f, *self.xs, **self.options)
        if rule is None or (self.rule.needs_ad and any(map(callable, self.xs))):
            return
        whole: list[Any] = []
        for position, (_, x, dx) in enumerate(self.arguments()):
            flat = dx is None and not has_floats(x)
            unknown = position - 1 in self.rule.refuses or self.is_option(position) or not position
            moves = not (flat or unknown)
            whole.append(self.direction(random_direction(x, self.generator)) if moves else None)
        nothing: list[Any] = [None] * len(whole)
        try:
            unmoved = self.pushed(nothing, "no tangent")
        except NotImplementedError:  # the rule is not for this call
            return
        if unmoved is not None:
            self.fail("`frule` without tangents gives a tangent")
        for i, (name, _, _) in enumerate(self.arguments()):
            if whole[i] is not None:
                alone = [v if k == i else None for k, v in enumerate(whole)]
                self.compares_with_adjoint(f"the tangent of {name}", alone)
        self.compares_with_adjoint("the tangents of all arguments", whole)
        if rule.kind == "forward":
            self.is_linear_forward(whole)
        zeros = self.pushed([combine(0.0, v, 0.0, v) for v in whole], "zero tangents")
        if any(leaf.any() if hasattr(leaf, "any") else leaf for _, leaf in leaves(zeros)):
            self.fail("`frule` of zero tangents is not zero")

    def is_linear_forward(self, tangents: list[Any]) -> None:
        """Check that a forward rule is linear in the tangents, of all sizes and signs."""
        dy = self.pushed(tangents, "the tangents of all arguments")
        exponent = 32 if self.relative < 1e-2 else 8  # of half precision is the range small
        for factor in (-1.0, -3.0, 2.0**exponent, 2.0**-exponent):
            what = f"{factor:.0e} times the tangents"
            found = self.pushed([combine(factor, v, 0.0, v) for v in tangents], what)
            expected = combine(factor, dy, 0.0, dy)
            if unequal(found, expected, self.relative, self.absolute * abs(factor)):
                self.fail(f"`frule` is not linear: {what} give something else")

    def compares_with_adjoint(self, what: str, tangents: list[Any]) -> None:
        before = copied(tuple(tangents))
        dy = self.pushed(tangents, what)
        if unlike(tuple(tangents), before, ""):
            self.fail(f"`frule` changes {what}")
        problem = wrong_kind(dy, self.y, f"`frule` of {what}")
        if problem:
            self.fail(problem.replace("cotangent", "tangent").replace("argument", "value"))
        forward = inner(self.dy, dy)
        pairs = zip(self.cotangents, tangents, strict=True)
        terms = [inner(dx, v) for dx, v in pairs if v is not None]
        back, size = sum(terms), sum(map(abs, terms))
        scale = max(1.0, abs(inner(self.dy, self.dy)), size)
        if abs(forward - back) > self.relative * abs(back) + self.absolute * scale:
            self.fail(
                f"`frule` of {what} gives {forward:.10g} along a random cotangent, and the "
                f"pullback {back:.10g}"
            )

    def pushed(self, tangents: list[Any], what: str) -> Any:
        self.starts_anew()
        given = [drawing_anew(x) for x in self.xs]
        try:
            found = quietly(partial(frule, tuple(tangents), self.f, *given, **self.options))
        except NotImplementedError:
            raise
        except Exception as error:
            self.fail(f"`frule` of {what} raises {type(error).__name__}: {error}", error)
        if found is None:
            self.fail("`frule` gives None, although `find_frule` finds a rule")
        y, dy = found
        problem = unlike(y, self.y, "")
        if problem:
            self.fail(f"the value of `frule` differs from the function's: {problem}")
        self.unchanged("`frule`")
        return dy
