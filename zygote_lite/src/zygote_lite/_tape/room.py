"""Room for frames: a recorded call that makes many calls gets a piece of Python's stack of its own.

Python keeps frames in chunks of 16 KB. A loop at the end of a chunk gets and gives back a chunk at
each call, which takes 100 times as long as the call. Recorded code calls deeper than plain code,
and meets such an end more often (https://github.com/python/cpython/issues/142183).
"""

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

_MANY = 500  # entries of a tape; for fewer, a chunk costs more than it may spare
_WORDS = 16_000  # of a frame, which takes a chunk of 256 KB; memory is taken as it is used
_small: weakref.WeakSet[types.CodeType] = weakref.WeakSet()  # code whose tapes have few entries


def _call(f: Any, /, *xs: Any, **kws: Any) -> Any:
    return f(*xs, **kws)


_call_in_chunk = types.FunctionType(_call.__code__.replace(co_stacksize=_WORDS), globals())


def with_room(f: Any, entries: int) -> Callable[..., Any]:
    """Return a function that leaves room for the frames of what it calls, if a tape is large."""
    return functools.partial(_call_in_chunk, f) if entries >= _MANY else f


def expected_entries(f: Any) -> int:
    """Return how many entries the tape of a function will have, as far as that is known."""
    return 0 if getattr(f, "__code__", None) in _small else _MANY


def note_entries(f: Any, entries: int) -> None:
    """Note how many entries the tape of a function had."""
    code = getattr(f, "__code__", None)
    if isinstance(code, types.CodeType):
        (_small.add if entries < _MANY else _small.discard)(code)
