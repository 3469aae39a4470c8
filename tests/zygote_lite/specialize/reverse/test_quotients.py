"""Cotangents of quotients: what is divided once is not divided again."""

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import testing, value_and_grad


def total(y):
    return np.sum(y) if np.ndim(y) else y


def of_both(x, y):
    return total(np.sin(x / y) * x)


def of_the_denominator(x, y):
    return total(np.exp(2.0 / y + x))


def logarithm(x, y):
    return total(np.log(x / y))


def added_to_before(x, y):
    t = x / y
    square = t * t
    return total(np.sin(square + np.log(t)))


def added_to_after(x, y):
    t = x / y
    log = np.log(t)
    return total(np.sin(log + t * t))


def product_of_quotients(x, y):
    return total(x / y * (1.5 * x / y))


def square_of_a_quotient(x, y):
    t = x / y
    return total(t * (t * 0.5 / y))


def written_into(x, y):
    t = x / y
    first = t[0] * 3.0
    return total(np.log(t)) + first


def quotient_of_quotients(x, y):
    t = x / y
    return total(t / (y / x) + 1.0 / (1.0 / (x / y)))


def written_between(x, y):
    a = y * 1.5
    t = x / a
    a[0] = 2.0
    return total(np.log(t) * a)


def in_a_loop(x, y):
    s = 1.0
    for i in range(3):
        s = np.log(x[i] / y[i]) / (s / y[i] + 2.0)
    return s


X, Y = np.array([0.5, 1.2, 0.8]), np.array([1.5, 0.7, 0.4])


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("f", "xs"),
    [
        *((f, xs) for f in (of_both, of_the_denominator, logarithm, added_to_before,
                            added_to_after, quotient_of_quotients, product_of_quotients,
                            square_of_a_quotient)
          for xs in ((X, Y), (0.5, 1.5), (X, 0.4), (0.5, Y), (X, Y[:, None]))),
        *((f, (X, Y)) for f in (written_into, written_between, in_a_loop)),
    ],
    ids=lambda x: getattr(x, "__name__", repr(x)),
)  # fmt: skip
@pytest.mark.parametrize("numbers", [(0, 1), (0,), (1,)], ids=str)
def test_quotients(f, xs, numbers):
    assert testing.why_recorded(f, *xs, argnums=numbers) is None
    single = tuple([np.float32(x) for x in xs])
    with np.errstate(all="ignore"):
        assert_agreement(f, xs, tuple([-x for x in xs]), argnums=numbers)
        assert_agreement(f, single, argnums=numbers, tolerance=1e-4)
    found = value_and_grad(f, (0, 1))(*xs)[1]
    for (_, best, _), d in zip(slopes(f, xs, 1e-3), found, strict=True):
        np.testing.assert_allclose(d, best, rtol=1e-6, atol=1e-7)


def test_the_code_divides_once():
    testing.forget(of_both, logarithm)
    for f, count in ((of_both, 2), (logarithm, 3)):
        assert testing.why_recorded(f, X, Y) is None
        (text,) = testing.programs(f)
        assert text.count("/") <= count, text


def test_a_quotient_that_is_a_partial_derivative_is_none_of_the_cotangent():
    def f(a, b, c):
        return a / c * (b / c)

    with testing.transformed_only():
        found = [value_and_grad(f, (0, 1, 2))(0.3, 0.7, 0.9)[1] for _ in range(2)]
    assert found[0] == pytest.approx((0.7 / 0.81, 0.3 / 0.81, -2.0 * 0.21 / 0.729))
    assert found[1] == found[0]
