"""A rule answers for its function in transformed code too, whatever the operands are.

The rules are those of the program: they say other than the source, so that it shows which counts.
"""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rulescore import RuleSet
from zygote_lite import testing, value_and_grad
from zygote_lite._specialize.entry import rules_of_generation

rule = RuleSet("tests.in_force")


@pytest.fixture(autouse=True)
def rules_of_this_file():
    rule.register()
    yield
    rule.unregister()


class Getter:
    def __init__(self, get):
        self.get = get


def first(xs):
    return xs[0]


def called(fs):
    return fs[0]()


def called_by_name(fs):
    return fs["f"]()


def got(o):
    return o.get()


def got_first(xs):
    return xs[0].get()


rule.constant(first, called, called_by_name, got, got_first)


def repeated(x):
    xs = []
    for _ in range(3):
        xs.append(x)
    return xs


def made(x):
    class Inside:
        def get(self):
            return x

    return Inside()


CONSTANTS = {
    "list that grows": lambda x: first(repeated(x)),
    "list of functions": lambda x: called([lambda: x]),
    "tuple of functions": lambda x: called((lambda: x,)),
    "dict of functions": lambda x: called_by_name({"f": lambda: x}),
    "object": lambda x: got(Getter(lambda: x)),
    "object of a class made inside": lambda x: got(made(x)),
    "list of such objects": lambda x: got_first([made(x)]),
}


@pytest.mark.parametrize("f", CONSTANTS.values(), ids=CONSTANTS)
def test_a_constant_stays_one_where_a_container_or_an_object_reaches_an_argument(f):
    for _ in range(3):
        assert value_and_grad(lambda x: f(x) * x)(3.0) == (9.0, 3.0)  # and not 6.0


def test_the_pullback_of_a_rule_is_given_a_list_that_changes():
    def scaled(xs):
        return xs[0] * 1.0

    @rule(scaled)
    def _(xs: list):
        def pullback(dy):
            return ([dy * 10.0] + [None] * (len(xs) - 1),)

        return scaled(xs), pullback

    for _ in range(3):
        assert value_and_grad(lambda x: scaled(repeated(x)))(2.0) == (2.0, 10.0)


def weighted(x, weights):
    return x * weights["a"] + sum(weights.values())


@rule(weighted)
def _(x: float, weights: dict):
    def pullback(dy):
        return dy * weights["a"], None

    return weighted(x, weights), pullback


def counted(x, among):
    return x * len(among & {1, 2})


@rule(counted)
def _(x: float, among: set):
    def pullback(dy):
        return dy * len(among), None

    return counted(x, among), pullback


def dict_changed(x):
    weights = {"a": 3.0, "b": 1.0}
    y = weighted(x, weights)
    weights["a"] = 9.0
    return y * y


def dict_emptied(x):
    weights = dict(a=3.0, b=1.0)
    y = weighted(x, weights)
    weights.clear()
    return y * y


def set_changed(x):
    among = {1}
    y = counted(x, among)
    among.add(2)
    return y * y


@pytest.mark.parametrize(
    ("f", "want"),
    [(dict_changed, (100.0, 60.0)), (dict_emptied, (100.0, 60.0)), (set_changed, (4.0, 4.0))],
)
def test_a_rule_is_given_what_a_container_holds_at_the_call(f, want):
    for _ in range(3):
        assert value_and_grad(f)(2.0) == want
    assert (testing.why_recorded(f, 2.0) is None) is (f is not set_changed)


def called_with(f, x):
    return f(x)


rule.constant(called_with)


def test_no_gradient_passes_by_what_a_function_captures_through_a_constant():
    for _ in range(3):
        assert value_and_grad(lambda x: called_with(lambda y: y * x, x) * x)(3.0) == (27.0, 9.0)


def test_threads_share_the_rules_of_a_generation():
    """One that is not shared is never told that the rules have changed."""
    many = 4
    together = threading.Barrier(many)

    def asked(since):
        together.wait()
        return rules_of_generation(since)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(many) as pool:
            for since in range(-1, -601, -1):
                found = [*pool.map(asked, [since] * many)]
                assert all(x is found[0] for x in found)
    finally:
        sys.setswitchinterval(interval)
