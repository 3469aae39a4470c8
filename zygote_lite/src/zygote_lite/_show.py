"""Looking inside: the text of each stage, and how each call was resolved."""

import ast
import functools
import inspect
import types
from typing import Any

from zygote_lite._api import pullback
from zygote_lite._arguments import place_arguments
from zygote_lite._emit import emit
from zygote_lite._errors import DifferentiationError
from zygote_lite._jitted import original
from zygote_lite._kinds import INERT, kind_of
from zygote_lite._lower import lower
from zygote_lite._optimize._entry import INTERNAL
from zygote_lite._optimize._specialize import specialize
from zygote_lite._optimize._values import Unfit
from zygote_lite._primal import forward, primal
from zygote_lite._record import leading, record
from zygote_lite._reverse import reverse
from zygote_lite._state import state
from zygote_lite._transform import is_pure, lowered

_LONG = 60
_RECORDED = (
    "# Recorded code: `x_` goes with `x` and tells where on the tape its cotangent goes.\n"
    "# Going back is walking the tape backwards (`Tape.back`).\n"
)


def code_lowered(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return the lowered code of a function: one operation a statement, as readable Python."""
    function = _function_of(f)
    return emit(lower(function.__code__, function.__globals__)).text


def code_primal(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return the forward code of a function: every call gives its pullback too.

    Without arguments all parameters count as differentiated. (MicroGrad.jl's `primal`.)
    """
    function = _function_of(f)
    if not is_pure(function):
        return _recorded(function)
    active = _active(function, f, xs, kws)
    return emit(forward(primal(lowered(function), active)), "_primal").text


def code_adjoint(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return the code that is run for a gradient: the forward code with the reverse inside.

    With arguments it is the code for their types, with the rules inlined, as far as the function
    qualifies. Without, or where it does not, it is the code for all types: it asks for the rules
    as it runs, and all parameters count as differentiated if no arguments are given; a first line
    says why, where arguments are. Of that, code
    with control flow, writes or calls that may write has no adjoint text of its own: it is recorded
    on a tape, and the text is that of the recording code. (MicroGrad.jl's
    `reverse_differentiate`.)
    """
    function = _function_of(f)
    note = ""
    if xs and not kws:
        text, reason = _specialized(f, xs)
        if text is not None:
            return text
        note = f"# For all types: {reason}\n"
    if not is_pure(function):
        return note + _recorded(function)
    active = _active(function, f, xs, kws)
    return note + emit(reverse(primal(lowered(function), active)), "_pullback").text


def _specialized(f: Any, xs: tuple[Any, ...]) -> tuple[str | None, str]:
    """Return the code for the types of the arguments, or why there is none."""
    f = original(f)
    if type(f) is not types.FunctionType:
        return None, "it is no Python function"
    try:
        made = specialize(f, xs, (True,) * len(xs), as_pullback=True)
    except Unfit as reason:
        return None, f"{_place_of(reason)}{reason}"
    except DifferentiationError as reason:
        return None, str(reason)
    except Exception as error:  # as in `Entries.make`: what cannot be done is done without
        return None, f"{INTERNAL}: {type(error).__name__}"
    return "\n".join(line.rstrip() for line in str(made.text).splitlines()), ""


def _place_of(reason: Unfit) -> str:
    """Return the beginning of the statement that is not specialized, to stand before the reason."""
    if reason.origin is None or not hasattr(reason.origin, "lineno"):
        return ""
    text = ast.unparse(reason.origin).partition("\n")[0]
    return f"`{text if len(text) < _LONG else text[:_LONG] + ' ...'}`: "


def _recorded(function: types.FunctionType) -> str:
    ir = lowered(function)
    before = leading(ir)
    return _RECORDED + emit(record(ir), "_recorded", before).text


def _function_of(f: Any) -> types.FunctionType:
    """Return the Python function that a callable stands for."""
    f = original(f)
    while not isinstance(f, types.FunctionType):
        implementation = getattr(f, "_implementation", None)
        if isinstance(f, types.MethodType):
            f = f.__func__
        elif isinstance(f, functools.partial):
            f = f.func
        elif isinstance(f, type):
            f = inspect.getattr_static(f, "__init__")
        elif isinstance(implementation, types.FunctionType):
            f = implementation
        elif isinstance(inspect.getattr_static(type(f), "__call__", None), types.FunctionType):
            f = type(f).__call__
        else:
            raise TypeError(f"{f!r} has no Python source")
    return f


def _active(
    function: types.FunctionType, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> set[str]:
    """Return the parameters and captured variables that are differentiated."""
    code = function.__code__
    if isinstance(f, types.MethodType | type) or not isinstance(f, types.FunctionType):
        xs = (f, *xs)
    names, places = place_arguments(code, len(xs), tuple(kws))
    active = set(code.co_freevars)
    if len(xs) + len(kws) <= (f is not function):
        return {*names, *active}
    values = (*xs, *kws.values())
    return active | {
        names[i] for (i, _), value in zip(places, values, strict=False) if kind_of(value) != INERT
    }


def explain(f: Any, /, *xs: Any, **kws: Any) -> str:
    """Return how each call of `f(*xs, **kws)` was resolved, one a line, in order.

    A line has the place of the call, the call, and the rule (plugin, file, line) or transform
    that was chosen for it. What nothing active went into, and operations of the engine's own, are
    left out. The function is run.
    """
    outer, state.trace = state.trace, []
    try:
        pullback(f, *xs, **kws)
        lines = state.trace
    finally:
        state.trace = outer
    if not lines:
        return "nothing was differentiated"
    places = max(len(place) for place, _, _ in lines)
    calls = max(len(call) for _, call, _ in lines)
    return "\n".join(f"{place:{places}}  {call:{calls}}  {how}" for place, call, how in lines)
