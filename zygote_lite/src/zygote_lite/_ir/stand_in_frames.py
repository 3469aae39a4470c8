"""Frames that stand in a traceback for those of recording code: the user's function, as written.

Recording code has the user's file, lines and name, and parameters and variables of the engine
beside the user's. IPython, debuggers and pytest would show these. The stand-in has the parameters
and variables of the user's function alone, and stands at the same place.
"""

import ast
import inspect
import keyword
import types
from collections.abc import Iterator
from typing import Any

from zygote_lite._ir.compile import function_recorded_by

_VALUES = "the values of the variables"  # a constant that is replaced


class StandIns:
    """The code of the stand-ins in one traceback, one for each place: recursion is recognized."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[types.CodeType, _Variables]] = {}

    def as_written(self, found: types.TracebackType) -> types.TracebackType:
        """Return a traceback with a stand-in for a first frame of recording code, or itself."""
        frame = found.tb_frame
        own = function_recorded_by(frame.f_code)
        names = () if own is None else (*own.co_varnames, *own.co_cellvars, *own.co_freevars)
        if own is None or not all(s.isidentifier() and not keyword.iskeyword(s) for s in names):
            return found
        held = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
        key = (id(own), found.tb_lasti, *held)
        if key not in self._known:
            values = _Variables()
            code = _raising_at(own, tuple(held), found)
            consts = tuple([values if c == _VALUES else c for c in code.co_consts])
            self._known[key] = code.replace(co_consts=consts), values
        code, values = self._known[key]
        values.now = tuple(held.values())
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        try:
            types.FunctionType(code, frame.f_globals)(**dict.fromkeys(parameters))
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                made = error.__traceback__.tb_next
                made.tb_next = found.tb_next
                return made
        return found


class _Variables:
    """What a stand-in finds in its variables."""

    now: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.now)


def _raising_at(
    own: types.CodeType, names: tuple[str, ...], found: types.TracebackType
) -> types.CodeType:
    """Return the code of a function with parameters and variables that raises at a place."""
    count, keywords = own.co_argcount, own.co_kwonlyargcount
    given = [ast.arg(name) for name in own.co_varnames]
    positional, named = given[:count], given[count : count + keywords]
    rest = given[count + keywords :]
    starred = rest.pop(0) if own.co_flags & inspect.CO_VARARGS else None
    of_keywords = rest.pop(0) if own.co_flags & inspect.CO_VARKEYWORDS else None
    defaults: list[Any] = [None] * keywords
    parameters = ast.arguments([], positional, starred, named, defaults, of_keywords, [])
    targets = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
    bind = ast.Assign([targets], ast.Constant(_VALUES))
    fail = ast.Raise(ast.Constant(None))  # which raises a TypeError
    line, end_line, column, end_column = _position(found)
    function = ast.FunctionDef("stand_in", parameters, [bind, fail], [])
    for node in ast.walk(function):
        if isinstance(node, ast.stmt | ast.expr | ast.arg):
            node.lineno, node.end_lineno = line, end_line
            node.col_offset, node.end_col_offset = column, end_column
    function.lineno = function.end_lineno = own.co_firstlineno
    function.col_offset = function.end_col_offset = 0
    module = ast.fix_missing_locations(ast.Module([function], []))
    made: types.CodeType = compile(module, own.co_filename, "exec", dont_inherit=True).co_consts[0]
    return made.replace(co_name=own.co_name, co_qualname=own.co_qualname)


def _position(found: types.TracebackType) -> tuple[int, int, int, int]:
    """Return first line, last line, first column and last column of where a frame stands."""
    positions = [*found.tb_frame.f_code.co_positions()][found.tb_lasti // 2]
    line, end_line, column, end_column = [p or 0 for p in positions]
    line = line or found.tb_lineno
    end_line, end_column = max((end_line, end_column), (line, column))
    return line, end_line, column, end_column
