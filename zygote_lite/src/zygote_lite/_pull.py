"""Resolving a call: `pull` runs it and returns its value and its pullback.

A call is resolved in this order:

1. inactive: nothing that it is given depends on a differentiated argument: it is simply run;
2. a structural pullback of the engine's own: attribute access, construction, subscripts;
3. a rule of an installed plugin, through `rulescore`;
4. the source of the function, transformed; each call in it is resolved in the same way. Straight
   code has its adjoint emitted; all else, and whatever stands for other calls (a method, a class,
   a partial, an object with `__call__`), is recorded on a tape;
5. an error that names the function and the place of the call, unless no gradient can pass.
"""

import functools
import inspect
import operator
import os
import sys
import types
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

import rulescore
from rulescore import find_rule
from zygote_lite._errors import NoRuleError
from zygote_lite._store import (
    FUNCTION,
    INERT,
    OBJECT,
    TUPLE,
    VALUE,
    kind_of,
    reaches_active,
    state,
    take,
)

Back = Callable[[Any], tuple[Any, ...]]
Flags = tuple[Any, ...]
Pulled = tuple[Any, Any]


class Inert:
    """The pullback of an inactive call: false, and it maps anything to `None`."""

    __slots__ = ("nothing",)

    def __init__(self, count: int) -> None:
        self.nothing = (None,) * count

    def __bool__(self) -> bool:
        return False

    def __call__(self, dy: Any) -> tuple[None, ...]:
        return self.nothing


_inert = [Inert(n) for n in range(16)]


def inert(count: int) -> Inert:
    """Return the pullback that gives `count` times `None`."""
    return _inert[count] if count < 16 else Inert(count)


class Opaque:
    """The pullback of a text that was made of active values: no gradient may pass through it."""

    __slots__ = ("nothing",)

    def __init__(self, count: int) -> None:
        self.nothing = (None,) * count

    def __call__(self, dy: Any) -> tuple[None, ...]:
        return self.nothing


class Effect:
    """A pullback whose value is inactive but which must be run: it undoes and moves state."""

    __slots__ = ("back",)

    def __init__(self, back: Back) -> None:
        self.back = back

    def __bool__(self) -> bool:
        return False

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        return self.back(dy)


Structural = Callable[..., Any]
STRUCTURAL: dict[int, tuple[Any, Structural]] = {}
"""Structural pullbacks by the identity of the function: `(flags, *xs, **kws) -> (y, back)`.

One may return `None`: not for these arguments.
"""


def structural(*functions: Any) -> Callable[[Structural], Structural]:
    """Declare a structural pullback of the engine's own for `functions`."""

    def declare(body: Structural) -> Structural:
        for f in functions:
            STRUCTURAL[id(f)] = (f, body)
        return body

    return declare


def pull(flags: Flags, f: Any, /, *xs: Any, **kws: Any) -> Pulled:
    """Run `f(*xs, **kws)` and return its value and its pullback.

    Arguments:
        flags: for `f`, for each argument and each keyword in order, whether it is active.

    The pullback maps the cotangent of the value to a tuple of those of `f`, the arguments and
    the keywords; it is false where the value is inactive.
    """
    from zygote_lite._tape import COMPOSITE, via_tape
    from zygote_lite._transform import is_pure, transformed

    if not is_active(flags, f, xs, kws):
        return f(*xs, **kws), inert(len(flags))
    if id(f) not in COMPOSITE:
        pulled = apply_structural(flags, f, xs, kws)
        if pulled is None:
            pulled = apply_rule(flags, f, xs, kws)
        if pulled is not None:
            return pulled
        if isinstance(f, types.FunctionType) and is_pure(f):
            return transformed(flags, f, xs, kws)
    return via_tape(flags, f, xs, kws)


def apply_structural(
    flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Pulled | None:
    """Apply a structural pullback, if there is one for these arguments."""
    found = STRUCTURAL.get(id(f))
    return None if found is None else found[1](flags, *xs, **kws)


def is_active(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether a call can depend on a differentiated argument."""
    for flag in flags:
        if flag:
            return True
    active = state.active
    if not active:
        return False
    if id(f) in STRUCTURAL and (f is not operator.getitem or type(xs[0]) in (list, dict)):
        if f is not getattr:
            return _is_any_active(active, xs)
        if not _computes(type(xs[0]), xs[1]):  # type: ignore[arg-type]
            return id(_dict_of(xs[0])) in active or _is_any_active(active, xs)
    return reaches_active(f, *xs, *kws.values())


def _is_any_active(active: dict[int, Any], xs: tuple[Any, ...]) -> bool:
    return any(id(x) in active or (kind_of(x) == VALUE and reaches_active(x)) for x in xs)


def _dict_of(x: Any) -> Any:
    try:
        return object.__getattribute__(x, "__dict__")
    except AttributeError:
        return None


@functools.lru_cache(maxsize=4096)
def _computes(kind: type, name: str) -> bool:
    """Return whether looking up an attribute may run Python code."""
    member = inspect.getattr_static(kind, name, None)
    if isinstance(member, property | functools.cached_property):
        return True
    return hasattr(kind, "__getattr__") or type(member).__module__ not in ("builtins", "numpy")


# -- rules -------------------------------------------------------------------------------------


def plan_rule(
    flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any], list[str]] | None:
    """Return the rule for a call, its arguments and options, and the keywords among the arguments.

    Raises `NoRuleError` where a gradient would have to pass through an option.
    """
    moved = _moved(f, xs, kws, flags) if kws else []
    arguments = (*xs, *(kws[name] for name in moved))
    options = {name: value for name, value in kws.items() if name not in moved}
    rule = find_rule(f, *arguments, ad=handed_in, **options)
    if rule is None:
        return None
    if rule.kind != "constant" and _is_text_of_numbers(flags[1:], (*xs, *kws.values())):
        return None
    if rule.kind == "constant":
        return rule, arguments, options, moved
    active = _active_option(rule, flags, xs, kws, options)
    if active is not None:
        if isinstance(getattr(f, "_implementation", None), types.FunctionType):
            return None  # its source tells more than the rule
        raise NoRuleError(
            f"{where()}: the rule for {name_of(f)} ({rule.place}) takes {active} as an option, and "
            "options carry no gradient, but a gradient would have to pass through it here"
        )
    if rule.needs_ad:
        options["ad"] = handed_in
    for x in arguments:
        _refuse_objects(f, x)
    note_resolution(f, arguments, f"rule of {rule.place}")
    return rule, arguments, options, moved


def apply_rule(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled | None:
    """Apply a rule of an installed plugin, if there is one for these arguments."""
    plan = plan_rule(flags, f, xs, kws)
    if plan is None:
        return None
    rule, arguments, options, moved = plan
    if rule.kind == "constant":
        y = f(*xs, **kws)
        return y, Opaque(len(flags)) if isinstance(y, str | bytes) else inert(len(flags))
    y, back = rule(f, *arguments, **options)
    _refuse_objects(f, y)
    simple = kind_of(y) <= VALUE and not kws and kind_of(f) <= FUNCTION
    for x in xs:
        simple = simple and kind_of(x) <= VALUE
    return y, back if simple else _routed(back, f, xs, y, list(kws), arguments, moved)


def _active_option(
    rule: Any, flags: Flags, xs: tuple[Any, ...], kws: dict[str, Any], options: dict[str, Any]
) -> str | None:
    """Return which option is active, if one is; an integer is a choice, such as an axis."""
    for name, flag in zip(kws, flags[1 + len(xs) :], strict=True):
        if flag and name in options and _is_quantity(options[name]):
            return f"`{name}`"
    if rule.varargs is None and rule.kind == "general":
        for i in range(len(rule.types), len(xs)):
            if flags[1 + i] and _is_quantity(xs[i]):
                return f"argument {i + 1}"
    return None


def _is_text_of_numbers(flags: Flags, xs: tuple[Any, ...]) -> bool:
    """Return whether a text that was made of active values is among the operands."""
    return any(
        flag and isinstance(x, str | bytes | bytearray) for flag, x in zip(flags, xs, strict=True)
    )


def _is_quantity(x: Any) -> bool:
    return kind_of(x) != INERT and not isinstance(x, int | np.integer)


def _refuse_objects(f: Any, x: Any) -> None:
    if type(x) is np.ndarray and x.dtype.kind in "OV":
        raise NoRuleError(
            f"{where()}: {name_of(f)} meets an array of dtype {x.dtype}, which carries no "
            "gradient: "
            "use an array of numbers, or a list"
        )


def _routed(
    back: Back,
    f: Any,
    xs: tuple[Any, ...],
    y: Any,
    keywords: list[str],
    arguments: tuple[Any, ...],
    moved: list[str],
) -> Back:
    """Return the pullback of a rule whose operands or value have an address, or have keywords."""

    def routed(dy: Any) -> tuple[Any, ...]:
        store = state.store
        assert store is not None
        d_f, *given = back(take(y, dy, arguments))
        by_value = [store.add(x, d) for x, d in zip(arguments, given, strict=True)]
        by_name = dict(zip(moved, by_value[len(xs) :], strict=True))
        return store.add(f, d_f), *by_value[: len(xs)], *(by_name.get(name) for name in keywords)

    return routed


@functools.lru_cache(maxsize=1024)
def _parameter_names(f: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)


def parameter_names(f: Any) -> tuple[str, ...]:
    """Return the names of the positional parameters of a function, as far as they are known."""
    if isinstance(f, types.MethodDescriptorType) and f.__objclass__ is np.ndarray:
        f = getattr(np, f.__name__, f)
    try:
        return _parameter_names(f)
    except TypeError:  # not hashable
        return ()


def out_position(f: Any, count: int) -> int | None:
    """Return where `out` stands among `count` arguments of a function in C, if it does."""
    if isinstance(f, types.FunctionType | type | np.ufunc):
        return None
    names = parameter_names(f)
    return names.index("out") if "out" in names[:count] else None


def _moved(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], flags: Flags) -> list[str]:
    """Return the active keywords that name the next positional parameters.

    A positional argument that the caller passed by keyword is positional all the same.
    """
    names = parameter_names(f)
    active = {name for name, flag in zip(kws, flags[1 + len(xs) :], strict=True) if flag}
    following = names[len(xs) :]
    last = max((i for i, name in enumerate(following) if name in active), default=-1)
    moved = following[: last + 1]
    return [*moved] if all(name in kws for name in moved) else []


def handed_in(f: Any, /, *xs: Any) -> Pulled:
    """Differentiate a function for a rule that takes functions: what such a rule calls `ad`."""
    return pull((True,) * (1 + len(xs)), f, *xs)


# -- arguments and parameters ------------------------------------------------------------------

VARARGS, VARKEYWORDS = 0x04, 0x08


@functools.lru_cache(maxsize=4096)
def place_arguments(
    code: types.CodeType, count: int, keywords: tuple[str, ...]
) -> tuple[list[str], list[tuple[int, Any]]]:
    """Return a function's parameters, and for each operand of a call the parameter it is for.

    A place is the number of the parameter, and the index within `*args` or the key within
    `**kwargs`, or `None`. Operands that do not fit are left out: the call itself will tell.
    """
    n, m = code.co_argcount, code.co_kwonlyargcount
    rest = list(code.co_varnames[n + m :])
    varargs = rest.pop(0) if code.co_flags & VARARGS else None
    varkeywords = rest.pop(0) if code.co_flags & VARKEYWORDS else None
    every = [*code.co_varnames[:n], varargs, *code.co_varnames[n : n + m], varkeywords]
    names = [name for name in every if name is not None]
    places: list[tuple[int, Any]] = []
    for i in range(count):
        if i < n:
            places.append((i, None))
        elif varargs is not None:
            places.append((n, i - n))
    for name in keywords:
        if name in names and name not in (varargs, varkeywords):
            places.append((names.index(name), None))
        elif varkeywords is not None:
            places.append((len(names) - 1, name))
    return names, places


def note_resolution(f: Any, xs: tuple[Any, ...], how: str) -> None:
    """Note how a call was resolved, if `explain` asks for it."""
    if state.trace is not None:
        state.trace.append(
            (where(), f"{name_of(f)}({', '.join(type(x).__name__ for x in xs)})", how)
        )


# -- errors ------------------------------------------------------------------------------------


def no_rule(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    """Run a call that has neither rule nor source; refuse it if a gradient passes through it.

    None passes where nothing active is given, or where the value has no gradient (a text, say)
    and nothing was given that the call may have changed.
    """
    y = f(*xs, **kws)
    operands = (getattr(f, "__self__", None), *xs, *kws.values())
    given = [x for flag, x in zip((flags[0], *flags[1:]), operands, strict=True) if flag]
    if not given and not reaches_active(f, *operands):
        return y, inert(len(flags))
    only_text = all(kind_of(x) == INERT for x in given) and not reaches_active(f, *operands)
    carries_none = kind_of(y) in ((INERT, OBJECT) if only_text else (INERT,))
    if carries_none and all(_is_immutable(x) for x in operands):
        return y, Opaque(len(flags))
    raise refusal(f, (*xs, *kws.values()))


def refusal(f: Any, xs: tuple[Any, ...]) -> NoRuleError:
    """Return the error for a function that a gradient passes, and that has no rule."""
    return NoRuleError(
        f"{where()}: {name_of(f)} of ({', '.join(type(x).__name__ for x in xs)}) "
        f"has no rule and no Python source, and a gradient passes through it; {_advice(f)}"
    )


def _is_immutable(x: Any) -> bool:
    kind = kind_of(x)
    if kind == VALUE:
        return isinstance(x, Number | np.generic)
    return kind <= FUNCTION or (kind == TUPLE and all(map(_is_immutable, x)))


def _advice(f: Any) -> str:
    module = getattr(f, "__module__", None) or type(f).__module__ or ""
    top = module.split(".")[0]
    if top in ("numpy", "math", "cmath", "operator", "_operator", "builtins") and (
        find_rule(operator.add, 1.0, 1.0) is None
    ):
        return "install the plugin with rules for Python and NumPy (pip install rules_base)"
    return (
        "declare one: `rule = RuleSet('mine'); @rule(f) def _(x: float): ...; rule.register()` "
        "(see rulescore), or install a plugin that has it"
    )


def name_of(f: Any) -> str:
    """Return the name of a function as the user knows it."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", type(f).__qualname__)
    module = getattr(f, "__module__", None)
    if module is None and hasattr(f, "__objclass__"):
        module = f.__objclass__.__module__
    module = {"_operator": "operator", None: type(f).__module__}.get(module, module)
    return str(name) if module in ("builtins", "__main__") else f"{module}.{name}"


_HERE = tuple(
    os.path.dirname(os.path.abspath(path or "")) + os.sep
    for path in (__file__, np.__file__, rulescore.__file__)
)
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def where() -> str:
    """Return the user's file and line that the running call stands for."""
    frame: Any = sys._getframe(1)
    nearest = None
    while frame is not None:
        place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if not frame.f_code.co_filename.startswith(_HERE):
            if not frame.f_code.co_filename.startswith(_STANDARD):
                return place
            nearest = nearest or place
        frame = frame.f_back
    return nearest or "<unknown>"
