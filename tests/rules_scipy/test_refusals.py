"""What a user reads where a rule is missing: the function that was called, and what to install."""

import numpy as np
import pytest
import scipy.signal
from scipy import special

from rulescore import plugins, provider_of
from zygote_lite import gradient
from zygote_lite.errors import NoRuleError


@pytest.fixture
def without_the_plugin():
    """Take the rules for SciPy away."""
    (plugin,) = [p for p in plugins() if p.name == "rules_scipy"]
    for ruleset in plugin.rulesets:
        ruleset.unregister()
    yield
    for ruleset in plugin.rulesets:
        ruleset.register()


@pytest.mark.usefixtures("without_the_plugin")
def test_the_plugin_to_install_is_named():
    with pytest.raises(NoRuleError) as caught:
        gradient(lambda x: special.gammaln(x), 1.5)
    said = str(caught.value)
    assert "test_refusals.py" in said
    assert "scipy.special.gammaln of (float) has no rule" in said
    assert "pip install rules_scipy" in said


def test_nothing_is_to_be_installed_that_is():
    assert provider_of("scipy.special") is None
    assert provider_of("scipy.signal") is None


def test_the_function_that_the_user_called_comes_first():
    def f(x):
        return np.sum(scipy.signal.lfilter([1.0], [1.0, -0.5], x))

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(NoRuleError) as caught:
        gradient(f, np.array([0.3, 0.7]))
    said = str(caught.value)
    assert said.startswith(f"{__file__}:{line}: scipy.signal.lfilter has no rule")
    assert "_linear_filter" in said
    assert "_signaltools.py:" in said
