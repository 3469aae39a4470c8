"""What a call becomes: an operation, the inlined body of the function, or a known value."""

import dataclasses
import operator
from typing import Any

import numpy as np

from rulescore import accumulate, find_rule, project, rrule
from zygote_lite._ir import intrinsics as _intrinsics
from zygote_lite._ir.operators import IN_PLACE
from zygote_lite._ir.traits import is_pure
from zygote_lite._specialize.infer import contexts as _contexts
from zygote_lite._specialize.infer.held import calls as _held_calls
from zygote_lite._specialize.infer.held import containers as _held
from zygote_lite._specialize.infer.held import methods as _held_methods
from zygote_lite._specialize.infer.islands import inlined_or_island
from zygote_lite._specialize.infer.iteration import taken as _taken
from zygote_lite._specialize.infer.iteration.iterators import is_iterator
from zygote_lite._specialize.infer.models import builtins as _special
from zygote_lite._specialize.infer.models import callables as _callables
from zygote_lite._specialize.infer.models import derivatives as _derivatives
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import errors as _errors
from zygote_lite._specialize.infer.models import gathered as _gathered
from zygote_lite._specialize.infer.models import instances as _instances
from zygote_lite._specialize.infer.models import lists as _lists
from zygote_lite._specialize.infer.models import made_classes as _made_classes
from zygote_lite._specialize.infer.models import named as _named
from zygote_lite._specialize.infer.models import objects as _objects
from zygote_lite._specialize.infer.models import operators as _operators
from zygote_lite._specialize.infer.models import partials as _partials
from zygote_lite._specialize.infer.models import writing as _writing
from zygote_lite._specialize.infer.models.classes import is_made_class
from zygote_lite._specialize.infer.models.items import Several, as_they_are_now, strict_zip
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.rules import project as _projection
from zygote_lite._specialize.rules.inlined import active_call
from zygote_lite._specialize.typed.abstract_eval import (
    decided,
    known_result,
    mark_made,
    refuse_types,
    run,
)
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import FLOATS, ArrayOf, ListOf, Scalar, can_carry
from zygote_lite._specialize.typed.functions import Attribute, attribute_of, is_hashable
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.plugins import is_of_plugin
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import (
    Descriptor,
    Error,
    Local,
    Message,
    Method,
    Partial,
    StandIn,
    Super,
)
from zygote_lite._specialize.typed.store_forwarding import stored_at
from zygote_lite._specialize.typed.structures import is_named, structure
from zygote_lite._specialize.typed.values import FOLDED, Value, constant, is_one


def call(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value] | None = None, stem: str = ""
) -> Value:
    """Write a call of a known function, and return its value."""
    f, kws = original(f), kws or {}
    if isinstance(f, Local):
        return builder.inline(f, xs, kws)
    if isinstance(f, Method):
        return _method_call(builder, f, xs, kws, stem)
    if isinstance(f, Partial):
        return _partials.called_partial(builder, f, xs, kws, stem)
    if _callables.is_getter(f) and len(xs) == 1 and not kws:
        return _callables.called_getter(builder, f, xs[0])
    answer = _derivatives.call_inside(builder, f, xs, kws)
    if answer is not None:
        return answer
    if f is super and len(xs) == 2 and not kws and isinstance(xs[0].sample, type):
        return constant(Super(xs[0].sample, xs[1]))
    if f is _intrinsics.invoke:
        return builder.call(builder.attribute(xs[0], xs[1].sample), xs[2:], kws, stem)
    if builder.held and is_hashable(f) and not any(map(is_iterator, xs)):
        found = _held_calls.of_held(builder, f, xs, kws, stem)
        if found is not None:
            return found
    if f is zip and kws.keys() == {"strict"} and kws["strict"].is_constant:
        f, kws = (strict_zip if kws["strict"].sample else zip), {}
    found = _taken.of_iterators(builder, f, xs, kws)
    if found is not None:
        return found
    context = _contexts.made_context(builder, f, xs, kws) if is_hashable(f) else None
    context = context or _partials.made_partial(builder, f, xs, kws)
    context = context or _callables.made_getter(f, xs, kws)
    if context is not None:
        return context
    if builder.handlers and _errors.is_kind(f):
        return _errors.made_error(builder, f, xs, kws)
    if any(isinstance(x.sample, Error) for x in xs) and f in [*_errors.ASKING]:
        return _errors.ASKING[f](builder, f, *xs)
    is_defined = any(x.is_object or isinstance(x.sample, StandIn) for x in (*xs, *kws.values()))
    if is_defined or f in (dataclasses.dataclass, dataclasses.field):
        found = _made_classes.of_definitions(builder, f, xs, kws) if is_hashable(f) else None
        if found is not None:
            return found
    if isinstance(f, type) and _instances.can_be_made(f):
        return _instances.construct(builder, f, xs, kws)
    if _named.is_named_tuple(f):
        return _named.construct_named(builder, f, xs, kws)
    if f is object.__new__ and len(xs) == 1 and not kws:
        return _instances.object_of(builder, xs[0].sample)
    if any(x.is_object for x in xs):
        found = _operators.of_objects(builder, f, xs, kws)
        if found is not None:
            return found
    if f in (max, min) and not kws and any(map(_operators.holds_object, xs)):
        return _operators.best_object(builder, f, xs)
    written = _writing.writing_call(builder, f, xs, kws)
    if written is not None:
        return written
    f = _without_in_place(f, xs)
    if not builder.plain and any(isinstance(x.fact, ListOf) or x.items is not None for x in xs):
        gathered = _gathered.of_lists(builder, f, xs, kws, stem)
        if gathered is not None:
            return gathered
    if f is dict:
        return _dicts.made(builder, xs, kws)
    special = _special.SPECIAL.get(f) if is_hashable(f) else None
    if any(x in builder.iterators for x in xs) and (special is None or f in (len, reversed)):
        raise Unsound.ITERATOR(f"an iterator is given to {getattr(f, '__name__', f)}")
    if f in (isinstance, issubclass) and len(xs) == 2 and not builder.plain:
        kind = type(xs[0].sample) if f is isinstance else xs[0].sample
        _objects.ask_for_class(builder.inputs, kind, xs[1].sample)
    found = None
    if not kws:
        found = (special(builder, xs) if special is not None else None) or decided(f, xs)
    if found is None and not kws:
        found = simplified(f, xs)
        if found is not None and found.is_array and builder.distinct:
            found = None
    if found is not None:
        return found
    operands = [*xs, *kws.values()]
    if any(isinstance(x.sample, Message) for x in operands):
        raise NotSupported.TEXT("a text is made of something that is not known")
    if all(_is_plain_constant(x) for x in operands) and is_pure(f):
        found = known_result(f, xs, kws)
        if found is not None:
            return found
    if f is project and len(xs) == 2 and not kws:
        return _projection.projected(builder, xs[0], xs[1])
    if builder.follows and any(leaf.active for x in operands for leaf in leaves(x)):
        return _active(builder, f, xs, kws, stem)
    return inactive(builder, f, xs, kws, stem)


def call_object(
    builder: Builder, f: Value, xs: list[Value], kws: dict[str, Value], stem: str = ""
) -> Value:
    """Write the call of an object whose class has a `__call__`, or of a class made inside."""
    if is_made_class(f):
        if not _instances.can_be_made(f.sample):
            raise NotSupported.CONTAINER(f"it makes a {f.sample.__name__}, which is not followed")
        return _instances.construct(builder, f.sample, xs, kws)
    if _callables.is_cached(f):
        return _callables.called_cached(builder, f, xs, kws)
    if any(leaf.active for x in (f, *xs, *kws.values()) for leaf in leaves(x)):
        rule = rule_of(f.sample, xs, kws)
        if rule is not None:
            raise _asks_for_more(rule)
    own = _objects.function_of(builder.inputs, f, "__call__")
    return call(builder, own, [f, *xs], kws, stem)


def _asks_for_more(rule: Any) -> NotSpecializable:
    return NotSupported.RULE_FORM(
        f"the rule {rule.signature} asks for an instance or for the engine"
    )


def _active(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str) -> Value:
    rule = rule_of(f, xs, kws)
    if rule is not None and any(map(_operators.holds_object, xs)):
        raise NotSupported.RULE_OPERAND(f"the rule {rule.signature} is given an object")
    if rule is None:
        inner = getattr(f, "_implementation", None)
        f = f if inner is None else inner
        if hasattr(f, "__code__"):
            return inlined_or_island(builder, f, xs, kws, stem)
        if is_pure(f) and not kws:
            refuse_types(f, xs)
        raise NotSupported.NO_RULE(
            f"there is no rule for {getattr(f, '__name__', f)} of these types"
        )
    if any(leaf.active and isinstance(leaf.sample, str) for x in xs for leaf in leaves(x)) and (
        rule.kind != "constant"
        or (isinstance(f, type) and issubclass(f, int | float | complex | np.number))
    ):
        raise Unsound.NO_FLOAT("a number is made of the text of a differentiated argument")
    _held.refuse_inside(xs)
    xs = [as_they_are_now(x) for x in xs]
    if any(leaf.active for x in kws.values() for leaf in leaves(x)):
        raise Unsound.LOST_GRADIENT("an option depends on a differentiated argument")
    if rule.kind == "constant":
        found = inactive(builder, f, xs, kws, stem)
        if isinstance(found.sample, bytes):  # numbers may be made of it, whose gradient is refused
            raise Unsound.NO_FLOAT("bytes are made of a differentiated argument")
        if isinstance(found.sample, str):
            found.active = True  # so that numbers that are made of it are refused
        return found
    if rule.kind == "instance" or rule.needs_ad:
        raise _asks_for_more(rule)
    return active_call(builder, rule, f, xs, kws, stem)


def rule_of(f: Any, xs: list[Value], kws: dict[str, Value]) -> Any:
    """Return the one rule that answers for all types that the arguments may have."""
    f = f.descriptor if isinstance(f, Attribute) else f
    given = [x.sample for x in xs]
    options = {name: x.sample for name, x in kws.items()}
    rule = find_rule(f, *given, **options)
    for i, x in enumerate(xs):
        if isinstance(x.fact, Scalar) and len(x.fact.classes) > 1:
            for kind in x.fact.classes:
                other = [*given[:i], kind(1), *given[i + 1 :]]
                if find_rule(f, *other, **options) is not rule:
                    raise Unsound.AMBIGUOUS_RULE(
                        "a number has one of several types, which take different rules"
                    )
    return rule


def inactive(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str = ""
) -> Value:
    """Write a call that no gradient passes through; return its value."""
    if f is accumulate and builder.plain:
        raise NotSupported.RULE_FORM("a rule calls accumulate")
    if hasattr(f, "__code__") and not is_pure(f):
        return _python(builder, f, xs, kws, stem)
    _held.refuse_inside([*xs, *kws.values()])
    if not is_pure(f):
        raise Unsound.EFFECTS(f"it calls {getattr(f, '__name__', f)}, which may have effects")
    if any(not _is_operand(x) for x in (*xs, *kws.values())):
        raise NotSupported.RULE_OPERAND(f"a structure is given to {getattr(f, '__name__', f)}")
    if "out" in kws and kws["out"].sample is not None:
        raise Unsound.WRITES_A_RESULT("it writes its result into an array")
    xs = [as_they_are_now(x) for x in xs]
    known = builder.reusable(f, xs, kws)
    if known is not None and known in builder.known:
        return builder.known[known]
    target = builder.operation(f, xs, kws, stem).target
    mark_made(f, target)
    if known is not None:
        builder.known[known] = target
    return target


def _python(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str) -> Value:
    """Write a call of a Python function: its body, or in a rule, where that fails, the call."""
    if not builder.plain:
        return inlined_or_island(builder, f, xs, kws, stem)
    operands = [*xs, *kws.values()]
    is_known = is_of_plugin(f.__globals__)  # others may have effects
    if is_known and operands and all(_is_plain_constant(x) for x in operands):
        answer = run(f, [x.sample for x in xs], {n: x.sample for n, x in kws.items()})
        if isinstance(answer, FOLDED) or answer == {}:
            return constant(answer)
    mark = builder.mark()
    try:
        return builder.inline(f, xs, kws)
    except NotSpecializable:
        builder.back_to(mark)
    if not is_known:
        raise Unsound.EFFECTS(f"a call of {f.__name__} on samples might have effects")
    if any(not _is_operand(x) for x in (*xs, *kws.values())):
        raise NotSupported.RULE_OPERAND("a structure is given to a function of a rule")
    return builder.operation(f, xs, kws, stem, certain=True).target


def simplified(f: Any, xs: list[Value]) -> Value | None:
    """Return the operand that a call returns unchanged: `x * 1`, `x ** 1`, `x + 0.0`."""
    if len(xs) != 2:
        return None
    x, y = xs
    kept = None
    if f is operator.mul:
        kept = y if is_one(x) and _stays(y) else x if is_one(y) and _stays(x) else None
    elif f in (operator.truediv, operator.pow) and is_one(y) and _stays(x):
        kept = x
    return kept if kept is None or not kept.active or _is_passed_on(f, xs, kept) else None


def _is_passed_on(f: Any, xs: list[Value], kept: Value) -> bool:
    """Return whether the rule in force says so, too: a program may override that of an operator."""
    two = np.full(1, 2.0) if kept.is_array else 2.0
    applied = rrule(f, *(two if x is kept else x.sample for x in xs))
    return applied is not None and bool(applied[1](two)[1 + (xs[1] is kept)] == two)


def _stays(x: Value) -> bool:
    """Return whether a value times one is that value, and stays so: nothing is written to it."""
    if isinstance(x.fact, Scalar):
        return x.fact.classes <= FLOATS
    return x.is_array and can_carry(x.fact) and not x.may_be_written


def _is_plain_constant(x: Value) -> bool:
    return x.is_constant and not isinstance(x.sample, StandIn | Several)


def _is_operand(x: Value) -> bool:
    """Return whether a value can be written as an operand."""
    if x.items is not None:
        return type(x.sample) in (tuple, list, slice) and all(_is_operand(i) for i in x.items)
    return not x.is_object and not isinstance(x.sample, StandIn | Several)


def _without_in_place(f: Any, xs: list[Value]) -> Any:
    """Return the operator that gives a new value, for one that may change its operand."""
    of = IN_PLACE.get(f) if is_hashable(f) else None
    if of is None or not xs or isinstance(xs[0].sample, list | dict | set):
        return f
    if xs[0].is_array:  # statements `x += y` were taken by the interpreter
        raise Unsound.WRITES_A_RESULT(f"it calls operator.{f.__name__}, which changes an array")
    return of.function


# -- arrays ------------------------------------------------------------------------------------


def item(builder: Builder, x: Value, index: Value, stem: str = "") -> Value:
    """Write `x[index]`, and return it."""
    if x.is_object:
        return call(builder, operator.getitem, [x, index], {}, stem)
    if _held.is_held(x):
        return _held_calls.held_part(builder, x, index, stem)
    if _held.may_be_held(builder, x) and not index.is_constant:
        return item(builder, _held.hold(builder, x), index, stem)
    if x.made and not (builder.reverse or builder.plain):
        stored = stored_at(builder.out, x, index)
        if stored is not None and not (stored.is_array and builder.distinct):
            return stored
    if isinstance(x.fact, ListOf):
        return _lists.item_of_list(builder, x, index, stem)
    if x in builder.iterators:
        raise Unsound.ITERATOR("it takes an item of an iterator")
    if x.items is not None and type(x.sample) in (tuple, list) and index.is_constant:
        if isinstance(index.sample, slice):
            return structure(type(x.sample), x.items[index.sample])
        n = operator.index(index.sample)
        if not -len(x.items) <= n < len(x.items):
            raise Unsound.RAISES("it takes an item that does not exist").always(IndexError)
        return x.items[n]
    if _dicts.is_dict(x):
        return _dicts.item_of_dict(x, index)
    if x.is_constant and index.is_constant and not x.is_array:
        return constant(run(operator.getitem, [x.sample, index.sample], {}))
    if x.is_scalar:
        refuse_types(operator.getitem, [x, constant(0)])
    if not x.is_array and type(x.sample) is not tuple:
        raise NotSupported.ITEM(f"it takes an item of a {type(x.sample).__name__}")
    return call(builder, operator.getitem, [x, index], {}, stem)


def array_attribute(builder: Builder, x: Value, name: str) -> Value:
    """Write `x.name` of an array, or note that a method was looked up."""
    member = getattr(np.ndarray, name, None)
    if callable(member):
        return constant(Method(x, name))
    fact = x.fact
    assert isinstance(fact, ArrayOf)
    if name in ("ndim", "dtype"):
        return constant(getattr(x.sample, name))
    if name == "real" and fact.dtype.kind in "fiu":
        return x
    if name not in ("T", "mT", "shape", "size"):
        raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of an array")
    f = attribute_of(name)
    if x.active and builder.follows and name in ("T", "mT"):
        return _active(builder, f, [x], {}, "")
    known = ("attribute", name, x)
    if known not in builder.known:
        builder.known[known] = builder.operation(f, [x]).target
    return builder.known[known]


def _method_call(
    builder: Builder, f: Method, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    owner = f.owner
    if isinstance(owner.sample, Descriptor) and len(xs) == 1:
        return _made_classes.with_accessor(owner.sample, f.name, xs[0])
    if _held.is_held(owner):
        return _held_methods.held_method(builder, owner, f.name, xs, kws)
    if _held.may_be_held(builder, owner) and not _is_of_structures(owner, f.name):
        return _held_methods.held_method(builder, _held.hold(builder, owner), f.name, xs, kws)
    if f.function is object.__init__:
        if xs or kws:
            raise Unsound.RAISES("`object` takes no arguments")
        return constant(None)
    if f.function is not None:
        if f.name == "__init__":
            return _instances.initialized(builder, owner, f.function, xs, kws)
        return call(builder, f.function, [owner, *xs], kws, stem)
    if owner.is_array:
        return call(builder, getattr(np.ndarray, f.name), [owner, *xs], kws, stem)
    if isinstance(owner.fact, Scalar) and len(owner.fact.classes) == 1:
        (kind,) = owner.fact.classes
        if issubclass(kind, np.generic):
            return call(builder, getattr(kind, f.name), [owner, *xs], kws, stem)
    if is_iterator(owner):
        return _taken.method_of_iterator(builder, owner, f.name, xs, kws)
    if f.name == "append" and type(owner.sample) is list and len(xs) == 1 and not kws:
        return builder.append(owner, xs[0])
    if is_named(owner):
        return _named.method_of_named(builder, owner, f.name, xs, kws)
    if _dicts.is_dict(owner):
        return _dicts.method(builder, owner, f.name, xs, kws)
    if owner.where is not None:
        own = _objects.function_of(builder.inputs, owner, f.name)
        return call(builder, own, [owner, *xs], kws, stem)
    raise NotSupported.METHOD(f"it calls the method {f.name} of a {type(owner.sample).__name__}")


def _is_of_structures(x: Value, name: str) -> bool:
    """Return whether a method of a list or a dict is known of structures."""
    return name in (
        ("append",) if type(x.sample) is list else ("get", "copy", *_held_methods.VIEWS)
    )


def try_store(x: Value, index: Value, value: Value) -> None:
    """Write a sample into a sample."""
    memory = x.sample.view()
    try:
        memory.flags.writeable = True  # it is one of the code's own
        with np.errstate(all="ignore"):
            memory[index.sample] = value.sample
    except Exception as error:
        raise Unsound.RAISES(f"a write fails: {error}") from error
