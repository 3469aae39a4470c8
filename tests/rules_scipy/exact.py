"""Derivatives by mpmath, to compare gradients with."""

import mpmath as mp
import pytest

from zygote_lite import gradient


def compare_exactly(f, reference, xs, **tolerances):
    """Compare the gradient of a function with mpmath's derivatives of another one."""
    found = gradient(lambda *xs: f(*xs), *xs)
    with mp.workdps(100):
        for i, slope in enumerate(found):
            expected = slope_by_mpmath(reference, [mp.mpf(x) for x in xs], i, h=mp.mpf("1e-30"))
            assert slope == pytest.approx(float(expected), **tolerances), i


def slope_by_mpmath(reference, xs, i, **options):
    """Return mpmath's derivative by an argument."""
    return mp.diff(lambda x: reference(*xs[:i], x, *xs[i + 1 :]), xs[i], **options)
