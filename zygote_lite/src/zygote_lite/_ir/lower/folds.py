"""Lowering of built-in functions that fold a comprehension, to loops.

`sum(x * y for x, y in pairs)` and `sum(map(f, xs))` become loops that add. `taken_for` tests
whether the name still stands for the function. A function that only collects the elements is given
a list.
"""

import ast
import functools
import math
import sys
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.lower.comprehensions import Comprehensions, Rename

_ADDING_FOLDS: dict[Any, tuple[str, str, int]] = {
    sum: ("total", "operator.add", 0),
    math.prod: ("product", "operator.mul", 1),
}
_COLLECTED: tuple[Any, ...] = (list, tuple, math.fsum)
if sys.version_info >= (3, 12):  # a sum of floats keeps what rounding loses
    del _ADDING_FOLDS[sum]
    _COLLECTED = (*_COLLECTED, sum)
_EXTREME: dict[Any, tuple[str, str]] = {
    max: ("greatest", "operator.gt"),
    min: ("least", "operator.lt"),
}
_FOUND: dict[Any, bool] = {any: True, all: False}
_KNOWN = (*_ADDING_FOLDS, *_COLLECTED, *_EXTREME, *_FOUND)
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
        used_up += [n.args[1] for n in calls if self.is_reduction(n) and self.is_walked(n.args[1])]
        return any(
            isinstance(n, ast.Lambda) or (isinstance(n, ast.GeneratorExp) and n not in used_up)
            for n in inside
        )

    def folding(self, e: ast.Call) -> Any:
        """Return the function that uses up what it is given one by one; `None` for others.

        A list is made as a whole before it is used: of functions that may stop before its end, or
        to which equal elements of a list are all one, it stays a list.
        """
        f = self.known_function(e.func) if e.args else None
        if f is None or not self.is_walked(e.args[0], is_list=f in _ADDING_FOLDS):
            return None
        options = [*e.args[1:], *(k.value for k in e.keywords)]
        by_name = [k.arg for k in e.keywords]
        if by_name not in ([], [_OPTION.get(f)]) or len(options) > 1:
            return None
        if e.args[1:] and f is not sum:
            return None
        if f in _COLLECTED and not all(isinstance(x, ast.Constant) for x in options):
            return None  # the option is evaluated before the elements
        return None if any(isinstance(x, ast.Starred) for x in options) else f

    def is_walked(self, e: ast.expr, is_list: bool = False) -> bool:
        """Return whether it is known how a generator expression, or `map`, is walked over."""
        if isinstance(e, ast.Call):
            plain = not e.keywords and not any(isinstance(x, ast.Starred) for x in e.args)
            return plain and len(e.args) > 1 and self.function_at(e.func) is map
        if not isinstance(e, ast.GeneratorExp | ast.ListComp) or self.is_function(e):
            return False
        if isinstance(e, ast.ListComp) and not is_list:
            return False
        return not any(g.is_async for g in e.generators)

    def function_at(self, e: ast.expr) -> Any:
        """Return what a name or a path stands for now, unless it is a variable."""
        if isinstance(e, ast.Name):
            path = None if e.id in self.locals else e.id
        else:
            path = self.path(e)
        return None if path is None else self.path_value(path)

    def known_function(self, e: ast.expr) -> Any:
        """Return the function that a name or a path stands for now, if it is one of those."""
        found = self.function_at(e)
        return next((f for f in _KNOWN if f is found), None)

    def expr_call(self, e: ast.Call, target: str | None) -> ir.Atom:
        if self.folded and self.is_reduction(e):
            return self.reduced(e)
        f = self.folding(e) if self.folded else None
        if f is None:
            return super().expr_call(e, target)
        known = [self.expression(e.func), ir.Const(f)]
        elements, first = self.walked(e.args[0])
        if f in _COLLECTED:
            self.call(e, None, "taken_for", known)
            made = self.comprehension(elements, None, "list", "append", first)
            if f is list:
                return made
            start = [self.expression(x) for x in e.args[1:]]
            names = [(k.arg or "", self.expression(k.value)) for k in e.keywords]
            target = target or self.temporary()
            self.out.append(ir.Call(e, target, known[0], [made, *start], names))
            return ir.Name(target)
        options = [*e.args[1:], *(k.value for k in e.keywords)]
        first = self.kept(first, e, options)
        given = self.operands(*options)
        self.call(e, None, "taken_for", [*known, *given])
        if f in _ADDING_FOLDS:
            return self.added(elements, first, _ADDING_FOLDS[f], *given)
        if f in _EXTREME:
            return self.extreme(elements, first, _EXTREME[f], *given)
        return self.found(elements, first, _FOUND[f])

    def walked(self, e: Any) -> tuple[Any, ir.Atom]:
        """Evaluate what a comprehension, or `map`, walks over; return a comprehension, and that."""
        if not isinstance(e, ast.Call):
            return e, self.expression(e.generators[0].iter)
        self.call(e, None, "taken_for", [self.expression(e.func), ir.Const(map)])
        function, *iterables = self.operands(*e.args)
        first = iterables[0] if len(iterables) == 1 else self.call(e, None, "zip", iterables)
        name = self.fresh_variable("mapped")
        self.out.append(ir.Move(e, name, function))
        names = [f"item{i}" for i in range(len(iterables))] if iterables[1:] else ["item"]
        items: list[ast.expr] = [ast.Name(item, ast.Load()) for item in names]
        return _generator(e, ast.Call(ast.Name(name, ast.Load()), items, []), items), first

    def is_reduction(self, e: ast.Call) -> bool:
        plain = not e.keywords and not any(isinstance(x, ast.Starred) for x in e.args)
        return plain and len(e.args) in (2, 3) and self.function_at(e.func) is functools.reduce

    def reduced(self, e: ast.Call) -> ir.Atom:
        """Append the loop of `functools.reduce`."""
        known = [self.expression(e.func), ir.Const(functools.reduce)]
        self.call(e, None, "taken_for", known)
        function = self.kept(self.expression(e.args[0]), e, e.args[1:])
        if self.is_walked(e.args[1]):
            elements, first = self.walked(e.args[1])
        else:
            item = ast.Name("item", ast.Load())
            elements, first = _generator(e, item, [item]), self.expression(e.args[1])
        first = self.kept(first, e, e.args[2:])
        start = [self.expression(x) for x in e.args[2:]]
        total = self.fresh_variable("reduced")
        if start:
            self.out.append(ir.Move(e, total, start[0]))

            def add(rename: Rename) -> None:
                item = self.expression(rename(elements.elt))
                self.out.append(ir.Call(e, total, function, [ir.Name(total), item]))

            self.loops(elements, first, add)
            return ir.Name(total)
        found = self.fresh_variable("found")
        self.out.append(ir.Move(e, found, ir.Const(False)))

        def add_or_take(rename: Rename) -> None:
            item = self.expression(rename(elements.elt))
            later: list[ir.Statement] = [ir.Call(e, total, function, [ir.Name(total), item])]
            self.out.append(ir.If(e, ir.Name(found), later, [ir.Move(e, total, item)]))
            self.out.append(ir.Move(e, found, ir.Const(True)))

        self.loops(elements, first, add_or_take)
        self.out.append(ir.If(e, ir.Name(found), [], [ir.Raise(e, None, None)]))
        return ir.Name(total)

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


def _generator(e: ast.Call, element: ast.expr, items: list[ast.expr]) -> ast.GeneratorExp:
    """Return a comprehension over something that was evaluated before."""
    target = items[0] if len(items) == 1 else ast.Tuple(items, ast.Store())
    nothing = ast.Tuple([], ast.Load())
    made = ast.GeneratorExp(element, [ast.comprehension(target, nothing, [], 0)])
    return ast.fix_missing_locations(ast.copy_location(made, e))
