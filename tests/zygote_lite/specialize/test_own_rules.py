"""Rules of the program itself that are not the derivative of the function, on both tiers.

A rounding that passes gradients on, and a function whose gradient is made larger: a first
derivative is that of the rule, and a second goes through what the body of the rule computes.
"""

import contextlib
import dataclasses

import numpy as np
import pytest

import rules_nnlib
from rulescore import RuleError, custom_frule, custom_rule, scalar_rule
from rulescore.testing import CheckError, check_rrule
from tests.zygote_lite.checks.comparing import assert_close
from zygote_lite import grad, gradient, hessian, hvp, jacfwd, jacobian, jvp, linearize, testing
from zygote_lite.errors import DifferentiationError

X = np.array([1.3, -0.4])
FACTOR = 2.0


@custom_rule
def rounded(x):
    return np.round(x), lambda dy: (dy,)


@custom_rule
def larger(x):
    return x * FACTOR, lambda dy: (dy * FACTOR * 10.0,)


@scalar_rule(lambda x: 7.0 * x)
def steep(x):
    return x * x


@custom_rule
def of_dict(params):
    return params["w"] * 3.0, lambda dy: ({"w": dy * 3.0},)


@custom_rule
def of_nested(params):
    (inner,), scale = params
    return inner["w"] * scale, lambda dy: (([{"w": dy * scale}], dy * inner["w"]),)


@custom_rule
def clipped(x):
    return x * 1.0, lambda dy: (np.clip(dy, -1.0, 1.0),)


@custom_frule
def nine_fold(x):
    return x * x, lambda dx: 9.0 * x * dx


@custom_frule
def product(a, b, power=1):
    return (a @ b) ** power, (
        (lambda da: da @ b, lambda db: a @ db),
        lambda d: power * (a @ b) ** (power - 1) * d,
    )


@custom_frule
def weighted(params, x):
    def pushforward(dparams, dx):
        moved = 0.0 if dparams is None else dparams["w"] * x
        return moved if dx is None else moved + params["w"] * dx

    return params["w"] * x, pushforward


@pytest.fixture(params=[contextlib.nullcontext, testing.recorded_only], ids=["any", "recorded"])
def tier(request):
    with request.param():
        yield


BESIDE = {  # with what the body of the rule calls, beside the rule
    "after": (lambda x: larger(x) + x * FACTOR, 22.0),
    "before": (lambda x: x * FACTOR + larger(x), 22.0),
    "rounded": (lambda x: rounded(x) + np.round(x), 1.0),
    "in a loop": (lambda x: sum(larger(x) + x * FACTOR for _ in range(3)), 66.0),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_a_rule_computes_is_not_taken_for_a_call_beside_it(name, tier):
    f, slope = BESIDE[name]
    for _ in range(4):
        assert grad(f)(1.3) == slope
        assert jvp(f, (1.3,), (1.0,))[1] == slope
        np.testing.assert_array_equal(grad(lambda x: np.sum(f(x)))(X), [slope, slope])


SECOND = {  # the second derivative goes through the body: `round` has the slope 0
    "rounded": (lambda x: rounded(x) * x, 1.0),
    "larger": (lambda x: larger(x) * x, 2.0 + 20.0),
    "itself": (steep, 7.0),
    "inside": (lambda x: steep(x), 7.0),
    "of a plugin": (rules_nnlib.softplus, 0.25),
}


@pytest.mark.parametrize("name", SECOND)
def test_a_second_derivative_goes_through_the_body(name, tier):
    f, expected = SECOND[name]
    x = 0.0 if name == "of a plugin" else 1.3
    for _ in range(4):
        assert_close(hvp(f)(x, 1.0), expected, 1e-12)
        assert_close(hessian(f)(x), expected, 1e-12)
        assert_close(grad(grad(f))(x), expected, 1e-12)
        assert_close(jvp(grad(f), (x,), (1.0,))[1], expected, 1e-12)
        assert_close(grad(lambda t: jvp(f, (t,), (1.0,))[1])(x), expected, 1e-12)


def test_the_entries_of_a_dict_have_tangents_at_a_rule(tier):
    for _ in range(3):
        assert jvp(lambda w: of_dict({"w": w}), (2.0,), (1.0,)) == (6.0, 3.0)
        assert jvp(lambda p: of_dict(p), ({"w": 2.0},), ({"w": 1.0},)) == (6.0, 3.0)
        assert jvp(lambda w: of_nested(([{"w": w}], w)), (2.0,), (1.0,)) == (4.0, 4.0)
        assert jvp(lambda w: of_nested(([{"w": w}], 5.0)), (2.0,), (1.0,)) == (10.0, 5.0)
        assert jacfwd(lambda w: of_dict({"w": w}))(2.0) == 3.0
        assert linearize(lambda w: of_dict({"w": w}), 2.0)[1](1.0) == 3.0


def test_a_pullback_that_is_not_linear_has_no_transpose(tier):
    for _ in range(3):
        assert grad(lambda x: 10.0 * clipped(x))(2.0) == 1.0
        for ask in (
            lambda: jvp(clipped, (2.0,), (1.0,)),
            lambda: jvp(lambda x: clipped(x) * x, (X,), (X,)),
            lambda: jacfwd(clipped)(X),
            lambda: grad(lambda t: jvp(clipped, (t,), (1.0,))[1] * t)(1.3),
            lambda: jvp(lambda x: (clipped(x), 1e6 * x), (1.3,), (1.0,)),
        ):
            with pytest.raises(DifferentiationError, match=r"not linear in the cotangent.*ZL044"):
                ask()


NOT_LINEAR = r"not linear in the .*(ZL044|RC021)"
NOT_LINEAR_BACK = {
    "where it is positive": lambda x, dy: dy * 2.0 * (dy > 0),
    "where it is small": lambda x, dy: np.where(np.abs(dy) > 3.0, 0.0, 2.0 * dy),
    "clipped far away": lambda x, dy: np.clip(dy, -10.0, 10.0),
    "a constant": lambda x, dy: dy + 1.0,
    "squared": lambda x, dy: dy * dy,
}


@pytest.mark.parametrize("name", NOT_LINEAR_BACK)
def test_what_depends_on_sizes_and_signs_is_not_linear(name, tier):
    of = NOT_LINEAR_BACK[name]

    @custom_rule
    def back(x):
        return 2.0 * x, lambda dy: (of(x, dy),)

    @custom_rule
    def in_parts(x):
        return 2.0 * x, (lambda dy: of(x, dy),)

    @custom_frule
    def forward(x):
        return 2.0 * x, lambda dx: of(x, dx)

    @custom_frule
    def forward_in_parts(x, y):
        return 2.0 * x + y, (lambda dx: of(x, dx), lambda dy: dy)

    for x in (1.3, X):
        ask = [lambda x=x: jvp(f, (x,), (x,)) for f in (back, in_parts, forward)]
        ask += [
            lambda x=x: jvp(lambda x: back(x) * x, (x,), (x,)),
            lambda x=x: jvp(lambda x: forward(x) * x, (x,), (x,)),
            lambda x=x: linearize(forward, x)[1](x),
            lambda x=x: jacfwd(lambda x: forward_in_parts(x, x))(x),
            lambda x=x: grad(lambda x: np.sum(forward(x)))(x),
            lambda x=x: grad(lambda x: np.sum(forward_in_parts(x, x)))(x),
        ]
        for one in ask * 3:
            with pytest.raises((DifferentiationError, RuleError), match=NOT_LINEAR):
                one()


def test_what_is_not_a_number_is_linear_too(tier):
    slope = np.array([np.nan, 2.0])

    @custom_rule
    def back(x):
        return 2.0 * x, lambda dy: (slope * dy,)

    @custom_rule
    def in_parts(x):
        return 2.0 * x, (lambda dy: slope * dy,)

    @custom_frule
    def forward(x):
        return 2.0 * x, lambda dx: slope * dx

    for f in (back, in_parts, forward):
        for _ in range(3):
            np.testing.assert_array_equal(jvp(f, (X,), (np.ones(2),))[1], slope)
            np.testing.assert_array_equal(grad(lambda x, f=f: np.sum(f(x)))(X), slope)


def test_tangents_of_entries_are_repeated_as_those_of_arrays_are(tier):
    @custom_frule
    def whole(x):
        return (x[0] * np.ones(2), [np.sum(x)]), lambda dx: (dx[0], [np.sum(dx)])

    @custom_frule
    def in_parts(x, y):
        return (x[0] * y, x), (lambda dx: (dx[0] * y, dx), lambda dy: (x[0] * dy, 0.0))

    def plain(x):
        return (x[0] * np.ones(2), [np.sum(x)])

    for f, by_hand in ((whole, plain), (lambda x: in_parts(x, x), lambda x: (x[0] * x, x))):

        def loss(x, f=f):
            a, b = f(x)
            return np.sum(a * a * X) + np.sum(b[0] ** 3)

        for _ in range(3):
            assert_close(grad(loss)(X), grad(lambda x, g=by_hand: loss(x, g))(X))
            assert_close(jacfwd(loss)(X), grad(lambda x, g=by_hand: loss(x, g))(X))
            assert_close(hessian(loss)(X), hessian(lambda x, g=by_hand: loss(x, g))(X))


@pytest.mark.parametrize(
    ("value", "tangent"),
    [
        (lambda x: [x, x[0]], lambda dx: [dx, dx[0], dx]),
        (lambda x: (x, x[0]), lambda dx: (dx, dx)),
        (lambda x: x, lambda dx: (dx,)),
    ],
    ids=["longer", "of another shape", "no array"],
)
def test_a_tangent_of_another_structure_is_refused(value, tangent, tier):
    @custom_frule
    def f(x):
        return value(x), tangent

    for ask in (lambda: gradient(lambda x: f(x)[0][0], X), lambda: jacfwd(lambda x: f(x)[0])(X)):
        for _ in range(3):
            with pytest.raises(RuleError, match=r"the pushforward of .* gives .*RC012"):
                ask()


def test_the_check_of_a_rule_sees_limits_that_a_derivative_does_not():
    @custom_frule
    def clipped_far(x):
        return 2.0 * x, lambda dx: np.clip(2.0 * dx, -1e4, 1e4)

    @custom_frule
    def steps(x):
        return 2.0 * x, lambda dx: np.where(np.abs(dx) < 1e-6, 0.0, 2.0 * dx)

    @custom_frule
    def linear(x, y):
        return (
            x * y,
            lambda dx, dy: (0.0 if dx is None else dx * y) + (0.0 if dy is None else x * dy),
        )

    for f in (clipped_far, steps):
        assert grad(f)(1.3) == 2.0
        with pytest.raises(CheckError, match=r"`frule` is not linear|something else"):
            check_rrule(f, 1.3)
    for xs in ((1.3, 0.5), (X, X)):
        assert check_rrule(linear, *xs).kind == "general"


def test_approximate_pullbacks_are_linear_enough(tier):
    """Solve by iterations that stop at an absolute tolerance, as implicit derivatives do."""
    a = np.array([[2.0, 1.0], [0.5, 3.0]])

    @custom_rule
    def by_iteration(b):
        def pullback(dy):
            x = np.zeros(2)
            for _ in range(1000):
                step = 0.3 * (dy - a.T @ x)
                x = x + step
                if np.max(np.abs(step)) < 1e-8:
                    break
            return (x,)

        return np.linalg.solve(a, b), pullback

    for _ in range(3):
        assert_close(jvp(by_iteration, (X,), (X,))[1], np.linalg.solve(a, X), 1e-6)


def test_a_transpose_is_not_refused_for_what_cancels(tier):
    def share(p):
        return np.sum(np.exp(p["w"]) / np.sum(np.exp(p["w"])))

    for _ in range(3):
        assert_close(jacfwd(share)({"w": X})["w"], np.zeros(2), 1e-12)
        assert jvp(lambda t: np.cos(t) ** 2 + np.sin(t) ** 2, (0.3,), (1.0,))[1] == 0.0
        assert_close(jvp(lambda w: of_dict({"w": w}) - 3.0 * w, (X,), (X,))[1], 0.0 * X, 1e-12)


@dataclasses.dataclass
class Held:
    w: float


@custom_frule
def of_held(held):
    return held.w * 2.0, lambda d: None if d is None else 2.0 * d.w


@custom_frule
def of_function(g, x):
    return g(x), lambda dg, dx: None if dx is None else dx


@custom_frule
def only_where_it_moves(x):
    return x * x, lambda dx: 2.0 * x * dx if np.any(dx) else 0.0 * x


@custom_frule
def solved(b):
    a = np.array([[2.0, 1.0], [0.5, 3.0]])
    return np.linalg.solve(a, b), lambda db: np.linalg.solve(a, db)


def test_the_transpose_of_a_forward_rule_is_right_or_refused(tier):
    for _ in range(6):
        assert grad(only_where_it_moves)(3.0) == 6.0
        assert_close(jacobian(only_where_it_moves)(X), np.diag(2 * X), 1e-12)
        back = np.linalg.solve(np.array([[2.0, 0.5], [1.0, 3.0]]), X)
        assert_close(grad(lambda b: solved(b) @ X)(X), back, 1e-12)
        assert_close(jvp(lambda b: solved(b) @ X, (X,), (X,))[1], back @ X, 1e-12)
        with pytest.raises(DifferentiationError, match="declare a `custom_rule`"):
            grad(lambda x: of_held(Held(x)) * x)(3.0)
        with pytest.raises(DifferentiationError, match="declare a `custom_rule`"):
            grad(lambda x: of_function(lambda t: t * x, x))(3.0)


def test_a_forward_rule_gives_both_modes(tier):
    for _ in range(4):
        assert jvp(nine_fold, (2.0,), (2.0,)) == (4.0, 36.0)
        assert jvp(lambda x: 3.0 * nine_fold(x), (2.0,), (1.0,)) == (12.0, 54.0)
        assert grad(nine_fold)(2.0) == 18.0
        assert grad(lambda x: 3.0 * nine_fold(x))(2.0) == 54.0
        assert hvp(nine_fold)(2.0, 1.0) == 9.0


def test_a_forward_rule_of_several_arguments(tier):
    a, b = np.array([[1.0, 2.0], [-0.5, 3.0]]), np.array([0.3, -0.7])
    for power in (1, 3):
        f = lambda a, b: np.sum(product(a, b, power=power))
        plain = lambda a, b: np.sum((a @ b) ** power)
        for _ in range(3):
            for ours, theirs in zip(gradient(f, a, b), gradient(plain, a, b), strict=True):
                assert_close(ours, theirs, 1e-12)
            direction = (np.cos(a), np.sin(b))
            assert_close(jvp(f, (a, b), direction)[1], jvp(plain, (a, b), direction)[1], 1e-12)
            assert_close(jacobian(product, 1)(a, b), a, 1e-12)
            assert_close(hvp(f, 1)(a, b, b), hvp(plain, 1)(a, b, b), 1e-10)


def test_a_forward_rule_of_a_structure(tier):
    for _ in range(3):
        assert grad(lambda w: weighted({"w": w}, w * w))(2.0) == 12.0
        assert grad(lambda w: weighted({"w": w}, 5.0))(2.0) == 5.0
        assert jvp(lambda w: weighted({"w": w}, w * w), (2.0,), (1.0,)) == (8.0, 12.0)


def test_effects_of_a_forward_rule_happen_once_in_a_call():
    seen = []

    @custom_frule
    def noted(x):
        seen.append(x)
        return x * x, lambda dx: 2.0 * x * dx

    for _ in range(4):
        seen.clear()
        assert grad(lambda x: noted(x) * 3.0)(2.0) == 12.0
        assert len(seen) == 1
        assert jvp(lambda x: noted(x) * 3.0, (2.0,), (1.0,))[1] == 12.0
        assert len(seen) == 2


@custom_rule
def no_tuple(x):
    return np.sum(x), lambda dy: 2.0 * dy * x


@custom_rule
def no_pair(x):
    return np.sum(x)


@custom_rule
def of_another_shape(x):
    return np.sum(x), lambda dy: (dy,)


@custom_frule
def no_pair_forward(x):
    return np.sum(x)


@custom_frule
def of_another_shape_forward(x):
    return np.sum(x), lambda dx: dx


@custom_frule
def too_few_parts(x, y=X):
    return np.sum(x), (lambda dx: dx, lambda dx: dx)


@custom_frule
def repeated(x):
    return np.array([x, x]), (lambda dx: dx,)


WRONG = {
    "no tuple": (no_tuple, r"the pullback of no_tuple|no_tuple.* one cotangent per argument"),
    "no pair": (no_pair, r"no_pair.*return the value and the pullback"),
    "another shape": (of_another_shape, r"of_another_shape.*\d+\) returned a cotangent of"),
    "no pair forward": (no_pair_forward, r"no_pair_forward.*\d+\).*the value and the pushforward"),
    "another shape forward": (
        of_another_shape_forward,
        r"the pushforward of of_another_shape_forward.*\d+\) gives ndarray of shape \(2,\)",
    ),
    "too few parts": (too_few_parts, r"the pushforward of too_few_parts.*\d+\) has 2 parts for 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_named_in_both_modes(name, tier):
    f, message = WRONG[name]
    for ask in (
        lambda: jvp(f, (X,), (X,)),
        lambda: jvp(lambda x: 2.0 * f(x), (X,), (X,)),
        lambda: linearize(f, X)[1](X),
        lambda: jacfwd(f)(X),
        lambda: grad(lambda x: 2.0 * f(x))(X),
    ):
        for _ in range(3):
            with pytest.raises((RuleError, DifferentiationError), match=message):
                ask()


def test_a_tangent_is_repeated_where_the_value_has_more_entries(tier):
    for _ in range(3):
        assert_close(jvp(repeated, (2.0,), (3.0,))[1], np.array([3.0, 3.0]), 1e-12)
        assert_close(jacfwd(lambda x: repeated(x) * x)(2.0), np.array([4.0, 4.0]), 1e-12)
        assert_close(grad(lambda x: repeated(x) @ X)(2.0), np.sum(X), 1e-12)
