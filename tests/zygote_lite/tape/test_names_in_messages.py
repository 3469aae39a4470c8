"""Messages name what stands in the user's code, and not what is called in its place."""

import concurrent.futures
import fractions
import heapq
import re

import numpy as np
import pytest
from scipy import special, stats

from zygote_lite import DifferentiationError, NoRuleError, grad


class Counting:
    """A value that counts how often it is compared."""

    def __init__(self, x):
        self.x, self.count = x, 0

    def __lt__(self, other):
        self.count = self.count + 1
        return self.x < other.x

    def __hash__(self):
        self.count = self.count + 1
        return 1


def through_future(x):
    future = concurrent.futures.Future()
    future.set_result(x)
    return future.result()


def through_error(x):
    future = concurrent.futures.Future()
    future.set_exception(ValueError(x))
    return future.exception().args[0]


MATRIX = np.ones((1, 2)).view(np.matrix)  # which warns of nothing
CALLS = {
    "numpy.matrix.sum": (lambda m: m.sum(), MATRIX),
    "numpy.matrix.T": (lambda m: m.T[0, 0], MATRIX),
    "concurrent.futures.Future.set_result": (through_future, 1.0),
    "concurrent.futures.Future.set_exception": (through_error, 1.0),
    "scipy.stats.gamma(...).rvs": (lambda x: stats.gamma(x).rvs(random_state=0), 2.0),
    "fractions.Fraction": (lambda x: float(fractions.Fraction(x)), 1.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_method_and_an_attribute_have_their_own_names(name):
    f, x = CALLS[name]
    for _ in range(3):
        with pytest.raises(NoRuleError, match=rf":\d+: {re.escape(name)} has no rule"):
            grad(f)(x)


class Equal(Counting):
    """A value that counts how often it is asked whether it is equal, too."""

    __hash__ = None

    def __eq__(self, other):
        self.count = self.count + 1
        return self.x == other.x


def through_heap(x):
    pairs = [(x, Equal(x)), (x, Equal(1.0))]
    heapq.heapify(pairs)
    return pairs[0][0]


WRITTEN = {
    "heapq.heapify": through_heap,
    "`<`": lambda x: x if (x, Equal(x)) < (x, Equal(1.0)) else 2.0 * x,
    "sorted": lambda x: sorted([Counting(x), Counting(1.0)])[0].x,
    "a set display": lambda x: len({Counting(x), Counting(1.0)}) * x,
    "a dict display": lambda x: len({Counting(x): 1, Counting(1.0): x}) * x,
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_calls_a_method_of_the_user_is_named_as_it_is_written(name):
    for _ in range(3):
        with pytest.raises(DifferentiationError, match=rf":\d+: {name}, which is written in C"):
            grad(WRITTEN[name])(2.0)


def test_a_rule_to_paste_has_names_for_any_number_of_inputs():
    f = special._ufuncs._ellip_harm
    with pytest.raises(NoRuleError) as raised:
        grad(lambda x: f(3.0, 2.0, 2.0, 1.0, x, 1.0, 1.0))(5.0)
    pasted = str(raised.value).partition("\n\n")[2].rpartition("[")[0]
    pasted = pasted.replace("(..., ..., ..., ..., ..., ..., ...)", "(0, 0, 0, 0, 7 * x6, 0, 0)")
    pasted = re.sub("^    ", "", pasted, flags=re.MULTILINE)
    assert "7 * x6" in pasted
    space = {}
    exec(pasted, space)
    try:
        assert grad(lambda x: f(3.0, 2.0, 2.0, 1.0, x, 1.0, 1.0))(5.0) == 7.0
    finally:
        space["rule"].unregister()


def test_a_module_in_the_place_of_a_function_is_named():
    with pytest.raises(TypeError, match=r":\d+: module numpy is given where a function is due"):
        grad(np)(2.0)


OF_JAX = {"holomorphic": "take `pullback\\(f, z\\)`", "allow_int": "integers count as real numbers"}


@pytest.mark.parametrize("option", OF_JAX)
def test_an_option_of_jax_is_told_what_to_do_without_it(option):
    told = rf"grad has no option `{option}`: leave it out, .*{OF_JAX[option]}.* \[ZL042\]$"
    with pytest.raises(TypeError, match=told):
        grad(lambda x: x * x, **{option: True})
