"""`class` statements inside a function: their bodies as statements of the function.

What a body binds are variables, whose names begin with the number of the class. At its end
`Define` makes the class of what they hold then: see `models.made_classes`.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.normalize.blocks import Block
from zygote_lite._specialize.typed.naming import of_body
from zygote_lite._specialize.typed.reasons import NotSupported

_OF_ANNOTATIONS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Tuple, ast.List,
                   ast.BinOp, ast.BitOr, ast.expr_context)  # fmt: skip


@dataclass
class Begin(ir.Statement):
    """`target` is the variable `__class__` that the methods of a class share."""

    target: str


@dataclass
class Define(ir.Statement):
    """`class target(*bases)`, of what its body has left.

    Attributes:
        bases: those after which it is made.
        entries: its attributes, each with the variable for it.
        cell: the variable `__class__` of its methods.
        annotated: the names that it annotates, in their order.
        within: the names of the classes around it.
    """

    target: str
    bases: list[ir.Atom]
    entries: list[tuple[str, ir.Name]]
    cell: ir.Name
    annotated: list[str] = field(default_factory=list)
    within: str = ""


def without_classes(body: Block, fresh: Callable[[str], str], within: str = "") -> Block:
    """Return a block in which the bodies of classes are statements like others."""
    out: Block = []
    for s in body:
        if isinstance(s, ir.Class):
            out += _defined(s, fresh, within)
        else:
            out.append(with_blocks(s, lambda block: without_classes(block, fresh, within)))
    return out


def with_blocks(s: Any, of: Callable[[Block], Block]) -> ir.Statement:
    """Return a statement in which something was done with the blocks in it."""
    blocks = {name: of(value) for name, value in vars(s).items() if _is_block(value)}
    if isinstance(s, ir.Try):
        blocks["handlers"] = [replace(h, body=of(h.body)) for h in s.handlers]  # type: ignore
    return cast(ir.Statement, replace(s, **blocks) if blocks else s)


def _is_block(x: Any) -> bool:
    return isinstance(x, list) and bool(x) and isinstance(x[0], ir.Statement)


def _defined(s: ir.Class, fresh: Callable[[str], str], within: str) -> Block:
    """Return the statements that stand for a `class` statement."""
    if s.keywords or any(starred for starred, _ in s.bases):
        raise NotSupported.STATEMENT(f"the class {s.target} has a metaclass, or options")
    number = fresh("class")
    names = {name: of_body(number, name) for name in s.names}
    path = f"{within}{s.target}."
    inner = _Body(names, of_body(number, "__class__"), s.target)
    body = [inner.renamed(part) for part in without_classes(s.body, fresh, path)]
    annotated = dict.fromkeys(
        name for part in ir.every(s.body) if (name := _annotated(part)) is not None
    )
    bases = [atom for _, atom in s.bases]
    entries = [(_private(s.target, name), ir.Name(names[name])) for name in s.names]
    end = Define(s.origin, s.target, bases, entries, ir.Name(inner.cell), [*annotated], within)
    return [Begin(s.origin, inner.cell), *body, end]


def _private(kind: str, name: str) -> str:
    """Return the name that a private attribute of a class has outside."""
    is_private = name.startswith("__") and not name.endswith("__") and kind.strip("_")
    return f"_{kind.lstrip('_')}{name}" if is_private else name


def _annotated(s: ir.Statement) -> str | None:
    """Return the name that a statement annotates, if it does nothing else."""
    if not isinstance(s, ir.Plain):
        return None
    origin = s.origin
    if isinstance(origin, ast.Expr):
        return None
    if not isinstance(origin, ast.AnnAssign) or not isinstance(origin.target, ast.Name):
        raise NotSupported.STATEMENT(
            f"the body of a class has the statement `{ast.unparse(origin)}`"
        )
    if not all(isinstance(part, _OF_ANNOTATIONS) for part in ast.walk(origin.annotation)):
        raise NotSupported.STATEMENT("the body of a class has an annotation that calls a function")
    if any(word in ast.unparse(origin.annotation) for word in ("ClassVar", "InitVar", "KW_ONLY")):
        raise NotSupported.STATEMENT(
            "the body of a class has an annotation with ClassVar, InitVar or KW_ONLY"
        )
    return origin.target.id


@dataclass
class _Body:
    """What renames the variables of the body of a class."""

    names: dict[str, str]
    cell: str
    kind: str

    def renamed(self, s: Any) -> ir.Statement:
        """Return a statement of the body as one of the function."""
        if isinstance(s, ir.Plain):
            return ir.Plain(ast.copy_location(ast.Pass(), s.origin), [])
        if isinstance(s, ir.Try | ir.Yield):
            raise NotSupported.STATEMENT(f"the body of the class {self.kind} has a `try`")
        if (
            isinstance(s, ir.GetAttribute | ir.SetAttribute)
            and _private(self.kind, s.name) != s.name
        ):
            raise NotSupported.STATEMENT(f"the body of the class {self.kind} has private names")
        s = with_blocks(s, lambda block: [self.renamed(part) for part in block])
        found = {f.name: self.part(f.name, getattr(s, f.name)) for f in fields(s)}
        if isinstance(s, ir.Delete):
            found["name"] = self.names.get(s.name, s.name)
        if isinstance(s, ir.Closure):
            found["captured"] = [*s.captured, self.cell]
        return cast(ir.Statement, replace(s, **found))

    def part(self, name: str, x: Any) -> Any:
        """Return a field of a statement."""
        if name in ("target", "item") and isinstance(x, str):
            return self.names.get(x, x)
        if isinstance(x, ir.Name):
            return ir.Name(self.names.get(x.id, x.id))
        if isinstance(x, list) and not _is_block(x):
            return [self.part("", part) for part in x]
        if isinstance(x, tuple):
            return tuple([self.part("", part) for part in x])
        return x
