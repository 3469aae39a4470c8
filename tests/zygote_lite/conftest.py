"""What the tests of the engine share: the comparison of a gradient with finite differences."""

import copy
import types

import numpy as np
import pytest

from rulescore import Tangent, plugins
from zygote_lite import gradient, pullback

STEP = 1e-6


@pytest.fixture
def check():
    """Give `check_gradient`."""
    return check_gradient


@pytest.fixture
def no_base():
    """Take the rules of rules_base away."""
    rulesets = [r for p in plugins() if p.name == "rules_base" for r in p.rulesets]
    for ruleset in rulesets:
        ruleset.unregister()
    yield
    for ruleset in rulesets:
        ruleset.register()


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
    for other in (second, once, again):
        assert_same(other, first)
    assert_close(deeper, first, 1e-13)  # the sum may be taken in another order
    assert_same(xs, before)
    assert all(d is None for d in back(None))
    differences = finite_differences(f, xs)
    assert differences, "no leaf to differentiate"
    for path, slope in differences:
        d = entry_at(first, path)
        got = np.zeros(np.shape(slope)) if d is None else d
        assert np.shape(got) == np.shape(slope), (path, d)
        np.testing.assert_allclose(got, slope, rtol=tolerance, atol=tolerance, err_msg=str(path))
    if expected is not None:
        assert_close(first, expected)
    return first


def finite_differences(f, xs):
    """Return (path, slope) for every number or array of real numbers that `xs` holds."""

    def value_with(path, leaf):
        return float(f(*replaced(copy.deepcopy(xs), path, leaf)))

    found = []
    for path, leaf in leaves(xs):
        slope = np.zeros(np.shape(leaf))
        for index in np.ndindex(np.shape(leaf)):
            up, down = np.array(leaf, float), np.array(leaf, float)
            up[index] += STEP
            down[index] -= STEP
            if not np.shape(leaf):
                up, down = float(up), float(down)
            slope[index] = (value_with(path, up) - value_with(path, down)) / (2 * STEP)
        found.append((path, slope))
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


def fields_of(x):
    if isinstance(x, list | tuple):
        return list(enumerate(x))
    if isinstance(x, dict):
        return list(x.items())
    names = [n for t in type(x).__mro__ for n in getattr(t, "__slots__", ())]
    slots = [(name, getattr(x, name)) for name in names if hasattr(x, name)]
    return [*getattr(x, "__dict__", {}).items(), *slots]


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


def entry_at(d, path):
    """Return the cotangent at `path`, or `None` where it or one around it is missing."""
    for key in path:
        if d is None:
            return None
        d = d[key]
    return d


def assert_close(a, b, tolerance=1e-9):
    """Assert that two cotangents have the same structure and nearly the same numbers."""
    if isinstance(b, list | tuple | dict | Tangent):
        assert type(a) is type(b), (a, b)
        assert len(a) == len(b), (a, b)
        keys = range(len(b)) if isinstance(b, list | tuple) else b
        for key in keys:
            assert_close(a[key], b[key], tolerance)
    elif b is None:
        assert a is None
    else:
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def assert_same(a, b):
    """Assert that two values are equal, arrays bit by bit and objects field by field."""
    if isinstance(a, Tangent):
        a, b = dict(a.items()), dict(b.items())
    assert type(a) is type(b), (a, b)
    if isinstance(a, types.FunctionType | type | str | int | bool):
        assert a == b or (isinstance(a, types.FunctionType))
    elif isinstance(a, float | complex | np.ndarray | np.generic):
        np.testing.assert_array_equal(a, b)
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
    else:
        assert len(fields_of(a)) == len(fields_of(b)), (a, b)
        for (key, x), (other, y) in zip(fields_of(a), fields_of(b), strict=True):
            assert key == other
            assert_same(x, y)
