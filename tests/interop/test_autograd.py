"""Exported rules and programs as functions of autograd."""

import numpy as np
import pytest

from rulescore import RuleError, rrule
from rulescore._naming import name_of
from rulescore.interop import to_autograd
from tests.interop.choose import PLUGINS, examples_of, is_real, real_only
from tests.interop.programs import PROGRAMS, heat
from zygote_lite import interop, pullback, value_and_grad

autograd = pytest.importorskip(
    "autograd", reason="autograd is not here: `nox -s interop` installs it"
)
anp = pytest.importorskip("autograd.numpy")
builtins = pytest.importorskip("autograd.builtins")
check_grads = pytest.importorskip("autograd.test_util").check_grads
pytestmark = pytest.mark.filterwarnings("default")

RULES = [(name, *call) for name in PLUGINS for call in examples_of(name)]
NAMES = [f"{name}:{name_of(f)}" for name, f, _, _ in RULES]
EXPORTED = {f: interop.to_autograd(f) for f, _ in PROGRAMS}


@pytest.mark.parametrize(("plugin", "f", "xs", "options"), RULES, ids=NAMES)
def test_check_grads_of_rules(plugin, f, xs, options):
    call, given = real_only(to_autograd(f), xs, options)
    check_grads(call, modes=["rev"], order=1)(*given)


@pytest.mark.parametrize(("plugin", "f", "xs", "options"), RULES, ids=NAMES)
def test_rules_in_a_training_loop(plugin, f, xs, options):
    """Three steps with autograd's gradient are those with the rule's."""
    call, given = real_only(to_autograd(f), xs, options)
    _, own_given = real_only(f, xs, options)
    gradient = autograd.grad(lambda *a: anp.sum(call(*a)), argnum=list(range(len(given))))
    for _ in range(3):
        given = [x - 1e-3 * dx for x, dx in zip(given, gradient(*given), strict=True)]
        each = list(xs)
        places = [i for i, x in enumerate(xs) if is_real(x)]
        for i, x in zip(places, own_given, strict=True):
            each[i] = x
        y, back = rrule(f, *each, **options)
        dxs = back(np.ones(np.shape(y)) if np.ndim(y) else 1.0)[1:]
        own_given = [
            x - 1e-3 * (0.0 if dxs[i] is None else dxs[i])
            for i, x in zip(places, own_given, strict=True)
        ]
    for x, want in zip(given, own_given, strict=True):
        np.testing.assert_allclose(x, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("f", "xs"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_check_grads_of_programs(f, xs):
    for _ in range(3):
        check_grads(EXPORTED[f], modes=["rev"], order=1)(*xs)
    check_grads(EXPORTED[f], modes=["fwd", "rev"], order=2)(*xs)


@pytest.mark.parametrize(("f", "xs"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_programs_in_a_training_loop(f, xs):
    step = autograd.value_and_grad(lambda xs: anp.sum(EXPORTED[f](*xs) ** 2))
    given, own = xs, xs
    for _ in range(4):
        loss, dxs = step(given)
        given = tuple([x - 1e-3 * dx for x, dx in zip(given, dxs, strict=True)])
        ours, dxs = value_and_grad(lambda *a: np.sum(f(*a) ** 2), (0, 1))(*own)
        own = tuple([x - 1e-3 * dx for x, dx in zip(own, dxs, strict=True)])
        assert loss == pytest.approx(ours, rel=1e-12)


def test_trees_keywords_and_several_values():
    def model(parameters, x, *, scale=1.0):
        return {"h": parameters["w"] @ x * scale, "rest": [x[0], 3, None]}

    exported = interop.to_autograd(model)
    parameters = {"w": np.arange(6.0).reshape(2, 3) / 7, "b": 1.0}

    def loss(parameters, x, scale):
        found = exported(parameters, x, scale=scale)
        assert found["rest"][1:] == [3, None]
        return builtins.tuple((found["h"], found["rest"][0]))

    check_grads(loss, modes=["rev", "fwd"], order=2)(parameters, np.ones(3), 2.0)
    assert exported(parameters, np.ones(3))["rest"] == [1.0, 3, None]


def test_second_derivatives_need_an_ad():
    twice = autograd.grad(autograd.grad(to_autograd(np.sin)))
    with pytest.raises(RuleError, match="give `ad=`"):
        twice(0.3)
    found = autograd.grad(autograd.grad(to_autograd(np.sin, ad=pullback)))(0.3)
    assert found == pytest.approx(-np.sin(0.3))
    k = autograd.hessian(lambda k: anp.sum(EXPORTED[heat](PROGRAMS[0][1][0], k)) * k**2)(0.2)
    assert np.isfinite(k)
    check_grads(EXPORTED[heat], modes=["rev"], order=3)(PROGRAMS[0][1][0][:4], 0.2)


def test_what_draws_random_numbers_has_first_derivatives_by_its_draw():
    """Second ones, and tangents, would be by another draw: the function would be run again."""
    rng = np.random.default_rng(0)
    f = interop.to_autograd(lambda x: rng.normal() * x**3)
    y, dy = autograd.value_and_grad(f)(0.5)
    assert dy == pytest.approx(3 * y / 0.5)
    for run in (
        lambda: autograd.grad(autograd.grad(f))(0.5),
        lambda: autograd.make_jvp(f)(0.5)(1.0),
    ):
        with pytest.raises(TypeError, match="has effects: it reads a Generator"):
            run()


def test_a_captured_array_that_is_overwritten_before_the_pullback_is_called_is_refused():
    scale = np.ones(3)
    back, _ = autograd.make_vjp(interop.to_autograd(lambda x: x * scale))(np.ones(3))
    assert back(np.ones(3)).tolist() == [1.0] * 3
    scale[0] = 2.0
    with pytest.raises(TypeError, match="has been overwritten since it was called"):
        back(np.ones(3))


def test_complex_numbers_and_precision():
    z = np.array([0.3 + 0.4j, -1.0 + 0.2j])
    check_grads(to_autograd(np.exp, ad=pullback), modes=["rev"], order=2)(z)
    for f in (np.exp, np.abs, np.conj):
        own = getattr(anp, f.__name__, None) or anp.abs
        name = "absolute" if f is np.abs else f.__name__
        own = getattr(anp, name)
        found, want = (
            autograd.grad(lambda z: anp.sum(anp.real(g(z) * (1 - 2j))))(z)
            for g in (to_autograd(f), own)
        )
        np.testing.assert_allclose(found, want)
    x = np.ones(2, np.float32)
    assert autograd.grad(lambda x: anp.sum(to_autograd(np.sin)(x)))(x).dtype == np.float32
    (only,) = autograd.grad(lambda xs: to_autograd(np.multiply)(xs[0], 2.0))((3.0,))
    assert only == 2.0


def test_integers_of_a_value_are_indices():
    """As those of autograd's own functions; a box of them was no index."""
    order = interop.to_autograd(lambda x: np.argsort(x))
    both = interop.to_autograd(lambda x: (np.sort(x), np.argsort(x)))
    x, weights = np.array([0.3, 0.1, 0.2]), np.arange(3.0)

    def by_both(x):
        y, i = both(x)
        return anp.sum(y * x[i] * weights)

    for f in (lambda x: anp.sum(x[order(x)] ** 2 * weights), by_both):
        want = autograd.grad(lambda x: anp.sum(x[np.argsort(x._value)] ** 2 * weights))(x)
        np.testing.assert_allclose(autograd.grad(f)(x), want)
