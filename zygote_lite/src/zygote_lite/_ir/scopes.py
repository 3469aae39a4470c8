"""Scopes: names that are private to a class, and names from an enclosing function."""

import ast
import copy
import inspect
import symtable
import types
from collections.abc import Iterator, Sequence
from typing import Any

from zygote_lite._ir.source import Definition


def mangled(node: Definition, code: types.CodeType) -> Definition:
    """Return a definition with private names as the compiler sees them: `_Model__w` for `__w`."""
    names = _names_of(code)
    private = {n.rpartition("__")[2]: n for n in names if n[:1] == "_" and "__" in n[1:]}
    if not any(not n.endswith("__") and not n.startswith("__") for n in private.values()):
        return node
    node = copy.deepcopy(node)
    for part in _outside_of_classes(node):
        for name in ("id", "attr", "arg", "name"):
            given = getattr(part, name, None)
            if isinstance(part, ast.keyword):  # of a call, whose names are never private
                continue
            if isinstance(given, str) and given.startswith("__") and not given.endswith("__"):
                setattr(part, name, private.get(given[2:], given))
        if isinstance(part, ast.Nonlocal | ast.Global):
            part.names = [private.get(n[2:], n) if n.startswith("__") else n for n in part.names]
    return node


def _names_of(code: types.CodeType) -> set[str]:
    """Return the names in code and in the functions in it; classes have private names of theirs."""
    names = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType) and inner.co_flags & inspect.CO_OPTIMIZED:
            names |= _names_of(inner)
    return names


def _outside_of_classes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a definition but for the bodies of classes in it."""
    yield node
    for name, value in ast.iter_fields(node):
        if not (isinstance(node, ast.ClassDef) and name == "body"):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    yield from _outside_of_classes(part)


def free_names(definition: ast.FunctionDef | ast.Lambda) -> set[str]:
    """Return the names that a function defined inside may take from the enclosing one."""
    definition = copy.deepcopy(definition)
    definition.decorator_list = []  # type: ignore[union-attr]
    a = definition.args  # defaults are not the function's
    a.defaults, a.kw_defaults = [], [None] * len(a.kw_defaults)
    without = _WithoutNonlocal()
    text = ast.unparse(without.visit(definition))
    table = symtable.symtable(text, "<closure>", "exec").get_children()[0]
    return _names_from_outside(table) | without.names


class _WithoutNonlocal(ast.NodeTransformer):
    """Take out `nonlocal`, which means nothing to `symtable` out of its context."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.Pass:
        self.names.update(node.names)
        return ast.Pass()


def _names_from_outside(table: symtable.SymbolTable) -> set[str]:
    names = {s.get_name() for s in table.get_symbols() if s.is_global() or s.is_free()}
    own = {s.get_name() for s in table.get_symbols() if s.is_local()}
    if table.get_type() == "class":  # functions do not see the names of a class around them
        own = set()
    for child in table.get_children():
        names |= _names_from_outside(child) - own
    return names


def names_of_class(definition: ast.ClassDef) -> list[str]:
    """Return the names that the body of a class binds."""
    found = _Bound(definition.body)
    return sorted(found.names - found.others)


def bound_by_comprehensions(definition: Definition) -> set[str]:
    """Return the names that only comprehensions bind: from Python 3.12 on, code has them too."""
    found = _Bound(definition.body if isinstance(definition.body, list) else [definition.body])
    parameters = {n.arg for n in ast.walk(definition.args) if isinstance(n, ast.arg)}
    return found.within - found.names - parameters


class _Bound(ast.NodeVisitor):
    """Find what a block binds, but for what functions and classes inside bind for themselves.

    Attributes:
        names: what it binds itself.
        within: what comprehensions in it bind.
        others: what it says is of the functions around, or of the module.
    """

    def __init__(self, body: Sequence[ast.AST]) -> None:
        self.names: set[str] = set()
        self.within: set[str] = set()
        self.others: set[str] = set()
        for node in body:
            self.visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.within |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        for part in (node.iter, *node.ifs):
            self.visit(part)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_alias(self, node: ast.alias) -> None:
        self.names.add((node.asname or node.name).partition(".")[0])

    def visit_FunctionDef(self, node: Any) -> None:
        self.names.add(node.name)
        for part in (*node.decorator_list, *getattr(node, "bases", ())):
            self.visit(part)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # noqa: N815 - names of `ast`

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)

    def generic_visit(self, node: ast.AST) -> None:
        for field in ("name", "rest"):  # of handlers and patterns
            name = getattr(node, field, None)
            if isinstance(name, str):
                self.names.add(name)
        if isinstance(node, ast.Nonlocal | ast.Global):
            self.others.update(node.names)
        super().generic_visit(node)
