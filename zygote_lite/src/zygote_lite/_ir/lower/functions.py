"""Lowering of functions defined inside, of `yield` and of `yield from`."""

import ast

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.lower.expressions import Expressions
from zygote_lite._ir.scopes import free_names


class Functions(Expressions):
    """Lowering that knows functions defined inside, and generators."""

    def expr_lambda(self, e: ast.Lambda, target: str | None) -> ir.Atom:
        target = target or self.temporary()
        self.closure(e, target)
        return ir.Name(target)

    def closure(self, definition: ast.FunctionDef | ast.Lambda, target: str) -> None:
        a = definition.args
        positional = [*a.posonlyargs, *a.args][-len(a.defaults) :] if a.defaults else []
        optional = [
            *positional,
            *(p for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d),
        ]
        nodes = [*a.defaults, *(d for d in a.kw_defaults if d is not None)]
        defaults = [self.snapshot(v, n) for v, n in zip(self.operands(*nodes), nodes, strict=True)]
        captured = self.captures(definition)
        self.out.append(ir.Closure(definition, target, definition, captured, defaults))
        if any(isinstance(value, ir.Name) for value in defaults):
            names = ir.Const(tuple(p.arg for p in optional))
            self.run(definition, "set_defaults", [ir.Name(target), names, *defaults])

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
