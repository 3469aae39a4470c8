"""Dtypes that are equal and not the same object, and others that NumPy computes with."""

import pickle

import numpy as np
import pytest

from rulescore import project, rrule
from zygote_lite import gradient

X, Y = np.linspace(0.2, 1.4, 6).reshape(2, 3), np.linspace(1.5, -0.7, 6).reshape(2, 3)
DTYPES = {
    "unpickled": pickle.loads(pickle.dumps(X)).dtype,
    "metadata": np.dtype("f8", metadata={"unit": "m"}),
    "byte-swapped": np.dtype("f8").newbyteorder(),
    "half": np.dtype("f2"),
    "single": np.dtype("f4"),
    "long": np.dtype("longdouble"),
    "complex": np.dtype("c16"),
    "complex, byte-swapped": np.dtype("c16").newbyteorder(),
}
CALLS = [
    (np.exp, (X,)),
    (np.sqrt, (X,)),
    (np.multiply, (X, Y)),
    (np.divide, (X, Y)),
    (np.arctan2, (X, Y)),
    (np.maximum, (X, Y)),
    (np.add, (X, Y[0])),
    (np.power, (X, 3.0)),
    (np.multiply, (2.0, X)),
    (np.transpose, (X,)),
    (np.matmul, (X, Y.T)),
    (np.sum, (X,)),
]
REAL = (np.arctan2, np.maximum)
CASES = {
    f"{f.__name__}-{i}-{name}": (f, xs, dtype)
    for i, (f, xs) in enumerate(CALLS)
    for name, dtype in DTYPES.items()
    if dtype.kind == "f" or f not in REAL
}


@pytest.mark.parametrize(("f", "xs", "dtype"), CASES.values(), ids=CASES)
def test_cotangents_are_those_of_plain_arrays_and_have_the_dtype(f, xs, dtype):
    tolerance = 4 * float(np.finfo(dtype).eps) ** 0.9 + 1e-14
    given = [x.astype(dtype) if isinstance(x, np.ndarray) else x for x in xs]
    y, back = rrule(f, *xs)
    seed = np.cos(np.arange(float(np.size(y)))).reshape(np.shape(y))
    seed.flat[0] = 0.0
    want = back(seed)[1:]
    value, back = rrule(f, *given)
    for dy in (seed, np.asarray(seed).astype(np.asarray(value).dtype)):
        for dx, due, x in zip(back(dy)[1:], want, given, strict=True):
            np.testing.assert_allclose(dx, due, rtol=tolerance, atol=tolerance)
            if isinstance(x, np.ndarray):
                assert dx.dtype == x.dtype


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_nothing_is_projected_where_dtypes_are_equal(dtype):
    x, dx = X.astype(dtype), Y.astype(pickle.loads(pickle.dumps(dtype)))
    assert project(dx, x) is dx


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_programs_are_differentiated_the_first_time_and_later(dtype):
    def loss(x, y):
        rows = np.zeros_like(x)
        for i in range(x.shape[0]):
            rows[i] = x[i] * y[i] + x[0]
        return np.sum((rows * rows.conj()).real)

    want = gradient(loss, X, Y)
    tolerance = 8 * float(np.finfo(dtype).eps) ** 0.9 + 1e-14
    given = X.astype(dtype), Y.astype(dtype)
    for _ in range(4):
        for dx, due in zip(gradient(loss, *given), want, strict=True):
            np.testing.assert_allclose(dx, due, rtol=tolerance, atol=tolerance)
            assert dx.dtype == dtype
