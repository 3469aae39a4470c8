"""Code of plugins: its modules do not change, so the names in it are constants.

Rules of one plugin agree, too: that of `sum` with that of `+`.
"""

import functools
import inspect
import types
from typing import Any

import numpy as np

from rulescore import generation, plugins, rules_of, why

_OURS = ("rulescore", "numpy", "zygote_lite")


def is_of_plugin(globals_: dict[str, Any]) -> bool:
    """Return whether a module belongs to a plugin, or to a package that rules are written with."""
    return str(globals_.get("__name__")).partition(".")[0] in _packages(generation())


@functools.lru_cache(maxsize=4)
def _packages(_: int) -> set[str]:
    """Return the packages that rules of plugins are written in, and what those are made of."""
    return {*_OURS}.union(*[plugin.packages for plugin in plugins()])


def is_of_program(f: Any) -> bool:
    """Return whether a function, or the body of a rule, is the program's own, or wraps such."""
    f = inspect.unwrap(getattr(f, "body", f))
    return isinstance(f, types.FunctionType) and not is_of_plugin(f.__globals__)


_IN_PYTHON = "zygote_lite._python.library.", "zygote_lite._specialize.infer.iteration.in_python"


def takes_engine(f: Any) -> bool:
    """Return whether a function has a rule of a plugin that is handed the engine."""
    return any(rule.needs_ad and not is_of_program(rule) for rule in rules_of(f))


def is_in_python(globals_: dict[str, Any]) -> bool:
    """Return whether a module says in Python what functions mean that are written in C."""
    return str(globals_.get("__name__")).startswith(_IN_PYTHON)


_KINDS = (float, int, complex, np.generic, np.ndarray, list, tuple)


def are_of_one_plugin(*functions: Any) -> bool:
    """Return whether one plugin wrote all rules for functions, those for other types left aside."""
    return _are_of_one_plugin(functions, generation())


@functools.lru_cache(maxsize=16)
def _are_of_one_plugin(functions: tuple[Any, ...], _: int) -> bool:
    asked = [r for f in functions for _, r in why(f) if all(map(_may_be_of_numbers, r.types))]
    return any(
        all(any(rule in ruleset.rules for ruleset in plugin.loaded) for rule in asked)
        for plugin in plugins()
    )


def _may_be_of_numbers(annotation: Any) -> bool:
    if isinstance(annotation, types.UnionType):
        return any(map(_may_be_of_numbers, annotation.__args__))
    if not isinstance(annotation, type):
        return True
    return any(issubclass(kind, annotation) or issubclass(annotation, kind) for kind in _KINDS)
