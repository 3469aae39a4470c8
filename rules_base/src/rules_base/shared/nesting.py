"""Lists and tuples of values: their cotangents have the same kind and structure."""

import numpy as np

from rulescore import Numeric, project

ArrayLike = Numeric | list | tuple
SEQUENCE = (list, tuple)


def in_kind_of(xs, parts):
    """Return the list `parts` as what `xs` is: a list, a tuple or a named tuple."""
    if isinstance(xs, list):
        return parts
    return type(xs)(*parts) if hasattr(xs, "_fields") else tuple(parts)


def as_array(x):
    """Return a list or tuple as an array, and anything else as it is."""
    return np.array(x) if isinstance(x, SEQUENCE) else x


def in_form_of(x, dx, array):
    """Give the cotangent `dx` of `array`, which is `x` or made of it, the form of `x`."""
    return project(dx, x) if array is x else unstacked(project(dx, array), x)


def unstacked(dx, xs):
    """Give the cotangent of `np.array(xs)` the nested structure of `xs`."""
    if dx is None:
        return None
    if isinstance(xs, SEQUENCE):
        all_floats = len(xs) > MANY and set(map(type, xs)) == {float}
        if all_floats and type(dx) is np.ndarray and dx.dtype.kind == "f":
            return in_kind_of(xs, dx.tolist())
        return in_kind_of(xs, [unstacked(d, x) for d, x in zip(dx, xs, strict=True)])
    return project(dx, xs)


def whole(dx, xs):
    """Return the tangents of a list or tuple, with zeros for `None`."""
    if not isinstance(xs, SEQUENCE):
        return np.zeros(np.shape(xs)) if dx is None else dx
    parts = [None] * len(xs) if dx is None else dx
    return [whole(d, x) for d, x in zip(parts, xs, strict=True)]


MANY = 8  # from so many numbers on, looking at their types pays
