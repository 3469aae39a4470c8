"""From a function object to the syntax tree of its definition.

The text of `python -c` is kept among the arguments of Python, and not under the name of a file.
"""

import ast
import hashlib
import linecache
import re
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from zygote_lite._ir.bytecode import names_from_outside
from zygote_lite._ir.decompile.functions import definition as decompiled
from zygote_lite._ir.decompile.instructions import NotFollowedError
from zygote_lite._ir.recompile import is_compiled_from, parsed
from zygote_lite.caches import cached
from zygote_lite.errors import Fault

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Span = tuple[int, int, int, int]

_REBOUND = re.compile(r"\b(?:nonlocal|global)[\s\\]+(\w+(?:[\s\\]*,[\s\\]*\w+)*)")
_IMPORTED = re.compile(r"^[ \t]*(?:from\s+\S+\s+)?import\s+(\([^)]*\)|.*)", re.MULTILINE)


def compiled_by_numba(f: Any, *, of_entries: bool = False) -> FunctionType | None:
    """Return the Python function that Numba has compiled; `None` for what is none of Numba's.

    What `vectorize` compiled is called for each entry of its arguments: it is that function where
    they are numbers, and then it is asked for by `of_entries`.
    """
    if not type(f).__module__.startswith("numba.") or type(f).__name__ == "GUFunc":
        return None  # what `guvectorize` compiled writes into an argument that no caller passes
    found = getattr(getattr(f, "_dispatcher", f) if of_entries else f, "py_func", None)
    return found if isinstance(found, FunctionType) else None


def definition_of(code: CodeType) -> Definition:
    """Return the syntax tree of the function that `code` was compiled from.

    Several lambdas on one line are told apart by the positions in the code object. Raises
    `NoSourceError` where there is no source text, or it changed since it was compiled, and the code
    cannot be decompiled either.
    """
    known = _made.get((code.co_filename, code.co_name))
    return known if known is not None else _found(code, code.co_filename)[0]


def rebound_near(code: CodeType) -> set[str]:
    """Return the names that functions in the file of `code` say are `nonlocal` or `global`."""
    if (code.co_filename, code.co_name) in _made:
        names = _rebound_in("".join(_lines_of(_file_of(code))))
    else:
        names = _found(code, code.co_filename)[1]
    shared = {n for n in (*code.co_freevars, *code.co_cellvars) if _unmangled(n) in names}
    return names | shared


@cached(1024)
def _found(code: CodeType, code_filename: str) -> tuple[Definition, set[str]]:
    """Return the definition of a function, and the names that functions in its file rebind.

    Python keeps the text that it read first: only if that is another text is the file read again.
    What was found once is kept with the code and its file, and outlives the text: code equals code
    of other files. Where no text is what runs, the code is decompiled, and any other code may
    rebind what it does not itself.
    """
    written = _noted.get(code)
    if written is not None:
        return written(), names_from_outside(code)
    filename = _file_of(code)
    texts: list[list[str]] = []
    for _ in range(2):
        lines = _lines_of(filename)
        if lines and lines not in texts:
            texts.append(lines)
            node = _definition_in(lines, code)
            if node is not None:
                return node, _rebound_in("".join(lines))
        linecache.checkcache(filename)
    try:
        return decompiled(code), names_from_outside(code)
    except NotFollowedError as reason:
        why = f"and its code is not followed: {reason}"
    if not texts or _is_of_no_file(filename):
        raise Fault.NO_SOURCE(
            f"no source text for {code.co_name} ({code.co_filename}:{code.co_firstlineno}), {why}; "
            "define it in a file or a notebook, or declare a rule for it"
        )
    raise Fault.SOURCE_CHANGED(
        f"the source text of {code.co_name} at {code.co_filename}:{code.co_firstlineno} is not "
        f"what was compiled (it changed since, or an import hook rewrote it), {why}; reload the "
        "module and take the function from it again, or declare a rule for it"
    )


def _definition_in(lines: list[str], code: CodeType) -> Definition | None:
    """Return the definition in a text whose code this is; `None` if there is none."""
    place = _statement_at(lines, code.co_firstlineno)
    imported = _imported_in("".join(lines))
    # code that the engine has made of a statement knows nothing of what its module imports
    tried = ((*place, imported), (*place, ()), (0, len(lines), ()))
    for first, last, imported in dict.fromkeys(tried):
        text = "".join(lines[first:last])
        candidates = [
            node
            for node in _definitions(text, code.co_filename, first, imported)
            if code.co_firstlineno in (_first_line(node), node.lineno)
            and _name(node) in (code.co_name, _unmangled(code.co_name))
        ]
        tree = parsed(text, code.co_filename, first, imported)
        alone = len(candidates) == 1
        for node in candidates if alone else _enclosing(candidates, code):
            if is_compiled_from(code, tree, node, alone):
                return node
    return None


@lru_cache(maxsize=64)
def _rebound_in(text: str) -> set[str]:
    return {name for found in _REBOUND.findall(text) for name in re.findall(r"\w+", found)}


@lru_cache(maxsize=64)
def _imported_in(text: str) -> tuple[str, ...]:
    """Return the names that a text may import, as far as its lines tell."""
    parts = [part for found in _IMPORTED.findall(text) for part in found.strip("()").split(",")]
    names = [part.partition("#")[0].split() for part in parts]
    bound = [name[-1].partition(".")[0] for name in names if name]
    return tuple(dict.fromkeys([name for name in bound if name.isidentifier()]))


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


def _lines_of(filename: str) -> list[str]:
    """Return the lines of a file, or of what stands in for one."""
    lines = linecache.getlines(filename)
    return [*lines_of_command()] if filename == "<string>" and not lines else lines


def _is_of_no_file(filename: str) -> bool:
    """Return whether a name such as `<string>` stands for no file.

    All that `exec` compiles may share that name: a text that is kept under it may be another one's.
    """
    return filename.startswith("<") and filename.endswith(">")


_noted: WeakKeyDictionary[CodeType, Callable[[], Definition]] = WeakKeyDictionary()


def note_definition(code: CodeType, definition: Callable[[], Definition]) -> None:
    """Note how the engine has written the definition of a function that it compiled itself."""
    _noted[code] = definition


_made: dict[tuple[str, str], Definition] = {}
_MOST_DEFINITIONS = 4096  # programs may make functions from ever new texts
_remember_lock = threading.Lock()


def remember(filename: str, definition: ast.FunctionDef) -> None:
    """Remember the definition of a function that lowering made, of a generator expression.

    A definition that is another one, of a text that has changed since, takes another name.
    """
    text = ast.dump(definition, include_attributes=True)
    with _remember_lock:
        known = _made.get((filename, definition.name))
        if known is not None and ast.dump(known, include_attributes=True) != text:
            definition.name += f"_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        _made.setdefault((filename, definition.name), definition)
        while len(_made) > _MOST_DEFINITIONS:
            _made.pop(next(iter(_made)))


@lru_cache(maxsize=256)
def _definitions(
    text: str, filename: str, before: int, imported: tuple[str, ...] = ()
) -> list[Definition]:
    """Return the definitions in a text that has some lines `before` it (see `parsed`)."""
    tree = parsed(text, filename, before, imported)
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


def _unmangled(name: str) -> str:
    """Return a private name without its class: `_Model__w` and `__w` are the same parameter."""
    head, separator, tail = name.partition("__")
    return separator + tail if head.startswith("_") and separator and tail else name


_TAKES_A_VALUE = "WX"  # options of Python that the rest of a word, or the next word, belongs to


@lru_cache(maxsize=1)
def lines_of_command() -> tuple[str, ...]:
    """Return the lines of the program that was given by `-c`; there are none without it."""
    words = iter(sys.orig_argv[1:])
    for word in words:
        if word == "--check-hash-based-pycs":
            next(words, None)
        elif word.startswith("--"):
            continue
        elif not word.startswith("-"):  # the file of a program
            break
        for i, letter in enumerate(word[1:], 2):
            if letter == "c":
                return tuple(f"{word[i:] or next(words, '')}\n".splitlines(keepends=True))
            if letter == "m":
                return ()
            if letter in _TAKES_A_VALUE:
                if not word[i:]:
                    next(words, None)
                break
    return ()
