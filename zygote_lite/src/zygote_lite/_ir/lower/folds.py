"""Lowering of built-in functions that fold a comprehension, to loops.

`sum(x * y for x, y in pairs)` and `sum(map(f, xs))` become loops that add: the bodies are those of
`folding`. `taken_for` tests whether the name still stands for the function. A function that only
collects the elements is given a list.
"""

import ast
import functools
import math
import operator
import sys
from collections.abc import Callable
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.folding import all_of, any_of, extreme, folded, folded_from_first
from zygote_lite._ir.lower.functions import Functions, Rename, renamed
from zygote_lite._ir.source import definition_of

_Form = tuple[Any, ...]  # a function, and the option that it is given, if any
_BODIES: dict[_Form, tuple[Callable[..., Any], dict[str, Any]]] = {
    (sum,): (folded, {"f": operator.add, "total": 0}),
    (sum, "start"): (folded, {"f": operator.add}),
    (math.prod,): (folded, {"f": operator.mul, "total": 1}),
    (functools.reduce,): (folded_from_first, {}),
    (functools.reduce, "by position"): (folded, {}),
    (max,): (extreme, {"better": operator.gt, "name": "max", "may_be_empty": False}),
    (max, "default"): (extreme, {"better": operator.gt, "name": "max", "may_be_empty": True}),
    (min,): (extreme, {"better": operator.lt, "name": "min", "may_be_empty": False}),
    (min, "default"): (extreme, {"better": operator.lt, "name": "min", "may_be_empty": True}),
    (any,): (any_of, {}),
    (all,): (all_of, {}),
}
"""What each form of a call means, and some arguments; its option is the last parameter."""
_COLLECTED: set[_Form] = {(list,), (tuple,), (math.fsum,)}
_BY_POSITION = {sum: "start", functools.reduce: "by position"}
if sys.version_info >= (3, 12):  # a sum of floats keeps what rounding loses
    for _form in [(sum,), (sum, "start")]:
        del _BODIES[_form]
        _COLLECTED.add(_form)


class Folds(Functions):
    """Lowering that knows the functions that use up a generator expression at once.

    Attributes:
        folded: whether it is to be done.
    """

    folded = False

    def is_function(self, e: ast.expr) -> bool:
        if not self.folded:
            return super().is_function(e)
        inside = [n for n in ast.walk(e) if n is not e]
        forms = [(n, self.form(n)) for n in inside if isinstance(n, ast.Call)]
        used_up = [n.args[_used_up(form[0])] for n, form in forms if form is not None]
        return any(
            isinstance(n, ast.Lambda) or (isinstance(n, ast.GeneratorExp) and n not in used_up)
            for n in inside
        )

    def form(self, e: ast.Call) -> _Form | None:
        """Return what uses up the elements that it is given, with the option; `None` for others.

        A list is made as a whole before it is used: of functions that may stop before its end, or
        to which equal elements of a list are all one, it stays a list.
        """
        found = self.function_at(e.func)
        f = next((f for f, *_ in (*_BODIES, *_COLLECTED) if f is found), None)
        place = _used_up(f)
        if f is None or len(e.args) <= place or _has_star(e):
            return None
        is_list = _BODIES.get((f,), (None,))[0] is folded
        if not place and not self.is_walked(e.args[0], is_list):
            return None
        by_position, by_name = e.args[place + 1 :], e.keywords
        form = (f, *(_BY_POSITION.get(f) for _ in by_position), *(k.arg for k in by_name))
        options = [*by_position, *(k.value for k in by_name)]
        if form in _COLLECTED and all(isinstance(x, ast.Constant) for x in options):
            return form  # another option is evaluated before the elements
        return form if form in _BODIES else None

    def is_walked(self, e: ast.expr, is_list: bool = False) -> bool:
        """Return whether it is known how a generator expression, or `map`, is walked over."""
        if isinstance(e, ast.Call):
            plain = not e.keywords and not _has_star(e) and len(e.args) > 1
            return plain and self.function_at(e.func) is map
        kinds = ast.GeneratorExp | ast.ListComp if is_list else ast.GeneratorExp
        if not isinstance(e, kinds) or self.is_function(e):
            return False
        return not any(g.is_async for g in e.generators)

    def expr_yieldfrom(self, e: ast.YieldFrom, target: str | None) -> ir.Atom:
        if not self.folded:
            return super().expr_yieldfrom(e, target)
        return self.call(e, target, "value_returned", [self.delegate(e)])

    def delegate(self, e: ast.YieldFrom) -> ir.Atom:
        """Append a loop that yields what an iterator gives; return the iterator."""
        iterator = self.call(e, None, "iter", [self.expression(e.value)])
        item, sent = self.temporary(), self.temporary()
        give: list[ir.Statement] = [ir.Yield(e, sent, ir.Name(item))]
        self.out.append(ir.Delegation(e, item, iterator, give, []))
        return iterator

    def function_at(self, e: ast.expr) -> Any:
        """Return what a name or a path stands for now, unless it is a variable."""
        if isinstance(e, ast.Name):
            path = None if e.id in self.locals else e.id
        else:
            path = self.path(e)
        return None if path is None else self.path_value(path)

    def expr_call(self, e: ast.Call, target: str | None) -> ir.Atom:
        form = self.form(e) if self.folded else None
        if form is None:
            return super().expr_call(e, target)
        f, place = form[0], _used_up(form[0])
        known = [self.expression(e.func), ir.Const(f)]
        before = [self.kept(self.expression(x), e, e.args[1:]) for x in e.args[:place]]
        elements, first = self.walked(e.args[place], is_list=not place)
        options = [*e.args[place + 1 :], *(k.value for k in e.keywords)]
        if form in _COLLECTED:
            self.call(e, None, "taken_for", known)
            made = self.comprehension(elements, None, "list", first)
            if f is list:
                return made
            start = [self.expression(x) for x in e.args[1:]]
            names = [(k.arg or "", self.expression(k.value)) for k in e.keywords]
            return self.put(ir.Call, e, target, known[0], [made, *start], names)
        first = self.kept(first, e, options)
        values = self.operands(*options)
        self.call(e, None, "taken_for", [*known, *([] if place else values)])
        body, constants = _BODIES[form]
        parameters = body.__code__.co_varnames[: body.__code__.co_argcount]
        given: dict[str, ir.Atom] = {name: ir.Const(x) for name, x in constants.items()}
        given |= dict(zip(parameters, before, strict=False))
        given |= dict(zip(parameters[-1:], values, strict=False))
        return self.looped(elements, first, body, given)

    def walked(self, e: Any, is_list: bool) -> tuple[Any, ir.Atom]:
        """Evaluate what is walked over; return a comprehension, and that."""
        if not self.is_walked(e, is_list):
            item = ast.Name("item", ast.Load())
            return _generator(e, item, [item]), self.expression(e)
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

    def looped(
        self, e: Any, first: ir.Atom, body: Callable[..., Any], given: dict[str, ir.Atom]
    ) -> ir.Atom:
        """Append the body of a function, with the loops of a comprehension in the place of its own.

        Arguments:
            e: the comprehension.
            first: what its outermost loop walks over.
            body: a function of `folding`.
            given: its arguments, but for the iterable.
        """
        names = {name: self.fresh_variable(name) for name in body.__code__.co_varnames}
        names["item"] = self.temporary()
        self.locals.add(names["item"])
        statements = renamed(definition_of(body.__code__).body, names, e)
        at = next(i for i, s in enumerate(statements) if isinstance(s, ast.For))
        loop = statements[at]

        def turn(rename: Rename) -> None:
            self.expression(rename(e.elt), names["item"])
            self.statements(loop.body)

        def leave() -> None:
            self.out.append(ir.If(e, ir.Name(names["found"]), [ir.Break(e)], []))

        self.out += [ir.Move(e, names[name], atom) for name, atom in given.items()]
        self.statements(statements[:at])
        stops = any(isinstance(n, ast.Break) for n in ast.walk(loop))
        self.loops(e, first, turn, leave if stops else None)
        self.statements(statements[at + 1 : -1])
        return self.expression(statements[-1].value)


def _used_up(f: Any) -> int:
    """Return which argument of a function is what it uses up."""
    return 1 if f is functools.reduce else 0


def _has_star(e: ast.Call) -> bool:
    return any(isinstance(x, ast.Starred) for x in e.args)


def _generator(e: ast.expr, element: ast.expr, items: list[ast.expr]) -> ast.GeneratorExp:
    """Return a comprehension over something that was evaluated before."""
    target = items[0] if len(items) == 1 else ast.Tuple(items, ast.Store())
    nothing = ast.Tuple([], ast.Load())
    made = ast.GeneratorExp(element, [ast.comprehension(target, nothing, [], 0)])
    return ast.fix_missing_locations(ast.copy_location(made, e))
