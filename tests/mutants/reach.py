"""Which tests reach which functions: recorded once, as a plugin of pytest, and kept in a file."""

import ast
import json
import sys
import time
from pathlib import Path

import pytest

from tests.mutants.mutations import functions_by_line

SECONDS = 60  # after which what was noted is written: a run that is ended is not lost


class Recorder:
    """Notes for each test that passes which functions it calls, and how long it takes."""

    def __init__(self, path, sources, lines):
        self.path = path
        self.marked = lines  # path: {line: names of what is there}, noted as functions are
        self.has_marks = {}  # code object: whether one of these lines is in it
        self.sources = tuple(f"{source}/" for source in sources)
        kept = read(path)
        self.tests = kept["tests"]  # name: [seconds, numbers of functions]
        self.functions = {name: number for number, name in enumerate(kept["functions"])}
        self.written = time.monotonic()
        self.numbers = {}  # code object: number, or None for what is not ours
        self.called = set()  # in this test: code objects
        self.reached = set()  # in this test: names of marked lines
        self.lines = {}  # path: names of functions by their first lines

    def number_of(self, code):
        """Return the number of a function, or `None` where it is not ours."""
        path = code.co_filename
        source = next((s for s in self.sources if path.startswith(s)), None)
        if source is None:
            return None
        if path not in self.lines:
            self.lines[path] = functions_by_line(ast.parse(Path(path).read_text()))
        plain = code.co_qualname.replace(".<locals>", "").split(".<")[0]
        name = f"{path.removeprefix(source)} {self.lines[path].get(code.co_firstlineno, plain)}"
        return self.functions.setdefault(name, len(self.functions))

    def trace(self, frame, event, argument):
        code = frame.f_code
        if code not in self.called:
            self.called.add(code)
            if code not in self.has_marks:
                lines = self.marked.get(code.co_filename, ())
                self.has_marks[code] = any(line in lines for _, _, line in code.co_lines())
        return self.trace_lines if self.has_marks[code] else None

    def trace_lines(self, frame, event, argument):
        names = self.marked[frame.f_code.co_filename].get(frame.f_lineno)
        if names is not None:
            self.reached.update(names)
        return self.trace_lines

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.called, self.reached = set(), set()
        before, tracing = time.process_time(), sys.gettrace()
        self.passed = False
        sys.settrace(self.trace)
        try:
            answer = yield
        finally:
            sys.settrace(tracing)
        for code in self.called - self.numbers.keys():
            self.numbers[code] = self.number_of(code)
        reached = {self.numbers[code] for code in self.called} - {None}
        reached.update(self.functions.setdefault(n, len(self.functions)) for n in self.reached)
        if self.passed:
            self.tests[item.nodeid] = [round(time.process_time() - before, 3), sorted(reached)]
        if time.monotonic() - self.written > SECONDS:
            self.write()
        return answer

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.passed = report.passed

    def write(self):
        """Write what was noted, and what was in the file before."""
        kept = {"functions": list(self.functions), "tests": self.tests}
        self.path.write_text(json.dumps(kept))
        self.written = time.monotonic()


def record(path, sources, lines, arguments):
    """Run the tests with these arguments of pytest, and write what they reach to a file."""
    recorder = Recorder(path, sources, lines)
    pytest.main([*arguments, "-p", "no:cacheprovider", "-p", "no:randomly"], plugins=[recorder])
    recorder.write()


def read(path):
    """Return what was recorded: the names of functions, and {test: [seconds, their numbers]}."""
    return json.loads(path.read_text()) if path.exists() else {"functions": [], "tests": {}}


def tests_by_function(path):
    """Return for each function the tests that reach it, the fastest first: [(seconds, name)].

    For each file of tests these are the tests in it.
    """
    kept, found = read(path), {}
    for test, (seconds, reached) in kept["tests"].items():
        for name in (test.partition("::")[0], *(kept["functions"][n] for n in reached)):
            found.setdefault(name, []).append((seconds, test))
    return {name: sorted(tests) for name, tests in found.items()}
