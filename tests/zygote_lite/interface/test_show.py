"""Each stage is shown as readable Python, which parses."""

# the code that is differentiated may be odd on purpose
# ruff: noqa: F841

import ast
import json
import math
import operator
import re

import numpy as np
import pytest

from zygote_lite import (
    UnsupportedSyntaxError,
    code_adjoint,
    code_jvp,
    code_lowered,
    code_primal,
    explain,
    grad,
    gradient,
    pullback,
    vmap,
)

STAGES = [code_lowered, code_primal, code_adjoint]


def foo(x):
    return math.sin(math.cos(x))


class Line:
    def __init__(self, slope):
        self.slope = slope

    def __call__(self, x):
        return self.slope * x

    def at(self, x):
        return self(x) + 1.0


def straight(x, y=2.0, *args, z, **kws):
    """Text."""
    a = [x, y, *args]
    b = {"a": x, **kws}
    c, (d, *e) = x, (y, z)
    f = lambda v: v * a[0] + z
    text = f"{x!r:>10}"
    return f(c) + b["a"] * a[-1:][0] - d**-z


def test_the_lowered_text_of_foo():
    assert code_lowered(foo) == (
        "def foo(x):\n    t1 = math.cos(x)\n    t2 = math.sin(t1)\n    return t2"
    )


RECORDED_FOO = (
    "# `x_` goes with `x` and tells where on the tape its cotangent goes.\n"
    "# Going back is walking the tape backwards (`Tape.back`).\n"
    "def foo_recorded(tape, nodes, /, x):\n"
    "    x_, = nodes\n"
    "    t1_ = None\n"
    "    t2_ = None\n"
    "    t1, t1_ = tape.call((None, x_), math.cos, x)\n"
    "    t2, t2_ = tape.call((None, t1_), math.sin, t1)\n"
    "    return (t2, t2_)"
)


def test_the_recorded_text_of_foo():
    assert code_primal(foo) == f"# Recorded, for all types\n{RECORDED_FOO}"
    assert code_primal(foo, 0.6) == code_primal(foo)
    first, _, rest = code_adjoint(foo).partition("\n")
    assert first == "# Recorded, for all types: `code_adjoint(f, *xs)` shows transformed code"
    assert rest == RECORDED_FOO


def test_the_adjoint_text_of_foo_for_a_float():
    assert code_adjoint(foo, 0.6) == (
        "def foo_pullback(x):\n"
        "    t1 = math.cos(x)\n"
        "    t2 = math.sin(t1)\n"
        "\n"
        "    def back(dt2):\n"
        "        dx = -(dt2 * math.cos(t1) * math.sin(x))\n"
        "        return None, dx\n"
        "\n"
        "    return t2, back"
    )


def indexed(x, n):
    s = 1.0
    for i in range(n):
        if x[i] < 0:
            break
        s = s + x[i] * s
    return s


@pytest.mark.parametrize(
    ("f", "xs", "dy"),
    [
        (foo, (0.6,), 1.0),
        (foo, (0.6,), -2.5),
        (indexed, (np.array([1.0, 2.0, -1.0, 3.0]), 4), 1.5),
        (lambda w, x: np.mean(np.tanh(x @ w) ** 2), (np.eye(2), np.ones((3, 2))), 0.5),
        (lambda x, y: x**3 / y, (1.5, 0.7), 2.0),
    ],
)
def test_the_text_for_types_is_that_of_the_pullback(f, xs, dy):
    text = code_adjoint(f, *xs)
    assert "pull(" not in text
    space = {"math": math, "np": np}
    exec(text, space)
    (run,) = [x for name, x in space.items() if name.endswith("_pullback")]
    y, back = run(*xs)
    expected, back_of_the_engine = pullback(f, *xs)
    assert y == pytest.approx(expected, rel=1e-14)
    for _ in range(2):  # it may be called again and again
        for d, e in zip(back(dy), back_of_the_engine(dy), strict=True):
            np.testing.assert_allclose(0.0 if d is None else d, 0.0 if e is None else e, 1e-13)


def test_what_does_not_qualify_is_shown_as_it_is_run():
    def named(np):
        return np * 2.0

    why, _, text = code_adjoint(named, 1.0).partition("\n")
    told = "a parameter is named np or math: rename it [not supported: names]"
    assert why == f"# Recorded, not transformed: {told}"
    assert text == code_adjoint(named).partition("\n")[2]
    assert "tape.call" in text


def inner(x):
    y = x * 2.0
    return y if y else len({y, 1.0}) * y


def through(x):
    return inner(x) * 2.0


class Callable:
    def __call__(self, x):
        return x * x


def test_the_first_line_says_why_code_is_recorded():
    def why(f, *xs):
        return code_adjoint(f, *xs).partition("\n")[0]

    def told(details, name):
        return f"# Recorded, not transformed: {details} [not supported: {name}]"

    by_a_set = lambda y: len({y, 1.0}) * y
    assert why(by_a_set, 1.0) == told(
        "`{y, 1.0}`: a set holds something other than constants", "container"
    )
    reason = "a set holds something other than constants [not supported: container]"
    assert why(through, 1.0) == f"# inner is recorded: {reason}"
    assert why(Line, 1.0) == told("it is not a Python function", "no-python-function")
    assert why(Callable(), 1.0) == "def __call___pullback(self, x):"
    type_of_y = told("the argument y is of the type object", "argument-type")
    assert why(lambda x, y: x, 1.0, object()) == type_of_y
    assert not why(lambda x: x * x, 1.0).startswith("#")


def test_operators_and_methods_become_calls():
    def f(m, xs):
        return m.at(xs[0]) ** 2 - m.slope

    text = code_primal(f)
    for part in ("operator.getitem", "invoke", "'at'", "operator.pow", "getattr", "'slope'"):
        assert part in text


@pytest.mark.parametrize("show", STAGES)
def test_the_text_parses_and_compiles(show):
    n = 2.0
    closure = lambda x: x * n
    for f in (foo, straight, Line.at, closure, lambda: 1.0, lambda x: (y := x) * y):
        text = show(f)
        (definition,) = ast.parse(text).body
        assert isinstance(definition, ast.FunctionDef)
        compile(text, "<text>", "exec")
        assert all(len(line) < 120 for line in text.splitlines())


@pytest.mark.parametrize("show", STAGES)
def test_whatever_stands_for_a_function_is_shown(show):
    assert "slope" in show(Line(1.0))
    assert "slope" in show(Line)
    assert "1.0" in show(Line(1.0).at)


@pytest.mark.parametrize("show", STAGES)
def test_the_name_of_a_variable_of_the_user_is_kept(show):
    def named(x):
        learning_rate = x * 2.0
        return learning_rate * x

    assert "learning_rate = " in show(named) or "learning_rate, " in show(named)


def test_names_of_the_user_do_not_collide_with_names_of_the_engine():
    def f(pull, back, t1, d_x, accumulate, operator=2.0, x=3.0):
        back1 = pull * back
        getattr = back1 * t1 + d_x
        t2 = getattr * accumulate
        return t2 * operator * x + pull

    compile(code_adjoint(f), "<text>", "exec")
    got = gradient(f, 1.1, 1.2, 1.3, 1.4, 1.5)
    p, b, t, d, a = 1.1, 1.2, 1.3, 1.4, 1.5
    assert got == tuple(
        pytest.approx(v)
        for v in (b*t*a*6 + 1, p*t*a*6, p*b*a*6, a*6, (p*b*t + d) * 6)
    )  # fmt: skip


@pytest.mark.parametrize("show", STAGES)
@pytest.mark.parametrize("f", [math.sin, np.exp, 3], ids=["builtin", "ufunc", "number"])
def test_what_has_no_source_is_refused(show, f):
    told = "no Python source to show: give" if callable(f) else "not callable: give"
    with pytest.raises(TypeError, match=told):
        show(f)


def test_a_refusal_names_file_and_line():
    def f(x):
        async def g():
            pass

        return x

    with pytest.raises(UnsupportedSyntaxError, match=r"test_show\.py:\d+.*async"):
        code_lowered(f)


def test_a_namespace_that_is_gone_does_not_answer_for_one_in_its_place(tmp_path):
    class Thrice:
        def sin(self, x):
            return x * 3.0

    path = tmp_path / "text.py"
    path.write_text("def f(x):\n    return m.sin(x) * x\n", encoding="utf-8")
    for m, call in [(math, "= math.sin(x)"), (Thrice(), "= x * 3.0")] * 4:
        space = {"m": m, "__name__": "text"}
        exec(compile(path.read_text(encoding="utf-8"), path, "exec"), space)
        assert call in code_adjoint(space["f"], 2.0)
        space.clear()  # else the function and its globals hold each other
        del space


def with_a_set_of_numbers(x):
    return len({x, 2.0}) * x * x


def with_an_island(x):
    return with_a_set_of_numbers(x) * 2.0 + grad(lambda v: math.sin(v) * v)(x)


def with_a_set_alone(x):
    seen = {id(x), x}
    return x * x


def left_early(x, n):
    y = x
    for _ in range(n):
        slope = 2.0 * x + 1.0
        if y > 1.0:
            return math.sin(y)
        y = y * slope
    return y


def in_place(x, n):
    y = x.copy()
    for i in range(n):
        y[i] += np.sum(np.tanh(2.0 * x))
    v = y[1:3]
    v *= y[0]
    return np.sum(y)


@pytest.mark.parametrize("f", [left_early, in_place])
@pytest.mark.parametrize("stage", ["typed", "adjoint"])
def test_the_code_of_a_stage_computes_the_gradient(f, stage):
    given = [(0.1, 3), (0.9, 3)] if f is left_early else [(np.array([0.3, -0.8, 1.2, 0.5]), 2)]
    for x, n in given:
        space = {"np": np, "math": math}
        exec(str(code_adjoint(f, x, n, argnums=0, stage=stage)), space)
        value, back = space[f"{f.__name__}_pullback"](x, n)
        assert value == pytest.approx(f(x, n), rel=1e-14)
        for way in np.eye(np.size(x)).reshape(-1, *np.shape(x)):
            step = 1e-6 * way
            expected = (f(x + step, n) - f(x - step, n)) / 2e-6
            for _ in range(2):
                assert np.sum(back(1.0)[1] * way) == pytest.approx(expected, rel=1e-7)


def test_types_are_those_before_the_passes():
    text = code_adjoint(left_early, 0.1, 3, argnums=0, stage="typed")
    assert text.startswith("# x: float\n# n: int\ndef left_early_pullback(x, n):\n")
    assert "        t2 = 2.0 * x  # float\n        slope = t2 + 1.0  # float\n" in text
    assert "    slope = 2.0 * x + 1.0\n    tape" in code_adjoint(left_early, 0.1, 3, argnums=0)
    text = code_adjoint(in_place, np.ones(4, "f4"), 2, argnums=0, stage="typed")
    assert text.startswith("# x: float32[n]\n")
    assert "y = x.copy()  # float32[n]\n" in text


@pytest.mark.parametrize("f", [left_early, in_place])
def test_code_with_one_exit_does_what_the_function_does(f):
    text = code_adjoint(f, stage="exits")
    assert text.count("return ") == text.rpartition("\n")[2].count("return ") == 1
    space = {"np": np, "math": math, "operator": operator}
    exec(str(text), space)
    for x in (0.1, 0.9, 1.5) if f is left_early else [np.arange(4.0)]:
        assert space[f.__name__](x, 2) == f(x, 2)


def test_classes_and_attempts_with_one_exit_are_readable():
    def f(x):
        class Half:
            share = 0.5 * x

        try:
            return {}["missing"]
        except KeyError:
            return Half.share

    text = code_adjoint(f, stage="exits")
    compile(text, "<text>", "exec")
    assert "class_share = operator.mul(0.5, x)" in text
    assert "except Exception as" in text


def test_guards_name_what_they_compare_with():
    text = code_adjoint(left_early, 0.1, 3, argnums=0, stage="guards")
    compile(text, "<text>", "exec")
    assert f"# g0 = vars({__name__})\n" in text
    assert "= math.sin\n" in text
    assert "            and type(x0) is float\n            and type(x1) is int\n" in text


@pytest.mark.parametrize("stage", ["exits", "typed", "guards"])
def test_stages_of_what_is_not_transformed_and_unknown_ones(stage):
    text = code_adjoint(with_a_set_alone, 0.5, stage=stage)
    if stage != "exits":
        assert text.startswith("# Recorded, not transformed: `")
    with pytest.raises(ValueError, match="'exits', 'typed', 'adjoint', 'guards'"):
        code_adjoint(left_early, 0.1, 3, stage=stage + "s")


def lines_about(f, name, *xs):
    lines = [line for line in explain(f, *xs).splitlines() if name in line]
    return [line.rpartition("  ")[2] for line in lines]


def test_equal_calls_of_a_loop_have_one_line_with_their_number():
    def loss(x):
        for _ in range(200):
            x = np.sin(x)
        return x

    lines = explain(loss, np.float64(0.5)).splitlines()
    assert len(lines) == 2
    assert lines[1].endswith(" (200 times)")


def test_explain_tells_of_transformed_code_and_of_islands():
    for i in range(4):  # transformed code answers some of the calls between
        (about,) = lines_about(with_an_island, "with_an_island(float)", 0.5)
        assert about.startswith("transformed; ")
        (island,) = lines_about(with_an_island, "with_a_set_of_numbers(float)", 0.5)
        alone = "transformed; "  # by now there may be code for it, where it is called alone
        assert island.startswith("recorded inside of transformed code: ") or (
            i and island.startswith(alone)
        )
        assert lines_about(with_an_island, "math.sin", 0.5)[0].startswith("rule of rules_base")
        assert "zygote_lite._" not in explain(with_an_island, 0.5).replace(__file__, "")
        pullback(with_an_island, 0.5)
    (why,) = lines_about(with_a_set_alone, "with_a_set_alone(float)", 0.5)
    assert why.startswith("recorded: `")
    assert explain(lambda x: 1.0, 0.5).count("\n") == 0


def scaled(x, n, name):
    return x * n


def test_code_of_forward_mode():
    text = "def scaled_and_tangent(x, n, name, dx):\n    t1 = x * n\n    dt1 = dx * n\n"
    assert code_jvp(scaled, 2.0, 3, "a") == f"{text}    return (t1, dt1)"
    assert "dt1 = dx * n + dn * x" in code_jvp(scaled, 2.0, 3.0, "a")
    assert "dt1 = dn * x" in code_jvp(scaled, 2.0, 3.0, "a", argnums="n")
    first, *_ = code_jvp(grad(lambda x: x**3), 2.0).splitlines()
    assert first == "def lambda__grad_and_tangent(x, dx):"
    first, *_ = code_jvp(lambda x: json.loads(f"{x}"), 2.0).splitlines()
    assert first.startswith("# Recorded, not transformed: ")


def test_tangents_are_those_of_numbers():
    def f(x, how):
        return x * x if how == "square" else x

    assert "Recorded" not in code_jvp(f, 2.0, "square")


def test_explain_of_a_loop_over_a_batch_names_no_function_of_the_engine():
    def of_sign(x):
        return np.sum(x) if x[0] > 0 else 0.0

    lines = explain(vmap(of_sign), np.ones((3, 2)))
    assert "a loop over the entries of the batch: a branch depends on the batch" in lines
    assert "of_sign(ndarray)" in lines
    assert "run once" not in lines
    at_once = explain(vmap(lambda x: np.sum(x * x)), np.ones((3, 2)))
    assert "run once" in at_once
    assert "a loop" not in at_once
    assert "zygote_lite._" not in lines
    assert "recorded; " in lines
    assert not re.search(r"recorded; \S*zygote_lite/_", lines)
