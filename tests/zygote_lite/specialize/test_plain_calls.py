"""Calls as they are: functions of shapes and options, which return plain values."""

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import code_adjoint, gradient, testing, value_and_grad

X = np.array([1.0, 2.0, 0.5])


def laid_out(shapes, n=1):
    """Return lists and dicts of numbers, in a way that is not transformed."""
    kept = np.ones((len(shapes), 2), dtype=int)
    for row, shape in zip(kept, shapes, strict=True):
        row[2 - len(shape) :] = shape
    with np.errstate(invalid="ignore"):
        largest = kept.max(axis=0)
    if n > 3:
        return [tuple(largest)]
    if n > 2:
        raise np.exceptions.AxisError("too many")
    return [tuple(largest), {"n": n, "name": "one" if n == 1 else "two", "half": n / 2, "no": None}]


def of_shapes(x, n):
    found = laid_out([x.shape, (1,)], n)
    told = found[1] if len(found) > 1 else {"n": 0.5, "half": 2.0, "name": "none"}
    scale = 3.0 if told["name"] == "one" else 1.0
    return np.sum(np.broadcast_to(x, found[0]) ** 2) * told["n"] * scale + told["half"] * x[0]


def of_one(x):
    return of_shapes(x, 1)


def changing(sizes):
    sizes.append(len({1, 2, *sizes}))
    return sizes[0] + 0.5, sizes[-1]


def with_change(x):
    sizes = [len(x), 4]
    first, last = changing(sizes)
    return np.sum(x) * first * last + len(sizes) * x[0]


def same(sizes):
    return sizes if len({*sizes}) < 9 else [0]


def with_same(x):
    sizes = [len(x), 4]
    other = same(sizes)
    other.append(7)
    return np.sum(x) * sum(sizes)


def told(x, _log=[]):
    _log.append(1)
    return (len({*_log}) + len(_log), x)


def with_effect(x):
    return np.sum(x) * told(2)[0]


def test_a_call_that_is_not_transformed_stands_in_the_code():
    with testing.transformed_only():
        (found,) = gradient(of_one, X)
    assert_close(found, 6.0 * X + [0.5, 0.0, 0.0])
    check_gradient(of_one, X)
    text = str(code_adjoint(of_one, X))
    assert "# laid_out is called as it is: " in text
    assert " = laid_out([" in text


@pytest.mark.parametrize("n", [1, 2, 4, 3])
def test_another_form_later_is_left_to_the_tape(n):
    differentiated = value_and_grad(of_shapes)
    for first in (1, 1, 1):
        differentiated(X, first)
    if n == 3:
        with pytest.raises(np.exceptions.AxisError, match="too many"):
            differentiated(X, n)
        return
    with testing.recorded_only():
        want = differentiated(X, n)
    assert_close(differentiated(X, n), want)
    assert_close(differentiated(X[:2], n)[0], of_shapes(X[:2], n))


@pytest.mark.parametrize("f", [with_change, with_same, with_effect])
def test_what_changes_lists_or_has_effects_is_not_called_so(f):
    with testing.recorded_only():
        want = gradient(f, X)
    if f is not with_effect:
        with testing.compared():
            assert_close(gradient(f, X), want)
        assert_close(want[0], gradient(f, X)[0])
    assert "called as it is" not in str(code_adjoint(f, X))


def test_effects_are_once_in_each_call():
    log = told.__defaults__[0]
    log.clear()
    for k in range(1, 6):
        value_and_grad(with_effect)(X)
        assert len(log) == k


def test_very_many_ends_of_a_function_are_a_reason(tmp_path):
    lines = [f"    if x < {i}.0:\n        return x * {i}.5\n" for i in range(400)]
    path = tmp_path / "many.py"
    path.write_text(f"def many(x):\n{''.join(lines)}    return x\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with testing.strict():
        assert "nested too deeply" in testing.why_recorded(space["many"], 250.5)
        for _ in range(3):
            assert gradient(space["many"], 250.5) == (251.5,)
