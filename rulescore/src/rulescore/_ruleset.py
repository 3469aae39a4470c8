"""Declaring rules: a `RuleSet` collects them as data, and registers them when it is told to."""

import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import plum

from rulescore import _table
from rulescore._array import Numeric
from rulescore._rule import Rule, RuleError, name_of
from rulescore._scalar import elementwise

Body = TypeVar("Body", bound=Callable[..., Any])
_faithful: dict[Any, bool] = {}


class RuleSet:
    """Collect the rules of one plugin.

    Arguments:
        name: the plugin's name; it stands in every message about one of its rules.

    Rules are declared by `scalar`, by calling the rule set itself, by `of_instances` and by
    `constant`; they take effect when a plugin hands the set over by its hook, or at `register()`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.rules: list[Rule] = []
        self.examples: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []

    def scalar(self, *functions: Any, poles: bool = True) -> Callable[[Body], Body]:
        """Declare the partial derivatives of elementwise `functions`.

        The decorated function takes the inputs, and also the output where its last parameter is
        named `out`. It returns the partial derivative, or a tuple of them for several inputs;
        `None` means no gradient. Broadcasting, precision and conjugation are taken care of.

        Arguments:
            functions: elementwise functions of numbers and arrays with these partials.
            poles: whether the partials can divide by zero or overflow for finite inputs. `False`
                spares the pullback the care that this takes.
        """

        def declare(partials: Body) -> Body:
            names = list(inspect.signature(partials).parameters)
            takes_out = names[-1:] == ["out"]
            arity = len(names) - takes_out
            for f in functions:
                rule = self._add(f, "scalar", (Numeric,) * arity, None, partials)
                rule.run = elementwise(f, partials, arity, takes_out, poles)
                rule.poles = poles
            return partials

        return declare

    def __call__(self, *functions: Any) -> Callable[[Body], Body]:
        """Declare a rule for `functions`, dispatched on the annotations of the decorated body.

        The body returns the value and a pullback; the pullback maps `dy` to a tuple with one
        cotangent for each positional parameter without a default, `None` for "no gradient".
        Parameters with a default and keyword-only ones are options and carry no gradient. A body
        with a keyword-only parameter `ad` is for functions that take functions: it is given the
        AD, called as `ad(f, *xs)`, which returns `(y, back)`.
        """

        def declare(body: Body) -> Body:
            for f in functions:
                self._declare_body(f, "general", body)
            return body

        return declare

    def of_instances(self, body: Body) -> Body:
        """Declare a rule for calling an object, dispatched on the object's type first.

        The first annotation is the type of the callable object. The pullback returns the
        object's own cotangent first (a `Tangent`, or `None`), then those of the arguments.
        """
        self._declare_body(None, "instance", body)
        return body

    def constant(self, *functions: Any) -> None:
        """Declare that no cotangent passes through `functions`, whatever their arguments.

        ChainRules calls this `@non_differentiable`.
        """
        caller = sys._getframe(1)
        place = (caller.f_code.co_filename, caller.f_lineno)
        for f in functions:
            self._add(f, "constant", (), Any, f, place, options=None)

    def example(self, f: Any, /, *xs: Any, **options: Any) -> None:
        """Record a call of `f` that its rule is checked with by `python -m rulescore check`."""
        self.examples.append((f, xs, options))

    def register(self) -> None:
        """Make the rules known to `rrule`, from the next call on.

        Raises `RuleError`, and registers nothing, where a rule clashes with a known one.
        """
        _table.register(self)

    def unregister(self) -> None:
        """Take the rules back, from the next call on; nothing happens if they are not known."""
        _table.unregister(self)

    def __repr__(self) -> str:
        return f"RuleSet({self.name!r}, {len(self.rules)} rules)"

    def _declare_body(self, f: Any, kind: str, body: Any) -> None:
        types: list[Any] = []
        optional: list[Any] = []
        options: set[str] = set()
        varargs, any_option, needs_ad = None, False, False
        for p in inspect.signature(body).parameters.values():
            annotation = Any if p.annotation is p.empty else p.annotation
            if p.kind is p.VAR_KEYWORD:
                any_option = True
            elif p.kind is p.KEYWORD_ONLY:
                needs_ad |= p.name == "ad"
                options.add(p.name)
            elif p.kind is p.VAR_POSITIONAL:
                varargs = annotation
            elif p.default is p.empty:
                types.append(annotation)
            else:
                optional.append(annotation)
                options.add(p.name)
        if kind == "instance":
            if not types or not isinstance(types[0], type):
                raise RuleError(
                    f"{self._place_of(body)}: annotate the first parameter of a rule of instances "
                    "with the class of the callable object"
                )
            f = types[0]
        self._add(
            f,
            kind,
            tuple(types),
            varargs,
            body,
            optional=tuple(optional),
            options=None if any_option else frozenset(options),
            needs_ad=needs_ad,
        )

    def _add(
        self,
        f: Any,
        kind: str,
        types: tuple[Any, ...],
        varargs: Any,
        body: Any,
        place: tuple[str, int] | None = None,
        **more: Any,
    ) -> Rule:
        attribute = inspect.isdatadescriptor(f)  # `np.ndarray.T`: reading it is a call of its own
        if not callable(f) and not attribute:
            raise RuleError(f"{self._place_of(body)}: {f!r} is not callable: no rule can be for it")
        if place is None:
            place = (body.__code__.co_filename, body.__code__.co_firstlineno)
        rule = Rule(f, kind, types, varargs, body, self.name, *place, **more)
        for annotation in (*types, *more.get("optional", ()), varargs):
            self._refuse_unfaithful(annotation, rule)
        if kind == "constant" and attribute:
            rule.run = f.__get__
        self.rules.append(rule)
        return rule

    def _refuse_unfaithful(self, annotation: Any, rule: Rule) -> None:
        if isinstance(annotation, str):
            raise RuleError(
                f"{name_of(rule.function)} ({rule.place}): the annotation {annotation!r} is a "
                "string: remove `from __future__ import annotations` from the rule module"
            )
        try:
            faithful = _faithful[annotation]
        except KeyError:
            faithful = _faithful[annotation] = plum.is_faithful(annotation)
        except TypeError:
            faithful = False
        if not faithful:
            raise RuleError(
                f"{name_of(rule.function)} ({rule.place}): dispatch on {annotation!r} cannot be "
                "cached, because whether it matches depends on more than the argument's type: "
                "annotate with the plain class (`tuple`, not `tuple[int, ...]`) and look at the "
                "value in the body"
            )

    def _place_of(self, body: Any) -> str:
        code = getattr(body, "__code__", None)
        where = f", {code.co_filename}:{code.co_firstlineno}" if code else ""
        return f"rule set {self.name}{where}"
