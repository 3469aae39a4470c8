"""Resolving a call: `pull` runs it and returns its value and its pullback.

A call is resolved in this order:

1. inactive: nothing that it is given depends on a differentiated argument: it is simply run;
2. a structural pullback of the engine's own: map, attribute access, construction, iteration;
3. a rule of an installed plugin, through `rulescore`;
4. what the callable stands for: a bound method, a partial, a class, an object with `__call__`;
5. the source of the function, transformed; each call in it is resolved in the same way;
6. an error that names the function and the place of the call, unless no gradient can pass.
"""

import functools
import inspect
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import rulescore
from rulescore import Tangent, find_rule

from zygote_lite._errors import NoRuleError
from zygote_lite._store import FUNCTION, INERT, LIST, TUPLE, VALUE, kind_of, reaches_active, state

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
    if not is_active(flags, f, xs, kws):
        return f(*xs, **kws), inert(len(flags))
    found = STRUCTURAL.get(id(f))
    if found is not None:
        pulled = found[1](flags, *xs, **kws)
        if pulled is not None:
            return pulled  # type: ignore[no-any-return]
    pulled = _by_rule(flags, f, xs, kws)
    if pulled is not None:
        return pulled
    return _by_kind(flags, f, xs, kws)


def is_active(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> bool:
    """Return whether a call can depend on a differentiated argument."""
    for flag in flags:
        if flag:
            return True
    return bool(state.active) and reaches_active(f, *xs, *kws.values())


# -- rules -------------------------------------------------------------------------------------


def _by_rule(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled | None:
    moved = _moved(f, xs, kws, flags) if kws else []
    arguments = (*xs, *(kws[name] for name in moved))
    options = {name: value for name, value in kws.items() if name not in moved}
    rule = find_rule(f, *arguments, ad=handed_in, **options)
    if rule is None:
        return None
    if rule.kind == "constant":
        return f(*xs, **kws), inert(len(flags))
    for name, flag in zip(kws, flags[1 + len(xs) :], strict=True):
        if flag and name in options and kind_of(options[name]) != INERT:
            raise NoRuleError(
                f"{where()}: the rule for {name_of(f)} ({rule.place}) takes `{name}` as an option, "
                "and options carry no gradient, but a gradient would have to pass through it here"
            )
    if rule.needs_ad:
        options["ad"] = handed_in
    y, back = rule(f, *arguments, **options)
    simple = kind_of(y) <= VALUE and not kws and kind_of(f) <= FUNCTION
    for x in xs:
        simple = simple and kind_of(x) <= VALUE
    return y, back if simple else _routed(back, f, xs, y, list(kws), arguments, moved)


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
        d_f, *given = back(take(y, dy))
        by_value = [store.add(x, d) for x, d in zip(arguments, given, strict=True)]
        by_name = dict(zip(moved, by_value[len(xs) :], strict=True))
        return store.add(f, d_f), *by_value[: len(xs)], *(by_name.get(name) for name in keywords)

    return routed


def take(y: Any, dy: Any) -> Any:
    """Return the whole cotangent of a value at its creation, and forget it."""
    kind = kind_of(y)
    if kind < LIST and kind != TUPLE:
        return dy
    store = state.store
    assert store is not None
    dy = store.collect(y, dy)
    store.entries.pop(id(y), None)
    return dy


@functools.lru_cache(maxsize=1024)
def _parameter_names(f: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)


def _moved(f: Any, xs: tuple[Any, ...], kws: dict[str, Any], flags: Flags) -> list[str]:
    """Return the active keywords that name the next positional parameters.

    A positional argument that the caller passed by keyword is positional all the same.
    """
    try:
        names = _parameter_names(f)
    except TypeError:  # not hashable
        return []
    active = {name for name, flag in zip(kws, flags[1 + len(xs) :], strict=True) if flag}
    following = names[len(xs) :]
    last = max((i for i, name in enumerate(following) if name in active), default=-1)
    moved = following[: last + 1]
    return [*moved] if all(name in kws for name in moved) else []


def handed_in(f: Any, /, *xs: Any) -> Pulled:
    """Differentiate a function for a rule that takes functions: what such a rule calls `ad`."""
    return pull((True,) * (1 + len(xs)), f, *xs)


# -- what a callable stands for ----------------------------------------------------------------


def _by_kind(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    if isinstance(f, types.FunctionType):
        return _by_source(flags, f, xs, kws)
    if isinstance(f, types.MethodType):
        owner = f.__self__
        y, back = pull((None, flags[0], *flags[1:]), f.__func__, owner, *xs, **kws)
        return y, _rebound(back, f)
    if isinstance(f, functools.partial):
        return _by_partial(flags, f, xs, kws)
    if isinstance(f, type):
        return construct(flags, f, xs, kws)
    if isinstance(f, types.BuiltinFunctionType | types.MethodWrapperType):
        return _by_builtin_method(flags, f, xs, kws)
    implementation = getattr(f, "_implementation", None)
    if isinstance(implementation, types.FunctionType):
        return pull(flags, implementation, *xs, **kws)
    if isinstance(f, functools._lru_cache_wrapper):
        return pull(flags, f.__wrapped__, *xs, **kws)
    call = getattr(type(f), "__call__", None)
    if isinstance(call, types.FunctionType):
        y, back = pull((None, flags[0], *flags[1:]), call, f, *xs, **kws)
        return y, _shifted(back)
    return no_rule(flags, f, xs, kws)


def _wrap(back: Any, new: Back) -> Any:
    return new if back else Effect(new)


def _shifted(back: Any) -> Any:
    def shifted(dy: Any) -> tuple[Any, ...]:
        return back(dy)[1:]  # type: ignore[no-any-return]

    return _wrap(back, shifted)


def _rebound(back: Any, method: Any) -> Any:
    def rebound(dy: Any) -> tuple[Any, ...]:
        _, d_owner, *d_xs = back(dy)
        d_method = None if d_owner is None else Tangent(type(method), __self__=d_owner)
        return d_method, *d_xs

    return _wrap(back, rebound)


def _by_builtin_method(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    """Resolve a method of a built-in type, such as `x.sum`, as `np.ndarray.sum` of the object."""
    owner = getattr(f, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        return no_rule(flags, f, xs, kws)
    descriptor = getattr(type(owner), f.__name__, None)
    if descriptor is None or isinstance(owner, type):
        return no_rule(flags, f, xs, kws)
    y, back = pull((None, flags[0], *flags[1:]), descriptor, owner, *xs, **kws)
    return y, _rebound(back, f)


def _by_partial(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    given = dict(f.keywords)
    names = [*given, *(name for name in kws if name not in given)]
    own = flags[0]
    call_flags = dict(zip(kws, flags[1 + len(xs) :], strict=True))
    inner_flags = (own, *(own for _ in f.args), *flags[1 : 1 + len(xs)])
    inner_flags += tuple(call_flags.get(name, own) for name in names)
    y, back = pull(inner_flags, f.func, *f.args, *xs, **(given | kws))

    def partial_back(dy: Any) -> tuple[Any, ...]:
        d_func, *rest = back(dy)
        d_args, d_xs = rest[: len(f.args)], rest[len(f.args) : len(f.args) + len(xs)]
        d_kws = dict(zip(names, rest[len(f.args) + len(xs) :], strict=True))
        d_keywords = {name: d_kws[name] for name in given if name not in kws}
        fields = {"func": d_func, "args": tuple(d_args), "keywords": d_keywords}
        nothing = d_func is None and not any(d is not None for d in (*d_args, *d_keywords.values()))
        d_f = None if nothing else Tangent(type(f), **fields)
        return (d_f, *d_xs, *(d_kws[name] for name in kws))

    return y, _wrap(back, partial_back)


def construct(flags: Flags, cls: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    """Make an instance: `__new__` makes an empty object, `__init__` is differentiated."""
    if type(cls).__call__ is not type.__call__ or cls.__new__ is not object.__new__:
        return no_rule(flags, cls, xs, kws)
    y = object.__new__(cls)
    if cls.__init__ is object.__init__:
        return cls(*xs, **kws), inert(len(flags))
    _, back = pull((None, None, *flags[1:]), cls.__init__, y, *xs, **kws)

    def construct_back(dy: Any) -> tuple[Any, ...]:
        store = state.store
        assert store is not None
        d = back(None)
        store.entries.pop(id(y), None)
        return (None, *d[2:])

    return y, construct_back


def mark_active(x: Any) -> None:
    """Note that a container holds an active value now."""
    assert state.active is not None
    state.active[id(x)] = x


# -- source ------------------------------------------------------------------------------------


def _by_source(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    from zygote_lite._transform import transformed

    return transformed(flags, f, xs, kws)


# -- errors ------------------------------------------------------------------------------------


def no_rule(flags: Flags, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Pulled:
    """Refuse a call that has neither rule nor source, unless no gradient can pass through it."""
    operands = (getattr(f, "__self__", None), *xs, *kws.values())
    if all(kind_of(x) == INERT for x in operands):
        return f(*xs, **kws), inert(len(flags))
    raise NoRuleError(
        f"{where()}: {name_of(f)} of ({', '.join(type(x).__name__ for x in (*xs, *kws.values()))}) "
        f"has no rule and no Python source, and a gradient passes through it; {_advice(f)}"
    )


def _advice(f: Any) -> str:
    module = getattr(f, "__module__", None) or type(f).__module__ or ""
    top = module.split(".")[0]
    installed = {plugin.name for plugin in rulescore.plugins() if plugin.rulesets}
    if top in ("numpy", "math", "cmath", "operator", "_operator", "builtins") and (
        "rules_base" not in installed
    ):
        return "install the plugin with rules for Python and NumPy (pip install rules_base)"
    return (
        "declare one: `rule = RuleSet('mine'); @rule(f) def _(x: float): ...; rule.register()` "
        "(see rulescore), or install a plugin that has it"
    )


def name_of(f: Any) -> str:
    """Return the name of a function as the user knows it."""
    if isinstance(f, type) or not hasattr(f, "__name__"):
        name = getattr(f, "__qualname__", type(f).__qualname__)
    else:
        name = getattr(f, "__qualname__", f.__name__)
    module = getattr(f, "__module__", None)
    if module is None and hasattr(f, "__objclass__"):
        module = f.__objclass__.__module__
    module = {"_operator": "operator", None: type(f).__module__}.get(module, module)
    return str(name) if module in ("builtins", "__main__") else f"{module}.{name}"


_HERE = (
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    os.path.dirname(os.path.abspath(rulescore.__file__)) + os.sep,
)


def where() -> str:
    """Return the user's file and line that the running call stands for."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return "<unknown>" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
