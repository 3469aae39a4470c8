"""Code that stands in no file: a program on the command line, at the prompt, made by `exec`."""

import subprocess
import sys

import numpy as np
import pytest

from zygote_lite import DifferentiationError, gradient, jit, testing

COMMAND = """
from zygote_lite import gradient
def f(x):
    return x * x
print(gradient(f, 3.0), [gradient(g, 2.0) for g in (lambda x: x * 3.0, lambda x: 4.0 * x)])
"""


@pytest.mark.parametrize(
    "options", [["-c"], ["-W", "ignore", "-Xno_debug_ranges", "-Oc"], ["-Wignore", "-Bc"]]
)
def test_a_program_on_the_command_line(options):
    done = subprocess.run(
        [sys.executable, *options, COMMAND], capture_output=True, text=True, check=False
    )
    assert done.stdout == "(6.0,) [(3.0,), (4.0,)]\n", done.stderr


def test_timeit_on_the_command_line():
    """A wrong gradient would end the program with an error."""
    setup = "from zygote_lite import gradient\ndef f(x): return x * x"
    timed = "assert gradient(f, 3.0) == (6.0,) == gradient(lambda x: 2 * f(x), 1.5)"
    done = subprocess.run(
        [sys.executable, "-m", "timeit", "-n3", "-r1", "-s", setup, timed],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


NAMELESS = """
import dataclasses

class Scale:
    def __init__(self, by):
        self.by = by

    def __get__(self, instance, owner):
        return self.by * instance.a

def of_default(x):
    @dataclasses.dataclass
    class State:
        a: float
        b: float = dataclasses.field(default=x)
    return State(1.0).b * 2.0

def of_descriptor(x):
    class Held:
        scaled = Scale(x)

        def __init__(self, a):
            self.a = a
    return Held(2.0).scaled

def doubled(a):
    a *= 2.0
    return a[0]

def of_call(x):
    return doubled(x * x)

class Base:
    def __init_subclass__(cls):
        cls.kind = 2.0

def of_hook(x):
    class Held(Base):
        scaled = x
    return Held.scaled

def of_effect(x):
    class Held:
        def __str__(self):
            Scale.by = x
            return ""
    return x * len(str(Held()))
"""


@pytest.mark.parametrize("name", ["of_default", "of_descriptor"])
def test_classes_of_a_module_without_a_name(name):
    """Their `__module__` is that of the builtins."""
    space = {}
    exec(NAMELESS, space)
    with testing.recorded_only():
        assert gradient(space[name], 1.5) == (2.0,)
    for _ in range(3):
        assert gradient(space[name], 1.5) == (2.0,)


def test_calls_in_a_module_without_a_name():
    """The `__module__` of its functions is `None`; the hook of a class is refused by name."""
    space = {"jit": jit}
    exec(NAMELESS, space)
    with testing.transformed_only():
        assert gradient(space["of_call"], np.array([1.5, 2.5]))[0].tolist() == [6.0, 0.0]
    with pytest.raises(DifferentiationError, match=r"Base.__init_subclass__ runs while"):
        gradient(space["of_hook"], 1.5)
    with pytest.warns(RuntimeWarning, match="of_effect runs uncompiled"):
        exec("assert jit(of_effect)(3.0) == 0.0", space)


ANNOTATED = """
def f(x):
    def g(a: float, b: int = 2, *, c: str = "s") -> float:
        return a * b
    kinds = g.__annotations__
    return g(x) * (3.0 if kinds["b"] is int else 1.0) * len(kinds)
"""


def test_a_function_inside_has_its_annotations():
    variables = {}
    exec(ANNOTATED, variables)
    with testing.recorded_only():
        assert gradient(variables["f"], 2.0) == (24.0,)


IN_HANDLERS = """
import contextlib

def f(x):
    y = 1.0
    try:
        y = x * (x if x > 0 else 1 / 0)
        raise ValueError
    except ValueError:
        y = y + (x if x > 1 else -x)
        for i in range(2):
            y = y * x
    return y

def g(x):
    for i in range(3):
        with contextlib.suppress(KeyError):
            try:
                x = x * x
                if x > 5: raise ValueError(x)
            except ValueError:
                return x * 3
    return x
"""


def test_handlers_hold_branches_and_return_out_of_a_with():
    variables = {}
    exec(IN_HANDLERS, variables)
    x = 1.7
    with testing.recorded_only():
        assert gradient(variables["f"], x) == pytest.approx((4 * x**3 + 3 * x**2,))
        assert gradient(variables["g"], x) == pytest.approx((12 * x**3,))
