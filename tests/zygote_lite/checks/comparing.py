"""Comparing two answers: cotangents nearly, values and arguments exactly."""

import types

import numpy as np

from rulescore import Tangent


def assert_close(a, b, tolerance=1e-9):
    """Assert that two cotangents have the same structure and nearly the same numbers."""
    if isinstance(b, list | tuple | dict | Tangent):
        assert type(a) is type(b), (a, b)
        assert len(a) == len(b), (a, b)
        keys = range(len(b)) if isinstance(b, list | tuple) else b
        for key in keys:
            assert_close(a[key], b[key], tolerance)
    elif b is None:
        assert a is None
    else:
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def assert_like_the_tape(found, recorded):
    """Assert that values and gradients, or the texts of errors, are those of the tape."""
    for a, b in zip(found, recorded, strict=True):
        if isinstance(a, str):
            assert a == b
        else:
            np.testing.assert_allclose(a[1], b[1], rtol=1e-12)


def assert_same(a, b):
    """Assert that two values are equal, arrays bit by bit and objects field by field."""
    if isinstance(a, Tangent):
        a, b = dict(a.items()), dict(b.items())
    assert type(a) is type(b), (a, b)
    if isinstance(a, types.FunctionType | type | str | int | bool):
        assert a == b or (isinstance(a, types.FunctionType))
    elif isinstance(a, float | complex | np.ndarray | np.generic):
        np.testing.assert_array_equal(a, b)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
    else:
        assert len(fields_of(a)) == len(fields_of(b)), (a, b)
        for (key, x), (other, y) in zip(fields_of(a), fields_of(b), strict=True):
            assert key == other
            assert_same(x, y)


def entry_at(d, path):
    """Return the cotangent at `path`, or `None` where it or one around it is missing."""
    for key in path:
        if d is None:
            return None
        d = d[key]
    return d


def fields_of(x):
    if isinstance(x, list | tuple):
        return list(enumerate(x))
    if isinstance(x, dict):
        return list(x.items())
    names = [n for t in type(x).__mro__ for n in getattr(t, "__slots__", ())]
    slots = [(name, getattr(x, name)) for name in names if hasattr(x, name)]
    return [*getattr(x, "__dict__", {}).items(), *slots]
