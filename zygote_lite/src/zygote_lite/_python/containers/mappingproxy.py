"""Read-only views (`types.MappingProxyType`): calls are redirected to the dicts that they show."""

import operator
import types
from typing import Any

from zygote_lite._cotangents.kinds import shown_by_proxy
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._ir.intrinsics import invoke
from zygote_lite._tape.tape import Tape

handlers = Handlers()

Proxy: Any = types.MappingProxyType


def _shown(x: Any) -> Any:
    """Return the mapping that a proxy shows, or `x` itself."""
    return shown_by_proxy(x) if isinstance(x, Proxy) else x


@handlers.desugared(Proxy)
def _(tape: Tape, nodes: Nodes, x: Any) -> Traced:
    return Proxy(x), None


@handlers.desugared(
    operator.getitem, operator.contains, operator.or_, len, iter, reversed, of=Proxy, given=True
)
def _(f: Any, tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    return tape.call(nodes, f, *map(_shown, xs), **kws)


@handlers.desugared(Proxy.get, Proxy.keys, Proxy.values, Proxy.items, Proxy.copy, given=True)
def _(f: Any, tape: Tape, nodes: Nodes, x: Any, *xs: Any) -> Traced:
    return tape.call((None, nodes[1], None, *nodes[2:]), invoke, _shown(x), f.__name__, *xs)
