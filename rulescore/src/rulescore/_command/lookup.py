"""What a name on the command line stands for: a function, a method, a type, a call of either."""

import builtins
import contextlib
import difflib
import importlib
import inspect
from types import ClassMethodDescriptorType
from typing import Any

import numpy as np

from rulescore._naming import name_of
from rulescore._plugins.loading import plugins
from rulescore._table.table import rules_of

_SAMPLES = {
    bool: True,
    int: 1,
    float: 0.5,
    complex: 0.5j,
    str: "",
    list: [],
    tuple: (),
    dict: {},
    np.ndarray: np.ones(2),
}


def named(name: str) -> Any:
    """Return what a dotted name stands for, such as `numpy.linalg.inv`, `len` or `None`.

    Raises `LookupError` where there is no such thing.
    """
    parts = name.split(".")
    if not all(parts):
        raise LookupError(f"{name!r} is not a name")
    if parts[0] == "np":
        parts[0] = "numpy"
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        rest = parts[count:]
        break
    else:
        found, rest = builtins, parts
        if len(parts) > 1 and not hasattr(builtins, parts[0]):
            kind = getattr(np, parts[0], None)  # such as ndarray
            found, rest = (kind, parts[1:]) if isinstance(kind, type) else (found, rest)
    for part in rest:
        try:
            found = (
                inspect.getattr_static(found, part)
                if isinstance(found, type)
                else getattr(found, part)
            )
        except AttributeError:
            alike = _functions_alike(name) or _types_alike(name)
            advice = f"; did you mean {' or '.join(alike)}?" if alike else ""
            raise LookupError(f"there is nothing named {name}{advice}") from None
    return found


def called(name: str, types: list[str]) -> tuple[Any, tuple[Any, ...]]:
    """Return what a call by this name calls, and arguments of the named types.

    The name may be that of a function, a method or an attribute of a class (the first argument is
    the instance), a callable object, or a class whose instances can be called.
    """
    f = named(name)
    if isinstance(f, classmethod | staticmethod | ClassMethodDescriptorType):
        owner, _, last = name.rpartition(".")
        f = getattr(named(owner), last)
    xs = tuple([sample(kind, name) for kind in types])
    if name.endswith(".__call__") and xs and not rules_of(f) and rules_of(xs[0]):
        return xs[0], xs[1:]
    if isinstance(f, type) and not rules_of(f):
        with contextlib.suppress(LookupError):
            instance = _instance_of(f)
            if rules_of(instance):
                return instance, xs
    return f, xs


def _functions_alike(name: str) -> list[str]:
    """Return the functions with rules that a misspelt name, or one without module, may mean."""
    rulesets = [ruleset for plugin in plugins(all_sections=True) for ruleset in plugin.rulesets]
    known = {name_of(rule.function) for ruleset in rulesets for rule in ruleset.rules}
    last = name.rpartition(".")[2]
    same = sorted(other for other in known if other.rpartition(".")[2] == last)
    return same or difflib.get_close_matches(name, sorted(known), 3, 0.8)


def _types_alike(name: str) -> list[str]:
    known = [kind.__name__ for kind in _SAMPLES]
    return difflib.get_close_matches(name.rpartition(".")[2], known, 1, 0.7)


def sample(name: str, function: str = "") -> Any:
    """Return a value of the type that is named; dispatch asks no more.

    The name may lack `numpy.`, or the module in which `function` is found.
    """
    if name == "None":
        return None
    kind = getattr(builtins, name, None) or getattr(np, name, None) or _near(name, function)
    if not isinstance(kind, type):
        raise LookupError(f"{name} is not a type")
    return _SAMPLES[kind] if kind in _SAMPLES else _instance_of(kind)


def _near(name: str, function: str) -> Any:
    """Return what a name stands for where a function is, or, where that is nothing, for all."""
    parts = function.split(".")
    for count in range(len(parts) - 1, 0, -1):
        with contextlib.suppress(LookupError):
            return named(".".join([*parts[:count], name]))
    return named(name)


def _instance_of(kind: Any) -> Any:
    try:
        return kind()
    except Exception:  # it takes arguments, whatever they are
        try:
            return kind.__new__(kind)
        except TypeError:
            raise LookupError(f"no instance of {kind.__qualname__} can be made") from None
