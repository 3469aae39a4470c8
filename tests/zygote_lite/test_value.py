"""The scalar tape: gradients against finite differences, trees against the seed's printed ones."""

import doctest
import gc
import inspect
import io
import math
import operator
from fractions import Fraction

import numpy as np
import pytest

from rulescore import RuleSet, rrule
from zygote_lite import NoRuleError
from zygote_lite import value as module
from zygote_lite.value import (
    Value,
    apply,
    backward,
    buildgraph,
    exp,
    printgraph,
    tanh,
    value,
    zerograd,
)


def gradients(f, *xs):
    """Return the gradients of `f` by the tape."""
    values = [value(x) for x in xs]
    backward(f(*values))
    return [v.grad for v in values]


def differences(f, *xs, step=1e-6):
    """Return the gradients of `f` by central differences."""
    found = []
    for i, x in enumerate(xs):
        up, down = (f(*xs[:i], x + h, *xs[i + 1 :]) for h in (step, -step))
        found.append((up - down) / (2 * step))
    return found


def printed(root):
    file = io.StringIO()
    printgraph(*buildgraph(root), file=file)
    return file.getvalue()


def neuron():
    x1, w1, x2, w2 = value(2.0), value(-3.0), value(0.0), value(1.0)
    b = value(6.8813735870195432)
    n = x1 * w1 + x2 * w2 + b
    return tanh(n), n, [x1, w1, x2, w2, b]


def test_the_example_of_the_module_is_right():
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert (result.failed, result.attempted) == (0, 5)


# -------------------------------------------------------------------------------- the seed's text


def test_a_given_value_has_the_fields_of_the_seed():
    a = value(1.0)
    assert (a.data, a.grad, a.prev, a.op) == (1.0, 0.0, (), " ")
    assert a.bw() is None
    assert repr(a) == "1.0 (gr: 0.0, op:  )"


def test_a_sum_remembers_its_operands():
    a, b = value(1.0), value(2.0)
    c = a + b
    assert repr(c) == "3.0 (gr: 0.0, op: +)"
    assert c.prev[0] is a
    assert c.prev[1] is b


def test_the_polytree_before_and_after_each_step_is_the_seeds():
    a, b = value(1.0), value(2.0)
    c = a + b
    d = tanh(c)
    assert str(buildgraph(d)) == (
        "([1.0 (gr: 0.0, op:  ), 2.0 (gr: 0.0, op:  ), 3.0 (gr: 0.0, op: +), "
        "1.0 (gr: 0.0, op: tanh)], [3, 3, 2, 1])"
    )
    assert printed(d) == (
        "\nTree:\n----- \n\n"
        "1.0 (gr: 0.0, op: tanh)   \n"
        "|\n"
        "3.0 (gr: 0.0, op: +)   \n"
        "|----------------------|\n"
        "2.0 (gr: 0.0, op:  )   1.0 (gr: 0.0, op:  )   \n"
    )
    d.grad = 1.0
    d.bw()
    assert c.grad == pytest.approx(0.009866037165440211)
    assert a.grad == b.grad == 0.0
    c.bw()
    assert printed(d) == (
        "\nTree:\n----- \n\n"
        "1.0 (gr: 1.0, op: tanh)   \n"
        "|\n"
        "3.0 (gr: 0.0099, op: +)   \n"
        "|-------------------------|\n"
        "2.0 (gr: 0.0099, op:  )   1.0 (gr: 0.0099, op:  )   \n"
    )
    zerograd(d)
    assert [node.grad for node in buildgraph(d)[0]] == [0.0] * 4
    d.grad = 1.0
    for node in reversed(buildgraph(d)[0]):
        node.bw()
    assert a.grad == pytest.approx(0.009866037165440211)


def test_a_step_along_the_gradient_is_the_seeds():
    a, b = value(1.0), value(2.0)
    d = tanh(a + b)
    d.backward()
    assert d.data == 0.9950547536867305
    up = tanh((a + a.grad * 10) + (b + b.grad * 10))
    down = tanh((a - a.grad * 10) + (b - b.grad * 10))
    assert up.data == pytest.approx(0.9966646024355773, abs=1e-15)
    assert down.data == pytest.approx(0.9926707543920653, abs=1e-15)


def test_the_neuron_has_the_seeds_numbers():
    o, n, (x1, w1, x2, w2, b) = neuron()
    assert round(o.data, 2) == 0.71
    backward(o)
    assert o.grad == 1.0
    assert n.grad == pytest.approx(0.5)
    assert [v.grad for v in (x1, w1, x2, w2, b)] == pytest.approx([-1.5, 1.0, 0.5, 0.0, 0.5])


NEURON_BEFORE = """
Tree:
-----·

0.71 (gr: 0.0, op: tanh)···
|
0.88 (gr: 0.0, op: +)···
|----------------------|
6.9 (gr: 0.0, op:  )   -6.0 (gr: 0.0, op: +)···
                       |---------------------------------------------|
                       0.0 (gr: 0.0, op: *)                          -6.0 (gr: 0.0, op: *)···
                       |----------------------|                      |-----------------------|
                       1.0 (gr: 0.0, op:  )   0.0 (gr: 0.0, op:  )   -3.0 (gr: 0.0, op:  )   2.0 (gr: 0.0, op:  )···
""".replace("·", " ")  # noqa: E501

NEURON_AFTER = """
Tree:
-----·

0.71 (gr: 1.0, op: tanh)···
|
0.88 (gr: 0.5, op: +)···
|----------------------|
6.9 (gr: 0.5, op:  )   -6.0 (gr: 0.5, op: +)···
                       |---------------------------------------------|
                       0.0 (gr: 0.5, op: *)                          -6.0 (gr: 0.5, op: *)···
                       |----------------------|                      |-----------------------|
                       1.0 (gr: 0.0, op:  )   0.0 (gr: 0.5, op:  )   -3.0 (gr: 1.0, op:  )   2.0 (gr: -1.5, op:  )···
""".replace("·", " ")  # noqa: E501


def test_the_neurons_tree_is_the_seeds(capsys):
    o, _, _ = neuron()
    printgraph(*buildgraph(o))
    assert capsys.readouterr().out == NEURON_BEFORE
    backward(o)
    printgraph(*buildgraph(o))
    assert capsys.readouterr().out == NEURON_AFTER


# ------------------------------------------------------------------------------------- gradients

OPERATORS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "x**y": lambda x, y: x**y,
    "-x + +y": lambda x, y: -x + +y,
    "abs(-x) * abs(y)": lambda x, y: abs(-x) * abs(y),
}
WITH_CONSTANTS = {
    "3 + x": lambda x: 3 + x,
    "3 - x": lambda x: 3 - x,
    "3 * x": lambda x: 3 * x,
    "3 / x": lambda x: 3 / x,
    "3.0**x": lambda x: 3.0**x,
    "x**2": lambda x: x**2,
    "x**-1.5": lambda x: x**-1.5,
    "float64 / x": lambda x: np.float64(3.0) / x,
    "int64**x": lambda x: np.int64(3) ** x,
}


@pytest.mark.parametrize("f", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("xs", [(1.3, 0.7), (2.0, 3.0)], ids=str)
def test_operators_agree_with_finite_differences(f, xs):
    assert gradients(f, *xs) == pytest.approx(differences(f, *xs), rel=1e-8)
    assert f(*map(value, xs)).data == f(*xs)


@pytest.mark.parametrize("f", WITH_CONSTANTS.values(), ids=WITH_CONSTANTS)
def test_constants_mix_in_on_either_side(f):
    assert gradients(f, 1.3) == pytest.approx(differences(f, 1.3), rel=1e-6)


def math_calls():
    """Find each function of `math` that a rule is for, with arguments inside its domain."""
    for name, f in vars(math).items():
        if not callable(f) or name.startswith("_"):
            continue
        start = 1.3 if name == "acosh" else 0.3
        for xs in [(start,), (start, 0.45), (start, 0.45, 0.6)]:
            try:
                inspect.signature(f).bind(*xs)
            except TypeError:
                continue
            except ValueError:  # no signature: the call itself tells
                pass
            try:
                found = rrule(f, *xs)
            except TypeError:
                continue
            if found is not None and isinstance(found[0], float):
                yield f, xs


def test_functions_of_math_agree_with_finite_differences():
    known = set()
    for f, xs in math_calls():
        known.add(f.__name__)
        found = gradients(lambda *values: apply(f, *values), *xs)
        assert found == pytest.approx(differences(f, *xs), rel=1e-6, abs=1e-8), f.__name__
    assert known >= set("exp log log1p expm1 sqrt sin cos tan sinh cosh tanh".split())
    assert known >= set("asin acos atan atan2 hypot".split())


def test_the_module_offers_the_functions_of_math_by_name():
    x = value(0.3)
    assert module.sin(x).op == "sin"
    assert module.sin(x).data == math.sin(0.3)
    assert exp(0.0).data == 1.0
    with pytest.raises(AttributeError, match="no attribute 'sinus'"):
        module.sinus
    with pytest.raises(AttributeError, match="no attribute 'pi'"):
        module.pi


def test_numpy_functions_and_own_rules_are_applied_alike():
    rule = RuleSet("test_value")

    def cube(x):
        return x**3

    rule.scalar(cube)(lambda x: 3 * x**2)
    rule.register()
    try:
        x = value(2.0)
        y = apply(np.tanh, x) + apply(cube, x)
        backward(y)
    finally:
        rule.unregister()
    assert x.grad == pytest.approx(1 - math.tanh(2.0) ** 2 + 12)
    assert [v.op for v in y.prev] == ["tanh", "cube"]


def test_a_callable_object_with_a_rule_is_applied():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        def __eq__(self, other):  # and so it has no hash
            return self.factor == other.factor

        def __call__(self, x):
            return self.factor * x

    rule = RuleSet("test_value")

    @rule.of_instances
    def _(scale: Scale, x: float):
        def pullback(dy):
            return None, dy * scale.factor

        return scale(x), pullback

    rule.register()
    try:
        x = value(2.0)
        y = apply(Scale(5.0), x)
    finally:
        rule.unregister()
    backward(y)
    assert (x.grad, y.op) == (5.0, "Scale")


def test_a_value_used_twice_accumulates():
    assert gradients(lambda x: x * x, 3.0) == [6.0]
    assert gradients(lambda x: x + x, 3.0) == [2.0]

    def f(x):
        y = x * x
        return (y + y) * y + 3 * y

    assert gradients(f, 2.0) == pytest.approx(differences(f, 2.0), rel=1e-7)


def test_deep_sharing_costs_no_more_than_its_nodes():
    y = x = value(1.0)
    for _ in range(200):  # 2**200 paths
        y = y + y
    backward(y)
    assert x.grad == 2.0**200
    assert printed(y).count("\n") == 4 + 2 * 200 + 1


def test_builtins_that_use_operators_work():
    xs = [value(x) for x in (1.0, 4.0, 2.0)]
    total = sum(x * x for x in xs) + max(xs) + math.prod(xs)
    backward(total)
    assert [x.grad for x in xs] == [2.0 + 8.0, 8.0 + 1.0 + 2.0, 4.0 + 4.0]


def test_given_values_add_up_over_calls_until_zerograd():
    x = value(3.0)
    y = x * x
    z = y * 2
    backward(z)
    backward(z)
    assert (x.grad, y.grad, z.grad) == (24.0, 2.0, 1.0)
    zerograd(z)
    assert (x.grad, y.grad, z.grad) == (0.0, 0.0, 0.0)
    backward(x)
    assert x.grad == 1.0


def test_a_chain_of_1e5_nodes_needs_no_recursion():
    y = x = value(1.0)
    for _ in range(100_000):
        y = y * 1.00001
    backward(y)
    assert x.grad == pytest.approx(1.00001**100_000)
    nodes, depth = buildgraph(y)
    assert (len(nodes), max(depth)) == (100_001, 100_001)
    del nodes, y
    gc.collect()


@pytest.mark.parametrize("kind", [np.float32, np.float64, int, Fraction])
def test_kinds_of_numbers_are_kept_as_given(kind):
    x = value(kind(3))
    y = x * x
    assert type(y.data) is type(kind(3) * kind(3))
    backward(y)
    assert x.grad == 6


def test_a_strong_zero_wins_over_the_pole_of_what_is_multiplied_away():
    x = value(0.0)
    y = 0.0 * x**0.5
    backward(y)
    assert x.grad == 0.0


# ------------------------------------------------------------------------------------ comparisons


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
@pytest.mark.parametrize(("a", "b"), [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)])
def test_comparisons_are_those_of_the_numbers(name, a, b):
    f = getattr(operator, name)
    assert f(value(a), value(b)) is f(a, b)
    assert f(value(a), b) is f(a, b)
    assert f(a, value(b)) is f(a, b)


def test_truth_is_that_of_the_number():
    assert not value(0.0)
    assert value(-1.0)


# --------------------------------------------------------------------------------- printing


def test_three_branches_and_repeated_trees_are_drawn():
    a, b, c = value(1.0), value(2.0), value(3.0)
    rule = RuleSet("test_value")

    def fma(x, y, z):
        return x * y + z

    rule.scalar(fma)(lambda x, y, z: (y, x, 1))
    rule.register()
    try:
        y = apply(fma, a, b, c)
    finally:
        rule.unregister()
    assert printed(y * y) == (
        "\nTree:\n----- \n\n"
        "25.0 (gr: 0.0, op: *)   \n"
        "|--------------------------------------------------------------------|\n"
        "5.0 (gr: 0.0, op: fma)                                               "
        "5.0 (gr: 0.0, op: fma)   ...   \n"
        "|----------------------|----------------------|\n"
        "3.0 (gr: 0.0, op:  )   2.0 (gr: 0.0, op:  )   1.0 (gr: 0.0, op:  )   \n"
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [(6.88137, "6.9"), (-6.0, "-6.0"), (0.0098660, "0.0099"), (1234.5, "1200.0"), (3, "3.0")],
)
def test_numbers_are_printed_with_two_digits(number, text):
    assert repr(value(number)) == f"{text} (gr: 0.0, op:  )"


# ------------------------------------------------------------------------------------ bad input


def test_a_missing_rule_is_told_by_name():
    def nobody(x):
        return x

    with pytest.raises(NoRuleError, match=r"no rule for nobody\(float\): install .*rules_base"):
        apply(nobody, value(1.0))


def test_a_value_never_becomes_a_float_in_silence():
    with pytest.raises(TypeError, match=r"apply\(math.tanh, x\)"):
        math.tanh(value(1.0))
    with pytest.raises(TypeError, match="gradient would be lost"):
        float(value(1.0))
    with pytest.raises(TypeError, match="ufuncs"):
        np.tanh(value(1.0))


@pytest.mark.parametrize("x", ["1", None, True, 1j, [1.0], np.ones(3), np.array(1.0)])
def test_only_a_real_number_becomes_a_value(x):
    with pytest.raises(TypeError, match=r"a Value holds one real number.* \[ZL033\]$"):
        value(x)


@pytest.mark.parametrize("other", ["1", None, [1.0], (1.0,)])
def test_operators_refuse_what_is_no_number(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        value(1.0) + other
    with pytest.raises(TypeError, match="unsupported operand"):
        other - value(1.0)


def test_arrays_and_complex_results_are_refused():
    with pytest.raises(TypeError):
        value(1.0) + np.ones(3)
    with pytest.raises(TypeError):
        np.ones(3) + value(1.0)
    with pytest.raises(TypeError, match="the result of add is ndarray"):
        apply(operator.add, value(1.0), np.ones(3))
    with pytest.raises(TypeError, match="the result of pow is complex"):
        value(-8.0) ** (1 / 3)


def test_an_option_is_no_value():
    with pytest.raises(TypeError, match=r"keyword arguments carry no gradient.* \[ZL005\]$"):
        apply(np.sum, value(1.0), initial=value(2.0))


def test_backward_of_a_plain_number_is_refused():
    with pytest.raises(TypeError, match=r"is no Value.* \[ZL041\]$"):
        backward(1.0)


def test_the_functions_own_exceptions_come_through():
    with pytest.raises(ValueError, match=r"."):
        apply(math.log, value(-1.0))
    with pytest.raises(ZeroDivisionError):
        value(1.0) / 0.0


def test_values_are_unhashable_because_they_compare_by_number():
    with pytest.raises(TypeError, match="unhashable"):
        {Value(1.0)}
