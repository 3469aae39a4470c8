"""`heapq` and `bisect`: what C does there stands in these modules in Python, too."""

import bisect
import builtins
import heapq
import types
from typing import Any

from zygote_lite._cotangents.registry import Handlers, Nodes, ValueAndPullback, no_pullback

handlers = Handlers()


def _without_c(name: str, *_: Any) -> Any:
    raise ImportError(name)


def in_python(module: Any) -> dict[Any, Any]:
    """Return the functions of a module that are written in C, each with its Python.

    The module takes the functions in C over those in Python where it can import them.
    """
    builtins_without_c = {**vars(builtins), "__import__": _without_c}
    written = {"__name__": module.__name__, "__builtins__": builtins_without_c}
    exec(module.__loader__.get_code(module.__name__), written)
    in_c = {name: f for name, f in vars(module).items() if type(f) is types.BuiltinFunctionType}
    return {f: written[name] for name, f in in_c.items()}


@handlers.structural(bisect.bisect_left, bisect.bisect_right, given=True)
def _(f: Any, nodes: Nodes, *xs: Any, key: Any = None, **kws: Any) -> ValueAndPullback | None:
    return (f(*xs, **kws), no_pullback(len(nodes))) if key is None else None


for _in_c, _in_source in {**in_python(heapq), **in_python(bisect)}.items():
    handlers.in_python(_in_c)(_in_source)
