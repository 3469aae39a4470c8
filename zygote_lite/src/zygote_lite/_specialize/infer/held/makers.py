"""Sets, deques and dicts of other classes that the code makes as it runs."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.infer.held import dicts as _dicts
from zygote_lite._specialize.infer.held import new_lists as _new_lists
from zygote_lite._specialize.infer.held.containers import (
    hold,
    is_held,
    mirror,
    new_contents,
)
from zygote_lite._specialize.infer.held.folds import Options, touches
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import ANY, Contents, Slot, contents_in
from zygote_lite._specialize.typed.facts import ArrayOf, Other
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.shadows import add_all
from zygote_lite._specialize.typed.values import Value, constant

_FIRST_VALUES: dict[Any, Any] = {list: [], dict: {}, float: 0.0, int: 0, set: set()}


def _of_class(kind: type) -> Callable[..., Value | None]:
    """Return what makes a set, a deque, or an ordered dict."""

    def make(builder: Builder, xs: list[Value], kws: Options, stem: str) -> Value | None:
        given, bound = xs[:1], xs[1:] or [kws[n] for n in ("maxlen",) if n in kws]
        if kws.keys() - {"maxlen"} or len(xs) > 2:
            return None
        y = [_new_lists.listed(builder, x) for x in given]
        sample = kind(y[0].sample) if y and kind is deque else kind()
        if kind is set and y:
            _refuse_elements(contents_in(y[0]).slots.values())
        options = {"maxlen": bound[0]} if bound and kind is deque else {}
        op = builder.write(Result(Other(kind), sample), kind, y, options, stem)
        slots = contents_in(y[0]).slots if y else {}
        x = new_contents(builder, op, kind, slots)
        contents_in(x).key = slots.get(ANY) if kind is set else None
        contents_in(x).bounded = bool(options)
        if y:
            _new_lists.mirror_copy(op, y[0], add_last)
        else:
            mirror(op, lambda builder, _: [], [])
        return x

    return make


def add_last(d: Any, found: Any) -> None:
    """Add the cotangents of the last items of a list, which a deque was made of."""
    skipped = len(d) - len(found)
    add_all(d, found, slice(skipped, None))


def _refuse_elements(slots: Any) -> None:
    for slot in slots:
        if slot.active or slot.contents is not None or isinstance(slot.fact, ArrayOf):
            raise Unsound.KEY(
                "a set holds something other than numbers and text, or a differentiated number"
            )


def _defaultdict(builder: Builder, xs: list[Value], kws: Options, stem: str) -> Value | None:
    given = xs[0] if xs else constant(None)
    factory: Any = given.sample if given.is_constant and is_hashable(given.sample) else None
    usual = factory in _FIRST_VALUES
    options = xs[:1] if usual else []
    op = builder.write(Result(Other(defaultdict), {}), defaultdict, options, {}, stem)
    x = new_contents(builder, op, defaultdict)
    mirror(op, lambda builder, _: [], [])
    if usual:
        first = constant(_FIRST_VALUES[factory])
        slot = contents_in(x).slots[ANY] = Slot(first.fact, first.sample, False)
        if factory in (list, dict, set):
            slot.sample = factory()
            slot.contents = Contents(factory, owners=[x])
    elif given.sample is not None:
        contents_in(x).factory = given
    _dicts.dict_update(builder, x, *xs[1:], **kws)
    return x


def _ordered(builder: Builder, xs: list[Value], kws: Options, stem: str) -> Value | None:
    op = builder.write(Result(Other(OrderedDict), {}), OrderedDict, [], {}, stem)
    x = new_contents(builder, op, OrderedDict)
    mirror(op, lambda builder, _: [], [])
    _dicts.dict_update(builder, x, *xs, **kws)
    return x


def _held_dict(builder: Builder, xs: list[Value], kws: Options, stem: str) -> Value | None:
    if not any(map(touches, xs)):
        return None
    x = xs[0]
    if is_held(x) and issubclass(contents_in(x).kind, dict):
        made = _dicts.dict_copied(builder, x, dict)
    else:
        made = hold(builder, builder.build("dict", []))
        _dicts.dict_update(builder, made, x)
    _dicts.dict_update(builder, made, **kws)
    return made


MADE_BY_CLASS: dict[Any, Callable[..., Value | None]] = {
    set: _of_class(set), deque: _of_class(deque), defaultdict: _defaultdict,
    OrderedDict: _ordered, dict: _held_dict,
}  # fmt: skip
