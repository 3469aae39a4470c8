"""What a rule says of a function holds for the outer gradient, too, where an inner one is taken."""

import functools

import numpy as np
import pytest

from rulescore import RuleSet
from zygote_lite import grad, jvp, pullback, stop_gradient, testing, vmap

rule = RuleSet("of_functions_with_source")


def settled(x):
    return x * x * x


def straight(x):  # as a straight-through estimator, whose derivative is not that of its source
    return x * x


rule.constant(settled)
rule.scalar(straight)(lambda x: 100 * x)


@pytest.fixture(autouse=True)
def registered():
    rule.register()
    yield
    rule.unregister()


def of_an_argument(x):
    return grad(lambda w: stop_gradient(w) * w)(x)


def of_a_sum(x):
    return grad(lambda w: np.sum(stop_gradient(np.array([w, w])) * w))(x)


def of_what_is_around(x):
    return grad(lambda w: stop_gradient(x) * w * w)(x)


def of_a_pair(x):
    return grad(lambda w: stop_gradient((x, w))[0] * w * w)(x)


def of_a_pullback(x):
    y, back = pullback(lambda w: stop_gradient(x) * w * w, x)
    return y * back(1.0)[1]


def by_a_rule(x):
    return grad(lambda w: settled(w) * w)(x)


def by_a_rule_around(x):
    return grad(lambda w: settled(x) * w)(x)


def by_a_rule_of_a_closure(x):
    held = lambda: settled(x) * x
    return grad(lambda w: held() * w)(x)


def by_name(x):
    return grad(lambda w: stop_gradient(x=x) * w * w)(x)


def by_a_rule_by_name(x):
    return grad(lambda w: settled(x=x) * x * w)(x)


SLOPES = {
    of_an_argument: 0.0, of_a_sum: 0.0, of_what_is_around: 4.0, of_a_pair: 4.0,
    of_a_pullback: 96.0, by_a_rule: 0.0, by_a_rule_around: 0.0, by_a_rule_of_a_closure: 8.0,
    by_name: 4.0, by_a_rule_by_name: 8.0,
}  # fmt: skip


@pytest.mark.parametrize("f", SLOPES, ids=[f.__name__ for f in SLOPES])
def test_no_outer_gradient_passes_where_an_inner_one_is_stopped(f):
    with testing.recorded_only():
        assert grad(f)(2.0) == SLOPES[f]
        assert jvp(f, (2.0,), (1.0,))[1] == SLOPES[f]
    with testing.transformed_only():
        assert grad(f)(2.0) == SLOPES[f]
        assert jvp(f, (2.0,), (1.0,))[1] == SLOPES[f]
    for _ in range(4):
        assert grad(f)(2.0) == SLOPES[f]


def test_the_rule_of_a_function_is_its_outer_derivative():
    def f(x):
        return grad(lambda w: straight(x) * w)(x)

    for _ in range(4):
        assert grad(f)(2.0) == 200.0
        assert jvp(f, (2.0,), (1.0,))[1] == 200.0
    with testing.compared():
        assert grad(f)(2.0) == 200.0


NAMED = {
    "by name": lambda x: straight(x=x),
    "by stars": lambda x: straight(**{"x": x}),
    "by a partial": lambda x: functools.partial(straight, x=x)(),
    "inside": lambda x: grad(lambda w: w * straight(x=x))(x),
}


@pytest.mark.parametrize("f", NAMED.values(), ids=NAMED)
def test_a_rule_holds_for_arguments_that_are_given_by_name(f):
    for _ in range(4):
        assert grad(f)(2.0) == 200.0
        assert jvp(f, (2.0,), (1.0,))[1] == 200.0
    with testing.compared():
        assert grad(f)(2.0) == 200.0
    both = np.array([2.0, 2.0])
    np.testing.assert_array_equal(vmap(grad(f))(both), [200.0, 200.0])
    np.testing.assert_array_equal(grad(lambda x: np.sum(vmap(f)(x)))(both), [200.0, 200.0])


class Kind:
    @classmethod
    def of_class(cls, x):
        return x * x


def test_the_rule_of_a_class_method_holds():
    of_bound = RuleSet("of_bound_methods")
    of_bound.scalar(Kind.of_class)(lambda x: 3.0)
    of_bound.register()
    try:
        for _ in range(4):
            assert grad(lambda x: Kind.of_class(x))(2.0) == 3.0
            assert grad(lambda x: Kind().of_class(x))(2.0) == 3.0
            assert jvp(lambda x: Kind.of_class(x), (2.0,), (1.0,)) == (4.0, 3.0)
    finally:
        of_bound.unregister()


def test_the_rule_of_an_object_is_its_outer_derivative():
    class Gain:
        def __call__(self, x):
            return x * x

    gain, of_objects = Gain(), RuleSet("of_objects")

    @of_objects.of_instances
    def _(g: Gain, x: float):
        return x * x, lambda dy: (None, 100 * x * dy)

    def f(x):
        return grad(lambda w: gain(x) * w)(x)

    def by_name(x):
        return gain(x=x)

    of_objects.register()
    try:
        for _ in range(4):
            assert grad(by_name)(2.0) == 200.0
            assert jvp(by_name, (2.0,), (1.0,)) == (4.0, 200.0)
        with testing.recorded_only():
            want = grad(f)(2.0)
        for _ in range(4):
            assert grad(f)(2.0) == want
    finally:
        of_objects.unregister()
