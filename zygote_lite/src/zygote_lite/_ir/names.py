"""Names of functions and methods, as users know them, for messages."""

import ctypes
import functools
import os
import sys
import types
from typing import Any

import numpy as np

import rulescore
from zygote_lite import errors

NOT_BY_NAME = ", pickle it by cloudpickle.dumps"
"""What stands in the name of a function that pickle does not find by its name."""


def name_of(f: Any) -> str:
    """Return the name of a function as the user knows it."""
    own = type(f).__qualname__.rpartition("<locals>.")[2]  # a class of ctypes is made for its types
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", own)
    name = str(name).replace(NOT_BY_NAME, "")
    module = getattr(f, "__module__", None)
    if module is None and hasattr(f, "__objclass__"):
        module = f.__objclass__.__module__
    owner = getattr(f, "__self__", None) if isinstance(f, types.BuiltinFunctionType) else None
    if isinstance(owner, np.ufunc):
        return f"{name_of(owner)}.{f.__name__}"
    if type(f).__name__ == "fortran":  # a wrapper made by f2py
        name = str(name).removeprefix("function ")
        module = rulescore.home_of(f)
    if isinstance(f, types.BuiltinFunctionType) and is_in(module, f.__name__, f):
        name = f.__name__  # a method of an object that nobody sees
    public = str(module).removeprefix("_")
    if isinstance(module, str) and is_in(public, name.partition(".")[0], _head_of(f, module)):
        module = public  # `struct`, which is written in `_struct`
    if isinstance(f, np.ufunc) or "._" in str(module):
        module = public_of(str(rulescore.home_of(f) or module), str(name))
    if isinstance(f, np.ufunc) and module is None:
        return f"the ufunc {name}"  # of a library that it does not tell
    if isinstance(f, type(ctypes.Array)) and hasattr(f, "_length_"):
        return f"({name_of(f._type_)} * {f._length_})"  # `ctypes.c_double * 3`
    if isinstance(module, str) and module.startswith("numpy."):
        # `numpy.ma.masked_where` is written in `numpy.ma.core`
        head, own = name.partition(".")[0], _head_of(f, module)
        module = next((m for m in modules_above(module) if is_in(m, head, own)), module)
    module = {"_operator": "operator", None: type(f).__module__}.get(module, module)
    if module in ("builtins", "__main__"):
        return str(name)
    if name in _AS_WRITTEN and module in _WITH_INTRINSICS:
        return _AS_WRITTEN[name]
    return f"{module}.{name}".replace("torch._C.TensorBase.", "torch.Tensor.")  # its hidden base


_INVOKING = ("invoke", "invoke_found")
_WITH_INTRINSICS = ("zygote_lite._ir.intrinsics", "zygote_lite._python.library.folds")


_AS_WRITTEN = {
    **dict.fromkeys(("build_set", "join_set"), "a set display"),
    **dict.fromkeys(("build_dict", "join_dict"), "a dict display"),
    **dict.fromkeys(("build_list", "join_list"), "a list display"),
    **dict.fromkeys(("build_tuple", "join_tuple"), "a tuple"),
    **dict.fromkeys(("join_text", "format_value"), "an f-string"),
    "order_of": "sorted",
}
"""What stands in the user's code for functions that recorded code calls in its place."""


def attribute_meant(f: Any, xs: Any) -> str | None:
    """Return the name of the method, or of the attribute, that a call reads by its name, if any."""
    is_method = getattr(f, "__module__", None) in _WITH_INTRINSICS and f.__name__ in _INVOKING
    if not (is_method or f is getattr) or not isinstance(xs, tuple) or len(xs) < 2:
        return None
    if type(xs[0]).__name__ == "LookedUp":  # before the arguments were computed
        return name_of(xs[0].method)
    owner = xs[0] if isinstance(xs[0], type | types.ModuleType) else type(xs[0])
    return f"{name_of(owner) if isinstance(owner, type) else owner.__name__}.{xs[1]}"


def is_in(module: Any, name: str, x: Any) -> bool:
    """Return whether a module has this object by a name."""
    return x is not None and vars(sys.modules.get(module, errors)).get(name) is x


def _head_of(f: Any, module: str) -> Any:
    """Return what a module has by the first name of a function: the function, or its class."""
    head = str(getattr(f, "__qualname__", "")).partition(".")[0]
    return getattr(sys.modules.get(module), head, None)


def public_of(module: str, name: str) -> str | None:
    """Return the public module above a private one if it has the same class or function."""
    public, _, rest = module.partition("._")
    head = name.partition(".")[0]
    own = getattr(sys.modules.get(module), head, None)
    parts = rest.split(".")[1:]  # `jax._src.nn.functions` shows in `jax.nn`
    above = [".".join([public, *parts[:n]]) for n in range(len(parts) + 1)] if rest else []
    for shown in above if own is not None else ():
        if getattr(sys.modules.get(shown), head, None) is own:
            return shown
    return None if module == "None" else module


def modules_above(module: str) -> list[str]:
    """Return the packages of a module and itself, the outermost first."""
    parts = module.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


def shown_name(f: Any) -> str:
    """Return what a function is called where it is shown alone.

    That is its name, with its class; of a lambda and of a function inside another, with its line.
    """
    if isinstance(f, functools.partial):
        return f"partial of {shown_name(f.func)}"
    name, code = getattr(f, "__qualname__", None), getattr(f, "__code__", None)
    if not isinstance(name, str):
        return f"{type(f).__qualname__.rpartition('<locals>.')[2]} object"
    if code is None or "<" not in name or "(" in name:
        return name
    place = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
    return f"{name.rpartition('<locals>.')[2]} at {place}"
