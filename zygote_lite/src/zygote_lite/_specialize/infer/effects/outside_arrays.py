"""Arrays from outside that the code writes to: a buffer of results, a work array, counts.

The code works on a copy, which it makes at the start, as it does of arguments that it writes to.
The contents of the copy are put into the array when the call is answered. An entry tests that the
array may be written to, and that nothing else which the code reads shares memory with it.
"""

from typing import Any

import numpy as np

from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import fact_of
from zygote_lite._specialize.typed.nodes import StoreItem, leaves, walk
from zygote_lite._specialize.typed.notes import WrittenOutside
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import is_writable
from zygote_lite._specialize.typed.values import Value, memory_of

_LARGE = 50_000  # entries, which take longer to copy than the tape to note a write
_MUCH = 16


def value_from_outside(builder: Builder, x: Any, expression: str, stem: str) -> Value:
    """Return a number or an array that is read from outside; of one that is written, the copy."""
    inputs = builder.inputs
    owned = inputs.owned.get(id(x))
    if owned is None:
        if expression in inputs.given:
            return inputs.given[expression][0]
        value = Value(fact_of(x), x, builder.name(stem))
        value.sizes = {}
        inputs.facts[expression] = value.fact
        if value.is_array and builder.may_own:
            builder.origins[value] = WrittenOutside(x, stem)
        return inputs.give(value, expression)
    if not builder.may_own:
        raise NotSupported.SECOND_ORDER(
            f"it writes to the array {stem}, and reads it in a nested gradient or a recursion"
        )
    value, copy = owned
    names = [name for name, (given, _) in inputs.given.items() if given is value]
    if not names:
        inputs.facts[expression] = value.fact
        inputs.give(value, expression)
    elif expression not in names:
        inputs.guards[f"{expression} is {names[0]}"] = None
    return copy


def settle_outside_arrays(builder: Builder, arguments: list[Value]) -> None:
    """Note which arrays from outside get new contents, now that all that is read is known."""
    inputs = builder.inputs
    given = [value for value, _ in inputs.given.values() if value.is_array]
    inside = [leaf for x in arguments for leaf in leaves(x) if leaf.is_array and leaf not in given]
    for key, (value, copy) in [*inputs.owned.items()]:
        if value not in given:  # on the paths that are left it is not read
            del inputs.owned[key], builder.copies[copy.name]
            continue
        others = [x.sample for x in (*given, *inside) if x is not value]
        if value.sample.flags.writeable and not is_writable(value.sample, *others):
            raise Unsound.SHARED_WRITE(
                f"it writes to the array {value.name}, which shares memory with another: write to "
                "a copy"
            )
        if copy.sample.size > _LARGE and _is_little(builder, copy):
            raise NotSupported.TOO_LONG(
                f"it writes a small part of the large array {value.name}, which it did not create"
            )
    if inputs.owned:
        effects_of(builder, "a write to an array that it did not create")
        builder.refuse_all_readers()  # they would read it too early


def _is_little(builder: Builder, copy: Value) -> bool:
    """Return whether the code writes a small part of an array, and no more in loops."""
    size = 0
    for node in walk(builder.out):
        if isinstance(node, StoreItem) and memory_of(node.array) is copy:
            if node.array.scope is not None or node.value.scope is not None:
                return False
            size += int(np.size(node.array.sample[node.index.sample]))
    return size * _MUCH < int(copy.sample.size)
