"""Modules of PyTorch and functions of JAX inside NumPy code, beside their own gradients."""

import concurrent.futures
import gc
import re
import weakref
from collections import OrderedDict
from itertools import islice

import numpy as np
import pytest

from rulescore import plugins, rrule
from zygote_lite import (
    NoRuleError,
    grad,
    gradient,
    hessian,
    hvp,
    jvp,
    pullback,
    stop_gradient,
    value_and_grad,
    vmap,
)  # fmt: skip
from zygote_lite._activity import walk
from zygote_lite.testing import compared

torch = pytest.importorskip("torch", reason="PyTorch is not here: `nox -s interop` installs it")
jax = pytest.importorskip("jax", reason="JAX is not here: `nox -s interop` installs it")
rules_torch = pytest.importorskip("rules_torch", reason="the plugin for PyTorch is not installed")
rules_jax = pytest.importorskip("rules_jax", reason="the plugin for JAX is not installed")
jnp = jax.numpy
pytestmark = pytest.mark.filterwarnings("default")
X = np.linspace(-1.0, 1.5, 6).reshape(3, 2)
BOTH = {"torch": (rules_torch.numpy, torch), "jax": (rules_jax.numpy, jnp)}
REFUSALS = (NoRuleError, NotImplementedError, RuntimeError)


@pytest.fixture(autouse=True)
def in_double_precision():
    with jax.enable_x64(True):
        yield


@pytest.fixture(params=BOTH)
def host(request):
    """Give the function that makes a function of arrays, and the module with `sin` and others."""
    return BOTH[request.param]


def network(dtype=torch.float64):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)).to(
        dtype
    )


def test_the_rules_are_those_of_the_plugins():
    assert {"rules_torch", "rules_jax"} <= {p.name for p in plugins() if p.rulesets}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_module_by_its_parameters_and_its_input(dtype):
    model = network(dtype)
    model[0].bias.requires_grad_(False)
    x = X.astype(np.float32 if dtype == torch.float32 else np.float64)

    def loss(model, x):
        y = rules_torch.numpy(model)(np.sin(x))
        return np.sum(y**2)

    for _ in range(3):  # recorded, and transformed
        dmodel, dx = gradient(loss, model, x)
    assert all(p.grad is None for p in model.parameters())
    assert [p.requires_grad for p in model.parameters()] == [True, False, True, True]
    t = torch.tensor(x, requires_grad=True)
    (model(torch.sin(t)) ** 2).sum().backward()
    assert dx.dtype == x.dtype
    np.testing.assert_allclose(dx, t.grad.numpy(), rtol=1e-5)
    assert list(dmodel) == [name for name, _ in model.named_parameters()]
    assert dmodel["0.bias"] is None
    for name, p in model.named_parameters():
        if p.grad is not None:
            np.testing.assert_allclose(dmodel[name], p.grad.numpy(), rtol=1e-5)


def test_the_gradient_is_that_of_differences(host):
    numpy, xp = host
    f = numpy(lambda a, b: {"sum": xp.sin(a) + b * a, "both": (xp.sum(a * a), b)})

    def loss(x, b):
        y = f(x, b)
        total, same = y["both"]
        return np.sum(y["sum"] * x) + total * same

    with compared():
        dx, db = gradient(loss, X, 0.3)
    h = 1e-6
    step = np.zeros_like(X)
    step[1, 0] = h
    assert dx[1, 0] == pytest.approx((loss(X + step, 0.3) - loss(X - step, 0.3)) / (2 * h))
    assert db == pytest.approx((loss(X, 0.3 + h) - loss(X, 0.3 - h)) / (2 * h))


def test_complex_numbers_have_the_convention_of_the_rules(host):
    numpy, xp = host
    z = np.array([1.0 + 2.0j, -0.5j])
    y, back = rrule(numpy(lambda z: z * z), z)
    assert np.array_equal(y, z * z)
    assert np.allclose(back(np.array([1.0j, 2.0]))[1], np.conj(2 * z) * [1.0j, 2.0])
    _, back = rrule(numpy(lambda z: xp.abs(z) ** 2), z)
    assert np.allclose(back(np.ones(2))[1], 2 * z)


def test_what_is_returned_shares_no_memory(host):
    same = host[0](lambda x: x)

    def overwritten(x):
        y = same(x)
        y[0] = 7.0
        x = x * 1.0
        x[1] = 5.0
        return np.sum(y * y) + np.sum(x)

    x = X.copy()
    assert np.array_equal(
        gradient(overwritten, x)[0], [[1, 1], [2 * v for v in X[1]], 2 * X[2] + 1]
    )
    assert np.array_equal(x, X)


def test_an_argument_that_is_overwritten_later(host):
    square = host[0](lambda x: x * x)

    def f(x):
        a = np.array(x)
        y = square(a)
        a[:] = 100.0
        return np.sum(y) + np.sum(square(a))

    assert np.array_equal(gradient(f, X)[0], 2 * X)


@pytest.mark.parametrize(
    "x", [X[::-1, ::2], np.zeros((0, 2)), np.array(0.5), np.float64(0.5), 0.25]
)
def test_other_arrays_and_numbers(host, x):
    f = host[0](lambda t: t * t)
    y, back = rrule(f, x)
    assert np.array_equal(y, np.multiply(x, x))
    dx = back(np.ones_like(y))[1]
    assert np.shape(dx) == np.shape(x)
    assert np.array_equal(dx, 2 * np.asarray(x))


def test_an_array_that_cannot_be_written_into(host):
    x = X.copy()
    x.setflags(write=False)
    assert np.array_equal(gradient(lambda x: np.sum(host[0](lambda t: t * t)(x)), x)[0], 2 * X)


def test_what_the_value_does_not_depend_on_has_no_gradient(host):
    _, back = rrule(host[0](lambda a, b: a * 2), X, X)
    da, db = back(np.ones_like(X))[1:]
    assert np.array_equal(da, np.full_like(X, 2.0))
    assert db is None or not db.any()
    assert all(d is None or not d.any() for d in back(None)[1:])


def test_integers_are_refused(host):
    with pytest.raises(REFUSALS, match="integers"):
        gradient(lambda n: np.sum(host[0](lambda t: t * 0.5)(n)), np.array([1, 2]))


def of_a_tree(xp, p, x, k):
    y = xp.sin(p["w"] * x) * k
    return {"sum": xp.sum(y * x), "rest": (y, p["b"] * xp.exp(x))}


def scalar_of(found):
    return found["sum"] ** 2 + np.sum(found["rest"][0] ** 3 * found["rest"][1])


P = {"b": np.array([0.7, -0.2]), "w": np.array([1.2, 0.4])}


def of_parts(b, w, x, k):
    """Return the same loss of four arguments, in the words of NumPy."""
    y = np.sin(w * x) * k
    return np.sum(y * x) ** 2 + np.sum(y**3 * b * np.exp(x))


def test_second_derivatives_and_tangents(host):
    numpy, xp = host
    f = numpy(lambda p, x, k: of_a_tree(xp, p, x, k))

    def loss(b, w, x, k):
        return scalar_of(f({"b": b, "w": w}, x, k))

    xs = P["b"], P["w"], X[0], 0.8
    directions = tuple(np.ones_like(x) * (i + 1) for i, x in enumerate(xs))

    def slope_along(of, *xs):
        return sum(np.sum(dx * d) for dx, d in zip(gradient(of, *xs), directions, strict=True))

    np.testing.assert_allclose(
        jvp(loss, xs, directions)[1], jvp(of_parts, xs, directions)[1], rtol=1e-12
    )
    twice, want = (gradient(lambda *xs: slope_along(of, *xs), *xs) for of in (loss, of_parts))
    for dx, due in zip(twice, want, strict=True):
        np.testing.assert_allclose(dx, due, rtol=1e-12)
    x = X[0]
    np.testing.assert_allclose(
        hessian(lambda x: loss(P["b"], P["w"], x, 0.8))(x),
        hessian(lambda x: of_parts(P["b"], P["w"], x, 0.8))(x),
        rtol=1e-12,
    )
    cube = numpy(lambda t: t**3)
    third = grad(lambda x: grad(lambda x: grad(lambda x: cube(x))(x))(x))
    assert third(0.5) == pytest.approx(6.0)


def test_derivatives_of_a_batch(host):
    """`vmap` of gradients and Hessians, beside those of the same formula in NumPy."""
    numpy, xp = host
    f, g = numpy(lambda x: xp.sum(xp.sin(x) ** 2 * x[0])), lambda x: np.sum(np.sin(x) ** 2 * x[0])
    for of in (grad, hessian, lambda f: lambda x: hvp(f)(x, np.ones(2))):
        np.testing.assert_allclose(vmap(of(f))(X), vmap(of(g))(X), rtol=1e-12, atol=1e-12)


def test_the_libraries_themselves_are_not_searched(host, monkeypatch):
    """A second derivative looked through 59,000 objects of PyTorch, twice a call."""
    numpy, library = host
    walked, note = [], walk._note_clean
    monkeypatch.setattr(walk, "_note_clean", lambda seen: [walked.append(len(seen)), note(seen)])
    inner = network() if library is torch else jax.jit(jnp.sin)
    called = numpy(inner)
    slope = gradient(lambda x: jvp(lambda x: np.sum(called(x) ** 2), (x,), (X,))[1], X)[0]
    assert slope.shape == X.shape
    assert max(walked) < 2000


def test_second_derivatives_by_complex_numbers(host):
    numpy, xp = host
    z = np.array([0.3 + 0.4j, -0.5j])

    def slope(f, z):
        return np.sum(np.abs(gradient(lambda z: np.sum(np.abs(f(z)) ** 2), z)[0]) ** 2)

    found, want = (gradient(lambda z: slope(f, z), z)[0] for f in (numpy(xp.sin), np.sin))
    np.testing.assert_allclose(found, want, rtol=1e-12)


def test_a_penalty_on_the_slope_by_the_input():
    """A second derivative by the parameters of a module and by its input, beside PyTorch's own."""
    model = network()

    def penalty(model, x):
        f = rules_torch.numpy(model)
        (dx,) = gradient(lambda x: np.sum(f(x)), x)
        return np.sum(dx**2)

    dmodel, dx = gradient(penalty, model, X)
    t = torch.tensor(X, requires_grad=True)
    (slope,) = torch.autograd.grad(model(t).sum(), t, create_graph=True)
    (slope**2).sum().backward()
    np.testing.assert_allclose(dx, t.grad.numpy(), rtol=1e-10)
    for name, p in model.named_parameters():
        want = np.zeros(p.shape) if p.grad is None else p.grad.numpy()
        np.testing.assert_allclose(0.0 if dmodel[name] is None else dmodel[name], want, atol=1e-12)


def test_a_second_derivative_has_the_draw_of_the_first():
    f = rules_torch.numpy(torch.nn.Dropout(0.5))
    torch.manual_seed(1)
    drawn = f(np.ones(50))
    torch.manual_seed(1)
    twice = hessian(lambda x: np.sum(f(x) ** 2))(np.ones(50))
    assert np.array_equal(np.diag(twice), 2 * drawn**2)


def test_an_array_that_is_overwritten_before_the_pullback_is_called(host):
    f = host[0](lambda t: host[1].exp(t) * t)
    x = np.array([0.5, 1.0])
    for call in (rrule, lambda f, x: pullback(lambda x: f(x), x)):
        given = x.copy()
        _, back = call(f, given)
        given[:] = 100.0
        np.testing.assert_allclose(back(np.ones(2))[1], np.exp(x) * (1 + x))


def test_the_graph_goes_with_the_pullback():
    """It holds the memory of all intermediate values, and waits for no garbage collector."""
    kept = []

    class Saved:
        """What a node of the graph holds."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.saved = Saved()
            kept.append(weakref.ref(ctx.saved))
            ctx.save_for_backward(t)
            return t**3

        @staticmethod
        def backward(ctx, dy):
            (t,) = ctx.saved_tensors
            return 3 * t**2 * dy

    f = rules_torch.numpy(Cube.apply)
    gc.disable()
    try:
        _, back = rrule(f, X)
        assert kept[0]() is not None
        np.testing.assert_allclose(back(np.ones(X.shape))[1], 3 * X**2)
        del back
        gradient(lambda x: np.sum(f(x)), X)
        assert [ref() for ref in kept] == [None, None]
    finally:
        gc.enable()


def test_the_backward_pass_is_run_once(host):
    numpy, xp = host
    runs = []

    def noted(x):
        runs.append(len(runs))
        return x

    if xp is torch:
        model = network()
        model[2].register_full_backward_hook(lambda *_: runs.append(1))
        gradient(lambda m, x: np.sum(rules_torch.numpy(m)(x)), model, X)
    else:
        g = jax.custom_vjp(lambda a, b: a * b)
        g.defvjp(lambda a, b: (a * b, (a, b)), lambda ab, d: noted((d * ab[1], d * ab[0])))
        f = numpy(g)
        gradient(lambda a, b: np.sum(f(a, b)), X, X)
    assert len(runs) == 1


def test_what_a_function_captures_is_refused(host):
    numpy, _ = host

    def loss(w):
        return np.sum(numpy(lambda t: t * w)(X))

    with pytest.raises(REFUSALS, match="captured"):
        gradient(loss, 2.0)


def test_conversions_are_refused_by_name():
    with pytest.raises(NoRuleError, match=r"from_numpy.*rules_torch\.numpy"):
        gradient(lambda x: np.sum(torch.from_numpy(x).numpy()), X)


def test_a_batch_norm_in_train_mode_is_refused():
    model = torch.nn.BatchNorm1d(2).double()
    f = rules_torch.numpy(model)
    with pytest.raises(REFUSALS, match="running statistics"):
        gradient(lambda x: np.sum(f(x) ** 2), X)
    model.eval()
    (dx,) = gradient(lambda x: np.sum(f(x) ** 2), X)
    assert np.allclose(dx, 2 * X, rtol=1e-4)


def test_modules_that_put_another_buffer_in_the_place_of_one_are_refused():
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.ones(()))

        def forward(self, t):
            self.calls = self.calls + 1
            return (t * self.calls).sum()

    model = rules_torch.numpy(Counting())
    with pytest.raises(REFUSALS, match="writes its buffers"):
        gradient(lambda x: model(x), X)


def test_dropout_has_the_gradient_of_its_draw():
    f = rules_torch.numpy(torch.nn.Dropout(0.5))
    torch.manual_seed(1)
    y = f(np.ones(50))
    torch.manual_seed(1)
    value, dx = value_and_grad(lambda x: np.sum(f(x)))(np.ones(50))
    assert value == y.sum()
    assert np.array_equal(dx, y)


def test_a_function_that_writes_into_its_arguments_has_a_copy():
    x = X.copy()

    def written(t):
        t[0] *= 3.0
        return t.mul_(2.0) ** 2

    f = rules_torch.numpy(written)
    scale = np.array([36.0, 4.0, 4.0])[:, None]
    assert np.array_equal(f(x), scale * X * X)
    np.testing.assert_allclose(gradient(lambda x: np.sum(f(x)), x)[0], 2 * scale * X)
    assert np.array_equal(x, X)


def test_no_grad_is_refused():
    with torch.no_grad(), pytest.raises(REFUSALS, match="no_grad"):
        gradient(lambda x: np.sum(rules_torch.numpy(torch.sin)(x)), X)


LINEAR = torch.nn.Linear(2, 1)
ON_META = torch.nn.Linear(2, 1, device="meta", dtype=torch.float64)
MISFITS = {
    "float64": (LINEAR, X, r"float32, and is given float64: call `module.double\(\)`, or give `x"),
    "float32": (
        network(), X.astype(np.float32), r"call `module.float\(\)`, or give `x.astype\(np.float64"
    ),
    "integers": (network(), np.ones((3, 2), int), r"is given int64: give `x.astype\(np.float64\)`"),
    "complex": (network(), X * 1j, r"call `module.to\(torch.complex128\)`"),
    "a device": (ON_META, X, "on meta, and arrays"),
    "a function": (lambda t: t @ LINEAR.weight.T, X, r"PyTorch says: .*`x.astype\(...\)`"),
    "in place": (torch.nn.ReLU(inplace=True), X, r"writes? in place .*copy=True"),
    "bfloat16": (lambda t: t.bfloat16(), X, "bfloat16, which NumPy has not: return `t.float"),
    "sparse": (lambda t: t.to_sparse(), X, "a sparse_coo tensor: return `t.to_dense"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISFITS)
def test_what_pytorch_cannot_compute_is_told_with_what_helps(name):
    f, x, words = MISFITS[name]
    called = rules_torch.numpy(f, copy=False)
    for run in (called, *[lambda x: gradient(lambda x: np.sum(abs(called(x))), x)] * 3):
        with pytest.raises((TypeError, RuntimeError), match=rf"(?s){words}.*\[RC019\]"):
            run(x)


def test_an_error_of_the_function_itself_has_a_note_of_the_arguments(host):
    numpy, xp = host
    called = numpy(xp.matmul)
    for run in (called, lambda x, y: gradient(lambda x: np.sum(called(x, y)), x)):
        with pytest.raises((TypeError, RuntimeError)) as raised:
            run(X, X)
        given = "float64 of shape (3, 2)"
        assert raised.value.__notes__[-1] == f"(matmul was given {given}, {given})"
        assert "[RC" not in str(raised.value)


CUT_OFF = {
    "no_grad": torch.no_grad()(lambda t: t * 2),
    "inference_mode": torch.inference_mode()(lambda t: t * 2),
    "detach": lambda t: {"a": t.detach(), "n": 3},
    "a module": torch.nn.Sequential(network(), torch.nn.Flatten(0)),
}
CUT_OFF["a module"].forward = torch.no_grad()(CUT_OFF["a module"].forward)


@pytest.mark.parametrize("name", CUT_OFF)
def test_a_value_without_a_gradient_is_refused_and_may_be_a_constant(name):
    """The gradient was `None`, without a word."""
    called = rules_torch.numpy(CUT_OFF[name])

    def numbers(x):
        y = called(x)
        return y["a"] if name == "detach" else y

    for run in (
        lambda: gradient(lambda x: np.sum(numbers(x)), X),
        lambda: jvp(lambda x: np.sum(numbers(x)), (X,), (X,)),
    ):
        for _ in range(3):
            with pytest.raises(REFUSALS, match=r"keeps no gradient.*torch\.no_grad.*stop_gradient"):
                run()
    for _ in range(3):
        (dx,) = gradient(lambda x: np.sum(stop_gradient(numbers(x))) * np.sum(x), X)
    np.testing.assert_allclose(dx, np.full_like(X, np.sum(numbers(X))))
    assert (
        gradient(lambda x: rules_torch.numpy(lambda t: t.argmax())(x) * np.sum(x), X)[0][0, 0] == 5
    )


def test_a_shared_parameter_has_the_sum():
    layer = torch.nn.Linear(2, 2).double()
    model = torch.nn.Sequential(layer, torch.nn.Tanh(), layer)
    (dmodel,) = gradient(lambda m: np.sum(rules_torch.numpy(m)(X)), model)
    model(torch.tensor(X)).sum().backward()
    assert list(dmodel) == ["0.weight", "0.bias"]
    assert np.allclose(dmodel["0.weight"], layer.weight.grad.numpy())


def test_threads():
    model = network()

    def one(i):
        return gradient(lambda m, x: np.sum(rules_torch.numpy(m)(x)), model, X + i)[1]

    expected = [one(i) for i in range(8)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(map(np.array_equal, pool.map(one, range(8)), expected))


def test_jitted_functions_and_single_precision():
    f = rules_jax.numpy(jax.jit(lambda p, x: jnp.tanh(x @ p["w"] + p["b"])))
    p = {"w": np.ones((2, 1), np.float32), "b": np.zeros(1, np.float32)}
    x = X.astype(np.float32)
    for _ in range(3):
        (dp,) = gradient(lambda p: np.sum(f(p, x)), p)
    due = jax.grad(lambda p: jnp.sum(jnp.tanh(x @ p["w"] + p["b"])))(p)
    assert dp["w"].dtype == np.float32
    assert np.allclose(dp["w"], due["w"])
    assert np.allclose(dp["b"], due["b"])
    with jax.enable_x64(False), pytest.raises(NotImplementedError, match="jax_enable_x64"):
        f(p, X)


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_dicts_keep_their_order(host, kind):
    f = host[0](lambda t: kind([("b", t), ("a", t * t)]))
    y, back = rrule(f, 3.0)
    assert list(y) == (["a", "b"] if kind is dict and host[1] is jnp else ["b", "a"])
    assert back({"b": 1.0, "a": 10.0})[1] == 61.0


def test_gradients_of_tangents(host):
    """A gradient, a Hessian and a tangent of `jvp`, beside those of the same formula in NumPy."""
    numpy, xp = host
    x, w, u, v = np.array([[0.3, 0.7], [1.5, -0.2], [0.5, 0.25], [1.0, -2.0]])

    def formula(xp):
        return lambda x, w: xp.sum(xp.sin(x * w) * x)

    def derivatives(f):
        def along(x, w):
            return jvp(lambda x, w: f(x, w) ** 2, (x, w), (v, u))[1]

        def slope(x):
            return jvp(lambda x: f(x, 2 * x), (x,), (np.sin(x),))[1]

        yield from gradient(along, x, w)
        yield grad(slope)(x)
        yield hessian(slope)(x)
        yield jvp(slope, (x,), (u,))[1]

    due, f = [*derivatives(formula(np))], numpy(formula(xp))
    of_gradient = 2  # the first two, which are asked for three times
    for found in (derivatives(f), *(islice(derivatives(f), of_gradient) for _ in range(2))):
        for d, want in zip(found, due, strict=False):
            np.testing.assert_allclose(d, want, rtol=1e-10, atol=1e-12)


def test_a_gradient_of_a_tangent_by_a_module_that_is_wrapped_inside():
    model, v = network(), np.array([[1.0, -2.0]])

    def along(model, x):
        return np.sum(jvp(lambda x: rules_torch.numpy(model)(x), (x,), (v,))[1])

    x = np.array([[0.3, 0.7]])
    dmodel, dx = gradient(along, model, x)
    t = torch.tensor(x, requires_grad=True)
    torch.autograd.functional.jvp(model, t, torch.tensor(v), create_graph=True)[1].sum().backward()
    np.testing.assert_allclose(dx, t.grad, rtol=1e-10)
    assert dmodel["2.bias"] is None  # the tangent does not depend on it
    for name, p in [*model.named_parameters()][:-1]:
        np.testing.assert_allclose(dmodel[name], p.grad, rtol=1e-10)


# -- compiled functions of JAX that NumPy code calls by themselves --------------------------------

JITTED = jax.jit(lambda x: jnp.sum(jnp.sin(x)))
OF_TREES = jax.jit(lambda p, x: {"a": p["w"] * x, "b": (jnp.sum(x), 3)})


def through_a_tree(x):
    y = OF_TREES({"w": x}, x)
    return float(jnp.sum(y["a"])) * float(y["b"][0])


def written_later(x):
    a = np.array(x)
    y = jnp.sin(a) * a
    a[:] = 5.0
    return float(jnp.sum(y)) + np.sum(a * x)


def of_both(x):
    y = np.array(jnp.sin(x))
    y[0] = x[0] ** 2
    return np.sum(y * np.asarray(jnp.cos(x)))


CALLING = [
    lambda x: np.sum(np.asarray(JITTED(x))),
    lambda x: float(JITTED(x)) ** 2,
    lambda x: JITTED(jnp.asarray(x) * 2).item(),
    lambda x: np.sum(np.asarray(x * jnp.cos(x) + jnp.sin(x) / 3.0 - 1)),
    lambda x: float(jax.jit(lambda x, n: jnp.sum(x**n), static_argnums=1)(x, 3)),
    lambda x: float(jax.jit(lambda x, s: jnp.sum(jnp.abs(x) ** s))(2.0, s=x)),
    lambda x: float(jnp.sum(jnp.sin(x) @ x.T)),
    lambda x: float(JITTED(x)) if JITTED(x) > 0 else float(JITTED(x)) * 3,
    through_a_tree,
    written_later,
    of_both,
]


@pytest.mark.parametrize("f", CALLING, ids=range(len(CALLING)))
def test_compiled_functions_of_jax(f):
    h = 1e-6
    want = [f(X + h * e) - f(X - h * e) for e in np.eye(X.size).reshape(-1, *X.shape)]
    for _ in range(3):
        (dx,) = gradient(f, X)
        np.testing.assert_allclose(dx.ravel(), np.divide(want, 2 * h), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("n", [1, 2, 4, 8, 10])
def test_higher_derivatives_of_compiled_functions(n):
    f = CALLING[n]
    v, h = np.cos(np.arange(6.0)).reshape(X.shape), 1e-6
    up, down = ((f(X + s * v), gradient(f, X + s * v)[0]) for s in (h, -h))
    assert jvp(f, (X,), (v,))[1] == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-6, abs=1e-6)
    found = hvp(f)(X, v)
    np.testing.assert_allclose(found, (up[1] - down[1]) / (2 * h), rtol=1e-6, atol=1e-6)


def test_tangents_of_arrays_of_jax_are_arrays():
    y, dy = jvp(lambda x: (jnp.sin(x), 3.0), (X,), (X,))
    assert isinstance(y[0], jax.Array)
    assert type(dy[0]) is np.ndarray
    np.testing.assert_allclose(dy[0], X * np.cos(X))


def test_integers_of_python_are_numbers_of_jax():
    """An exponent has the derivative of the same exponent as a float; a static one is refused."""
    x, n = np.array([0.5, 1.5, 2.0]), 3
    power = rules_jax.numpy(lambda x, n: x**n)
    compiled = jax.jit(lambda x, n: jnp.sum(x**n))
    static = jax.jit(lambda x, n: jnp.sum(x**n), static_argnums=1)
    for f in (lambda x, n: np.sum(power(x, n)), lambda x, n: float(compiled(x, n))):
        dx, dn = gradient(f, x, n)
        np.testing.assert_allclose(dx, n * x ** (n - 1))
        np.testing.assert_allclose(dn, np.sum(x**n * np.log(x)))
        (d,) = gradient(lambda n, f=f: np.sum(gradient(lambda x: f(x, n), x)[0]), n)
        np.testing.assert_allclose(d, np.sum(x ** (n - 1) * (1 + n * np.log(x))))
    for f in (power, compiled, static):
        twice = hessian(lambda x, f=f: np.sum(np.asarray(f(x, n))))(x)
        np.testing.assert_allclose(twice, np.diag(6 * x))
    (dx,) = gradient(lambda x: np.sum(gradient(lambda x: float(static(x, n)), x)[0] ** 2), x)
    np.testing.assert_allclose(dx, 36 * x**3)
    for run in (
        lambda n: float(static(x, n)),
        lambda n: np.sum(gradient(lambda x: float(static(x, n)), x)[0]),
    ):
        with pytest.raises(REFUSALS, match="integers"):
            gradient(run, n)


OF_ARRAYS = {
    "T": lambda x: (x.T @ x).sum() + (x[0] ** 3).sum(),
    "numbers": lambda x: x[1, 0] * x[0, 2] + x[:, 1:].sum(),
    "slices": lambda x: (x[:, None, ::2] ** 2).sum(),
    "arrays": lambda x: (x[np.array([0, 0, 1])] * 2.0).sum() * x.mean(axis=0)[1],
    "namespace": lambda x: x.__array_namespace__().exp(x).sum(),
    "moments": lambda x: x.std() * x.max() + x.var(axis=1).sum(),
    "shapes": lambda x: (x.reshape(3, 2) @ x.reshape((2, 3))).trace(),
    "signs": lambda x: (2.0**x).sum() + abs(-x).sum(),
    "rows": lambda x: sum(float(row.sum()) ** 2 for row in x),
    "scans": lambda x: (x.cumsum(axis=1) * x).sum() + x.clip(0.5, 1.0).prod(),
    "NumPy": lambda x: np.sum(np.exp(x) * np.maximum(x, 1.0)),
}


@pytest.mark.parametrize("f", OF_ARRAYS.values(), ids=OF_ARRAYS)
def test_methods_of_arrays_of_jax(f):
    """Beside differences of the same function."""
    x = np.linspace(0.2, 1.6, 6).reshape(2, 3)
    steps = 1e-6 * np.eye(6).reshape(6, 2, 3)
    want = [(float(f(jnp.asarray(x + h))) - float(f(jnp.asarray(x - h)))) / 2e-6 for h in steps]
    (dx,) = gradient(lambda x: float(f(x)), jnp.asarray(x))
    assert type(dx) is np.ndarray
    np.testing.assert_allclose(dx.ravel(), want, rtol=1e-6, atol=1e-8)


def test_second_derivatives_through_methods_of_arrays_of_jax():
    twice = hessian(lambda x: float((jnp.asarray(x)[1:] ** 3).sum()))(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(twice, np.diag([0.0, 12.0, 18.0]), atol=1e-12)


def test_what_compiled_functions_are_given():
    """Arrays of JAX have gradients of NumPy; integers are numbers, or refused."""
    (dx,) = gradient(lambda x: float(JITTED(x)), jnp.asarray(X))
    assert type(dx) is np.ndarray
    np.testing.assert_allclose(dx, np.cos(X))
    assert np.array_equal(grad(lambda x, y: y**2)(jnp.asarray(X), 3.0), np.zeros(X.shape))
    assert gradient(lambda n: float(JITTED(n)), 2)[0] == pytest.approx(np.cos(2.0))
    static = jax.jit(lambda x, n: jnp.sum(x**n), static_argnums=1)
    for f, n in ((lambda n: float(static(X, n)), 2), (JITTED, np.arange(3))):
        with pytest.raises(REFUSALS, match="integers"):
            gradient(lambda n, f=f: float(f(n)), n)
    with jax.enable_x64(False):
        with pytest.raises(REFUSALS, match="jax_enable_x64"):
            gradient(lambda x: float(JITTED(x)), X)
        assert gradient(lambda x: float(JITTED(x)), np.float32(0.5))[0].dtype == np.float32


def test_functions_of_numpy_and_subscripts_take_arrays_of_jax():
    """As after `np.asarray`, which a use that is refused is told."""
    for f, g in (
        (lambda x: np.sum(np.exp(jnp.sin(x))), lambda x: np.sum(np.exp(np.asarray(jnp.sin(x))))),
        (lambda x: float(jnp.sin(x)[1, 0]), lambda x: float(np.asarray(jnp.sin(x))[1, 0])),
    ):
        np.testing.assert_allclose(gradient(f, X)[0], gradient(g, X)[0], rtol=1e-12)
        assert gradient(g, X)[0][1, 0] != 0.0
    with pytest.raises(REFUSALS, match=r"pass `np\.asarray\(\.\.\.\)` of it"):
        gradient(lambda x: np.sum(np.einsum("ij->i", jnp.sin(x))), X)


def test_data_of_pandas_is_refused_with_what_to_pass(host):
    pd = pytest.importorskip("pandas")
    numpy, xp = host
    table, called = pd.DataFrame(X), numpy(lambda v, u: xp.sum(v * u))
    for data, name in ((table, "DataFrame"), (table[0], "Series")):
        told = rf"is given a {name}, and takes arrays: pass `.to_numpy\(\)` of it \[RC019\]$"
        w = np.ones(data.shape)
        for _ in range(2):
            with pytest.raises(TypeError, match=told):
                gradient(lambda w, data=data: called(w, data), w)
        found = gradient(lambda w, data=data: called(w, data.to_numpy()), w)
        np.testing.assert_allclose(found[0], data)
    with pytest.raises(TypeError, match=r"Linear is given a DataFrame, and takes arrays"):
        rules_torch.numpy(torch.nn.Linear(2, 1).double())(table)


WEIGHTS, NET = torch.ones(3, 2, dtype=torch.float64), network()
OF_WEIGHTS = rules_torch.numpy(lambda t: torch.sum(t * WEIGHTS) ** 2)
OF_NET = rules_torch.numpy(NET)


def test_tensors_that_are_written_before_the_gradient_are_told():
    cases = (
        (lambda x: OF_WEIGHTS(x) ** 2, WEIGHTS),
        (lambda x: np.sum(OF_NET(x) ** 2), NET[0].weight),
    )
    for f, written in cases:
        for _ in range(3):
            _, back = pullback(f, X)
            with torch.no_grad():
                written.mul_(1.5)
            with pytest.raises(RuntimeError, match=r"written since the call.*\[RC019\]") as raised:
                back(1.0)
            assert re.search(r"test_foreign_calls\.py:\d+", raised.value.__notes__[-1])
        np.testing.assert_allclose(pullback(f, X)[1](1.0)[1], gradient(f, X)[0])
