"""`with` in transformed code: floating-point errors, warnings, `suppress`, objects."""

import contextlib
import functools
import math
import threading
import warnings

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import answers, assert_agreement
from zygote_lite import code_adjoint, testing, value_and_grad

V = np.array([1.0, 2.0, 3.0])


def quiet_logarithm(x, v):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(v * x)
        z = np.where(np.isfinite(y), y, 0.0)
    return np.sum(z) * x


def left_in_a_loop(x, v):
    s = 0.0
    for k in range(4):
        with np.errstate(all="ignore"):
            y = np.sqrt(v * x)
            if k == 1:
                continue
            if k == 3:
                break
            s = s + np.sum(y)
        s = s + np.sum(v) * x
    return s


def returned_from(x, v):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for w in v:
            if w > 2.0:
                return np.exp(w * x)
        else:
            x = x * 3.0
    return np.sum(v) * x


def without_warnings(x, v):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=RuntimeWarning)
        y = np.log(v) * x
        z = np.where(v > 0.0, y, 0.0)
    return np.sum(z)


def without_warnings_by_option(x, v):
    with warnings.catch_warnings(action="ignore"):
        y = np.log(v) * x
    return np.sum(np.where(v > 0.0, y, 0.0))


def errors_are_raised(x, v):
    try:
        with np.errstate(all="raise"):
            np.log(v)
            y = np.sum(v) * x * x
    except FloatingPointError:
        y = x * 3.0
    return y


def inner_state_wins(x, v):
    with np.errstate(all="raise"):
        with np.errstate(divide="ignore"):
            y = np.log(v)
        z = np.where(v > 0.0, y, 1.0) * x
    return np.sum(z)


def warnings_are_raised(x, v):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.log(v)
    except RuntimeWarning:
        return x * 3.0
    return x * x


def written_in_it(x, v):
    y = np.zeros(3)
    with np.errstate(all="ignore"):
        y[1:] = v[1:] / x
    return np.sum(y)


def made_in_a_function():
    return np.errstate(over="ignore")


def state_from_a_function(x, v):
    with made_in_a_function():
        y = np.exp(v * x)
    return np.sum(np.where(np.isfinite(y), y, 0.0))


def nothing(x, v):
    with contextlib.nullcontext(), contextlib.nullcontext(x * 2.0) as y:
        y = y * x
    return y


def suppressed(x, v):
    y = x
    with contextlib.suppress(ValueError, ZeroDivisionError):
        y = y * 2.0
        y = y * math.sqrt(x) / v[0].item()
        return y
    return y * x


def set_and_set_back(x, v):
    old = np.seterr(divide="ignore", invalid="ignore")
    y = np.log(v * x)
    np.seterr(**old)
    return np.sum(np.where(np.isfinite(y), y, 0.0)) * x


MODE = "plain"


class mode:
    def __init__(self, new):
        self.new, self.before = new, MODE

    def __enter__(self):
        set_mode(self.new)

    def __exit__(self, *args):
        set_mode(self.before)


def set_mode(new):
    global MODE
    MODE = new.lower()


def by_mode(v):
    return v * v if MODE == "square" else v


def in_another_mode(x, v):
    with mode("Square"):
        y = by_mode(v * x)
    return np.sum(y + by_mode(v))


SILENT = [quiet_logarithm, left_in_a_loop, returned_from, without_warnings, inner_state_wins,
          without_warnings_by_option, written_in_it, state_from_a_function, nothing,
          set_and_set_back, in_another_mode]  # fmt: skip
CHOICES = [(0.5, V), (1.5, V), (0.5, V * 0.0), (0.5, V / 4.0), (300.0, V)]


@pytest.mark.parametrize("f", [*SILENT, errors_are_raised, warnings_are_raised])
def test_transformed_code_answers(f):
    for x, v in CHOICES:
        with testing.recorded_only(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = value_and_grad(f, (0, 1))(x, v)
        if f in (errors_are_raised, warnings_are_raised) and not v.any():
            for _ in range(3):
                np.testing.assert_equal(value_and_grad(f, (0, 1))(x, v), want)
            continue
        if not np.isfinite(want[0]) or not all(np.isfinite(d).all() for d in want[1]):
            continue
        with testing.transformed_only(), warnings.catch_warnings():
            warnings.simplefilter("error" if f in SILENT and f is not nothing else "default")
            y, (d, e) = value_and_grad(f, (0, 1))(x, v)
        assert y == want[0] == f(x, v)
        assert d == pytest.approx(want[1][0], rel=1e-12)
        np.testing.assert_allclose(e, want[1][1], rtol=1e-12)


@pytest.mark.parametrize("f", SILENT)
def test_the_state_is_as_it_was(f):
    with np.errstate(divide="raise", over="warn"):
        before, filters = np.geterr(), list(warnings.filters)
        for x, v in CHOICES:
            with contextlib.suppress(FloatingPointError):
                value_and_grad(f)(x, v)
            assert np.geterr() == before
            assert list(warnings.filters) == filters


def test_what_is_outside_warns():
    def f(x, v):
        with np.errstate(divide="ignore"):
            y = np.where(v > 0.0, np.log(v), 0.0)
        return np.sum(y + np.where(v > 0.0, np.log(v), 0.0)) * x

    for _ in range(2):
        value_and_grad(f)(0.5, V)
    with testing.transformed_only(), pytest.warns(RuntimeWarning, match="divide"):
        value_and_grad(f)(0.5, V * 0.0)


def test_the_text():
    text = code_adjoint(quiet_logarithm, 0.5, V)
    head = '    with np.errstate(divide="ignore", invalid="ignore"):'
    lines = text.partition(head)[2].splitlines()[1:]
    inside = [line for line in lines if line.startswith("        ")]
    assert any("np.log" in line for line in inside[:4])
    assert next(line for line in lines if not line.startswith("        ")).endswith(".sum()")
    text = code_adjoint(left_in_a_loop, 0.5, V)
    assert text.partition("def back")[0].count("with np.errstate") == 2
    assert "with" not in code_adjoint(nothing, 0.5, V)


def test_suppress():
    for x in (0.5, 0.5, -0.5, 0.7, -0.5):
        with testing.compared():
            assert value_and_grad(suppressed)(x, V)[0] == suppressed(x, V)
    with testing.transformed_only():
        value_and_grad(suppressed)(0.5, V)


class Scaled:
    """A manager written in Python."""

    def __init__(self, k):
        self.k = k

    def __enter__(self):
        return self.k * 2.0

    def __exit__(self, kind, error, trace):
        return False


class Counted(Scaled):
    """A manager that counts."""

    count = 0

    def __enter__(self):
        Counted.count += 1
        return self.k


SCALED = Scaled(3.0)
COUNTED = Counted(3.0)
LOCK = threading.Lock()


def by_object(x):
    with SCALED as k:
        y = x * k
    return y * x


def test_an_object_with_methods_in_python():
    with testing.transformed_only(), testing.compared():
        assert value_and_grad(by_object)(2.0) == (24.0, 24.0)


def test_its_class_may_change(monkeypatch):
    for _ in range(3):
        value_and_grad(by_object)(2.0)
    monkeypatch.setattr(Scaled, "__enter__", lambda self: self.k)
    assert value_and_grad(by_object)(2.0) == (12.0, 12.0)
    monkeypatch.setattr(SCALED, "k", 5.0)
    assert value_and_grad(by_object)(2.0) == (20.0, 20.0)


def by_what_counts(x):
    with COUNTED as k:
        return x * x * k


def under_a_lock(x):
    with LOCK:
        return x * x


def state_on_one_path(x):
    with np.errstate(all="ignore") if x > 1.0 else contextlib.nullcontext():
        return x * x


def entered_twice(x):
    state = np.errstate(all="ignore")
    with state:
        y = x * x
    try:
        with state:
            return y * 5.0
    except TypeError:
        return y * 3.0


def entered_in_a_loop(x):
    state = np.errstate(all="ignore")
    y = x
    for _ in range(2):
        try:
            with state:
                y = y * x
        except TypeError:
            y = y * 3.0
    return y


def filters_on_one_path(x):
    with warnings.catch_warnings():
        if x > 1.0:
            warnings.simplefilter("ignore")
        return x * np.sum(np.log(V))


def filters_for_all(x):
    warnings.simplefilter("ignore", category=ImportWarning)
    return x * x


def calls_back(x):
    seen = []
    with np.errstate(divide="call", call=lambda *given: seen.append(given)):
        np.log(np.zeros(2))
    return x * len(seen)


def keeps_warnings(x):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        np.log(np.zeros(2))
    return x * len(found)


def opened(x):
    with open(__file__) as file:
        return x * x * len(file.name)


@pytest.mark.parametrize(
    "f",
    [
        by_what_counts, under_a_lock, state_on_one_path, entered_twice, entered_in_a_loop,
        filters_on_one_path, filters_for_all, calls_back, keeps_warnings, opened,
    ],
)  # fmt: skip
def test_others_are_recorded(f):  # but what counts, and that whose path tells which manager it is
    is_transformed = f in (by_what_counts, state_on_one_path)
    assert (testing.why_recorded(f, 2.0) is None) == is_transformed
    with warnings.catch_warnings():
        for x in (2.0, 0.5, 2.0):
            count = Counted.count
            y, d = value_and_grad(f)(x)
            assert Counted.count - count == (f is by_what_counts)
            assert y == f(x)
            assert d == pytest.approx((f(x + 1e-4) - f(x - 1e-4)) / 2e-4)


def leaves_a_state(x):
    np.seterr(under="ignore")
    return x * x


def leaves_a_mode(x):
    set_mode("Square")
    return by_mode(x) * x


def mode_on_one_path(x):
    if x > 1.0:
        with mode("Square"):
            return by_mode(x)
    return x * x


def mode_around_what_is_recorded(x):
    with mode("Square"):
        return of_the_mode(x, 3)


def of_the_mode(x, n):
    y = sum(x for _ in sorted(range(n), key=lambda i: -i))
    return by_mode(y)


@functools.lru_cache
def kept_of_the_mode(k):
    return 2.0 * k if MODE == "square" else 3.0 * k


def kept_in_a_mode(x):
    kept_of_the_mode.cache_clear()
    with mode("Square"):
        return x * x * kept_of_the_mode(1.0)


def part_of_a_state(x):
    old = np.seterr(invalid="ignore")
    np.seterr(invalid=old["invalid"])
    return x * x * len(old["invalid"])


@pytest.mark.parametrize(
    "f",
    [leaves_a_state, leaves_a_mode, mode_on_one_path, mode_around_what_is_recorded,
     kept_in_a_mode, part_of_a_state],
)  # fmt: skip
def test_what_is_set_otherwise_is_seen(f, monkeypatch):
    for x in (2.0, 2.0, 2.0, 0.5, 2.0):
        monkeypatch.setitem(globals(), "MODE", "plain")
        with np.errstate(under="warn"):
            want, set_now = f(x), (MODE, np.geterr())
        monkeypatch.setitem(globals(), "MODE", "plain")
        with np.errstate(under="warn"):
            y, d = value_and_grad(f)(x)
            assert (MODE, np.geterr()) == set_now
        assert y == want
        assert d == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-6)


def test_what_a_cache_keeps_is_asked_for_in_the_mode():
    def f(x):
        with mode("Square"):
            return x * x * kept_of_the_mode(1.0)

    for _ in range(5):
        kept_of_the_mode.cache_clear()
        assert value_and_grad(f)(2.0) == (8.0, 8.0)


@contextlib.contextmanager
def noting(v, notes):
    notes.append(v)
    yield v * v
    notes.append(v * 3.0)
    notes[0] = notes[0] * v


@contextlib.contextmanager
def twice(v):
    yield v
    yield v * 2.0


def of_generators(x, n):
    notes, y = [], 0.0
    for k in range(4):
        with noting(x * k, notes) as s, noting(s, notes) as t:
            y += s * t
            if y > n:
                break
    return y + sum(notes) * len(notes)


def ends_late(x, n):
    try:
        with twice(x) as s:
            y = s * n
    except RuntimeError:
        y = x * 7.0
    return y


def test_generators_that_are_managers():
    choices = (0.5, 1), (1.3, 1), (0.5, 9)
    assert assert_agreement(of_generators, *choices, argnums=(0,))
    assert answers(of_generators, (0.5, 1))
    slope = (of_generators(0.5 + 1e-6, 1) - of_generators(0.5 - 1e-6, 1)) / 2e-6
    assert value_and_grad(of_generators)(0.5, 1)[1] == pytest.approx(slope, rel=1e-6)
    assert_agreement(ends_late, *choices, argnums=(0,))


def ends_after_what_it_does(x, n):
    notes = [x]

    def steps():
        yield x
        notes.append(x * 2.0)
        notes[0] = notes[0] * x

    it = steps()
    y = next(it)
    try:
        n = 5.0
        y = next(it)
        n = 7.0
    except StopIteration:
        y = y * notes[1]
    return y * notes[0] * n


def test_a_generator_does_what_is_left_and_then_ends():
    assert assert_agreement(ends_after_what_it_does, (0.5, 1.0), (1.3, 2.0))
    assert answers(ends_after_what_it_does, (0.5, 1.0))
