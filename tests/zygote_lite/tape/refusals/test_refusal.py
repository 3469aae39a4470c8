"""Calls without a rule run where no gradient passes through them, and errors name the line."""

import importlib.util
import re

import numpy as np
import pytest

from rulescore import RuleSet
from zygote_lite import NoRuleError, UnsupportedSyntaxError, grad, gradient, jvp, testing
from zygote_lite._cotangents.registry import NoPullback
from zygote_lite._tape.refusals.refusal import no_rule


def test_a_call_that_is_given_nothing_active_is_run():
    y, back = no_rule((None, None), str.upper, ("text",), {})
    assert y == "TEXT"
    assert type(back) is NoPullback
    assert back(None) == (None, None)


def test_a_number_that_comes_of_an_active_one_is_refused():
    with pytest.raises(NoRuleError, match="as_integer_ratio"):
        no_rule((None, 1), float.as_integer_ratio, (0.5,), {})


@pytest.mark.parametrize("may_raise", [True, False])
@pytest.mark.parametrize("error", [np.linalg.LinAlgError, KeyError])
@pytest.mark.parametrize("derivative", [gradient, lambda f, x: jvp(f, (x,), (1.0,))])
def test_rules_that_may_raise_name_the_line(may_raise, error, derivative):
    rule = RuleSet("singular", **({} if may_raise else {"may_raise": False}))

    def inverse(x):
        return 1.0 / x

    @rule(inverse)
    def _(x: float):
        def pullback(dy):
            raise error("singular")

        return 1.0 / x, pullback

    rule.register()
    f = lambda x: inverse(x) * 2.0
    try:
        with pytest.raises(error, match="singular") as raised:
            derivative(f, 2.0)
    finally:
        rule.unregister()
    named = rf"{re.escape(__file__)}:{f.__code__.co_firstlineno}: (in )?the pullback of \S*inverse"
    told = [str(raised.value), *getattr(raised.value, "__notes__", ())]
    assert any(re.match(named, text) for text in told) == may_raise


def test_an_error_that_the_function_raises_itself_goes_before_that_of_its_rule():
    with testing.recorded_only(), pytest.raises(ValueError, match="mode 'nonsense' is not supp"):
        gradient(lambda x: np.sum(np.pad(x, 1, mode="nonsense")), np.ones(3))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.norm(x, "bad"),
        lambda x: np.sum(np.pad(x, 1, mode="bad")),
        lambda x: np.quantile(x, 0.5, method="bad"),
        lambda x: np.einsum("ij", x),
    ],
    ids=["norm", "pad", "quantile", "einsum"],
)
def test_an_option_that_a_function_does_not_know_is_its_own_error(f):
    x = np.array([1.0, 2.0])
    with pytest.raises(ValueError) as want:
        f(x)
    with pytest.raises(ValueError, match=re.escape(str(want.value))):
        gradient(f, x)


def test_syntax_of_a_library_is_told_from_the_users_call(tmp_path):
    path = tmp_path / "site-packages" / "evaluating.py"
    path.parent.mkdir()
    path.write_text(
        "def scaled(x):\n    return _doubled(x)\ndef _doubled(x):\n    async def f(): pass\n"
        "    return 2 * x\n"
    )
    spec = importlib.util.spec_from_file_location("evaluating", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def f(x):
        return module.scaled(x) * 3.0

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(UnsupportedSyntaxError) as caught:
        gradient(f, 2.0)
    told = f"test_refusal.py:{line}: a gradient passes through "
    assert told in str(caught.value)
    assert str(caught.value) == caught.value.msg == caught.value.args[0]


def test_syntax_of_the_function_that_the_user_calls_is_told_from_the_call(tmp_path):
    path = tmp_path / "site-packages" / "entered.py"
    path.parent.mkdir()
    path.write_text("def doubled(x):\n    async def f(): pass\n    return 2 * x\n")
    spec = importlib.util.spec_from_file_location("entered", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def called(x):
        return module.doubled(x) * 3.0

    def mapped(x):
        return sum(map(module.doubled, [x]))

    first = called.__code__.co_firstlineno
    for f, line in ((called, first + 1), (mapped, first + 4), (module.doubled, first + 10)):
        for _ in range(3):
            with pytest.raises(UnsupportedSyntaxError, match="`async`") as caught:
                grad(f)(2.0)
            told = f"{__file__}:{line}: a gradient passes through entered.doubled, and at {path}:2 "
            assert str(caught.value).startswith(told)
