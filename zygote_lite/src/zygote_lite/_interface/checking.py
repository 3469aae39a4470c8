"""`check_gradient`: the gradient of a user's function against differences of the function itself.

Both engines answer, and each more than once; all answers have to agree. Then the gradient is
compared with differences, entry by entry.
"""

import collections
import copy
import warnings
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any

import numpy as np

from rulescore import Tangent
from rulescore.faults import an
from zygote_lite._cotangents.kinds import (
    DICT,
    LIST,
    OBJECT,
    TUPLE,
    address_of,
    entries_of,
    is_known_by_rule,
    is_of_pandas,
    kind_of,
    tuple_like,
    within,
)
from zygote_lite._cotangents.zeros import filled
from zygote_lite._interface.differences import derivative, quietly
from zygote_lite._interface.gradients import pullback, raw_value_and_gradient
from zygote_lite._ir.frames import keep_users_frames
from zygote_lite._ir.names import name_of
from zygote_lite._nested.gradients import refused_inside
from zygote_lite._specialize.compare import difference
from zygote_lite._specialize.jitted import original
from zygote_lite._tape.holders import advice_on
from zygote_lite._tape.seeds import Argnums, argument_numbers, seed
from zygote_lite._tape.validate import hide_keywords, refuse_keywords, refuse_no_function
from zygote_lite.errors import Fault
from zygote_lite.modes import RECORDED, TRANSFORMED, NotTransformed, switched

_CALLS = 3  # of the function as it comes: the third is answered by transformed code
_LEAST = 1e-8  # more than what is left of 0 by rounding, in programs of usual numbers
_SURE = 1e-3  # how far differences may be off, relatively, and still tell something
_TOLERANCES = {2: 5e-2, 4: 1e-3, 8: 1e-6}  # by the bytes of a real number
_PLACES_OF_A_TUPLE = 32  # of one tuple
Place = tuple[tuple[Any, Any], ...]  # the keys that lead to an entry, with what they are keys of


def check_gradient(
    f: Callable[..., Any],
    /,
    *xs: Any,
    argnums: Argnums | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    entries: int = 32,
    **keywords: Any,
) -> None:
    """Check the gradient of `f(*xs)`, a real number, against differences of `f` itself.

    Arguments:
        f: the function. It is called many times, with copies of the arguments.
        xs: arguments at which `f` is smooth, and also a little away from them: numbers, arrays, and
            lists, tuples, dicts and objects of them. Text and the like is left as it is.
        argnums: the arguments to check, by position or by name; without it, all.
        rtol: the relative tolerance; without it 1e-6, or what the least precise floats among the
            arguments allow (1e-3 for `float32`).
        atol: the absolute tolerance; without it, only what rounding explains.
        entries: how many entries of an array are checked one by one. In a larger array as many are
            chosen at random, always the same, and one random direction checks the rest.

    Other keywords are refused: bind those of `f` before, as in `lambda x: f(x, s=2.0)`.

    The check also compares the recorded gradient with that of transformed code, with those of a
    second and a third call, and with a pullback that is called twice.

    Raises `GradientCheckError`, an `AssertionError` that names the argument and the entry, if any
    two of these differ, or if nothing could be checked. Warns if some entries could not be checked,
    because the differences are too inaccurate there. What a closure captures is not checked: pass
    it as an argument.
    """
    try:
        options = {"argnums": argnums, "rtol": rtol, "atol": atol, "entries": entries != 32}
        refuse_keywords("check_gradient", f, keywords, **options)
        _Check(f, xs, argnums, rtol, atol, entries).run()
    except BaseException as error:
        __tracebackhide__ = keep_users_frames(error)
        raise


class _Check:
    """One call of `check_gradient`.

    Attributes:
        numbers: the positions of the arguments that are checked.
        size: of the largest entry of the gradient.
        lost: the size of entries that may be the rounding of larger ones.
        zero: how far differences may be off where the whole gradient is 0.
        checked: how many derivatives were compared.
        unsure: where differences could not tell.
    """

    def __init__(
        self,
        f: Any,
        xs: tuple[Any, ...],
        argnums: Any,
        rtol: float | None,
        atol: float | None,
        most: int,
    ) -> None:
        refuse_no_function(f)
        self.f, self.xs, self.atol, self.most = original(f), xs, atol, most
        given = range(len(xs)) if argnums is None else argnums
        self.numbers = argument_numbers(f, given, len(xs))
        self.leaves = [
            (number, place, leaf)
            for number in self.numbers
            for place, leaf in _movable(xs[number], (), collections.Counter())
        ]
        widths = [np.asarray(leaf).real.dtype for _, _, leaf in self.leaves]
        fitting = [_TOLERANCES.get(t.itemsize, 1e-6) for t in widths if t.kind == "f"]
        self.rtol = max(fitting, default=1e-6) if rtol is None else rtol
        units = [float(np.finfo(t).eps) for t in widths if t.kind == "f"]
        self.unit = max(units, default=float(np.finfo(float).eps))
        self.size = self.lost = self.zero = 0.0
        self.checked = 0
        self.unsure: list[str] = []
        self.random = np.random.default_rng(0)

    def run(self) -> None:
        """Check everything."""
        if not self.leaves:
            asked = [self.xs[number] for number in self.numbers]
            advice = next(filter(None, map(advice_on, asked)), None)
            none = "no argument holds a real or complex number: pass one that does"
            raise self.error(f"nothing could be checked: {advice or none}")
        given = self.copies()
        value = quietly(self.f, *given)
        seed(self.f, value)  # raises where it is not a real number
        if difference(quietly(self.f, *self.copies()), value) is not None:
            raise self.error(
                "nothing could be checked: two calls with equal arguments give different values: "
                "make its random numbers anew in each call, from a fixed seed"
            )
        gradients = self.answers_agree(value, given)
        cotangents = [
            filled(d, self.xs[number], to_read=True)
            for number, d in zip(self.numbers, gradients, strict=True)
        ]
        by_number = dict(zip(self.numbers, cotangents, strict=True))
        known = [(n, place, x, _at(by_number[n], place)) for n, place, x in self.leaves]
        known = [entry for entry in known if entry[3] is not None]
        self.size = max([_largest(d) for *_, d in known], default=0.0)
        self.lost = min(_LEAST, 1e4 * self.unit * self.size)
        self.zero = 0.0 if self.size else _LEAST * min(1.0, abs(float(value)))
        for number, place, leaf, d in known:
            self.agrees_with_differences(number, place, leaf, d)
        self.unsure += [
            f"argument {number}: it is not known how to move {an(type(x).__qualname__)}"
            for number in self.numbers
            for x in within(self.xs[number])
            if is_known_by_rule(type(x))
        ]
        self.tell_what_is_unsure()

    def copies(self) -> tuple[Any, ...]:
        """Return copies of the arguments."""
        try:
            return copy.deepcopy(self.xs)
        except Exception as error:
            raise self.error(
                f"nothing could be checked: the arguments cannot be copied ({error}): pass "
                "arguments that can be"
            ) from error

    def error(self, text: str) -> Exception:
        """Return the error for what is wrong."""
        return Fault.GRADIENT_CHECK(f"{name_of(self.f)}: {text}")

    # -- what the engines answer --

    def answers_agree(self, value: Any, after: tuple[Any, ...]) -> tuple[Any, ...]:
        """Compare all answers, and return the recorded gradient."""
        asked = raw_value_and_gradient(self.f, self.numbers)
        first: Any = None
        for name, answer in self.answers(asked):
            given = self.copies()
            try:
                y, found = quietly(answer, *given)
            except NotTransformed:
                continue
            self.is_same(y, value, f"the value is not that of the function itself ({name})")
            held, expected = _by_place(given), _by_place(after)
            self.is_same(held, expected, f"the arguments hold something else afterwards ({name})")
            if first is None:
                first = found
            self.is_same(found, first, f"{name} and the recorded gradient differ")
        return first  # type: ignore[no-any-return]

    def answers(self, asked: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield each way to the value and the gradient, with its name."""

        def within(tier: str) -> Callable[..., Any]:
            def answer(*xs: Any) -> Any:
                with switched(tier=tier):
                    return asked(*xs)

            return answer

        def pulled(*xs: Any) -> Any:
            y, back = pullback(self.f, *xs)
            dy = seed(self.f, y)
            once = back(dy)
            self.is_same(back(dy), once, "the pullback gives something else when called again")
            return y, tuple([once[1 + number] for number in self.numbers])

        yield "the recorded gradient", within(RECORDED)
        yield "that of a pullback", pulled
        yield "that of transformed code", within(TRANSFORMED)
        for i in range(_CALLS):
            yield f"that of call {i + 1}", asked

    def is_same(self, got: Any, want: Any, what: str) -> None:
        """Raise where two answers differ."""
        found = difference(got, want, self.xs, max(self.rtol, 1e-10))
        if found is not None:
            raise self.error(
                f"{what}: {found}; let the function change nothing outside of it, or report this "
                "with its arguments"
            )

    # -- what differences say --

    def agrees_with_differences(self, number: int, place: Place, leaf: Any, d: Any) -> None:
        """Compare the gradient by one number or array with differences."""
        shape = np.shape(leaf)
        indices = [*np.ndindex(shape)]
        chosen = indices
        if len(indices) > self.most:
            at = self.random.choice(len(indices), self.most, replace=False)
            chosen = [indices[i] for i in sorted(at)]
        parts = (1.0, 1j) if np.iscomplexobj(leaf) else (1.0,)
        for index in chosen:
            for part in parts:
                v = np.zeros(shape, np.result_type(type(part)))
                v[index] = part
                text = f"[{', '.join(map(str, index))}]" if index else ""
                text += " (imaginary part)" if part == 1j else ""
                self.compare(number, place, leaf, d, v, text)
        if len(chosen) < len(indices):
            v = self.random.standard_normal(shape) / np.sqrt(len(indices))
            self.compare(number, place, leaf, d, v, " along a random direction")

    def compare(self, number: int, place: Place, leaf: Any, d: Any, v: Any, text: str) -> None:
        """Compare the gradient with differences along one direction `v` of a leaf."""

        def at(step: Any) -> Any:
            given = [*self.copies()]
            moved = np.asarray(leaf, np.result_type(leaf, float)) + step * v
            if not isinstance(leaf, np.ndarray):
                moved = moved[()] if isinstance(leaf, np.generic) else moved.item()
            given[number] = _replaced(given[number], place, moved)
            return self.f(*given)

        entry = _written_as(place) + text
        name = f"argument {number}" + (f", entry {entry}" if entry.strip() else "")
        said = float(np.sum(np.real(np.conj(d) * v)))
        found = derivative(at, _largest(leaf))
        if found is None:
            if said != 0.0:
                self.unsure.append(f"{name}: the function has no finite values around")
            return
        best, off, bend = found
        size, miss = max(abs(said), abs(best)), abs(said - best)
        allowed = (self.lost if self.atol is None else self.atol) + self.rtol * size + off
        # near a kink any slope may be right; and how far differences may be off is an estimate
        doubt = max(bend, min(_LEAST, 10 * off))
        if not miss <= allowed + doubt:
            hint = "" if off <= _SURE * size else f" (up to {off:.1g})"
            raise self.error(
                f"{name}: the gradient is {said:.8g}, and differences give {best:.8g}{hint}: mend "
                "the rule of what it calls, or check it where it is smooth"
            )
        sure = max(_SURE, self.rtol)
        least = self.zero if self.atol is None else self.atol
        of = size if abs(said) > self.lost else max(self.size, abs(best))
        if miss > allowed or off > least + sure * of:
            kink = ", near a kink" if miss > allowed and bend else ""
            self.unsure.append(
                f"{name}: differences give {best:.3g}, up to {max(off, bend):.1g}{kink}"
            )
        else:
            self.checked += 1

    def tell_what_is_unsure(self) -> None:
        """Raise where nothing could be checked; warn where something could not."""
        shown = "; ".join(self.unsure[:3]) + ("; ..." if len(self.unsure) > 3 else "")
        if not self.checked:
            why = shown or "the arguments cannot be moved"
            raise self.error(f"nothing could be checked: {why}; check it at other arguments")
        if self.unsure:
            counts = f"{len(self.unsure)} of {self.checked + len(self.unsure)}"
            warnings.warn(
                f"{name_of(self.f)}: {counts} derivatives could not be checked: {shown}",
                RuntimeWarning,
                stacklevel=4,
            )


def _movable(x: Any, place: Place, seen: collections.Counter[int]) -> Iterator[tuple[Place, Any]]:
    """Yield the real and complex numbers and arrays of a structure, each with its place.

    Of the places of one tuple, the first ones: tuples may share their parts many times.
    """
    dtype = getattr(x, "dtype", None)
    if isinstance(x, np.ndarray | np.generic | Number):
        kind = "?" if isinstance(x, bool) else "f" if dtype is None else dtype.kind
        if kind in "iufc" and (dtype is not None or isinstance(x, int | float | complex)):
            yield place, x
        return
    if kind_of(x) not in (TUPLE, LIST, DICT, OBJECT) or is_of_pandas(type(x)):
        return
    address = address_of(x)  # what has one has its gradient at the first place
    if seen[address] >= (_PLACES_OF_A_TUPLE if kind_of(x) == TUPLE else 1):
        return
    seen[address] += 1
    for key, value in entries_of(x):
        yield from _movable(value, (*place, (x, key)), seen)


def _by_place(xs: tuple[Any, ...]) -> dict[str, Any]:
    """Return the numbers and arrays of arguments by the text of their places."""
    return {_written_as(place): np.array(x) for place, x in _movable(xs, (), collections.Counter())}


def _at(d: Any, place: Place) -> Any:
    """Return the cotangent at a place, or `None` where it or one around it is missing."""
    for _, key in place:
        if d is None:
            return None
        d = d[str(key)] if isinstance(d, Tangent) else d[key]
    return d


def _replaced(x: Any, place: Place, leaf: Any) -> Any:
    """Return a structure with another leaf at a place; all but tuples are changed in place."""
    if not place:
        return leaf
    (_, key), rest = place[0], place[1:]
    if isinstance(x, tuple):
        items = [_replaced(v, rest, leaf) if i == key else v for i, v in enumerate(x)]
        return tuple_like(x, items)
    if kind_of(x) == OBJECT:
        object.__setattr__(x, key, _replaced(object.__getattribute__(x, key), rest, leaf))
    else:
        x[key] = _replaced(x[key], rest, leaf)
    return x


def _written_as(place: Place) -> str:
    """Return how an entry is written."""
    text = ""
    for around, key in place:
        if kind_of(around) == OBJECT:
            text += f".{key}"
        elif hasattr(around, "_fields"):
            text += f".{around._fields[key]}"
        else:
            text += f"[{key!r}]"
    return text


def _largest(x: Any) -> float:
    """Return the largest absolute value of the finite entries."""
    sizes = np.abs(np.asarray(x, np.result_type(x, float)))
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


hide_keywords(check_gradient)
refused_inside(check_gradient)
