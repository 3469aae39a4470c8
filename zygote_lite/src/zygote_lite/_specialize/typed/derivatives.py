"""Derivatives in typed code: the verbs of the interface, and the functions that they make.

The interface declares its verbs here, and marks what they make (`declare_verb`, `mark`), so that
code in which a gradient is taken can be transformed.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zygote_lite._specialize.typed.stand_ins import StandIn
from zygote_lite._specialize.typed.values import Value, constant


class Verb(enum.Enum):
    """A function of the interface that differentiates, by its name."""

    GRAD = "grad"
    GRADIENT = "gradient"
    VALUE_AND_GRAD = "value_and_grad"
    JACOBIAN = "jacobian"
    HESSIAN = "hessian"
    HVP = "hvp"
    PULLBACK = "pullback"
    VJP = "vjp"


MAKERS = {Verb.GRAD, Verb.VALUE_AND_GRAD, Verb.JACOBIAN, Verb.HESSIAN, Verb.HVP}
_GONE_OVER = {Verb.GRAD, Verb.VALUE_AND_GRAD, Verb.JACOBIAN}
_MARK = "__derivative__"


@dataclass(eq=False)
class DerivativeInside(StandIn):
    """What `grad(f)` and its kin make: the verb, the function, and the arguments it is taken by."""

    verb: Verb
    f: Value
    argnums: Any


@dataclass(frozen=True)
class TakenBy:
    """A derivative that forward mode goes over: the verb, and the arguments it is taken by."""

    verb: Verb
    argnums: Any


@dataclass(eq=False)
class Adjoint:
    """A function that is differentiated inside, whose forward pass is written.

    Attributes:
        value: its value.
        like: a value of the kind of its cotangent.
        cotangents: writes the reverse pass for a cotangent, and returns what it finds for the
            arguments that are differentiated: of a structure part by part, in a list.
        may_change: whether arrays that it reads may be written to.
        has_paths: whether a branch or a loop decides which arguments the value depends on.
    """

    value: Value
    like: Value
    cotangents: Callable[[Value], list[Any]]
    may_change: bool
    has_paths: bool


@dataclass(eq=False)
class PullbackInside(StandIn):
    """What `pullback` gives inside, not called yet."""

    call: Callable[[Value], Value]


_verbs: dict[Any, Verb] = {}


def declare_verb(f: Any, verb: Verb) -> None:
    """Declare what a function of the interface does."""
    _verbs[f] = verb


def verb_of(f: Any) -> Verb | None:
    """Return which verb a function is, if it is one."""
    return _verbs.get(f)


def mark_derivative(made: Any, verb: Verb, f: Any, argnums: Any) -> None:
    """Note what a function is that a verb has made."""
    setattr(made, _MARK, (made, verb, f, argnums))


def gone_over(f: Any) -> tuple[Any, TakenBy | None]:
    """Return the function that a derivative is of, and the derivative; else the function itself.

    There is none for other verbs than gradients and Jacobians.
    """
    made = derivative_of(f)
    if made is None or made.verb not in _GONE_OVER:
        return f, None
    argnums = made.argnums
    return made.f.sample, TakenBy(made.verb, tuple(argnums) if type(argnums) is list else argnums)


def derivative_of(f: Any) -> DerivativeInside | None:
    """Return what a function is that a verb has made; `None` where it only copied the mark."""
    found = getattr(f, "__dict__", {}).get(_MARK)
    if not isinstance(found, tuple) or found[0] is not f:
        return None
    _, verb, inner, argnums = found
    return DerivativeInside(verb, constant(inner), argnums)
