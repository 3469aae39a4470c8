"""Exported modules give value and gradient in a Python that has only NumPy; or export refuses."""

import ast
import copy
import math
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import slopes
from tests.zygote_lite.checks.oracles import is_alike
from tests.zygote_lite.constructs.table import CASES
from tests.zygote_lite.nested.programs import PROGRAMS
from zygote_lite import DifferentiationError, export_adjoint, gradient, value_and_grad
from zygote_lite._interface.written_out import Helpers
from zygote_lite._specialize.typed.reasons import NotSpecializable

OURS = ("rulescore", "rules_base", "rules_nnlib", "zygote_lite", "plum", "pluggy")
RUN = f"""
import pickle, sys
sys.modules.update(dict.fromkeys({OURS!r}))  # to import one of them is an ImportError
runs = pickle.load(sys.stdin.buffer)
found = []
for text, name, xs in runs:
    space = {{}}
    exec(text, space)
    found.append(space[name](*xs))
assert not any(sys.modules[name] for name in {OURS!r})
sys.stdout.buffer.write(pickle.dumps(found))
"""


def run_alone(*runs):
    """Run exported modules in another Python, isolated, where nothing of ours can be imported."""
    given = pickle.dumps([(text, name_in(text), xs) for text, xs in runs])
    done = subprocess.run([sys.executable, "-I", "-c", RUN], input=given, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return pickle.loads(done.stdout)


def name_in(text):
    return ast.parse(text).body[-1].name


def loaded(text):
    """Return the function of an exported module."""
    space = {}
    exec(text, space)
    return space[name_in(text)]


def imports_of(text):
    tree = ast.parse(text)
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))
    return {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}


def foo(x):
    return math.sin(math.cos(x))


def iterated(x, a, steps):
    for _ in range(steps):
        x = a * math.sin(x) + 0.1
    return x


def indexing(x, n):
    y = np.zeros(n)
    s = 1.0
    for i in range(n):
        if x[i] < 0:
            break
        y[i] = x[i] * s
        s = s + y[i]
    return s


def network(w, b, X, label):
    z = np.tanh(X @ w + b)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(label)), label])


def of_lists(pair, weights):
    (a, b), (c, d, e) = pair, weights
    return a * c + b**2 * d - math.exp(e) * a


def of_long_lists(xs, rows):
    s = 0.0
    for i in range(len(xs)):
        for j in range(len(rows[i])):
            s = s + xs[i] * rows[i][j] * xs[0]
    return s


def powers(x, n):
    return x**n


def mixed(x, y):
    return np.sum(x * y + x / np.linalg.norm(y))


RNG = np.random.default_rng(4)
EXAMPLES = {
    "scalar": (foo, (0.6,)),
    "loop": (iterated, (0.5, 1.1, 7)),
    "no turns": (iterated, (0.5, 1.1, 0)),
    "break": (indexing, (np.array([1.0, 2.0, -1.0, 3.0]), 4)),
    "network": (network, (RNG.normal(size=(3, 2)), RNG.normal(size=2), RNG.normal(size=(5, 3)),
                          np.array([0, 1, 1, 0, 1]))),
    "lists": (of_lists, ((1.5, 0.5), [2.0, 3.0, 0.1])),
    "long lists": (of_long_lists, (RNG.normal(size=40).tolist(),
                                   RNG.normal(size=(40, 3)).tolist())),
    "an integer": (powers, (1.5, 3)),
    "of NumPy": (powers, (np.float64(1.5), 3)),
    "single precision": (mixed, (np.array([1, 2], np.float32), np.array([3, 4], np.float32))),
    "broadcast": (mixed, (RNG.normal(size=(2, 3)), RNG.normal(size=3))),
}  # fmt: skip


@pytest.fixture(scope="module")
def alone():
    """Return what the exported examples give in the other Python."""
    runs = {name: (export_adjoint(f, *xs), xs) for name, (f, xs) in EXAMPLES.items()}
    return dict(zip(runs, run_alone(*runs.values()), strict=True))


@pytest.mark.parametrize("name", EXAMPLES)
def test_value_and_gradient_without_the_engine(name, alone):
    f, xs = EXAMPLES[name]
    value, found = alone[name]
    y = f(*xs)
    assert value == pytest.approx(y, rel=1e-12)
    assert type(value) is type(y)
    _, expected = value_and_grad(f, argnums=range(len(xs)))(*xs)
    for d, e in zip(found, expected, strict=True):
        assert_close(d, e, 1e-12)
        assert type(d) is type(e)
        assert getattr(d, "dtype", None) == getattr(e, "dtype", None)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "single precision"])
def test_the_gradient_is_that_by_differences(name, alone):
    f, xs = EXAMPLES[name]
    varied = [i for i, x in enumerate(xs) if "int" not in str(getattr(x, "dtype", type(x)))]

    def of_varied(*given):
        return f(*[given[varied.index(i)] if i in varied else x for i, x in enumerate(xs)])

    for path, best, _ in slopes(of_varied, tuple(xs[i] for i in varied)):
        d = alone[name][1][varied[path[0]]]
        for step in path[1:]:
            d = d[step]
        np.testing.assert_allclose(d, best, rtol=1e-6, atol=1e-6)


@pytest.mark.sampled(4)
def test_programs_and_cases_without_the_engine(sample):
    """What the tests of the engine have, as far as it can be exported, gives the same alone."""
    known = [(f, (np.array([1.3, 0.7]),)) for f in PROGRAMS.values()]
    known += [(c.function, c.inputs[0]) for c in CASES.values() if not c.message]
    known = [(f, copy.deepcopy(tuple(xs))) for f, xs in known if type(f) is types.FunctionType]
    known, runs, expected, refusals = sample(known), [], [], []
    for f, xs in known:
        try:
            text = export_adjoint(f, *xs)
        except DifferentiationError as refused:
            refusals.append(str(refused))
            continue
        assert imports_of(text) <= {"math", "numpy"}
        runs.append((text, xs))
        expected.append((f, f(*copy.deepcopy(xs)), gradient(f, *copy.deepcopy(xs))))
    assert all(".py:" in message for message in refusals)
    assert len(runs) >= 0.4 * len(known)
    for (value, found), (f, y, derivative) in zip(run_alone(*runs), expected, strict=True):
        np.testing.assert_allclose(value, y, rtol=1e-12, err_msg=f.__qualname__)
        assert is_alike(found, derivative, 1e-12), f.__qualname__


def test_the_text_of_foo():
    assert export_adjoint(foo, 0.6, argnums=0) == (
        '"""The value and the gradient of `foo`, as zygote_lite wrote them."""\n'
        "\n"
        "import math\n"
        "\n"
        "\n"
        "def foo_adjoint(x):\n"
        "    t1 = math.cos(x)\n"
        "    t2 = math.sin(t1)\n"
        "    dx = -(math.cos(t1) * math.sin(x))\n"
        "    return t2, dx\n"
        "\n"
        "\n"
        "def foo_value_and_gradient(x):\n"
        '    """Return the value, and the gradient by x."""\n'
        "    if type(x) is not float:\n"
        '        raise TypeError("expected x: float")\n'
        "    y, dx = foo_adjoint(x)\n"
        "    if not math.isfinite(dx):\n"
        '        raise FloatingPointError("a gradient that is not finite needs zygote_lite")\n'
        "    return y, dx\n"
    )


@pytest.mark.parametrize("argnums", [0, 1, -2, "a", (0,), (0, 1), (1,)])
def test_only_what_is_named_is_differentiated(argnums):
    xs = (0.5, 1.1, 7)
    found = loaded(export_adjoint(iterated, *xs, argnums=argnums))(*xs)
    expected = value_and_grad(iterated, argnums)(*xs)
    assert_close(found, expected, 1e-12)
    assert type(found[1]) is type(expected[1])


@pytest.mark.parametrize("argnums", [3, "other", (1, 0), (0, 0), ()])
def test_argnums_that_name_nothing_are_refused(argnums):
    with pytest.raises((TypeError, ValueError), match="argnums"):
        export_adjoint(iterated, 0.5, 1.1, 7, argnums=argnums)


SCALE, TABLE = 2.5, np.array([[1.0, 2.0], [3.0, 4.0]])


def test_what_is_read_from_outside_is_written_down():
    offset = np.float64(0.5)

    def f(x):
        return np.sum(TABLE @ x) * SCALE + offset * x[0]

    x = np.array([1.0, -2.0])
    ((value, (d,)),) = run_alone((export_adjoint(f, x), (x,)))
    assert value == f(x)
    np.testing.assert_allclose(d, [10.5, 15.0], rtol=1e-14)


@pytest.mark.parametrize("text_of_limit", ["np.float64(math.inf)", "np.float64(-math.inf)"])
def test_an_infinity_from_outside_is_written_down(text_of_limit):
    limit = eval(text_of_limit)

    def f(x):
        return x * x if x < limit else x

    text = export_adjoint(f, 0.5, argnums=0)
    assert text_of_limit in text
    assert loaded(text)(0.5) == ((0.25, 1.0) if limit > 0 else (0.5, 1.0))


@pytest.mark.parametrize(
    ("f", "xs", "others"),
    [
        (foo, (0.6,), [(1,), (np.float64(0.6),), (np.ones(2),), (True,), (0.6j,)]),
        (of_lists, ((1.5, 0.5), [2.0, 3.0, 0.1]), [
            ([1.5, 0.5], [2.0, 3.0, 0.1]), ((1.5, 0.5), [2.0, 3.0]), ((1.5, 1), [2.0, 3.0, 0.1]),
        ]),
        (mixed, (np.ones((2, 3)), np.ones(3)), [
            (np.ones((2, 3)), np.ones(1)), (np.ones((1, 3)), np.ones(3)), (np.ones(3), np.ones(3)),
            (np.ones((2, 3), np.float32), np.ones(3)), (np.ma.ones((2, 3)), np.ones(3)),
            (np.ones((2, 3), complex), np.ones(3)),
        ]),
    ],
)  # fmt: skip
def test_other_types_than_the_examples_are_refused(f, xs, others):
    run = loaded(export_adjoint(f, *xs))
    run(*xs)
    for other in others:
        with pytest.raises(TypeError, match="expected "):
            run(*other)


def test_a_list_given_twice_is_refused():
    def f(a, b):
        return a[0] * b[0]

    run = loaded(export_adjoint(f, [1.0], [2.0]))
    assert run([3.0], [2.0]) == (6.0, ([2.0], [3.0]))
    x = [3.0]
    with pytest.raises(ValueError, match="twice"):
        run(x, x)


def test_lists_of_any_length():
    run = loaded(export_adjoint(of_long_lists, *EXAMPLES["long lists"][1]))
    xs, rows = [2.0, 3.0], [[1.0], [4.0, 5.0, 6.0]]
    value, (dxs, drows) = run(xs, rows)
    assert value == of_long_lists(xs, rows) == 94.0
    assert_close((dxs, drows), gradient(of_long_lists, xs, rows), 1e-14)
    row = [1.0]
    for given in (([2.0, 3], rows), (xs, [[1.0], (2.0,)]), (xs, [row, row]), (xs, [])):
        with pytest.raises((TypeError, IndexError)):
            run(*given)
    with pytest.raises(ValueError, match="twice"):
        run(row, [row])
    with pytest.raises(TypeError, match=r"expected .*: list of float; .*: list of lists of float"):
        run(xs, 3.0)


def test_an_item_of_a_list_may_have_a_gradient_of_zero():
    run = loaded(export_adjoint(of_long_lists, *EXAMPLES["long lists"][1]))
    xs, rows = [2.0, 0.0], [[1.0], [4.0, -0.0, 6.0]]
    _, (dxs, drows) = run(xs, rows)
    assert (dxs, drows) == gradient(of_long_lists, xs, rows) == ([4.0, 20.0], [[4.0], [0.0] * 3])
    for x in (math.inf, math.nan):
        with pytest.raises(FloatingPointError, match="zygote_lite"):
            run([2.0, x], rows)


def partly(x, w, table, single, counts, n, z):
    if n > 2:
        return x * w[0] * table["a"][1]
    return single[0] * x


@pytest.mark.parametrize("n", [1, 3])
def test_there_are_zeros_where_no_gradient_passed(n):
    xs = (0.5, [2.0, (1.0, 3.0)], {"a": np.array([1.0, 2.0]), "b": 3, "c": "text"},
          np.array([2.0, 4.0], np.float32), np.array([1, 2]), n, 1 + 2j)  # fmt: skip
    value, found = loaded(export_adjoint(partly, *xs))(*xs)
    assert repr((value, found)) == repr(value_and_grad(partly, argnums=range(len(xs)))(*xs))
    assert found[2]["c"] is None
    assert found[3].dtype == np.float32


def test_an_array_given_twice_has_both_gradients():
    x = np.array([1.0, 2.0])
    run = loaded(export_adjoint(lambda a, b: np.sum(a * a * b), x, x + 1.0))
    _, (da, db) = run(x, x)
    np.testing.assert_array_equal(da, 2 * x * x)
    np.testing.assert_array_equal(db, x * x)
    assert not np.shares_memory(da, x)
    assert not np.shares_memory(db, x)


def test_exceptions_are_those_of_the_function():
    def f(x, y):
        return math.log(x) / y

    run = loaded(export_adjoint(f, 1.5, 2.0))
    for xs in ((-1.0, 2.0), (0.0, 2.0), (1.5, 0.0)):
        with pytest.raises((ValueError, ZeroDivisionError)) as expected:
            f(*xs)
        with pytest.raises(expected.type):
            run(*xs)


def test_a_gradient_that_is_not_finite_is_refused():
    def f(x):
        return np.sum(np.sqrt(x))

    run = loaded(export_adjoint(f, np.array([1.0, 4.0])))
    np.testing.assert_allclose(run(np.array([1.0, 4.0]))[1][0], [0.5, 0.25])
    with pytest.raises(FloatingPointError, match="zygote_lite"):
        run(np.array([0.0, 4.0]))


def test_what_needs_the_engine_is_refused_with_place_and_reason():
    def f(x):
        try:
            return math.sqrt(x)
        except ValueError:
            return x

    told = r"test_export\.py:\d+: .*f cannot .*catches exceptions.*value"
    with pytest.raises(DifferentiationError, match=told):
        export_adjoint(f, 1.0)


def of_a_set(x):
    return x * max({2.0, float(np.max(x))})


def test_a_call_that_the_tape_answers_is_refused_by_name():
    with pytest.raises(DifferentiationError, match=r"of_a_set cannot be transformed: a set holds"):
        export_adjoint(lambda x: of_a_set(x) * x, 1.5)


def test_what_holds_for_one_path_or_one_pair_of_arguments_is_refused():
    def on_a_path(x, n):
        limit = None if n > 2 else x
        return x if limit is None else limit * x

    def of_one(x, y):
        return np.sum(x * y) * (2.0 if x is y else 1.0)

    with pytest.raises(DifferentiationError, match="depends-on-path"):
        export_adjoint(on_a_path, 1.5, 3, argnums=0)
    with pytest.raises(DifferentiationError, match="the same object"):
        export_adjoint(of_one, np.ones(2), np.zeros(2))


def opaque(x):
    return x * 3.0


def test_a_rule_that_is_not_inlined_is_refused_by_name():
    rule = RuleSet("test_export")

    @rule(opaque)
    def _(x: float):
        found = memoryview(b"\x03")
        return opaque(x), lambda dy: (dy * found[0],)

    def f(x):
        return opaque(x) + 1.0

    rule.register()
    try:
        assert gradient(f, 2.0) == (3.0,)
        with pytest.raises(DifferentiationError, match=r"f cannot .*opaque"):
            export_adjoint(f, 2.0)
    finally:
        rule.unregister()


@pytest.mark.parametrize("f", [math.sin, np.exp])
def test_what_is_no_python_function_is_refused(f):
    with pytest.raises(TypeError, match="no Python function"):
        export_adjoint(f, 1.0)


def test_a_large_array_from_outside_is_refused():
    large = np.ones(5000)
    with pytest.raises(
        DifferentiationError, match=r"large\d? is an array of 5000 numbers.*argument"
    ):
        export_adjoint(lambda x: np.sum(x * large), np.ones(5000))


def test_an_argument_named_as_a_builtin_that_is_called_is_refused():
    def f(float, x):
        return float * np.sum(x)

    with pytest.raises(DifferentiationError, match="an argument has the name of the builtin float"):
        export_adjoint(f, 2.0, np.ones(3))


def test_two_helpers_of_one_name_are_refused():
    helpers, number = Helpers({"x"}), 2.5
    for _ in range(2):
        helpers.add("two", number)
    assert helpers.texts == ["two = 2.5"]
    for name in ("two", "x"):
        with pytest.raises(NotSpecializable, match=f"two different functions named {name}"):
            helpers.add(name, 3.5)
