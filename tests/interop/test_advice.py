"""What a user reads who mixes NumPy with PyTorch, JAX or pandas, and that it runs when followed."""

import re

import numpy as np
import pytest

from tests.zygote_lite.conftest import without
from zygote_lite import DifferentiationError, NoRuleError, grad, interop, stop_gradient

torch = pytest.importorskip("torch", reason="PyTorch is not here: `nox -s interop` installs it")
jax = pytest.importorskip("jax", reason="JAX is not here: `nox -s interop` installs it")
pd = pytest.importorskip("pandas", reason="pandas is not here: `nox -s interop` installs it")
rules_torch = pytest.importorskip("rules_torch", reason="the plugin for PyTorch is not installed")
rules_jax = pytest.importorskip("rules_jax", reason="the plugin for JAX is not installed")
jnp = jax.numpy

X = np.array([0.5, 1.5, 2.5])
SINGLE = X.astype(np.float32)
ONES, TENSOR = jnp.ones(3), torch.ones(3, dtype=torch.float64)
TO_TENSOR = "write what computes with it as a function `f` of tensors"
FOR_JAX = "make a function of arrays of it, or of all that calls it: `rules_jax.numpy(f)`"
OF_TORCH = "call functions of PyTorch as `rules_torch.numpy(f)`"
ROUNDED = "or convert the array by `astype(np.float32)`"
OF_SERIES = "compute with the array itself, by NumPy"
MIXED = {  # the function, its argument, its name, what is told, what runs when that is followed
    "as_tensor": (
        lambda x: torch.as_tensor(x).sin().sum().item(), X, "torch.as_tensor", TO_TENSOR,
        lambda x: rules_torch.numpy(lambda t: t.sin().sum())(x), np.cos(X),
    ),
    "from_numpy": (
        lambda x: torch.from_numpy(x).sum().item(), X, "torch.from_numpy", TO_TENSOR,
        lambda x: rules_torch.numpy(lambda t: t.sum())(x), np.ones(3),
    ),
    "tensor": (
        lambda t: t.mul_(TENSOR).sum(), TENSOR, "a tensor of PyTorch", "pass `.detach().numpy()`",
        lambda x: np.sum(x * TENSOR.detach().numpy()), np.ones(3),
    ),
    "sin of a tensor": (
        lambda t: (t * 1.0).sin_().sum(), TENSOR, "a tensor of PyTorch", OF_TORCH,
        lambda x: np.sum(rules_torch.numpy(torch.sin)(x)), np.cos(X),
    ),
    "a tensor and an array": (
        lambda x: (TENSOR * x).sum(), X, "`*` of (Tensor, ndarray)", "pass `.detach().numpy()`",
        lambda x: (TENSOR.detach().numpy() * x).sum(), np.ones(3),
    ),
    "jnp.sin": (
        lambda x: jnp.sin(x).sum(), X, "through jax.numpy.sin: JAX would round float64", ROUNDED,
        lambda x: jnp.sin(x.astype(np.float32)).sum(), np.cos(X),
    ),
    "an array of JAX and of NumPy": (
        lambda x: (x * ONES).sum(), X, "`*` of (ndarray, jax.Array)", ROUNDED,
        lambda x: (x.astype(np.float32) * ONES).sum(), np.ones(3),
    ),
    "jit": (
        lambda x: jax.jit(lambda a: 2.0 * a)(x).sum(), X, "through <lambda>: JAX would", ROUNDED,
        lambda x: jax.jit(lambda a: 2.0 * a)(x.astype(np.float32)).sum(), 2.0 * np.ones(3),
    ),
    "jax.grad": (
        lambda x: jax.grad(lambda a: a**2)(x[0]), SINGLE, "what jax made of <lambda>", FOR_JAX,
        lambda x: rules_jax.numpy(jax.grad(lambda a: a**2))(x[0]), np.array([2.0, 0.0, 0.0]),
    ),
    "jax.nn": (
        lambda x: jax.nn.relu(x).sum(), SINGLE, "jax.nn.relu has no rule", FOR_JAX,
        lambda x: rules_jax.numpy(jax.nn.relu)(x).sum(), np.ones(3),
    ),
    "pd.Series": (
        lambda x: (2.0 * pd.Series(x)).mean(), X, "pandas.Series has no rule", OF_SERIES,
        lambda x: np.mean(2.0 * x), np.full(3, 2.0 / 3.0),
    ),
    "pd.DataFrame": (
        lambda x: pd.DataFrame({"a": x})["a"].sum(), X, "pandas.DataFrame has no rule", OF_SERIES,
        lambda x: np.sum(x) * len(pd.DataFrame({"a": stop_gradient(x)})), 3.0 * np.ones(3),
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def single_precision():
    """Leave JAX as it is by default: other modules let it compute in double precision."""
    with jax.enable_x64(False):
        yield


@pytest.mark.filterwarnings("ignore:__array_wrap__")  # PyTorch's own method, called by NumPy
@pytest.mark.parametrize("name", MIXED)
def test_what_helps_is_told_and_runs(name):
    f, x, called, told, as_told, expected = MIXED[name]
    for _ in range(3):
        with pytest.raises(NoRuleError, match=re.escape(called)) as refused:
            grad(f)(x)
        said = str(refused.value)
        assert said.startswith(f"{__file__}:{f.__code__.co_firstlineno}: ")
        assert told in said
        assert "._" not in said
        assert "site-packages" not in said
        assert "declare" not in said
        given = x if isinstance(x, np.ndarray) else X
        np.testing.assert_allclose(grad(as_told)(given), expected, rtol=1e-6)


CALLED = {  # functions of a host that are called as they are, and not inside a gradient
    "float64": (lambda: rules_jax.numpy(jnp.sin)(X), NotImplementedError, ROUNDED),
    "no function of JAX": (lambda: rules_jax.numpy(3), TypeError, "give the function itself"),
    "no function of tensors": (lambda: rules_torch.numpy(3), TypeError, "give the function itself"),
    "masked": (
        lambda: rules_jax.numpy(jnp.sin)(np.ma.array(SINGLE)), TypeError, "pass `np.asarray` of it",
    ),
    "masked, of PyTorch": (
        lambda: rules_torch.numpy(torch.sin)(np.ma.array(X)), TypeError, "pass `np.asarray` of it",
    ),
    "value": (lambda: rules_jax.numpy(str)(SINGLE), None, ""),
    "value of another class": (
        lambda: rules_torch.numpy(lambda x: {1.0})(X), TypeError, "return tensors, or trees",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
def test_what_a_host_cannot_take_has_a_code(name):
    call, error, told = CALLED[name]
    if error is None:
        assert isinstance(call(), str)
        return
    with pytest.raises(error, match=r"\[RC019\]$") as refused:
        call()
    assert told in str(refused.value)


def test_errors_of_the_function_itself_have_no_code_of_ours():
    def fails(x):
        raise TypeError("my own")

    for numpy in (rules_jax.numpy, rules_torch.numpy):
        with pytest.raises(TypeError) as raised:
            numpy(fails)(SINGLE)
        assert str(raised.value) == "my own"


def test_inside_of_a_gradient_it_is_the_same_error():
    for _ in range(3):
        with pytest.raises(NotImplementedError, match=r"^JAX would round [^\[]*\[RC019\]$"):
            grad(lambda x: np.sum(rules_jax.numpy(jnp.sin)(x)))(X)


WITHOUT_PLUGIN = {
    "jax.numpy.sin": ("rules_jax", lambda x: jnp.sin(x)),
    "`x.at[i].set` of jax": ("rules_jax", lambda x: float(ONES.at[0].set(x)[0])),
}


@pytest.mark.parametrize("name", WITHOUT_PLUGIN)
def test_the_plugin_of_a_host_is_named_where_it_is_missing(name):
    plugin, f = WITHOUT_PLUGIN[name]
    told = rf"{re.escape(name)} .*\(pip install {plugin}, or pip install "
    with without(plugin), pytest.raises(NoRuleError, match=told):
        grad(f)(np.float32(0.5))


def test_a_function_of_a_private_module_has_its_public_name():
    f = lambda x: float(jax.lax.scan(lambda c, y: (c * y, c), x, ONES)[0])
    with pytest.raises(DifferentiationError, match=r"jax\.lax\.scan has no rule"):
        grad(f)(2.0)


def test_a_function_of_a_host_is_exported_as_one_of_arrays():
    exported = interop.to_torch(jax.jit(lambda x: jnp.sum(x**2)))
    with pytest.raises(TypeError, match=r"returns an array of JAX.*`rules_jax\.numpy\(f\)`"):
        exported(TENSOR)
    linear = torch.nn.Linear(3, 1).double()
    with pytest.raises(TypeError, match=r"returns a tensor.*`rules_torch\.numpy\(f\)`"):
        interop.to_jax(lambda x: linear(torch.tensor(x)))(X)
    x = torch.tensor(SINGLE, requires_grad=True)
    interop.to_torch(rules_jax.numpy(jax.jit(lambda x: jnp.sum(x**2))))(x).backward()
    np.testing.assert_allclose(x.grad, 2.0 * X)


def test_tangents_of_what_is_exported_in_reverse_mode_are_refused():
    cubes = interop.to_jax(lambda x: np.sum(x**3))
    with pytest.raises(TypeError, match=r"`jax\.jacrev\(jax\.jacrev\(f\)\)`"):
        jax.hessian(cubes)(SINGLE)
    np.testing.assert_allclose(jax.jacrev(jax.jacrev(cubes))(SINGLE), np.diag(6.0 * X), rtol=1e-6)


def test_a_part_of_a_module_is_given_as_an_argument():
    net, x = torch.nn.Sequential(torch.nn.Linear(3, 2).double()), X
    for part in (lambda n: n[0], lambda n: next(iter(n))):
        with pytest.raises(NoRuleError, match=r"such as `net\[0\]`, as an argument"):
            grad(lambda n, part=part: rules_torch.numpy(part(n))(x).sum())(net)
    found = grad(lambda layer: rules_torch.numpy(layer)(x).sum())(net[0])
    np.testing.assert_allclose(found.weight, [X, X])


def test_waiting_for_an_array_of_jax_changes_no_gradient():
    slope = grad(lambda x: jax.block_until_ready(jnp.sin(x)).sum())
    for _ in range(3):
        np.testing.assert_allclose(slope(SINGLE), np.cos(X), rtol=1e-6)


def test_a_method_of_a_library_is_told_by_its_name_and_not_by_that_of_the_host():
    svm = pytest.importorskip("sklearn.svm")
    x = np.linspace(-1.0, 1.0, 12).reshape(6, 2)
    predict = svm.SVR().fit(x, x[:, 0]).predict
    with pytest.raises(NoRuleError, match=r"test_advice.py:\d+: sklearn.svm.SVR.predict has no"):
        interop.to_torch(predict)(torch.tensor(x, requires_grad=True)).sum().backward()
    exported = interop.to_jax(predict, result=jax.ShapeDtypeStruct((6,), np.float32))
    with pytest.raises(Exception, match=r"test_advice.py:\d+: sklearn.svm.SVR.predict has no"):
        jax.jit(jax.grad(lambda x: exported(x).sum()))(x.astype(np.float32))
