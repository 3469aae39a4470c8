"""The driver: from a function and the abstract values of its arguments to specialized code."""

import builtins
import functools
import inspect
import keyword
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import find_rule, rules_of
from zygote_lite._cotangents.kinds import own_derivative
from zygote_lite._specialize.assemble import Specialized, written
from zygote_lite._specialize.attempts import Attempts, Way
from zygote_lite._specialize.derived.adjoint import differentiate
from zygote_lite._specialize.infer.caches.from_outside import settle_caches
from zygote_lite._specialize.infer.effects.attributes import settle_attributes
from zygote_lite._specialize.infer.effects.collectors import as_returned, settle_collectors
from zygote_lite._specialize.infer.effects.outside_arrays import settle_outside_arrays
from zygote_lite._specialize.infer.effects.variables import settle_variables
from zygote_lite._specialize.infer.held.changes import settle_changes
from zygote_lite._specialize.infer.held.inputs import as_given
from zygote_lite._specialize.infer.inputs import argument
from zygote_lite._specialize.infer.interpreter import Interpreter
from zygote_lite._specialize.infer.iteration.rows import refuse_changed_rows
from zygote_lite._specialize.infer.memory import settled_memory
from zygote_lite._specialize.infer.models import differentiated as _differentiated
from zygote_lite._specialize.infer.recursion import refuse_changed_functions
from zygote_lite._specialize.infer.signature import refuse_many_parts
from zygote_lite._specialize.infer.writes import own_arguments, own_outside_arrays
from zygote_lite._specialize.recursion import define_recursive
from zygote_lite._specialize.reverse.backward import Backward
from zygote_lite._specialize.reverse.dependence import refuse_lost
from zygote_lite._specialize.reverse.ends import (
    first_of_pair,
    float_checked,
    gradients_of,
    refuse_other_pairs,
    refuse_other_values,
    seed_for,
)
from zygote_lite._specialize.typed.derivatives import DerivativeInside, TakenBy
from zygote_lite._specialize.typed.facts import fact_of
from zygote_lite._specialize.typed.inputs import Inputs, OutsidePlace
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.notes import has_arrays_of_its_own
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant, shape_root
from zygote_lite._tape.rules import handed_in

_MOST_GUESSES = 60  # branches that are taken as the samples take them
_PLAINLY = Way()
_MODULES = {"np", "math"}  # what the code names so
_RESERVED = {*keyword.kwlist, *dir(builtins), *_MODULES, "back", "_"}


def refuse_own_rule(f: Any, xs: tuple[Any, ...]) -> None:
    """Refuse a function with a rule, which takes precedence over its source."""
    if find_rule(f, *xs, ad=handed_in) is not None or own_derivative(f) is not None:
        raise Unsound.OWN_RULE("it has a rule of its own")


def _leave_out_ruled(inputs: Inputs, f: Any) -> None:
    """Demand that the code, which is found by that of the function, is of none with a rule."""
    ruled = frozenset([rule.function for rule in rules_of(f.__code__)]) - {f}
    if ruled:
        inputs.guards[f"f not in {inputs.name_for(ruled, 'o')}"] = None


def specialize(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], *, as_pullback: bool = False,
    compiled: bool = False, strong: bool = False, handlers: bool = False, has_aux: bool = False,
    optional: bool = True, plain: bool = False,
) -> Specialized:  # fmt: skip
    """Return the code for the value and the gradient of a function.

    Arguments:
        f: a Python function.
        xs: its arguments, which the code is tried out on.
        active: which of them are differentiated.
        as_pullback: whether the reverse pass is to be a function inside, `back`.
        compiled: whether the code is for Numba.
        strong: whether a zero cotangent stays a zero where it meets an infinity, as on the tape.
        handlers: whether errors reach the handlers of the program; without it, the tape.
        has_aux: whether the value is a pair, of which the pullback is given the cotangent of the
            first, and none of the second.
        optional: whether variables may be numbers or `None`.
        plain: whether it is to be read, as it is before the passes.

    Raises `NotSpecializable` where the function is left to the tape.
    """
    refuse_own_rule(f, xs)
    refuse_many_parts(xs)

    def make(way: Way, begin: Callable[[], Inputs]) -> Specialized:
        if way.held and way.handlers:
            raise NotSupported.CONTAINER(
                "it changes lists, dicts or sets and also catches exceptions"
            )
        inputs = begin()
        inputs.has_aux, inputs.plain = has_aux, plain
        return _specialized(f, xs, active, as_pullback, compiled, strong, inputs, way)

    attempts = Attempts(make, f, xs, define_recursive, compiled=compiled)
    return attempts.in_some_way(handlers, optional)


def _specialized(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], as_pullback: bool, compiled: bool,
    strong: bool, inputs: Inputs, way: Way,
) -> Specialized:  # fmt: skip
    """Return the code that is made in one way.

    It is made again as long as it writes to arrays that it is to have for itself. Where arrays
    that a pullback returns may be one, or one that was given, it is made with each array for itself
    (`distinct`): `x * 1.0` is not `x` for who writes to it.
    """
    own: set[Any] = set()
    while True:
        wanted: set[Any] = set()
        begin = functools.partial(
            interpreted, inputs, f, xs, active, way, compiled=compiled, strong=strong,
            has_islands=not compiled, own=frozenset(own), wanted=wanted,
        )  # fmt: skip
        try:
            begun = begin()
            is_given = as_pullback or inputs.has_aux  # as arrays of the caller's
            if is_given and not begun[0].distinct and may_be_shared(begun[0], begun[-1]):
                begun = begin(distinct=True)
            return _with_reverse(f, active, as_pullback, compiled, inputs, *begun)
        except NotSpecializable:
            if wanted <= own:
                raise
        inputs.begin_again()
        own |= wanted


def _with_reverse(
    f: Any, active: tuple[bool, ...], as_pullback: bool, compiled: bool, inputs: Inputs,
    builder: Interpreter, arguments: list[Value], names: list[str], result: Value,
) -> Specialized:  # fmt: skip
    """Return the code of a forward pass with its reverse pass.

    Where it writes to arrays that it is to have for itself it raises `NotSpecializable`.
    """
    settle_attributes(builder)
    settle_variables(builder)
    settle_collectors(builder)
    settle_caches(builder)
    settle_changes(builder)
    refuse_changed_functions(builder.out)
    _differentiated.complete(builder, arguments)
    settle_outside_arrays(builder, arguments)
    forward = builder.out
    value = float_checked(builder, result) if not compiled else result
    memory = settled_memory(builder, forward, result)
    if builder.wanted:
        raise Unsound.WRITES_TO_GIVEN(
            "it writes to an array that it did not create: write to a copy"
        )
    if builder.copies and any(
        x.is_known_by_rule for x in [*arguments, *(x for x, _ in inputs.given.values())]
    ):
        raise Unsound.SHARED_WRITE(
            "it writes to an argument that may share memory with a sparse array: write to a copy"
        )
    refuse_changed_rows(builder)
    if builder.copies and as_pullback:
        raise Unsound.WRITES_TO_GIVEN("it writes to an argument: write to a copy")
    if inputs.effects is not None and as_pullback:  # it may be run again, for a cotangent
        raise Unsound.EFFECTS("it prints, logs or has another side effect")
    if inputs.has_aux and not as_pullback:
        value = as_returned(value)
        if builder.copies and not all(map(builder.is_own, leaves(value))):
            raise Unsound.WRITES_TO_GIVEN(
                "it may return an array that it writes to and did not create: return a copy"
            )
    if inputs.has_aux:
        refuse_other_pairs(builder, value, as_pullback)
    elif any(active) or not compiled:
        refuse_other_values(value, as_pullback)
    seed, parameter = constant(1.0), None
    if as_pullback:
        seed = parameter = seed_for(builder, first_of_pair(value) if inputs.has_aux else value)
    if inputs.has_aux:
        seed = structure(tuple, [seed, constant(None)])
    backward = Backward(builder, memory=memory)
    backward.run(forward, result, seed)
    gradients = gradients_of(backward, arguments)
    name = plain_name(f) + ("_pullback" if as_pullback else "_value_and_gradient")
    return written(
        inputs, f, name, names, arguments, active, forward, backward, value, gradients,
        parameter, compiled,
    )  # fmt: skip


def may_be_shared(builder: Interpreter, result: Value) -> bool:
    """Return whether arrays in a result may share memory with each other, or are not new."""
    arrays = [x for x in leaves(result) if x.is_array]
    roots = {builder.storage(x) for x in arrays}
    return len(roots) < len(arrays) or not all(map(builder.is_own, arrays))


def plain_name(f: Any) -> str:
    name = str(f.__name__).replace("<lambda>", "lambda_")
    return name if name.isidentifier() else "f"  # it may have been set to any text


def interpreted(
    inputs: Inputs,
    f: Any,
    xs: tuple[Any, ...],
    active: tuple[bool, ...],
    way: Way = _PLAINLY,
    *,
    twice: bool = False,
    compiled: bool = False,
    strong: bool = False,
    has_islands: bool = False,
    distinct: bool = False,
    own: frozenset[Any] = frozenset(),
    wanted: set[Any] | None = None,
    over: TakenBy | None = None,
) -> tuple[Interpreter, list[Value], list[str], Value]:
    """Write the forward pass; return it with the arguments, their names and the result.

    Where it goes `over` a derivative of the function, it is that of the derivative.
    """
    _leave_out_ruled(inputs, f)
    builder = Interpreter(inputs)
    builder.twice, builder.uniform = twice, way.uniform
    builder.compiled, builder.strong, builder.has_islands = compiled, strong, has_islands
    builder.distinct, builder.handlers = distinct or has_arrays_of_its_own(own), way.handlers
    builder.own, builder.wanted = own, set() if wanted is None else wanted
    builder.differentiate, builder.held = differentiate, way.held
    builder.guesses = 0 if way.guesses is None else _MOST_GUESSES
    code = f.__code__
    builder.used |= {*_RESERVED, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    names = _parameter_names(builder, code, len(xs))
    arguments = []
    for i, (name, x, flag) in enumerate(zip(names, xs, active, strict=True)):
        builder.used.discard(name)
        value = argument(builder, x, name, flag, f"x{i}")
        builder.used.add(name)
        arguments.append(value)
    owned = own_arguments(builder, arguments)
    builder.may_own = not (twice or compiled)
    if builder.may_own:
        own_outside_arrays(builder)
    given = [
        as_given(builder, x, name, f"x{i}")
        for i, (x, name) in enumerate(zip(owned, names, strict=True))
    ]
    env = builder.bind(f, given, {})
    for name in (*code.co_varnames, *code.co_cellvars):
        if name not in names and name not in (*_MODULES, "_"):
            builder.used.discard(name)
    if over is None:
        return builder, arguments, names, builder.function(code, f.__globals__, env)
    builder.only_derives = True
    derivative = constant(DerivativeInside(over.verb, constant(f), over.argnums))
    return builder, arguments, names, builder.call(derivative, given, {})


def specialize_twice(
    f: Any, xs: tuple[Any, ...], number: int, v: Any, varying: frozenset[OutsidePlace] = frozenset()
) -> Specialized:
    """Return the code for the Hessian of a function times a vector.

    Arguments:
        f: a Python function whose value is a real number.
        xs: its arguments, which the code is tried out on.
        number: which of them is differentiated twice.
        v: a vector of its kind and shape.
        varying: the places of ints outside that are read at entry.

    The reverse pass of code without loops and branches has none either, and is itself reversed.
    """
    refuse_own_rule(f, xs)
    inputs = Inputs(f)
    inputs.varying = varying
    active = tuple([i == number for i in range(len(xs))])
    builder, arguments, names, result = interpreted(inputs, f, xs, active, twice=True)
    refuse_other_values(result)
    x, forward = arguments[number], builder.out
    first = Backward(builder, again=True)
    first.cotangents[result] = constant(1.0)
    if result.active:
        first.block(forward)
    slope = first.cotangents.get(x)
    is_structure = x.items is not None or x.is_object
    if not is_structure and (fact_of(v) != x.fact or np.shape(v) != np.shape(x.sample)):
        raise Unsound.COTANGENT_TYPE("the vector does not have the type and shape of the argument")
    if is_structure or slope is None or not slope.active:
        raise NotSupported.SECOND_ORDER(
            "its gradient is constant, or is that of a tuple, list or dict"
        )
    forward = [*forward, *first.out]
    refuse_lost(forward, builder.severed)
    vector = Value(x.fact, v, builder.name("v"))
    vector.shaped = shape_root(x)
    second = Backward(builder)
    second.cotangents[slope] = vector
    second.given.add(vector)
    second.block(forward)
    gradients = gradients_of(second, arguments)
    if None in gradients.values():
        raise NotSupported.SECOND_ORDER("its second derivative is zero")
    return written(
        inputs, f, plain_name(f) + "_hessian_times_vector", [*names, vector.name],
        [*arguments, vector], (*active, False), forward, second, None, gradients,
    )  # fmt: skip


def _parameter_names(builder: Interpreter, code: Any, count: int) -> list[str]:
    """Return a name for each argument; what `*` takes is numbered.

    A parameter `_` is renamed: the text says `for _ in ...` where nobody reads the variable.
    """
    given = code.co_varnames[: min(count, code.co_argcount)]
    if not _MODULES.isdisjoint(given):
        raise NotSupported.NAMES("a parameter is named np or math: rename it")
    if count > len(given) and not code.co_flags & inspect.CO_VARARGS:
        raise Unsound.RAISES("it is called with too many arguments")
    names = [builder.name("_0") if name == "_" else name for name in given]
    stem = code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if count > len(given) else ""
    return names + [builder.name(f"{stem}_{i}") for i in range(count - len(given))]
