"""Gradients by the tape alone and by both tiers, and differences to compare them with."""

import numpy as np

from zygote_lite import gradient
from zygote_lite.testing import recorded_only


def compare(f, x, expected, transformed, **tolerances):
    """Compare a gradient with what is expected.

    Arguments:
        f, x, expected: the function, its argument, and the gradient.
        transformed: whether it is called until transformed code answers; otherwise the tape does.
        tolerances: those of `assert_allclose`.
    """
    if not transformed:
        with recorded_only():
            np.testing.assert_allclose(gradient(f, x)[0], expected, **tolerances)
        return
    for _ in range(3):  # on the tape, then by transformed code
        np.testing.assert_allclose(gradient(f, x)[0], expected, **tolerances)


def differences(f, x):
    """Return central differences of fourth order."""
    found = np.empty(x.shape)
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] = 1e-3
        found[i] = (8 * (f(x + e) - f(x - e)) - f(x + 2 * e) + f(x - 2 * e)) / 12e-3
    return found
