"""Functions that call themselves and change containers; `lru_cache` of functions inside."""

import math
from functools import cache, lru_cache

import numpy as np

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import pullback, testing, value_and_grad

PROGRAMS = []
tried = programs.declaring(PROGRAMS)  # transformed
ARGUMENTS = (0.9, 0.4, 5), (0.7, 0.5, 5), (0.8, 0.6, 3)


@tried(*ARGUMENTS)
def binomial_tree(up, down, n):
    memo = {}

    def value(i, j):
        if (i, j) in memo:
            return memo[(i, j)]
        exercise = max(1.0 - up**j * down ** (i - j), 0.0)
        found = exercise if i == n else max(exercise, up * value(i + 1, j + 1) + value(i + 1, j))
        memo[(i, j)] = found
        return found

    return value(0, 0)


@tried(*ARGUMENTS)
def memo_read_and_written_outside(x, y, n):
    memo = {}

    def f(k):
        if k not in memo:
            memo[k] = x if k < 2 else y * f(k - 1) + f(k - 2) * x
        return memo[k]

    first = f(n)
    memo[1] = x * 100
    second = f(n + 1)
    return first + second + sum(k * v for k, v in memo.items())


@tried(*ARGUMENTS)
def memo_of_each_iteration(x, y, n):
    total = 0.0
    for i in range(3):
        memo = {}

        def f(k, memo=memo, i=i):
            if k in memo:
                return memo[k]
            memo[k] = found = x * i + 1 if k < 2 else y * f(k - 1) + f(k - 2) * x
            return found

        total += f(n + i)
    return total


@tried(*ARGUMENTS)
def two_that_call_each_other(x, y, n):
    evens, odds = {}, {}

    def even(k):
        if k not in evens:
            evens[k] = x if k == 0 else odd(k - 1) * y + 1
        return evens[k]

    def odd(k):
        if k not in odds:
            odds[k] = y if k <= 1 else even(k - 1) * x + odd(k - 2)
        return odds[k]

    return even(2 * n) + odd(7)


@tried(*ARGUMENTS)
def collected_in_preorder(x, y, n):
    out = []

    def visit(k, weight):
        if k <= 0:
            return
        out.append(weight * y)
        visit(k - 1, weight * x)
        out.append(weight)
        visit(k - 2, weight * weight)

    visit(n, x)
    out.append(x * 7)
    return sum(v * (i + 1) for i, v in enumerate(out))


@tried(*ARGUMENTS)
def quicksort(x, y, n):
    a = []
    for i in range(n):
        a.append(math.sin(3.0 * i + 1.0) * x + y * i)

    def sort(low, high):
        if low >= high:
            return
        pivot, i = a[high], low
        for j in range(low, high):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        sort(low, i - 1)
        sort(i + 1, high)

    sort(0, n - 1)
    return sum(v * (i + 1) ** 2 for i, v in enumerate(a))


@tried(*ARGUMENTS)
def every_order(x, y, n):
    path, weights, total = [], [x, y, 1.0], [0.0]

    def go(used):
        if len(path) == 3:
            total[0] += sum(a * (i + 1) for i, a in enumerate(path)) ** 2
            return
        for i in range(3):
            if not used & (1 << i):
                path.append(weights[i])
                go(used | (1 << i))
                path.pop()

    go(0)
    return total[0]


@tried(*ARGUMENTS)
def branch_and_bound(x, y, n):
    best = [1e9]

    def go(i, cost):
        if cost >= best[0]:
            return
        if i >= n:
            best[0] = cost
            return
        go(i + 1, cost + x * (i + 1))
        go(i + 2, cost + y * 3)

    go(0, 0.0)
    return best[0] ** 2


@tried(*ARGUMENTS)
def cached_recurrence(x, y, n):
    @lru_cache(maxsize=64)
    def h(k):
        if k < 2:
            return x if k else y
        return x * h(k - 1) - 0.5 * h(k - 2)

    return h(2 * n) + h(3) + math.exp(h(n))


@tried(*ARGUMENTS)
def cached_grid(x, y, n):
    @cache
    def v(i, j):
        if i == 0 or j == 0:
            return x * (i + j + 1)
        return min(v(i - 1, j) + y, v(i, j - 1) * 1.1, v(i - 1, j - 1) + x * abs(i - j))

    return v(n, n - 1)


@tried(*ARGUMENTS)
def cached_in_loops(x, y, n):
    @lru_cache
    def c(k):
        return math.exp(-y * k) * x

    total = 0.0
    for i in range(n):
        for j in range(i):
            total += c(i - j) * c(j)
    return total


@tried(*ARGUMENTS)
def cached_arrays(x, y, n):
    @cache
    def state(k):
        if k == 0:
            return np.array([x, 0.0])
        z = state(k - 1)
        return z + 0.1 * np.array([z[1], -y * z[0]])

    total = 0.0
    for k in range(n):
        total = total + state(k)[0] ** 2
    return total


@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    programs.assert_transformed(f, choices, (0, 1))


LEFT = []
left = programs.declaring(LEFT)  # to the tape


@left(*ARGUMENTS)
def more_is_put_in_later(x, y, n):
    out = []

    def visit(k):
        if k > 0:
            out.append(k)
            visit(k - 1)

    visit(n)
    out.append(x * 7)
    return sum(v * (i + 1) for i, v in enumerate(out)) * y


@left(*ARGUMENTS)
def cache_that_forgets(x, y, n):
    @lru_cache(maxsize=2)
    def f(k):
        return x * k + y

    return sum(f(k) for k in [0, 1, 0, n, 2, 0, 3])


@left(*ARGUMENTS)
def cache_that_calls_inside_fill(x, y, n):
    count = [0]

    @lru_cache(maxsize=2)
    def f(k):
        count[0] += 1
        return x * k if k < 2 else f(k - 1) * y + f(k - 2)

    return f(n) + count[0] * x


@left(*ARGUMENTS)
def cache_that_keeps_nothing(x, y, n):
    count = [0]

    @lru_cache(0)
    def f(k):
        count[0] += 1
        return x * k if k < 2 else f(k - 1) * y + f(k - 2)

    return f(n) + count[0] * x


@left(*ARGUMENTS)
def active_keys(x, y, n):
    @cache
    def f(a, k):
        return a**k if k else y * a

    return f(x, n) + f(y, 0) + f(x, n)


@left(*ARGUMENTS)
def cached_array_that_is_written(x, y, n):
    @cache
    def state(k):
        return np.array([x, y]) if k == 0 else state(k - 1) * y

    z = state(3)
    z[0] = 5.0 * y
    return state(n)[0] + state(3)[0]


@left(*ARGUMENTS)
def keys_of_two_types(x, y, n):
    @cache
    def f(k):
        return x * k / 3 if isinstance(k, int) else y * k

    return f(2) + f(2.0) + f("ab" if n < 0 else True)


@programs.for_each(LEFT)
def test_what_is_left_to_the_tape_is_right(f, choices):
    assert_agreement(f, *choices, argnums=(0, 1))


def test_lone_integers_and_floats_are_two_keys_of_a_cache():
    with testing.recorded_only():
        y, (dx, dy) = value_and_grad(keys_of_two_types, (0, 1))(0.9, 0.4, 5)
    assert y == keys_of_two_types(0.9, 0.4, 5)
    np.testing.assert_allclose((dx, dy), (2 / 3 + 1 / 3, 2.0))


def test_pullback_is_called_again():
    for _ in range(3):
        y, back = pullback(binomial_tree, 0.9, 0.4, 5)
    _, dx, dy, _ = back(1.0)
    np.testing.assert_allclose(back(2.0)[1:3], (2 * dx, 2 * dy))
    np.testing.assert_allclose(y, binomial_tree(0.9, 0.4, 5))
