"""What a call becomes: an operation, the inlined body of the function, or a known value."""

import dataclasses
import enum
import operator
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import project, why
from rulescore.faults import an
from zygote_lite._ir import intrinsics as _intrinsics
from zygote_lite._ir.operators import IN_PLACE
from zygote_lite._ir.source import compiled_by_numba
from zygote_lite._ir.traits import is_pure
from zygote_lite._specialize.infer import contexts as _contexts
from zygote_lite._specialize.infer.applied.rule_calls import applied_as_a_whole
from zygote_lite._specialize.infer.caches.from_outside import called_cached, is_cached
from zygote_lite._specialize.infer.caches.made_inside import called_cache, made_cache
from zygote_lite._specialize.infer.effects import draws as _draws
from zygote_lite._specialize.infer.effects import output as _output
from zygote_lite._specialize.infer.effects.asked import of_collectors
from zygote_lite._specialize.infer.held import calls as _held_calls
from zygote_lite._specialize.infer.held.folds import Options
from zygote_lite._specialize.infer.iteration import taken as _taken
from zygote_lite._specialize.infer.iteration.iterators import is_iterator
from zygote_lite._specialize.infer.iteration.known import strict_zip
from zygote_lite._specialize.infer.iteration.own import is_own
from zygote_lite._specialize.infer.methods import method_call
from zygote_lite._specialize.infer.models import builtins as _special
from zygote_lite._specialize.infer.models import callables as _callables
from zygote_lite._specialize.infer.models import derivatives as _derivatives
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import errors as _errors
from zygote_lite._specialize.infer.models import fields as _fields
from zygote_lite._specialize.infer.models import instances as _instances
from zygote_lite._specialize.infer.models import made_classes as _made_classes
from zygote_lite._specialize.infer.models import named as _named
from zygote_lite._specialize.infer.models import objects as _objects
from zygote_lite._specialize.infer.models import operators as _operators
from zygote_lite._specialize.infer.models import sets as _sets
from zygote_lite._specialize.infer.models import writing as _writing
from zygote_lite._specialize.infer.models.classes import is_made_class
from zygote_lite._specialize.infer.models.lists import gathered as _gathered
from zygote_lite._specialize.infer.models.pieces import of_pieces
from zygote_lite._specialize.infer.models.subclasses import base_of, of_subclasses
from zygote_lite._specialize.infer.models.vectorized import (
    OfEntries,
    called_vectorized,
    made_vectorized,
    vectorized_from_outside,
)
from zygote_lite._specialize.infer.operations import (
    active,
    asks_for_more,
    inactive,
    is_plain_constant,
    refuse_rule,
    rule_of,
    simplified,
)
from zygote_lite._specialize.infer.tables import of_tables
from zygote_lite._specialize.jitted import original
from zygote_lite._specialize.rules import contributions as _contributions
from zygote_lite._specialize.typed.abstract_eval import known_result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import is_record
from zygote_lite._specialize.typed.decisions import GIVING_NUMPY, decided
from zygote_lite._specialize.typed.facts import ListOf
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import abandon
from zygote_lite._specialize.typed.stand_ins import (
    Error,
    Local,
    LocalCache,
    Message,
    Method,
    Partial,
    StandIn,
    Super,
)
from zygote_lite._specialize.typed.values import Value, constant

Values = list[Value]
Resolver = Callable[[Builder, Any, Values, Options, str], Value | None]


def joined_keywords(mappings: list[dict[str, Value]]) -> dict[str, Value]:
    """Return the keywords of a call with `**` in one dict."""
    joined = {name: value for kws in mappings for name, value in kws.items()}
    if len(joined) < sum(map(len, mappings)):
        raise NotSupported.UNKNOWN_LENGTH("a call has a keyword twice")
    return joined


def call(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value] | None = None, stem: str = ""
) -> Value:
    """Write a call of a known function, and return its value.

    The first of these answers that has an answer (`RESOLUTION`, in the same order):

    1. containers from outside that the code puts into;
       a list that NumPy makes an array of, which is the tape's;
       what stands for a function while code is made: a function that is defined inside, a method,
       a partial, a getter; what is done with objects that inherit from containers;
    2. verbs of the engine, and what they have made; functions whose rules are handed the engine;
    3. data of pandas; output, random draws;
    4. what the transform itself writes in the place of statements;
    5. containers that change, iterators;
    6. managers of `with`, partials, getters, errors that are made;
    7. classes and functions that are defined inside;
    8. classes: objects and named tuples that are made;
    9. operators and builtins of objects;
    10. functions that write to arrays;
    11. functions of lists and structures: arrays that are made of them, dicts;
    12. builtins that are known (`SPECIAL`), and what their types decide;
    13. what is known already: a call of constants, a product by one;
    14. an operation: the rule, where a gradient passes, or else the function itself, or its body.
    """
    f, kws = original(f), kws or {}
    numbers = not kws and all(x.is_scalar for x in xs)
    python = compiled_by_numba(f, of_entries=numbers)
    f = f if python is None or why(f) else python  # a rule for it is its derivative
    for resolver in RESOLUTION:
        found = resolver(builder, f, xs, kws, stem)
        if found is not None:
            return found
    raise AssertionError("the last of the resolvers answers")


def call_object(
    builder: Builder, f: Value, xs: list[Value], kws: dict[str, Value], stem: str = ""
) -> Value:
    """Write the call of an object whose class has a `__call__`, or of a class made inside."""
    if is_made_class(f):
        if not _instances.can_be_made(f.sample):
            raise NotSupported.CONTAINER(
                f"it makes {an(f.sample.__name__)}: objects of this class are recorded"
            )
        return _instances.construct(builder, f.sample, xs, kws)
    if is_cached(f):
        return called_cached(builder, f, xs, kws)
    of_entries = vectorized_from_outside(builder, f)
    if of_entries is not None:
        return called_vectorized(builder, of_entries, xs, kws)
    is_active = any(leaf.active for x in (f, *xs, *kws.values()) for leaf in leaves(x))
    if is_active or builder.inner:  # then the outer gradient may pass through it
        rule = rule_of(f.sample, [*xs, *kws.values()], {})  # or given by name
        rule = rule_of(f.sample, xs, kws) if rule is None else rule
        if rule is not None:
            raise asks_for_more(rule)
    own = _objects.function_of(builder.inputs, f, "__call__")
    return call(builder, own, [f, *xs], kws, stem)


def _stand_in(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    match f:
        case Local():
            return builder.inline(f, xs, kws)
        case Method():
            return method_call(builder, f, xs, kws, stem)
        case LocalCache():
            return called_cache(builder, f, xs, kws)
        case OfEntries():
            return called_vectorized(builder, f, xs, kws)
        case Partial():
            return _callables.called_partial(builder, f, xs, kws, stem)
    if _callables.is_getter(f) and len(xs) == 1 and not kws:
        return _callables.called_getter(builder, f, xs[0])
    return None


def _verb(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    return _derivatives.call_inside(builder, f, xs, kws)


def _effect(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    """Answer for output, random draws, and texts for output."""
    if not is_hashable(f):
        return None
    found = _output.output(builder, f, xs, kws) or _output.text_of_call(builder, f, xs, kws)
    return found or _draws.random_call(builder, f, xs, kws, stem)


def _written_for_statements(
    builder: Builder, f: Any, xs: Values, kws: Options, stem: str
) -> Value | None:
    if f is super and len(xs) == 2 and not kws and isinstance(xs[0].sample, type):
        return constant(Super(xs[0].sample, xs[1]))
    if f is _intrinsics.write_global:
        return _contexts.set_global(builder, xs[1].sample, xs[2])
    if f is _intrinsics.invoke:
        return builder.call(builder.attribute(xs[0], xs[1].sample), xs[2:], kws, stem)
    return _fields.of_attributes(builder, f, xs, kws) if is_hashable(f) else None


def _changing(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    """Answer for containers that are made as the code runs, and for iterators."""
    given = any(is_iterator(x) or (is_own(x) and not is_record(x)) for x in xs)
    if is_hashable(f) and not given and f not in _taken.LAZY:
        found = _held_calls.of_held(builder, f, xs, kws, stem)
        if found is not None:
            return found
    if f is zip and kws.keys() == {"strict"} and kws["strict"].is_constant:
        return call(builder, strict_zip if kws["strict"].sample else zip, xs, {}, stem)
    return _taken.of_iterators(builder, f, xs, kws)


def _stand_in_made(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    """Answer for what stands for something else from here on: managers, partials, errors."""
    found = _contexts.made_context(builder, f, xs, kws) if is_hashable(f) else None
    found = found or _callables.made_partial(builder, f, xs, kws)
    found = found or (made_cache(builder, f, xs, kws) if is_hashable(f) else None)
    found = found or _callables.made_getter(f, xs, kws) or made_vectorized(f, xs, kws)
    if found is not None:
        return found
    if builder.handlers and _errors.is_kind(f):
        return _errors.made_error(builder, f, xs, kws)
    if any(isinstance(x.sample, Error) for x in xs) and f in [*_errors.ASKING]:
        return _errors.ASKING[f](builder, f, *xs)
    return None


def _definition(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    """Answer for what is defined inside, and for what defines."""
    is_defined = any(x.is_object or isinstance(x.sample, StandIn) for x in (*xs, *kws.values()))
    if not is_hashable(f) or not (is_defined or f in (dataclasses.dataclass, dataclasses.field)):
        return None
    return _made_classes.of_definitions(builder, f, xs, kws)


def _construction(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    if _named.is_named_tuple(f):
        return _named.construct_named(builder, f, xs, kws)
    if isinstance(f, type) and (_instances.can_be_made(f) or base_of(f) is not None):
        return _instances.construct(builder, f, xs, kws)
    if type(f) is enum.EnumType and len(xs) == 1 and not kws and is_plain_constant(xs[0]):
        member = f._value2member_map_.get(xs[0].sample) if is_hashable(xs[0].sample) else None
        return None if member is None else builder.attribute(constant(f), str(member.name))
    if f is object.__new__ and len(xs) == 1 and not kws:
        return _instances.object_of(builder, xs[0].sample)
    return None


def _array_of_list(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    """Leave `x += y` of a list and an array to the tape: NumPy makes a new array of it."""
    if f is not operator.iadd:
        return None
    made = xs[1].is_array or xs[1].is_known_by_rule or isinstance(xs[1].sample, np.generic)
    if made and isinstance(xs[0].sample, list | deque):
        raise NotSupported.LIST_OPERATION("an operator in place has a list and an array")
    return None


def _of_objects(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    if any(x.is_object for x in xs):
        found = _operators.of_objects(builder, f, xs, kws)
        if found is not None:
            return found
    if f in (max, min) and not kws and any(map(_operators.holds_object, xs)):
        return _operators.best_object(builder, f, xs)
    return None


def _writing_call(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    """Answer for what writes to an array; an operator in place of other things gives a new one."""
    found = _writing.writing_call(builder, f, xs, kws)
    if found is not None:
        return found
    if f is operator.iadd and type(xs[0].sample) is list and xs[0].items is not None:
        builder.call(builder.attribute(xs[0], "extend"), xs[1:], {})
        return xs[0]
    of = IN_PLACE.get(f) if is_hashable(f) else None
    if of is None or not xs or isinstance(xs[0].sample, list | dict | set):
        return None
    # statements `x += y` were taken by the interpreter
    if xs[0].is_array or xs[0].is_known_by_rule:
        raise Unsound.WRITES_A_RESULT(
            f"operator.{f.__name__} may change its argument: use the plain operator"
        )
    return call(builder, of.function, xs, kws, stem)


def _of_structures(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    found = _sets.of_sets(builder, f, xs, kws)
    if found is not None:
        return found
    if not builder.plain and any(isinstance(x.fact, ListOf) or x.items is not None for x in xs):
        found = _gathered.of_lists(builder, f, xs, kws, stem)
        if found is not None:
            return found
    found = of_pieces(builder, f, xs, kws)
    return _dicts.made(builder, xs, kws) if found is None and f is dict else found


def _builtin(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    special = _special.SPECIAL.get(f) if is_hashable(f) else None
    if any(x in builder.iterators for x in xs) and (special is None or f in (len, reversed)):
        raise Unsound.ITERATOR(f"it passes an iterator to {getattr(f, '__name__', f)}: pass a list")
    if f in (isinstance, issubclass) and len(xs) == 2 and not builder.plain:
        kind = type(xs[0].sample) if f is isinstance else xs[0].sample
        _objects.ask_for_class(builder.inputs, kind, xs[1].sample)
    parts = [leaf for x in xs for leaf in leaves(x)] if f in (max, min) else []
    if any(x.has_no_axes and x.may_be_written for x in parts):
        raise Unsound.SHARED_WRITE(
            f"{f.__name__} returns one of its zero-dimensional arrays, which are written to"
        )
    if f is warnings.warn and builder.out is not builder.top and not builder.protected:
        builder.demand(abandon)  # the tape warns
        return constant(None)
    gives_numpy = any(f is known for known in GIVING_NUMPY)
    if kws and not (gives_numpy and all(x.is_constant for x in kws.values())):
        return None
    found = special(builder, xs) if special is not None else None
    return found or _operators.identity_of_arrays(builder, f, xs) or decided(f, xs)


def _known_already(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value | None:
    kept = None if kws else simplified(f, xs)
    if kept is not None and not (kept.is_array and builder.distinct):
        return kept
    operands = [*xs, *kws.values()]
    if any(isinstance(x.sample, Message) for x in operands):
        raise NotSupported.TEXT("it makes text of an error message that is only known as it runs")
    if all(map(is_plain_constant, operands)) and is_pure(f):
        return known_result(f, xs, kws)
    return None


def _written_operation(builder: Builder, f: Any, xs: Values, kws: Options, stem: str) -> Value:
    if f is project and len(xs) == 2 and not kws:
        return _contributions.projected(builder, xs[0], xs[1])
    operands = [*xs, *kws.values()] if builder.follows else []
    parts = [leaf for x in operands for leaf in leaves(x)]
    if any(x.active for x in parts):
        return active(builder, f, xs, kws, stem)
    if any(isinstance(x.sample, StandIn) or x.contents is not None for x in parts) or any(
        map(_operators.holds_object, operands)
    ):
        refuse_rule(f, xs, kws)  # what is captured, or contained, may be active
    return inactive(builder, f, xs, kws, stem)


RESOLUTION: tuple[Resolver, ...] = (
    of_collectors, _array_of_list, _stand_in, of_subclasses, of_tables, _verb, applied_as_a_whole,
    _effect,
    _written_for_statements, _changing, _stand_in_made, _definition, _construction, _of_objects,
    _writing_call, _of_structures, _builtin, _known_already, _written_operation,
)  # fmt: skip
"""Who answers a call, in this order: each returns the value, or `None` where it is not its own."""
