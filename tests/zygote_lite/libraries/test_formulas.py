"""Formulas from many libraries, which know nothing of derivatives, held to differences.

`nox -s library` installs them. What is not here is skipped, and says so.
"""

import importlib.util

import numpy as np
import pytest

from benchmarks.formulas import ALL, arguments_of, function_of
from tests.zygote_lite.checks.comparing import assert_close, assert_same
from tests.zygote_lite.checks.finite_differences import slopes
from zygote_lite import gradient, value_and_grad


def total(y):
    """Return one number of what a function returns: numbers, arrays, or tuples or dicts of them."""
    if hasattr(y, "values"):
        y = [*y.values()]
    if isinstance(y, tuple | list):
        return sum(total(part) * (i + 1) for i, part in enumerate(y))
    return np.sum(y * np.cos(np.arange(np.size(y))).reshape(np.shape(y)))


COMPILED = {"psychrolib"}  # by Numba, where that is installed


def needs(path):
    library = path.partition(".")[0]
    if library in COMPILED and importlib.util.find_spec("numba") is not None:
        return pytest.mark.skip(reason=f"compiled by Numba: {library}")
    return pytest.mark.skipif(
        importlib.util.find_spec(library) is None,
        reason=f"not installed: {library}; see nox -s library",
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", [pytest.param(path, marks=needs(path)) for path in ALL])
def test_formulas(path):
    call, (xs, numbers) = function_of(path), arguments_of(path)

    def value(*own):
        given = {**dict(enumerate(xs)), **dict(zip(numbers, own, strict=True))}
        return total(call(*given.values()))

    own = tuple(xs[i] for i in numbers)
    plain, first = value(*own), gradient(value, *own)
    for _ in range(3):
        y, again = value_and_grad(value, tuple(range(len(own))))(*own)
        assert_same(np.asarray(y), np.asarray(plain))
        assert_close(again, first, 1e-13)  # sums may be taken in another order
    for (path, best, off), got in zip(slopes(value, own, 1e-4), first, strict=True):
        scale = 1 + np.max(np.abs(best))
        assert np.max(off) < 1e-4 * scale, path
        np.testing.assert_allclose(got, best, rtol=0, atol=1e-5 * scale, err_msg=str(path))
