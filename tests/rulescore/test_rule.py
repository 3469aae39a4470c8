"""A rule: what it tells about itself, and what its pullback may not do."""

import math
import operator

import numpy as np
import pytest

from rulescore import Array, Numeric, RuleError, Tangent, find_rule, rrule
from rulescore._naming import name_of
from rulescore.testing import check_rrule

PULLBACKS = [
    ("too many", lambda dy: (dy, dy), "returned 2 cotangents where 1 was due"),
    ("one for the function", lambda dy: (None, dy), "1 was due: .* none for the function itself"),
    ("too few", lambda dy: (), "returned 0 cotangents where 1 was due"),
    ("no tuple", lambda dy: dy, "returned float: return a tuple"),
    ("a list", lambda dy: [dy], "returned list of length 1: return a tuple"),
    ("nothing", lambda dy: None, "returned NoneType: return a tuple"),
]


@pytest.mark.parametrize(
    ("pullback", "message"), [p[1:] for p in PULLBACKS], ids=[p[0] for p in PULLBACKS]
)
def test_a_wrong_number_of_cotangents(rule, pullback, message):
    def cube(x):
        return x**3

    @rule(cube)
    def _(x: float):
        return cube(x), pullback

    line = find_rule(cube, 2.0).line
    _, back = rrule(cube, 2.0)
    with pytest.raises(RuleError, match=message) as caught:
        back(1.0)
    assert f"mine, {__file__}:{line}" in str(caught.value)
    assert "cube(float)" in str(caught.value)


ARRAY = np.ones((2, 3))
SHAPES = [
    (ARRAY, np.ones((3, 2))),
    (ARRAY, np.ones(6)),
    (ARRAY, 1.0),
    (ARRAY, [1.0]),
    (np.array(1.0), np.ones(1)),
    (np.float64(1.0), np.ones(1)),
    (1.0, np.ones(1)),
    (1.0, [1.0]),
    (1.0, "1"),
    (1, Tangent(object)),
    (1j, np.ones((1, 1))),
    ([1.0, 2.0], [1.0]),
    ([1.0, 2.0], (1.0, 2.0)),
    ([1.0, 2.0], np.ones(2)),
    ((1.0,), [1.0]),
]


@pytest.mark.parametrize(("x", "dx"), SHAPES, ids=map(str, range(len(SHAPES))))
def test_a_cotangent_of_the_wrong_shape(rule, x, dx):
    def f(x, n):
        return x

    @rule(f)
    def _(x: object, n: int):
        def pullback(dy):
            return dx, None

        return x, pullback

    _, back = rrule(f, x, 3)
    with pytest.raises(RuleError, match=r"mine, .*test_rule.py:\d+\) returned a cotangent of") as c:
        back(1.0)
    assert "for argument 1, which is " in str(c.value)


FITTING = [
    (ARRAY, np.ones((2, 3), np.float32)),
    (np.array(1.0), np.array(2.0)),
    (np.float64(1.0), 2.0),
    (np.float64(1.0), np.array(2.0)),
    (1, 2.0),
    (1.0, np.float64(2.0)),
    (1.0, np.array(2.0)),
    (1j, 2.0),
    ([1.0, 2.0], [None, 1.0]),
    ((1.0,), (1.0,)),
    (ARRAY, None),
    ({"a": 1.0}, {"a": 1.0}),
    (object(), Tangent(object)),
]


@pytest.mark.parametrize(("x", "dx"), FITTING, ids=map(str, range(len(FITTING))))
def test_a_cotangent_that_fits(rule, x, dx):
    def f(x):
        return x

    @rule(f)
    def _(x: object):
        def pullback(dy):
            return (dx,)

        return x, pullback

    assert rrule(f, x)[1](1.0)[1] is dx


def test_the_pullback_of_none_is_all_none_and_the_rule_is_not_asked(rule):
    def f(x, y):
        return x * y

    @rule(f)
    def _(x: float, y: float):
        def pullback(dy):
            raise AssertionError

        return x * y, pullback

    def g(x):
        return 2 * x

    rule.scalar(g)(lambda x: 1 / 0)
    rule.constant(h := lambda *xs: 0)
    assert rrule(f, 2.0, 3.0)[1](None) == (None, None, None)
    assert rrule(g, 2.0)[1](None) == (None, None)
    assert rrule(h, 1, 2, 3)[1](None) == rrule(h, 1, 2, 3)[1](1.0) == (None,) * 4


def test_positional_options_are_padded(rule):
    def power(x, n=2, m=0):
        return x**n + m

    @rule(power)
    def _(x: float, n: int = 2, m: int = 0):
        def pullback(dy):
            return (dy * n * x ** (n - 1),)

        return power(x, n, m), pullback

    assert rrule(power, 3.0)[1](1.0) == (None, 6.0)
    assert rrule(power, 3.0, 3)[1](1.0) == (None, 27.0, None)
    assert rrule(power, 3.0, 3, 1)[1](1.0) == (None, 27.0, None, None)
    assert rrule(power, 3.0, m=1)[0] == 10.0
    assert rrule(power, 3.0, base=1) is None


def test_varargs_have_one_cotangent_each(rule):
    def total(*xs):
        return sum(xs)

    @rule(total)
    def _(*xs: float):
        def pullback(dy):
            return (dy,) * len(xs)

        return sum(xs), pullback

    for n in range(4):
        y, back = rrule(total, *[2.0] * n)
        assert y == 2 * n
        assert back(3.0) == (None, *[3.0] * n)
    assert rrule(total, 1.0, "x") is None


def test_a_rule_of_instances_returns_the_tangent_of_the_object(rule):
    class Line:
        def __init__(self, slope):
            self.slope = slope

        def __call__(self, *xs):
            return sum(self.slope * x for x in xs)

    @rule.of_instances
    def _(line: Line, *xs: float):
        def pullback(dy):
            return Tangent(Line, slope=dy * sum(xs)), *[dy * line.slope for x in xs]

        return line(*xs), pullback

    class Steep(Line):
        pass

    for kind in (Line, Steep):
        y, back = rrule(kind(3.0), 1.0, 2.0)
        assert y == 9.0
        assert back(1.0) == (Tangent(Line, slope=3.0), 3.0, 3.0)
    assert rrule(Line(3.0), "a") is None


def test_a_body_that_returns_no_pullback(rule):
    @rule(f := lambda x: x)
    def _(x: float):
        return x, 1.0

    @rule(g := lambda x: x)
    def _(x: float):
        return x

    for h in (f, g):
        with pytest.raises(RuleError, match="return the value and the pullback"):
            rrule(h, 1.0)


def test_provenance(rule):
    def f(x, y):
        return x

    @rule(f)
    def _(x: Array, y: Numeric | None):
        raise AssertionError

    found = find_rule(f, np.ones(2), None)
    assert found.plugin == "mine"
    assert found.file == __file__
    assert found.line == _.__code__.co_firstlineno
    assert found.place == f"mine, {__file__}:{found.line}"
    assert found.signature.endswith("f(Array, Numeric | None)") or found.signature.endswith(
        "f(Array, Number | generic | Array | None)"
    )
    assert repr(found) == f"<general rule {found.signature} from {found.place}>"
    assert found.kind == "general"

    rule.constant(g := lambda: 0)
    assert find_rule(g).line == g.__code__.co_firstlineno
    assert find_rule(g).file == __file__


class RefusesAttributes:
    def __getattr__(self, name):
        raise RuntimeError(name)

    def __call__(self, x):
        return x


NAMES = [
    (np.linalg.inv, "numpy.linalg.inv"),
    (np.sin, "numpy.sin"),
    (np.ndarray.sum, "numpy.ndarray.sum"),
    (math.cos, "math.cos"),
    (operator.truediv, "operator.truediv"),
    (len, "len"),
    (float.fromhex, "float.fromhex"),
]


@pytest.mark.parametrize(("f", "name"), NAMES)
def test_names(f, name):
    assert name_of(f) == name


def test_a_callable_that_refuses_to_be_looked_at_has_a_name_and_a_rule(rule):
    f = RefusesAttributes()
    assert "RefusesAttributes object" in name_of(f)
    rule.scalar(f)(lambda x: 1.0)
    y, back = rrule(f, 2.0)
    assert (y, back(3.0), repr(back)) == (2.0, (None, 3.0), "∂(RefusesAttributes)")


def test_a_pullback_knows_its_rule_and_is_printed_with_its_function(rule):
    def cosine(x):
        return math.cos(x)

    rule.scalar(cosine)(lambda x: -math.sin(x))
    _, back = rrule(cosine, 0.6)
    assert repr(back) == "∂(cosine)"
    assert back.rule is find_rule(cosine, 0.6)
    assert back(1.0) == back(1.0) == (None, -math.sin(0.6))


def scaled(x, y):
    return x * y


def counted(rule, shares):
    """Declare a rule in parts for `scaled`, and return the list of the parts that are called."""
    called = []

    @rule(scaled)
    def _(x: Numeric, y: Numeric, z=None):
        def shared(dy):
            called.append("shared")
            return dy

        def dx(dy):
            called.append("dx")
            return dy * y

        def dz(dy):
            called.append("dy")
            return dy * x

        return x * y, (shared, (dx, dz)) if shares else (dx, dz)

    return called


@pytest.mark.parametrize("shares", [False, True])
def test_only_the_parts_that_are_needed_are_computed(rule, shares):
    called = counted(rule, shares)
    first = ["shared"] * shares
    y, back = rrule(scaled, 2.0, 3.0)
    assert (y, back(1.0), called) == (6.0, (None, 3.0, 2.0), [*first, "dx", "dy"])
    called.clear()
    assert back.only((False, False, True))(1.0) == (None, None, 2.0)
    assert called == [*first, "dy"]
    called.clear()
    assert back.only((None, 7, None))(1.0) == (None, 3.0, None)
    assert called == [*first, "dx"]
    called.clear()
    assert back.only((False, False, False))(1.0) == (None, None, None)
    assert back.only((False, True, False))(None) == (None, None, None)
    assert called == []
    assert back.only((False, True, True)) is back
    assert repr(back.only((False, True, False))) == "∂(scaled)"
    assert back.only((False, True, False)).rule is find_rule(scaled, 2.0, 3.0)


def test_an_option_does_not_count_among_the_parts(rule):
    counted(rule, False)
    _, back = rrule(scaled, 2.0, 3.0, None)
    assert back.only((False, True, True, False)) is back
    assert back.only((False, True, False, False))(1.0) == (None, 3.0, None, None)


def test_a_pullback_of_all_at_once_stays_as_it_is(rule):
    @rule(scaled)
    def _(x: float, y: float):
        return x * y, lambda dy: (dy * y, dy * x)

    _, back = rrule(scaled, 2.0, 3.0)
    assert back.only((False, True, False)) is back


def test_parts_of_a_callable_object(rule):
    class Line:
        def __call__(self, x):
            return 3.0 * x

    def self_part(dy):
        raise AssertionError("nobody needs it")

    @rule.of_instances
    def _(line: Line, x: float):
        return line(x), (self_part, lambda dy: 3.0 * dy)

    _, back = rrule(Line(), 2.0)
    assert back.only((False, True))(1.0) == (None, 3.0)
    with pytest.raises(AssertionError, match="nobody needs it"):
        back.only((True, True))(1.0)


def test_a_part_of_none_and_what_is_no_part(rule):
    @rule(scaled)
    def _(x: float, y: int):
        return x * y, (lambda dy: dy * y, None)

    @rule(scaled)
    def _(x: float, y: str):
        return x * len(y), (lambda dy: dy, y)

    assert rrule(scaled, 2.0, 3)[1](1.0) == (None, 3.0, None)
    with pytest.raises(RuleError, match=r"scaled\(float, str\).* has str among its parts"):
        rrule(scaled, 2.0, "ab")[1](1.0)


def test_a_part_of_a_wrong_shape(rule):
    @rule(scaled)
    def _(x: Array, y: float):
        return x * y, (lambda dy: dy[0] * y, None)

    _, back = rrule(scaled, ARRAY, 2.0)
    with pytest.raises(RuleError, match=r"shape \(3,\) for argument 1"):
        back.only((False, True, False))(ARRAY)


# -- linear rules ----------------------------------------------------------------------------------


def total(x, axis=None, *, initial=0.0):
    return np.sum(x, axis) + initial


def joined(x, scale, y):
    return np.concatenate([x * scale, y])


def test_a_linear_rule_is_an_adjoint(rule):
    @rule.linear(total, shifts=("initial",))
    def _(dy, x: Array, axis=None, *, initial=0.0):
        dy = dy if axis is None else np.expand_dims(dy, axis)
        return np.broadcast_to(dy, x.shape)

    found = find_rule(total, ARRAY, 1, initial=2.0)
    assert (found.kind, found.linear, found.shifts) == ("linear", (0,), {"initial"})
    assert found.signature.endswith("total(Array)")
    y, back = rrule(total, ARRAY.astype(np.float32), 1, initial=2.0)
    np.testing.assert_array_equal(y, [5.0, 5.0])
    nothing, dx, daxis = back(np.array([1.0, 2.0]))
    assert (nothing, daxis, dx.dtype) == (None, None, np.float32)
    np.testing.assert_array_equal(dx, [[1, 1, 1], [2, 2, 2]])
    assert back(None) == (None, None, None)
    assert back.only((False, True, False)) is back
    assert rrule(total, ARRAY, other=1) is None
    assert rrule(total, 1.0) is None


def test_linear_in_some_arguments(rule):
    @rule.linear(joined, argnums=(0, 2))
    def _(dy, x: Array, scale: float, y: Array):
        return dy[: len(x)] * scale, dy[len(x) :]

    _, back = rrule(joined, np.ones(2), 3.0, np.ones(1, complex))
    _, dx, dscale, dy = back(np.array([1.0, 2.0 + 1j, 3.0j]))
    assert dscale is None
    np.testing.assert_array_equal(dx, [3.0, 6.0])  # it is projected to what is real
    np.testing.assert_array_equal(dy, [3.0j])
    assert dx.dtype == float


def test_a_linear_rule_of_integers_and_of_lists(rule):
    @rule.linear(total)
    def _(dy, x: list):
        return [dy] * len(x)

    @rule.linear(total)
    def _(dy, x: Numeric):
        return None

    assert rrule(total, [1, np.float32(2.0), True])[1](0.5) == (None, [0.5, 0.5, None])
    assert rrule(total, 3.0)[1](1.0) == (None, None)


def test_an_adjoint_that_gives_no_cotangent(rule):
    @rule.linear(joined, argnums=(0, 2))
    def _(dy, x: Array, scale: float, y: Array):
        return dy[: len(x)] if scale else (dy, dy)

    with pytest.raises(RuleError, match=r"returned ndarray: return a tuple of 2"):
        rrule(joined, np.ones(2), 3.0, np.ones(1))[1](np.ones(3))
    with pytest.raises(RuleError, match=r"other than a cotangent of argument 1, of shape \(2,\)"):
        rrule(joined, np.ones(2), 0.0, np.ones(1))[1](np.ones(3))


def test_a_linear_rule_that_is_declared_wrongly(rule):
    with pytest.raises(RuleError, match="the first parameter of the adjoint"):

        @rule.linear(total)
        def _(*, axis=None):
            return None

    with pytest.raises(RuleError, match=r"`argnums` \(1,\) of a linear rule"):

        @rule.linear(total, argnums=1)
        def _(dy, x: Array, axis=None):
            return dy

    with pytest.raises(RuleError, match=r"`argnums` \(\) of a linear rule"):

        @rule.linear(total)
        def _(dy, *xs: Array):
            return dy

    with pytest.raises(RuleError, match=r"`shifts` \('initial',\) of a linear rule"):

        @rule.linear(total, shifts=("initial",))
        def _(dy, x: Array, axis=None):
            return dy

    with pytest.raises(RuleError, match="takes no `ad`"):

        @rule.linear(total)
        def _(dy, x: Array, *, ad):
            return dy

    assert find_rule(total, ARRAY) is None


def test_an_adjoint_that_takes_any_option_may_name_those_that_shift(rule):
    @rule.linear(total, shifts=("initial",))
    def _(dy, x: np.ndarray, **options):
        return dy * np.ones_like(x)

    found = find_rule(total, np.ones(2), initial=1.0)
    assert (found.options, found.shifts) == (None, {"initial"})
    assert check_rrule(total, np.ones(2), initial=1.0) is found
