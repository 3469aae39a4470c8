"""What is recorded of the tests: the functions that they call, and the marked lines they reach."""

import importlib.util
import sys

from tests.mutants import reach

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
        "m.py f": ["of -1", "of 1"],
        "m.py g": ["of -1"],
        "m.py f: 1 => 2": ["of 1"],
        "m.py f: (x,) => None": ["of -1"],
    }
