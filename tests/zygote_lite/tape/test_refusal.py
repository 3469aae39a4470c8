"""Calls without a rule run where no gradient passes through them."""

import pytest

from zygote_lite import NoRuleError
from zygote_lite._cotangents.registry import NoPullback
from zygote_lite._tape.refusal import no_rule


def test_a_call_that_is_given_nothing_active_is_run():
    y, back = no_rule((None, None), str.upper, ("text",), {})
    assert y == "TEXT"
    assert type(back) is NoPullback
    assert back(None) == (None, None)


def test_a_number_that_comes_of_an_active_one_is_refused():
    with pytest.raises(NoRuleError, match="as_integer_ratio"):
        no_rule((None, 1), float.as_integer_ratio, (0.5,), {})
