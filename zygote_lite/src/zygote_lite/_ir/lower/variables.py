"""Lowering of names: their scope, whether something else may assign them, and new names."""

import __future__

import ast
import builtins
import enum
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.bytecode import placed
from zygote_lite._ir.module_hooks import hook_of_module
from zygote_lite._ir.scopes import bound_by_comprehensions, mangled
from zygote_lite._ir.source import definition_of, rebound_near
from zygote_lite._ir.traits import HEAPTYPE
from zygote_lite.errors import unsupported

_FUTURE = __future__.annotations.compiler_flag
_NAMESPACES = (types.ModuleType, type)


class Variables:
    """The lowering of one function: its names, and the statements so far."""

    def __init__(self, code: types.CodeType, globals_: Mapping[str, Any]) -> None:
        self.code = code
        self.globals = globals_
        self.locals = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self.node = mangled(definition_of(code), code)
        self.of_comprehensions = bound_by_comprehensions(self.node) - {*code.co_freevars}
        self.locals -= self.of_comprehensions
        self.every_node = [*ast.walk(self.node)]
        self.used = {n.id for n in self.every_node if isinstance(n, ast.Name)} | self.locals
        self.temporaries = 0
        self.nonlocals: list[str] = []
        self.globals_bound: set[str] = set()  # by assignments: the function says `global`
        self.given: set[str] = set()  # names of variables of comprehensions
        self.rebound = rebound_near(code)  # in other functions: `nonlocal`, `global`
        self.captured: set[str] = set()  # by functions defined inside
        self.hidden: set[str] = set()  # names of a class, which its methods do not see
        self.in_class = False
        self.out: list[ir.Statement] = []

    @contextmanager
    def collected(self) -> Iterator[list[ir.Statement]]:
        """Collect the statements that are appended inside in a block of their own."""
        outer, self.out = self.out, []
        yield self.out
        self.out = outer

    def put(self, kind: Any, e: ast.AST, target: str | None, *parts: Any) -> ir.Atom:
        """Append a statement of a kind that gives a variable its value: `target`, or a new one."""
        target = self.temporary() if target is None else target
        self.out.append(kind(e, target, *parts))
        return ir.Name(target)

    def call(
        self, e: ast.AST, target: str | None, function: str, arguments: list[ir.Atom]
    ) -> ir.Atom:
        return self.put(ir.Call, e, target, ir.Intrinsic(function), arguments)

    def run(self, e: ast.AST, function: str, arguments: list[ir.Atom]) -> None:
        """Append a call whose value nobody asks for."""
        self.call(e, ir.DISCARD, function, arguments)

    def note_annotations(
        self, e: ast.AST, target: str, annotations: Iterable[ast.expr | None]
    ) -> None:
        """Append what notes the variables that annotations name, where these have been computed."""
        if self.code.co_flags & _FUTURE or sys.version_info >= (3, 14):  # they are texts, or later
            return
        parts = [n for x in annotations if x is not None for n in ast.walk(x)]
        names = {n.id for n in parts if isinstance(n, ast.Name)} & self.locals
        if names:
            self.run(e, "note_annotations", [ir.Name(n) for n in (target, *sorted(names))])

    def assign_global(self, target: ast.Name, value: ir.Atom) -> None:
        """Append what gives a variable of the module its value, which can carry no gradient."""
        if target.id not in self.globals_bound:
            self.refuse(target, f"an assignment to the global `{target.id}`")
        here = self.temporary()  # a function, which knows the variables of its module
        there = placed(ast.parse(f"{here} = lambda: None").body[0], target)
        self.out.append(ir.Plain(there, [here]))
        arguments: list[ir.Atom] = [ir.Name(here), ir.Const(target.id), value]
        self.call(target, None, "write_global", arguments)

    def is_local(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and target.id in self.locals

    def only_assigns(self, names: set[str]) -> bool:
        """Return whether the function binds some names by `=`, loops and imports alone."""
        bound = [
            n.id for n in self.every_node if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)
        ]
        kinds = (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
        bound += [n.name for n in self.every_node if isinstance(n, kinds) and n.name is not None]
        return not names.intersection(bound)

    def kept(self, atom: ir.Atom, origin: ast.AST, later: Iterable[ast.expr]) -> ir.Atom:
        """Return an atom for a value that cannot be changed by what is evaluated later.

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

    def temporary(self) -> str:
        while True:
            self.temporaries += 1
            name = f"t{self.temporaries}"
            if name not in self.used:
                self.used.add(name)
                return name

    def refuse(self, node: ast.AST, what: str, instead: str = "") -> NoReturn:
        line = getattr(node, "lineno", self.code.co_firstlineno)
        raise unsupported(self.code.co_filename, line, self.code.co_name, what, instead)


def _is_settled(space: Any, name: str) -> bool:
    """Return whether an attribute cannot be a variable: user classes hold variables too."""
    if isinstance(space, types.ModuleType):
        return hook_of_module(space, name) is None
    if not space.__flags__ & HEAPTYPE:
        return True
    member = inspect.getattr_static(space, name, None)
    settled = (types.FunctionType, staticmethod, classmethod, type, enum.Enum)
    return isinstance(member, settled)


def _is_library(space: Any) -> bool:
    """Return whether a module belongs to Python or NumPy: nobody changes the numbers in it."""
    name = getattr(space, "__name__", "").partition(".")[0]
    return isinstance(space, types.ModuleType) and name in {*sys.stdlib_module_names, "numpy"}


def _is_at_rest(node: ast.expr) -> bool:
    """Return whether evaluating an expression cannot run user code."""
    if isinstance(node, ast.Tuple | ast.List):
        return all(map(_is_at_rest, node.elts))
    return isinstance(node, ast.Name | ast.Constant)


def _binds(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.NamedExpr) and n.target.id == name for n in ast.walk(node))
