"""Parameters of every kind, in specialized code."""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import check_gradient
from tests.zygote_lite.checks.oracles import answers, assert_agreement, generic, is_specialized
from zygote_lite import code_adjoint, testing, value_and_grad

X = np.array([0.5, 1.5, -2.0])


def product(*xs):
    return xs[0] * xs[1] * len(xs)


def scaled_sum(x, *xs, scale=2.0, **more):
    return x * sum(v * scale for v in xs) + x * len(more)


def a_variable_of_that_name(xs_0, *xs):
    xs_1 = 3.0
    return xs_0 * xs_1 * sum(xs)


def layers(x, *ws):
    for w in ws:
        x = np.tanh(w * x)
    return np.sum(x * x)


def first_and_rest(*xs):
    first, *rest = xs
    return math.prod(v + first for v in rest) * first


def keyword_only(x, *, scale=3.0, power=2):
    return scale * x**power


def positional_only(x, y=0.5, /):
    return x * y


def handed_on(*xs):
    return scaled_sum(*xs, scale=0.5) + inner(*xs, k=xs[0], m=2.0)


def inner(*xs, k, **more):
    return xs[0] * xs[-1] * k * more["m"] + sum(more.values())


def of_tuples(*pairs):
    return sum(a * b for a, b in pairs)


def of_lists(*rows):
    s = 0.0
    for row in rows:
        for v in row:
            s += v * v
    return s


CASES = [
    (product, (0.5, 1.5), (0.5, 1.5, 2.0), (0.5,), (0.5, X), (2.0, 3)),
    (scaled_sum, (0.5, 1.5, 2.0), (0.5,), (0.5, 1.5)),
    (a_variable_of_that_name, (0.5, 1.5, 2.0), (0.5, 1.5)),
    (layers, (X, X + 1.0, X * 2.0), (X, 2.0 * X, 0.5 * X)),
    (first_and_rest, (0.5, 1.5, 2.0), (0.5, -1.5, 2.0)),
    (keyword_only, (0.5,), (1.5,)),
    (positional_only, (0.5,), (0.5, 2.0)),
    (handed_on, (0.5, 1.5), (0.5, 1.5, 2.0)),
    (of_tuples, ((0.5, 1.5), (2.0, 0.3)), ((0.5, 1.5), (2.0, 3))),
    (of_lists, ([0.5, 1.5], [2.0]), ([0.5], [2.0])),
]


@pytest.mark.parametrize(("f", "first", "later"), [(f, a, b) for f, a, *b in CASES])
def test_agrees_with_the_generic_engine(f, first, later):
    for xs in [first, *later]:
        assert_agreement(f, xs, first, argnums=(0,))
    assert assert_agreement(f, first)
    assert answers(f, first)


def test_the_arguments_have_names():
    value_and_grad(product, (0, 1))(0.5, 1.5)
    text = code_adjoint(product, 0.5, 1.5)
    assert text.startswith("def product_pullback(xs_0, xs_1):\n")


def test_one_list_given_twice_is_no_specialized_call():
    row = [0.5, 1.5]
    run = value_and_grad(of_lists)
    for _ in range(3):
        run([0.5, 1.5], [0.5, 1.5])
    assert answers(of_lists, ([0.5, 1.5], [0.5, 1.5]))
    assert run(row, row) == generic(of_lists, (row, row), 0)[1]


def test_a_default_that_is_changed_is_read():
    run = value_and_grad(keyword_only)
    for _ in range(3):
        assert run(0.5) == (0.75, 3.0)
    keyword_only.__kwdefaults__["scale"] = 1.0
    try:
        for _ in range(3):
            assert run(0.5) == (0.25, 1.0)
    finally:
        keyword_only.__kwdefaults__["scale"] = 3.0
    assert run(0.5) == (0.75, 3.0)


def test_any_number_of_arguments_is_compiled():
    pytest.importorskip("numba", reason="compiled code needs Numba (zygote_lite[jit])")
    run = value_and_grad(product, (0, 1), compile=True)
    assert run(0.5, 1.5) == (1.5, (3.0, 1.0))
    assert run(0.5, 1.5, 2.0) == (2.25, (4.5, 1.5))
    assert testing.programs(product, compiled=True)


def of_a_function_inside(x, y):
    def f(a, b=y, /, c=3.0, *more, d, e=y * 2.0, **options):
        return a * b + c * d * len(more) + e * sum(options.values())

    def total(*args, scale=x):
        return scale * sum(args)

    return f(x, d=y) + f(x, x, y, x, x, d=2.0, z=x, a=y) + total(x, y) * total(scale=y)


def without_an_argument(x):
    return (lambda a, b=2.0: a * b)() + x


def with_one_given_twice(x):
    return (lambda a, b=2.0: a * b)(x, a=x)


def by_the_name_of_one_by_position(x):
    return (lambda a, /, b=2.0: a * b)(b=x, a=x)


def with_too_many(x):
    return (lambda a, b=2.0: a * b)(x, x, x)


def with_an_unknown_name(x):
    return (lambda a, *more, b=2.0: a * b)(x, c=x)


def without_an_option(x):
    return (lambda a, *, b: a * b)(x)


def test_a_function_inside_takes_arguments_of_every_kind():
    assert assert_agreement(of_a_function_inside, (0.5, -1.5), (2.0, 3.0), (1, 2.5))
    assert answers(of_a_function_inside, (0.5, -1.5))
    check_gradient(of_a_function_inside, 2.0, 3.0)


@pytest.mark.parametrize("f", [
    without_an_argument, with_one_given_twice, by_the_name_of_one_by_position, with_too_many,
    with_an_unknown_name, without_an_option,
], ids=lambda f: f.__name__)  # fmt: skip
def test_a_function_inside_is_not_called_where_python_cannot(f):
    for _ in range(3):
        with pytest.raises(TypeError, match="lambda"):
            value_and_grad(f)(1.5)
    assert not is_specialized(f)
