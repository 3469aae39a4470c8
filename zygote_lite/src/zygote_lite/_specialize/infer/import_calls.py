"""Import statements as calls, one for each name that they bind."""

import ast
from typing import Any

from zygote_lite._ir import nodes as ir


def imports_of(s: ast.Import | ast.ImportFrom) -> list[ir.Statement]:
    """Return a call for each name that an import statement binds."""
    calls: list[ir.Statement] = []
    found: tuple[str, ...]
    for alias in s.names:
        if isinstance(s, ast.ImportFrom):
            name, found = "." * s.level + (s.module or ""), (alias.name,)
        else:
            name = alias.name
            head, *rest = name.split(".")
            found = (head, *rest) if alias.asname else (head,)
        target = alias.asname or found[0]
        arguments: list[ir.Atom] = [ir.Const(name), ir.Const(found)]
        calls.append(ir.Call(s, target, ir.Const(_WAYS[type(s)]), arguments))
    return calls


def imported_module(name: str, path: tuple[str, ...]) -> Any:
    """Stand for `import name`, which gives its first module, or what a path from that leads to."""


def imported_member(name: str, path: tuple[str, ...]) -> Any:
    """Stand for `from name import path`."""


_WAYS: dict[type, Any] = {ast.Import: imported_module, ast.ImportFrom: imported_member}
