"""Functions under `functools.lru_cache`: within one run, a call is remembered on the tape.

What the user's own cache holds has no number on the tape, and another run has no use for it. Calls
with equal numbers that came from elsewhere are other calls: their gradients go elsewhere.
"""

import functools
import types
from collections import OrderedDict
from typing import Any, cast

from zygote_lite._errors import DifferentiationError
from zygote_lite._refusal import where
from zygote_lite._tables import Node, Recorded, composite, made_by
from zygote_lite._tape import Tape

Nodes = tuple[Node, ...]
Cached: Any = functools._lru_cache_wrapper


def remembered(
    tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Recorded:
    """Resolve a call of a function under `lru_cache`: it is run once for the same arguments."""
    options = f.cache_parameters()
    values = (*xs, *kws.values())
    kinds = tuple([type(x) for x in values]) if options["typed"] else ()
    key = (xs, tuple(kws.items()), kinds, nodes)
    _, known = tape.memo.setdefault(id(f), (f, OrderedDict()))
    if key in known:
        known.move_to_end(key)
        return known[key]  # type: ignore[no-any-return]
    done = tape.pull(nodes, f.__wrapped__, *xs, **kws)
    known[key] = done
    if options["maxsize"] is not None and len(known) > options["maxsize"]:
        known.popitem(last=False)
    return done


@composite(Cached.cache_clear)
def _(tape: Tape, nodes: Nodes, f: Any) -> Recorded:
    tape.memo.pop(id(f), None)
    f.cache_clear()
    return None, None


@composite(Cached.cache_info)
def _(tape: Tape, nodes: Nodes, f: Any) -> Recorded:
    raise DifferentiationError(
        f"{where()}: `cache_info()` of {f.__qualname__} does not count the calls that are "
        "differentiated: leave it out here"
    )


@made_by(cast(types.FunctionType, functools.lru_cache(1)))
def _(tape: Tape, nodes: Nodes, decorate: Any, f: Any) -> Recorded:
    return decorate(f), None
