"""Rules for one's own functions, declared where these are defined, and `stop_gradient`.

The rules of one module are in one rule set of its name, which is registered at once.
"""

import copy
import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from rulescore._declaring.parameters import KEYWORD_ONLY, parameters_of
from rulescore._declaring.ruleset import RuleSet
from rulescore._errors import Fault, entry
from rulescore._origin import Origin

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
_sets: dict[str, RuleSet] = {}


@entry
def custom_rule(body: Callable[P, tuple[T, Any]]) -> Callable[P, T]:
    """Make a function of the body of its rule.

    Arguments:
        body: a function of the arguments that returns the value and a pullback, as a body below
            `@rule(f)` does. The pullback maps `dy` to a tuple with one cotangent for each
            positional parameter without a default. Annotations say for which types the rule is.

    The function returns the value, and its rule is the body. Raises `RuleError` if an annotation
    cannot be dispatched on. (JAX's `custom_vjp`.)
    """
    if any(p.name == "ad" and p.kind is KEYWORD_ONLY for p in parameters_of(body)):
        raise Fault.PARAMETERS(
            f"the rule for {body.__qualname__} takes an `ad`, which nobody gives to a function: "
            "declare it by a rule set, `@rule(f)`"
        )

    @functools.wraps(body)
    def primal(*xs: P.args, **options: P.kwargs) -> T:
        return body(*xs, **options)[0]

    caller = sys._getframe(2)
    _set_of(caller)._declare_body((primal,), "general", body, Origin(caller))
    return primal


def scalar_rule(*partials: Callable[..., Any]) -> Callable[[F], F]:
    """Declare the partial derivatives of an elementwise function where it is defined.

    Arguments:
        partials: what `rule.scalar(f)` takes: a function of the inputs, and perhaps of the output
            as `out`, that returns the partial derivatives; or one function for each input.

    Raises `RuleError` if something else is given.
    """
    rules = _set_of(sys._getframe(1))

    @entry
    def declare(f: F) -> F:
        rules.scalar(f)(*partials)
        return f

    return declare


@entry
def non_differentiable(f: F) -> F:
    """Declare that no gradient passes through a function, where it is defined.

    Arguments:
        f: the function.

    The function simply runs, and its value counts as a constant. (ChainRules'
    `@non_differentiable`.)
    """
    caller = sys._getframe(2)
    place = (f.__code__.co_filename, f.__code__.co_firstlineno)
    _set_of(caller)._declare(
        (f,), "constant", (), varargs=Any, place=place, origin=Origin(caller), options=None
    )
    return f


@entry
def opt_out(function: Any, *types: type) -> None:
    """Declare that the rules of a function are not for arguments of your own types.

    Arguments:
        function: a function with rules.
        types: the types of its first positional arguments.

    An AD then differentiates the function's own code: `opt_out(np.mean, MyArray)`. Raises
    `RuleError` if a type is no plain class.
    """
    caller = sys._getframe(2)
    _set_of(caller)._declare_opted_out(function, types, caller)


def _set_of(caller: FrameType) -> RuleSet:
    """Return the rule set of the module that a frame runs in."""
    name = str(caller.f_globals.get("__name__", "__main__"))
    if name not in _sets:
        _sets[name] = RuleSet(name)
        _sets[name].register()
    return _sets[name]


def stop_gradient(x: T) -> T:
    """Return a copy of a value that counts as a constant.

    Arguments:
        x: a number, an array, or a structure of them.

    Lists, dicts, objects and arrays are copied, because one object has only one gradient. (JAX's
    `stop_gradient`, ChainRules' `ignore_derivatives`.)
    """
    if isinstance(x, float):
        return x
    if isinstance(x, np.ndarray):
        return x.copy(order="K")
    return copy.deepcopy(x)


_rules_of_core = RuleSet("rulescore", may_raise=False)
_rules_of_core.constant(stop_gradient)
_rules_of_core.register()
