"""The text of operands, operations, constants and functions of typed code."""

import builtins
import math
import operator
import re
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rulescore import Tangent
from zygote_lite._ir.operators import COMPARISONS, OF_FUNCTION
from zygote_lite._specialize.typed.effects import GENERATORS
from zygote_lite._specialize.typed.facts import ArrayOf
from zygote_lite._specialize.typed.functions import Attribute, Recursive, Reverse, is_hashable
from zygote_lite._specialize.typed.nodes import Op
from zygote_lite._specialize.typed.runtime import as_it_is, call_back, call_parts
from zygote_lite._specialize.typed.values import Value, constant

METHODS = (np.sum, np.mean, np.max, np.min, np.prod)  # quicker as methods of an array
_SPELLED_IN = {
    "math.": math, "": builtins, "np.": np, "np.linalg.": np.linalg, "np.fft.": np.fft,
}  # fmt: skip
ATOM = 20
_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv)
_EXACT_IN_ALL = 2048  # integers up to this are exact in each type of floats
_WITH_METHODS = (np.ndarray, np.generic, list, dict, set, deque, OrderedDict)


@dataclass(eq=False)
class Speller:
    """Spell values and operations.

    Attributes:
        namer: gives a name that is not taken, from a stem.
        bound: objects that the text names, beside `np` and `math`.
        inlined: the text of what is written where it is read, and how tightly it binds.
        renamed: the names of what is read under another name than its own.
    """

    namer: Callable[[str], str]
    bound: dict[str, Any] = field(default_factory=dict)
    inlined: dict[Value, tuple[str, int]] = field(default_factory=dict)
    renamed: dict[Value, str] = field(default_factory=dict)

    def read(self, x: Value) -> str:
        return self.renamed.get(x, x.name)

    def expression(self, x: Value) -> str:
        return self.expression_of(x)[0]

    def expression_of(self, x: Value) -> tuple[str, int]:
        """Return the text of an operand, and how tightly it binds."""
        if x in self.inlined:
            return self.inlined[x]
        if x.items is not None:
            return self.structure(x), ATOM
        if x.fields is not None and isinstance(x.sample, tuple | Tangent):
            return self.record(x), ATOM
        if x.is_constant:
            return self.constant(x.sample)
        return self.read(x), ATOM

    def structure(self, x: Value) -> str:
        parts = [self.expression(item) for item in x.items or ()]
        if isinstance(x.sample, dict):
            return f"{{{', '.join(map(': '.join, zip(parts[::2], parts[1::2], strict=True)))}}}"
        if isinstance(x.sample, slice):
            return f"slice({', '.join(parts)})"
        if isinstance(x.sample, list):
            return f"[{', '.join(parts)}]"
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"

    def record(self, x: Value) -> str:
        """Return the text of a named tuple, or of the gradient of an object."""
        fields = {name: self.expression(part) for name, part in (x.fields or {}).items()}
        if isinstance(x.sample, tuple):
            return f"{self.bind(type(x.sample))}({', '.join(fields.values())})"
        given = [f"{name}={part}" for name, part in fields.items()]
        return f"{self.bind(Tangent)}({', '.join([self.bind(x.sample._primal), *given])})"

    def index(self, x: Value) -> str:
        """Return the text of a subscript."""
        if isinstance(x.sample, slice) and x.items is not None:
            parts = [self.expression(part) for part in x.items]
            start, stop, step = ["" if part == "None" else part for part in parts]
            return f"{start}:{stop}" + (f":{step}" if step else "")
        if type(x.sample) is tuple and x.items:
            # a tuple in a tuple is an array of positions, not more axes
            items = [
                self.expression(item) if type(item.sample) is tuple else self.index(item)
                for item in x.items
            ]
            text = ", ".join(items)
            return text + "," * (len(x.items) == 1)
        return self.expression(x)

    def operation(self, op: Op) -> tuple[str, int]:
        """Return the text of an operation, and how tightly it binds."""
        f, xs = op.function, operands_of(op)
        if isinstance(f, Attribute):
            return f"{self.within(xs[0], ATOM)}.{f.name}", ATOM
        if f is operator.getitem:
            return f"{self.within(xs[0], ATOM)}[{self.index(xs[1])}]", ATOM
        if f is call_back:
            return f"{self.expression(xs[0])}({self.expression(xs[1])})", ATOM
        if f is call_parts:
            back, needed, dy = map(self.expression, xs)
            return f"{back}.only({needed})({dy})", ATOM
        of = OF_FUNCTION.get(f) if is_hashable(f) else None
        if of is not None and len(xs) == 1:
            return of.symbol + self.within(xs[0], of.precedence), of.precedence
        if of is not None:
            level, is_power = of.precedence, of.symbol == "**"
            left = self.within(xs[0], level + is_power + (of in COMPARISONS))
            right = self.within(xs[1], level + (not is_power))
            return f"{left} {of.symbol} {right}", level
        if f is list and not xs:
            return "[]", ATOM
        if f is as_it_is:
            return self.expression_of(xs[0])
        given = [self.expression(x) for x in xs]
        given += [f"{name}={self.expression(x)}" for name, x in op.keywords.items()]
        name = getattr(f, "__name__", "")
        is_draw = bool(xs) and type(xs[0].sample) in GENERATORS
        if (
            is_draw
            or getattr(f, "__objclass__", None) in _WITH_METHODS
            or (f in METHODS and xs[0].is_array and op.keywords.keys() <= {"axis", "keepdims"})
        ):
            return f"{self.within(xs[0], ATOM)}.{name}({', '.join(given[1:])})", ATOM
        return f"{self.function(f)}({', '.join(given)})", ATOM

    def within(self, x: Value, level: int) -> str:
        text, own = self.expression_of(x)
        return text if own >= level else f"({text})"

    def function(self, f: Any) -> str:
        """Return the text that names a function."""
        if isinstance(f, Recursive | Reverse):
            return f.name
        return spelled(f) or self.bind(f)

    def bind(self, x: Any) -> str:
        """Return a name for an object that has no spelling of its own."""
        for name, known in self.bound.items():
            if known is x:
                return name
        stem = re.sub(r"\W", "_", getattr(x, "__name__", type(x).__name__.lower()))
        name = self.namer(stem if stem.isidentifier() else "rule")
        self.bound[name] = x
        return name

    def constant(self, x: Any) -> tuple[str, int]:
        text = constant_text(x) or self.function(x)
        return text, 13 if text.startswith("-") else ATOM


def operands_of(op: Op) -> list[Value]:
    """Return the operands of an operation; a small integer beside an array of floats is a float.

    NumPy takes longer to find out that an integer of Python's fits into the array's type.
    """
    xs = op.arguments
    if is_hashable(op.function) and op.function in _ARITHMETIC and _of_floats(op.target):
        return [constant(float(x.sample)) if _is_small_integer(x) else x for x in xs]
    return xs


def _is_small_integer(x: Value) -> bool:
    return x.is_constant and type(x.sample) is int and abs(x.sample) <= _EXACT_IN_ALL


def _of_floats(x: Value) -> bool:
    return isinstance(x.fact, ArrayOf) and bool(x.fact.axes) and x.fact.dtype.kind in "fc"


def constant_text(x: Any) -> str | None:
    """Return the text of a constant, if it can be written."""
    if isinstance(x, bool | None | str | int) and type(x) in (bool, type(None), str, int):
        return repr(x)
    if type(x) is float:
        if math.isfinite(x):
            return repr(x)
        return "math.nan" if math.isnan(x) else "math.inf" if x > 0 else "-math.inf"
    if type(x) is complex and repr(x)[0].isdigit() and math.isfinite(x.imag):  # no `-0.0` is lost
        return repr(x)
    if type(x) is complex:
        return f"complex({constant_text(x.real)}, {constant_text(x.imag)})"
    if x is ...:
        return "..."
    if isinstance(x, np.inexact | np.integer) and type(x.item()) in (int, float, complex):
        return f"np.{type(x).__name__}({constant_text(x.item())})"
    if isinstance(x, np.dtype):
        return f"np.dtype({x.name!r})"
    if type(x) is tuple:
        parts = [constant_text(part) for part in x]
        if all(part is not None for part in parts):
            return f"({', '.join(map(str, parts))}{',' * (len(parts) == 1)})"
    if type(x) is slice:
        return f"slice({x.start!r}, {x.stop!r}, {x.step!r})"
    if type(x) is range:
        return f"range({x.stop})" if x.start == 0 and x.step == 1 else repr(x)
    return None


def spelled(f: Any) -> str | None:
    """Return how a function of NumPy, of `math` or of Python is written."""
    module = module_in_text(f)
    paths = [path for path, known in _SPELLED_IN.items() if known is module]
    return None if module is None else f"{paths[0]}{f.__name__}"


def module_in_text(f: Any) -> Any:
    """Return the module that the text takes a function from; `None` if it is bound by itself."""
    name = getattr(f, "__name__", None)
    for module in _SPELLED_IN.values():
        if isinstance(name, str) and getattr(module, name, None) is f:
            return module
    return None
