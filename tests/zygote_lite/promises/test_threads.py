"""Many threads may differentiate the same function at once, the first call included."""

import importlib.util
import math
import multiprocessing
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Queue, SimpleQueue
from threading import Barrier, Event, Thread

import numpy as np
import pytest

from rulescore import RuleSet, custom_rule
from zygote_lite import DifferentiationError, gradient, pullback

THREADS = 16


def new_function():
    scale = 3.0

    def inner(x):
        return math.sin(x) * scale

    def f(x, xs, model):
        a = inner(x)
        b = inner(a) + model["w"] * xs[0]
        return [a * b, xs[1]][0] * xs[1]

    return f


def expected(x, p, q, w):
    h = 1e-6

    def value(x, p, q, w):
        a = 3.0 * math.sin(x)
        return a * (3.0 * math.sin(a) + w * p) * q

    return [
        (value(x + h, p, q, w) - value(x - h, p, q, w)) / (2 * h),
        (value(x, p + h, q, w) - value(x, p - h, q, w)) / (2 * h),
        (value(x, p, q + h, w) - value(x, p, q - h, w)) / (2 * h),
        (value(x, p, q, w + h) - value(x, p, q, w - h)) / (2 * h),
    ]


def run_in_threads(work):
    barrier = Barrier(THREADS)

    def start(i):
        barrier.wait()
        return [work(i, k) for k in range(10)]

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(start, range(THREADS)))


def test_the_first_call_and_all_others():
    for _ in range(5):
        f = new_function()

        def work(i, k):
            x = 0.1 * i + 0.01 * k
            d_x, d_xs, d_model = gradient(f, x, [0.5, 0.6], {"w": 0.7})
            np.testing.assert_allclose(
                [d_x, *d_xs, d_model["w"]], expected(x, 0.5, 0.6, 0.7), rtol=1e-6, atol=1e-6
            )
            return True

        assert all(map(all, run_in_threads(work)))


def test_many_threads_share_one_model_and_one_pullback():
    f = new_function()
    xs, model = [0.5, 0.6], {"w": 0.7}
    _y, back = pullback(f, 0.3, xs, model)
    once = back(1.0)

    def work(i, k):
        return back(1.0) == once and gradient(f, 0.3, xs, model) == once[1:]

    assert all(map(all, run_in_threads(work)))
    assert (xs, model) == ([0.5, 0.6], {"w": 0.7})


def test_writes_to_new_objects_stay_in_their_thread():
    class Point:
        def __init__(self, x):
            self.x = x
            self.y = x * 2.0

    def f(x):
        p = Point(x)
        p.x = p.y * p.x
        return p.x * p.y

    def work(i, k):
        x = 1.0 + i
        return abs(gradient(f, x)[0] - 12 * x**2) < 1e-9

    assert all(map(all, run_in_threads(work)))


TEXT = """
import math
def f(x):
    return sum(v * x for v in [1.0, {k}.0]) * math.sin(x)
"""


def slope(k, x):
    return (1.0 + k) * (math.sin(x) + x * math.cos(x))


def check_fresh(i, k, tmp_path):
    names = {}
    exec(TEXT.format(k=k), names)
    return [gradient(names["f"], 0.3)[0] - slope(k, 0.3) for _ in range(3)]


def check_rules(i, k, tmp_path):
    def twice(x):
        return float(x) * 2.0

    off = []
    for factor in (2.0, 3.0):
        rule = RuleSet(f"of thread {i}")

        @rule(twice)
        def _(x: float, factor=factor):
            return x * 2.0, lambda dy: (dy * factor,)

        rule.register()
        off += [gradient(lambda x: twice(x) * x, 1.5)[0] - (1.5 * factor + 3.0) for _ in range(2)]
        rule.unregister()
    return off


def check_reloaded(i, k, tmp_path):
    path = tmp_path / f"module_{i}.py"
    path.write_text(TEXT.format(k=k))
    spec = importlib.util.spec_from_file_location(f"reloaded_{i}", path)
    module = importlib.util.module_from_spec(spec)
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    return [gradient(module.f, 0.3)[0] - slope(k, 0.3) for _ in range(3)]


def test_functions_rules_and_modules_come_and_go_in_eight_threads(tmp_path):
    checks = (check_fresh, check_rules, check_reloaded)
    barrier = Barrier(8)
    before = sys.getswitchinterval()

    def start(i):
        barrier.wait()
        return [checks[i % 3](i, k, tmp_path) for k in range(1, 4)]

    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(start, range(8)))
    finally:
        sys.setswitchinterval(before)
    assert max(abs(x) for thread in found for row in thread for x in row) < 1e-12


# -- what other threads read and write while a gradient is computed ------------------------------


def overwrite(a):
    a[0] = 5.0


def in_a_thread(a):
    thread = Thread(target=overwrite, args=(a,))
    thread.start()
    thread.join()


def in_a_pool(a):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(overwrite, a).result()


def by_map(a):
    with ThreadPoolExecutor(1) as pool:
        list(pool.map(overwrite, [a]))


@pytest.mark.parametrize("write", [in_a_thread, in_a_pool, by_map])
def test_a_thread_that_is_over_may_have_written_what_a_gradient_reads(write):
    def f(x):
        a = np.ones(2)
        before = np.sum(x * a)
        write(a)
        return before + np.sum(x**2 * a)

    _, back = pullback(f, 1.5)
    for _ in range(2):
        assert gradient(f, 1.5) == back(1.0)[1:] == (2.0 + 3.0 * 6.0,)


def serve(queue, done):
    while True:
        a = queue.get()
        if a is None:
            return
        overwrite(a)
        done.put(True)


@pytest.mark.parametrize("kind", [Queue, SimpleQueue])
@pytest.mark.parametrize("by_name", [True, False])
def test_a_thread_that_goes_on_must_not_write_what_a_gradient_reads(kind, by_name):
    queue, done = kind(), SimpleQueue()
    thread = Thread(target=serve, args=(queue, done))
    thread.start()

    def hand(a):
        queue.put(a)
        done.get()

    def f(x):
        a = np.ones(2)
        y = np.sum(x * a)
        if by_name:
            hand(a)
        else:
            queue.put(a)
            done.get()
        return y

    def g(x):
        a = np.ones(2)
        y = np.sum(x * a)
        hand(a.copy())
        return y

    try:
        with pytest.raises(DifferentiationError, match=r"changed since.*give the thread a copy"):
            gradient(f, 1.5)
        assert gradient(g, 1.5) == (2.0,)
    finally:
        queue.put(None)
        thread.join()


def test_threads_may_read_what_this_one_writes_after_them():
    def f(x):
        a = np.ones(3)
        y = np.sum(x * a)
        size = pool.submit(np.sum, a).result()
        a[0] = 4.0
        return y * size + np.sum(x * a)

    with ThreadPoolExecutor(1) as pool:
        assert gradient(f, 1.5) == (3.0 * 3.0 + 6.0,)


class Record:
    def __init__(self, value):
        self.value = value


def once_active(x, put):
    record = Record(x)
    y = record.value * x
    record.value = 5.0
    put(record)
    return y


def a_list(x, put):
    entries = [x]
    y = entries[0] * x
    entries[0] = 5.0
    put(entries)
    return y


def an_array(x, put):
    a = np.ones(2)
    y = np.sum(x * a)
    a[0] = 5.0
    put(a)
    return y


def putting_simply(get):
    queue = SimpleQueue()
    get.append(queue.get)
    return queue.put


def putting(get):
    queue = Queue()
    get.append(queue.get)
    return queue.put


def setting_the_result(get):
    future = Future()
    get.append(future.result)
    return future.set_result


@pytest.mark.parametrize("function", [once_active, a_list, an_array])
@pytest.mark.parametrize("way", [putting, putting_simply, setting_the_result])
def test_what_the_reverse_pass_undoes_is_not_given_to_a_thread_that_is_late(function, way):
    get, seen, going_back = [], [], Event()
    put = way(get)

    @custom_rule
    def waits(x):
        def back(dy):
            going_back.set()
            thread.join(5)
            return (dy,)

        return x, back

    def look():
        given = get[0]()
        going_back.wait(5)
        seen.append(given)

    thread = Thread(target=look)
    thread.start()
    with pytest.raises(DifferentiationError, match=r"(Queue.put|Future.set_result) gives another"):
        gradient(lambda x: function(waits(x), put), 1.5)
    put(None)
    going_back.set()
    thread.join()
    assert seen == [None]


def test_a_list_that_a_helper_gives_to_a_thread_gets_nothing_active():
    found, ready = [], Event()

    def start(entries):
        thread = Thread(target=lambda: ready.wait(5) and found.extend(entries))
        thread.start()
        return thread

    def f(x):
        entries = []
        thread = start(entries)
        try:
            entries.append(x)
        finally:
            ready.set()
            thread.join()
        return found[-1] * x

    with pytest.raises(DifferentiationError, match=r"list that another thread may read"):
        gradient(f, 1.5)


def through_queue(x):
    queue = multiprocessing.Queue()
    queue.put(x)
    return queue.get()


def through_simple_queue(x):
    queue = multiprocessing.SimpleQueue()
    queue.put([x])
    return queue.get()[0]


def through_pipe(x):
    near, far = multiprocessing.Pipe()
    near.send(x)
    return far.recv()


@pytest.mark.parametrize("function", [through_queue, through_simple_queue, through_pipe])
def test_what_queues_and_pipes_of_processes_are_given_is_refused(function):
    for _ in range(3):
        with pytest.raises(DifferentiationError, match=r"(put|send) gives another process"):
            gradient(function, 1.5)


def test_a_queue_that_one_thread_fills_and_empties_is_followed():
    def f(x):
        queue = Queue()
        queue.put(x)
        queue.put(x * x)
        return queue.get() * queue.get()

    assert gradient(f, 1.5) == (3 * 1.5**2,)
