"""Derivatives by Richardson's extrapolation of central differences: what gradients are held to."""

import copy
import types

import numpy as np

from tests.zygote_lite.checks.comparing import assert_close, assert_same, entry_at, fields_of
from zygote_lite import gradient, pullback


def check_gradient(f, *xs, expected=None, tolerance=1e-6):
    """Compare `gradient(f, *xs)` with finite differences, and with `expected` where given.

    The gradient is taken twice of one function object, then through two levels of call, and the
    pullback is called twice; each has to give the same, and to leave the arguments as they were.
    """
    before = copy.deepcopy(xs)
    value = f(*copy.deepcopy(xs))
    first = gradient(f, *xs)
    second = gradient(f, *xs)
    deeper = gradient(lambda *ys: (lambda *zs: f(*zs))(*ys), *xs)
    y, back = pullback(f, *xs)
    assert_same(y, value)
    once = back(1.0)[1:]
    again = back(1.0)[1:]
    assert_same(second, first)
    assert_same(again, once)
    for other in (once, deeper):
        assert_close(other, first, 1e-13)  # the sum may be taken in another order
    assert_same(xs, before)
    assert all(d is None for d in back(None))
    assert_slopes(first, f, xs, tolerance)
    if expected is not None:
        assert_close(first, expected)
    return first


def assert_slopes(gradients, f, xs, tolerance):
    """Assert that gradients by all the arguments are those of finite differences."""
    found = slopes(f, xs)
    assert found, "no leaf to differentiate"
    for path, best, off in found:
        assert np.all(off < tolerance), f"no derivative by differences at {path}: {off}"
        d = entry_at(gradients, path)
        got = np.zeros(np.shape(best)) if d is None else d
        assert np.shape(got) == np.shape(best), (path, d)
        np.testing.assert_allclose(got, best, rtol=tolerance, atol=tolerance, err_msg=str(path))


def slope(value_at, step=2e-3):
    """Return the derivative at 0 of a function of a number, and how far it may be off."""
    d = [(value_at(h) - value_at(-h)) / (2 * h) for h in (step, step / 2, step / 4)]
    first = [(4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3]
    best = (16 * first[1] - first[0]) / 15
    return best, abs(best - first[1])


def slopes(f, xs, step=2e-3):
    """Return (path, slope, uncertainty) for every number or array of real numbers in `xs`."""
    found = []
    for path, leaf in leaves(xs):
        shape = np.shape(leaf)
        best, off = np.zeros(shape), np.zeros(shape)
        for index in np.ndindex(shape):

            def value_at(h, path=path, leaf=leaf, index=index):
                moved = np.array(leaf, float)
                moved[index] += h
                given = moved if isinstance(leaf, np.ndarray) else float(moved)
                return float(f(*replaced(copy.deepcopy(xs), path, given)))

            best[index], off[index] = slope(value_at, step)
        found.append((path, best, off))
    return found


def leaves(x, path=()):
    """Yield (path, leaf) for every number or array of real numbers in nested containers."""
    if isinstance(x, bool | np.bool_ | str | type | types.FunctionType) or x is None:
        return
    if isinstance(x, int | float | np.floating | np.ndarray):
        yield path, x
    else:
        for key, value in fields_of(x):
            yield from leaves(value, (*path, key))


def replaced(x, path, leaf):
    """Return `x` with another leaf at `path`; lists, dicts and objects are changed in place."""
    if not path:
        return leaf
    key, *rest = path
    if isinstance(x, tuple):
        items = [replaced(v, rest, leaf) if i == key else v for i, v in enumerate(x)]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, list | dict):
        x[key] = replaced(x[key], rest, leaf)
    else:
        object.__setattr__(x, key, replaced(getattr(x, key), rest, leaf))
    return x


def jacobian_by_differences(f, xs, number=0):
    """Return the Jacobian of a function of numbers and arrays by one of its arguments."""
    x = np.asarray(xs[number], float)

    def moved(i, h):
        other = x.copy()
        other.flat[i] += h
        given = other if x.ndim else float(other)
        return np.asarray(f(*xs[:number], given, *xs[number + 1 :]))

    columns = [slope(lambda h, i=i: moved(i, h))[0] for i in range(x.size)]
    stacked = np.stack(columns, axis=-1)
    return stacked.reshape(stacked.shape[:-1] + x.shape)
