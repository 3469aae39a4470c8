"""Variables that are of their kind from the first iteration of a `while` loop on."""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import check_gradient
from tests.zygote_lite.checks.oracles import assert_agreement


def last(x, n):
    before, s, i = None, 0.0, 0
    while i < n:
        if before is not None:
            s = s + before * x
        before = math.sin(x * i) + x
        i += 1
    return s * x


def newton(x, n):
    old, y, k = None, 1.0, 0
    while old is None or abs(y - old) > 1e-9:
        old = y
        y = 0.5 * (y + x / y)
        k += 1
        if k > n:
            break
    return y


def state(x, n):
    kept, out = None, 0.0
    while True:
        kept = np.array([x, x * x]) if kept is None else np.sin(kept) * x
        out = out + kept[0] * kept[1]
        n -= 1
        if n <= 0:
            break
    return out


def skipped(x, n):
    kept, s = None, 0.0
    while n > 0:
        n -= 1
        kept = x if kept is None else np.tanh(kept + x)
        if n % 3 == 1:
            continue
        s = s + kept * x
    return s * x


@pytest.mark.parametrize("f", [last, newton, state, skipped])
def test_while_loops(f):
    choices = [(0.6, 3), (0.8, 1), (0.9, 0), (1.2, 7), (np.float64(0.6), 4), (-0.5, 2)]
    for xs in choices[:4]:
        check_gradient(lambda x, n=xs[1]: f(x, n), xs[0])
    assert assert_agreement(f, *choices, argnums=(0,))
