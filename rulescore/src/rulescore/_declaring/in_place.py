"""Functions that change what they are given, for which no rule can be.

A rule maps arguments to a value, and the cotangent of the value to those of the arguments. What a
function does to its arguments is no part of either, so a rule would lose the gradient without an
error. They are told by their names, and Python functions by code that never returns a value.
"""

import dis
import inspect
import operator
from collections import deque
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

import numpy as np

_INITIALIZE = ("__init__", "__post_init__", "__setstate__")
_OPERATORS = (
    "add", "and", "concat", "floordiv", "lshift", "matmul", "mod", "mul", "or", "pow", "rshift",
    "sub", "truediv", "xor",
)  # fmt: skip
_IN_PLACE = {f"i{stem}": stem for stem in _OPERATORS}
_IN_PLACE |= {f"__i{stem}__": f"__{stem}__" for stem in _OPERATORS}
_SPECIAL = frozenset(
    ("__setattr__", "__delattr__", "__setitem__", "__delitem__", "__set__", "__delete__")
)
_METHODS = {
    list: "append clear extend insert pop remove reverse sort",
    dict: "clear pop popitem setdefault update",
    set: "add clear difference_update discard intersection_update pop remove"
    " symmetric_difference_update update",
    deque: "append appendleft clear extend extendleft insert pop popleft remove reverse rotate",
    np.ndarray: "fill partition put resize setfield sort",
    np.ufunc: "at",
}
_ROUTINES = (FunctionType, BuiltinFunctionType, MethodDescriptorType)
_NAMES = {name for names in _METHODS.values() for name in names.split()}
_FUNCTIONS = {id(f) for f in (
    setattr, delattr, operator.setitem, operator.delitem, np.copyto, np.fill_diagonal, np.place,
    np.put, np.put_along_axis, np.putmask,
)}  # fmt: skip
_ELSEWHERE = (
    "leave it without a rule, so that its writes are followed, or declare the rule for a function "
    "that returns what is new"
)
_RETURNS = frozenset(("RETURN_VALUE", "RETURN_CONST"))
_WITHOUT_EFFECT = _RETURNS | {"RESUME", "NOP", "COPY_FREE_VARS", "MAKE_CELL", "LOAD_CONST"}
_RETURN_VALUE, _LOAD_CONST = dis.opmap["RETURN_VALUE"], dis.opmap["LOAD_CONST"]
_RETURNS_AT_ONCE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def advice_for(f: Any) -> str | None:
    """Return what to declare instead of a rule for a function that changes what it is given.

    Return `None` for other functions, as far as is known.
    """
    if type(f) is np.ufunc or (type(f) not in _ROUTINES and not inspect.isroutine(f)):
        return None
    name = str(getattr(f, "__name__", ""))
    owner = str(getattr(f, "__qualname__", name)).rpartition(".")[0].rpartition(".")[2]
    if name in _INITIALIZE and owner:
        return (
            f"declare the rule for the class itself, `@rule({owner})`: its body takes the "
            "arguments of the class, and returns the object and a pullback"
        )
    if name in _IN_PLACE:
        meant = "operator" if f is getattr(operator, name, None) else owner
        if meant == "operator" or name.startswith("__"):
            return f"declare the rule for `{meant}.{_IN_PLACE[name]}`, which returns a new object"
    is_known = id(f) in _FUNCTIONS or name in _SPECIAL or _is_of_container(f, name)
    return _ELSEWHERE if is_known or _never_returns_a_value(f) else None


def _is_of_container(f: Any, name: str) -> bool:
    """Return whether it is a method in place of a builtin container, an array or a ufunc."""
    if name not in _NAMES or isinstance(f, FunctionType | MethodType):
        return False
    owner = getattr(f, "__objclass__", None) or type(getattr(f, "__self__", None))
    return any(
        issubclass(owner, kind) and name in names.split() for kind, names in _METHODS.items()
    )


def _never_returns_a_value(f: Any) -> bool:
    """Return whether a Python function does something, and returns `None` wherever it returns."""
    function = f.__func__ if type(f) is MethodType else f
    if type(function) is not FunctionType:  # compiled functions may have code that does not run
        return False
    code = function.__code__
    if code.co_flags & _RETURNS_AT_ONCE:
        return False
    if _clearly_returns_a_value(code):
        return False
    kinds: set[str] = set()
    before = None
    for instruction in dis.get_instructions(code):
        kind = instruction.opname
        if kind in _RETURNS:
            source = instruction if kind == "RETURN_CONST" else before
            assert source is not None
            is_none = source.opname in ("LOAD_CONST", "RETURN_CONST") and source.argval is None
            if not is_none or instruction.is_jump_target:  # there another value may be returned
                return False
        kinds.add(kind)
        before = instruction
    return not kinds.isdisjoint(_RETURNS) and not kinds <= _WITHOUT_EFFECT


def _clearly_returns_a_value(code: CodeType) -> bool:
    """Return whether code returns what is not `None`, which its instructions tell at a glance."""
    operations = code.co_code[::2]
    at = operations.find(_RETURN_VALUE)
    while at >= 0:
        if at == 0 or operations[at - 1] != _LOAD_CONST:
            return True
        is_short = at == 1 or operations[at - 2] != dis.EXTENDED_ARG
        if is_short and code.co_consts[code.co_code[2 * at - 1]] is not None:
            return True
        at = operations.find(_RETURN_VALUE, at + 1)
    return False
