"""The patterns of `match`: whether a value has the form that one asks for, and its parts."""

import operator
from typing import Any

from rulescore.faults import an
from zygote_lite._ir.intrinsics import (
    class_parts,
    mapping_parts,
    mapping_rest,
    matches_class,
    matches_mapping,
    matches_sequence,
)
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ListOf
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import StandIn
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant

_SEQUENCE_FLAG, _MAPPING_FLAG = 1 << 5, 1 << 6  # `Py_TPFLAGS_SEQUENCE`, `Py_TPFLAGS_MAPPING`


def _is_of_form(x: Value, flag: int) -> bool:
    """Return whether the class of a value is one of sequences, or of mappings."""
    kind = type(x.sample)
    if x.is_object or isinstance(x.sample, StandIn):
        raise Unsound.CLASS("a `case` asks for the class of an object")
    return bool(kind.__flags__ & flag)


def _matches_sequence(builder: Builder, xs: list[Value]) -> Value:
    x, count, star = xs
    if not _is_of_form(x, _SEQUENCE_FLAG):
        return constant(False)
    least = count.sample if star.sample is None else count.sample - 1
    compare = operator.eq if star.sample is None else operator.ge
    if isinstance(x.fact, ListOf):
        return builder.apply(compare, [builder.apply(len, [x]), constant(least)])
    if x.items is None or type(x.sample) not in (tuple, list):
        raise NotSupported.CONTAINER(
            f"a `case` compares a sequence with {an(type(x.sample).__name__)}"
        )
    return constant(compare(len(x.items), least))


def _matches_mapping(builder: Builder, xs: list[Value]) -> Value:
    x, keys = xs
    if not _is_of_form(x, _MAPPING_FLAG):
        return constant(False)
    if not _dicts.is_dict(x):
        raise NotSupported.CONTAINER(
            f"a `case` compares a mapping with {an(type(x.sample).__name__)}"
        )
    return constant(all(key in x.sample for key in _known_keys(keys)))


def _mapping_parts(builder: Builder, xs: list[Value]) -> Value:
    x, keys = xs
    return structure(tuple, [_dicts.item_of_dict(x, constant(key)) for key in _known_keys(keys)])


def _mapping_rest(builder: Builder, xs: list[Value]) -> Value:
    entries, keys = _dicts.entries_of_dict(xs[0]), _known_keys(xs[1])
    rest = mapping({key: x for key, x in entries.items() if key not in keys})
    builder.homes[rest] = builder.out
    return rest


def _known_keys(keys: Value) -> list[Any]:
    return [_dicts.known_key(key) for key in keys.items or ()]


_OF_ONE_PART = (int, float, str, bool, list, tuple, dict)  # `float(x)` names the number itself


def _matches_class(builder: Builder, xs: list[Value]) -> Value:
    x, kind, spec = xs
    found = builder.apply(isinstance, [x, kind])
    if not (found.is_constant and not found.sample):
        _attributes_asked_for(builder, x, kind, spec.sample)
    return found


def _attributes_asked_for(
    builder: Builder, x: Value, kind: Value, spec: tuple[int, tuple[str, ...]]
) -> list[str]:
    """Return the names of the attributes that a pattern looks at."""
    count, names = spec
    if count == 1 and not names and kind.sample in _OF_ONE_PART:
        return []
    if not (count or names):
        return []
    if x.fields is None or not isinstance(kind.sample, type):
        raise NotSupported.ATTRIBUTE("a `case` asks for the attributes of an object")
    given = builder.attribute(kind, "__match_args__") if count else structure(tuple, [])
    by_place = [part.sample for part in given.items or map(constant, given.sample)]
    if not given.is_constant or len(by_place) < count:
        raise Unsound.RAISES("a `case` asks for more attributes than there are")
    return [*by_place[:count], *names]


def _class_parts(builder: Builder, xs: list[Value]) -> Value:
    names = _attributes_asked_for(builder, xs[0], xs[1], xs[2].sample)
    if not names:
        return structure(tuple, [xs[0]])
    try:  # each is read once, as it may be computed
        return structure(tuple, [builder.attribute(xs[0], name) for name in names])
    except NotSpecializable as reason:
        if reason.raises is not AttributeError:
            raise
        return constant(None)


PATTERNS = {
    matches_sequence: _matches_sequence,
    matches_mapping: _matches_mapping,
    matches_class: _matches_class,
    mapping_parts: _mapping_parts,
    mapping_rest: _mapping_rest,
    class_parts: _class_parts,
}
