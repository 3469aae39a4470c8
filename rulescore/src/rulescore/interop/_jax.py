"""Functions as functions of JAX: the call, and the shapes of its value.

Read then `_jax_calls`, its derivatives, and `_jax_arrays`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from rulescore._errors import Fault
from rulescore._naming import name_of
from rulescore.interop._calls import Call, Repeated
from rulescore.interop._differentiator import Differentiator
from rulescore.interop._functions import ExportedFunction
from rulescore.interop._jax_arrays import Tracer, canonical
from rulescore.interop._jax_calls import Bound, Shapes, is_elementwise, shape_of_elements
from rulescore.interop._jax_forms import fits, form_of, is_leaf, key_of
from rulescore.interop._trees import LEAF, flatten, rebuild, same

_MOST_KNOWN = 1024
_WHY = "JAX repeats calls, and leaves them out"


class JaxFunction(ExportedFunction):
    """A function of JAX's arrays, which JAX differentiates.

    Arguments:
        f, differentiator: as for `ExportedFunction`.
        mode: `"reverse"` or `"forward"`.
        result: the shapes and dtypes of its value, or a function that gives them; or `None`.
    """

    def __init__(self, f: Any, differentiator: Differentiator, mode: str, result: Any) -> None:
        if mode not in ("reverse", "forward"):
            raise Fault.HOST_CALL.of(
                ValueError, f"`mode` is 'reverse' or 'forward', and not {mode!r}"
            )
        super().__init__(f, differentiator)
        self.watch = differentiator.repeatable(f, _WHY)
        self.mode, self.result = mode, result
        self.known: dict[Any, list[tuple[Any, Shapes]]] = {}

    def __call__(self, *xs: Any, **options: Any) -> Any:
        """Call the function on arrays, or on trees of them."""
        given = xs, options
        f, xs, options = self.without_keywords(xs, options, is_leaf, _as_constant)
        form = form_of(self.f, *given) if f is not self.f else form_of(f, xs, options)
        leaves: list[Any] = []
        structure: Any = flatten(xs, is_leaf, leaves)
        for x in leaves:
            if getattr(x.dtype, "kind", "V") not in "biufc":
                raise Fault.HOST_CALL.of(
                    TypeError,
                    f"an array of {x.dtype} cannot be one of NumPy's numbers: convert it, as by "
                    "`.astype(jax.numpy.float32)`",
                )
        call = Repeated(Call(f, structure, options, self.differentiator), self.watch)
        made = Bound(call, self.mode, self.shapes_of(call, form), self.note(form))(leaves)
        return made[1][0] if made[0] is LEAF else rebuild(made[0], iter(made[1]))

    def shapes_of(self, call: Call, form: Any) -> Callable[[Sequence[Any]], Shapes]:
        """Return the function that gives the shapes of a call's value, of those of its leaves."""

        def shapes(leaves: Sequence[Any]) -> Shapes:
            if self.result is not None:
                return declared(self.result, call, leaves)
            found = self.seen(form)
            if found is not None:
                return found
            if is_elementwise(call):
                return LEAF, [shape_of_elements(call.f, leaves)]
            raise Fault.HOST_CALL.of(
                TypeError,
                f"{call.name} is called inside `jit` or `vmap`, where the shapes of its value are "
                "to be known before: declare them by `result=`, such as `result=lambda x: x` for "
                "a value like the argument, or call it with such arguments outside before",
            )

        return shapes

    def seen(self, form: Any) -> Shapes | None:
        """Return the shapes of the value of an earlier call of a form; `None` if none is known.

        The earlier call may have had numbers of Python where this one has arrays without axes, if
        all such calls had values of the same shapes.
        """
        known = self.known.get(key_of(form), ())
        for other, found in known:
            if same(other, form):
                return found
        like = [found for other, found in known if fits(other, form)]
        if not like or not all(same(like[0], found) for found in like):
            return None
        return like[0]

    def note(self, form: Any) -> Callable[[Sequence[Any], Any, Sequence[Any]], None]:
        """Return the function that notes the shapes of a value, for calls inside `jit`."""

        def note(leaves: Sequence[Any], structure: Any, ys: Sequence[Any]) -> None:
            if self.result is not None:
                return
            known = self.known.setdefault(key_of(form), [])
            if any(same(other, form) for other, _ in known):
                return
            if len(self.known) > _MOST_KNOWN or len(known) > _MOST_KNOWN:
                self.known.clear()
            shapes = structure, [jax.ShapeDtypeStruct(y.shape, y.dtype) for y in ys]
            known.append((form, shapes))

        return note

    def __repr__(self) -> str:
        return f"to_jax({name_of(self.f)})"

    def __reduce__(self) -> Any:
        return JaxFunction, (self.f, self.differentiator, self.mode, self.result)


def _as_constant(name: str, x: Any) -> Any:
    if isinstance(x, Tracer):
        raise Fault.HOST_CALL.of(
            TypeError,
            f"the option `{name}` is an array that JAX traces, and options have no gradient: pass "
            "it by position",
        )
    return np.asarray(x)[()]


def declared(result: Any, call: Call, leaves: Sequence[Any]) -> Shapes:
    """Return the shapes of a value that were declared."""
    if callable(result):
        each = iter([jax.ShapeDtypeStruct(x.shape, x.dtype) for x in leaves])
        result = result(*rebuild(call.structure, each), **call.options)
    found: list[Any] = []
    structure = flatten(result, lambda x: hasattr(x, "shape") and hasattr(x, "dtype"), found)
    return structure, [jax.ShapeDtypeStruct(x.shape, canonical(x.dtype)) for x in found]
