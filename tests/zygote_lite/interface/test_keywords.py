"""Arguments that are given by name are answered by transformed code, whatever their kind."""

import functools

import numba
import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from zygote_lite import checkpoint, code_adjoint, explain, grad, jit, testing, value_and_grad, vmap

X = np.array([0.1, -0.2, 0.3])


def by_name(x, *, s=1.0, t=2.0):
    return np.sum(np.sin(x) * s * t)


def of_any_name(x, *xs, s=1.0, **more):
    return np.sum(np.cos(x) * s) * more.get("u", 3.0) + len(more) * np.sum(s) * sum(xs)


def needed(x, /, y=3.0, *, s):
    return np.sum(x * x * y) * s**3


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x, *, s):
        return np.sum(x * s * self.w)

    def __call__(self, x, *, s):
        return np.sum(x * x * s * self.w)


CALLS = {
    "one of two": (by_name, (X,), {"s": 3.0}),
    "both": (by_name, (X,), {"s": 3.0, "t": 0.5}),
    "in another order": (by_name, (X,), {"t": 0.5, "s": 3.0}),
    "of a number": (by_name, (0.3,), {"t": 0.5}),
    "of any name": (of_any_name, (X,), {"s": 2.0, "u": 0.7}),
    "beside starred ones": (of_any_name, (X, 2.0, 4.0), {"u": 0.7}),
    "without a default": (needed, (X,), {"s": 2.0}),
    "behind one by position": (needed, (X,), {"s": 2.0, "y": 0.5}),
    "of a method": (Model(2.0).loss, (X,), {"s": 2.0}),
    "of an object": (Model(2.0), (X,), {"s": 2.0}),
}


def differences(f, xs, kws, name, h=1e-6):
    """Return the derivative by a number that is given by name."""
    up, down = (f(*xs, **{**kws, name: kws[name] + d}) for d in (h, -h))
    return (up - down) / (2 * h)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_by_name_is_transformed(name):
    f, xs, kws = CALLS[name]
    both = value_and_grad(f, (0, *kws))
    with testing.recorded_only():
        want = both(*xs, **kws)
    for call in range(4):
        with testing.observed() as answers:
            assert_close(both(*xs, **kws), want)
        assert call < 2 or [answer.tier for answer in answers] == ["transformed"]
    for given, found in zip(kws, want[1][1:], strict=True):
        assert found == pytest.approx(differences(f, xs, kws, given), rel=1e-6)
    with testing.compared():
        both(*xs, **kws)
    assert testing.why_recorded(f, *xs, **kws) is None


@pytest.mark.parametrize("name", CALLS)
def test_what_is_shown_is_what_runs(name):
    f, xs, kws = CALLS[name]
    assert "_pullback(" in code_adjoint(f, *xs, **kws).partition("\n")[0]
    first = explain(f, *xs, **kws).partition("\n")[0]
    assert "transformed; " in first


def test_integers_by_name_are_differentiated_if_asked_for():
    assert "dx" in code_adjoint(by_name, 0.5, s=2)
    assert "ds" not in code_adjoint(by_name, 0.5, s=2)
    assert "ds" in code_adjoint(by_name, 0.5, s=2, argnums="s")


def test_a_default_that_changes_is_followed():
    def f(x, *, s, t=2.0):
        return x * s * t

    derivative = grad(f)
    assert [derivative(3.0, s=2.0) for _ in range(4)] == [4.0] * 4
    f.__kwdefaults__["t"] = 5.0
    assert [derivative(3.0, s=2.0) for _ in range(4)] == [10.0] * 4


def test_types_and_names_may_change_from_call_to_call():
    derivative = grad(of_any_name)
    for _ in range(3):
        for kws in ({"s": 2.0}, {"s": X}, {"u": 2.0, "s": 0.5}, {"s": 0.5, "u": 2.0}, {}):
            with testing.recorded_only():
                want = grad(of_any_name)(X, **kws)
            assert_close(derivative(X, **kws), want)


def keeps(x, *, s):
    KEPT.insert(0, s)
    return x * s


KEPT = []


def test_explain_says_why_a_call_by_name_is_recorded():
    assert "recorded: `KEPT.insert(0, s)`: " in explain(keeps, 2.0, s=3.0)
    assert code_adjoint(keeps, 2.0, s=3.0).startswith("# Recorded, not transformed: `KEPT.ins")
    assert "into a list, dict or set" in testing.why_recorded(keeps, 2.0, s=3.0)


def closure(k):
    def f(x, y=2.0, *, s, t=4.0):
        return np.sum(np.sin(x) * y * s * t * k)

    return f


def lambda_over(k):
    return lambda x, /, *, t=4.0, s, u=1.0: np.sum(np.cos(x) * s * t * u * k)


def of_defaults_alone(k):
    def f(x, y=2.0, *, s=3.0, t=4.0):
        return np.sum(np.sin(x) * y * s * t * k)

    return f


CLOSURES = {
    "required": (closure, {"s": 3.0}),
    "both": (closure, {"s": 3.0, "t": 0.5}),
    "behind one by position": (closure, {"y": 0.5, "s": 3.0}),
    "lambda": (lambda_over, {"s": 3.0}),
    "lambda, the last": (lambda_over, {"s": 3.0, "u": 0.5}),
    "lambda, the first": (lambda_over, {"t": 0.5, "s": 3.0}),
    "all have defaults": (of_defaults_alone, {"t": 0.5}),
    "all have defaults, two are given": (of_defaults_alone, {"s": 2.0, "t": 0.5}),
}


@pytest.mark.parametrize("name", CLOSURES)
def test_closures_of_one_definition_share_their_code(name):
    make, kws = CLOSURES[name]
    for call, k in enumerate((2.0, 3.0, 5.0, 7.0, 11.0)):
        f = make(k)
        both = value_and_grad(f, (0, *kws))
        with testing.recorded_only():
            want = both(X, **kws)
        with testing.observed() as answers:
            assert_close(both(X, **kws), want)
        assert call < 2 or [answer.tier for answer in answers] == ["transformed"]
        for given, found in zip(kws, want[1][1:], strict=True):
            assert found == pytest.approx(differences(f, (X,), kws, given), rel=1e-6)
    f = make(k)
    assert testing.why_recorded(f, X, **kws) is None
    assert testing.why_recorded(f, X, **dict(reversed(kws.items()))) is None
    assert "transformed; " in explain(f, X, **kws).partition("\n")[0]
    assert "_pullback(" in code_adjoint(f, X, **kws).partition("\n")[0]
    with testing.compared():
        grad(f)(X, **kws)


def test_a_default_of_a_closure_that_changes_is_followed():
    f = closure(2.0)
    slope = np.cos(X) * 2.0 * 3.0 * 2.0
    for t in (4.0, 5.0, 6.0):
        f.__kwdefaults__["t"] = t
        for _ in range(3):
            np.testing.assert_allclose(grad(f)(X, s=3.0), slope * t)
    f.__kwdefaults__.clear()
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 't'"):
        grad(f)(X, s=3.0)


def test_a_variable_of_a_closure_that_changes_is_followed():
    k = 1.0

    def f(x, *, s):
        return x * s * k

    for k in (2.0, 3.0, 4.0):
        assert [grad(f)(3.0, s=2.0) for _ in range(4)] == [2.0 * k] * 4


def test_a_closure_of_any_number_is_recorded_and_explained():
    k = 2.0

    def f(x, *xs, s):
        return x * s * k + sum(xs)

    assert [grad(f)(3.0, s=2.0) for _ in range(3)] == [4.0] * 3
    why = "by name alone: differentiate a `lambda` that gives it"
    assert why in explain(f, 3.0, s=2.0)
    assert why in code_adjoint(f, 3.0, s=2.0)
    assert why in testing.why_recorded(f, 3.0, s=2.0)
    derivative = grad(lambda x: f(x, s=2.0))  # which the message advises
    assert [derivative(3.0) for _ in range(4)] == [4.0] * 4
    assert testing.why_recorded(lambda x: f(x, s=2.0), 3.0) is None


def test_a_name_that_the_code_needs_is_recorded():
    def f(x, *, np=1.0, called=2.0):
        return x * np * called

    for kws in ({"np": 3.0}, {"called": 3.0}, {"called": 3.0, "np": 0.5}):
        with testing.recorded_only():
            want = grad(f)(2.0, **kws)
        assert [grad(f)(2.0, **kws) for _ in range(4)] == [want] * 4


def test_an_argument_too_many_is_pythons_error():
    for _ in range(3):
        with pytest.raises(TypeError, match="unexpected keyword argument 'u'"):
            grad(by_name)(X, s=1.0, u=2.0)
        with pytest.raises(TypeError, match="multiple values for argument 'x'"):
            grad(by_name)(X, x=1.0)


def of_a_function(x, *, f):
    return np.sum(f(x))


def of_what_is_named_self(x, *, self):
    return x * self


def test_names_that_functions_of_the_engine_have_are_the_users():
    for _ in range(3):
        assert_close(grad(of_a_function)(X, f=np.cos), -np.sin(X))
    assert grad(lambda x: checkpoint(of_what_is_named_self)(x, self=3.0))(2.0) == 3.0


def test_a_number_by_name_beside_a_batch_goes_into_a_lambda():
    def scaled(x, s):
        return x * s

    with pytest.raises(ValueError, match="by name goes into a `lambda`"):
        vmap(scaled)(X, s=1.5)
    with pytest.raises(ValueError, match="are those of a tree"):
        vmap(scaled, in_axes={"s": None})(X, s=1.5)
    assert_close(vmap(lambda x: scaled(x, s=1.5))(X), X * 1.5)


class Scale:
    """It has parameters with the name by which NumPy's functions take where they write."""

    def __init__(self, k):
        self.k = k

    def __call__(self, x, y=1.0, out=2.0):
        return self.k * x * y * out

    def method(self, x, y=1.0, out=2.0):
        return self.k * x * y * out

    @classmethod
    def of_class(cls, x, y=1.0, out=2.0):
        return x * y * out


def scaled(x, y=1.0, out=2.0):
    return x * y * out


OUT = np.array([5.0, 7.0, 11.0])
SCALE = Scale(3.0)
WITH_OUT = {
    "function": (scaled, 1.0),
    "object": (SCALE, 3.0),
    "method": (SCALE.method, 3.0),
    "class method": (Scale.of_class, 1.0),
    "partial": (functools.partial(scaled, y=4.0), 4.0),
    "checkpoint": (checkpoint(scaled), 1.0),
    "checkpointed method": (checkpoint(SCALE.method), 3.0),
    "vectorize": (np.vectorize(scaled), 1.0),
    "jit": (jit(scaled), 1.0),
    "Numba's": (numba.njit(lambda x, y=1.0, out=2.0: x * y * out), 1.0),
    "vmap": (vmap(scaled), 1.0),
}


@pytest.mark.parametrize("name", WITH_OUT)
def test_an_argument_named_out_is_the_users_own(name):
    f, k = WITH_OUT[name]
    calls = [lambda x, out: np.sum(f(x, out=out) * x)]
    if name not in ("partial", "vmap"):
        calls.append(lambda x, out: np.sum(f(x, np.ones(3), out) * x))
    for loss in calls:
        given = OUT.copy()
        for _ in range(4):
            value, (dx, dout) = value_and_grad(loss, (0, 1))(X, given)
            np.testing.assert_allclose(value, np.sum(k * OUT * X**2))
            np.testing.assert_allclose(dx, 2 * k * OUT * X)
            np.testing.assert_allclose(dout, k * X**2)
            assert given.tolist() == OUT.tolist()  # nothing is written there


@pytest.mark.parametrize("name", ["object", "method", "partial", "checkpoint", "Numba's"])
def test_an_argument_named_out_may_be_a_number(name):
    f, k = WITH_OUT[name]
    for _ in range(4):
        dx, dout = grad(lambda x, out: np.sum(f(x, out=out)), (0, 1))(X, 3.0)
        np.testing.assert_allclose(dx, np.full(3, 3.0 * k))
        np.testing.assert_allclose(dout, k * np.sum(X))


def test_an_argument_named_out_of_a_cached_function():
    cached = functools.lru_cache(scaled)
    assert grad(lambda x: cached(0.5, out=7.0) * x)(2.0) == 3.5


WRITERS = {
    "ufunc": np.multiply,
    "partial of a ufunc": functools.partial(np.multiply),
    "Numba's ufunc": numba.vectorize(lambda a, b: a * b),
}


@pytest.mark.parametrize("name", WRITERS)
def test_out_of_a_ufunc_is_written(name):
    f = WRITERS[name]

    def loss(x):
        made = np.zeros(3)
        f(x, x, out=made)
        return np.sum(made)

    for _ in range(4):
        np.testing.assert_allclose(grad(loss)(X), 2 * X)
