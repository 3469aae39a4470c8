"""Arguments: which parameter of a function each operand of a call is for, and active options."""

import ast
import functools
import inspect
import re
import types
from numbers import Number
from typing import Any

import numpy as np

from rulescore import find_rule
from zygote_lite._activity.classes import member_of
from zygote_lite._activity.walk import surely_reaches_active
from zygote_lite._cotangents.kinds import FUNCTION, INERT, kind_of
from zygote_lite._cotangents.registry import Flags, NodeId
from zygote_lite._ir.bytecode import parameters_of
from zygote_lite._ir.names import name_of
from zygote_lite._ir.operators import ARITHMETIC, BINARY
from zygote_lite._ir.places import where
from zygote_lite.caches import cached, cached_by_kind
from zygote_lite.errors import Fault


def parameter_names(f: Any) -> tuple[str, ...]:
    """Return the names of the positional parameters of a function, as far as they are known."""
    return tuple(_positional(f))


def _positional(f: Any) -> dict[str, Any]:
    """Return the defaults of the positional parameters of a function, by name."""
    if isinstance(f, types.MethodDescriptorType) and f.__objclass__ is np.ndarray:
        if f is np.ndarray.clip:
            return _OF_CLIP  # its limits are not named as those of the function are
        f = getattr(np, f.__name__, f)
    call = None if isinstance(f, type) else member_of(type(f), "__call__")
    if isinstance(call, types.FunctionType):  # the object is not asked, nor hashed
        return dict(list(_signature_parameters(call).items())[1:])
    try:
        return _signature_parameters(f)
    except TypeError:  # not hashable
        return {}


def _positional_of_call(f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> dict[str, Any]:
    """Return the defaults of the positional parameters, of which a rule may know more by name."""
    known = _positional(f)
    if known.keys() >= kws.keys():
        return known
    named = [kws[name] for name in [*known][len(xs) :] if name in kws]
    first = (*xs[: len(known)], *named)
    rule = find_rule(f, *first, ad=True)
    more = None if rule is None else rule.names
    return known if more is None else {**known, **more(*first)}


@cached_by_kind(1024)
def _signature_parameters(f: Any) -> dict[str, Any]:
    if is_of_f2py(f):
        return _wrapper_parameters(f)
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD}


def is_of_f2py(f: Any) -> bool:
    """Return whether a function is one of LAPACK or the like, wrapped by f2py."""
    return type(f).__name__ == "fortran"  # its signature says nothing, if it has one


def _wrapper_parameters(f: Any) -> dict[str, Any]:
    """Return the parameters of a wrapper made by f2py, which its documentation tells."""
    text = f.__doc__ or ""
    called = re.match(r".*?\w\(([^)]*)\)", text)
    names = re.findall(r"\w+", called[1]) if called else []
    stated = dict(re.findall(r"(\w+) : input [^\n]*optional\s+Default:? `*([^`\n]*)", text))
    return {name: _plain_value(stated[name]) if name in stated else inspect.Parameter.empty
            for name in names}  # fmt: skip


def _plain_value(text: str) -> Any:
    """Return the value of a literal, or what stands for no default."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return inspect.Parameter.empty


_OF_CLIP = {"self": inspect.Parameter.empty, "min": None, "max": None, "out": None}


def out_position(f: Any, count: int) -> int | None:
    """Return where `out` stands among `count` arguments of a function in C, if it does."""
    if isinstance(f, types.FunctionType | type | np.ufunc):
        return None
    defaults = _positional(f)
    at = list(defaults).index("out") if "out" in defaults else count
    return at if at < count and defaults["out"] is not inspect.Parameter.empty else None


def is_called_in_python(f: Any) -> bool:
    """Return whether what a callable does with a keyword is said by a function in Python.

    `out` is then a name like any other, and not where a function of NumPy writes to.
    """
    if isinstance(member_of(type(f), "__call__"), types.FunctionType):
        return not hasattr(type(f), "nout")  # a ufunc that `numba.vectorize` made
    return isinstance(f, _BOUND_TO_PYTHON) or type(f).__name__ == "CPUDispatcher"  # of Numba


_BOUND_TO_PYTHON = (types.MethodType, functools.partial, functools._lru_cache_wrapper)


def takes_out(f: Any) -> bool:
    """Return whether a function has a parameter `out`, as far as that is known."""
    if isinstance(f, np.ufunc):
        return True
    if isinstance(f, types.MethodDescriptorType) and issubclass(f.__objclass__, _ARRAY_TYPES):
        return f.__name__ in _WITH_OUT  # their signatures are not known
    if isinstance(getattr(f, "__self__", None), np.ufunc):
        return True
    if is_of_f2py(f):
        return False
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return (getattr(f, "__module__", None) or "").startswith("numpy")
    return any(p.name == "out" or p.kind is p.VAR_KEYWORD for p in parameters)


_ARRAY_TYPES = (np.ndarray, np.generic)
_WITH_OUT = {
    *("all", "any", "argmax", "argmin", "choose", "clip", "compress", "cumprod", "cumsum", "dot"),
    *("max", "mean", "min", "prod", "round", "std", "sum", "take", "trace", "var"),
}
_OF_REDUCE = ("array", "axis", "dtype", "out", "keepdims", "initial", "where")
CallOperands = tuple[tuple[NodeId, ...], tuple[Any, ...], dict[str, Any]]


def with_named_out(
    nodes: tuple[NodeId, ...], f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> CallOperands:
    """Return the nodes and operands of a call in which `out`, given by position, is a keyword."""
    if isinstance(f, np.ufunc):
        if len(xs) == f.nin + 1 and f.nout == 1:
            return moved_last(nodes, f.nin), xs[:-1], {**kws, "out": xs[-1]}
        return nodes, xs, kws
    at = out_position(f, len(xs)) if len(xs) > 2 else None
    if at is None or not isinstance(xs[at], np.ndarray | tuple):
        return nodes, xs, kws
    is_reduce = isinstance(getattr(f, "__self__", None), np.ufunc) and f.__name__ == "reduce"
    names = _OF_REDUCE if is_reduce else parameter_names(f)
    given = dict(zip(names[at : len(xs)], xs[at:], strict=True))
    nodes = (*nodes[: 1 + at], *nodes[1 + len(xs) :], *nodes[1 + at : 1 + len(xs)])
    return nodes, xs[:at], {**kws, **given}


def moved(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], flags: Flags) -> dict[str, Any]:
    """Return the positional arguments that come after `xs`, by name, up to the last active one.

    A positional argument that the caller passed by keyword is positional all the same. What the
    caller left out before it has its default, if that is a plain value; else nothing is moved.
    """
    active = {name for name, flag in zip(kws, flags[1 + len(xs) :], strict=True) if flag}
    if not active:
        return {}
    defaults = _positional_of_call(f, xs, kws)
    following = list(defaults)[len(xs) :]
    last = max((i for i, name in enumerate(following) if name in active), default=-1)
    taken = {name: kws.get(name, defaults[name]) for name in following[: last + 1]}
    plain = all(name in kws or _is_plain_default(x) for name, x in taken.items())
    return taken if plain and "out" not in taken else {}


def positional_run(
    f: Any, xs: tuple[Any, ...], kws: dict[str, Any], named: dict[str, Any]
) -> list[str]:
    """Return the keywords that stand, one after the other, for what comes after the arguments."""
    run = []
    for name in list(_positional_of_call(f, xs, kws))[len(xs) + len(named) :]:
        if name not in kws or name == "out":
            break
        run.append(name)
    return run


_PLAIN_DEFAULTS = (types.NoneType, bool, int, float, str)


def _is_plain_default(x: Any) -> bool:
    entries = x if type(x) is tuple else (x,)
    return all(isinstance(entry, _PLAIN_DEFAULTS) for entry in entries)


def moved_last(nodes: tuple[NodeId, ...], count: int) -> tuple[NodeId, ...]:
    """Return the flags of a call whose last positional argument becomes its last keyword."""
    last = nodes[1 + count]
    return (*nodes[: 1 + count], *nodes[2 + count :], last)


OPERATORS: dict[str, tuple[Any, bool]] = {
    "__divmod__": (divmod, False),
    "__rdivmod__": (divmod, True),
}
for _op in map(BINARY.__getitem__, ARITHMETIC):
    _meanings = ((_op.function, False), (_op.function, True), (_op.in_place, False))
    OPERATORS.update(zip(_op.methods, _meanings, strict=True))
"""What methods of numbers and arrays mean, and if their operands are swapped."""


def is_of_numbers(f: types.WrapperDescriptorType) -> bool:
    """Return whether a method written in C is an operator of numbers or arrays."""
    return f.__name__ in OPERATORS and issubclass(f.__objclass__, Number | np.generic | np.ndarray)


@cached(4096)
def place_arguments(
    code: types.CodeType, count: int, keywords: tuple[str, ...]
) -> tuple[list[str], list[tuple[int, Any]]]:
    """Return a function's parameters, and for each operand of a call the parameter it is for.

    A place is the number of the parameter, and the index within `*args` or the key within
    `**kwargs`, or `None`. Operands that do not fit are left out: the call itself will tell.
    """
    positional, varargs, keyword, varkeywords = parameters_of(code)
    n = len(positional)
    names = [name for name in (*positional, varargs, *keyword, varkeywords) if name is not None]
    nameless = {varargs, varkeywords, *names[: code.co_posonlyargcount]}
    by_name = {name: i for i, name in enumerate(names) if name not in nameless}
    places: list[tuple[int, Any]] = []
    for i in range(count):
        if i < n:
            places.append((i, None))
        elif varargs is not None:
            places.append((n, i - n))
    for name in keywords:
        if name in by_name:
            places.append((by_name[name], None))
        elif varkeywords is not None:
            places.append((len(names) - 1, name))
    return names, places


# -- options of a call that a rule answers --------------------------------------------------------


def refused_option(f: Any, rule: Any, option: str) -> Exception:
    advice = "make it of what is not differentiated, or write the formula out"
    if option == "`args`":
        advice = "let the function that is given capture what it takes, as in `lambda x: f(x, a)`"
    return Fault.ACTIVE_OPTION(
        f"{where()}: the rule for {name_of(f)} ({rule.place}) takes {option} as an option, and "
        f"options carry no gradient, but a gradient would have to pass through it here: {advice}"
    )


def option_in_the_way(
    flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Exception | None:
    """Return the error for an active option that neither a rule nor the source differentiates."""
    rule = find_rule(f, *xs, **kws)
    option = None if rule is None else active_option(rule, flags, xs, kws, [])
    return None if option is None else refused_option(f, rule, option)


def active_option(
    rule: Any, flags: Flags, xs: tuple[Any, ...], kws: dict[str, Any], names: list[str]
) -> str | None:
    """Return which option is active, if one is; an integer is a choice, such as an axis.

    Keywords that `names` moves among the arguments are options all the same, where the rule has
    no type for them.
    """
    flag_of = dict(zip(kws, flags[1 + len(xs) :], strict=True))
    calls_options = rule.kind == "instance"  # as a function of another library does
    for name, flag in flag_of.items():
        if name not in names and _passes(flag, kws[name]):
            return f"`{name}`"
        if calls_options and callable(kws[name]) and surely_reaches_active(kws[name]):
            return f"`{name}`"
    if rule.varargs is not None or rule.kind not in ("general", "linear"):
        return None
    given = [(f"argument {i + 1}", flags[1 + i], x) for i, x in enumerate(xs)]
    given += [(f"`{name}`", flag_of.get(name), kws.get(name)) for name in names]
    for about, flag, x in given[len(rule.types) :]:
        if _passes(flag, x):
            return about
    return None


def _is_quantity(x: Any) -> bool:
    """Return whether an option may be a number that is differentiated: no choice, as of axes."""
    if type(x) in (tuple, list, dict):
        return any(map(_is_quantity, x.values() if type(x) is dict else x))
    return kind_of(x) != INERT and not isinstance(x, int | np.integer)


def _passes(flag: Any, x: Any) -> bool:
    """Return whether a gradient would have to pass through an option."""
    return _is_quantity(x) and (bool(flag) or holds_quantities(x))


def holds_quantities(x: Any) -> bool:
    """Return whether something that goes by its address holds what is active, as bounds may.

    What is called only helps, as a preconditioner does.
    """
    return kind_of(x) > FUNCTION and not callable(x) and surely_reaches_active(x)
