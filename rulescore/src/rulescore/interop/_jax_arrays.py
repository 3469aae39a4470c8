"""Arrays of JAX as arrays of NumPy, and values as arrays of JAX, which are checked."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rulescore._errors import Fault
from rulescore.interop._calls import owned, unlike
from rulescore.interop._trees import along, same

Tracer = jax.core.Tracer


def canonical(dtype: Any) -> Any:
    """Return the dtype that JAX has for one of NumPy: of single precision, unless told else."""
    return jax.dtypes.canonicalize_dtype(dtype)


def is_concrete(leaves: Sequence[Any]) -> bool:
    """Return whether none of some arrays is traced."""
    return not any(isinstance(x, Tracer) for x in leaves)


def as_array(x: Any) -> Any:
    """Return a leaf as an array: in transformations JAX hands numbers of Python on as they are."""
    return x if hasattr(x, "shape") else jnp.asarray(x, getattr(x, "dtype", None))


def owned_here(x: Any) -> Any:
    """Return a leaf that the caller cannot write into: a copy of an array of NumPy."""
    return x.copy() if isinstance(x, np.ndarray) else x


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
    ordered = along(structure, due, found) if same(structure, due) else None
    if ordered is None:
        raise unlike(name, structure, due)
    ys: list[Any] = []
    for y, shape in zip(ordered, shapes, strict=True):
        y = np.asarray(y)
        given = y.shape if axes is None else y.shape[y.ndim - axes :]
        if given != shape.shape:
            raise Fault.HOST_RUN.of(
                ValueError,
                f"{name} returns an array of shape {given}, and {shape.shape} was declared or "
                "seen before: its shape depends on the values of its arguments",
            )
        if y.dtype.kind == "c" and not jnp.issubdtype(shape.dtype, jnp.complexfloating):
            raise Fault.HOST_RUN.of(
                ValueError, f"{name} returns complex numbers, and {shape.dtype} was declared"
            )
        if y.dtype.kind == "f" and not jnp.issubdtype(shape.dtype, jnp.inexact):
            raise Fault.HOST_RUN.of(
                ValueError,
                f"{name} returns {y.dtype}, and {shape.dtype} was declared or seen before",
            )
        ys.append(y.astype(shape.dtype, copy=False))
    return ys
