"""What specialized code was made for changes: the next call gives the right answer all the same."""

import builtins
import functools
import io
import math
import operator
import pickle
import sys
import threading
import time
import traceback
import types
import warnings

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.oracles import (
    answers,
    generic,
    generic_only,
    is_alike,
    is_specialized,
    outcome,
)
from zygote_lite import grad, gradient, jvp, testing, value_and_grad
from zygote_lite._specialize import compiled_text

X = np.array([3.0, 4.0])
changing = types.ModuleType("changing")


class Swap:
    """An attribute, an entry or a global that is set, and set back."""

    def __init__(self, owner, name, new):
        self.owner, self.name, self.new = owner, name, new
        self.space = owner if isinstance(owner, dict) else vars(owner)
        self.old = self.space.get(name, self)

    def set(self):
        self.put(self.new)

    def back(self):
        self.put(self.old)

    def put(self, x):
        if x is self:
            self.space.pop(self.name)
        elif isinstance(self.owner, dict):
            self.owner[self.name] = x
        else:
            setattr(self.owner, self.name, x)


def survives(f, x, change, back=None, fits=True):
    """Specialize, change something, and compare with the tape; then change it back."""
    differentiated = value_and_grad(f)
    outcome(lambda: [differentiated(x) for _ in range(3)])
    assert is_specialized(f) == fits
    assert answers(f, (x,)) or not fits
    before = generic(f, (x,), 0)
    assert is_alike(outcome(lambda: differentiated(x)), before)
    for step in (change, back):
        if step is None:
            continue
        step()
        for _ in range(10):
            got = outcome(lambda: differentiated(x))
            want = generic(f, (x,), 0)
            assert is_alike(got, want), (got, want)
        if step is change:
            assert not is_alike(want, before), "the change changes nothing"
    return got


# -- globals, modules, builtins ------------------------------------------------------------------

factor = 2.0
pair = (1.0, 2.0)
array = np.array([5.0, 6.0])
held = [1.0, 2.0]
table = {"a": 2.0}
changing.k, changing.array = 2.0, np.array([1.0, 2.0])
changing.function = lambda x: x * x


def helper(x):
    return x * x


class Config:
    rate = 2.0

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def scaled(cls, x):
        return x * cls.rate

    def method(self, x):
        return x * self.rate


config = Config()
SPACE = globals()


CHANGES = {
    "attribute of math": (lambda x: math.sin(x), 0.5, Swap(math, "sin", math.cos)),
    "attribute of numpy": (lambda x: np.sum(np.sin(x)), X, Swap(np, "sin", np.cos)),
    "function of numpy": (lambda x: np.linalg.norm(x), X, Swap(np.linalg, "norm", np.sum)),
    "global function": (lambda x: helper(x) + 1, 2.0, Swap(SPACE, "helper", lambda x: x**3)),
    "global number": (lambda x: x * factor, 2.0, Swap(SPACE, "factor", 3.0)),
    "global number to int": (lambda x: x * factor, 2.0, Swap(SPACE, "factor", 3)),
    "global number to text": (lambda x: x * factor, 2.0, Swap(SPACE, "factor", "text")),
    "global tuple": (lambda x: x * pair[0], 2.0, Swap(SPACE, "pair", (3.0, 2.0))),
    "global array": (lambda x: np.sum(x * array), X, Swap(SPACE, "array", np.array([1.0, 2.0]))),
    "global array, other shape": (
        lambda x: np.sum(x * array), X, Swap(SPACE, "array", np.ones((3, 2)))
    ),
    "global array, one entry": (lambda x: np.sum(x * array), X, Swap(SPACE, "array", np.ones(1))),
    "global array, other dtype": (
        lambda x: np.sum(x * array), X, Swap(SPACE, "array", np.array([1, 2]))
    ),
    "global array to list": (lambda x: np.sum(x * array), X, Swap(SPACE, "array", [1.0, 2.0])),
    "number of a module": (lambda x: x * changing.k, 2.0, Swap(changing, "k", 5.0)),
    "array of a module": (
        lambda x: np.sum(x * changing.array), X, Swap(changing, "array", np.array([7.0, 8.0]))
    ),
    "function of a module": (
        lambda x: changing.function(x), 2.0, Swap(changing, "function", lambda x: x * 7)
    ),
    "builtin shadowed": (lambda x: abs(x) * 2.0, -2.0, Swap(SPACE, "abs", lambda x: x * 7)),
    "builtin replaced": (lambda x: abs(x) * 3.0, -2.0, Swap(builtins, "abs", lambda x: x * 9)),
    "attribute of a class": (lambda x: x * Config.rate, 2.0, Swap(Config, "rate", 3.0)),
    "static method": (
        lambda x: Config.square(x), 2.0, Swap(Config, "square", staticmethod(lambda x: x * 11))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change(name):
    f, x, swap = CHANGES[name]
    survives(f, x, swap.set, swap.back)


LEFT = {
    "class method": (lambda x: Config.scaled(x), Swap(Config, "rate", 5.0)),
    "method": (lambda x: config.method(x), Swap(Config, "method", lambda self, x: x * 13)),
    "attribute of an object": (lambda x: x * config.rate, Swap(config, "rate", 7.0)),
    "list": (lambda x: x * sum(held), Swap(SPACE, "held", [1.0, 2.0, 5.0])),
    "dict": (lambda x: x * table["a"], Swap(table, "a", 5.0)),
}


@pytest.mark.parametrize("name", LEFT)
def test_a_change_of_what_is_left_to_the_generic_engine(name):
    f, swap = LEFT[name]
    differentiated = value_and_grad(f)
    before = [differentiated(2.0) for _ in range(4)][-1]
    swap.set()
    try:
        assert is_alike(outcome(lambda: differentiated(2.0)), generic(f, (2.0,), 0))
        assert differentiated(2.0) != before
    finally:
        swap.back()


def test_a_global_that_is_deleted():
    space = {"np": np, "k": 2.0}
    f = types.FunctionType((lambda x: x * k).__code__, space)  # noqa: F821
    got = survives(f, 2.0, lambda: space.pop("k"))
    assert got[1] is NameError


def test_an_array_changed_in_place():
    weights = np.array([1.0, 2.0])

    def f(x):
        return np.sum(x * weights)

    def reshape():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # it still does it
            weights.shape = (2, 1)

    survives(f, X, lambda: weights.__setitem__(0, 5.0))
    survives(f, X, reshape)


# -- functions -----------------------------------------------------------------------------------


def test_code_that_is_replaced():
    def inner(x):
        return x * x

    def outer(x):
        return inner(x) + 1

    code = inner.__code__
    survives(outer, 2.0, lambda: setattr(inner, "__code__", (lambda x: x * 5).__code__),
             lambda: setattr(inner, "__code__", code))  # fmt: skip

    def own(x):
        return x * x

    survives(own, 2.0, lambda: setattr(own, "__code__", (lambda x: x * 5).__code__))


def test_defaults_that_are_replaced():
    def own(x, k=2.0):
        return x * k

    def keyword(x, *, k=2.0):
        return x * k

    def inner(x, k=2.0):
        return x * k

    def inner_keyword(x, *, k=2.0):
        return x * k

    survives(own, 2.0, lambda: setattr(own, "__defaults__", (3.0,)))
    survives(keyword, 2.0, lambda: keyword.__kwdefaults__.update(k=4.0))
    survives(lambda x: inner(x) + 1, 2.0, lambda: setattr(inner, "__defaults__", (5.0,)))
    survives(lambda x: inner_keyword(x) + 1, 2.0,
             lambda: setattr(inner_keyword, "__kwdefaults__", {"k": 7.0}))  # fmt: skip
    survives(lambda x: inner_keyword(x) + 2, 2.0,
             lambda: setattr(inner_keyword, "__kwdefaults__", None))  # fmt: skip


def test_a_default_that_is_an_object():
    settings = types.SimpleNamespace(k=2.0)

    def f(x, settings=settings):
        return x * settings.k

    survives(f, 2.0, lambda: setattr(settings, "k", 3.0))


@pytest.mark.parametrize("change", [
    lambda f: f.__defaults__[0].__setitem__(0, 5.0),
    lambda f: setattr(f, "__defaults__", (np.array([[8.0]]),)),
    lambda f: setattr(f, "__defaults__", (np.array([9], dtype=int),)),
    lambda f: setattr(f, "__defaults__", (1.5,)),
    lambda f: setattr(f, "__defaults__", None),
    lambda f: f.__kwdefaults__["more"].insert(0, 6.0),
    lambda f: f.__kwdefaults__["more"].clear(),
    lambda f: f.__kwdefaults__.update(more=(5.0,)),
], ids=["item", "2-D", "ints", "float", "none", "inserted", "emptied", "tuple"])  # fmt: skip
def test_defaults_that_are_arrays_and_lists(change):
    weights = np.array([1.0, 2.0])

    def f(x, w=weights, *, more=[3.0, 4.0]):
        return x * np.sum(w * x) + more[0] * x

    survives(f, 2.0, lambda: change(f))


def test_a_default_that_is_the_argument():
    x = np.array([0.5, 2.0])

    def f(x, y=x):
        return np.sum(x * y * y)

    for _ in range(4):
        with generic_only():
            want = value_and_grad(f)(x)
        assert is_alike(value_and_grad(f)(x), want)
        assert is_alike(value_and_grad(f)(x + 1.0), value_and_grad(f)(x + 1.0))


@pytest.mark.parametrize("new", [3.0, 3, np.float64(4), np.array([3.0]), "text", None, True])
def test_a_captured_variable_that_changes(new):
    captured = 2.0

    def f(x):
        return x * captured

    def change():
        nonlocal captured
        captured = new

    survives(f, 2.0, change)


def test_captured_numbers_do_not_each_need_code_of_their_own():
    def make(k):
        return lambda x: x * k

    for k in range(40):
        f = make(k + 0.5)
        assert gradient(f, 2.0) == (k + 0.5,)
    assert answers(make(123.25), (2.0,))
    assert gradient(make(123.25), 2.0) == (123.25,)


def test_code_is_made_again_for_what_changes_often():
    space = {}
    f = types.FunctionType((lambda x: x * count * 1.5).__code__, space)  # noqa: F821
    for i in range(100):  # an int is a constant of the code
        space["count"] = i
        assert gradient(f, 2.0) == (i * 1.5,)
    assert [gradient(f, 2.0) for _ in range(500)][-1] == (i * 1.5,)
    assert answers(f, (2.0,))


def test_code_whose_answers_are_refused_is_made_once():
    """Python's power raises at the pole of its derivative: the tape says infinity."""

    def f(x):
        return x**0.5

    for _ in range(600):
        assert gradient(f, 0.0) == (math.inf,)
    assert len(testing.programs(f)) == 1


def test_two_modules_with_the_same_code():
    code = compile("def f(x):\n    return x * k + g(x)\ndef g(x):\n    return x * k", "<m>", "exec")
    spaces = [{"k": 2.0}, {"k": 3.0}, {"k": 4}]
    for space in spaces:
        exec(code, space)
    import linecache

    text = ["def f(x):\n", "    return x * k + g(x)\n", "def g(x):\n", "    return x * k\n"]
    linecache.cache["<m>"] = (1, None, text, "<m>")
    for _ in range(4):
        assert [gradient(space["f"], 1.0) for space in spaces] == [(4.0,), (6.0,), (8.0,)]
    assert is_specialized(spaces[0]["f"])


# -- rules ---------------------------------------------------------------------------------------


def primitive(x):
    return x * x


def with_array(x):
    return x * x


FACTOR = 2.0
FACTORS = np.array([2.0])


def test_rules_that_come_and_go():
    def f(x):
        return primitive(x) * 1.5

    rules = RuleSet("of a script")
    rules.scalar(primitive)(lambda x: 100.0)
    survives(f, 2.0, rules.register, rules.unregister)
    own = RuleSet("of the function itself")
    own.scalar(f)(lambda x: 77.0)
    survives(f, 2.0, own.register, own.unregister)


def test_a_rule_is_overridden_and_that_is_taken_back():
    def f(x):
        return math.sin(x) * 1.5

    over = RuleSet("of a script")
    over.scalar(math.sin)(lambda x: 100.0)
    survives(f, 2.0, lambda: over.register(override=True), over.unregister)


@pytest.mark.parametrize("x", [2.0, np.array([2.0])], ids=["number", "array"])
def test_the_rule_of_an_operator_is_overridden_where_it_returns_its_operand(x):
    def f(x):
        return np.sum(x * 1.0) + np.sum(1.0 * x) + np.sum(x / 1.0) + np.sum(x**1)

    over = RuleSet("of a script")
    over.scalar(operator.mul)(lambda x, y: (10 * y, 10 * x))
    over.scalar(operator.truediv, operator.pow)(lambda x, y: (100.0, None))
    over.register(override=True)
    try:
        assert [gradient(f, x)[0] for _ in range(4)] == [220.0] * 4
    finally:
        over.unregister()


def test_the_rule_of_an_operator_is_overridden_for_arrays_alone():
    def f(x):
        return np.sum(x * 1.0)

    over = RuleSet("of a script")

    @over(operator.mul)
    def _(x: np.ndarray, y: float):
        return x * y, lambda dy: (100.0 * dy, None)

    def slopes():
        return [value_and_grad(f)(x)[1] for _ in range(4) for x in (2.0, np.array([2.0]))]

    before = slopes()
    over.register(override=True)
    try:
        assert slopes() == [1.0, 100.0] * 4
    finally:
        over.unregister()
    assert slopes() == before == [1.0, 1.0] * 4


def test_code_of_older_rules_stays_out_after_code_of_newer_rules_was_entered():
    def f(x):
        return math.sinh(x) * 2.0

    def other(x):
        return math.cosh(x)

    over = RuleSet("of a script")
    over.scalar(math.sinh)(lambda x, out: 10.0)
    for _ in range(3):
        gradient(f, 0.0), jvp(f, (0.0,), (1.0,))
    over.register(override=True)
    try:
        for _ in range(3):  # the code of `f` is as it was before, and that of `other` is new
            gradient(other, 0.0)
        assert gradient(f, 0.0) == (20.0,)
        assert jvp(f, (0.0,), (1.0,)) == (0.0, 20.0)
    finally:
        over.unregister()
    for _ in range(3):
        gradient(other, 0.0)
    assert (gradient(f, 0.0), jvp(f, (0.0,), (1.0,))) == ((2.0,), (0.0, 2.0))


def rules_in_tens(f):
    """Return a rule set of a program, by which each operand of `f` counts ten times."""
    over = RuleSet("of a script")
    if f is sum:

        @over(sum)
        def _(xs: list | tuple):
            return sum(xs), lambda dy: (type(xs)([10 * dy for _ in xs]),)

        @over(sum)
        def _(xs: list | tuple, start: int):  # which is how recording sums what is no list
            return sum(xs, start), lambda dy: (type(xs)([10 * dy for _ in xs]), None)

    elif f is math.prod:

        @over(math.prod)
        def _(xs: list | tuple, *, start=1):
            return math.prod(xs, start=start), lambda dy: (type(xs)([10 * dy for _ in xs]),)

    else:
        over.scalar(f)(lambda x, y: (10.0, 10.0))
    return over


FOLDS = {
    "list": (sum, lambda x: sum([x, x]), 2.0, 2.0, 20.0),
    "tuple": (sum, lambda x: sum((x, 3.0, x)), 2.0, 2.0, 20.0),
    "values": (sum, lambda x: sum({"a": x, "b": x}.values()), 2.0, 2.0, 20.0),
    "list-comprehension": (sum, lambda x: sum([x for _ in range(3)]), 3.0, 3.0, 30.0),
    "generator": (sum, lambda x: sum(x for _ in range(3)), 3.0, 3.0, 30.0),
    "map": (sum, lambda x: sum(map(abs, (x, x))), 2.0, 2.0, 20.0),
    "rows": (sum, lambda x: sum(sum([x, x]) for _ in range(2)), 4.0, 4.0, 400.0),
    "reduce": (sum, lambda x: functools.reduce(operator.add, [x, x, x]), 3.0, 210.0, 3.0),
    "product": (math.prod, lambda x: math.prod([x, x]), 4.0, 4.0, 20.0),
    "product-of-generator": (math.prod, lambda x: math.prod(x for _ in "xyz"), 12.0, 12.0, 30.0),
}


@pytest.mark.parametrize(
    ("fold", "f", "usual", "of_operator", "of_fold"), FOLDS.values(), ids=FOLDS
)
def test_a_fold_is_written_with_its_operator_only_where_their_rules_agree(
    fold, f, usual, of_operator, of_fold
):
    differentiated = grad(f)
    assert [differentiated(2.0) for _ in range(4)] == [usual] * 4
    assert is_specialized(f)
    of = operator.mul if fold is math.prod else operator.add
    for over, wanted in ((of, of_operator), (fold, of_fold)):
        rules = rules_in_tens(over)
        rules.register(override=True)
        try:
            assert [differentiated(2.0) for _ in range(4)] == [wanted] * 4
            with generic_only():
                assert differentiated(2.0) == wanted
        finally:
            rules.unregister()
        assert [differentiated(2.0) for _ in range(4)] == [usual] * 4
        assert is_specialized(f)


@pytest.mark.parametrize(
    "f", [lambda x: sum([x, x]), lambda x: sum(x for _ in range(2))], ids=["list", "generator"]
)
def test_a_fold_stays_written_with_its_operator_where_a_rule_is_for_another_class(f):
    class Other:
        pass

    rules = RuleSet("of a script")

    @rules(operator.add)
    def _(x: Other, y: Other):
        return x, lambda dy: (dy, None)

    rules.register()
    try:
        assert [gradient(f, 2.0)[0] for _ in range(4)] == [2.0] * 4
        assert is_specialized(f)
    finally:
        rules.unregister()


def test_what_a_rule_reads_changes():
    rules = RuleSet("of a script")
    rules.scalar(primitive)(lambda x: FACTOR * x)

    @rules(with_array)
    def _(x: float):
        def pullback(dy):
            return (dy * FACTORS[0] * x,)

        return x * x, pullback

    rules.register()
    try:
        swap = Swap(SPACE, "FACTOR", 50.0)
        survives(lambda x: primitive(x) * 1.5, 2.0, swap.set, swap.back)
        f = lambda x: with_array(x) * 1.5
        before = [gradient(f, 2.0) for _ in range(4)][-1]
        FACTORS[0] = 9.0
        assert [gradient(f, 2.0) for _ in range(4)] == [(27.0,)] * 4 != before
    finally:
        rules.unregister()
        FACTORS[0] = 2.0


# -- side effects, errors, warnings --------------------------------------------------------------


def test_side_effects_are_neither_lost_nor_repeated(capsys):
    seen, source = [], np.random.default_rng(0)
    twin = np.random.default_rng(0)
    file = io.StringIO()

    def printing(x):
        print("seen")
        return x * x

    def noting(x):
        seen.append(1)
        return x * x

    def drawing(x):
        return x * source.normal()

    def writing(x):
        file.write(".")
        return x * x

    def timing(x):
        return x * time.perf_counter()

    for k in range(1, 5):
        grad(printing)(2.0)
        assert capsys.readouterr().out == "seen\n"
        grad(noting)(2.0)
        assert len(seen) == k
        assert grad(drawing)(2.0) == twin.normal()
        grad(writing)(2.0)
        assert file.getvalue() == "." * k
    times = [grad(timing)(2.0) for _ in range(5)]
    assert times == sorted(set(times))


def test_errors_come_from_the_users_line():
    def f(x, y):
        z = x + 1.0
        return z / y

    differentiated = value_and_grad(f, (0, 1))
    for _ in range(4):
        differentiated(1.0, 2.0)
    assert answers(f, (1.0, 2.0))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as caught:
            differentiated(1.0, 0.0)
        with generic_only(), pytest.raises(ZeroDivisionError) as expected:
            value_and_grad(f, (0, 1))(1.0, 0.0)
        assert str(caught.value) == str(expected.value)
        own = [
            [frame.lineno for frame in traceback.extract_tb(e.tb) if frame.filename == __file__]
            for e in (caught, expected)
        ]
        assert own[0][1:] == own[1][1:] == [f.__code__.co_firstlineno + 2]
        assert caught.value.__context__ is None


def test_floating_point_errors_are_raised_where_they_are_asked_for():
    def f(x):
        return np.sum(np.exp(x))

    differentiated = value_and_grad(f)
    for _ in range(4):
        differentiated(X)
    for _ in range(3):
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
            differentiated(np.array([1.0, 1000.0]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="overflow"):
                differentiated(np.array([1.0, 1000.0]))
        assert np.all(np.isfinite(differentiated(X)[1]))


def test_specializing_leaves_warnings_alone():
    def f(x):
        return np.sum(np.log(x) * x)

    before = [*warnings.filters]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(4):
            value_and_grad(f)(X)
    assert not seen
    assert warnings.filters == before


def test_the_reverse_pass_does_not_warn():
    """At a pole the value is finite, and the derivative is not."""
    for f in (np.sqrt, np.cbrt, np.arcsin):
        for one in (np.float64(0.5), np.array([0.5, 0.25])):
            pole = 1.0 if f is np.arcsin else 0.0

            def g(x, f=f):
                return np.sum(f(x)) if np.ndim(x) else f(x)

            for _ in range(4):
                gradient(g, one)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                (d,) = gradient(g, one * 0 + pole)
            assert np.all(np.isinf(d))


# -- threads -------------------------------------------------------------------------------------


def run_together(work, count=8):
    """Run `work(k)` in threads at once; return what they raised."""
    errors, barrier = [], threading.Barrier(count)

    def body(k):
        barrier.wait()
        try:
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(k,)) for k in range(count)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return errors


def test_threads_specialize_together():
    def make(k):
        space = {"np": np, "math": math, "k": k}

        def f(x):
            y = np.tanh(x) * k + np.sin(x)
            s = 0.0
            for i in range(3):
                s = s + np.sum(np.exp(-y * i) * x)
            return s * k + y @ y

        closure = (types.CellType(k),)
        return types.FunctionType(f.__code__, space, "f", None, closure)

    functions = [make(k) for k in range(6)]
    wants = [generic(f, (X,), 0) for f in functions]
    filters = [*warnings.filters]

    def work(k):
        for turn in range(8):
            i = (k + turn) % len(functions)
            got = "value", value_and_grad(functions[i])(X)
            assert is_alike(got, wants[i]), (got, wants[i])

    assert not run_together(work)
    assert warnings.filters == filters
    assert is_specialized(functions[0])


def test_threads_while_a_global_changes():
    """Each answer is that of one of the two values, and value and gradient are of the same."""
    space = {"k": 2.0}

    def f(x):
        return x * k * k  # noqa: F821

    f = types.FunctionType(f.__code__, space)
    differentiated = value_and_grad(f)
    for _ in range(4):
        differentiated(1.5)
    stop = threading.Event()

    def work(k):
        if k == 0:
            for turn in range(2000):
                space["k"] = 2.0 if turn % 2 else 3.0
            stop.set()
            return
        while not stop.is_set():
            y, d = differentiated(1.5)
            assert (y, d) in {(6.0, 4.0), (13.5, 9.0), (9.0, 6.0)}, (y, d)

    assert not run_together(work, 4)


def test_errors_and_gradients_in_threads():
    def f(x):
        if x < 0:
            raise ValueError(f"{x} is negative")
        return math.sqrt(x) * x

    def work(k):
        for turn in range(20):
            x = (turn + k) % 5 - 1.5
            if x < 0:
                with pytest.raises(ValueError, match=f"{x} is negative"):
                    grad(f)(x)
            else:
                assert math.isclose(grad(f)(x), 1.5 * math.sqrt(x))

    assert not run_together(work)
    assert is_specialized(f)


def test_the_dtype_of_an_array_need_only_be_equal():
    """That of an array that was unpickled, as by a worker, is not NumPy's own object."""
    x = pickle.loads(pickle.dumps(np.array([1.0, 2.0])))
    assert x.dtype is not np.dtype(float)
    cubed = grad(lambda x: np.sum(x**3))
    with testing.observed() as seen:
        for given in (x, x, x, np.array([1.0, 2.0]), x.view(), x.astype(np.float32)):
            dx = cubed(given)
            assert dx.dtype == given.dtype
            np.testing.assert_array_equal(dx, [3.0, 12.0])
    assert [a.tier for a in seen] == ["recorded"] * 2 + ["transformed"] * 3 + ["recorded"]
    np.testing.assert_array_equal(cubed(x.astype(">f8")), [3.0, 12.0])


def test_the_definition_of_a_function_in_the_code_is_found_by_its_name():
    text = "def f(x):\n    def other():\n        pass\n    def back(dy):\n        return dy\n"
    for name in ("f", "f.<locals>.other", "f.<locals>.back"):
        found = compiled_text._definition_named(text, [1] * 5, name)
        assert found.name == name.rpartition(".")[2]
