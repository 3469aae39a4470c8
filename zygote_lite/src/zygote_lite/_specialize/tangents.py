"""The driver of forward mode: from a function and its arguments to dual code."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._specialize.assemble import Specialized, written
from zygote_lite._specialize.attempts import Attempts, Way
from zygote_lite._specialize.driver import (
    interpreted,
    may_be_shared,
    plain_name,
    refuse_own_rule,
    specialize_twice,
)
from zygote_lite._specialize.forward.dual import Dual, moves_complex
from zygote_lite._specialize.forward.held import is_moving
from zygote_lite._specialize.forward.lists import fact_of_tangent
from zygote_lite._specialize.infer.caches.from_outside import settle_caches
from zygote_lite._specialize.infer.effects.attributes import settle_attributes
from zygote_lite._specialize.infer.effects.collectors import settle_collectors
from zygote_lite._specialize.infer.effects.outside_arrays import settle_outside_arrays
from zygote_lite._specialize.infer.effects.variables import settle_variables
from zygote_lite._specialize.infer.held.changes import settle_changes
from zygote_lite._specialize.infer.interpreter import Interpreter
from zygote_lite._specialize.infer.memory import settled_memory
from zygote_lite._specialize.infer.models import differentiated as _differentiated
from zygote_lite._specialize.infer.models.lists.items import fact_of_list
from zygote_lite._specialize.infer.recursion import refuse_changed_functions
from zygote_lite._specialize.infer.signature import refuse_many_parts
from zygote_lite._specialize.passes.dead_code import drop_dead
from zygote_lite._specialize.passes.signs import take_signs
from zygote_lite._specialize.recursion import define_recursive
from zygote_lite._specialize.reverse.backward import Backward
from zygote_lite._specialize.reverse.ends import (
    float_checked,
    refuse_other_gradients,
    refuse_other_values,
)
from zygote_lite._specialize.typed.derivatives import TakenBy, Verb
from zygote_lite._specialize.typed.facts import INTS, ListOf, Other, Scalar, fact_of
from zygote_lite._specialize.typed.functions import Recursive
from zygote_lite._specialize.typed.inputs import Inputs, OutsidePlace
from zygote_lite._specialize.typed.nodes import Node, Protected, leaves, walk
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import has_parts, is_tangent_of, same_shape
from zygote_lite._specialize.typed.structures import (
    is_named,
    mapping,
    parts_of,
    paths_of,
    structure,
)
from zygote_lite._specialize.typed.values import Value, constant, shape_root


def specialize_forward(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], dxs: tuple[Any, ...],
    over: TakenBy | None = None, alone: bool = False, handlers: bool = False,
    optional: bool = True, varying: frozenset[OutsidePlace] = frozenset(),
) -> Specialized:  # fmt: skip
    """Return the code for the value of a function and its tangent.

    Arguments:
        f: a Python function whose value is a float, an array of floats, or a tuple of them.
        xs: its arguments, which the code is tried out on.
        active: which of them move.
        dxs: the tangents of these.
        over: a derivative of the function, whose value and tangent it is then.
        alone: whether the code returns the tangent alone.
        handlers: whether errors reach the handlers of the program; without it, the tape.
        optional: whether variables may be numbers or `None`.
        varying: the places of ints outside that are read at entry.
    """
    refuse_own_rule(f, xs)
    refuse_many_parts(xs)

    def make(way: Way, begin: Callable[[], Inputs]) -> Specialized:
        if way.held and (over or way.handlers):
            raise NotSupported.FORWARD(
                "it changes lists, dicts or sets, and catches exceptions or takes a gradient"
            )
        return _dual_code(f, xs, active, dxs, over, alone, way, begin)

    define = functools.partial(define_recursive, write=_write_recursive)
    attempts = Attempts(make, f, xs, define, knows_recursive=not over, varying=varying)
    return attempts.in_some_way(handlers, optional)


def _dual_code(
    f: Any, xs: tuple[Any, ...], active: tuple[bool, ...], dxs: tuple[Any, ...],
    over: TakenBy | None, alone: bool, way: Way, begin: Callable[[], Inputs],
) -> Specialized:  # fmt: skip
    own: set[Any] = set()
    distinct = False
    while True:
        inputs = begin()
        wanted: set[Any] = set()
        try:
            builder, arguments, names, result = interpreted(
                inputs, f, xs, active, way, distinct=distinct, own=frozenset(own), wanted=wanted,
                over=over, has_islands=over is None,
            )  # fmt: skip
            settle_attributes(builder)
            settle_variables(builder)
            settle_collectors(builder)
            settle_caches(builder)
            settle_changes(builder)
            refuse_changed_functions(builder.out)
            _differentiated.complete(builder, arguments)
            settle_outside_arrays(builder, arguments)
            value = float_checked(builder, result)
            memory = settled_memory(builder, builder.out)
            shared = not builder.distinct and may_be_shared(builder, result)
            if wanted <= own and not shared:
                break
            distinct = distinct or shared
        except NotSpecializable:
            if wanted <= own:
                raise
        own |= wanted
    if inputs.effects is not None and over:  # hessian() would repeat them
        raise NotSupported.FORWARD("it takes a nested gradient, and has side effects")
    if over and (builder.copies or inputs.changing or inputs.assigned):
        raise NotSupported.FORWARD("it changes an argument: change a copy")
    if builder.copies and not all(builder.is_own(x) for x in leaves(result) if x.is_array):
        raise Unsound.WRITES_TO_GIVEN("it may return an argument that it writes to: return a copy")
    if over is not None and over.verb == Verb.GRAD:
        refuse_other_gradients(value)
    else:
        refuse_other_values(value, as_pullback=True, as_complex=not over)
    if over and moves_complex(builder.out):
        raise NotSupported.FORWARD("it takes a nested gradient of complex numbers")
    dual, nodes = Dual(builder, builder.out), builder.out
    primal = {*walk(nodes)}
    moving = [x for x, flag in zip(arguments, active, strict=True) if flag]
    read: list[Node] = []
    builder.out = read
    tangents = [_tangent_parameter(dual, x, v) for x, v in zip(moving, dxs, strict=True)]
    builder.out = forward = [*read, *dual.block(nodes)]
    for x, checked in zip(leaves(result), leaves(value), strict=True):
        if x in dual.tangents:
            dual.tangents[checked] = dual.tangents[x]
        elif x in dual.still:
            dual.still.add(checked)
    found = dual.of_result(value)
    given = found if alone else structure(tuple, [value, found])
    drop_dead(forward, [], [given, *builder.copies.values()])
    take_signs(builder, forward, [given, *builder.copies.values()], primal)
    name = plain_name(f) + (f"_{over.verb.value}" if over else "")
    name += "_tangent" if alone else "_and_tangent"
    made = written(
        inputs, f, name, [*names, *(d.name for d in tangents)], [*arguments, *tangents],
        (False,) * (len(xs) + len(tangents)), forward, Backward(builder, memory=memory),
        given, {},
    )  # fmt: skip
    made.poles = builder.poles
    if made.poles and any(map(_catches_poles, walk(forward))):
        raise NotSupported.FORWARD("it catches the FloatingPointError of a tangent at a pole")
    return made


def _write_recursive(
    outer: Interpreter, builder: Interpreter, f: Recursive, called: Any, params: list[Value],
    result: Value,
) -> Specialized:  # fmt: skip
    """Write a function of the text that calls itself: it returns its value and the tangent."""
    nodes, memory = builder.out, settled_memory(builder, builder.out)
    dual = Dual(builder, nodes)
    tangents = []
    for x in params:
        if x.active or is_moving(x):
            fact = fact_of_tangent(x.fact) if x.active else x.fact
            dual.tangents[x] = d = Value(fact, x.sample, builder.name("dx"))
            d.shaped = shape_root(x)
            tangents.append(d)
    forward = dual.block(nodes)
    outer.poles |= builder.poles
    every = [*params, *tangents]
    builder.out = forward
    gives = result.is_scalar or result.is_array
    both = structure(tuple, [result, dual.whole(result) if gives else constant(None)])
    return written(
        outer.inputs, called, f.name, [x.name for x in every], every, (False,) * len(every),
        forward, Backward(builder, memory=memory), both, {}, inner=f.name,
    )  # fmt: skip


def _catches_poles(node: Node) -> bool:
    """Return whether a node is a `try` that handles the errors that NumPy raises at poles."""
    if not isinstance(node, Protected):
        return False
    return any(issubclass(FloatingPointError, kind) for kinds in node.caught for kind in kinds)


def specialize_product(
    f: Any,
    xs: tuple[Any, ...],
    active: tuple[bool, ...],
    vector: tuple[Any, ...],
    single: bool,
    handlers: bool = False,
    varying: frozenset[OutsidePlace] = frozenset(),
) -> Specialized:
    """Return the code for the Hessian of a function times a vector, of one part for each argument.

    Straight code is run backwards twice. Elsewhere forward mode goes over the gradient: nothing
    but what the gradient keeps is kept.
    """
    numbers = tuple([i for i, flag in enumerate(active) if flag])
    over = TakenBy(Verb.GRAD, numbers[0] if single else numbers)
    try:
        if handlers:
            raise NotSupported.SECOND_ORDER("it catches exceptions")
        if len(numbers) > 1:
            raise NotSupported.SECOND_ORDER("it is differentiated by several arguments")
        return specialize_twice(f, xs, numbers[0], vector[0], varying)
    except NotSpecializable as reason:
        try:
            return specialize_forward(
                f, xs, active, vector, over, alone=True, handlers=handlers, varying=varying
            )
        except NotSpecializable as second:
            raise second from reason


def _tangent_parameter(dual: Dual, x: Value, v: Any) -> Value:
    """Return the parameter for the tangent of an argument, part by part of a tuple, list or dict.

    That of an object, and of what holds one or has a part that stays, is read as the code runs.
    """
    if _is_plain_tree(x, v):
        return _part_by_part(dual, x, v)
    if v is None:
        raise Unsound.COTANGENT_TYPE("a differentiated argument has no tangent")
    found = Value(Other(type(v)), v, dual.builder.name("dx"))
    _read_parts(dual, x, found)
    return found


def _is_plain_tree(x: Value, v: Any) -> bool:
    """Return whether a tangent is a tree of numbers and arrays alone."""
    if x.items is None or type(v) is not type(x.sample):
        return not x.is_object and v is not None
    values = v.values() if type(v) is dict else v
    parts = [part for _, part in parts_of(x)]
    return len(parts) == len(v) and all(map(_is_plain_tree, parts, values))


def _part_by_part(dual: Dual, x: Value, v: Any) -> Value:
    if x.items is not None and type(x.sample) in (tuple, list, dict) and type(v) is type(x.sample):
        if type(v) is dict:
            if [*v] != [*x.sample]:
                raise Unsound.COTANGENT_TYPE("a tangent has other keys than its argument")
            given = zip(v, parts_of(x), strict=True)
            found = mapping({key: _part_by_part(dual, part, v[key]) for key, (_, part) in given})
        else:
            parts = [_part_by_part(dual, part, d) for part, d in zip(x.items, v, strict=True)]
            found = structure(type(x.sample), parts)
        found.name = dual.builder.name("dx")
        return found
    if isinstance(x.fact, ListOf) and type(v) is list and fact_of_list(v) == x.fact:
        found = Value(x.fact, v, dual.builder.name("d" + x.name))
        dual.tangents[x] = found
        return found
    _refuse_other_kind(x, v)
    found = Value(fact_of(v), v, dual.builder.name("d" + x.name))
    found.shaped = shape_root(x)
    dual.tangents[x] = found
    return found


def _refuse_other_kind(x: Value, v: Any) -> None:
    if not (x.is_array or x.is_scalar):
        raise NotSupported.FORWARD(
            "a tangent is given for something other than numbers, arrays and containers of these"
        )
    is_integer = isinstance(x.fact, Scalar) and x.fact.classes <= INTS and type(v) is float
    if not is_integer and (fact_of(v) != x.fact or np.shape(v) != np.shape(x.sample)):
        raise Unsound.COTANGENT_TYPE("a tangent does not have the type and shape of its argument")


def _read_parts(dual: Dual, x: Value, d: Value) -> None:
    """Write what reads the tangents of the parts of an argument, which have to be of its form."""
    is_leaf = x.read is None and x.items is None and x.fields is None
    if d.sample is None or (is_leaf and not x.active):
        dual.still.update(leaf for _, leaf in paths_of(x, ""))
        return
    if x.read is not None:
        parts: list[tuple[Any, Value]] = [*x.read.items()]
        form: tuple[Any, ...] = (is_tangent_of, type(x.sample), (*vars(x.sample),))
    elif x.items is not None and type(x.sample) in (tuple, list, dict):
        keys = (*x.sample,) if type(x.sample) is dict else (*range(len(x.sample)),)
        parts = [*zip(keys, (part for _, part in parts_of(x)), strict=True)]
        form = has_parts, type(x.sample), keys
    elif is_named(x) and x.fields is not None:
        parts = [*enumerate(x.fields.values())]
        form = has_parts, type(x.sample), (*range(len(parts)),)
    elif not is_leaf:
        raise NotSupported.FORWARD(
            "a tangent is given for something other than numbers, arrays and containers of these"
        )
    else:
        _refuse_other_kind(x, d.sample)
        dual.tangents[x] = d
        if x.is_array:
            dual.builder.demand(same_shape, d, x)
        return
    form[0](d.sample, *form[1:])
    dual.builder.demand(form[0], d, *map(constant, form[1:]))
    for key, part in parts:
        taken = [d, constant(key)]
        op = dual.builder.operation(operator.getitem, taken, certain=False)
        op.required, op.target.fresh = True, False
        _read_parts(dual, part, op.target)
