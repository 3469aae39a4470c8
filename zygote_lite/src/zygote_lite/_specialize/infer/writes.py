"""Writes to arrays in place, `x[i] = v` and `x += y`, and which arrays the code may write to.

It may write to those that it makes itself, and to copies of its own. What an operation gives may be
needed as it was: by the reverse pass, or where equal arrays are computed once. So where the program
writes to such an array, the code is interpreted again, and now it goes on with a copy from where
the array is computed. The copy is left out in the end where nobody reads the original
(`passes.writes`).

Of an argument the copy is made at the start, and its contents are written back when the gradient
is known. Until then nothing has happened that can be seen from outside.
"""

from collections.abc import Hashable

import numpy as np

from zygote_lite._specialize.infer.builds import may_be_of_any_length
from zygote_lite._specialize.infer.effects.collectors import (
    demand_collector,
    is_collector,
    may_be_put_outside,
    put_outside,
)
from zygote_lite._specialize.infer.forms import with_entries
from zygote_lite._specialize.infer.held import calls as _held_calls
from zygote_lite._specialize.infer.held import containers as _held
from zygote_lite._specialize.infer.iteration.known import as_they_are_now
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models.lists import items as _lists
from zygote_lite._specialize.infer.models.writing import write_over
from zygote_lite._specialize.rules.contributions import LinearRule
from zygote_lite._specialize.rules.inlined import be_active, snapshot
from zygote_lite._specialize.typed.abstract_eval import mark_made
from zygote_lite._specialize.typed.builder import Builder, key_of_part
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.facts import (
    ArrayOf,
    ListOf,
    can_carry,
    fact_of,
    may_be_complex,
    shares_axes,
)
from zygote_lite._specialize.typed.naming import is_temporary
from zygote_lite._specialize.typed.nodes import StoreItem
from zygote_lite._specialize.typed.notes import ONE_BY_ONE, WrittenOutside
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Descriptor, Local, Method, Partial
from zygote_lite._specialize.typed.structures import paths_of
from zygote_lite._specialize.typed.values import Value, made_class, memory_of, shape_root

UNROLLED = "the iterations of a loop are written one by one"


def demand_own(builder: Builder, x: Value) -> None:
    """Have the code interpreted again, with an array of its own, where it may not write to one.

    Raises `NotSpecializable` where it cannot have one.
    """
    root = builder.storage(x)
    if root in builder.unwritten:
        raise Unsound.SHARED_WRITE("a function that has no gradient writes to its argument")
    if x.may_be_written:
        return
    origin = _origin_of(builder, root) if builder.distinct else ONE_BY_ONE
    if origin is None or origin in builder.own or builder.compiled:
        raise Unsound.WRITES_TO_GIVEN(
            "it writes to an array that it did not create: write to a copy"
        )
    builder.wanted.add(origin)
    root.made = True  # for the rest of this attempt, which may want more


def _origin_of(builder: Builder, x: Value) -> Hashable:
    """Return what tells an array apart in another attempt: where it comes from."""
    made = builder.definitions.get(x)
    return made.origin if made is not None and x.fresh else builder.origins.get(x)


def own_result(builder: Builder, x: Value) -> Value:
    """Return the result of a call, or a copy that the code may write to."""
    made = builder.definitions.get(x)
    known = made is None or made.origin not in builder.own or x.made or not x.fresh
    return x if known or builder.plain or not x.is_array else _own_copy(builder, x)


def _own_copy(builder: Builder, x: Value) -> Value:
    op = builder.operation(np.copy, [x])
    if x.active:
        be_active(op, [x])
        op.reverse_rule = LinearRule(lambda dy: [dy])
    mark_made(np.copy, op.target)
    return op.target


def own_arguments(builder: Builder, arguments: list[Value]) -> list[Value]:
    """Return the arguments, with copies in the place of the arrays that are written."""
    copies: dict[Value, Value] = {}
    if any(x.is_object for x in arguments):  # which may hold the arrays, too
        return arguments
    for i, x in enumerate(arguments):
        for path, leaf in paths_of(x, f"x{i}"):
            builder.origins[leaf] = path
            if leaf.is_array and path in builder.own:
                copies[leaf] = builder.copies[path] = _own_copy(builder, leaf)
                copies[leaf].fresh = False  # it is known from outside, too
    return [with_entries(x, copies) for x in arguments] if copies else arguments


def own_outside_arrays(builder: Builder) -> None:
    """Write copies of the arrays from outside of which it is known that the code writes to them."""
    found = [x for x in builder.own if isinstance(x, WrittenOutside)]
    for x in sorted(found, key=lambda x: (x.stem, id(x.array))):
        value = Value(fact_of(x.array), x.array, builder.name(x.stem))
        value.sizes = {}
        builder.inputs.names.add(value.name)
        copy = _own_copy(builder, value)
        copy.fresh = False  # it is known from outside, too
        builder.inputs.owned[id(x.array)] = value, copy
        builder.copies[copy.name] = copy


def changed(builder: Builder, x: Value, result: Value, target: str, env: Env) -> Value:
    """Return what is assigned by `x += y`, given `x + y`: that, or `x`, where it is written over.

    It is the result itself where no other name is left for the array.
    """
    if _keeps_kind(x, result) and not _has_second_name(builder, x, target, env):
        return result
    return write_over(builder, x, result)


def _keeps_kind(x: Value, result: Value) -> bool:
    """Return whether a result surely has the dtype and the shape of an array."""
    if not isinstance(x.fact, ArrayOf) or not isinstance(result.fact, ArrayOf):
        return False
    alike = shape_root(x) is shape_root(result) or shares_axes(x.fact, result.fact)
    return alike and x.fact.dtype == result.fact.dtype


def _has_second_name(builder: Builder, x: Value, target: str, env: Env) -> bool:
    """Return whether another variable may hold an array too, which `x += y` changes."""
    own = {name for name in (target, *env) if is_temporary(name) and builder.is_ours(name)}
    if may_be_put_outside(builder, x):
        return True
    if x.base is not None and x.base.made and target in own:
        # `a[i:j] += y`: what is added to is assigned to the same part, unless `a` is no array
        return any(x in _kept_values(v) for name, v in env.items() if name not in own or v is not x)
    others = [*builder.walked, *builder.moved]
    for name in env.keys() - own - {target}:
        others += _kept_values(env[name])
    if not x.fresh or id(x) in builder.frames[-1].given:
        return True
    return any(x in (v, v.base) for v in others)


def _kept_values(x: Value) -> list[Value]:
    """Return the values that a variable keeps, in structures, functions, objects and classes."""
    found, waiting, seen = [], [x], {x}
    while waiting:
        x = waiting.pop()
        inner = _held_in(x)
        found += [x] if inner is None else []
        new = [part for part in inner or () if part not in seen]
        seen.update(new)
        waiting += new
    return found


def _held_in(x: Value) -> list[Value] | None:
    """Return what a value keeps itself; `None` for numbers and arrays."""
    sample = x.sample
    if isinstance(sample, Local):
        return [*sample.around.values(), *sample.defaults.values()]
    if isinstance(sample, Descriptor):
        return [*sample.functions.values()]
    if isinstance(sample, Method):
        return [sample.owner]
    if isinstance(sample, Partial):
        return sample.parts
    if x.fields is None:
        return x.items
    kinds = map(made_class, type(sample).__mro__)
    return [*x.fields.values(), *(kind for kind in kinds if kind is not None)]


def store(builder: Builder, x: Value, index: Value, value: Value) -> None:
    """Write `x[index] = value`, of an array that the function itself has created."""
    if x.is_object:
        builder.call(builder.attribute(x, "__setitem__"), [index, value], {})
        return
    if is_collector(x):
        put_outside(builder, x, index, value)
        return
    if type(x.sample) is list and builder.held:
        demand_collector(builder, x)
    if _held.is_held(x):
        _held_calls.put_held(builder, x, index, value)
        return
    if isinstance(x.sample, tuple):
        raise Unsound.RAISES("a tuple does not support item assignment")
    if _is_there(x, index, value):
        return
    known = index.is_constant and not isinstance(index.sample, slice)
    if _held.may_be_held(builder, x) and not (known and _held.is_made_here(builder, x)):
        _held_calls.put_held(builder, _held.hold(builder, x), index, value)
        return
    if _dicts.is_dict(x):
        _dicts.store_in_dict(builder, x, index, value)
        return
    if x.items is not None and type(x.sample) is list and x in builder.homes:
        if builder.homes[x] is builder.out:
            _lists.replace_item(builder, x, index, value)
            return
        if may_be_of_any_length(builder, value):
            _lists.from_items(builder, x)
    if builder.twice:
        raise NotSupported.SECOND_ORDER(
            "it takes a second derivative of a function that writes in place"
        )
    if not x.is_array and not x.made:
        demand_collector(builder, x)
        raise Unsound.WRITES_TO_GIVEN(
            "it assigns an item of a list that it did not create: assign in a copy"
        )
    if isinstance(x.fact, ListOf):
        _lists.store_in_list(builder, x, index, value)
        return
    demand_own(builder, x)
    if is_mask_of(x, index) and value.is_array and builder.storage(value) is builder.storage(x):
        raise Unsound.SHARED_WRITE("it writes to an array, by a mask, what shares memory with it")
    if value.items is not None or not (value.is_array or value.is_scalar):
        raise NotSupported.STORED("it stores something other than a number or an array in an array")
    if may_be_complex(value.fact) and not may_be_complex(x.fact):
        raise NotSupported.STORED("it stores a complex number in an array of real ones")
    if x.active or value.active:
        if not can_carry(x.fact):
            raise Unsound.NO_FLOAT(
                "it stores a differentiated value in an array of integers: make it an array of "
                "floats"
            )
        _activate(builder, memory_of(x))
    builder.written[x] = len(builder.written)
    if not builder.wanted:  # else the memory may be the user's
        _try_store(x, index, value)
    index = snapshot(builder, as_they_are_now(index))
    is_everything = index.is_constant and index.sample is ...
    part = x if is_everything else builder.shapes.get((shape_root(x), key_of_part(index)))
    alike = part is not None and shape_root(part) is shape_root(value)
    builder.out.append(StoreItem(builder.origin, x, index, value, alike, context=builder.context))


def is_mask_of(x: Value, index: Value) -> bool:
    """Return whether an index is one mask of all entries: NumPy writes these one by one."""
    mask = index.items[0] if index.items and len(index.items) == 1 else index
    sample = np.asarray(mask.sample) if isinstance(mask.sample, np.ndarray | list) else None
    return sample is not None and sample.dtype.kind == "b" and sample.ndim == np.ndim(x.sample)


def _is_there(x: Value, index: Value, value: Value) -> bool:
    """Return whether an array is the item of a list or a dict already: `xs[i] += y` changed it."""
    if not (value.is_array and index.is_constant and x.items is not None):
        return False
    if _dicts.is_dict(x):
        return _dicts.entries_of_dict(x).get(_dicts.known_key(index)) is value
    n = index.sample
    return type(n) is int and -len(x.items) <= n < len(x.items) and x.items[n] is value


def _activate(builder: Builder, x: Value) -> None:
    """Note that a gradient passes through an array, and through all views of it."""
    if not x.active:
        builder.changed.append(x)
    x.active = True
    for view in builder.definitions:
        view.active = view.active or view.base is x


def _try_store(x: Value, index: Value, value: Value) -> None:
    """Write a sample into a sample."""
    memory = x.sample.view()
    try:
        memory.flags.writeable = True  # it is one of the code's own
        with np.errstate(all="ignore"):
            memory[index.sample] = value.sample
    except Exception as error:
        raise Unsound.RAISES(f"an assignment to an array fails: {error}") from error
