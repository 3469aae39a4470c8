"""The definition that a code object was compiled from is found, or an error says why not."""

# the code that is differentiated may be odd on purpose
# ruff: noqa: E702

import ast
import gc
import importlib.util
import linecache
import math
import sys
import threading

import numpy as np
import pytest

from zygote_lite import gradient, value_and_grad
from zygote_lite._ir import source as _source
from zygote_lite._ir.compile import recording_of
from zygote_lite._ir.source import definition_of
from zygote_lite.errors import NoSourceError
from zygote_lite.testing import recorded_only

# fmt: off
same_line = [lambda x: x * 2.0, lambda x: x * 3.0, lambda y: y * 3.0, lambda: 1.0]
nested = lambda x: (lambda y: (lambda z: z * y * x)(x))(x)
same_text = [lambda x: x * x, lambda x: x * x]
over_lines = lambda x: (
    math.sin(x)
    * x
)
by_key = {"a": (lambda x: x + 1.0), "b": (lambda x: x + 1.0 * x)}
with_default = lambda x, f=lambda y: y * 5.0, g=lambda y: y * 7.0: f(x) + g(x)
conditional = (lambda x: x * 2.0) if same_line else (lambda x: x * 3.0)
returns_lambda = lambda a: lambda x: a * x; other = lambda a: lambda x: a + x
returns_constant = [lambda x: 1.0, lambda x: 2.0]
swapped = [lambda x: x, lambda y: y, lambda x: (x, x)[0]]


def keep(*notes):
    def decorate(f):
        f.notes = notes
        return f

    return decorate


@keep(lambda x: x * 2.0, lambda x: x * 3.0)
def decorated(x, scale=(lambda y: y * 4.0)):
    return scale(x)


@keep(
    lambda x: x * 5.0,
)
@keep()
async def asynchronous(x):
    return x


class Holder:
    f = lambda self, x: x * 2.0; g = lambda self, x: x * 3.0

    def method(self, x): return x * 4.0

    @staticmethod
    def static(x):
        return x * 5.0

    @property
    def value(self): return 6.0
# fmt: on


def text_of(f):
    node = definition_of(f.__code__)
    return ast.unparse(node.body if isinstance(node, ast.Lambda) else node.body[-1])


FOUND = {
    "first_of_a_line": (same_line[0], "x * 2.0"),
    "second_of_a_line": (same_line[1], "x * 3.0"),
    "other_parameter": (same_line[2], "y * 3.0"),
    "no_parameter": (same_line[3], "1.0"),
    "outer": (nested, "(lambda y: (lambda z: z * y * x)(x))(x)"),
    "over_lines": (over_lines, "math.sin(x) * x"),
    "by_key_a": (by_key["a"], "x + 1.0"),
    "by_key_b": (by_key["b"], "x + 1.0 * x"),
    "with_default": (with_default, "f(x) + g(x)"),
    "default_first": (with_default.__defaults__[0], "y * 5.0"),
    "default_second": (with_default.__defaults__[1], "y * 7.0"),
    "conditional": (conditional, "x * 2.0"),
    "returns_lambda": (returns_lambda, "lambda x: a * x"),
    "returned_lambda": (returns_lambda(1.0), "a * x"),
    "other_returned_lambda": (other(1.0), "a + x"),
    "constant_first": (returns_constant[0], "1.0"),
    "constant_second": (returns_constant[1], "2.0"),
    "identity": (swapped[0], "x"),
    "identity_of_y": (swapped[1], "y"),
    "constant_index": (swapped[2], "(x, x)[0]"),
    "decorated": (decorated, "return scale(x)"),
    "in_decorator_first": (decorated.notes[0], "x * 2.0"),
    "in_decorator_second": (decorated.notes[1], "x * 3.0"),
    "default_of_decorated": (decorated.__defaults__[0], "y * 4.0"),
    "async": (asynchronous, "return x"),
    "class_lambda": (Holder.f, "x * 2.0"),
    "class_lambda_second": (Holder.g, "x * 3.0"),
    "one_line_method": (Holder.method, "return x * 4.0"),
    "static": (Holder.static, "return x * 5.0"),
    "property": (Holder.value.fget, "return 6.0"),
    "standard_library": (ast.parse, None),
}


@pytest.mark.parametrize("name", FOUND)
def test_the_definition_is_found(name):
    f, text = FOUND[name]
    if text is not None:
        assert text_of(f) == text
    else:
        assert definition_of(f.__code__).name == f.__name__


def test_lambdas_of_the_same_text_are_the_same_to_us():
    for f in same_text:
        assert text_of(f) == "x * x"
        assert gradient(f, 3.0) == (6.0,)


SLOPES = {
    "first_of_a_line": (same_line[0], 2.0),
    "second_of_a_line": (same_line[1], 3.0),
    "other_parameter": (same_line[2], 3.0),
    "nested": (nested, 12.0),
    "with_default": (with_default, 12.0),
    "conditional": (conditional, 2.0),
    "decorated": (decorated, 4.0),
    "returned_lambda": (returns_lambda(5.0), 5.0),
    "other_returned_lambda": (other(5.0), 1.0),
    "class_lambda": (Holder().f, 2.0),
    "class_lambda_second": (Holder().g, 3.0),
}


@pytest.mark.parametrize("name", SLOPES)
def test_the_gradient_is_that_of_the_very_lambda(name):
    f, slope = SLOPES[name]
    assert gradient(f, 2.0) == (slope,)


def test_lambdas_that_are_called_where_they_are_defined():
    assert gradient(lambda x: (lambda y: y * 2.0)(x) * (lambda y: y * 3.0)(x), 1.0) == (12.0,)


def test_lambdas_that_differ_only_in_what_they_capture():
    fs = [lambda x, k=k: k * x for k in (2.0, 3.0)]
    assert [gradient(f, 1.0) for f in fs] == [(2.0,), (3.0,)]
    gs = [(lambda k: lambda x: k * x)(k) for k in (2.0, 3.0)]
    assert [gradient(g, 1.0) for g in gs] == [(2.0,), (3.0,)]


def load(path, name):
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


CHANGED = {
    "elsewhere": "\n\ndef g(y):\n    return y\n\ndef f(x):\n    return x * 3.0\n",
    "in place": "def f(x):\n    return x * 3.0 + x\n",
    "constant": "def f(x):\n    return x * 3.0\n",
}


@pytest.mark.parametrize("change", CHANGED)
def test_where_the_text_changed_the_code_that_runs_is_differentiated(change, tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x * 2.0\n")
    module = load(path, "changing")
    path.write_text(CHANGED[change])
    linecache.checkcache(str(path))
    assert [gradient(module.f, 2.0) for _ in range(4)] == [(2.0,)] * 4


def test_a_reloaded_module_is_read_anew(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x * 2.0\n")
    assert gradient(load(path, "changing").f, 2.0) == (2.0,)
    path.write_text("def f(x):\n    return x * 3.0 + 1.0\n")
    linecache.checkcache(str(path))
    assert gradient(load(path, "changing").f, 2.0) == (3.0,)


NOT_FOLLOWED = (
    "def g(x):\n    try:\n        return x * 2.0\n    except* ValueError:\n        pass\n"
)


def test_code_that_is_not_followed_is_refused():
    scope = {}
    exec(NOT_FOLLOWED, scope)
    why = r"no source text for g .*not followed: `except\*` in line 4; .*declare a rule"
    with pytest.raises(NoSourceError, match=why):
        gradient(scope["g"], 2.0)


@pytest.mark.parametrize("foreign", ["print()\n", "def f(x):\n    return x * 3.0\n"])
def test_the_text_of_another_string_is_no_source(monkeypatch, foreign):
    lines = foreign.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "<string>", (len(foreign), None, lines, "<string>"))
    scope = {}
    exec("def f(x):\n    return x * 2.0\n", scope)
    assert [gradient(scope["f"], 2.0) for _ in range(4)] == [(2.0,)] * 4


def test_the_line_that_called_what_is_not_followed_is_named():
    scope = {}
    exec(NOT_FOLLOWED, scope)

    def straight(x):
        y = x + 1.0
        return scope["g"](y)

    def in_a_loop(x):
        for _ in range(2):
            x = straight(x)
        return x

    def mapped(x):
        return sum(map(scope["g"], [x]))

    first = straight.__code__.co_firstlineno
    for f, line in ((straight, first + 2), (in_a_loop, first + 2), (mapped, first + 10)):
        with pytest.raises(NoSourceError, match=rf"test_source\.py:{line}: no source .*<string>:1"):
            gradient(f, 2.0)
    with pytest.raises(NoSourceError, match=r"test_source\.py:\d+: no source text for g"):
        gradient(scope["g"], 2.0)


def test_a_notebook_cell_is_source():
    text = "def f(x):\n    return x * 2.0\n\ng = lambda x: x * 3.0; h = lambda x: x * 4.0\n"
    name = "<cell-17>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {}
    exec(compile(text, name, "exec"), scope)
    assert [gradient(scope[k], 1.0)[0] for k in "fgh"] == [2.0, 3.0, 4.0]
    del linecache.cache[name]


def test_source_with_tabs_unicode_and_continuations(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(
        "def ß(α, *, β=1.0):\n\tγ = α \\\n\t\t* β\n\treturn γ * α\n\n"
        "f, g = (lambda α: 'ünï' and α * 2.0), lambda α: 'ß' and α * 3.0\n",
        encoding="utf-8",
    )
    module = load(path, "odd")
    assert gradient(module.ß, 3.0) == (6.0,)
    assert text_of(module.f) == "'ünï' and α * 2.0"
    assert text_of(module.g) == "'ß' and α * 3.0"


def test_the_source_of_numpy_is_found():
    assert gradient(lambda x: np.polyval([1.0, 2.0, 3.0], x), 2.0) == (6.0,)


class Cycle:
    """Garbage whose finalizer lets other threads run, in the middle of whatever collects it."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        for _ in range(50):
            pass


@pytest.mark.sampled(3)
def test_trees_are_made_in_many_threads(sample):
    """Python 3.11 raises SystemError now and then, where two threads make trees at once."""
    lines = "".join(f"    y = y * x + {i}.5 if x > {i} else (y, [x])[0]\n" for i in range(60))
    wrong = []

    def work(name):
        for i in sample(range(24)):
            for _ in range(20):
                Cycle()
            try:
                text = f"def f(x):\n    y = x\n{lines}    return y\n"
                assert len(_source._definitions(text, f"<{name} {i}>", 0)) == 1
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(5, 1, 1)
    sys.setswitchinterval(1e-6)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)
    assert not wrong


MADE_FROM_TEXT = """
def parse(self, a, b=2.0, *rest, loc=0, **more):
    return (a, b), loc, 1.5, rest, more, ()


def first(x, y):
    return x

"""


def test_a_function_without_source_that_hands_its_arguments_on():
    space = {}
    exec(MADE_FROM_TEXT, space)
    parse, first = space["parse"], space["first"]

    def f(x, y):
        (a, b), loc, c, *_ = parse(None, x, loc=y)
        (d, e), _, _, rest, more, nothing = parse(0, y, x, x, first(y, x), z=x)
        return a * b * loc * c + d * e * rest[1] * more["z"] * rest[0] + len(nothing)

    for _ in range(3):
        y, (dx, dy) = value_and_grad(f, (0, 1))(1.3, 0.7)
        assert y == f(1.3, 0.7)
        assert dx == pytest.approx(3.0 * 0.7 + 3 * 1.3**2 * 0.7**2)
        assert dy == pytest.approx(3.0 * 1.3 + 2 * 1.3**3 * 0.7)


def test_definitions_of_generator_expressions_are_bounded(monkeypatch):
    monkeypatch.setattr(_source, "_MOST_DEFINITIONS", 3)

    def made(k):
        names = {}
        exec(f"def f(x):\n    return sum(v * x * {k}.0 for v in [1.0, 2.0])", names)
        return names["f"]

    functions = [made(k) for k in range(1, 7)]
    with recorded_only():
        for _ in range(2):  # the second time, what is forgotten by then is found again
            slopes = [gradient(f, 1.0)[0] for f in functions]
            assert slopes == [3.0 * k for k in range(1, 7)]
    assert len(_source._made) <= 3


def test_recording_code_begins_at_the_line_of_its_function():
    def later(x):

        y = x * 2.0
        return y * y

    run, _ = recording_of(later)
    assert run.__code__.co_firstlineno == later.__code__.co_firstlineno
    lines = {line for _, _, line in run.__code__.co_lines() if line}
    assert lines <= {line for _, _, line in later.__code__.co_lines()}


# fmt: off
alike = (lambda x: x * math.missing(x), lambda x: x * math.missing(x))
# fmt: on


def test_errors_in_functions_with_one_text_on_a_line_name_their_own_columns():
    found = []
    for f in alike:
        with recorded_only(), pytest.raises(AttributeError, match="missing") as error:
            gradient(f, 2.0)
        frame = error.traceback[-1]._rawentry
        found.append([*frame.tb_frame.f_code.co_positions()][frame.tb_lasti // 2])
    line = linecache.getline(__file__, found[0][0])
    first = line.index("math.missing")
    assert [(p[0], p[2]) for p in found] == [
        (found[0][0], first),
        (found[0][0], line.index("math.missing", first + 1)),
    ]
