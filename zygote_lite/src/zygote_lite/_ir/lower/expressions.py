"""Lowering of expressions: one call per statement, in Python's order of evaluation.

Targets of assignments are expressions too, that are stored to.
"""

import __future__

import ast
from collections.abc import Callable
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.lower.looking import Looking, looks_at_variables
from zygote_lite._ir.operators import OF_SYNTAX

Lower = Callable[[ast.expr, str], ir.Atom]  # of an expression, into a variable


_OF_TEXTS = ("exec", "eval")


def _spaces_given(e: ast.Call) -> list[ast.expr] | None:
    """Return the dicts that a call of `exec` or `eval` is given; `None` for another form of it."""
    names = [k.arg for k in e.keywords]
    given = [*e.args[1:], *(k.value for k in e.keywords)]
    is_known = names == ["globals", "locals"][len(e.args) - 1 :][: len(names)] and len(given) < 3
    is_none = any(isinstance(x, ast.Constant) and x.value is None for x in given)
    is_starred = any(isinstance(x, ast.Starred) for x in e.args)
    return given if e.args and is_known and not is_none and not is_starred else None


class Expressions(Looking):
    """The lowering of one function: how expressions add to its statements."""

    def statements(self, body: list[ast.stmt]) -> None:
        """Append what does the statements of a block."""
        raise NotImplementedError

    def decorate(self, s: ast.FunctionDef | ast.ClassDef, decorators: list[ir.Atom]) -> None:
        """Append the calls of decorators, the last first."""
        for d, decorator in zip(reversed(s.decorator_list), reversed(decorators), strict=True):
            self.out.append(ir.Call(d, s.name, decorator, [ir.Name(s.name)]))

    def assign(self, target: ast.expr, value: ir.Atom) -> None:
        if isinstance(target, ast.Name):
            if target.id in self.locals:
                self.out.append(ir.Move(target, target.id, value))
            else:
                self.assign_global(target, value)
        elif isinstance(target, ast.Attribute):
            owner = self.expression(target.value)
            self.out.append(ir.SetAttribute(target, owner, target.attr, value))
        elif isinstance(target, ast.Subscript):
            owner, index = self.operands(target.value, target.slice)
            self.out.append(ir.SetItem(target, owner, index, value))
        elif isinstance(target, ast.Tuple | ast.List):
            self.unpack(target, value)
        else:
            self.refuse(target, "this assignment")

    def unpack(self, target: ast.Tuple | ast.List, value: ir.Atom) -> None:
        star = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
        counts = [ir.Const(len(target.elts)), ir.Const(star)]
        parts = self.call(target, None, "unpack", [value, *counts])
        for i, element in enumerate(target.elts):
            inner = element.value if isinstance(element, ast.Starred) else element
            name = inner.id if self.is_local(inner) else self.temporary()  # type: ignore[attr-defined]
            self.out.append(ir.GetItem(element, name, parts, ir.Const(i)))
            if not self.is_local(inner):
                self.assign(inner, ir.Name(name))

    def expression(self, e: ast.expr, target: str | None = None) -> ir.Atom:
        """Append what computes `e`, into `target` if given, and return where its value is."""
        method = getattr(self, "expr_" + type(e).__name__.lower(), None)
        if method is None:
            self.refuse(e, f"`{ast.unparse(e)}` ({type(e).__name__})")
        atom: ir.Atom = method(e, target)
        if target is not None and atom != ir.Name(target):
            if target not in self.locals and not target.startswith("t"):
                self.refuse(e, f"an assignment to the global `{target}`")
            self.out.append(ir.Move(e, target, atom))
            return ir.Name(target)
        return atom

    def operands(self, *nodes: ast.expr) -> list[ir.Atom]:
        """Evaluate expressions from left to right; a later one does not change an earlier one."""
        return [self.kept(self.expression(n), n, nodes[i + 1 :]) for i, n in enumerate(nodes)]

    def build(self, e: ast.AST, target: str | None, kind: str, items: list[ir.Atom]) -> ir.Atom:
        return self.put(ir.Build, e, target, kind, items)

    def expr_constant(self, e: ast.Constant, target: str | None) -> ir.Atom:
        return ir.Const(e.value)

    def expr_name(self, e: ast.Name, target: str | None) -> ir.Atom:
        name = e.id
        return ir.Name(name) if name in self.locals else ir.Global(name)

    def expr_attribute(self, e: ast.Attribute, target: str | None) -> ir.Atom:
        path = self.path(e)
        if path is not None:
            return ir.Global(path)
        return self.put(ir.GetAttribute, e, target, self.expression(e.value), e.attr)

    def expr_subscript(self, e: ast.Subscript, target: str | None) -> ir.Atom:
        return self.put(ir.GetItem, e, target, *self.operands(e.value, e.slice))

    def expr_slice(self, e: ast.Slice, target: str | None) -> ir.Atom:
        none = ast.copy_location(ast.Constant(None), e)
        return self.build(
            e, target, "slice", self.operands(*(x or none for x in (e.lower, e.upper, e.step)))
        )

    def expr_binop(self, e: ast.BinOp, target: str | None) -> ir.Atom:
        arguments = self.operands(e.left, e.right)
        return self.call(e, target, OF_SYNTAX[type(e.op)].path, arguments)

    def expr_unaryop(self, e: ast.UnaryOp, target: str | None) -> ir.Atom:
        if isinstance(e.operand, ast.Constant) and isinstance(e.op, ast.USub):
            return ir.Const(-e.operand.value)  # type: ignore[operator]
        return self.call(e, target, OF_SYNTAX[type(e.op)].path, [self.expression(e.operand)])

    def expr_compare(self, e: ast.Compare, target: str | None) -> ir.Atom:
        left = self.expression(e.left)
        if target is None or len(e.ops) > 1:  # what raises half way has assigned nothing
            target = self.temporary()
        self.comparisons(e, target, left, list(zip(e.ops, e.comparators, strict=True)))
        return ir.Name(target)

    def comparisons(
        self,
        e: ast.Compare,
        target: str,
        left: ir.Atom,
        rest: list[tuple[ast.cmpop, ast.expr]],
        is_test: bool = False,
    ) -> None:
        op, comparator = rest[0]
        left = self.kept(left, e, [comparator])
        right = self.expression(comparator)
        if isinstance(op, ast.In | ast.NotIn):
            self.call(e, target, "operator.contains", [right, left])
            if isinstance(op, ast.NotIn):
                self.call(e, target, "operator.not_", [ir.Name(target)])
        else:
            self.call(e, target, OF_SYNTAX[type(op)].path, [left, right])
        if len(rest) > 1:
            if is_test:
                self.call(e, target, "operator.truth", [ir.Name(target)])
            with self.collected() as body:
                self.comparisons(e, target, right, rest[1:], is_test)
            self.out.append(ir.If(e, ir.Name(target), body, []))

    def expr_boolop(self, e: ast.BoolOp, target: str | None) -> ir.Atom:
        result = self.temporary()
        self.boolean(e, result, e.values, self.expression, self.expression)
        return ir.Name(result)

    def boolean(
        self, e: ast.BoolOp, result: str, values: list[ast.expr], operand: Lower, last: Lower
    ) -> None:
        """Append what assigns the first value that decides, or the last."""
        if len(values) == 1:
            last(values[0], result)
            return
        operand(values[0], result)
        with self.collected() as body:
            self.boolean(e, result, values[1:], operand, last)
        branches = (body, []) if isinstance(e.op, ast.And) else ([], body)
        self.out.append(ir.If(e, ir.Name(result), *branches))

    def expr_ifexp(self, e: ast.IfExp, target: str | None) -> ir.Atom:
        return self.choice(e, self.expression)

    def choice(self, e: ast.IfExp, lower: Lower, target: str | None = None) -> ir.Atom:
        test = self.test(e.test)
        result = target or self.temporary()
        branches = []
        for branch in (e.body, e.orelse):
            with self.collected() as body:
                lower(branch, result)
            branches.append(body)
        self.out.append(ir.If(e, test, *branches))
        return ir.Name(result)

    def test(self, e: ast.expr, target: str | None = None) -> ir.Atom:
        """Append what finds out whether `e` holds, and return what has that truth.

        Python asks each value in a test for its truth once, which a class may notice. Who takes
        what is returned asks it; what it is made of was asked, and is a truth value.
        """
        match e:
            case ast.UnaryOp(ast.Not(), operand):
                return self.call(e, target, "operator.not_", [self.test(operand)])
            case ast.BoolOp(_, values):
                result = target or self.temporary()
                self.boolean(e, result, values, self.truth, self.test)
                return ir.Name(result)
            case ast.IfExp():
                return self.choice(e, self.test, target)
            case ast.Compare(left, [_, _, *_]):
                result = target or self.temporary()
                rest = list(zip(e.ops, e.comparators, strict=True))
                self.comparisons(e, result, self.expression(left), rest, is_test=True)
                return ir.Name(result)
        return self.expression(e, target)

    def truth(self, e: ast.expr, target: str) -> ir.Atom:
        """Append what assigns whether `e` holds, as a truth value."""
        match e:
            case ast.UnaryOp(ast.Not()) | ast.Compare(
                _, [ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]
            ):
                return self.test(e, target)
        return self.call(e, target, "operator.truth", [self.test(e)])

    def expr_namedexpr(self, e: ast.NamedExpr, target: str | None) -> ir.Atom:
        if self.is_local(e.target):
            return self.expression(e.value, e.target.id)
        value = self.snapshot(self.expression(e.value), e)
        self.assign(e.target, value)
        return value

    def expr_tuple(self, e: Any, target: str | None) -> ir.Atom:
        kind = type(e).__name__.lower()
        if not any(isinstance(x, ast.Starred) for x in e.elts):
            return self.build(e, target, kind, self.operands(*e.elts))
        return self.call(e, target, f"join_{kind}", self.operands(*self.spread(e.elts, [])))

    expr_list = expr_set = expr_tuple

    def spread(self, elements: list[ast.expr], after: list[ast.expr]) -> list[ast.expr]:
        """Return expressions for the parts that a display with `*` joins.

        What is spread is walked through before what comes after it is evaluated, which may change
        it, or be changed.
        """
        parts: list[ast.expr] = []
        for i, x in enumerate(elements):
            rest = [*elements[i + 1 :], *after]
            if not isinstance(x, ast.Starred):
                parts.append(ast.copy_location(ast.Tuple([x], ast.Load()), x))
            elif all(self.is_settled(y) for y in rest):
                parts.append(x.value)
            else:
                parts.append(ast.copy_location(ast.List([x], ast.Load()), x))
        return parts

    def is_settled(self, e: ast.expr) -> bool:
        """Return whether an expression does nothing, and has one value whenever it is evaluated."""
        if isinstance(e, ast.Name):
            own = e.id in self.code.co_varnames
            return own and e.id not in (*self.code.co_cellvars, *self.code.co_freevars)
        return isinstance(e, ast.Constant)

    def expr_dict(self, e: ast.Dict, target: str | None) -> ir.Atom:
        if any(key is None for key in e.keys):
            pairs = [*zip(e.keys, e.values, strict=True)]
            rest = [*e.keys, *e.values]
            alone = len(pairs) == 1 or all(self.is_settled(x) for x in rest if x is not None)
            parts = self.operands(
                *(value if key is None and alone
                  else ast.copy_location(ast.Dict([key], [value]), value)
                  for key, value in pairs)
            )  # fmt: skip
            return self.call(e, target, "join_dict", parts)
        items = [x for pair in zip(e.keys, e.values, strict=True) for x in pair if x is not None]
        return self.build(e, target, "dict", self.operands(*items))

    def expr_joinedstr(self, e: ast.JoinedStr, target: str | None) -> ir.Atom:
        return self.call(e, target, "join_text", self.operands(*e.values))

    def expr_formattedvalue(self, e: ast.FormattedValue, target: str | None) -> ir.Atom:
        none = ast.copy_location(ast.Constant(""), e)
        value, spec = self.operands(e.value, e.format_spec or none)
        return self.call(e, target, "format_value", [value, ir.Const(e.conversion), spec])

    def expr_call(self, e: ast.Call, target: str | None) -> ir.Atom:
        name = e.func.id if isinstance(e.func, ast.Name) else ""
        if name in _OF_TEXTS and name not in self.locals and not self.is_replaced(name):
            return self.running_text(e, name, target)
        if looks_at_variables(e) and name not in self.locals and not self.is_replaced(name):
            return self.variables(e, name, target)
        arguments = [*e.args]
        if name == "super" and not arguments:
            first = self.code.co_varnames[0]
            atoms: list[ir.Atom] = [ir.Name("__class__"), ir.Name(first)]
            return self.call(e, target, "super", atoms)
        if any(isinstance(a, ast.Starred) for a in arguments) or any(
            k.arg is None for k in e.keywords
        ):
            return self.apply(e, target)
        values = [k.value for k in e.keywords]
        function, *atoms = self.operands(e.func, *arguments, *values)
        positional, keyword = atoms[: len(arguments)], atoms[len(arguments) :]
        named = list(zip([k.arg for k in e.keywords], keyword, strict=True))
        return self.put(ir.Call, e, target, function, positional, named)

    def running_text(self, e: ast.Call, name: str, target: str | None) -> ir.Atom:
        """Append what `exec` or `eval` does, with the dicts that it is given or those around."""
        given = _spaces_given(e)
        if given is None:
            self.refuse(
                e, f"`{name}` with `None`, or with `*` or `**`", "pass the dicts as they are"
            )
        source, *spaces = self.operands(e.args[0], *given)
        if not given:
            spaces = [self.variables(e, what, None) for what in ("globals", "locals")]
        flags = self.code.co_flags & __future__.annotations.compiler_flag
        last: list[ir.Atom] = [ir.Const(not given), ir.Const(flags)]
        return self.call(
            e, target, "run_text", [ir.Const(name), source, spaces[0], spaces[-1], *last]
        )

    def apply(self, e: ast.Call, target: str | None) -> ir.Atom:
        plain = not any(isinstance(a, ast.Starred) for a in e.args)
        positional = ast.copy_location(ast.Tuple(list(e.args)), e)
        alone = len(e.args) == 1  # Python walks over it when it calls, after the keywords
        starred = self.spread(list(e.args), [] if alone else [k.value for k in e.keywords])
        given = [self.keyword(k) for k in e.keywords]
        if plain:
            function, arguments, *keywords = self.operands(e.func, positional, *given)
        else:
            function, *atoms = self.operands(e.func, *starred, *given)
            parts, keywords = atoms[: len(starred)], atoms[len(starred) :]
            arguments = self.call(e, None, "join_arguments", [function, *parts])
        return self.put(ir.Apply, e, target, function, arguments, keywords)

    def keyword(self, k: ast.keyword) -> ast.expr:
        """Return a dict for one keyword of a call, or for `**` of a mapping."""
        key = None if k.arg is None else ast.copy_location(ast.Constant(k.arg), k.value)
        return ast.copy_location(ast.Dict([key], [k.value]), k.value)
