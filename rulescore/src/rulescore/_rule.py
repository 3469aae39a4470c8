"""A rule: the types it is for, the body that applies it, and where it was written."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


class RuleError(Exception):
    """Tell that a rule is declared wrongly, clashes with another, or breaks the rule contract."""


class Rule:
    """Hold one rule of one rule set.

    Attributes:
        function: the primal function, or the type of the callable objects that it is for.
        kind: "scalar", "general", "constant" or "instance".
        types: annotations of the positional arguments, the pattern that is dispatched on.
        varargs: annotation of further positional arguments, or `None` where there are none.
        body: what the rule's author wrote.
        plugin: the name of the rule set.
        file, line: where the body was written.
    """

    __slots__ = (
        "body",
        "file",
        "function",
        "kind",
        "line",
        "needs_ad",
        "optional",
        "options",
        "plugin",
        "poles",
        "run",
        "types",
        "varargs",
    )

    def __init__(
        self,
        function: Any,
        kind: str,
        types: tuple[Any, ...],
        varargs: Any,
        body: Any,
        plugin: str,
        file: str,
        line: int,
        *,
        optional: tuple[Any, ...] = (),
        options: frozenset[str] | None = frozenset(),
        needs_ad: bool = False,
    ) -> None:
        self.function = function
        self.kind = kind
        self.types = types
        self.varargs = varargs
        self.body = body
        self.plugin = plugin
        self.file = file
        self.line = line
        self.optional = optional  # annotations of positional parameters with a default: options
        self.options = options  # names that may be given by keyword; None: any
        self.needs_ad = needs_ad
        self.poles = True  # whether the partials of a scalar rule need care
        self.run: Callable[..., tuple[Any, Any]] = body

    def __call__(self, f: Any, /, *xs: Any, **options: Any) -> tuple[Any, "Pullback"]:
        """Apply the rule: return the value of `f(*xs, **options)` and its pullback."""
        if self.kind == "constant":
            return self.run(*xs, **options), Pullback(apply_pullback, self, None, f, xs)
        if self.kind == "instance":
            y, back = self.run(f, *xs, **options)
        else:
            y, back = self.run(*xs, **options)
        return y, Pullback(apply_pullback, self, back, f, xs)

    @property
    def signature(self) -> str:
        """Return the rule's pattern as text, such as `numpy.matmul(ndarray, ndarray)`."""
        types = [_type_name(t) for t in self.types]
        if self.varargs is not None:
            types.append("*" + _type_name(self.varargs))
        return f"{name_of(self.function)}({', '.join(types)})"

    @property
    def place(self) -> str:
        """Return where the rule was written, such as `rules_base, .../_arithmetic.py:12`."""
        return f"{self.plugin}, {self.file}:{self.line}"

    def __repr__(self) -> str:
        return f"<{self.kind} rule {self.signature} from {self.place}>"


class Pullback(partial[tuple[Any, ...]]):
    """Map the cotangent of a rule's result to those of the function and its arguments.

    `back(dy)` gives `(∂self, ∂x1, ..., ∂xn)`, `None` for "no gradient"; `back(None)` is all
    `None`. It may be called again and again. Raises `RuleError` where the rule's own pullback
    breaks the contract.
    """

    # A partial of `apply_pullback`, because making one costs half as much as any other object.

    @property
    def rule(self) -> Rule:
        """Return the rule that this pullback is of."""
        rule: Rule = self.args[0]
        return rule

    def __repr__(self) -> str:
        function = self.args[2]
        return f"∂({getattr(function, '__name__', type(function).__qualname__)})"


def apply_pullback(
    rule: Rule, back: Any, function: Any, primals: tuple[Any, ...], dy: Any, /
) -> tuple[Any, ...]:
    """Return all cotangents of a call, checked: the body of every `Pullback`."""
    if dy is None or back is None:
        return (None,) * (len(primals) + 1)
    cotangents = back(dy)
    if rule.kind == "scalar":
        return None, *cotangents
    if rule.kind == "general" and type(cotangents) is tuple:
        cotangents = (None, *cotangents)
    return _checked(rule, primals, cotangents)


def _checked(rule: Rule, primals: tuple[Any, ...], cotangents: Any) -> tuple[Any, ...]:
    """Return the cotangents, padded for positional options, or tell how they break the contract."""
    if type(cotangents) is not tuple:
        raise RuleError(
            f"the pullback of {rule.signature} ({rule.place}) returned "
            f"{_type_name(type(cotangents))}: return a tuple, one cotangent per argument"
        )
    options = 0 if rule.varargs is not None else len(primals) - len(rule.types)
    if rule.kind == "instance":
        options = max(0, options + 1)
    if len(cotangents) != len(primals) + 1 - options:
        implied = rule.kind == "general"
        given, due = len(cotangents) - implied, len(primals) + 1 - options - implied
        raise RuleError(
            f"the pullback of {rule.signature} ({rule.place}) returned {given} "
            f"cotangent{'s' * (given != 1)} where {due} {'were' if due != 1 else 'was'} due"
        )
    for position in range(1, len(cotangents)):
        dx = cotangents[position]
        if dx is not None and not _fits(dx, primals[position - 1]):
            raise RuleError(
                f"the pullback of {rule.signature} ({rule.place}) returned a cotangent of "
                f"{_describe(dx)} for argument {position}, which is {_describe(primals[position - 1])}"
            )
    return cotangents + (None,) * options


def _fits(dx: Any, x: Any) -> bool:
    """Return whether a cotangent has the shape of its primal, as far as a glance tells."""
    kind = type(x)
    if kind is np.ndarray:
        return bool(getattr(dx, "shape", None) == x.shape)
    if kind is float or kind is int or kind is complex:
        return kind is type(dx) or (np.ndim(dx) == 0 and not isinstance(dx, str | list | tuple))
    if kind is list or kind is tuple:
        return isinstance(dx, kind) and len(dx) == len(x)
    return True


def name_of(f: Any) -> str:
    """Return the name of a function as a user would write it, such as `numpy.linalg.inv`."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    if name is None:
        return repr(f)
    module = getattr(f, "__module__", None) or getattr(
        getattr(f, "__objclass__", None), "__module__", None
    )
    if module is None and isinstance(f, np.ufunc):
        module = "numpy"
    if module in (None, "builtins", "__main__"):
        return str(name)
    return f"{ {'_operator': 'operator'}.get(module, module) }.{name}".replace(" ", "")


def _type_name(t: Any) -> str:
    return getattr(t, "__name__", None) or str(t)


def _describe(x: Any) -> str:
    if hasattr(x, "shape"):
        return f"{type(x).__name__} of shape {x.shape}"
    if isinstance(x, list | tuple):
        return f"{type(x).__name__} of length {len(x)}"
    return type(x).__name__
