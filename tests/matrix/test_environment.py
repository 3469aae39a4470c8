"""The plugins and rules of this environment are those of the distributions installed in it.

In the plugin matrix `EXPECTED_PLUGINS` names what was installed; elsewhere the metadata of the
distributions does. Never ask for a module: from the root of the repository `import rules_base`
succeeds, as an empty namespace package, wherever `rules_base` is not installed.
"""

import math
import operator
import os
from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
import pytest

from rulescore import find_rule, plugins, rrule

KNOWN = ["rules_base", "rules_nnlib", "rules_scipy", "rules_torch", "rules_jax", "rules_haversine"]


def is_installed(name):
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


EXPECTED = os.environ.get("EXPECTED_PLUGINS")
EXPECTED = set(filter(is_installed, KNOWN) if EXPECTED is None else EXPECTED.split())


def rules_of(plugin):
    """Return the rules of a plugin, without what it says of its own types (`rule.method`)."""
    found = [rule for ruleset in plugin.rulesets for rule in ruleset.rules]
    return [rule for rule in found if rule.kind != "method"]


def test_the_plugins_are_those_that_are_installed():
    assert {p.name for p in plugins()} == EXPECTED
    for plugin in plugins():
        assert plugin.error is None
        assert plugin.version == distribution(plugin.name).version
        assert rules_of(plugin) or plugin.waiting  # for PyTorch or JAX, which few have


def test_every_installed_rule_answers(answer):
    for plugin in plugins():
        silent = [rule for rule in rules_of(plugin) if answer(rule) is None]
        assert silent == []


BASE = [
    (np.sin, (1.0,), math.cos(1.0)),
    (math.cos, (0.6,), -math.sin(0.6)),
    (operator.truediv, (3.0, 4.0), 0.25),
    (np.multiply, (3.0, 4.0), 4.0),
]


@pytest.mark.parametrize(("f", "xs", "derivative"), BASE)
def test_rules_base(f, xs, derivative):
    answered = rrule(f, *xs)
    if "rules_base" not in EXPECTED:
        assert answered is None
        return
    y, back = answered
    assert y == f(*xs)
    assert back(1.0)[1] == pytest.approx(derivative)
    assert back.rule.plugin == "rules_base"


def test_rules_nnlib():
    """It works with `rules_base` and without it."""
    if "rules_nnlib" not in EXPECTED:
        assert not is_installed("rules_nnlib")
        return
    import rules_nnlib

    assert rrule(rules_nnlib.relu, 3.0)[1](1.0) == (None, 1.0)
    y, back = rrule(rules_nnlib.logit_cross_entropy, np.zeros((2, 4)), np.eye(4)[:2])
    assert y == pytest.approx(math.log(4))
    np.testing.assert_allclose(back(1.0)[1], (0.25 - np.eye(4)[:2]) / 2)
    for value, y, _ in examples("rules_nnlib"):
        np.testing.assert_array_equal(y, value)


def derivative_from(plugin, module, name, *xs):
    """Return the derivative that a plugin gives for a function of a library, if it is installed."""
    library = pytest.importorskip(module, reason=f"this environment has no {module}")
    f = getattr(library, name)
    answered = rrule(f, *xs)
    if plugin not in EXPECTED:
        assert answered is None
        pytest.skip(f"{plugin} is not installed here")
    y, back = answered
    assert y == f(*xs)
    assert back.rule.plugin == plugin
    return back(1.0)[1]


def test_rules_scipy():
    """The rules of a section: with SciPy alone there are none."""
    assert derivative_from("rules_scipy", "scipy.special", "exp2", 0.0) == pytest.approx(
        math.log(2)
    )


def test_rules_haversine():
    """The rules of a wheel, found by its entry point; after it is uninstalled they are gone."""
    found = derivative_from("rules_haversine", "haversine", "haversine", (0.0, 0.0), (0.0, 30.0))
    assert found == pytest.approx((0.0, -6371.0088 * math.pi / 180))


def test_an_engine_without_rules_says_which_plugin_to_install():
    if not is_installed("zygote_lite"):
        pytest.skip("this environment has no engine")
    from zygote_lite import gradient

    def f(x):
        return x**2

    if "rules_base" in EXPECTED:
        assert gradient(f, 0.6) == pytest.approx((1.2,))
    else:
        advice = r'`\*\*` of .* no rule .* install rules_base, or pip install "zygote_lite\[all\]"'
        with pytest.raises(Exception, match=advice):
            gradient(f, 0.6)


def test_nobody_has_a_rule_for_a_function_of_mine():
    assert rrule(lambda x: x, 1.0) is None
    assert find_rule(test_rules_base, 1.0) is None


def examples(name):
    """Return (value, value by the rule, pullback) for each example of a plugin."""
    plugin = next(p for p in plugins() if p.name == name)
    for ruleset in plugin.rulesets:
        for f, xs, options in ruleset.examples:
            yield f(*xs, **options), *rrule(f, *xs, **options)
