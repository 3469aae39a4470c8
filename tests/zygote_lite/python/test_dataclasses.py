"""Dataclasses: what `dataclasses` wrote has no source, and what the user wrote may have none."""

import types

import pytest

from zygote_lite import testing, value_and_grad

CLASSES = """
from dataclasses import dataclass

@dataclass
class Squared:
    a: float
    def __init__(self, a):
        self.a = a * a

class Both(Squared):
    def __init__(self, a):
        super().__init__(a)
        self.b = a

@dataclass
class Doubled:
    a: float
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)

@dataclass
class Compared:
    a: float
    def __eq__(self, other):
        self.a = self.a * 3
        return True

@dataclass
class Plain:
    a: float

class After(Plain):
    def __post_init__(self):
        self.a = self.a * 5

@dataclass
class Between(Plain):
    b: float = 2.0
    def __post_init__(self):
        self.a = self.a * self.b

class Last(Between):
    def __post_init__(self):
        super().__post_init__()
        self.b = self.a * 3
"""

PROGRAMS = {
    "own __init__": "return Squared(x).a",
    "own __init__ of a class below": "y = Both(x)\n    return y.a * y.b",
    "own __setattr__": "y = Doubled(x)\n    setattr(y, 'a', y.a * x)\n    return y.a",
    "own __eq__": "y = Compared(x)\n    return y.a if y == y and x < 0 else y.a",
    "no __post_init__ where it was declared": "return After(x).a",
    "__post_init__ of a class below": "y = Last(x)\n    return y.a * y.b",
}


@pytest.mark.parametrize("file", ["<string>", "<stdin>", "<ipython-input-1>", "a file"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_the_user_wrote_runs(name, file, tmp_path):
    text = f"{CLASSES}\ndef f(x):\n    {PROGRAMS[name]}\n"
    path = tmp_path / "classes.py"
    path.write_text(text)
    module = types.ModuleType("classes")
    exec(compile(text, str(path) if file == "a file" else file, "exec"), module.__dict__)
    f, step = module.f, 1e-6
    want = (f(1.3 + step) - f(1.3 - step)) / (2 * step)
    for _ in range(3):
        y, d = value_and_grad(f)(1.3)
        assert y == f(1.3)
        assert d == pytest.approx(want)
    with testing.compared():
        assert value_and_grad(f)(1.3)[1] == pytest.approx(want)
