"""What to do about a function without a rule: a plugin to install, or a rule to paste."""

import sys
import textwrap
import traceback
import types
from typing import Any

import numpy as np

from rulescore import RuleError, RuleSet, provider_of
from rulescore.faults import an
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import ENGINE, is_installed, is_library
from zygote_lite._tape.refusals.pasted import import_of, rule_to_paste, wrapper_to_paste
from zygote_lite.errors import Fault

GivenCall = tuple[Any, tuple[Any, ...], dict[str, Any]]

_OF_LIBRARIES = {
    "pandas": "data of pandas carries no gradient: pass `.to_numpy()` of it",
    "polars": "data of polars carries no gradient: pass `.to_numpy()` of it",
    "xarray": "data of xarray carries no gradient: pass `.to_numpy()` of it",
    "torch": "a tensor of PyTorch carries no gradient here: pass `.detach().numpy()` of it, and "
    "call functions of PyTorch as `rules_torch.numpy(f)`",
    "torch.nn": "a module of PyTorch has a gradient where it is called on arrays: write "
    "`rules_torch.numpy(module)(x)`, and give a part of it, such as `net[0]`, as an argument",
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
OR_CALL = "; put the call into a function of your own, with a rule"
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
    rule = declaring(call)
    wrapper = None if rule or call is None else wrapper_to_paste(*call)
    if wrapper is not None:
        shown, text = wrapper
        text = textwrap.indent(text, "    ")
        rule = f"{OR_CALL}, and call `{shown}`:\n\n{text}\n\n"
    or_this = (
        "; put the call into a function of your own, and declare a rule for that "
        "(`rulescore.RuleSet`), or install a plugin"
    )
    return Fault.NO_RULE(f"{told}{rule or or_this}")


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
    found = import_of(f) if name.endswith("<cdata>") else None  # of cffi
    return name if found is None else found[1]


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
