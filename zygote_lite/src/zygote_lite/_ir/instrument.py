"""Second stage: every operation that needs a pullback becomes a call.

Attribute access, subscripts, construction and writes become calls of functions that the engine
has pullbacks for; a method call becomes one `invoke`, so that the cotangent of the object need
not pass through a bound method.
"""

import ast
from collections import Counter
from dataclasses import replace

from zygote_lite._ir import nodes as ir


def instrument(function: ir.Function) -> ir.Function:
    """Return `function` with all operations on structures as calls."""
    uses = Counter(_variables(function.body))
    return replace(function, body=_block(function.body, uses))


def _variables(body: list[ir.Statement]) -> list[str]:
    names = []
    for statement in body:
        names += [atom.id for atom in ir.atoms_of(statement) if isinstance(atom, ir.Name)]
        for inner in ir.blocks_of(statement):
            names += _variables(inner)
    return names


def _block(body: list[ir.Statement], uses: Counter[str]) -> list[ir.Statement]:
    methods: dict[str, ir.GetAttribute] = {}
    called = {
        s.function.id for s in body if isinstance(s, ir.Call) and isinstance(s.function, ir.Name)
    }
    out: list[ir.Statement] = []
    for s in body:
        if (
            isinstance(s, ir.GetAttribute)
            and s.target in called
            and uses[s.target] == 1
            and isinstance(s.value, ir.Name)
        ):
            methods[s.target] = s  # looked up where it is called
        elif isinstance(s, ir.Call) and isinstance(s.function, ir.Name):
            method = methods.pop(s.function.id, None)
            out.append(s if method is None else _invocation(s, method))
        else:
            out.append(_statement(s, uses))
    return out


def _invocation(s: ir.Call, method: ir.GetAttribute) -> ir.Statement:
    arguments = [method.value, ir.Const(method.name), *s.arguments]
    return replace(s, function=ir.Intrinsic("invoke"), arguments=arguments)


def _statement(s: ir.Statement, uses: Counter[str]) -> ir.Statement:
    match s:
        case ir.GetAttribute(origin, target, value, name):
            return _intrinsic_call(origin, target, "getattr", [value, ir.Const(name)])
        case ir.GetItem(origin, target, value, index):
            return _intrinsic_call(origin, target, "operator.getitem", [value, index])
        case ir.SetAttribute(origin, value, name, source):
            return _intrinsic_call(origin, ir.DISCARD, "setattr", [value, ir.Const(name), source])
        case ir.SetItem(origin, value, index, source):
            return _intrinsic_call(origin, ir.DISCARD, "operator.setitem", [value, index, source])
        case ir.Build(origin, target, kind, items):
            return _intrinsic_call(origin, target, f"build_{kind}", items)
        case ir.Apply(origin, target, function, arguments, keywords):
            return _intrinsic_call(origin, target, "apply", [function, arguments, keywords])
        case ir.If(origin, test, body, orelse):
            return ir.If(origin, test, _block(body, uses), _block(orelse, uses))
        case ir.For(origin, target, iterable, body, orelse):
            return ir.For(origin, target, iterable, _block(body, uses), _block(orelse, uses))
        case ir.While(origin, before, test, body, orelse):
            blocks = (_block(before, uses), test, _block(body, uses), _block(orelse, uses))
            return ir.While(origin, *blocks)
        case ir.Class():
            return replace(s, body=_block(s.body, uses))
        case ir.Try(origin, body, handlers, orelse, final, star):
            handlers = [replace(h, body=_block(h.body, uses)) for h in handlers]
            rest = (_block(orelse, uses), _block(final, uses))
            return ir.Try(origin, _block(body, uses), handlers, *rest, star)
    return s


def _intrinsic_call(
    origin: ast.AST, target: str, function: str, arguments: list[ir.Atom]
) -> ir.Call:
    return ir.Call(origin, target, ir.Intrinsic(function), arguments)
