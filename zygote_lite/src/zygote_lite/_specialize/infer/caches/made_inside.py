"""Functions that the function makes under `lru_cache`: what they keep is in a dict of the code."""

import functools
from types import NoneType
from typing import Any

from zygote_lite._specialize.infer.caches.from_outside import type_of_key
from zygote_lite._specialize.infer.held.dicts import demand_room
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import CacheMaker, Local, LocalCache
from zygote_lite._specialize.typed.values import Value, constant


def made_cache(builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value | None:
    """Return what `lru_cache` makes of a function inside; `None` for a call of another function."""
    if isinstance(f, CacheMaker):
        if len(xs) != 1 or kws or not isinstance(xs[0].sample, Local):
            raise NotSupported.METHOD(
                "it uses `lru_cache` other than as a decorator of a nested function"
            )
        call = builder.inline(_with_memory, [xs[0], constant(f.size)], {})
        return constant(LocalCache(xs[0].sample.code, call))
    if f not in (functools.lru_cache, functools.cache):
        return None
    usual = 128 if f is functools.lru_cache else None
    options = dict(zip(("maxsize", "typed"), xs, strict=False)) | kws
    is_applied = bool(xs) and isinstance(xs[0].sample, Local)
    is_known = is_applied or (f is functools.lru_cache and options.keys() <= {"maxsize", "typed"})
    if not (is_known and builder.held):
        raise NotSupported.CONTAINER(
            "it uses `lru_cache` on a nested function with options that are not constants"
        )
    if is_applied:
        return made_cache(builder, CacheMaker(usual), xs, kws)
    if not all(x.is_constant and type(x.sample) in (int, bool, NoneType) for x in options.values()):
        raise NotSupported.CONTAINER("it uses `lru_cache` with a size that is not a constant")
    size = options["maxsize"].sample if "maxsize" in options else usual
    if size is not None and size < 1:
        raise NotSupported.CONTAINER("it uses `lru_cache` with a size of 0")
    return constant(CacheMaker(size))


def _with_memory(function: Any, size: Any) -> Any:
    memory: dict[Any, Any] = {}

    def call(*key: Any) -> Any:
        if key in memory:
            return memory[key]
        found = function(*key)
        if size is not None:  # the function may have filled it by calls of itself
            demand_room(memory, size)
        memory[key] = found
        return found

    return call


def called_cache(builder: Builder, f: LocalCache, xs: list[Value], kws: dict[str, Value]) -> Value:
    """Return what a function inside gives that is under `lru_cache`."""
    kinds = tuple(map(type_of_key, xs))
    if kws or builder.inputs.cached.setdefault(f.code, kinds) != kinds:
        raise Unsound.KEY(
            "it calls a function under `lru_cache` with keywords, or with numbers of several types"
        )
    return builder.call(f.function, xs, {})
