"""Python's operators, in one table: their names, syntax, functions and special methods."""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Binary:
    """A binary operator: `a + b`, and `a += b`."""

    name: str
    symbol: str
    syntax: type[ast.operator]
    function: Callable[[Any, Any], Any]
    in_place: Callable[[Any, Any], Any]
    ufunc: np.ufunc

    @property
    def methods(self) -> tuple[str, str, str]:
        """Return the names of its special methods: plain, reflected and in place."""
        return f"__{self.name}__", f"__r{self.name}__", f"__i{self.name}__"


def _binary(name: str, symbol: str, syntax: type[ast.operator], ufunc: np.ufunc) -> Binary:
    function = getattr(operator, name, None) or getattr(operator, f"{name}_")  # `and_`, `or_`
    return Binary(name, symbol, syntax, function, getattr(operator, f"i{name}"), ufunc)


BINARY: dict[str, Binary] = {
    name: _binary(name, symbol, syntax, ufunc)
    for name, symbol, syntax, ufunc in (
        ("add", "+", ast.Add, np.add),
        ("sub", "-", ast.Sub, np.subtract),
        ("mul", "*", ast.Mult, np.multiply),
        ("truediv", "/", ast.Div, np.divide),
        ("floordiv", "//", ast.FloorDiv, np.floor_divide),
        ("mod", "%", ast.Mod, np.remainder),
        ("pow", "**", ast.Pow, np.power),
        ("matmul", "@", ast.MatMult, np.matmul),
        ("and", "&", ast.BitAnd, np.bitwise_and),
        ("or", "|", ast.BitOr, np.bitwise_or),
        ("xor", "^", ast.BitXor, np.bitwise_xor),
        ("lshift", "<<", ast.LShift, np.left_shift),
        ("rshift", ">>", ast.RShift, np.right_shift),
    )
}
ARITHMETIC = tuple(name for name in BINARY if name not in ("and", "or", "xor", "lshift", "rshift"))
"""The operators of real numbers."""

REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""The comparisons, each with the one that Python asks the right operand for."""
