"""Compiled code gives what Python gives: values, gradients, exceptions, or it is not used."""

import itertools
import math
import threading
import traceback
import types
import warnings

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import is_nothing
from zygote_lite import (
    DifferentiationError,
    grad,
    gradient,
    jit,
    testing,
    value_and_grad,
)

pytest.importorskip("numba", reason="compiled code needs Numba (zygote_lite[jit])")

INF, NAN = math.inf, math.nan
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 7.0, 1e308, 1e-308, 5e-324, INF, -INF, NAN]
INTEGERS = [0, 1, -1, 2, -3, 7, 63, 2**31, 2**53, 2**53 + 1, 2**62, -(2**63), 2**63, 2**70]
PAIRS = [*itertools.product(FLOATS, FLOATS)]
A = np.array([1.0, -2.0, 3.0, 0.5])
M = np.arange(6.0).reshape(2, 3)


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


ARRAYS = [
    A, A[::-1], A[::2], np.zeros(0), np.ones(1), np.zeros(4), np.array([NAN, 1.0, INF, 0.0]),
    A.astype(">f8"), read_only(A), np.frombuffer(b"\0" + A.tobytes(), offset=1),
]  # fmt: skip


def division(x, y):
    return x / y


def floored(x, y):
    return x // y * 1.0 + x % y


def power(x, y):
    return x**y


def extremes(x, y):
    return max(x, y) * 2.0 + min(y, x)


def of_two(x, y):
    return math.atan2(x, y) + math.hypot(x, y) + math.copysign(x, y) + math.fmod(x, y)


def logarithm(x):
    return math.log(x)


def exponential(x):
    return math.exp(x) * math.sqrt(x)


def smooth(x):
    return math.sin(x) + math.tan(x) + math.tanh(x) + math.erf(x) + math.expm1(x)


def to_integers(x):
    return x * int(x) + math.floor(x) * x + math.ceil(x) + math.trunc(x)


def compared(x):
    y = x if x < 1.0 else 2.0 * x
    if y != y:
        return 0.0 * x
    return abs(y) * 3.0


def of_numpy(x, y):
    return x / y + np.log(x) * np.tanh(y)


def with_truth(x, b):
    if b and x > 0.0:
        return x * 2.0
    elif not b or x == 0.0:
        return x * x
    return -x


def of_integers(x, a, b):
    return x * (a + b) - x * (a * b) + x * (a - b)


def divided_integers(x, a, b):
    return x * (a // b) + x * (a % b) + x * (a / b)


def integer_power(x, n):
    return x**n


def factorial(x, n):
    p = 1
    for i in range(1, n + 1):
        p = p * i
    return x * p


def harmonic(x, n):
    s = 0.0
    while n > 0:
        s = s + x / n
        n = n - 1
        if s > 3.0:
            break
    return s * x


def entry(x, i):
    return x[i] * x[i]


def products(x, n):
    s = 0.0
    for i in range(n):
        s = s + x[i] * x[i - 1]
    return s


def over(x):
    s = 0.0
    for v in x:
        s = s + v * v
    return s


def written(x, n):
    y = np.zeros(n)
    for i in range(n):
        y[i] = x[i] * x[i]
    s = 0.0
    for i in range(n):
        s = s + y[n - 1 - i] * x[i]
    return s


def of_matrix(m):
    s = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            s = s + m[i, j] * m[i, -1]
    return s


def early(x, n):
    for i in range(n):
        if x > 10.0:
            return x * i
        x = x * 1.5
    else:
        if n == 3:
            return 3.0 * x
    return -x


def nested(x, n):
    s = 0.0
    for i in range(n):
        if x > 0.5:
            k = 0
            while k < i:
                if s > 4.0:
                    break
                s = s + x * k * math.cos(x)
                k = k + 1
            x = math.sin(x)
        if s > 6.0:
            break
        s = s + x
    return s


def chosen(x, where, order):
    s = 0.0
    for i in order:
        if where[i]:
            s = s + x[i] * x[i]
    return s * x[0]


def sliced(m, i, j):
    s = 0.0
    for row in m[:, i:j]:
        for v in row:
            s = s + v * row[0] * m[-1, 0]
    return s


def of_structures(p, w):
    return p[0] * w[1] / p[1] + math.log(w[2]) * w[0]


CASES = [
    (division, PAIRS), (floored, PAIRS), (power, PAIRS), (extremes, PAIRS), (of_two, PAIRS),
    (logarithm, [(x,) for x in FLOATS]), (exponential, [(x,) for x in FLOATS]),
    (smooth, [(x,) for x in FLOATS]), (to_integers, [(x,) for x in FLOATS]),
    (compared, [(x,) for x in FLOATS]),
    (of_numpy, [(np.float64(x), np.float64(y)) for x, y in PAIRS]),
    (with_truth, [*itertools.product(FLOATS, (True, False))]),
    (of_integers, [(1.5, a, b) for a in INTEGERS for b in INTEGERS]),
    (divided_integers, [(1.5, a, b) for a in INTEGERS for b in INTEGERS]),
    (integer_power, [*itertools.product(FLOATS, (0, 1, 2, 3, -1, -2, 1000))]),
    (factorial, [(x, n) for x in (1.5, 0.0, NAN) for n in (0, 1, 2, -3, 17, 18, 19, 60)]),
    (harmonic, [(x, n) for x in (1.5, 0.0, -2.0, NAN, INF) for n in (0, 1, 2, -3, 60)]),
    (entry, [(x, i) for x in ARRAYS for i in (0, 1, 3, 4, -1, -4, -5, 100, 2**40)]),
    (products, [(x, n) for x in ARRAYS for n in (0, 1, 3, 4, 5, -1)]),
    (over, [(x,) for x in ARRAYS]),
    (written, [(x, n) for x in ARRAYS for n in (0, 1, 3, 4, 5, -1)]),
    (of_matrix, [(M,), (M.T,), (M[:, ::-1],), (np.zeros((0, 3)),), (np.zeros((3, 0)),),
                 (np.ones((1, 1)),)]),
    (early, [*itertools.product(FLOATS, (0, 1, 3, 4, 5, 100))]),
    (nested, [*itertools.product(FLOATS, (0, 1, 3, 4, 9))]),
    (chosen, [(A, np.array([True, False, True, True]), np.array(order, int))
              for order in ([0, 2, 2], [], [-1, 3], [4], [-5])]),
    (sliced, [(M, i, j) for i in (-5, -1, 0, 2) for j in (-9, -1, 0, 3, 20)]),
    (of_structures, [((1.5, 2.0), [1.0, 2.0, 3.0]), ((0.0, 2.0), [1.0, 0.0, 3.0]),
                     ((1.5, 0.0), [1.0, 2.0, 3.0]), ((1.5, 2.0), [1.0, 2.0, -3.0])]),
]  # fmt: skip
FIRST = {
    division: (1.5, 2.0), floored: (1.5, 2.0), power: (1.5, 2.0), extremes: (1.5, 2.0),
    of_two: (1.5, 2.0), of_numpy: (np.float64(1.5), np.float64(2.0)), with_truth: (1.5, True),
    of_integers: (1.5, 7, 3), divided_integers: (1.5, 7, 3), integer_power: (1.5, 3),
    factorial: (1.5, 5), harmonic: (1.5, 5), entry: (A, 2), products: (A, 4), over: (A,),
    written: (A, 4), early: (7.0, 3), nested: (2.0, 6), of_matrix: (M,),
    chosen: (A, np.array([True, False, True, True]), np.array([0, 2])), sliced: (M, 0, 2),
    of_structures: ((1.5, 2.0), [1.0, 2.0, 3.0]),
}  # fmt: skip


def outcome(f, xs):
    """Return what a call gives, or its exception's type and text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*xs)
        except Exception as error:
            return type(error), str(error)


def copy_of(f):
    """Return the function anew, unknown to the optimizer."""
    code = f.__code__.replace(co_firstlineno=f.__code__.co_firstlineno)
    made = types.FunctionType(code, dict(f.__globals__), f.__name__, f.__defaults__, f.__closure__)
    made.__qualname__ = f.__qualname__
    return made


def assert_same(a, b, at):
    if a is None or b is None:  # where a branch decides, compiled code gives a zero for `None`
        assert is_nothing(a), at
        assert is_nothing(b), at
        return
    assert type(a) is type(b), at
    if isinstance(a, tuple | list):
        assert len(a) == len(b), at
        for x, y in zip(a, b, strict=True):
            assert_same(x, y, at)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, at
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=str(at))
    elif isinstance(a, float):
        assert a == b or a != a != b != b or abs(a - b) <= 1e-12 * max(abs(a), abs(b)), at
    else:
        assert a == b, at


def answers(f, xs):
    """Return whether specialized code answers a call."""
    return testing.is_covered(f, *xs)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("f", "inputs"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_what_is_compiled_gives_what_python_gives(f, inputs):
    first = FIRST.get(f, (1.5,))
    whole = (int, bool, np.dtype(int), np.dtype(bool))
    numbers = tuple(i for i, x in enumerate(first) if getattr(x, "dtype", type(x)) not in whole)
    run = value_and_grad(f, numbers, compile=True)
    assert_same(run(*first), run(*first), first)  # a warning would be an error
    assert answers(f, first)
    found_by = [outcome(run, xs) for xs in inputs]
    generic = value_and_grad(copy_of(f), numbers)
    for xs, found in zip(inputs, found_by, strict=True):
        with testing.recorded_only():
            want = outcome(generic, xs)
        if type(found[0]) is np.float64 and type(want[0]) is float and is_nothing(want[1]):
            found = float(found[0]), found[1]  # it is NumPy's where that is so on another path
        assert_same(found, want, xs)
        plain = outcome(f, xs)
        if not isinstance(plain, complex):  # whose gradient is refused
            assert_same(found[0] if type(found[0]) is not type else found, plain, xs)


def test_many_of_the_calls_are_answered_by_compiled_code():
    value_and_grad(products, compile=True)(A, 4)
    value_and_grad(division, (0, 1), compile=True)(1.5, 2.0)
    assert all(answers(products, (x, 3)) for x in (A, A[::-1], read_only(A), A * 2))
    finite = [0.5, -2.5, 7.0, 1e300, 1e-300]
    assert all(answers(division, (x, 1.5)) for x in finite)


def test_functions_that_differ_only_in_what_they_call_are_told_apart():
    """Both are written with one helper for a function and another for its derivative."""
    for _ in range(2):
        for f, slope_of_f in ((math.sinh, math.cosh), (math.cosh, math.sinh)):
            run = value_and_grad(lambda x, f=f: f(x), compile=True)
            assert run(1.0) == (f(1.0), slope_of_f(1.0))
            assert run(1.5) == (f(1.5), slope_of_f(1.5))
    sinh = value_and_grad(lambda x: math.sinh(x), compile=True)
    cosh = value_and_grad(lambda x: math.cosh(x), compile=True)
    for x in (1.0, 1.5, 2.0):
        assert sinh(x) == pytest.approx((math.sinh(x), math.cosh(x)), rel=1e-14)
        assert cosh(x) == pytest.approx((math.cosh(x), math.sinh(x)), rel=1e-14)


def test_a_value_of_either_float_is_numpy_s():
    def f(x, y):
        if y > 0.0:
            return x[0] * y
        return y * y

    run = value_and_grad(f, 1, compile=True)
    x = np.array([3.0, 4.0])
    for y, expected in ((2.0, (6.0, 3.0)), (-2.0, (4.0, -4.0))):
        for _ in range(2):
            assert run(x, y) == expected
            assert isinstance(run(x, y)[0], float)
    assert answers(f, (x, -2.0))
    assert type(run(x, -2.0)[0]) is np.float64


# -- what is not compiled ----------------------------------------------------------------------


@pytest.fixture
def unwarned():
    """Forget which functions were warned of."""
    testing.forget()


def test_a_function_that_does_not_qualify_is_told_once(unwarned):
    def whole(x):
        return np.sum(np.sin(x) * x)

    run = value_and_grad(whole, compile=True)
    x = np.array([0.5, 1.0])
    expected = np.sum(np.sin(x) * x), np.sin(x) + x * np.cos(x)
    with pytest.warns(RuntimeWarning, match="whole runs uncompiled: .*sin.*NumPy") as told:
        first = run(x)
    assert told[0].filename == __file__
    assert testing.programs(whole, compiled=False)  # from the first call on
    for found in (first, *(run(x) for _ in range(100)), value_and_grad(whole, compile=True)(x)):
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-14)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-14)


def test_without_numba_one_warning_says_how_to_get_it(unwarned, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.warns(RuntimeWarning, match=r'pip install "zygote_lite\[jit\]"'):
        assert grad(lambda x: x * x * 3.0, compile=True)(2.0) == 12.0
    assert grad(lambda x: x * x * 5.0, compile=True)(2.0) == 20.0


@pytest.mark.parametrize(
    ("x", "reason"),
    [(np.float32(1.5), "float32"), (np.ones(3, np.float32), "float32"), ({1: 1.0}, "argument")],
    ids=str,
)
def test_other_kinds_of_numbers_run_uncompiled(x, reason, unwarned):
    def f(x):
        total = x[1] if isinstance(x, dict) else x if np.ndim(x) == 0 else x[0]
        return total * total

    with pytest.warns(RuntimeWarning, match=f"f runs uncompiled: .*{reason}"):
        _, d = value_and_grad(f, compile=True)(x)
    expected = gradient(copy_of(f), x)[0]
    assert type(d) is type(expected)
    if not isinstance(d, dict):
        assert d.dtype == expected.dtype
        np.testing.assert_array_equal(d, expected)


def test_other_kinds_come_after_and_before_floats():
    def f(x, n):
        s = x * 0
        for _ in range(n):
            s = s + x * x
        return s

    run = value_and_grad(f, compile=True)
    assert run(1.5, 3) == (6.75, 9.0)
    with pytest.warns(RuntimeWarning, match="uncompiled"):
        assert run(2, 3) == (12, 12.0)
    assert run(np.float64(1.5), 3) == (6.75, 9.0)
    assert type(run(np.float64(1.5), 3)[1]) is np.float64
    y, d = run(np.float32(1.5), 3)  # it has been told of
    assert (type(y), type(d)) == (np.float32, np.float32)
    assert run(1.5, 3) == (6.75, 9.0)
    with pytest.raises(TypeError, match="complex"):
        run(1.5j, 3)
    assert run(np.array(1.5), 3) == (6.75, 9.0)


def test_argnums_out_of_order_and_keywords():
    def f(x, y, n=2):
        return x**n * y

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert value_and_grad(f, (1, 0), compile=True)(3.0, 2.0) == (18.0, (9.0, 12.0))
    run = value_and_grad(f, (0, 1), compile=True)
    assert run(3.0, 2.0) == (18.0, (12.0, 9.0))
    assert run(3.0, 2.0, n=1) == (6.0, (2.0, 3.0))
    assert grad(f, compile=True)(3.0, y=2.0) == 12.0
    assert run(3.0, 2.0, 1) == (6.0, (2.0, 3.0))


def test_exceptions_come_from_the_lines_of_the_user():
    def f(x, i):
        s = 0.0
        for v in range(3):
            s = s + x[i + v] / x[0]
        return s

    run = value_and_grad(f, compile=True)
    x = np.array([1.0, 2.0, 3.0, 4.0])
    run(x, 0)
    assert answers(f, (x, 0))
    with pytest.raises(IndexError) as expected:
        f(x, 2)
    with pytest.raises(IndexError) as found:
        run(x, 2)
    assert str(found.value) == str(expected.value)
    last = traceback.extract_tb(found.value.__traceback__)
    theirs = traceback.extract_tb(expected.value.__traceback__)[-1]
    assert any((s.filename, s.lineno) == (theirs.filename, theirs.lineno) for s in last)


def test_a_variable_without_a_value_is_an_error(unwarned):
    def late(x, n):
        for i in range(n):
            y = x * i
        return y

    run = value_and_grad(late, compile=True)
    with pytest.warns(RuntimeWarning, match="late runs uncompiled: a variable may have no value"):
        assert run(2.0, 3) == (4.0, 2.0)
    for _ in range(2):
        with pytest.raises(UnboundLocalError, match="y"):
            run(2.0, 0)


def above(x):
    if x > 0:
        r = x * 2.0
    return r + x


def above_in_a_loop(x):
    s = 0.0
    for i in range(3):
        s += above(x - i)
    return s


@pytest.mark.parametrize("f", [above, above_in_a_loop])
def test_a_variable_that_one_path_leaves_without_a_value_is_an_error(f, unwarned):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for differentiated in (value_and_grad(f, compile=True), jit(f)):
            differentiated(3.5)
            with pytest.raises(UnboundLocalError):
                differentiated(-1.0)


# -- what changes after it was compiled ----------------------------------------------------------

RATE = 2.0
TABLE = np.array([1.0, 2.0, 3.0])


def slope(x):
    return RATE * x


def uses_globals(x):
    return slope(x) * TABLE[1] + x * TABLE[0]


def test_what_is_read_from_outside_may_change(monkeypatch):
    run = value_and_grad(uses_globals, compile=True)
    assert run(3.0) == (15.0, 5.0)
    assert answers(uses_globals, (3.0,))
    assert run(3.0) == (15.0, 5.0)
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert run(3.0) == (33.0, 11.0)
    before = TABLE.copy()
    try:
        TABLE[1] = 10.0
        assert run(3.0) == (153.0, 51.0)
    finally:
        TABLE[:] = before
    monkeypatch.setitem(globals(), "TABLE", np.array([0.0, 1.0]))
    assert run(3.0) == (15.0, 5.0)
    monkeypatch.setitem(globals(), "TABLE", [1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert run(3.0) == (18.0, 6.0)
    monkeypatch.setitem(globals(), "TABLE", np.array([0.0, 1.0]))
    monkeypatch.setitem(globals(), "slope", lambda x: x * x)
    assert run(3.0) == (9.0, 6.0)
    monkeypatch.setattr(math, "sin", math.cos)  # not among what it reads
    assert run(3.0) == (9.0, 6.0)


def test_functions_of_modules_may_be_replaced(monkeypatch):
    def f(x):
        return math.sin(x) * 2.0

    run = value_and_grad(f, compile=True)
    run(0.5)
    assert answers(f, (0.5,))
    monkeypatch.setattr(math, "sin", lambda x: x * x)
    assert run(0.5) == (0.5, 2.0)
    monkeypatch.undo()
    assert run(0.5)[0] == 2.0 * math.sin(0.5)


def test_functions_may_be_redefined():
    def inner(x):
        return x * x

    def f(x, a=3.0):
        return inner(x) * a

    run = value_and_grad(f, compile=True)
    assert run(2.0) == (12.0, 12.0)
    assert run(2.0) == (12.0, 12.0)
    inner.__code__ = (lambda x: x + 1.0).__code__
    assert run(2.0) == (9.0, 3.0)
    f.__defaults__ = (5.0,)
    assert run(2.0) == (15.0, 5.0)
    inner = lambda x: x**3
    assert run(2.0) == (40.0, 60.0)

    def other(x, a):
        inner
        return x * a

    f.__code__ = other.__code__
    assert run(2.0) == (10.0, 5.0)


def test_rules_may_come_and_go():
    from rulescore import RuleSet

    def cube(x):
        return x**3

    def f(x):
        return cube(x) * 2.0

    run = value_and_grad(f, compile=True)
    assert run(2.0) == (16.0, 24.0)
    assert run(2.0) == (16.0, 24.0)
    rule = RuleSet("test_compiled")
    rule.scalar(cube)(lambda x: 100.0)
    rule.register()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert run(2.0) == (16.0, 200.0)
    finally:
        rule.unregister()
    assert run(2.0) == (16.0, 24.0)


def test_an_array_may_be_given_twice_and_stays_as_it_was():
    def f(x, y):
        z = np.zeros(len(x))
        s = 0.0
        for i in range(len(x)):
            z[i] = x[i] * y[i]
            s = s + z[i] * x[0]
        return s

    run = value_and_grad(f, (0, 1), compile=True)
    x = np.array([1.0, 2.0, 3.0])
    run(x, x + 1.0)
    assert answers(f, (x, x))
    value, (dx, dy) = run(x, x)
    assert value == 14.0
    np.testing.assert_array_equal(dx, [15.0, 2.0, 3.0])
    np.testing.assert_array_equal(dy, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])
    assert not any(np.shares_memory(a, b) for a, b in ((dx, x), (dy, x), (dx, dy)))


def test_a_list_given_twice_is_refused_as_ever():
    def f(a, b):
        return a[0] * b[1]

    x, y = [3.0, 2.0], [5.0, 7.0]
    run = value_and_grad(f, (0, 1), compile=True)
    for _ in range(2):
        value, (da, db) = run(x, y)
        assert (value, da[0], db[1]) == (21.0, 7.0, 3.0)
    assert answers(f, (x, y))
    with pytest.raises(DifferentiationError, match="share one list"):
        run(x, x)


def test_gradients_of_compiled_gradients():
    def f(x):
        return math.sin(x) * x

    once = grad(f, compile=True)
    assert once(0.7) == pytest.approx(math.cos(0.7) * 0.7 + math.sin(0.7))
    twice = grad(once)
    assert twice(0.7) == pytest.approx(2 * math.cos(0.7) - 0.7 * math.sin(0.7))
    assert grad(grad(f, compile=True), compile=False)(0.7) == pytest.approx(twice(0.7))


def test_threads_that_compile_and_call_at_once():
    def f(x, n):
        s = 0.0
        for i in range(n):
            s = s + x[i % 3] * math.cos(x[0] * i)
        return s

    plain = copy_of(f)
    run = value_and_grad(f, compile=True)
    inputs = [(np.array([0.1 * k, 1.0, 2.0]), 5 + k) for k in range(1, 9)]
    expected = [value_and_grad(plain)(*xs) for xs in inputs]
    failures = []
    ready = threading.Barrier(len(inputs))

    def work(k):
        ready.wait()
        for _ in range(30):
            value, d = run(*inputs[k])
            if not (np.isclose(value, expected[k][0]) and np.allclose(d, expected[k][1])):
                failures.append((k, value, d))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert answers(f, inputs[0])


def test_a_list_that_a_loop_changes_is_compiled_item_by_item():
    @jit
    def f(x):
        rows = [1.0]
        for _ in range(5):
            rows[0] = rows[0] * x
        return rows[0]

    assert gradient(f, 2.5) == pytest.approx((5 * 2.5**4,))
    assert testing.reasons(f) == []
