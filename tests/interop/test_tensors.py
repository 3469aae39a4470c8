"""Functions and methods of PyTorch on tensors, as NumPy code calls them: beside torch.autograd."""

import warnings

import numpy as np
import pytest

from zygote_lite import (
    DifferentiationError,
    NoRuleError,
    checkpoint,
    grad,
    gradient,
    hessian,
    jvp,
    pullback,
)

torch = pytest.importorskip("torch", reason="PyTorch is not here: `nox -s interop` installs it")
rules_torch = pytest.importorskip("rules_torch", reason="the plugin is not installed")
functional, linalg = torch.nn.functional, torch.linalg
X = torch.linspace(0.2, 1.7, 6, dtype=torch.float64).reshape(2, 3)
NET = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()


FOLLOWED = {
    "operators": lambda x: (x * x + 2 * x - 1 / x + x**2 - 2**x + (1 - x) % 0.7 - -x).sum(),
    "products": lambda x: (x @ x.T).sum() * torch.einsum("ij,ij->", x, x),
    "reductions": lambda x: torch.mean(x * x, dim=0).sum() + x.std() * x.sum(1, keepdim=True)[0, 0],
    "shapes": lambda x: (
        x.reshape(3, 2).permute(1, 0).unsqueeze(0).squeeze().flatten().cumsum(0).prod()
        + (x.view(6) * x.mT.T.expand(2, 2, 3)[1].reshape(-1)).sum()
    ),
    "joined": lambda x: (torch.cat([x, 2 * x]) ** 2).sum() + torch.stack((x, x)).exp().sum(),
    "parts": lambda x: x[0, 1] * x[:, 1:].mean() + x[x > 1].sum() * x[torch.tensor([0, 0])].sum(),
    "fields": lambda x: torch.sort(x, dim=1).values[0, 2] ** 2 + linalg.svd(x).S.sum(),
    "choices": lambda x: torch.where(x > 1, x * x, x).sum() + torch.clamp(x, min=1.0).prod(),
    "largest": lambda x: x.max() * x.amin(0).sum() + torch.max(x, dim=1)[0].sum(),
    "rows": lambda x: sum((row * r).sum() ** 2 for row, r in zip(x, x * 2)),
    "unpacked": lambda x: (lambda a, b: (a * b).sum())(*x),
    "described": lambda x: x.sum() * len(x) * x.shape[1] * x.size(0) * x.ndim * x.argmax(),
    "branches": lambda x: x.sum() if x.sum() > 0 and bool((x > 0).all()) else x.mean(),
    "functional": lambda x: (
        functional.cross_entropy(x, torch.tensor([0, 1])) + functional.gelu(x).sum()
    ),
    "linalg": lambda x: linalg.slogdet(x @ x.T).logabsdet + linalg.vector_norm(x),
    "complex": lambda x: torch.abs(torch.fft.fft(x)).sum(),
    "modules": lambda x: NET(x).sum(),
}


@pytest.mark.parametrize("f", FOLLOWED.values(), ids=FOLLOWED)
def test_gradients_by_tensors(f):
    t = X.clone().requires_grad_()
    (want,) = torch.autograd.grad(f(t), t)
    for _ in range(3):
        (dx,) = gradient(f, X)
        assert type(dx) is np.ndarray
        np.testing.assert_allclose(dx, want.numpy(), rtol=1e-10, atol=1e-12)
    (dx,) = gradient(lambda x: f(torch.tensor(x)).item(), X.numpy())
    np.testing.assert_allclose(dx, want.numpy(), rtol=1e-10, atol=1e-12)


def test_derivatives_of_arrays_through_tensors():
    """As tensors inside of NumPy code, and back: by `float`, `numpy` and `np.asarray`."""
    x = np.array([0.5, 1.5, 2.0])

    def f(x):
        t = torch.tensor(x)
        s = torch.sin(t)
        return np.sum(s.numpy() * np.asarray(t) ** 2) + float(s[0]) * s.numpy()[1]

    def plain(x):
        return np.sum(np.sin(x) * x**2) + np.sin(x[0]) * np.sin(x[1])

    assert f(x) == pytest.approx(plain(x))
    np.testing.assert_allclose(gradient(f, x)[0], gradient(plain, x)[0], rtol=1e-12)
    np.testing.assert_allclose(hessian(f)(x), hessian(plain)(x), rtol=1e-12)
    twice = hessian(lambda x: float((torch.tensor(x) ** 3).sum(0) * 2))(x)
    np.testing.assert_allclose(twice, np.diag(12 * x), rtol=1e-12)
    v = np.ones(3)
    assert jvp(f, (x,), (v,))[1] == pytest.approx(jvp(plain, (x,), (v,))[1])


def test_precision_and_objects():
    class Model:
        def __init__(self):
            self.w, self.b = X.float(), torch.zeros(2)

    def f(model, x):
        return ((model.w @ x + model.b) ** 2).sum()

    model, x = Model(), torch.ones(3)
    dm, dx = gradient(f, model, x)
    due = 2 * (X @ torch.ones(3).double()).numpy()
    np.testing.assert_allclose(dm.b, due, rtol=1e-6)
    np.testing.assert_allclose(dm.w, np.outer(due, np.ones(3)), rtol=1e-6)
    assert dm.w.dtype == dx.dtype == np.float32


def test_a_tensor_that_changes_before_the_pullback_has_been_copied():
    c, x = torch.ones(3), torch.ones(3)
    _, back = pullback(lambda x: (x * x * c).sum(), x)
    c.mul_(5.0)
    x.mul_(7.0)
    np.testing.assert_array_equal(back(1.0)[1], [2.0, 2.0, 2.0])


def test_a_tensor_that_changes_inside_has_been_copied():
    """PyTorch itself refuses this."""

    def f(x):
        c = torch.ones(2, 3, dtype=torch.float64)
        row = c[0]
        y = x * c
        row.mul_(7.0)
        return (y * c).sum()

    for _ in range(3):
        np.testing.assert_array_equal(gradient(f, X)[0], [[7.0] * 3, [1.0] * 3])


def adds_in_place(x):
    y = x * 1.0
    y += x
    return y.sum()


def sets(x):
    y = torch.zeros(3, dtype=torch.float64)
    y[0] = x[0, 0]
    return y.sum()


def writes_into_the_array(x):
    x.numpy()[0] = 1.0
    return x.sum()


def without_a_graph(x):
    with torch.no_grad():
        return x.sum()


def into_another(x):
    return torch.exp(x, out=torch.zeros(2, 3).double()).sum()


ONES = np.ones((2, 3))
REFUSED = {
    "`+=`": (adds_in_place, r"`\+=`"),
    "mul_": (lambda x: (x * 1).mul_(2).sum(), "mul_"),
    "relu_": (lambda x: torch.relu_(x * 1).sum(), "relu_"),
    "inplace": (lambda x: functional.relu(x * 1, inplace=True).sum(), "with `inplace` writes"),
    "copy_": (lambda x: torch.zeros(2, 3).double().copy_(x).sum(), "copy_"),
    "setitem": (sets, "setitem"),
    "out": (into_another, "with `out` writes into a tensor"),
    "numpy": (writes_into_the_array, "read-only"),
    "detach": (lambda x: x.detach().sum(), "detach"),
    "data": (lambda x: x.data.sum(), "data"),
    "view": (lambda x: x.view(torch.float32).sum(), "`.to"),
    "as_tensor": (lambda x: torch.as_tensor(x).sum(), "as_tensor"),
    "dropout": (lambda x: functional.dropout(x).sum(), "dropout"),
    "batch_norm": (lambda x: functional.batch_norm(x, None, None, training=True).sum(), "norm"),
    "no_grad": (without_a_graph, "no_grad"),
    "an array": (lambda x: (x * ONES).sum(), r"`\*` of \(Tensor, ndarray\)"),
    "a function of NumPy": (lambda x: np.sum(np.exp(x)), "numpy.exp"),
    "bfloat16": (lambda x: x.sum(), "bfloat16"),
}


@pytest.mark.parametrize(("f", "told"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(f, told):
    x = X.bfloat16() if told == "bfloat16" else X.clone()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of np.exp of a tensor
        for _ in range(2):
            with pytest.raises((DifferentiationError, RuntimeError, ValueError), match=told):
                gradient(f, x)
    assert torch.equal(x, X) or told == "bfloat16"


def test_a_module_that_is_differentiated_is_refused():
    with pytest.raises(DifferentiationError, match=r"rules_torch\.numpy\(module\)"):
        gradient(lambda net, x: net(x).sum(), NET, X)


def test_a_tensor_that_is_given_beside_arrays_is_refused():
    """The gradient was `None`, without a word."""
    called = rules_torch.numpy(torch.mul)
    x = np.array([0.3, 0.4])
    assert grad(lambda x: np.sum(called(x, torch.ones(2))))(x).tolist() == [1.0, 1.0]
    for make in (torch.tensor, lambda x: torch.tensor(x) * 2.0):
        for _ in range(3):
            with pytest.raises(NoRuleError, match=r"mul is given a tensor.*`np\.asarray`"):
                grad(lambda x, make=make: np.sum(called(make(x), x)))(x)


def test_a_checkpoint_may_call_a_module_but_not_one_that_draws():
    inner, x = rules_torch.numpy(torch.nn.Linear(2, 2).double()), np.array([0.3, 0.4])

    def loss(run):
        return lambda x: np.sum(run(lambda x: inner(np.sin(x)) ** 2)(x))

    np.testing.assert_allclose(grad(loss(checkpoint))(x), grad(loss(lambda f: f))(x))
    draws = rules_torch.numpy(torch.nn.Dropout(0.5))
    with pytest.raises(DifferentiationError, match="and draws random numbers with PyTorch"):
        grad(lambda x: np.sum(checkpoint(lambda x: draws(x) * x)(x)))(np.ones(100))
