"""`itemgetter` and `attrgetter` in transformed code."""

import operator

from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import testing, value_and_grad


class Point:
    """Hold a number."""

    def __init__(self, a):
        self.a = a


def gets(x):
    both = operator.itemgetter(0, "b")({0: x, "b": x * x})
    return operator.attrgetter("a")(Point(x)) * both[1] + operator.itemgetter(-1)([1.0, x])


def test_what_they_give():
    testing.forget(gets)
    with testing.transformed_only(), testing.compared():
        for x in (0.5, 2.0, 0.5):
            assert value_and_grad(gets)(x)[0] == gets(x)
    check_gradient(gets, 0.7)
