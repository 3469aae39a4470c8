"""Values of types whose cotangents a rule set knows: they go by value, and by rule alone."""

import operator

import numpy as np
import pytest

from rulescore import RuleSet, Tangent, accumulate, project, zero
from zygote_lite import (
    DifferentiationError,
    GradientCheckError,
    check_gradient,
    grad,
    gradient,
    hessian,
    jacobian,
    pullback,
)


class Length:
    """A number with a unit; its cotangent has the inverse unit, and says so where it is added."""

    def __init__(self, number, unit):
        self.number = number
        self.unit = unit

    def __mul__(self, factor):
        return Length(self.number * factor, self.unit)

    def __add__(self, other):
        return Length(self.number + other.number, self.unit)

    def __setitem__(self, index, number):
        self.number = number

    @property
    def half(self):
        return self.number / 2

    def twice(self):
        return self.number * 2

    def __eq__(self, other):
        return type(other) is Length and vars(self) == vars(other)

    __hash__ = None

    def __repr__(self):
        return f"{self.number} {self.unit}"


class WithSlots:
    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number


class Holder:
    def __init__(self, q):
        self.q = q


def number_of(q):
    return q.number


def inverse(q, number):
    return Length(number, "1/" + q.unit)


@pytest.fixture
def lengths():
    """Declare what `Length` is, and the rules of its functions."""
    rule = RuleSet("lengths")

    @rule.method(project)
    def _(dx: Length, x: Length):
        assert dx.unit == "1/" + x.unit
        return Length(project(dx.number, x.number), dx.unit)

    @rule.method(project)
    def _(dx: object, x: WithSlots):
        return dx

    @rule.method(accumulate)
    def _(a: Length, b: Length):
        assert a.unit == b.unit
        return a + b

    @rule.method(zero)
    def _(x: Length):
        return inverse(x, 0.0)

    @rule(number_of)
    def _(q: Length):
        return q.number, lambda dy: (inverse(q, dy),)

    @rule(operator.mul)
    def _(q: Length, c: float):
        return q * c, lambda dy: (Length(dy.number * c, dy.unit), dy.number * q.number)

    @rule(Length)
    def _(number: float, unit: str):
        return Length(number, unit), lambda dy: (dy.number, None)

    rule.register()
    yield rule
    rule.unregister()


def square(q):
    return number_of(q) ** 2


def with_a_factor(q, c):
    return number_of(q * c) * c


def in_a_loop(q, c):
    total = 0.0
    for i in range(3):
        total = total + number_of(q * c) * i
        q = q * 2.0
    return total


def in_containers(q):
    b, items, table = Holder(q), [q], {"a": q}
    items.append(q)
    table["b"] = q
    items[0] = q * 2.0
    return number_of(b.q) + number_of(items[0]) * number_of(items[1]) + number_of(table["b"])


def made_inside(q, c):
    return number_of(Length(c, "s")) * number_of(q)


def of_a_table(p):
    return number_of(p["q"]) * number_of(p["list"][0]) ** 2


def of_an_object(b):
    return number_of(b.q) ** 2


def of_a_branch(q, c):
    return number_of(q) if c > 10.0 else c


Q = Length(3.0, "m")
CASES = [
    (square, (Q,), (Length(6.0, "1/m"),)),
    (with_a_factor, (Q, 2.0), (Length(4.0, "1/m"), 12.0)),
    (in_a_loop, (Q, 2.0), (Length(20.0, "1/m"), 30.0)),
    (in_containers, (Q,), (Length(14.0, "1/m"),)),
    (made_inside, (Q, 2.0), (Length(2.0, "1/m"), 3.0)),
    (
        of_a_table,
        ({"q": Q, "list": [Length(2.0, "s")]},),
        ({"q": Length(4.0, "1/m"), "list": [Length(12.0, "1/s")]},),
    ),
    (of_an_object, (Holder(Q),), (Tangent(Holder, q=Length(6.0, "1/m")),)),
]


@pytest.mark.parametrize(("f", "xs", "due"), CASES, ids=[f.__name__ for f, _, _ in CASES])
def test_gradients_are_what_the_rules_say(lengths, f, xs, due):
    for _ in range(4):
        assert gradient(f, *xs) == due
        assert grad(f)(*xs) == due[0]
    assert Length(3.0, "m") == Q


def test_a_zero_has_the_unit(lengths):
    for _ in range(4):
        assert gradient(of_a_branch, Q, 2.0) == (None, 1.0)
        assert grad(of_a_branch)(Q, 2.0) == Length(0.0, "1/m")
        assert grad(of_a_table)({"q": Q, "list": [Q], "z": Q})["z"] == Length(0.0, "1/m")


def test_a_value_may_be_one_and_a_closure_may_hold_one(lengths):
    _, back = pullback(lambda q, c: q * c, Q, 2.0)
    assert back(Length(1.0, "1/m")) == (None, Length(2.0, "1/m"), 3.0)
    q = Q
    _, back = pullback(lambda c: number_of(q) * c, 2.0)
    df, dc = back(1.0)
    assert (df.q, dc) == (Length(2.0, "1/m"), 3.0)


def as_it_is(dx: Length, x: Length):
    return dx


def test_gradients_are_not_one_object(lengths):
    @lengths(operator.add)
    def _(a: Length, b: Length):
        return a + b, lambda dy: (dy, dy)

    lengths.unregister()
    lengths.rules = [rule for rule in lengths.rules if rule.function is not project]
    lengths.method(project)(as_it_is)
    lengths.register()
    one, other = Length(1.0, "m"), Length(2.0, "m")
    _, back = pullback(lambda a, b: a + b, one, other)
    dy = Length(1.0, "1/m")
    for _ in range(2):
        _, da, db = back(dy)
        assert da == db == Length(1.0, "1/m")
        da.number = 5.0
        assert (db.number, dy.number) == (1.0, 1.0)


REFUSED = {
    "a field": lambda q, c: q.number * c,
    "a field by name": lambda q, c: getattr(q, "num" + "ber") * c,
    "a slot": lambda q, c: WithSlots(q).number * c,
    "all fields": lambda q, c: vars(q)["number"] * c,
    "a property": lambda q, c: q.half * c,
    "a method": lambda q, c: q.twice() * c,
    "a field that is written": lambda q, c: setattr(q, "number", c) or number_of(q),
    "an entry that is written": lambda q, c: operator.setitem(q, 0, c) or number_of(q),
    "an operator without a rule": lambda q, c: number_of(q + q) * c,
    "a field of one that is made": lambda q, c: Length(c, "m").number,
}


@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED)
def test_what_no_rule_is_for_is_refused(lengths, f):
    for _ in range(4):
        with pytest.raises(DifferentiationError):
            gradient(f, Length(3.0, "m"), 2.0)


def test_the_error_says_what_to_do(lengths):
    with pytest.raises(DifferentiationError, match=r"`\.number` of a Length, .* declare a rule"):
        gradient(lambda q: q.number, Q)


def test_a_property_may_have_a_rule(lengths):
    lengths(Length.half)(lambda q: (q.number / 2, lambda dy: (inverse(q, dy / 2),)))
    for _ in range(4):
        assert gradient(lambda q: q.half, Q) == (Length(0.5, "1/m"),)


def test_the_type_is_an_object_like_any_other_without_the_rule_set(lengths):
    def field(q):
        return q.number**2

    for _ in range(4):
        with pytest.raises(DifferentiationError):
            gradient(field, Q)
    lengths.unregister()
    for _ in range(4):
        assert gradient(field, Q)[0].number == 6.0
    lengths.register()
    for _ in range(4):
        with pytest.raises(DifferentiationError):
            gradient(field, Q)


def test_sparse_matrices_have_gradients_of_their_pattern():
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")

    def rows_of(a):
        return np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))

    def like(a, values):
        return sparse.csr_array((values, a.indices, a.indptr), a.shape)

    rule = RuleSet("sparse")

    @rule.method(project)
    def _(dx: object, x: sparse.csr_array):
        dense = np.broadcast_to(dx, x.shape) if np.ndim(dx) == 0 else dx
        return dx if isinstance(dx, sparse.csr_array) else like(x, dense[rows_of(x), x.indices])

    @rule(operator.matmul)
    def _(a: sparse.csr_array, v: np.ndarray):
        return a @ v, lambda dy: (like(a, dy[rows_of(a)] * v[a.indices]), a.T @ dy)

    def f(a, v):
        for _ in range(2):
            v = a @ v
        return np.sum(v * v)

    dense = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [4.0, 5.0, 0.0]])
    v = np.array([1.0, 2.0, 3.0])
    expected = gradient(f, dense, v)
    rule.register()
    try:
        for _ in range(4):
            da, dv = gradient(f, sparse.csr_array(dense), v)
            assert type(da) is sparse.csr_array
            np.testing.assert_allclose(da.toarray(), expected[0] * (dense != 0), rtol=1e-14)
            np.testing.assert_allclose(dv, expected[1], rtol=1e-14)
        zeros = grad(lambda a, v: np.sum(v))(sparse.csr_array(dense), v)
        assert (zeros.nnz, zeros.shape, abs(zeros).max()) == (5, (3, 3), 0.0)
        with pytest.raises(DifferentiationError):
            gradient(lambda a: a.setdiag(2.0) or np.sum(a @ v), sparse.csr_array(dense))
    finally:
        rule.unregister()


def test_second_derivatives_are_refused_where_a_rule_reads_fields(lengths):
    @lengths(square)
    def _(q: Length):
        return q.number**2, lambda dy: (inverse(q, 2 * dy * q.number),)

    assert grad(square)(Q) == Length(6.0, "1/m")
    with pytest.raises(DifferentiationError):
        hessian(lambda c: square(Q * c))(2.0)


class Numbers:
    """Numbers that are compared one by one, as those of a table are."""

    def __init__(self, data):
        self.data = np.asarray(data)

    def __eq__(self, other):
        return self.data == other.data

    __hash__ = None


def total(x):
    return np.sum(x.data)


@pytest.fixture
def numbers(rules):
    """Declare what `Numbers` are, and the rule of their total."""

    @rules.method(project)
    def _(dx: object, x: Numbers):
        return dx if isinstance(dx, Numbers) else Numbers(dx)

    @rules(total)
    def _(x: Numbers):
        return total(x), lambda dy: (Numbers(np.full(np.shape(x.data), dy)),)


def weighted(x, w):
    return total(x) * np.sum(w * w)


def test_check_gradient_says_what_it_cannot_move(numbers):
    x, w = Numbers([1.0, 2.0]), np.array([0.5, 1.5])
    with pytest.warns(RuntimeWarning, match="1 of 3 .* how to move a Numbers"):
        check_gradient(weighted, x, w)
    check_gradient(weighted, x, w, argnums=1)
    with pytest.raises(GradientCheckError, match="nothing could be checked"):
        check_gradient(weighted, x, w, argnums=0)


def test_check_gradient_compares_what_goes_by_value(rules, numbers):
    given = iter(range(100))

    @rules(weighted)
    def _(x: Numbers, w: np.ndarray):
        return weighted(x, w), lambda dy: (Numbers(np.full(2, next(given))), 2 * w * total(x))

    with pytest.raises(GradientCheckError, match="something else when called again"):
        check_gradient(weighted, Numbers([1.0, 2.0]), np.array([0.5, 1.5]))


@pytest.mark.usefixtures("numbers")
def test_what_goes_by_value_has_no_jacobian():
    for x in (Numbers([1.0, 2.0]), [1.0, Numbers([1.0, 2.0])]):
        with pytest.raises(TypeError, match=r"the Jacobian of .* needs real numbers"):
            jacobian(lambda x: np.ones(2) * total(x[1] if isinstance(x, list) else x))(x)
