"""What transformed code follows and the tape refuses is held to finite differences."""

import itertools

import numpy as np
import pytest

from zygote_lite import gradient, pullback, value_and_grad
from zygote_lite._specialize import watch
from zygote_lite._specialize.differences import UncheckedWarning, contradicted
from zygote_lite.modes import TierMismatch
from zygote_lite.testing import compared


def cycled(x):
    a, total = [1.0, 2.0, 3.0], 0.0
    for v in itertools.islice(itertools.cycle(a), 5):
        total = total + v
        a[1] = x * x
    return total


def zipped(x, y):
    a, total = [1.0, 2.0, 3.0], 0.0
    for u, v in itertools.zip_longest(a, [1.0], fillvalue=2.0):
        total = total + u * v * np.sum(y)
        a[1] = x * x
    return total


def with_an_integer(x, n):
    return cycled(x * n)


ARRAY = np.array([1.0, 2.0])


def test_answers_are_held_to_differences_without_a_warning():
    with compared():
        assert value_and_grad(cycled)(0.7)[1] == pytest.approx(2.8)
        for f, xs in ((cycled, (0.7,)), (zipped, (0.7, ARRAY))):
            _, back = pullback(f, *xs)
            for one, other in zip(back(2.0)[1:], gradient(f, *xs), strict=True):
                assert np.allclose(one, 2.0 * other)


@pytest.mark.parametrize("verb", [gradient, lambda f, x: pullback(f, x)[1](1.0)])
def test_a_wrong_gradient_is_an_error(verb, monkeypatch):
    """As transformed code would give it: here it is wrong where it is compared."""
    asked = watch.contradicted
    monkeypatch.setattr(
        watch, "contradicted", lambda f, xs, at, given, dy: asked(f, xs, at, [9.0], dy)
    )
    with compared(), pytest.raises(TierMismatch, match="by differences"):
        verb(cycled, 0.7)


def test_what_cannot_be_compared_is_told():
    with compared(), pytest.warns(UncheckedWarning, match="with_an_integer"):
        gradient(with_an_integer, 0.7, 2)


def test_slopes_tell_apart_what_is_wrong_and_what_has_none():
    assert contradicted(lambda x: x**3, (2.0,), [0], [12.0]) is None
    assert contradicted(lambda x: x**3, (2.0,), [0], [11.9]) is not None
    assert contradicted(lambda x: np.sum(x * x), (ARRAY,), [0], [2.0 * ARRAY]) is None
    assert contradicted(lambda x: np.sum(x * x), (ARRAY,), [0], [ARRAY]) is not None
    assert contradicted(lambda x: x * x, (ARRAY,), [0], [2.0 * ARRAY * 3.0], 3.0) is None
    with pytest.warns(UncheckedWarning):
        assert contradicted(abs, (0.0,), [0], [1.0]) is None
    with pytest.warns(UncheckedWarning):
        assert contradicted(lambda x: x * 2.0, (np.float32(1.0),), [0], [2.0]) is None
