"""Rules of the program itself that are not the derivative of the function, on both tiers.

A rounding that passes gradients on, and a function whose gradient is made larger: a first
derivative is that of the rule, and a second goes through what the body of the rule computes.
"""

import contextlib
import dataclasses

import numpy as np
import pytest

import rules_nnlib
from rulescore import custom_frule, custom_rule, scalar_rule
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
