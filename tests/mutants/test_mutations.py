"""The mutations of a program: which there are, how they are written, and what is left alone."""

import ast

import pytest

from tests.mutants.mutations import mutations_of

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
