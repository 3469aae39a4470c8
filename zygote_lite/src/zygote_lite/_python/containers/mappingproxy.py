"""Views of dicts that can only be read (`types.MappingProxyType`): their dicts answer for them."""

import operator
import types
from typing import Any

from zygote_lite._cotangents.kinds import shown_by_proxy
from zygote_lite._cotangents.registry import COMPOSITE, Node, Recorded, can_take, composite
from zygote_lite._ir.intrinsics import invoke
from zygote_lite._tape.tape import Tape

Nodes = tuple[Node, ...]
Proxy: Any = types.MappingProxyType


def _behind(x: Any) -> Any:
    """Return the mapping that a proxy shows, or `x` itself."""
    return shown_by_proxy(x) if isinstance(x, Proxy) else x


@composite(Proxy)
def _(tape: Tape, nodes: Nodes, x: Any) -> Recorded:
    return Proxy(x), None


def _declare_function(f: Any) -> None:
    known = COMPOSITE.get(id(f))

    @composite(f)
    def ask(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Recorded | None:
        if any(isinstance(x, Proxy) for x in xs):
            return tape.pull(nodes, f, *map(_behind, xs), **kws)
        if known is None or not can_take(known[1], 2 + len(xs), kws):
            return None
        return known[1](tape, nodes, *xs, **kws)


def _declare_method(name: str) -> None:
    @composite(getattr(Proxy, name))
    def ask(tape: Tape, nodes: Nodes, x: Any, *xs: Any) -> Recorded:
        return tape.pull((None, nodes[1], None, *nodes[2:]), invoke, _behind(x), name, *xs)


for _f in (operator.getitem, operator.contains, operator.or_, len, iter, reversed):
    _declare_function(_f)
for _name in ("get", "keys", "values", "items", "copy"):
    _declare_method(_name)
