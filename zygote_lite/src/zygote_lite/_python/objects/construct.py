"""Instances: `__new__` creates one, and `__init__` is recorded like others."""

import collections
import dataclasses
import functools
import inspect
import operator
import types
from typing import Any

from zygote_lite._activity.activity import is_active, text_pullback
from zygote_lite._activity.classes import (
    intercepts,
    is_init_of_dataclass,
    is_method_of_dataclass,
    member_of,
)
from zygote_lite._activity.deeds import may_write
from zygote_lite._activity.marks import mark_active, mark_new, note_made
from zygote_lite._activity.side_effects import hooks_called
from zygote_lite._activity.walk import captured_within, reaches_active_at_all
from zygote_lite._cotangents.registry import (
    Handlers,
    NodeId,
    Nodes,
    Traced,
    UndoOnly,
    ValueAndPullback,
    no_pullback,
)
from zygote_lite._cotangents.run import current_store, give, slots_of, take_slots
from zygote_lite._ir.places import is_library, where
from zygote_lite._python.library.output import make_bar
from zygote_lite._python.objects.lifetimes import refused_end
from zygote_lite._tape.refusals.refusal import hook_refusal, refusal
from zygote_lite._tape.tape import Tape
from zygote_lite.caches import cached_by_kind
from zygote_lite.errors import Fault

handlers = Handlers()


@handlers.callables(type)
def _(tape: Tape, nodes: Nodes, cls: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
    """Make an instance of a class on a tape."""
    called = member_of(type(cls), "__call__")
    if isinstance(called, types.FunctionType):
        given = any(n is not None for n in nodes[1:])
        makes_enum = called.__module__ == "enum" and not vars(cls).get("_member_map_")
        if makes_enum and (given or reaches_active_at_all(*xs)):
            raise Fault.CLASS(
                f"{where()}: what makes an enumeration is given values that depend on what is "
                "differentiated, and no gradient passes through its members: use a class, a dict "
                "or `types.SimpleNamespace`"
            )
        if (given and called.__module__ != "enum") or not is_library(called.__code__.co_filename):
            return tape.call((None, *nodes), called, cls, *xs, **kws)
        return cls(*xs, **kws), None
    return instantiate(tape, nodes, cls, xs, kws)


@handlers.desugared(vars(type)["__call__"])
def _(tape: Tape, nodes: Nodes, cls: Any, *xs: Any, **kws: Any) -> Traced:
    return instantiate(tape, nodes[1:], cls, xs, kws)


def instantiate(
    tape: Tape, nodes: Nodes, cls: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Traced:
    """Make an instance as `type.__call__` does: by `__new__` and `__init__`."""
    end = member_of(cls, "__del__")
    if isinstance(end, types.FunctionType):
        bar = None if end.__module__ != "tqdm.std" else make_bar(tape, nodes, cls, xs, kws)
        if bar is not None:
            return bar
        if may_write(end, cls):
            raise refused_end(end)
    if cls is types.SimpleNamespace:
        y = cls()
        note_made(y)
        for (name, value), n in zip(kws.items(), nodes[1:], strict=True):
            tape.call((None, None, None, n), object.__setattr__, y, name, value)
        return y, None
    if _is_made_by_fields(cls):
        return tape.call((None, None, *nodes[1:]), _make_named_tuple, cls, *xs, **kws)
    new, node = cls.__new__, None
    if isinstance(new, types.FunctionType) or new is tuple.__new__:
        y, node = tape.call((None, None, *nodes[1:]), new, cls, *xs, **kws)
        if cls not in type(y).__mro__:
            return y, node
    elif new is object.__new__ and cls.__init__ is object.__init__:
        return cls(*xs, **kws), None
    elif issubclass(cls, BaseException):
        y, node = tape.call((None, None, None, *nodes[1:]), hold_arguments, new, cls, *xs, **kws)
    elif new is object.__new__ or issubclass(cls, _filled_by(cls)):
        y = new(cls)
        note_made(y)
    else:
        return tape.refuse(nodes, cls, xs, kws)
    init = type(y).__init__  # `__new__` may return an object of a subclass
    if is_init_of_dataclass(init, y):
        fill_dataclass(tape, nodes, init, y, xs, kws)
    elif isinstance(init, types.WrapperDescriptorType) or types.FunctionType in (
        type(init),
        type(new),
    ):
        tape.call((None, node, *nodes[1:]), init, y, *xs, **kws)
    elif is_active(nodes, cls, xs, kws):
        raise refusal(cls, xs, kws)  # such as one of Cython: what the object will hold is not known
    else:
        init(y, *xs, **kws)
    return y, node


def _filled_by(cls: Any) -> Any:
    """Return the containers that the `__init__` of a class can fill: sets by Python alone."""
    in_python = isinstance(cls.__init__, types.FunctionType)
    return (list, dict, set) if in_python else (list, dict)


# Each value is put in as it is taken: what gives them may look at what is filled.


@handlers.in_python(dict.__init__)
def _fill_dict(y: Any, x: Any = (), /, **kws: Any) -> None:
    for key, value in dict(x).items() if hasattr(x, "keys") else x:
        dict.__setitem__(y, key, value)
    for name, value in kws.items():
        dict.__setitem__(y, name, value)


@handlers.in_python(collections.OrderedDict.__init__)
def _fill_ordered(y: Any, x: Any = (), /, **kws: Any) -> None:
    for key, value in [(key, x[key]) for key in x.keys()] if hasattr(x, "keys") else x:  # noqa: SIM118
        dict.__setitem__(y, key, value)
    for name, value in kws.items():
        dict.__setitem__(y, name, value)


@handlers.in_python(list.__init__)
def _fill_list(y: Any, x: Any = (), /) -> None:
    if list.__len__(y):
        list.clear(y)
    for value in x:
        list.append(y, value)


@handlers.in_python(set.__init__)
def _fill_set(y: Any, x: Any = (), /) -> None:
    if set.__len__(y):
        set.clear(y)
    for key in x:
        set.add(y, key)


_FILL = {
    dict: _fill_dict, collections.OrderedDict: _fill_ordered, list: _fill_list, set: _fill_set,
}  # fmt: skip

handlers.inert(object.__new__)


def initialize(
    tape: Tape, nodes: Nodes, init: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Traced:
    """Run the `__init__` of a built-in base class, as `super().__init__(...)` does."""
    base = init.__objclass__
    if base is collections.defaultdict:
        init(*xs[:2])
        mark_active(xs[0])
        return tape.call((*nodes[:2], *nodes[1 + len(xs[:2]) :]), _fill_dict, xs[0], *xs[2:], **kws)
    if issubclass(base, BaseException):
        return tape.call((None, None, *nodes[1:]), hold_arguments, init, *xs, **kws)
    if base in _FILL:
        return tape.call(nodes, _FILL[base], *xs, **kws)
    if base is not object:
        return tape.refuse(nodes, init, xs, kws)
    init(*xs, **kws)
    return None, None


@handlers.desugared(tuple.__new__)
def _(tape: Tape, nodes: Nodes, cls: Any, x: Any = ()) -> Traced:
    items, node = tape.call((None, (*nodes, None)[2]), tuple, x)
    return tape.call((None, None, node), _with_class, cls, items)


def _with_class(cls: Any, items: tuple[Any, ...]) -> Any:
    return tuple.__new__(cls, items)


@handlers.structural(_with_class)
def _(nodes: Nodes, cls: Any, items: tuple[Any, ...]) -> ValueAndPullback:
    return tuple.__new__(cls, items), lambda dy: (None, None, None if dy is None else tuple(dy))


@handlers.callables(types.FunctionType, of=dataclasses.is_dataclass)
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced | None:
    """Resolve a method that a dataclass was given, which has no source."""
    if is_method_of_dataclass(f, xs):  # it compares, hashes or prints
        hooks = hooks_called(operator.eq if len(xs) == 2 else repr, xs)
        if hooks and (reaches_active_at_all(*hooks) or captured_within(*hooks)):
            raise hook_refusal(f, hooks)
        y = f(*xs)
        back = text_pullback(y, len(nodes)) if isinstance(y, str) else no_pullback(len(nodes))
        return tape.record(y, back, nodes)
    if is_init_of_dataclass(f, xs[0]):
        return fill_dataclass(tape, (None, *nodes[2:]), f, xs[0], xs[1:], kws)
    return None


def _signature(init: Any) -> inspect.Signature:
    defaults, found = _known_signature(init)
    return found if defaults is init.__defaults__ else inspect.signature(init)


@cached_by_kind(512)
def _known_signature(init: Any) -> tuple[Any, inspect.Signature]:
    return init.__defaults__, inspect.signature(init)


def fill_dataclass(
    tape: Tape, nodes: Nodes, init: Any, y: Any, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Traced:
    """Do what the `__init__` of a dataclass does, which has no source.

    Arguments:
        tape: the tape.
        nodes: those of what makes the object, of `xs` and of `kws`.
        init: the method, of the class of `y` or of one that it inherits from.
        y: the object.
        xs: the arguments.
        kws: those by keyword.
    """
    try:
        bound = _signature(init).bind(y, *xs, **kws).arguments
    except TypeError:
        init(y, *xs, **kws)  # raises what Python raises
        raise
    cls: Any = next(c for c in type(y).__mro__ if vars(c).get("__init__") is init)
    flags = dict(zip(bound, (None, *nodes[1 : 1 + len(xs)]), strict=False))
    flags |= dict(zip(kws, nodes[1 + len(xs) :], strict=True))
    late: list[tuple[Any, NodeId]] = []
    for name, f in cls.__dataclass_fields__.items():
        kind = f._field_type.name
        if kind == "_FIELD_CLASSVAR":
            continue
        if name in bound:
            value, node = bound[name], flags[name]
        elif f.default_factory is not dataclasses.MISSING:
            value, node = tape.call((None,), f.default_factory)
        elif f.init and (default := _default_of(init, f)) is not f.default:
            value, node = default, None  # the one in `__defaults__` was replaced
        elif f.init or (f.default is not dataclasses.MISSING and "__slots__" in vars(cls)):
            value, node = tape.call((None, None, None), getattr, f, "default")
        else:
            continue
        if kind == "_FIELD_INITVAR":
            late.append((value, node))
        else:
            made: Any = type(y)
            plain = cls.__dataclass_params__.frozen or not intercepts(made, name)
            write: Any = object.__setattr__ if plain else setattr
            tape.call((None, None, None, node), write, y, name, value)
    if "__post_init__" in init.__code__.co_names:
        after, at = tape.call((None, None, None), getattr, y, "__post_init__")
        tape.call((at, *(node for _, node in late)), after, *(value for value, _ in late))
    return None, None


def _default_of(init: Any, f: Any) -> Any:
    """Return what an `__init__` of a dataclass takes for a field that is not given."""
    names = init.__code__.co_varnames[: init.__code__.co_argcount]
    if f.name not in names:
        return init.__kwdefaults__[f.name]
    return init.__defaults__[names.index(f.name) - len(names)]


def _is_made_by_fields(cls: Any) -> bool:
    """Return whether a class is a named tuple, without `__new__` or `__init__` of its own."""
    if not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return False
    if cls.__init__ is not object.__init__:
        return False
    made_in = getattr(cls.__new__, "__globals__", {}).get("__name__", "")
    return str(made_in).startswith("namedtuple_")  # the namespace in which `namedtuple` makes it


def _make_named_tuple(cls: Any, /, *xs: Any, **kws: Any) -> Any:
    return cls(*xs, **kws)


@handlers.structural(_make_named_tuple)
def _(nodes: Nodes, cls: Any, /, *xs: Any, **kws: Any) -> ValueAndPullback:
    y = cls(*xs, **kws)
    fields = cls._fields
    positions = [*range(len(xs)), *(fields.index(name) for name in kws)]

    def named_tuple_back(dy: Any) -> tuple[Any, ...]:
        return (None, None, *(None if dy is None else dy[i] for i in positions))

    return y, named_tuple_back


@handlers.structural(functools.partial)
def _(nodes: Nodes, f: Any, /, *xs: Any, **kws: Any) -> ValueAndPullback:
    y = functools.partial(f, *xs, **kws)
    mark_new(y)
    mark_new(y.keywords)
    inner = f if isinstance(f, functools.partial) else None
    before = 0 if inner is None else len(inner.args)

    def partial_back(dy: Any) -> tuple[Any, ...]:
        slots = take_slots(y)
        named = take_slots(y.keywords)
        given = slots.get("args") or (None,) * len(y.args)
        if inner is not None:
            if any(d is not None for d in given[:before]):
                give(slots_of(inner), "args", tuple(given[:before]))
            for name, d in named.items():
                if name not in kws:
                    give(slots_of(inner.keywords), name, d)
        return (None, slots.get("func"), *given[before:], *(named.get(name) for name in kws))

    return y, partial_back


# -- exceptions --------------------------------------------------------------------------------


def hold_arguments(f: Any, x: Any, /, *xs: Any, **kws: Any) -> Any:
    """Run the `__new__` of a class of exceptions, or `__init__` of one: it holds its arguments."""
    return f(x, *xs, **kws)


@handlers.structural(hold_arguments)
def _(nodes: Nodes, f: Any, x: Any, /, *xs: Any, **kws: Any) -> ValueAndPullback:
    old = x.args if isinstance(x, BaseException) else None
    made = f(x, *xs, **kws)
    y = made if old is None else x
    new = y.args
    mark_active(y)

    def hold_back(dy: Any) -> tuple[Any, ...]:
        slots = slots_of(y)
        given = slots.pop("args", None) or [None] * len(xs)
        if old is not None:
            y.args = old
            current_store().redo.append(lambda: setattr(y, "args", new))
        return (None, None, None, *given, *[slots.pop(name, None) for name in kws])

    return made, UndoOnly(hold_back)  # an exception is known by its address
