"""Right or loud: every error names the function, the user's file and line, and what to do."""

# the code that is differentiated may be odd on purpose
# ruff: noqa: F821, F841, PT017

import hashlib
import inspect
import json
import math
import operator
import re
import struct
import time
import traceback
import types

import numpy as np
import pytest

from rulescore import Tangent
from zygote_lite import (
    DifferentiationError,
    NoRuleError,
    UnsupportedSyntaxError,
    grad,
    gradient,
    pullback,
)

FILE = "test_right_or_loud.py"
X = np.array([[2.0, -1.0], [0.5, 1.5]])
UNKNOWN = {
    "an operator": lambda x: operator.add(x, x, misspelt=1),
    "an index": lambda x: operator.getitem(x, 0, misspelt=1),
    "math": lambda x: math.sin(x[0, 0], misspelt=1),
    "math, out": lambda x: math.sin(x[0, 0], out=None),
    "a builtin": lambda x: abs(x, misspelt=1),
    "a type": lambda x: float(x[0, 0], misspelt=1),
    "a ufunc": lambda x: np.exp(x, misspelt=1),
    "a mean": lambda x: np.mean(x, axes=0),
    "of a method": lambda x: x.mean(axes=0),
    "of lists": lambda x: np.sum([x[0, 0], x[0, 1]], misspelt=1),
    "given twice": lambda x: np.cumsum(x, 0, axis=0),
    "a method, given twice": lambda x: x.cumsum(0, axis=0),
    "no out": lambda x: np.linalg.det(x, out=None),
    "a method without out": lambda x: x.ravel(out=None),
    "a matrix product": lambda x: np.matmul(x, x, where=True),
    "a decomposition": lambda x: np.linalg.qr(x, misspelt=1),
    "a list": lambda x: [x].append(x, misspelt=1),
}


@pytest.mark.parametrize("f", UNKNOWN.values(), ids=UNKNOWN)
def test_an_option_that_a_function_does_not_know_is_its_own_error(f):
    with pytest.raises(TypeError) as expected:
        f(X)
    for _ in range(4):  # specialized code answers from the third call on
        with pytest.raises(TypeError) as caught:
            gradient(lambda x: np.sum(f(x)), X)
        assert (type(caught.value), str(caught.value)) == (TypeError, str(expected.value))


def test_a_sum_of_what_cannot_be_added_is_pythons_error():
    for items in ([1.0, None], [(1.0,), 2.0]):
        with pytest.raises(TypeError, match=r"unsupported operand|can only concatenate"):
            gradient(lambda x: sum([x, *items]) * x, 2.0)


def test_more_dicts_than_a_dict_takes_are_an_error():
    for _ in range(4):
        with pytest.raises(TypeError, match="argument"):
            gradient(lambda x: dict({"a": x}, {"a": x})["a"], 2.0)


def test_an_option_that_no_rule_knows_is_named_with_the_place():
    def f(x):
        return np.sum(np.matmul(x, x, dtype=np.float64))

    def h(x):
        return np.linalg.qr(x, mode="raw")[0].sum()

    for _ in range(4):
        with pytest.raises(NoRuleError, match="`dtype`") as caught:
            gradient(f, X)
        assert f"{FILE}:{line_of(f, 'matmul')}: numpy.matmul" in str(caught.value)
        with pytest.raises(NoRuleError, match=r"qr has no rule for the mode 'raw'") as c:
            gradient(h, X)
        assert f"{FILE}:{line_of(h, 'qr')}: " in str(c.value)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.sum(np.linalg.qr(x)[1]), np.ones((2, 2))),
        (lambda x: np.sum(np.linalg.qr(x)[1]), np.zeros((3, 2))),
        (lambda x: np.linalg.slogdet(x)[1], np.zeros((2, 2))),
        (lambda x: np.linalg.eigh(x)[1][0, 0], np.eye(2)),
        (lambda x: np.linalg.svd(x)[0][0, 0], np.eye(2)),
    ],
    ids=["qr", "qr of zeros", "slogdet", "eigh", "svd"],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_matrix_without_gradient_is_told_with_the_function_and_the_place(f, x):
    def in_a_loop(x):
        for _ in range(1):
            y = f(x)
        return y

    for g in (f, in_a_loop):
        for _ in range(4):
            with pytest.raises(np.linalg.LinAlgError, match=rf"{FILE}:\d+: .*numpy.linalg.\w+"):
                gradient(g, x)


def test_a_view_by_keyword_has_a_gradient():
    z = np.array([1 + 2j, 3.0])
    for f in (lambda z: np.sum(z.view(float) ** 2), lambda z: np.sum(z.view(dtype=float) ** 2)):
        for _ in range(4):
            np.testing.assert_array_equal(gradient(f, z)[0], 2 * z)


def line_of(f, text):
    lines, start = inspect.getsourcelines(f)
    return start + next(i for i, line in enumerate(lines) if text in line)


# -- no rule -----------------------------------------------------------------------------------


doubled = np.frompyfunc(lambda v: v * 2.0, 1, 1)  # a ufunc, which nobody has a rule for
doubled_name = doubled.__name__


def of_c(x):
    y = x * 2.0
    return y + doubled(y)


def deep(x):
    return x + of_c(x)


@pytest.mark.parametrize("f", [of_c, deep, lambda x: of_c(x)], ids=["plain", "deep", "lambda"])
def test_a_c_function_without_a_rule(f):
    with pytest.raises(NoRuleError) as caught:
        pullback(f, 0.6)
    message = str(caught.value)
    assert doubled_name in message
    assert f"{FILE}:{line_of(of_c, 'doubled(')}" in message
    assert "float" in message
    assert "RuleSet" in message
    assert "plugin" in message
    assert isinstance(caught.value, DifferentiationError)


def test_a_builtin_function_without_a_rule():
    def f(x):
        return struct.unpack("d", struct.pack("d", x))[0]

    with pytest.raises(
        NoRuleError, match=rf"test_right_or_loud\.py:{line_of(f, 'pack')}.*struct\.unpack"
    ):
        gradient(f, 2.0)
    assert grad(lambda x, y: x * f(y))(2.0, 3.0) == 3.0


def test_a_c_function_without_a_rule_itself():
    with pytest.raises(NoRuleError, match=r"test_right_or_loud\.py:\d+.*vectorized"):
        pullback(doubled, 0.6)


def test_a_c_function_is_simply_run_where_no_gradient_passes():
    assert grad(lambda x, y: x * doubled(y))(2.0, 1.5) == 3.0
    assert gradient(lambda x: x * doubled(1.5), 2.0) == (3.0,)


def parses(x):
    return x * json.loads('{"a": 3}')["a"]


def parses_argument(x, text):
    return x * json.loads(text)["a"]


def tells_time(x):
    return x * 3.0 + 0.0 * time.time() + 0.0 * time.perf_counter()


def matches(x, text):
    number = re.search(r"\d", text).group()
    return x * int(number)


def compiled_pattern(x, text):
    found = PATTERN.findall(text)
    return x * float(found[0])


def uses_text(x, text):
    words = text.strip().upper().replace("A", "b").split(",")
    joined = "-".join(sorted(words))
    return x * (len(joined) - joined.count("b") - 5 + text.index("3"))


def uses_shapes(x, text):
    a = np.ones((3, 2))
    return x * a.shape[0] * a.ndim * len(a) * a.size / 36.0


def hashes(x, text):
    digest = hashlib.sha256(text.encode()).hexdigest()
    return x * 3.0 * (len(digest) / 64)


def formats(x, text):
    label = f"{x:>10} {text}" + f"{x:.3f}" + f"{x}" + str(x) + repr(x)
    return x * 3.0 + 0.0 * len(label)


def compares(x, text):
    same = text == "3" or x is text or not x
    return x * 3.0 * (1 - same) if isinstance(x, float) else x


def generates(x, text):
    rng = np.random.default_rng(0)
    return x * 3.0 + 0.0 * rng.normal() + 0.0 * rng.integers(3)


PATTERN = re.compile(r"\d")
SIMPLY_RUN = [matches, compiled_pattern, uses_text, uses_shapes, hashes, formats, generates]


@pytest.mark.parametrize("f", [parses, tells_time])
def test_what_no_gradient_passes_is_simply_run(f):
    assert gradient(f, 2.0) == (3.0,)


@pytest.mark.parametrize("f", SIMPLY_RUN)
def test_text_shapes_and_hashes_carry_no_gradient(f):
    text = "a,3"
    slope = (f(2.0 + 1e-6, text) - f(2.0 - 1e-6, text)) / 2e-6
    d_x, d_text = gradient(f, 2.0, text)
    assert d_x == pytest.approx(slope)
    assert d_text is None
    assert grad(f)(2.0, text) == d_x


def test_json_of_an_argument_carries_no_gradient():
    assert gradient(parses_argument, 2.0, '{"a": 3}') == (3.0, None)


def test_a_rule_declared_later_is_used_from_the_next_call_on(rules):
    with pytest.raises(NoRuleError):
        gradient(of_c, 0.6)
    rules.scalar(doubled)(lambda x: 2.0)
    assert gradient(of_c, 0.6) == (6.0,)
    rules.unregister()
    with pytest.raises(NoRuleError):
        gradient(of_c, 0.6)


# -- without plugins ---------------------------------------------------------------------------

NEEDS_BASE = {
    "math": (lambda x: math.sin(x), "math.sin"),
    "operator": (lambda x: x * x, "`*` of (float, float)"),
    "numpy": (lambda x: np.exp(x), "numpy.exp"),
    "numpy_function": (lambda x: np.sum(x), "numpy"),
    "builtin": (lambda x: abs(x), "abs"),
    "method": (lambda x: x.conjugate(), "float.conjugate"),
    "attribute": (lambda x: x.real, "real"),
}


@pytest.mark.usefixtures("no_base")
@pytest.mark.parametrize("name", NEEDS_BASE)
def test_an_engine_without_rules_names_the_plugin(name):
    f, function = NEEDS_BASE[name]
    with pytest.raises(NoRuleError) as caught:
        gradient(f, 0.6)
    message = str(caught.value)
    assert "pip install rules_base" in message
    assert function in message
    assert f"{FILE}:{f.__code__.co_firstlineno}" in message


@pytest.mark.usefixtures("no_base")
def test_an_engine_without_rules_still_does_what_needs_none():
    f = lambda x, m: [x, m["a"]][1]
    assert gradient(f, 1.0, {"a": 2.0}) == (None, {"a": 1.0})


# -- broken rules ------------------------------------------------------------------------------


def broken(x, y):
    return x * y


def user_of_broken(x, y):
    return broken(x, y)


BROKEN = {
    "too_few": (lambda dy: (dy,), r"1 cotangent.* 2"),
    "too_many": (lambda dy: (dy, dy, dy), r"3 cotangent.* 2"),
    "none": (lambda dy: None, "None"),
    "one_number": (lambda dy: dy, "float"),
    "list": (lambda dy: [dy, dy], "list"),
    "wrong_shape": (lambda dy: (dy, np.ones((2, 3))), r"\(2, 3\)"),
    "wrong_container": (lambda dy: ([dy], dy), "list"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_named(name, rules):
    pulled, pattern = BROKEN[name]

    @rules(broken)
    def _(x: float, y: float):
        return x * y, pulled

    with pytest.raises(Exception, match=pattern) as caught:
        pullback(user_of_broken, 2.0, 3.0)[1](1.0)
    message = str(caught.value)
    assert "broken" in message
    assert "rules_of_the_test" in message
    assert FILE in message


@pytest.mark.parametrize("shape", [(3,), (2, 2), (1, 2), ()])
def test_a_rule_with_a_cotangent_of_the_wrong_shape_is_named(shape, rules):
    @rules(broken)
    def _(x: np.ndarray, y: float):
        def pullback(dy):
            return np.ones(shape), 1.0

        return x * y, pullback

    with pytest.raises(Exception, match="broken") as caught:
        pullback(user_of_broken, np.ones(2), 3.0)[1](np.ones(2))
    assert "rules_of_the_test" in str(caught.value)
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize(
    ("given", "pattern"),
    [(lambda x: x, "float"), (lambda x: (x, 1.0), "pullback"), (lambda x: (x, x, x), "tuple")],
    ids=["value", "no_pullback", "three"],
)
def test_a_rule_that_returns_no_pair_is_named(given, pattern, rules):
    def odd(x):
        return x

    @rules(odd)
    def _(x: float):
        return given(x)

    with pytest.raises(Exception, match=pattern) as caught:
        pullback(odd, 2.0)
    assert "odd" in str(caught.value)
    assert "rules_of_the_test" in str(caught.value)


def test_an_option_carries_no_gradient(rules):
    def scaled(x, *, scale):
        return x * scale

    @rules(scaled)
    def _(x: float, *, scale):
        return x * scale, lambda dy: (dy * scale,)

    assert gradient(lambda x: scaled(x, scale=3.0), 2.0) == (3.0,)
    with pytest.raises(NoRuleError, match=r"test_right_or_loud\.py:\d+.*scale.*option"):
        gradient(lambda x: scaled(x, scale=x), 2.0)


def test_a_rule_for_other_types_leaves_the_call_to_the_source(rules):
    def doubled(x):
        return x + x

    @rules(doubled)
    def _(x: np.ndarray):
        return x + x, lambda dy: (dy * 100.0,)

    assert gradient(doubled, 2.0) == (2.0,)


# -- exceptions of user code -------------------------------------------------------------------


class OwnError(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)
        self.a = a


def raise_own(x):
    raise OwnError(x, "text")


def divides(x):
    y = x - x
    return x / y


def calls(x):
    z = x + 1.0
    return divides(z)


def unknown_name(x):
    return x * nothing_of_this_name


def unbound(x):
    y = z * x
    z = 1.0
    return y


FAILING = {
    "division": (calls, (2.0,), ZeroDivisionError),
    "domain": (lambda x: math.log(x), (-2.0,), ValueError),
    "index": (lambda p: p[3], ([1.0],), IndexError),
    "index_array": (lambda p: p[3], (np.ones(2),), IndexError),
    "key": (lambda p: p["b"], ({"a": 1.0},), KeyError),
    "attribute": (lambda p: p.nothing, (Tangent,), AttributeError),
    "attribute_of_number": (lambda p: p.nothing, (1.0,), AttributeError),
    "type": (lambda x: x + "text", (1.0,), TypeError),
    "shapes": (lambda a, b: a @ b, (np.ones(2), np.ones(3)), ValueError),
    "name": (unknown_name, (1.0,), NameError),
    "unbound": (unbound, (1.0,), UnboundLocalError),
    "not_callable": (lambda x: x(1.0), (1.0,), TypeError),
    "too_few": (lambda x: divides(), (1.0,), TypeError),
    "too_many": (lambda x: divides(x, x), (1.0,), TypeError),
    "unpack_few": (lambda p: (lambda a, b: a)(*p), ([1.0],), TypeError),
    "not_iterable": (lambda x: max(*x), (1.0,), TypeError),
    "own": (lambda x: raise_own(x), (1.0,), OwnError),
    "overflow": (lambda x: math.exp(x), (1000.0,), OverflowError),
    "stop": (lambda x: next(iter([])) * x, (1.0,), StopIteration),
    "setter": (lambda x: setattr(3, "a", x), (1.0,), AttributeError),
}


@pytest.mark.parametrize("name", FAILING)
def test_exceptions_are_those_of_the_plain_call(name):
    f, xs, kind = FAILING[name]
    with pytest.raises(kind) as plain:
        f(*xs)
    with pytest.raises(kind) as ours:
        pullback(f, *xs)
    assert type(ours.value) is type(plain.value)
    assert str(ours.value) == str(plain.value)
    assert ours.value.args == plain.value.args
    places = [(frame.filename, frame.lineno, frame.name) for frame in traceback.extract_tb(ours.tb)]
    expected = [(s.filename, s.lineno, s.name) for s in traceback.extract_tb(plain.tb)][1:]
    own = [place for place in places if place[0].endswith(FILE)][1:]
    assert own[: len(expected)] == [place for place in expected if place[0].endswith(FILE)]


def test_the_frame_in_the_traceback_has_the_users_variables():
    with pytest.raises(ZeroDivisionError) as caught:
        pullback(calls, 2.0)
    frames = {s.tb_frame.f_code.co_name: s.tb_frame for s in _links(caught.tb)}
    assert frames["divides"].f_locals["y"] == 0.0
    assert frames["divides"].f_globals is globals()
    assert frames["calls"].f_locals["z"] == 3.0


def _links(tb):
    while tb is not None:
        yield tb
        tb = tb.tb_next


def test_unpacking_errors_are_pythons():
    def two(p):
        a, _b = p
        return a

    def star(p):
        a, *_b, _c = p
        return a

    for f, p in ((two, [1.0]), (two, [1.0, 2.0, 3.0]), (star, [1.0]), (two, 1.0), (two, (1.0,))):
        with pytest.raises((ValueError, TypeError)) as plain:
            f(p)
        with pytest.raises(type(plain.value)) as ours:
            pullback(f, p)
        assert str(ours.value) == str(plain.value)


def test_a_failed_call_leaves_no_trace():
    with pytest.raises(ZeroDivisionError):
        gradient(calls, 2.0)
    assert gradient(lambda x: x * x, 3.0) == (6.0,)
    _y, back = pullback(lambda p: p[0] * p[1], [2.0, 3.0])
    with pytest.raises(TypeError, match="cotangent"):
        back("text")
    assert back(1.0)[1] == [3.0, 2.0]


# -- syntax that is refused --------------------------------------------------------------------


async def asynchronous(x):
    return x


def assigns_global(x):
    global COUNT
    COUNT = x
    return COUNT * x


COUNT = 0.0


REFUSED_TEXTS = {  # variables, a text for `exec`, and what the error tells
    "a function that reads": ({"a": 2.0}, "def f(): return x", "a function reads `x`"),
    "a generator that reads": ({}, "y = sum(x for _ in 'ab')", "a function reads `x`"),
    "a function of its own": (
        {}, "def f(t): return t\ndef g(t): return f(t)\ny = g(x)", "use its own `f`"),
    "a class": ({}, "class A:\n    v = x\ny = A.v", "has a class in its line 1"),
    "an assignment inside": ({}, "(y := x)", "has `:=` in its line 1"),
    "a function that takes": (
        {}, "def f(t): return t * t\ny = f(x)", "the variable `y` of a module"),
    "code that looks around": ({}, "y = vars()['x']", "has `vars` in its line 1"),
    "`del`": ({}, "y = x\ndel x", "has `del` in its line 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED_TEXTS)
def test_texts_that_are_not_followed_are_refused(name):
    given, text, told = REFUSED_TEXTS[name]

    def f(x):
        variables = {**given, "x": x}
        exec(text, variables)
        return variables["y"]

    for _ in range(3):
        with pytest.raises(DifferentiationError) as caught:
            gradient(f, 2.0)
        assert told in str(caught.value)


def test_a_text_runs_once_and_does_what_it_does_elsewhere():
    def f(x):
        said, seen = [], {"x": x, "said": None}
        exec("said.append(x > 1)\nk = 1")
        try:
            exec("'what it is for'\ny = x * x\nsaid = [y]\n1 / 0", seen)
        except ZeroDivisionError:
            said.append(len(seen["said"]))
        return seen["y"] * len(said), sorted(seen), said

    expected = f(2.0)
    y, back = pullback(f, 2.0)
    assert y == expected
    assert back((1.0, None, None))[1:] == (8.0,)
    with pytest.raises(NameError, match="'z' is not defined"):
        gradient(lambda x: eval("x * z"), 2.0)
    with pytest.raises(SyntaxError):
        gradient(lambda x: x * eval("x *"), 2.0)


def test_async_functions_are_refused():
    with pytest.raises(UnsupportedSyntaxError, match=r"test_right_or_loud\.py:\d+.*async"):
        pullback(asynchronous, 2.0)


def test_a_write_to_a_global_is_right_or_refused():
    try:
        d = gradient(assigns_global, 3.0)
    except DifferentiationError as error:
        assert FILE in str(error)
        assert "global" in str(error)
    else:
        assert d == (6.0,)


# -- never a silent zero -----------------------------------------------------------------------


class Odd:
    """Hide a number from whoever looks at fields."""

    def __init__(self, x):
        self.x = x


def through_set(x):
    return max({x, x * 2.0})


def through_iterator(x):
    return next(iter([x * 2.0]))


def through_bytes_of_state(x):
    box = types.SimpleNamespace(a=x)
    return box.a * 2.0


def through_vars(x):
    odd = Odd(x)
    return vars(odd)["x"] * 2.0


def through_dict_attribute(x):
    odd = Odd(x)
    return odd.__dict__["x"] * 2.0


def through_dict_update(x):
    odd = Odd(0.0)
    odd.__dict__.update(x=x * 2.0)
    return odd.x


def through_object_setattr(x):
    odd = Odd(0.0)
    object.__setattr__(odd, "x", x * 2.0)
    return odd.x


def through_append(x):
    items = []
    items.append(x * 2.0)
    return items[0]


def through_extend(x):
    items = [1.0]
    items.extend([x * 2.0])
    return items[-1]


def through_insert_and_pop(x):
    items = [1.0]
    items.insert(0, x * 2.0)
    return items.pop(0)


def through_setdefault(x):
    table = {}
    return table.setdefault("a", x * 2.0)


def through_update(x):
    table = {}
    table.update(a=x * 2.0)
    return table["a"]


def through_pop(x):
    return {"a": x * 2.0}.pop("a")


def through_list_item(x):
    items = [0.0]
    items[0] = x * 2.0
    return items[0]


def through_array_item(x):
    a = np.zeros(2)
    a[1] = x * 2.0
    return a[1]


def through_array_slice(x):
    a = np.zeros(2)
    a[:] = x
    return np.sum(a)


def through_fill(x):
    a = np.zeros(2)
    a.fill(x)
    return a[0] + a[1]


def through_out(x):
    a = np.zeros(())
    np.multiply(x, 2.0, out=a)
    return float(a)


def through_in_place_add(x):
    a = np.zeros(2)
    a += x
    return np.sum(a)


def through_nonlocal(x):
    total = 0.0

    def add(y):
        nonlocal total
        total = total + y
        return y

    add(x)
    add(x)
    return total


def through_captured_list(x):
    found = []
    list(map(lambda y: found.append(y), [x, x]))
    return found[0] + found[1]


def through_class_attribute(x):
    class Local:
        scale = x

    return Local.scale * 2.0


def through_default(x):
    f = lambda y, k=x: y * k
    return f(2.0)


def through_default_of_def(x):
    def f(y, k=x):
        return y * k

    return f(2.0)


def through_function_attribute(x):
    f = lambda y: y
    f.scale = x * 2.0
    return f.scale


def through_rebinding(x):
    scale = 1.0
    f = lambda y: y * scale
    scale = x
    return f(2.0)


def through_item_method(x):
    return np.array([x * 2.0]).item()


def through_tolist(x):
    return np.array([x, x]).tolist()[1] * 2.0


def through_float(x):
    return float(x) * 2.0


def through_array_copy(x):
    return np.array([x]).copy()[0] * 2.0


def through_sum_of_list(x):
    return np.sum([x, x])


def through_math_fsum(x):
    return math.fsum([x, x])


def through_statistics(x):
    import statistics

    return statistics.mean([x, 3 * x])


def through_operator_call(x):
    return operator.methodcaller("__mul__", 2.0)(x)


def through_dunder(x):
    return x.__mul__(2.0)


def through_exception(x):
    error = ValueError(x * 2.0)
    return error.args[0]


def through_generator(x):
    return sum(v * x for v in (0.5, 1.5))


def through_list_comprehension(x):
    return sum([v * x for v in (0.5, 1.5)])


def through_copy(x):
    import copy

    return copy.copy([x, x])[0] * 2.0


def through_deepcopy(x):
    import copy

    return copy.deepcopy({"a": [x]})["a"][0] * 2.0


def through_asarray(x):
    return np.asarray(x)[()] * 2.0


def through_object_array(x):
    a = np.empty(1, object)
    a[0] = x * 2.0
    return a[0]


def through_cache(x, cache={}):
    cache["x"] = x * 2.0
    return cache["x"]


def through_global_list(x):
    GLOBAL.clear()
    GLOBAL.append(x * 2.0)
    return GLOBAL[0]


def through_global_object(x):
    HOLDER.x = x * 2.0
    return HOLDER.x


def through_deque(x):
    import collections

    q = collections.deque([x * 2.0])
    return q[0]


def through_defaultdict(x):
    import collections

    d = collections.defaultdict(float)
    d["a"] += x * 2.0
    return d["a"]


def through_slice_write(x):
    items = [0.0, 0.0]
    items[:1] = [x * 2.0]
    return items[0]


def through_del(x):
    items = [1.0, x * 2.0]
    del items[0]
    return items[0]


def through_sort(x):
    items = [x * 2.0, -10.0]
    items.sort()
    return items[1]


def through_reverse(x):
    items = [x * 2.0, 1.0]
    items.reverse()
    return items[1]


def through_pickle(x):
    import pickle

    return pickle.loads(pickle.dumps(x)) * 2.0


def through_text(x):
    return float(str(x)) * 2.0


def through_struct(x):
    return struct.unpack("d", struct.pack("d", x))[0] * 2.0


def through_fraction(x):
    from fractions import Fraction

    return float(Fraction(x) * 2)


GLOBAL = []
HOLDER = Odd(0.0)
# each of these has the slope 2: a gradient of 2, or an error that says why not
THROUGH = {name: f for name, f in list(globals().items()) if name.startswith("through_")}
# these turn a number into text or bytes and back: no AD sees through, and none says so
OPAQUE = {"through_text"}


@pytest.mark.parametrize("name", sorted(THROUGH.keys() - OPAQUE))
def test_right_or_loud(name):
    f = THROUGH[name]
    assert f(2.0) == pytest.approx(4.0)
    try:
        y, back = pullback(f, 2.0)
    except (DifferentiationError, TypeError) as error:
        assert FILE in str(error) or ".py" in str(error), error
        return
    assert y == pytest.approx(4.0)
    assert back(1.0)[1] == pytest.approx(2.0)
    assert back(1.0)[1] == pytest.approx(2.0)


# -- classes that do it their own way: the right slope, or an error ----------------------------


class OwnSetattr:
    def __init__(self, x):
        self.x = x

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)


class OwnGetattribute(Odd):
    def __getattribute__(self, name):
        return object.__getattribute__(self, "x") * 2.0


class Triple:
    def __get__(self, owner, kind):
        return owner.x * 2.0


class OwnDescriptor(Odd):
    y = Triple()


class OwnNew:
    def __new__(cls, x):
        made = object.__new__(cls)
        made.x = x * 2.0
        return made


class Meta(type):
    def __call__(cls, *xs):
        made = type.__call__(cls, *xs)
        made.x = made.x * 2.0
        return made


class OwnMeta(metaclass=Meta):
    def __init__(self, x):
        self.x = x


class OwnComparison(Odd):
    def __lt__(self, other):
        return self.x * other


class OwnLength(Odd):
    def __len__(self):
        self.x = self.x * 2.0
        return 1


class OwnText(Odd):
    def __str__(self):
        self.x = self.x * 2.0
        return ""


class OwnIteration(Odd):
    def __iter__(self):
        return iter([self.x, self.x])


class OwnDict(dict):
    def __getitem__(self, key):
        return dict.__getitem__(self, key) * 2.0


class OwnMissing(dict):
    def __missing__(self, key):
        return self["a"] * 2.0


class OwnList(list):
    def __getitem__(self, index):
        return list.__getitem__(self, index) * 2.0


def unpacks_own(x):
    a, b = OwnIteration(x)
    return a + b


def with_length(x):
    own = OwnLength(x)
    len(own)
    return own.x


def with_text(x):
    own = OwnText(x)
    f"{own}"
    return own.x


def own_keywords(x):
    def f(name, flags, f, xs, kws=1.0):
        return name + flags * 0.0 + f * 0.0 + xs

    return f(name=x, flags=x, f=x, xs=x)


class OwnKeywords(Odd):
    def method(self, x, name, flags, f):
        return x + name + flags * 0.0 + f * 0.0


ODD = {
    "setattr": lambda x: OwnSetattr(x).x,
    "getattribute": lambda x: OwnGetattribute(x).x,
    "descriptor": lambda x: OwnDescriptor(x).y,
    "new": lambda x: OwnNew(x).x,
    "metaclass": lambda x: OwnMeta(x).x,
    "comparison": lambda x: OwnComparison(x) < 2.0,
    "length": with_length,
    "text": with_text,
    "iteration": unpacks_own,
    "iteration_list": lambda x: sum(list(OwnIteration(x))),
    "dict": lambda x: OwnDict(a=x)["a"],
    "missing": lambda x: OwnMissing(a=x)["b"],
    "list": lambda x: OwnList([x])[0],
    "keywords": own_keywords,
    "method_keywords": lambda x: OwnKeywords(1.0).method(x=x, name=x, flags=x, f=x),
    "getattr_default": lambda x: getattr(Odd(x), "x") + getattr(Odd(1.0), "y", x),
    "dict_get_default": lambda x: {"a": x}["a"] + {"a": 1.0}.get("b", x),
    "object_array": lambda x: np.array([x * 2.0, 1.0], dtype=object)[0],
    "structured_array": lambda x: np.array([(x * 2.0,)], dtype=[("a", float)])["a"][0],
    "flat": lambda x: np.array([x, x * 2.0]).flat[1],
    "class_of_instance": lambda x: Odd(x).__class__(x * 2.0).x,
}


@pytest.mark.parametrize("name", ODD)
def test_classes_that_do_it_their_own_way(name):
    f = ODD[name]
    assert f(2.0) == pytest.approx(4.0)
    try:
        y, back = pullback(f, 2.0)
    except DifferentiationError as error:
        assert ".py:" in str(error)
        return
    assert y == pytest.approx(4.0)
    assert back(1.0)[1] == pytest.approx(2.0)


class Labelled(list):
    """A list with an attribute."""


def test_an_attribute_of_a_list_that_is_differentiated_is_refused():
    xs = Labelled([0.7])
    xs.count, xs.scale = 3, 2.0
    assert gradient(lambda xs: xs[0] * xs.count, xs) == ([3.0],)
    with pytest.raises(DifferentiationError, match="the attribute `scale` of a Labelled"):
        gradient(lambda xs: xs[0] * xs.scale, xs)


def test_an_array_of_objects_is_right_or_refused():
    a = np.array([2.0, 3.0], dtype=object)
    try:
        (d,) = gradient(lambda v: v[0] * v[1], a)
    except (DifferentiationError, TypeError):
        return
    np.testing.assert_array_equal(np.asarray(d, float), [3.0, 2.0])


@pytest.mark.filterwarnings("ignore:'where' used without:UserWarning")  # NumPy 2.4 warns
@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: np.exp(x, where=x > 0)[0], r"numpy\.exp .*takes `where`.*np\.where\("),
        (lambda x: np.add(x, 1.0, casting="unsafe")[0], r"takes `casting`.*astype"),
        (lambda x: np.matmul(x, x, axes=[0, 0, ()]), r"axes=list.*takes `axes`.*leave it out"),
        (lambda x: np.var(x, mean=x[0]), r"numpy\.var .*`mean` as an option"),
        (lambda x: np.std(x, 0, mean=x[:1]), r"numpy\.std .*`mean` as an option"),
        (lambda x: np.sum(x, where=x), r"numpy\.sum .*`where` as an option"),
        (lambda x: np.max(x, initial=x[0]), r"numpy\.max .*`initial` as an option"),
    ],
)
def test_an_option_in_the_way_is_named(f, message):
    with pytest.raises(NoRuleError, match=message):
        gradient(f, np.array([1.5, -0.5, 2.0]))


@pytest.mark.parametrize(
    "options", [{"where": True}, {"out": (None,)}, {"order": "F", "subok": False}], ids=str
)
def test_options_that_change_no_value(options):
    x = np.array([1.5, -0.5, 2.0])
    (dx,) = gradient(lambda x: np.sum(np.exp(x, **options)), x)
    np.testing.assert_allclose(dx, np.exp(x))


def test_a_ufunc_with_out_and_where_keeps_its_other_options():
    def f(x):
        y = x * 3.0
        np.add(x, 0.1, where=x > 0, out=y, dtype=np.float32)
        return y

    x = np.array([1.5, -0.5, 2.0])
    y, back = pullback(f, x)
    np.testing.assert_array_equal(y, f(x))
    np.testing.assert_array_equal(back(np.ones(3))[1], [1.0, 3.0, 1.0])


def test_a_ufunc_with_out_where_and_casting_is_refused():
    def f(x):
        y = np.zeros(3)
        np.multiply(x, 1.7, out=y, where=x > 0, dtype=int, casting="unsafe")
        return y[0]

    with pytest.raises(NoRuleError, match="takes `casting`"):
        gradient(f, np.array([1.5, -0.5, 2.0]))


REFUSED_BY_NUMPY = {
    "option": lambda x: np.clip(x, 0, 1, misspelt=1),
    "option in the place of others": lambda x: np.clip(x, misspelt=1),
    "types": lambda x: np.clip(x, "a", "b"),
    "mode": lambda x: np.pad(x, 1, mode="misspelt"),
    "option of a reduction": lambda x: np.sum(x, misspelt=1),
}


@pytest.mark.parametrize("call", REFUSED_BY_NUMPY.values(), ids=REFUSED_BY_NUMPY)
def test_what_numpy_refuses_is_refused_by_its_own_error(call):
    x = np.array([0.3, 0.7])
    with pytest.raises((TypeError, ValueError)) as own:
        call(x)
    for _ in range(4):
        with pytest.raises(own.type, match=re.escape(str(own.value))) as caught:
            gradient(lambda x: np.sum(call(x)), x)
        assert caught.type is own.type

    def careful(x):
        try:
            return np.sum(call(x))
        except (TypeError, ValueError):
            return np.sum(x * x)

    assert gradient(careful, x)[0].tolist() == (2 * x).tolist()


def test_an_attribute_that_is_only_named_is_missed_when_it_is_gone():
    module = types.ModuleType("of_the_user")
    module.of_the_user = 1.0

    def f(x):
        module.of_the_user
        return x * x

    for _ in range(4):
        assert gradient(f, 3.0) == (6.0,)
    del module.of_the_user
    for _ in range(4):
        with pytest.raises(AttributeError, match="has no attribute 'of_the_user'"):
            gradient(f, 3.0)
