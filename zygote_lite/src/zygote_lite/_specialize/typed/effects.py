"""The effects of one run of transformed code that can be seen from outside.

The code may still be left for the tape until its gradients are known, and the tape then does
everything itself. So output waits until then, and random generators get their state back.
"""

import copy
import logging
import operator
import random
import sys
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from zygote_lite._activity.outputs import note_output
from zygote_lite._cotangents.run import state
from zygote_lite._python.library.streams import is_written_in_c
from zygote_lite._python.library.tracebacks import streams_of
from zygote_lite._specialize.typed.reasons import LEFT
from zygote_lite.modes import current, leaving, watching

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
_CHANGING_LATER = (np.ndarray, list, dict)


class Effects:
    """What a run has done, and what it is still to do.

    Attributes:
        later: what waits, in its order.
        undo: what takes back what was done at once.
        streams: what is written to; the tape refuses that it is read again.
        added: the items that are to be appended to lists from outside, by their identities.
        entries: what is to be put into dicts and lists from outside.
        contents: arrays from outside, with the contents that they are to get.
    """

    __slots__ = ("added", "contents", "entries", "later", "streams", "undo")

    def __init__(self, *generators: Any) -> None:
        self.later: list[Callable[[], Any]] = []
        self.streams: list[Any] = []
        self.added: dict[int, list[Any]] = {}
        self.entries: dict[int, dict[Any, Any]] = {}
        self.contents: list[tuple[np.ndarray, np.ndarray]] = []
        self.undo = [restoring(source) for source in generators]

    def perform(self) -> None:
        """Do what has waited: the call is answered. Where answers are compared, the tape does."""
        if watching.count and current().compared:
            leaving.effects = self
            return
        for x, contents in self.contents:
            x[...] = contents
        for effect in self.later:
            effect()
        for stream in self.streams if state.active is not None else ():
            if stream is not None:
                note_output(stream)

    def take_back(self) -> None:
        """Undo what was done: the tape runs the function."""
        for undo in reversed(self.undo):
            undo()


def restoring(source: Any) -> Callable[[], Any]:
    """Return a function that gives a random generator or a container its state back.

    A container gets back what it holds now, and so do those in it.
    """
    if type(source) in (list, dict, tuple):
        inner = [restoring(x) for x in _items_in(source) if type(x) in (list, dict, tuple)]
        return partial(_restore, source, copy.copy(source), inner)
    if isinstance(source, np.random.Generator):
        bits = source.bit_generator
        return partial(setattr, bits, "state", bits.state)
    if isinstance(source, random.Random):
        return partial(source.setstate, source.getstate())
    return partial(source.set_state, source.get_state(legacy=False))


def _items_in(x: Any) -> Any:
    return x.values() if type(x) is dict else x


def _restore(x: Any, before: Any, inner: list[Callable[[], Any]]) -> None:
    if type(x) is dict:
        x.clear()
        x.update(before)
    elif type(x) is list:
        x[:] = before
    for undo in inner:
        undo()


def printed(effects: Effects, *xs: Any, **options: Any) -> None:
    """Note `print(*xs, **options)`, with the texts that the values have now."""
    stream, texts = options.get("file") or sys.stdout, [*map(str, xs)]
    between = [options[name] for name in ("sep", "end") if type(options.get(name)) is str]
    _refuse_other_streams(stream, *texts, *between)
    effects.streams.append(stream)
    effects.later.append(partial(print, *texts, **options))


def put_on_stream(effects: Effects, write: Any, text: str) -> int:
    """Note `stream.write(text)`, of a stream of text, and return what it returns."""
    _refuse_other_streams(write.__self__, text)
    effects.streams.append(write.__self__)
    effects.later.append(partial(write, text))
    return len(text)


def flush_of_stream(effects: Effects, flush: Any) -> None:
    """Note `stream.flush()`."""
    if flush.__self__.closed:
        raise RuntimeError(LEFT)
    effects.later.append(flush)


def _refuse_other_streams(stream: Any, *texts: str) -> None:
    """Leave the code for a stream that may keep what the program reads, or does not take texts."""
    takes_text = is_written_in_c(stream) and hasattr(stream, "encoding")
    if not takes_text or stream.closed or not stream.writable():
        raise RuntimeError(LEFT)
    if not all(map(str.isascii, texts)) and stream.encoding is not None:
        try:
            "".join(texts).encode(stream.encoding, stream.errors or "strict")
        except UnicodeError:
            raise RuntimeError(LEFT) from None


def set_at_the_end(effects: Effects, x: Any, name: str, value: Any) -> None:
    """Note that an attribute of an object is to be set, whatever its class says of that."""
    effects.later.append(partial(object.__setattr__, x, name, value))


def set_of_class_at_the_end(effects: Effects, x: type, name: str, value: Any) -> None:
    """Note that an attribute of a class is to be set."""
    effects.later.append(partial(type.__setattr__, x, name, value))


def set_item_at_the_end(effects: Effects, assign: Any, name: str, value: Any) -> None:
    """Note that a global is to be assigned, by the method of the dict that it is in."""
    effects.later.append(partial(assign, name, value))


def logged(
    effects: Effects, logger: logging.Logger, level: int, place: tuple[str, int, str],
    message: Any, *xs: Any,
) -> None:  # fmt: skip
    """Note a message of a logger, which is made now.

    Arguments:
        effects: the effects of the run.
        logger: the logger.
        level: how severe the message is.
        place: the file, the line and the function that it comes from.
        message: its format.
        xs: what is put into that.
    """
    if logger.isEnabledFor(level):
        streams = streams_of(logger)
        if streams is None:  # others may keep what the program reads
            raise RuntimeError(LEFT)
        effects.streams += streams
        file, line, function = place
        given = tuple([copy.deepcopy(x) if isinstance(x, _CHANGING_LATER) else x for x in xs])
        record = logger.makeRecord(logger.name, level, file, line, message, given, None, function)
        effects.later.append(partial(logger.handle, record))


def logged_by_root(
    effects: Effects, level: int, place: tuple[str, int, str], message: Any, *xs: Any
) -> None:
    """Note a message of the root logger, which has a handler from its first message on."""
    effects.later.append(_give_handler)
    logged(effects, logging.root, level, place, message, *xs)


def _give_handler() -> None:
    if not logging.root.handlers:
        logging.basicConfig()


def warned(
    effects: Effects, place: tuple[str, int], space: dict[str, Any], category: type[Warning],
    message: str,
) -> None:  # fmt: skip
    """Note a warning, which is shown at the end; leave the code where it may be an error.

    Arguments:
        effects: the effects of the run.
        place: the file and the line that it comes from.
        space: the globals there.
        category: its class.
        message: its text.
    """
    own: Any = warnings
    filters = getattr(own, "_get_filters", lambda: own.filters)()  # of a context, from 3.14 on
    actions = {own.defaultaction, *(action for action, *_ in filters)}
    usual = own.showwarning is own._showwarning_orig
    usual = usual and own.formatwarning is own._formatwarning_orig
    if "error" in actions or not usual or not is_written_in_c(sys.stderr):
        raise RuntimeError(LEFT)
    effects.streams.append(sys.stderr)
    effects.later.append(partial(_warn, message, category, *place, space))


def _warn(
    message: str, category: type[Warning], file: str, line: int, space: dict[str, Any]
) -> None:
    known = space.setdefault("__warningregistry__", {})
    name = space.get("__name__") or "<string>"
    warnings.warn_explicit(message, category, file, line, name, known)


# -- containers from outside that are put into ---------------------------------------------------


def append_at_the_end(effects: Effects, x: Any, value: Any) -> None:
    """Note `x.append(value)`, of a list or a deque."""
    effects.added.setdefault(id(x), []).append(value)
    effects.later.append(partial(type(x).append, x, value))


def append_left_at_the_end(effects: Effects, x: Any, value: Any) -> None:
    """Note `x.appendleft(value)`, of a deque."""
    effects.later.append(partial(deque.appendleft, x, value))


def extend_at_the_end(effects: Effects, x: Any, more: tuple[Any, ...]) -> None:
    """Note `x.extend(more)`, of a list or a deque."""
    effects.added.setdefault(id(x), []).extend(more)
    effects.later.append(partial(type(x).extend, x, more))


def add_at_the_end(effects: Effects, x: Any, value: Any) -> None:
    """Note `x.add(value)`, of a set."""
    effects.later.append(partial(set.add, x, value))


def put_at_the_end(effects: Effects, x: Any, key: Any, value: Any) -> None:
    """Note `x[key] = value`, of a dict."""
    effects.entries.setdefault(id(x), {})[key] = value
    effects.later.append(partial(type(x).__setitem__, x, key, value))


def length_now(effects: Effects, x: list[Any]) -> int:
    """Return the length of a list, with what is to be appended."""
    return len(x) + len(effects.added.get(id(x), ()))


def put_item_at_the_end(effects: Effects, x: list[Any], index: Any, value: Any) -> None:
    """Note `x[index] = value`, of a list."""
    at = _place_now(effects, x, index, "list assignment index out of range")
    put_at_the_end(effects, x, at, value)


def item_now(effects: Effects, x: list[Any], index: Any) -> Any:
    """Return an item of a list, or what is to be put there, or to be appended."""
    at = _place_now(effects, x, index, "list index out of range")
    waiting = effects.entries.get(id(x), {})
    if at in waiting:
        return waiting[at]
    return x[at] if at < len(x) else effects.added[id(x)][at - len(x)]


def _place_now(effects: Effects, x: list[Any], index: Any, message: str) -> int:
    at, n = operator.index(index), length_now(effects, x)
    if not -n <= at < n:
        raise IndexError(message)
    return at % n


def has_entry_now(effects: Effects, x: Any, key: Any) -> bool:
    """Return whether a dict has a key, or is to get it."""
    return key in effects.entries.get(id(x), ()) or key in x


def entry_or(effects: Effects, x: Any, key: Any, default: Any) -> Any:
    """Return an entry of a dict, or one that is to be put there, or else a default."""
    waiting = effects.entries.get(id(x), {})
    return waiting[key] if key in waiting else x.get(key, default)


def entry_now(effects: Effects, x: Any, key: Any) -> Any:
    """Return an entry of a dict, or one that is to be put there.

    What a dict makes for a key that it does not have is to be put there, too.
    """
    if has_entry_now(effects, x, key):
        return entry_or(effects, x, key, None)
    if type(x) is Counter:
        return 0
    if type(x) is not defaultdict or x.default_factory not in (int, float):
        raise KeyError(key)
    value = x.default_factory()
    put_at_the_end(effects, x, key, value)
    return value
