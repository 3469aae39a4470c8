"""Arrays from outside that programs write to: buffers of results, work arrays, counts.

The oracle of effects is the function itself, called as it is; that of gradients are differences.
"""

import contextlib
import functools
import sys

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_like_the_tape
from zygote_lite import grad, jvp, testing, value_and_grad

HERE = sys.modules[__name__]
X = np.array([1.0, 2.0, 3.0])


class Model:
    """A model that works in arrays of its own."""

    def __init__(self):
        self.work, self.weights, self.hits = np.ones(3), np.array([0.5, 1.0, 2.0]), np.zeros(2, int)

    def loss(self, x):
        """Return the loss, and count."""
        self.work[:] = x * self.weights
        self.work *= x
        self.hits[0] += 1
        return np.sum(self.work**2)


def fresh():
    """Return the arrays as they are at first."""
    return {
        "BUFFER": np.arange(5.0), "COUNTS": np.zeros(4, int), "GRID": np.arange(9.0).reshape(3, 3),
        "BY": {"row": np.ones(3)}, "MODEL": Model(), "SINGLE": np.zeros(3, np.float32),
    }  # fmt: skip


BUFFER, COUNTS, GRID, BY, MODEL, SINGLE = fresh().values()
LARGE = np.zeros(60_000)


def keeps_results(x):
    total = 0.0
    for i in range(len(x)):
        BUFFER[i] = x[i] ** 2
        total += BUFFER[i] * x[i]
    return total


def works_in_place(x):
    BUFFER[:3] = x
    BUFFER[1:4] *= x
    GRID[0] = BUFFER[:3]
    np.multiply(GRID[0], x, out=GRID[1])
    return np.sum(GRID**2) + BUFFER[3]


def counts(x):
    for i in range(3):
        if x[i] > 1.5:
            COUNTS[i] += 1
    return np.sum(x * x) * (1.0 + COUNTS[0])


def of_a_model(x):
    return MODEL.loss(x) * MODEL.loss(2.0 * x)


def in_a_dict(x):
    BY["row"][1] = x[0] * x[1]
    return np.sum(BY["row"] * x)


def by_other_names(x):
    row = GRID[1]
    row += x
    GRID.T[0] = row
    flat = GRID.reshape(-1)
    flat[4:7] = x
    return np.sum(GRID**3)


def on_one_path(x):
    if x[0] > 1.5:
        BUFFER[0] = x[0]
    return np.sum(x * x) * BUFFER[0]


def as_singles(x):
    SINGLE[:] = x
    return np.sum(x * x) + 0.0 * float(COUNTS[0])


def raises_later(x):
    BUFFER[0] = x[0]
    if x[1] < 0.0:
        raise ValueError("negative")
    BUFFER[1] += 1.0
    return np.sum(np.sqrt(x))


def prints(x):
    BUFFER[2] = x[1]
    print(BUFFER[2])
    return np.sum(x * BUFFER[:3])


def as_a_default(x, out=np.zeros(3)):
    out[:] = x * x
    return np.sum(out * x)


def also_by_another_name(x):
    BUFFER[0] = x[0]
    return np.sum(x * SAME[:3])


def also_a_part_of_it(x):
    BUFFER[0] = x[0]
    return np.sum(x * PART)


def with_a_nested_gradient(x):
    BUFFER[0] = x[0]
    return np.sum(grad(lambda y: np.sum(y * y * BUFFER[:3]))(x))


def puts_it_outside(x):
    BUFFER[0] = x[0]
    KEPT.append(BUFFER)
    return np.sum(x * x)


def little_of_a_large_one(x):
    LARGE[3:6] = x
    return np.sum(x * x)


KEPT = []
SAME, PART = BUFFER, BUFFER[1:4]
TRANSFORMED = [keeps_results, works_in_place, counts, of_a_model, in_a_dict, by_other_names,
               on_one_path, as_singles, raises_later, prints, as_a_default,
               also_by_another_name]  # fmt: skip
OTHERS = [also_a_part_of_it, with_a_nested_gradient, puts_it_outside, little_of_a_large_one]
POINTS = (X, X, X * 1.5, X * 0.5, np.array([1.0, -1.0, 2.0]), np.array([2.0, 0.0, 1.0]), X)


@pytest.fixture(autouse=True)
def _arrays():
    yield
    vars(HERE).update(fresh())


def told():
    """Return what the arrays hold."""
    kept = [getattr(HERE, name) for name in fresh()]
    arrays = [
        *kept[:3],
        kept[3]["row"],
        *vars(MODEL).values(),
        SINGLE,
        as_a_default.__defaults__[0],
    ]
    return [x.tolist() for x in (*arrays, *KEPT, LARGE[:8])]


def called(f, call):
    """Return what calls give, and what is in the arrays after each."""
    vars(HERE).update(fresh())
    vars(HERE).update(SAME=BUFFER, PART=BUFFER[1:4])
    KEPT.clear()
    LARGE[:] = 0.0
    found = []
    for x in POINTS:
        try:
            with np.errstate(all="ignore"):
                y = call(x.copy())
        except ValueError as error:
            y = str(error)
        found.append((y, told()))
    return found


@pytest.mark.parametrize("f", [*TRANSFORMED, *OTHERS])
def test_arrays_are_left_as_the_function_leaves_them(f):
    for (found, arrays), (y, want) in zip(called(f, value_and_grad(f)), called(f, f), strict=True):
        assert arrays == want
        assert found == y if isinstance(y, str) else np.isclose(found[0], y, equal_nan=True)


@pytest.mark.parametrize("f", [*TRANSFORMED, *OTHERS])
def test_gradients_are_those_of_the_tape(f):
    with testing.recorded_only():
        want = called(f, value_and_grad(f))
    found = called(f, value_and_grad(f))
    assert_like_the_tape([y for y, _ in found], [y for y, _ in want])


@pytest.mark.parametrize("f", TRANSFORMED)
def test_code_answers_and_the_tape_agrees(f):
    with testing.observed() as seen:
        called(f, value_and_grad(f))
    assert seen[-1].tier == "transformed", testing.why_recorded(f, X)
    with testing.compared(), testing.strict():  # and puts contents into the arrays once
        found = called(f, value_and_grad(f))
    for (_, arrays), (_, want) in zip(found, called(f, f), strict=True):
        assert arrays == want


@pytest.mark.parametrize("f", [keeps_results, works_in_place, of_a_model, by_other_names])
def test_gradients_are_those_of_differences(f):
    differentiated, step = value_and_grad(f), 1e-6 * np.array([0.0, 1.0, 0.0])

    def from_the_start(call, x):
        vars(HERE).update(fresh())
        return call(x)

    for _ in range(4):
        slope = from_the_start(differentiated, X)[1][1]
    up, down = from_the_start(f, X + step), from_the_start(f, X - step)
    assert np.isclose(slope, (up - down) / 2e-6, rtol=1e-5)
    assert np.isclose(from_the_start(lambda x: jvp(f, (x,), (step * 1e6,))[1], X), slope)


@pytest.mark.parametrize("f", OTHERS)
def test_the_tape_answers_for_the_others(f):
    called(f, f)
    assert testing.why_recorded(f, X) is not None


def test_an_array_that_is_the_argument_is_left_to_the_tape():
    slope = grad(in_a_dict)
    for _ in range(3):
        slope(X.copy())
    given = BY["row"]
    given[:] = 1.0
    with testing.observed() as seen:
        found = slope(given)
    assert seen[-1].tier == "recorded"
    vars(HERE).update(fresh())
    with testing.recorded_only():
        assert np.array_equal(slope(BY["row"]), found)


def test_an_array_that_cannot_be_written_raises_the_error_of_the_program():
    slope = grad(keeps_results)
    for _ in range(3):
        slope(X)
    BUFFER.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        slope(X)


def test_other_arrays_of_the_same_name_are_written():
    slope = grad(keeps_results)
    for _ in range(3):
        slope(X)
    before, HERE.BUFFER = BUFFER, np.zeros(7)
    with testing.observed() as seen:
        slope(2.0 * X)
    assert seen[-1].tier == "transformed"
    assert BUFFER.tolist() == [4.0, 16.0, 36.0, 0.0, 0.0, 0.0, 0.0]
    assert before.tolist()[:3] == [1.0, 4.0, 9.0]


def test_what_is_returned_beside_the_value_may_be_what_it_puts_into():
    log, calls = [], 0

    def loss(x):
        nonlocal calls
        calls += 1
        value = np.sum(x * x)
        log.append(value)
        BUFFER[:3] = x
        return value, (log, calls, x * 1.0)

    step = value_and_grad(loss, has_aux=True)
    with testing.observed() as seen:
        for k in range(1, 6):
            x = k * X
            (value, (kept, count, copied)), slope = step(x)
            assert kept is log
            assert count == calls == len(log) == k
            assert log[-1] == value == np.sum(x * x)
            assert copied is not x
            assert np.array_equal(copied, x)
            assert np.array_equal(slope, 2.0 * x)
            assert np.array_equal(BUFFER[:3], x)
    assert seen[-1].tier == "transformed"
    with testing.compared(), testing.strict():
        assert len(step(X)[0][1][0]) == calls == 6


def test_an_array_outside_that_is_written_and_returned_is_that_array():
    def loss(x):
        BUFFER[0] = x[0]
        return np.sum(x * x), BUFFER

    for _ in range(4):
        assert value_and_grad(loss, has_aux=True)(X)[0][1] is BUFFER


def test_an_object_that_is_differentiated_may_hold_the_array():
    def loss(model, x):
        BUFFER[:3] = model.weights * x
        return np.sum(BUFFER**2)

    for _ in range(3):
        slope = grad(loss)(MODEL, X)
    with testing.observed() as seen:
        slope = grad(loss)(MODEL, X)
    assert seen[-1].tier == "transformed"
    np.testing.assert_allclose(slope.weights, 2.0 * MODEL.weights * X**2)
    MODEL.weights = BUFFER[:3]
    BUFFER[:3] = 2.0
    with testing.observed() as seen:
        slope = grad(loss)(MODEL, X)
    assert seen[-1].tier == "recorded"
    BUFFER[:3] = 2.0
    with testing.recorded_only():
        np.testing.assert_array_equal(grad(loss)(MODEL, X).weights, slope.weights)


# -- what reads them while they are changed -------------------------------------------------------

WORK = np.zeros(2)


@functools.cache
def read_by_a_cache(k):
    return float(WORK[0]) + k


def asks_a_cache(x):
    WORK[0] += 1.0
    return np.sum(x * x) * read_by_a_cache(1)


def asks_a_cache_first(x):
    y = np.sum(x * x) * read_by_a_cache(1)
    WORK[0] += 1.0
    return y * WORK[0]


@pytest.mark.parametrize("f", [asks_a_cache, asks_a_cache_first])
@pytest.mark.parametrize("mode", [contextlib.nullcontext, testing.compared])
def test_a_cache_is_asked_when_the_program_asks_it(f, mode):
    found = []
    for is_plain in (True, False):
        WORK[:] = 0.0
        read_by_a_cache.cache_clear()
        testing.forget(f)
        for _ in range(4):
            with mode():
                found.append(f(X) if is_plain else jvp(f, (X,), (X,))[0])
                found.append(f(X) if is_plain else value_and_grad(f)(X)[0])
    assert found[8:] == pytest.approx(found[:8])


def with_counter_and_cache():
    n = 0

    @functools.cache
    def rate(k):
        return n + k

    def loss(x):
        nonlocal n
        n += 1
        return np.sum(x * x) * rate(1)

    return loss


@pytest.mark.parametrize("is_forward", [False, True])
def test_what_a_cache_keeps_of_a_variable_is_that_of_the_first_call(is_forward):
    loss, plain = with_counter_and_cache(), with_counter_and_cache()
    for _ in range(4):
        y, _ = jvp(loss, (X,), (X,)) if is_forward else value_and_grad(loss)(X)
        assert y == pytest.approx(plain(X))
