"""Functions in C that are differentiated themselves, such as `grad(np.sum)`: transformed code."""

import functools
import math
import operator

import numpy as np
import pytest
import scipy.special

from rulescore import RuleSet, plugins, rules_of
from rulescore.testing._leaves import random_direction
from rulescore.testing._memory import drawing_anew
from zygote_lite import (
    check_gradient,
    code_adjoint,
    grad,
    gradient,
    jacobian,
    pullback,
    testing,
    value_and_grad,
)
from zygote_lite._interface.library_functions import that_calls
from zygote_lite._specialize.compare import difference

V = np.array([0.5, 1.5, -2.0, 0.7])
W = np.array([1.25, -0.5, 3.0, 0.25])


def twice(x):
    return 2.0 * x


CALLS = [
    (math.sin, (0.3,)),
    (math.hypot, (3.0, 4.0)),
    (pow, (1.5, 2.5)),
    (operator.mul, (1.5, 2.5)),
    (np.exp, (0.3,)),
    (np.sum, (V,)),
    (np.dot, (V, W)),
    (np.linalg.norm, (V,)),
    (np.trapezoid, (V,)),
    (np.polyval, (V, 0.4)),
    (scipy.special.gamma, (1.3,)),
]


@pytest.mark.parametrize(("f", "xs"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_transformed_code_answers(f, xs):
    with testing.recorded_only():
        want = gradient(f, *xs)
    with testing.transformed_only(), testing.compared():
        found = gradient(f, *xs), grad(f, tuple(range(len(xs))))(*xs)
        y, back = pullback(f, *xs)
        check_gradient(f, *xs)
    assert y == f(*xs)
    for given in (*found, back(1.0)[1:]):
        for d, expected in zip(given, want, strict=True):
            np.testing.assert_allclose(d, expected, rtol=1e-12)
    assert testing.is_covered(f, *xs)
    assert testing.programs(f)


def test_it_answers_from_the_third_call_on():
    g = value_and_grad(math.tan)
    with testing.observed() as answers:
        found = [g(0.3) for _ in range(4)]
    assert found == [found[0]] * 4
    assert [answer.tier for answer in answers][2:] == ["transformed", "transformed"]


@pytest.mark.parametrize(
    ("f", "xs", "kws"),
    [
        (np.sum, (V,), {"where": np.array([True, False, True, True])}),
        (np.linalg.norm, (V,), {"ord": 3}),
        (np.sum, (), {"a": V}),
        (functools.partial(np.dot, W), (V,), {}),
        (functools.partial(np.linalg.norm, ord=3), (V,), {}),
    ],
)
def test_options_and_partials(f, xs, kws):
    argnums = 0 if xs else "a"
    with testing.recorded_only():
        want = grad(f, argnums)(*xs, **kws)
    with testing.transformed_only(), testing.compared():
        np.testing.assert_allclose(grad(f, argnums)(*xs, **kws), want)


def test_code_adjoint_shows_it():
    assert code_adjoint(np.dot, V, W) == (
        "def dot_pullback(a, b):\n"
        "    t1 = np.dot(a, b)\n\n"
        "    def back(dt1):\n"
        "        da = dt1 * b\n"
        "        db = dt1 * a\n"
        "        return None, da, db\n\n"
        "    return t1, back"
    )


def test_a_rule_that_comes_later_answers():
    g = grad(math.atan)
    assert [g(1.0) for _ in range(4)] == [0.5] * 4
    rule = RuleSet("another")

    @rule(math.atan)
    def _(x: float):
        return math.atan(x), lambda dy: (dy * 7.0,)

    rule.register()
    try:
        assert [g(1.0) for _ in range(4)] == [7.0] * 4
    finally:
        rule.unregister()
    assert [g(1.0) for _ in range(4)] == [0.5] * 4


@pytest.mark.parametrize("name", ["sinh", "exp"])
def test_what_a_name_stands_for_later_does_not_matter(monkeypatch, name):
    """The text of the code says `math.sinh`: a guard tests that this is the function still."""
    g = value_and_grad(getattr(math, name))
    *_, want = [g(0.3) for _ in range(4)]
    assert testing.is_covered(getattr(math, name), 0.3)
    monkeypatch.setattr(math, name, twice)
    assert [g(0.3) for _ in range(6)] == [want] * 6
    assert [grad(math.__dict__[name])(0.3) for _ in range(4)] == [2.0] * 4


def test_other_types_and_counts_between_calls():
    g = grad(np.sum)
    for x in (V, 2.0, np.ones((2, 3)), [1.0, 2.0], V.astype(np.float32), V + 0j) * 4:
        with testing.recorded_only():
            want = grad(lambda x: np.sum(np.real(x)))(x)
        if not np.iscomplexobj(x):
            assert difference(g(x), want) is None
        else:
            with pytest.raises(TypeError, match="real"):
                g(x)


@pytest.mark.parametrize("name", ["called", "np", "math", "class", "a b"])
def test_names_that_the_text_needs_itself(name):
    assert that_calls(np.sum, 1, (name,)) is None


def test_parameters_are_not_named_as_keywords_are():
    f = that_calls(np.dot, 3, ("x", "y", "z", "a", "x_0"))
    assert len({*f.__code__.co_varnames}) == 8


def test_what_is_not_written_in_python():
    drawn = np.random.default_rng(0).normal
    for f in (twice, float, V.sum, drawn, print, [].append, np.ndarray.sum):
        assert that_calls(f, 1) is None


def outcome(ask):
    try:
        return ask()
    except Exception as error:
        return error


def answers(f, xs, options, number):
    """Return the value of a call, and its cotangents; or its Jacobian, where it has options."""
    xs = tuple(map(drawing_anew, xs))
    if options:
        return jacobian(f)(*xs, **options)
    y, back = pullback(f, *xs)
    dy = random_direction(y, np.random.default_rng(number))
    return (y,) if dy is None else (y, back(dy))


@pytest.mark.parametrize("plugin", ["rules_base", "rules_scipy"])
@pytest.mark.filterwarnings("ignore")
def test_examples_of_rules(plugin):
    """Each agrees with the tape, also in the error that it raises."""
    (rulesets,) = [found.rulesets for found in plugins() if found.name == plugin]
    examples = [example for ruleset in rulesets for example in ruleset.examples]
    count = 0
    for number, (f, xs, given) in enumerate(examples):
        options = {name: x for name, x in given.items() if not name.startswith("check_")}
        function = that_calls(f, len(xs), tuple(options))
        if function is None or (number % 9 and (f is not np.polyint)):
            continue
        with np.errstate(all="ignore"):
            with testing.recorded_only():
                want = outcome(lambda: answers(f, xs, options, number))
            found = [outcome(lambda: answers(f, xs, options, number)) for _ in range(3)]
        for got in found:
            if isinstance(want, Exception):
                assert (type(got), str(got)) == (type(want), str(want)), (f, xs, options)
            else:
                assert difference(got, want) is None, (f, xs, options)
        count += bool(testing.programs(function))
        assert rules_of(f)
    assert count > (60 if plugin == "rules_base" else 5)
