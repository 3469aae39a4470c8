"""Names for messages: of functions, of types, and of values as they look from outside."""

import functools
import sys
from importlib.machinery import ExtensionFileLoader
from types import BuiltinFunctionType, MethodType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np

from rulescore._array import Numeric


def name_of(f: Any) -> str:
    """Return the name of a function as a user would write it, such as `numpy.linalg.inv`."""
    if isinstance(f, property) and f.fget is not None:
        return name_of(f.fget)
    name = attribute(f, "__qualname__") or attribute(f, "__name__")
    if name is None:
        return object.__repr__(f)
    if type(f).__name__ == "fortran":  # a wrapper made by f2py, which tells no module
        name = name.removeprefix("function ")
    owner = getattr(f, "__self__", None) if isinstance(f, BuiltinFunctionType) else None
    if isinstance(owner, np.ufunc):
        return f"{name_of(owner)}.{f.__name__}"
    module = attribute(f, "__module__") or attribute(attribute(f, "__objclass__"), "__module__")
    if module is None or "._" in module:
        module = home_of(f) or module
    if isinstance(f, BuiltinFunctionType | MethodType) and module in sys.modules:
        known = vars(sys.modules[module]).get(f.__name__)
        if type(known) is type(f) and known == f:  # a method of an object that nobody sees
            name = f.__name__
    if module in (None, "builtins", "__main__"):
        return name
    return f"{ {'_operator': 'operator'}.get(module, module) }.{name}".replace(" ", "")


def home_of(f: Any) -> str | None:
    """Return the public module that has a function, such as `scipy.special`, or `None`.

    A ufunc does not know its module: this searches the modules that are written in C.

    Arguments:
        f: a function, a method or a ufunc.
    """
    name, module = attribute(f, "__name__"), attribute(f, "__module__")
    if type(f).__name__ == "fortran":
        return _home_of_wrapper(f, len(sys.modules))
    if module is None and isinstance(f, np.ufunc):
        module = "numpy" if getattr(np, f.__name__, None) is f else _compiled_home_of(f)
    if module is None or "._" not in module:
        return module
    public = module.partition("._")[0]
    head = str(attribute(f, "__qualname__") or name).partition(".")[0]  # of a method: its class
    own = f if head == name else getattr(sys.modules.get(module), head, None)
    is_there = own is not None and vars(sys.modules.get(public, np)).get(head) is own
    return public if is_there else module


@functools.lru_cache(2048)
def _home_of_wrapper(f: Any, count: int) -> str | None:
    """Return the module in which a wrapper made by f2py is found, a public one if there is one.

    It is searched again when the `count` of modules has changed.
    """
    name = f.__name__.removeprefix("function ")
    modules = list(sys.modules.items())
    homes = [key for key, m in modules if getattr(m, "__dict__", {}).get(name) is f]
    return min(homes, key=lambda home: "._" in home, default=None)


def _compiled_home_of(f: np.ufunc) -> str | None:
    for name in _compiled_modules(len(sys.modules)):
        if getattr(sys.modules.get(name), f.__name__, None) is f:
            return name
    return None


@functools.lru_cache(1)
def _compiled_modules(count: int) -> list[str]:
    """Return the names of the modules that are written in C, while there are `count` modules."""
    specs = {name: getattr(module, "__spec__", None) for name, module in [*sys.modules.items()]}
    return [
        name
        for name, spec in specs.items()
        if isinstance(getattr(spec, "loader", None), ExtensionFileLoader)
    ]


def attribute(f: Any, name: str) -> str | Any:
    """Return an attribute, or `None`: a callable may answer any name, with anything, or raise."""
    try:
        found = getattr(f, name, None)
    except Exception:
        return None
    return found if isinstance(found, str | type) else None


def type_name(t: Any) -> str:
    """Return an annotation as text, `Numeric` where it has all that stands for."""
    if get_origin(t) in (Union, UnionType):
        parts, numeric = get_args(t), get_args(Numeric)
        named = ["Numeric"] if set(numeric) <= set(parts) else []
        named += [type_name(part) for part in parts if not named or part not in numeric]
        return " | ".join(named)
    if t is NoneType:
        return "None"
    return getattr(t, "__name__", None) or str(t)


def describe(x: Any) -> str:
    """Return what a value is, in a few words: its type, with its shape or length."""
    if hasattr(x, "shape"):
        return f"{type(x).__name__} of shape {x.shape}"
    if isinstance(x, list | tuple):
        return f"{type(x).__name__} of length {len(x)}"
    return type(x).__name__
