"""Arrays of other libraries: their methods and attributes have the rules of NumPy's.

An array of dask or CuPy is one value, however its class is implemented. A method of its class has
the rule of the method of that name of NumPy's arrays, or it is refused.
"""

import types
from typing import Any

import numpy as np

from rulescore import find_rule
from zygote_lite._activity.classes import member_of
from zygote_lite._cotangents.kinds import has_rows, is_foreign
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import where
from zygote_lite._python.objects.attributes import attribute_by_rule
from zygote_lite._tape.arguments import OPERATORS
from zygote_lite._tape.refusals.advice import GivenCall, declaring
from zygote_lite._tape.refusals.refusal import refusal
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()


@handlers.desugared(getattr, of=is_foreign)
def _(tape: Tape, nodes: Nodes, x: Any, name: str, *default: Any) -> Traced | None:
    """Read an attribute of a foreign array by the rule for NumPy's arrays, if there is one."""
    if not is_foreign(type(x)):
        return None
    try:
        y = getattr(x, name)
    except AttributeError:
        if not default:
            raise
        return default[0], nodes[3]
    own = vars(np.ndarray).get(name)
    if isinstance(own, types.GetSetDescriptorType) and find_rule(own, x) is not None:
        return tape.record(*attribute_by_rule(nodes, x, name, own), nodes)
    if isinstance(y, types.MethodType | types.BuiltinFunctionType | types.MethodWrapperType):
        return y, nodes[1]
    if _says_nothing(y):
        return y, None
    raise _refused(f"{name_of(type(x))}.{name}")


@handlers.callables(types.FunctionType, of=is_foreign)
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced | None:
    """Call a method of a foreign array by the rule for NumPy's arrays, or refuse it."""
    if not is_foreign(type(xs[0])) or member_of(type(xs[0]), f.__name__) is not f:
        return None
    own = vars(np.ndarray).get(f.__name__)
    rule = None if own is None else find_rule(own, *xs, **kws)
    if rule is not None:
        if rule.kind == "constant":
            return f(*xs, **kws), None
        return tape.call(nodes, own, *xs, **kws)
    if f.__name__ in OPERATORS and len(xs) == 2:  # `x.__rsub__(2.0)`
        meant, is_swapped = OPERATORS[f.__name__]
        order = (1, 0) if is_swapped else (0, 1)
        return tape.call((None, *(nodes[1 + i] for i in order)), meant, *(xs[i] for i in order))
    if kws and own is not None:
        raise refusal(own, xs, kws)
    raise _refused(name_of(f), (f, xs, kws))


def _refused(name: str, call: GivenCall | None = None) -> Exception:
    return Fault.NO_RULE(
        f"{where()}: {name} has no rule, and a gradient passes through it; use a function of NumPy "
        f"(np.reshape, np.sum, ...){declaring(call)}"
    )


def _says_nothing(y: Any) -> bool:
    """Return whether an attribute depends on the form of the array, as its shape does, alone."""
    if isinstance(y, tuple):
        return all(_says_nothing(part) or part != part for part in y)  # nan: an unknown length
    return y is None or isinstance(y, bool | int | str | np.dtype)


@handlers.desugared(iter, of=lambda t: is_foreign(t) or has_rows(t))
def _(tape: Tape, nodes: Nodes, x: Any, *sentinel: Any) -> Traced:
    return tape.call((None, nodes[1]), _rows_of, x)


def _rows_of(x: Any) -> Any:
    """Walk over an array by its subscripts."""
    for i in range(len(x)):
        yield x[i]
