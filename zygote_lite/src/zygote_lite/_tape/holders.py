"""Holders of numbers that carry no gradient, such as `Fraction`, and what to pass for them."""

import array
import decimal
import fractions
import io
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._cotangents.kinds import is_foreign, is_of_pandas
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import invoke
from zygote_lite._ir.places import called_by_user, where
from zygote_lite._tape.refusals.advice import call_by_user, hint_on_library
from zygote_lite._tape.refusals.near_misses import type_meant
from zygote_lite.errors import Fault

_INSTEAD: list[tuple[Any, str, str]] = [
    (array.array, "`np.array(...)` of it", "use a list, or `np.array(...)`"),
    (memoryview, "`np.asarray(...)` of it", "read the array itself"),
    (
        np.ma.MaskedArray,
        "`.filled(...)`, or `.data` and the mask, of it",
        "choose entries of the array itself, by `x[keep]` or `np.where(keep, x, 0.0)`",
    ),
    (np.matrix, "`np.asarray(...)` of it", "use the array itself, with `@` for products"),
    (np.recarray | np.void, "its fields, as arrays or numbers", "keep each field as an array"),
    (fractions.Fraction | decimal.Decimal, "`float(...)` of it", "compute with floats"),
    (
        type({}.values()) | type({}.items()) | type({}.keys()),
        "`list(...)` of it, or the dict",
        "use a list, or the dict",
    ),
    (
        Iterator,
        "`list(...)` of it, or leave it out by `argnums`",
        "use the data themselves, or a list",
    ),
]
"""Holders of numbers that carry no gradient, what to pass for one, and what to do in its place."""


def instead_of(x: Any) -> str | None:
    """Return what to pass for a holder of numbers that carries no gradient, if it is one."""
    found = _instead(x)
    return None if found is None else found[0]


def advice_on(x: Any) -> str | None:
    """Return why a value of numbers carries no gradient, and what to pass for it, if it is one."""
    instead = instead_of(x)
    if instead is not None:
        return f"{an(type(x).__name__)} carries no gradient: pass {instead}"
    if not hasattr(type(x), "shape") or isinstance(x, np.ndarray | np.generic):
        return None
    return hint_on_library([x], None)


def may_hold_floats(x: Any) -> bool:
    """Return whether what `advice_on` tells of may hold floating-point numbers."""
    kinds = getattr(x, "dtypes", getattr(x, "dtype", None))  # of a table: one for each column
    return kinds is None or any(
        getattr(t, "kind", None) in ("f", "c", "V") or "float" in str(t).lower()
        for t in (kinds if np.iterable(kinds) else [kinds])
    )


def _instead(x: Any) -> tuple[str, str] | None:
    if type(x) in _NAMED_BY_TYPE or isinstance(x, np.flatiter | io.IOBase):
        return None
    of = x if isinstance(x, type) else type(x)  # `x.view(np.matrix)`, too
    found = next((told for kind, *told in _INSTEAD if issubclass(of, kind)), None)
    if found is not None:
        return found[0], found[1]
    is_own = isinstance(x, type) and issubclass(x, np.ndarray) and x is not np.ndarray
    its = "the array itself, of NumPy's class"
    return (its, f"use {its}") if is_own else None


def with_holder(told: str, f: Any, xs: Any) -> Exception | None:
    """Return the error for a call that is given a holder of numbers, or that makes one.

    One that is there before the call can be converted. One that the call makes, of what is
    differentiated, cannot: something else has to take its place.

    Arguments:
        told: what is called, and of what types.
        f, xs: the function, and all arguments.
    """
    inner, outside = call_by_user(), called_by_user()
    place = outside[0] if outside else where()
    told = outside[1] if outside else told
    given = () if inner is None else (*inner[1], *inner[2].values())
    before = [*xs, *(x for x in given if isinstance(x, np.ndarray))]
    held = next((x for x in before if not isinstance(x, type) and instead_of(x)), None)
    if held is not None and not isinstance(held, array.array):
        return Fault.HOLDER(
            f"{place}: {told} has no rule, and a gradient passes through it: "
            f"{an(type_meant(held).__name__)} carries no gradient; pass {instead_of(held)}"
        )
    made = next((x for x in (*xs, f, *given[:1]) if isinstance(x, type) and _instead(x)), None)
    instead = None if made is None or made is array.array else _instead(made)
    if made is None or instead is None:
        return None
    return Fault.HOLDER(
        f"{place}: {told} has no rule, and a gradient passes through it: {an(made.__name__)} "
        f"that is made of what is differentiated carries no gradient; {instead[1]}"
    )


_NAMED_BY_TYPE = {float, int, complex, str, list, tuple, dict, np.ndarray, type(None)}


def refused_holder(x: Any) -> Exception:
    """Return the error for a holder of numbers that carries no gradient."""
    instead = instead_of(x)
    if instead is None:
        return Fault.HOLDER(f"{where()}: {hint_on_library([x], None)}")
    return Fault.HOLDER(
        f"{where()}: a gradient passes through {an(type(x).__name__)}, which carries none; "
        f"pass {instead}"
    )


_MAKING_NUMBERS = {"from_int", "from_float", "from_npfloat", "mpf_mul_int", "mpf_rdiv_int"}


def refuse_number_of_mpmath(f: Any) -> None:
    """Refuse the function of mpmath that makes a number of a float, which it takes bit by bit.

    Arguments:
        f: a function of `mpmath.libmp` that is given what is differentiated.
    """
    if f.__name__ in _MAKING_NUMBERS:
        outside = called_by_user()
        raise Fault.HOLDER(
            f"{outside[0] if outside else where()}: a number of mpmath that is made of what is "
            "differentiated carries no gradient; compute with floats"
        )


def of_jitclass(f: Any, xs: tuple[Any, ...]) -> Exception | None:
    """Return the error for a call that makes, reads or writes an object of a jitclass of Numba.

    Arguments:
        f, xs: the call, which may be one that Numba's own code makes.
    """
    inner = call_by_user() or (f, xs, {})
    x = next((x for x in (*xs, *inner[1]) if _is_of_jitclass(type(x))), None)
    if x is None:
        return None
    kind = x if isinstance(x, type) else type(x)
    members = {} if x is kind else vars(kind)
    meant = (f, inner[0])
    name = next((n for n, m in members.items() if _is_one_of(m, meant)), None)
    outside = called_by_user()
    return Fault.HOLDER(
        f"{outside[0] if outside else where()}: {kind.__name__}{f'.{name}' if name else ''} has no "
        f"rule, and a gradient passes through it: {hint_on_library([x], None)}"
    )


def _is_of_jitclass(kind: type) -> bool:
    return str(kind.__module__).startswith("numba.experimental.jitclass")


def _is_one_of(member: Any, meant: tuple[Any, ...]) -> bool:
    of = (member.fget, member.fset) if isinstance(member, property) else (member,)
    return any(m is f for m in of for f in meant if f is not None)


def refuse_plain_numbers(xs: Any) -> None:
    """Raise for an array of another library that holds a number of Python, and has no dtype."""
    for x in xs:
        if is_foreign(type(x)) and not hasattr(x, "dtype"):
            raise Fault.HOLDER(
                f"{where()}: a gradient passes through {an(type(x).__name__)} that holds a plain "
                "number, which carries none; let it hold an array, such as `np.array(2.0)`"
            )


def refuse_names_of_caller(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> None:
    """Refuse a text for pandas with variables of its caller: it looks for them in our frames."""
    texts: Any = (*xs, *kws.values())
    if f is invoke:
        owner, name, *texts = (*xs, kws.get("expr"))
    elif type(f) is types.MethodType:
        owner, name = f.__self__, f.__func__.__name__
    else:
        owner, name = sys.modules.get(str(f.__module__).partition(".")[0]), f.__name__
    if name not in ("eval", "query") or "local_dict" in kws:
        return
    with_variables = any(isinstance(x, str) and "@" in x for x in texts)
    if owner is sys.modules.get("pandas", f) or (with_variables and is_of_pandas(type(owner))):
        raise Fault.FRAMES(
            f"{where()}: a text that pandas computes names variables of its caller, and what they "
            'hold cannot be followed: compute with arrays, as in `table["a"].to_numpy() * w`, and '
            'choose rows by `table[table["a"] > limit]`'
        )


_WITH_OWN_ARITHMETIC = (np.ma.MaskedArray, np.matrix, fractions.Fraction)


def computes_in_c(x: Any) -> bool:
    """Return whether a value computes in its own way, in Python that ends in C.

    Data of pandas do, if they are not of integers, truth values and texts alone.
    """
    if isinstance(x, _WITH_OWN_ARITHMETIC) or id(x) in state.tables:
        return True
    if not is_of_pandas(type(x)):
        return False
    return may_hold_floats(x)
