"""A generator with a `finally` that is left early is finalized where Python does, or refused."""

import contextlib
import gc
import itertools
import sys
import threading

import pytest

from zygote_lite import DifferentiationError, grad, jvp, value_and_grad
from zygote_lite._tape import generators
from zygote_lite.testing import recorded_only

OPEN = [0]
KEPT = []


@pytest.fixture(autouse=True, scope="module")
def _only_new_objects_are_collected():
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _nothing_is_open():
    _start()
    yield
    _start()


def _start():
    KEPT.clear()
    gc.collect()
    OPEN[0] = 0


def read(x):
    OPEN[0] += 1
    try:
        for i in range(5):
            yield x * i
    finally:
        OPEN[0] -= 1


def end(total):
    return total * (1 + OPEN[0])


def over_enumerate(x):
    total = 0.0
    for i, v in enumerate(read(x)):
        if i == 2:
            break
        total += v
    return end(total)


def over_map(x):
    total = 0.0
    for v in map(lambda v: v * 2, read(x)):
        if v > 1:
            break
        total += v
    return end(total)


def behind_zip(x):
    total = 0.0
    for _, v in zip(range(3), read(x), strict=False):
        total += v
    return end(total)


def before_zip(x):
    total = 0.0
    for v, _ in zip(read(x), range(3), strict=False):
        total += v
    return end(total)


def over_islice(x):
    total = 0.0
    for v in itertools.islice(read(x), 3):
        total += v
    return end(total)


def over_several(x):
    def doubled(values):
        for v in values:
            yield 2 * v

    total = 0.0
    for i, v in enumerate(map(lambda v: v * x, doubled(read(x)))):
        if i == 2:
            break
        total += v
    return end(total)


def over_numbers(x):
    total = 0.0
    for i, v in enumerate(read(1.0)):
        if i == 2:
            break
        total += v * x
    return end(total)


def in_a_gradient(x):
    def total(y):
        total = 0.0
        for i, v in enumerate(read(y)):
            if i == 2:
                break
            total += v * y
        return total

    return end(grad(total)(x) + x)


def still_in_a_variable(x):
    total, it = 0.0, read(x)
    for i, v in enumerate(it):
        if i == 2:
            break
        total += v
    total = end(total) + next(it)
    it.close()
    return end(total)


def still_in_a_list(x):
    def kept(values):
        KEPT.append(values)
        return values

    total = 0.0
    for i, v in enumerate(kept(read(x))):
        if i == 2:
            break
        total += v
    total = end(total)
    KEPT[0].close()
    return end(total)


def over_all(x):
    return end(sum(read(x)))


def closed(x):
    with contextlib.closing(read(x)) as it:
        next(it)
        total = next(it)
    return end(total)


def in_a_global(x):
    KEPT.append(read(1.0))
    next(KEPT[0])
    return end(x * next(KEPT[0]))


def in_an_argument(x, kept):
    kept.append(read(1.0))
    next(kept[0])
    return end(x * next(kept[0]))


def outside_of_its_try(x):
    def numbers(texts):
        for text in texts:
            try:
                v = float(text)
            except ValueError:
                continue
            yield v

    it = numbers(["1", "a", "2", "3"])
    return end(x * next(it) + next(it))


RIGHT = [
    over_enumerate,
    over_map,
    behind_zip,
    before_zip,
    over_islice,
    over_several,
    over_numbers,
    in_a_gradient,
    still_in_a_variable,
    still_in_a_list,
    over_all,
    closed,
    in_a_global,
    outside_of_its_try,
]

REFUSED_FORWARD = [over_map, over_several]
"""There the tape also holds the arguments of `map`."""


def _gradient_by_differences(f, x):
    values = []
    for at in (x + 1e-6, x - 1e-6):
        _start()
        values.append(f(at))
    _start()
    return (values[0] - values[1]) / 2e-6


# From Python 3.13 on a loop over several iterators holds more references to what it reads from.
LATE = {"over_enumerate", "over_several", "over_numbers", "in_a_gradient"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_is_finalized_where_python_does(f):
    if sys.version_info >= (3, 13) and f.__name__ in LATE:
        for _ in range(4):
            _start()
            with pytest.raises(DifferentiationError, match="is left before its end"):
                value_and_grad(f)(0.4)
        return
    value, slope = f(0.4), _gradient_by_differences(f, 0.4)
    for _ in range(4):
        _start()
        assert value_and_grad(f)(0.4) == pytest.approx((value, slope))
    for _ in range(2):
        _start()
        with recorded_only():
            assert value_and_grad(f)(0.4) == pytest.approx((value, slope))
        _start()
        if f in REFUSED_FORWARD:
            with pytest.raises(DifferentiationError, match="is left before its end"):
                jvp(f, (0.4,), (1.0,))
        else:
            assert jvp(f, (0.4,), (1.0,)) == pytest.approx((value, slope))


def test_what_the_own_module_holds_is_found_in_a_program_of_any_size(monkeypatch):
    monkeypatch.setattr(generators, "_MOST_HOLDERS", 0)
    _start()
    slope = _gradient_by_differences(in_a_global, 0.4)
    _start()
    assert value_and_grad(in_a_global)(0.4)[1] == pytest.approx(slope)


def test_what_an_argument_holds_is_not_left():
    for _ in range(4):
        _start()
        kept = []
        value, slope = value_and_grad(in_an_argument)(0.4, kept)
        assert (value, slope) == (0.8, 2.0)
        assert OPEN == [1]
        kept.clear()
        gc.collect()
        assert OPEN == [0]


def in_none(x):
    it = read(x)
    total = next(it) + next(it)
    it = None
    return end(total)


def deleted(x):
    it = read(x)
    total = next(it) + next(it)
    del it
    return end(total)


def of_a_callee(x):
    def second(x):
        it = read(x)
        next(it)
        return next(it)

    return end(second(x))


def of_numbers(x):
    it = read(1.0)
    next(it)
    total = x * next(it)
    it = None
    return end(total)


def in_a_list(x):
    its = [read(1.0)]
    next(its[0])
    total = x * next(its[0])
    its = None
    return end(total)


def in_an_object(x):
    class Reader:
        def __init__(self):
            self.it = read(x)

    reader = Reader()
    next(reader.it)
    total = next(reader.it)
    del reader
    return end(total)


def by_next(x):
    return end(x + next(read(x)))


def by_next_of_an_expression(x):
    return end(next(v for v in read(x) if v > 0))


def by_any(x):
    return end(x * any(v > 0 for v in read(x)))


def by_sum(x):
    return end(sum(itertools.islice(read(x), 3)))


def by_unpacking(x):
    a, b = (v for _, v in zip(range(2), read(x), strict=False))
    return end(a + b)


def of_a_run_inside(x):
    def total(y):
        its.append(read(y))
        next(its[0])
        return next(its[0]) * y

    its = []
    slope = grad(total)(x)
    its.clear()
    return end(slope + x)


LEFT = [
    in_none,
    deleted,
    of_a_callee,
    of_numbers,
    in_a_list,
    in_an_object,
    by_next,
    by_next_of_an_expression,
    by_any,
    by_sum,
    by_unpacking,
    of_a_run_inside,
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("f", LEFT, ids=lambda f: f.__name__)
def test_is_refused_where_it_is_finalized_too_late(f):
    message = r"test_left_generators\.py:\d+: the generator .*read is left .*close it.*\[ZL023\]"
    for _ in range(4 if f is LEFT[0] else 1):  # each walks over all objects
        _start()
        with pytest.raises(DifferentiationError, match=message):
            value_and_grad(f)(0.4)
    for derivative in (value_and_grad(f), lambda x: jvp(f, (x,), (1.0,))):
        _start()
        with recorded_only(), pytest.raises(DifferentiationError, match=message):
            derivative(0.4)


def test_an_error_of_the_program_stays():
    def f(x):
        it = read(x)
        next(it)
        raise KeyError("mine")

    for _ in range(4):
        with pytest.raises(KeyError, match="mine"):
            grad(f)(0.4)


def test_a_run_in_a_thread_knows_its_own():
    found = []

    def run():
        try:
            grad(deleted)(0.4)
        except DifferentiationError as error:
            found.append(error.code)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    _start()
    assert found == ["ZL023"]
    assert grad(over_all)(0.4) == 10.0


def test_what_its_end_may_not_do_is_refused_although_python_ignores_errors_there():
    def f(x):
        def steps():
            try:
                yield x
                yield x
            finally:
                total[0] = total[0] * float(str(x))

        total = [1.0]
        for v in steps():
            break
        return v * total[0]

    for _ in range(4):
        with pytest.raises(DifferentiationError):
            grad(f)(0.4)
