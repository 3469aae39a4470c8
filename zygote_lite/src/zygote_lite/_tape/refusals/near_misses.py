"""Near misses: the rule for a function that fits a call but for one argument or option."""

import inspect
import re
import traceback
import types
import typing
from typing import Any

import numpy as np

from rulescore import find_rule, home_of, why
from rulescore.faults import an
from zygote_lite._ir.compile import run_as_called
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import is_installed, is_library, place_in
from zygote_lite._tape.generators import Generated
from zygote_lite.errors import Fault

PARAMETERS = ("x", "y", "z", "u", "v", "w")
_PERMUTED = "draw numbers, and read by them: `x[generator.permutation(len(x))]`"
_DRAWN = {
    "permutation": _PERMUTED,
    "permuted": _PERMUTED,
    "shuffle": _PERMUTED,
    "choice": "draw numbers, and read by them: `x[generator.choice(len(x), size)]`",
}


def near_miss(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], is_of_keyword: bool) -> str | None:
    """Return which rule for a function fits a call but for one argument, and which argument.

    Where a random generator draws among the entries of an array, it is what to write instead.

    Arguments:
        f, xs, kws: the call.
        is_of_keyword: whether the argument is one that was passed by keyword.
    """
    f, xs = unbound(f, xs)
    if home_of(f) == "numpy.random" and isinstance(xs[1:] and xs[1], np.ndarray | list):
        drawn = _DRAWN.get(f.__name__)
        if drawn is not None:
            return drawn
    count = len(xs)
    names, xs, kws = with_options_by_position(f, xs, kws)
    for _, rule in why(f, *xs):
        of_options = names[len(rule.types) :]  # that were given by position
        if len(rule.types) > len(xs) or rule.kind == "instance":
            continue
        if of_options if rule.options is None else not rule.options >= {*kws, *of_options}:
            continue
        missed = [i for i, (t, x) in enumerate(zip(rule.types, xs, strict=False)) if not _is(x, t)]
        if len(missed) == 1 and missed[0] >= count * is_of_keyword:
            (i,) = missed
            if _is_of_another_library(rule.types[i], f):
                continue
            due = rule.signature.partition("(")[2].removesuffix(")").split(", ")[i]
            which = f"argument {i}" if i < count else f"`{names[i]}`"
            how = " by `np.array(...)`" if due in ("Array", "Numeric") else ""
            return (
                f"the rule {rule.signature} of {rule.plugin} takes {due} as {which}, and it is "
                f"{an(type(xs[i]).__name__)}: convert it{how}, or declare a rule for this type"
            )
    return None


def rule_passed_over(frames: list[Any]) -> tuple[Fault, str] | None:
    """Return which rule almost fits a Python function that is being recorded, and why not.

    Its kind of error comes before it.

    Arguments:
        frames: those of the running code, the innermost first.
    """
    is_of_user = False
    for frame in frames:
        if frame.f_code is not run_as_called.__code__:
            continue
        f, xs, kws = map(frame.f_locals.get, ("f", "xs", "kws"))
        path = f.__code__.co_filename
        is_apart = is_installed(path) or is_library(path)
        if is_apart and is_of_user:
            return None  # it calls a function of the user's, which is what fails
        is_of_user = not is_apart
        options = options_without_rule(f, xs, kws)
        fault, almost = Fault.OTHER_TYPES, near_miss(f, xs, kws, bool(options))
        if options and almost is None:
            names = " and ".join(options)
            fault, almost = Fault.OPTION, f"it does not take {names}: leave it out, or declare one"
        if almost is not None:
            given = types_given(xs, kws)
            place = place_in([above for above, _ in traceback.walk_stack(frame)])
            return fault, f"{place}: {name_of(f)} of ({given}) has a rule, but {almost}"
    return None


def options_without_rule(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> list[str]:
    """Return the keywords that the rule for a call does not take, if there is one without them."""
    rule = find_rule(f, *xs) if kws else None
    if rule is None or rule.options is None:
        return []
    return [f"`{name}`" for name, x in kws.items() if x is not None and name not in rule.options]


def advice_on_options(f: Any, kws: dict[str, Any]) -> str:
    """Return what to do about options that the rule for a function does not take."""
    if isinstance(f, np.ufunc) and "where" in kws:
        return (
            "where it is false the result is undefined: give `out` too, which keeps its values "
            "there, or choose by `np.where(mask, y, other)`"
        )
    if "casting" in kws or "signature" in kws:
        return "leave it out, and convert the arguments or the result by `astype`"
    return "leave it out, or use another function for what it does"


def unbound(f: Any, xs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return the function behind a method in C, with its owner as the first argument."""
    owner = getattr(f, "__self__", None)
    in_c = isinstance(f, types.BuiltinFunctionType | types.MethodWrapperType)
    if in_c and not isinstance(owner, types.ModuleType | type | None):
        return getattr(type(owner), f.__name__, f), (owner, *xs)
    return f, xs


def with_options_by_position(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[list[str], tuple[Any, ...], dict[str, Any]]:
    """Return names for the positional arguments of a call, these arguments, and its options.

    An argument that is passed by keyword is positional where the function may take it by position:
    options carry no gradient.
    """
    known = _positional_names(f)
    count = len(xs)
    while count < len(known) and known[count] in kws:
        count += 1
    if len(known) < len(xs):
        known = [*PARAMETERS, *(f"x{i}" for i in range(len(xs)))]
    by_name = known[len(xs) : count]
    given = (*xs, *(kws[name] for name in by_name))
    return known[:count], given, {name: x for name, x in kws.items() if name not in by_name}


def _positional_names(f: Any) -> list[str]:
    """Return the names of the positional parameters, from the signature or the docstring."""
    try:
        parameters = [*inspect.signature(f).parameters.values()]
    except (TypeError, ValueError):
        name = str(getattr(f, "__name__", ""))
        found = re.match(rf"\s*{re.escape(name)}\(([^()]*)\)", str(f.__doc__ or ""))
        listed = found[1].partition("*")[0].split(",") if found and name else []
        names = [text.partition("=")[0].strip() for text in listed]
        of_object = ["self"] if isinstance(f, _OF_INSTANCES) and names else []
        return [*of_object, *names] if all(map(str.isidentifier, names)) else []
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in by_position]


_OF_INSTANCES = types.MethodDescriptorType | type(np.random.Generator.gamma)  # and one of Cython


def _is_of_another_library(annotation: Any, f: Any) -> bool:
    """Return whether a rule takes classes of a library alone, which says nothing to others."""
    own = {str(home_of(f)).partition(".")[0], "builtins", "numpy", "rulescore", "collections"}
    classes = typing.get_args(annotation) or (annotation,)
    return not any(getattr(c, "__module__", "").partition(".")[0] in own for c in classes)


def _is(x: Any, annotation: Any) -> bool:
    try:
        return isinstance(x, annotation)
    except TypeError:
        return True


def types_given(xs: tuple[Any, ...], kws: dict[str, Any]) -> str:
    """Return the types of the arguments of a call, as messages show them."""
    named = [f"{name}={type_meant(x).__name__}" for name, x in kws.items()]
    return ", ".join([*(type_meant(x).__name__ for x in xs), *named])


def type_meant(x: Any) -> type:
    """Return the type of an argument as the user knows it."""
    return x.kind if isinstance(x, Generated) else type(x)
