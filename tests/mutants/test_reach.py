"""What is recorded of the tests: the functions that they call, and the marked lines they reach."""

import importlib.util
import sys

from tests.mutants import reach
from tests.mutants.__main__ import near
from tests.mutants.mutations import mutations_of

PROGRAM = """
def f(x):
    if x > 0:
        return 1
    return [
        g(y) for y in (x,)]


def g(x):
    return x
"""


class Item:
    def __init__(self, nodeid):
        self.nodeid = nodeid


class Report:
    when, passed = "call", True


def run(recorder, name, f, *xs):
    """Run a call as a test that passes."""
    hook = recorder.pytest_runtest_protocol(Item(name))
    next(hook)
    f(*xs)
    recorder.pytest_runtest_logreport(Report)
    try:
        hook.send(None)
    except StopIteration:
        return


def test_functions_and_lines_are_noted_with_the_tests_that_reach_them(tmp_path):
    path = tmp_path / "m.py"
    path.write_text(PROGRAM)
    spec = importlib.util.spec_from_file_location("m", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = {str(path): {4: ["m.py f: 1 => 2"], 6: ["m.py f: (x,) => None"]}}
    tracing = sys.gettrace()
    for given in ((1, -1), (-1,)):  # the second adds to what the first wrote
        recorder = reach.Recorder(tmp_path / "reach.json", [tmp_path], lines)
        for x in given:
            run(recorder, f"of {x}", module.f, x)
        recorder.write()
    assert sys.gettrace() is tracing
    found = reach.tests_by_function(tmp_path / "reach.json")
    assert {name: sorted(test for _, test in tests) for name, tests in found.items()} == {
        "of -1": ["of -1"],  # the files of the tests
        "of 1": ["of 1"],
        "m.py f": ["of -1", "of 1"],
        "m.py g": ["of -1"],
        "m.py f: 1 => 2": ["of 1"],
        "m.py f: (x,) => None": ["of -1"],
    }


def test_tests_are_the_fastest_and_some_of_each_file():
    (mutation,) = mutations_of("a/_b.py", "x = 1")
    reach_of_line = [(k, f"t/test_{file}.py::{k}") for k in (1, 2, 3) for file in "ac"]
    found = {mutation.key: sorted(reach_of_line), "t/test_b.py": [(4, "t/test_b.py::4")]}
    fastest, others = near(mutation, found, 8)
    assert fastest == ["t/test_a.py::1", "t/test_c.py::1"]
    assert others == ["t/test_b.py::4", "t/test_a.py::2"]
