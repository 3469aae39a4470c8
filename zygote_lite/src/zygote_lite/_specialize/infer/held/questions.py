"""Questions about containers that are held, which change nothing."""

from collections.abc import Callable
from typing import Any

from zygote_lite._specialize.infer.held import lists as _lists
from zygote_lite._specialize.infer.held.containers import (
    is_held,
)
from zygote_lite._specialize.infer.iteration.known import Several, as_they_are_now
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Scalar
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.values import Value

QUESTION = Result(Scalar(frozenset((bool,))), True)
Options = dict[str, Value]


def asks(f: Any, result: Result) -> Callable[..., Value | None]:
    """Return what writes a question about containers, which only reads them."""

    def ask(builder: Builder, xs: list[Value], kws: Options) -> Value | None:
        for x in xs:
            if is_held(x) and f is not len:
                _lists.refuse_arrays(x)
        if any(not _can_be_asked(x) for x in xs) or kws:
            return None
        return builder.write(result, f, [*map(as_they_are_now, xs)], {}).target

    return ask


def _can_be_asked(x: Value) -> bool:
    inner = x.items is not None and type(x.sample) in (tuple, list)
    if inner:
        return all(map(_can_be_asked, x.items or []))
    plain = x.is_scalar or isinstance(x.sample, str | None)
    return x.fields is None and x.where is None and (is_held(x) or plain)


def touches(x: Value) -> bool:
    """Return whether a value is a container that is held, or holds one."""
    if isinstance(x.sample, Several):
        return any(map(touches, x.sample.parts))
    return any(leaf.contents is not None for leaf in leaves(x))
