"""Classes that are created while a gradient is computed: where the cotangents of attributes go.

The attributes of a class are identified by the address of the class, like the fields of an object.
Metaclasses and `__init_subclass__` run unrecorded, so they are refused if they could change an
active attribute or reach an active value.
"""

import dataclasses
import dis
import functools
import operator
import types
from typing import Any, cast

from zygote_lite._activity.activity import has_active_class, mark_active, reaches_active
from zygote_lite._activity.classes import member_of
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced, UndoOnly
from zygote_lite._cotangents.run import slots_of
from zygote_lite._ir.intrinsics import note_class
from zygote_lite._ir.places import users_module, where
from zygote_lite._tape.generators import Generated
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import DifferentiationError

handlers = Handlers()

_STANDARD_MODULES = ("abc", "builtins", "dataclasses", "enum", "functools", "typing")


@handlers.desugared(note_class)
def _(
    tape: Tape, nodes: Nodes, cls: Any, names: tuple[Any, ...], held: dict[str, Any], *values: Any
) -> Traced:
    active = {name: n for name, n in zip(names, nodes[4:], strict=True) if n is not None}
    for name in active:
        if name is not None and cls.__dict__.get(name) is not held[name]:
            raise DifferentiationError(
                f"{where()}: what makes the class {cls.__qualname__} changes its attribute "
                f"`{name}`, and a gradient would have to pass through it: set it afterwards"
            )
    hooks = _hooks(cls)
    if hooks and (active or reaches_active(cls, *hooks)):
        raise DifferentiationError(
            f"{where()}: {hooks[0].__qualname__} runs while the class {cls.__qualname__} is made, "
            "and may change what a gradient depends on: call such code after the class statement"
        )
    if not active:
        return None, None
    mark_active(cls)

    def note_class_back(dy: Any) -> tuple[Any, ...]:
        slots = slots_of(cls)
        return tuple([slots.pop(name, None) for name in active])

    return tape.record(None, UndoOnly(note_class_back), tuple(active.values()))


def _hooks(cls: Any) -> list[Any]:
    """Return the user's functions that Python runs while a class is made."""
    found = []
    for base in type(cls).__mro__[:-2]:  # but for `type` and `object`
        found += [vars(base).get(name) for name in ("__new__", "__init__")]
    found += [vars(base).get("__init_subclass__") for base in cls.__mro__[1:]]
    namers = [member_of(type(x), "__set_name__") for x in vars(cls).values()]
    found += [f for f in namers if not _only_keeps_a_name(f)]
    functions = [getattr(f, "__func__", f) for f in found]
    return [
        f
        for f in functions
        if isinstance(f, types.FunctionType) and f.__module__.split(".")[0] not in _STANDARD_MODULES
    ]


def _only_keeps_a_name(f: Any) -> bool:
    """Return whether a `__set_name__` calls nothing and does not look at the class."""
    if not isinstance(f, types.FunctionType) or f.__code__.co_argcount != 3:
        return False
    owner = f.__code__.co_varnames[1]
    steps = list(dis.get_instructions(f))
    looks = any(owner in (s.argval if isinstance(s.argval, tuple) else (s.argval,)) for s in steps)
    return not looks and not any("CALL" in s.opname for s in steps) and not reaches_active(f)


@handlers.desugared(type)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced | None:
    if len(xs) == 1 and isinstance(xs[0], Generated):
        return xs[0].kind, None
    if len(xs) != 3:
        return None
    held = xs[2] if "__module__" in xs[2] else {**xs[2], "__module__": users_module()}
    made: Any = type(*xs[:2], held, **kws)
    found = [tape.call((None, nodes[3], None), operator.getitem, xs[2], name)[1] for name in xs[2]]
    flags = (None, None, None, None, *found, *nodes[4:])
    names = (*xs[2], *(None for _ in kws))
    return made, tape.call(flags, note_class, made, names, dict(xs[2]), *names)[1]


def _decorated(tape: Tape, cls: Any, decorate: Any) -> Traced:
    """Apply the decorator of dataclasses, which moves defaults from fields to the class."""
    kept: Any = dataclasses.Field
    given = {name: value for name, value in vars(cls).items() if isinstance(value, kept)}
    made = decorate(cls)
    if made is not cls and has_active_class(cls):
        raise DifferentiationError(
            f"{where()}: the dataclass {cls.__qualname__} has slots, and a default that a gradient "
            "would have to pass through: leave out `slots=True`, or pass the value"
        )
    for name, field in given.items():
        value, node = tape.call((None, None, None), getattr, field, "default")
        if node is not None and value is not dataclasses.MISSING:
            tape.call((None, None, None, node), setattr, made, name, value)
    return made, None


@handlers.desugared(dataclasses.dataclass)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    if not xs:
        return dataclasses.dataclass(**kws), None
    return _decorated(tape, xs[0], functools.partial(dataclasses.dataclass, **kws))


@handlers.by_code(cast(types.FunctionType, dataclasses.dataclass()))
def _(tape: Tape, nodes: Nodes, f: Any, cls: Any) -> Traced:
    return _decorated(tape, cls, f)
