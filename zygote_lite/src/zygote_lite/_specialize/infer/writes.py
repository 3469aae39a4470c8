"""Writes to arrays in place: `x[i] = v` and `x += y`, where they are sound."""

from zygote_lite._specialize.infer.calls import try_store
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import lists as _lists
from zygote_lite._specialize.rules.inlined import snapshot
from zygote_lite._specialize.typed.builder import Builder, key_of_part
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.facts import ArrayOf, ListOf, can_carry, shares_axes
from zygote_lite._specialize.typed.naming import is_temporary
from zygote_lite._specialize.typed.nodes import StoreItem
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Descriptor, Local, Method, Partial
from zygote_lite._specialize.typed.values import Value, made_class, shape_root


def refuse_other_kind(x: Value, result: Value) -> None:
    """Refuse `x += y` where `x + y` may have another dtype or shape than `x`."""
    if isinstance(x.fact, ArrayOf) and isinstance(result.fact, ArrayOf):
        alike = shape_root(x) is shape_root(result) or shares_axes(x.fact, result.fact)
        if alike and x.fact.dtype == result.fact.dtype:
            return
    raise Unsound.IN_PLACE_KIND(
        "it changes an array in place by an array of another dtype or shape"
    )


def refuse_second_name(builder: Builder, x: Value, target: str, env: Env) -> None:
    """Refuse `x += y` on an array that another variable may hold too."""
    own = {name for name in (target, *env) if is_temporary(name) and builder.is_ours(name)}
    if x.base is not None and x.base.made and target in own:
        return  # `a[i:j] += y`: what is added to is assigned to the same part
    others = [*builder.walked, *builder.moved]
    for name in env.keys() - own - {target}:
        others += _kept_values(env[name])
    if not x.fresh or id(x) in builder.frames[-1].given or any(x in (v, v.base) for v in others):
        raise Unsound.WRITES_TO_GIVEN(
            "it changes an array in place that it may not have made itself"
        )


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
    if _dicts.is_dict(x):
        _dicts.store_in_dict(builder, x, index, value)
        return
    if x.items is not None and type(x.sample) is list and x in builder.homes:
        if builder.homes[x] is builder.out:
            _lists.replace_item(builder, x, index, value)
            return
        if builder.uniform:
            _lists.from_items(builder, x)
    if builder.twice:
        raise NotSupported.SECOND_ORDER("it writes in place, and is differentiated twice")
    if not x.made:
        raise Unsound.WRITES_TO_GIVEN("it writes to what it has not made itself")
    if isinstance(x.fact, ListOf):
        _lists.store_in_list(builder, x, index, value)
        return
    if value.items is not None or not (value.is_array or value.is_scalar):
        raise NotSupported.STORED("it stores something other than a number or an array in an array")
    if x.active or value.active:
        if not can_carry(x.fact):
            raise Unsound.NO_FLOAT("it stores a value in an array whose entries are not floats")
        if not x.active:
            builder.changed.append(x)
        x.active = True
    builder.written[x] = len(builder.written)
    try_store(x, index, value)
    index = snapshot(builder, index)
    part = builder.shapes.get((shape_root(x), key_of_part(index)))
    alike = part is not None and shape_root(part) is shape_root(value)
    builder.out.append(StoreItem(builder.origin, x, index, value, alike, context=builder.context))
