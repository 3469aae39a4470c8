"""Rules for one's own functions, declared where these are defined, and `stop_gradient`.

The rules of one module are in one rule set of its name, which is registered at once.
"""

import copy
import functools
import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from rulescore._array import Numeric
from rulescore._declaring.declaration import is_being_made
from rulescore._declaring.parameters import KEYWORD_ONLY, parameters_of
from rulescore._declaring.ruleset import RuleSet
from rulescore._errors import Fault, entry
from rulescore._forward import parts_of_pushforward, pushed_by_parts, value_and_pushforward
from rulescore._naming import describe
from rulescore._origin import Origin
from rulescore._project import sequence_like, shape_of, zero
from rulescore.scaling import scales

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

    The function returns the value, and its rule is the body. A second derivative differentiates
    the body and the pullback. Raises `RuleError` if an annotation cannot be dispatched on. (JAX's
    `custom_vjp`.)
    """
    caller = sys._getframe(2)
    rules, origin = _set_of(caller), Origin(caller)
    primal = _primal_of(rules, body, origin, "pullback")
    rules._declare_body((primal,), "general", body, origin)
    return primal


@entry
def custom_frule(body: Callable[P, tuple[T, Any]]) -> Callable[P, T]:
    """Make a function of the body of its forward rule.

    Arguments:
        body: a function of the arguments that returns the value and a pushforward, as a body below
            `@rule.forward(f)` does: a function of the tangents of all positional parameters without
            a default, of which some may be `None`, for zero; or a tuple with a function of one
            tangent for each. Annotations say for which types the rule is.

    The function returns the value. Its rule for reverse mode is the transpose of the pushforward,
    which the engine finds: it differentiates the pushforward, which is linear. The function takes
    numbers, arrays, and lists, tuples and dicts of them; a gradient by others is refused. Raises
    `RuleError` if an annotation cannot be dispatched on. (JAX's `custom_jvp`; ChainRules' `frule`.)
    """
    caller = sys._getframe(2)
    rules, origin = _set_of(caller), Origin(caller)
    primal = _primal_of(rules, body, origin, "pushforward")
    rules._declare_body((primal,), "general", _transposed(body), origin)
    rules._declare_body((primal,), "forward", body, origin)
    return primal


def _primal_of(
    rules: RuleSet, body: Callable[P, tuple[T, Any]], origin: Origin, beside: str
) -> Callable[P, T]:
    """Return the function that a body gives the value of, and something beside it."""
    rules._refuse.place_of(body, origin)
    if any(p.name == "ad" and p.kind is KEYWORD_ONLY for p in parameters_of(body)):
        raise Fault.PARAMETERS(
            f"the rule for {body.__qualname__} takes an `ad`, which nobody gives to a function: "
            "declare it by a rule set, `@rule(f)`"
        )

    file, line = origin.line

    @functools.wraps(body)
    def primal(*xs: P.args, **options: P.kwargs) -> T:
        found = body(*xs, **options)
        if type(found) is not tuple or len(found) != 2:
            raise Fault.VALUE(
                f"{file}:{line}: the rule {body.__qualname__} returned "
                f"{describe(found)}: return the value and the {beside}"
            )
        return found[0]

    return primal


def _any_tangent(x: Any, body: Any) -> Any:
    """Return numbers that stand for any tangent of an argument, of which none is zero."""
    if isinstance(x, str | bytes | bool | np.bool_ | None):
        return None
    if isinstance(x, Numeric):
        found = zero(x)
        if found is None:
            return None
        return found + np.reshape(0.5 + 0.618 * np.arange(np.size(found)) % 1, np.shape(found))
    if type(x) in (list, tuple):
        return type(x)([_any_tangent(part, body) for part in x])
    if type(x) is dict:
        return {key: _any_tangent(part, body) for key, part in x.items()}
    raise NotImplementedError(
        f"{body.__qualname__} has a forward rule alone, and is given {describe(x)}, of which that "
        "has no transpose; give it numbers, arrays, lists, tuples and dicts, or declare a "
        "`custom_rule`"
    )


def _repeated(dy: Any, y: Any) -> Any:
    """Return a tangent, repeated where it has fewer entries than its primal.

    Raises `ValueError` where it has more, or another structure.
    """
    if isinstance(y, list | tuple) and isinstance(dy, list | tuple):
        found = [_repeated(d, entry) for d, entry in zip(dy, y, strict=True)]
        is_same = all(a is b for a, b in zip(found, dy, strict=True))
        return dy if is_same else sequence_like(dy, found)
    is_number = isinstance(y, Numeric)
    if is_number and isinstance(dy, list | tuple | dict):
        raise ValueError
    is_repeated = is_number and isinstance(dy, Numeric) and shape_of(dy) != shape_of(y)
    return np.broadcast_to(dy, shape_of(y)) if is_repeated else dy


def _transposed(body: Callable[..., tuple[Any, Any]]) -> Callable[..., tuple[Any, Any]]:
    """Return the body of a rule whose pullback is the transpose of a pushforward."""

    code = body.__code__
    place = f"{body.__qualname__} ({code.co_filename}:{code.co_firstlineno})"
    of = f"the pushforward of {place}"

    def back_of(ad: Any, f: Any, y: Any, *dxs: Any) -> Any:
        """Return the transpose of a function that gives the tangent of a value, if there is one."""
        dy, back = ad(f, *dxs)
        try:
            is_repeated = _repeated(dy, y) is not dy
        except ValueError as error:
            raise Fault.COTANGENT(
                f"{of} gives {describe(dy)} for the tangent of {describe(y)}: return one of its "
                "shape and structure"
            ) from error
        if is_repeated:
            dy, back = ad(lambda *vs: _repeated(f(*vs), y), *dxs)
        if not scales(f, dxs, dy):
            raise Fault.NOT_LINEAR(
                f"{of} is not linear in the tangents: return a function that is, or declare a "
                "`custom_rule`"
            )
        return back

    @functools.wraps(body)
    def reverse(*xs: Any, ad: Any, **options: Any) -> tuple[Any, Any]:
        y, pushforward = value_and_pushforward(body(*xs, **options), f"the forward rule {place}")
        if pushforward is None:
            return y, lambda dy: tuple([None for _ in xs])
        dxs = [_any_tangent(x, body) for x in xs]
        if callable(pushforward):
            whole = back_of(ad, pushforward, y, *dxs)
            return y, lambda dy: whole(dy)[1:]
        parts, shared = parts_of_pushforward(pushforward, len(xs), of)
        y_of_part = y if shared is None else None
        backs = [
            None if part is None or dx is None else back_of(ad, part, y_of_part, dx)
            for part, dx in zip(parts, dxs, strict=True)
        ]
        last = None if shared is None else back_of(ad, shared, y, pushed_by_parts(parts, dxs))

        def pullback(dy: Any) -> Any:
            d = dy if last is None else last(dy)[1]
            return tuple([None if back is None else back(d)[1] for back in backs])

        return y, pullback

    found = inspect.signature(body)
    ad = inspect.Parameter("ad", KEYWORD_ONLY)
    given = [*found.parameters.values()]
    last = given[-1:] if given and given[-1].kind is inspect.Parameter.VAR_KEYWORD else []
    parameters = [*given[: len(given) - len(last)], ad, *last]
    vars(reverse)["__signature__"] = found.replace(parameters=parameters)
    return reverse


@entry
def scalar_rule(*partials: Callable[..., Any]) -> Callable[[F], F]:
    """Declare the partial derivatives of an elementwise function where it is defined.

    Arguments:
        partials: what `rule.scalar(f)` takes: a function of the inputs, and perhaps of the output
            as `out`, that returns the partial derivatives; or one function for each input.

    Raises `RuleError` if something else is given.
    """
    caller = sys._getframe(2)
    rules, origin = _set_of(caller), Origin(caller)
    if any(is_being_made(f, caller) and f.__name__ != "<lambda>" for f in partials):
        raise rules._refuse.error(
            Fault.FORM,
            origin.line,
            "`scalar_rule` takes the partial derivatives: write `@scalar_rule(lambda x: ...)` "
            "above the function",
        )
    for body in partials or (None,):
        rules._refuse.place_of(body, origin)

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

    The function simply runs, and its value counts as a constant. It may not change what it is
    given, and what it returns of that may not be written to. (ChainRules' `@non_differentiable`.)
    """
    caller = sys._getframe(2)
    origin = Origin(caller)
    _set_of(caller)._declare(
        (f,), "constant", (), varargs=Any, place=origin.line, origin=origin, options=None
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
