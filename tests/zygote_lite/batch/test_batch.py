"""`vmap` at once gives what a loop over the entries gives; where it cannot, there is a loop.

The loops are written here, in Python; gradients are compared with finite differences.
"""

import collections
import functools
import math

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from zygote_lite import explain, grad, gradient, hessian, hvp, jacobian, jvp, value_and_grad, vmap
from zygote_lite._batch.mapped import Mapped

RNG = np.random.default_rng(0)
A, W, S = RNG.normal(size=(5, 4)), RNG.normal(size=(4, 3)), RNG.uniform(0.5, 2.0, 5)
M, N = RNG.normal(size=(5, 3, 3)), np.array([0, 2, 1, 3, 0])
P, F = M @ np.swapaxes(M, 1, 2) + 3 * np.eye(3), A.astype(np.float32)
LAYERS = [(RNG.normal(size=(4, 3)), RNG.normal(size=3)), (RNG.normal(size=(3, 2)), np.ones(2))]
Pair = collections.namedtuple("Pair", "first second")


class Layer:
    def __init__(self, w):
        self.w = w

    @property
    def twice(self):
        return 2 * self.w

    def __call__(self, x):
        return np.tanh(x @ self.twice)


def network(layers, x):
    for w, b in layers:
        x = np.tanh(x @ w + b)
    return x


def loss(layers, x):
    return np.sum(network(layers, x) ** 2)


def with_loops(x):
    total, parts, i = 0.0, [], 0
    while i < len(x):
        total += x[i] * i
        parts.append(x[i] ** 2)
        i += 1
    first, *rest = parts
    return total + sum(v * u for v, u in zip(rest, x, strict=False)), np.array(parts), first


def of_closure(x):
    y = x * 2

    def inner(w):
        return np.sum(np.tanh(y @ w))

    return grad(inner)(W), grad(lambda z: (x * z).sum() * z[0])(y)


AT_ONCE = {
    "elementwise": (lambda x: np.where(x > 0, x**3, np.clip(x, -1, 1)) + abs(x), 0, (A,)),
    "numbers": (lambda x: math.sin(x) * x + 1 / x + float(x) ** 0.5, 0, (S,)),
    "narrow": (lambda x, w: np.tanh(x) * 2.0 + x.mean() + w, (0, None), (F, F[0])),
    "integers": (lambda i: (i * 2 + 1) / 2, 0, (N,)),
    "complex": (lambda x: x.conj() * x.real - np.fft.fft(x).imag, 0, (A + 1j * A[::-1],)),
    "conjugate_of_bools": (lambda x: x.conj(), 0, (A > 0,)),
    "broadcasting": (lambda x, s: x * s + W.T * x, 0, (A, S)),
    "products": (lambda m, x: (m @ m) @ x[:3] + np.dot(x, W) + np.outer(x, x)[:3, 0], 0, (M, A)),
    "sums": (lambda m: np.einsum("ij,kj->", m, m) + np.tensordot(m, M[0], 1).var(ddof=1), 0, (M,)),
    "shapes": (lambda m: np.concatenate([m.reshape(-1), m.T.ravel(), np.ones(2)]), 0, (M,)),
    "joined": (lambda x: np.array([[x[0], 1.0], [x[1], x[2]]]) @ np.stack([x, x]), 0, (A,)),
    "indices": (lambda x, i: x[i] + x[1:3] + W[i, :2] + x[[0, 2]] + x[..., None][2:, 0], 0, (A, N)),
    "algebra": (lambda p, x: np.linalg.solve(p, x[:3]) + np.linalg.eigh(p).eigenvalues, 0, (P, A)),
    "factors": (lambda p: np.linalg.cholesky(p) * np.linalg.slogdet(p)[1], 0, (P,)),
    "loops": (with_loops, 0, (A,)),
    "an object": (Layer(W), 0, (A,)),
    "trees": (lambda p: {"s": p["x"] @ p["x"], "t": [p["y"], 3.0]}, 0, ({"x": A, "y": S},)),
    "a named tuple": (lambda x: Pair(x, x.sum()).second, 0, (A,)),
    "the same for all": (lambda x: (np.ones(2), x.shape[0]), 0, (A,)),
    "types": (lambda x: x * 2 if isinstance(x, np.ndarray) and x is not None else 0.0, 0, (A,)),
    "batches in batches": (lambda m: vmap(lambda r: np.tanh(r @ W[:3]) * m[0, 0])(m), 0, (M,)),
    "gradients": (grad(loss), (None, 0), (LAYERS, A)),
    "values and gradients": (value_and_grad(loss, (0, 1)), (None, 0), (LAYERS, A)),
    "Jacobians": (jacobian(network, 1), (None, 0), (LAYERS, A)),
    "Hessians": (hessian(loss, 1), (None, 0), (LAYERS, A)),
    "gradients of closures": (of_closure, 0, (A,)),
    "gradients by numbers": (grad(lambda s, x: math.exp(s) * s * x.sum()), 0, (S, A)),
    "an unused argument": (grad(lambda p, x: np.sum(p[0] * x)), (None, 0), ([A[0], 0.5], A)),
}  # fmt: skip


def entry(x, axis, i):
    if axis is None:
        return x
    if isinstance(x, dict):
        return {key: part[i] for key, part in x.items()}
    return x[i]


def looped(f, axes, xs):
    axes = axes if isinstance(axes, tuple) else (axes,) * len(xs)
    return together([f(*map(entry, xs, axes, (i,) * len(xs))) for i in range(5)])


def together(values):
    first = values[0]
    if isinstance(first, dict):
        return {key: together([y[key] for y in values]) for key in first}
    if isinstance(first, list | tuple):
        return type(first)([together([*part]) for part in zip(*values, strict=True)])
    return np.stack(values)


def assert_same(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = [*found.values()], [*expected.values()]
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b)
        return
    assert found.dtype == expected.dtype
    tolerance = 1e-5 if expected.dtype == np.float32 else 1e-10
    np.testing.assert_allclose(found, expected, tolerance, tolerance, strict=True)


BY_A_LOOP_IN_A_GRADIENT = ("sums", "indices")  # their derivatives by all arguments


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", AT_ONCE)
def test_at_once(name):
    f, axes, xs = AT_ONCE[name]
    batch = vmap(f, axes)
    expected = looped(f, axes, xs)
    assert_same(batch(*xs), expected)
    assert_same(batch(*xs), expected)  # nothing was changed
    found = Mapped(f, axes, 0).at_once(None, (None,) * (1 + len(xs)), xs, {})
    assert not isinstance(found, str), found
    how = "a loop over the entries" if name in BY_A_LOOP_IN_A_GRADIENT else "run once for the batch"
    lines = explain(batch, *xs)
    assert how in lines
    assert ("run once" in lines) is not ("a loop" in lines)


def of_branch(x):
    return x.sum() if x[0] > 0 else x.max()


def with_rescue(p):
    try:
        return np.linalg.inv(p)
    except np.linalg.LinAlgError:
        return p


def in_rescue_from_all(x):
    try:
        if x > 1:
            return 1.0
    except BaseException:
        pass
    return -1.0


def written(x):
    y = np.zeros(4)
    y[:] = x
    y += 1
    return y


SINGULAR = np.stack([np.eye(3), np.zeros((3, 3)), np.eye(3), M[0], M[1]])
LOOPS = {
    "a branch": (of_branch, (A,), "a branch depends on the batch"),
    "an error in one entry": (with_rescue, (SINGULAR,), "Singular matrix"),
    "an error that is swallowed": (in_rescue_from_all, (S,), "a branch depends on the batch"),
    "an error of Python's": (lambda x: 1.0 / float(x) if x else 0.0, (S - S,), "branch"),
    "a mask": (lambda x: x[x > 0].sum(), (A,), "is not for these arguments"),
    "an array written into": (written, (A,), "is written into"),
    "truth values of Python": (lambda x: (math.sin(x) > 0) + (float(x) > 1), (S,), "truth values"),
    "a precision": (lambda x: math.exp(x.sum()) * x, (F,), "of a narrow array"),
    "a number of Python": (int, (S * 3,), "int"),
    "no rule": (lambda x: np.interp(0.5, x, x), (np.sort(A),), "has no batching rule"),
    "another verb": (lambda x: jvp(np.sin, (x,), (x,))[1], (A,), "jvp is called"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_where_it_is_not_known(name):
    f, xs, reason = LOOPS[name]
    batch = vmap(f)
    for _ in range(2):
        assert_same(batch(*xs), looped(f, 0, xs))
    words = explain(batch, *xs).partition("a loop over the entries of the batch: ")[2]
    assert any(part in words for part in reason.split("|"))


def captured_list(w):
    parts = [w, {"b": w.T}]
    return np.sum(vmap(lambda x: np.tanh(x @ parts[0] @ parts[1]["b"]))(A))


def in_named_tuple(w):
    p = Pair(w, 2 * w)
    return np.sum(vmap(lambda x: x @ p.first + x @ p[1])(A) ** 2)


GRADIENTS = {
    "captured": captured_list,
    "an object": lambda w: np.sum(vmap(Layer(w))(A) ** 2),
    "a partial": lambda w: np.sum(
        vmap(functools.partial(lambda p, x, k: x @ p * k, w, k=w[0]))(A) ** 2
    ),
    "trees": lambda w: np.sum(vmap(lambda p, x: x @ p["a"][0], (None, 0))({"a": [w, 1]}, A) ** 2),
    "of the value": lambda w: vmap(lambda x: {"a": [x @ w, x @ x]})(A)["a"][0].sum() * w[0, 0],
    "of gradients": lambda w: np.sum(np.sin(vmap(grad(lambda x: np.sum(np.tanh(x @ w))))(A))),
    "of per-sample gradients": lambda w: np.sum(
        np.sin(vmap(grad(lambda w, x: np.sum(np.tanh(x @ w))), (None, 0))(w, A))
    ),
    "of Jacobians": lambda w: np.sum(np.sin(vmap(jacobian(lambda x: np.tanh(x @ w)))(A))),
    "in batches": lambda w: np.sum(vmap(lambda r: vmap(lambda c: c * r.sum())(r))(w) ** 3),
    "algebra": lambda w: np.sum(
        vmap(lambda x: np.linalg.solve(np.eye(3) + w.T @ w, w.T @ x))(A) ** 2
    ),
    "axes": lambda w: np.sum(vmap(np.cumsum, 1, 1)(w) ** 2 * np.arange(12.0).reshape(4, 3)),
    "numbers": lambda w: np.sum(vmap(lambda s: math.exp(s) * s + s.item())(w[0])),
    "indices": lambda w: np.sum(vmap(lambda i, x: w[i] * x[i])(N, A) ** 2),
}  # fmt: skip


HELD_OTHERWISE = {
    "a default": lambda w: np.sum(vmap(lambda x, p=w: x @ p)(A) ** 2),
    "a tuple of defaults": lambda w: np.sum(vmap(lambda x, *, p=(w, 1): x @ p[0])(A) ** 2),
    "a named tuple": in_named_tuple,
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_gradient_around(name):
    f = GRADIENTS[name]
    expected = jacobian_by_differences(f, (W,))
    for _ in range(3):
        assert_close(grad(f)(W), expected, 1e-5)
    shown = str(explain(f, W))
    assert "run once" in shown
    assert "/zygote_lite/_interface" not in shown.splitlines()[0]  # the reason is the user's code
    assert "getattr" not in shown


def test_a_partial_of_constants_is_no_loop():
    shown = str(explain(vmap(functools.partial(np.dot, W)), np.ones((5, 3))))
    assert "run once" in shown
    assert "a loop" not in shown


@pytest.mark.parametrize("name", HELD_OTHERWISE)
def test_a_gradient_by_what_the_function_holds_otherwise(name):
    f = HELD_OTHERWISE[name]
    for _ in range(3):
        assert_close(grad(f)(W), jacobian_by_differences(f, (W,)), 1e-5)


@pytest.mark.parametrize("name", ["captured", "a partial", "of gradients", "in batches", "numbers"])
def test_second_derivatives_around(name):
    f, v = GRADIENTS[name], np.cos(W)
    expected = jacobian_by_differences(lambda t: grad(f)(W + t * v), (0.0,))
    assert_close(hvp(f)(W, v), expected, 1e-5)


def test_effects_are_those_of_a_loop():
    log, count, held = [], 0, {"n": 0}
    draws, again = np.random.default_rng(1), np.random.default_rng(1)

    def noted(x):
        log.append(1)
        return x

    def counted(x):
        nonlocal count
        count += 1
        held["n"] += 1
        return x * count

    def kept(x, known=[]):
        known.append(x)
        return x * len(known)

    def ended(x):
        try:
            return 1.0 / float(x)
        except ZeroDivisionError:
            return 0.0
        finally:
            log.append(2)

    vmap(noted)(A)
    np.testing.assert_array_equal(vmap(counted)(S), S * np.arange(1, 6))
    np.testing.assert_array_equal(vmap(kept)(S), S * np.arange(1, 6))
    np.testing.assert_array_equal(vmap(ended)(np.array([1.0, 0.0])), [1.0, 0.0])
    np.testing.assert_array_equal(
        vmap(lambda x: x + draws.normal())(S), S + [again.normal() for _ in S]
    )
    assert (log, count, held) == ([1] * 5 + [2] * 2, 5, {"n": 5})


def test_generators_end_when_python_lets_go_of_them():
    def left(x, first):
        ended = []

        def halves():
            try:
                yield x / 2
                yield x / 4
            finally:
                ended.append(x)

        half = first(halves())
        return half + 10 * len(ended) + sum(ended)

    def of_a_loop(it):
        for half in it:
            return half

    for first in (next, of_a_loop, lambda it: max([*it][:1])):
        at_once = vmap(functools.partial(left, first=first))(S)
        np.testing.assert_allclose(at_once, [left(x, first) for x in S])


def test_the_value_shares_no_memory():
    x, w = A.copy(), W[0].copy()
    same, y, z, constant = vmap(lambda v: (v, *(lambda t: (t, t))(v * 2), w))(x)
    for found in (same, y, z, constant):
        found[0] = 100.0
        assert np.count_nonzero(found == 100.0) == found[0].size
    np.testing.assert_array_equal(x, A)
    np.testing.assert_array_equal(w, W[0])


def test_an_error_is_that_of_an_entry():
    with pytest.raises(ValueError, match=r"size 7 is different from 4"):
        vmap(lambda x: x @ np.ones(7))(A)
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x: 1.0 / float(x))(np.zeros(2))
    assert gradient(lambda x: np.sum(vmap(np.sin)(x)), S)[0].shape == (5,)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.ones_like(x, shape=(3,)) * 2,  # as long as the batch
        lambda x: np.where(x > 0)[0],
        lambda x: (x[0] > 0) ** 2 * 100,
        lambda x: np.vdot(x > 0, x > -1),
        lambda x: np.diag(x > 0),  # a loop, with truth values
        lambda x: np.dot(x.astype(np.float32), 0.1),  # a number decides the dtype
        lambda x: np.dot(0.1, x.astype(np.float32)[0]),
    ],
    ids=["other shape", "where", "power", "vdot", "diag", "dot", "dot of numbers"],
)
def test_what_a_call_on_the_whole_batch_would_answer_otherwise_is_as_in_a_loop(f):
    x = np.array([[1.0, -2.0, 3.0], [-1.0, 2.0, 0.5], [0.3, -1.0, 4.0]])
    expected = np.stack([f(entry) for entry in x])
    found = vmap(f)(x)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def of_a_part_without_axes(x):
    y = x * 1.0
    part = y[1, ...]
    part += 10.0
    return y * x


def of_a_part_of_another_shape(x):
    y = x * 1.0
    part = y[1:2].reshape(())
    part *= part
    return np.sum(y * x)


def of_a_part_without_its_axis(x):
    y = x * 1.0
    part = np.squeeze(y[:1])
    other = part
    other -= x[1]
    return y @ x + part


def of_an_array_of_a_number(x):
    y = np.array(x[0])
    z = y
    z += x[1]
    return y * x


def of_a_choice(x):
    y = np.where(x[0] > 0, x[1], x[2] ** 2)
    z = y
    z *= x[1]
    return y * x


def of_numbers(x):
    y = x.sum()
    z = y
    z += x[1]
    return y * z * np.isclose(float(y), x[0] + x[1] + x[2] + x[3])


def of_a_type(x):
    y = np.where(x[0] > 0, x[1], x[2])
    return x * (2.0 if isinstance(y, np.ndarray) else 3.0)


WITHOUT_AXES = (of_a_part_without_axes, of_a_part_of_another_shape, of_a_part_without_its_axis,
                of_an_array_of_a_number, of_a_choice, of_numbers, of_a_type)  # fmt: skip


@pytest.mark.parametrize("f", WITHOUT_AXES, ids=[f.__name__ for f in WITHOUT_AXES])
def test_an_array_without_axes_can_be_written_to_and_a_number_cannot(f):
    np.testing.assert_allclose(vmap(f)(A), np.stack([f(x) for x in A]), rtol=1e-14)
    of_all = grad(lambda xs: np.sum(vmap(f)(xs)))
    of_each = vmap(grad(lambda x: np.sum(f(x))))
    want = [jacobian_by_differences(lambda x: np.sum(f(x)), (x,)) for x in A]
    for _ in range(3):
        np.testing.assert_allclose(of_all(A), want, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(of_each(A), want, rtol=1e-6, atol=1e-7)


def test_a_mask_with_more_axes_than_an_entry_is_an_error_as_in_a_loop():
    with pytest.raises(ValueError, match="more dimensions"):
        vmap(lambda x: np.sum(x, where=np.ones((3, 3), bool)))(np.ones((3, 3)))


def test_a_function_with_a_scalar_rule_is_called_once_if_it_is_elementwise(rules):
    def cubed(x):
        return x * x * x

    def ranked(x):  # which is zero for a number
        return x * x.ndim

    def counted(x):
        return x / x.shape[0]

    def shown(x):
        print(np.shape(x))
        return x * x

    rules.scalar(cubed)(lambda x: 3 * x * x)
    rules.scalar(ranked)(lambda x: x.ndim)
    rules.scalar(counted)(lambda x: 1 / x.shape[0])
    rules.scalar(shown)(lambda x: 2 * x)
    for f, x, why in (
        (cubed, S, None), (cubed, A, None), (ranked, S, "ranked of a batch is not what"),
        (counted, A, "counted of a batch is not what"), (shown, S, "a loop"),
    ):  # fmt: skip
        assert_close(vmap(f)(x), np.stack([f(entry) for entry in x]))
        told = str(explain(vmap(f), x))
        assert (why or "entry by entry") in told
    assert_close(vmap(grad(cubed))(S), 3 * S**2)


def test_a_copy_may_be_changed_and_a_list_from_outside_may_not():
    kept = {"seen": []}

    def copies(x):
        d, xs = {"a": x}, [x]
        e, ys = d.copy(), xs.copy()
        e["b"] = x * 2.0
        ys.append(x * 3.0)
        ys[0] = 5.0
        return e["b"] + sum(ys) + xs[0] + len(d)

    def keeps(x):
        kept.get("seen").append(1.0)
        return x * 2.0

    xs = np.array([1.0, 2.0])
    assert_close(vmap(copies)(xs), np.array([copies(x) for x in xs]))
    assert "a loop" not in str(explain(vmap(copies), xs))
    assert_close(vmap(keeps)(xs), 2.0 * xs)
    assert kept["seen"] == [1.0, 1.0]  # it ran for each entry


def halved(x):
    return x * 0.5 if isinstance(x, np.ndarray) else float(x) * 0.5


def test_a_scalar_rule_that_gives_numbers_of_python_gives_them_in_a_batch():
    rule = RuleSet("tests.halved")
    rule.scalar(halved)(lambda x: 0.5)
    rule.register()
    try:
        single = np.ones(2, np.float32)
        found = vmap(lambda x: single * halved(x))(np.array([0.5, 1.5]))
        assert found.dtype == np.float32
        assert vmap(halved)(single).dtype == np.float64  # as in a loop
        with pytest.raises(ZeroDivisionError):
            vmap(lambda x: halved(x) / 0.0)(np.array([0.5, 1.5]))
    finally:
        rule.unregister()
