"""Errors that reach the handlers of the program: which code answers, and what it gives.

Calls that raise come after calls that do not, and the other way round; the gradients are those of
finite differences, and the values those of the plain function.
"""

import contextlib
import math

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import testing, value_and_grad

V = np.array([0.5, 1.5, 2.5])
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
REGULAR = np.array([[2.0, 1.0], [1.0, 3.0]])


class Own(ValueError):
    """An error of the program."""


class Far(Exception):
    """Another one, which no handler for values catches."""


class Note:
    """Count how a block is entered and left."""

    def __init__(self, swallow):
        self.n, self.swallow = 0.0, swallow

    def __enter__(self):
        self.n = self.n + 1.0
        return self

    def __exit__(self, kind, value, trace):
        self.n = self.n + (10.0 if kind is not None else 100.0)
        return self.swallow


class NoteOfValues(Note):
    """Swallow errors of one class."""

    def __exit__(self, kind, value, trace):
        self.n = self.n * 2.0
        return kind is ValueError


def solved(a, b):
    try:
        y = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        y = b * 2.0 + np.sum(a)
    return np.sum(y * y)


def unused(a):
    try:
        np.linalg.inv(a)
        return np.sum(a)
    except np.linalg.LinAlgError:
        return np.sum(a * a)


def item(x, v, n):
    try:
        y = v[n] * x
    except IndexError:
        y = x * x * v[0]
    return y


def through_finally(x):
    def leaf(v):
        if v > 2.0:
            raise Own(v)
        return math.log(v)

    n = 0

    def middle(v):
        nonlocal n
        try:
            return leaf(v) * 2.0
        finally:
            n = n + 1

    try:
        y = middle(x)
    except Own:
        y = x * 3.0
    except ValueError:
        y = x * 5.0
    return y * n


def swallowed(x):
    note = Note(True)
    y = x
    with note:
        y = y * 3.0
        y = y * math.sqrt(x)
        y = y + 1.0
    return y * note.n


def left_by_error(x):
    note = Note(False)
    y = x
    try:
        with note:
            y = y * 3.0
            y = y * math.sqrt(x)
    except ValueError:
        y = y * x
    return y * note.n


def swallowed_by_class(x):
    note = NoteOfValues(False)
    y = x
    with note:
        y = y * math.sqrt(x)
    return y * note.n


def raised_again(x):
    y = x
    try:
        try:
            y = y * math.log(x)
        except ValueError as e:
            y = y * 2.0
            try:
                y = y / (x + 1.0)
            except ZeroDivisionError:
                raise e
    except ValueError:
        y = y * x
    return y


def another_raised(x):
    try:
        try:
            y = math.log(x)
        except ValueError as e:
            raise Far(x) from e
    except Far as f:
        y = f.args[0] * 3.0
    return y * x


def in_a_loop(x, n):
    y, bad = x, 0
    for i in range(n):
        try:
            z = math.sqrt(x - 0.31 * i)
        except ValueError:
            bad += 1
            if bad > 2:
                break
            continue
        else:
            y = y * z + x
        finally:
            y = y + 0.1 * x
    return y * (1 + bad)


def left_loop(xs):
    total = 0.0
    try:
        for v in xs:
            total += math.log(v)
    except ValueError:
        total = total * 2.0
    return total + xs[0]


def any_error(x):
    y = x
    try:
        y = y * 2.0
        y = y * math.sqrt(x - 1.0)
    except:  # noqa: E722
        y = y * x
    return y


def several(x, k):
    try:
        if k == 0:
            y = (x + 1.0) / (k * x)
        elif k == 1:
            y = math.exp(x)
        else:
            y = math.sqrt(x)
    except ZeroDivisionError:
        y = x * 2.0
    except OverflowError:
        y = x * 3.0
    except ValueError:
        y = x * 4.0
    return y * x


def on_objects(x):
    note = Note(False)

    def step(v):
        note.n = note.n + v
        if v > 1.0:
            raise Own
        note.n = note.n * 2.0
        return v * v

    try:
        y = step(x)
    except Own:
        y = x
    return y * note.n


def rebinds_the_name(x):
    e = x
    try:
        y = math.log(x)
    except ValueError:
        e = x * 2.0
        y = x
        return y * x
    return y * e


def in_arrays(v):
    out = np.zeros(3)
    try:
        out[0] = v[0] * 2.0
        out[1] = math.log(v[1])
        out[2] = v[2]
    except ValueError:
        out[2] = v[0] * v[1]
    return np.sum(out * v)


def in_dicts(x, key):
    table = {"a": x * 2.0, "b": x * x}
    try:
        return table[key] * x
    except KeyError:
        return x * 7.0


def left_by_break(x):
    y = x
    for i in range(3):
        for j in range(3):
            try:
                if i * j == 2:
                    raise Far
                y = y * x + math.sqrt(y - i)
            except ValueError:
                y = y * 0.5
            except Far:
                break
    return y


def returned_from_a_loop(x):
    for i in range(4):
        try:
            return math.sqrt(x - 2.0 + i) * x
        except ValueError:
            x = x * 1.1
    return x


def of_a_callee(x):
    def g(v):
        if v > 1.0:
            raise Own(v * 3.0)
        return v

    try:
        return g(x)
    except Own as e:
        return e.args[0] * x


def of_shapes(v, w):
    try:
        return np.sum(v * w)
    except ValueError:
        return np.sum(v) * np.sum(w)


def divided_by_nothing(x):
    out = []
    for k in (1.0, 0.0, 2.0):
        try:
            out.append(x / k)
        except ZeroDivisionError:
            out.append(x * x)
    return sum(out)


def in_a_message(x):
    try:
        y = math.log(x)
    except ValueError as e:
        message = f"of {x}: {e}"
        y = x * 2.0
        del message
    return y


NUMBERS = [(0.55,), (-0.52,), (1.7,), (2.5,), (0.55,), (-1.5,)]
OF_NUMBERS = (through_finally, swallowed, left_by_error, swallowed_by_class, raised_again,
              another_raised, any_error, on_objects, in_a_message, returned_from_a_loop,
              left_by_break, divided_by_nothing)  # fmt: skip
CASES = [
    *[(f, NUMBERS) for f in OF_NUMBERS],
    (solved, [(REGULAR, V[:2]), (SINGULAR, V[:2]), (REGULAR, V[:2])]),
    (unused, [(REGULAR,), (SINGULAR,)]),
    (item, [(0.5, V, 1), (0.5, V, 7), (0.7, V, -1), (0.7, V, -9)]),
    (in_a_loop, [(0.5, 2), (0.5, 7), (2.0, 5), (0.5, 0)]),
    (several, [(0.5, 2), (0.5, 0), (-0.5, 2), (0.5, 1), (800.0, 1), (5.0, 1)]),
    (in_arrays, [(V,), (V * [1, -1, 1],), (V,)]),
    (in_dicts, [(0.5, "a"), (0.5, "z"), (0.5, "b")]),
    (of_shapes, [(V, V), (V, V[:2]), (V, V[:1])]),
]
LEFT = [
    (left_loop, [([1.0, 2.0],), ([1.0, -2.0, 3.0],)]),
    (rebinds_the_name, NUMBERS),
    (of_a_callee, NUMBERS),
]


def differentiated(f, xs):
    """Check the gradient of a call, and return whether transformed code answered it."""
    numbers = tuple([i for i, x in enumerate(xs) if not isinstance(x, int | str)])
    with testing.observed() as answers, testing.compared(), testing.strict():
        y, d = value_and_grad(f, numbers)(*xs)
    assert y == f(*xs)
    given = [xs[i] for i in numbers]
    if not singular(xs):
        assert_slopes(d, lambda *zs: f(*zs, *xs[len(zs) :]), given, 1e-6)
    return answers[0].is_transformed


def singular(xs):
    """Return whether an argument is a matrix that any difference makes regular."""
    return any(x is SINGULAR for x in xs)


@pytest.mark.parametrize(("f", "choices"), CASES)
def test_errors_reach_the_handlers(f, choices):
    testing.forget(f)
    for xs in (*choices, *reversed(choices)):
        assert differentiated(f, xs)


@pytest.mark.parametrize(("f", "choices"), CASES)
def test_the_first_call_may_raise(f, choices):
    testing.forget(f)
    for xs in reversed(choices):
        differentiated(f, xs)


@pytest.mark.parametrize(("f", "choices"), LEFT)
def test_what_is_left_to_the_tape(f, choices):
    testing.forget(f)
    for xs in (*choices, *choices):
        differentiated(f, xs)


def test_code_without_handlers_comes_first():
    """No handler is written before an error has come."""
    testing.forget(any_error)
    differentiated(any_error, (1.7,))
    assert "except" not in testing.programs(any_error)[0]
    differentiated(any_error, (0.5,))
    assert any("except" in text for text in testing.programs(any_error))


def test_an_error_passes_a_finally_on_its_way():
    """What always raises inside a `try` with `finally` is no attempt of a handler around it."""

    def f(x, key):
        y = x
        try:
            try:
                z = {"a": x}[key]
            finally:
                y = y * 3.0
        except KeyError:
            z = x * x
        return y * z

    for key in ("a", "b", "b", "a"):
        assert differentiated(f, (0.7, key))


def test_what_no_handler_names_is_the_users():
    def f(x):
        try:
            return math.log(x) / (x - 1.0)
        except ZeroDivisionError:
            return x * x

    for _ in range(3):
        assert value_and_grad(f)(1.0) == (1.0, 2.0)
        with pytest.raises(ValueError, match="math domain"):
            value_and_grad(f)(-1.0)


def test_suppressed_errors():
    def f(v):
        y = np.sum(v)
        with contextlib.suppress(ValueError):
            y = y * 2.0
            y = y + math.log(v[0])
            y = y * 3.0
        return y

    for xs in ((V,), (-V,), (V,)):
        differentiated(f, xs)


def root_below_one(v, kind):
    if v > 1.0:
        raise kind("too much")
    return abs(v**0.5)  # of negative numbers it is complex, for which no code was made


def catches_all(x):
    try:
        y = root_below_one(x, Exception)
    except Exception:
        y = x * 3.0
    return y * x


def catches_what_leaves(x):
    try:
        y = root_below_one(x, RuntimeError)
    except RuntimeError:
        y = x * 3.0
    return y * x


@pytest.mark.parametrize("f", [catches_all, catches_what_leaves])
def test_what_leaves_the_code_passes_the_handlers(f):
    """Code is left on purpose by an error, which no handler of the program may catch."""
    for x in (0.5, 0.5, 1.5, 1.5, -0.5, 0.7, 1.5):
        assert differentiated(f, (x,)) is (x > 0.0)
