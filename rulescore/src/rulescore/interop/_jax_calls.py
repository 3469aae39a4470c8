"""A call as a function of JAX's arrays: a `custom_vjp` or `custom_jvp` over a callback.

Outside `jit` and `vmap` the function is called as it is, and the pullback of the forward pass is
that of the backward pass. Inside them JAX calls it back, so the shapes of its value are to be known
before, and the backward pass runs it again.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.experimental import io_callback

from rulescore._errors import Fault
from rulescore._table.resolution import find_rule
from rulescore.interop._calls import Call
from rulescore.interop._derivatives import Derivative, Pushforward
from rulescore.interop._differentiator import Pull, overwritten
from rulescore.interop._jax_arrays import (
    arrays_of,
    as_array,
    canonical,
    checked,
    conj,
    is_concrete,
    is_inexact,
    of_values,
    owned_here,
    tangent_shape,
)
from rulescore.interop._jax_forward import only_forward
from rulescore.interop._trees import LEAF

Shapes = tuple[Any, list[Any]]


class Kept:
    """What the forward pass keeps that is not an array: JAX takes it along as it is."""

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
        try:
            found = node(*leaves)
        except TypeError as error:
            if "can't apply forward-mode" not in str(error):
                raise
            raise Fault.HOST_CALL.of(
                TypeError,
                f"{self.call.name} is exported with `mode='reverse'`, by which JAX takes no "
                "tangents (`jax.jvp`, `jax.jacfwd`, `jax.hessian`): take second derivatives by "
                "`jax.jacrev(jax.jacrev(f))`, or tangents of `to_jax(f, mode='forward')`",
            ) from error
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
        leaves = [owned_here(as_array(x.value)) for x in given]
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
        call = Pushforward(self.call, moving, structure)
        dxs = [dx for dx, m in zip(tangents, moving, strict=True) if m]
        _, dys = Bound(call, self.mode, shapes)([*primals, *dxs])
        return ys, [
            only_forward(dy.astype(y.dtype), self.call.name)
            if is_inexact(y)
            else np.zeros(y.shape, jax.dtypes.float0)
            for dy, y in zip(dys, ys, strict=True)
        ]


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
