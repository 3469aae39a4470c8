"""Validation: cotangents given to a pullback must fit; those returned must share no memory."""

import copy
import difflib
import functools
import inspect
import itertools
import types
from collections.abc import Iterator
from numbers import Number
from typing import Any, TypeVar, cast

import numpy as np

from rulescore import Array, Tangent
from rulescore.faults import counted
from zygote_lite._activity.activity import addresses_of
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.wholes import arrays_inside
from zygote_lite._cotangents.kinds import (
    DICT,
    FUNCTION,
    LIST,
    OBJECT,
    TUPLE,
    VALUE,
    cotangent_like,
    entries_of,
    is_data,
    is_known_by_rule,
    kind_of,
    owner_of,
    within,
)
from zygote_lite._cotangents.store import Store
from zygote_lite._ir.names import shown_name
from zygote_lite._tape.refusals.advice import hint_on_library
from zygote_lite.errors import Fault

Owned = TypeVar("Owned")


_MOST_FIELDS_NAMED = 3  # that advice names


def check_fit(
    dy: Any, y: Any, back: Any, what: str = "cotangent", of: str = "value",
    seen: set[tuple[int, int]] | None = None,
) -> None:  # fmt: skip
    """Raise where a cotangent (or `what`) is not of the shape and structure of the value."""
    if dy is None:
        return
    if y is None and seen is None and what == "cotangent":
        raise Fault.COTANGENT(
            f"{back} is given {describe(dy)}, and the value is None: return one; is a `return` "
            "missing?"
        )
    kind = kind_of(y)
    if kind >= TUPLE:  # one that shares its parts many times is looked at once
        seen = set() if seen is None else seen
        if (id(dy), id(y)) in seen:
            return
        seen.add((id(dy), id(y)))
    if kind == VALUE and is_known_by_rule(type(y)):
        return  # the rule that the cotangent meets knows better
    advice = "give one of the same shape and structure"
    if kind == VALUE:
        numeric = isinstance(dy, Number | np.generic | Array)
        fits = numeric and np.shape(cast(Any, dy)) == np.shape(y)
        given, due = _kind_of_numbers(dy), _kind_of_numbers(y)
        if given == "c" and what == "cotangent":
            given = due  # only its real part counts, as of what rules give
        if fits and given != due and given in "cOSUVmM":
            fits = due == "O"
            advice = f"give a real {what}" if given == "c" else f"give a {what} of numbers"
    elif kind in (TUPLE, LIST):
        fits = isinstance(dy, tuple if kind == TUPLE else list) and len(dy) == len(y)
    elif kind == DICT:
        fits = isinstance(dy, dict) and dy.keys() <= y.keys()
    elif kind == OBJECT:
        names = [str(name) for name, _ in entries_of(y)]
        fits = isinstance(dy, Tangent) and set(dy) <= {*names}
        advice = advice if fits else f"{advice}, `{_tangent_of(y, names)}`"
    else:
        return
    if not fits:
        hint = hint_on_library([dy, y], None)
        is_zero = of == "argument" and isinstance(y, Number)  # in place of the argument's number
        shown = "a number" if is_zero else describe(y)
        raise (Fault.COTANGENT if what == "cotangent" else Fault.TANGENT)(
            f"the {what} given to {back} is {describe(dy)}, and the {of} is {shown}: "
            + (hint or advice)
        )
    if kind >= TUPLE:
        for key, value in entries_of(y):
            if kind in (TUPLE, LIST) or key in dy:
                check_fit(dy[key], value, back, what, of, seen)


def _tangent_of(y: Any, names: list[str]) -> str:
    """Return how the tangent of an object with some fields is written."""
    owner = (y._primal if isinstance(y, Tangent) else type(y)).__qualname__
    fields = [f"{name}=..." for name in names[:_MOST_FIELDS_NAMED]]
    return f"Tangent({', '.join([owner.rpartition('.')[2], *fields])})"


def _kind_of_numbers(x: Any) -> str:
    """Return the kind of the dtype of a number, or of an array; real where nothing is known."""
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return "c" if isinstance(x, complex) else "f"
    return str(getattr(dtype, "kind", "f"))


def is_real_array(y: Any) -> bool:
    """Return whether a value is a real number, or an array of them."""
    if isinstance(y, bool | np.bool_) or y is None or is_data(type(y)):
        return False
    if isinstance(y, int | float):
        return True
    return getattr(getattr(y, "dtype", None), "kind", None) in ("i", "u", "f")


def describe(y: Any) -> str:
    """Return what a value is, for a message."""
    if isinstance(y, types.ModuleType):
        return f"module {y.__name__}"
    if hasattr(y, "shape"):
        dtype = f" and dtype {y.dtype}" if hasattr(y, "dtype") else ""
        return f"{type(y).__name__} of shape {y.shape}{dtype}"
    if isinstance(y, list | tuple):
        return f"{type(y).__name__} of length {len(y)}"
    shown = "" if callable(y) else repr(y)
    is_short = 0 < len(shown) < _LONGEST_VALUE and "\n" not in shown and " at 0x" not in shown
    return f"{type(y).__name__} ({shown})" if is_short else type(y).__name__


_LONGEST_VALUE = 100  # that a message shows


def refuse_no_function(f: Any, verb: str = "grad") -> None:
    """Refuse a value where a function is due.

    Arguments:
        f: what was given.
        verb: the function of ours that it was given to, or one like it.
    """
    if not callable(f):
        raise Fault.NOT_CALLABLE(
            f"{describe(f)} is given where a function is due, and it is not callable: give the "
            f"function and not its value, as `{verb}(f)(x)` does"
        )


def refuse_options(**flags: Any) -> None:
    """Refuse options that are neither `True` nor `False`."""
    for name, flag in flags.items():
        if not isinstance(flag, bool | np.bool_):
            raise Fault.OPTION_VALUE(
                f"`{name}` is {describe(flag)}: give `True` or `False`", TypeError
            )


def refuse_keywords(verb: str, f: Any, keywords: dict[str, Any], **options: Any) -> None:
    """Refuse keywords of the user's function, for a function of ours that passes none on.

    Arguments:
        verb, f: the name of ours, and the user's function.
        keywords: all that was given by name, or what is none of our options.
        options: our options. One that was given, and is a parameter of `f` too, is refused.
    """
    known = [name for name, x in options.items() if x is not None and x is not False]
    for name in (*known, *(name for name in keywords if name not in options)):
        near = [] if name in known else difflib.get_close_matches(name, options, n=1)
        if name in known and name not in names_taken_by(f):
            continue
        if near:
            told = f"{verb} has no option `{name}`: give `{near[0]}`"
        else:
            of = shown_name(f).rpartition(" at ")[0] or shown_name(f)
            why = (
                f"`{name}` is an option of {verb}, and a parameter of {of} too"
                if name in known
                else f"{verb} passes no keywords on, and is given `{name}`"
            )
            meant = "that of the function" if name in known else "it"
            bound = f"`lambda x: f(x, {name}=...)` or `functools.partial(f, {name}=...)`"
            told = f"{why}: bind {meant} before, by {bound}"
        raise Fault.OPTION_VALUE(told, TypeError)


def refuse_more(verb: str, count: int, more: tuple[Any, ...], options: list[str]) -> None:
    """Refuse what is given to a function of ours by position, and is taken by name.

    Arguments:
        verb: the name of ours.
        count: how many arguments it takes by position.
        more: what is given after them.
        options: the names of its options.
    """
    if more:
        given = counted(count + len(more), "argument")
        by_name = " or ".join(f"`{name}={more[0]!r}`" for name in options)
        raise Fault.OPTION_VALUE(
            f"{verb} is given {given}, and takes {count} by position: give an option by its name, "
            f"as {by_name}",
            TypeError,
        )


def hide_keywords(verb: Any) -> None:
    """Leave what a function of ours takes only to refuse it out of the signature that it shows."""
    signature = inspect.signature(verb)
    own = [
        p
        for p in signature.parameters.values()
        if p.kind is not p.VAR_KEYWORD and (p.kind is not p.VAR_POSITIONAL or p.name != "more")
    ]
    verb.__signature__ = signature.replace(parameters=own)


def names_taken_by(f: Any) -> tuple[str, ...]:
    """Return the names by which the arguments of a Python function can be given."""
    bound: set[str] = set()
    while isinstance(f, functools.partial):
        bound, f = {*bound, *f.keywords}, f.func
    is_plain = isinstance(f, types.FunctionType | types.MethodType)
    code = getattr(f if is_plain else member_of(type(f), "__call__"), "__code__", None)
    if code is None:
        return ()
    names = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    return tuple([name for name in names if name not in bound])


def own_buffers(d: Owned, held: Any) -> Owned:
    """Return cotangents whose arrays share memory with nothing else, so that they may be changed.

    Arguments:
        d: cotangents, in tuples, lists, dicts and Tangents.
        held: what the arrays must not share memory with.
    """
    # Pullbacks may return `dy` itself, a view, or one array for two arguments, so that an
    # optimizer's `grads[0] *= 0.9` would change other gradients, or an argument. What is returned
    # first keeps its memory, and what shares it later is copied. A view of a larger buffer is
    # copied too: its other parts may belong to something else.
    # What a rule set knows as a whole is copied where it would be returned a second time.
    owned: Owned = _owned(d, _Taken(held))
    return owned


_MOST_LOOKED_AT = 1000  # values: to look at more takes longer than to copy most gradients


class _Taken:
    """The memory that belongs to what is held, or to what was returned before.

    What is held is looked through when the first array asks. It may be a large model: where it
    holds too many values, all memory counts as taken.
    """

    def __init__(self, held: Any) -> None:
        self.held = held
        self.owners: set[int] | None = None
        self.is_all = False

    def take(self, *owners: Any) -> bool:
        """Take the memory of some arrays; return whether it was taken."""
        if self.owners is None:
            values = [*itertools.islice(within(self.held), _MOST_LOOKED_AT + 1)]
            self.is_all = len(values) > _MOST_LOOKED_AT
            self.owners = {id(owner_of(x) if isinstance(x, np.ndarray) else x)
                           for x in values if _has_buffer(x)}  # fmt: skip
        identities = {*map(id, owners)}
        was = self.is_all or not identities.isdisjoint(self.owners)
        self.owners |= identities
        return was


def _owned(d: Any, taken: _Taken) -> Any:
    if isinstance(d, np.ndarray):
        owner = owner_of(d)
        if taken.take(owner) or not d.flags.writeable or owner.size != d.size:
            d = np.array(d)
            taken.take(d)
        return d
    if isinstance(d, list | tuple | dict | Tangent):
        return cotangent_like(d, {key: _owned(x, taken) for key, x in entries_of(d)})
    if is_known_by_rule(type(d)) and taken.take(d, *map(owner_of, arrays_inside(d))):
        d = copy.deepcopy(d)
        taken.take(d, *map(owner_of, arrays_inside(d)))
    return d


def _buffers_of(x: Any) -> list[Any]:
    """Return the arrays within a value, and what rule sets know as a whole."""
    return [*filter(_has_buffer, within(x))]


def _has_buffer(x: Any) -> bool:
    # by its type: `isinstance` asks a weak reference for what may be gone
    return issubclass(type(x), np.ndarray) or is_known_by_rule(type(x))


def _shared(operands: Any, flags: Any, identities: Any) -> Iterator[tuple[int, int, int]]:
    """Yield what a later argument shares with one before: both positions, and the identity."""
    owners: dict[int, int] = {}
    for position, (x, flag) in enumerate(zip(operands, flags, strict=True)):
        for identity in identities(x) if flag else ():
            first = owners.setdefault(identity, position)
            if first != position:
                yield first, position, identity


def refuse_shared(operands: Any, flags: Any, store: Store) -> None:
    """Refuse arguments that alias a list or object: their gradients would be indistinguishable."""
    shared = _shared(operands, flags, addresses_of) if store.entries else ()
    for first, position, identity in shared:
        if identity in store.entries and store.entries[identity][1]:
            kind = type(store.entries[identity][0]).__name__
            raise Fault.SHARED_ARGUMENTS(
                f"arguments {first} and {position} share one {kind} "
                "(argument 0 is the function itself), so that their gradients cannot be told "
                "apart: pass a copy as one of them"
            )


def refuse_shared_arrays(operands: Any, flags: Any, written: dict[int, Any]) -> None:
    """Refuse arguments that alias an array that is written: likewise indistinguishable."""

    def owners_in(x: Any) -> list[int]:
        return [id(owner_of(y)) for y in _buffers_of(x) if isinstance(y, np.ndarray)]

    for first, position, identity in _shared(operands, flags, owners_in):
        if identity in written:
            raise Fault.SHARED_ARGUMENTS(
                f"arguments {first} and {position} are one array, or views of one (argument 0 "
                "is the function itself), and it is written in place, so that their gradients "
                "cannot be told apart: pass a copy as one of them"
            )
    for position, (x, flag) in enumerate(zip(operands, flags, strict=True)):
        if position and flag and any(id(owner) in written for owner in _held_twice(x)):
            raise Fault.SHARED_ARGUMENTS(
                f"argument {position} holds one array, or views of one, at two places (argument 0 "
                "is the function itself), and it is written in place, so that their gradients "
                "cannot be told apart: put a copy at one of them"
            )


def _held_twice(x: Any) -> Iterator[Any]:
    """Yield the arrays that own memory that a structure holds at two places."""
    seen: dict[int, list[Any]] = {}
    for part in within(x):
        for _, y in entries_of(part) if kind_of(part) > FUNCTION else ():
            if isinstance(y, np.ndarray):
                owner = owner_of(y)
                before = seen.setdefault(id(owner), [])
                if any(np.shares_memory(y, z) for z in before):
                    yield owner
                before.append(y)
