"""What a function may write, and which attributes it reads, told from its code.

The code is not run. What it calls by the name of a variable is followed if that is a function in
Python; a method by the class that it is looked up in.
"""

import builtins
import dis
import inspect
import types
from collections.abc import Iterator
from typing import Any

from zygote_lite._cotangents.kinds import entries_of
from zygote_lite._ir.bytecode import Named, codes_in, deeds_of
from zygote_lite._ir.operators import BINARY
from zygote_lite._ir.places import is_library
from zygote_lite._ir.traits import (
    BY_ID,
    COMPARING,
    HARMLESS_METHODS,
    HASH,
    ITERATE,
    NO_TRAITS,
    SPECIAL_METHODS,
    TO_TEXT,
    changes_nothing,
)
from zygote_lite.caches import cached


def names_loaded(code: types.CodeType) -> set[Named]:
    """Return the globals that code names, each with whether it is called there."""
    return deeds_of(code)[1]


def may_write(f: types.FunctionType, kind: Any = None) -> bool:
    """Return whether a function may change more than its own variables, as far as its code tells.

    Arguments:
        f: the function.
        kind: the class that it is a method of.
    """
    seen, stack = set[tuple[Any, int]](), [(f, kind)]
    while stack:
        g, of = stack.pop()
        if (g, id(of)) in seen or is_library(g.__code__.co_filename):
            continue
        seen.add((g, id(of)))
        writes, names, free, methods = deeds_of(g.__code__)
        if writes:
            return True
        held = zip(g.__code__.co_freevars, g.__closure__ or (), strict=True)
        captured = [x for name, cell in held if name in free for _, x in entries_of(cell)]
        named = [(g.__globals__.get(n, getattr(builtins, n, None)), called) for n, called in names]
        members = [(_member(of, name), name, called) for name, called in methods]
        stack += [(x, None) for x in (*captured, *(x for x, _ in named)) if _is_python(x)]
        stack += [(member, of) for member, _, _ in members if _is_python(member)]
        if (
            any(callable(x) and not isinstance(x, _FOLLOWED) for x in captured)
            or any(called and not _is_python(x) and not changes_nothing(x) for x, called in named)
            or any(
                called and not _is_python(member) and name not in HARMLESS_METHODS
                for member, name, called in members
            )
        ):
            return True
    return False


_FOLLOWED = (types.FunctionType, type)


def _is_python(x: Any) -> bool:
    return isinstance(x, types.FunctionType)


def _member(kind: Any, name: str) -> Any:
    """Return the function of the method or property of that name, as the class defines it."""
    member = None if kind is None else inspect.getattr_static(kind, name, None)
    return getattr(member, "__func__", getattr(member, "fget", member))


# -- what a function may read --------------------------------------------------------------------

ANY_ATTRIBUTE = "*"
"""The name that stands for all attributes."""

_ARITHMETIC_METHODS = frozenset(name for of in BINARY.values() for name in of.methods) | {
    "__neg__", "__pos__", "__invert__", "__abs__", "__round__", "__divmod__", "__pow__", "__call__",
}  # fmt: skip
ANY_METHOD = SPECIAL_METHODS | _ARITHMETIC_METHODS
_TRUTH = frozenset(("__bool__", "__len__"))
_TAKING_ITEMS = HASH | {"__getitem__", "__missing__", "__index__"}
_METHODS_OF_DEEDS = (
    (("COMPARE_OP",), COMPARING),
    (("CONTAINS_OP",), HASH | COMPARING | ITERATE | {"__contains__"}),
    (("BINARY_SUBSCR", "BINARY_SLICE"), _TAKING_ITEMS),
    (("BINARY_OP",), _ARITHMETIC_METHODS | _TAKING_ITEMS),
    (("UNARY_NEGATIVE", "UNARY_INVERT", "CALL_INTRINSIC", "UNARY_POSITIVE"), _ARITHMETIC_METHODS),
    (("UNARY_NOT", "TO_BOOL", "POP_JUMP", "JUMP_IF"), _TRUTH),
    (("GET_ITER", "FOR_ITER", "UNPACK", "LIST_EXTEND", "SET_UPDATE", "DICT_", "CALL_FUNCTION_EX",
      "LIST_TO_TUPLE", "GET_YIELD"), HASH | ITERATE | {"keys"}),
    (("FORMAT", "CONVERT_VALUE"), TO_TEXT),
    (("BUILD_SET", "BUILD_MAP", "BUILD_CONST_KEY_MAP", "SET_ADD", "MAP_ADD"), HASH),
    (("LOAD_ATTR", "LOAD_METHOD"), frozenset(("__get__",))),
    (("BEFORE_WITH", "LOAD_SPECIAL"), frozenset(("__enter__", "__exit__"))),
    (("MATCH",), ANY_METHOD | {ANY_ATTRIBUTE}),
)  # fmt: skip
"""Instructions, and the special methods that they call; patterns name attributes by constants."""
_READING_ATTRIBUTES = {id(f) for f in (getattr, vars, dir, eval, exec, locals)}
INHERITED = "super"
"""The name that stands for what base classes define, too."""
_ALSO_CALLED = {
    id(len): frozenset(("__len__",)),
    id(abs): frozenset(("__abs__",)),
    id(super): frozenset((INHERITED,)),
    **dict.fromkeys(map(id, (iter, map, zip, enumerate, reversed)), ITERATE | {"__reversed__"}),
}
"""What builtins call of which the traits tell nothing."""


@cached(4096)
def _names_looked_up(code: types.CodeType) -> frozenset[str]:
    """Return the attributes that code names, and the special methods that its instructions call."""
    found = {name for name, _ in deeds_of(code)[3]}
    deeds = {i.opname for part in codes_in(code) for i in dis.get_instructions(part)}
    for starts, names in _METHODS_OF_DEEDS:
        if any(deed.startswith(starts) for deed in deeds):
            found |= names
    return frozenset(found | {ANY_ATTRIBUTE} if "__dict__" in found else found)


def names_read(f: types.FunctionType) -> frozenset[str]:
    """Return the names of attributes and methods that a function looks up in its operands.

    Those of the methods that it calls are not among them: whoever looks a name up in a class
    asks for them in turn. A library's code is not followed further: it may read anything.
    """
    found, seen, stack = set[str](), set[types.CodeType](), [f]
    while stack:
        g = stack.pop()
        if g.__code__ in seen:
            continue
        seen.add(g.__code__)
        found |= _names_looked_up(g.__code__)
        for x in (g.__dict__.get("__wrapped__"), *(x for x, _ in _named_variables(g))):
            if isinstance(x, types.FunctionType):
                if is_library(x.__code__.co_filename):
                    found.add(ANY_ATTRIBUTE)
                else:
                    stack.append(x)
            elif id(x) in _READING_ATTRIBUTES:
                found.add(ANY_ATTRIBUTE)
            elif isinstance(x, type) and id(x) not in BY_ID and id(x) not in _ALSO_CALLED:
                found.add(INHERITED)  # its methods may be called by its name
            elif isinstance(x, types.BuiltinFunctionType | type):
                calls = _ALSO_CALLED.get(id(x), BY_ID.get(id(x), NO_TRAITS).calls)
                found |= ANY_METHOD if calls is None else calls
    return frozenset(found)


def values_read(f: types.FunctionType) -> list[Any]:
    """Return the data that a function finds in variables around it."""
    return [x for x, _ in _named_variables(f) if not isinstance(x, _NO_DATA)]


_NO_DATA = (types.FunctionType, types.BuiltinFunctionType, type, types.ModuleType)


def _named_variables(f: types.FunctionType) -> Iterator[tuple[Any, bool]]:
    """Yield what the variables hold that the code of a function names, and whether it is called."""
    _, names, free, _ = deeds_of(f.__code__)
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        if name in free:
            for _, x in entries_of(cell):
                yield x, callable(x) and not isinstance(x, type)
    for name, called in names:
        yield f.__globals__.get(name, getattr(builtins, name, None)), called
