"""`np.poly1d` in transformed code, with coefficients that are differentiated, or from outside."""

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import testing, value_and_grad

C = np.array([-1.0, -0.3, 0.1, 0.5, 2.0])
KNOWN = np.poly1d([1.0, 2.0, 3.0])


def value(c, x):
    return np.poly1d(c)(x)


def derivative(c, x):
    return np.poly1d(c).deriv()(x) * np.poly1d(c).integ()(x)


def products(c, x):
    p = np.poly1d(c)
    q = p * p - 2.0 * p + np.poly1d(c[1:] * x) / 3.0
    return q(0.5) + p.c[0] * (-p)(x) + q.coeffs[-1]


def at_an_array(c, x):
    return np.sum(np.poly1d(c)(np.array([x, 0.3, x * x])))


def entries(c, x):
    p = np.poly1d(c)
    return p(x) * p[2] * p.order + len(p) * x


def from_outside(c, x):
    return KNOWN(x) * c[0] + np.sum(KNOWN(c)) + KNOWN.deriv()(x)


def fields(c, x):
    return np.sum(vars(KNOWN)["coeffs"] * x) + c[1] * KNOWN.__dict__["coeffs"][1]


TRANSFORMED = [value, derivative, products, at_an_array, entries, from_outside, fields]


def answers(f, c, x, how):
    with how():
        y, (dc, dx) = value_and_grad(f, (0, 1))(c, x)
    return y, dc, dx


@pytest.mark.parametrize("f", TRANSFORMED)
def test_gradients(f):
    for c, x in [(C, 0.7), (C[::-1], -0.4), (C[:3] * 1.5, 1.1)]:
        y, dc, dx = answers(f, c, x, testing.transformed_only)
        right, ec, ex = answers(f, c, x, testing.recorded_only)
        assert y == right
        np.testing.assert_allclose(dc, ec, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(dx, ex, rtol=1e-12)
    assert_slopes((dc, dx), f, (c, x), 1e-5)


@pytest.mark.parametrize("f", [value, derivative, products])
def test_a_leading_coefficient_that_becomes_zero_is_refused(f):
    run = value_and_grad(f, (0, 1))
    for _ in range(3):
        run(C, 0.7)
    with pytest.raises(Exception, match=r"use `np\.polyval`"):
        run(C * (C != C[0]), 0.7)


@pytest.mark.parametrize("f", [from_outside, fields])
def test_a_polynomial_from_outside_may_change(f, monkeypatch):
    run = value_and_grad(f, (0, 1))
    for _ in range(3):
        run(C, 0.7)
    for changed in ([4.0, 5.0, 6.0], [1.0, 0.5], [2.0, 3.0, 1.0, 7.0], [1, 2, 3]):
        monkeypatch.setitem(vars(KNOWN), "coeffs", np.array(changed))
        for _ in range(3):
            y, (dc, dx) = run(C, 0.7)
        right, ec, ex = answers(f, C, 0.7, testing.recorded_only)
        assert y == right == f(C, 0.7)
        np.testing.assert_allclose(dc, ec, rtol=1e-12)
        np.testing.assert_allclose(dx, ex, rtol=1e-12)


class Plain:
    """A field that is read by its name, and through `__dict__`."""

    def __init__(self, w):
        self.w, self.n = w, 2.0


OWN = Plain(np.array([1.0, 2.0]))


def both_ways(x):
    return np.sum(OWN.w * x + OWN.__dict__["w"] * x * x) * OWN.__dict__["n"] + OWN.n


def changes_one(x):
    OWN.__dict__["w"][0] = 3.0
    return np.sum(OWN.w * x)


def missing(x):
    return np.sum(OWN.__dict__["v"] * x)


def test_fields_by_dict_are_those_by_name(monkeypatch):
    x = np.array([0.3, 0.4])
    for w in ([1.0, 2.0], [3.0, -1.0]):
        monkeypatch.setattr(OWN, "w", np.array(w))
        with testing.transformed_only():
            y, d = value_and_grad(both_ways)(x)
        assert y == both_ways(x)
        np.testing.assert_allclose(d, 2.0 * (OWN.w + 2.0 * OWN.w * x))
        for _ in range(3):
            OWN.w[0] = w[0]
            y, d = value_and_grad(changes_one)(x)
            np.testing.assert_array_equal(d, [3.0, w[1]])
    with pytest.raises(KeyError):
        value_and_grad(missing)(x)


class WithDefault:
    n = 9.0


OTHER = WithDefault()
OTHER.n = 2.0


def by_key(x):
    return OTHER.__dict__["n"] * x


def test_a_field_that_is_gone_is_not_that_of_the_class(monkeypatch):
    for _ in range(3):
        assert value_and_grad(by_key)(0.5) == (1.0, 2.0)
    monkeypatch.delitem(vars(OTHER), "n")
    with pytest.raises(KeyError):
        value_and_grad(by_key)(0.5)


class Given:
    def __init__(self, w):
        self.w = w


def of_what_is_given(m, x):
    return np.sum(m.__dict__["w"] * x) + vars(m)["w"][0]


def test_fields_of_what_is_differentiated():
    m, x = Given(np.array([3.0, 4.0])), np.array([0.5, 0.7])
    with testing.transformed_only():
        y, (dm, dx) = value_and_grad(of_what_is_given, (0, 1))(m, x)
    assert y == of_what_is_given(m, x)
    np.testing.assert_allclose(dm.w, [1.5, 0.7])
    np.testing.assert_allclose(dx, [3.0, 4.0])
