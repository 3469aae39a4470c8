"""The example plugin's rules, against finite differences of SciPy's own functions.

They run where the plugin is installed: in the plugin matrix, which installs it as a wheel.
"""

import importlib

import numpy as np
import pytest

from rulescore import plugins, rrule

PLUGIN = next((p for p in plugins() if p.name == "rules_scipy_special"), None)
if PLUGIN is None:
    pytest.skip(
        "examples/rules_scipy_special is not installed here: `nox -s third_party` installs it",
        allow_module_level=True,
    )

sp = importlib.import_module("scipy.special")  # SciPy comes with the plugin

RULES = [rule for ruleset in PLUGIN.rulesets for rule in ruleset.rules]
ELEMENTWISE = [rule.function for rule in RULES if rule.kind == "scalar"]
UNARY = [rule.function for rule in RULES if rule.kind == "scalar" and len(rule.types) == 1]
POSITIVE = np.array([0.2, 0.7, 1.3, 4.1])
UNIT = np.array([0.1, 0.4, 0.8])
REAL = np.concatenate([-POSITIVE, POSITIVE])
DOMAINS = {
    **dict.fromkeys((sp.logit, sp.erfinv, sp.ndtri), UNIT),
    sp.erfcinv: UNIT + 0.6,
    **dict.fromkeys((sp.y0, sp.y1, sp.k0, sp.k1, sp.k0e, sp.k1e, sp.entr), POSITIVE),
    **dict.fromkeys((sp.exp1, sp.loggamma), POSITIVE),
    sp.log1p: REAL[REAL > -1],
}
HOLOMORPHIC = [sp.erf, sp.erfc, sp.erfcx, sp.erfi, sp.dawsn, sp.wofz, sp.gamma, sp.loggamma]
HOLOMORPHIC += [sp.log1p, sp.expm1]
PAIRS = {
    sp.xlogy: [(0.7, 1.3), (-0.7, 0.3), (0.0, 0.4)],
    sp.xlog1py: [(0.7, 1.3), (-0.7, -0.3), (0.0, 0.4)],
    sp.beta: [(0.7, 1.3), (3.0, 0.2), (-0.4, 0.7)],
    sp.betaln: [(0.7, 1.3), (3.0, 0.2)],
    sp.rel_entr: [(0.7, 1.3), (3.0, 0.2)],
    sp.kl_div: [(0.7, 1.3), (3.0, 0.2)],
    sp.huber: [(0.7, 1.3), (0.7, -1.3), (2.0, 0.2)],
    sp.pseudo_huber: [(0.7, 1.3), (0.7, -1.3), (2.0, 0.2)],
}


def slope(f, x, h=1e-3):
    """Return f'(x) with an error of h⁴."""
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


@pytest.mark.parametrize("f", [f for f in UNARY if f is not sp.wofz], ids=lambda f: f.__name__)
def test_derivative(f):
    x = DOMAINS.get(f, REAL)
    y, back = rrule(f, x)
    np.testing.assert_array_equal(y, f(x))
    dself, dx = back(2 * np.ones_like(x))
    assert dself is None
    np.testing.assert_allclose(dx, 2 * slope(f, x, 1e-4 * np.abs(x)), rtol=1e-7, atol=1e-9)
    number, number_back = rrule(f, float(x[0]))
    assert number == y[0]
    assert number_back(2.0)[1] == pytest.approx(dx[0], rel=1e-12)
    assert rrule(f, x.astype(np.float32))[1](np.ones_like(x))[1].dtype == np.float32


@pytest.mark.parametrize("f", HOLOMORPHIC, ids=lambda f: f.__name__)
def test_holomorphic(f):
    z = np.array([0.3 + 0.4j, 1.2 - 0.7j])
    y, back = rrule(f, z)
    np.testing.assert_array_equal(y, f(z))
    dy = np.array([1.0 - 2.0j, 0.5j])
    np.testing.assert_allclose(back(dy)[1], np.conj(slope(f, z)) * dy, rtol=1e-9)


@pytest.mark.parametrize(("f", "points"), PAIRS.items(), ids=lambda f: getattr(f, "__name__", ""))
def test_partial_derivatives(f, points):
    for a, b in points:
        y, back = rrule(f, a, b)
        assert y == f(a, b)
        _, da, db = back(1.0)
        if a:  # from 0, half of the points of a difference lie outside the domain
            assert da == pytest.approx(slope(lambda a: f(a, b), a), rel=1e-8)
        assert db == pytest.approx(slope(lambda b: f(a, b), b), rel=1e-8, abs=1e-12)


def test_broadcasting_is_undone():
    a, b = np.array([[0.3], [0.8]]), np.array([0.4, 1.7, 2.2])
    y, back = rrule(sp.beta, a, b)
    assert y.shape == (2, 3)
    _, da, db = back(np.ones((2, 3)))
    assert (da.shape, db.shape) == ((2, 1), (3,))
    np.testing.assert_allclose(da, slope(lambda a: sp.beta(a, b), a).sum(1, keepdims=True))
    np.testing.assert_allclose(db, slope(lambda b: sp.beta(a, b), b).sum(0))


def test_special_points():
    assert rrule(sp.xlogy, 0.0, 0.0)[1](1.0)[2] == 0
    assert rrule(sp.xlogy, 0.0, 0.0)[1](0.0) == (None, 0, 0)
    assert rrule(sp.j1, 0.0)[1](1.0)[1] == 0.5
    assert rrule(sp.i1e, 0.0)[1](1.0)[1] == 0.5
    np.testing.assert_allclose(rrule(sp.log_ndtr, -1e4)[1](1.0)[1], 1e4, rtol=1e-7)
    assert rrule(sp.log_ndtr, 1e4)[1](1.0)[1] == 0
    assert rrule(sp.log_expit, -1e4)[1](1.0)[1] == 1
    assert rrule(sp.logit, np.array([0.0, 0.5]))[1](np.array([0.0, 1.0]))[1].tolist() == [0, 4]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_polygamma(n):
    x = POSITIVE + 0.5
    _, dn, dx = rrule(sp.polygamma, n, x)[1](np.ones_like(x))
    assert dn is None
    np.testing.assert_allclose(dx, slope(lambda x: sp.polygamma(n, x), x), rtol=1e-7)
    assert sp.digamma is sp.psi


@pytest.mark.parametrize("f", [sp.logsumexp, sp.softmax, sp.log_softmax], ids=lambda f: f.__name__)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
def test_along_axes(f, axis):
    x = np.random.default_rng(0).normal(size=(3, 4))
    y, back = rrule(f, x, axis=axis)
    np.testing.assert_allclose(y, f(x, axis=axis), rtol=1e-14)
    dy = np.random.default_rng(1).normal(size=np.shape(y))
    (_, dx) = back(dy)
    expected = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = 1
        expected[i] = np.sum(dy * slope(lambda h: f(x + h * e, axis=axis), 0.0))
    np.testing.assert_allclose(dx, expected, rtol=1e-9, atol=1e-10)


def test_logsumexp_options():
    x = np.random.default_rng(0).normal(size=(3, 4))
    y, back = rrule(sp.logsumexp, x, axis=1, keepdims=True)
    np.testing.assert_allclose(y, sp.logsumexp(x, axis=1, keepdims=True), rtol=1e-14)
    flat_back = rrule(sp.logsumexp, x, 1)[1]
    np.testing.assert_array_equal(back(np.ones((3, 1)))[1], flat_back(np.ones(3))[1])
    assert rrule(sp.logsumexp, x, b=np.ones(4)) is None
    assert rrule(sp.logsumexp, x, return_sign=True) is None


def test_constants():
    assert rrule(sp.gammasgn, -0.5)[1](1.0) == (None, None)


@pytest.mark.parametrize(
    "f", [f for f in UNARY if DOMAINS.get(f) is not UNIT], ids=lambda f: f.__name__
)
def test_integers_are_real_numbers(f):
    if f is sp.erfcinv:
        pytest.skip("no integer but 1 lies inside its domain")
    x = np.array([1, 2, 5, 20], np.int8)
    _, back = rrule(f, x)
    expected = rrule(f, x.astype(float))[1](np.ones(4))[1]
    # SciPy gives int8 a result in single precision, or less
    np.testing.assert_allclose(back(np.ones(4))[1], expected, rtol=1e-2, atol=1e-5)


def test_every_rule_has_an_example():
    examples = [example for ruleset in PLUGIN.rulesets for example in ruleset.examples]
    with_example = {id(f) for f, _, _ in examples}
    missing = [r.signature for r in RULES if id(r.function) not in with_example]
    assert missing == [r.signature for r in RULES if r.kind == "constant"]
    for f, xs, options in examples:
        assert rrule(f, *xs, **options)[1].rule.plugin == "rules_scipy_special"
