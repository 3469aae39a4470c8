"""Programs that write to arrays are transformed: to arguments, through views, in loops."""

import copy

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import check_gradient
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import DifferentiationError, gradient, pullback, testing, value_and_grad

V = np.array([0.5, 0.6, 0.7, 0.8, 1.1])
M = np.array([[2.0, 0.5, 0.3], [0.4, 1.5, 0.2], [0.1, 0.7, 3.0]])


def seidel(a, steps):
    for _ in range(steps):
        for i in range(1, len(a) - 1):
            a[i, 1:-1] += a[i - 1, 1:-1] + a[i + 1, 1:-1]
            for j in range(1, len(a) - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 5.0
    return np.sum(a * a)


def lu(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(a * np.arange(1.0, 10.0).reshape(3, 3))


def thomas(d, c):
    for i in range(1, len(d)):
        d[i] -= c[i - 1] * d[i - 1] * 0.1
    d[-1] /= c[-1]
    for i in range(len(d) - 2, -1, -1):
        d[i] = (d[i] - 0.3 * d[i + 1]) / c[i]
    return np.sum(d * d)


def leapfrog(u, steps):
    before, now, later = u.copy(), u * 1.0, np.zeros_like(u)
    for _ in range(steps):
        later[1:-1] = 2.0 * now[1:-1] - before[1:-1] + 0.1 * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        later[0] = now[1] * now[0]
        before, now, later = now, later, before
    return np.sum(now**2)


def pressure(p, b, steps):
    for _ in range(steps):
        old = p.copy()
        p[1:-1, 1:-1] = 0.25 * (old[1:-1, 2:] + old[:-2, 1:-1]) - b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :] ** 2
    return p


def cavity(p, u, steps):
    b = np.zeros_like(p)
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.5 * (u[1:-1, 2:] - u[1:-1, :-2]) ** 2
        p = pressure(p, b, 2)
        u[1:-1, 1:-1] -= 0.1 * (p[1:-1, 2:] - p[1:-1, :-2]) * u[1:-1, 1:-1]
    return np.sum(u * p)


def filtered(x, k):
    y = x * 1.0
    y[0] *= k
    for i in range(1, len(y)):
        y[i] = k * y[i - 1] + (1.0 - k) * y[i]
    for v in (y[1:], y[:-1], y[::-1]):
        v *= k
    return y @ x


def rows(m):
    total = 0.0
    for row in m:
        row[1:] *= row[:-1]
        total = total + row.sum()
    m.T[0] += m[1]
    m.reshape(-1)[4:6] *= m.ravel()[0]
    return total * np.sum(m * m)


def accumulated(x, n):
    total, held = np.zeros_like(x), []
    for i in range(n):
        total += x * (i + 1)
        total *= total
        held.append(np.sum(total))
    return sum(held)


def assembled(e, x):
    """A stiffness matrix that a loop fills: before it is full, it is singular."""
    n = len(x)
    whole = np.zeros((n + 2, n + 2))
    part = e * np.array([[2.0, -1.0, 0.1], [-1.0, 2.0, -1.0], [0.1, -1.0, 2.0]])
    for i in range(n):
        at = np.arange(i, i + 3)
        whole[np.ix_(at, at)] += part
    free = np.arange(1, n + 2)
    return np.sum(np.linalg.solve(whole[np.ix_(free, free)], np.cos(free)) ** 2) * np.sum(x)


KERNELS = [
    (seidel, M, 2), (lu, M), (thomas, V, V + 2.0), (leapfrog, V, 4), (cavity, M, M.T.copy(), 2),
    (filtered, V, 0.7), (rows, M), (accumulated, V, 3), (assembled, 1.5, V),
]  # fmt: skip


def name_of(case):
    return case[0].__name__


@pytest.mark.parametrize("case", KERNELS, ids=name_of)
def test_kernels_are_transformed(case):
    f, *xs = case
    real = tuple([x for x in xs if not isinstance(x, int)])
    counts = tuple([x for x in xs if isinstance(x, int)])
    assert testing.why_recorded(f, *copy.deepcopy(xs)) is None
    check_gradient(lambda *given: f(*copy.deepcopy(given), *counts), *real)
    later = [(*[x * 1.5 for x in real], *counts), (*real, *[n + 2 for n in counts])]
    assert assert_agreement(f, tuple(xs), *later)


# -- arguments -------------------------------------------------------------------------------------


def both_are_written(x, y):
    x[1:] += y[:-1]
    y *= x
    return np.sum(x * y)


def test_arguments_hold_what_the_program_leaves_in_them():
    for _ in range(4):
        x, y = V.copy(), V[::-1].copy()
        plain = V.copy(), V[::-1].copy()
        both_are_written(*plain)
        gradient(both_are_written, x, y)
        np.testing.assert_array_equal((x, y), plain)


@pytest.mark.parametrize(
    "views",
    [lambda z: (z[:5], z[:5]), lambda z: (z[:5], z[2:7]), lambda z: (z[::2], z[1::2]),
     lambda z: (z[:5], z[5:]), lambda z: (z[:5], z[:4:-1])],
    ids=["same", "overlapping", "interleaved", "side by side", "reversed"],
)  # fmt: skip
def test_arguments_that_share_memory(views):
    for _ in range(4):
        gradient(both_are_written, V.copy(), V.copy())
    for _ in range(3):
        with pytest.raises(DifferentiationError, match="one array, or views of one"):
            gradient(both_are_written, *views(np.linspace(0.1, 1.0, 10)))


SCALE = np.ones(5)


def reads_outside(x):
    x *= 2.0
    return np.sum(SCALE * x * x)


def test_an_argument_that_is_read_from_outside_too():
    for _ in range(3):
        gradient(reads_outside, V.copy())
    want = 8.0 * SCALE
    np.testing.assert_allclose(gradient(reads_outside, SCALE.copy())[0], want)
    try:
        with testing.recorded_only():
            want = gradient(reads_outside, SCALE)[0]
        SCALE[:] = 1.0
        np.testing.assert_allclose(gradient(reads_outside, SCALE)[0], want)
        np.testing.assert_array_equal(SCALE, 2.0)
    finally:
        SCALE[:] = 1.0


def fails_half_way(x, n):
    x[0] = 2.0 * x[1]
    x[n] = x[0] * x[2]
    x *= 2.0
    return np.sum(x)


def squared_in_a_loop_and_left(v):
    for _ in range(2):
        v *= v[::-1]
    return np.sum(v) * len(bytearray(b"ab"))


def test_making_code_in_vain_writes_to_no_argument():
    expected = V.copy()
    y = squared_in_a_loop_and_left(expected)
    with testing.compared():  # code is made at the first call
        for _ in range(3):
            given = V.copy()
            found, _ = value_and_grad(squared_in_a_loop_and_left)(given)
            assert found == pytest.approx(y)
            np.testing.assert_array_equal(given, expected)
    assert testing.why_recorded(squared_in_a_loop_and_left, V)


def test_what_raises_leaves_the_writes_that_came_before():
    for _ in range(3):
        gradient(fails_half_way, V.copy(), 3)
    x, plain = V.copy(), V.copy()
    for given, run in ((x, lambda *xs: gradient(fails_half_way, *xs)), (plain, fails_half_way)):
        with pytest.raises(IndexError):
            run(given, 9)
    np.testing.assert_array_equal(x, plain)


def test_an_array_that_cannot_be_written():
    x = V.copy()
    x.flags.writeable = False
    for _ in range(3):
        gradient(lu, M.copy())
        gradient(reads_outside, V.copy())
    with pytest.raises(ValueError, match="read-only"):
        gradient(reads_outside, x)


def infinite(x):
    x[0] *= 3.0
    return np.sum(np.sqrt(x))


def test_a_gradient_that_is_not_finite_writes_once():
    for _ in range(4):
        x = np.array([0.0, 1.0])
        with np.errstate(all="ignore"):
            (found,) = gradient(infinite, x)
        np.testing.assert_allclose(found, [np.inf, 0.5])
        x = np.array([2.0, 1.0])
        gradient(infinite, x)
        np.testing.assert_array_equal(x, [6.0, 1.0])


def test_pullbacks_and_calls_from_recorded_code_see_the_writes():
    seen = []

    def around(x):
        y = x * 1.0
        seen.append(1)  # an effect, for which it is recorded
        first = both_are_written(y, x * 0.5)
        return first * np.sum(y)

    for _ in range(5):
        x, y = V.copy(), V.copy()
        value, back = pullback(both_are_written, x, y)
        assert value == both_are_written(V.copy(), V.copy())
        assert back(1.0)[1:][0].shape == (5,)
        np.testing.assert_array_equal(x[1:], V[1:] + V[:-1])
        check_gradient(around, V)


def in_containers(pair, named):
    pair[0][1:] *= pair[1]
    named["w"] += pair[0]
    return np.sum(pair[0] * named["w"])


def test_arrays_in_arguments_are_written():
    def given():
        return (V.copy(), 0.5), {"w": V * 2.0}

    assert testing.why_recorded(in_containers, *given()) is None
    assert assert_agreement(in_containers, given(), ((V * 3.0, 2.0), {"w": V}))


# -- names -----------------------------------------------------------------------------------------


def kept_on_a_path(x, n):
    a, b = x * 1.0, x * 2.0
    held = a
    if n > 2:
        a = b
    a[0] = x[1] * x[2]
    a *= x
    return np.sum(a * held)


def one_name_after_a_loop(x, n):
    a, b = x * 1.0, np.zeros_like(x)
    for i in range(n):
        b[i % 3] += a[0]
        a = b
        a[1] *= x[2]
    return np.sum(a * b)


def view_of_what_is_swapped(x, n):
    a, b = x * 1.0, x * x
    for _ in range(n):
        part = a[1:]
        a, b = b, a
        part *= 0.5
        a[0] += part[0]
    return np.sum(a) * b[1]


def in_a_list_and_written(x, n):
    a, held = x * 1.0, []
    for _ in range(n):
        a *= x
        held.append(a)
    return np.sum(held[0] * a)


def read_by_a_rule(x):
    a = np.exp(x)
    b = np.sqrt(a) * np.tanh(a)
    a[1:] = 3.0
    b *= a
    b[0] = 2.0
    return np.sum(a * b) + np.sum(np.cumsum(b))


@pytest.mark.parametrize(
    "f", [kept_on_a_path, one_name_after_a_loop, view_of_what_is_swapped, in_a_list_and_written]
)
def test_an_array_with_several_names(f):
    later = [(V, 0), (V, 1), (V * 2.0, 4), (V.astype(np.float32), 3)]
    assert_agreement(f, (V, 3), *later, tolerance=1e-5)
    check_gradient(lambda x: f(x, 3), V)


def test_what_a_rule_needs_is_not_overwritten():
    assert testing.why_recorded(read_by_a_rule, V) is None
    check_gradient(read_by_a_rule, V)
    assert assert_agreement(read_by_a_rule, (V,), (2.0 * V,))


def two_names_on_a_path(x):
    if x > 0.0:
        w = np.ones(3) * x
        a = w
        b = w
    else:
        a, b = np.zeros(3), np.ones(3)
    b[1] = x * 3.0
    a[0] = x * x
    return np.sum(a) + np.sum(b) * 10.0


def test_an_array_that_has_two_names_after_a_path():
    assert_agreement(two_names_on_a_path, (2.0,), (3.0,), (-1.0,))
    check_gradient(two_names_on_a_path, 2.0)
    check_gradient(two_names_on_a_path, -2.0)
