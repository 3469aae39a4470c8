"""From a function object to the syntax tree of its definition."""

import __future__

import ast
import inspect
import linecache
import re
import sys
import threading
from functools import lru_cache
from types import CodeType
from typing import Any

from zygote_lite._bytecode import handing_on
from zygote_lite._errors import DifferentiationError

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Span = tuple[int, int, int, int]

# Python converts syntax trees with a counter that all threads share (python/cpython#106905).
TREES = threading.RLock()

_REBOUND = re.compile(r"\b(?:nonlocal|global)[\s\\]+(\w+(?:[\s\\]*,[\s\\]*\w+)*)")


class NoSourceError(DifferentiationError, OSError):
    """Tell that the source text of a function cannot be found."""


def definition_of(code: CodeType) -> Definition:
    """Return the syntax tree of the function that `code` was compiled from.

    Several lambdas on one line are told apart by the positions in the code object. Raises
    `NoSourceError` where there is no source text, or where it changed since it was compiled.
    """
    known = _made.get((code.co_filename, code.co_name))
    if known is not None:
        return known
    lines = linecache.getlines(_file_of(code))
    if not lines:
        made = handing_on(code)
        if made is not None:
            return made
        raise NoSourceError(
            f"no source text for {code.co_name} ({code.co_filename}:{code.co_firstlineno}): "
            "define it in a file or a notebook, or declare a rule for it"
        )
    for first, last in (_statement_at(lines, code.co_firstlineno), (0, len(lines))):
        candidates = [
            node
            for node in _definitions("".join(lines[first:last]), code.co_filename, first)
            if code.co_firstlineno in (_first_line(node), node.lineno)
            and _name(node) == code.co_name
        ]
        if len(candidates) > 1:
            candidates = _enclosing(candidates, code)
        for node in candidates:
            if _is_what_was_compiled(node, code):
                return node
    raise NoSourceError(
        f"the source text of {code.co_name} at {code.co_filename}:{code.co_firstlineno} is not "
        "what was compiled: it changed since; reload the module"
    )


def rebound_near(code: CodeType) -> set[str]:
    """Return the names that functions in the file of `code` say are `nonlocal` or `global`."""
    names = _rebound_in("".join(linecache.getlines(_file_of(code))))
    shared = {n for n in (*code.co_freevars, *code.co_cellvars) if _unmangled(n) in names}
    return names | shared


@lru_cache(maxsize=64)
def _rebound_in(text: str) -> set[str]:
    return {name for found in _REBOUND.findall(text) for name in re.findall(r"\w+", found)}


def _statement_at(lines: list[str], number: int) -> tuple[int, int]:
    """Return where the statement of the module begins and ends that has a line, by its indents.

    A string with lines that are not indented leads astray: then the whole text is read.
    """
    first = min(number, len(lines)) - 1
    while first > 0 and not _begins(lines[first]):
        first -= 1
    last = first
    while last < len(lines) and lines[last].startswith("@"):
        last = _next_beginning(lines, last)
    return first, _next_beginning(lines, last)


def _next_beginning(lines: list[str], number: int) -> int:
    number += 1
    while number < len(lines) and not _begins(lines[number]):
        number += 1
    return number


def _begins(line: str) -> bool:
    """Return whether a line may begin a statement of a module."""
    return line[0] not in " \t\r\n\f#)]}"


def _file_of(code: CodeType) -> str:
    """Return the file of a code object; modules frozen into Python have one all the same."""
    if not code.co_filename.startswith("<frozen "):
        return code.co_filename
    module = sys.modules.get(code.co_filename[8:-1])
    return getattr(module, "__file__", None) or code.co_filename


_made: dict[tuple[str, str], Definition] = {}


def remember(filename: str, name: str, definition: Definition) -> None:
    """Remember the definition of a function that lowering made, of a generator expression."""
    _made[filename, name] = definition


@lru_cache(maxsize=256)
def _definitions(text: str, filename: str, before: int) -> list[Definition]:
    """Return the definitions in a text that has some lines `before` it."""
    try:
        with TREES:
            tree = ast.parse(text, filename)
    except SyntaxError:  # a notebook cell with magics, say
        return []
    ast.increment_lineno(tree, before)
    return [node for node in ast.walk(tree) if isinstance(node, Definition)]


def _first_line(node: Definition) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _name(node: Definition) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _enclosing(candidates: list[Definition], code: CodeType) -> list[Definition]:
    """Return the definitions whose body encloses every instruction, the smallest first."""
    positions: list[Span] = [
        (line, column, end_line, end_column)
        for line, end_line, column, end_column in code.co_positions()
        if line is not None
        and end_line is not None
        and column is not None
        and end_column is not None
        and end_column > 0
    ]
    enclosing = []
    for node in candidates:
        body = node.body if isinstance(node.body, ast.AST) else node.body[-1]
        first = node.body if isinstance(node.body, ast.AST) else node.body[0]
        start = (first.lineno, first.col_offset)
        end = (body.end_lineno or 0, body.end_col_offset or 0)
        if all(start <= (p[0], p[1]) and (p[2], p[3]) <= end for p in positions):
            enclosing.append((end, start, node))
    enclosing.sort(key=lambda item: (item[0][0] - item[1][0], item[0][1] - item[1][1]))
    return [node for _, _, node in enclosing]


def _is_what_was_compiled(node: Definition, code: CodeType) -> bool:
    """Return whether the source has the parameters, names and numbers of the code."""
    flags = code.co_flags & __future__.annotations.compiler_flag
    return _same_parameters(node, code) and _constants_of(node, flags) <= _numbers_in(code)


def _constants_of(node: Definition, flags: int) -> set[Any]:
    """Return the numbers and the attributes and globals in a definition's body."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    module = ast.Module([ast.Return(b) if isinstance(b, ast.expr) else b for b in body], [])
    wrapped = ast.FunctionDef("f", node.args, module.body, [])
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if "type_params" in wrapped._fields:
        wrapped.type_params = []  # type: ignore[attr-defined]
    tree = ast.fix_missing_locations(ast.Module([ast.copy_location(wrapped, node)], []))
    try:
        with TREES:
            whole = compile(tree, "<source>", "exec", flags, dont_inherit=True)
    except SyntaxError:  # `nonlocal` means nothing out of its context
        return set()
    codes = [c for c in whole.co_consts if isinstance(c, CodeType)]
    return _numbers_in(next(c for c in codes if c.co_name == "f"))


def _numbers_in(code: CodeType) -> set[Any]:
    found: set[Any] = {n for n in code.co_names if not n.startswith("_")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _numbers_in(constant)
        elif isinstance(constant, int | float | complex):
            found.add(repr(constant))
    names = (*code.co_freevars, *code.co_cellvars, *code.co_varnames)
    return found | {n for n in names if not n.startswith("_")}


def _same_parameters(node: Definition, code: CodeType) -> bool:
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    names += [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return tuple(map(_unmangled, names)) == tuple(map(_unmangled, code.co_varnames[:count]))


def _unmangled(name: str) -> str:
    """Return a private name without its class: `_Model__w` and `__w` are the same parameter."""
    head, separator, tail = name.partition("__")
    return separator + tail if head.startswith("_") and separator and tail else name


def place_of(f: Any) -> str:
    """Return where a function is defined, such as `model.py:12`, or its name."""
    code = getattr(f, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(f)
