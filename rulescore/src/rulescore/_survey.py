"""Looking at all rules at once: what a name means, what has no rule, what the examples say."""

import builtins
import difflib
import importlib
import inspect
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ClassMethodDescriptorType
from typing import Any

import numpy as np

from rulescore._endings import endings, plain_function
from rulescore._plugins import Plugin, plugins
from rulescore._rule import Rule, name_of
from rulescore._table import candidates, find_rule
from rulescore.testing import CheckError, check_rrule

NAMESPACES = (
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "numpy.polynomial",
    "numpy.polynomial.polynomial",
    "numpy.ndarray",
)
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
    xs = tuple(map(sample, types))
    if name.endswith(".__call__") and xs and not candidates(f) and candidates(xs[0]):
        return xs[0], xs[1:]
    if isinstance(f, type) and not candidates(f):
        instance = _instance_of(f)
        if candidates(instance):
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


def sample(name: str) -> Any:
    """Return a value of the type that is named, also without `numpy.`; dispatch asks no more."""
    if name == "None":
        return None
    kind = getattr(builtins, name, None) or getattr(np, name, None) or named(name)
    if not isinstance(kind, type):
        raise LookupError(f"{name} is not a type")
    return _SAMPLES[kind] if kind in _SAMPLES else _instance_of(kind)


def _instance_of(kind: Any) -> Any:
    try:
        return kind()
    except Exception:  # it takes arguments, whatever they are
        try:
            return kind.__new__(kind)
        except TypeError:
            raise LookupError(f"no instance of {kind.__qualname__} can be made") from None


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
            if id(f) not in seen and not candidates(f):
                yield name, f
            seen.add(id(f))


def reasons() -> dict[str, str]:
    """Return why functions have no rule, as the plugins tell, by name."""
    rulesets = [ruleset for plugin in plugins(all_sections=True) for ruleset in plugin.rulesets]
    return {name: why for ruleset in rulesets for name, why in ruleset.reasons.items()}


def has_source(f: Any) -> bool:
    """Return whether a function is written in Python, perhaps behind NumPy's dispatcher."""
    return plain_function(f) is not None or hasattr(type(f).__call__, "__code__")


@dataclass
class Report:
    """Hold what the examples of a plugin have shown.

    Attributes:
        plugin: the name of its entry point.
        checked: how many examples were run.
        constants: how many of its rules are constants, which need no example.
        failures: the calls that failed, with what was wrong.
        gaps: the rules that no example reaches.
    """

    plugin: str
    checked: int = 0
    constants: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    gaps: list[Rule] = field(default_factory=list)


def run_examples(plugin: Plugin) -> Report:
    """Check all examples of a plugin's rule sets."""
    report = Report(plugin.name)
    if plugin.error is not None and not plugin.disabled:
        report.failures.append((plugin.name, f"the plugin is broken: {plugin.error}"))
    reached: set[int] = set()
    for ruleset in plugin.rulesets:
        try:
            examples = ruleset.examples
        except Exception as error:
            told = f"its examples cannot be imported: {type(error).__name__}: {error}"
            report.failures.append((plugin.name, told))
            continue
        for f, xs, options in examples:
            report.checked += 1
            given = {name: x for name, x in options.items() if not name.startswith("check_")}
            reached.add(id(find_rule(f, *xs, ad=check_rrule, **given)))
            try:
                check_rrule(f, *xs, check_plugin=ruleset.name, **options)
            except CheckError as error:
                report.failures.append((_told(f, xs, options), str(error)))
            except Exception as error:  # the checker's own failure must not hide the rest
                told = f"{type(error).__name__}: {error}"
                report.failures.append((_told(f, xs, options), told))
    rules = [rule for ruleset in plugin.rulesets for rule in ruleset.rules]
    report.constants = sum(rule.kind == "constant" for rule in rules)
    report.gaps = [
        r for r in rules if r.kind not in ("constant", "method") and id(r) not in reached
    ]
    return report


def _told(f: Any, xs: tuple[Any, ...], options: dict[str, Any]) -> str:
    given = [_short(x) for x in xs] + [f"{name}={_short(x)}" for name, x in options.items()]
    return f"{getattr(f, '__qualname__', type(f).__name__)}({', '.join(given)})"


def _short(x: Any) -> str:
    if isinstance(x, np.ndarray) and x.size > 3:
        return f"{x.dtype}{list(x.shape)}"
    text = " ".join(repr(x).split())
    return text if len(text) <= 40 else text[:37] + "..."
