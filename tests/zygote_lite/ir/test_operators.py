"""The table of operators agrees with Python's parser, with `operator` and with NumPy."""

import ast
import operator

import numpy as np
import pytest

from zygote_lite._ir.operators import BINARY, COMPARISONS, IN_PLACE, OF_SYNTAX, UNARY

ALL = [*BINARY.values(), *COMPARISONS, *UNARY]
INFIX = [*BINARY.values(), *COMPARISONS]


def test_every_operator_of_the_syntax_is_in_the_table():
    bases = (ast.operator, ast.unaryop, ast.cmpop)
    every = {kind for base in bases for kind in base.__subclasses__()}
    assert every - {*OF_SYNTAX} == {ast.In, ast.NotIn}


@pytest.mark.parametrize("of", ALL, ids=lambda of: of.name)
def test_symbol_function_and_path(of):
    a, b = (True, False) if of.name == "not" else (6, 2)
    if of in UNARY:
        assert eval(f"{of.symbol}a") == of.function(a)
        assert type(ast.parse(f"{of.symbol}a").body[0].value.op) is of.syntax
    elif of.name != "matmul":
        assert eval(f"a {of.symbol} b") == of.function(a, b)
    assert getattr(operator, of.path.removeprefix("operator.")) is of.function


@pytest.mark.parametrize("one", INFIX, ids=lambda of: of.name)
def test_precedence_is_that_of_the_parser(one):
    for other in INFIX:
        if one.precedence > other.precedence:
            outer = ast.parse(f"a {other.symbol} b {one.symbol} c", mode="eval").body
            assert type(outer.op if other not in COMPARISONS else outer.ops[0]) is other.syntax
            assert ast.unparse(outer.right if other not in COMPARISONS else outer.comparators[0]
                               ) == f"b {one.symbol} c"  # fmt: skip
        elif one.precedence == other.precedence and one not in COMPARISONS and one.name != "pow":
            outer = ast.parse(f"a {other.symbol} b {one.symbol} c", mode="eval").body
            assert type(outer.op) is one.syntax


@pytest.mark.parametrize("one", UNARY, ids=lambda of: of.name)
def test_precedence_of_one_operand_is_that_of_the_parser(one):
    for other in INFIX:
        outer = ast.parse(f"{one.symbol}a {other.symbol} b", mode="eval").body
        assert isinstance(outer, ast.UnaryOp) == (one.precedence < other.precedence)


@pytest.mark.parametrize("of", BINARY.values(), ids=lambda of: of.name)
def test_in_place_and_by_ufunc(of):
    bits = of.name in ("and", "or", "xor", "lshift", "rshift")
    a = np.array([[5, 6], [7, 8]], int if bits else float)
    b = np.array([[2, 1], [3, 1]], a.dtype)
    want = of.function(a, b)
    assert np.array_equal(of.ufunc(a, b), want)
    kept = a
    assert IN_PLACE[of.in_place] is of
    assert of.in_place(a, b) is kept
    assert np.array_equal(kept, want)
    namespace = {"a": np.array([[5, 6], [7, 8]], a.dtype), "b": b}
    exec(f"a {of.symbol}= b", namespace)
    assert np.array_equal(namespace["a"], want)
    assert all(hasattr(np.ndarray, method) for method in of.methods)
