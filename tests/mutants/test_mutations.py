"""The mutations of a program: which there are, how they are written, and what is left alone."""

import ast

import pytest

from tests.mutants.__main__ import MUTATED, equivalent
from tests.mutants.mutations import functions_by_line, mutations_of
from tests.mutants.trial import ROOT

PROGRAM = '''
"""A docstring: 1 < 2."""
LIMIT: int = 3


def f(x: "1 + 1", y=None) -> "2 + 2":
    """Another: not True."""
    assert x is not None
    if not x:
        raise ValueError("wanted 1" + f"{x + 1}")
    kept = x < y and y
    return kept if isinstance(x, int | float) else [
        x + y,
        2.0,
    ]


def g(x):
    return x is x or x is x


@declared(len)
def _(x):
    return -x
'''
EXPECTED = {
    "<module>: 3 => 4",
    "f: None => 0",
    "f: not x => x",
    "f: x < y => x <= y",
    "f: x < y => x >= y",
    "f: x < y and y => x < y or y",
    "f: x < y and y => y",
    "f: x < y and y => x < y",
    "f: x + y => x - y",
    "f: 2.0 => 3.0",
    "f: kept if isinstance(x, int | float) else [x + y, 2.0] => kept",
    "f: kept if isinstance(x, int | float) else [x + y, 2.0] => [x + y, 2.0]",
    "f: kept if isinstance(x, int | float) else [x + y, 2.0] => None",
    "g: x is x or x is x => x is x and x is x",
    "g: x is x or x is x => x is x",
    "g: x is x or x is x => x is x (2)",
    "g: x is x or x is x => None",
    "g: x is x => x is not x",
    "g: x is x => x is not x (2)",
    "_ of declared(len): -x => x",
    "_ of declared(len): -x => None",
}


def test_each_change_is_found_and_nothing_else():
    assert {m.key.removeprefix("m.py ") for m in mutations_of("m.py", PROGRAM)} == EXPECTED


@pytest.mark.parametrize("mutation", mutations_of("m.py", PROGRAM), ids=lambda m: m.key)
def test_a_mutated_source_is_that_program_with_one_change(mutation):
    mutated, original = ast.parse(mutation.source), ast.parse(PROGRAM)
    assert ast.dump(mutated) != ast.dump(original)
    was, now = PROGRAM.splitlines(), mutation.source.splitlines()
    assert len(was) == len(now)
    first = mutation.line - 1
    last = first + (4 if mutation.before.startswith("kept") else 1)
    assert [*was[:first], *was[last:]] == [*now[:first], *now[last:]]
    ast.parse(mutation.after)


def test_functions_are_known_by_their_first_lines():
    names = functions_by_line(ast.parse(PROGRAM))
    lines = PROGRAM.splitlines()
    assert {name: lines[line - 1] for line, name in names.items()} == {
        "f": 'def f(x: "1 + 1", y=None) -> "2 + 2":',
        "g": "def g(x):",
        "_ of declared(len)": "@declared(len)",
    }


def test_the_mutations_that_are_listed_as_equivalent_are_there():
    """A line of the list whose place was rewritten would hide nothing, and is taken out."""
    listed = {}
    for key in equivalent():
        listed.setdefault(key.partition(" ")[0], set()).add(key)
    for module, keys in listed.items():
        path = next(ROOT / name / "src" / module for name in MUTATED if name in module)
        assert keys <= {mutation.key for mutation in mutations_of(module, path.read_text())}
