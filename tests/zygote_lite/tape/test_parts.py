"""Parts of pullbacks: what nobody needs is not computed; sums go into buffers of the tape alone."""

import numpy as np
import pytest

from rulescore import Array, Numeric, RuleSet
from zygote_lite import grad, gradient, pullback, value_and_grad
from zygote_lite.testing import recorded_only, transformed_only

X = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])
W = np.array([[0.5, -0.8], [1.3, 0.2], [-0.4, 0.9]])


def product(a, b):
    return a @ b


@pytest.fixture
def called():
    """Declare a rule in parts for `product`, and give the list of the parts that are called."""
    called = []
    rule = RuleSet("in_parts")

    @rule(product)
    def _(a: Array, b: Array):
        def da(dy):
            called.append("da")
            return dy @ b.T

        def db(dy):
            called.append("db")
            return a.T @ dy

        return a @ b, (da, db)

    rule.register()
    yield called
    rule.unregister()


BY_LEFT, BY_RIGHT = X @ W @ (2 * W.T), X.T @ (2 * X @ W)


def square(a, b):
    return np.sum(product(a, b) ** 2)


def of_keywords(a, b):
    return np.sum(product(b=b, a=a) ** 2)


def of_a_dict(a, b):
    layers = {"w": b}
    return np.sum(product(a, layers["w"]) ** 2)


@pytest.mark.parametrize("f", [square, of_keywords, of_a_dict])
def test_a_part_that_nobody_needs_is_not_computed(called, f):
    with recorded_only():
        for _ in range(4):
            np.testing.assert_allclose(grad(f, argnums=1)(X, W), BY_RIGHT)
            assert called == ["db"]
            called.clear()
            np.testing.assert_allclose(grad(f, argnums=0)(X, W), BY_LEFT)
            assert called == ["da"]
            called.clear()
        da, db = gradient(f, X, W)
    assert called == ["da", "db"]
    np.testing.assert_allclose(da, BY_LEFT)
    np.testing.assert_allclose(db, BY_RIGHT)


def test_data_that_is_captured(called):
    _, back = pullback(lambda b: square(X, b), W)
    for _ in range(2):
        np.testing.assert_allclose(back(1.0)[1], BY_RIGHT)
    assert called == ["db", "db"]


def test_what_becomes_active_later_has_had_no_gradient(called):
    def f(b):
        a = X.copy()
        y = product(a, b)
        a[...] = product(a, product(b, a)) + b[0, 0]  # from here on, it depends on `b`
        return np.sum(y) + np.sum(product(a, b))

    def copied(b):
        a = X @ (b @ X) + b[0, 0]
        return np.sum(X @ b) + np.sum(a @ b)

    np.testing.assert_allclose(grad(f)(W), grad(copied)(W))
    assert sorted(called) == ["da", "da", "db", "db", "db"]


def test_parts_inside_gradients_of_gradients(called):
    def slope(b):
        return np.sum(grad(square, argnums=1)(X, b) ** 2)

    def by_hand(b):
        return np.sum((X.T @ (2 * X @ b)) ** 2)

    with recorded_only():
        np.testing.assert_allclose(grad(slope)(W), grad(by_hand)(W))
    assert "da" not in called


def test_rules_of_rules_base_compute_only_what_is_needed(monkeypatch):
    import rules_base.numpy.arithmetic as arithmetic
    import rules_base.numpy.einsum as einsum
    import rules_base.numpy.matmul as matmul

    def unexpected(*_):
        raise AssertionError("nobody needs this")

    data, weights, exponents = np.abs(X), np.abs(W), np.full((2, 2), 2.0)
    monkeypatch.setattr(matmul, "matmul_left", unexpected)
    monkeypatch.setattr(arithmetic, "power_of_exponent", unexpected)
    counted, one = [], einsum.operand_cotangent
    monkeypatch.setattr(einsum, "operand_cotangent", lambda *xs: counted.append(1) or one(*xs))
    with recorded_only():
        found = grad(lambda w: np.sum((data @ w) ** exponents))(weights)
        np.testing.assert_allclose(found, 2 * data.T @ (data @ weights))
        found = grad(lambda w: np.sum(np.einsum("ij,jk->ik", data, w) ** 2))(weights)
        np.testing.assert_allclose(found, 2 * data.T @ (data @ weights))
    assert counted == [1]


def test_called_pullbacks_in_transformed_code_compute_only_what_is_needed():
    called = []
    rule = RuleSet("called_parts")

    def weighted(x, w):
        return x * w

    @rule(weighted)
    def _(x: Numeric, w: Numeric):
        def dx(dy):
            called.append("dx")
            return dy * w

        def dw(dy):
            called.append("dw")
            return dy * x

        try:  # which is not inlined
            return x * w, (dx, dw)
        finally:
            called.append("forward")

    rule.register()
    try:
        f = grad(lambda x, w: np.sum(weighted(x, w)), argnums=1)
        for _ in range(4):
            called.clear()
            np.testing.assert_array_equal(f(X, X + 1), X)
            assert called == ["forward", "dw"]
    finally:
        rule.unregister()


def test_a_rule_of_a_python_function_takes_lists_as_they_are():
    class Twice(list):
        def __iter__(self):
            return iter([2.0 * x for x in list.__iter__(self)])

    rule = RuleSet("of_lists")

    def first(xs):
        return xs[0]

    @rule(first)
    def _(xs: list):
        return xs[0], lambda dy: ([7.0 * dy, *[None] * (len(xs) - 1)],)

    rule.register()
    try:
        with recorded_only():
            assert gradient(lambda x: first(Twice([x, x])) * 3.0, 2.0) == (21.0,)
    finally:
        rule.unregister()


def test_einsum_is_called_for_the_parts_that_are_needed():
    f = grad(lambda x, w: np.sum(np.einsum("ij,jk->ik", x, w) ** 2), argnums=1)
    with transformed_only():
        np.testing.assert_allclose(f(X, W), BY_RIGHT)


# -- sums ------------------------------------------------------------------------------------------

KEPT = []


def keeping(x, y):
    return x + y


@pytest.fixture
def keeps():
    """Declare a rule that hands the one cotangent to both operands, and keeps it."""
    rule = RuleSet("keeps")

    @rule(keeping)
    def _(x: Array, y: Array):
        def back(dy):
            KEPT.append((dy, dy.copy()))
            return dy, dy

        return x + y, back

    rule.register()
    yield
    rule.unregister()
    KEPT.clear()


def test_sums_never_go_into_the_arrays_of_others(keeps):
    def f(x, y):
        u = keeping(x, y)  # three terms each, of which the first and the second are one array
        v = keeping(x, u)
        w = keeping(keeping(v, x), keeping(u, y))
        return np.sum(w * w) + np.sum(x * u)

    def plain(x, y):
        u = x + y
        v = x + u
        w = (v + x) + (u + y)
        return np.sum(w * w) + np.sum(x * u)

    with recorded_only():
        value, (dx, dy) = value_and_grad(f, argnums=(0, 1))(X, X + 1)
        first = dx.copy(), dy.copy()
        again = grad(f, argnums=(0, 1))(X, X + 1)
    assert value == plain(X, X + 1)
    for d, e, expected in zip((dx, dy), again, grad(plain, argnums=(0, 1))(X, X + 1)):
        np.testing.assert_allclose(d, expected)
        np.testing.assert_array_equal(d, e)
    np.testing.assert_array_equal((dx, dy), first)
    assert len(KEPT) == 10
    for now, then in KEPT:
        np.testing.assert_array_equal(now, then)


def test_the_seed_is_never_written_to():
    def f(x):
        return x + x + x + x

    seed = np.ones(3)
    _, back = pullback(f, np.zeros(3))
    for _ in range(2):
        np.testing.assert_array_equal(back(seed)[1], np.full(3, 4.0))
    np.testing.assert_array_equal(seed, np.ones(3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_many_terms_of_any_kind(dtype, shape):
    x = np.full(shape, 0.5, dtype)

    def f(x):
        total = 0.0
        for k in range(1, 6):
            total = total + np.sum(np.abs(x * k))
        return total

    with recorded_only():
        (d,) = gradient(f, x)
    assert (d.dtype, d.shape) == (x.dtype, x.shape) if shape else np.shape(d) == ()
    np.testing.assert_allclose(d, np.full(shape, 15.0))


def test_terms_of_entries_and_of_the_whole():
    def f(x):
        return x[0] * 2 + np.sum(x * x) + x[1] * x[0] + np.sum(x) + x[0]

    x = np.array([0.5, -1.5, 2.0])
    with recorded_only():
        (d,) = gradient(f, x)
    np.testing.assert_allclose(d, 2 * x + 1 + [2 + x[1] + 1, x[0], 0])


def test_terms_of_other_kinds_are_no_sum_in_place():
    def f(xs):
        return sum(xs) + xs[0] * xs[1] + sum([x * x for x in xs])

    with recorded_only():
        assert gradient(f, [2.0, 3.0]) == ([1 + 3 + 4.0, 1 + 2 + 6.0],)
