"""`vjp`, and gradients of functions that return something beside the value (`has_aux`)."""

import copy
import functools
import inspect
import math

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from zygote_lite import (
    DifferentiationError,
    grad,
    gradient,
    hessian,
    jacfwd,
    jacobian,
    jvp,
    linearize,
    pullback,
    testing,
    value_and_grad,
    vjp,
)
from zygote_lite._interface.vjp import vjp_by
from zygote_lite.interop import Engine

W, X = np.arange(6.0).reshape(2, 3) / 5, np.array([0.3, -0.7, 1.1])


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, w, x):
        return np.sum((self.w + w) @ x), self


def metrics(w, x):
    y = np.tanh(w @ x)
    return np.sum(y * y), {"y": y, "n": y.size, "text": "a", "inside": [y, (1, w)]}


def grown(w, x):
    log, s = [], 0.0
    for i in range(3):
        s = s + x[i] * w[0, i] ** 2
        log.append(s)
    return s, log


def one_dict_twice(w, x):
    d = {"a": 1.0}
    d["b"] = x
    return np.sum(w * w), [d, d]


def written(w, x):
    x = x.copy()
    x *= 2
    return (w @ x)[0], x


def argument(w, x):
    return np.sum(w * w), w


def nothing(w, x):
    return np.sum(w * w), None


def on_a_path(w, x):
    d = {"p": w * 2} if x[0] > 0 else {"p": w * 3}
    return np.sum(w * d["p"]), d


def its_own_gradient(w, x):
    return np.sum(w * w), 2 * w


def views(w, x):
    y = np.exp(w)
    return np.sum(y), (y, y[0], y.T)


def of_a_list(w, x):
    return np.sum(w), [w.tolist()]


def an_object(w, x):
    return np.sum(w * w), Model(w).w


@pytest.mark.parametrize("f", [metrics, grown, one_dict_twice, written, argument, nothing,
                               on_a_path, its_own_gradient, views, of_a_list, an_object],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_what_is_returned_beside_the_value_is_handed_on(f):
    by_first, by_both = value_and_grad(f, has_aux=True), grad(f, (0, "x"), has_aux=True)
    for xs in [(W, X)] * 3 + [(W + 1, -X)] * 2:
        given = copy.deepcopy(xs)
        (y, aux), d = by_first(*given)
        expected, beside = f(*xs)
        assert_close(y, expected)
        assert repr(aux) == repr(beside)
        slopes = [jacobian_by_differences(lambda *ys: f(*ys)[0], xs, i) for i in (0, 1)]
        assert_close(d, slopes[0], 1e-6)
        d += 1.0  # it shares no memory with what is handed on
        assert repr(aux) == repr(beside)
        (dw, dx), again = by_both(*given)
        assert_close([dw, dx], slopes, 1e-6)
        assert repr(again) == repr(beside)
        np.testing.assert_equal(given, xs)
        if f is argument:
            assert aux is given[0]
        elif f is one_dict_twice:
            assert aux[0] is aux[1]
        elif f is views:
            assert np.shares_memory(aux[0], aux[1])
    is_transformed = bool(testing.programs(f, "gradient of the first of a pair"))
    assert is_transformed == (f not in (one_dict_twice, of_a_list))


def differentiated_by(how):
    """Return a number that depends on the gradient and on what is beside it."""

    def number(a):
        if how == "vjp":
            y, back, aux = vjp(metrics, W * a, X, has_aux=True)
            d, aux = back(a)[0], aux["y"]
        elif how == "grad":
            d, aux = grad(written, has_aux=True)(W * a, X * a)
            y = a
        else:
            (y, aux), d = value_and_grad(views, "w", has_aux=True)(W * a, X)
            aux = aux[1]
        return y * np.sum(aux) * np.sum(d)

    return number


@pytest.mark.parametrize("how", ["vjp", "grad", "value_and_grad"])
def test_inside_of_a_gradient(how):
    f = differentiated_by(how)
    expected = jacobian_by_differences(f, (1.2,))
    for _ in range(3):
        assert_close(gradient(f, 1.2)[0], expected, 1e-6)


def test_vjp_gives_zeros_and_leaves_out_the_function():
    def f(x, y, text):
        return x * W[0]

    for call in range(3):
        y, back = vjp(f, X, 2.0, "text")
        assert_close(y, X * W[0])
        assert repr(back).startswith("∂(f at test_vjp.py:")
        assert_close(back(X), (X * W[0], 0.0, None))
        assert back(None)[1:] == (0.0, None)
        assert pullback(f, X, 2.0, "text")[1](X)[2:] == (None, None), call
    with pytest.raises(TypeError, match="cotangent"):
        back(np.ones(2))


def test_vjp_of_methods_and_closures_is_of_their_arguments():
    model = Model(W)
    for _ in range(3):
        _, back, aux = vjp(model.loss, W, X, has_aux=True)
        assert aux is model
        assert_close(back(2.0), (np.stack([2 * X, 2 * X]), 4 * np.sum(W, 0)))
    assert testing.programs(Model.loss) == []  # it returns the object itself

    def f(x):
        return {"a": x * model.w[0]}

    assert_close(vjp(f, X)[1]({"a": X}), (X * W[0],))


def inside(x):
    y, back = vjp(lambda v, w: v * v, x, x)
    d, zero = back(y)
    return np.sum(d) + np.sum(zero)


def test_vjp_is_transformed_inside():
    for _ in range(3):
        assert_close(gradient(inside, X)[0], 6 * X * X)
    assert testing.is_covered(inside, X)


def test_a_function_that_returns_no_pair_is_refused():
    for call in (grad(np.sum, has_aux=True), lambda x: vjp(np.sum, x, has_aux=True)):
        with pytest.raises(TypeError, match="has_aux"):
            call(X)
    with pytest.raises(TypeError, match="real number"):
        grad(lambda x: (x, 1), has_aux=True)(X)
    with pytest.raises(ValueError, match="has_aux"):
        grad(metrics, has_aux=True, compile=True)


def test_what_is_bound_by_keyword_leaves_the_others_their_gradients():
    bound = functools.partial(lambda x, k: x * k, k=3.0)
    for _ in range(4):  # by the tape, and by transformed code
        _, back = vjp(bound, 2.0)
        assert back(1.0) == (3.0,)
        _, back, aux = vjp(functools.partial(lambda x, k: (x * k, k), k=3.0), 2.0, has_aux=True)
        assert (back(1.0), aux) == ((3.0,), 3.0)


def test_other_libraries_ask_for_some_of_the_arguments():
    def f(x, y):
        return x * x * y

    for _ in range(3):  # recorded, then transformed
        y, back = vjp_by(f, (1,), (2.0, 3.0))
        assert (y, back(1.0)) == (12.0, (None, 4.0))


def test_an_engine_for_hosts_says_where_cotangents_begin():
    y, back, first = Engine().pull(
        lambda a, b, scale: a * b * scale, (2.0, 3.0), {"scale": 5.0}, [True, True]
    )
    assert y == 30.0
    assert back(1.0)[first:] == (15.0, 10.0)


@pytest.mark.parametrize("how", [testing.recorded_only, testing.transformed_only])
def test_a_seed_may_be_given_by_its_name(how):
    def cube(x):
        return x * x * x

    def inside(x):
        return vjp(cube, x)[1](dy=2.0)[0]

    with how():
        assert vjp(cube, 3.0)[1](dy=2.0) == (54.0,)
        assert pullback(cube, 3.0)[1](dy=2.0) == (None, 54.0)
        assert gradient(inside, 3.0) == (36.0,)


def test_a_pullback_shows_that_it_takes_one_cotangent():
    for make in (vjp, pullback):
        assert [*inspect.signature(make(math.sin, 3.0)[1]).parameters] == ["dy"]


def cubes(x):
    return x**3


HISTORY = []


def noted(x):
    HISTORY.append(1.0)
    return x * x


def test_a_pushforward_made_outside_is_differentiated():
    x, v = np.arange(1.0, 4.0), np.array([0.5, -1.0, 2.0])
    want = np.diag(3 * x**2)
    for _ in range(3):
        push, of_number = linearize(cubes, x)[1], linearize(cubes, 2.0)[1]
        assert grad(of_number)(2.0) == 12.0
        assert jvp(of_number, (1.0,), (2.0,))[1] == 24.0
        np.testing.assert_allclose(jacobian(push)(v), want)
        np.testing.assert_allclose(jacfwd(push)(v), want)
        np.testing.assert_allclose(hessian(lambda d: push(d) @ d)(v), 2 * want)
        assert grad(linearize(lambda x: (x**3, "aux"), 2.0, has_aux=True)[1])(1.0) == 12.0


@pytest.mark.parametrize("how", ["vjp", "auxiliary", "pullback"])
def test_a_pullback_made_outside_is_differentiated(how):
    x, v = np.arange(1.0, 4.0), np.array([0.5, -1.0, 2.0])
    want = np.diag(3 * x**2)
    for _ in range(3):
        if how == "vjp":
            back = vjp(cubes, x)[1]
        elif how == "auxiliary":
            back = vjp(lambda x: (x**3, "aux"), x, has_aux=True)[1]
        else:
            back = pullback(cubes, x)[1]

        def last(d, back=back):
            return back(d)[-1]

        np.testing.assert_allclose(jacfwd(last)(v), want)
        np.testing.assert_allclose(jacobian(last)(v), want)
        np.testing.assert_allclose(hessian(lambda d, f=last: f(d) @ d)(v), 2 * want)
        if how != "pullback":
            np.testing.assert_allclose(jacfwd(back)(v)[0], want)
    of_number = vjp(cubes, 2.0)[1]
    assert jacfwd(of_number)(1.0)[0] == 12.0
    assert grad(lambda t: t * np.sum(back(v)[-1]))(2.0) == np.sum(want @ v)


def test_pullbacks_and_pushforwards_that_cannot_be_run_again_are_refused():
    back = vjp(noted, 2.0)[1]
    with pytest.raises(DifferentiationError, match=r"∂\(noted\) is called inside .* an effect"):
        jacfwd(back)(1.0)
    x = np.arange(1.0, 4.0)
    back = vjp(cubes, x)[1]
    x[0] = 7.0
    with pytest.raises(DifferentiationError, match="was given has changed since: call `vjp` there"):
        jacfwd(back)(np.ones(3))
    push = linearize(lambda xs: xs[0] * xs[1], [2.0, 3.0])[1]
    with pytest.raises(DifferentiationError, match="a run of its function: call `jvp"):
        grad(lambda t: push([t, 1.0]))(1.0)
    back = pullback(lambda x, y: x * y, 2.0, y=3.0)[1]
    with pytest.raises(DifferentiationError, match="a run of its function: call `pullback` there"):
        grad(lambda d: back(d)[1])(1.0)
