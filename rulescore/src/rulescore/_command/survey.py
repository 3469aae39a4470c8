"""Looking at all functions of a library: which have no rule, and which end in code without one."""

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

from rulescore._command.endings import endings, plain_function
from rulescore._command.lookup import named
from rulescore._plugins.loading import plugins
from rulescore._table.table import rules_of

NAMESPACES = (
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "numpy.polynomial",
    "numpy.polynomial.polynomial",
    "numpy.ndarray",
)


def functions_of(namespace: str) -> Iterator[tuple[str, Any]]:
    """Give the public functions of a module, or the methods and attributes of a class.

    With each comes its full name. Callable objects count as functions.
    """
    owner = named(namespace)
    for name in sorted(dir(owner)):
        if name.startswith("_"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is deprecated is still there
            f = getattr(owner, name)
        is_attribute = isinstance(owner, type) and inspect.isdatadescriptor(f)
        if (callable(f) and not isinstance(f, type)) or is_attribute:
            yield f"{namespace}.{name}", f


def missing(library: str) -> dict[str, str]:
    """Return the functions that nobody can differentiate: no rule, no constant, no Python source.

    With each comes the reason that a plugin gives, or an empty text.

    Arguments:
        library: a module or class; `numpy` stands for all its public namespaces.
    """
    why = reasons()
    return {name: why.get(name, "") for name, f in _without_rule(library) if not has_source(f)}


def ending(library: str) -> dict[str, list[str]]:
    """Return the functions whose Python source ends in compiled code that nobody has a rule for.

    With each come the names of the compiled functions. They may be called where no derivative
    passes, or in a case that a program never meets.

    Arguments:
        library: a module or class; `numpy` stands for all its public namespaces.
    """
    found = {name: endings(f) for name, f in _without_rule(library) if has_source(f)}
    return {name: compiled for name, compiled in found.items() if compiled}


def _without_rule(library: str) -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    for namespace in NAMESPACES if library == "numpy" else (library,):
        for name, f in functions_of(namespace):
            if id(f) not in seen and not rules_of(f):
                yield name, f
            seen.add(id(f))


def reasons() -> dict[str, str]:
    """Return why functions have no rule, as the plugins tell, by name."""
    rulesets = [ruleset for plugin in plugins(all_sections=True) for ruleset in plugin.rulesets]
    return {name: why for ruleset in rulesets for name, why in ruleset.reasons.items()}


def has_source(f: Any) -> bool:
    """Return whether a function is written in Python, perhaps behind NumPy's dispatcher."""
    return plain_function(f) is not None or hasattr(type(f).__call__, "__code__")
