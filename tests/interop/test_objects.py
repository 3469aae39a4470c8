"""Objects that functions of PyTorch and JAX are given: as trees that JAX knows, or refused."""

import dataclasses
import functools
import re

import numpy as np
import pytest

from rulescore import Tangent
from zygote_lite import NoRuleError, grad, hessian, jvp, pullback

torch = pytest.importorskip("torch", reason="PyTorch is not here: `nox -s interop` installs it")
jax = pytest.importorskip("jax", reason="JAX is not here: `nox -s interop` installs it")
rules_torch = pytest.importorskip("rules_torch", reason="the plugin for PyTorch is not installed")
rules_jax = pytest.importorskip("rules_jax", reason="the plugin for JAX is not installed")
jnp = jax.numpy

X = np.array([0.5, 1.5])


@functools.partial(jax.tree_util.register_dataclass, data_fields=["b", "a"], meta_fields=["scale"])
@dataclasses.dataclass
class Pair:
    """A tree of JAX; its fields are in another order than its attributes."""

    a: object
    b: object
    scale: float = 3.0


@jax.tree_util.register_pytree_node_class
class Wrapped:
    """A tree of JAX by methods of its own."""

    def __init__(self, inner):
        self.inner, self.count = inner, 3

    def tree_flatten(self):
        return (self.inner,), None

    @classmethod
    def tree_unflatten(cls, _, parts):
        return cls(*parts)


@dataclasses.dataclass
class Unknown:
    a: object
    b: object
    scale: float = 3.0


@jax.tree_util.register_pytree_node_class
class Hidden:
    """A tree of JAX whose part is held by an object that JAX does not know."""

    def __init__(self, inner):
        self.held = Unknown(inner, None)

    def tree_flatten(self):
        return (self.held.a,), None

    @classmethod
    def tree_unflatten(cls, _, parts):
        return cls(*parts)


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def of_pair(p):
    return jnp.sum(p.a * jnp.sin(p.b)) * p.scale


def pair_of(x):
    return Pair(x**3, jnp.sum(jnp.sin(x)))


CALLS = {
    "argument": (
        lambda x: rules_jax.numpy(of_pair)(Pair(x, x * x)), lambda x: of_pair(Pair(x, x * x)),
    ),
    "in part": (lambda x: rules_jax.numpy(of_pair)(Pair(X, x)), lambda x: of_pair(Pair(X, x))),
    "compiled": (
        lambda x: float(jax.jit(of_pair)(Pair(x, x * x))), lambda x: of_pair(Pair(x, x * x)),
    ),
    "in a list": (
        lambda x: rules_jax.numpy(lambda ps: of_pair(ps[0]) * ps[1])([Pair(x, x), 2.0]),
        lambda x: 2.0 * of_pair(Pair(x, x)),
    ),
    "in an object": (
        lambda x: rules_jax.numpy(lambda w: of_pair(w.inner))(Wrapped(Pair(x, 2.0 * x))),
        lambda x: of_pair(Pair(x, 2.0 * x)),
    ),
    "value": (
        lambda x: np.sum(rules_jax.numpy(pair_of)(x).a * X) + rules_jax.numpy(pair_of)(x).b,
        lambda x: jnp.sum(x**3 * X) + jnp.sum(jnp.sin(x)),
    ),
    "value in a tuple": (
        lambda x: np.sum(rules_jax.numpy(lambda x: (Wrapped(x**2), x))(x)[0].inner),
        lambda x: jnp.sum(x**2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_objects_that_jax_knows_have_the_gradient_of_jax(name):
    ours, theirs = CALLS[name]
    for _ in range(3):
        np.testing.assert_allclose(grad(ours)(X), jax.grad(theirs)(X), rtol=1e-12)


@pytest.mark.parametrize("name", ["argument", "in part", "in a list", "in an object"])
def test_second_derivatives_and_tangents_by_objects_that_jax_knows(name):
    ours, theirs = CALLS[name]
    for _ in range(3):
        np.testing.assert_allclose(hessian(ours)(X), jax.hessian(theirs)(X), rtol=1e-10)
        tangent = jvp(ours, (X,), (np.cos(X),))[1]
        np.testing.assert_allclose(tangent, jax.jvp(theirs, (X,), (np.cos(X),))[1], rtol=1e-12)


def test_the_cotangent_of_an_object_is_a_tangent_by_the_names_of_its_attributes():
    given = Pair(X, X * X)
    found, expected = grad(rules_jax.numpy(of_pair))(given), jax.grad(of_pair)(given)
    assert type(found) is Tangent
    np.testing.assert_allclose(found.a, expected.a)
    np.testing.assert_allclose(found.b, expected.b)
    _, back = pullback(rules_jax.numpy(pair_of), X)
    np.testing.assert_allclose(back(Tangent(Pair, b=2.0))[-1], 2.0 * np.cos(X))


def test_an_object_whose_parts_are_no_attributes_is_refused():
    with pytest.raises(NoRuleError, match="Hidden, and the parts that JAX knows"):
        grad(lambda x: rules_jax.numpy(lambda w: jnp.sum(w.held.a))(Hidden(x)))(X)


LINEAR = torch.nn.Linear(2, 1).double()
OF_MODULE = rules_torch.numpy(lambda module, x: module(x).sum())
REFUSED = {
    "an object": (lambda x: rules_jax.numpy(of_pair)(Unknown(x, x)), "a Unknown", "register"),
    "a function": (
        lambda x: rules_jax.numpy(lambda f, y: f(y).sum())(lambda y: y * x, X), "a function",
        "give the arrays that it holds as arguments",
    ),
    "a function, of PyTorch": (
        lambda x: rules_torch.numpy(lambda f, y: f(y).sum())(lambda y: y * torch.tensor(x), X),
        "a function", "give the arrays that it holds as arguments",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_host_cannot_look_into_is_refused(name):
    f, given, told = REFUSED[name]
    for _ in range(3):
        with pytest.raises(NoRuleError, match=f"is given {given}, .*{told}"):
            grad(f)(X)


def of_host(host):
    return host.numpy(lambda y, f: f(y).sum())


@pytest.mark.parametrize(
    "f",
    [
        lambda x: of_host(rules_jax)(X, f=lambda y: y * x),
        lambda x: of_host(rules_torch)(X, f=lambda y: y * torch.tensor(x)),
        lambda x: of_host(rules_torch)(x, f=lambda y: y * torch.tensor(x)),
    ],
    ids=["JAX", "PyTorch", "beside an argument"],
)
def test_a_function_that_is_given_by_name_is_an_option(f):
    for _ in range(3):
        with pytest.raises(NoRuleError, match="takes `f` as an option"):
            grad(f)(X)


@pytest.mark.parametrize(
    ("host", "sin"), [(rules_jax, jnp.sin), (rules_torch, torch.sin)], ids=["JAX", "PyTorch"]
)
def test_a_function_that_holds_constants_may_be_an_option(host, sin):
    scale = 2.5
    slope = grad(lambda x: of_host(host)(x, f=lambda y: sin(y) * scale))(X)
    np.testing.assert_allclose(slope, np.cos(X) * scale)


def test_a_module_that_is_an_argument_is_refused_and_one_that_is_called_is_not():
    for _ in range(3):
        for slope in (
            lambda: grad(OF_MODULE)(LINEAR, X),
            lambda: grad(lambda m: np.sum(grad(lambda x: OF_MODULE(m, x))(X)))(LINEAR),
        ):
            with pytest.raises(NoRuleError, match=re.escape("`rules_torch.numpy(module)(x)`")):
                slope()
        weight = LINEAR.weight.detach().numpy()[0]
        np.testing.assert_allclose(grad(lambda x: OF_MODULE(LINEAR, x))(X), weight)
    np.testing.assert_allclose(
        grad(lambda m: np.sum(rules_torch.numpy(m)(X)))(LINEAR).weight, X[None]
    )


def test_what_holds_no_numbers_may_stand_beside_an_array():
    class Options:
        def __init__(self):
            self.name, self.axis = "sum", 0

    given = {"f": torch.sin, "kind": torch.float64, "options": Options(), "plain": of_pair}

    def of_torch(d):
        return d["f"](d["x"].to(d["kind"])).sum(d["options"].axis)

    slope = grad(lambda x: rules_torch.numpy(of_torch)({**given, "x": x}))
    np.testing.assert_allclose(slope(X), np.cos(X))


CONSTANTS = Unknown(np.array([2.0, 3.0]), None)
OF_OBJECT = {
    "JAX": rules_jax.numpy(lambda held, x: jnp.sum(jnp.asarray(held.a) * x**2)),
    "PyTorch": rules_torch.numpy(lambda held, x: torch.sum(torch.as_tensor(held.a) * x**2)),
}


@pytest.mark.parametrize("host", OF_OBJECT)
def test_an_object_of_constants_beside_what_is_differentiated(host):
    f = OF_OBJECT[host]

    def put_later(x):
        held = Unknown(np.ones(2), None)
        y = f(held, x)
        held.a = x
        return y + np.sum(held.a)

    def put_before(x):
        held = Unknown(np.ones(2), None)
        held.a = 2.0 * x
        return f(held, x)

    for _ in range(3):
        np.testing.assert_allclose(grad(lambda x: f(CONSTANTS, x))(X), [2.0, 9.0])
        np.testing.assert_allclose(grad(lambda x: f(Unknown(np.ones(2), None), x))(X), 2 * X)
        np.testing.assert_allclose(grad(put_later)(X), 2 * X + 1)
        for active in (put_before, lambda x: f(Unknown(x, None), x)):
            with pytest.raises(NoRuleError, match="is given a Unknown"):
                grad(active)(X)
    np.testing.assert_allclose(hessian(lambda x: f(CONSTANTS, x))(X), np.diag([4.0, 6.0]))


def test_tangents_by_a_module():
    net = torch.nn.Linear(2, 1).double()
    module = rules_torch.numpy(net)
    weight = net.weight.detach().numpy()
    direction = Tangent(type(net), weight=np.array([[0.5, -2.0]]), bias=np.array([0.25]))
    want = 3 * (weight @ X + net.bias.detach().numpy()) ** 2 * (np.array([0.5, -2.0]) @ X + 0.25)

    def of_net(net):
        return np.sum(rules_torch.numpy(net)(X) ** 3)

    def of_module(module):
        return np.sum(module(X) ** 3)

    np.testing.assert_allclose(jvp(of_net, (net,), (direction,))[1], want)
    held = Tangent(type(module), f=direction)
    np.testing.assert_allclose(jvp(of_module, (module,), (held,))[1], want)
    assert jvp(of_net, (net,), (None,))[1] == 0.0
    for f, x, v in ((of_net, net, 1.0), (of_module, module, np.ones(2))):
        with pytest.raises(TypeError, match=r"give one of the form of its gradient \[ZL031\]"):
            jvp(f, (x,), (v,))
    with pytest.raises(TypeError, match=r"has a Tangent for its gradient.* \[ZL031\]"):
        jvp(lambda held: of_module(held[0]), ([module],), ([1.0],))
