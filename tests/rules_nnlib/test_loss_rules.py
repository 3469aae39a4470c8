"""The losses and their rules, against SciPy's functions and finite differences of those."""

import math

import numpy as np
import pytest
import scipy.special as sp

import rules_nnlib as nn
import zygote_lite
from rulescore import rrule
from tests.zygote_lite.checks.finite_differences import jacobian_by_differences

# the losses before they are aggregated, by independent formulas
FORMULAS = {
    nn.mse: lambda p, t: (p - t) ** 2,
    nn.mae: lambda p, t: np.abs(p - t),
    nn.huber_loss: lambda p, t: sp.huber(1.0, p - t),
    nn.hinge_loss: lambda p, t: np.where(p * t < 1, 1 - p * t, 0),
    nn.cross_entropy: lambda p, t: -np.sum(sp.xlogy(t, p + EPS), axis=-1),
    nn.logit_cross_entropy: lambda p, t: -np.sum(t * sp.log_softmax(p, axis=-1), axis=-1),
    nn.binary_cross_entropy: lambda p, t: -sp.xlogy(t, p + EPS) - sp.xlogy(1 - t, 1 - p + EPS),
    nn.logit_binary_cross_entropy: lambda p, t: -t * sp.log_expit(p) - (1 - t) * sp.log_expit(-p),
}
EPS = np.finfo(float).eps
LOSSES = list(FORMULAS)
OF_CLASSES = [nn.cross_entropy, nn.logit_cross_entropy]
random = np.random.default_rng(3)
P = random.uniform(0.05, 0.95, size=(4, 3))
T = random.uniform(0.05, 0.95, size=(4, 3))
AGGREGATES = {np.mean: np.mean, np.sum: np.sum, None: lambda losses: losses}

every_loss = pytest.mark.parametrize("f", LOSSES, ids=lambda f: f.__name__)
every_agg = pytest.mark.parametrize("agg", AGGREGATES, ids=["mean", "sum", "none"])


def gradient(f, x, dy, h=1e-4):
    """Return the gradient of sum(dy * f(x)) by finite differences."""
    dx = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = h
        there = 8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))
        dx[i] = np.sum(dy * there) / (12 * h)
    return dx


@every_loss
@every_agg
def test_value_and_gradients(f, agg):
    def formula(p, t):
        return AGGREGATES[agg](FORMULAS[f](p, t))

    expected = formula(P, T)
    np.testing.assert_allclose(f(P, T, agg=agg), expected, rtol=1e-13)
    y, back = rrule(f, P, T, agg=agg)
    np.testing.assert_allclose(y, expected, rtol=1e-13)
    dy = random.normal(size=np.shape(expected))
    dself, dp, dt = back(dy)
    assert dself is None
    np.testing.assert_allclose(dp, gradient(lambda p: formula(p, T), P, dy), atol=1e-9)
    np.testing.assert_allclose(dt, gradient(lambda t: formula(P, t), T, dy), atol=1e-9)
    np.testing.assert_array_equal(back(dy)[1], dp)
    assert back(None) == (None, None, None)


@every_loss
def test_the_default_is_the_mean_over_the_batch(f):
    assert f(P, T) == pytest.approx(f(P, T, agg=np.sum) / (4 if f in OF_CLASSES else 12))
    mean, total = rrule(f, P, T)[1](1.0), rrule(f, P, T, agg=np.sum)[1](1.0)
    for dmean, dtotal in zip(mean[1:], total[1:], strict=True):
        np.testing.assert_allclose(dmean, dtotal / (4 if f in OF_CLASSES else 12), rtol=1e-14)


@pytest.mark.parametrize("f", OF_CLASSES, ids=lambda f: f.__name__)
@every_agg
def test_classes_along_another_axis(f, agg):
    """Flux has its classes along the first axis, and its batch along the last."""
    y, back = rrule(f, P.T, T.T, axis=0, agg=agg)
    expected, expected_back = rrule(f, P, T, agg=agg)
    np.testing.assert_allclose(y, expected, rtol=1e-14)
    dy = np.ones_like(expected)
    for dx, expected_dx in zip(back(dy)[1:], expected_back(dy)[1:], strict=True):
        np.testing.assert_allclose(dx.T, expected_dx, rtol=1e-14)


@pytest.mark.parametrize("f", OF_CLASSES, ids=lambda f: f.__name__)
def test_batches_of_sequences(f):
    p, t = np.stack([P, P[::-1]]), np.stack([T, T])
    assert f(p, t) == pytest.approx(np.mean([f(p[0], T), f(p[1], T)]))
    _, dp, dt = rrule(f, p, t)[1](1.0)
    for k in (0, 1):
        _, each_dp, each_dt = rrule(f, p[k], t[k])[1](0.5)
        np.testing.assert_allclose(dp[k], each_dp, rtol=1e-14)
        np.testing.assert_allclose(dt[k], each_dt, rtol=1e-14)


def test_a_weighted_aggregate_is_left_to_the_caller():
    for agg in (np.median, "mean", np.max, lambda losses: losses.sum()):
        with pytest.raises(ValueError, match=r"agg is np\.mean, np\.sum or None"):
            nn.mse(P, T, agg=agg)
        with pytest.raises(ValueError, match=r"agg is np\.mean, np\.sum or None"):
            rrule(nn.mse, P, T, agg=agg)


@pytest.mark.parametrize("eps", [0.0, 1e-6, 0.1])
def test_epsilon_is_in_the_gradient(eps):
    p, t = np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.9, 0.0])
    y, back = rrule(nn.cross_entropy, p, t, eps=eps)
    assert y == pytest.approx(-np.sum(sp.xlogy(t, p + eps)))
    _, dp, dt = back(1.0)
    np.testing.assert_allclose(dp, -t / (p + eps))
    np.testing.assert_allclose(dt, -np.log(p + eps))
    y, back = rrule(nn.binary_cross_entropy, p, t, eps=eps, agg=np.sum)
    assert y == pytest.approx(-np.sum(sp.xlogy(t, p + eps) + sp.xlogy(1 - t, 1 - p + eps)))
    _, dp, dt = back(1.0)
    np.testing.assert_allclose(dp, -t / (p + eps) + (1 - t) / (1 - p + eps))
    np.testing.assert_allclose(dt, np.log(1 - p + eps) - np.log(p + eps), atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_default_epsilon_is_that_of_the_precision(dtype):
    y = nn.cross_entropy(np.array([0, 1], dtype), np.array([1, 0], dtype))
    assert y == pytest.approx(-math.log(np.finfo(dtype).eps), rel=1e-3)
    assert nn.cross_entropy(0.0, 1.0) == pytest.approx(-math.log(EPS))


def test_certain_predictions():
    p, t = np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0])
    for eps in (None, 0.0):
        y, back = rrule(nn.cross_entropy, p, t, eps=eps)
        assert y == pytest.approx(0, abs=1e-15)
        np.testing.assert_allclose(back(1.0)[1], [0, -1, 0])
        y, back = rrule(nn.binary_cross_entropy, p, t, eps=eps)
        assert y == pytest.approx(0, abs=1e-15)
        np.testing.assert_allclose(back(3.0)[1], [1, -1, 1])
    _, back = rrule(nn.cross_entropy, p, t, eps=0.0)
    assert back(1.0)[2].tolist() == [math.inf, 0, math.inf]
    assert back(0.0)[2].tolist() == [0, 0, 0]


@pytest.mark.parametrize("size", [1e4, 1e300])
def test_logits_far_out(size):
    p, t = np.array([[size, -size, 0.0], [0.0, size, size]]), np.eye(3)[:2]
    y, back = rrule(nn.logit_cross_entropy, p, t, agg=None)
    np.testing.assert_allclose(y, [0, math.log(2)], atol=1e-15)
    np.testing.assert_allclose(back(np.ones(2))[1], [[0, 0, 0], [0, -0.5, 0.5]], atol=1e-15)
    p, t = np.array([size, -size, size, -size]), np.array([1.0, 0.0, 0.0, 1.0])
    y, back = rrule(nn.logit_binary_cross_entropy, p, t, agg=None)
    np.testing.assert_array_equal(y, [0, 0, size, size])
    _, dp, dt = back(np.ones(4))
    np.testing.assert_array_equal(dp, [0, 0, 1, -1])
    np.testing.assert_array_equal(dt, -p)


def test_an_impossible_class_costs_nothing_where_the_target_does_not_hold_it():
    p, t = np.array([0.5, -math.inf, 1.0]), np.array([1.0, 0.0, 0.0])
    y, back = rrule(nn.logit_cross_entropy, p, t)
    rest, rest_back = rrule(nn.logit_cross_entropy, p[[0, 2]], t[[0, 2]])
    assert y == pytest.approx(rest)
    np.testing.assert_allclose(back(1.0)[1][[0, 2]], rest_back(1.0)[1])
    assert back(1.0)[1][1] == 0
    assert back(0.0)[2].tolist() == [0, 0, 0]


@pytest.mark.parametrize("delta", [0.5, 2.0])
def test_huber_delta(delta):
    p = np.array([-3.0, -delta, -0.1, 0.0, 0.4, delta, 7.0])
    y, back = rrule(nn.huber_loss, p, np.zeros(7), agg=None, delta=delta)
    np.testing.assert_allclose(y, sp.huber(delta, p), rtol=1e-15)
    np.testing.assert_allclose(back(np.ones(7))[1], np.clip(p, -delta, delta), rtol=1e-15)
    np.testing.assert_allclose(back(np.ones(7))[2], -np.clip(p, -delta, delta), rtol=1e-15)


def test_at_a_kink():
    for f, p, t in [(nn.mae, 2.0, 2.0), (nn.hinge_loss, 1.0, 1.0), (nn.huber_loss, 0.0, 0.0)]:
        assert rrule(f, p, t)[1](1.0) == (None, 0.0, 0.0)


@every_loss
def test_python_numbers_and_lists(f):
    y, back = rrule(f, 0.3, 1)
    assert type(y) is float
    assert y == f(0.3, 1) == pytest.approx(float(f(np.array([0.3]), np.array([1.0]))))
    expected = rrule(f, np.array([0.3]), np.array([1.0]))[1](1.0)
    dself, dp, dt = back(1.0)
    assert (dself, type(dp), type(dt)) == (None, float, float)
    assert (dp, dt) == pytest.approx((expected[1][0], expected[2][0]))
    y, back = rrule(f, P.tolist(), tuple(map(tuple, T.tolist())))
    expected, expected_back = rrule(f, P, T)
    assert y == expected
    _, dp, dt = back(1.0)
    assert (type(dp), type(dp[0]), type(dp[0][0])) == (list, list, float)
    assert (type(dt), type(dt[0]), type(dt[0][0])) == (tuple, tuple, float)
    np.testing.assert_array_equal(dp, expected_back(1.0)[1])
    np.testing.assert_array_equal(dt, expected_back(1.0)[2])


@every_loss
@every_agg
def test_a_number_against_an_array(f, agg):
    y, back = rrule(f, P, 0.4, agg=agg)
    expected, expected_back = rrule(f, P, np.full((4, 3), 0.4), agg=agg)
    np.testing.assert_array_equal(y, expected)
    dy = np.ones_like(expected)
    np.testing.assert_array_equal(back(dy)[1], expected_back(dy)[1])
    assert back(dy)[2] == pytest.approx(np.sum(expected_back(dy)[2]))
    y, back = rrule(f, 0.4, T, agg=agg)
    expected, expected_back = rrule(f, np.full((4, 3), 0.4), T, agg=agg)
    np.testing.assert_array_equal(y, expected)
    assert back(dy)[1] == pytest.approx(np.sum(expected_back(dy)[1]))
    np.testing.assert_array_equal(back(dy)[2], expected_back(dy)[2])


@every_loss
def test_shapes_that_differ_are_refused(f):
    for p, t in [(np.ones(3), np.ones((3, 1))), (np.ones((4, 3)), np.ones(4)), ([0.1], [0.1, 1])]:
        with pytest.raises(ValueError, match="one shape"):
            f(p, t)
        with pytest.raises(ValueError, match="one shape"):
            rrule(f, p, t)


@every_loss
def test_what_is_not_real_is_refused(f):
    for p in (np.ones(3, complex), np.array(["a", "b", "c"]), 1j):
        with pytest.raises(TypeError, match="real numbers and arrays"):
            f(p, np.ones(3))
    assert rrule(f, "abc", P) is None


@every_loss
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_precision_is_kept(f, dtype):
    p, t = P.astype(dtype), T.astype(dtype)
    y, back = rrule(f, p, t)
    assert y.dtype == dtype
    assert f(p, t).dtype == dtype
    assert [d.dtype for d in back(1.0)[1:]] == [dtype, dtype]
    tolerance = 40 * float(np.finfo(dtype).eps)
    options = {"eps": np.finfo(dtype).eps} if "eps" in f.__kwdefaults__ else {}
    exact, exact_back = rrule(f, p.astype(float), t.astype(float), **options)
    assert float(y) == pytest.approx(float(exact), rel=tolerance)
    for dx, exact_dx in zip(back(1.0)[1:], exact_back(1.0)[1:], strict=True):
        np.testing.assert_allclose(dx, exact_dx, rtol=tolerance, atol=tolerance)


@every_loss
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, bool])
def test_labels_are_numbers_of_the_predictions_precision(f, kind):
    p, t = P.astype(np.float32), np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], kind)
    y, back = rrule(f, p, t)
    expected, expected_back = rrule(f, p, t.astype(np.float32))
    np.testing.assert_array_equal(y, expected, strict=True)
    _, dp, dt = back(1.0)
    np.testing.assert_array_equal(dp, expected_back(1.0)[1], strict=True)
    if kind is bool:
        assert dt is None
    else:
        np.testing.assert_array_equal(dt, expected_back(1.0)[2])


@every_loss
def test_layouts_and_inputs_unchanged(f):
    p, t = P[::-1, ::-1], np.asfortranarray(T)
    for x in (p, t):
        x.flags.writeable = False
    y, back = rrule(f, p, t, agg=None)
    expected, expected_back = rrule(f, p.copy(), t.copy(), agg=None)
    np.testing.assert_array_equal(y, expected)
    dy = np.ones_like(y)
    dy.flags.writeable = False
    for dx, expected_dx in zip(back(dy)[1:], expected_back(dy)[1:], strict=True):
        np.testing.assert_array_equal(dx, expected_dx)


@every_loss
def test_empty(f):
    shape = (0, 3)
    y, back = rrule(f, np.ones(shape), np.ones(shape), agg=np.sum)
    assert y == 0
    assert [d.shape for d in back(1.0)[1:]] == [shape, shape]
    with pytest.warns(RuntimeWarning):  # NumPy's own about the mean of nothing
        y, back = rrule(f, np.ones(shape), np.ones(shape))
    assert [d.shape for d in back(1.0)[1:]] == [shape, shape]


@every_loss
@every_agg
def test_foreign_arrays_stay_foreign(f, agg, foreign):
    y, back = rrule(f, foreign(P), foreign(T), agg=agg)
    expected, expected_back = rrule(f, P, T, agg=agg)
    assert type(y) is foreign
    np.testing.assert_array_equal(y.data, expected)
    dy = np.ones_like(expected)
    for dx, expected_dx in zip(back(foreign(dy))[1:], expected_back(dy)[1:], strict=True):
        assert type(dx) is foreign
        np.testing.assert_allclose(dx.data, expected_dx, rtol=1e-14)


@every_loss
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_zero_cotangent_is_a_strong_zero(f, value):
    """A loss that is masked out leaves no trace, whatever it was."""
    p, t = P.copy(), T.copy()
    p[1] = value
    with np.errstate(all="ignore"):
        losses, back = rrule(f, p, t, agg=None)
        _, kept_back = rrule(f, P, T, agg=None)
    dy = np.ones_like(losses)
    dy[1] = 0
    for dx, kept_dx in zip(back(dy)[1:], kept_back(dy)[1:], strict=True):
        np.testing.assert_array_equal(dx, kept_dx)
    assert not back(dy)[1][1].any()


def test_seeds_numbers():
    y, back = rrule(nn.mse, [3.0, 6.0], [2.0, 4.0])
    assert y == 2.5
    assert back(1.0) == (None, [1.0, 2.0], [-1.0, -2.0])


@pytest.mark.parametrize("agg", AGGREGATES, ids=["mean", "sum", "none"])
@pytest.mark.parametrize(
    "f",
    [nn.cross_entropy, nn.logit_cross_entropy, nn.binary_cross_entropy],
    ids=lambda f: f.__name__,
)
def test_second_derivatives_by_prediction_and_one_hot_target(f, agg):
    one_hot, w = np.eye(3)[[0, 2]], np.cos(np.arange(6.0)).reshape(2, 3)

    def slopes(v):
        def loss(v):
            losses = f(v[0], v[1], agg=agg)
            return np.sum(losses * w[:, 0] if np.ndim(losses) == 1 else losses * w)

        return zygote_lite.gradient(loss, v)[0]

    v = np.stack([P[:2], one_hot])
    expected = jacobian_by_differences(slopes, (v,))
    np.testing.assert_allclose(zygote_lite.jacobian(slopes)(v), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("p", [[np.inf, 0.0], [np.nan, np.nan]])
def test_a_target_of_zero_keeps_out_what_is_no_number(p):
    loss = lambda p, t: nn.logit_cross_entropy(p, t, agg=np.sum)
    p, t = np.array(p), np.array([0.0, 1.0 if np.isinf(p[0]) else 0.0])
    expected = np.inf if t[1] else 0.0
    assert loss(p, t) == rrule(nn.logit_cross_entropy, p, t, agg=np.sum)[0] == expected
