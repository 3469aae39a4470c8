"""Functions as functions of autograd: one primitive, whose first argument is the call."""

import functools
from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defjvp_argnums, defvjp_argnums, primitive
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import getval, isbox, new_box

from rulescore._errors import Fault
from rulescore._naming import name_of
from rulescore.interop._calls import Call
from rulescore.interop._derivatives import Derivative, Pushforward
from rulescore.interop._differentiator import FunctionAndCall, Pull
from rulescore.interop._functions import ExportedFunction
from rulescore.interop._trees import LEAF, flatten, rebuild

_PLAIN = frozenset((np.ndarray, float, np.float64))


class AutogradFunction(ExportedFunction):
    """A function that autograd differentiates."""

    def __call__(self, *xs: Any, **options: Any) -> Any:
        """Call the function on arrays and numbers, or on trees of them."""
        parts = None if options else parts_of_boxes(xs)
        if parts is not None:  # boxes of arrays alone: as `node` does, and faster
            values, nodes, needed = parts
            count = len(values)
            run = Run(self.calls.get(count) or self.call_of_leaves(count), needed)
            ys = value_of(run, *values)
            if run.structure is LEAF and ys.dtype.kind not in "fc":
                return ys
            made = type(nodes[0])(ys, node, (run, *values), {}, range(1, count + 1), nodes)
            boxed = new_box(ys, xs[0]._trace, made)
            return boxed if run.structure is LEAF else rebuilt(run.structure, boxed)
        f, leaves = self.f, list[Any]()
        structure = None if options else simple(xs, leaves)
        if structure is None:
            f, xs, options = self.opened(xs, options)
            leaves.clear()
            structure = flatten(xs, isbox, leaves)
        if not leaves:
            return f(*xs, **options)
        call = Call(f, structure, options, self.differentiator)
        return rebuilt(*applied(call, leaves))

    def opened(self, xs: tuple[Any, ...], options: dict[str, Any]) -> FunctionAndCall:
        """Return the function and its call, without boxes of containers or among the options."""
        xs = tuple(map(opened, xs))
        options = {name: opened(x) for name, x in options.items()}
        return self.without_keywords(xs, options, isbox, _as_constant)

    def __repr__(self) -> str:
        return f"to_autograd({name_of(self.f)})"

    def __reduce__(self) -> Any:
        return AutogradFunction, (self.f, self.differentiator)


def parts_of_boxes(xs: tuple[Any, ...]) -> tuple[list[Any], list[Any], list[bool]] | None:
    """Return the arrays of boxes of one trace, their nodes, and which may have a gradient.

    `None` where an argument is something else, or there is none.
    """
    values: list[Any] = []
    nodes: list[Any] = []
    needed: list[bool] = []
    trace = None
    for x in xs:
        if type(x) is not ArrayBox or type(x._value) is not np.ndarray:
            return None
        if trace is None:
            trace = x._trace
        elif x._trace != trace:
            return None
        values.append(x._value)
        nodes.append(x._node)
        needed.append(x._value.dtype.kind in "fc")
    return (values, nodes, needed) if values else None


def simple(xs: tuple[Any, ...], leaves: list[Any]) -> tuple[Any, ...] | None:
    """Return the structure of arguments and add their leaves; `None` where there are containers."""
    structure: list[Any] = []
    for x in xs:
        if isbox(x):
            if type(x._value) not in _PLAIN:
                return None
            leaves.append(x)
            structure.append(LEAF)
        elif isinstance(x, list | tuple | dict):
            return None
        else:
            structure.append(x)
    return tuple(structure)


def opened(x: Any) -> Any:
    """Return a value with the boxes of tuples, lists and dicts replaced by these, of boxes."""
    if isbox(x):
        held = getval(x)
        if isinstance(held, dict):
            return {name: opened(x[name]) for name in held}
        if isinstance(held, list | tuple):
            each = [opened(x[i]) for i in range(len(held))]
            return each if isinstance(held, list) else tuple(each)
        return x
    if isinstance(x, dict):
        return {name: opened(entry) for name, entry in x.items()}
    if type(x) in (list, tuple):
        return type(x)(map(opened, x))
    return x


def _as_constant(name: str, x: Any) -> Any:
    raise Fault.HOST_CALL.of(
        TypeError,
        f"the option `{name}` is differentiated, and options have no gradient: pass it by position",
    )


class Run:
    """A call that is run, and what the run leaves: the structure of the value, and the pullback."""

    __slots__ = ("call", "needed", "pull", "structure")
    structure: Any
    pull: Pull

    def __init__(self, call: Call, needed: Sequence[bool]) -> None:
        self.call, self.needed = call, needed


def applied(call: Call, leaves: Sequence[Any]) -> tuple[Any, Any]:
    """Return the structure of a call's value and its leaves: a tuple, but for one alone."""
    run = Run(call, [isbox(x) and kind_of(x) in "fc" for x in leaves])
    ys = node(run, *leaves)
    return run.structure, ys


def rebuilt(structure: Any, ys: Any) -> Any:
    """Return the value, of its structure and its leaves. Those of integers are not traced."""
    if structure is LEAF:
        return traced(ys)
    count = count_of(structure)
    leaves = [ys] if count == 1 else [ys[i] for i in range(count)]
    return rebuild(structure, iter(map(traced, leaves)))


def traced(y: Any) -> Any:
    """Return a leaf of a value, as it is if it may have a gradient, else without its box."""
    return y if kind_of(y) in "fc" else getval(y)


def count_of(structure: Any) -> int:
    """Return the number of leaves of a structure."""
    found: list[Any] = []
    flatten(structure, lambda part: part is LEAF, found)
    return len(found)


def value_of(run: Run, *leaves: Any) -> Any:
    """Return the leaves of a value: a tuple, but for one alone."""
    arrays = list(map(read_only, leaves))
    run.structure, found, run.pull = run.call.pull(arrays, run.needed)
    return found[0] if len(found) == 1 else tuple(found)


node = primitive(value_of)


def pulled(argnums: Sequence[int], ans: Any, args: Sequence[Any], kwargs: Any) -> Any:
    """Return what autograd pulls cotangents back by."""
    run, *leaves = args
    # `run.pull` as it is now: that of the arrays, if none of the leaves is a box
    return functools.partial(pulled_back, run, run.pull, leaves, argnums)


def pulled_back(
    run: Run, pull: Any, leaves: Sequence[Any], argnums: Sequence[int], g: Any
) -> Sequence[Any]:
    """Return the cotangents of some leaves, which autograd counts from 1, for that of the value."""
    if run.structure is LEAF and type(g) is np.ndarray and _PLAIN.issuperset(map(type, leaves)):
        found = pull((g if g.dtype.kind != "c" else np.conj(g),))
    else:
        found = general(run, pull, leaves, g)
    if len(argnums) == len(leaves):
        return list(map(like, found, leaves))
    return [like(found[n - 1], leaves[n - 1]) for n in argnums]


def general(run: Run, pull: Any, leaves: Sequence[Any], g: Any) -> Sequence[Any]:
    """Return the cotangents of leaves, some of which autograd may trace in turn."""
    count = count_of(run.structure)
    dys = [conj(dy) for dy in ([g] if count == 1 else [g[i] for i in range(count)])]
    if not has_boxes([*leaves, *dys]):
        found: Sequence[Any] = pull(list(map(np.asarray, dys)))
        return found
    call = Derivative(run.call, run.structure, [True] * count, run.needed, pull)
    _, known = applied(call, [*leaves, *dys])
    each = iter([known] if sum(run.needed) == 1 else [known[i] for i in range(sum(run.needed))])
    return [next(each) if needed else None for needed in run.needed]


def has_boxes(xs: Sequence[Any]) -> bool:
    """Return whether autograd traces one of some values."""
    return any(map(isbox, xs))


def pushed(
    argnums: Sequence[int], gs: Sequence[Any], ans: Any, args: Sequence[Any], kwargs: Any
) -> Any:
    """Return the tangent of the value."""
    run, *leaves = args
    call = Pushforward(run.call, [n + 1 in argnums for n in range(len(leaves))])
    operands = [*leaves, *gs]
    if has_boxes(operands):
        return applied(call, operands)[1]
    _, found = call.value(list(map(read_only, operands)))
    return found[0] if len(found) == 1 else tuple(found)


defvjp_argnums(node, pulled)
defjvp_argnums(node, pushed)


def kind_of(x: Any) -> str:
    """Return the kind of the dtype of a leaf, such as `"f"`."""
    held = x if type(x) is np.ndarray else getval(x)
    return (held if type(held) is np.ndarray else np.asarray(held)).dtype.kind


def read_only(x: Any) -> np.ndarray:
    """Return a leaf as an array that cannot be written into."""
    if not isinstance(x, np.ndarray):
        return np.asarray(x)
    array = x.view()
    array.setflags(write=False)
    return array


def conj(x: Any) -> Any:
    """Return what a cotangent of autograd is here, and the other way round: they are conjugate."""
    return anp.conj(x) if kind_of(x) == "c" else x


def like(dx: Any, x: Any) -> Any:
    """Return a cotangent as autograd has it for a leaf: an array for an array, else a number."""
    if type(dx) is np.ndarray is type(x):
        return dx if dx.dtype.kind != "c" else np.conj(dx)
    held = getval(x)
    if dx is None:
        return np.zeros_like(held) if isinstance(held, np.ndarray) else 0.0
    dx = conj(dx)
    if isbox(dx):
        return dx
    return np.asarray(dx) if isinstance(held, np.ndarray) else np.asarray(dx)[()]
