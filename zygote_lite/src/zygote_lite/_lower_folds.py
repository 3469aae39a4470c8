"""Lowering of what a built-in function makes of a comprehension: the loop that it stands for.

`sum(x * y for x, y in pairs)` becomes a loop that adds. Whether the name still stands for the
function is for `taken_for` to tell; a function that only collects the elements is given a list.
"""

import ast
import math
import sys
from typing import Any

from zygote_lite import _ir as ir
from zygote_lite._lower_comprehensions import Comprehensions, Rename

_ADDED: dict[Any, tuple[str, str, int]] = {
    sum: ("total", "operator.add", 0),
    math.prod: ("product", "operator.mul", 1),
}
_COLLECTED: tuple[Any, ...] = (list, tuple, math.fsum)
if sys.version_info >= (3, 12):  # a sum of floats keeps what rounding loses
    del _ADDED[sum]
    _COLLECTED = (*_COLLECTED, sum)
_EXTREME: dict[Any, tuple[str, str]] = {
    max: ("greatest", "operator.gt"),
    min: ("least", "operator.lt"),
}
_FOUND: dict[Any, bool] = {any: True, all: False}
_KNOWN = (*_ADDED, *_COLLECTED, *_EXTREME, *_FOUND)
_OPTION: dict[Any, str] = {max: "default", min: "default", sum: "start"}


class Folds(Comprehensions):
    """Lowering that knows the functions that use up a generator expression at once.

    Attributes:
        folded: whether it is to be done.
    """

    folded = False

    def is_function(self, e: ast.expr) -> bool:
        if not self.folded:
            return super().is_function(e)
        inside = [n for n in ast.walk(e) if n is not e]
        calls = [n for n in inside if isinstance(n, ast.Call)]
        used_up = [n.args[0] for n in calls if self.folding(n) is not None]
        return any(
            isinstance(n, ast.Lambda) or (isinstance(n, ast.GeneratorExp) and n not in used_up)
            for n in inside
        )

    def folding(self, e: ast.Call) -> Any:
        """Return the function that uses up the comprehension that it is given; `None` for others.

        A list is made as a whole before it is used: of functions that may stop before its end, or
        to which equal elements of a list are all one, it stays a list.
        """
        elements = e.args[0] if e.args else None
        if not isinstance(elements, ast.GeneratorExp | ast.ListComp):
            return None
        f = self.known_function(e.func)
        if f is None or (isinstance(elements, ast.ListComp) and f not in _ADDED):
            return None
        options = [*e.args[1:], *(k.value for k in e.keywords)]
        by_name = [k.arg for k in e.keywords]
        if by_name not in ([], [_OPTION.get(f)]) or len(options) > 1:
            return None
        if e.args[1:] and f is not sum:
            return None
        if f in _COLLECTED and not all(isinstance(x, ast.Constant) for x in options):
            return None  # the option is evaluated before the elements
        if any(isinstance(x, ast.Starred) for x in options) or self.is_function(elements):
            return None
        return None if any(g.is_async for g in elements.generators) else f

    def known_function(self, e: ast.expr) -> Any:
        """Return the function that a name or a path stands for now, if it is one of those."""
        if isinstance(e, ast.Name):
            path = None if e.id in self.locals else e.id
        else:
            path = self.path(e)
        found = None if path is None else self.path_value(path)
        return next((f for f in _KNOWN if f is found), None)

    def expr_call(self, e: ast.Call, target: str | None) -> ir.Atom:
        f = self.folding(e) if self.folded else None
        if f is None:
            return super().expr_call(e, target)
        elements: Any = e.args[0]
        known = [self.expression(e.func), ir.Const(f)]
        if f in _COLLECTED:
            self.call(e, None, "taken_for", known)
            if f is list:
                return self.comprehension(elements, target, "list", "append")
            made = ast.copy_location(ast.ListComp(elements.elt, elements.generators), elements)
            call = ast.Call(e.func, [made, *e.args[1:]], e.keywords)
            return super().expr_call(ast.copy_location(call, e), target)
        options = [*e.args[1:], *(k.value for k in e.keywords)]
        first, *given = self.operands(elements.generators[0].iter, *options)
        self.call(e, None, "taken_for", [*known, *given])
        if f in _ADDED:
            return self.added(elements, first, _ADDED[f], *given)
        if f in _EXTREME:
            return self.extreme(elements, first, _EXTREME[f], *given)
        return self.found(elements, first, _FOUND[f])

    def added(
        self, e: Any, first: ir.Atom, how: tuple[str, str, int], start: ir.Atom | None = None
    ) -> ir.Atom:
        """Append a loop that adds the elements up, or multiplies them."""
        name, operator, neutral = how
        total = self.fresh_variable(name)
        self.out.append(ir.Move(e, total, ir.Const(neutral) if start is None else start))

        def add(rename: Rename) -> None:
            self.call(e, total, operator, [ir.Name(total), self.expression(rename(e.elt))])

        self.loops(e, first, add)
        return ir.Name(total)

    def extreme(
        self, e: Any, first: ir.Atom, how: tuple[str, str], default: ir.Atom | None = None
    ) -> ir.Atom:
        """Append a loop that finds the first element that no other is better than."""
        name, better = how
        best, found = self.fresh_variable(name), self.fresh_variable("found")
        if default is not None:
            self.out.append(ir.Move(e, best, default))
        self.out.append(ir.Move(e, found, ir.Const(False)))

        def compare(rename: Rename) -> None:
            item = self.expression(rename(e.elt))
            is_better = self.temporary()
            with self.collected() as later:
                self.call(e, is_better, better, [item, ir.Name(best)])
            once: list[ir.Statement] = [ir.Move(e, is_better, ir.Const(True))]
            self.out.append(ir.If(e, ir.Name(found), later, once))
            take: list[ir.Statement] = [ir.Move(e, best, item)]
            self.out.append(ir.If(e, ir.Name(is_better), take, []))
            self.out.append(ir.Move(e, found, ir.Const(True)))

        self.loops(e, first, compare)
        if default is None:
            self.out.append(ir.If(e, ir.Name(found), [], [ir.Raise(e, None, None)]))
        return ir.Name(best)

    def found(self, e: Any, first: ir.Atom, wanted: bool) -> ir.Atom:
        """Append a loop that ends at the first element that is true (`any`), or is not (`all`)."""
        found = self.fresh_variable("found")
        self.out.append(ir.Move(e, found, ir.Const(False)))

        def look(rename: Rename) -> None:
            item = self.expression(rename(e.elt))
            leaving: list[ir.Statement] = [ir.Move(e, found, ir.Const(True)), ir.Break(e)]
            branches = (leaving, []) if wanted else ([], leaving)
            self.out.append(ir.If(e, item, *branches))

        def leave() -> None:
            self.out.append(ir.If(e, ir.Name(found), [ir.Break(e)], []))

        self.loops(e, first, look, leave)
        return ir.Name(found) if wanted else self.call(e, None, "operator.not_", [ir.Name(found)])
