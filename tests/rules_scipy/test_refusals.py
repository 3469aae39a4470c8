"""What a user reads where a rule is missing: the function that was called, and what to install."""

import re

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg, optimize, special, stats
from scipy.cluster import vq

from rulescore import plugins, provider_of
from zygote_lite import gradient
from zygote_lite.errors import DifferentiationError, NoRuleError


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
        return np.sum(vq.vq(x, x)[1])

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(NoRuleError) as caught:
        gradient(f, np.array([[0.3], [0.7]]))
    said = str(caught.value)
    assert said.startswith(f"{__file__}:{line}: scipy.cluster.vq.vq has no rule")
    assert "_vq.vq" in said
    assert re.search(r"vq\w*\.py:\d", said)  # a file of SciPy: 1.18 gave it another name


OPTIONS = {
    "minimize the sum of another loss": lambda x: optimize.least_squares(
        lambda p: [p[0] - x, p[0]], [0.5], loss="soft_l1").x[0],
    "give s=0": lambda x: interpolate.splprep([x * T, T], s=1.0)[0][1][0][2],
    "use one of RK23, ": lambda x: integrate.solve_ivp(
        lambda t, y: -y, (0.0, x), [1.0], method=Alike).y[0, -1],
}  # fmt: skip


class Alike(integrate.OdeSolver):
    """A method of the user's own, of no known kind."""

    def __init__(self, fun, t0, y0, t_bound, vectorized, **options):
        super().__init__(fun, t0, y0, t_bound, vectorized)

    def _step_impl(self):
        self.t, self.y = self.t_bound, self.y + (self.t_bound - self.t) * self.fun(self.t, self.y)
        return True, None

    def _dense_output_impl(self):
        raise NotImplementedError


@pytest.mark.parametrize("told", OPTIONS)
def test_a_refused_option_comes_with_what_to_do(told):
    with pytest.raises(NoRuleError, match=rf": {told}.*; use another function, or .* \[ZL004\]$"):
        gradient(OPTIONS[told], 0.7)


T = np.linspace(0.0, 1.0, 8) ** 2
A = np.array([[1.3, 0.4, 0.2], [0.4, 1.7, 0.1], [0.2, 0.1, 0.9]])
REFUSED = {
    "scipy.stats.kstwo.pdf": lambda x: stats.kstwo.pdf(x, 10),
    "scipy.stats.hypergeom.pmf": lambda x: stats.hypergeom.pmf(2, 30, x * 40, 6),
    "scipy.cluster.vq.vq": lambda x: vq.vq(x * A, A)[1][0],
    "scipy.linalg.qr_insert": lambda x: linalg.qr_insert(*linalg.qr(A), x * A[0], 1)[1][0, 0],
    "scipy.special.ellip_harm": lambda x: special.ellip_harm(8.0, 5.0, 3, 3, x),
    "scipy.stats.t.fit": lambda x: stats.t.fit(x + A[0])[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_user_called_is_named_as_in_scipy(name):
    f = REFUSED[name]
    with pytest.raises(DifferentiationError) as caught:
        gradient(f, 0.3)
    said = str(caught.value)
    place, _, rest = said.partition(": ")
    assert place == f"{__file__}:{f.__code__.co_firstlineno}"
    assert rest.startswith((f"{name} has no rule", f"a gradient passes through {name}, "))


def test_the_reason_that_a_plugin_gives_is_told():
    with pytest.raises(NoRuleError, match="through it: SciPy's values of it are not accurate"):
        gradient(lambda x: special.obl_rad2(0, 1, x, 0.3)[0], 0.4)
