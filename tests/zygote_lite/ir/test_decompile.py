"""Code without source text is decompiled: what is found does the same, or an error says why not."""

import ast
import code
import contextlib
import copy
import io
import subprocess
import sys
import timeit

import pytest

from tests.zygote_lite.checks.comparing import assert_same
from tests.zygote_lite.checks.finite_differences import assert_slopes
from tests.zygote_lite.constructs.table import CASES, GROUPS, is_decompiled
from zygote_lite import DifferentiationError, gradient
from zygote_lite import testing as zygote_testing
from zygote_lite._ir import compile as _compile
from zygote_lite._ir import source as _source
from zygote_lite._ir.decompile import expressions, values
from zygote_lite._ir.decompile.equal import first_difference
from zygote_lite._ir.decompile.functions import definition
from zygote_lite._ir.decompile.instructions import NotFollowedError
from zygote_lite.errors import NoSourceError

FILES = {module.__file__ for module in GROUPS.values()}
WORKING = [n for n, case in CASES.items() if case.message is None]
REFUSED = [n for n, case in CASES.items() if case.message is not None]


@pytest.fixture
def hidden(monkeypatch):
    """Hide the texts of the cases, and what was made of them."""

    def forget():
        _source._found.cache_clear()
        _source._made.clear()
        _compile._recordings.clear()

    found = _source._lines_of
    monkeypatch.setattr(_source, "_lines_of", lambda name: [] if name in FILES else found(name))
    forget()
    yield
    forget()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", WORKING)
def test_cases_of_constructs_work_without_their_text(name, hidden):
    case = CASES[name]
    if not is_decompiled(case):
        with pytest.raises(NoSourceError):
            gradient(case.function, *copy.deepcopy(case.inputs[0]))
        return
    zygote_testing.forget(case.function)
    xs = case.inputs[0]
    after, given = copy.deepcopy(xs), copy.deepcopy(xs)
    case.function(*after)
    found = gradient(case.function, *given)
    assert_same(given, after)
    assert_slopes(found, case.function, xs, 2e-7)
    zygote_testing.forget(case.function)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", REFUSED)
def test_cases_that_are_refused_are_refused_without_their_text(name, hidden):
    case = CASES[name]
    for _ in range(2):
        with pytest.raises(DifferentiationError, match=case.message):
            gradient(case.function, *copy.deepcopy(case.inputs[0]))


def function(text):
    space = {}
    exec(text, space)
    return space["f"]


SAME = {
    "tests of while": (
        "def f(x):\n while x > 1:\n  x -= 1\n return x",
        "def f(x):\n while True:\n  if not x > 1:\n   break\n  x -= 1\n return x",
    ),
    "returns": (
        "def f(x):\n if x:\n  y = 1\n else:\n  y = 2\n return y",
        "def f(x):\n if x:\n  y = 1\n  return y\n y = 2\n return y",
    ),
    "conditions": (
        "def f(x, y):\n if x and y:\n  return 1\n return 2",
        "def f(x, y):\n if x:\n  if y:\n   return 1\n return 2",
    ),
    "empty else": (
        "def f(xs):\n for x in xs:\n  g(x)\n else:\n  h()",
        "def f(xs):\n for x in xs:\n  g(x)\n h()",
    ),
}
OTHER = {
    "operator": ("def f(x): return x * 2", "def f(x): return x + 2"),
    "order": ("def f(x, y): return x - y", "def f(x, y): return y - x"),
    "type of a constant": ("def f(x): return x * 1", "def f(x): return x * 1.0"),
    "truth": ("def f(x): return x * 1", "def f(x): return x * True"),
    "sign of zero": ("def f(x): return x * 0.0", "def f(x): return x * -0.0"),
    "constant in a tuple": ("def f(x): return (1, 2)", "def f(x): return (1, 2.0)"),
    "branches": (
        "def f(x):\n if x: return 1\n return 2",
        "def f(x):\n if not x: return 1\n return 2",
    ),
    "side of a branch": ("def f(x, y): return x and y", "def f(x, y): return x or y"),
    "comparison": ("def f(x): return x < 1", "def f(x): return x <= 1"),
    "test": ("def f(x): return 1 if x is None else 2", "def f(x): return 1 if x else 2"),
    "attribute": ("def f(x): return x.a", "def f(x): return x.b"),
    "global": ("def f(x): return g(x)", "def f(x): return h(x)"),
    "keyword": ("def f(x): return g(a=x)", "def f(x): return g(b=x)"),
    "function inside": (
        "def f(x): return lambda y: y * x",
        "def f(x): return lambda y: y + x",
    ),
    "assignment inside": (
        "def f(x): return [y * t for t in x if (y := t) is not None]",
        "def f(x): return [y * t for t in x if (y := t) is None]",
    ),
    "default inside": ("def f(x): return lambda y=x: y", "def f(x): return lambda y=1: y"),
    "what is handled": (
        "def f(x):\n try:\n  g()\n  h()\n except E: pass",
        "def f(x):\n try:\n  g()\n except E: pass\n else:\n  h()",
    ),
    "kind of error": (
        "def f(x):\n try: g()\n except E: pass",
        "def f(x):\n try: g()\n except F: pass",
    ),
    "end": (
        "def f(x):\n try: g()\n finally: h(1)",
        "def f(x):\n try: g()\n except: raise\n h(1)",
    ),
    "parameters": ("def f(x, y): return x", "def f(x, *, y): return x"),
    "names of parameters": ("def f(x, y): return x", "def f(x, z): return x"),
    "generator": ("def f(x): return x", "def f(x):\n return x\n yield"),
    "documentation": ("def f(x):\n 'a'\n return x", "def f(x):\n 'b'\n return x"),
    "loop": (
        "def f(x):\n for i in x:\n  if i: break\n return 1",
        "def f(x):\n for i in x:\n  if i: continue\n return 1",
    ),
    "end of a loop": (
        "def f(x):\n for i in x:\n  if i: break\n else:\n  g()\n return 1",
        "def f(x):\n for i in x:\n  if i: break\n g()\n return 1",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_code_that_is_laid_out_otherwise_is_the_same(name):
    a, b = map(function, SAME[name])
    assert first_difference(a.__code__, b.__code__) is None


@pytest.mark.parametrize("name", OTHER)
def test_code_that_does_something_else_is_not_the_same(name):
    a, b = (function(text).__code__ for text in OTHER[name])
    assert first_difference(a, b) is not None
    assert first_difference(b, a) is not None
    for text, c in zip(OTHER[name], (a, b), strict=True):
        assert first_difference(c, function(ast.unparse(definition(c))).__code__) is None, text


FOLLOWED = {
    "loop in `except` before `finally`": """
    try: y = g(x)
    except E:
        for k in x: y = k
    finally: h(x)
    return y""",
    "`break` in a loop in `try`": """
    try:
        for k in x:
            if k: break
            g(k)
    except E: h(x)""",
    "`continue` in `except` before `finally`": """
    for k in x:
        try: g(k)
        except E:
            if h(k): continue
        finally: h(x)""",
    "`continue` in `finally`": """
    for k in x:
        try: g(k)
        finally:
            if k == 2: continue
            h(k)
    return x""",
    "`return` in `while True`, before `finally`": """
    while True:
        try:
            x = g(x)
            if x > 1: return x
        finally: h(x)""",
    "`raise` in `while True`, before `finally`": """
    try:
        while True:
            try:
                x = g(x)
                if x > 1: raise E(x)
            finally: h(x)
    except E as e: return e""",
    "all ways out of `while True`, before two `finally`": """
    while True:
        try:
            try:
                x = g(x)
                if x > 1: break
                if x > 2: return x
                if x > 3: raise E
            finally: x = h(x)
        finally: x = g(x)
    return x""",
    "`return` in `finally`": """
    try: return g(x)
    finally: return h(x)""",
    "`return` of a constant in `finally`": """
    try: return g(x)
    finally: return 1""",
    "`return` in a branch of `finally`": """
    try:
        if g(x): return x
        x = h(x)
    finally:
        if x: return 2 * x
    return x""",
    "`break` in `finally`": """
    for k in x:
        try: return g(k)
        finally: break
    return x""",
    "`continue` in `finally`, and a `return`": """
    for k in x:
        try:
            if h(k): return g(k)
        finally:
            if k: continue
    return x""",
    "a loop and a `try` in `finally`": """
    try: return g(x)
    finally:
        for y in x:
            if y: break
        else: g(3)
        try: h(x)
        except E: g(1)""",
    "displays of nothing but `*`": """
    return {*()}, [*()], {*(), *x}, [*(1, 2)], {1, 2, 3, *x}""",
    "`return` in a loop in `with`": """
    with x as y:
        for k in y:
            try:
                if k: return k
            finally: g(k)""",
    "`continue` in the `else` of a loop": """
    for a, (b, *c) in x:
        for k in c:
            if k > a: break
        else: continue
        return k
    return x""",
    "`break` and `continue` before `finally`": """
    while True:
        try:
            if g(x): break
            if h(x): continue
            x = k
        finally: g(x)
    del k
    return x""",
    "all parts of `try` in a loop": """
    for k in x:
        try:
            if k == 1: continue
            if k == 3: break
            g(k)
        except E as e: h(k)
        else: y = k
        finally: x = k
    else: y = 1
    return y""",
    "`else` of a `try` around another": """
    while x:
        try:
            try:
                if g(x): raise E
            except E:
                h(x)
                continue
            x = 1
        except F: return x
        else: x = 3
    return x""",
    "targets within targets": """
    (a, b), (c, *d), e = (x, g(x)), h(x), k
    [a, b], c = (b, a), c
    for i, (a, b) in x: (c, d), e = (a, b), i
    return a, b, c, d, e""",
    "dicts among keywords": """
    g(x, a=x, **k, b=x, **{"c": x}, d=h(x))
    return g(a=x, **{"b": x}), g(*x, k, a=x, **{"b": x}), g(**k, b=x)""",
    "a module of a package": """
    import os.path
    return os.path.join(x)""",
    "a chain that decides nothing": """
    for k in x:
        if 1 < g(k) < 2: continue""",
    "condition of the last pattern": """
    try:
        match x:
            case [a, b] if a: w = a
            case _: w = x
    except E: pass
    return x""",
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_code_that_leaves_what_protects_it_is_followed(name):
    code = function("def f(x):" + FOLLOWED[name]).__code__
    found = function(ast.unparse(definition(code))).__code__
    assert first_difference(code, found) is None


COMPREHENSIONS = {
    "`or` in an assignment": "w = 0\n    w = w or [x * i for i in range(3)]\n    return w[2] * x",
    "`and` that is returned": "return x and [z * x for z in [x, 2]][0]",
    "`and` in an assignment": "y = x > 0 and sum([z * x for z in [x, 2]])\n    return y",
    "`or` after a constant": "return (x > 5 or [z * x for z in [x]])[0]",
    "second value of a ternary": "return sum([x] if x > 5 else [x * i for i in range(3)]) * x",
    "first value of a ternary": "return ({k: x for k in 'ab'} if x > 0 else {})['a'] * x",
    "both values": "return sum([z for z in [x, 2]] if x > 5 else [z * z for z in [x, 3]])",
    "within another": "return sum([[a * b for b in [x]][0] if a > 1 else x for a in [x, 0.5]])",
    "condition of another": "return sum([a for a in [x, 3] if a < 2 or all([b > a for b in [4]])])",
    "test of `while`": "while x < 9 and any([z > 0 for z in [x]]): x = x * 2\n    return x * x",
}


@pytest.mark.parametrize("name", COMPREHENSIONS)
def test_comprehensions_in_choices_and_in_others_are_followed(name):
    f = function("def f(x):\n    " + COMPREHENSIONS[name])
    found = function(ast.unparse(definition(f.__code__))).__code__
    assert first_difference(f.__code__, found) is None
    assert_slopes(gradient(f, 1.3), f, (1.3,), 2e-7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("async def f(x): await x", "`async`"),
        ("def f(x):\n    async def g(): await x\n    return x", "`async`"),
        ("def f(x):\n try: g()\n except* E: pass", r"^`except\*` in line 3$"),
        ("def f(x):\n class Z(*x): pass", r"^the use of Z in line 2$"),
    ],
)
def test_what_is_not_followed_is_named(text, message):
    with pytest.raises(NotFollowedError, match=message):
        definition(function(text).__code__)


def test_an_instruction_that_is_not_known_is_named(monkeypatch):
    """`BINARY_OP` stands in for one that a later Python has."""
    f = function("def f(x):\n    y = x + x\n    return x * y")
    monkeypatch.delattr(expressions.StackExpressions, "op_binary_op")
    with pytest.raises(NotFollowedError, match=r"^the instruction BINARY_OP in line 2$"):
        definition(f.__code__)
    with pytest.raises(NoSourceError, match=r"<string>:1.*the instruction BINARY_OP in line 2"):
        gradient(f, 1.5)


def test_control_flow_that_is_read_again_and_again_is_refused(monkeypatch):
    monkeypatch.setattr(values, "_MOST_INSTRUCTIONS", 20)
    with pytest.raises(NotFollowedError, match=r"^control flow that has no end in line \d+$"):
        definition(function("def f(x):" + FOLLOWED["all parts of `try` in a loop"]).__code__)


PATTERNS = [
    "case 1: y=1\n  case 2: y=2\n  case _: y=3",
    "case 'a': return 1\n  case 'b': return 2",
    "case (1, a): y=a\n  case [b, *c] if b == 3: y=b\n  case _: y=0",
    "case {'k': q}: y=q",
    "case {'a': {'b': c}, 'd': [e, *f]}: y=c+e\n  case {'k': _, **r}: y=r",
    "case P(z, b=w): y=z+w\n  case P(): y=2",
    "case [P(a=1), P(b=q)]: y=q",
    "case None: y=1\n  case True: y=2\n  case False: y=3",
    "case int() as n: y=n\n  case float(): y=0\n  case str(): y=1",
    "case (int() | float()) as n: y=n\n  case _: y=2",
    "case 3 | None: y=1\n  case 4: y=2",
    "case 4: y=2\n  case 3 | None: y=1",
    "case [1 | 2, a]: y=a\n  case x: y=x",
    "case [[a, b], c]: y=a+b+c\n  case [_, _]: y=2\n  case [*_]: y=3\n  case {}: y=4",
    "case [a, *_, 3]: y=a\n  case [*_, b]: y=b\n  case [a, *b, c]: y=a",
    "case P.c: y=1\n  case -1: y=2\n  case 1+2j: y=3",
    "case x if x == 4: y=x\n  case x: y=x, x",
]


class P:
    __match_args__ = ("a", "b")
    c = 2.5

    def __init__(self, a, b):
        self.a, self.b = a, b


SUBJECTS = [
    1, 2, 3, 4, -1, 1 + 2j, 2.5, "a", "b", None, True, False, [], [2], [1, 5], [3, 5, 3],
    [[1, 2], 3], [2, [4]], {}, {"k": 2, "m": 3}, {"a": {"b": 1}, "d": [2, 3]},
    P(1, 2), [P(1, 0), P(0, 7)],
]  # fmt: skip


@pytest.mark.parametrize("text", PATTERNS)
def test_patterns_match_what_they_match_in_the_text(text):
    f = function(f"def f(v):\n y=0\n match v:\n  {text}\n return y")
    g = function(ast.unparse(definition(f.__code__)))
    f.__globals__["P"] = g.__globals__["P"] = P
    for x in SUBJECTS:
        assert g(x) == f(x)


TEXT = """
from zygote_lite import gradient
def f(x, n=2):
    y = x
    for i in range(n):
        if i % 2:
            y = y * x
        else:
            y = y + (lambda z: z * i)(x)
    return y
print([gradient(f, 3.0)[0] for _ in range(4)])

"""


def test_programs_that_are_piped_and_typed_in():
    for options in (["-"], ["-i", "-q"]):
        done = subprocess.run(
            [sys.executable, *options], input=TEXT.replace("print(", "\nprint("), text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        assert done.stdout == "[6.0, 6.0, 6.0, 6.0]\n", done.stderr


def test_text_that_is_run_in_the_program():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(TEXT, {})
        timeit.timeit(TEXT, number=1)
        typed = code.InteractiveInterpreter()
        for part in (
            TEXT[1:].partition("def")[0],
            TEXT.partition("gradient\n")[2].split("print")[0],
        ):
            typed.runsource(part, symbol="exec")
        typed.runsource("print([gradient(f, 3.0)[0] for _ in range(4)])")
    assert out.getvalue() == "[6.0, 6.0, 6.0, 6.0]\n" * 3
    assert gradient(eval("lambda x: x * 2.0 if x > 1.0 else x"), 3.0) == (2.0,)


def test_code_that_is_not_recognized_is_told_without_what_went_wrong_inside(monkeypatch):
    monkeypatch.setattr("zygote_lite._ir.decompile.functions.Graph", lambda code: [][0])
    with pytest.raises(NotFollowedError, match=r"^its statements are not recognized$"):
        definition(test_code_that_is_not_recognized_is_told_without_what_went_wrong_inside.__code__)
