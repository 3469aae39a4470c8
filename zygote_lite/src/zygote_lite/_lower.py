"""First stage: from the syntax tree of a function to the IR.

Expressions are taken apart into one call per statement, in Python's order of evaluation;
operators become calls of `operator.*`; control flow stays as it was written.
"""

import ast
import builtins
import copy
import symtable
import types
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from zygote_lite import _ir as ir
from zygote_lite._errors import UnsupportedSyntaxError
from zygote_lite._source import Definition, definition_of, remember

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.MatMult: "matmul", ast.BitAnd: "and_",
    ast.BitOr: "or_", ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip
IN_PLACE = {op: "i" + name.rstrip("_") for op, name in BINARY.items()}
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not_",
}  # fmt: skip
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.Is: "is_", ast.IsNot: "is_not",
}  # fmt: skip


def lower(code: types.CodeType, globals_: Mapping[str, Any]) -> ir.Function:
    """Return the IR of the function that `code` was compiled from.

    Arguments:
        code: of a Python function with source.
        globals_: the function's globals; they tell which names are modules.

    Raises `UnsupportedSyntaxError`, with the user's file and line, for what has no IR.
    """
    return _Lowering(code, globals_).function()


class _Lowering:
    def __init__(self, code: types.CodeType, globals_: Mapping[str, Any]) -> None:
        self.code = code
        self.globals = globals_
        self.locals = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self.node = _mangle(definition_of(code), code)
        self.used = {n.id for n in ast.walk(self.node) if isinstance(n, ast.Name)} | self.locals
        self.temporaries = 0
        self.nonlocals: list[str] = []
        self.given: set[str] = set()  # names of variables of comprehensions
        self.captured: set[str] = set()  # by functions defined inside
        self.out: list[ir.Statement] = []

    def function(self) -> ir.Function:
        code, node = self.code, self.node
        if isinstance(node, ast.AsyncFunctionDef):
            self.refuse(node, "an `async` function")
        if code.co_flags & 0x280:
            self.refuse(node, "an `async` function")
        a = node.args
        names = [p.arg for p in (*a.posonlyargs, *a.args)]
        names += [a.vararg.arg] if a.vararg else []
        names += [p.arg for p in a.kwonlyargs]
        names += [a.kwarg.arg] if a.kwarg else []
        if isinstance(node, ast.Lambda):
            self.out.append(ir.Return(node.body, self.expression(node.body)))
        else:
            self.statements(node.body)
            if not (self.out and isinstance(self.out[-1], ir.Return)):
                end = ast.copy_location(ast.Return(), node.body[-1])
                self.out.append(ir.Return(end, ir.Const(None)))
        return ir.Function(
            code.co_name,
            code.co_filename,
            a,
            names,
            list(code.co_freevars),
            self.out,
            self.used,
            shared=sorted(self.captured - {*code.co_freevars}),
            nonlocals=self.nonlocals,
            is_generator=bool(code.co_flags & 0x20),
        )

    # -- statements ----------------------------------------------------------------------------

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            method = getattr(self, "stmt_" + type(statement).__name__.lower(), None)
            if method is None:
                self.refuse(statement, f"`{_keyword(statement)}`")
            method(statement)

    def block(self, body: list[ast.stmt]) -> list[ir.Statement]:
        outer, self.out = self.out, []
        self.statements(body)
        inner, self.out = self.out, outer
        return inner

    def stmt_expr(self, s: ast.Expr) -> None:
        if not isinstance(s.value, ast.Constant):
            self.expression(s.value)

    def stmt_pass(self, s: ast.Pass) -> None:
        pass

    def stmt_return(self, s: ast.Return) -> None:
        value = ir.Const(None) if s.value is None else self.expression(s.value)
        self.out.append(ir.Return(s, value))

    def stmt_assign(self, s: ast.Assign) -> None:
        if len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            self.expression(s.value, s.targets[0].id)
            return
        if len(s.targets) == 1 and _same_displays(s.targets[0], s.value):
            self.moves(s.targets[0], s.value)
            return
        value = self.expression(s.value)
        if len(s.targets) > 1 or not isinstance(s.targets[0], ast.Name):
            value = self.snapshot(value, s.value)
        for target in s.targets:
            self.assign(target, value)

    def moves(self, target: Any, value: Any) -> None:
        """Lower `a, b = b, a`: all values first, then all targets, and no tuple."""
        atoms = [
            self.snapshot(atom, node)
            for atom, node in zip(self.operands(*value.elts), value.elts, strict=True)
        ]
        for element, atom in zip(target.elts, atoms, strict=True):
            self.assign(element, atom)

    def stmt_annassign(self, s: ast.AnnAssign) -> None:
        if s.value is not None:
            if isinstance(s.target, ast.Name):
                self.expression(s.value, s.target.id)
            else:
                self.assign(s.target, self.expression(s.value))

    def stmt_augassign(self, s: ast.AugAssign) -> None:
        function = ir.Intrinsic("operator." + IN_PLACE[type(s.op)])
        target = s.target
        if isinstance(target, ast.Name):
            if target.id not in self.locals:
                self.refuse(s, f"an assignment to the global `{target.id}`")
            self.out.append(ir.Call(s, target.id, function, self.operands(target, s.value)))
            return
        if isinstance(target, ast.Attribute):
            name = target.attr
            owner = self.expression(target.value)
            old = self.temporary()
            self.out.append(ir.GetAttribute(target, old, owner, name))
        else:
            owner, index = self.operands(target.value, target.slice)
            old = self.temporary()
            self.out.append(ir.GetItem(target, old, owner, index))
        value = self.expression(s.value)
        new = self.temporary()
        self.out.append(ir.Call(s, new, function, [ir.Name(old), value]))
        if isinstance(target, ast.Attribute):
            self.out.append(ir.SetAttribute(s, owner, name, ir.Name(new)))
        else:
            self.out.append(ir.SetItem(s, owner, index, ir.Name(new)))

    def stmt_import(self, s: ast.Import) -> None:
        self.out.append(ir.Plain(s, [(a.asname or a.name).split(".")[0] for a in s.names]))

    def stmt_importfrom(self, s: ast.ImportFrom) -> None:
        self.out.append(ir.Plain(s, [a.asname or a.name for a in s.names]))

    def stmt_functiondef(self, s: ast.FunctionDef) -> None:
        if s.decorator_list:
            self.refuse(s, "a decorated function inside a function")
        self.closure(s, s.name)

    def stmt_if(self, s: ast.If) -> None:
        test = self.expression(s.test)
        self.out.append(ir.If(s, test, self.block(s.body), self.block(s.orelse)))

    def stmt_while(self, s: ast.While) -> None:
        outer, self.out = self.out, []
        test = self.expression(s.test)
        before, self.out = self.out, outer
        self.out.append(ir.While(s, before, test, self.block(s.body), self.block(s.orelse)))

    def stmt_for(self, s: ast.For) -> None:
        iterable = self.expression(s.iter)
        target = s.target.id if isinstance(s.target, ast.Name) else self.temporary()
        outer, self.out = self.out, []
        if not isinstance(s.target, ast.Name):
            self.assign(s.target, ir.Name(target))
        self.statements(s.body)
        body, self.out = self.out, outer
        self.out.append(ir.For(s, target, iterable, body, self.block(s.orelse)))

    def stmt_break(self, s: ast.Break) -> None:
        self.out.append(ir.Break(s))

    def stmt_continue(self, s: ast.Continue) -> None:
        self.out.append(ir.Continue(s))

    def stmt_raise(self, s: ast.Raise) -> None:
        exception = None if s.exc is None else self.expression(s.exc)
        cause = None if s.cause is None else self.expression(s.cause)
        self.out.append(ir.Raise(s, exception, cause))

    def stmt_try(self, s: ast.Try) -> None:
        handlers = []
        body = self.block(s.body)
        for h in s.handlers:
            if h.type is not None and any(
                isinstance(n, ast.NamedExpr | ast.Call) for n in ast.walk(h.type)
            ):
                self.refuse(h, "a computed exception class")
            handlers.append(ir.Handler(h.type, h.name, self.block(h.body)))
        self.out.append(ir.Try(s, body, handlers, self.block(s.orelse), self.block(s.finalbody)))

    def stmt_with(self, s: ast.With) -> None:
        self.managed(s, s.items)

    def managed(self, s: ast.With, items: list[ast.withitem]) -> None:
        """Lower `with` to `try`, as the language reference defines it."""
        if not items:
            self.statements(s.body)
            return
        item = items[0]
        manager = self.snapshot(self.expression(item.context_expr), item.context_expr)
        value = self.call(item.context_expr, None, "enter_context", [manager])
        left = self.temporary()
        self.out.append(ir.Move(s, left, ir.Const(False)))
        outer, self.out = self.out, []
        if item.optional_vars is not None:
            self.assign(item.optional_vars, value)
        self.managed(s, items[1:])
        body, self.out = self.out, []
        raised = self.temporary()
        self.out.append(ir.Move(s, left, ir.Const(True)))
        swallowed = self.call(s, None, "exit_context", [manager, ir.Name(raised)])
        self.out.append(ir.If(s, swallowed, [], [ir.Raise(s, None, None)]))
        handler, self.out = ir.Handler(None, raised, self.out), []
        self.call(s, None, "exit_context", [manager, ir.Const(None)])
        final, self.out = [ir.If(s, ir.Name(left), [], self.out)], outer
        inner = ir.Try(s, body, [handler], [], [])
        self.out.append(ir.Try(s, [inner], [], [], list(final)))

    def stmt_delete(self, s: ast.Delete) -> None:
        for target in s.targets:
            if isinstance(target, ast.Name):
                self.out.append(ir.Delete(s, target.id))
            elif isinstance(target, ast.Subscript):
                owner, index = self.operands(target.value, target.slice)
                self.out.append(ir.Call(s, "_", ir.Intrinsic("operator.delitem"), [owner, index]))
            elif isinstance(target, ast.Attribute):
                name = ir.Const(target.attr)
                owner = self.expression(target.value)
                self.out.append(ir.Call(s, "_", ir.Intrinsic("delattr"), [owner, name]))
            else:
                self.refuse(s, "this `del`")

    def stmt_nonlocal(self, s: ast.Nonlocal) -> None:
        self.nonlocals += s.names

    def stmt_global(self, s: ast.Global) -> None:
        self.refuse(s, "an assignment to a global variable")

    def stmt_classdef(self, s: ast.ClassDef) -> None:
        self.refuse(s, "a class defined inside a function")

    def stmt_match(self, s: ast.Match) -> None:
        subject = self.snapshot(self.expression(s.subject), s.subject)
        self.cases(s, subject, s.cases)

    def cases(self, s: ast.Match, subject: ir.Atom, cases: list[ast.match_case]) -> None:
        if not cases:
            return
        case = cases[0]
        matched = self.temporary()
        self.pattern(case.pattern, subject, matched)
        if case.guard is not None:
            outer, self.out = self.out, []
            self.expression(case.guard, matched)
            guard, self.out = self.out, outer
            self.out.append(ir.If(s, ir.Name(matched), guard, []))
        body = self.block(case.body)
        outer, self.out = self.out, []
        self.cases(s, subject, cases[1:])
        rest, self.out = self.out, outer
        self.out.append(ir.If(s, ir.Name(matched), body, rest))

    def pattern(self, p: ast.pattern, subject: ir.Atom, matched: str) -> None:
        """Append what tests `subject` against a pattern, binding its names on the way."""
        match p:
            case ast.MatchValue(value):
                self.call(p, matched, "operator.eq", [subject, self.expression(value)])
            case ast.MatchSingleton(value):
                self.call(p, matched, "operator.is_", [subject, ir.Const(value)])
            case ast.MatchAs(None, None):
                self.out.append(ir.Move(p, matched, ir.Const(True)))
            case ast.MatchAs(inner, name):
                if inner is None:
                    self.out.append(ir.Move(p, matched, ir.Const(True)))
                else:
                    self.pattern(inner, subject, matched)
                bind = ir.Move(p, str(name), subject)
                self.out.append(ir.If(p, ir.Name(matched), [bind], []))
            case ast.MatchOr(patterns):
                self.pattern(patterns[0], subject, matched)
                for other in patterns[1:]:
                    outer, self.out = self.out, []
                    self.pattern(other, subject, matched)
                    block, self.out = self.out, outer
                    self.out.append(ir.If(p, ir.Name(matched), [], block))
            case ast.MatchSequence(patterns):
                star = [i for i, q in enumerate(patterns) if isinstance(q, ast.MatchStar)]
                counts = [ir.Const(len(patterns)), ir.Const(star[0] if star else None)]
                self.call(p, matched, "matches_sequence", [subject, *counts])
                self.parts(p, matched, subject, "unpack", counts, patterns)
            case ast.MatchClass(cls, patterns, names, keyword_patterns):
                kind = self.expression(cls)
                spec = ir.Const((len(patterns), tuple(names)))
                self.call(p, matched, "matches_class", [subject, kind, spec])
                inner = [*patterns, *keyword_patterns]
                self.parts(p, matched, subject, "class_parts", [kind, spec], inner)
            case ast.MatchMapping(keys, patterns, None):
                spec = self.build(p, None, "tuple", [self.expression(k) for k in keys])
                self.call(p, matched, "matches_mapping", [subject, spec])
                self.parts(p, matched, subject, "mapping_parts", [spec], patterns)
            case _:
                self.refuse(p, "this pattern")

    def parts(
        self,
        p: ast.pattern,
        matched: str,
        subject: ir.Atom,
        take: str,
        spec: list[ir.Atom],
        patterns: list[ast.pattern],
    ) -> None:
        """Append, where the subject matched so far, the tests of its parts."""
        outer, self.out = self.out, []
        parts = self.call(p, None, take, [subject, *spec])
        for i, inner in enumerate(patterns):
            part = self.temporary()
            block: list[ir.Statement] = [ir.GetItem(inner, part, parts, ir.Const(i))]
            saved, self.out = self.out, block
            if isinstance(inner, ast.MatchStar):
                if inner.name is not None:
                    self.out.append(ir.Move(inner, inner.name, ir.Name(part)))
            else:
                self.pattern(inner, ir.Name(part), matched)
            block, self.out = self.out, saved
            self.out.append(ir.If(p, ir.Name(matched), block, []))
        block, self.out = self.out, outer
        self.out.append(ir.If(p, ir.Name(matched), block, []))

    def stmt_assert(self, s: ast.Assert) -> None:
        test = self.expression(s.test)
        outer, self.out = self.out, []
        exception = self.temporary()
        arguments = [] if s.msg is None else [self.expression(s.msg)]
        self.out.append(ir.Call(s, exception, ir.Intrinsic("AssertionError"), list(arguments)))
        self.out.append(ir.Raise(s, ir.Name(exception), None))
        failed, self.out = self.out, outer
        self.out.append(ir.If(s, test, [], failed))

    def assign(self, target: ast.expr, value: ir.Atom) -> None:
        if isinstance(target, ast.Name):
            if target.id not in self.locals:
                self.refuse(target, f"an assignment to the global `{target.id}`")
            self.out.append(ir.Move(target, target.id, value))
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
        parts = self.temporary()
        counts = [ir.Const(len(target.elts)), ir.Const(star)]
        self.out.append(ir.Call(target, parts, ir.Intrinsic("unpack"), [value, *counts]))
        for i, element in enumerate(target.elts):
            inner = element.value if isinstance(element, ast.Starred) else element
            name = inner.id if isinstance(inner, ast.Name) else self.temporary()
            self.out.append(ir.GetItem(element, name, ir.Name(parts), ir.Const(i)))
            if not isinstance(inner, ast.Name):
                self.assign(inner, ir.Name(name))

    # -- expressions ---------------------------------------------------------------------------

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
        """Evaluate expressions from left to right; a later `:=` does not change an earlier one."""
        atoms = []
        for i, node in enumerate(nodes):
            atom = self.expression(node)
            if isinstance(atom, ir.Name) and any(_binds(n, atom.id) for n in nodes[i + 1 :]):
                atom = self.snapshot(atom, node)
            atoms.append(atom)
        return atoms

    def snapshot(self, atom: ir.Atom, origin: ast.AST) -> ir.Atom:
        if not isinstance(atom, ir.Name):
            return atom
        copy = self.temporary()
        self.out.append(ir.Move(origin, copy, atom))
        return ir.Name(copy)

    def call(
        self, e: ast.AST, target: str | None, function: str, arguments: list[ir.Atom]
    ) -> ir.Atom:
        target = target or self.temporary()
        self.out.append(ir.Call(e, target, ir.Intrinsic(function), arguments))
        return ir.Name(target)

    def build(self, e: ast.AST, target: str | None, kind: str, items: list[ir.Atom]) -> ir.Atom:
        target = target or self.temporary()
        self.out.append(ir.Build(e, target, kind, items))
        return ir.Name(target)

    def expr_constant(self, e: ast.Constant, target: str | None) -> ir.Atom:
        return ir.Const(e.value)

    def expr_name(self, e: ast.Name, target: str | None) -> ir.Atom:
        name = e.id
        return ir.Name(name) if name in self.locals else ir.Global(name)

    def expr_attribute(self, e: ast.Attribute, target: str | None) -> ir.Atom:
        path = self.path(e)
        if path is not None:
            return ir.Global(path)
        value = self.expression(e.value)
        target = target or self.temporary()
        self.out.append(ir.GetAttribute(e, target, value, e.attr))
        return ir.Name(target)

    def path(self, e: ast.expr) -> str | None:
        """Return `e` as a dotted path, if it starts at a module and leads through modules."""
        if isinstance(e, ast.Name):
            if e.id in self.locals or not isinstance(self.global_value(e.id), _NAMESPACES):
                return None
            return e.id
        if isinstance(e, ast.Attribute):
            prefix = self.path(e.value)
            if prefix is not None and isinstance(self.path_value(prefix), _NAMESPACES):
                return f"{prefix}.{e.attr}"
        return None

    def global_value(self, name: str) -> Any:
        return self.globals.get(name, getattr(builtins, name, None))

    def path_value(self, path: str) -> Any:
        head, *rest = path.split(".")
        value = self.global_value(head)
        for name in rest:
            value = getattr(value, name, None)
        return value

    def expr_subscript(self, e: ast.Subscript, target: str | None) -> ir.Atom:
        value, index = self.operands(e.value, e.slice)
        target = target or self.temporary()
        self.out.append(ir.GetItem(e, target, value, index))
        return ir.Name(target)

    def expr_slice(self, e: ast.Slice, target: str | None) -> ir.Atom:
        none = ast.copy_location(ast.Constant(None), e)
        return self.build(
            e, target, "slice", self.operands(*(x or none for x in (e.lower, e.upper, e.step)))
        )

    def expr_binop(self, e: ast.BinOp, target: str | None) -> ir.Atom:
        arguments = self.operands(e.left, e.right)
        return self.call(e, target, "operator." + BINARY[type(e.op)], arguments)

    def expr_unaryop(self, e: ast.UnaryOp, target: str | None) -> ir.Atom:
        if isinstance(e.operand, ast.Constant) and isinstance(e.op, ast.USub):
            return ir.Const(-e.operand.value)  # type: ignore[operator]
        return self.call(e, target, "operator." + UNARY[type(e.op)], [self.expression(e.operand)])

    def expr_compare(self, e: ast.Compare, target: str | None) -> ir.Atom:
        left = self.expression(e.left)
        target = target or self.temporary()
        self.comparisons(e, target, left, list(zip(e.ops, e.comparators, strict=True)))
        return ir.Name(target)

    def comparisons(
        self,
        e: ast.Compare,
        target: str,
        left: ir.Atom,
        rest: list[tuple[ast.cmpop, ast.expr]],
    ) -> None:
        op, comparator = rest[0]
        if isinstance(left, ir.Name) and _binds(comparator, left.id):
            left = self.snapshot(left, e)
        right = self.expression(comparator)
        if isinstance(op, ast.In | ast.NotIn):
            self.call(e, target, "operator.contains", [right, left])
            if isinstance(op, ast.NotIn):
                self.call(e, target, "operator.not_", [ir.Name(target)])
        else:
            self.call(e, target, "operator." + COMPARE[type(op)], [left, right])
        if len(rest) > 1:
            outer, self.out = self.out, []
            self.comparisons(e, target, right, rest[1:])
            body, self.out = self.out, outer
            self.out.append(ir.If(e, ir.Name(target), body, []))

    def expr_boolop(self, e: ast.BoolOp, target: str | None) -> ir.Atom:
        result = self.temporary()
        self.expression(e.values[0], result)
        self.boolean(e, result, e.values[1:])
        return ir.Name(result)

    def boolean(self, e: ast.BoolOp, result: str, rest: list[ast.expr]) -> None:
        outer, self.out = self.out, []
        self.expression(rest[0], result)
        if len(rest) > 1:
            self.boolean(e, result, rest[1:])
        body, self.out = self.out, outer
        branches = (body, []) if isinstance(e.op, ast.And) else ([], body)
        self.out.append(ir.If(e, ir.Name(result), *branches))

    def expr_ifexp(self, e: ast.IfExp, target: str | None) -> ir.Atom:
        test = self.expression(e.test)
        result = self.temporary()
        branches = []
        for branch in (e.body, e.orelse):
            outer, self.out = self.out, []
            self.expression(branch, result)
            body, self.out = self.out, outer
            branches.append(body)
        self.out.append(ir.If(e, test, *branches))
        return ir.Name(result)

    def expr_namedexpr(self, e: ast.NamedExpr, target: str | None) -> ir.Atom:
        return self.expression(e.value, e.target.id)

    def expr_tuple(self, e: ast.Tuple, target: str | None) -> ir.Atom:
        return self.display(e, target, "tuple", e.elts)

    def expr_list(self, e: ast.List, target: str | None) -> ir.Atom:
        return self.display(e, target, "list", e.elts)

    def expr_set(self, e: ast.Set, target: str | None) -> ir.Atom:
        return self.display(e, target, "set", e.elts)

    def display(
        self, e: ast.expr, target: str | None, kind: str, elements: list[ast.expr]
    ) -> ir.Atom:
        if not any(isinstance(x, ast.Starred) for x in elements):
            return self.build(e, target, kind, self.operands(*elements))
        parts = self.operands(
            *(x.value if isinstance(x, ast.Starred) else ast.copy_location(ast.Tuple([x]), x)
              for x in elements)
        )  # fmt: skip
        return self.call(e, target, f"join_{kind}", parts)

    def expr_dict(self, e: ast.Dict, target: str | None) -> ir.Atom:
        if any(key is None for key in e.keys):
            parts = self.operands(
                *(value if key is None else ast.copy_location(ast.Dict([key], [value]), value)
                  for key, value in zip(e.keys, e.values, strict=True))
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

    def expr_lambda(self, e: ast.Lambda, target: str | None) -> ir.Atom:
        target = target or self.temporary()
        self.closure(e, target)
        return ir.Name(target)

    def closure(self, definition: ast.FunctionDef | ast.Lambda, target: str) -> None:
        defaults = [*definition.args.defaults, *definition.args.kw_defaults]
        if not all(isinstance(d, ast.Constant | None) for d in defaults):
            self.refuse(definition, "a computed default of a function inside a function")
        captured = sorted(_free_names(definition) & self.locals)
        self.captured |= set(captured)
        self.out.append(ir.Closure(definition, target, definition, captured))

    def expr_listcomp(self, e: ast.ListComp, target: str | None) -> ir.Atom:
        return self.comprehension(e, target, "list", "append")

    def expr_setcomp(self, e: ast.SetComp, target: str | None) -> ir.Atom:
        return self.comprehension(e, target, "set", "add")

    def expr_dictcomp(self, e: ast.DictComp, target: str | None) -> ir.Atom:
        return self.comprehension(e, target, "dict", "")

    def comprehension(self, e: Any, target: str | None, kind: str, method: str) -> ir.Atom:
        """Lower a comprehension to loops; its variables are its own."""
        if any(isinstance(n, ast.Lambda | ast.GeneratorExp) for n in ast.walk(e)):
            if kind == "dict":
                pair = ast.copy_location(ast.Tuple([e.key, e.value], ast.Load()), e)
                return self.call(e, target, "dict", [self.generator(e, pair)])
            return self.call(e, target, kind, [self.generator(e, e.elt)])
        result = self.temporary()
        self.build(e, result, kind, [])
        own = {n.id for g in e.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        names = {name: self.fresh_variable(name) for name in own}
        first = self.expression(e.generators[0].iter)

        def loops(generators: list[ast.comprehension], iterable: ir.Atom | None) -> None:
            if not generators:
                if kind == "dict":
                    key, value = self.operands(rename(e.key), rename(e.value))
                    self.out.append(ir.SetItem(e, ir.Name(result), key, value))
                else:
                    item = self.expression(rename(e.elt))
                    append = ir.Intrinsic("invoke")
                    arguments = [ir.Name(result), ir.Const(method), item]
                    self.out.append(ir.Call(e, "_", append, arguments))
                return
            g = generators[0]
            if g.is_async:
                self.refuse(e, "an `async` comprehension")
            iterable = self.expression(rename(g.iter)) if iterable is None else iterable
            outer, self.out = self.out, []
            goal = rename(g.target)
            variable = goal.id if isinstance(goal, ast.Name) else self.temporary()
            if not isinstance(goal, ast.Name):
                self.assign(goal, ir.Name(variable))
            self.conditions([rename(c) for c in g.ifs], lambda: loops(generators[1:], None), e)
            body, self.out = self.out, outer
            self.out.append(ir.For(e, variable, iterable, body, []))

        def rename(node: Any) -> Any:
            return _Rename(names).visit(copy.deepcopy(node))

        loops(e.generators, first)
        if target is not None:
            self.out.append(ir.Move(e, target, ir.Name(result)))
        return ir.Name(target or result)

    def conditions(self, tests: list[ast.expr], inner: Callable[[], None], origin: ast.AST) -> None:
        if not tests:
            inner()
            return
        test = self.expression(tests[0])
        outer, self.out = self.out, []
        self.conditions(tests[1:], inner, origin)
        body, self.out = self.out, outer
        self.out.append(ir.If(origin, test, body, []))

    def fresh_variable(self, name: str) -> str:
        """Return a name for a variable of a comprehension: its own, unless it is taken."""
        if name in self.code.co_varnames or name in self.locals or name in self.given:
            n = 1
            while f"{name}_{n}" in self.used:
                n += 1
            name = f"{name}_{n}"
        self.used.add(name)
        self.given.add(name)
        self.locals.add(name)
        return name

    def expr_generatorexp(self, e: ast.GeneratorExp, target: str | None) -> ir.Atom:
        generated = self.generator(e, e.elt)
        if target is not None:
            self.out.append(ir.Move(e, target, generated))
            return ir.Name(target)
        return generated

    def generator(self, e: Any, element: ast.expr) -> ir.Atom:
        """Lower a generator expression to a generator function defined inside, and its call."""
        first = self.expression(e.generators[0].iter)
        body: list[ast.stmt] = [ast.Expr(ast.Yield(copy.deepcopy(element)))]
        for i, g in reversed(list(enumerate(e.generators))):
            if g.is_async:
                self.refuse(e, "an `async` generator expression")
            for test in reversed(g.ifs):
                body = [ast.If(copy.deepcopy(test), body, [])]
            source = copy.deepcopy(g.iter) if i else ast.Name("iterable_", ast.Load())
            body = [ast.For(copy.deepcopy(g.target), source, body, [])]
        name = f"genexpr_{e.lineno}_{e.col_offset}"
        bound = sorted(
            {n.target.id for n in ast.walk(e) if isinstance(n, ast.NamedExpr)} & self.locals
        )
        if bound:
            body.insert(0, ast.Nonlocal(bound))
        arguments = ast.arguments([], [ast.arg("iterable_")], None, [], [], None, [])
        definition = ast.FunctionDef(name, arguments, body, [])
        if "type_params" in definition._fields:
            definition.type_params = []  # type: ignore[attr-defined]
        ast.copy_location(definition, e)
        ast.fix_missing_locations(definition)
        remember(self.code.co_filename, name, definition)
        function = self.fresh_variable(name)
        captured = sorted(_free_names(definition) & self.locals)
        self.captured |= set(captured)
        self.out.append(ir.Closure(e, function, definition, captured))
        iterator = self.call(e, None, "iter", [first])
        generated = self.temporary()
        self.out.append(ir.Call(e, generated, ir.Name(function), [iterator]))
        return ir.Name(generated)

    def expr_yield(self, e: ast.Yield, target: str | None) -> ir.Atom:
        value = ir.Const(None) if e.value is None else self.expression(e.value)
        target = target or self.temporary()
        self.out.append(ir.Yield(e, target, value))
        return ir.Name(target)

    def expr_yieldfrom(self, e: ast.YieldFrom, target: str | None) -> ir.Atom:
        """Lower `yield from` to a loop; what is sent in must be `None`."""
        iterator = self.call(e, None, "iter", [self.expression(e.value)])
        item, sent, result, stop = (self.temporary() for _ in range(4))
        self.out.append(ir.Move(e, result, ir.Const(None)))
        take = ir.Call(e, item, ir.Intrinsic("next"), [iterator])
        name = ast.copy_location(ast.Name("StopIteration", ast.Load()), e)
        value = ir.GetAttribute(e, result, ir.Name(stop), "value")
        handler = ir.Handler(name, stop, [value, ir.Break(e)])
        body: list[ir.Statement] = [ir.Try(e, [take], [handler], [], [])]
        body.append(ir.Yield(e, sent, ir.Name(item)))
        body.append(ir.Call(e, "_", ir.Intrinsic("refuse_sent"), [ir.Name(sent)]))
        self.out.append(ir.While(e, [], ir.Const(True), body, []))
        return ir.Name(result)

    def expr_call(self, e: ast.Call, target: str | None) -> ir.Atom:
        if isinstance(e.func, ast.Name) and e.func.id in ("exec", "eval", "locals", "vars"):
            if e.func.id not in self.locals and not (e.func.id == "vars" and e.args):
                self.refuse(e, f"`{e.func.id}`, which looks at local variables")
        arguments = [*e.args]
        if isinstance(e.func, ast.Name) and e.func.id == "super" and not arguments:
            first = self.code.co_varnames[0]
            atoms: list[ir.Atom] = [ir.Name("__class__"), ir.Name(first)]
            return self.call(e, target, "super", atoms)
        if any(isinstance(a, ast.Starred) for a in arguments) or any(
            k.arg is None for k in e.keywords
        ):
            return self.apply(e, target)
        values = [k.value for k in e.keywords]
        function, *atoms = self.operands(e.func, *arguments, *values)
        if any(isinstance(n, ast.NamedExpr) for a in (*arguments, *values) for n in ast.walk(a)):
            function = self.snapshot(function, e)  # the method is looked up before the arguments
        target = target or self.temporary()
        names = [k.arg or "" for k in e.keywords]
        positional, keyword = atoms[: len(arguments)], atoms[len(arguments) :]
        self.out.append(
            ir.Call(e, target, function, positional, list(zip(names, keyword, strict=True)))
        )
        return ir.Name(target)

    def apply(self, e: ast.Call, target: str | None) -> ir.Atom:
        plain = not any(isinstance(a, ast.Starred) for a in e.args)
        positional = ast.copy_location(ast.Tuple(list(e.args)), e)
        starred = [
            a.value if isinstance(a, ast.Starred) else ast.copy_location(ast.Tuple([a]), a)
            for a in e.args
        ]
        keys = [None if k.arg is None else ast.copy_location(ast.Constant(k.arg), k.value)
                for k in e.keywords]  # fmt: skip
        keyword = ast.copy_location(ast.Dict(list(keys), [k.value for k in e.keywords]), e)
        if plain:
            function, arguments, keywords = self.operands(e.func, positional, keyword)
        else:
            function, *parts, keywords = self.operands(e.func, *starred, keyword)
            arguments = self.call(e, None, "join_arguments", [function, *parts])
        target = target or self.temporary()
        self.out.append(ir.Apply(e, target, function, arguments, keywords))
        return ir.Name(target)

    # -- names ---------------------------------------------------------------------------------

    def temporary(self) -> str:
        while True:
            self.temporaries += 1
            name = f"t{self.temporaries}"
            if name not in self.used:
                self.used.add(name)
                return name

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        line = getattr(node, "lineno", self.code.co_firstlineno)
        raise unsupported(self.code.co_filename, line, self.code.co_name, what)


_NAMESPACES = (types.ModuleType, type)


def unsupported(filename: str, line: int, name: str, what: str) -> UnsupportedSyntaxError:
    """Return the error for a construct that cannot be differentiated."""
    return UnsupportedSyntaxError(
        f"{filename}:{line}: {what} cannot be differentiated (in {name}); declare a rule for "
        f"{name}, or move this into a function that no gradient passes through"
    )


def _mangle(node: Definition, code: types.CodeType) -> Definition:
    """Return a definition with private names as the compiler sees them: `_Model__w` for `__w`."""
    known = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    private = {n.rpartition("__")[2]: n for n in known if n[0] == "_" and "__" in n[1:]}
    if not any(not n.endswith("__") and not n.startswith("__") for n in private.values()):
        return node
    node = copy.deepcopy(node)
    for part in ast.walk(node):
        for name in ("id", "attr", "arg", "name"):
            given = getattr(part, name, None)
            if isinstance(given, str) and given.startswith("__") and not given.endswith("__"):
                setattr(part, name, private.get(given[2:], given))
    return node


def _same_displays(target: ast.expr, value: ast.expr) -> bool:
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return False
    starred = any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
    return not starred and len(target.elts) == len(value.elts)


def _keyword(statement: ast.stmt) -> str:
    return ast.unparse(statement).split("\n")[0].split(" ")[0].rstrip(":")


def _binds(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.NamedExpr) and n.target.id == name for n in ast.walk(node))


def _free_names(definition: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Return the names that a function defined inside may take from the enclosing one."""
    definition = copy.deepcopy(definition)
    rebound: set[str] = set()
    for node in ast.walk(definition):
        if isinstance(node, ast.Nonlocal):  # means nothing to `symtable` out of its context
            rebound.update(node.names)
            node.names = []
    text = ast.unparse(_WithoutNonlocal().visit(definition))
    table = symtable.symtable(text, "<closure>", "exec").get_children()[0]
    return _names_from_outside(table) | rebound


class _WithoutNonlocal(ast.NodeTransformer):
    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.Pass:  # noqa: N802
        return ast.Pass()


def _names_from_outside(table: symtable.SymbolTable) -> set[str]:
    names = {s.get_name() for s in table.get_symbols() if s.is_global() or s.is_free()}
    own = {s.get_name() for s in table.get_symbols() if s.is_local()}
    for child in table.get_children():
        names |= _names_from_outside(child) - own
    return names


class _Rename(ast.NodeTransformer):
    """Rename the variables of a comprehension."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:  # noqa: N802
        node.id = self.names.get(node.id, node.id)
        return node
