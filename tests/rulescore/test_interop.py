"""What exports to other hosts have in common: calls as functions of flat leaves, without a host."""

import subprocess
import sys

import numpy as np
import pytest

from rulescore import RuleError, Tangent, interop
from rulescore.interop import Differentiator
from rulescore.interop._calls import Call, by_position, owned
from rulescore.interop._derivatives import Derivative, Pushforward
from rulescore.interop._modules import ExportedModule
from rulescore.interop._trees import LEAF, flatten, leaves_like, rebuild, same
from rulescore.interop.foreign import leaves_along, rebuilt_like
from zygote_lite import pullback
from zygote_lite.interop import BY_ENGINE

X = np.array([0.3, -0.7, 1.1])


@pytest.mark.parametrize("host", ["torch", "jax", "autograd"])
def test_a_host_that_is_not_installed_is_told(host, monkeypatch):
    monkeypatch.setitem(sys.modules, host, None)
    monkeypatch.delitem(sys.modules, f"rulescore.interop._{host}", raising=False)
    with pytest.raises(
        ModuleNotFoundError, match=rf'pip install "rulescore\[{host}\]"` \[RC016\]$'
    ):
        getattr(interop, f"to_{host}")(np.sin)


@pytest.mark.parametrize("host", ["torch", "jax"])
def test_a_library_whose_plugin_is_called_and_that_is_not_installed_is_told(host, monkeypatch):
    plugin = pytest.importorskip(f"rules_{host}")
    if not hasattr(plugin, "numpy"):
        pytest.skip(f"the plugin rules_{host} is not installed")  # a folder of the repository
    monkeypatch.setitem(sys.modules, host, None)
    monkeypatch.delitem(sys.modules, f"rules_{host}.calls", raising=False)
    told = rf'{host} is not installed here: run `pip install "rules_{host}\[{host}\]"` \[RC016\]$'
    with pytest.raises(ModuleNotFoundError, match=told):
        plugin.numpy(np.sin)


def test_no_host_is_imported():
    code = (
        "import sys, zygote_lite.interop; "  # which imports that of rulescore
        "assert not {'torch', 'jax', 'autograd'} & {m.partition('.')[0] for m in sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_trees():
    tree = {"a": (1.0, [2.0, "text"]), "b": None}
    leaves = []
    structure = flatten(tree, lambda x: isinstance(x, float), leaves)
    assert leaves == [1.0, 2.0]
    assert rebuild(structure, iter(leaves)) == tree
    found = []
    leaves_like(structure, {"a": (5.0, None)}, found)
    assert found == [5.0, None]
    assert same(structure, flatten(tree, lambda x: isinstance(x, float), []))
    assert not same(structure, (LEAF,))
    assert same([np.ones(2)], [np.ones(2)])
    assert not same([np.ones(2)], [np.zeros(2)])


def test_cotangents_along_values():
    y = {"b": 1.0, "a": (Tangent(dict, u=2.0, v=None), None)}
    dy = {"a": (Tangent(dict, u=5.0, v=6.0), None)}
    assert leaves_along(y, dy) == [None, 5.0, 6.0, None]
    assert leaves_along(y, dy, sorted, skips_none=True) == [5.0, None]
    assert leaves_along(y, None) == [None] * 4
    again = rebuilt_like(y, iter(leaves_along(y, dy)))
    assert again["b"] is None
    assert dict(again["a"][0]) == {"u": 5.0, "v": 6.0}
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        leaves_along((1.0, 2.0), (1.0,))


@pytest.mark.parametrize("differentiator", [BY_ENGINE, Differentiator(pullback)])
def test_derivatives_of_a_call_are_calls(differentiator):
    def f(p, n, x):
        return {"y": p[0] * x**n, "n": n}, np.sum(p[0])

    call = Call(f, ((LEAF, "text"), 3, LEAF), {}, differentiator)
    a = np.array([2.0, 0.5, 1.0])
    structure, (y, _), pull = call.pull([a, X], [True, True])
    assert structure == ({"y": LEAF, "n": 3}, LEAF)
    np.testing.assert_allclose(y, a * X**3)
    da, dx = pull([np.ones(3), np.array(2.0)])
    np.testing.assert_allclose(da, X**3 + 2.0)
    np.testing.assert_allclose(dx, 3 * a * X**2)
    second = Derivative(call, structure, [True, False], [True, True])
    form, (da, dx), again = second.pull([a, X, np.ones(3)], [True] * 3)
    assert form == (LEAF, LEAF)
    da, dx, dy = again([np.zeros(3), np.ones(3)])
    np.testing.assert_allclose(da, 3 * X**2)
    np.testing.assert_allclose(dx, 6 * a * X)
    np.testing.assert_allclose(dy, 3 * a * X**2)
    third = Derivative(second, form, [False, True], [False, True, False])
    _, (dx,) = third.value([a, X, np.ones(3), np.ones(3)])
    np.testing.assert_allclose(dx, 6 * a * X)


def test_tangents_of_a_call_are_calls():
    call = Call(lambda x, k: (k * np.sin(x), "text"), (LEAF, LEAF), {}, BY_ENGINE)
    k, one = np.array(2.0), np.ones(3)
    push = Pushforward(call, [True, False])
    form, (dy,) = push.value([X, k, one])
    assert form == (LEAF,)
    np.testing.assert_allclose(dy, 2 * np.cos(X))
    _, _, again = push.pull([X, k, one], [True] * 3)
    dx, dk, dv = again([one])
    np.testing.assert_allclose(dx, -2 * np.sin(X))
    np.testing.assert_allclose(dk, np.sum(np.cos(X)))
    np.testing.assert_allclose(dv, 2 * np.cos(X))
    _, _, (dy,) = Derivative(call, (LEAF, "text"), [True], [True, False]).push(
        [X, k, one], [one, None, None]
    )
    np.testing.assert_allclose(dy, -2 * np.sin(X))


def test_a_rule_alone_is_differentiated_once():
    call = Call(np.sin, (LEAF,), {}, Differentiator())
    structure, _, pull = call.pull([X], [True])
    np.testing.assert_allclose(pull([np.ones(3)])[0], np.cos(X))
    _, _, again = Derivative(call, structure, [True], [True], pull).pull(
        [X, np.ones(3)], [True] * 2
    )
    with pytest.raises(RuleError, match="give `ad=`"):
        again([np.ones(3)])
    with pytest.raises(RuleError, match="nobody has a rule for"):
        Call(lambda x: x, (LEAF,), {}, Differentiator()).pull([X], [True])


def test_who_owns_an_array():
    x = np.arange(3.0)
    kept = np.arange(3.0)
    for held, is_new in (([np.arange(3.0)], True), ([x[:]], False), ([kept], False)):
        (given,) = map(id, held)
        assert (id(owned(held, 0)) == given) is is_new
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    held = [fixed]
    del fixed
    assert owned(held, 0).flags.writeable


def test_arguments_by_name():
    def f(a, b=1.0, *, c=2.0):
        return a

    assert by_position(f, (1,), {"b": 2, "c": 3}) == ((1, 2), {"c": 3})
    assert by_position(np.sin, (1,), {"where": 2}) == ((1,), {"where": 2})


def test_modules():
    import math
    import random

    exported = ExportedModule(np, Differentiator(), lambda f: ("exported", f))
    assert exported.sin == ("exported", np.sin)
    assert exported.linalg.inv == ("exported", np.linalg.inv)
    assert exported.pi == np.pi
    assert {"sin", "sum", "matmul"} <= {*dir(exported)}
    with pytest.raises(AttributeError, match="no attribute"):
        exported.nothing
    with pytest.raises(AttributeError, match="another library"):
        ExportedModule(sys.modules[__name__], Differentiator(), lambda f: f).np
    with pytest.raises(AttributeError, match="not exported: nobody has a rule for it"):
        ExportedModule(interop, Differentiator(), lambda f: f).to_torch
    assert "sin" in dir(ExportedModule(math, Differentiator(), lambda f: f))
    with pytest.raises(TypeError, match="has effects: it reads, writes or draws"):
        Differentiator().repeatable(random.random, "Why")


RNG, LINES, COUNTS, TABLE = np.random.default_rng(0), iter("ab"), {"calls": 0}, np.zeros(2)
LOG, SEEN = [], {1}


def test_effects_are_refused():
    def shown(x):
        print(x)
        return x

    def saved(x):
        np.save("x.npy", x)
        return x

    def written(x):
        x.tofile("x.bin")
        return x

    with pytest.raises(TypeError, match="has effects: it calls `print`"):
        BY_ENGINE.repeatable(shown, "Why")
    BY_ENGINE.repeatable(np.sin, "")
    for f in (saved, written, lambda x: x * len(next(LINES)), lambda x: x * RNG.normal()):
        with pytest.raises(TypeError, match="has effects"):
            BY_ENGINE.repeatable(f, "Why")
    for f in (
        np.random.normal,
        print,
        RNG.normal,
        lambda x: x * RNG.normal(),
        lambda x: x * np.random.rand(),
    ):
        with pytest.raises(TypeError, match="has effects"):
            Differentiator().repeatable(f, "Why")
    Differentiator().repeatable(lambda x: np.sin(x) * len(LOG), "Why")


def appends(x):
    LOG.append(1)
    return x


def counts(x):
    COUNTS["calls"] += 1
    return x


def fills(x):
    TABLE[:] += 1.0
    return x


def adds(x):
    SEEN.add(len(SEEN) + 1)
    return x


def has_attribute(x):
    has_attribute.last = float(x)
    return x


class Counter:
    calls = 0

    def __call__(self, x):
        self.calls += 1
        return x

    @classmethod
    def of_class(cls, x):
        cls.calls += 1
        return x


add = LOG.append


@pytest.mark.parametrize(
    "f",
    [appends, counts, fills, adds, has_attribute, Counter(), Counter.of_class, lambda x: add(1)],
)
def test_changes_of_what_a_function_reads_are_told(f):
    watch = BY_ENGINE.repeatable(f, "Why")
    with pytest.raises(TypeError, match="has effects: it changes a variable around it"), watch(()):
        f(2.0)


def test_what_a_function_reads_or_writes_of_its_own_is_no_effect():
    def works(x, settings):
        own, table = [x], np.zeros(2)
        own.append(len(LOG) + COUNTS["calls"])
        table[0] = settings["scale"] * TABLE[1]
        return own, table

    settings = {"scale": 2.0}
    with BY_ENGINE.repeatable(works, "Why")((LEAF, settings)):
        works(2.0, settings)
    watch = BY_ENGINE.repeatable(works, "Why")
    with pytest.raises(TypeError, match="has effects"), watch((LEAF, settings)):
        settings["scale"] = 3.0


def test_variables_that_were_rebound_are_watched(monkeypatch):
    """They were those of the time when the function was exported."""
    watch = BY_ENGINE.repeatable(appends, "Why")
    monkeypatch.setitem(globals(), "LOG", [])
    with pytest.raises(TypeError, match="has effects: it changes a variable around it"), watch(()):
        appends(2.0)
    monkeypatch.setitem(globals(), "LOG", RNG)
    with pytest.raises(TypeError, match="has effects: it reads a Generator"), watch(()):
        pass


def test_derivatives_of_functions_with_effects_are_not_run_again():
    """They would have another draw, or another state, than the value."""
    drawn = Call(lambda x: RNG.normal() * x**3, (LEAF,), {}, BY_ENGINE)
    counted = Call(lambda x: counts(x) ** 3 * COUNTS["calls"], (LEAF,), {}, BY_ENGINE)
    for call in (drawn, counted):
        structure, (y,), pull = call.pull([X], [True])
        derivative = Derivative(call, structure, [True], [True], pull)
        _, (dx,), again = derivative.pull([X, np.ones(3)], [True, False])
        np.testing.assert_allclose(dx, 3 * y / X)  # the first one has the draw of the value
        for run in (
            lambda again=again: again([np.ones(3)]),
            lambda call=call: Derivative(call, LEAF, [True], [True]).value([X, np.ones(3)]),
            lambda call=call: Pushforward(call, [True]).value([X, np.ones(3)]),
        ):
            with pytest.raises(TypeError, match=r"has effects.* It is run again for this"):
                run()


def test_only_functions_are_exported():
    with pytest.raises(TypeError, match="a function or a module is exported"):
        interop.exported(3.0, Differentiator(), lambda f: f)
