"""Rules to paste: the declaration of a rule for a call, or for a function that makes the call."""

import importlib
import inspect
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore import home_of
from zygote_lite._cotangents.kinds import carries_nothing
from zygote_lite._ir.names import modules_above
from zygote_lite._ir.places import users_globals, users_locals
from zygote_lite._tape.refusals.near_misses import PARAMETERS, unbound, with_options_by_position


def rule_to_paste(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> str | None:
    """Return a declaration of a rule for a call, to be pasted and completed.

    Returns `None` for a function that is not found by its name, or only in a private class.
    """
    f, xs = unbound(f, xs)
    if getattr(f, "__name__", "") == "__init__" and xs:  # a rule is for the class
        f, xs = type(xs[0]), xs[1:]
    found = import_of(f)
    if found is None:
        return None
    imported, path = found
    name = getattr(f, "__name__", "")
    if _PRIVATE.search(imported) and xs and getattr(type(xs[0]), name, None) is f:
        public = _of_public_class(type(xs[0]), name)  # it is inherited
        if public is None:
            return None
        imported, path = public
    lines = {"from rulescore import RuleSet": None, imported: None}
    if isinstance(f, np.ufunc) and f.nout == 1 and f.signature is None:
        names = ", ".join([*PARAMETERS, *(f"x{i}" for i in range(6, f.nin))][: f.nin])
        partials = "..." if f.nin == 1 else f"({', '.join(['...'] * f.nin)})"
        body = f"rule.scalar({path})(lambda {names}: {partials})  # the partial derivatives"
    else:
        body = _rule_for(f, path, xs, kws, lines)
    imports = "\n".join(sorted(filter(None, lines)))
    return f'{imports}\n\nrule = RuleSet("mine")\n\n{body}\n\nrule.register()'


def wrapper_to_paste(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> tuple[str, str] | None:
    """Return the call of a function of one's own, and that function with a rule to be completed.

    Returns `None` for what is not a method.

    Arguments:
        f, xs, kws: the call of a method, with its object first.
    """
    name = getattr(f, "__name__", "")
    if not xs or getattr(type(xs[0]), name, None) is not f:
        return None
    owner, *given = xs
    parameters: dict[str, Any] = {}  # of the object, which is made anew
    shown = {key: repr(x) for key, x in kws.items() if type(x) in (bool, str, type(None))}
    options = {key: x for key, x in kws.items() if key not in shown}
    needed: dict[str, None] = {"from rulescore import RuleSet": None}
    frozen = _frozen(owner)
    of_made = len(frozen[1]) if frozen is not None else 0
    count = of_made + len(given)
    names = ["x"] if count == 1 else [f"x{i}" for i in range(count)]
    found = _object_of(owner if frozen is None else frozen[0])
    if found is None:
        path, parameters, names = "owner", {"owner": owner}, names[of_made:]
    else:
        path = found[1]
        needed[f"from {found[0]} import {path}"] = None
    if found is not None and frozen is not None:
        _, values, by_name = frozen
        own, names = names[: len(values)], names[len(values) :]
        parameters = {**dict(zip(own, values, strict=True)), **by_name}
        path += f"({', '.join([*own, *(f'{key}={key}' for key in by_name)])})"
    taken = [*parameters, *names, *options]
    if len({*taken}) < len(taken):
        return None
    passed = ", ".join([*names, *(f"{key}={shown.get(key, key)}" for key in kws)])
    mine = f"my_{name.strip('_')}"

    def called(*xs: Any) -> None:
        """Stand for the function, whose signature its rule has."""

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(key, kind) for key in taken])
    called.__signature__ = signature  # type: ignore[attr-defined] # which a function may have
    values_of = (*parameters.values(), *given, *options.values())
    rule = _rule_for(called, mine, values_of, {}, needed)
    imports = "\n".join(sorted(filter(None, needed)))
    return f"{mine}({', '.join(taken)})", (
        f'{imports}\n\nrule = RuleSet("mine")\n\n'
        f"def {mine}({', '.join(taken)}):\n"
        f"    return {path}.{name}({passed})\n\n{rule}\n\nrule.register()"
    )


def _frozen(x: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """Return the distribution of SciPy and the parameters that it was given, if it was."""
    parts = [getattr(x, name, None) for name in ("dist", "args", "kwds")]
    dist, args, kwds = parts
    return (dist, args, kwds) if isinstance(args, tuple) and isinstance(kwds, dict) else None


def _object_of(x: Any) -> tuple[str, str] | None:
    """Return the public module that has an object, such as a distribution of SciPy, and its name.

    SciPy makes a copy of a distribution to give it parameters: then it is the original.
    """
    module = type(x).__module__.partition("._")[0]
    known = vars(sys.modules[module]) if module in sys.modules else {}
    name = next((key for key, y in known.items() if y is x), getattr(x, "name", None))
    same = isinstance(name, str) and name.isidentifier() and type(known.get(name)) is type(x)
    return (module, str(name)) if same else None


def _rule_for(
    f: Any, path: str, xs: tuple[Any, ...], kws: dict[str, Any], lines: dict[str, None]
) -> str:
    """Return a rule for a function, and add the imports that it needs to `lines`."""
    head = path.partition(".")[0]
    known, xs, kws = with_options_by_position(f, xs, kws)
    names_of = [f"{name}_" if name == head else name for name in known]
    given = []
    for name, x in zip(names_of, xs, strict=True):
        annotation, needs = annotation_of(x)
        lines[needs] = None
        given.append(f"{name}: {annotation}")
    given += [f"{name}=None" for name in kws]
    passed = ", ".join([*names_of, *(f"{name}={name}" for name in kws)])
    wanted = ", ".join(names_of)
    inert = [carries_nothing(x) or isinstance(x, Iterator) for x in xs]
    if any(inert):  # to a rule that returns fewer, that would be an error
        wanted += f": ({', '.join('None' if i else '...' for i in inert)}{',' * (len(xs) < 2)})"
    pairs = [*zip(names_of, xs, strict=True)]
    holders = " or ".join([n for n, x in pairs if callable(x) or hasattr(x, "__dict__")])
    lost = f"        # None for {holders} says: what it holds has no gradient\n"
    whole = " or ".join([n for n, x in pairs if type(x) is int])
    count = f"        # None for {whole} says: it is a count, an index or an axis\n"
    return (
        f"@rule({path})\n"
        f"def _({', '.join(given)}):\n"
        "    def pullback(dy):\n"
        f"{lost if holders else ''}{count if whole else ''}"
        f'        raise NotImplementedError("return the cotangents of {wanted}")\n\n'
        f"    return {path}({passed}), pullback"
    )


def import_of(f: Any) -> tuple[str, str] | None:
    """Return the import of a function, and the expression that it is then found by."""
    name: Any = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    if type(f).__name__ == "fortran":  # made by f2py
        name = name.removeprefix("function ")
    owner = getattr(f, "__objclass__", None)
    own = getattr(f, "__module__", None)
    private = [
        m for m in (home_of(f), own, getattr(owner, "__module__", None)) if isinstance(m, str)
    ]
    public = [module.partition("._")[0].removeprefix("_") for module in private]
    for module in (*public, *private):
        if not isinstance(name, str) or module == "__main__":
            continue
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError, ValueError):
            continue
        if found is f or found == f:
            head = name.partition(".")[0]
            above = modules_above(module)
            is_own = getattr(sys.modules[module], head)
            shown = next(m for m in above if getattr(sys.modules.get(m), head, None) is is_own)
            if shown == "builtins":
                return "", name
            if shown == "numpy":
                return "import numpy as np", f"np.{name}"
            return f"from {shown} import {head}", name
    space = users_globals()  # of the user's own: a global variable, or a local one
    name = _name_in(space, f) or _attribute_in(space, f)
    if name is None:
        function, variables = users_locals()
        name = _name_in(variables, f)
        return None if name is None else (_OF_LOCAL.format(name=name, function=function), name)
    module = str(space.get("__name__", "__main__"))
    head = name.partition(".")[0]
    return "" if module == "__main__" else f"from {module} import {head}", name


_OF_LOCAL = "# `{name}` is a variable of `{function}`: first make it one of the module"


def _name_in(space: dict[str, Any], f: Any) -> str | None:
    return next((key for key, x in list(space.items()) if x is f and key.isidentifier()), None)


def _attribute_in(space: dict[str, Any], f: Any) -> str | None:
    """Return the expression for a function that an object among variables holds: `libm.cbrt`."""
    for key, x in list(space.items()):
        try:
            held = object.__getattribute__(x, "__dict__")  # runs no code of the object's
        except AttributeError:
            continue
        name = _name_in(held, f) if key.isidentifier() and not key.startswith("__") else None
        if name is not None:
            return f"{key}.{name}"
    return None


def annotation_of(x: Any) -> tuple[str, str]:
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
    for public in cls.__mro__[:-1]:  # it may be of a private module
        found = import_of(public)
        if found is not None and not _PRIVATE.search(found[0]):
            return found[1], found[0]
    return ("None" if x is None else "object"), ""


def _of_public_class(cls: type, name: str) -> tuple[str, str] | None:
    """Return the import of a class and the name of its method there, if the class is public."""
    found = import_of(cls)
    if found is None or _PRIVATE.search(found[0]):
        return None
    return found[0], f"{found[1]}.{name}"


_PRIVATE = re.compile(r"[ .](?:_|core\b|internals?\b)")
