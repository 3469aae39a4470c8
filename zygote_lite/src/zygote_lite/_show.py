"""Looking inside: the text of each stage, and the rule or transform chosen for each call."""

import functools
import inspect
import types
from typing import Any

from zygote_lite import _ir as ir
from zygote_lite._emit import emit
from zygote_lite._lower import lower
from zygote_lite._primal import forward, primal
from zygote_lite._reverse import reverse
from zygote_lite._transform import lowered


def code_lowered(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return the lowered code of a function: one operation a statement, as readable Python."""
    function, _ = _function_of(f)
    return emit(lower(function.__code__, function.__globals__)).text


def code_primal(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return the forward code of a function: every call gives its pullback too.

    Without arguments all parameters count as differentiated. (MicroGrad.jl's `primal`.)
    """
    function, active = _function_of(f)
    return emit(forward(primal(lowered(function), active)), "_primal").text


def code_adjoint(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return the code that is run for a gradient: the forward code with the reverse inside.

    (MicroGrad.jl's `reverse_differentiate`.)
    """
    function, active = _function_of(f)
    return emit(reverse(primal(lowered(function), active)), "_pullback").text


def _function_of(f: Any) -> tuple[types.FunctionType, set[str]]:
    """Return the Python function that a callable stands for, and all that is active in it."""
    while not isinstance(f, types.FunctionType):
        if isinstance(f, types.MethodType):
            f = f.__func__
        elif isinstance(f, functools.partial):
            f = f.func
        elif isinstance(f, type):
            f = f.__init__
        elif isinstance(getattr(type(f), "__call__", None), types.FunctionType):
            f = type(f).__call__
        else:
            raise TypeError(f"{f!r} has no Python source")
    f = inspect.unwrap(f) if not hasattr(f, "__code__") else f
    code: types.CodeType = f.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return f, {*code.co_varnames[:count], *code.co_freevars}


def explain(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return, line by line, the rule or transform that was chosen for each call of `f(*xs)`."""
    raise NotImplementedError


__all__ = ["code_adjoint", "code_lowered", "code_primal", "explain", "ir"]
