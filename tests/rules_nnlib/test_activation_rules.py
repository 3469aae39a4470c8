"""The activations and their rules, against SciPy's functions and finite differences of those."""

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.special as sp

import rules_nnlib as nn
from rules_nnlib._activations import SELU_ALPHA, SELU_SCALE
from rules_nnlib._normal import normal_cdf, normal_pdf
from rulescore import rrule
from zygote_lite import gradient


def softplus(x):
    return np.logaddexp(0.0, x)


# an independent formula for each activation, and for each with its parameter given
FORMULAS = {
    nn.sigmoid: sp.expit,
    nn.tanh_act: np.tanh,
    nn.relu: lambda x: np.where(x > 0, x, 0),
    nn.relu6: lambda x: np.where(x > 0, np.where(x < 6, x, 6), 0),
    nn.leakyrelu: lambda x, a=0.01: np.where(x > 0, x, a * x),
    nn.trelu: lambda x, theta=1.0: np.where(x > theta, x, 0),
    nn.elu: lambda x, alpha=1.0: np.where(x > 0, x, alpha * (np.exp(x) - 1)),
    nn.selu: lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * (np.exp(x) - 1)),
    nn.celu: lambda x, alpha=1.0: np.where(x > 0, x, alpha * (np.exp(x / alpha) - 1)),
    nn.gelu: lambda x: x * sp.ndtr(x),
    nn.gelu_tanh: lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    nn.swish: lambda x: x * sp.expit(x),
    nn.hardswish: lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6,
    nn.hardsigmoid: lambda x: np.minimum(np.maximum(x + 3, 0), 6) / 6,
    nn.hardtanh: lambda x: np.minimum(np.maximum(x, -1), 1),
    nn.softplus: softplus,
    nn.softsign: lambda x: x / (1 + np.abs(x)),
    nn.logsigmoid: sp.log_expit,
    nn.mish: lambda x: x * np.tanh(softplus(x)),
    nn.tanhshrink: lambda x: x - np.tanh(x),
    nn.softshrink: lambda x, lam=0.5: np.sign(x) * np.maximum(np.abs(x) - lam, 0),
    nn.lisht: lambda x: x * np.tanh(x),
    nn.logcosh: lambda x: np.log(np.cosh(x)),
    normal_cdf: sp.ndtr,
    normal_pdf: lambda x: np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi),
}
ACTIVATIONS = list(FORMULAS)
PARAMETRIC = [nn.leakyrelu, nn.trelu, nn.elu, nn.celu, nn.softshrink]
POINTS = np.array([-7.3, -3.2, -2.9, -1.1, -0.8, -0.3, 0.2, 0.7, 1.2, 2.9, 3.1, 5.8, 6.4])

every_activation = pytest.mark.parametrize("f", ACTIVATIONS, ids=lambda f: f.__name__)
every_parametric = pytest.mark.parametrize("f", PARAMETRIC, ids=lambda f: f.__name__)


def slope(f, x, h=1e-3):
    """Return f'(x) with an error of h⁴."""
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


@every_activation
def test_value(f):
    expected = FORMULAS[f](POINTS)
    np.testing.assert_allclose(f(POINTS), expected, rtol=1e-13, atol=1e-15)
    for x, y in zip(POINTS, expected, strict=True):
        given = f(float(x))
        assert type(given) is float
        assert given == pytest.approx(y, rel=1e-13, abs=1e-15)


@every_activation
def test_gradient(f):
    expected = slope(FORMULAS[f], POINTS)
    y, back = rrule(f, POINTS)
    np.testing.assert_array_equal(y, f(POINTS))
    dself, dx = back(np.ones_like(POINTS))
    assert dself is None
    np.testing.assert_allclose(dx, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(back(2.5 * np.ones_like(POINTS))[1], 2.5 * dx, rtol=1e-15)
    for x, slope_there in zip(POINTS, expected, strict=True):
        y, back = rrule(f, float(x))
        assert y == f(float(x))
        (_, dx) = back(2.0)
        assert type(dx) is float
        assert dx == pytest.approx(2 * slope_there, rel=1e-9, abs=1e-10)


@every_parametric
@pytest.mark.parametrize("parameter", [0.6, 2.0])
def test_gradient_with_a_parameter(f, parameter):
    formula = FORMULAS[f]
    y, back = rrule(f, POINTS, parameter)
    np.testing.assert_allclose(y, formula(POINTS, parameter), rtol=1e-13, atol=1e-15)
    _, dx, da = back(np.ones_like(POINTS))
    np.testing.assert_allclose(dx, slope(lambda x: formula(x, parameter), POINTS), atol=1e-9)
    assert type(da) is float
    expected = np.sum(slope(lambda a: formula(POINTS, a), parameter))
    assert da == pytest.approx(expected, abs=1e-9)
    y, back = rrule(f, -0.9, parameter)
    assert type(y) is float
    _, dx, da = back(1.0)
    assert (type(dx), type(da)) == (float, float)
    assert dx == pytest.approx(float(slope(lambda x: formula(x, parameter), -0.9)), abs=1e-9)
    assert da == pytest.approx(float(slope(lambda a: formula(-0.9, a), parameter)), abs=1e-9)


@every_parametric
def test_parameter_broadcasts(f):
    x, parameter = POINTS[:12].reshape(4, 3), np.array([0.6, 0.9, 2.0])
    y, back = rrule(f, x, parameter)
    assert y.shape == (4, 3)
    _, dx, da = back(np.ones((4, 3)))
    each = [rrule(f, x[:, k], float(parameter[k]))[1](np.ones(4)) for k in range(3)]
    np.testing.assert_allclose(dx, np.stack([d[1] for d in each], axis=1), rtol=1e-14)
    np.testing.assert_allclose(da, [d[2] for d in each], rtol=1e-14)


@every_parametric
def test_parameter_by_name_and_default(f):
    name = {nn.leakyrelu: "a", nn.trelu: "theta", nn.softshrink: "lam"}.get(f, "alpha")
    default = {nn.leakyrelu: 0.01, nn.softshrink: 0.5}.get(f, 1.0)
    np.testing.assert_array_equal(f(POINTS, **{name: 0.7}), f(POINTS, 0.7))
    np.testing.assert_array_equal(f(POINTS), f(POINTS, default))
    _, dx, _ = rrule(f, POINTS, default)[1](np.ones_like(POINTS))
    np.testing.assert_allclose(dx, rrule(f, POINTS)[1](np.ones_like(POINTS))[1], rtol=1e-12)


# f(-∞) and its slope there, f(∞) and its slope there; x stands for the input itself
X = "x"
LIMITS = {
    nn.sigmoid: (0, 0, 1, 0),
    nn.tanh_act: (-1, 0, 1, 0),
    nn.relu: (0, 0, X, 1),
    nn.relu6: (0, 0, 6, 0),
    nn.trelu: (0, 0, X, 1),
    nn.elu: (-1, 0, X, 1),
    nn.celu: (-1, 0, X, 1),
    nn.gelu: (0, 0, X, 1),
    nn.gelu_tanh: (0, 0, X, 1),
    nn.swish: (0, 0, X, 1),
    nn.hardswish: (0, 0, X, 1),
    nn.hardsigmoid: (0, 0, 1, 0),
    nn.hardtanh: (-1, 0, 1, 0),
    nn.softplus: (0, 0, X, 1),
    nn.logsigmoid: (X, 1, 0, 0),
    nn.softsign: (-1, 0, 1, 0),
    nn.mish: (0, 0, X, 1),
    nn.tanhshrink: (X, 1, X, 1),
    nn.softshrink: (X, 1, X, 1),
    nn.lisht: ("-x", -1, X, 1),
    nn.logcosh: ("-x", -1, X, 1),
    normal_cdf: (0, 0, 1, 0),
    normal_pdf: (0, 0, 0, 0),
}


@pytest.mark.parametrize("f", LIMITS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [float, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [1e4, math.inf])
def test_far_out(f, dtype, size):
    below, slope_below, above, slope_above = LIMITS[f]
    for x, y, dx in [(-size, below, slope_below), (size, above, slope_above)]:
        y = {"x": x, "-x": -x}.get(y, y)
        given, back = rrule(f, dtype(x))
        assert type(given) is dtype
        assert given == pytest.approx(y, rel=1e-3 if dtype is np.float16 else 1e-4, abs=2e-4)
        assert back(dtype(1))[1] == pytest.approx(dx, abs=1e-6)
        if dtype is not float:
            array, back = rrule(f, np.full(3, x, dtype))
            np.testing.assert_array_equal(array, np.full(3, given), strict=True)
            assert back(np.ones(3, dtype))[1].dtype == dtype


@pytest.mark.parametrize("x", [-1e4, 1e4])
def test_slopes_far_out_of_the_scaled_and_leaky(x):
    assert nn.leakyrelu(x) == (x if x > 0 else -100)
    assert rrule(nn.leakyrelu, x)[1](1.0) == (None, 1.0 if x > 0 else 0.01)
    assert nn.selu(x) == pytest.approx(SELU_SCALE * (x if x > 0 else -SELU_ALPHA))
    assert rrule(nn.selu, x)[1](1.0)[1] == pytest.approx(SELU_SCALE if x > 0 else 0, abs=1e-15)
    for f in (nn.elu, nn.celu):
        _, dx, dalpha = rrule(f, x, 2.0)[1](1.0)
        assert (dx, dalpha) == ((1.0, 0.0) if x > 0 else (0.0, -1.0))


KINKS = [
    (nn.relu, (0.0,), 0.0),
    (nn.relu, (-0.0,), 0.0),
    (nn.relu6, (0.0,), 0.0),
    (nn.relu6, (6.0,), 0.0),
    (nn.leakyrelu, (0.0,), 0.505),
    (nn.leakyrelu, (0.0, 0.5), 0.75),
    (nn.leakyrelu, (0.0, -0.5), 0.0),
    (nn.leakyrelu, (0.0, 0.0), 0.0),
    (nn.trelu, (1.0,), 0.0),
    (nn.elu, (0.0,), 1.0),
    (nn.elu, (0.0, 2.0), 1.5),
    (nn.elu, (0.0, -2.0), 0.0),
    (nn.selu, (0.0,), SELU_SCALE * (1 + SELU_ALPHA) / 2),
    (nn.celu, (0.0, 2.0), 1.0),
    (nn.hardswish, (-3.0,), 0.0),
    (nn.hardswish, (3.0,), 1.25),
    (nn.hardsigmoid, (-3.0,), 0.0),
    (nn.hardsigmoid, (3.0,), 0.0),
    (nn.hardtanh, (-1.0,), 0.0),
    (nn.hardtanh, (1.0,), 0.0),
    (nn.softshrink, (0.5,), 0.0),
    (nn.softshrink, (-0.5,), 0.0),
    (nn.softsign, (0.0,), 1.0),
    (nn.logcosh, (0.0,), 0.0),
    (nn.lisht, (0.0,), 0.0),
]


@pytest.mark.parametrize(("f", "xs", "expected"), KINKS)
def test_at_a_kink(f, xs, expected):
    """0 at a local extremum, else the mean of the slopes on both sides."""
    assert rrule(f, *xs)[1](1.0)[1] == pytest.approx(expected, abs=1e-15)
    array = np.full(2, xs[0])
    assert rrule(f, array, *xs[1:])[1](np.ones(2))[1] == pytest.approx([expected] * 2, abs=1e-15)


@every_activation
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_precision_is_kept(f, dtype):
    x = POINTS.astype(dtype)
    y, back = rrule(f, x)
    assert y.dtype == dtype
    dx = back(np.ones_like(y))[1]
    assert dx.dtype == dtype
    exact = x.astype(float)
    tolerance = 8 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(y, f(exact), rtol=tolerance, atol=tolerance)
    reference = rrule(f, exact)[1](np.ones_like(exact))[1]
    np.testing.assert_allclose(dx, reference, rtol=tolerance, atol=tolerance)
    assert type(f(x[0])) is dtype


@every_activation
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_integers_are_real_numbers(f, dtype):
    info = np.iinfo(np.uint8 if dtype is np.int64 else dtype)
    x = np.array([0, 1, 3, 11, 16, info.max, info.min], dtype)
    dy = np.linspace(1, 2, x.size)
    y, back = rrule(f, x)
    reference, reference_back = rrule(f, x.astype(float))
    np.testing.assert_array_equal(y, reference, strict=True)
    np.testing.assert_array_equal(back(dy)[1], reference_back(dy)[1], strict=True)
    number = int(x[3])
    assert type(f(number)) is float
    assert rrule(f, number)[1](1.0) == pytest.approx(rrule(f, float(number))[1](1.0))


@every_activation
def test_truth_values_have_no_gradient(f):
    assert f(True) == f(1.0)
    assert rrule(f, True)[1](1.0) == (None, None)
    x = np.array([True, False])
    np.testing.assert_array_equal(f(x), f(x.astype(float)))
    assert rrule(f, x)[1](np.ones(2)) == (None, None)


@every_activation
def test_shapes_and_layouts(f):
    for x in [np.zeros(()), np.zeros((0, 3)), np.full((2, 1, 3), 0.3), POINTS[::-2]]:
        kept = x.copy()
        x.flags.writeable = False
        y, back = rrule(f, x)
        assert np.shape(y) == x.shape
        dy = np.ones_like(x)
        dx = back(dy)[1]
        assert dx.shape == x.shape
        assert isinstance(dx, np.ndarray)
        np.testing.assert_array_equal(
            dx, rrule(f, np.ascontiguousarray(x))[1](dy)[1].reshape(x.shape)
        )
        np.testing.assert_array_equal(x, kept)
        np.testing.assert_array_equal(dy, 1)
        np.testing.assert_array_equal(back(dy)[1], dx)
    assert back(None) == (None, None)


@every_activation
def test_nan_stays_nan(f):
    assert math.isnan(f(math.nan))
    assert np.isnan(f(np.array([math.nan, 1.0]))).tolist() == [True, False]


@every_activation
def test_a_zero_cotangent_is_a_strong_zero(f):
    x = np.array([math.nan, math.inf, -math.inf, 0.4])
    dx = rrule(f, x)[1](np.zeros(4))[1]
    np.testing.assert_array_equal(dx, np.zeros(4))


@every_activation
@pytest.mark.parametrize("x", [1j, np.ones(2, complex), [1.0, 2.0], "1", None])
def test_what_is_not_real_is_refused(f, x):
    with pytest.raises(TypeError, match="real numbers and arrays"):
        f(x)


@every_parametric
def test_a_complex_parameter_is_refused(f):
    with pytest.raises(TypeError, match="real numbers and arrays"):
        f(0.5, 1j)


@every_activation
def test_foreign_arrays_stay_foreign(f, foreign):
    y, back = rrule(f, foreign(POINTS))
    assert type(y) is foreign
    np.testing.assert_array_equal(y.data, f(POINTS))
    dy = np.linspace(1, 2, POINTS.size)
    dx = back(foreign(dy))[1]
    assert type(dx) is foreign
    np.testing.assert_allclose(dx.data, rrule(f, POINTS)[1](dy)[1], rtol=1e-15)


@pytest.mark.parametrize(("f", "x"), [(nn.gelu, -9.0), (nn.gelu_tanh, -5.0), (nn.logcosh, 1e-5)])
def test_small_results_are_precise(f, x):
    """Relative precision, where 1 + erf, 1 + tanh or log(cosh) would cancel."""
    expected = {
        nn.gelu: -9.0 * sp.ndtr(-9.0),
        nn.gelu_tanh: -5.0 * sp.expit(-2 * math.sqrt(2 / math.pi) * (5 + 0.044715 * 125)),
        nn.logcosh: 1e-10 / 2 - 1e-20 / 12,
    }[f]
    assert f(x) == pytest.approx(expected, rel=1e-10)
    assert f(np.array([x]))[0] == pytest.approx(expected, rel=1e-10)


@every_activation
def test_a_derivative_has_a_derivative(f):
    """What the partials are made of has rules or source: an AD can differentiate them again."""
    rule = next(r for r in rules() if r.function is f and len(r.types) == 1)

    def partial(x):
        return 1.0 * (rule.body(x, f(x)) if rule.takes_out else rule.body(x))

    (second,) = gradient(partial, 0.3)
    assert (second or 0.0) == pytest.approx(float(slope(partial, 0.3)), abs=1e-9)


def test_every_activation_is_tested():
    elementwise = {r.function for r in rules() if r.kind == "scalar"}
    assert elementwise == set(ACTIVATIONS)
    assert nn.gelu_erf is nn.gelu


def test_every_module_of_rules_is_collected():
    folder = Path(nn.__file__).parent
    assert sorted(nn.MODULES) == sorted(path.stem for path in folder.glob("_*_rules.py"))


def test_every_rule_has_an_example():
    for rule_set in nn.rulescore_rules():
        examples = {id(f) for f, _, _ in rule_set.examples}
        assert [r.signature for r in rule_set.rules if id(r.function) not in examples] == []
        for f, xs, options in rule_set.examples:
            assert rrule(f, *xs, **options) is not None


def rules():
    return [rule for rule_set in nn.rulescore_rules() for rule in rule_set.rules]
