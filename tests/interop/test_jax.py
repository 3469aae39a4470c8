"""Exported rules and programs as functions of JAX: outside and inside `jit`, `grad` and `vmap`."""

import datetime
import functools

import numpy as np
import pytest

from rulescore import RuleError, rrule
from rulescore._naming import name_of
from rulescore.interop import to_jax
from tests.interop.choose import PLUGINS, examples_of, is_real, real_only
from tests.interop.programs import PROGRAMS, heat
from zygote_lite import NoRuleError, grad, interop, pullback, value_and_grad

jax = pytest.importorskip("jax", reason="JAX is not here: `nox -s interop` installs it")
jnp = jax.numpy
check_grads = pytest.importorskip("jax.test_util").check_grads
pytestmark = pytest.mark.filterwarnings("default")
jax.config.update("jax_enable_x64", True)

RULES = [(name, *call) for name in PLUGINS for call in examples_of(name)]
NAMES = [f"{name}:{name_of(f)}" for name, f, _, _ in RULES]
EXPORTED = {f: interop.to_jax(f) for f, _ in PROGRAMS}
U, K = jnp.asarray(PROGRAMS[0][1][0]), jnp.asarray(0.2)


@pytest.mark.parametrize(("plugin", "f", "xs", "options"), RULES, ids=NAMES)
def test_check_grads_of_rules(plugin, f, xs, options):
    call, given = real_only(to_jax(f), xs, options)
    given = [*map(jnp.asarray, given)]
    check_grads(call, given, 1, modes=["rev"], atol=2e-4, rtol=2e-4)
    compiled = jax.jit(call)
    np.testing.assert_allclose(compiled(*given), call(*given), rtol=1e-12)
    total = jax.grad(lambda *a: jnp.sum(call(*a)), argnums=tuple(range(len(given))))
    for found, want in zip(jax.jit(total)(*given), total(*given), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("plugin", "f", "xs", "options"), RULES, ids=NAMES)
def test_rules_in_a_training_loop(plugin, f, xs, options):
    """Three compiled steps with JAX's gradient are those with the rule's."""
    call, given = real_only(to_jax(f), xs, options)
    given = [*map(jnp.asarray, given)]
    call(*given)
    numbers = tuple(range(len(given)))

    @jax.jit
    def step(*given):
        dxs = jax.grad(lambda *a: jnp.sum(call(*a)), argnums=numbers)(*given)
        return [x - 1e-3 * dx for x, dx in zip(given, dxs, strict=True)]

    own = list(xs)
    for _ in range(3):
        given = step(*given)
        y, back = rrule(f, *own, **options)
        dxs = back(np.ones(np.shape(y)) if np.ndim(y) else 1.0)[1:]
        own = [
            x - 1e-3 * (0.0 if dx is None else dx) if is_real(x) or type(x) is np.float64 else x
            for x, dx in zip(own, dxs, strict=True)
        ]
    reals = [own[i] for i, x in enumerate(xs) if is_real(x)]
    for x, want in zip(given, reals, strict=True):
        np.testing.assert_allclose(x, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("f", "xs"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_check_grads_of_programs(f, xs):
    given = [jnp.asarray(x) for x in xs]
    for _ in range(3):
        check_grads(EXPORTED[f], given, 1, modes=["rev"])
    check_grads(EXPORTED[f], given, 2, modes=["rev"])
    check_grads(jax.jit(EXPORTED[f]), given, 2, modes=["rev"])
    y = EXPORTED[f](*given)
    shape = jax.ShapeDtypeStruct(y.shape, y.dtype)
    forward = interop.to_jax(f, mode="forward", result=shape)
    check_grads(forward, given, 1, modes=["fwd"])
    check_grads(jax.jit(forward), given, 2, modes=["fwd"])


@pytest.mark.parametrize(("f", "xs"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_programs_in_a_training_loop(f, xs):
    given, own = tuple(jnp.asarray(x) for x in xs), xs
    EXPORTED[f](*given)

    @jax.jit
    def step(given):
        loss, dxs = jax.value_and_grad(lambda xs: jnp.sum(EXPORTED[f](*xs) ** 2))(given)
        return loss, tuple(x - 1e-3 * dx for x, dx in zip(given, dxs, strict=True))

    for _ in range(4):
        loss, given = step(given)
        ours, dxs = value_and_grad(lambda *a: np.sum(f(*a) ** 2), (0, 1))(*own)
        own = tuple([x - 1e-3 * dx for x, dx in zip(own, dxs, strict=True)])
        assert float(loss) == pytest.approx(float(ours), rel=1e-12)


def own_heat(u, k):
    for _ in range(2):
        u = u.at[1:-1].add(k * (u[2:] - 2 * u[1:-1] + u[:-2]))
    return u


def test_transforms():
    short = functools.partial(heat, steps=2)
    f = interop.to_jax(short, result=lambda u, k: u)
    us, ks = jnp.stack([U, 2 * U, U - 1]), jnp.stack([K, 2 * K, K / 2])

    def loss(f):
        return lambda u, k: jnp.sum(f(u, k) ** 2)

    for transform in (
        lambda f: jax.grad(loss(f), argnums=(0, 1))(U, K),
        lambda f: jax.vmap(f, in_axes=(0, None))(us, K),
        lambda f: jax.vmap(f, in_axes=(None, 0), out_axes=1)(U, ks),
        lambda f: jax.vmap(jax.grad(loss(f), argnums=(0, 1)))(us, ks),
        lambda f: jax.grad(lambda us: jnp.sum(jax.vmap(loss(f), in_axes=(0, None))(us, K)))(us),
        lambda f: jax.jacrev(f, argnums=(0, 1))(U, K),
        lambda f: jax.jacrev(jax.jacrev(loss(f)))(U, K),
        lambda f: jax.grad(lambda k: jnp.sum(jax.grad(loss(f))(U, k)))(K),
        lambda f: jax.lax.scan(lambda u, _: (f(u, K), jnp.sum(u)), U, None, length=3),
    ):
        want = jax.jit(transform, static_argnums=0)(own_heat)
        for compile in (lambda f: f, lambda f: jax.jit(f, static_argnums=0)):
            found = compile(transform)(f)
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-12), found, want)
    forward = interop.to_jax(short, mode="forward", result=lambda u, k: u)
    for transform in (
        lambda f: jax.jvp(f, (U, K), (us[1], K)),
        lambda f: jax.jacfwd(f, argnums=(0, 1))(U, K),
        lambda f: jax.jacfwd(jax.jacfwd(loss(f)))(U, K),
    ):
        found, want = transform(forward), jax.jit(transform, static_argnums=0)(own_heat)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-12), found, want)


def test_elementwise_rules_run_once_for_a_whole_batch():
    calls = []

    class Counting(type(interop.BY_ENGINE)):
        def pull(self, f, xs, options, needed):
            calls.append(xs)
            return super().pull(f, xs, options, needed)

    f = to_jax(np.arctan2, ad=Counting())
    x, y = jnp.arange(12.0).reshape(4, 3) + 1, jnp.asarray(2.0)
    both = jax.grad(lambda x, y: jnp.sum(f(x, y)), argnums=(0, 1))
    want = jax.grad(lambda x, y: jnp.sum(jnp.arctan2(x, y)), argnums=(0, 1))
    for axes, given in (((0, None), (x, y)), ((None, 0), (x[0], x[:, 1])), ((0, 0), (x, x[:, 0]))):
        calls.clear()
        found = jax.jit(jax.vmap(both, in_axes=axes))(*given)
        due = jax.vmap(want, in_axes=axes)(*given)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-12), found, due)
        assert len(calls) == 1
    forward = to_jax(np.arctan2, mode="forward")
    check_grads(forward, (x, y), 1)
    check_grads(jax.jit(jax.vmap(forward, in_axes=(0, None))), (x, y), 1)


def test_shapes_are_known_or_declared():
    f = interop.to_jax(heat)
    with pytest.raises(TypeError, match="declare them by `result=`"):
        jax.jit(f)(U, K)
    y = f(U, K)
    np.testing.assert_allclose(jax.jit(f)(U, K), y)
    with pytest.raises(TypeError, match="declare them by `result=`"):
        jax.jit(f)(U[:4], K)
    wrong = interop.to_jax(heat, result=jax.ShapeDtypeStruct((3,), U.dtype))
    with pytest.raises(Exception, match=r"returns an array of shape \(6,\), and \(3,\)"):
        jax.block_until_ready(jax.jit(wrong)(U, K))
    two = interop.to_jax(
        lambda x: {"a": x * 2, "b": (x.sum(), None)},
        result=lambda x: {"a": x, "b": (jax.ShapeDtypeStruct((), x.dtype), None)},
    )
    found = jax.jit(jax.grad(lambda x: jnp.sum(two(x)["a"]) + 3 * two(x)["b"][0]))(U)
    np.testing.assert_allclose(found, 5.0)
    assert jax.jit(two)(U)["b"][1] is None


def test_shapes_are_known_in_any_order_of_a_dict_and_for_numbers_of_python():
    d = {"b": jnp.array(2.0), "a": jnp.arange(3.0)}
    f = interop.to_jax(lambda d, k=1.0: {n: k * x**2 for n, x in d.items()})
    for options in ({}, {"k": 3.0}):
        want = f(d, **options)
        found = jax.jit(f)(d, **options)
        np.testing.assert_allclose(found["a"], want["a"])
        np.testing.assert_allclose(found["b"], want["b"])
    f(d, 3.0)
    assert jax.jit(jax.grad(lambda k: f(d, k)["b"]))(3.0) == 4.0
    named = interop.to_jax(lambda x, *, k: k * x)
    named(U, k=3.0)
    np.testing.assert_allclose(jax.jit(named)(U, k=2.0), 2.0 * U)
    counted = interop.to_jax(lambda x, n: np.ones(n) * x[0])
    counted(U, 3), counted(U, 4)
    assert jax.jit(lambda x: counted(x, 4))(U).shape == (4,)
    with pytest.raises(TypeError, match="declare them by `result=`"):
        jax.jit(counted)(U, 4)  # of 3 or of 4


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_dict_has_its_gradient_by_name_where_it_was_declared_in_another_order(mode):
    def declared(x):
        return {"a": x, "b": x}

    f = interop.to_jax(lambda x: {"b": 2 * x, "a": 3 * x}, result=declared, mode=mode)
    loss = jax.jit(lambda x: jnp.sum(f(x)["a"]))
    assert loss(U) == pytest.approx(3 * jnp.sum(U))
    if mode == "reverse":
        np.testing.assert_allclose(jax.jit(jax.grad(loss))(U), 3.0)
    else:
        assert jax.jit(lambda x: jax.jvp(loss, (x,), (jnp.ones_like(x),)))(U)[1] == 3.0 * U.size
    other = interop.to_jax(lambda x: (2 * x, 3 * x), result=declared)
    with pytest.raises(Exception, match="was declared or seen before"):
        jax.block_until_ready(jax.jit(jax.grad(lambda x: jnp.sum(other(x)["a"])))(U))


def test_captured_arrays():
    def product(captured, x):
        return interop.to_jax(lambda x: x * captured)(x).sum()

    with pytest.raises(TypeError, match="as an argument"):
        jax.grad(product)(U, K)
    found = jax.grad(lambda x: interop.to_jax(lambda x: x * np.asarray(U))(x).sum())(2 * U)
    np.testing.assert_allclose(found, U)


HISTORY = []


def with_history(x):
    if np.max(x) > 1.0:
        HISTORY.append(x)
    return x * 2.0


def test_effects_are_refused():
    def printing(x):
        print(x)
        return x

    with pytest.raises(TypeError, match="calls `print`"):
        interop.to_jax(printing)
    with pytest.raises(TypeError, match="has effects"):
        to_jax(np.random.normal)
    with pytest.raises(TypeError, match=r"calls `datetime\.now`"):
        interop.to_jax(lambda x: x * datetime.datetime.now().microsecond)
    with pytest.raises(ValueError, match="'reverse' or 'forward'"):
        to_jax(np.sin, mode="both")


def writing(x):
    x[0] = 5.0
    return x * 2.0


def test_arrays_of_numpy_cannot_be_written_into():
    """Those of the caller are handed on as they are; others are JAX's."""
    f, x = interop.to_jax(writing, result=lambda x: x), np.array([1.0, 2.0])
    for call in (f, jax.jit(f), jax.grad(lambda x: f(x).sum())):
        with pytest.raises(Exception, match="read-only"):
            jax.block_until_ready(call(x))
    assert x.tolist() == [1.0, 2.0]


def test_fractions_that_were_declared_as_integers_are_refused():
    f = interop.to_jax(lambda x: x * 1.5, result=lambda x: jax.ShapeDtypeStruct(x.shape, np.int32))
    with pytest.raises(Exception, match=r"returns float\d+, and int32 was declared"):
        jax.block_until_ready(jax.jit(f)(jnp.ones(2)))


@pytest.mark.parametrize("export", [interop.to_jax, functools.partial(to_jax, ad=pullback)])
def test_changes_of_what_is_captured_are_refused(export):
    """In each call, and not in the first one alone."""
    f = export(with_history, result=lambda x: x)
    forward = interop.to_jax(with_history, mode="forward", result=lambda x: x)
    total = jax.grad(lambda x: f(x).sum())
    small, large = jnp.full(3, 0.5), jnp.full(3, 1.5)
    for call in (
        f, total, jax.jit(f), jax.jit(total), jax.vmap(f), lambda x: jax.jvp(forward, [x], [x]),
    ):  # fmt: skip
        jax.block_until_ready(call(small))
        with pytest.raises(Exception, match="has effects: it changes a variable around it"):
            jax.block_until_ready(call(large))


def test_second_derivatives_need_an_ad():
    x = jnp.array([0.3, 0.4])
    for compile in (lambda f: f, jax.jit):
        with pytest.raises(RuleError, match="give `ad=`"):
            compile(jax.jacrev(jax.jacrev(to_jax(np.sin))))(x)
        found = compile(jax.jacrev(jax.grad(lambda x: to_jax(np.sin, ad=pullback)(x).sum())))(x)
        np.testing.assert_allclose(found, np.diag(-np.sin(x)))


def test_complex_numbers_are_those_of_jax():
    z = jnp.array([0.3 + 0.4j, -1.0 + 0.2j])
    for f, own in ((np.exp, jnp.exp), (np.conj, jnp.conj), (np.abs, jnp.abs)):
        for compile in (lambda f: f, jax.jit):
            found, want = (
                compile(jax.grad(lambda z: jnp.sum(jnp.real(g(z) * (1 - 2j)))))(z)
                for g in (to_jax(f), own)
            )
            np.testing.assert_allclose(found, want)
    check_grads(to_jax(np.exp, ad=pullback), (z,), 2, modes=["rev"])
    for f in (np.exp, np.conj, np.abs):
        check_grads(jax.jit(to_jax(f, mode="forward")), (z,), 1, modes=["fwd"])


def test_precision_integers_and_constants():
    x = jnp.ones(3, jnp.float32)
    for compile in (lambda f: f, jax.jit):
        dx = compile(jax.grad(lambda x: to_jax(np.sin)(x).sum()))(x)
        assert dx.dtype == jnp.float32
    for compile in (lambda f: f, jax.jit):  # the gradient was zero
        with pytest.raises(TypeError, match=r"array of bfloat16 cannot be.*astype"):
            compile(jax.grad(lambda x: to_jax(np.sin)(x).sum()))(jnp.ones(3, jnp.bfloat16))
    f = interop.to_jax(lambda x, n, scale: scale * x**n)
    n = jnp.arange(3)
    f(x, n, np.float64(2.0))
    for compile in (lambda f: f, jax.jit):
        dx = compile(jax.grad(lambda x: f(x, n, np.float64(2.0)).sum()))(x)
        np.testing.assert_allclose(dx, [0.0, 2.0, 4.0])
    empty = jax.grad(lambda x: to_jax(np.sin)(x).sum())(jnp.ones((0, 3)))
    assert empty.shape == (0, 3)
    assert float(interop.to_jax(lambda x: 2.0 * float(x))(jnp.float32(1.5))) == 3.0


def test_a_whole_module():
    import scipy.special

    special = to_jax(scipy.special)
    x = jnp.array([0.3, 1.4])
    found = jax.jit(jax.grad(lambda x: special.gammaln(x).sum()))(x)
    np.testing.assert_allclose(found, scipy.special.digamma(x))


def test_numbers_of_python_are_differentiated_as_by_jax_itself():
    def f(x, y):
        return x**3 * y

    def same(found, want):
        for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(want), strict=True):
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)

    ours, forward = interop.to_jax(f), interop.to_jax(f, mode="forward")
    same(jax.value_and_grad(ours, (0, 1))(2.0, 3.0), jax.value_and_grad(f, (0, 1))(2.0, 3.0))
    same(jax.grad(ours)(2.0, 3), jax.grad(f)(2.0, 3))
    same(jax.grad(jax.grad(ours))(2.0, 3.0), jax.grad(jax.grad(f))(2.0, 3.0))
    same(jax.jvp(forward, (2.0, 3.0), (1.0, 0.5)), jax.jvp(f, (2.0, 3.0), (1.0, 0.5)))
    same(jax.grad(to_jax(np.cbrt))(8.0), jax.grad(jnp.cbrt)(8.0))
    same(jax.grad(to_jax(np.exp, mode="forward"))(1.0), jax.grad(jnp.exp)(1.0))
    same(jax.jacfwd(to_jax(np.exp, mode="forward"))(1.0), jax.jacfwd(jnp.exp)(1.0))
    norm = interop.to_jax(lambda z: abs(z) ** 2)
    same(jax.grad(norm)(2.0 + 1.0j), jax.grad(lambda z: jnp.abs(z) ** 2)(2.0 + 1.0j))


def test_gradients_of_what_is_exported_forward_are_refused_with_what_to_write():
    def f(x):
        return np.sum(np.sin(x) ** 2)

    x = jnp.array([0.3, 0.6])
    forward = interop.to_jax(f, mode="forward", result=lambda x: jax.ShapeDtypeStruct((), x.dtype))
    for derivative in (
        jax.grad(forward), jax.jit(jax.grad(forward)), jax.hessian(forward),
        jax.grad(lambda x: 2 * jax.jit(forward)(x)), lambda x: jax.vmap(jax.grad(forward))(x[None]),
        lambda x: jax.vjp(forward, x)[1](1.0),
    ):  # fmt: skip
        told = r"f is exported with `mode='forward'`.*`jax.jacfwd\(f\)`.*\[RC017\]"
        with pytest.raises(TypeError, match=told):
            derivative(x)
    slope, curvature = np.sin(2 * x), np.diag(2 * np.cos(2 * x))
    for wrap in (lambda f: f, jax.jit):
        np.testing.assert_allclose(wrap(jax.jacfwd(forward))(x), slope, rtol=1e-9)
        np.testing.assert_allclose(wrap(jax.jacfwd(jax.jacfwd(forward)))(x), curvature, rtol=1e-9)
    np.testing.assert_allclose(jax.linearize(forward, x)[1](x), slope @ x, rtol=1e-9)
    np.testing.assert_allclose(jax.vmap(jax.jacfwd(forward))(x[None]), slope[None], rtol=1e-9)


def test_a_gradient_of_ours_inside_of_jit_gets_what_helps():
    def loss(x):
        return np.sum(x**2)

    with pytest.raises(NoRuleError, match=r"outside of `jax\.jit` .*to_jax\(f, result=\.\.\.\)"):
        jax.jit(grad(loss))(jnp.ones(2))
    called = jax.jit(
        jax.grad(interop.to_jax(loss, result=lambda x: jax.ShapeDtypeStruct((), x.dtype)))
    )  # as the message says
    np.testing.assert_array_equal(called(jnp.ones(2)), 2 * np.ones(2))


def test_fractions_declared_as_integers_are_refused_where_the_gradient_alone_is_asked_for():
    """Nothing reads the value, so JAX would leave the call out, and the gradient would be zero."""

    def shape(x):
        return jax.ShapeDtypeStruct(x.shape, np.int32)

    def total(f):
        return lambda x: (f(x) * 1.0).sum()

    f = interop.to_jax(lambda x: x * 1.5, result=shape)
    forward = interop.to_jax(lambda x: x * 1.5, mode="forward", result=shape)
    sine = interop.to_jax(np.sin, result=shape)
    for call in (
        jax.grad(total(f)), jax.grad(total(sine)), jax.vmap(jax.grad(total(sine))),
        lambda x: jax.jvp(total(forward), [x], [x])[1],
    ):  # fmt: skip
        with pytest.raises(Exception, match=r"returns float\d+, and int32 was declared"):
            jax.block_until_ready(jax.jit(call)(jnp.ones((2, 2))))


def test_integers_beside_a_gradient():
    def sorted_sines(x):
        return np.sin(x), np.argsort(x)

    f = interop.to_jax(sorted_sines, result=lambda x: (x, jax.ShapeDtypeStruct(x.shape, np.int64)))

    def loss(f, x):
        y, order = f(x)
        return (y[order] * jnp.arange(3.0)).sum()

    def own(x):
        return jnp.sin(x), jnp.argsort(x)

    x = jnp.array([0.3, 0.1, 0.2])
    for transform in (jax.grad, lambda f: jax.jacrev(jax.jacrev(f))):
        found, want = (jax.jit(transform(functools.partial(loss, g)))(x) for g in (f, own))
        np.testing.assert_allclose(found, want, atol=1e-12)


@pytest.mark.parametrize("compile", [lambda f: f, jax.jit])
def test_a_captured_array_that_is_overwritten_before_the_backward_pass_is_refused(compile):
    scale = np.ones(3)
    f = compile(interop.to_jax(lambda x: np.sin(x * scale), result=lambda x: x))
    x = jnp.arange(3.0)
    y, back = jax.vjp(f, x)
    jax.block_until_ready(y)
    np.testing.assert_allclose(back(jnp.ones(3))[0], jnp.cos(x))
    scale[0] = 2.0
    with pytest.raises(Exception, match="has been overwritten since it was called"):
        jax.block_until_ready(back(jnp.ones(3)))
    want = np.diag(-(scale**2) * np.sin(scale * x))
    np.testing.assert_allclose(jax.jacrev(jax.grad(lambda x: f(x).sum()))(x), want, atol=1e-12)


@pytest.mark.parametrize("export", [interop.to_jax, to_jax], ids=["engine", "rule"])
def test_arrays_of_numpy_may_be_overwritten_before_the_backward_pass(export):
    """The gradient is that at the time of the call, as of JAX's own functions."""
    x = np.arange(3.0)
    y, back = jax.vjp(export(np.sin), x)
    x[:] = 5.0
    np.testing.assert_allclose(y, np.sin(np.arange(3.0)))
    np.testing.assert_allclose(back(jnp.ones(3))[0], np.cos(np.arange(3.0)))


LEVEL = np.ones(3)


def levelled(x):
    return np.sin(x * LEVEL)


@pytest.mark.parametrize("export", [interop.to_jax, functools.partial(to_jax, ad=pullback)])
def test_captured_arrays_that_were_rebound_are_looked_at(export, monkeypatch):
    f, x = export(levelled, result=lambda x: x), jnp.arange(3.0)
    for compile in (lambda f: f, jax.jit):
        for scale in (1.0, 2.0, 3.0):
            level = np.full(3, scale)
            monkeypatch.setitem(globals(), "LEVEL", level)
            _, back = jax.vjp(compile(f), x)
            np.testing.assert_allclose(back(jnp.ones(3))[0], scale * np.cos(scale * x))
            level[0] = 7.0
            with pytest.raises(Exception, match="has been overwritten since it was called"):
                jax.block_until_ready(back(jnp.ones(3)))
