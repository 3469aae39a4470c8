"""What to do about a function without a rule: a rule to paste, or the rule that almost fits."""

import importlib
import inspect
import sys
import traceback
import types
from typing import Any

import numpy as np

from rulescore import home_of, why
from zygote_lite._ir.places import ENGINE, is_installed, is_library

_OF_LIBRARIES = {
    "pandas": "data of pandas carries no gradient: pass `.to_numpy()` of it",
    "polars": "data of polars carries no gradient: pass `.to_numpy()` of it",
    "xarray": "data of xarray carries no gradient: pass `.to_numpy()` of it",
    "torch": "a tensor of PyTorch carries no gradient here: pass `.detach().numpy()` of it",
    "jax": "an array of JAX carries no gradient here: pass `np.asarray(...)` of it",
    "jaxlib": "an array of JAX carries no gradient here: pass `np.asarray(...)` of it",
    "tensorflow": "a tensor of TensorFlow carries no gradient here: pass `.numpy()` of it",
    "numba.typed": "what is in a list or dict of numba.typed has no gradient: use one of Python",
    "numba": "Numba has compiled this function: call the Python function that it was made of",
}
_PARAMETERS = ("x", "y", "z", "u", "v", "w")


def rule_to_paste(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> str | None:
    """Return a declaration of a rule for a call, to be pasted and completed.

    Returns `None` for a function that is not found by its name.
    """
    f, xs = _unbound(f, xs)
    if getattr(f, "__name__", "") == "__init__" and xs:  # a rule is for the class
        f, xs = type(xs[0]), xs[1:]
    found = _import_of(f)
    if found is None:
        return None
    imported, path = found
    lines = {"from rulescore import RuleSet": None, imported: None}
    if isinstance(f, np.ufunc) and f.nout == 1:
        names = ", ".join(_PARAMETERS[: f.nin])
        partials = "..." if f.nin == 1 else f"({', '.join(['...'] * f.nin)})"
        body = f"rule.scalar({path})(lambda {names}: {partials})  # the partial derivatives"
    else:
        head = path.partition(".")[0]
        names_of = [f"{n}_" if n == head else n for n in _argument_names(f, len(xs))]
        given = []
        for name, x in zip(names_of, xs, strict=True):
            annotation, needs = _annotation(x)
            lines[needs] = None
            given.append(f"{name}: {annotation}")
        given += [f"{name}=None" for name in kws]
        passed = ", ".join([*names_of, *(f"{name}={name}" for name in kws)])
        wanted = ", ".join(names_of)
        body = (
            f"@rule({path})\n"
            f"def _({', '.join(given)}):\n"
            "    def pullback(dy):\n"
            f'        raise NotImplementedError("return the cotangents of {wanted}")\n\n'
            f"    return {path}({passed}), pullback"
        )
    imports = "\n".join(sorted(filter(None, lines)))
    return f'{imports}\n\nrule = RuleSet("mine")\n\n{body}\n\nrule.register()'


def call_by_user() -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """Return the call of a library that stands in the user's code, and is being recorded."""
    frame: Any = sys._getframe(1)
    found = None
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(ENGINE):
            if frame.f_code.co_name == "run_as_called":
                found = frame.f_locals
        elif not is_installed(path) and not is_library(path):
            return None if found is None else (found["f"], found["xs"], found["kws"])
        frame = frame.f_back
    return None


def near_miss(f: Any, xs: tuple[Any, ...]) -> str | None:
    """Return which rule for a function fits a call but for one argument, and which argument."""
    f, xs = _unbound(f, xs)
    for _, rule in why(f, *xs):
        if len(rule.types) != len(xs) or rule.kind == "instance":
            continue
        missed = [i for i, (t, x) in enumerate(zip(rule.types, xs, strict=True)) if not _is(x, t)]
        if len(missed) == 1:
            (i,) = missed
            due = rule.signature.partition("(")[2].removesuffix(")").split(", ")[i]
            return (
                f"the rule {rule.signature} of {rule.plugin} takes {due} as argument {i}, and it "
                f"is {type(xs[i]).__name__}: convert it, or declare a rule for this type"
            )
    return None


def _unbound(f: Any, xs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Return the function behind a method in C, with its owner as the first argument."""
    owner = getattr(f, "__self__", None)
    in_c = isinstance(f, types.BuiltinFunctionType | types.MethodWrapperType)
    if in_c and not isinstance(owner, types.ModuleType | type | None):
        return getattr(type(owner), f.__name__, f), (owner, *xs)
    return f, xs


def _is(x: Any, annotation: Any) -> bool:
    try:
        return isinstance(x, annotation)
    except TypeError:
        return True


def _import_of(f: Any) -> tuple[str, str] | None:
    """Return the import of a function, and the expression that it is then found by."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    owner = getattr(f, "__objclass__", None)
    own = getattr(f, "__module__", None)
    private = (home_of(f), own, getattr(owner, "__module__", None))
    public = [module.partition("._")[0] for module in private if isinstance(module, str)]
    for module in (*public, *private):
        if not isinstance(module, str) or not isinstance(name, str) or module == "__main__":
            continue
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            continue
        if found is f or found == f:
            if module == "builtins":
                return "", name
            if module == "numpy":
                return "import numpy as np", f"np.{name}"
            head = name.partition(".")[0]
            return f"from {module} import {head}", name
    return None


def _argument_names(f: Any, count: int) -> list[str]:
    """Return names for positional arguments: those of the parameters, where they are known."""
    try:
        parameters = [*inspect.signature(f).parameters.values()]
    except (TypeError, ValueError):
        parameters = []
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = [p.name for p in parameters if p.kind in by_position]
    if len(known) < count:
        known = [*_PARAMETERS, *(f"x{i}" for i in range(count))]
    return known[:count]


def _annotation(x: Any) -> tuple[str, str]:
    """Return the annotation for an argument, and the import that it needs."""
    cls = type(x)
    if isinstance(x, np.ndarray):
        return "np.ndarray", "import numpy as np"
    if isinstance(x, float | np.floating):
        return "float", ""
    if isinstance(x, types.FunctionType | types.BuiltinFunctionType):
        return "object", ""
    if cls.__module__ == "builtins" and cls.__qualname__ in dir(sys.modules["builtins"]):
        return cls.__qualname__, ""
    found = getattr(sys.modules.get(cls.__module__), cls.__qualname__, None)
    if found is cls and cls.__module__ != "__main__":
        if cls.__module__ == "numpy":
            return f"np.{cls.__qualname__}", "import numpy as np"
        public = cls.__module__.partition("._")[0]  # of Generator: numpy.random
        is_there = getattr(sys.modules.get(public), cls.__qualname__, None) is cls
        module = public if is_there else cls.__module__
        return cls.__qualname__, f"from {module} import {cls.__qualname__}"
    return ("None" if x is None else "object"), ""


def hint_on_library(operands: Any, found: types.TracebackType | None) -> str | None:
    """Return what helps where a library is met whose values carry no gradient.

    Arguments:
        operands: the function and the arguments that were given.
        found: the traceback of an error, which may lead through the library.
    """
    modules = [type(x).__module__ for x in operands]
    modules += [x.__module__ for x in operands if isinstance(x, types.FunctionType)]
    modules += [str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(found)]
    parts = [str(module).split(".") for module in modules]
    hints = [_OF_LIBRARIES.get(".".join(names[:n])) for n in (2, 1) for names in parts]
    return next(filter(None, hints), None)
