"""What a user reads where a rule is missing: the function that was called, and what to install."""

import ast
import contextlib
import pathlib
import re
import textwrap

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg, optimize, signal, spatial, special, stats
from scipy.cluster import vq
from scipy.sparse import csc_array
from scipy.sparse.linalg import norm, splu
from scipy.spatial import distance

from rulescore import find_rule, plugins, provider_of
from rulescore._command import survey
from tests.zygote_lite.checks.finite_differences import assert_slopes
from tests.zygote_lite.conftest import without
from zygote_lite import gradient, stop_gradient
from zygote_lite.errors import DifferentiationError, NoRuleError


@pytest.fixture
def without_the_plugin():
    """Take the rules for SciPy away."""
    with without("rules_scipy"):
        yield


@pytest.mark.usefixtures("without_the_plugin")
def test_the_plugin_to_install_is_named():
    with pytest.raises(NoRuleError) as caught:
        gradient(lambda x: special.gammaln(x), 1.5)
    said = str(caught.value)
    assert "test_refusals.py" in said
    assert "scipy.special.gammaln of (float) has no rule" in said
    assert "pip install rules_scipy" in said


@pytest.mark.parametrize("fails", [False, True])
def test_rules_that_were_taken_away_come_back_as_those_of_the_plugin(fails):
    of_plugin = [
        rule
        for plugin in plugins()
        if plugin.name == "rules_scipy"
        for ruleset in plugin.rulesets
        for rule in ruleset.rules
    ]
    before = [rule.watches for rule in of_plugin]
    with contextlib.suppress(ZeroDivisionError), without("rules_scipy"):
        assert find_rule(special.gammaln, 0.5) is None
        1 / (not fails)
    assert find_rule(special.gammaln, 0.5) is not None
    assert [rule.watches for rule in of_plugin] == before


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
    with pytest.raises(NoRuleError, match=rf": {told}.*; or declare a rule of .* \[ZL004\]$"):
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


def test_each_reason_says_what_to_do():
    generic = [
        name
        for name, why in survey.reasons().items()
        if ": " not in why and not why.endswith((":", " yet", " its own source"))
    ]
    assert generic == []


def refusals():
    """Yield the place and the text of each `NotImplementedError` that a rule raises."""
    folder = pathlib.Path(__file__).parents[2]
    for path in sorted(folder.glob("rules_*/src/**/*.py")):
        tree = ast.parse(path.read_text(encoding="utf8"))
        constants = {
            node.targets[0].id: text_of(node.value, {})
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = getattr(node.exc.func, "id", "")
                if name in ("NotImplementedError", "IntegralError"):
                    text = text_of(node.exc.args[0], constants)
                    yield f"{path.relative_to(folder)}:{node.lineno}", text


def text_of(node, constants):
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, constants) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, constants)
    if isinstance(node, ast.Constant):
        return str(node.value)
    return constants.get(getattr(node, "id", ""), "x")


TO_DO = (
    r"add|assign|call|choose|compute|convert|detrend|find|give|hand|integrate|join|leave|left|let|"
    r"make|minimize|move|multiply|pad|put|repeat|reshape|return|sort|take|their|use|write|for|"
    r"differentiate"
)


def test_each_refusal_of_a_rule_says_what_to_do():
    found = dict(refusals())
    assert len(found) > 120
    of_jax = [
        place for place, text in found.items() if text == "x"
    ]  # the text of an error of its own
    assert len(of_jax) <= 1
    bare = {
        place: text
        for place, text in found.items()
        if place not in of_jax and not re.search(rf"[:;,] (or )?({TO_DO})\b", text)
    }
    assert bare == {}


def test_a_reason_that_ends_with_a_colon_comes_with_a_rule():
    told = r", or declare a rule that takes differences:\n\n(.*)\n\n\[ZL004\]$"
    f = lambda x: special.ellip_harm(8.0, 5.0, 1, 1, x)
    with pytest.raises(NoRuleError, match=re.compile(told, re.DOTALL)) as refused:
        gradient(f, 0.3)
    (rule,) = re.findall(told, str(refused.value), re.DOTALL)
    difference = (
        "dx = (ellip_harm(h2, k2, n, p, s + 1e-6) - ellip_harm(h2, k2, n, p, s - 1e-6)) / 2e-6;"
        "return None, None, None, None, dy * dx"
    )
    space = {}
    exec(re.sub("raise NotImpl.*", difference, textwrap.dedent(rule)), space)
    try:
        assert gradient(f, 0.3) == pytest.approx((1.0,))  # the function is s
    finally:
        space["rule"].unregister()


def knots_of(x):
    return interpolate.make_splrep(T, stop_gradient(np.sin(6 * T) * x), s=0.01).t


AS_TOLD = {  # what a reason says to do in place of a function
    "firls": lambda x: signal.firls(11, [0, 0.1 * x, 0.2, 0.5], [1, 1, 0, 0], fs=1.0)[0],
    "make_lsq_spline": lambda x: interpolate.make_lsq_spline(
        T, np.sin(6 * T) * x, knots_of(0.7))(0.4),
    "make_smoothing_spline": lambda x: interpolate.make_smoothing_spline(
        T, np.sin(6 * T) * x, lam=0.01)(0.4),
    "RBFInterpolator": lambda x: interpolate.RBFInterpolator(
        T[:, None], T * x, smoothing=0.1)([[0.4]])[0],
    "splu": lambda x: splu(csc_array(A * x)).solve(A[0])[0],
    "norm": lambda x: norm(csc_array(A * x), 1),
    "sph_harm_y": lambda x: special.sph_harm_y(2, 1, x, 0.2).real,
    "qr": lambda x: linalg.qr(np.vstack([A, x * A[:1]]))[1][0, 0],
    "eigh": lambda x: (lambda w, v: np.sum((v * np.exp(w)) @ v.T))(*linalg.eigh(x * A)),
    "fractional_matrix_power": lambda x: linalg.fractional_matrix_power(A * x, 0.3)[0, 0],
    "linprog": lambda x: optimize.linprog([x, 1.0], [[-1.0, -2.0], [-2.0, -1.0]], [-1.0, -1.0]).fun,
    "milp": lambda x: x * optimize.milp(stop_gradient(A[0] + 0.7)).fun,
    "cdist": lambda x: np.min(distance.cdist(A * x, A)),
    "tsearch": lambda x: x * spatial.tsearch(
        spatial.Delaunay(A[:, :2]), stop_gradient(A[:, :2]))[0],
}  # fmt: skip


# newer SciPy names `Delaunay.find_simplex` in its place
@pytest.mark.filterwarnings("ignore:`tsearch` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", AS_TOLD)
def test_what_reasons_say_to_do_is_differentiated(name):
    assert_slopes(gradient(AS_TOLD[name], 0.7), AS_TOLD[name], (0.7,), 1e-5)


EQUAL = {  # what a refusal says to write in place of a call, and the call
    "rq": (
        lambda: np.abs(linalg.qr(A[::-1, :2].T)[1].T[::-1, ::-1]),
        lambda: np.abs(linalg.rq(A[:, :2])[0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_what_a_refusal_says_to_write_is_equal(name):
    written, called = EQUAL[name]
    np.testing.assert_allclose(written(), called(), rtol=1e-6, atol=1e-9)


def test_a_result_that_carries_no_gradient_is_told_with_what_to_do():
    f = lambda x: optimize.minimize(lambda p: np.sum((p - x) ** 2), np.zeros(3)).jac[0]
    told = r" and not jac: compute that from x \[ZL010\]$"
    for _ in range(3):
        with pytest.raises(NoRuleError, match=told):
            gradient(f, 0.3)
