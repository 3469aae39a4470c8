"""Lowering of expressions: one call per statement, in Python's order of evaluation.

Targets of assignments are expressions too, that are stored to.
"""

import ast
import builtins
import enum
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from zygote_lite import _ir as ir
from zygote_lite._errors import unsupported
from zygote_lite._names import mangled
from zygote_lite._source import definition_of, rebound_near

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.MatMult: "matmul", ast.BitAnd: "and_",
    ast.BitOr: "or_", ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not_",
}  # fmt: skip
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.Is: "is_", ast.IsNot: "is_not",
}  # fmt: skip
_NAMESPACES = (types.ModuleType, type)
_PYTHON_TYPE = 1 << 9  # `Py_TPFLAGS_HEAPTYPE`: made by a `class` statement, as a rule
_LOOKING_AT_LOCALS = ("exec", "eval", "locals", "globals", "vars")


class Expressions:
    """The lowering of one function: the statements so far, and how expressions add to them."""

    def __init__(self, code: types.CodeType, globals_: Mapping[str, Any]) -> None:
        self.code = code
        self.globals = globals_
        self.locals = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self.node = mangled(definition_of(code), code)
        self.used = {n.id for n in ast.walk(self.node) if isinstance(n, ast.Name)} | self.locals
        self.temporaries = 0
        self.nonlocals: list[str] = []
        self.globals_bound: set[str] = set()  # by assignments: the function says `global`
        self.given: set[str] = set()  # names of variables of comprehensions
        self.rebound = rebound_near(code)  # in other functions: `nonlocal`, `global`
        self.captured: set[str] = set()  # by functions defined inside
        self.hidden: set[str] = set()  # names of a class, which its methods do not see
        self.in_class = False
        self.out: list[ir.Statement] = []

    def statements(self, body: list[ast.stmt]) -> None:
        """Append what does the statements of a block."""
        raise NotImplementedError

    @contextmanager
    def collected(self) -> Iterator[list[ir.Statement]]:
        """Collect the statements that are appended inside in a block of their own."""
        outer, self.out = self.out, []
        yield self.out
        self.out = outer

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

    def assign_global(self, target: ast.Name, value: ir.Atom) -> None:
        """Append what gives a variable of the module its value, which can carry no gradient."""
        if target.id not in self.globals_bound:
            self.refuse(target, f"an assignment to the global `{target.id}`")
        here = self.temporary()  # a function, which knows the variables of its module
        there = ast.copy_location(ast.parse(f"{here} = lambda: None").body[0], target)
        for node in ast.walk(there):
            ast.copy_location(node, target)
        self.out.append(ir.Plain(there, [here]))
        arguments: list[ir.Atom] = [ir.Name(here), ir.Const(target.id), value]
        self.call(target, None, "write_global", arguments)

    def is_local(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and target.id in self.locals

    def only_assigns(self, names: set[str]) -> bool:
        """Return whether the function binds some names by `=`, loops and imports alone."""
        nodes = list(ast.walk(self.node))
        bound = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)]
        kinds = (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
        bound += [n.name for n in nodes if isinstance(n, kinds) and n.name is not None]
        return not names.intersection(bound)

    def unpack(self, target: ast.Tuple | ast.List, value: ir.Atom) -> None:
        star = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
        parts = self.temporary()
        counts = [ir.Const(len(target.elts)), ir.Const(star)]
        self.out.append(ir.Call(target, parts, ir.Intrinsic("unpack"), [value, *counts]))
        for i, element in enumerate(target.elts):
            inner = element.value if isinstance(element, ast.Starred) else element
            name = inner.id if self.is_local(inner) else self.temporary()  # type: ignore[attr-defined]
            self.out.append(ir.GetItem(element, name, ir.Name(parts), ir.Const(i)))
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

    def kept(self, atom: ir.Atom, origin: ast.AST, later: Iterable[ast.expr]) -> ir.Atom:
        """Return where a value is that what is evaluated later cannot change.

        A later `:=` gives the variable another value, and so may a call: that of a function that
        says `nonlocal`, or `global`.
        """
        if isinstance(atom, ir.Const | ir.Intrinsic):
            return atom
        if isinstance(atom, ir.Name) and any(_binds(n, atom.id) for n in later):
            return self.snapshot(atom, origin)
        if self.may_change(atom) and not all(map(_is_at_rest, later)):
            return self.snapshot(atom, origin)
        return atom

    def may_change(self, atom: ir.Atom) -> bool:
        """Return whether other functions may give a variable another value."""
        if isinstance(atom, ir.Name):
            return atom.id in self.rebound
        if not isinstance(atom, ir.Global):
            return False
        head, _, name = atom.path.rpartition(".")
        if not head:
            value = self.global_value(name)
        elif _is_library(space := self.path_value(head)):
            return False
        else:
            value = inspect.getattr_static(space, name, None)  # which computes nothing
        is_code = isinstance(value, types.ModuleType) or callable(value)
        return not is_code or atom.path.partition(".")[0] in self.rebound

    def snapshot(self, atom: ir.Atom, origin: ast.AST) -> ir.Atom:
        if isinstance(atom, ir.Const | ir.Intrinsic):
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
            space = None if prefix is None else self.path_value(prefix)
            if isinstance(space, _NAMESPACES) and _is_settled(space, e.attr):
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
    ) -> None:
        op, comparator = rest[0]
        left = self.kept(left, e, [comparator])
        right = self.expression(comparator)
        if isinstance(op, ast.In | ast.NotIn):
            self.call(e, target, "operator.contains", [right, left])
            if isinstance(op, ast.NotIn):
                self.call(e, target, "operator.not_", [ir.Name(target)])
        else:
            self.call(e, target, "operator." + COMPARE[type(op)], [left, right])
        if len(rest) > 1:
            with self.collected() as body:
                self.comparisons(e, target, right, rest[1:])
            self.out.append(ir.If(e, ir.Name(target), body, []))

    def expr_boolop(self, e: ast.BoolOp, target: str | None) -> ir.Atom:
        result = self.temporary()
        self.expression(e.values[0], result)
        self.boolean(e, result, e.values[1:])
        return ir.Name(result)

    def boolean(self, e: ast.BoolOp, result: str, rest: list[ast.expr]) -> None:
        with self.collected() as body:
            self.expression(rest[0], result)
            if len(rest) > 1:
                self.boolean(e, result, rest[1:])
        branches = (body, []) if isinstance(e.op, ast.And) else ([], body)
        self.out.append(ir.If(e, ir.Name(result), *branches))

    def expr_ifexp(self, e: ast.IfExp, target: str | None) -> ir.Atom:
        test = self.expression(e.test)
        result = self.temporary()
        branches = []
        for branch in (e.body, e.orelse):
            with self.collected() as body:
                self.expression(branch, result)
            branches.append(body)
        self.out.append(ir.If(e, test, *branches))
        return ir.Name(result)

    def expr_namedexpr(self, e: ast.NamedExpr, target: str | None) -> ir.Atom:
        if self.is_local(e.target):
            return self.expression(e.value, e.target.id)
        value = self.snapshot(self.expression(e.value), e)
        self.assign(e.target, value)
        return value

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
        return self.call(e, target, f"join_{kind}", self.operands(*self.spread(elements, [])))

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
        if (
            name in _LOOKING_AT_LOCALS
            and name not in self.locals
            and not (name == "vars" and e.args)
        ):
            self.refuse(e, f"`{name}`, which looks at the variables of its caller")
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
        alone = len(e.args) == 1  # Python walks over it when it calls, after the keywords
        starred = self.spread(list(e.args), [] if alone else [k.value for k in e.keywords])
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


def _is_settled(space: Any, name: str) -> bool:
    """Return whether an attribute is no variable: classes of the user's hold variables too."""
    if isinstance(space, types.ModuleType) or not space.__flags__ & _PYTHON_TYPE:
        return True
    member = inspect.getattr_static(space, name, None)
    settled = (types.FunctionType, staticmethod, classmethod, type, enum.Enum)
    return isinstance(member, settled)


def _is_library(space: Any) -> bool:
    """Return whether a module belongs to Python or NumPy: nobody changes the numbers in it."""
    name = getattr(space, "__name__", "").partition(".")[0]
    return isinstance(space, types.ModuleType) and name in {*sys.stdlib_module_names, "numpy"}


def _is_at_rest(node: ast.expr) -> bool:
    """Return whether evaluating an expression runs no code of the user's."""
    if isinstance(node, ast.Tuple | ast.List):
        return all(map(_is_at_rest, node.elts))
    return isinstance(node, ast.Name | ast.Constant | ast.Lambda)


def _binds(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.NamedExpr) and n.target.id == name for n in ast.walk(node))
