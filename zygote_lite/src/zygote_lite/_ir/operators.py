"""Python's operators, in one table: their names, symbols, syntax, functions and methods."""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Operator:
    """An operator of Python.

    Attributes:
        name: its name in `operator`, without the underscore of `and_`.
        symbol: how it is written, with the space that a unary one needs.
        precedence: how tightly it binds; more is tighter.
        syntax: its node in a syntax tree.
        function: its function in `operator`.
    """

    name: str
    symbol: str
    precedence: int
    syntax: type[ast.AST]
    function: Callable[..., Any]

    @property
    def path(self) -> str:
        """Return the path of its function, as the IR names it."""
        return f"operator.{self.function.__name__}"


@dataclass(frozen=True)
class Binary(Operator):
    """A binary operator: `a + b`, and `a += b`."""

    in_place: Callable[[Any, Any], Any]
    ufunc: np.ufunc

    @property
    def methods(self) -> tuple[str, str, str]:
        """Return the names of its special methods: plain, reflected and in place."""
        return f"__{self.name}__", f"__r{self.name}__", f"__i{self.name}__"


def _function(name: str) -> Any:
    return getattr(operator, name, None) or getattr(operator, f"{name}_")  # `and_`, `not_`


def _operator(name: str, symbol: str, precedence: int, syntax: type[ast.AST]) -> Operator:
    return Operator(name, symbol, precedence, syntax, _function(name))


BINARY: dict[str, Binary] = {
    name: Binary(name, symbol, precedence, syntax, _function(name), getattr(operator, f"i{name}"),
                 ufunc)
    for name, symbol, precedence, syntax, ufunc in (
        ("or", "|", 7, ast.BitOr, np.bitwise_or),
        ("xor", "^", 8, ast.BitXor, np.bitwise_xor),
        ("and", "&", 9, ast.BitAnd, np.bitwise_and),
        ("lshift", "<<", 10, ast.LShift, np.left_shift),
        ("rshift", ">>", 10, ast.RShift, np.right_shift),
        ("add", "+", 11, ast.Add, np.add),
        ("sub", "-", 11, ast.Sub, np.subtract),
        ("mul", "*", 12, ast.Mult, np.multiply),
        ("truediv", "/", 12, ast.Div, np.divide),
        ("floordiv", "//", 12, ast.FloorDiv, np.floor_divide),
        ("mod", "%", 12, ast.Mod, np.remainder),
        ("matmul", "@", 12, ast.MatMult, np.matmul),
        ("pow", "**", 14, ast.Pow, np.power),
    )
}  # fmt: skip
COMPARISONS = (
    _operator("lt", "<", 5, ast.Lt),
    _operator("le", "<=", 5, ast.LtE),
    _operator("gt", ">", 5, ast.Gt),
    _operator("ge", ">=", 5, ast.GtE),
    _operator("eq", "==", 5, ast.Eq),
    _operator("ne", "!=", 5, ast.NotEq),
    _operator("is", "is", 5, ast.Is),
    _operator("is_not", "is not", 5, ast.IsNot),
)
UNARY = (
    _operator("not", "not ", 4, ast.Not),
    _operator("neg", "-", 13, ast.USub),
    _operator("pos", "+", 13, ast.UAdd),
    _operator("invert", "~", 13, ast.Invert),
)

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "pow")
"""The operators of real numbers."""
REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""The comparisons, each with the one that Python asks the right operand for."""

_ALL = (*BINARY.values(), *COMPARISONS, *UNARY)
OF_SYNTAX: dict[type[ast.AST], Operator] = {of.syntax: of for of in _ALL}
OF_FUNCTION: dict[Any, Operator] = {of.function: of for of in _ALL}
IN_PLACE: dict[Any, Binary] = {of.in_place: of for of in BINARY.values()}
"""The binary operators, by their functions in place."""
