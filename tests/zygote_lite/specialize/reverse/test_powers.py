"""Chains of products that hold a factor several times: one contribution for all of them."""

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import testing, value_and_grad

C = 0.7


def total(y):
    return np.sum(y) if np.ndim(y) else y


def square(x):
    return total(x * x)


def cube(x):
    return total(x * x * x * C)


def cubic(x):
    return total(np.tanh(x + C * x * x * x))


def from_the_left(x):
    return total(x * (x * (x * C)))


def read_in_between(x):
    y = x * x
    return total(y * x + np.sin(y))


def returned_in_between(x):
    y = x * x
    z = y * x
    return total(z) + total(y)


def of_two(x, y):
    return total(y * x * x * y * x)


def with_another(x, y):
    return total(y * x * x)


def broadcast(x, y):
    return total((y[0] * x) * x) + total(x[0] * y * y) + total(x[None] * y[:, None] * y[:, None])


def written_between(x):
    a = x * 1.5
    b = C * a
    a[0] = 3.0
    return total(b * a * a)


def in_a_loop(x, n):
    s = 1.0
    for _ in range(n):
        s = s + C * x[0] * x[0] * x[0] + s * s * C
    return s


def by_branch(x, n):
    y = C * x * x
    if n > 1:
        y = y * x
    return total(y * x)


ARRAY = np.array([0.5, -1.2, 0.8])


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        *((f, (x,)) for f in (square, cube, cubic, from_the_left, read_in_between,
                              returned_in_between) for x in (ARRAY, 0.6, np.float64(0.6))),
        *((f, (ARRAY, ARRAY[::-1].copy())) for f in (of_two, with_another, broadcast)),
        *((f, (0.3, 1.4)) for f in (of_two, with_another)),
        (of_two, (ARRAY, 0.4)), (of_two, (0.4, ARRAY)), (with_another, (0.4, ARRAY)),
        (written_between, (ARRAY,)), (in_a_loop, (ARRAY, 3)),
        (by_branch, (ARRAY, 1)), (by_branch, (ARRAY, 2)),
    ],
    ids=lambda x: getattr(x, "__name__", repr(x)),
)  # fmt: skip
def test_chains(f, xs):
    numbers = tuple([i for i, x in enumerate(xs) if not isinstance(x, int)])
    assert testing.why_recorded(f, *xs, argnums=numbers) is None
    zeros = tuple([x * 0.0 if i in numbers else x for i, x in enumerate(xs)])
    single = tuple([np.float32(x) if i in numbers else x for i, x in enumerate(xs)])
    assert_agreement(f, xs, zeros, argnums=numbers)
    assert_agreement(f, single, argnums=numbers, tolerance=1e-5)
    own = tuple([xs[i] for i in numbers])
    found = value_and_grad(f, numbers)(*xs)[1]
    for (_, best, _), d in zip(
        slopes(lambda *y: f(*y, *xs[len(y) :]), own, 1e-3), found, strict=True
    ):
        np.testing.assert_allclose(d, best, rtol=1e-6, atol=1e-8)


def test_the_code_has_one_product_for_all():
    testing.forget(cubic)
    assert testing.why_recorded(cubic, ARRAY) is None
    (text,) = testing.programs(cubic)
    assert text.count("3.0 * (") == 1
    assert text.count("*") <= 9, text
