"""What `grad` and its kin make is shown by its name, and pickled by it."""

import concurrent.futures
import copy
import functools
import html
import inspect
import multiprocessing
import pickle

import numpy as np
import pytest

from rulescore import Tangent
from zygote_lite import (
    checkpoint,
    grad,
    gradient,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jit,
    linearize,
    pullback,
    ravel,
    value_and_grad,
    vjp,
    vmap,
)

X = np.array([0.5, -1.0])


def loss(x, y=2.0):
    return np.sum(x * x * y)


class Model:
    def __init__(self, w):
        self.w = w

    @staticmethod
    def cost(x):
        return x**3

    @classmethod
    def of_class(cls, x):
        return x * x

    def cost_of(self, x):
        return self.w * x * x


@grad
def slope(x):
    return x**3


@checkpoint
def kept(x):
    return x * x


def of_model(model):
    return model.w**2


made_here = grad(loss)
MADE = {
    "at the top": (made_here, (X,), 4 * X),
    "decorator": (slope, (2.0,), 12.0),
    "options": (value_and_grad(loss, argnums=("y", 0)), (X, 3.0), (3.75, (1.25, 6 * X))),
    "position": (grad(loss, 1), (X, 3.0), 1.25),
    "method": (grad(Model.cost), (2.0,), 12.0),
    "twice": (grad(grad(Model.cost)), (2.0,), 12.0),
    "jacobian": (jacobian(loss), (X,), 4 * X),
    "hessian": (hessian(loss), (X,), 4 * np.eye(2)),
    "jacfwd": (jacfwd(loss), (X,), 4 * X),
    "hvp": (hvp(loss), (X, X), 4 * X),
    "batches": (vmap(grad(Model.cost)), (X,), 3 * X**2),
    "method of a class": (grad(Model.of_class), (2.0,), 4.0),
    "axes of batches": (vmap(loss, in_axes=(0, None)), (X, 2.0), 2 * X**2),
    "checkpoint": (kept, (3.0,), 9.0),
    "checkpoint of another": (checkpoint(Model.cost), (2.0,), 8.0),
}


def called(f, xs):
    return f(*xs)


def test_it_is_shown_by_its_name():
    assert "grad(tests.zygote_lite.test_derivatives:loss, argnums='y')" in repr(
        grad(loss, argnums="y")
    )
    assert "hessian(tests.zygote_lite.test_derivatives:loss)" in repr(hessian(loss))
    assert repr(kept) == "checkpoint(kept)"
    assert repr(grad(Model.cost)).startswith(f"<function grad({__name__}:Model.cost) at 0x")
    assert repr(vmap(grad(loss))).startswith(f"<function vmap(grad({__name__}:loss)) at 0x")
    twice = repr(grad(grad(lambda x: x * x)))
    assert twice.count("pickle it by cloudpickle.dumps") == 1
    line = inspect.currentframe().f_lineno + 1
    nameless = grad(lambda x: x, argnums=0)
    place = f"<lambda> at test_derivatives.py:{line}"
    assert f"grad({place}, argnums=0, pickle it by cloudpickle.dumps)" in repr(nameless)
    assert nameless._repr_html_() == f"<code>grad({html.escape(place)}, argnums=0)</code>"
    assert repr(pullback(Model.cost, 2.0)[1]) == "∂(Model.cost)"
    assert repr(pullback(lambda x: x, 2.0)[1]) == f"∂(<lambda> at test_derivatives.py:{line + 5})"
    assert made_here.__name__ == "loss"
    assert inspect.signature(made_here) == inspect.signature(loss)


@pytest.mark.parametrize("name", MADE)
def test_it_is_pickled_by_its_name(name):
    f, xs, expected = MADE[name]
    again = pickle.loads(pickle.dumps(f))
    assert again is f or name == "checkpoint of another"
    np.testing.assert_equal(again(*xs), expected)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(f, protocol))
        np.testing.assert_equal(again(*xs), expected)
    assert copy.deepcopy(made_here) is made_here
    assert pickle.loads(pickle.dumps(jit(Model.cost))) is jit(Model.cost)


def test_another_process_finds_it():
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        names = ["at the top", "decorator", "options", "twice", "batches", "checkpoint"]
        asked = [pool.submit(called, *MADE[name][:2]) for name in names]
        for name, future in zip(names, asked, strict=True):
            np.testing.assert_equal(future.result(), MADE[name][2])
        assert pool.submit(grad(of_model), Model(2.0)).result().w == 4.0  # a `Tangent` comes back
        with pytest.raises((pickle.PicklingError, AttributeError), match="pickle"):
            pool.submit(grad(lambda x: x), 1.0).result()


def test_what_has_no_name_is_refused():
    for f in (grad(lambda x: x), grad(grad(lambda x: x * x))):
        with pytest.raises(
            (pickle.PicklingError, AttributeError), match="pickle it by cloudpickle"
        ):
            pickle.dumps(f)
    of_instance = grad(Model(2.0).cost_of)
    with pytest.raises((pickle.PicklingError, AttributeError), match="pickle it by cloudpickle"):
        pickle.dumps(of_instance)
    for f in (grad(functools.partial(loss, y=3.0)), jit(functools.partial(loss, y=3.0))):
        assert "(partial of loss, pickle it by cloudpickle.dumps)" in repr(f)
        with pytest.raises(
            (pickle.PicklingError, AttributeError), match="pickle it by cloudpickle"
        ):
            pickle.dumps(f)


def logged(f):
    @functools.wraps(f)
    def g(*xs, **kws):
        return 2.0 * f(*xs, **kws)

    return g


@logged
def decorated(x):
    return x * x


def test_a_wrapper_does_not_take_the_name_of_what_it_wraps():
    cloudpickle = pytest.importorskip("cloudpickle")
    plain = grad(of_model)
    for f in (checkpoint(of_model), logged(of_model), logged(logged(checkpoint(of_model)))):
        made = grad(f)
        assert made is not plain
        assert "pickle it by cloudpickle.dumps" in repr(made)
        assert grad(of_model) is plain
        assert pickle.loads(pickle.dumps(plain)) is plain
        with pytest.raises(
            (pickle.PicklingError, AttributeError), match="pickle it by cloudpickle"
        ):
            pickle.dumps(made)
        again = pickle.loads(cloudpickle.dumps(made))
        assert again(Model(2.0)).w == made(Model(2.0)).w
    for outer in (grad(decorated), grad(grad(decorated)), vmap(grad(decorated))):
        assert pickle.loads(pickle.dumps(outer)) is outer
    inner = grad(decorated.__wrapped__)
    assert inner(3.0) == 6.0
    assert grad(decorated)(3.0) == 12.0
    assert pickle.loads(pickle.dumps(grad(decorated))) is grad(decorated)
    assert pickle.loads(cloudpickle.dumps(inner))(3.0) == 6.0


def of_list(xs):
    return xs[0] * xs[1]


OF_ONE_RUN = {
    "pullback": lambda: pullback(loss, X)[1],
    "pullback of the tape": lambda: pullback(of_list, [1.0, 2.0])[1],
    "vjp": lambda: vjp(loss, X)[1],
    "linearize": lambda: linearize(loss, X)[1],
    "linearize by the tape": lambda: linearize(of_list, [1.0, 2.0])[1],
}


@pytest.mark.parametrize("name", OF_ONE_RUN)
def test_what_belongs_to_a_run_stays_in_its_process(name):
    for _ in range(3):
        back = OF_ONE_RUN[name]()
        assert copy.deepcopy([back])[0] is copy.copy(back) is back
        with pytest.raises(TypeError, match=r"^.*\d: .* pickle `value_and_grad\(f\)`.* \[ZL043\]$"):
            pickle.dumps(back)


def test_functions_of_one_name_are_told_apart():
    def of(k):
        def inner(x):
            return k * x

        return inner

    first, second = of(1.0), of(2.0)
    slopes = [grad(f) for f in (first, second, first)]
    assert [g(1.0) for g in slopes] == [1.0, 2.0, 1.0]
    assert grad(loss) is grad(loss)
    assert grad(loss, 0) is not grad(loss, 1)
    assert gradient(lambda x: grad(of(3.0))(x) * x, 2.0) == (3.0,)


def test_cloudpickle_takes_functions_by_value():
    cloudpickle = pytest.importorskip("cloudpickle")
    k = 3.0

    def local(x):
        return k * x * x

    f = grad(lambda x: local(x) * k)
    for _ in range(4):  # transformed code is not taken along
        assert f(2.0) == 36.0
    held = grad(functools.partial(lambda k, x: k * x, 5.0))
    again = pickle.loads(cloudpickle.dumps([f, value_and_grad(local), hessian(local), held]))
    for _ in range(4):
        assert [g(2.0) for g in again] == [36.0, (12.0, 12.0), 6.0, 5.0]


def test_tangents_and_trees_are_pickled():
    _, back = pullback(lambda m: np.sum(m.w**2), Model(X))
    (_, d) = back(1.0)
    assert isinstance(d, Tangent)
    again = pickle.loads(pickle.dumps(d))
    assert type(again) is Tangent
    np.testing.assert_array_equal(again.w, 2 * X)
    np.testing.assert_array_equal(copy.deepcopy(d).w, 2 * X)
    v, unravel = pickle.loads(pickle.dumps(ravel(Model(X))))
    np.testing.assert_array_equal(unravel(v + 1).w, X + 1)
