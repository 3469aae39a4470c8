"""Whether a source text is what a code object was compiled from: compile it again and compare.

Bytecode, constants and names must be the same. Left aside is what says nothing about what the code
computes: line tables and qualified names, which differ for functions inside emitted code.
"""

import __future__

import ast
import copy
import inspect
import sys
import threading
import warnings
from functools import lru_cache
from types import CodeType
from typing import Any

from zygote_lite._ir.bytecode import codes_in, placed

# Python converts syntax trees with a counter that all threads share (python/cpython#106905).
TREES = threading.RLock()

MEANING = (
    inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE | inspect.CO_OPTIMIZED
)  # fmt: skip


@lru_cache(maxsize=256)
def parsed(text: str, filename: str, before: int, imported: tuple[str, ...] = ()) -> ast.Module:
    """Return the syntax tree of a text that has some lines `before` it.

    It is empty if the text is not Python, such as a notebook's cell with magics.

    Arguments:
        text: that of a module, or of a statement of one.
        filename: of the module.
        before: how many lines stand before the text.
        imported: the names that the lines before import: Python calls attributes of these in
            another way than methods.
    """
    try:
        with TREES, warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # which came with the import
            tree = ast.parse(text, filename)
    except (SyntaxError, ValueError):
        return ast.Module([], [])
    ast.increment_lineno(tree, before)
    if imported and tree.body:
        names = ast.Import([ast.alias(name) for name in imported])
        tree.body.insert(0, placed(names, tree.body[0]))
    return tree


def is_compiled_from(code: CodeType, tree: ast.Module, node: Any, alone: bool) -> bool:
    """Return whether compiling a definition gives this very code.

    Arguments:
        code: a function's.
        tree: of the text, or of the statement of the module that the definition is in: this tells
            which variables are captured, and which class private names belong to.
        node: the definition in it.
        alone: whether no other definition of this name begins on the line.
    """
    flags = code.co_flags & __future__.annotations.compiler_flag
    line = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    moved = None if alone else (node, _last_line(tree))
    line += moved[1] if moved else 0
    wanted = _normalized(code)
    whole = _compiled(tree, moved, code.co_filename, flags, _is_rewritten(code))
    return whole is not None and any(
        inner.co_name == getattr(node, "name", "<lambda>")
        and inner.co_firstlineno == line
        and _normalized(inner) == wanted
        for inner in codes_in(whole)
    )


_compiled_texts: dict[Any, tuple[ast.Module, CodeType | None]] = {}


def _compiled(
    tree: ast.Module, moved: tuple[Any, int] | None, filename: str, flags: int, rewritten: bool
) -> CodeType | None:
    """Return the code of a tree, which is kept; `None` where Python refuses to compile it.

    Arguments:
        tree: the tree, which is not changed.
        moved: a definition in it that is compiled as if it stood that many lines below.
        filename: of the tree.
        flags: of the compiler.
        rewritten: whether pytest rewrote the tree.
    """
    key = (id(tree), id(moved and moved[0]), flags, rewritten)
    known = _compiled_texts.get(key)
    if known is not None and known[0] is tree:
        return known[1]
    code = None
    with TREES, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = tree
        if moved is not None or rewritten:
            memo: dict[int, Any] = {}
            given = copy.deepcopy(tree, memo)
            if moved is not None:
                ast.increment_lineno(memo[id(moved[0])], moved[1])
        try:
            if rewritten:
                _rewrite(given, filename)
            flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # of a notebook
            code = compile(given, filename, "exec", flags, dont_inherit=True)
        except (SyntaxError, ValueError):
            pass
        while len(_compiled_texts) >= 256:
            _compiled_texts.pop(next(iter(_compiled_texts)))
        _compiled_texts[key] = (tree, code)
    return code


def _is_rewritten(code: CodeType) -> bool:
    """Return whether pytest wrote its own statements in the place of `assert`, here or inside."""
    return any(
        name.startswith("@py")
        for inner in codes_in(code)
        for name in (*inner.co_names, *inner.co_varnames)
    )


def _rewrite(tree: ast.Module, filename: str) -> None:
    """Rewrite the assertions in a tree as pytest does, which is there where it rewrote code."""
    rewriting: Any = sys.modules.get("_pytest.assertion.rewrite")
    if rewriting is not None:
        rewriting.rewrite_asserts(tree, b"", filename)


def _normalized(code: CodeType) -> CodeType:
    """Return code that equals other code if both compute the same: names of functions aside."""
    consts = [_normalized(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    if not code.co_flags & inspect.CO_OPTIMIZED:  # of a class, whose qualified name is a constant
        last = code.co_qualname
        consts = [last.rpartition(".")[2] if c == last else c for c in consts]
    return code.replace(
        co_name="", co_qualname="", co_filename="", co_firstlineno=1, co_linetable=b"",
        co_flags=code.co_flags & MEANING, co_consts=tuple(consts),
    )  # fmt: skip


def _last_line(tree: ast.Module) -> int:
    return max([getattr(n, "end_lineno", 0) or 0 for n in ast.walk(tree)], default=0)
