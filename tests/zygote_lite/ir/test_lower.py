"""The lowered code means the same as the source: it is run here in its place."""

# the code that is differentiated may be odd on purpose
# ruff: noqa: F541, F821, F842

import ast
import math
import operator

import numpy as np
import pytest

from zygote_lite import code_lowered
from zygote_lite._ir.intrinsics import INTRINSICS


def run(f, *xs, **kws):
    """Run the lowered text of `f`."""
    text = code_lowered(f)
    (definition,) = ast.parse(text).body
    definition.name = "lowered"
    scope = dict(f.__globals__) | INTRINSICS | {"operator": operator}
    exec(compile(ast.Module([definition], []), "<lowered>", "exec"), scope)
    lowered = scope["lowered"]
    lowered.__defaults__, lowered.__kwdefaults__ = f.__defaults__, f.__kwdefaults__
    cells = [cell.cell_contents for cell in f.__closure__ or ()]
    return lowered(*cells, *xs, **kws)


class Trace:
    """Note what is done to it, and in which order."""

    log = []

    def __init__(self, name):
        self.name = name

    def _note(self, what):
        Trace.log.append(f"{self.name}.{what}")
        return Trace(f"({self.name}.{what})")

    def __add__(self, other):
        return self._note(f"+{other.name}")

    def __mul__(self, other):
        return self._note(f"*{other.name}")

    def __call__(self, *xs, **kws):
        named = [f"{k}={v.name}" for k, v in kws.items()]
        return self._note(f"call({', '.join([x.name for x in xs] + named)})")

    def __getitem__(self, index):
        return self._note(f"[{getattr(index, 'name', index)}]")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._note(f"get {name}")

    def __eq__(self, other):
        return self._note(f"=={other.name}")

    __hash__ = None


def order_of(f, lowered):
    Trace.log = []
    xs = [Trace(name) for name in "abc"]
    (run(f, *xs) if lowered else f(*xs))
    return Trace.log


EVALUATION = {
    "arithmetic": lambda a, b, c: a + b * c + a * (b + c),
    "calls": lambda a, b, c: a(b(c), c + a, k=b * c, j=a),
    "subscripts": lambda a, b, c: a[b + c][c(a)],
    "attributes": lambda a, b, c: a.x.y(b.z, c[0].w),
    "method_looked_up_before_arguments": lambda a, b, c: a.x(b.y(c)),
    "dict": lambda a, b, c: {1: a + b, 2: b + c, 3: c(a)},
    "list": lambda a, b, c: [a + b, (b + c, c(a)), {4: a}],
    "spread": lambda a, b, c: a(b + c, *(c(b), a), **{"k": b(c)}),
    "slice": lambda a, b, c: [1, 2, 3][len([a + b]) : len([b + c]) + 2],
    "keyword_after_star": lambda a, b, c: a(*[b + c], k=c(a)),
    "compare": lambda a, b, c: a(b) == c(a),
    "format": lambda a, b, c: f"{a.x} {b(c).name}",
}


@pytest.mark.parametrize("name", EVALUATION)
def test_the_order_of_evaluation_is_pythons(name):
    f = EVALUATION[name]
    assert order_of(f, True) == order_of(f, False)
    assert order_of(f, True)


def annotated(x, y: float = 2.0, *args: int, z: str = "z", **kws: float) -> float:
    w: float = x
    unset: int
    w += y
    (a, *b), c = (w, y, x), z
    a = d = a * 2
    return a, b, c, d, args, kws


def negative(x):
    return -1 - -x, -1.5, +2, ~3, not x, -(2**2), (-2) ** 2, -True


def big(x):
    return 10**20, 1e300, 1j, "ä\n'\"\\", b"\x00", ..., None, True, x


def slices(x):
    return x[1:], x[:-1], x[::2], x[1:3:2], x[:], x[-1]


def displays(x):
    return [], (), {}, {1}, [1, *x], (*x, 2), {*x, 5}, {"a": 1, **{"b": 2}}, [x][0]


def texts(x):
    return f"{x}", f"{x!r:>12}", f"{x[0]:{4 + 1}d}", f"{{}}", f"{x=}", "ab", f"{x!s}{x!a}"


def augmented(x):
    y = [*x]
    y += [4]
    y *= 2
    n = 7
    n //= 2
    n %= 2
    n **= 2
    n |= 4
    n &= 6
    n ^= 1
    n <<= 2
    n >>= 1
    n -= 1
    n /= 2
    y[0] += 10
    y[-1], y[1] = y[1], y[-1]
    return y, n


def evaluated_once(x):
    log = []

    def index():
        log.append(1)
        return 0

    y = [1, 2]
    y[index()] += 5
    y[index()] = y[index()] + 1
    return y, log


def walrus(x):
    return (n := len(x)) + n, (m := n * 2, m + (m := 3) + m)


def docstring_only(x):
    """Nothing."""


def returns_nothing(x):
    x.copy()


def keyword_only(x, *, n=2, m):
    return x * n, m


def positional_only(x, y=3, /, z=4):
    return x, y, z


def t1_is_taken(t1, t2=2):
    t3 = t1 * t2 + t1 * t2
    return t3, t1 + (t2 + (t3 + 1))


def shadows_builtins(x):
    len = x[0]
    list = len + 1
    return len, list


def uses_modules(x):
    import math as m
    from math import cos
    from math import sin as sine

    return m.exp(0.5), cos(0.5), sine(0.5), math.pi, np.linalg.norm([3.0, 4.0])


def chained(x):
    y = z = [0]
    y.append(1)
    return z


def nested_functions(x):
    def add(y, k=2, *, j=3):
        return y + k * j + x[0]

    f = lambda v, w=5: add(v) + w
    return add(1), add(1, k=3), f(2), f(2, w=1)


def type_hints_inside(x):
    y: unknown = 1
    return y


SAME = {
    "annotated": (annotated, (1.0, 2.0, 3, 4), {"k": 5.0}),
    "annotated_defaults": (annotated, (1.0,), {}),
    "negative": (negative, (3,), {}),
    "big": (big, (3,), {}),
    "slices": (slices, ([1, 2, 3, 4],), {}),
    "displays": (displays, ([1, 2],), {}),
    "texts": (texts, ([1, 2],), {}),
    "augmented": (augmented, ([1, 2, 3],), {}),
    "evaluated_once": (evaluated_once, (0,), {}),
    "walrus": (walrus, ([1, 2],), {}),
    "docstring_only": (docstring_only, (1,), {}),
    "returns_nothing": (returns_nothing, ([1],), {}),
    "keyword_only": (keyword_only, (3,), {"m": 4}),
    "positional_only": (positional_only, (3,), {"z": 5}),
    "t1_is_taken": (t1_is_taken, (3,), {}),
    "shadows_builtins": (shadows_builtins, ([3],), {}),
    "uses_modules": (uses_modules, (3,), {}),
    "chained": (chained, (3,), {}),
    "nested_functions": (nested_functions, ([3],), {}),
    "type_hints_inside": (type_hints_inside, ([3],), {}),
}


@pytest.mark.parametrize("name", SAME)
def test_the_lowered_function_does_the_same(name):
    f, xs, kws = SAME[name]
    assert run(f, *xs, **kws) == f(*xs, **kws)


def one_operation_each(x, y):
    return math.sin(x * y[0]) + (x - 1.0) ** 2


def test_one_operation_a_statement():
    (definition,) = ast.parse(code_lowered(one_operation_each)).body
    for statement in definition.body:
        operations = [
            node
            for node in ast.walk(statement)
            if isinstance(node, ast.Call | ast.BinOp | ast.Subscript | ast.Compare | ast.UnaryOp)
        ]
        assert len(operations) <= 1, ast.unparse(statement)


def test_operators_are_calls_of_operator():
    text = code_lowered(one_operation_each)
    for name in ("operator.mul", "operator.add", "operator.sub", "operator.pow"):
        assert name in text


def test_arguments_that_are_renamed_by_walrus_are_kept():
    f = lambda x: x * (x := x + 1.0) * x
    assert run(f, 3.0) == f(3.0) == 48.0


def test_private_names_are_mangled():
    class Model:
        def __init__(self):
            self.__w = 2.0

        def value(self, __x):
            __y = self.__w * __x
            return __y

    assert "_Model__w" in code_lowered(Model.value)
    assert run(Model.value, Model(), 3.0) == 6.0
