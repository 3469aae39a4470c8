"""Forward mode where constants that the function reads from outside change between calls."""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from zygote_lite import grad, hvp, jacfwd, jvp, linearize, testing
from zygote_lite._specialize import entry
from zygote_lite._specialize.cache import specializations_for

X, DX = 0.7, 1.3
COUNT = 0


def by_jvp(f):
    return jvp(f, (X,), (DX,))[1]


def by_linearize(f):
    return linearize(f, X)[1](DX)


def by_jacfwd(f):
    return jacfwd(f)(X) * DX


def by_jvp_of_jvp(f):
    return jvp(lambda x: jvp(f, (x,), (1.0,))[0], (X,), (DX,))[1]


FORWARD = (by_jvp, by_linearize, by_jacfwd)


def powers(x, n):
    s = 0.0
    for i in range(n):
        s = s + x**i
    return s


def slope_of_powers(n):
    return sum(i * X ** (i - 1) for i in range(1, n))


def reads_a_global(x):
    s = 0.0
    for i in range(COUNT):
        s = s + x**i
    return s


class Model:
    def __init__(self, degree):
        self.degree = degree


class Told(Model):
    def __init__(self, degree):
        self.known, self.told = degree, []

    @property
    def degree(self):
        self.told.append(self.known)
        return self.known


def captured(k):
    return lambda x: powers(x, k)


def by_default(k):
    return lambda x, n=k: powers(x, n)


def in_an_object(k):
    model = Model(k)
    return lambda x: powers(x, model.degree)


def in_a_global(k):
    globals()["COUNT"] = k
    return reads_a_global


def transformed(derivative, f):
    """Return a derivative, and whether transformed code gave each part of it."""
    with testing.observed() as answers:
        found = derivative(f)
    return found, bool(answers) and all(a.tier == "transformed" for a in answers)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("derivative", FORWARD)
@pytest.mark.parametrize("of", [captured, by_default, in_an_object, in_a_global])
def test_an_int_becomes_a_variable_of_the_code(derivative, of):
    for k in (3, 50, 7, 1, 0, 50, 300, *range(400, 420)):
        found, is_transformed = transformed(derivative, of(k))
        assert_close(found, DX * slope_of_powers(k))
        assert is_transformed, k
    known = [known for known in specializations_for(of(3)) if known.form == "forward"]
    assert max(len(known.made) for known in known) == 2


@pytest.mark.parametrize("derivative", [*FORWARD, by_jvp_of_jvp])
def test_the_tape_gives_the_same(derivative):
    for k in (3, 60, 2, 61):
        f = captured(k)
        with testing.recorded_only():
            expected = derivative(f)
        assert_close(derivative(f), expected)
        with testing.compared():
            assert_close(derivative(f), expected)


def joined(k):
    return lambda x: x * x if k > 5 else math.sin(x)


def not_joined(k):
    return lambda x: np.array([x, x]) * x if k > 5 else math.sin(x)


@pytest.mark.parametrize("derivative", FORWARD)
@pytest.mark.parametrize("of", [joined, not_joined])
def test_an_int_decides_a_branch(derivative, of):
    for k in (2, 9, 3, 9, 2):
        found, is_transformed = transformed(derivative, of(k))
        assert_close(found, DX * (2 * X if k > 5 else math.cos(X)) * np.ones(np.shape(found)))
        assert np.shape(found) == ((2,) if k > 5 and of is not_joined else ())
        assert is_transformed


def of_text(k):
    return lambda x: x * len(str(k)) + x * k  # the length of its text asks for a constant


def of_a_shape(k):
    return lambda x: np.sum(np.full((k, 2), x) * x)


@pytest.mark.parametrize("derivative", FORWARD)
def test_what_changes_in_each_call_ends_the_making_of_code(derivative, monkeypatch):
    made = []
    make = entry.specialize_forward

    def counted(*args, **options):
        made.append(args)
        return make(*args, **options)

    monkeypatch.setattr(entry, "specialize_forward", counted)
    for k in range(1, 60):
        assert_close(derivative(of_text(k)), DX * (len(str(k)) + k))
    assert len(made) < 30
    made.clear()
    for k in range(1, 60):
        assert_close(derivative(of_a_shape(k)), DX * 4 * k * X)
    assert len(made) <= 2


def times(k):
    return lambda x: x * 2.0 if k is None else x * k[0] if type(k) is tuple else x * k


@pytest.mark.parametrize("derivative", FORWARD)
def test_other_constants_and_types_change(derivative):
    for k in (2.0, 3, 4, None, 2.5, (7, 1), (8, 1), True, 2.0, 5):
        factor = 2.0 if k is None else k[0] if type(k) is tuple else k
        found, is_transformed = transformed(derivative, times(k))
        assert_close(found, DX * factor)
        assert is_transformed, k


def degree_of(model):
    return lambda x: x**model.degree


def test_attributes_that_are_computed_are_read_by_the_function_alone():
    for model, k in ((Model(2), 2), (Model(3), 3), (Told(2), 2), (Told(5), 5), (Model(4), 4)):
        assert_close(by_jvp(degree_of(model)), DX * k * X ** (k - 1))
        assert getattr(model, "told", [k]) == [k]


@pytest.mark.parametrize("of", [captured, in_a_global])
def test_second_derivatives(of):
    for n, k in enumerate((3, 50, 50, 4, 300, 301, 302)):
        second = sum(i * (i - 1) * X ** (i - 2) for i in range(2, k))
        f = of(k)
        found, is_transformed = transformed(by_jvp, grad(f))
        assert_close(found, DX * second)
        assert is_transformed
        found, is_transformed = transformed(lambda f: hvp(f)(X, DX), f)
        assert_close(found, DX * second)
        assert is_transformed or n < 4


def test_a_pushforward_stays_at_what_was_read():
    in_a_global(3)
    linearize(reads_a_global, X)
    in_a_global(5)
    _, push = linearize(reads_a_global, X)
    in_a_global(50)
    assert_close(push(DX), DX * slope_of_powers(5))
    assert_close(linearize(reads_a_global, X)[1](DX), DX * slope_of_powers(50))
