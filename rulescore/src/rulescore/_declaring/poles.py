"""Poles of partial derivatives, looked for in the code of an elementwise rule.

A partial derivative has a pole where it divides by zero or overflows although the inputs are
finite. A pullback that may meet one silences NumPy, and asks again where Python's floats raise.
Code that only compares, scales an input, and takes signs, sines and cosines cannot meet one. That
is all that is recognized here: any other code, and any bytecode that is new to this module, counts
as having poles, which costs time and is never wrong.
"""

import builtins
import dis
import math
from types import CodeType, ModuleType
from typing import Any

import numpy as np

# Values on the stack. What is bounded is finite and of moderate size, as constants and comparisons
# are; an input is finite; an output may be infinite, so that it can be compared and no more.
_BOUNDED, _INPUT, _OUTPUT = "bounded", "input", "output"
_MODERATE = 1e6  # the largest constant that an input may be scaled by

_BOUNDED_FUNCTIONS = (math.sin, math.cos, np.sin, np.cos, np.sign, np.isfinite, np.isnan)
_AS_LARGE_AS_THE_FIRST = (abs, math.fabs, math.copysign, np.absolute, np.copysign, np.conjugate)
_WITHOUT_EFFECT = frozenset(("RESUME", "NOP", "CACHE", "PRECALL", "PUSH_NULL"))


class _UnknownError(Exception):
    """The code may have poles, for all that is known of it."""


def may_have_poles(partials: Any, takes_out: bool) -> bool:
    """Return whether partial derivatives may divide by zero or overflow for finite inputs.

    Arguments:
        partials: the function that an author gave to `RuleSet.scalar`.
        takes_out: whether its last parameter is the output.
    """
    code = partials.__code__
    inputs = dict.fromkeys(code.co_varnames[: code.co_argcount], _INPUT)
    if takes_out:
        inputs["out"] = _OUTPUT
    try:
        _run(code, partials.__globals__, inputs)
    except (_UnknownError, LookupError):  # an unknown variable, or a stack that is too short
        return True
    return False


def _run(code: CodeType, names: dict[str, Any], inputs: dict[str, str]) -> None:
    """Run straight code on kinds of values, and raise where they tell too little."""
    stack: list[Any] = []
    for instruction in dis.get_instructions(code):
        name, argument = instruction.opname, instruction.argval
        if name in _WITHOUT_EFFECT:
            pass
        elif name in ("LOAD_CONST", "LOAD_SMALL_INT"):
            stack.append(_kind_of(argument))
        elif name.startswith("LOAD_FAST"):  # one or, since Python 3.13, two variables
            for variable in argument if isinstance(argument, tuple) else (argument,):
                stack.append(inputs[variable])
        elif name == "LOAD_GLOBAL":
            stack.append(_kind_of(names.get(argument, getattr(builtins, argument, ...))))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            owner = stack.pop()
            if not isinstance(owner, ModuleType):
                raise _UnknownError
            stack.append(_kind_of(getattr(owner, argument, ...)))
        elif name == "CALL":
            given = _popped(stack, instruction.arg or 0)
            stack.append(_called(stack.pop(), given))
        elif name == "COMPARE_OP":
            _popped(stack, 2)
            stack.append(_BOUNDED)
        elif name == "BINARY_OP":
            stack.append(_combined(instruction.argrepr, *_popped(stack, 2)))
        elif name == "UNARY_NEGATIVE":
            stack.append(_combined("*", _BOUNDED, stack.pop()))
        elif name == "BUILD_TUPLE":
            stack.append(tuple(_popped(stack, instruction.arg or 0)))
        elif name in ("RETURN_VALUE", "RETURN_CONST"):
            returned = _kind_of(argument) if name == "RETURN_CONST" else stack.pop()
            parts = returned if type(returned) is tuple else (returned,)
            if any(part not in (_BOUNDED, _INPUT) for part in parts):
                raise _UnknownError
            return
        else:
            raise _UnknownError
    raise _UnknownError


def _popped(stack: list[Any], n: int) -> list[Any]:
    given = stack[len(stack) - n :]
    del stack[len(stack) - n :]
    if len(given) != n or any(kind not in (_BOUNDED, _INPUT, _OUTPUT) for kind in given):
        raise _UnknownError
    return given


def _kind_of(x: Any) -> Any:
    """Return the kind of a constant; modules and functions stand for themselves."""
    if type(x) is tuple:
        return tuple(map(_kind_of, x))
    if x is None or (isinstance(x, int | float | complex) and abs(x) <= _MODERATE):
        return _BOUNDED
    if isinstance(x, ModuleType) or callable(x):
        return x
    raise _UnknownError


def _called(f: Any, given: list[str]) -> str:
    if _OUTPUT not in given:
        if any(f is known for known in _BOUNDED_FUNCTIONS):
            return _BOUNDED
        if any(f is known for known in _AS_LARGE_AS_THE_FIRST):
            return given[0]
    raise _UnknownError


def _combined(sign: str, x: str, y: str) -> str:
    if x == y == _BOUNDED and sign in ("+", "-", "*", "&", "|"):
        return _BOUNDED
    if sign == "*" and {x, y} == {_BOUNDED, _INPUT}:
        return _INPUT
    raise _UnknownError
