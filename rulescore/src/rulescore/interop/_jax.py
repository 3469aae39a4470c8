"""Functions as functions of JAX: a `custom_vjp` or `custom_jvp` over a callback.

Outside `jit` and `vmap` the function is called as it is, and the pullback of the forward pass is
that of the backward pass. Inside them JAX calls it back, so the shapes of its value are to be known
before, and the backward pass runs it again.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.experimental import io_callback

from rulescore._naming import name_of
from rulescore._table.resolution import find_rule
from rulescore.interop._calls import Call, Repeated, owned
from rulescore.interop._derivatives import Derivative, Pushforward
from rulescore.interop._differentiator import Differentiator, Pull, overwritten
from rulescore.interop._functions import ExportedFunction
from rulescore.interop._trees import LEAF, flatten, rebuild, same

Tracer = jax.core.Tracer
Shapes = tuple[Any, list[Any]]
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
            raise ValueError(f"`mode` is 'reverse' or 'forward', and not {mode!r}")
        super().__init__(f, differentiator)
        self.watch = differentiator.repeatable(f, _WHY)
        self.mode, self.result = mode, result
        self.known: dict[Any, list[tuple[Any, Any, Shapes]]] = {}

    def __call__(self, *xs: Any, **options: Any) -> Any:
        """Call the function on arrays, or on trees of them."""
        f, xs, options = self.without_keywords(xs, options, is_leaf, _as_constant)
        leaves: list[Any] = []
        structure: Any = flatten(xs, is_leaf, leaves)
        for x in leaves:
            if getattr(x.dtype, "kind", "V") not in "biufc":
                raise TypeError(
                    f"an array of {x.dtype} cannot be one of NumPy's numbers: convert it, as by "
                    "`.astype(jax.numpy.float32)`"
                )
        call = Repeated(Call(f, structure, options, self.differentiator), self.watch)
        made = Bound(call, self.mode, self.shapes_of(call), self.note(call))(leaves)
        return made[1][0] if made[0] is LEAF else rebuild(made[0], iter(made[1]))

    def shapes_of(self, call: Call) -> Callable[[Sequence[Any]], Shapes]:
        """Return the function that gives the shapes of a call's value, of those of its leaves."""

        def shapes(leaves: Sequence[Any]) -> Shapes:
            if self.result is not None:
                return declared(self.result, call, leaves)
            for structure, options, found in self.known.get(_key(leaves), ()):
                if same(structure, call.structure) and same(options, call.options):
                    return found
            if is_elementwise(call):
                return LEAF, [shape_of_elements(call.f, leaves)]
            raise TypeError(
                f"{call.name} is called inside `jit` or `vmap`, where the shapes of its value are "
                "to be known before: declare them by `result=`, such as `result=lambda x: x` for "
                "a value like the argument, or call it with such arguments outside before"
            )

        return shapes

    def note(self, call: Call) -> Callable[[Sequence[Any], Any, Sequence[Any]], None]:
        """Return the function that notes the shapes of a value, for calls inside `jit`."""

        def note(leaves: Sequence[Any], structure: Any, ys: Sequence[Any]) -> None:
            known = self.known.setdefault(_key(leaves), [])
            if self.result is not None or any(
                same(args, call.structure) and same(options, call.options)
                for args, options, _ in known
            ):
                return
            if len(self.known) > _MOST_KNOWN or len(known) > _MOST_KNOWN:
                self.known.clear()
            shapes = structure, [jax.ShapeDtypeStruct(y.shape, y.dtype) for y in ys]
            known.append((call.structure, call.options, shapes))

        return note

    def __repr__(self) -> str:
        return f"to_jax({name_of(self.f)})"

    def __reduce__(self) -> Any:
        return JaxFunction, (self.f, self.differentiator, self.mode, self.result)


def is_leaf(x: Any) -> bool:
    """Return whether a value is an array, of JAX or of numbers of NumPy."""
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind in "biufc"
    return isinstance(x, jax.Array)


def _as_constant(name: str, x: Any) -> Any:
    if isinstance(x, Tracer):
        raise TypeError(
            f"the option `{name}` is an array that JAX traces, and options have no gradient"
        )
    return np.asarray(x)[()]


def _key(leaves: Sequence[Any]) -> Any:
    return tuple([(x.shape, x.dtype) for x in leaves])


def declared(result: Any, call: Call, leaves: Sequence[Any]) -> Shapes:
    """Return the shapes of a value that were declared."""
    if callable(result):
        each = iter([jax.ShapeDtypeStruct(x.shape, x.dtype) for x in leaves])
        result = result(*rebuild(call.structure, each), **call.options)
    found: list[Any] = []
    structure = flatten(result, lambda x: hasattr(x, "shape") and hasattr(x, "dtype"), found)
    return structure, [jax.ShapeDtypeStruct(x.shape, canonical(x.dtype)) for x in found]


def canonical(dtype: Any) -> Any:
    """Return the dtype that JAX has for one of NumPy: of single precision, unless told else."""
    return jax.dtypes.canonicalize_dtype(dtype)


def is_elementwise(call: Call) -> bool:
    """Return whether a call is that of a universal function with one value, and nothing else."""
    if isinstance(call, Derivative) or not call.is_flat or call.options:
        return False
    return isinstance(call.f, np.ufunc) and call.f.signature is None and call.f.nout == 1


def has_partials(call: Call, leaves: Sequence[Any]) -> bool:
    """Return whether the tangent of a call is a sum of partial derivatives times tangents."""
    if not is_elementwise(call) or any(jnp.iscomplexobj(x) for x in leaves):
        return False
    rule = find_rule(call.f, *[np.ones(1, x.dtype) for x in leaves])
    return rule is not None and rule.kind == "scalar"


def axes_together(call: Call, leaves: Sequence[Any]) -> int | None:
    """Return how many axes all leaves get, where one call is for a whole batch; else `None`."""
    inner = call.inner if type(call) is Derivative else call
    if not is_elementwise(inner):
        return None
    return max(int(x.ndim) for x in leaves[: len(inner.structure)])


def padded(x: Any, axes: int) -> tuple[int, ...]:
    """Return the shape of an array with so many axes, which come in front."""
    return (1,) * (axes - len(x.shape)) + tuple(x.shape)


def shape_of_elements(f: Any, leaves: Sequence[Any]) -> Any:
    """Return the shape and dtype of the value of a universal function."""
    dtypes = f.resolve_dtypes((*[np.dtype(x.dtype) for x in leaves], None))
    shape = np.broadcast_shapes(*[x.shape for x in leaves])
    return jax.ShapeDtypeStruct(shape, canonical(dtypes[-1]))


class Kept:
    """What the forward pass keeps that is no array: JAX takes it along as it is."""

    __slots__ = ("needed", "pull", "structure")

    def __init__(self, structure: Any, needed: tuple[bool, ...], pull: Pull | None) -> None:
        self.structure, self.needed, self.pull = structure, needed, pull


jax.tree_util.register_pytree_node(Kept, lambda kept: ((), kept), lambda kept, _: kept)


class Bound:
    """A call as a function of JAX, of its leaves.

    Arguments:
        call: the call.
        mode: `"reverse"` or `"forward"`.
        shapes: gives the structure of its value and the shapes of its leaves.
        note: is told of them, where the call has been run.
        differentiated: whether a derivative is asked for. A value of integers has none, so a
            callback that is to compare its dtype must run, although nothing may read the value.
    """

    def __init__(
        self,
        call: Call,
        mode: str,
        shapes: Callable[[Sequence[Any]], Shapes],
        note: Callable[[Sequence[Any], Any, Sequence[Any]], None] | None = None,
        differentiated: bool = False,
    ) -> None:
        self.call, self.mode, self.shapes, self.note = call, mode, shapes, note
        self.differentiated = differentiated
        self.structure: Any = None

    def __call__(self, leaves: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return the structure of the value and its leaves."""
        if is_concrete(leaves):
            return self.run(leaves)
        if self.mode == "forward":
            node: Any = jax.custom_jvp(self.traced)
            node.defjvp(self.forward)
        else:
            node = jax.custom_vjp(self.traced)
            node.defvjp(self.fwd, self.bwd, symbolic_zeros=True)
        found = node(*leaves)
        return self.structure, list(found)

    def run(self, leaves: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Call the function as it is."""
        structure, found = self.call.value(arrays_of(leaves))
        ys = of_values(found, leaves)
        self.structure = structure
        if self.note is not None:
            self.note(leaves, structure, ys)
        return structure, ys

    def traced(self, *leaves: Any) -> list[Any]:
        """Return the leaves of the value, by a callback where they are not known yet."""
        leaves = tuple(map(as_array, leaves))
        if is_concrete(leaves):
            return self.run(leaves)[1]
        self.structure, shapes = self.shapes(leaves)
        always = self.differentiated and not all(map(is_inexact, shapes))
        structure, due = self.structure, shapes
        axes = None if always else axes_together(self.call, leaves)
        if axes is not None:  # one call for a whole batch: all have the same axes
            leaves = tuple([jnp.reshape(x, padded(x, axes)) for x in leaves])
            due = [jax.ShapeDtypeStruct(padded(y, axes), y.dtype) for y in shapes]

        def callback(*arrays: Any) -> list[Any]:
            made, found = self.call.value(arrays_of(arrays))
            return checked(self.call.name, made, found, structure, due, axes)

        if always:
            return list(io_callback(callback, due, *leaves))
        method = "sequential" if axes is None else "broadcast_all"
        found = jax.pure_callback(callback, due, *leaves, vmap_method=method)
        return [jnp.reshape(y, shape.shape) for y, shape in zip(found, shapes, strict=True)]

    def fwd(self, *given: Any) -> tuple[list[Any], Any]:
        """Return the leaves of the value, and what the backward pass needs."""
        leaves = [as_array(x.value) for x in given]
        needed = tuple(
            [bool(x.perturbed) and is_inexact(leaf) for x, leaf in zip(given, leaves, strict=True)]
        )
        if not is_concrete(leaves):
            structure, ys = self.again(True in needed)(leaves)
            self.structure = structure
            return ys, (leaves, Kept(structure, needed, None), stamp_of(self.call))
        structure, found, pull = self.call.pull(arrays_of(leaves), needed)
        ys = of_values(found, leaves)
        self.structure = structure
        if self.note is not None:
            self.note(leaves, structure, ys)
        return ys, (leaves, Kept(structure, needed, pull), None)

    def again(self, differentiated: bool) -> "Bound":
        """Return the same call, for its value beside a derivative."""
        return Bound(self.call, self.mode, self.shapes, self.note, differentiated)

    def bwd(self, kept: Any, dys: Any) -> tuple[Any, ...]:
        """Return the cotangents of the leaves."""
        leaves, rest, stamp = kept
        structure, needed = rest.structure, rest.needed
        dys = [dy if isinstance(dy, SymbolicZero) else as_array(dy) for dy in dys]
        present = [not isinstance(dy, SymbolicZero) and is_inexact(dy) for dy in dys]
        given = [conj(dy) for dy, p in zip(dys, present, strict=True) if p]
        if not given or True not in needed:
            return (None,) * len(leaves)
        if isinstance(self.call, Derivative) and not is_concrete([*leaves, *given]):
            self.call.required()
        if stamp is not None:
            given[0] = given[0] * one_if_unchanged(self.call, stamp).astype(given[0].dtype)
        call = Derivative(self.call, structure, present, needed, rest.pull)
        wanted = [x for x, n in zip(leaves, needed, strict=True) if n]

        def shapes(_: Sequence[Any]) -> Shapes:
            return call.form, [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in wanted]

        _, found = Bound(call, self.mode, shapes)([*leaves, *given])
        each = iter([conj(dx.astype(x.dtype)) for dx, x in zip(found, wanted, strict=True)])
        return tuple([next(each) if n else None for n in needed])

    def forward(self, primals: Any, tangents: Any) -> tuple[list[Any], list[Any]]:
        """Return the leaves of the value and their tangents."""
        primals, tangents = list(map(as_array, primals)), list(map(as_array, tangents))
        moving = [is_inexact(x) for x in primals]
        structure, ys = self.again(True in moving)(primals)
        self.structure = structure

        def shapes(_: Sequence[Any]) -> Shapes:
            return (LEAF,) * len(ys), [tangent_shape(y) for y in ys]

        if has_partials(self.call, primals):
            (y,) = ys
            dy = jnp.zeros(y.shape, y.dtype)
            for i, (x, dx) in enumerate(zip(primals, tangents, strict=True)):
                if moving[i]:
                    one = Pushforward(self.call, [j == i for j in range(len(primals))])
                    (_, (partial,)) = Bound(one, self.mode, shapes)([*primals, jnp.ones_like(x)])
                    dy = dy + (partial * dx).astype(y.dtype)
            return ys, [dy]
        call = Pushforward(self.call, moving)
        dxs = [dx for dx, m in zip(tangents, moving, strict=True) if m]
        _, dys = Bound(call, self.mode, shapes)([*primals, *dxs])
        return ys, [
            dy.astype(y.dtype) if is_inexact(y) else np.zeros(y.shape, jax.dtypes.float0)
            for dy, y in zip(dys, ys, strict=True)
        ]


def stamp_of(call: Call) -> Any:
    """Return the checksum of what the function reads at this time, for JAX; `None` if it is fixed.

    What is compiled runs the function again in the backward pass, perhaps long after.
    """
    if isinstance(call, Derivative) or call.differentiator.stamp(call.f) is None:
        return None
    shape = jax.ShapeDtypeStruct((), np.uint32)
    return jax.pure_callback(
        lambda: np.uint32(call.differentiator.stamp(call.f) or 0), shape, vmap_method="sequential"
    )


def one_if_unchanged(call: Call, stamp: Any) -> Any:
    """Return 1. Raises when it is run where what the function reads has another checksum."""

    def one(stamp: Any) -> Any:
        if int(stamp) != call.differentiator.stamp(call.f):
            raise overwritten(call.f)
        return np.float32(1.0)

    shape = jax.ShapeDtypeStruct((), np.float32)
    return jax.pure_callback(one, shape, stamp, vmap_method="sequential")


def is_concrete(leaves: Sequence[Any]) -> bool:
    """Return whether none of some arrays is traced."""
    return not any(isinstance(x, Tracer) for x in leaves)


def as_array(x: Any) -> Any:
    """Return a leaf as an array: in transformations JAX hands numbers of Python on as they are."""
    return x if hasattr(x, "shape") else jnp.asarray(x, getattr(x, "dtype", None))


def is_inexact(x: Any) -> bool:
    """Return whether an array is of floating-point or complex numbers."""
    return bool(jnp.issubdtype(x.dtype, jnp.inexact))


def conj(x: Any) -> Any:
    """Return what a cotangent of JAX is here, and the other way round: they are conjugate."""
    return jnp.conj(x) if jnp.issubdtype(x.dtype, jnp.complexfloating) else x


def tangent_shape(y: Any) -> Any:
    """Return the shape and dtype of the tangent of a leaf of the value."""
    dtype = y.dtype if is_inexact(y) else canonical(np.float64)
    return jax.ShapeDtypeStruct(y.shape, dtype)


def arrays_of(leaves: Sequence[Any]) -> list[Any]:
    """Return arrays of JAX or NumPy as arrays of NumPy, which cannot be written into."""
    return list(map(read_only, leaves))


def read_only(x: Any) -> np.ndarray:
    """Return an array as one of NumPy that cannot be written into."""
    array = np.asarray(x)
    if array.flags.writeable:
        array = array.view()
        array.setflags(write=False)
    return array


def of_values(found: list[Any], leaves: Sequence[Any]) -> list[Any]:
    """Return the leaves of a value as arrays of JAX; a number of Python has their precision."""
    ys: list[Any] = []
    for i in range(len(found)):
        if type(found[i]) is np.ndarray:
            ys.append(jnp.asarray(owned(found, i)))
        else:
            ys.append(jnp.asarray(found[i], dtype_of(found[i], leaves)))
    return ys


def dtype_of(y: Any, leaves: Sequence[Any]) -> Any:
    """Return the dtype of a number as a leaf of a value."""
    if isinstance(y, np.ndarray | np.generic):
        return canonical(y.dtype)
    inexact = [x.dtype for x in leaves if is_inexact(x)]
    dtype = functools.reduce(jnp.promote_types, inexact) if inexact else canonical(np.float64)
    return jnp.promote_types(dtype, np.complex64) if isinstance(y, complex) else dtype


def checked(
    name: str, structure: Any, found: list[Any], due: Any, shapes: Sequence[Any], axes: int | None
) -> list[Any]:
    """Return the leaves of a value for JAX. Raises where they are not what they were said to be."""
    if not same(structure, due):
        raise ValueError(f"{name} returns {structure}, and {due} was declared or seen before")
    ys: list[Any] = []
    for y, shape in zip(found, shapes, strict=True):
        y = np.asarray(y)
        given = y.shape if axes is None else y.shape[y.ndim - axes :]
        if given != shape.shape:
            raise ValueError(
                f"{name} returns an array of shape {given}, and {shape.shape} was declared or "
                "seen before: its shape depends on the values of its arguments"
            )
        if y.dtype.kind == "c" and not jnp.issubdtype(shape.dtype, jnp.complexfloating):
            raise ValueError(f"{name} returns complex numbers, and {shape.dtype} was declared")
        if y.dtype.kind == "f" and not jnp.issubdtype(shape.dtype, jnp.inexact):
            raise ValueError(
                f"{name} returns {y.dtype}, and {shape.dtype} was declared or seen before"
            )
        ys.append(y.astype(shape.dtype, copy=False))
    return ys
