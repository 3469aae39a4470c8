"""The switches for tests: each engine alone, both compared, internal errors raised."""

import asyncio
import math
import subprocess
import sys
import threading

import numpy as np
import pytest

from rulescore import Tangent
from zygote_lite import (
    DifferentiationError,
    grad,
    gradient,
    hessian,
    hvp,
    jacobian,
    jit,
    pullback,
    testing,
    value_and_grad,
)
from zygote_lite._specialize import entry as _entry
from zygote_lite._specialize.compare import difference

X = np.array([0.5, 1.5, -2.0])


def energy(x):
    return np.sum(np.sin(x) * x)


def squares(x):
    return x * x


def texts(x):
    return x * float(len(f"{globals()['X'].size}"))


FORMS = {
    "gradient": lambda f, x: gradient(f, x),
    "grad": lambda f, x: grad(f)(x),
    "value_and_grad": lambda f, x: value_and_grad(f, (0,))(x),
    "by keyword": lambda f, x: grad(lambda x: f(x))(x),
    "hvp": lambda f, x: hvp(f)(x, x),
    "hessian": lambda f, x: hessian(f)(x),
    "jacobian": lambda f, x: jacobian(lambda x: x * x)(x),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_engine_alone(form):
    with testing.recorded_only(), testing.observed() as answers:
        want = FORMS[form](energy, X)
    assert {answer.tier for answer in answers} == {"recorded"}
    with testing.transformed_only(), testing.observed() as answers:
        got = FORMS[form](energy, X)
    assert {answer.tier for answer in answers} == {"transformed"}
    assert all(answer.is_transformed and answer.reason is None for answer in answers)
    assert difference(got, want) is None


def test_nothing_is_made_while_only_the_tape_answers():
    def f(x):
        return x * x

    with testing.recorded_only():
        for _ in range(4):
            assert grad(f)(3.0) == 6.0
    assert testing.programs(f) == []
    assert not testing.is_covered(f, 3.0)


def test_a_gradient_says_how_it_was_answered():
    def f(x):
        return x * x

    with testing.observed() as answers:
        for _ in range(3):
            grad(f)(3.0)
    assert [answer.tier for answer in answers] == ["recorded", "recorded", "transformed"]
    assert "second call" in answers[0].reason
    assert testing.is_covered(f, 4.0)
    assert not testing.is_covered(f, X)
    assert [text.startswith("def f_value_and_gradient(x)") for text in testing.programs(f)] == [
        True
    ]
    assert testing.programs(f, "product") == testing.programs(f, compiled=True) == []
    testing.forget(f)
    assert testing.programs(f) == []


@pytest.mark.parametrize(
    ("f", "xs", "reason"),
    [
        (np.ndarray.sum, (X,), "a rule answers"),
        (np.sum, (X,), None),
        (lambda x: x["a"] * 2.0, ({"a": 1.0, 3: 2.0},), "an argument is not a number"),
        (lambda x: x * x if x else 2.0, (3.0,), None),
        (texts, (2.0,), "globals"),
        (lambda x: math.exp(x) * x, (1e4,), "it was left: math range error"),
    ],
)
def test_why_the_tape_answers(f, xs, reason):
    found = testing.why_recorded(f, *xs)
    assert (found is None) if reason is None else reason in found, found


def closure_over(w):
    return lambda x: x @ w


def test_only_transformed_code_is_refused_with_the_reason():
    with testing.transformed_only():
        with pytest.raises(
            testing.NotTransformed, match=r"texts \(.*test_testing.py:\d+\).*globals"
        ):
            grad(texts)(2.0)
        with pytest.raises(testing.NotTransformed, match="closures are recorded by `pullback`"):
            pullback(closure_over(X), X)
        pullback(energy, X)
        assert isinstance(grad(energy)(X), np.ndarray)


def test_a_switch_belongs_to_its_thread_and_task():
    tiers = []

    def ask():
        with testing.observed() as answers:
            grad(lambda x: x * x)(1.0)
        tiers.append((answers[0].tier, answers[0].reason))

    async def inside():
        with testing.recorded_only():
            await asyncio.sleep(0.01)
            ask()

    async def outside():
        await asyncio.sleep(0.005)
        with testing.transformed_only():
            ask()

    async def both():
        await asyncio.gather(inside(), outside())

    asyncio.run(both())
    with testing.recorded_only():
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert tiers == [
        ("transformed", None),  # though the other task lets only the tape answer
        ("recorded", "only the tape is asked"),
        ("transformed", None),  # by what the first has made
    ]


def test_switches_nest():
    with testing.recorded_only(), testing.transformed_only(), testing.observed() as answers:
        grad(energy)(X)
    assert answers[0].is_transformed
    with testing.transformed_only(), testing.recorded_only(), testing.observed() as answers:
        grad(energy)(X)
    assert not answers[0].is_transformed
    with pytest.raises(ZeroDivisionError), testing.recorded_only():
        1 / 0
    with testing.observed() as answers:
        grad(energy)(X)
    assert answers[0].is_transformed


# -- bugs that are planted in transformed code -----------------------------------------------------


def planted(monkeypatch, change):
    """Have what transformed code returns changed, or an error raised."""
    compiled = _entry.compile_text

    def off(made, f):
        fast = compiled(made, f)
        return lambda *xs: change(fast(*xs))

    monkeypatch.setattr(_entry, "compile_text", off)


def raising(found):
    raise KeyError("planted")


CHANGES = {
    "gradient": lambda y_d: (y_d[0], y_d[1] * (1 + 1e-6)),
    "value": lambda y_d: (y_d[0] + 1e-5, y_d[1]),
    "dtype": lambda y_d: (y_d[0], y_d[1].astype(np.float32)),
    "shape": lambda y_d: (y_d[0], y_d[1][:1]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_answer_is_told_with_the_program(change, monkeypatch):
    def f(x):
        return np.sum(x * x)

    planted(monkeypatch, CHANGES[change])
    with testing.compared(), pytest.raises(testing.TierMismatch) as told:
        grad(f)(X)
    for part in ("f (", "test_testing.py:", "array([ 0.5", "the tape:", "def f_value_and_gradient"):
        assert part in str(told.value)


def test_wrong_products_and_pullbacks_are_told(monkeypatch):
    planted(monkeypatch, lambda d: d * 1.01)
    with testing.compared(), pytest.raises(testing.TierMismatch, match="hessian_times_vector"):
        hvp(lambda x: np.sum(x**3))(X, X)
    with testing.compared(), pytest.raises(testing.TierMismatch, match="hessian_times_vector"):
        hessian(lambda x: np.sum(x**3))(X)
    monkeypatch.undo()
    planted(monkeypatch, lambda y_b: (y_b[0], lambda dy: (None, y_b[1](dy)[1] * 1.01)))
    with testing.compared(), pytest.raises(testing.TierMismatch, match="def squares_pullback"):
        jacobian(squares)(X)
    testing.forget(squares)


def both_or_one(x, y):
    if y is x:
        x = y = np.asarray(x)
    return x, y


def asks_whether_two_are_one(x):
    y = x * 1.0
    try:
        float("none")
    except* ValueError:  # recorded, so the call below is answered by its own code
        pass
    a, b = both_or_one(y, y)
    return np.sum(np.sin(a) * b * a)


def test_one_array_for_two_arguments_is_one_for_the_tape_too():
    with testing.compared():
        for _ in range(5):
            d = grad(asks_whether_two_are_one)(X)
            np.testing.assert_allclose(d, 2.0 * X * np.sin(X) + X * X * np.cos(X), rtol=1e-12)


def test_an_error_of_the_tape_alone_is_a_difference(monkeypatch):
    def f(x):
        if x > 1.0:
            raise ValueError("too large")
        return x * x

    with testing.compared():
        assert grad(f)(0.5) == 1.0
        with pytest.raises(ValueError, match="too large"):
            grad(f)(2.0)
    monkeypatch.setattr(_entry, "compile_text", lambda made, f: lambda x: (x, x))
    testing.forget(f)
    with testing.compared():
        with pytest.raises(testing.TierMismatch):
            grad(f)(0.5)
        with pytest.raises(testing.TierMismatch, match="an error of the tape alone"):
            grad(f)(2.0)


def test_internal_errors_are_raised_where_they_are_asked_for(monkeypatch):
    def f(x):
        return np.sum(x * x)

    planted(monkeypatch, raising)
    with testing.strict(False):
        for _ in range(4):
            np.testing.assert_array_equal(grad(f)(X), 2 * X)
    with testing.strict(), pytest.raises(testing.InternalError) as told:
        grad(f)(X)
    for part in ("f (", "raised KeyError: 'planted'", "def f_value_and_gradient", "array([ 0.5"):
        assert part in str(told.value)
    assert isinstance(told.value.__cause__, KeyError)


def test_internal_errors_of_pullbacks_are_raised(monkeypatch):
    def f(x):
        return x * x

    planted(monkeypatch, lambda y_b: (y_b[0], raising))
    with testing.strict(False):
        for _ in range(4):
            np.testing.assert_array_equal(jacobian(f)(X), np.diag(2 * X))
    with testing.strict(), pytest.raises(testing.InternalError, match="def f_pullback"):
        jacobian(f)(X)


def test_internal_errors_in_making_code_are_raised(monkeypatch):
    def f(x):
        return np.sum(x * x)

    monkeypatch.setattr(_entry, "specialize", lambda *xs, **kws: 1 / 0)
    with testing.strict(False):
        for _ in range(3):
            np.testing.assert_array_equal(grad(f)(X), 2 * X)
    assert "internal error: ZeroDivisionError" in testing.reasons(f)[0]
    with testing.strict(), testing.transformed_only(), pytest.raises(testing.InternalError):
        grad(f)(X)


def test_errors_of_the_program_are_no_internal_errors():
    def f(x, table):
        return x * table[0]

    run = value_and_grad(f)
    with testing.strict():
        for _ in range(3):
            run(2.0, (3.0,))
        for _ in range(3):
            with pytest.raises(TypeError):
                run(2.0, None)
            with pytest.raises(DifferentiationError):
                grad(lambda x: float(str(x)))(2.0)


def test_values_of_jit_are_compared(monkeypatch):
    pytest.importorskip("numba")

    @jit
    def f(x):
        return x * x

    monkeypatch.setattr(_entry, "compile_code", lambda fast, made: lambda x: x * x * 1.01)
    f(2.0)
    with testing.compared(), pytest.raises(testing.TierMismatch):
        f(2.0)
    with testing.recorded_only():
        assert f(2.0) == 4.0


PLANT = """
import numpy as np
from zygote_lite import grad, testing
from zygote_lite._specialize import entry
compiled = entry.compile_text
def off(made, f):
    fast = compiled(made, f)
    def wrong(x):
        if {raises}:
            raise KeyError("planted")
        y, d = fast(x)
        return y, d * 1.01
    return wrong
entry.compile_text = off
def f(x):
    return x * x
for _ in range(4):
    try:
        print(grad(f)(2.0))
    except (testing.TierMismatch, testing.InternalError) as error:
        print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("settings", "raises", "lines"),
    [
        ({}, False, ["4.0", "4.0", "4.04", "4.04"]),
        ({}, True, ["4.0"] * 4),
        ({"ZYGOTE_LITE_CHECK": "0", "ZYGOTE_LITE_STRICT": ""}, True, ["4.0"] * 4),
        ({"ZYGOTE_LITE_CHECK": "1"}, False, ["TierMismatch"] * 4),
        (
            {"ZYGOTE_LITE_STRICT": "1"},
            True,
            ["4.0"] * 2 + ["InternalError"] * 2,
        ),
    ],
)
def test_the_environment(settings, raises, lines, monkeypatch, tmp_path):
    for name in ("ZYGOTE_LITE_CHECK", "ZYGOTE_LITE_STRICT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "planted.py"
    path.write_text(PLANT.format(raises=raises))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == lines, done.stderr


# -- what counts as equal ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (None, 0.0), (None, np.zeros(3)), ([None, 0.0], None), (Tangent(object(), w=None), None),
        (1.0, 1.0 + 1e-13), (math.nan, math.nan), (math.inf, math.inf), (0.0, -0.0),
        ((1e10, 1e-8), (1e10, 0.0)), (np.float32(1.0), np.float32(1.0 + 1e-5)),
        ({"a": 1.0, "b": None}, {"a": 1.0, "b": 0.0}),
    ],
)  # fmt: skip
def test_equal(a, b):
    assert difference(a, b) is None
    assert difference(b, a) is None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (None, 1e-300), (None, [0.0, 1.0]), (1.0, 1.0 + 1e-6), (1.0, np.float64(1.0)),
        (np.ones(3), np.ones((3, 1))), (np.ones(3), np.ones(3, np.float32)), (1.0, math.nan),
        (1.0, math.inf), (math.inf, -math.inf), ([1.0], (1.0,)), ({"a": 1.0}, {"b": 1.0}),
        (1, 2), (1, 1.0), (np.array([1e-20, 0.0]), np.array([2e-20, 0.0])), ("a", "b"),
    ],
)  # fmt: skip
def test_different(a, b):
    assert difference(a, b) is not None
    assert difference(b, a) is not None


def test_the_tolerance_may_be_given():
    assert difference(1.0, 1.001, tolerance=1e-2) is None
    assert difference(1.0, 1.0 + 1e-9, tolerance=1e-12) is not None
    assert difference(1.0, 1.0 + 1e-5, given=(np.ones(2, np.float32),)) is None
    assert difference(1.0, np.float64(1.0), as_numpy=True) is None


def test_the_reason_of_one_call_is_not_that_of_the_next():
    """A call with an argument by name is not tried with transformed code."""

    def f(x):
        return x * x

    def named(x, *, y):
        return x * y

    compiled = jit(f)
    for _ in range(3):
        assert (compiled(1.5), gradient(f, 1.5)) == (2.25, (3.0,))
    with testing.recorded_only():
        compiled(1.5)
    for before in (lambda: None, lambda: gradient(f, 1.5)):
        with testing.observed() as answers:
            before()
            pullback(named, 1.5, y=2.0)
        assert answers[-1].reason.startswith("it gets an argument by name alone")
