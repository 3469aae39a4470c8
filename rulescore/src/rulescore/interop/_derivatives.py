"""Derivatives of calls as calls, which a host differentiates again."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rulescore._errors import Fault
from rulescore.interop._calls import Call, Repeated, changed, cotangent_of, unlike
from rulescore.interop._differentiator import Pull, Watch, no_tangent_twice
from rulescore.interop._trees import LEAF, along, places_in, rebuild


class Derivative(Call):
    """A derivative of a call as a call: its pullback, as a function of leaves and cotangents.

    Its value is a tuple with the cotangent of each leaf, and `None` for those that are not needed.
    What differentiates it again is made when it is asked for: the function is run once more.

    Attributes:
        inner: the call.
        of: the structure of its value.
        present: for each leaf of that whether there is a cotangent.
        needed: for each leaf of its arguments whether its cotangent is asked for.
        known: the pullback, where the call has been run.
    """

    __slots__ = ("inner", "known", "needed", "of", "present")

    def __init__(
        self,
        inner: Call,
        of: Any,
        present: Sequence[bool],
        needed: Sequence[bool],
        known: Pull | None = None,
    ) -> None:
        self.inner, self.of, self.present, self.known = inner, of, present, known
        self.needed = needed
        self.differentiator = inner.differentiator

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.inner.name

    @property
    def form(self) -> tuple[Any, ...]:
        """The structure of its value."""
        return tuple([LEAF if needed else None for needed in self.needed])

    def value(self, arrays: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return for each leaf whether its cotangent is needed, and those that are."""
        given, dys = self.split(arrays)
        pull = self.known
        if pull is None:
            made, _, pull = self.inner.again().pull(given, self.needed)
            dys = self.aligned(self.of, made, dys, made)
        found = pull(dys)
        return self.form, [
            zeros(x) if dx is None else np.asarray(dx)
            for dx, x, needed in zip(found, given, self.needed, strict=True)
            if needed
        ]

    def aligned(self, structure: Any, due: Any, leaves: Sequence[Any], made: Any) -> list[Any]:
        """Return leaves in the order of another structure. Raises where it has other leaves."""
        found = along(structure, due, leaves)
        if found is None:
            raise unlike(self.name, made, self.of)
        return found

    def split(self, arrays: Sequence[Any]) -> tuple[Sequence[Any], list[Any]]:
        """Return the leaves of the call, and what multiplies its derivative; `None` is a zero."""
        count = len(arrays) - sum(self.present)
        each = iter(arrays[count:])
        return arrays[:count], [next(each) if p else None for p in self.present]

    def pull(self, arrays: Sequence[Any], needed: Sequence[bool]) -> tuple[Any, list[Any], Pull]:
        """Return the same, and the pullback."""
        structure, leaves = self.value(arrays)
        kept = tuple(leaves)  # the host takes them out of the list

        def again(dys: Sequence[Any]) -> Sequence[Any]:
            self.refuse_changed()
            made, others, pull = self.required().pull(arrays, needed)
            self.compare(structure, kept, made, others)
            given = iter(dys)
            each = [None if part is None else next(given) for part in structure]
            return pull([dy for dy, part in zip(each, made, strict=True) if part is LEAF])

        return structure, leaves, again

    def push(
        self, arrays: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Any, list[Any], list[Any]]:
        """Return the structure of the value, its leaves and their tangents."""
        structure, leaves = self.value(arrays)
        self.refuse_changed()
        made, others, found = self.required().push(arrays, tangents)
        self.compare(structure, leaves, made, others)
        each = iter(found)
        aligned = [None if part is None else next(each) for part in made]
        return (
            structure,
            leaves,
            [t for t, part in zip(aligned, structure, strict=True) if part is LEAF],
        )

    def compare(
        self, structure: Any, leaves: Sequence[Any], made: Any, others: Sequence[Any]
    ) -> None:
        """Raise `TypeError` where the function, run again, has another derivative than before.

        Arguments:
            structure, leaves: its value, as of the first run.
            made, others: that of the run that is differentiated.
        """
        first, second = iter(leaves), iter(others)
        for part, other in zip(structure, made, strict=True):
            x = next(first) if part is LEAF else None
            y = next(second) if other is LEAF else None
            if x is not None and y is not None and not are_close(np.asarray(x), np.asarray(y)):
                raise changed(self.name)

    def refuse_changed(self) -> None:
        """Raise `TypeError` if a variable has changed since the call was run."""
        self.inner.refuse_changed()

    def required(self) -> Call:
        """Return it as a call of one function. Raises where nobody differentiates that."""
        watch = self.watch
        call = self.plain()
        if call is None and self.differentiator.ad is not None:
            raise no_tangent_twice(self.name)
        if call is None:
            raise Fault.EXPORT(
                f"{self.name} is exported by its rule, which is differentiated once: give `ad=`, "
                "an AD such as `zygote_lite.pullback`, for second derivatives"
            )
        return Repeated(call, watch)

    def again(self) -> Call:
        """Return itself: its value is known, or watched where the function is run for it."""
        return self

    @property
    def watch(self) -> Watch:
        """What watches a call that is run once more. Raises `TypeError` if that has effects."""
        return self.inner.watch

    def plain(self) -> Call | None:
        """Return it as a call of one function; `None` where nobody differentiates that."""
        inner = self.inner.plain()
        f = None if inner is None else self.function_of(inner)
        if inner is None or f is None:
            return None
        return Call(f, (*inner.structure, *self.operands(inner)), {}, self.differentiator)

    def function_of(self, inner: Call) -> Callable[..., Any] | None:
        """Return the function that gives it, of the arguments and of what it has besides."""
        places = [
            place if needed else None
            for place, needed in zip(places_in(inner.structure), self.needed, strict=True)
        ]
        return self.differentiator.pulled(inner.f, inner.options, places)

    def operands(self, inner: Call) -> tuple[Any, ...]:
        """Return the structure of the arguments that it has besides those of the call."""
        present = iter([LEAF if p else None for p in self.present])
        return (cotangent_of(self.of, rebuild(self.of, present)),)


class Pushforward(Derivative):
    """The tangent of a call's value as a call: a function of its leaves and their tangents.

    Its value is a tuple with the tangent of each leaf of the value.

    Attributes:
        present: for each leaf of the arguments whether there is a tangent.
        of: the structure of the value, where it is known.
    """

    __slots__ = ()

    def __init__(self, inner: Call, present: Sequence[bool], of: Any = None) -> None:
        super().__init__(inner, of, present, ())

    def value(self, arrays: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return for each leaf of the value that there is a tangent, and these."""
        made, leaves, found = self.inner.again().push(*self.split(arrays))
        each = [zeros(y) if dy is None else dy for y, dy in zip(leaves, found, strict=True)]
        if self.of is None:
            self.of = made
        each = self.aligned(made, self.of, each, made)
        return (LEAF,) * len(each), list(map(np.asarray, each))

    def function_of(self, inner: Call) -> Callable[..., Any] | None:
        """Return the function that gives it, of the arguments and their tangents."""
        places = places_in((self.of,))
        return self.differentiator.pushed(inner.f, inner.options, len(inner.structure), places)

    def operands(self, inner: Call) -> tuple[Any, ...]:
        """Return the structure of the tangents."""
        present = iter([LEAF if p else None for p in self.present])
        return tuple([cotangent_of(s, rebuild(s, present)) for s in inner.structure])


def are_close(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether two derivatives are equal but for rounding, also where all cancels."""
    kinds = [a.dtype for a in (x, y) if a.dtype.kind in "fc"]
    bound = max([float(np.sqrt(np.finfo(dtype).eps)) for dtype in kinds], default=0.0)
    size = max(1.0, float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x))))
    return np.allclose(x, y, rtol=0.0, atol=bound * size, equal_nan=True)


def zeros(x: Any) -> Any:
    """Return the zero (co)tangent of a leaf, as an array."""
    x = np.asarray(x)
    return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
