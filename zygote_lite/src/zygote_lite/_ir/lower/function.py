"""First stage: from the syntax tree of a function to the IR.

Expressions are taken apart into one call per statement, in Python's order of evaluation;
operators become calls of `operator.*`; control flow stays as it was written.
"""

import ast
import copy
import inspect
import types
from collections.abc import Mapping
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.bytecode import in_signature_order
from zygote_lite._ir.lower.classes import Classes
from zygote_lite._ir.lower.functions import Functions
from zygote_lite._ir.lower.patterns import Patterns
from zygote_lite._ir.operators import IN_PLACE

_FIELDS_OF_NAMES = ("arg", "name", "asname")  # fields of syntax nodes
_IN_PLACE = {of.syntax: f"operator.{f.__name__}" for f, of in IN_PLACE.items()}


def lower(
    code: types.CodeType, globals_: Mapping[str, Any], *, delegates: bool = False
) -> ir.Function:
    """Return the IR of the function that `code` was compiled from.

    Arguments:
        code: of a Python function with source.
        globals_: the function's globals; they tell which names are modules.
        delegates: whether `yield from` becomes an `ir.Delegation`, as transformed code has it.

    Raises `UnsupportedSyntaxError`, with the user's file and line, for what has no IR.
    """
    lowering = _Lowering(code, globals_)
    lowering.delegates = delegates
    return lowering.function()


class _Lowering(Classes, Functions, Patterns):
    def function(self) -> ir.Function:
        code, node = self.code, self.node
        if code.co_flags & inspect.CO_COROUTINE:
            plain = (
                "write what it computes as a plain `def`, and let the `async` function call that"
            )
            self.refuse(node, "an `async` function", plain)
        if code.co_flags & inspect.CO_ASYNC_GENERATOR:
            plain = "write what it computes as a plain `def` that returns a list or a tuple"
            self.refuse(node, "an `async` generator", plain)
        if isinstance(node, ast.Lambda):
            self.out.append(ir.Return(node.body, self.expression(node.body)))
        else:
            self.statements(node.body)
            if not (self.out and isinstance(self.out[-1], ir.Return)):
                end = ast.copy_location(ast.Return(), node.body[-1])
                self.out.append(ir.Return(end, ir.Const(None)))
        if self.held is not None:
            first = node.body if isinstance(node, ast.Lambda) else node.body[0]
            self.out.insert(0, ir.Build(first, self.held, "dict", []))
        return ir.Function(
            code.co_name,
            node.args,
            [p.arg for p in in_signature_order(node.args)],
            list(code.co_freevars),
            self.out,
            self.used,
            shared=sorted(self.captured - {*code.co_freevars}),
            nonlocals=self.nonlocals,
            is_generator=bool(code.co_flags & inspect.CO_GENERATOR),
            discard=self.temporary() if _means_something("_", self.every_node) else "_",
        )

    # -- statements ----------------------------------------------------------------------------

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            method = getattr(self, "stmt_" + type(statement).__name__.lower(), None)
            if method is None:
                self.refuse(statement, f"`{_keyword(statement)}`")
            method(statement)

    def block(self, body: list[ast.stmt]) -> list[ir.Statement]:
        with self.collected() as inner:
            self.statements(body)
        return inner

    def stmt_expr(self, s: ast.Expr) -> None:
        if isinstance(s.value, ast.Name | ast.Attribute):
            value = self.expression(s.value)  # which may be unbound
            self.out.append(ir.Move(s, self.temporary(), value))
        elif self.delegates and isinstance(s.value, ast.YieldFrom):
            self.delegate(s.value)
        elif not isinstance(s.value, ast.Constant):
            self.expression(s.value)

    def stmt_pass(self, s: ast.Pass) -> None:
        pass

    def stmt_return(self, s: ast.Return) -> None:
        value = ir.Const(None) if s.value is None else self.expression(s.value)
        self.out.append(ir.Return(s, value))

    def stmt_assign(self, s: ast.Assign) -> None:
        if len(s.targets) == 1 and self.is_local(s.targets[0]):
            self.expression(s.value, s.targets[0].id)  # type: ignore[attr-defined]
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
            self.stmt_assign(ast.copy_location(ast.Assign([s.target], s.value), s))
        if self.in_class and isinstance(s.target, ast.Name):
            annotation = copy.copy(s)
            annotation.value = None
            self.out.append(ir.Plain(annotation, []))

    def stmt_augassign(self, s: ast.AugAssign) -> None:
        function = _IN_PLACE[type(s.op)]
        target = s.target
        if isinstance(target, ast.Name):
            is_local = target.id in self.locals
            operands = self.operands(target, s.value)
            new = self.call(s, target.id if is_local else None, function, operands)
            if not is_local:
                self.assign(target, new)
            return
        read: Any = ir.GetItem
        write: Any = ir.SetItem
        place: list[Any]
        if isinstance(target, ast.Attribute):
            read, write = ir.GetAttribute, ir.SetAttribute
            place = [self.kept(self.expression(target.value), target, [s.value]), target.attr]
        else:
            parts = self.operands(target.value, target.slice)
            place = [self.kept(atom, target, [s.value]) for atom in parts]
        old = self.put(read, target, None, *place)
        new = self.call(s, None, function, [old, self.expression(s.value)])
        self.out.append(write(s, *place, new))

    def stmt_import(self, s: ast.Import | ast.ImportFrom) -> None:
        self.out.append(ir.Plain(s, [(a.asname or a.name).split(".")[0] for a in s.names]))

    stmt_importfrom = stmt_import

    def stmt_functiondef(self, s: ast.FunctionDef) -> None:
        decorators = [self.snapshot(self.expression(d), d) for d in s.decorator_list]
        plain = copy.copy(s)
        plain.decorator_list = []
        self.closure(plain, s.name)
        self.decorate(s, decorators)

    def stmt_if(self, s: ast.If) -> None:
        test = self.test(s.test)
        self.out.append(ir.If(s, test, self.block(s.body), self.block(s.orelse)))

    def stmt_while(self, s: ast.While) -> None:
        with self.collected() as before:
            test = self.test(s.test)
        self.out.append(ir.While(s, before, test, self.block(s.body), self.block(s.orelse)))

    def stmt_for(self, s: ast.For) -> None:
        iterable = self.expression(s.iter)
        target = s.target.id if self.is_local(s.target) else self.temporary()  # type: ignore[attr-defined]
        with self.collected() as body:
            if not self.is_local(s.target):
                self.assign(s.target, ir.Name(target))
            self.statements(s.body)
        self.out.append(ir.For(s, target, iterable, body, self.block(s.orelse)))

    def stmt_break(self, s: ast.Break) -> None:
        self.out.append(ir.Break(s))

    def stmt_continue(self, s: ast.Continue) -> None:
        self.out.append(ir.Continue(s))

    def stmt_raise(self, s: ast.Raise) -> None:
        atoms = self.operands(*(x for x in (s.exc, s.cause) if x is not None))
        self.out.append(ir.Raise(s, *(*atoms, None, None)[:2]))

    def stmt_try(self, s: ast.Try | ast.TryStar) -> None:
        handlers = []
        body = self.block(s.body)
        final = self.block(s.finalbody)
        if s.finalbody and not final:
            final = [ir.Plain(ast.copy_location(ast.Pass(), s), [])]
        for h in s.handlers:
            if h.type is not None and any(
                isinstance(n, ast.NamedExpr | ast.Call) for n in ast.walk(h.type)
            ):
                self.refuse(h, "a computed exception class")
            handlers.append(ir.Handler(h.type, h.name, self.block(h.body)))
        star = isinstance(s, ast.TryStar)
        self.out.append(ir.Try(s, body, handlers, self.block(s.orelse), final, star))

    stmt_trystar = stmt_try

    def stmt_with(self, s: ast.With, first: int = 0) -> None:
        """Lower `with` to `try`, as the language reference defines it, from one manager on."""
        if first == len(s.items):
            self.statements(s.body)
            return
        item = s.items[first]
        manager = self.snapshot(self.expression(item.context_expr), item.context_expr)
        value = self.call(item.context_expr, None, "enter_context", [manager])
        left = self.temporary()
        self.out.append(ir.Move(s, left, ir.Const(False)))
        with self.collected() as body:
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
            self.stmt_with(s, first + 1)
        raised = self.temporary()
        with self.collected() as handling:
            self.out.append(ir.Move(s, left, ir.Const(True)))
            swallowed = self.call(s, None, "exit_context", [manager, ir.Name(raised)])
            self.out.append(ir.If(s, swallowed, [], [ir.Raise(s, None, None)]))
        with self.collected() as leaving:
            self.call(s, None, "exit_context", [manager, ir.Const(None)])
        inner = ir.Try(s, body, [ir.Handler(None, raised, handling)], [], [])
        self.out.append(ir.Try(s, [inner], [], [], [ir.If(s, ir.Name(left), [], leaving)]))

    def stmt_delete(self, s: ast.Delete) -> None:
        for target in s.targets:
            if isinstance(target, ast.Name):
                self.out.append(ir.Delete(s, target.id))
            elif isinstance(target, ast.Subscript):
                owner, index = self.operands(target.value, target.slice)
                self.run(s, "operator.delitem", [owner, index])
            elif isinstance(target, ast.Attribute):
                name = ir.Const(target.attr)
                owner = self.expression(target.value)
                self.run(s, "delattr", [owner, name])
            else:
                self.refuse(s, "this `del`")

    def stmt_nonlocal(self, s: ast.Nonlocal) -> None:
        if not self.in_class:  # the body of a class is not the function that says so
            self.nonlocals += s.names

    def stmt_global(self, s: ast.Global) -> None:
        if self.in_class or not self.only_assigns({*s.names}):
            self.refuse(s, "a global variable bound by `def`, `class`, `except`, `case` or `del`")
        self.globals_bound.update(s.names)
        self.out.append(ir.Plain(s, []))  # for what imports

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
            with self.collected() as guard:
                self.test(case.guard, matched)
            self.out.append(ir.If(s, ir.Name(matched), guard, []))
        body = self.block(case.body)
        with self.collected() as rest:
            self.cases(s, subject, cases[1:])
        self.out.append(ir.If(s, ir.Name(matched), body, rest))

    def stmt_assert(self, s: ast.Assert) -> None:
        if not __debug__:  # `python -O` leaves assertions out, here as in the user's own code
            return
        test = self.test(s.test)
        with self.collected() as failed:
            arguments = [] if s.msg is None else [self.expression(s.msg)]
            exception = self.call(s, None, "AssertionError", arguments)
            self.out.append(ir.Raise(s, exception, None))
        self.out.append(ir.If(s, test, [], failed))


def _same_displays(target: ast.expr, value: ast.expr) -> bool:
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return False
    starred = any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts))
    return not starred and len(target.elts) == len(value.elts)


def _means_something(name: str, parts: list[ast.AST]) -> bool:
    """Return whether a definition, of these parts, does more with a name than to assign it."""
    for node in parts:
        if isinstance(node, ast.Name):
            found = node.id == name and not isinstance(node.ctx, ast.Store)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found = name in node.names
        else:
            fields = [part for part in node._fields if part in _FIELDS_OF_NAMES]  # of few nodes
            found = any(getattr(node, part, None) == name for part in fields)
        if found:
            return True
    return False


def _keyword(statement: ast.stmt) -> str:
    return ast.unparse(statement).split("\n")[0].split(" ")[0].rstrip(":")
