"""Calls with `*` and `**`: each mapping of keywords is differentiated or not."""

import dataclasses
import inspect

import pytest

from rulescore import RuleSet
from zygote_lite import DifferentiationError, grad, gradient, value_and_grad
from zygote_lite.testing import recorded_only


def solve(x, args=(), tol=0.1):
    return x * args[0] + tol


def scaled(x, by=1.0):
    return x * by


@pytest.fixture(autouse=True)
def a_rule_with_an_option():
    rule = RuleSet("solves")

    @rule(solve)
    def _(x: float, args: tuple, *, tol=0.1):
        return x * args[0] + tol, lambda dy: (dy * args[0], (dy * x,))

    rule.register()
    yield
    rule.unregister()


def test_options_of_a_mapping_are_constants_beside_a_differentiated_keyword():
    options = {"tol": 1e-3}
    for _ in range(3):
        assert grad(lambda x: solve(x, args=(x,), **options))(1.5) == 3.0
        assert grad(lambda x: solve(x, **{"args": (x,)}, **options))(1.5) == 3.0
        assert grad(lambda x: solve(*(x,), **options, args=(x,)))(1.5) == 3.0


def test_an_option_that_is_differentiated_is_no_constant():
    assert grad(lambda x: solve(x, args=(x,), **{"tol": x}))(1.5) == 4.0  # by its source


def test_a_keyword_that_is_given_twice_is_the_error_of_python():
    for _ in range(3):
        with pytest.raises(TypeError, match="multiple values for keyword argument 'by'"):
            grad(lambda x: scaled(x, by=x, **{"by": 2.0}))(1.5)


def test_the_reflected_division_with_a_remainder_swaps_its_operands():
    def f(x):
        return float.__rdivmod__(x, 7.5)[1] + 10.0 * float.__divmod__(x, 0.75)[1]

    with recorded_only():
        assert grad(f)(2.0) == 7.0  # 7.5 - 3 x, and x - 1.5


def test_an_operator_of_one_operand_calls_the_method_of_the_class():
    class Signed:
        def __init__(self, x):
            self.x = x

        def __neg__(self):
            return Signed(-3.0 * self.x)

        def __pos__(self):
            return Signed(2.0 * self.x)

        def __invert__(self):
            return Signed(5.0 * self.x)

    def f(x):
        return (+Signed(x)).x * (-Signed(x)).x + (~Signed(x)).x

    with recorded_only():
        assert grad(f)(2.0) == -19.0  # of -6 x^2 + 5 x


class Equal:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x * 2.0

    __hash__ = None


class Different:
    def __init__(self, x):
        self.x = x

    def __ne__(self, other):
        return self.x * 5.0

    __hash__ = None


UNEQUAL = {
    "equal, different": (lambda x: x * (Equal(x) != Different(x)), 0.0),
    "different, equal": (lambda x: x * (Different(x) != Equal(x)), 30.0),
    "equal to nothing": (lambda x: x * (Equal(0.0 * x) != Different(x)), 1.0),
    "number, different": (lambda x: x * (3.0 != Different(x)), 30.0),
}


@pytest.mark.parametrize(("f", "slope"), UNEQUAL.values(), ids=UNEQUAL)
def test_a_class_with_an_equality_alone_differs_where_it_is_not_equal(f, slope):
    with recorded_only():
        assert value_and_grad(f)(3.0) == (f(3.0), slope)
    for _ in range(3):
        assert value_and_grad(f)(3.0) == (f(3.0), slope)


def default_of_a_function(x):
    def g(a, b=x * x, *, c=x):
        return a

    found = inspect.signature(g).parameters
    return found["b"].default * found["c"].default


def default_of_a_method(x):
    class Model:
        def f(self, a=x * x):
            return a

    return inspect.signature(Model().f).parameters["a"].default


def default_that_is_applied(x):
    bound = inspect.signature(lambda a, b=x * x: a).bind(1.0)
    bound.apply_defaults()
    return bound.arguments["b"]


def default_of_a_field(x):
    @dataclasses.dataclass
    class Model:
        a: float = x * x
        b: float = 2.0

    a, b = dataclasses.fields(Model)
    return a.default * b.default + sum(getattr(Model(), f.name) for f in (a, b))


def default_that_fields_hold(x):
    @dataclasses.dataclass
    class Model:
        a: float = x * x

    @dataclasses.dataclass
    class Deeper(Model):
        b: float = 2.0

    Model.a = 5.0  # which no object gets
    fields = Model.__dataclass_fields__
    return fields["a"].default + Deeper().a * dataclasses.fields(Deeper)[0].default


def attribute_of_a_bound_method(x):
    class Model:
        def of(self):
            return 2.0

    Model.of.scale = x * x
    return Model().of.scale * Model().of.__func__(None)


def names_of_parameters(x):
    def g(a, b=x * x):
        return a * b

    return g(x) * len(inspect.signature(g).parameters)


@pytest.mark.parametrize(
    "f",
    [
        default_of_a_function,
        default_of_a_method,
        default_that_is_applied,
        default_of_a_field,
        default_that_fields_hold,
        attribute_of_a_bound_method,
        names_of_parameters,
    ],
)
@pytest.mark.parametrize("x", [1.3, -0.7])
def test_defaults_that_a_signature_or_fields_tell_of_carry_their_gradient(f, x):
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    for _ in range(4):
        assert gradient(f, x)[0] == pytest.approx(slope, rel=1e-6)


def default_within_a_list(x):
    def g(a=[x * x]):
        return a

    return inspect.signature(g).parameters["a"].default[0]


def defaults_of_a_function(x):
    def g(a=x * x):
        return a

    return g.__defaults__[0]


def defaults_of_a_bound_method(x):
    class Model:
        def of(self, *, a=x * x):
            return a

    return Model().of.__kwdefaults__["a"]


def defaults_of_the_init_of_a_dataclass(x):
    @dataclasses.dataclass
    class Model:
        a: float = x * x

    return Model.__init__.__defaults__[0]


@pytest.mark.parametrize(
    "f",
    [
        default_within_a_list,
        defaults_of_a_function,
        defaults_of_a_bound_method,
        defaults_of_the_init_of_a_dataclass,
    ],
)
def test_defaults_that_are_asked_for_in_other_ways_are_refused(f):
    for _ in range(4):
        with pytest.raises(DifferentiationError):
            gradient(f, 1.3)
