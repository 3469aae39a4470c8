"""The option `dtype`: integers have no slope, real numbers no imaginary part."""

import numpy as np
import pytest

from rulescore import rrule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25], [0.3, 1.75, 2.25]])
COMPLEX = MATRIX + 1j * MATRIX[::-1]
RUNNING = [np.cumsum, np.cumprod, np.nancumsum, np.nancumprod]
METHODS = [f for u in (np.add, np.multiply) for f in (u.reduce, u.accumulate)]
REDUCING = [np.sum, np.prod, np.nansum, np.nanprod, np.trace, np.linalg.trace]
INEXACT_ONLY = [np.nanmean, np.nanvar, np.nanstd, np.cov, np.corrcoef]


def title(f):
    """Return the name of a function or of a method of a ufunc."""
    owner = f.__module__ or f.__self__.__name__
    return f"{owner}.{f.__name__}"


ALL = [*REDUCING, np.mean, np.var, np.std, *RUNNING, *METHODS]


@pytest.mark.parametrize("f", ALL, ids=title)
def test_integers_made_of_numbers_have_no_slope(f):
    y, back = rrule(f, MATRIX, dtype=int)
    assert y.dtype == int
    assert back(np.ones(np.shape(y))) == (None, None)


@pytest.mark.parametrize("f", ALL, ids=title)
def test_integers_of_integers_have_one(f):
    x = np.array([[1, 2, 3], [2, 3, 5], [4, 5, 6]])
    y, back = rrule(f, x, dtype=int)
    assert back(np.ones(np.shape(y)))[1].shape == x.shape


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("f", [*ALL, *INEXACT_ONLY], ids=title)
def test_real_and_complex(check, f, dtype):
    check(f, MATRIX, dtype=dtype)
    check(f, COMPLEX, dtype=dtype)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("f", [np.var, np.std])
def test_spread_of_a_part(check, f, dtype):
    check(f, COMPLEX, axis=1, dtype=dtype, where=np.array([True, False, True]))


@pytest.mark.parametrize("f", [np.linspace, np.logspace, np.geomspace, np.arange])
def test_ranges_of_integers(f):
    y, back = rrule(f, 0.5, 3.2, *([3] if f is not np.arange else []), dtype=int)
    assert not any(d for d in back(np.ones(y.size)) if d is not None)


def test_einsum_that_drops_parts_is_refused():
    with pytest.raises(NotImplementedError, match="casting"):
        rrule(np.einsum, "ii", COMPLEX, dtype=float, casting="unsafe")
