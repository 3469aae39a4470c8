"""Containers as arguments: their gradients, and what they hold afterwards."""

import array
import fractions
import itertools
import types
from collections import OrderedDict, deque

import numpy as np
import pytest

from zygote_lite import DifferentiationError, grad, gradient, pullback


def test_a_deque_as_the_argument():
    def f(q):
        q.append(q[0] * q[1])
        q.popleft()
        q.rotate(1)
        return q[0] * q[2]

    q = deque([1.0, 2.0, 3.0])
    y, back = pullback(f, q)
    assert y == 6.0
    for _ in range(2):
        assert back(1.0) == (None, [6.0, 3.0, 2.0])
        assert q == deque([2.0, 2.0, 3.0])


def test_a_queue_costs_what_the_users_own_steps_cost():
    def f(x):
        q = deque()
        for i in range(20_000):
            q.append(x * i)
        total = 0.0
        while q:
            total = total + q.popleft()
        return total

    assert gradient(f, 0.5) == (sum(range(20_000)),)


def test_an_exception_as_the_argument():
    assert gradient(lambda e: e.args[0] * e.args[1], ValueError(2.0, 3.0))[0].args == (3.0, 2.0)


def test_a_class_whose_fields_are_looked_at_is_refused():
    def f(x):
        class A:
            w = x

        return A.__dict__["w"] * 2.0

    with pytest.raises(DifferentiationError, match=r"test_containers.py:\d+.*__dict__"):
        gradient(f, 0.5)


def test_one_array_as_two_arguments_is_refused_by_the_call_once_it_is_written():
    def f(a, b):
        a[0] = b[1] * 2.0
        return np.sum(a * b)

    x = np.array([1.0, 2.0])
    with pytest.raises(DifferentiationError, match="are one array"):
        pullback(f, x, x)
    with pytest.raises(DifferentiationError, match="are one array"):
        pullback(f, x, x[:])
    assert pullback(lambda a, b: np.sum(a * b), x, x)[0] == 20.0


HOLDERS = [
    (lambda: np.ma.array([1.5, 2.0], mask=[0, 1]), np.sum, "filled"),
    (lambda: np.ma.array([1.5, 2.0]), lambda x: (x * x).sum(), "filled"),
    (lambda: np.array([[1.5, 2.0]]).view(np.matrix), lambda x: x.sum(), "asarray"),
    (lambda: np.rec.array([(1.5,)], dtype=[("a", float)]), lambda x: x.a[0], "fields"),
    (lambda: np.array([(1.5,)], dtype=[("a", float)]), lambda x: x["a"][0], "dtype"),
    (lambda: np.array([1.5, 2.0], object), lambda x: x[0] * x[1], "object"),
    (lambda: array.array("d", [1.5, 2.0]), lambda x: x[0] * x[1], "np.array"),
    (lambda: array.array("d", [1.5, 2.0]), lambda x: sum(x), "np.array"),
    (lambda: array.array("d", [1.5, 2.0]), lambda x: max(v * v for v in x), "np.array"),
    (lambda: memoryview(array.array("d", [1.5, 2.0])), lambda x: sum(x), "np.asarray"),
    (lambda: memoryview(np.array([1.5, 2.0])), lambda x: x[0] * x[1], "asarray"),
    (lambda: {1.5, 2.0}, sum, "list"),
    (lambda: frozenset([1.5, 2.0]), max, "list"),
    (lambda: (x for x in [1.5, 2.0]), sum, "list"),
    (lambda: iter([1.5, 2.0]), next, "list"),
    (lambda: map(float, [1.5, 2.0]), lambda x: np.sum(np.array(list(x))), "list"),
    (lambda: zip([1.5], [2.0], strict=True), lambda x: next(x)[0], "list"),
    (lambda: itertools.chain([1.5], [2.0]), lambda x: np.sum(np.fromiter(x, float)), "list"),
    (lambda: {"a": 1.5}.values(), sum, "list"),
    (lambda: {"a": 1.5}.items(), lambda x: sum(v for _, v in x), "list"),
    (lambda: {1.5: "a"}.keys(), sum, "list"),
    (lambda: fractions.Fraction(3, 2), lambda x: float(x) ** 2, "float"),
]


@pytest.mark.parametrize(("make", "f", "instead"), HOLDERS, ids=range(len(HOLDERS)))
def test_holders_of_numbers_that_carry_no_gradient_say_what_to_pass(make, f, instead):
    class Holder:
        pass

    def of_field(h):
        return float(f(h.held))

    holder = Holder()
    holder.held = make()
    assert np.isfinite(f(make()))
    with pytest.raises(DifferentiationError, match=instead):
        gradient(lambda x: float(f(x)), make())
    with pytest.raises(DifferentiationError, match=instead):
        gradient(lambda xs, y: f(xs[0]) * y, [make()], 2.0)
    with pytest.raises(DifferentiationError, match=instead):
        gradient(of_field, holder)


@pytest.mark.parametrize("make", [make for make, _, _ in HOLDERS], ids=range(len(HOLDERS)))
def test_holders_of_numbers_that_do_not_matter_have_no_gradient(make):
    held = make()
    for _ in range(4):
        assert gradient(lambda x, y: y * y, held, 3.0) == (None, 6.0)


@pytest.mark.parametrize(
    ("make", "f"), [(make, f) for make, f, _ in HOLDERS], ids=range(len(HOLDERS))
)
def test_holders_of_numbers_that_are_not_asked_for_are_data(make, f):
    for _ in range(4):
        assert grad(lambda y, x: y * float(f(x)))(3.0, make()) == float(f(make()))


@pytest.mark.parametrize(
    ("x", "f"),
    [
        (b"ab", len),
        ("1.5", float),
        (np.array(["1.5"]), lambda x: np.sum(x.astype(float))),
        (range(3), lambda x: sum(x) * 1.5),
        (bytearray(b"ab"), lambda x: x[0] * 1.5),
        ({"a", "b"}, lambda x: len(x) * 1.5),
        ({"a": 1.5}.keys(), lambda x: len([*x]) * 1.5),
        (np.timedelta64(5, "s"), lambda x: float(x / np.timedelta64(2, "s"))),
    ],
    ids=range(8),
)
def test_text_and_integers_in_containers_have_no_gradient(x, f):
    assert gradient(lambda x, y: f(x) * y, x, 2.0) == (None, float(f(x)))


def test_a_set_of_indices_is_no_set_of_numbers():
    x = np.array([0.5, 0.6, 0.7])
    dx, none = gradient(lambda x, where: sum(x[i] ** 2 for i in where), x, {0, 2})
    np.testing.assert_allclose(dx, [1.0, 0.0, 1.4])
    assert none is None


def test_a_read_only_view_of_a_dict_has_the_gradient_of_the_dict():
    def f(p):
        return p["a"] * p.get("b") + sum(p.values())

    p = types.MappingProxyType({"a": 1.5, "b": 2.0, "c": 3.0})
    assert gradient(f, p) == ({"a": 3.0, "b": 2.5, "c": 1.0},)
    assert gradient(lambda ps: f(ps[0]), [p]) == ([{"a": 3.0, "b": 2.5, "c": 1.0}],)
    assert gradient(lambda p: 2.0, p) == (None,)


def test_a_flat_iterator_as_the_argument():
    x = np.array([0.5, 0.6, 0.7])

    def f(it):
        next(it)
        return next(it) * next(it)

    np.testing.assert_allclose(gradient(f, x.flat)[0], [0.0, 0.7, 0.6])


def _written_behind(x):
    a = x.copy()
    flat = a.flat
    flat[2] = x[0] * 2
    first = flat[2] ** 2
    a[2] = x[1]
    return first * flat[2] + np.sum(flat[1:3]) * np.array(flat)[0]


def _left_and_taken_up(x):
    flat, total = x.flat, 0.0
    for v in flat:
        total += v * v
        if v > 0.5:
            break
    for v in flat:
        total += v * 3
    return total + sum(flat)


@pytest.mark.parametrize("f", [_written_behind, _left_and_taken_up])
def test_a_flat_iterator_that_is_kept_has_what_the_array_has_now(f):
    x, h = np.array([0.3, 0.6, -0.7, 1.1]), 1e-6
    expected = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(4)]
    for _ in range(3):
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-8)


MEMO = {}


def remembered(x):
    if (1, x) not in MEMO:
        MEMO[1, x] = x * x
    return MEMO[1, x]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum(second for _, second in {(1, x): 5.0}),
        lambda x: sum(first for (first,), _ in dict.fromkeys([((x,), 1)])),
        remembered,
    ],
    ids=["items", "fromkeys", "memo"],
)
def test_a_key_that_is_a_tuple_with_a_differentiated_number_is_refused(f):
    for _ in range(3):
        with pytest.raises(DifferentiationError, match="a key of a dict carries no gradient"):
            gradient(f, 3.0)


def test_tuples_of_constants_and_integers_are_keys():
    def f(x):
        table = {(1, 0.5): x}
        for k in range(3):
            table[k, int(x)] = x * k
        return table[1, 0.5] * table[2, 3] + len({(x, 1.0)})

    assert [gradient(f, 3.0) for _ in range(3)] == [(12.0,)] * 3


def test_a_deque_and_an_ordered_dict_are_filled_again_from_generators():
    def f(x):
        last = deque([1.0, x, x], 3)
        last.__init__((x * i for i in range(6)), 3)
        table = OrderedDict(a=x)
        table.update((key, x * x) for key in "ab")
        table.update({"b": x}, c=3.0 * x)
        return sum(last) * sum(table.values())

    # (3 + 4 + 5) x (x² + 4 x)
    assert [gradient(f, 2.0) for _ in range(3)] == [(12.0 * (3 * 2.0**2 + 8 * 2.0),)] * 3


def test_a_deque_that_gets_another_length_is_refused():
    def f(x):
        last = deque([x], 3)
        last.__init__([x, x])
        return sum(last)

    for _ in range(3):
        with pytest.raises(DifferentiationError, match="another `maxlen`"):
            gradient(f, 2.0)
