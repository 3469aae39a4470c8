"""Refusals that concern what a filter of an image writes to."""

import numpy as np

from rules_scipy.shared.solvers import name_of


def refuse_given(f, output):
    """Raise `NotImplementedError` where a filter is to write to an array."""
    if output is not None and not isinstance(output, type | np.dtype | str):
        raise NotImplementedError(
            f"{name_of(f)} has no rule that writes to `output`: use what it returns, or give the "
            "dtype of that as `output`"
        )


def refuse_truncated(f, y):
    """Raise `NotImplementedError` where a filter rounds what it computes to integers."""
    if np.asarray(y).dtype.kind not in "fc":
        raise NotImplementedError(
            f"{name_of(f)} rounds to {np.asarray(y).dtype} here, of which no gradient passes: give "
            "an image of floating-point numbers, or `output=float`"
        )


def value_of(f, *xs, output=None, **options):
    """Return the value of a filter, where a rule can be for it."""
    refuse_given(f, output)
    y = f(*xs, output=output, **options)
    refuse_truncated(f, y)
    return y
