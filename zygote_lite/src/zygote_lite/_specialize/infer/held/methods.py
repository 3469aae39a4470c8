"""Methods of containers that are held."""

from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from typing import Any

from rulescore.faults import an
from zygote_lite._specialize.infer.held import dicts as _dicts
from zygote_lite._specialize.infer.held import lists as _lists
from zygote_lite._specialize.infer.held import new_lists as _new_lists
from zygote_lite._specialize.infer.held.changes import note_change
from zygote_lite._specialize.infer.held.containers import (
    NO_RESULT,
    ONE_INT,
    is_held,
    kept,
    mirror,
    note_item,
)
from zygote_lite._specialize.infer.held.folds import Options, asks, sort_held
from zygote_lite._specialize.infer.held.items import held_item, refuse_key
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, LongTuple, contents_in
from zygote_lite._specialize.typed.functions import attribute_of
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import has_key
from zygote_lite._specialize.typed.values import Value, constant

_WITH_OPTIONS = ("sort", "update", "popitem", "move_to_end")
VIEWS = ("keys", "values", "items")


def held_method(builder: Builder, x: Value, name: str, xs: list[Value], kws: Options) -> Value:
    """Write the call of a method of a container that is held."""
    kind = contents_in(x).kind
    of = _OF_METHODS.get((_family(kind), name))
    if of is None or (kws and name not in _WITH_OPTIONS):
        raise NotSupported.METHOD(f"it calls the method {name} of {an(kind.__name__)}")
    found: Value = of(builder, x, *xs, **kws)
    return found


def _family(kind: type) -> type:
    return dict if issubclass(kind, dict) else kind


def _append(builder: Builder, x: Value, value: Value, first: bool = False) -> Value:
    if not contents_in(x).bounded:
        return _lists.list_append(builder, x, value, first)
    note_item(builder, x, ANY, kept(builder, value))
    f, push = (append_left_bounded, push_first) if first else (append_bounded, push_last)
    return builder.inline(f, [x, value, constant(push)], {})


def push_last(x: Any, value: Any) -> None:
    """Stand for `x.append(value)` of a deque that is not full."""
    raise NotImplementedError


def push_first(x: Any, value: Any) -> None:
    """Stand for `x.appendleft(value)` of a deque that is not full."""
    raise NotImplementedError


def append_bounded(x: Any, value: Any, push: Any) -> None:
    """Stand for `x.append(value)` of a deque with a bound."""
    if len(x) == x.maxlen:
        x.popleft()
    push(x, value)


def append_left_bounded(x: Any, value: Any, push: Any) -> None:
    """Stand for `x.appendleft(value)` of a deque with a bound."""
    if len(x) == x.maxlen:
        x.pop()
    push(x, value)


def pushed(first: bool) -> Callable[..., Value | None]:
    """Return what writes `push_last` or `push_first`."""
    return lambda builder, xs, kws: _lists.list_append(builder, xs[0], xs[1], first)


def extend_left(x: Any, more: Any) -> None:
    """Stand for `x.extendleft(more)`."""
    for value in more:
        x.appendleft(value)


def rotate(x: Any, count: Any = 1) -> None:
    """Stand for `x.rotate(count)`."""
    for _ in range(count if x else 0):
        x.appendleft(x.pop())
    for _ in range(-count if x else 0):
        x.append(x.popleft())


def deque_copied(x: Any) -> Any:
    """Stand for `x.copy()` of a deque."""
    return deque(x, x.maxlen)


def _held_extend(builder: Builder, x: Value, more: Value) -> Value:
    if contents_in(x).bounded:
        return builder.inline(_lists.extend_one_by_one, [x, more], {})
    return _lists.list_extend(builder, x, more)


def added_to(builder: Builder, x: Value, more: Value) -> Value:
    """Write `x += more` of a list or a deque."""
    _held_extend(builder, x, more)
    return x


def remove_value(x: Any, value: Any) -> None:
    """Stand for `x.remove(value)`."""
    del x[x.index(value)]


def _deque_copied(builder: Builder, x: Value) -> Value:
    if contents_in(x).bounded:
        return builder.inline(deque_copied, [x], {})
    return builder.call(constant(deque), [x], {})


def _asked(f: Any, result: Result) -> Callable[..., Value]:
    def ask(builder: Builder, x: Value, *xs: Value) -> Value:
        found = asks(f, result)(builder, [x, *xs], {})
        if found is None:
            raise NotSupported.METHOD(
                f"it calls {f.__name__} of a list, dict or set with another type of argument"
            )
        return found

    return ask


def _by_function(f: Any) -> Callable[..., Value]:
    def inline(builder: Builder, x: Value, *xs: Value, **kws: Value) -> Value:
        return builder.inline(f, [x, *xs], kws)

    return inline


def _of_set(f: Any) -> Callable[..., Value]:
    def call(builder: Builder, x: Value, *xs: Value) -> Value:
        note_change(builder, x)
        _lists.note_resized(builder, x)
        for y in xs:
            refuse_key(y)
            if f is set.add:
                note_item(builder, x, ANY, y if is_held(y) else kept(builder, y))
                contents_in(x).key = contents_in(x).slots[ANY]
        op = builder.write(NO_RESULT, f, [x, *xs], {})
        mirror(op, lambda builder, _: [], [])
        return constant(None)

    return call


def _get(builder: Builder, x: Value, key: Value, default: Value | None = None) -> Value:
    if default is not None and not (default.is_constant and default.sample is None):
        return builder.inline(_dicts.get_or, [x, key, default], {})
    if not key.is_constant or not {key.sample, ANY} & contents_in(x).slots.keys():
        raise NotSupported.METHOD(
            "it calls `get` of a dict where the key may be missing, and gives no default"
        )
    builder.demand(has_key, x, key)  # what may be `None` is left to the tape
    return held_item(builder, x, key)


def _view(kind: str) -> Callable[..., Value]:
    return lambda builder, x: _dicts.dict_view(builder, x, kind)


def _ordered_move(builder: Builder, x: Value, *xs: Value, **kws: Value) -> Value:
    if contents_in(x).kind is not OrderedDict:
        raise NotSupported.METHOD("it calls `move_to_end` of a dict that is not an OrderedDict")
    _lists.note_resized(builder, x)
    refuse_key(xs[0])
    op = builder.write(NO_RESULT, OrderedDict.move_to_end, [x, *xs], kws)
    mirror(op, lambda builder, _: [], [])
    return constant(None)


def held_attribute(builder: Builder, x: Value, name: str) -> Value | None:
    """Write the attribute of a container where it is not a method."""
    if name == "maxlen" and contents_in(x).kind is deque and contents_in(x).bounded:
        return builder.write(ONE_INT, attribute_of("maxlen"), [x], {}).target
    return None


_OF_LISTS: dict[str, Callable[..., Value]] = {
    "append": _append, "extend": _held_extend, "pop": _lists.list_pop, "insert": _lists.list_insert,
    "clear": _lists.list_clear, "reverse": _lists.list_reverse,
    "remove": _by_function(remove_value), "__iadd__": added_to,
}  # fmt: skip
_OF_METHODS: dict[tuple[type, str], Callable[..., Value]] = {
    **{(kind, name): f for kind in (list, deque) for name, f in _OF_LISTS.items()},
    (list, "copy"): lambda builder, x: _new_lists.part_of(builder, x, None),
    (list, "sort"): lambda builder, x, **kws: sort_held(builder, x, kws),
    (list, "index"): _asked(list.index, ONE_INT), (list, "count"): _asked(list.count, ONE_INT),
    (LongTuple, "index"): _asked(tuple.index, ONE_INT),
    (LongTuple, "count"): _asked(tuple.count, ONE_INT),
    (deque, "index"): _asked(deque.index, ONE_INT), (deque, "count"): _asked(deque.count, ONE_INT),
    (deque, "appendleft"): partial(_append, first=True), (deque, "copy"): _deque_copied,
    (deque, "extendleft"): _by_function(extend_left), (deque, "rotate"): _by_function(rotate),
    (deque, "popleft"): lambda builder, x: _lists.list_pop(builder, x, None, True),
    (set, "add"): _of_set(set.add), (set, "discard"): _of_set(set.discard),
    (set, "remove"): _of_set(set.remove), (set, "clear"): _of_set(set.clear),
    (dict, "get"): _get, (dict, "pop"): _dicts.dict_pop, (dict, "clear"): _dicts.dict_clear,
    (dict, "setdefault"): _by_function(_dicts.set_default), (dict, "update"): _dicts.dict_update,
    (dict, "popitem"): _by_function(_dicts.pop_item), (dict, "copy"): _dicts.dict_copied,
    (dict, "move_to_end"): _ordered_move,
    **{(dict, kind): _view(kind) for kind in VIEWS},
}  # fmt: skip
