"""Many threads may differentiate the same function at once, the first call included."""

import importlib.util
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

from rulescore import RuleSet
from zygote_lite import gradient, pullback

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
