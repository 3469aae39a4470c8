"""Files and lines of the user's code, for messages, and whose code a file is."""

import functools
import inspect
import os
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import rulescore
from zygote_lite import errors
from zygote_lite._ir.names import attribute_meant, is_in, modules_above, name_of, public_of
from zygote_lite._ir.operators import IN_PLACE, OF_FUNCTION

_HERE = tuple(
    os.path.dirname(os.path.abspath(path or "")) + os.sep
    for path in (errors.__file__, np.__file__, rulescore.__file__)
)
ENGINE, _OF_NUMPY = _HERE[0], _HERE[1]
_FROZEN = "<frozen "
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def where() -> str:
    """Return the user's file and line that the running call stands for."""
    frame = _users_frame()
    return "<unknown>" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def noted_place() -> tuple[types.CodeType, int] | str:
    """Note where the running call stands, in little time: `told_place` tells file and line."""
    frame = _users_frame()
    if frame is None:
        return where()
    path = frame.f_code.co_filename
    if not is_installed(path) and not is_library(path):
        return frame.f_code, frame.f_lasti
    outside = called_by_user()
    return where() if outside is None else f"{outside[0]}: {outside[1]}, {where()}"


def told_place(noted: tuple[types.CodeType, int] | str) -> str:
    """Return the file and line of a place that was noted, and what the user calls there."""
    if isinstance(noted, str):
        return noted
    code, at = noted
    lines = [line for start, end, line in code.co_lines() if start <= at < end]
    return f"{code.co_filename}:{lines[0] if lines else code.co_firstlineno}"


def users_module() -> str:
    """Return the name of the user's module whose code is running."""
    return str(users_globals().get("__name__", "__main__"))


def users_globals() -> dict[str, Any]:
    """Return the variables of the user's module whose code is running."""
    frame = _users_frame()
    return {} if frame is None else frame.f_globals


def globals_of_caller() -> dict[str, Any]:
    """Return the variables of the module whose code is running, also of an installed one."""
    return next((frame.f_globals for frame in _frames() if not _is_ours(frame)), {})


def users_locals() -> tuple[str, dict[str, Any]]:
    """Return the name of the user's function that is being recorded, and its variables."""
    frame = _users_frame()
    caller = None if frame is None else frame.f_back
    above = {} if caller is None else caller.f_locals  # those of `run_as_called`
    f = above.get("f")
    names = getattr(getattr(f, "__code__", None), "co_varnames", ())
    given = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
    if isinstance(f, types.FunctionType):
        given |= inspect.getclosurevars(f).nonlocals
    return getattr(f, "__name__", ""), given


def _users_frame() -> Any:
    """Return the innermost frame of the user's code, else of Python's own library, or `None`."""
    frame: Any = sys._getframe(1)
    nearest = None
    while frame is not None:
        if not _is_ours(frame):
            if not _is_of_python(frame.f_code.co_filename):
                return frame
            nearest = nearest or frame
        frame = frame.f_back
    return nearest


def called_by_user(frames: Iterable[Any] | None = None) -> tuple[str, str, str] | None:
    """Return where the user calls an installed library that is running: place, name and module.

    `None` where the running code is the user's own, or all that is known of it is installed.

    Arguments:
        frames: those of the running code, the innermost first; by default those of this call.
    """
    names, called, entered, is_inside = [], None, None, False
    is_exported = False  # what stands around that is the host, which calls back
    for frame in _frames() if frames is None else frames:
        path = frame.f_code.co_filename
        is_exported |= str(frame.f_globals.get("__name__")).startswith("rulescore.interop._")
        if path.startswith(ENGINE):
            called = called if is_exported else frame
        elif is_installed(path) and not _is_ours(frame):
            if is_exported:
                continue
            names.append(_public_name(frame))
            entered = frame
        elif is_library(path):
            is_inside = is_inside or not _is_ours(frame) or path.startswith(_OF_NUMPY)
        elif not _is_ours(frame):
            break
    else:
        return None
    place = f"{path}:{frame.f_lineno}"
    f, xs = (None, ()) if called is None else map(called.f_locals.get, ("f", "xs"))
    written = call_as_written(f, xs if isinstance(xs, tuple) else ())
    is_of_python = is_inside and hasattr(f, "__name__")  # `Fraction(x)`, or `np.interp(x, y, z)`
    if not names and written is None and is_of_python:
        written = attribute_meant(f, xs) or name_of(f), str(getattr(f, "__module__", ""))
    if not names:
        return None if written is None or written[1] == "operator" else (place, *written)
    known = [(module, name) for is_public, module, name in names if is_public]
    module, name = known[-1] if known else names[-1][1:]
    if written is not None:
        return place, written[0], module
    is_deep = name.endswith(".__call__") and module.count(".") > 1  # nobody imports it from there
    if entered is not None and (is_deep or not known):
        held = _name_by_user(frame, entered)
        if held is not None:
            return place, held, module
    is_named = not isinstance(f, _DEFINED_BY_NAME) and isinstance(getattr(f, "__name__", None), str)
    if is_named:  # a compiler's, say
        return place, attribute_meant(f, xs) or name_of(f), module
    return place, name if name.startswith("`") else f"{module}.{name}", module


def _name_by_user(frame: Any, entered: Any) -> str | None:
    """Return the name of a method of an object that the user's function captures, or a global."""
    own, method = entered.f_locals.get("self"), entered.f_code.co_name
    captured = [(n, frame.f_locals.get(n)) for n in frame.f_code.co_freevars]  # no temporaries
    for name, x in (*captured, *frame.f_globals.items()) if own is not None else ():
        if x is own and name.isidentifier():
            return name if method == "__call__" else f"{name}.{method}"
    return None


def library_entered(frames: Iterable[Any], path: str) -> tuple[str, str, str] | None:
    """Return where the user calls a library's function that cannot begin: place, name and module.

    Such a function has no frame: its syntax is refused before it runs.

    Arguments:
        frames: those of the running code, the innermost first.
        path: the file of the function.
    """
    frames = list(frames)
    for frame in frames:
        f = frame.f_locals.get("f") if frame.f_code.co_filename.startswith(ENGINE) else None
        if getattr(getattr(f, "__code__", None), "co_filename", None) == path:
            place = place_in(frames)
            return None if place is None else (place, name_of(f), str(f.__module__))
    return None


_DEFINED_BY_NAME = types.FunctionType | types.BuiltinFunctionType | types.MethodType | type


def call_as_written(f: Any, xs: tuple[Any, ...]) -> tuple[str, str] | None:
    """Return the name and the module of an operator, or of a function of NumPy or Python.

    `None` for other functions.
    """
    of = OF_FUNCTION.get(f) or IN_PLACE.get(f) if isinstance(f, types.BuiltinFunctionType) else None
    if of is not None:
        given = ", ".join(_SHOWN.get(type(x).__name__, type(x).__name__) for x in xs)
        return f"`{of.symbol.strip()}{'=' if f in IN_PLACE else ''}` of ({given})", "operator"
    path = f.__code__.co_filename if isinstance(f, types.FunctionType) else ENGINE
    return (name_of(f), f.__module__) if is_library(path) and not path.startswith(ENGINE) else None


_SHOWN = {"ArrayImpl": "jax.Array"}  # the class that users know


def place_in(frames: Iterable[Any]) -> str | None:
    """Return file and line of the first frame of the user's code, else of a library's."""
    told = [f for f in frames if not _is_ours(f) and not _is_of_python(f.f_code.co_filename)]
    own = [frame for frame in told if not is_installed(frame.f_code.co_filename)]
    for frame in (*own, *told):
        return f"{frame.f_code.co_filename}:{frame.f_lineno}"
    return None


def _frames() -> Iterator[Any]:
    """Yield the frames of the running code, the innermost first."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _public_name(frame: Any) -> tuple[bool, str, str]:
    """Return whether what a frame of a library runs is public, its module, and its name."""
    module, name = _run_by(frame)
    public = module.partition("._")[0]
    names = vars(sys.modules.get(public, np))
    own = frame.f_locals.get("self")
    for known, value in names.items() if own is not None else ():
        if value is own:  # an object of the library, such as a distribution of SciPy's
            return True, public, f"{known}.{name.rpartition('.')[2]}"
    owner, dot, method = name.partition(".")
    kind = type(own).__name__
    if names.get(kind) is type(own) and owner not in names:  # a method that it inherits
        return True, public, _without_making(f"{kind}{dot}{method}")
    stem = owner.removesuffix("_frozen")  # SciPy's distributions with their parameters
    stem = owner if stem == owner else getattr(getattr(own, "dist", None), "name", stem)
    if stem != owner and callable(names.get(stem)):
        return True, public, f"{stem}(...){dot}{method}"
    head = getattr(sys.modules.get(module), owner, None)
    if method in _ITEMS and owner.startswith("_"):  # `table.loc[...] = y`
        package = module.partition(".")[0]
        return True, package, f"{_ITEMS[method]} of {package}"
    if owner == "_IndexUpdateRef":
        return True, public, f"`x.at[i].{method}` of {public}"
    for above in modules_above(module):  # `pandas.DataFrame` is written in `pandas.core.frame`
        if "._" not in above and is_in(above, owner, head):
            return True, above, _without_making(name)
        if own is not None and is_in(above, kind, type(own)):  # a method that it inherits
            return True, above, _without_making(f"{kind}{dot}{method}")
    shown = public_of(module, name) or module
    if "._" not in shown and shown != module:
        return True, shown, _without_making(name)
    is_public = getattr(names.get(owner), "__module__", None) == module
    return is_public, public if is_public else module, _without_making(name)


_ITEMS = {"__getitem__": "`x[i]`", "__setitem__": "`x[i] = y`"}


def _without_making(name: str) -> str:
    """Return the name of a class for that of the method that makes its instances."""
    return name.removesuffix(".__init__").removesuffix(".__new__")


def _run_by(frame: Any) -> tuple[str, str]:
    """Return the module and the name of the function that a frame runs, or that it wraps."""
    module, name = str(frame.f_globals.get("__name__", "")), frame.f_code.co_qualname
    if "<locals>" in name:
        package = module.partition(".")[0]
        held = [frame.f_locals.get(variable) for variable in frame.f_code.co_freevars]
        own = [x for x in held if str(rulescore.home_of(x)).partition(".")[0] == package]
        if len(own) == 1 and hasattr(own[0], "__qualname__"):
            return str(rulescore.home_of(own[0])), own[0].__qualname__
    return module, name


def is_installed(path: str) -> bool:
    """Return whether a file is of an installed library."""
    return "site-packages" in path or "dist-packages" in path


def _is_of_python(path: str) -> bool:
    """Return whether a file is of Python's own library."""
    return path.startswith(_FROZEN) or (path.startswith(_STANDARD) and not is_installed(path))


def _is_ours(frame: Any) -> bool:
    """Return whether a frame is of the engine, of NumPy, or of a plugin's rules."""
    return are_ours(frame.f_code.co_filename, frame.f_globals.get("__name__"))


@functools.lru_cache(maxsize=4096)  # cells of notebooks have names of their own
def are_ours(path: str, module: str | None) -> bool:
    """Return whether the functions of a file, and of a module, are ours."""
    package = str(module).partition(".")[0]
    return path.startswith(_HERE) or any(package == p.name for p in rulescore.plugins())


def is_library(path: str) -> bool:
    """Return whether a file is of Python's own library, of NumPy, or of this package.

    The variables of its modules hold no values of the user.
    """
    return path.startswith(_HERE) or _is_of_python(path)


def place_of(f: Any) -> str:
    """Return where a function is defined, such as `model.py:12`, or its name."""
    code = getattr(f, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(f)
