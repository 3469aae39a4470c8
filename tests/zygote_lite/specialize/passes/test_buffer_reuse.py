"""Results written over operands that nobody reads again: the same numbers, in own arrays."""

from unittest import mock

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import answers, assert_agreement
from tests.zygote_lite.fuzz.generate import arrays as array_programs
from tests.zygote_lite.specialize.test_random_programs import differs
from zygote_lite import value_and_grad
from zygote_lite._specialize.driver import specialize
from zygote_lite._specialize.passes import buffer_reuse as _reuse

X = np.linspace(-2.0, 2.0, 7)


def chain(x):
    return np.sum(np.tanh(x) * np.exp(-x * x) + np.sin(x))


def argument_is_last_read(x):
    return np.sum(np.exp(x))


def view_is_read_later(x):
    y = np.exp(x)
    part = y[1:3]
    z = y * y
    return np.sum(z) + np.sum(part * part)


def transposed_later(x):
    y = np.outer(x, x) * 2.0
    t = y.T
    z = np.sin(y)
    return np.sum(z * t)


def two_names(x):
    y = np.exp(x)
    z = y
    w = y * 2.0
    return np.sum(w * z) + np.sum(z)


def broadcast(x):
    y = np.exp(x)
    return np.sum(y[:, None] * y)


def of_a_branch(x):
    y = np.exp(x)
    z = y * 2.0
    if np.sum(y) > 3.0:
        z = z * y
    return np.sum(z * z)


def of_a_loop(x):
    y = np.exp(x)
    z = y + 1.0
    for _ in range(200):
        z = z * 0.9 + y
    return np.sum(z)


def squares(x):
    y = x * 2.0
    z = y * y
    w = 1.0 - z
    return np.sum(w / (z + 0.5))


def by_its_output(x):
    y = np.tanh(x)
    return np.sum(np.sqrt(1.5 + y) - y)


def inside_a_loop(x):
    s = 0.0
    for i in range(3):
        y = np.exp(x * i)
        z = y - x
        w = z * y
        v = w + 1.0
        s = s + np.sum(v)
    return s


def carried_by_a_loop(x):
    y = np.exp(x)
    for _ in range(3):
        z = y + x
        y = z * x
    return np.sum(y)


def two_carried(x):
    a, b = np.exp(x), np.sin(x)
    for _ in range(3):
        a, b = b + a, a * 2.0
    return np.sum(a * b)


def exchanged(x):
    a, b = np.exp(x), np.sin(x)
    for _ in range(3):
        c = a + b
        a = b
        b = c * 0.5
    return np.sum(a * b)


def kept_in_a_list(x):
    parts = []
    for i in range(3):
        y = np.exp(x * i)
        parts.append(y)
        z = y * 2.0
        parts.append(z - x)
    return np.sum(parts[0] * parts[3]) + np.sum(parts[2] * parts[2])


def written_in_a_loop(x):
    u = x.copy()
    for _ in range(3):
        d = u[2:] + u[:-2]
        e = d - 2.0 * u[1:-1]
        u[1:-1] += 0.1 * e
    return np.sum(u * u)


def stopped(x):
    y = np.exp(x)
    z = y + x
    for i in range(5):
        z = z * 0.5
        w = z + y
        if np.sum(w) < 5.0:
            break
        y = w - x
    return np.sum(y * z)


def of_both_branches(x):
    y = np.exp(x)
    if np.sum(y) > 3.0:
        z = y * y
        w = z - 1.0
        y = w * 2.0
    else:
        z = y + 1.0
        y = z * z
    return np.sum(y)


def nested_loops(x):
    s = np.zeros(x.shape)
    for _ in range(2):
        y = np.exp(x)
        z = y - x
        for _ in range(2):
            z = z * 0.5
            s = s + z
            z = z - s
        y = y * z
        s = s + y
    return np.sum(s)


def difference_of_products(x):
    d = np.log(x * x + 1.0) / (1.0 + x * 0.1)
    e = d - x
    first, second = 1.0 + np.tanh(d * d * d), 1.0 + np.tanh(e * e * e)
    return np.sum(np.exp(x) * first - x * second)


def value_of_what_is_written_later(x):
    y = np.exp(x)
    z = np.tanh(y) * y
    s = np.sum(z - y * x)
    y[0] = 5.0
    return s + np.sum(y * y)


FUNCTIONS = [difference_of_products, value_of_what_is_written_later,
             inside_a_loop, carried_by_a_loop, two_carried, exchanged, kept_in_a_list,
             written_in_a_loop, stopped, of_both_branches, nested_loops, chain,
             argument_is_last_read, view_is_read_later, transposed_later, two_names,
             broadcast, of_a_branch, of_a_loop, squares, by_its_output]  # fmt: skip


@pytest.fixture(autouse=True)
def _always():
    with mock.patch.object(_reuse, "LARGE", 0), mock.patch.object(_reuse, "HUGE", 0):
        yield


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_function(f):
    assert assert_agreement(f, (X,), (X * 0.5,), (X[:1],), (X[:3],))
    assert answers(f, (X,))
    assert "out=" in str(specialize(chain, (X,), (True,)).text)


def test_the_value_is_computed_last_where_that_takes_fewer_arrays():
    text = str(specialize(difference_of_products, (X,), (True,)).text)
    assert text.index(".sum()") > text.index("np.errstate")


def test_results_belong_to_the_caller():
    differentiated = value_and_grad(chain)
    results = [differentiated(X)[1] for _ in range(4)]
    results[-1][:] = 99.0
    np.testing.assert_array_equal(results[-2], results[0])
    assert not any(np.may_share_memory(d, X) for d in results)


def test_small_arrays_have_no_need():
    with mock.patch.multiple(_reuse, LARGE=10_000, HUGE=50_000):
        assert "out=" not in str(specialize(chain, (X,), (True,)).text)
        large = str(specialize(chain, (np.ones(10_000),), (True,)).text)
    assert "np.exp(t3, out=t3)" in large


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(900, 930))
def test_random_program(seed):
    wrong, _ = differs(array_programs.program(seed), seed)
    assert wrong is None
