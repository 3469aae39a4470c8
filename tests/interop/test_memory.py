"""Arrays that go to PyTorch and JAX and come back: which share memory, and which are copies."""

import numpy as np
import pytest

from rulescore import rrule
from zygote_lite import DifferentiationError, gradient, hessian

torch = pytest.importorskip("torch", reason="PyTorch is not here: `nox -s interop` installs it")
jax = pytest.importorskip("jax", reason="JAX is not here: `nox -s interop` installs it")
rules_torch = pytest.importorskip("rules_torch", reason="the plugin for PyTorch is not installed")
rules_jax = pytest.importorskip("rules_jax", reason="the plugin for JAX is not installed")
memory = pytest.importorskip("rules_torch.memory")
pytestmark = pytest.mark.filterwarnings("default")
X = np.linspace(-1.0, 1.0, memory._LARGE)


@pytest.fixture(autouse=True)
def in_double_precision():
    with jax.enable_x64(True):
        yield


def network():
    return torch.nn.Sequential(torch.nn.Linear(100, 100), torch.nn.Sigmoid()).double()


class Own(torch.nn.Module):
    """A layer that does what it likes."""

    def forward(self, t):
        return t.mul_(2.0)


def test_what_is_known_to_write_nothing():
    functional = torch.nn.functional
    for f in (torch.sin, torch.special.erf, torch.linalg.inv, functional.relu, network()):
        assert memory.writes_nothing(f)
    hooked = network()
    hooked[0].register_forward_pre_hook(lambda *_: None)
    patched = network()
    patched[1].forward = torch.relu_
    for f in (
        torch.relu_, functional.relu_, torch.Tensor.mul_, functional.instance_norm, abs,
        lambda t: t, Own(), torch.nn.Sequential(network(), Own()), torch.nn.ReLU(inplace=True),
        hooked, patched, torch.compile(network()),
    ):  # fmt: skip
        assert not memory.writes_nothing(f)


def test_the_function_is_given_the_memory_of_the_array():
    seen = []

    def f(t):
        seen.append(t.data_ptr() == X.ctypes.data)
        return torch.sin(t)

    shared, safe = rules_torch.numpy(f, copy=False), rules_torch.numpy(f)
    for call in (shared, safe):
        call(X)
        np.testing.assert_allclose(rrule(call, X)[1](X)[1], X * np.cos(X))
    assert seen == [True, True, False, False]


def test_functions_of_torch_are_given_it_by_default(monkeypatch):
    made = []
    monkeypatch.setattr(torch.Tensor, "clone", lambda t: made.append(t) or t * 1)
    for f in (torch.sin, network()):
        rrule(rules_torch.numpy(f), X.reshape(-1, 100))
    assert made == []
    functional = torch.nn.functional
    rrule(rules_torch.numpy(functional.relu), X, True)  # which is in place
    rrule(rules_torch.numpy(functional.relu), X, inplace=False)
    assert len(made) == 2


def test_a_write_into_shared_memory_raises():
    def f(t):
        with torch.no_grad():
            t[0] = 3.0
        return t * 1.0

    for f in (f, Own()):
        x = X.copy()
        with pytest.raises(RuntimeError, match="copy=True"):
            rules_torch.numpy(f, copy=False)(x)
    x = X.copy()
    with pytest.raises(RuntimeError, match=r"copy=True.*\[RC019\]"):
        rrule(rules_torch.numpy(Own(), copy=False), x)  # PyTorch itself refuses it before
    assert np.array_equal(x, X)


def is_taken(y):
    return isinstance(y.base, memory.Memory)


def test_memory_that_nobody_else_holds_is_taken():
    y, back = rrule(rules_torch.numpy(torch.sin), X)
    assert is_taken(y)
    assert y.flags.writeable
    dx = back(np.ones(X.shape))[1]
    assert is_taken(dx)
    y[:] = dx[:] = 0.0
    np.testing.assert_allclose(back(np.ones(X.shape))[1], np.cos(X))


KEPT = []


def kept(t, what):
    y = t * 2.0
    KEPT.append(what(y))
    return y


HOLDERS = {
    "itself": lambda y: y,
    "a view": lambda y: y[3:],
    "an array": lambda y: y.detach().numpy(),
    "its memory": lambda y: y.untyped_storage(),
    "a graph": lambda y: y * torch.ones(1, requires_grad=True),
    "a capsule": lambda y: y.detach().__dlpack__(),
    "a method": lambda y: y.size,
}


@pytest.mark.parametrize("what", HOLDERS.values(), ids=HOLDERS)
def test_memory_that_is_kept_is_not_taken(what):
    f = rules_torch.numpy(lambda t: kept(t, what))
    assert not is_taken(f(X))
    assert not is_taken(rrule(f, X)[0])
    KEPT.clear()
    assert is_taken(rules_torch.numpy(lambda t: t * 2.0)(X))


@pytest.mark.parametrize(
    "f", [torch.nn.Identity(), torch.nn.Dropout().eval(), torch.squeeze, torch.real, torch.positive]
)
def test_a_value_that_is_an_argument_is_a_copy(f):
    f = rules_torch.numpy(f)
    for call in (f, lambda x: rrule(f, x)[0]):
        x = X.copy()
        call(x)[:] = 7.0
        assert np.array_equal(x, X)


def test_values_that_share_memory_are_copies():
    f = rules_torch.numpy(lambda t: [t * 2, (t * 3).expand(2, -1), *[t * 4] * 2])
    y, back = rrule(f, X)
    for part in y:
        part[...] = 0.0
    assert back([np.ones(part.shape) for part in y])[1][0] == 2 + 2 * 3 + 2 * 4
    _, back = rrule(rules_torch.numpy(torch.add), X, X)
    da, db = back(np.ones(X.shape))[1:]
    da[:] = 5.0
    assert np.array_equal(db, np.ones(X.shape))


@pytest.mark.parametrize(("f", "own"), [(torch.sin, np.sin), (torch.exp, np.exp)])
def test_values_that_are_written_into_have_gradients(f, own):
    """The second is kept by PyTorch for the backward pass."""

    def loss(f, x):
        y = f(x)
        y[:5] = 2.0
        y[5:] *= x[5:]
        return np.sum(y * y)

    want = gradient(lambda x: loss(own, x), X)[0]
    for _ in range(3):
        found = gradient(lambda x: loss(rules_torch.numpy(f), x), X)[0]
        np.testing.assert_allclose(found, want, rtol=1e-10)


def test_a_buffer_that_is_filled_again():
    model, data = network(), np.linspace(-1, 1, 30_000).reshape(3, 100, 100)

    def loss(model):
        buffer, total = np.empty((100, 100)), 0.0
        for part in data:
            buffer[:] = part
            total += np.sum(rules_torch.numpy(model)(buffer) ** 2)
        return total

    sum((model(torch.tensor(part)) ** 2).sum() for part in data).backward()
    for _ in range(3):
        (found,) = gradient(loss, model)
        for name, p in model.named_parameters():
            np.testing.assert_allclose(found[name], p.grad, rtol=1e-10)


def aligned(x):
    """Return a copy that begins at a multiple of 64 bytes, as memory of JAX does."""
    room = np.empty(x.size + 8)
    start = -room.ctypes.data % 64 // 8
    y = room[start : start + x.size]
    y[...] = x
    return y


def test_jax_reads_aligned_memory_and_numpy_that_of_its_values():
    """In both directions: the same addresses, and nobody writes through them."""
    seen, made = [], []

    def f(x):
        if not isinstance(x, jax.core.Tracer):
            seen.append(x.unsafe_buffer_pointer())
        y = jax.numpy.sin(x)
        made.append(y)
        return y

    x, shared = aligned(X), rules_jax.numpy(f, copy=False)
    y = shared(x)
    assert seen == [x.ctypes.data]
    assert y.ctypes.data == made[-1].unsafe_buffer_pointer()
    shared(y)  # what JAX gave goes back without a copy, too
    assert seen[-1] == y.ctypes.data
    rules_jax.numpy(f)(x)
    assert seen[-1] != x.ctypes.data
    jumps = rules_jax.numpy(jax.jit(lambda x: 2.0 * x, donate_argnums=0), copy=False)
    np.testing.assert_array_equal(jumps(x), 2.0 * X)
    np.testing.assert_array_equal(x, X)  # a buffer that may be reused is not this one


@pytest.mark.parametrize("through", [jax.numpy.asarray, jax.numpy.ravel])
def test_values_in_the_memory_of_arguments_are_copies(through):
    for f in (through, jax.jit(through), lambda x: (through(x), 2.0 * x)):
        call = rules_jax.numpy(f, copy=False)
        for run in (call, lambda x: rrule(call, x)[0]):
            x = aligned(X)
            y = run(x)
            x[:] = 0.0
            np.testing.assert_array_equal(np.ravel(y[0] if isinstance(y, tuple) else y), X)


def test_gradients_through_memory_that_jax_reads():
    """Also where the array is written into later, which the reverse pass takes back."""

    def loss(sin, x):
        y = np.sum(sin(x) ** 2)
        x[3:] = 0.0
        return y + np.sum(sin(x) * x)

    shared = rules_jax.numpy(jax.numpy.sin, copy=False)
    want = gradient(lambda x: loss(np.sin, x), X.copy())[0]
    for _ in range(3):
        found = gradient(lambda x: loss(shared, x), aligned(X))[0]
        np.testing.assert_allclose(found, want, rtol=1e-12)


def test_views_of_what_jax_holds_are_read_only():
    f = rules_jax.numpy(jax.numpy.sin, copy=False)
    y, back = rrule(f, X)
    for value in (y, f(X)):
        assert value.base is not None
        with pytest.raises(ValueError, match="read-only"):
            value[0] = 1.0
    np.testing.assert_allclose(back(y)[1], np.cos(X) * np.sin(X))

    def written(x, copied):
        y = copied(f(x))
        y[0] = 1.0
        return np.sum(y)

    with pytest.raises(DifferentiationError, match="write into a copy"):
        gradient(lambda x: written(x, lambda y: y), X)
    assert gradient(lambda x: written(x, np.array), X)[0][0] == 0.0
    x = X.copy()
    y = rules_jax.numpy(jax.jit(lambda x: x), copy=False)(x)
    x[:] = 0.0
    assert np.array_equal(y, X)


BUFFER = np.zeros(3)
SHARING = torch.from_numpy(BUFFER)
READERS = {
    "captured": lambda x: np.sum(rules_torch.numpy(lambda s: s * SHARING)(x)),
    "argument": lambda x: np.sum(rules_torch.numpy(torch.mul)(x, SHARING)),
    "numpy": lambda x: np.sum(SHARING.numpy() * x),
    "asarray": lambda x: np.sum(np.asarray(SHARING) * x),
    "method": lambda x: float((SHARING * 2.0).sum()),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_tensor_over_memory_that_is_written_is_refused(read):
    """The gradient was `None`, without a word."""

    def loss(w):
        BUFFER[:] = w
        return read(np.ones(3))

    for _ in range(3):
        with pytest.raises(DifferentiationError, match="shares the memory of an array that this"):
            gradient(loss, np.ones(3))


def test_arrays_that_are_written_beside_calls_of_modules_are_followed():
    def loss(x):
        y, total = x.copy(), 0.0
        for i in range(3):
            total = total + np.sum(rules_torch.numpy(torch.exp)(y)) + SHARING.numpy()[i]
            y[i] = y[i] * x[0]
        return total

    def slopes(x):
        return gradient(loss, x)[0]

    x, step = np.array([0.3, 0.4, 0.5]), 1e-6
    units = step * np.eye(3)
    for f, found in ((loss, slopes(x)), (slopes, hessian(loss)(x))):
        want = np.array([(f(x + e) - f(x - e)) / (2 * step) for e in units])
        np.testing.assert_allclose(found, want, rtol=1e-6)
