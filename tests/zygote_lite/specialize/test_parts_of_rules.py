"""Functions that give several arrays or numbers: decompositions, `np.split`, `divmod`."""

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.finite_differences import assert_slopes
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import testing, value_and_grad

A = np.random.default_rng(0).uniform(0.1, 1.0, (3, 3))
X = np.array([0.5, 0.6, 0.7, 0.8])
PROGRAMS = []
tried = programs.declaring(PROGRAMS)


@tried((A,), (A * 2,), (A + 1,))
def sign_and_log(a):
    s, v = np.linalg.slogdet(a @ a.T + np.eye(3))
    return v * s


@tried((A,), (A * 2,))
def by_name(a):
    r = np.linalg.slogdet(a @ a.T + np.eye(3))
    return r.logabsdet * r[0] + r.sign


@tried((A,), (A * 2,))
def eigenvalues_and_vectors(a):
    w, v = np.linalg.eigh(a @ a.T)
    return np.sum(w**2) + np.sum(v[:, 2] ** 2 * np.arange(3.0))


@tried((A,), (A * 2,))
def one_of_the_parts(a):
    return np.linalg.eigh(a @ a.T).eigenvalues[1] + np.linalg.eigvalsh(a @ a.T)[0]


@tried((A,), (A + 1,))
def singular_values(a):
    _, s, _ = np.linalg.svd(a)
    return np.sum(s)


@tried((A,), (A * 2,))
def in_a_loop_with_writes(a):
    b, total = a.copy(), 0.0
    for i in range(3):
        b = b * 0.5 + np.eye(3)
        s, v = np.linalg.slogdet(b)
        total = total + v * s
        b[i] = b[i] * v
    return total


@tried((A, 3), (A * 2, 5), (A * 0.1, 6))
def on_some_paths(a, n):
    total = 0.0
    for i in range(n):
        w, v = np.linalg.eigh(a @ a.T + i * np.eye(3))
        if w[0] > 0.5:
            total = total + np.sum(w)
            continue
        if i == 4:
            break
        total = total + np.sum(v[:, 2] ** 4)
    return total


@tried((A,), (A * 2,))
def kept_in_containers(a):
    rows, table = [], {}
    for i in range(3):
        t = np.linalg.slogdet(a + (i + 2) * np.eye(3))
        rows.append(t[1])
        table[i] = t.logabsdet * i
    return sum(rows) * table[2]


@tried((X,), (X * 2,))
def halves(x):
    t = np.split(x, 2)
    b, c = t
    return np.sum(b * c * b) * len(t) + sum([np.sum(u * u) for u in t])


@tried((X,), (X * 2,))
def grids(x):
    b, c = np.meshgrid(x[:2], x[2:])
    return np.sum(b * c * c)


@tried((X,), (X * 2,), (X * 3,))
def halves_are_written(x):
    y = x * 2.0
    b, c = np.split(y, 2)
    b[0] = 5.0
    c *= b
    return np.sum(y * y)


@tried((X,), (X * 2,), (X * 3,))
def whole_is_written(x):
    y = x * 2.0
    y[0] = 1.0
    b, c = np.split(y, 2)
    s = np.sum(b * c)
    y[1] = x[0] * 3
    return s + np.sum(b * b) + np.sum(y)


@tried((0.74,), (1.9,))
def quotient_and_remainder(x):
    q, r = divmod(x * 10.0, 3.0)
    return q * x + r * r


@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    programs.assert_transformed(f, choices, (0,), by_differences=1e-5)


def test_a_number_of_parts_that_changes_is_left_to_the_tape():
    def products(x, n):
        total = 0.0
        for u in np.split(x, n):
            total = total + np.sum(u * u) * total + np.prod(u)
        return total

    x = np.arange(6.0) + 0.5
    assert assert_agreement(products, (x, 3), (x, 3), (x, 2), (x[:4], 4), argnums=(0,))
    _, (d,) = value_and_grad(products, (0,))(x, 2)
    assert_slopes((d,), lambda x: products(x, 2), (x,), 1e-5)


@pytest.mark.parametrize("f", [sign_and_log, eigenvalues_and_vectors, singular_values])
def test_single_precision_stays(f):
    with testing.compared(1e-3):
        for _ in range(3):
            _, d = value_and_grad(f)(A.astype(np.float32))
    assert d.dtype == np.float32
