"""Tests of programs: each value in one is asked for its truth as often as Python asks it."""

import itertools

import pytest

from zygote_lite import value_and_grad

FORMS = {
    "if": "if TEST: y = y * 2.0",
    "while": "while TEST:\n        y = y * 2.0\n        break",
    "assert": "assert (TEST) or True",
    "chosen": "y = y * (2.0 if (TEST) else 3.0)",
    "comprehension": "y = y * len([k for k in range(3) if (TEST)])",
    "guard": "match y:\n        case float() if TEST: y = y * 2.0",
}
TESTS = (
    "a and b", "a or b", "not (a and b)", "not a or b", "a and b and c", "(a or b) and c",
    "a and (b or c)", "not not (a or b)", "a < b < c", "(a < b) and c", "a < b < c or a",
    "a is b or a", "(z := a and b) or c",
)  # fmt: skip
CHOICES = ("a if b and c else b", "(b and c if a else b or c) and c")
asked: list[str] = []


class Asked:
    """An object that notes who asks for its truth."""

    def __init__(self, name, holds):
        self.name, self.holds = name, holds

    def __bool__(self):
        asked.append(self.name)
        return self.holds

    def __lt__(self, other):
        return Asked(f"{self.name} < {other.name}", self.holds)


def text_of(form, test):
    statement = FORMS[form].replace("TEST", test)
    return f"def f(x, a, b, c):\n    y = x\n    {statement}\n    return y * 3.0 + x\n"


def without_file(text, path):
    space = {}
    exec(text, space)
    return space["f"]


def from_file(text, path):
    path.write_text(text)
    space = {"__name__": "from_file"}
    exec(compile(text, path, "exec"), space)
    return space["f"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", [without_file, from_file])
@pytest.mark.parametrize("form", FORMS)
def test_each_value_of_a_test_is_asked_as_often_as_python_asks_it(form, program, tmp_path):
    for i, test in enumerate(TESTS if program is without_file else TESTS + CHOICES):
        f = program(text_of(form, test), tmp_path / f"f{i}.py")
        for truths in itertools.product((False, True), repeat=3):
            objects = [Asked(name, holds) for name, holds in zip("abc", truths, strict=True)]
            asked.clear()
            y, expected = f(2.0, *objects), asked[:]
            asked.clear()
            assert (value_and_grad(f)(2.0, *objects)[0], asked) == (y, expected), (test, truths)


def test_transformed_code_asks_as_often():
    for test in TESTS:
        f = without_file(text_of("if", test), None)

        def g(x, f=f):
            return f(x, Asked("a", False), Asked("b", True), Asked("c", False))

        asked.clear()
        y, expected = g(2.0), asked[:]
        for _ in range(3):
            asked.clear()
            assert (value_and_grad(g)(2.0)[0], asked) == (y, expected), test
