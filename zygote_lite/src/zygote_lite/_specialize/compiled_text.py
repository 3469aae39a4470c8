"""The text of specialized code, compiled under the user's file name and lines."""

import ast
import functools
import math
import types
from typing import Any

import numpy as np

from zygote_lite._ir.bytecode import codes_in
from zygote_lite._ir.recompile import TREES
from zygote_lite._ir.source import note_definition
from zygote_lite._specialize.assemble import Specialized
from zygote_lite._specialize.quiet import QUIET, context_of, manager


def compile_text(made: Specialized, f: Any) -> types.FunctionType:
    """Compile specialized code, with the user's file name and the user's lines."""
    first = f.__code__.co_firstlineno
    lines = [getattr(origin, "lineno", first) for origin in made.text.origins]
    text = str(made.text)
    tree = _tree_of(text, lines)
    for node in ast.walk(tree) if "np.errstate" in text else ():
        if isinstance(node, ast.withitem):
            node.context_expr = context_of(node.context_expr)
    space = {"np": np, "math": math, QUIET: manager, **made.bound}
    with TREES:
        code = compile(tree, f.__code__.co_filename, "exec")
    for part in codes_in(code):
        if part is not code:
            note_definition(
                part, functools.partial(_definition_named, text, lines, part.co_qualname)
            )
    exec(code, space)
    function: types.FunctionType = space[made.name]
    return function


def _tree_of(text: str, lines: list[int]) -> ast.Module:
    """Return the tree of specialized code, with the user's lines."""
    with TREES:
        tree = ast.parse(text)
    node: Any  # only some have a place
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = lines[min(node.lineno, len(lines)) - 1]
            node.col_offset = node.end_col_offset = 0
    return tree


def _definition_named(text: str, lines: list[int], name: str) -> ast.FunctionDef:
    """Return the definition of a function in specialized code, as it is written."""
    found: Any = _tree_of(text, lines)
    for part in name.split(".<locals>."):
        found = next(
            node
            for node in ast.walk(found)
            if isinstance(node, ast.FunctionDef) and node.name == part
        )
    return found  # type: ignore[no-any-return]
