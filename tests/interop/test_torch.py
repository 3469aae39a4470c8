"""Exported rules and programs as functions of PyTorch: its own checks, and what may go wrong."""

import contextlib
import copy
import functools
import importlib
import pickle

import numpy as np
import pytest
import scipy.special
import scipy.stats

from rulescore import RuleError, rrule
from rulescore._naming import name_of
from rulescore.interop import to_torch
from tests.interop.choose import PLUGINS, SLOW, beside_kinks, examples_of, is_real
from tests.interop.programs import PROGRAMS, heat
from zygote_lite import DifferentiationError, NoRuleError, interop, pullback, value_and_grad

torch = pytest.importorskip("torch", reason="PyTorch is not here: `nox -s interop` installs it")
pytestmark = pytest.mark.filterwarnings("default")

RULES = [(name, *call) for name in PLUGINS for call in examples_of(name)]
NAMES = [f"{name}:{name_of(f)}" for name, f, _, _ in RULES]
EXPORTED = {f: interop.to_torch(f) for f, _ in PROGRAMS}


def tensor(x, requires_grad=True):
    if not is_real(x):
        return x
    return torch.tensor(np.array(x), dtype=torch.float64, requires_grad=requires_grad)


def test_there_are_30_rules_of_each_plugin_and_10_programs():
    assert min(len(examples_of(name)) for name in PLUGINS) >= 30
    assert len(PROGRAMS) >= 10


@pytest.mark.parametrize(("plugin", "f", "xs", "options"), RULES, ids=NAMES)
def test_gradcheck_of_rules(plugin, f, xs, options):
    exported, again = to_torch(f), interop.to_torch(f)
    ts = [tensor(x) for x in xs]
    assert torch.autograd.gradcheck(lambda *a: exported(*a, **options), ts)
    if name_of(f) not in SLOW:
        ts = [tensor(x) for x in beside_kinks(f, xs)]
        with contextlib.suppress(NoRuleError):  # the code of a rule may be refused by name
            # the first pass is recorded and the last ones are not: they round differently
            assert torch.autograd.gradgradcheck(
                lambda *a: again(*a, **options), ts, fast_mode=True, nondet_tol=1e-12
            )


@pytest.mark.parametrize(("plugin", "f", "xs", "options"), RULES, ids=NAMES)
def test_rules_in_a_training_loop(plugin, f, xs, options):
    """Three steps of PyTorch's optimizer are those of gradient descent by the rule alone."""
    exported = to_torch(f)
    ts = [tensor(x) for x in xs]
    leaves = [t for t in ts if isinstance(t, torch.Tensor)]
    optimizer = torch.optim.SGD(leaves, lr=1e-3)
    own = [np.array(x) if is_real(x) else x for x in xs]
    for _ in range(3):
        optimizer.zero_grad()
        exported(*ts, **options).sum().backward()
        optimizer.step()
        given = [x[()] if is_real_array(x) and not x.ndim else x for x in own]
        y, back = rrule(f, *given, **options)
        dxs = back(np.ones(np.shape(y)) if np.ndim(y) else 1.0)[1:]
        own = [
            x - 1e-3 * (0.0 if dx is None else dx) if is_real_array(x) else x
            for x, dx in zip(own, dxs, strict=True)
        ]
    for t, x in zip(ts, own, strict=True):
        if isinstance(t, torch.Tensor):
            np.testing.assert_allclose(t.detach().numpy(), x, rtol=1e-12, atol=1e-14)


def is_real_array(x):
    return isinstance(x, np.ndarray) or isinstance(x, float)


@pytest.mark.parametrize(("f", "xs"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_gradcheck_of_programs(f, xs):
    ts = [tensor(x) for x in xs]
    for _ in range(3):  # recorded, and transformed
        assert torch.autograd.gradcheck(EXPORTED[f], ts)
    assert torch.autograd.gradgradcheck(EXPORTED[f], ts)


@pytest.mark.parametrize(("f", "xs"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_programs_in_a_training_loop(f, xs):
    ts = [tensor(x) for x in xs]
    optimizer = torch.optim.SGD(ts, lr=1e-3)
    own = list(xs)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = (EXPORTED[f](*ts) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
        ours, dxs = value_and_grad(lambda *a: np.sum(f(*a) ** 2), (0, 1))(*own)
        assert float(loss) == pytest.approx(float(ours), rel=1e-12)
        own = [x - 1e-3 * dx for x, dx in zip(own, dxs, strict=True)]
    assert losses[-1] < losses[0]


# -- what may go wrong -----------------------------------------------------------------------------


def test_a_layer_of_a_network():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(3, 6, dtype=torch.float64)
            self.k = torch.nn.Parameter(torch.tensor(0.1, dtype=torch.float64))
            self.heat = interop.to_torch(heat)

        def forward(self, x):
            return self.heat(self.inner(x), self.k)

    torch.manual_seed(0)
    net, x = Net(), torch.ones(3, dtype=torch.float64)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    first = None
    for _ in range(30):
        optimizer.zero_grad()
        loss = ((net(x) - 0.5) ** 2).sum()
        first = first or float(loss)
        loss.backward()
        optimizer.step()
    assert net.k.grad is not None
    assert float(loss) < first / 100
    assert torch.equal(copy.deepcopy(net)(x), net(x))


def test_captured_tensors_do_not_lose_their_gradient():
    scale, x = torch.ones(3, requires_grad=True), torch.arange(3.0, requires_grad=True)
    scaled = interop.to_torch(lambda x: x * scale.numpy())
    for call in (scaled, torch.func.jacrev(scaled)):
        with pytest.raises(RuntimeError, match="requires grad"):
            call(x)
    with torch.no_grad():  # as in PyTorch
        assert torch.equal(scaled(x), x)


@pytest.mark.filterwarnings("ignore")
def test_compiled_networks_call_what_is_exported():
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.heat = torch.nn.Linear(4, 4).double(), interop.to_torch(heat)

        def forward(self, x):
            return 3 * self.heat(self.linear(x), torch.tensor(0.1, dtype=torch.float64)).sum()

    network, x = Network(), torch.linspace(0, 1, 4, dtype=torch.float64)
    found = []
    for f in (network, torch.compile(network, backend="eager")):
        network.zero_grad()
        f(x).backward()
        found.append(network.linear.weight.grad.clone())
    torch.testing.assert_close(*found)


def test_what_is_overwritten_is_an_error():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    exponential = to_torch(np.exp)
    y = exponential(x)
    y.mul_(2.0)  # the rule has the output among what it saved: a copy
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.e * np.ones(3))
    data = torch.ones(3, dtype=torch.float64)
    y = to_torch(np.multiply)(x, data)
    data.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_nothing_shares_memory_by_accident():
    x = torch.arange(4.0, dtype=torch.float64, requires_grad=True)
    for f in (lambda a: a, lambda a: a[::-1], lambda a: a.reshape(2, 2), lambda a: [a, a]):
        y = interop.to_torch(f)(x)
        each = y if isinstance(y, list) else [y]
        with torch.no_grad():
            for part in each:
                part.add_(1.0)
        assert x.tolist() == [0.0, 1.0, 2.0, 3.0]
        if len(each) == 2:
            assert each[0].tolist() == [1.0, 2.0, 3.0, 4.0]
    a, b = (torch.ones(2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    total = to_torch(np.add)
    for _ in range(2):  # gradients are added up in place
        total(a, b).sum().backward()
    a.grad.mul_(5.0)
    assert b.grad.tolist() == [2.0, 2.0]


def test_a_program_that_writes_into_its_argument():
    def doubled(x):
        x *= 2.0
        return x * x

    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(DifferentiationError, match="write into a copy"):
        interop.to_torch(doubled)(x)
    y = interop.to_torch(doubled, copy=True)(x)
    y.sum().backward()
    assert x.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [8.0, 8.0]


def test_dtypes():
    for dtype in (torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128):
        x = torch.ones(2, dtype=dtype, requires_grad=True)
        y = to_torch(np.multiply)(x, x)
        assert y.dtype == dtype
        y.abs().sum().backward()
        assert x.grad.dtype == dtype
    number = interop.to_torch(lambda x: 2.0 * float(x))
    x = torch.tensor(1.0, requires_grad=True)
    assert number(x).dtype == torch.float32
    with pytest.raises(TypeError, match=r"bfloat16 cannot be an array of NumPy"):
        to_torch(np.sin)(torch.ones(2, dtype=torch.bfloat16))
    with pytest.raises(TypeError, match=r"sparse_coo cannot be an array.*to_dense"):
        to_torch(np.sin)(torch.eye(2).to_sparse())
    with pytest.raises(TypeError, match=r"device `meta` has no numbers: .* \[RC017"):
        to_torch(np.sin)(torch.ones(2, device="meta", requires_grad=True))
    integers = torch.arange(3)
    assert to_torch(np.add)(integers, integers).tolist() == [0, 2, 4]


def test_complex_gradients_are_those_of_torch():
    z = torch.tensor([0.3 + 0.4j, -1.0 + 0.2j], dtype=torch.complex128, requires_grad=True)
    for f, own in ((np.exp, torch.exp), (np.conj, torch.conj_physical), (np.abs, torch.abs)):
        found, want = (
            torch.autograd.grad((g(z) * (1 - 2j)).abs().sum(), z)[0] for g in (to_torch(f), own)
        )
        torch.testing.assert_close(found, want)
    z = z.detach().conj().requires_grad_()  # which is a view with a bit
    assert torch.autograd.gradcheck(to_torch(np.exp), z)


def test_views_and_strides():
    base = torch.arange(24.0, dtype=torch.float64).reshape(4, 6) / 10
    w = base.t()[::2, 1:].requires_grad_()
    x = torch.ones(3, dtype=torch.float64).expand(3)
    assert torch.autograd.gradcheck(to_torch(np.matmul), (w, x.clone().requires_grad_()))
    y = to_torch(np.matmul)(w, x)
    torch.testing.assert_close(y, w @ x)
    empty = torch.ones((0, 3), dtype=torch.float64, requires_grad=True)
    to_torch(np.sin)(empty).sum().backward()
    assert empty.grad.shape == (0, 3)


def test_only_what_is_asked_for():
    asked = []

    def f(w, x):
        return w * x

    class Noting(type(interop.BY_ENGINE)):
        def pull(self, f, xs, options, needed):
            asked.append(tuple(needed))
            return super().pull(f, xs, options, needed)

    exported = to_torch(f, ad=Noting())
    w, x = (torch.ones(2, dtype=torch.float64) for _ in range(2))
    assert not exported(w, x).requires_grad
    assert asked == []
    exported(w.requires_grad_(), x).sum().backward()
    assert asked == [(True, False)]
    assert x.grad is None
    order = torch.tensor(1.0, dtype=torch.float64)
    y = to_torch(scipy.special.jv)(order, w)  # the derivative by the order is refused
    y.sum().backward()
    with pytest.raises(RuleError, match="has no derivative by"):
        to_torch(scipy.special.jv)(order.requires_grad_(), w).sum().backward()


def test_trees_keywords_and_several_values():
    def model(parameters, x, *, scale=1.0):
        h = parameters["w"] @ x * scale
        return {"h": h, "all": [h * 2, (x[0], 3, None, "text")]}

    exported = interop.to_torch(model)
    w = tensor(np.arange(6.0).reshape(2, 3) / 7)
    x, scale = tensor(np.array([0.1, 0.2, 0.3])), tensor(2.0)

    def flat(w, x, scale):
        found = exported({"w": w, "other": 1}, x, scale=scale)
        assert found["all"][1][1:] == (3, None, "text")
        return found["h"], found["all"][0], found["all"][1][0]

    assert torch.autograd.gradcheck(flat, (w, x, scale))
    assert torch.autograd.gradgradcheck(flat, (w, x, scale))
    assert torch.autograd.gradcheck(lambda x: flat(w, x, scale)[2], x)  # one of several
    with pytest.raises(TypeError, match="exported function returns arrays"):
        interop.to_torch(lambda x: {x[0]})(x)
    with pytest.raises(TypeError, match="the option `initial`"):
        to_torch(np.sum)(x, initial=scale)


def test_options():
    x = tensor(np.arange(6.0).reshape(2, 3))
    assert torch.autograd.gradcheck(lambda x: to_torch(np.sum)(x, axis=0), x)
    with pytest.raises(RuleError, match="nobody has a rule"):
        to_torch(np.sin)(x, where=False)
    with pytest.raises(RuleError, match=r"nobody has a rule for .*<lambda>"):
        to_torch(lambda x: x)(x)


def test_second_derivatives_need_an_ad():
    x = tensor(np.array([0.3, 0.4]))
    (dx,) = torch.autograd.grad(to_torch(np.sin)(x).sum(), x, create_graph=True)
    torch.testing.assert_close(dx, torch.cos(x))
    with pytest.raises(RuleError, match="give `ad=`"):
        dx.sum().backward()
    (dx,) = torch.autograd.grad(to_torch(np.sin, ad=pullback)(x).sum(), x, create_graph=True)
    dx.sum().backward()
    torch.testing.assert_close(x.grad, -torch.sin(x.detach()))


def test_what_draws_random_numbers_has_first_derivatives_by_its_draw():
    """Second ones, and tangents, would be by another draw: the function would be run again."""
    rng = np.random.default_rng(0)
    f = interop.to_torch(lambda x: rng.normal() * x**3)
    x = tensor(np.array([0.5, 1.0]))
    y = f(x)
    (dx,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    torch.testing.assert_close(dx, 3 * y / x)
    func, plain = torch.func, x.detach()
    dx, y = func.grad_and_value(lambda x: f(x).sum())(plain)
    torch.testing.assert_close(dx.sum(), y * 3 * (plain**2).sum() / (plain**3).sum())

    def twice():
        (dx,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return torch.autograd.grad(dx.sum(), x)

    for run in (
        twice,
        lambda: func.jvp(f, (plain,), (plain,)),
        lambda: func.hessian(lambda x: f(x).sum())(plain),
        lambda: func.vmap(func.grad(f))(plain),
    ):
        with pytest.raises((TypeError, RuntimeError), match="has effects: it reads a Generator"):
            run()


DRAWS = {
    "rand": lambda x: x**2 * float(torch.rand(())),
    "randperm": lambda x: x**2 * float(torch.randperm(99)[0]),
    "normal": lambda x: x**2 * float(torch.normal(0.0, 1.0, (1,))),
    "uniform_": lambda x: x**2 * float(torch.empty(()).uniform_()),
    "dropout": lambda x: x**2 * float(torch.nn.functional.dropout(torch.ones(9)).sum()),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_of_pytorch_are_not_repeated(name):
    """A value and its gradient were of different draws."""
    f, func, x = interop.to_torch(DRAWS[name]), torch.func, torch.ones(3)
    for run in (
        lambda: func.vmap(func.grad(lambda x: f(x).sum()))(torch.ones(2, 3)),
        lambda: func.jvp(f, (x,), (x,)),
        lambda: func.hessian(lambda x: f(x).sum())(x),
    ):
        with pytest.raises(TypeError, match=r"has effects: it (calls `torch|draws random)"):
            run()
    quiet = interop.to_torch(lambda x: x**2 * float(torch.ones(2).sum()))
    torch.testing.assert_close(func.jvp(quiet, (x,), (x,))[1], 4.0 * x)


CAPTURED = {"scale": np.ones(3)}


def by_captured(x):
    return x * CAPTURED["scale"]


def printed(x):
    print("seen")
    return by_captured(x)


@pytest.mark.parametrize("f", [by_captured, printed])
def test_a_captured_array_that_is_overwritten_before_backward_is_refused(f, capsys):
    """As PyTorch refuses it for tensors; it was the gradient by the new contents."""
    exported, x, scale = interop.to_torch(f), tensor(np.ones(3)), CAPTURED["scale"]
    for _ in range(4):
        scale[:] = 2.0
        y = exported(x).sum()
        assert torch.autograd.grad(y, x, retain_graph=True)[0].tolist() == [2.0] * 3
        scale[1] = 5.0
        with pytest.raises(TypeError, match="has been overwritten since it was called"):
            y.backward()
        scale[1] = 2.0
        assert torch.autograd.grad(y, x)[0].tolist() == [2.0] * 3


class Level:
    of_class = np.ones(3)

    def __init__(self):
        self.own = np.ones(3)

    def by_method(self, x):
        return x * self.own

    def __call__(self, x):
        return x * self.own


class Raised(Level):
    def by_class(self, x):
        return x * self.of_class


def held_in():
    """Return functions, and the array that each holds without capturing it."""
    level, array = Level(), np.ones(3)
    return {
        "method": (level.by_method, level.own),
        "object": (level, level.own),
        "class": (Raised().by_class, Level.of_class),
        "partial": (functools.partial(lambda a, x: x * a, array), array),
        "operator": (array.__mul__, array),
    }


@pytest.mark.parametrize("export", [interop.to_torch, lambda f: to_torch(f, ad=pullback)])
@pytest.mark.parametrize("holder", held_in())
def test_an_array_that_a_function_holds_is_refused_likewise(holder, export):
    """It was the gradient by the new contents, without a word."""
    f, array = held_in()[holder]
    exported, x = export(f), tensor(np.ones(3))
    for _ in range(4):
        array[:] = 2.0
        y = exported(x).sum()
        assert torch.autograd.grad(y, x, retain_graph=True)[0].tolist() == [2.0] * 3
        array[1] = 5.0
        with pytest.raises(TypeError, match="has been overwritten since it was called"):
            y.backward()


@pytest.mark.parametrize("export", [interop.to_torch, lambda f: to_torch(f, ad=pullback)])
def test_captured_arrays_that_were_rebound_are_looked_at(export):
    """The new one, in every call; an array that is only rebound leaves the gradient right."""
    exported, x = export(by_captured), tensor(np.ones(3))
    try:
        for number in (2.0, 3.0, 4.0, 5.0):
            CAPTURED["scale"] = scale = np.full(3, number)
            y = exported(x).sum()
            CAPTURED["scale"] = np.zeros(3)
            assert torch.autograd.grad(y, x, retain_graph=True)[0].tolist() == [number] * 3
            scale[1] = 7.0
            with pytest.raises(TypeError, match="has been overwritten since it was called"):
                y.backward()
    finally:
        CAPTURED["scale"] = np.ones(3)


BOUND = np.ones(3)


@pytest.mark.parametrize("export", [interop.to_torch, lambda f: to_torch(f, ad=pullback)])
def test_globals_that_were_rebound_are_looked_at(export, monkeypatch):
    """They were those of the first call: the gradient was by the new contents."""
    exported, x = export(lambda x: x * BOUND), tensor(np.ones(3))
    for number in (2.0, 3.0, 4.0, 5.0):
        monkeypatch.setitem(globals(), "BOUND", np.full(3, number))
        y = exported(x).sum()
        BOUND[1] = 7.0
        with pytest.raises(TypeError, match="has been overwritten since it was called"):
            y.backward()


COUNT, SCALE = [0], 2.0


def counting(x):
    COUNT[0] += 1
    return COUNT[0] * x**3


def scaled(x):
    return SCALE * x**2


@pytest.mark.parametrize("export", [interop.to_torch, lambda f: to_torch(f, ad=pullback)])
def test_a_second_derivative_is_that_of_the_first_run_or_refused(export, monkeypatch):
    x = tensor(np.array([1.0, 2.0]))
    (dx,) = torch.autograd.grad(export(counting)(x).sum(), x, create_graph=True)
    with pytest.raises(TypeError, match="counting has effects: it changes a variable around it"):
        torch.autograd.grad(dx.sum(), x)
    for _ in range(3):
        (dx,) = torch.autograd.grad(export(scaled)(x).sum(), x, create_graph=True)
        (twice,) = torch.autograd.grad(dx.sum(), x, retain_graph=True)
        assert twice.tolist() == [4.0, 4.0]
    monkeypatch.setitem(globals(), "SCALE", 100.0)
    with pytest.raises(TypeError, match="a variable that it reads has changed"):
        torch.autograd.grad(dx.sum(), x)


def with_one_slope_at_1(x):
    return SCALE * x**2 + (1.0 - SCALE) * (2.0 * x - 1.0)


@pytest.mark.parametrize("export", [interop.to_torch, lambda f: to_torch(f, ad=pullback)])
def test_a_number_that_leaves_the_first_derivative_is_noticed(export, monkeypatch):
    """The second derivative was that with the new number."""
    x = tensor(np.ones(2))
    (dx,) = torch.autograd.grad(export(with_one_slope_at_1)(x).sum(), x, create_graph=True)
    assert dx.tolist() == [2.0, 2.0]
    (twice,) = torch.autograd.grad(dx.sum(), x, retain_graph=True)
    assert twice.tolist() == [2 * SCALE] * 2
    monkeypatch.setitem(globals(), "SCALE", 0.0)
    with pytest.raises(TypeError, match="a variable that it reads has changed"):
        torch.autograd.grad(dx.sum(), x)


def test_a_second_derivative_where_all_cancels_to_rounding():
    a = np.random.default_rng(0).normal(size=(7, 7))
    solve = interop.to_torch(lambda x: np.sum((a @ x - a.sum(1)) ** 2) / 7)
    x = tensor(np.ones(7))
    (dx,) = torch.autograd.grad(solve(x), x, create_graph=True)
    (twice,) = torch.autograd.grad(dx.sum(), x)
    np.testing.assert_allclose(twice, 2 / 7 * (a.T @ a).sum(0), rtol=1e-10)


def test_effects_of_a_call_happen_once():
    seen = []

    def noted(x):
        seen.append(float(x[0]))
        return np.sin(x)

    exported = interop.to_torch(noted)
    x = tensor(np.array([0.5, 1.0]))
    for n in range(1, 4):  # recorded, then transformed
        exported(x).sum().backward()
        assert seen == [0.5] * n
    torch.testing.assert_close(x.grad, 3 * torch.cos(x.detach()))


def test_transforms_of_functions():
    def own(u, k):
        for _ in range(4):
            inner = u[1:-1] + k * (u[2:] - 2 * u[1:-1] + u[:-2])
            u = torch.cat([u[:1], inner, u[-1:]])
        return u

    f = EXPORTED[heat]
    u, k = tensor(PROGRAMS[0][1][0], False), tensor(0.2, False)
    us, ks = torch.stack([u, 2 * u, u - 1]), torch.stack([k, 2 * k, k / 2])
    func = torch.func

    def loss(f):
        return lambda u, k: (f(u, k) ** 2).sum()

    for transform in (
        lambda f: func.grad(loss(f), argnums=(0, 1))(u, k),
        lambda f: func.vmap(f, in_dims=(0, None))(us, k),
        lambda f: func.vmap(f, in_dims=(None, 0), out_dims=1)(u, ks),
        lambda f: func.vmap(func.grad(loss(f)), in_dims=(0, 0))(us, ks),
        lambda f: func.grad(lambda us: func.vmap(loss(f), in_dims=(0, None))(us, k).sum())(us),
        lambda f: func.jacrev(f)(u, k),
        lambda f: func.jacfwd(f, argnums=1)(u, k),
        lambda f: func.jvp(f, (u, k), (us[1], k)),
        lambda f: func.hessian(loss(f))(u, k),
        lambda f: func.jacrev(func.jacrev(loss(f)))(u, k),
        lambda f: func.grad(lambda k: func.grad(loss(f))(u, k).sum())(k),
        lambda f: func.grad(lambda u: func.grad(loss(f), argnums=1)(u, k))(u),
        lambda f: func.jacrev(func.jacfwd(loss(f), argnums=1))(u, k),
    ):
        torch.testing.assert_close(transform(f), transform(own))
    rule = to_torch(np.sin)
    torch.testing.assert_close(func.vmap(func.grad(lambda x: rule(x).sum()))(us), torch.cos(us))
    torch.testing.assert_close(func.jacfwd(rule)(u), torch.diag(torch.cos(u)))


def test_a_whole_module():
    special = to_torch(scipy.special)
    x = tensor(np.array([0.3, 1.4]))
    assert torch.autograd.gradcheck(special.gammaln, x)
    (dx,) = torch.autograd.grad(special.erf(x).sum(), x)
    torch.testing.assert_close(dx, torch.autograd.grad(torch.special.erf(x).sum(), x)[0])
    assert len(dir(special)) > 200
    assert to_torch(np).linalg.inv(torch.eye(2)).tolist() == torch.eye(2).tolist()


def test_distributions_of_a_module():
    normal = interop.to_torch(scipy.stats).norm
    x, scale = tensor(np.array([0.3, -1.4])), tensor(np.array([0.5, 2.0]))
    assert torch.autograd.gradcheck(lambda x, scale: normal.logcdf(x, scale=scale), (x, scale))
    own = torch.distributions.Normal(0.0, scale).log_prob(x)
    for one in (x, scale):
        torch.testing.assert_close(
            *(torch.autograd.grad(y.sum(), one, retain_graph=True)[0]
              for y in (normal.logpdf(x, 0.0, scale), own))
        )  # fmt: skip
    assert {"logpdf", "cdf"} <= {*dir(normal)}
    assert "norm" in dir(interop.to_torch(scipy.stats))
    with pytest.raises(AttributeError, match=r"norm\.logpdf is not exported: .*interop"):
        to_torch(scipy.stats).norm.logpdf(x)


def test_what_is_traced_is_refused():
    """The graph had the value of the call as a constant, and so no gradient."""
    make_fx = importlib.import_module("torch.fx.experimental.proxy_tensor").make_fx

    class Layer(torch.nn.Module):
        def forward(self, x):
            return exported(x) * 2.0

    x = tensor(np.array([0.3, 0.4]))
    for exported in (to_torch(np.exp), interop.to_torch(lambda x: np.exp(x))):
        for trace in (
            lambda: make_fx(Layer())(x.detach()),
            lambda: torch.export.export(Layer(), (x,), strict=False),
            lambda: torch.jit.trace(Layer(), (x,)),
        ):
            with pytest.raises(TypeError, match="hold its value as a constant"):
                trace()
        with torch.utils.flop_counter.FlopCounterMode(display=False):  # which keeps no graph
            assert torch.equal(exported(x), torch.exp(x))


def test_a_tangent_of_a_derivative_by_a_rule_and_an_ad_gets_what_helps():
    """It said to give `ad=`, which was given."""
    x, exponential = torch.rand(2), to_torch(np.exp, ad=pullback)
    for transform in (
        torch.func.hessian,
        lambda f: torch.func.jacrev(torch.func.jacfwd(f)),
        lambda f: torch.func.jacfwd(torch.func.jacfwd(f)),
    ):
        with pytest.raises(RuleError, match=r"of numpy\.exp.*use reverse mode twice"):
            transform(lambda x: exponential(x).sum())(x)
    twice = torch.func.jacrev(torch.func.jacrev(lambda x: exponential(x).sum()))(x)
    torch.testing.assert_close(twice, torch.diag(torch.exp(x)))


def test_exported_functions_are_pickled():
    exported = pickle.loads(pickle.dumps([to_torch(np.sin), interop.to_torch(heat)]))
    x = tensor(np.array([0.3, 0.4, 0.5]))
    assert torch.equal(exported[0](x), torch.sin(x))
    assert torch.equal(exported[1](x, 0.1), EXPORTED[heat](x, 0.1))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_tensors_on_another_device_are_copied():
    x = torch.ones(3, dtype=torch.float64, device="cuda", requires_grad=True)
    y = to_torch(np.sin)(x)
    assert y.device == x.device
    y.sum().backward()
    torch.testing.assert_close(x.grad, torch.cos(x.detach()))
