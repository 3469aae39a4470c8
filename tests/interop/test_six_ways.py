"""One rule, six users, equal gradients: zygote_lite, `Value`, PyTorch, JAX, autograd and dask."""

import math

import numpy as np
import pytest

from rulescore import RuleSet, rrule
from rulescore.interop import to_autograd, to_jax, to_torch
from zygote_lite import gradient
from zygote_lite.value import Value, apply

torch = pytest.importorskip("torch", reason="PyTorch is not here: `nox -s interop` installs it")
jax = pytest.importorskip("jax", reason="JAX is not here: `nox -s interop` installs it")
autograd = pytest.importorskip("autograd", reason="autograd is not here: `nox -s interop`")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.filterwarnings("default")
jax.config.update("jax_enable_x64", True)
rule = RuleSet("six_ways")


def softsign(x):
    return x / (1.0 + abs(x))


def dose(x, k):
    return x**2 / (k + x**2)


rule.scalar(softsign)(lambda x: 1.0 / (1.0 + abs(x)) ** 2)
rule.scalar(dose)(lambda x, k: (2 * x * k / (k + x**2) ** 2, -(x**2) / (k + x**2) ** 2))


@pytest.fixture(autouse=True)
def registered():
    rule.register()
    yield
    rule.unregister()


CALLS = [
    (softsign, (0.7,)),
    (dose, (1.3, 0.6)),
    (math.sin, (0.4,)),
    (np.exp, (0.3,)),
    (np.hypot, (0.3, 0.4)),
]


def by_zygote(f, xs):
    return gradient(f, *xs)


def by_value(f, xs):
    given = [Value(x) for x in xs]
    apply(f, *given).backward()
    return [x.grad for x in given]


def by_torch(f, xs):
    given = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in xs]
    to_torch(f)(*given).backward()
    return [float(x.grad) for x in given]


def by_jax(f, xs):
    exported = to_jax(f)
    exported(*map(jax.numpy.float64, xs))  # so that the shapes are known
    return jax.jit(jax.grad(exported, argnums=tuple(range(len(xs)))))(*xs)


def by_autograd(f, xs):
    return autograd.grad(to_autograd(f), argnum=list(range(len(xs))))(*xs)


def by_dask(f, xs):
    given = [da.from_array(np.full(4, x), chunks=2) for x in xs]
    y, back = rrule(f, *given)
    return [float(dx.compute()[0]) for dx in back(da.ones_like(y))[1:]]


USERS = {
    "zygote_lite": by_zygote,
    "Value": by_value,
    "PyTorch": by_torch,
    "JAX": by_jax,
    "autograd": by_autograd,
    "dask": by_dask,
}


@pytest.mark.parametrize(("f", "xs"), CALLS, ids=[f.__name__ for f, _ in CALLS])
def test_one_rule_six_users(f, xs, capsys):
    found = {
        name: [float(x) for x in user(f, xs)]
        for name, user in USERS.items()
        if name != "dask" or f is not math.sin  # which is for one number
    }
    step = 1e-6
    want = []
    for i in range(len(xs)):
        up, down = ([x + s * (i == j) for j, x in enumerate(xs)] for s in (step, -step))
        want.append((f(*up) - f(*down)) / (2 * step))
    for name, dxs in found.items():
        assert dxs == pytest.approx(want, rel=1e-8), name
        assert dxs == pytest.approx(found["zygote_lite"], rel=1e-15), name
    assert len(found) >= 5
