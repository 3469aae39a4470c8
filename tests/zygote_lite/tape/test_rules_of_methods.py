"""A rule for the method of one object is for that object, however it is reached."""

import pytest

from rulescore import RuleSet
from zygote_lite import grad, jvp


class Gain:
    def __init__(self, k):
        self.k = k

    def of(self, x):
        return self.k * x


ONE, OTHER = Gain(2.0), Gain(2.0)


def captured(gain):
    return lambda x: gain.of(x)


def by_default(gain):
    return lambda x, held=gain: held.of(x)


def by_attribute(gain):
    holder = Gain(gain)
    return lambda x: holder.k.of(x)


def looked_up(gain):
    method = gain.of
    return lambda x: method(x)


@pytest.mark.parametrize("made", [captured, by_default, by_attribute, looked_up])
def test_a_rule_for_the_method_of_one_object_answers(made):
    rule = RuleSet("gains")

    @rule(ONE.of)
    def _(x: float):
        return ONE.k * x, lambda dy: (100.0 * dy,)

    rule.register()
    try:
        for gain, slope in ((ONE, 100.0), (OTHER, 2.0)):
            f = made(gain)
            assert [grad(f)(3.0) for _ in range(3)] == [slope] * 3
            assert jvp(f, (3.0,), (1.0,)) == (6.0, slope)
    finally:
        rule.unregister()
    assert grad(made(ONE))(3.0) == 2.0
