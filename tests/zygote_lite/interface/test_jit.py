"""`jit` gives what the function gives: values and their kinds, exceptions; and its gradients."""

import math
import random
import warnings

import numpy as np
import pytest

pytest.importorskip("numba", reason="compiled code needs Numba (zygote_lite[jit])")

from tests.zygote_lite.specialize.numba.test_compile import (
    CASES,
    FIRST,
    answers,
    assert_same,
    outcome,
)
from zygote_lite import (
    DifferentiationError,
    code_adjoint,
    export_adjoint,
    grad,
    gradient,
    hessian,
    jacobian,
    jit,
    pullback,
    testing,
    value_and_grad,
)

pytest.importorskip("numba", reason="compiled code needs Numba (zygote_lite[jit])")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("f", "inputs"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_value_is_that_of_the_function(f, inputs):
    run, first = jit(f), FIRST.get(f, (1.5,))
    assert_same(run(*first), f(*first), first)
    assert answers(f, first)
    for xs in inputs:
        found, plain = outcome(run, xs), outcome(f, xs)
        if type(plain) is float and type(found) is np.float64:
            found = float(found)  # an array without entries leaves Python's zero as it was
        assert_same(found, plain, xs)


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps = steps + 1
    return steps


def is_prime(n):
    if n < 2:
        return False
    for k in range(2, n):
        if k * k > n:
            break
        if n % k == 0:
            return False
    return True


def powers(x, n):
    y = np.zeros(n)
    p = 1.0
    for i in range(n):
        p = p * x
        y[i] = p
    return y


def counts(x, limit):
    n = 0
    for v in x:
        if v > limit:
            n = n + 1
    return n


@pytest.mark.parametrize(
    ("f", "inputs"),
    [
        (collatz, [(27,), (1,), (97,), (2**53 - 1,)]),
        (is_prime, [(n,) for n in range(30)]),
        (powers, [(1.5, 4), (2.0, 0), (np.float64(3.0), 2), (1.5, -1), (1e200, 3)]),
        (counts, [(np.array([1.0, 2.0, 3.0]), 1.5), (np.zeros(0), 1.5), (np.arange(5), 2)]),
    ],
)
def test_integers_truths_and_arrays_keep_their_kinds(f, inputs):
    run = jit(f)
    run(*inputs[0])
    assert answers(f, inputs[0])
    for xs in inputs:
        assert_same(outcome(run, xs), outcome(f, xs), xs)


def test_integers_that_grow_too_large_are_python_s():
    def factorial(n):
        p = 1
        for i in range(2, n + 1):
            p = p * i
        return p

    run = jit(factorial)
    assert run(10) == 3628800
    assert answers(factorial, (10,))
    assert run(30) == math.factorial(30)


def test_the_decorator_keeps_name_and_text_and_takes_keywords():
    @jit
    def scaled(x, factor=2.0):
        """Scale."""
        return x * factor

    assert (scaled.__name__, scaled.__doc__) == ("scaled", "Scale.")
    assert scaled(3.0) == 6.0
    assert scaled(3.0, factor=3.0) == 9.0
    assert scaled(3.0, 4.0) == 12.0
    assert scaled(x=3.0) == 6.0
    with pytest.raises(TypeError, match="argument"):
        scaled()


@jit
def wave(x, n):
    s = 0.0
    for k in range(n):
        s = s + math.sin(k * x)
    return s


def wave_slope(x, n):
    return sum(k * math.cos(k * x) for k in range(n))


def test_gradients_of_a_compiled_function():
    for _ in range(3):
        y, d = value_and_grad(wave)(0.3, 5)
        assert y == pytest.approx(sum(math.sin(0.3 * k) for k in range(5)), rel=1e-14)
        assert d == pytest.approx(wave_slope(0.3, 5), rel=1e-14)
        assert grad(wave)(0.3, 5) == d
        assert gradient(wave, 0.3, 5)[0] == pytest.approx(d, rel=1e-14)
        assert pullback(wave, 0.3, 5)[1](2.0)[1] == pytest.approx(2 * d, rel=1e-14)
    assert grad(grad(wave))(0.3, 5) == pytest.approx(
        -sum(k * k * math.sin(0.3 * k) for k in range(5)), rel=1e-12
    )
    assert "def wave_pullback(x, n)" in code_adjoint(wave, 0.3, 5)
    assert "def wave_value_and_gradient(x, n)" in export_adjoint(wave, 0.3, 5, argnums=0)


def test_a_compiled_function_inside_another_is_differentiated():
    def f(x):
        return wave(x * x, 4) * 2.0

    expected = 2.0 * wave_slope(0.49, 4) * 1.4
    assert grad(f)(0.7) == pytest.approx(expected, rel=1e-13)
    assert grad(f, compile=True)(0.7) == pytest.approx(expected, rel=1e-13)
    run = jit(f)
    assert run(0.7) == pytest.approx(f(0.7), rel=1e-14)
    assert grad(run)(0.7) == pytest.approx(expected, rel=1e-13)


def test_derivatives_of_arrays_that_a_compiled_function_makes():
    run = jit(powers)
    x = 1.5
    d = jacobian(lambda v: run(v, 3))(x)
    np.testing.assert_allclose(d, [1.0, 2 * x, 3 * x * x], rtol=1e-13)

    @jit
    def bowl(x):
        return x[0] ** 2 * x[1] + x[1] ** 3

    h = hessian(bowl)(np.array([1.0, 2.0]))
    np.testing.assert_allclose(h, [[4.0, 2.0], [2.0, 12.0]], rtol=1e-13)


def test_an_array_that_was_given_is_not_given_back_compiled():
    testing.forget()

    def same(x):
        return x

    x = np.ones(3)
    with pytest.warns(RuntimeWarning, match="same runs uncompiled: .*array"):
        assert jit(same)(x) is x


def test_each_call_makes_an_array_of_its_own():
    run = jit(powers)
    first, again = run(2.0, 3), run(2.0, 3)
    first[0] = 100.0
    np.testing.assert_array_equal(again, [2.0, 4.0, 8.0])
    np.testing.assert_array_equal(run(2.0, 3), [2.0, 4.0, 8.0])


SEEN = []


def printing(x):
    print(x)
    return x * 2.0


def appending(x):
    SEEN.append(x)
    return x * 2.0


def counting(x):
    SEEN.append(random.random())
    return x * 2.0


@pytest.mark.parametrize("f", [printing, appending, counting])
def test_what_has_effects_runs_as_it_is(f, capsys):
    SEEN.clear()
    run = jit(f)
    with pytest.warns(RuntimeWarning, match="uncompiled"):
        run(1.0)
    for k in range(2, 6):
        assert run(float(k)) == 2.0 * k
    printed = capsys.readouterr().out
    assert printed == ("1.0\n2.0\n3.0\n4.0\n5.0\n" if f is printing else "")
    assert len(SEEN) == len({*SEEN}) == (0 if f is printing else 5)


def test_recursion_runs_as_it_is():
    testing.forget()

    @jit
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert [fib(n) for n in range(12)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    assert 1 == len([w for w in told if "fib runs uncompiled" in str(w.message)])


def test_methods_are_compiled_and_callable_objects_run_as_they_are():
    testing.forget()

    class Model:
        def __init__(self):
            self.w = 3.0

        def __call__(self, x):
            return self.w * x

        @jit
        def at(self, x):
            return self.w * x

    model = Model()
    assert model.at(2.0) == 6.0
    model.w = 4.0
    assert model.at(2.0) == 8.0
    assert answers(Model.at.__compiled_from__[1], (model, 2.0))
    assert grad(lambda m: m.at(2.0))(model).w == 2.0
    with pytest.warns(RuntimeWarning, match="uncompiled"):
        assert jit(model)(2.0) == 8.0


def test_a_gradient_that_was_compiled_twice_is_compiled_once():
    run = jit(jit(wave))
    assert run(0.3, 5) == wave(0.3, 5)
    assert grad(run, compile=True)(0.3, 5) == grad(wave)(0.3, 5)


def test_what_is_made_of_a_function_tells_to_compile_that():
    for f, xs in ((math.sin, (3.0,)), (wave, (3.0, 5))):
        with pytest.warns(RuntimeWarning, match=r"runs uncompiled: .* as in `grad\(jit\(f\)\)`"):
            jit(grad(f))(*xs)


def test_what_the_engine_refuses_is_refused():
    @jit
    def f(x):
        return math.floor(x) if x > 0 else "text"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert f(1.5) == 1
        assert f(-1.0) == "text"
        with pytest.raises((TypeError, DifferentiationError)):
            grad(f)(-1.0)
