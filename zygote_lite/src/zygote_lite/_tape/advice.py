"""What to do about a function without a rule: a plugin to install, or a rule to paste."""

import importlib
import re
import sys
import textwrap
import traceback
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from rulescore import RuleError, RuleSet, home_of, provider_of
from rulescore.faults import an
from zygote_lite._cotangents.kinds import carries_nothing
from zygote_lite._ir.places import (
    ENGINE,
    is_installed,
    is_library,
    modules_above,
    name_of,
    users_globals,
    users_locals,
)
from zygote_lite._tape.near_misses import PARAMETERS, unbound, with_options_by_position
from zygote_lite.errors import Fault

GivenCall = tuple[Any, tuple[Any, ...], dict[str, Any]]

_OF_LIBRARIES = {
    "pandas": "data of pandas carries no gradient: pass `.to_numpy()` of it",
    "polars": "data of polars carries no gradient: pass `.to_numpy()` of it",
    "xarray": "data of xarray carries no gradient: pass `.to_numpy()` of it",
    "torch": "a tensor of PyTorch carries no gradient here: pass `.detach().numpy()` of it, and "
    "call functions of PyTorch as `rules_torch.numpy(f)`",
    "jax": "an array of JAX carries no gradient here: pass `np.asarray(...)` of it",
    "jaxlib": "an array of JAX carries no gradient here: pass `np.asarray(...)` of it",
    "tensorflow": "a tensor of TensorFlow carries no gradient here: pass `.numpy()` of it",
    "numba.typed": "what is in a list or dict of numba.typed has no gradient: use one of Python",
    "numba.experimental": "what an object of a jitclass of Numba holds has no gradient: write a "
    "plain class, without the decorator `jitclass`",
    "numba.stencils": "a stencil of Numba reads the entries beside each entry: write that with "
    "slices, as in `x[:-2] + x[2:]`",
    "numba.np": "Numba has compiled this function: call the Python function that it was made of, "
    "which keeps its name by `fast = numba.guvectorize(...)(plain)`, and takes the array that it "
    "writes into",
    "numba": "Numba has compiled this function: call the Python function that it was made of",
}
OF_TRACER = (
    "JAX traces this call, and a traced array has no numbers: call it outside of `jax.jit` and "
    "`jax.vmap`, or give JAX the function by `zygote_lite.interop.to_jax(f, result=...)`"
)


# libraries whose functions their plugin calls on arrays
_HOSTS = {"jax": "jax", "jaxlib": "jax", "torch": "torch"}
_OF_FROMPYFUNC = " (vectorized)"  # the end of the names that `np.frompyfunc` gives
_LIBRARIES_OF_TABLES = ("pandas", "polars", "xarray")
OR_DECLARE = "; install a plugin that has one, or declare it:"


def what_to_do(told: str, module: str, call: GivenCall | None, returns: bool = True) -> Exception:
    """Return the error for a call that has no rule, with what to do about it.

    Arguments:
        told: the message so far.
        module: the module of the function.
        call: the function, its arguments and its options; `None` where they are not known.
        returns: whether it is called for what it returns, and not for what it changes.
    """
    host = host_of(module)
    plugin = provider_of(host or module)
    if plugin is not None:
        return Fault.MISSING_PLUGIN(
            f"{told}; install the plugin with rules for {host or module.lstrip('_')} "
            f'(pip install {plugin}, or pip install "zygote_lite[all]")'
        )
    if host is not None:
        return Fault.NO_RULE(
            f"{told}; make a function of arrays of it, or of all that calls it: "
            f"`rules_{host}.numpy(f)`"
        )
    f = None if call is None else call[0]
    if isinstance(f, np.ufunc) and f.__name__.endswith(_OF_FROMPYFUNC):
        told += ". Use `np.vectorize` of the Python function, which is differentiated"
        if call is not None and any(isinstance(x, np.ndarray) for x in call[1]):
            return Fault.NO_RULE(f"{told}: a result of this ufunc is an array of objects")
    if isinstance(f, type) and type(f).__module__ == "_ctypes":
        return Fault.NO_RULE(
            f"{told}: an object of ctypes carries no gradient; compute with the number itself, or "
            "with an array of NumPy"
        )
    if not returns or (call is not None and _changes_arguments(call[0])):
        return Fault.NO_RULE(
            f"{told}. It changes what it is given, and a rule is for what a function returns: "
            "write a function that returns what is new, and declare a rule for that function"
        )
    or_this = (
        "; put the call into a function of your own, and declare a rule for that "
        "(`rulescore.RuleSet`), or install a plugin"
    )
    return Fault.NO_RULE(f"{told}{declaring(call) or or_this}")


def host_of(module: str) -> str | None:
    """Return the host whose functions a module has, such as `jax`; its plugin calls them."""
    return _HOSTS.get(module.partition(".")[0])


def hint_on_made(name: str, home: str, xs: Any) -> str | None:
    """Return what helps where data of another library are made of what is differentiated.

    Arguments:
        name: the full name of what is called, such as `pandas.Series`.
        home: the module that it is of.
        xs: what it is called with.
    """
    module, kind = home.partition(".")[0], name.partition(".")[2]
    if module not in _LIBRARIES_OF_TABLES:
        return None
    own = getattr(sys.modules.get(module), kind, None)
    if isinstance(own, type):
        made, instead = f"{an(kind)} of {module}", "make it of"
    elif name.endswith(_STORING):
        made, instead = f"what a table of {module} holds", "store"
    elif not any(_is_of(module, x) for x in xs):
        made, instead = f"what {module} makes of an array", "call this with"
    else:
        return None
    return (
        f"{made} carries no gradient: compute with the array itself, by NumPy; or {instead} "
        "`stop_gradient(...)`, which says that what is computed from it carries none"
    )


_STORING = (".__setitem__", ".assign", ".insert", "`x[i] = y` of pandas")


def _is_of(library: str, x: Any) -> bool:
    """Return whether an object is an instance of a class of a library."""
    return not isinstance(x, type) and type(x).__module__.partition(".")[0] == library


def declaring(call: GivenCall | None, lead: str = OR_DECLARE) -> str:
    """Return the end of a message with a rule to paste for a call; empty where there is none."""
    rule = None if call is None else rule_to_paste(*call)
    return "" if rule is None else f"{lead}\n\n{textwrap.indent(rule, '    ')}\n\n"


def with_remedy(why: str, name: str, call: GivenCall | None) -> str:
    """Return why a function has no rule, with what to do, as `RuleSet.without_rule` has it.

    Arguments:
        why: the reason.
        name: the name of the function.
        call: the call of it.
    """
    if why.endswith(":"):
        return declaring(call, why) or f"{why} a rule for {name} goes first"
    if has_remedy(why):
        return why
    is_possible = why.endswith(" yet")
    rule = declaring(call, f"{why}; declare it:" if is_possible else f"{why}{_OR_ANOTHER}:")
    return rule or f"{why}{_OR_ANOTHER} for {name}, which goes first"


_OR_ANOTHER = "; use another function, or declare a rule of your own"


def has_remedy(why: str) -> bool:
    """Return whether a reason says what to do, after a colon."""
    return ": " in why


def _changes_arguments(f: Any) -> bool:
    """Return whether no rule can be declared for a function, because it changes its arguments."""
    if getattr(f, "__name__", "") == "__init__":
        return False  # a rule is for the class
    try:
        RuleSet("tried")(f)(lambda *xs: None)
    except RuleError as error:
        return error.code == "RC005"
    return False


def rule_to_paste(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> str | None:
    """Return a declaration of a rule for a call, to be pasted and completed.

    Returns `None` for a function that is not found by its name, or only in a private class.
    """
    f, xs = unbound(f, xs)
    if getattr(f, "__name__", "") == "__init__" and xs:  # a rule is for the class
        f, xs = type(xs[0]), xs[1:]
    found = _import_of(f)
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
        body = (
            f"@rule({path})\n"
            f"def _({', '.join(given)}):\n"
            "    def pullback(dy):\n"
            f"{lost if holders else ''}{count if whole else ''}"
            f'        raise NotImplementedError("return the cotangents of {wanted}")\n\n'
            f"    return {path}({passed}), pullback"
        )
    imports = "\n".join(sorted(filter(None, lines)))
    return f'{imports}\n\nrule = RuleSet("mine")\n\n{body}\n\nrule.register()'


def call_by_user() -> GivenCall | None:
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


def name_by_user(f: Any, xs: tuple[Any, ...] = ()) -> str:
    """Return the name of a function, or what the user writes for one that knows no name.

    A method of a private class has the name of the class of the object that it is called on.
    """
    name = name_of(f)
    method = str(getattr(f, "__name__", ""))
    if "._" in name and xs and getattr(type(xs[0]), method, None) is f:
        return f"{name_of(type(xs[0]))}.{method}"
    found = _import_of(f) if name.endswith("<cdata>") else None  # of cffi
    return name if found is None else found[1]


def _import_of(f: Any) -> tuple[str, str] | None:
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
        found = _import_of(public)
        if found is not None and not _PRIVATE.search(found[0]):
            return found[1], found[0]
    return ("None" if x is None else "object"), ""


def _of_public_class(cls: type, name: str) -> tuple[str, str] | None:
    """Return the import of a class and the name of its method there, if the class is public."""
    found = _import_of(cls)
    if found is None or _PRIVATE.search(found[0]):
        return None
    return found[0], f"{found[1]}.{name}"


_PRIVATE = re.compile(r"[ .](?:_|core\b|internals?\b)")


def hint_on_library(operands: Any, found: types.TracebackType | None) -> str | None:
    """Return what helps where a library is met whose values carry no gradient.

    Arguments:
        operands: the function and the arguments that were given.
        found: the traceback of an error, which may lead through the library.
    """
    classes = {f"{c.__module__}.{c.__name__}" for x in operands for c in type(x).__mro__}
    if "jax._src.core.Tracer" in classes:
        return OF_TRACER
    modules = [type(x).__module__ for x in operands]
    modules += [x.__module__ for x in operands if isinstance(x, types.FunctionType)]
    modules += [str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(found)]
    parts = [str(module).split(".") for module in modules]
    hints = [_OF_LIBRARIES.get(".".join(names[:n])) for n in (2, 1) for names in parts]
    return next(filter(None, hints), None)
