"""Names of functions, and their files and lines, for messages to the user."""

import functools
import os
import sys
import types
from typing import Any

import numpy as np

import rulescore
from zygote_lite import errors


def name_of(f: Any) -> str:
    """Return the name of a function as the user knows it."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", type(f).__qualname__)
    module = getattr(f, "__module__", None)
    if module is None and hasattr(f, "__objclass__"):
        module = f.__objclass__.__module__
    owner = getattr(f, "__self__", None) if isinstance(f, types.BuiltinFunctionType) else None
    if isinstance(owner, np.ufunc):
        return f"{name_of(owner)}.{f.__name__}"
    if type(f).__name__ == "fortran":  # a wrapper made by f2py
        name = str(name).removeprefix("function ")
        module = rulescore.home_of(f)
    if isinstance(f, np.ufunc) or "._" in str(module):
        module = rulescore.home_of(f) or module
    if isinstance(f, np.ufunc) and module is None:
        return f"the ufunc {name}"  # of a library that it does not tell
    module = {"_operator": "operator", None: type(f).__module__}.get(module, module)
    return str(name) if module in ("builtins", "__main__") else f"{module}.{name}"


_HERE = tuple(
    os.path.dirname(os.path.abspath(path or "")) + os.sep
    for path in (errors.__file__, np.__file__, rulescore.__file__)
)


ENGINE = _HERE[0]
_FROZEN = "<frozen "
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def where() -> str:
    """Return the user's file and line that the running call stands for."""
    frame = _users_frame()
    return "<unknown>" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def users_module() -> str:
    """Return the name of the user's module whose code is running."""
    frame = _users_frame()
    return "__main__" if frame is None else str(frame.f_globals.get("__name__", "__main__"))


def _users_frame() -> Any:
    """Return the innermost frame of the user's code, else of Python's own library, or `None`."""
    frame: Any = sys._getframe(1)
    nearest = None
    while frame is not None:
        if not _is_ours(frame):
            if not frame.f_code.co_filename.startswith((_STANDARD, _FROZEN)):
                return frame
            nearest = nearest or frame
        frame = frame.f_back
    return nearest


def called_by_user() -> tuple[str, str, str] | None:
    """Return where the user calls an installed library that is running: place, name and module.

    `None` where the running code is the user's own, or all that is known of it is installed.
    """
    frame, names = _users_frame(), []
    while frame is not None and (_is_installed(frame) or _is_ours(frame)):
        if not _is_ours(frame):
            names.append(_public_name(frame))
        frame = frame.f_back
    if frame is None or not names or frame.f_code.co_filename.startswith((_STANDARD, _FROZEN)):
        return None
    known = [(module, name) for is_public, module, name in names if is_public]
    module, name = known[-1] if known else names[-1][1:]
    return f"{frame.f_code.co_filename}:{frame.f_lineno}", f"{module}.{name}", module


def _public_name(frame: Any) -> tuple[bool, str, str]:
    """Return whether what a frame of a library runs is public, its module, and its name."""
    module = str(frame.f_globals.get("__name__", ""))
    name = frame.f_code.co_qualname.removesuffix(".__init__")
    public = module.partition("._")[0]
    own = frame.f_locals.get("self")
    modules = vars(sys.modules.get(public, np)) if own is not None else {}
    for known, value in modules.items():
        if value is own:  # an object of the library, such as a distribution of SciPy's
            return True, public, f"{known}.{frame.f_code.co_name}"
    found = getattr(sys.modules.get(public), name.partition(".")[0], None)
    is_public = getattr(found, "__module__", None) == module
    return is_public, public if is_public else module, name


def _is_installed(frame: Any) -> bool:
    return "site-packages" in frame.f_code.co_filename


def _is_ours(frame: Any) -> bool:
    """Return whether a frame is of the engine, of NumPy, or of a plugin's rules."""
    return _are_ours(frame.f_code.co_filename, frame.f_globals.get("__name__"))


@functools.cache
def _are_ours(path: str, module: str | None) -> bool:
    """Return whether the functions of a file, and of a module, are ours."""
    package = str(module).partition(".")[0]
    return path.startswith(_HERE) or any(package == p.name for p in rulescore.plugins())


def is_library(path: str) -> bool:
    """Return whether a file is of Python's own library, of NumPy, or of this package.

    The variables of its modules hold no values of the user.
    """
    if path.startswith(_FROZEN):  # a module of Python's own: `abc`, `os`
        return True
    return path.startswith(_HERE) or (path.startswith(_STANDARD) and "site-packages" not in path)


def place_of(f: Any) -> str:
    """Return where a function is defined, such as `model.py:12`, or its name."""
    code = getattr(f, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(f)
