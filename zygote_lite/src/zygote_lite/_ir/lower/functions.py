"""Lowering of functions defined inside, generators among them, and of comprehensions to loops.

A generator expression becomes a function defined inside, and its call.
"""

import ast
import copy
from collections.abc import Callable
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.bytecode import in_signature_order, names_from_outside, without_type_parameters
from zygote_lite._ir.lower.expressions import Expressions
from zygote_lite._ir.scopes import free_names
from zygote_lite._ir.source import remember

Rename = Callable[[Any], Any]
"""What gives the variables of a comprehension the names that they have in the function."""


class Functions(Expressions):
    """Lowering that knows functions defined inside, generators and comprehensions.

    Attributes:
        delegates: whether `yield from` becomes an `ir.Delegation`, as transformed code has it.
    """

    delegates = False

    def expr_lambda(self, e: ast.Lambda, target: str | None) -> ir.Atom:
        target = target or self.temporary()
        self.closure(e, target)
        return ir.Name(target)

    def closure(self, definition: ast.FunctionDef | ast.Lambda, target: str) -> None:
        a = definition.args
        positional = [*a.posonlyargs, *a.args]
        optional = positional[len(positional) - len(a.defaults) :]
        optional += [p for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d]
        nodes = [*a.defaults, *(d for d in a.kw_defaults if d is not None)]
        defaults = [self.snapshot(v, n) for v, n in zip(self.operands(*nodes), nodes, strict=True)]
        captured = self.captures(definition)
        self.out.append(ir.Closure(definition, target, definition, captured, defaults))
        if any(isinstance(value, ir.Name) for value in defaults):
            names = ir.Const(tuple(p.arg for p in optional))
            self.run(definition, "set_defaults", [ir.Name(target), names, *defaults])
        if isinstance(definition, ast.FunctionDef):
            annotations = [p.annotation for p in in_signature_order(a)]
            self.note_annotations(definition, target, [*annotations, definition.returns])

    def captures(self, definition: ast.FunctionDef | ast.Lambda) -> list[str]:
        """Return the variables that a function defined inside captures, and note them."""
        captured = sorted(free_names(definition) & (self.locals - self.hidden))
        self.captured |= set(captured)
        return captured

    def expr_yield(self, e: ast.Yield, target: str | None) -> ir.Atom:
        value = ir.Const(None) if e.value is None else self.expression(e.value)
        return self.put(ir.Yield, e, target, value)

    def expr_yieldfrom(self, e: ast.YieldFrom, target: str | None) -> ir.Atom:
        """Lower `yield from` to a loop, as the language reference defines it."""
        if self.delegates:
            return self.call(e, target, "value_returned", [self.delegate(e)])
        iterator = self.call(e, None, "iter", [self.expression(e.value)])
        item, sent, thrown, raised, result, stop = (self.temporary() for _ in range(6))
        nothing = ir.Const(None)
        self.out += [ir.Move(e, name, nothing) for name in (sent, thrown, result)]
        operands: list[ir.Atom] = [iterator, ir.Name(sent), ir.Name(thrown)]
        name = ast.copy_location(ast.Name("StopIteration", ast.Load()), e)
        value = ir.GetAttribute(e, result, ir.Name(stop), "value")
        ended = ir.Handler(name, stop, [value, ir.Break(e)])
        keep: list[ir.Statement] = [ir.Move(e, thrown, ir.Name(raised)), ir.Move(e, sent, nothing)]
        take = ir.Call(e, item, ir.Intrinsic("resume"), operands)
        give = ir.Yield(e, sent, ir.Name(item))
        body: list[ir.Statement] = [
            ir.Try(e, [take], [ended], [], []),
            ir.Move(e, thrown, nothing),
            ir.Try(e, [give], [ir.Handler(None, raised, keep)], [], []),
        ]
        self.out.append(ir.While(e, [], ir.Const(True), body, []))
        return ir.Name(result)

    def delegate(self, e: ast.YieldFrom) -> ir.Atom:
        """Append a loop that yields what an iterator gives; return the iterator."""
        iterator = self.call(e, None, "iter", [self.expression(e.value)])
        item, sent = self.temporary(), self.temporary()
        give: list[ir.Statement] = [ir.Yield(e, sent, ir.Name(item))]
        self.out.append(ir.Delegation(e, item, iterator, give, []))
        return iterator

    def expr_listcomp(
        self, e: ast.ListComp | ast.SetComp | ast.DictComp, target: str | None
    ) -> ir.Atom:
        return self.comprehension(e, target, type(e).__name__.lower().removesuffix("comp"))

    expr_setcomp = expr_dictcomp = expr_listcomp

    def comprehension(self, e: Any, target: str | None, kind: str) -> ir.Atom:
        """Lower a comprehension to loops; its variables are its own."""
        if any(isinstance(n, ast.Lambda | ast.GeneratorExp) for n in ast.walk(e)):
            # one that is defined inside captures its variables: it becomes a function
            is_dict = isinstance(e, ast.DictComp)
            item = ast.Tuple([e.key, e.value], ast.Load()) if is_dict else e.elt
            return self.call(e, target, kind, [self.generator(e, ast.copy_location(item, e))])
        result = self.build(e, None, kind, [])

        def add(rename: Rename) -> None:
            if kind == "dict":
                key, value = self.operands(rename(e.key), rename(e.value))
                self.out.append(ir.SetItem(e, result, key, value))
                return
            method = ir.Const("append" if kind == "list" else "add")
            self.run(e, "invoke", [result, method, self.expression(rename(e.elt))])

        self.loops(e, add)
        return result if target is None else self.put(ir.Move, e, target, result)

    def loops(self, e: Any, inner: Callable[[Rename], None]) -> None:
        """Append the loops of a comprehension; its variables are its own.

        Arguments:
            e: the comprehension.
            inner: appends what is done with each element; it is given what renames variables.
        """
        own = {n.id for g in e.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        names = {name: self.fresh_variable(name) for name in own}
        first = self.expression(e.generators[0].iter)

        def rename(node: Any) -> Any:
            return renamed(node, names)

        self.within += 1

        def nest(generators: list[ast.comprehension], iterable: ir.Atom | None) -> None:
            if not generators:
                inner(rename)
                return
            g = generators[0]
            if g.is_async:
                self.refuse(e, "an `async` comprehension")
            iterable = self.expression(rename(g.iter)) if iterable is None else iterable
            with self.collected() as body:
                goal = rename(g.target)
                variable = goal.id if isinstance(goal, ast.Name) else self.temporary()
                if not isinstance(goal, ast.Name):
                    self.assign(goal, ir.Name(variable))
                self.conditions([rename(c) for c in g.ifs], lambda: nest(generators[1:], None), e)
            self.out.append(ir.For(e, variable, iterable, body, []))

        nest(e.generators, first)
        self.within -= 1

    def conditions(self, tests: list[ast.expr], inner: Callable[[], None], origin: ast.AST) -> None:
        if not tests:
            inner()
            return
        test = self.test(tests[0])
        with self.collected() as body:
            self.conditions(tests[1:], inner, origin)
        self.out.append(ir.If(origin, test, body, []))

    def fresh_variable(self, name: str) -> str:
        """Return a name for a variable of a comprehension: its own, unless it is taken."""
        taken = name in self.locals or name in self.given
        if taken or name in self.code.co_varnames or name in names_from_outside(self.code):
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
        return generated if target is None else self.put(ir.Move, e, target, generated)

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
        definition = without_type_parameters(ast.FunctionDef(name, arguments, body, []))
        ast.copy_location(definition, e)
        ast.fix_missing_locations(definition)
        remember(self.code.co_filename, definition)
        function = self.fresh_variable(definition.name)
        captured = self.captures(definition)
        self.out.append(ir.Closure(e, function, definition, captured))
        iterator = self.call(e, None, "iter", [first])
        return self.put(ir.Call, e, None, ir.Name(function), [iterator])


def renamed(node: Any, names: dict[str, str]) -> Any:
    """Return a copy of a syntax tree, or of a list of trees, in which variables have other names.

    Arguments:
        node: the tree, or a list of trees.
        names: by variables, their other names.
    """
    if isinstance(node, list):
        return [renamed(part, names) for part in node]
    if not isinstance(node, ast.AST) or isinstance(node, ast.expr_context | ast.operator):
        return node
    parts = {name: renamed(part, names) for name, part in ast.iter_fields(node)}
    if isinstance(node, ast.Name):
        parts["id"] = names.get(node.id, node.id)
    return ast.copy_location(type(node)(**parts), node)
