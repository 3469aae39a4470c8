"""`check_gradient`: it finds what is wrong, names it, and passes what is right."""

import functools
import math
import threading
import warnings

import numpy as np
import pytest

from rulescore import RuleError, RuleSet
from tests.zygote_lite.checks.structures import Line, Pair
from tests.zygote_lite.constructs.table import CASES
from zygote_lite import GradientCheckError, check_gradient, jit
from zygote_lite._interface.differences import derivative
from zygote_lite._specialize import entry
from zygote_lite.modes import switched

X = np.array([[0.5, -1.0], [1.5, 0.3]])


class Slots:
    __slots__ = ("u",)

    def __init__(self, u):
        self.u = u


def in_place(x, y):
    x[0] = x[0] * y
    return np.sum(x**2)


RIGHT = {
    "float": (math.sin, 0.7),
    "int": (lambda n: n**3, 2),
    "int that counts": (lambda x, n: sum(x**i for i in range(n)), 0.7, 3),
    "complex": (lambda z: abs(z) ** 2 + (z * z).real, 1 + 2j),
    "array": (lambda x: np.sum(np.sin(x) ** 2), X),
    "array of ints": (lambda x: np.sum(x**2 / 3), np.array([1, 2])),
    "complex array": (lambda z: np.sum(np.abs(z) ** 3), X + 1j),
    "float32": (lambda x: np.sum(x**3), X.astype(np.float32)),
    "numpy float32": (lambda x: x * x, np.float32(0.7)),
    "numbers of NumPy": (lambda a, n: a**n, np.float64(0.7), np.int64(3)),
    "array without axes": (lambda x: x * x, np.array(0.7)),
    "large array": (lambda x: np.sum(np.sin(x) ** 2), np.linspace(0.0, 5.0, 3000)),
    "large value": (lambda x: 1e12 + x * x, 1.3),
    "small value": (lambda x: 1e-12 * x * x, 1.3),
    "large argument": (lambda x: np.log(x), 1e9),
    "near the end of the domain": (lambda x: math.sqrt(x), 1e-4),
    "coarse inside": (lambda x: float(np.sum(x.astype(np.float32) ** 2)) * 1e3, X),
    "constant": (lambda x: 3.0, X),
    "dict": (lambda p: np.sum(p["w"] ** 2) * p["b"], {"w": X, "b": 0.3, "name": "p", "n": None}),
    "list": (lambda v: v[0] * v[1][0] ** 2, [0.5, (1.5, "text")]),
    "named tuple": (lambda t: t.a**2 * np.sum(t.b), Pair(0.5, X)),
    "object": (lambda m: np.sum(m(X) ** 2), Line(np.array([0.5, -0.2]), 0.1)),
    "slots": (lambda s: np.sum(s.u**2), Slots(X)),
    "objects in dicts": (lambda p: p["m"].b ** 2 * p["s"], {"m": Line(X, 0.7), "s": True}),
    "twice the same": (lambda v: v[0][0] * v[1][0] ** 2, [shared := [0.7], shared]),
    "two aliases": (lambda a, b: np.sum(a * b), X, X),
    "written in place": (in_place, np.array([0.5, 0.7]), 1.5),
    "branches": (lambda x: x**2 if x > 0 else -x, 0.7),
    "compiled": (jit(lambda x, y: x * x * y), 0.7, 1.3),
    "text": (lambda s, x: x * len(s), "text", 0.7),
    "a rule": (np.sum, X),
    "partial": (functools.partial(lambda a, x: a * x * x, 2.0), 0.7),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name):
    f, *xs = RIGHT[name]
    assert check_gradient(f, *xs) is None


def test_the_constructs_pass():
    """Programs of all kinds, each checked at its first arguments."""
    working = [name for name, case in CASES.items() if case.message is None][::80]
    for name in working:
        case = CASES[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # some entries are at kinks
            said = ""
            try:
                check_gradient(case.function, *case.inputs[0], rtol=1e-5)
            except GradientCheckError as error:
                said = str(error)
        assert not said or "nothing could be checked" in said, f"{name}: {said}"
    assert len(working) > 5


def test_other_arguments():
    f = lambda x, y, s: x * y * len(s)
    for argnums in (0, (1,), (0, 1), -2):
        check_gradient(f, 0.5, X[0, 0], "ab", argnums=argnums)
    with pytest.raises(GradientCheckError, match="nothing could be checked"):
        check_gradient(f, 0.5, 0.7, "ab", argnums=2)
    with pytest.raises(TypeError, match="argnums"):
        check_gradient(f, 0.5, 0.7, "ab", argnums=3)
    with pytest.raises(TypeError, match="real number"):
        check_gradient(lambda x: x, X)


# -- what is wrong -----------------------------------------------------------------------------


def bad(x):
    """A function whose rule the test declares."""
    return np.sum(x**2)


@pytest.fixture
def rule():
    rule = RuleSet("wrong_in_checking")
    yield rule
    rule.unregister()


def declared(rule, pullback_of):
    @rule(bad)
    def _(x: object):
        return bad(x), pullback_of(x)

    rule.register()


WRONG = {
    "number": (
        lambda p: bad(p),
        (0.7,),
        "argument 0: the gradient is 2.8, and differences give 1.4",
    ),
    "entry": (
        lambda s, p: s * bad(p["w"]),
        (1.0, {"b": 1.0, "w": np.array([[1.0, 2.0]])}),
        r"argument 1, entry \['w'\]\[0, 0\]: the gradient is 4, .* give 2: mend .* \[ZL039\]$",
    ),
    "object": (
        lambda m: m[0].b + bad(m[0].w),
        ([Line(np.array([0.0, 3.0]), 1.0)],),
        r"argument 0, entry \[0\]\.w\[1\]: the gradient is 12, .* give 6: mend .* \[ZL039\]$",
    ),
    "large": (
        lambda x: bad(x[-3:]),
        (np.linspace(0.0, 1.0, 4000),),
        r"argument 0, entry  ?along a random direction: the gradient is",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_found(name, rule):
    f, xs, message = WRONG[name]
    declared(rule, lambda x: lambda dy: (4 * dy * x,))
    with pytest.raises(GradientCheckError, match=message):
        check_gradient(f, *xs)
    with pytest.raises(AssertionError):
        check_gradient(f, *xs)


def test_a_wrong_imaginary_part_is_found(rule):
    rule.scalar(bad)(lambda x: 3.0 * x)
    rule.register()
    with pytest.raises(GradientCheckError, match="argument 0: the gradient is"):
        check_gradient(lambda z: np.real(np.conj(bad(z)) * bad(z)), 1 + 2j)


def test_a_gradient_that_is_not_finite_is_found(rule):
    declared(rule, lambda x: lambda dy: (dy * x * math.nan,))
    with pytest.raises(GradientCheckError, match="the gradient is nan, and differences give 2"):
        check_gradient(bad, np.array([1.0]))


def test_a_missing_gradient_is_found(rule):
    declared(rule, lambda x: lambda dy: (None,))
    with pytest.raises(GradientCheckError, match="the gradient is 0, and differences give 2"):
        check_gradient(bad, 1.0)


@pytest.mark.parametrize("factor", [0.0, 1.5, -2.0])
@pytest.mark.parametrize("scale", [1e-6, 1e-9, 1e-30])
def test_a_wrong_rule_is_found_however_small_it_is(scale, factor, rule):
    declared(rule, lambda x: lambda dy: (factor * dy * x,))
    for f in (lambda x: scale * bad(x), lambda x: scale * math.sin(bad(x))):
        with pytest.raises(GradientCheckError, match=r"the gradient is .*, and differences give"):
            check_gradient(f, np.array([0.5, -1.0]))


def test_a_small_wrong_rule_is_found_beside_a_large_right_one(rule):
    declared(rule, lambda x: lambda dy: (4 * dy * x,))
    with pytest.raises(
        GradientCheckError, match=r"argument 1: the gradient is 4e-09, and diff.* 2e"
    ):
        check_gradient(lambda x, y: x * x + 1e-9 * bad(y), 1.0, 1.0)
    check_gradient(lambda x, y: x * x + 1e-9 * bad(y), 1.0, 1.0, atol=1e-8)


def test_a_wrong_rule_is_found_near_a_kink(rule):
    declared(rule, lambda x: lambda dy: (4 * dy * x,))
    with pytest.raises(GradientCheckError, match=r"the gradient is 5.*, and differences give 3"):
        check_gradient(lambda x: abs(x - 1.0) + bad(x), 1.0 + 1e-6, rtol=1e-4)


def test_a_wrong_second_call_is_found(rule):
    def of(x):
        calls = []

        def pullback(dy):
            calls.append(dy)
            return (2 * dy * x * len(calls),)

        return pullback

    declared(rule, of)
    with pytest.raises(GradientCheckError, match="when called again"):
        check_gradient(bad, X)


def test_a_gradient_that_changes_from_call_to_call_is_found(rule):
    calls = []

    def of(x):
        calls.append(x)
        factor = 2 if len(calls) < 4 else 3
        return lambda dy: (factor * dy * x,)

    declared(rule, of)
    with pytest.raises(GradientCheckError, match="that of call 2 and the recorded gradient differ"):
        check_gradient(bad, X)


def test_wrong_transformed_code_is_found(monkeypatch):
    compiled = entry.compile_text

    def off(made, f):
        fast = compiled(made, f)
        return lambda *xs: (lambda y, *ds: (y, *[2.0 * d for d in ds]))(*fast(*xs))

    monkeypatch.setattr(entry, "compile_text", off)
    expected = pytest.raises(GradientCheckError, match="that of transformed code and the recorded")
    with switched(compared=False), expected:
        check_gradient(lambda x: np.sum(x * x), X)


def test_a_rule_that_changes_an_argument_is_found(rule):
    def of(x):
        x *= 2.0
        return lambda dy: (dy * x,)

    declared(rule, of)
    with pytest.raises(RuleError, match="a call by the rule changes its arguments"):
        check_gradient(bad, X.copy())


def test_a_pullback_that_changes_an_argument_is_found(rule):
    def of(x):
        def pullback(dy):
            x[:] *= 2.0
            return (dy * x,)

        return pullback

    declared(rule, of)
    with pytest.raises(GradientCheckError, match="the arguments hold something else afterwards"):
        check_gradient(bad, X.copy())


def test_a_rule_with_another_value_is_found(rule):
    @rule(bad)
    def _(x: object):
        return 3 * bad(x), lambda dy: (6 * dy * x,)

    rule.register()
    with pytest.raises(GradientCheckError, match="the value is not that of the function itself"):
        check_gradient(bad, X)


# -- what cannot be told -----------------------------------------------------------------------


def test_rough_functions_pass_with_a_tolerance(rule):
    declared(rule, lambda x: lambda dy: (2.005 * dy * x,))
    with pytest.raises(GradientCheckError, match="differences give"):
        check_gradient(bad, X)
    check_gradient(bad, X, rtol=1e-2)
    check_gradient(bad, X, atol=1e-2)


def test_a_value_of_few_digits(rule):
    def coarse(x):
        return round(x**3, 6)

    rule.scalar(coarse)(lambda x: 3 * x**2)
    rule.register()
    check_gradient(coarse, 0.7)
    check_gradient(lambda x: 1e3 * coarse(x) ** 2, 0.7, rtol=1e-4)


def test_a_kink_and_a_jump():
    with pytest.raises(GradientCheckError, match=r"nothing could be checked: .*0\].*up to"):
        check_gradient(lambda x: np.sum(np.floor(x)), np.ones(2))
    with pytest.raises(GradientCheckError, match=r"\[2\][^;]*; \.\.\.; check "):
        check_gradient(lambda x: np.sum(np.floor(x)), np.ones(4))
    check_gradient(lambda x: np.sum(np.floor(x)), np.array([0.3, 1.7]))
    check_gradient(abs, 0.0)  # a minimum


@pytest.mark.parametrize("distance", [1e-7, 4e-7, 1e-6, 3e-6, 1e-5, 1e-4, 1e-3])
def test_near_a_kink_smaller_steps_tell(distance):
    check_gradient(abs, distance)
    check_gradient(abs, -distance)
    check_gradient(lambda x: np.sum(np.maximum(x, 0.0)), np.array([distance, 1.0]))
    check_gradient(lambda x: x * x if x > 1 else math.sin(x), 1.0 + distance)


def test_at_a_kink_nothing_can_be_told():
    for x in (1e-12, -1e-12):
        with pytest.raises(GradientCheckError, match=r"nothing could be checked: .* near a kink"):
            check_gradient(abs, x)
    for x in (1e-12, -1e-12, -1e-6):
        with pytest.warns(RuntimeWarning, match=r"1 of 2 derivatives could not .*\[0\].*a kink"):
            check_gradient(lambda x: np.sum(np.maximum(x, 0.0)), np.array([x, 1.0]))


def test_zero_is_told_and_what_is_lost_in_rounding_is_not():
    right = (
        lambda x, y: y * y,
        lambda x, y: y * y + math.sin(x) ** 2 + math.cos(x) ** 2,
        lambda x, y: 3.0 + math.sin(0.0 * x) + math.sin(0.0 * y),
        lambda x, y: math.exp(-x) + 1e-12 * math.sin(y),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f in right:
            check_gradient(f, 0.7, 0.3)
    with pytest.warns(RuntimeWarning, match=r"1 of 2 derivatives could not be .*argument 1"):
        check_gradient(lambda x, y: 1e6 * math.sin(x) + 1e-6 * math.sin(y), 0.7, 0.3)
    with pytest.raises(GradientCheckError, match="nothing could be checked"):
        check_gradient(lambda x: 1e6 + 1e-9 * math.sin(x), 0.7)


@pytest.mark.parametrize(
    ("f", "xs", "why"),
    [
        (lambda x: 1.0, ("text",), "no argument holds"),
        (lambda: 1.0, (), "no argument holds"),
        (lambda x: 1.0, ([True, None, {}],), "no argument holds"),
        (lambda x: math.sqrt(x), (0.0,), "no finite values around"),
        (lambda x: np.random.random() * x, (1.0,), "different values"),
        (lambda m: m[0] ** 2, ([1.0, threading.Lock()],), "cannot be copied"),
    ],
    ids=["text", "no argument", "no number", "end of the domain", "random", "no copy"],
)
@pytest.mark.filterwarnings("ignore")
def test_where_nothing_can_be_checked_it_says_so(f, xs, why):
    with pytest.raises(GradientCheckError, match=f"nothing could be checked: .*{why}"):
        check_gradient(f, *xs)


def test_what_could_not_be_checked_is_named():
    f = lambda p, y: y * y + math.sqrt(p["x"])
    with pytest.warns(RuntimeWarning, match=r"1 of 2 derivatives could not be .* 0, entry"):
        check_gradient(f, {"x": 0.0}, 0.5)


# -- derivatives by differences ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "slope", "within"),
    [
        (math.sin, 1.0, 1e-11),
        (np.exp, 1.0, 1e-14),
        (lambda h: abs(h - 1e-3), -1.0, 1e-9),
        (lambda h: math.sin(300.0 * h), 300.0, 1e-6),
        (lambda h: math.log(h + 1e-5), 1e5, 10.0),
        (lambda h: 7.0, 0.0, 0.0),
        (lambda h: round(math.sin(h), 9), 1.0, 1e-5),
        (lambda h: np.float32(1000.0) + np.float32(h), 1.0, 5e-2),
        (lambda h: np.conj(h) * 2.0, 2.0, 1e-10),  # not analytic
    ],
    ids=["sine", "complex step", "kink", "waves", "end", "constant", "digits", "single", "conj"],
)
def test_derivatives(f, slope, within):
    best, off, bend = derivative(f, 1.0)
    assert bend == 0.0
    assert abs(best - slope) <= within
    assert abs(best - slope) <= 10 * off + 1e-12


def test_the_bend_of_a_kink_is_what_its_slopes_differ_by():
    best, _, bend = derivative(lambda h: 3.0 * h if h > 0 else h, 1.0)
    assert (best, bend) == pytest.approx((2.0, 2.0))
