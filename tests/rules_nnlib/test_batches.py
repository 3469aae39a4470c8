"""`vmap` of activations and losses: at once, and as a loop over the entries gives it."""

import numpy as np
import pytest

import rules_nnlib as nn
from rulescore import plugins
from rulescore.testing import check_batched
from zygote_lite import explain, grad, vmap

P = np.array([[[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]], [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]]])
T = np.array([[[0.0, 1.0, 0.0], [0.6, 0.1, 0.3]], [[0.1, 0.2, 0.7], [1.0, 0.0, 0.0]]])
KINKS = np.array([-6.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0])
ACTIVATIONS = [getattr(nn, name) for name in nn.__all__[:24] if name != "gelu_erf"]
LOSSES = [getattr(nn, name) for name in nn.__all__[27:]]


def assert_same(found, due):
    due = np.stack(due)
    assert found.dtype == due.dtype
    assert found.shape == due.shape
    np.testing.assert_allclose(found, due, 1e-5 if due.itemsize == 4 else 1e-12, 1e-6)


def assert_at_once(f, *xs):
    assert "a loop" not in str(explain(f, *xs))


def test_all_examples():
    (plugin,) = [p for p in plugins() if p.name == "rules_nnlib"]
    rules = {r.body for rules in plugin.rulesets for r in rules.rules if r.kind == "batched"}
    examples = [example for rules in plugin.rulesets for example in rules.examples]
    reached = {getattr(check_batched(f, *xs, **o), "body", None) for f, xs, o in examples}
    assert rules - reached == set()


@pytest.mark.parametrize("f", ACTIVATIONS, ids=lambda f: f.__name__)
def test_activations(f):
    for x in (P, P[0, 0], P.astype("f4"), (9 * P).astype(int), KINKS):
        assert_same(vmap(f)(x), [f(entry) for entry in x])
    assert_same(vmap(lambda x: f(float(x)) * P[0, 0].astype("f4"))(KINKS),
                [f(float(x)) * P[0, 0].astype("f4") for x in KINKS])  # fmt: skip
    assert_same(vmap(grad(f))(KINKS), [grad(f)(x) for x in KINKS])
    assert_same(grad(lambda x: np.sum(vmap(vmap(f))(x)))(P[0]), grad(lambda x: np.sum(f(x)))(P[0]))
    assert_at_once(vmap(f), P)
    assert_at_once(vmap(grad(f)), KINKS)


@pytest.mark.parametrize("f", [nn.leakyrelu, nn.trelu, nn.elu, nn.celu, nn.softshrink])
def test_parameters_of_activations(f):
    a = np.array([0.3, 0.6])
    assert_same(vmap(f)(P, a), [f(x, b) for x, b in zip(P, a, strict=True)])
    assert_same(
        vmap(f)(P.astype("f4"), a), [f(x.astype("f4"), b) for x, b in zip(P, a, strict=True)]
    )
    assert_same(vmap(f, in_axes=(1, None))(P, P[0, 0]), [f(P[:, i], P[0, 0]) for i in (0, 1)])
    assert_same(vmap(f, in_axes=(None, 0))(0.3, a), [f(0.3, b) for b in a])


@pytest.mark.parametrize("f", [nn.softmax, nn.logsoftmax, nn.logsumexp])
def test_along_an_axis(f):
    for axis in (0, 1, -1, -2, None, (0, -1)):

        def g(x, f=f, axis=axis):
            return f(x, axis=axis)

        assert_same(vmap(g)(P), [g(x) for x in P])
        assert_same(vmap(g, in_axes=2)(P), [g(P[..., i]) for i in range(3)])

        def total(x, f=f, axis=axis):
            return np.sum(np.sin(f(x, axis=axis)))

        assert_same(vmap(grad(total))(P), [grad(total)(x) for x in P])
        assert_at_once(vmap(grad(total)), P)
    with pytest.raises(np.exceptions.AxisError, match="dimension 2"):
        vmap(lambda x: f(x, axis=-3))(P)


@pytest.mark.parametrize("f", LOSSES, ids=lambda f: f.__name__)
def test_losses(f):
    for agg in (np.mean, np.sum, None):

        def g(p, t, agg=agg):
            return f(p, t, agg=agg)

        for p, t in ((P, T), (P, T[:, 0, 0]), (P[:, 1, 1], T), (P.astype("f4"), T),
                     (P.astype("f4"), T > 0.5)):  # fmt: skip
            assert_same(vmap(g)(p, t), [g(*each) for each in zip(p, t, strict=True)])
        assert_same(vmap(g, in_axes=(2, None))(P, 0.5), [g(P[..., i], 0.5) for i in range(3)])
        assert_same(vmap(g, in_axes=(None, 0))(P[0], T), [g(P[0], t) for t in T])
    assert_same(vmap(grad(f))(P, T), [grad(f)(*each) for each in zip(P, T, strict=True)])
    assert_at_once(vmap(grad(f)), P, T)
    with pytest.raises(ValueError, match="of one shape"):
        vmap(f)(P, T[:, :1])
    with pytest.raises(ValueError, match="agg is"):
        vmap(lambda p, t: f(p, t, agg=np.max))(P, T)


def test_classes_along_another_axis():
    for f in (nn.cross_entropy, nn.logit_cross_entropy):
        for axis in (0, -2, None):

            def g(p, t, axis=axis):
                return f(p, t, axis=axis)

            assert_same(vmap(g)(P, T), [g(p, t) for p, t in zip(P, T, strict=True)])


def test_numbers_of_python_do_not_widen_arrays():
    narrow, a = P.astype("f4"), np.array([0.3, 0.6])
    for f in (
        lambda x, a: np.where(x > 0, x, float(a)),
        lambda x, a: nn.mse(x, float(a)),
        lambda x, a: nn.mse(float(a), 0.5) * x,
    ):
        assert_same(vmap(f)(narrow, a), [f(x, b) for x, b in zip(narrow, a, strict=True)])
