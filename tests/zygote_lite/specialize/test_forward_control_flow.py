"""`jvp` of functions of one argument: every construct of control flow inside of every other.

The functions are written here by text. Each is compared with differences, and with the gradient,
on the tape and as it comes (by transformed code, where there is some). Branches go either way.
"""

import contextlib
import importlib.util
import itertools
import math
import textwrap

import numpy as np
import pytest

from zygote_lite import gradient, jvp, testing

OUTER = {
    "nothing": "{body}",
    "if": "if x > 0.5:\n{indented}\nelse:\n    y = y - x",
    "elif": "if x > 2.0:\n    y = x\nelif x > 0.5:\n{indented}\nelse:\n    y = y * y",
    "if in if": "if x > 0.0:\n    if y < 9.0:\n{indented2}\n    else:\n        y = 2.0 * y",
    "for": "for i in range(3):\n{indented}\n    y = y + i * x",
    "for with break": (
        "for i in range(5):\n    if y * y > 4.0:\n        break\n{indented}\n    y = y + 1.0"
    ),
    "for with continue": "for i in range(4):\n    if i % 2:\n        continue\n{indented}",
    "for with else": "for i in (1.0, 2.0):\n    y = y + i * x\nelse:\n{indented}",
    "while": "k = 0\nwhile k < 3:\n    k += 1\n{indented}",
    "while true": (
        "k = 0\nwhile True:\n    k += 1\n{indented}\n    if k > 2 or y > 50.0:\n        break"
    ),
    "try": (
        "try:\n{indented}\n    y = y * (1 // (x > 0.5))\nexcept ZeroDivisionError:\n    y = 3 * y"
    ),
    "finally": "try:\n    y = y + x\nfinally:\n{indented}",
    "function": "def inner(y):\n{indented}\n    return y\ny = inner(y) + inner(x)",
}  # fmt: skip
INNER = {
    "product": "y = y * x",
    "sine": "y = math.sin(y) + x",
    "swap": "y, z = x, y\ny = y * z",
    "ternary": "y = x * y if y < 3.0 else y - x",
    "branch": "if y > 1.0:\n    y = y * 0.5\nelse:\n    y = y + x * x",
    "loop": "for j in range(2):\n    y = y * 0.9 + j * x",
    "nested loops": "for j in range(2):\n    for m in range(j + 1):\n        y = y + x / (m + 1.0)",
    "loop of a condition": "n = 0\nwhile y < 2.0 and n < 4:\n    y = y + abs(x)\n    n += 1",
    "leaving a loop": "for j in range(9):\n    y = y + x * x\n    if y > 1.5:\n        break",
    "comprehension": "y = y + sum([x * j for j in range(3)])",
    "list": "held = [y, x]\nheld.append(held[0] * held[1])\ny = held[-1] + held.pop(0)",
    "array": "a = np.zeros(3)\na[0] = x\na[1:] = y\na *= x\ny = np.sum(a * a) / 4",
}
POINTS = (0.3, 0.8)
TIERS = testing.recorded_only, contextlib.nullcontext


def text_of(name, outer, body):
    indented = textwrap.indent(body, "    ")
    twice = textwrap.indent(indented, "    ")
    lines = outer.format(body=body, indented=indented, indented2=twice)
    return f"def {name}(x):\n    y = 1.0 * x\n{textwrap.indent(lines, '    ')}\n    return y\n"


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """Give all functions, by both names: those of one file."""
    texts, names = ["import math\nimport numpy as np\n"], {}
    for i, (outer, around) in enumerate(OUTER.items()):
        for j, (inner, body) in enumerate(INNER.items()):
            names[outer, inner] = f"f_{i}_{j}"
            texts.append(text_of(f"f_{i}_{j}", around, body))
    path = tmp_path_factory.mktemp("written") / "control_flow_of_one_argument.py"
    path.write_text("\n\n".join(texts), encoding="utf8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {key: getattr(module, name) for key, name in names.items()}


def slope_of(f, x):
    """Return the derivative by differences of two widths, extrapolated."""
    wide, narrow = [(f(x + h) - f(x - h)) / (2 * h) for h in (2e-4, 1e-4)]
    return (4 * narrow - wide) / 3


def test_there_are_as_many_as_are_promised():
    assert len(OUTER) * len(INNER) >= 150


@pytest.mark.sampled(2)
@pytest.mark.parametrize("outer", OUTER)
def test_both_modes_give_the_slope(functions, outer):
    for inner in INNER:
        f = functions[outer, inner]
        for x, tier in itertools.product(POINTS, TIERS):
            with tier():
                y, dy = jvp(f, (x,), (2.0,))
            expected = slope_of(f, x)
            assert y == f(x), (inner, x)
            assert math.isclose(dy, 2 * expected, rel_tol=1e-6, abs_tol=1e-7), (inner, x)
        (d,) = gradient(f, x)
        assert math.isclose(2 * d, np.real(dy), rel_tol=1e-12), inner


def test_the_tangent_of_a_python_number_is_one_where_an_item_of_an_array_moves():
    def f(x, v, n):
        c = math.exp(v[0] * x)
        for _ in range(n):
            if c > 0.5:
                c = c * 0.5
        return c

    v = np.array([0.2, 1.0])
    with testing.compared():
        y, dy = jvp(f, (0.9, v, 3), (1.0, v, None))
    assert type(y) is type(dy) is float
    np.testing.assert_allclose(dy, y * (0.2 + 0.2 * 0.9))
