"""A scalar tape: numbers that remember how they were computed, and pass gradients back.

A second, much smaller AD on the same rules: a `Value` overloads the operators, `apply` asks
`rrule` for the pullback of each call, and `backward` runs the pullbacks in reverse order. It
knows no formula of calculus. (The tape of micrograd; `printgraph` shows it.)

    >>> from zygote_lite.value import backward, tanh, value
    >>> x, w, b = value(2.0), value(-3.0), value(6.88)
    >>> y = tanh(x * w + b)
    >>> backward(y)
    >>> x.grad
    -1.5029152313...
"""

import math
import operator
from collections.abc import Callable
from functools import partial
from itertools import groupby
from numbers import Real
from typing import Any, TextIO

from rulescore import rrule
from zygote_lite._ir.operators import OF_FUNCTION
from zygote_lite.errors import Fault

__all__ = ["Value", "value", "apply", "backward", "zerograd", "buildgraph", "printgraph"]
_SYMBOLS = {of.function.__name__: of.symbol for of in OF_FUNCTION.values()}


def apply(f: Callable[..., Any], /, *xs: Any, **options: Any) -> "Value":
    """Call `f`, any function with a rule, and record its pullback on the tape.

    Arguments:
        f: the function, such as `math.tanh`, `np.exp` or a rule author's own.
        xs: its arguments, `Value`s and constants.
        options: its keyword arguments; they carry no gradient.

    Raises `NoRuleError` where no rule is for these types, and `TypeError` where the result is
    not one real number.
    """
    if any(isinstance(option, Value) for option in options.values()):
        raise Fault.ACTIVE_OPTION(
            f"{_label(f)}: keyword arguments carry no gradient; give the Value's .data", TypeError
        )
    numbers = [x.data if isinstance(x, Value) else x for x in xs]
    found = rrule(f, *numbers, **options)
    if found is None:
        types = ", ".join(type(x).__name__ for x in numbers)
        raise Fault.NO_RULE(
            f"no rule for {_label(f)}({types}): install a plugin that has one (rules_base for "
            "operators, math and NumPy), or declare one with rulescore.RuleSet"
        )
    y, back = found
    _check_number(y, f"the result of {_label(f)}")
    inputs = [(i, x) for i, x in enumerate(xs, start=1) if isinstance(x, Value)]

    def pullback(dy: Any) -> list[Any]:
        cotangents = back(dy)
        return [cotangents[i] for i, _ in inputs]

    return Value(y, tuple(x for _, x in inputs), _SYMBOLS.get(_label(f), _label(f)), pullback)


Operator = Callable[["Value", Any], "Value"]


def _operators(f: Callable[[Any, Any], Any]) -> tuple[Operator, Operator]:
    """Return an operator's method and its reflected method."""

    def method(self: "Value", other: Any) -> "Value":
        return apply(f, self, other) if isinstance(other, Value | Real) else NotImplemented

    def reflected(self: "Value", other: Any) -> "Value":
        return apply(f, other, self) if isinstance(other, Value | Real) else NotImplemented

    return method, reflected


def _comparison(f: Callable[[Any, Any], Any]) -> Callable[["Value", Any], bool]:
    def method(self: "Value", other: Any) -> bool:
        return bool(f(self.data, other.data if isinstance(other, Value) else other))

    return method


class Value:
    """Hold a number and how it was made; `value(1.0)` makes one.

    Attributes:
        data: the number.
        grad: the gradient of what `backward` was called on with respect to this value.
        prev: the values that it was made from.
        op: the symbol or name of the operation that made it; a space where it was given.
    """

    __slots__ = ("_pullback", "data", "grad", "op", "prev")
    __array_ufunc__ = None  # a NumPy number leaves the operator to us

    def __init__(
        self,
        data: Any,
        prev: tuple["Value", ...] = (),
        op: str = " ",
        pullback: Callable[[Any], list[Any]] = lambda dy: [],
    ) -> None:
        self.data = data
        self.grad: Any = 0.0
        self.prev = prev
        self.op = op
        self._pullback = pullback

    def bw(self) -> None:
        """Pass the gradient on to the values that this one was made from, adding to theirs."""
        for x, dx in zip(self.prev, self._pullback(self.grad), strict=True):
            if dx is not None:
                x.grad = x.grad + dx

    def backward(self) -> None:
        """Do what the function `backward` does."""
        backward(self)

    def __repr__(self) -> str:
        return f"{_short(self.data)} (gr: {_short(self.grad)}, op: {self.op})"

    def __bool__(self) -> bool:
        return bool(self.data)

    def __float__(self) -> float:
        raise Fault.ARGUMENT(
            "a Value does not become a float, because its gradient would be lost without a word: "
            "write `.data` for the number, and `from zygote_lite.value import tanh` or "
            "`apply(math.tanh, x)` where `math.tanh(x)` was meant"
        )

    __add__, __radd__ = _operators(operator.add)
    __sub__, __rsub__ = _operators(operator.sub)
    __mul__, __rmul__ = _operators(operator.mul)
    __truediv__, __rtruediv__ = _operators(operator.truediv)
    __floordiv__, __rfloordiv__ = _operators(operator.floordiv)
    __mod__, __rmod__ = _operators(operator.mod)
    __pow__, __rpow__ = _operators(operator.pow)

    def __neg__(self) -> "Value":
        return apply(operator.neg, self)

    def __pos__(self) -> "Value":
        return apply(operator.pos, self)

    def __abs__(self) -> "Value":
        return apply(abs, self)

    __eq__ = _comparison(operator.eq)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)


def value(data: Any) -> Value:
    """Put a number at the start of a tape.

    Arguments:
        data: the number, Python's or NumPy's. Raises `TypeError` for anything else.
    """
    _check_number(data, "the data of a Value")
    return Value(data)


def __getattr__(name: str) -> Callable[..., Value]:
    """Offer the functions of `math` for values: `from zygote_lite.value import tanh`."""
    f = getattr(math, name, None)
    if name.startswith("_") or not callable(f):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return partial(apply, f)


def buildgraph(root: Value) -> tuple[list[Value], list[int]]:
    """Return the values that `root` was made from, each after its own, and their depths.

    Arguments:
        root: a `Value`. Raises `TypeError` for a plain number.

    `root` itself comes last, at depth 1; the depth of another is that of the longest way to it.
    """
    if not isinstance(root, Value):
        raise Fault.ARGUMENT(
            f"{root!r} is no Value and remembers nothing that it was made from: give a Value"
        )
    nodes: list[Value] = []
    depth = {id(root): 1}
    entered: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            nodes.append(node)
        elif id(node) not in entered:
            entered.add(id(node))
            stack.append((node, True))
            stack.extend((x, False) for x in reversed(node.prev))
    for node in reversed(nodes):
        for x in node.prev:
            depth[id(x)] = max(depth.get(id(x), 0), depth[id(node)] + 1)
    return nodes, [depth[id(node)] for node in nodes]


def backward(root: Value) -> None:
    """Give every value that `root` was made from its gradient.

    Arguments:
        root: the `Value` to differentiate.

    Given values add up their gradients over several calls, until `zerograd`; for the others
    the last call counts. Raises `TypeError` where `root` is a plain number.
    """
    nodes, _ = buildgraph(root)
    for node in nodes:
        if node.prev:
            node.grad = 0.0
    root.grad = root.grad + 1.0
    for node in reversed(nodes):
        node.bw()


def zerograd(root: Value) -> None:
    """Set the gradient of `root`, and of all that it was made from, to zero.

    Arguments:
        root: a `Value`. Raises `TypeError` for a plain number.
    """
    for node in buildgraph(root)[0]:
        node.grad = 0.0


def printgraph(nodes: list[Value], depth: list[int], file: TextIO | None = None) -> None:
    """Print what `buildgraph` returned as a tree, the last value at the top.

    Arguments:
        nodes, depth: what `buildgraph` returned; lists of other lengths raise `ValueError`.
        file: where it is printed; without it, on the standard output.

    A value used several times stands at each use; what it was made from is drawn below the
    deepest of them, and the others end in dots.
    """
    level = {id(node): row for node, row in zip(nodes, depth, strict=True)}
    cells = [_Cell(nodes[-1], 1)]
    drawn: set[int] = set()
    for cell in cells:  # which grow: row by row
        if level[id(cell.node)] == cell.row and id(cell.node) not in drawn:
            drawn.add(id(cell.node))
            cell.below = [_Cell(x, cell.row + 1) for x in reversed(cell.node.prev)]
            cells += cell.below
        elif cell.node.prev:
            cell.text += "...   "
    for cell in reversed(cells):
        cell.width = max(len(cell.text), sum(x.width for x in cell.below))
    for cell in cells:
        column = cell.column
        for x in cell.below:
            x.column = column
            column += x.width

    print("\nTree:\n----- \n", file=file)
    for _, row in groupby(cells, key=lambda cell: cell.row):
        values, branches = "", ""
        for cell in row:
            values = values.ljust(cell.column) + cell.text
            for i, x in enumerate(cell.below):
                branches = branches.ljust(x.column, "-" if i else " ") + "|"
        print(values, file=file)
        if branches:
            print(branches, file=file)


class _Cell:
    """Hold the place of a value in the printed tree."""

    def __init__(self, node: Value, row: int) -> None:
        self.node, self.row, self.column = node, row, 0
        self.text = f"{node!r}   "
        self.width = 0
        self.below: list[_Cell] = []


def _check_number(x: Any, what: str) -> None:
    if not isinstance(x, Real) or isinstance(x, bool):
        raise Fault.NOT_REAL(
            f"{what} is {type(x).__name__}, and a Value holds one real number: give a float"
        )


def _label(f: Any) -> str:
    return str(getattr(f, "__name__", None) or type(f).__name__)


def _short(x: Any) -> str:
    return str(float(f"{float(x):.2g}"))
