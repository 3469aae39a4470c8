"""Transformed code prints, logs and draws once and in the order of the program, or not at all."""

import contextlib
import copy
import datetime
import io
import logging
import random
import sys
import time
import warnings

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from zygote_lite import grad, gradient, jvp, pullback, testing, value_and_grad

log = logging.getLogger("test_effects")
log.propagate = False
FORMAT = logging.Formatter("%(levelname)s %(filename)s %(funcName)s %(lineno)d %(message)s")
source = np.random.default_rng(11)
twister = random.Random(5)
V = np.array([0.5, 0.6, 0.7])


# -- output --------------------------------------------------------------------------------------


def progress(x, n):
    s = 0.0
    for i in range(n):
        s = s + x * i
        print("step", i, f"{s:.3f}", x)
        if s > 4.0:
            print("large")
            break
    else:
        print("small", end="!\n")
    return s


def filling(x, n):
    y = np.zeros(3)
    for i in range(n):
        y[i] = x[i] ** 2
        print(f"y = {y}", [y[i], i], {"x": x}, sep="|")
    texts = "%.3f of {}" % y[1], "{:.2f}".format(y[2])  # noqa: UP031, UP032
    print(*texts, str(x[0]), None, flush=True)
    return np.sum(y)


def catching(x, n):
    try:
        print("before", x)
        if x > n:
            raise ValueError(f"{x} is large")
        y = x * x
        print("inside")
    except ValueError:
        print("caught")
        y = x
    finally:
        print("in any case")
    return y


def history(x, n):
    steps = []
    for i in range(n):
        steps.append(x * i)
        print(i, steps)
    print(len(steps), steps[-1])
    return sum(steps) + x


def logging_steps(x, n):
    for i in range(n):
        log.info("step %d: %s", i, x)
        log.debug("nobody sees %s", x * i)
        x = x * 1.5
    log.log(logging.ERROR, "at the end %.2f", x)
    return helper(x) * x


def helper(x):
    log.warning(f"in a helper {x:.1f}")
    return x


def bar(x, n):
    for i in range(n):
        x = x * 1.5
        sys.stdout.write(f"\r{i} {x:.3f}")
        sys.stdout.flush()
        print("at", x, file=sys.stderr)
    return x * sys.stderr.write("done\n")


OUTPUT = {
    progress: [(1.5, 4), (0.25, 3), (1.5, 0), (np.float64(2.5), 4)],
    filling: [(V, 3), (V, 1), (V.astype(np.float32), 2)],
    catching: [(0.5, 2), (3.5, 2), (0.5, 2), (np.float32(1.5), 1)],
    history: [(0.5, 3), (1.5, 1), (0.5, 2)],
    bar: [(0.5, 3), (1.5, 0), (np.float64(0.5), 2)],
    logging_steps: [(0.5, 3), (1.5, 0), (np.float64(0.5), 2)],
}


def with_output(f):
    """Return what a call gives, with all that is printed and logged meanwhile."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(FORMAT)
    log.setLevel(logging.INFO)
    log.handlers = [handler]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return f(), out.getvalue()
    finally:
        log.handlers = []


def assert_slope(f, found, x, *rest):
    """Assert that a gradient is that of central differences."""
    h = 1e-6 if np.asarray(x).dtype == np.float64 else 1e-2
    wide = np.asarray(x, float)
    slopes = [
        (f(x + h * e, *copy.deepcopy(rest)) - f(x - h * e, *copy.deepcopy(rest))) / (2 * h)
        for e in np.eye(wide.size).reshape(-1, *wide.shape)
    ]
    np.testing.assert_allclose(np.ravel(found), slopes, rtol=100 * h, atol=100 * h)


@pytest.mark.parametrize("f", OUTPUT, ids=lambda f: f.__name__)
def test_output_is_written_once_and_in_order(f):
    for tier in (testing.recorded_only, testing.transformed_only, testing.compared):
        for xs in [*OUTPUT[f], OUTPUT[f][0]]:
            with tier():
                (value, found), text = with_output(lambda xs=xs: value_and_grad(f)(*xs))
            want, expected = with_output(lambda xs=xs: f(*xs))
            assert text == expected
            assert_close(value, want)
            with_output(lambda xs=xs, found=found: assert_slope(f, found, *xs))


def test_nothing_is_written_twice_where_the_tape_takes_over(capsys):
    def f(x, y):
        print("once", x)
        z = np.sqrt(x) * y  # a zero meets an infinity
        if y < 0.0:
            raise ValueError("less than nothing")
        return z

    def g(x):
        print(f"{x:.1f}")
        return 1.0 / x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in (4.0, 1.0, 0.0, 4.0):
            gradient(f, np.float64(x), 0.0)
            assert capsys.readouterr().out == f"once {x}\n"
        with pytest.raises(ValueError, match="less"):
            gradient(f, 2.0, -1.0)
        assert capsys.readouterr().out == "once 2.0\n"
        for x in (1.0, 2.0, 4.0):
            gradient(g, x)
        capsys.readouterr()
        with pytest.raises(ZeroDivisionError):
            gradient(g, 0.0)
        assert capsys.readouterr().out == "0.0\n"


@pytest.mark.parametrize("way", ["print", "write", "flush"])
def test_nothing_is_done_after_output_that_fails(way, tmp_path):
    def f(x):
        if way == "print":
            print("a", file=stream)
        elif way == "write":
            stream.write("a")
        else:
            stream.flush()
        counts[0] += 1.0
        return x * counts[0]

    counts = np.zeros(1)
    with (tmp_path / "log").open("w") as stream:
        for i in range(3):
            assert value_and_grad(f)(2.0) == (2.0 * (i + 1), i + 1.0)
        with testing.transformed_only():
            assert value_and_grad(f)(2.0) == (8.0, 4.0)
    for _ in range(2):
        with pytest.raises(ValueError, match="closed"):
            value_and_grad(f)(2.0)
    assert counts[0] == 4.0


@pytest.mark.parametrize("at_the_end", [False, True])
def test_nothing_is_done_after_text_that_a_file_does_not_take(tmp_path, at_the_end):
    def f(x):
        if at_the_end:
            print(x, end=last, file=stream)
        else:
            print(last, file=stream)
        counts[0] += 1.0
        return x * counts[0]

    counts, last = np.zeros(1), "x"
    with (tmp_path / "log").open("w", encoding="ascii") as stream:
        for i in range(3):
            assert value_and_grad(f)(2.0) == (2.0 * (i + 1), i + 1.0)
        last = "é"
        for _ in range(3):
            with pytest.raises(UnicodeEncodeError):
                value_and_grad(f)(2.0)
            with pytest.raises(UnicodeEncodeError):
                jvp(f, (2.0,), (1.0,))
    assert counts[0] == 3.0


def test_a_handler_of_the_program_is_followed():
    class Keeping(logging.Handler):
        def emit(self, record):
            seen.append(record.args[0])

    seen, handler = [], Keeping()

    def f(x):
        log.warning("%s", x * x)
        return x * 3.0

    log.handlers = [handler]
    try:
        for k in range(4):
            assert grad(f)(2.0) == 3.0
            assert seen == [4.0] * (k + 1)
    finally:
        log.handlers = []


# -- random draws --------------------------------------------------------------------------------


def own_generator(x, n):
    drawn, s = np.random.default_rng(n), 0.0
    for _ in range(n):
        s = s + np.sum(np.tanh(x * drawn.normal(size=3)))
    return s + drawn.random() * np.sum(x)


class Sampler:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def draw(self, n):
        return self.rng.standard_normal(n)


def by_an_object(x, n):
    sampler = Sampler(n)
    return np.sum(x * sampler.draw(3)) + np.sum(x**2 * sampler.draw(3))


def given_generator(x, rng):
    noise = rng.normal(0.0, 1.0, size=x.shape)
    mask = rng.random(len(x)) < 0.7
    return np.sum((x + noise) ** 2 * mask) + x[rng.integers(0, 3)]


def one_or_the_other(x, rng=None):
    if rng is None:
        rng = np.random.default_rng(7)
    order = rng.permutation(len(x))
    if rng.random() < 0.5:
        return np.sum(x[order] * np.arange(len(x)))
    return np.sum(np.sin(x)) * rng.normal()


def global_state(x, n):
    if n == 5:
        np.random.seed(n)
    s = np.sum(x * np.random.randn(3)) * np.random.uniform(1, 2)
    for _ in range(n):
        s = s + random.random() * x[0] + random.gauss(0, 1) * x[1]
    return s * source.normal() + twister.uniform(0, 1) * x[2]


def raising(x, n):
    s = np.sum(x * source.normal(size=3))
    if n > 2:
        raise ValueError("after a draw")
    return s / (n - 1) + 0.0 * np.sqrt(x[0])


DRAWS = {
    own_generator: [(V, 3), (V, 1), (V.astype(np.float32), 2)],
    by_an_object: [(V, 3), (V, 4)],
    given_generator: [(V, np.random.default_rng(k)) for k in range(3)],
    one_or_the_other: [(V, np.random.default_rng(k)) for k in range(4)] + [(V,), (V, None)],
    global_state: [(V, 2), (V, 0), (V, 5), (V.astype(np.float32), 2)],
    raising: [(V, 2), (V, 3), (V, 1), (0.0 * V, 2)],
}


def states():
    return source.bit_generator.state, np.random.get_state(), random.getstate(), twister.getstate()


def restore(given):
    source.bit_generator.state = given[0]
    np.random.set_state(given[1])
    random.setstate(given[2])
    twister.setstate(given[3])


def drawn(f, xs, before):
    """Return what a call with some states gives, or raises, and the states after it."""
    restore(before)
    xs = copy.deepcopy(xs)
    try:
        found = f(*xs)
    except (ValueError, ZeroDivisionError) as error:
        found = repr(error)
    of_given = [x.bit_generator.state for x in xs if isinstance(x, np.random.Generator)]
    return found, repr((states(), of_given))


@pytest.mark.parametrize("f", DRAWS, ids=lambda f: f.__name__)
def test_draws_are_those_of_the_program(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, xs in enumerate([*DRAWS[f], DRAWS[f][0]] * 2):
            before = states()
            want, expected = drawn(f, xs, before)
            with testing.observed() as answers, (testing.compared if k % 2 else testing.strict)():
                found, after = drawn(value_and_grad(f), xs, before)
            assert after == expected
            if isinstance(want, str):
                assert found == want
                continue
            assert_close(found[0], want)
            if np.any(xs[0]) and np.isfinite(want):
                assert_slope(lambda *ys, before=before: drawn(f, ys, before)[0], found[1], *xs)
    assert answers[-1].is_transformed


def test_a_draw_around_an_argument_has_its_gradient():
    def f(x, rng):
        return rng.normal(x, 1.0) * x

    drawn = f(2.0, np.random.default_rng(0))
    for _ in range(4):
        assert grad(f)(2.0, np.random.default_rng(0)) == drawn / 2.0 + 2.0


# -- clocks --------------------------------------------------------------------------------------


def timed(x, seen):
    start = time.perf_counter()
    for _ in range(3):
        before = time.perf_counter_ns()
        x = x * np.sin(x)
        seen.append(time.perf_counter_ns() - before)
        seen.append(time.perf_counter() - start)
    if time.time() < 0.0:
        x = x * np.nan
    return np.sum(x)


def test_clocks_are_asked_where_they_stand():
    """No time is that of another place, of another turn, or of when the code was made."""

    def f(x):
        seen = []
        y = timed(x, seen)
        return y + 0.0 * sum(seen), seen

    want = grad(lambda x: timed(x, []))(V)
    for _ in range(4):
        before = time.perf_counter()
        with testing.observed() as answers:
            slope, seen = grad(f, has_aux=True)(V)
        after = time.perf_counter()
        assert_close(slope, want)
        assert all(type(t) is int and t > 0 for t in seen[::2])
        assert 0.0 < seen[1] < seen[3] < seen[5] < after - before
    assert answers[-1].is_transformed


def test_times_are_constants_of_their_own_call():
    def f(x):
        return x * (time.monotonic() - 0.5 * time.monotonic())

    for _ in range(4):
        before = time.monotonic()
        (y, slope), (y1, dy1) = value_and_grad(f)(2.0), jvp(f, (2.0,), (1.0,))
        assert before / 2 < slope < dy1 < time.monotonic()
        assert y == 2.0 * slope
        assert y1 == 2.0 * dy1
    slope = grad(lambda x: grad(lambda y: y * y * time.monotonic())(x))(1.0)
    assert 2.0 * before < slope < 2.0 * time.monotonic()


def test_answers_that_depend_on_a_clock_are_not_held_to_those_of_the_tape():
    def f(x):
        start = time.perf_counter()
        return x * (time.perf_counter() - start)

    with testing.compared(), testing.observed() as answers:
        y, slope = value_and_grad(f)(2.0)
        assert y == 2.0 * slope > 0.0
        y, back = pullback(f, 2.0)
        assert back(1.0) == (None, y / 2.0)
        assert jvp(f, (2.0,), (1.0,))[1] > 0.0
    assert answers[-1].is_transformed


def test_dates_of_now_are_asked_in_each_call():
    """Transformed code kept what `datetime64` had given when it was made."""

    def since(x):
        return x * float(np.datetime64("now").astype(np.int64))

    def of_today(x):
        return x * datetime.datetime.now().timestamp()

    for f, unit in ((since, 1.0), (of_today, 0.0)):
        for _ in range(3):
            first = grad(f)(1.0)
        time.sleep(1.1)
        assert unit <= grad(f)(1.0) - first < 60.0


def test_a_clock_that_is_replaced_is_no_longer_asked(monkeypatch):
    def f(x):
        return x * time.time()

    for _ in range(3):
        assert grad(f)(2.0) > 1e9
    monkeypatch.setattr(time, "time", lambda: 3.0)
    assert grad(f)(2.0) == 3.0


def test_a_pullback_has_no_effects_of_its_own(capsys):
    def f(x):
        print("once")
        return x * x * source.normal()

    for _ in range(4):
        before = states()
        y, back = pullback(f, 3.0)
        restore(before)
        factor = source.normal()
        assert (y, back(1.0)[1]) == (9.0 * factor, 6.0 * factor)
        assert back(2.0)[1] == 12.0 * factor
        assert capsys.readouterr().out == "once\n"


def asks_for_its_logger(x):
    logger = logging.getLogger("test_effects")
    y = x
    for i in range(3):
        y = y * x
        logging.getLogger("test_effects").info("step %d: %.3f", i, y)
    logger.warning("done: %s", y)
    return y


def test_loggers_that_are_asked_for_inside():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(lineno)d %(message)s"))
    log.setLevel(logging.INFO)
    log.handlers = [handler]
    try:
        asks_for_its_logger(0.7)
        once = stream.getvalue()
        assert testing.why_recorded(asks_for_its_logger, 0.7) is None
        for _ in range(3):
            assert grad(asks_for_its_logger)(0.7) == pytest.approx(4 * 0.7**3)
    finally:
        log.handlers = []
    assert once.count("\n") == 4
    assert stream.getvalue() == once * 5
