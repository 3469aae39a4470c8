"""Which tests reach which functions: recorded once, as a plugin of pytest, and kept in a file."""

import ast
import json
import sys
import time
from pathlib import Path

import pytest

from tests.mutants.mutations import functions_by_line


class Recorder:
    """Notes for each test that passes which functions it calls, and how long it takes."""

    def __init__(self, sources):
        self.sources = tuple(f"{source}/" for source in sources)
        self.tests = {}  # name: [seconds, numbers of functions]
        self.functions = {}  # "module function": number
        self.numbers = {}  # code object: number, or None for what is not ours
        self.called = set()
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
        self.called.add(frame.f_code)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.called, before, tracing = set(), time.process_time(), sys.gettrace()
        self.passed = False
        sys.settrace(self.trace)
        try:
            answer = yield
        finally:
            sys.settrace(tracing)
        for code in self.called - self.numbers.keys():
            self.numbers[code] = self.number_of(code)
        reached = {self.numbers[code] for code in self.called} - {None}
        if reached and self.passed:
            self.tests[item.nodeid] = [round(time.process_time() - before, 3), sorted(reached)]
        return answer

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.passed = report.passed


def record(path, sources, arguments):
    """Run the tests with these arguments of pytest, and write what they reach to a file."""
    recorder = Recorder(sources)
    pytest.main([*arguments, "-p", "no:cacheprovider", "-p", "no:randomly"], plugins=[recorder])
    kept = read(path)
    names = list(recorder.functions)
    for test, (seconds, reached) in recorder.tests.items():
        kept[test] = [seconds, [names[number] for number in reached]]
    numbers = {}
    for entry in kept.values():
        entry[1] = [numbers.setdefault(name, len(numbers)) for name in entry[1]]
    path.write_text(json.dumps({"functions": list(numbers), "tests": kept}))


def read(path):
    """Return what was recorded: {test: [seconds, names of functions]}."""
    if not path.exists():
        return {}
    kept = json.loads(path.read_text())
    names = kept["functions"]
    return {t: [s, [names[n] for n in reached]] for t, (s, reached) in kept["tests"].items()}


def tests_by_function(path):
    """Return for each function the tests that reach it, the fastest first: [(seconds, name)]."""
    found = {}
    for test, (seconds, reached) in read(path).items():
        for name in reached:
            found.setdefault(name, []).append((seconds, test))
    return {name: sorted(tests) for name, tests in found.items()}
