"""Third stage: from IR to Python, whose statements carry the lines of the user's code."""

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.bytecode import in_signature_order, without_type_parameters


@dataclass
class Emitted:
    """Emitted Python.

    Attributes:
        tree: a module with one function, the factory, which returns the emitted function.
        intrinsics: the factory's parameters: by alias, the path of what is to be passed.
    """

    tree: ast.FunctionDef
    intrinsics: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the emitted code as readable Python."""
        return ast.unparse(ast.fix_missing_locations(copy.deepcopy(self.tree)))


def emit(function: ir.Function, suffix: str = "", leading: list[str] | None = None) -> Emitted:
    """Return the Python of an IR function.

    Arguments:
        function: the IR.
        suffix: of the emitted function's name.
        leading: of recording code, the names of the tape and of the companions of the parameters;
            otherwise the captured variables lead.
    """
    tape = leading[0] if leading else None
    return _Emitter(function, tape).emit(suffix, leading or function.captured)


class _Emitter:
    def __init__(self, function: ir.Function, tape: str | None) -> None:
        self.function = function
        self.tape = tape
        self.aliases: dict[str, str] = {}
        self.origins: dict[ast.AST, ast.AST] = {}  # of statements, the user's nodes

    def emit(self, suffix: str, leading: list[str]) -> Emitted:
        f = self.function
        arguments = _without_annotations(f.parameters)
        before = [ast.arg(name) for name in leading]
        arguments.posonlyargs = [*before, *arguments.posonlyargs]
        body = self.block(f.body)
        name = ("lambda_" if f.name == "<lambda>" else f.name) + suffix
        tree = without_type_parameters(ast.FunctionDef(name, arguments, body, []))
        if f.body:
            ast.copy_location(tree, f.body[0].origin)
        _locate(tree, self.origins)
        return Emitted(tree, {alias: path for path, alias in self.aliases.items()})

    def block(self, statements: list[ir.Statement]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in statements:
            node = self.statement(s)
            self.origins[node] = s.origin
            out.append(node)
        return out or [ast.Pass()]

    def rest(self, statements: list[ir.Statement]) -> list[ast.stmt]:
        """Return an `else` or `finally`, which may be none."""
        return self.block(statements) if statements else []

    def statement(self, s: ir.Statement) -> ast.stmt:
        match s:
            case ir.Call(_, target, function, arguments, keywords):
                call = self.call(self.atom(function), arguments, keywords)
                return ast.Expr(call) if target == ir.DISCARD else _assign([target], call)
            case ir.Move(_, target, source):
                return _assign([target], self.atom(source))
            case ir.RecordedCall(_, target, companion, nodes, function, arguments, keywords):
                call = self.call(self.of_tape("call"), [function, *arguments], keywords)
                call.args.insert(0, self.tuple(nodes))
                return _assign([target, companion], call)
            case ir.Closure(_, target, definition, _, defaults):
                definition = copy.deepcopy(definition)
                a = definition.args
                values = [self.atom(value) for value in defaults]
                a.defaults, rest = values[: len(a.defaults)], iter(values[len(a.defaults) :])
                a.kw_defaults = [next(rest) if d is not None else None for d in a.kw_defaults]
                if isinstance(definition, ast.Lambda):
                    return _assign([target], definition)
                return definition
            case ir.Class():
                return self.class_(s)
            case ir.Plain(origin):
                return copy.deepcopy(origin)  # type: ignore[return-value]
            case ir.Return(_, value):
                return ast.Return(self.atom(value))
            case ir.ReturnTuple(_, values):
                return ast.Return(self.tuple(values))
            case ir.Track(_, targets, values, unpack, yields):
                whole = self.atom(values[0]) if len(values) == 1 else self.tuple(values)
                return _assign(targets, ast.Yield(whole) if yields else whole, as_tuple=unpack)
            case ir.CellOf(_, target, variable, is_own):
                nothing = ast.arguments([], [], None, [], [], None, [])
                holder = ast.Lambda(nothing, _load(variable))
                name = "own_cell_of" if is_own else "cell_of"
                return _assign([target], ast.Call(self.of_tape(name), [holder], []))
            case ir.Delete(_, name):
                return ast.Delete([ast.Name(name, ast.Del())])
        return self.structure(s)

    def class_(self, s: ir.Class) -> ast.stmt:
        """Return a `class` statement; its last statement notes what its names stand for."""
        bases = [self.atom(base) for _, base in s.bases]
        given = zip(s.bases, bases, strict=True)
        starred = [ast.Starred(b, ast.Load()) if star else b for (star, _), b in given]
        named = [ast.keyword(name, self.atom(value)) for name, value in s.keywords]
        start = s.body[:1] if s.body and isinstance(s.body[0].origin, ast.Expr) else []
        body = self.block(start) if start and isinstance(start[0], ir.Plain) else []
        rest = self.block(s.body[len(body) :])
        if s.outer:  # it is recorded
            names = ast.Call(self.atom(ir.Intrinsic("locals")), [], [])
            held = ast.Call(self.atom(ir.Intrinsic("dict")), [names], [])
            rest = [ast.Nonlocal(s.outer), *rest, _assign([s.held], held)]
        return without_type_parameters(
            ast.ClassDef(s.target, list(starred), named, [*body, *rest], [])
        )

    def structure(self, s: ir.Statement) -> ast.stmt:
        match s:
            case ir.GetAttribute(_, target, value, name):
                return _assign([target], ast.Attribute(self.atom(value), name, ast.Load()))
            case ir.GetItem(_, target, value, index):
                item = ast.Subscript(self.atom(value), self.atom(index), ast.Load())
                return _assign([target], item)
            case ir.SetAttribute(_, value, name, source):
                attribute = ast.Attribute(self.atom(value), name, ast.Store())
                return ast.Assign([attribute], self.atom(source))
            case ir.SetItem(_, value, index, source):
                item = ast.Subscript(self.atom(value), self.atom(index), ast.Store())
                return ast.Assign([item], self.atom(source))
            case ir.Build(_, target, kind, items):
                return _assign([target], self.display(kind, [self.atom(x) for x in items]))
            case ir.Apply(_, target, function, arguments, keywords):
                starred = ast.Starred(self.atom(arguments), ast.Load())
                named = [ast.keyword(None, self.atom(x)) for x in keywords]
                return _assign([target], ast.Call(self.atom(function), [starred], named))
            case ir.If(_, test, body, orelse):
                return ast.If(self.atom(test), self.block(body), self.rest(orelse))
            case ir.For(_, target, iterable, body, orelse):
                store: ast.expr = ast.Name(target, ast.Store())
                return ast.For(store, self.atom(iterable), self.block(body), self.rest(orelse))
            case ir.ForEach(_, target, companion, iterable, node, body, orelse, owned):
                names: list[ast.expr] = [ast.Name(x, ast.Store()) for x in (target, companion)]
                operands = [iterable, node, *([ir.Const(True)] if owned else [])]
                call = self.call(self.of_tape("iterate"), operands, [])
                pair = ast.Tuple(names, ast.Store())
                return ast.For(pair, call, self.block(body), self.rest(orelse))
            case ir.While(_, before, test, body, orelse):
                return self.loop(before, test, body, orelse)
            case ir.Try():
                return self.try_(s)
            case ir.Yield(_, target, value):
                return _assign([target], ast.Yield(self.atom(value)))
            case ir.Break():
                return ast.Break()
            case ir.Continue():
                return ast.Continue()
            case ir.Raise(_, exception, cause):
                return ast.Raise(
                    None if exception is None else self.atom(exception),
                    None if cause is None else self.atom(cause),
                )
        raise AssertionError(f"no Python for {type(s).__name__}")

    def try_(self, s: ir.Try) -> ast.stmt:
        """Return a `try` whose handlers, the user's, do not catch refusals of the engine."""
        handlers: list[ast.ExceptHandler] = []
        for h in s.handlers:
            everything = h.kind is None and h.name  # of `with`, which raises it again
            kind = _load("BaseException") if everything else h.kind
            if self.tape is not None and not handlers and not everything:
                refusal = self.atom(ir.Intrinsic("DifferentiationError"))
                handlers.append(ast.ExceptHandler(refusal, None, [ast.Raise()]))
            handlers.append(ast.ExceptHandler(kind, h.name, self.block(h.body)))
        kind_of_try: Any = ast.TryStar if s.star else ast.Try
        orelse, final = self.rest(s.orelse), self.rest(s.final)
        body = self.block(s.body)
        if self.tape is None or not _leaves(s.final):
            return kind_of_try(body, handlers, orelse, final)  # type: ignore[no-any-return]
        inner = [kind_of_try(body, handlers, orelse, [])] if handlers else body
        noted = [ast.Expr(ast.Call(self.of_tape("note_refusal"), [], [])), ast.Raise()]
        refused = ast.ExceptHandler(self.atom(ir.Intrinsic("DifferentiationError")), None, noted)
        again = ast.Expr(ast.Call(self.of_tape("raise_refusal"), [], []))
        return ast.Try(inner, [refused], [], [again, *final])

    def of_tape(self, name: str) -> ast.expr:
        """Return a method of the tape."""
        assert self.tape is not None
        return ast.Attribute(_load(self.tape), name, ast.Load())

    def loop(
        self,
        before: list[ir.Statement],
        test: ir.Atom,
        body: list[ir.Statement],
        orelse: list[ir.Statement],
    ) -> ast.stmt:
        """Return a `while` whose test takes statements: it is left by a `break` of its own."""
        if not before and isinstance(test, ir.Const):
            return ast.While(self.atom(test), self.block(body), [])
        stop: list[ast.stmt] = [ast.Break()]
        done = self.function.fresh("done") if orelse else ""
        if orelse:
            stop.insert(0, _assign([done], ast.Constant(True)))
        leave = ast.If(ast.UnaryOp(ast.Not(), self.atom(test)), stop, [])
        loop = ast.While(ast.Constant(True), [*self.block(before), leave, *self.block(body)], [])
        if not orelse:
            return loop
        after = ast.If(_load(done), self.block(orelse), [])
        return ast.If(ast.Constant(True), [_assign([done], ast.Constant(False)), loop, after], [])

    def call(
        self, function: ast.expr, arguments: list[ir.Atom], keywords: list[tuple[str, ir.Atom]]
    ) -> ast.Call:
        named = [ast.keyword(name, self.atom(value)) for name, value in keywords]
        return ast.Call(function, [self.atom(x) for x in arguments], named)

    def tuple(self, items: Iterable[ir.Atom]) -> ast.expr:
        return ast.Tuple([self.atom(x) for x in items], ast.Load())

    def display(self, kind: str, items: list[ast.expr]) -> ast.expr:
        if kind == "dict":
            keys: list[ast.expr | None] = [*items[::2]]
            return ast.Dict(keys, items[1::2])
        if kind == "slice":
            return ast.Call(self.atom(ir.Intrinsic("slice")), items, [])
        if kind == "set":
            return ast.Set(items)
        return ast.Tuple(items, ast.Load()) if kind == "tuple" else ast.List(items, ast.Load())

    def atom(self, atom: ir.Atom) -> ast.expr:
        match atom:
            case ir.Name(name):
                return _load(name)
            case ir.Const(value):
                return ast.Constant(value)
            case ir.Global(path):
                return _path(path)
            case ir.Intrinsic(path):
                head, dot, rest = path.partition(".")
                if head not in self.aliases:
                    taken = head in self.function.used
                    self.aliases[head] = self.function.fresh(head) if taken else head
                return _path(self.aliases[head] + dot + rest)


def _locate(tree: ast.FunctionDef, origins: dict[ast.AST, ast.AST]) -> None:
    """Let all parts of a function stand where the statement does that they are of, and it has none.

    Arguments:
        tree: the function.
        origins: of statements, the user's nodes.
    """
    waiting: list[tuple[Any, Any, Any]] = [(tree, tree, _extent_of(tree))]
    while waiting:
        part, origin, place = waiting.pop()
        if part in origins:
            origin = origins[part]
            place = _extent_of(origin)
        if part._attributes and not hasattr(part, "lineno"):
            part.lineno, part.end_lineno, part.col_offset, part.end_col_offset = place
        if isinstance(part, ast.Call) and not hasattr(part.func, "lineno"):
            _locate_method(part.func, origin)
        for name in part._fields:
            child = getattr(part, name, None)
            if isinstance(child, list):
                waiting += [(x, origin, place) for x in child if isinstance(x, ast.AST)]
            elif isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                waiting.append((child, origin, place))


def _extent_of(node: Any) -> tuple[int, int | None, int, int | None]:
    """Return where a node begins and ends: lines, and columns."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _locate_method(method: ast.expr, origin: ast.AST) -> None:
    """Give the method of a call its line: Python says that the call stands where this ends."""
    ast.copy_location(method, origin)
    read, arguments = (origin.func, origin.args) if isinstance(origin, ast.Call) else (origin, [])
    is_starred = any(isinstance(x, ast.Starred) for x in arguments)
    if isinstance(read, ast.Attribute) and not is_starred:
        method.lineno = read.end_lineno or method.lineno
    method.end_lineno, method.end_col_offset = method.lineno, method.col_offset


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _path(path: str) -> ast.expr:
    head, *rest = path.split(".")
    node: ast.expr = _load(head)
    for name in rest:
        node = ast.Attribute(node, name, ast.Load())
    return node


def _assign(targets: list[str], value: ast.expr, as_tuple: bool = False) -> ast.stmt:
    names: list[ast.expr] = [ast.Name(name, ast.Store()) for name in targets]
    if len(names) == 1 and not as_tuple:
        return ast.Assign(names, value)
    return ast.Assign([ast.Tuple(names, ast.Store())], value)


def _without_annotations(arguments: ast.arguments) -> ast.arguments:
    """Return the parameters without annotations; the defaults are the function's own."""
    arguments = copy.deepcopy(arguments)
    for argument in in_signature_order(arguments):
        argument.annotation = None
    arguments.defaults = [ast.Constant(...) for _ in arguments.defaults]
    arguments.kw_defaults = [d and ast.Constant(...) for d in arguments.kw_defaults]
    return arguments


def _leaves(body: list[ir.Statement]) -> bool:
    """Return whether statements may leave a `finally`, which would swallow what was raised."""
    leaving = (ir.Return, ir.ReturnTuple, ir.Break, ir.Continue)
    return any(isinstance(s, leaving) for s in ir.every(body))
