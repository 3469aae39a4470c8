"""What is told where a holder of numbers is met, and that it is right when followed."""

import ctypes
import decimal
import fractions
import re

import mpmath
import numpy as np
import pytest

from zygote_lite import NoRuleError, grad

X = np.array([1.0, 2.0, 3.5])
MASKED = np.ma.masked_less(X, 2.0)


class Own(np.ndarray):
    pass


MADE = {  # the function, its argument, what is told, the function when that is followed
    "masked_less": (
        lambda x: np.ma.masked_less(x**2, 2.0).sum(), X, "by `x[keep]` or `np.where(keep, x, 0.0)`",
        lambda x: np.where(x**2 >= 2.0, x**2, 0.0).sum(),
    ),
    "masked array": (
        lambda x: np.ma.array(x, mask=[0, 1, 0]).sum(), X, "entries of the array itself, by `x[ke",
        lambda x: x[np.array([True, False, True])].sum(),
    ),
    "matrix": (
        lambda x: (np.matrix(x) * np.matrix(x).T).sum(), X, "the array itself, with `@` for produc",
        lambda x: x @ x,
    ),
    "memoryview": (lambda x: sum(memoryview(x)), X, "; read the array itself", lambda x: sum(x)),
    "Decimal": (
        lambda x: float(decimal.Decimal(x) * 2), 2.0, "; compute with floats", lambda x: x * 2,
    ),
    "Fraction": (
        lambda x: float(fractions.Fraction(x) * 2), 2.0, "; compute with floats", lambda x: x * 2,
    ),
    "subclass": (
        lambda x: (x.view(Own) ** 2).sum(), X, "; use the array itself, of NumPy's class",
        lambda x: (x**2).sum(),
    ),
}  # fmt: skip


def differences(f, x, h=1e-6):
    steps = np.eye(np.size(x)).reshape(-1, *np.shape(x)) * h
    return np.reshape([(f(x + step) - f(x - step)) / (2 * h) for step in steps], np.shape(x))


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("name", MADE)
def test_a_holder_that_is_made_has_another_in_its_place(name):
    f, x, told, followed = MADE[name]
    whole = (
        r"\.py:\d+: .* that is made of what is differentiated carries no gradient; .* \[ZL006\]$"
    )
    for _ in range(3):
        with pytest.raises(NoRuleError, match=whole) as refused:
            grad(f)(x)
        assert told in str(refused.value)
        assert "; pass " not in str(refused.value)
    np.testing.assert_allclose(f(x), followed(x))
    for _ in range(3):
        np.testing.assert_allclose(grad(followed)(x), differences(f, x), rtol=1e-6)


CALLED = {  # what the user calls, by the name that the user knows
    "numpy.ma.MaskedArray": lambda x: np.ma.masked_array(x).sum(),
    "numpy.ma.array": lambda x: np.ma.array(x).sum(),
    "numpy.ma.masked_where": lambda x: np.ma.masked_where(x > 2.0, x).sum(),
    "numpy.ma.masked_invalid": lambda x: np.ma.masked_invalid(x).sum(),
    "numpy.ma.masked_greater": lambda x: np.ma.masked_greater(x, 2.0).sum(),
    "numpy.ma.sum": lambda x: np.ma.sum(x),
    "numpy.ma.average": lambda x: np.ma.average(x),
    "numpy.matrix": lambda x: np.matrix(x).sum(),
    "numpy.asmatrix": lambda x: np.asmatrix(x).sum(),
    "numpy.bmat": lambda x: np.bmat([[x]]).sum(),
    "fractions.Fraction": lambda x: float(fractions.Fraction(x[0])),
    "decimal.Decimal of (float64)": lambda x: float(decimal.Decimal(x[0])),
    "(ctypes.c_double * 3) of (float64, float64, float64)": lambda x: (ctypes.c_double * 3)(*x)[0],
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("name", CALLED)
def test_what_is_called_is_told_first(name):
    f = CALLED[name]
    line = f.__code__.co_firstlineno
    for _ in range(3):
        with pytest.raises(NoRuleError) as refused:
            grad(f)(X)
        assert str(refused.value).startswith(f"{__file__}:{line}: {name} has no rule")
        assert "zygote_lite" not in str(refused.value).removeprefix(__file__)


GIVEN = {
    "argument": (lambda m: m.sum(), MASKED, lambda m: m.sum(), MASKED.filled(0.0)),
    "constant": (
        lambda x: (x * MASKED).sum(), X, lambda x: (x * MASKED.filled(0.0)).sum(), X,
    ),
    "operand of a ufunc": (
        lambda x: np.multiply(MASKED, x).sum(), X, lambda x: np.sum(MASKED.filled(0.0) * x), X,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_a_holder_that_is_given_is_converted(name):
    f, x, followed, y = GIVEN[name]
    for _ in range(3):
        with pytest.raises(NoRuleError, match=re.escape("pass `.filled(...)`")) as refused:
            grad(f)(x)
        assert " made of " not in str(refused.value)
    np.testing.assert_allclose(grad(followed)(y), differences(followed, y), rtol=1e-6)


OF_MPMATH = {
    "function": lambda x: float(mpmath.sin(x)),
    "number": lambda x: float(mpmath.mpf(x) * 2),
    "complex": lambda x: float(mpmath.mpc(x, 1).real),
    "product": lambda x: float(mpmath.mpf(3) * x),
    "power": lambda x: float(mpmath.mpf(3) ** x),
    "integral": lambda x: float(mpmath.quad(lambda t: t * x, [0, 1])),
    "matrix": lambda x: float(mpmath.matrix([x, 1.0])[0]),
    "branch": lambda x: float(mpmath.gamma(x)) if x > 1.5 else x * x,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("x", [2.0, 2, np.float64(2.0)], ids=["float", "int", "float64"])
@pytest.mark.parametrize("how", OF_MPMATH)
def test_numbers_of_mpmath_made_of_what_is_differentiated_are_refused(how, x):
    if how == "branch":
        assert [grad(OF_MPMATH[how])(1.0) for _ in range(3)] == [2.0] * 3
    told = r":\d+: a number of mpmath that is made of what .*; compute with floats \[ZL006\]$"
    for _ in range(3):
        with pytest.raises(NoRuleError, match=told):
            grad(OF_MPMATH[how])(x)


def test_numbers_of_mpmath_that_depend_on_nothing_differentiated_are_constants():
    for _ in range(3):
        assert grad(lambda x: x * float(mpmath.mpf(3) * 2 + mpmath.floor(1.5)))(2.0) == 7.0
