"""Lowering of classes defined inside: their bodies are statements like others.

The class is still made by a `class` statement, so that methods see `__class__` and the variables
of the functions around them, and a metaclass sees the body in its order.
"""

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.lower.expressions import Expressions
from zygote_lite._ir.scopes import names_of_class


class Classes(Expressions):
    """Lowering that knows classes."""

    def stmt_classdef(self, s: ast.ClassDef) -> None:
        decorators = [self.snapshot(self.expression(d), d) for d in s.decorator_list]
        bases = [b.value if isinstance(b, ast.Starred) else b for b in s.bases]
        atoms = self.operands(*bases, *(k.value for k in s.keywords))
        starred = [isinstance(b, ast.Starred) for b in s.bases]
        given = list(zip(starred, atoms, strict=False))
        keywords = [(k.arg, a) for k, a in zip(s.keywords, atoms[len(bases) :], strict=True)]
        names = names_of_class(s)
        with self.class_scope(names), self.collected() as body:
            self.class_body(s.body)
        held = self.temporary()
        self.out.append(ir.Class(s, s.name, given, keywords, body, names, held))
        annotated = [part.annotation for part in s.body if isinstance(part, ast.AnnAssign)]
        self.note_annotations(s, s.name, annotated)
        self.decorate(s, decorators)

    @contextmanager
    def class_scope(self, names: list[str]) -> Iterator[None]:
        """Lower what is inside as statements of a class, whose names its methods do not see."""
        outer = self.locals, self.hidden, self.in_class
        self.hidden = {*names} - (self.locals - self.hidden)
        self.locals = {*self.locals, *names}
        self.in_class = True
        yield
        made = self.locals - {*names}  # variables of comprehensions, say
        self.locals, self.hidden, self.in_class = outer
        self.locals |= made

    def class_body(self, body: list[ast.stmt]) -> None:
        """Lower the statements of a class; the first may be its documentation."""
        first = body[0]
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            self.out.append(ir.Plain(first, []))
        self.statements(body)
