"""Functions of the user's modules that compute the attributes which these lack."""

import types
from typing import Any

from zygote_lite._ir.places import is_library


def hook_of_module(x: Any, name: str) -> Any:
    """Return the function of a user's module that computes an attribute which it lacks, if any."""
    if not issubclass(type(x), types.ModuleType) or name in x.__dict__ or hasattr(type(x), name):
        return None
    hook = x.__dict__.get("__getattr__")
    in_python = isinstance(hook, types.FunctionType)
    return hook if in_python and not is_library(hook.__code__.co_filename) else None
