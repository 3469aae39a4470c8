"""`functools.singledispatchmethod`, without the methods that Python 3.13 keeps by weak reference.

What it keeps is only quicker. An entry would outlive the object in the run, since the tape holds
it, so the methods are made anew at each access, as the versions before and after 3.13 do.
"""

import functools
from typing import Any

from zygote_lite._cotangents.registry import Handlers

handlers = Handlers()


@handlers.in_python(functools.singledispatchmethod.__get__)
def _bind(descriptor: Any, obj: Any, cls: Any = None) -> Any:
    dispatch = descriptor.dispatcher.dispatch
    wrapped = descriptor.func
    name = getattr(wrapped, "__name__", "singledispatchmethod method")

    def method(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"{name} requires at least 1 positional argument")
        return dispatch(args[0].__class__).__get__(obj, cls)(*args, **kwargs)

    method.__isabstractmethod__ = descriptor.__isabstractmethod__  # type: ignore[attr-defined]
    method.register = descriptor.register  # type: ignore[attr-defined]
    functools.update_wrapper(method, wrapped)
    return method
