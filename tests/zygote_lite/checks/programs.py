"""Programs that a test declares with choices of their arguments, and what is asserted of each."""

import copy

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import testing, value_and_grad


def declaring(programs):
    """Return the decorator that adds a function to a list, with choices of its arguments."""

    def declare(*choices):
        def add(f):
            programs.append((f, choices))
            return f

        return add

    return declare


def for_each(programs):
    """Run a test of `f` and `choices` for each of the programs."""
    return pytest.mark.parametrize(
        ("f", "choices"), programs, ids=lambda x: getattr(x, "__name__", "")
    )


def assert_transformed(f, choices, numbers, *, by_differences=1e-6, tolerance=1e-10):
    """Assert that a program is transformed, and has the gradient of differences and of the tape.

    `numbers` are the positions of the arguments that it is differentiated by, the first ones.
    """
    first, count = choices[0], len(numbers)
    with testing.transformed_only():
        _, found = value_and_grad(f, numbers)(*copy.deepcopy(first))
    exact = slopes(lambda *xs: f(*xs, *first[count:]), first[:count])
    for d, (_, want, _) in zip(found, exact, strict=True):
        np.testing.assert_allclose(d, want, rtol=by_differences, atol=1e-8)
    assert assert_agreement(f, *choices, argnums=numbers, tolerance=tolerance)


def not_counts(xs):
    """Return the positions of the arguments that are no `int`."""
    return tuple(i for i, x in enumerate(xs) if type(x) is not int)
