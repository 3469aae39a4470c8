"""Functions that call themselves: a function of the text for each, that calls itself, too."""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import grad, gradient, testing, value_and_grad

K = 0.7
V = np.array([0.3, 0.5, 0.9, 1.2, 0.1])
A = np.array([[0.5, 0.2, 0.1], [0.3, 0.9, 0.4], [0.2, 0.1, 0.8]])


def power(x, n):
    if n == 0:
        return 1
    if n % 2:
        return x * power(x, n - 1)
    y = power(x, n // 2)
    return y * y


def of_globals(x, n):
    if n < 1:
        return x * K
    return math.sin(of_globals(x * K, n - 1)) + x


def of_arrays(v, n):
    def halved(w, m):
        if m == 0:
            return w
        return np.tanh(halved(w * 0.5, m - 1)) + w

    return np.sum(halved(v, n))


def of_captured(x, n):
    k = x * 2.0

    def go(y, m):
        if m == 0:
            return y * k
        return go(y * x, m - 1) + k

    return go(x, n)


def mutual(x, n):
    def even(v, m):
        return v if m == 0 else odd(v * x, m - 1)

    def odd(v, m):
        return v * v if m == 0 else even(v + x, m - 1)

    return even(x, n)


def in_a_loop(x, n):
    if n == 0:
        return x
    y = 0.0
    for i in range(n):
        y += in_a_loop(x * 0.5, i) * x
    return y


def newton(x, y, n):
    if n == 0 or abs(y * y - x) < 1e-12:
        return y
    return newton(x, 0.5 * (y + x / y), n - 1)


def halves(v, low, high):
    if high - low == 1:
        return v[low] * v[low]
    middle = (low + high) // 2
    return math.sin(halves(v, low, middle)) + 0.5 * halves(v, middle, high)


def determinant(a):
    if a.shape[0] == 1:
        return a[0, 0]
    s = 0.0
    for j in range(a.shape[0]):
        s += (-1.0) ** j * a[0, j] * determinant(np.delete(a[1:], j, axis=1))
    return s


def integral(f, a, b, eps, n):
    middle = (a + b) / 2
    rough = (b - a) * f(middle)
    fine = (b - a) / 2 * (f((a + middle) / 2) + f((middle + b) / 2))
    if n == 0 or abs(rough - fine) < eps:
        return fine
    return integral(f, a, middle, eps / 2, n - 1) + integral(f, middle, b, eps / 2, n - 1)


def adaptive(x):
    return integral(lambda t: math.exp(-x * t * t), 0.0, 1.0, 1e-4, 9)


class Scaled:
    """Call a method of its own."""

    def __init__(self, k):
        self.k = k

    def go(self, x, n):
        return x if n == 0 else self.k * self.go(x * self.k, n - 1)


def by_method(x, n):
    return Scaled(0.5 * x).go(x, n)


def of_tuples(x, y, n):
    def turned(s, m):
        a, b = s
        if m == 0:
            return a * b
        return turned((b, a * b), m - 1)

    return turned((x, y), n)


def raising(x, n):
    if n == 0:
        return math.log(x)
    try:
        return raising(x - 0.2, n - 1) * x
    except ValueError:
        return x * x


def inactive(x, n):
    def factorial(k):
        return 1 if k == 0 else k * factorial(k - 1)

    return x**2 / factorial(n)


def fourier(v):
    def by_halves(a):
        n = len(a)
        if n == 1:
            return a
        even, odd = by_halves(a[::2]), by_halves(a[1::2])
        turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        return np.concatenate([even + turned, even - turned])

    return np.sum(np.abs(by_halves(v.astype(complex)))[1:])


def products_by_blocks(a, b):
    if len(a) == 1:
        return a * b
    m = len(a) // 2
    p, q, r, s = a[:m, :m], a[:m, m:], a[m:, :m], a[m:, m:]
    w, x, y, z = b[:m, :m], b[:m, m:], b[m:, :m], b[m:, m:]
    by_blocks = products_by_blocks
    first = [by_blocks(p, w) + by_blocks(q, y), by_blocks(p, x) + by_blocks(q, z)]
    return np.block([first, [by_blocks(r, w) + by_blocks(s, y), by_blocks(r, x) + by_blocks(s, z)]])


def of_blocks(a, b):
    return np.sum(products_by_blocks(a, b) ** 2)


def sorted_by_parts(v):
    if len(v) < 2:
        return v
    rest = v[1:]
    first, last = sorted_by_parts(rest[rest < v[0]]), sorted_by_parts(rest[rest >= v[0]])
    return np.concatenate([first, v[:1], last])


def of_ranks(v):
    return np.sum(sorted_by_parts(v) * np.arange(len(v)))


def shorter_and_complex(v):
    def go(z, k):
        if k == 0:
            return z
        return np.concatenate([go(z[1:] * z[:-1], k - 1) * 1j, z[:1]])

    z = go(v * (1 + 0.5j), len(v) - 1)
    return np.sum(z.real**2) + np.sum(z.imag * np.arange(len(z)))


EIGHT = np.array([0.3, 0.5, 0.9, 1.2, 0.1, -0.4, 0.8, 0.2])
BLOCKS = EIGHT[:4, None] * EIGHT[4:] + np.eye(4)
CASES = [
    (power, [(1.1, 13), (0.9, 20), (0.9, 1)]),
    (of_globals, [(0.5, 7), (0.3, 0), (0.3, 3)]),
    (of_arrays, [(V, 6), (V[:2], 3), (V, 0)]),
    (of_captured, [(0.5, 7), (0.5, 0)]),
    (mutual, [(0.5, 9), (0.5, 10), (0.5, 0)]),
    (in_a_loop, [(0.5, 6), (0.5, 0), (0.5, 5)]),
    (newton, [(2.0, 1.0, 20), (3.0, 1.0, 20), (2.0, 1.0, 2)]),
    (halves, [(V, 0, 5), (V, 0, 1), (V, 1, 4)]),
    (determinant, [(A,), (A[:2, :2],)]),
    (adaptive, [(0.5,), (3.0,)]),
    (by_method, [(0.5, 7), (0.4, 1)]),
    (of_tuples, [(0.5, 0.9, 7), (0.5, 0.9, 0)]),
    (raising, [(1.5, 6), (2.5, 6), (0.4, 0), (0.5, 9)]),
    (inactive, [(0.5, 6), (0.5, 2)]),
    (fourier, [(EIGHT,), (EIGHT[:2],), (EIGHT[:1],)]),
    (of_blocks, [(BLOCKS, BLOCKS.T * 0.5), (BLOCKS[:2, :2], BLOCKS[2:, 2:])]),
    (of_ranks, [(EIGHT,), (V,)]),
    (shorter_and_complex, [(V,), (V[:3],)]),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("f", "choices"), CASES)
def test_functions_that_call_themselves(f, choices):
    testing.forget(f)
    for xs in (*choices, *choices):
        numbers = tuple([i for i, x in enumerate(xs) if not isinstance(x, int)])
        with testing.observed() as answers, testing.compared(), testing.strict():
            y, d = value_and_grad(f, numbers)(*xs)
        assert y == f(*xs)
        given = [xs[i] for i in numbers]
        assert_slopes(d, lambda *zs, xs=xs: f(*zs, *xs[len(zs) :]), given, 1e-6)
    assert answers[0].is_transformed


def test_the_text_has_a_function_that_calls_itself():
    testing.forget(of_globals)
    with testing.transformed_only():
        value_and_grad(of_globals)(0.5, 3)
    (text,) = testing.programs(of_globals)
    for name in ("of_globals_forward", "of_globals_back"):
        assert f"    def {name}(" in text
        assert text.count(f"{name}(") == 3  # defined, and called in itself and outside


def test_it_goes_as_deep_as_the_function():
    """The engine adds no frames of its own between the calls."""

    def down(x, n):
        return x if n == 0 else math.sin(down(x, n - 1)) + 0.1

    assert testing.why_recorded(down, 0.5, 5, argnums=0) is None
    assert testing.why_recorded(down, 0.5, 700, argnums=0) is None


def test_a_gradient_by_an_object_is_the_tapes():
    def through(p, x, n):
        return p.go(x, n)

    p = Scaled(0.6)
    for _ in range(3):
        y, (dp, dx) = value_and_grad(through, (0, 1))(p, 0.5, 7)
    assert y == p.go(0.5, 7)
    assert dp.k == pytest.approx(14 * y / 0.6)
    assert dx == pytest.approx(y / 0.5)


def test_what_a_function_changes_around_it_is_not_followed():
    def counted(x, n):
        calls = 0

        def go(y, m):
            nonlocal calls
            calls += 1
            return y if m == 0 else go(y * x, m - 1) * calls

        return go(x, n) + calls

    for n in (5, 5, 5, 2):
        y, d = value_and_grad(counted)(0.5, n)
        assert y == counted(0.5, n)
        assert d == pytest.approx(
            (counted(0.5 + 1e-6, n) - counted(0.5 - 1e-6, n)) / 2e-6, rel=1e-6
        )


def pair_by_halves(y):
    if len(y) == 1:
        return y, -y
    even, odd = pair_by_halves(y[::2]), pair_by_halves(y[1::2])
    return np.concatenate([even[0] + 0.5 * odd[1], even[1] - odd[0]]), even[0] * 2.0


def test_a_function_that_is_given_up_is_not_called():
    f = lambda x: (pair_by_halves(x * 2.0)[0] ** 2).sum()
    x = np.array([0.3, -0.7, 1.1, 0.4])
    with testing.compared(), testing.strict():
        d = grad(f)(x)
    assert testing.why_recorded(f, x) is not None
    assert_slopes((d,), f, (x,), 1e-7)


def slopes_of_slopes(v, n=2):
    if n == 0:
        return np.sum(np.exp(-v * v))
    return np.sum(grad(lambda w: slopes_of_slopes(w, n - 1))(v) * v) + np.sum(v)


def test_a_gradient_of_the_function_itself_inside_it_is_recorded():
    with testing.strict():
        for _ in range(3):
            got = grad(slopes_of_slopes)(V, 1)
            assert np.allclose(got, 4 * V * (V**2 - 1) * np.exp(-V * V) + 1)
        assert "calls itself" in testing.why_recorded(slopes_of_slopes, V, 1, argnums=0)


def descended(p, n):
    def loss(t):
        return p[0] * t**4 + p[1] * math.cos(t)

    def step(t, m):
        return t if m == 0 else step(t - 0.05 * grad(loss)(t), m - 1)

    def of_arrays(v, m):
        return (
            np.sum(v)
            if m == 0
            else of_arrays(v - 0.1 * grad(lambda u: np.sum(u**3) * p[2])(v), m - 1)
        )

    return step(p[2], n) + of_arrays(p, n)


@pytest.mark.parametrize("n", [3, 0, 1])
def test_gradients_of_other_functions_inside(n):
    assert testing.why_recorded(descended, V, n, argnums=0) is None
    with testing.compared(), testing.strict():
        assert_slopes((grad(descended)(V, n),), lambda v: descended(v, n), (V,), 1e-7)


class Pair:
    def __init__(self, swapped, a, b):
        if swapped:
            self.b = b
            self.a = a
        else:
            self.a = a
            self.b = b


def of_pairs(p, n):
    if n < 2:
        return p.a + p.b * 2.0
    return of_pairs(Pair(True, p.a * 0.5, p.b), n - 1) + of_pairs(
        Pair(False, p.a, p.b * 0.25), n - 2
    )


def test_objects_whose_fields_are_assigned_in_another_order():
    f = lambda x: of_pairs(Pair(False, x, x * x), 6)
    assert testing.why_recorded(f, 1.1) is None
    assert_slopes(gradient(f, 1.1), f, (1.1,), 1e-6)
