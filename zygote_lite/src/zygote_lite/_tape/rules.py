"""A call by its rule: which rule answers, with which arguments and options, and its pullback."""

import functools
import traceback
import types
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from rulescore import find_rule, plugins, project
from rulescore.faults import with_cells
from zygote_lite._activity.activity import (
    holds_text,
    is_active_text,
    is_integer,
    is_text,
    text_pullback,
)
from zygote_lite._activity.constants import run_constant
from zygote_lite._activity.walk import may_reach_active
from zygote_lite._cotangents.kinds import FUNCTION, OBJECT, VALUE, is_foreign, kind_of
from zygote_lite._cotangents.registry import Back, Flags, ValueAndPullback, no_pullback
from zygote_lite._cotangents.run import current_store, state, take
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import noted_place, told_place, where
from zygote_lite._tape.arguments import (
    active_option,
    holds_quantities,
    is_of_f2py,
    moved,
    parameter_names,
    positional_run,
    refused_option,
    takes_out,
)
from zygote_lite._tape.generators import values_of
from zygote_lite._tape.overwriting import forbid_overwriting, may_overwrite
from zygote_lite._tape.refusals.advice import has_remedy
from zygote_lite._tape.refusals.refusal import note_resolution, option_refusal, text_refusal
from zygote_lite.errors import DifferentiationError, Fault, NoRuleError


def with_texts(flags: Flags, operands: tuple[Any, ...], flag: Any) -> Flags:
    """Give a node to the operands of a call that are texts computed from active values."""
    if not any(map(is_active_text, operands)):
        return flags
    given = zip(flags[1:], operands, strict=True)
    return (flags[0], *(flag if n is None and is_active_text(x) else n for n, x in given))


for_functions: list[Callable[[Any, tuple[Any, ...]], ValueAndPullback | None]] = []
"""What differentiates a function that is handed to a rule: the first that does not give `None`."""


def handed_in(f: Any, /, *xs: Any) -> ValueAndPullback:
    """Differentiate a function for a rule that takes functions: what such a rule calls `ad`.

    The rule is given whole cotangents, and may drop them or ask for them several times: they live
    in a store of their own, and nothing but what the rule returns reaches that of the caller.
    """
    found: Any = None
    for answer in for_functions:
        found = answer(f, xs) if found is None else found
    y, back = found  # the last, which records, always answers
    return y, PullbackHandedIn(back, f, xs)


class PullbackHandedIn:
    """The pullback of a function that a rule hands in."""

    __slots__ = ("back", "f", "xs")

    def __init__(self, back: Any, f: Any, xs: tuple[Any, ...]) -> None:
        self.back, self.f, self.xs = back, f, xs

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = self.back(dy)
        return found


def apply_rule(
    flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> ValueAndPullback | None:
    """Apply a rule of an installed plugin, if there is one for these arguments."""
    plan = plan_rule(flags, f, xs, kws)
    if plan is None:
        return None
    f, rule, arguments, options, names = plan
    through_text = pull_text(flags, f, xs, kws, rule)
    if through_text is not None:
        return through_text
    if rule.kind == "constant":
        given = {name: values_of(x) for name, x in kws.items()}
        called = f if callable(f) else rule.primal  # not a property
        run = functools.partial(called, *map(values_of, xs), **given)
        y = run_constant(rule, flags, f, (*xs, *kws.values()), run, lambda y: y)
        return y, text_pullback(y, len(flags)) if is_text(y) else no_pullback(len(flags))
    y, back = _apply(rule, f, arguments, options)
    if None in flags[1:] or rule.refuses:
        at = _as_arguments(flags, len(xs), kws, names) if names else flags
        back = back.only(needed_of(at, (f, *arguments), rule))
    if rule.watches:
        back = _kept_real(back, (f, *arguments))
    if rule.may_raise:
        back = naming_line(f, back)
    library = library_of(arguments)
    if library:
        back = naming_library(f, back, library)
        _refuse_unknown_shape(y)
    if is_text(y):
        return y, text_pullback(y, len(flags))
    _refuse_objects(f, y)
    simple = kind_of(y) <= VALUE and not kws and kind_of(f) <= FUNCTION
    for x in xs:
        simple = simple and kind_of(x) <= VALUE
    return y, back if simple else _routed(back, f, xs, y, list(kws), arguments, names)


def needed_of(flags: tuple[Any, ...], operands: tuple[Any, ...], rule: Any) -> tuple[bool, ...]:
    """Return whether the cotangents of a function and its arguments go anywhere, by their flags."""
    # what is known by its address may hold what is active, whatever its own flag says
    given = zip(operands, flags, strict=False)
    needed = [flag is not None or _may_hold_active(x) for x, flag in given]
    for position in rule.refuses:
        needed[position + 1] = False
    return tuple(needed)


def _may_hold_active(x: Any) -> bool:
    kind = kind_of(x)
    return kind > VALUE and (kind != OBJECT or may_reach_active(x))


def _kept_real(back: Back, operands: tuple[Any, ...]) -> Back:
    """Return the pullback of a rule that no plugin's tests have checked: real stays real."""

    def projected(dy: Any) -> tuple[Any, ...]:
        found = zip(back(dy), operands, strict=True)
        return tuple([project(d, x) if holds_complex(d) else d for d, x in found])

    return projected


def holds_complex(d: Any) -> bool:
    """Return whether a cotangent is a complex number, or an array of them."""
    return isinstance(d, complex) or getattr(getattr(d, "dtype", None), "kind", None) == "c"


def _as_arguments(flags: Flags, count: int, keywords: Any, names: list[str]) -> Flags:
    """Return the flags of a call's `count` positional arguments, and of its keywords `names`."""
    by_name = dict(zip(keywords, flags[1 + count :], strict=True))
    return *flags[: 1 + count], *map(by_name.get, names)


def _apply(
    rule: Any, f: Any, arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, Any]:
    """Apply a rule; name the place of the call where it refuses."""
    try:
        applied: tuple[Any, Any] = rule(f, *arguments, **options)
        return applied
    except NotImplementedError as error:
        raise_refusal(error, rule, f, arguments, options)
    except Exception as error:
        library = library_of(arguments)
        if library and not isinstance(error, DifferentiationError):
            raise_own_error(f, arguments, options)
            fails = f"{where()}: the rule for {name_of(f)} fails for arrays of {library}"
            raise Fault.UNKNOWN_DERIVATIVE(f"{fails}: {_with_remedy(error)}") from error
        if isinstance(error, np.linalg.LinAlgError):
            raise_failure(error, f)
        raise


def library_of(xs: tuple[Any, ...]) -> str:
    """Return the name of another library whose arrays are among arguments; empty without one."""
    for x in xs:
        if is_foreign(type(x)):
            return type(x).__module__.partition(".")[0]
    return ""


def _refuse_unknown_shape(y: Any) -> None:
    if any(n != n for n in getattr(y, "shape", ())):  # dask has `nan` there
        raise Fault.UNKNOWN_DERIVATIVE(
            f"{where()}: a gradient passes through an array of dask whose shape is not known, as "
            "that of `x[x > 0]`: choose by `np.where(x > 0, x, 0.0)`"
        )


def naming_library(f: Any, back: Back, library: str) -> Back:
    """Return a pullback of foreign arrays whose errors name the library and the user's line."""
    place = noted_place()

    def back_with_library(dy: Any) -> tuple[Any, ...]:
        try:
            return back(dy)
        except DifferentiationError:
            raise
        except Exception as error:
            fails = (
                f"{told_place(place)}: the pullback of {name_of(f)} failed for arrays of {library}"
            )
            raise Fault.RULE_FAILED(f"{fails}: {_with_remedy(error)}") from error

    return back_with_library


def _with_remedy(error: Exception) -> str:
    told = str(error)
    other = "use another function of NumPy, or compute with arrays of NumPy here"
    return told if has_remedy(told) else f"{told}; {other}"


_MEND = "call the function at other arguments, or mend the rule"


def raise_failure(error: np.linalg.LinAlgError, f: Any) -> None:
    """Raise what a rule raised in a call, with the place, unless the function itself raised it."""
    if _is_of_rules(error):
        told = f"{where()}: the rule for {name_of(f)} failed: {error}; {_MEND}"
        raise Fault.RULE_FAILED(told, np.linalg.LinAlgError) from error


def raise_refusal(
    error: NotImplementedError, rule: Any, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> NoReturn:
    """Raise what a rule raised that does not take a call, with the place of the call."""
    if not rule.needs_ad:
        raise_own_error(f, xs, kws)
    elif not _is_of_rules(error):
        raise error  # of a function that the rule is given
    raise option_refusal(error, f) from error


def _is_of_rules(error: Exception) -> bool:
    """Return whether a package of rules has raised an error, and nothing that it has called."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    return package == "rulescore" or any(package == plugin.name for plugin in plugins())


def raise_own_error(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> None:
    """Raise what a function raises itself, such as for an option that it does not know."""
    try:
        if callable(f):  # a property is not
            f(*xs, **kws)
    except Exception as error:
        raise error from None


def naming_line(f: Any, back: Back) -> Back:
    """Return a pullback whose errors name the function and the user's line."""
    place = noted_place()

    def back_with_line(dy: Any) -> tuple[Any, ...]:
        try:
            return back(dy)
        except (np.linalg.LinAlgError, NotImplementedError) as error:
            kind = np.linalg.LinAlgError if isinstance(error, np.linalg.LinAlgError) else None
            advice = "" if kind is None and has_remedy(str(error)) else f"; {_MEND}"
            told = f"{told_place(place)}: the pullback of {name_of(f)} failed: {error}{advice}"
            raise Fault.RULE_FAILED(told, kind) from error
        except Exception as error:
            error.add_note(with_cells(f"{told_place(place)}: in the pullback of {name_of(f)}"))
            raise

    return back_with_line


def plan_rule(
    flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Any, Any, tuple[Any, ...], dict[str, Any], list[str]] | None:
    """Return what a rule is applied to: `(function, rule, arguments, options, names)`, or `None`.

    The function is the one that is called, or the one that takes its options by position. `names`
    are the keywords that became arguments. A rule for a function that takes functions is given
    `ad`, which differentiates them.
    Raises `NoRuleError` where a gradient would have to pass through an option.
    """
    named = moved(f, xs, kws, flags) if kws else {}
    options = {name: value for name, value in kws.items() if name not in named}
    if "out" in options and options["out"] is None and takes_out(f):
        del options["out"]  # as if it were not given
    if isinstance(f, np.ufunc) and f.signature is None and options.get("where") is True:
        del options["where"]
    rule = find_rule(f, *xs, *named.values(), **{"ad": handed_in, **options})
    if rule is None and kws:
        for name in positional_run(f, xs, kws, named):  # a rule may have no options of these names
            named[name] = options.pop(name)
            rule = find_rule(f, *xs, *named.values(), **{"ad": handed_in, **options})
            if rule is not None:
                break
    if rule is None:
        return None
    names, arguments = list(named), (*xs, *named.values())
    if rule.kind == "constant":
        return f, rule, arguments, options, names
    if rule.by_position is not None and any(flags[1 + len(xs) :]):
        plan = plan_rule(flags, rule.by_position, xs, kws)
        if plan is not None:
            return plan
    active = active_option(rule, flags, xs, kws, names)
    if active is not None:
        if isinstance(getattr(f, "_implementation", None), types.FunctionType):
            return None  # its source tells more than the rule
        raise refused_option(f, rule, active)
    _refuse_unknown(rule, _as_arguments(flags, len(xs), kws, names) if names else flags, arguments)
    if may_overwrite(f, xs, kws) and not is_of_f2py(f):  # the rules for those say which they take
        arguments = forbid_overwriting((*parameter_names(f)[: len(xs)], *names), arguments)
        options = dict(
            zip(options, forbid_overwriting((*options,), (*options.values(),)), strict=True)
        )
    if rule.needs_ad:
        options["ad"] = handed_in
    for x in arguments:
        _refuse_objects(f, x)
    note_resolution(f, arguments, f"rule of {rule.place}")
    return f, rule, arguments, options, names


def _refuse_unknown(rule: Any, flags: Flags, arguments: tuple[Any, ...]) -> None:
    """Refuse a gradient by an argument of which a rule says that no derivative is known."""
    for position in rule.refuses:
        x = arguments[position]
        active = flags[position + 1] is not None or holds_quantities(x)
        if active and not _is_choice(x):
            constant = f"let `{rule.refuses[position][0]}` be constant (`argnums`, `stop_gradient`)"
            raise option_refusal(rule.refusal(position), rule.function, constant)


def _is_choice(x: Any) -> bool:
    """Return whether a number chooses, and carries no gradient: an order, taken from a tuple."""
    return state.chooses and is_integer(x)


def _makes_numbers(f: Any) -> bool:
    """Return whether a constant function makes numbers of texts, as `int` does."""
    if type not in type(f).__mro__:
        return f is ord
    return issubclass(f, int | np.number) and f is not bool


def pull_text(
    flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any], rule: Any
) -> ValueAndPullback | None:
    """Run a function with a rule that is given texts made of active values, if it is.

    Raises `NoRuleError` where it makes numbers of them: no gradient passes through a text.
    """
    if rule.kind == "constant" and not _makes_numbers(f):  # such as `len`
        return None
    if not any(map(holds_text, (*xs, *kws.values()), flags[1:])):
        return None
    y = f(*xs, **kws)
    if not is_text(y):
        raise text_refusal(f, xs)
    return y, text_pullback(y, len(flags))


def _refuse_objects(f: Any, x: Any) -> None:
    if type(x) is np.ndarray and x.dtype.kind in "OV":
        raise Fault.DTYPE(
            f"{where()}: {name_of(f)} meets an array of dtype {x.dtype}, which carries no "
            "gradient: use an array of numbers, or a list",
            NoRuleError,
        )


def _routed(
    back: Back,
    f: Any,
    xs: tuple[Any, ...],
    y: Any,
    keywords: list[str],
    arguments: tuple[Any, ...],
    names: list[str],
) -> Back:
    """Return the pullback of a rule whose operands or value have an address, or have keywords."""

    def routed(dy: Any) -> tuple[Any, ...]:
        store = current_store()
        d_f, *given = back(take(y, dy, arguments))
        by_value = [store.add(x, d) for x, d in zip(arguments, given, strict=True)]
        by_name = dict(zip(names, by_value[len(xs) :], strict=True))
        return store.add(f, d_f), *by_value[: len(xs)], *(by_name.get(name) for name in keywords)

    return routed
