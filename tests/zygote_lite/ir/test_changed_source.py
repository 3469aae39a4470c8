"""What is differentiated is the code that runs, whatever became of its text."""

import ast
import importlib
import linecache
import os
import subprocess
import sys
import textwrap

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

from zygote_lite import gradient, value_and_grad
from zygote_lite._ir.source import definition_of
from zygote_lite.errors import NoSourceError


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return what writes the text of a module and imports or reloads it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "edited_module.py"
    written = iter(range(1, 100))

    def write(text):
        path.write_text(textwrap.dedent(text))
        stamp = 1_700_000_000 + 10 * next(written)  # a clock is coarser than a test
        os.utime(path, (stamp, stamp))
        importlib.invalidate_caches()

    def load(text):
        write(text)
        if "edited_module" in sys.modules:
            return importlib.reload(sys.modules["edited_module"])
        return importlib.import_module("edited_module")

    load.write = write
    load.path = path
    yield load
    sys.modules.pop("edited_module", None)


# Each pair has the same length of lines, and differs in what the function computes.
EDITS = {
    "constant": ("x * 2.0", "x * 3.0", (2.0, 3.0)),
    "operator": ("x * 2.0", "x + 2.0", (2.0, 1.0)),
    "order": ("x - 2.0", "2.0 - x", (1.0, -1.0)),
    "sign": ("x * 2.0", "x * -2.0", (2.0, -2.0)),
    "fewer": ("x * 2.0 * 2.0", "x * 2.0", (4.0, 2.0)),
    "branch": ("x if x > 0 else -x", "x if x < 0 else -x", (1.0, -1.0)),
    "lambda": ("(lambda y: y * 2.0 - x)(x)", "(lambda y: x - y * 2.0)(x)", (1.0, -1.0)),
    "comprehension": ("sum([y - 1 for y in [x]])", "sum([1 - y for y in [x]])", (1.0, -1.0)),
    "generator": ("sum(y - 1 for y in [x])", "sum(1 - y for y in [x])", (1.0, -1.0)),
    "keyword": ("dict(a=x, b=-x)['a']", "dict(a=-x, b=x)['a']", (1.0, -1.0)),
    "module": ("math.sin(x) + 0 * math.cos(x)", "math.cos(x) + 0 * math.sin(x)",
               (pytest.approx(-0.4161468365), pytest.approx(-0.9092974268))),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("form", ["def", "lambda", "method"])
def test_a_reloaded_module_has_the_gradient_of_its_new_text(edit, form, module):
    before, after, slopes = EDITS[edit]
    text = {
        "def": "import math\ndef f(x):\n    return {}\n",
        "lambda": "import math\nf, g = (lambda x: {}), (lambda x: x * 7.0)\n",
        "method": "import math\nclass C:\n    def f(self, x):\n        return {}\nf = C().f\n",
    }[form]
    old = module(text.format(before)).f
    for _ in range(4):
        assert gradient(old, 2.0) == (slopes[0],)
    new = module(text.format(after)).f
    for _ in range(4):
        assert value_and_grad(new)(2.0) == (new(2.0), slopes[1])
        assert gradient(old, 2.0) == (slopes[0],)  # its text is known, though it is gone


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_that_was_edited_and_not_reloaded(edit, module):
    before, after, slopes = EDITS[edit]
    f = module(f"import math\ndef f(x):\n    return {before}\n").f
    module.write(f"import math\ndef f(x):\n    return {after}\n")
    for _ in range(4):
        assert value_and_grad(f)(2.0) == (f(2.0), slopes[0])


def test_an_edited_file_whose_old_code_is_not_followed_is_refused(module):
    text = "def f(x):\n    try:\n        return {}\n    except* ValueError:\n        pass\n"
    f = module(text.format("x * 2.0")).f
    module.write(text.format("x * 3.0"))
    with pytest.raises(NoSourceError, match=r"edited_module\.py:1 .*`except\*` in line 4; reload"):
        gradient(f, 2.0)
    module.write(text.format("x * 2.0"))
    assert gradient(f, 2.0) == (2.0,)


def test_a_file_that_was_edited_elsewhere_is_still_the_source(module):
    f = module("def f(x):\n    return x * 2.0\n\ndef g(x):\n    return x\n").f
    module.write("def f(x):  # twice\n    return x * 2.0\n\ndef g(x):\n    return -x\n")
    assert gradient(f, 2.0) == (2.0,)


def test_a_file_that_is_gone_is_still_known_to_python(module):
    loaded = module("def f(x):\n    return x * 2.0\n")
    linecache.getlines(str(module.path))
    module.path.unlink()
    assert gradient(loaded.f, 2.0) == (2.0,)


def test_code_that_is_replaced_in_place_is_read_anew(module):
    """`%autoreload` gives functions that are in use the code of the new text."""
    f = module("def f(x):\n    return x * 2.0\n").f
    first = [gradient(f, 2.0) for _ in range(4)]
    f.__code__ = module("def f(x):\n    return 2.0 - x\n").f.__code__
    assert [gradient(f, 2.0) for _ in range(4)] == [(-1.0,)] * 4
    assert first == [(2.0,)] * 4


def test_a_helper_that_was_reloaded_is_read_anew(module):
    loaded = module("def h(x):\n    return x * 2.0\n")
    assert [gradient(lambda x: loaded.h(x) * x, 3.0) for _ in range(4)] == [(12.0,)] * 4
    module("def h(x):\n    return x - 2.0\n")
    assert [gradient(lambda x: loaded.h(x) * x, 3.0) for _ in range(4)] == [(4.0,)] * 4


def test_a_generator_expression_of_the_old_text_stays_the_old_one(module):
    text = "import math\ndef f(x, n=0):\n    return math.prod({} for y in [x, x]) if n else x\n"
    old = module(text.format("y + 1")).f
    assert gradient(lambda x: old(x, 0), 2.0) == (1.0,)
    new = module(text.format("y - 1")).f
    assert gradient(lambda x: new(x, 1), 2.0) == (2.0,)
    assert gradient(lambda x: old(x, 1), 2.0) == (6.0,)


# What the compiler makes of a text depends on where it stands in it.
CONTEXTS = {
    "future": "from __future__ import annotations\n"
    "def f(x: Nowhere) -> Nowhere:\n    def g(y: Nothing): return y * y\n    return g(x)\n",
    "private": "class A:\n    __w = 1.0\n    def f(self, x, __y=2.0):\n"
    "        __z = x * __y\n        return (lambda: __z * self.__w)() * x / 2.0\nf = A().f\n",
    "private function": "class A:\n    def f(self, x):\n"
    "        def __g(y): return y * x\n        return __g(x)\nf = A().f\n",
    "private keyword": "class A:\n    __y = 1.0\n    def f(self, x):\n"
    "        def g(**k): return k['__y'] * x\n        return g(__y=x) * self.__y\nf = A().f\n",
    "private in a class inside": "class A:\n    def f(self, x):\n        self.__y = x\n"
    "        class B:\n            def __init__(self): self.__y = x\n"
    "            def get(self): return self.__y\n        return B().get() * self.__y\nf = A().f\n",
    "closure": "def make(a):\n    def f(x):\n        def g(): return x * a\n"
    "        return g() * x\n    return f\nf = make(1.0)\n",
    "nonlocal": "def make():\n    n = 0\n    def f(x):\n        nonlocal n\n        n += 1\n"
    "        return x * x\n    return f\nf = make()\n",
    "super": "class A:\n    def f(self, x): return x\nclass B(A):\n    def f(self, x):\n"
    "        return super().f(x) * x * (__class__ is B)\nf = B().f\n",
    "decorated": "import functools\ndef twice(g):\n    @functools.wraps(g)\n"
    "    def f(x):\n        return g(x) / 2.0\n    return f\n@twice\n"
    "@(lambda h: h)\ndef f(x):\n    'A docstring.'\n    return 2.0 * x * x\n",
    "comprehensions": "def f(x):\n    return sum([y * z for y in [x] for z in [x] if y == z]) "
    "+ sum(w - w for w in [x]) + len({k: 1 for k in 'ab'}) + (lambda: [x for _ in 'a'])()[0] - x\n",
    "defaults": "def f(x, g=lambda x: x * x, *, h=lambda x: x + x): return g(x) + 0.0 * h(x)\n",
    "unindented": "class A:\n    text = '''\nhello\n'''\n    def f(self, x):\n"
    "        return x * x\nf = A().f\n",
    "finally": "def f(x):\n    try:\n        y = x\n    finally:\n        g = lambda z: z * x\n"
    "    return g(y)\n",
    "match": "def f(x):\n    match [x, 2]:\n        case [y, int(_)]:\n            return y * y\n",
    "annotated": "def f(x):\n    y: float = x\n    z: int\n    return y * x\n",
    "local class": "def f(x):\n    class A:\n        def __init__(self, y): self.__y = y\n"
    "        def get(self):\n            'Get.'\n            return self.__y * x\n"
    "    return A(x).get()\n",
    "decorated inside": "def f(x):\n    def keep(g): return g\n    @keep\n    @keep\n"
    "    def g(y):\n        return y * x\n    return g(x)\n",
}  # fmt: skip
if sys.version_info >= (3, 12):
    CONTEXTS["type parameters"] = "def f[T](x: T) -> T:\n    def g[S](y: S): return y * y\n" \
        "    return g(x)\n"  # fmt: skip
    CONTEXTS["generic class"] = (
        "class A[T]:\n    def f[S](self, x: T):\n        return x * x\nf = A().f\n"
    )


@pytest.mark.parametrize("name", CONTEXTS)
def test_what_was_compiled_is_recognized(name, module):
    f = module(CONTEXTS[name]).f
    for _ in range(4):
        assert gradient(f, 3.0) == (6.0,)


def test_code_that_is_traced_is_recognized(module):
    f = module("def f(x):\n    y = x\n    for _ in range(3):\n        y = y * x\n    return y\n").f
    old = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        assert f(1.0) == 1.0
        assert gradient(f, 1.0) == (4.0,)
    finally:
        sys.settrace(old)


def asserting(x):
    assert x > 0.0, f"{x} must be positive"

    def inner(y):
        assert y is not None
        return y * x

    assert inner(x) == x * x and isinstance(x, float)  # noqa: PT018 - rewritten too
    return inner(x)


def test_assertions_that_pytest_rewrote_are_recognized():
    assert any("py_" in name for name in asserting.__code__.co_varnames)  # or this tests nothing
    assert [gradient(asserting, 3.0) for _ in range(4)] == [(6.0,)] * 4
    with pytest.raises(AssertionError, match="must be positive"):
        gradient(asserting, -3.0)


def test_another_assertion_than_the_one_that_pytest_rewrote_is_refused(module, tmp_path):
    text = "def f(x):\n    assert x {} 0.0\n    return x * x\n"
    module.write(text.format(">"))
    tree = ast.parse(text.format(">"))
    rewrite_asserts(tree, b"", str(module.path))
    scope = {}
    exec(compile(tree, str(module.path), "exec"), scope)
    module.write(text.format("<"))
    with pytest.raises(NoSourceError, match=r"not.*compiled"):
        definition_of(scope["f"].__code__)
    module.write(text.format(">"))
    assert gradient(scope["f"], 3.0) == (6.0,)


OPTIMIZED = '''
"""A program."""
from zygote_lite import gradient


class A:
    """A class."""

    def f(self, x):
        """Square."""
        assert x < 0.0, "left out"

        def g(y):
            "Hand on."
            assert y is None
            return y

        if __debug__:
            return x
        return g(x) * x


print([gradient(A().f, 3.0) for _ in range(4)] == [(6.0,)] * 4)
'''


@pytest.mark.parametrize("option", ["-O", "-OO"])
def test_python_without_assertions(option, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(OPTIMIZED)
    done = subprocess.run(
        [sys.executable, option, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "True\n", done.stderr


def test_no_columns(tmp_path):
    """Lambdas on one line are told apart by their code where Python keeps no columns."""
    path = tmp_path / "program.py"
    path.write_text(
        "from zygote_lite import gradient\n"
        "fs = [lambda x: x * 2.0, lambda x: 2.0 - x, lambda x: (lambda y: y * 3.0)(x)]\n"
        "print([gradient(f, 3.0) for f in fs] == [(2.0,), (-1.0,), (3.0,)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "True\n", done.stderr


def test_a_cell_that_was_run_again():
    name = "<cell-18>"

    def run(text):
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        scope = {}
        exec(compile(text.partition("await")[0], name, "exec"), scope)
        return scope["f"]

    old = run("def f(x):\n    return x - 2.0\n")
    new = run("f = lambda x: 2.0 - x\nawait anything()\n")
    assert gradient(new, 1.0) == (-1.0,)
    assert [gradient(old, 1.0) for _ in range(4)] == [(1.0,)] * 4
    del linecache.cache[name]
