"""Attributes of objects: reading, writing and deleting one; those that class statements make."""

import collections
import dataclasses
import dis
import functools
import gc
import operator
import sys
import threading
import types
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from rulescore import find_rule
from rulescore.faults import an
from zygote_lite._activity.activity import has_active_class, holder_of, is_fields_view
from zygote_lite._activity.classes import attribute_in_c, fields_of, member_of
from zygote_lite._activity.marks import mark_active, mark_fields, note_outside, note_shared
from zygote_lite._activity.operands import is_written_for_thread
from zygote_lite._activity.walk import reaches_active, reaches_active_at_all, surely_reaches_active
from zygote_lite._cotangents.kinds import (
    FUNCTION,
    INERT,
    LIST,
    OBJECT,
    TUPLE,
    VALUE,
    carries_nothing,
    dict_of,
    is_known_by_rule,
    is_written_in_python,
    kind_of,
    own_fields,
    within,
)
from zygote_lite._cotangents.registry import (
    Handlers,
    Nodes,
    Traced,
    UndoOnly,
    ValueAndPullback,
    no_pullback,
    small_pullback,
)
from zygote_lite._cotangents.run import EntryBack, current_store, give, slots_of, state
from zygote_lite._ir.intrinsics import note_class
from zygote_lite._ir.places import users_module, where
from zygote_lite._python.literals import field_of_tuple_back
from zygote_lite._tape.generators import Generated
from zygote_lite._tape.holders import computes_in_c, refused_holder
from zygote_lite._tape.refusals.refusal import refusal, refused_fields, refused_part
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()


@handlers.structural(getattr, object.__getattribute__)
def _(nodes: Nodes, x: Any, name: str, *default: Any) -> ValueAndPullback:
    count = len(nodes)
    if isinstance(x, types.ModuleType):
        y = getattr(x, name, *default)
        is_held = id(vars(x)) in (state.active or {}) and name in vars(x)
        return y, _field_back(vars(x) if is_held else None, name, y, count)
    if isinstance(x, type):
        if name == "__dict__" and has_active_class(x):
            raise refused_fields(f"the class {x.__qualname__}")
        y = getattr(x, name, *default)
        metaclass: Any = type(x)
        return y, _field_back(holder_of(x.__mro__ + metaclass.__mro__, name, y), name, y, count)
    if id(x) in state.held and computes_in_c(x) and name not in _OF_SHAPE:
        raise refused_holder(x)
    by_dict = name == "__dict__" and issubclass(type(x), threading.local)
    if by_dict or is_written_for_thread(x):  # each thread has another `__dict__`
        raise refused_fields(an(type(x).__qualname__))
    member = member_of(type(x), name)
    fields = own_fields(x)
    if fields is not None and name == "__dict__":
        return fields, no_pullback(count)  # it shares the cotangents of the object
    if fields is None:
        fields = dict_of(x)
        is_shared = id(fields) in (state.active or {}) and not is_fields_view(fields)
        if name == "__dict__" or is_shared:
            raise refused_fields(f"{an(type(x).__qualname__)}")
    if isinstance(member, _DESCRIPTORS) and kind_of(x) != OBJECT:
        return attribute_by_rule(nodes, x, name, member)
    y = attribute_in_c(x, name)
    if _is_computed_of_inactive(nodes, x, name, member, y):
        return y, no_pullback(count)
    if kind_of(x) == TUPLE and type(member) is _TUPLE_GETTER:
        return y, field_of_tuple_back(x, type(x)._fields.index(name), count)
    if isinstance(x, BaseException) and isinstance(member, _DESCRIPTORS) and name != "args":
        place = next((i for i, given in enumerate(x.args) if given is y), None)
        if place is not None:  # such as the `value` of a StopIteration
            return y, _argument_back(x, place, count)
        in_c = not name.startswith("__") and not is_written_in_python(member.__objclass__)
        if in_c and (kind_of(y) == VALUE or (isinstance(x, SystemExit) and type(y) is tuple)):
            raise refusal(member, (x,))  # such as the `filename` of an OSError
    if is_known_by_rule(type(x)) and name in fields_of(x) and kind_of(y) != INERT:
        raise refused_part(x, name)
    holder = _holder(x, name) if kind_of(x) != FUNCTION or _is_own_attribute(x, name) else None
    if holder is not None and member is y and name not in fields_of(x):
        holder = holder_of(type(x).__mro__, name, y) or holder
    return y, _field_back(holder, name, y, count)


_OF_SHAPE = ("shape", "ndim", "size", "dtype", "mask", "__class__", "__dict__")
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_TUPLE_GETTER = type(collections.namedtuple("_Pair", "a").__dict__["a"])


def _is_computed_of_inactive(nodes: Nodes, x: Any, name: str, member: Any, y: Any) -> bool:
    """Return whether code in C made an attribute of an object, and had nothing active for it.

    Such a call is asked for where the code around it is recorded in doubt.
    """
    in_c = hasattr(type(member), "__get__") and not isinstance(member, _DESCRIPTORS)
    if kind_of(x) != OBJECT or not in_c or type(member) is types.FunctionType:
        return False
    given = any(node is not None for node in nodes) or id(x) in state.held
    return not given and name not in fields_of(x) and not surely_reaches_active(x, y)


def attribute_by_rule(nodes: Nodes, x: Any, name: str, member: Any) -> ValueAndPullback:
    """Read an attribute of a class in C by its rule."""
    rule = find_rule(member, x)
    if rule is None or rule.kind == "constant":
        y = getattr(x, name)
        says_where = isinstance(x, collections.deque | np.flatiter) and name != "base"  # `maxlen`
        if rule is None and kind_of(y) != INERT and not says_where:
            raise refusal(member, (x,))
        return y, no_pullback(len(nodes))
    y, back = rule(member, x)
    nothing = (None,) * (len(nodes) - 2)

    def attribute_back(dy: Any) -> tuple[Any, ...]:
        return None, back(dy)[1], *nothing

    return y, attribute_back


def _field_back(x: Any, name: str, y: Any, count: int) -> Any:
    """Return the pullback of reading an attribute `y` of what holds it, if something does."""
    nothing = x is None or kind_of(y) == FUNCTION or carries_nothing(y)
    return no_pullback(count) if nothing else EntryBack(x, name)


def _holder(x: Any, name: str) -> Any:
    """Return what holds an attribute in the store: for a list, say, its `__dict__`."""
    fields = own_fields(x)
    in_class = kind_of(x) == OBJECT or isinstance(member_of(type(x), name), _DESCRIPTORS)
    return x if fields is None or in_class else fields


def _is_own_attribute(x: Any, name: str) -> bool:
    """Return whether an attribute is one that the user gave a function."""
    its_own = not name.startswith("__") or name == "__wrapped__"
    return its_own and isinstance(x, types.FunctionType)


def _argument_back(x: BaseException, place: int, count: int) -> Any:
    def argument_back(dy: Any) -> tuple[Any, ...]:
        given = [None] * len(x.args)
        given[place] = dy
        give(slots_of(x), "args", tuple(given))
        return (None,) * count

    return argument_back


@handlers.structural(
    setattr, object.__setattr__, vars(type)["__setattr__"],
    delattr, object.__delattr__, vars(type)["__delattr__"], given=True,
)  # fmt: skip
def _(
    change: Callable[..., None], nodes: Nodes, x: Any, name: str, *value: Any
) -> ValueAndPullback:
    """Write or delete an attribute.

    The pullback puts it back, and hands on the cotangent of the new value.
    """
    if x is sys and name in ("stdout", "stderr") and kind_of(value[0] if value else None) >= LIST:
        change(x, name, *value)  # a stream: the cotangents in it are known by its address
        note_outside()
        return None, no_pullback(len(nodes))
    known = kind_of(x) >= TUPLE or isinstance(x, type)
    if value and not known and not _is_own_attribute(x, name):
        if not isinstance(x, types.ModuleType):  # which keeps what it had
            change(x, name, *value)
        if is_known_by_rule(type(x)):
            raise refused_part(x, name)  # perhaps in its `__init__`
        raise Fault.ATTRIBUTE(
            f"{where()}: writing `.{name}` of {an(type(x).__qualname__)} cannot be differentiated: "
            "keep the value in a variable, a list, or an object of your own"
        )
    written = _change_attribute(change, x, name, *value)
    return None, UndoOnly(lambda dy: (None, None, None, _undo_change(*written))[: len(nodes)])


def _change_attribute(
    change: Callable[..., None], x: Any, name: str, *value: Any
) -> tuple[Any, ...]:
    """Write or delete an attribute; return the object, the name, and what the object held."""
    before = _field(x, name)
    change(x, name, *value)
    if value:
        mark_active(x)
        mark_fields(x, gc.get_referents(x.__dict__)[0] if isinstance(x, type) else fields_of(x))
    return x, name, *before


def _undo_change(x: Any, name: str, *before: Any) -> Any:
    """Put an attribute back, and return the cotangent of what it held."""
    d_value = slots_of(_holder(x, name)).pop(name, None)
    after = _field(x, name)
    _put_field(x, name, before)
    current_store().redo.append(functools.partial(_put_field, x, name, after))
    return d_value


CHANGED = small_pullback(lambda x, entry, dy: _undo_change(x, *entry[4:]))
write_attribute = functools.partial(_change_attribute, object.__setattr__)


def _field(x: Any, name: str) -> tuple[Any, ...]:
    """Return, in a tuple, the attribute that an object (or a class) itself has, if it has it."""
    fields = x.__dict__ if isinstance(x, type) else fields_of(x)
    if name in fields:
        return (fields[name],)
    if isinstance(x, type) or not isinstance(member_of(type(x), name), _DESCRIPTORS):
        return ()
    try:
        return (object.__getattribute__(x, name),)
    except AttributeError:
        return ()


def _put_field(x: Any, name: str, held: tuple[Any, ...]) -> None:
    """Make an attribute what it was, whatever the class makes of it; without `held`, delete it."""
    kind: Any = type if isinstance(x, type) else object
    if held:
        kind.__setattr__(x, name, *held)
    elif _field(x, name):
        kind.__delattr__(x, name)


# -- classes that are created while a gradient is computed --------------------------------------

# Their attributes are identified by the address of the class, like the fields of an object.
# Metaclasses and `__init_subclass__` run unrecorded, so they are refused if they could change an
# active attribute or reach an active value.

_STANDARD_MODULES = ("abc", "dataclasses", "enum", "functools", "typing")


@handlers.desugared(note_class, always=True)
def _(
    tape: Tape, nodes: Nodes, cls: Any, names: tuple[Any, ...], held: dict[str, Any], *values: Any
) -> Traced:
    note_outside()  # the functions in the class hold what they capture without a mark
    note_shared(cls)
    active = {name: n for name, n in zip(names, nodes[4:], strict=True) if n is not None}
    for name in active:
        if name is not None and cls.__dict__.get(name) is not held[name]:
            raise Fault.CLASS(
                f"{where()}: what makes the class {cls.__qualname__} changes its attribute "
                f"`{name}`, and a gradient would have to pass through it: set it afterwards"
            )
    hooks = _hooks(cls)
    if hooks and (active or reaches_active_at_all(cls, *hooks)):
        raise Fault.CLASS(
            f"{where()}: {hooks[0].__qualname__} runs while the class {cls.__qualname__} is made, "
            "and may change what a gradient depends on: call such code after the class statement"
        )
    if not active:
        return None, None
    refuse_numbers_in_annotations(cls)
    mark_active(cls)

    def note_class_back(dy: Any) -> tuple[Any, ...]:
        slots = slots_of(cls)
        return tuple([slots.pop(name, None) for name in active])

    return tape.record(None, UndoOnly(note_class_back), tuple(active.values()))


def refuse_numbers_in_annotations(x: Any) -> None:
    """Refuse a function or a class whose annotations hold numbers that may carry a gradient."""
    fields = vars(x) if isinstance(x, type) else {"__annotations__": x.__annotations__}
    if _holds_numbers(fields.get("__annotations__", {})):
        raise Fault.CLASS(
            f"{where()}: the annotations of {x.__qualname__} hold a number that depends on what is "
            "differentiated, and no gradient passes through an annotation: keep it in a variable"
        )


def _holds_numbers(x: Any) -> bool:
    return any(
        isinstance(y, float | complex | np.inexact | np.ndarray)
        or (isinstance(y, types.GenericAlias) and _holds_numbers(y.__args__))
        for y in within(x)
    )


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
        if isinstance(f, types.FunctionType)
        and str(f.__module__).split(".")[0] not in _STANDARD_MODULES
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
    """Apply the decorator of dataclasses: fields, class and `__init__` hold the defaults."""
    kept: Any = dataclasses.Field
    given = {name: value for name, value in vars(cls).items() if isinstance(value, kept)}
    made = decorate(cls)
    if made is not cls and has_active_class(cls):
        raise Fault.CLASS(
            f"{where()}: the dataclass {cls.__qualname__} has slots, and a default that a gradient "
            "would have to pass through: leave out `slots=True`, or pass the value"
        )
    for name, field in given.items():
        value, node = tape.call((None, None, None), getattr, field, "default")
        if node is not None and value is not dataclasses.MISSING:
            tape.call((None, None, None, node), setattr, made, name, value)
    for name, field in made.__dataclass_fields__.items() if has_active_class(made) else ():
        if name not in given and vars(made).get(name, given) is field.default:
            value, node = tape.call((None, None, None), getattr, made, name)
            tape.call((None, None, None, node), setattr, field, "default", value)
        if tape.call((None, None, None), getattr, field, "default")[1] is not None:
            mark_active(made.__init__)  # its defaults are not followed
    return made, None


@handlers.desugared(dataclasses.dataclass)
def _(tape: Tape, nodes: Nodes, *xs: Any, **kws: Any) -> Traced:
    if not xs:
        return dataclasses.dataclass(**kws), None
    return _decorated(tape, xs[0], functools.partial(dataclasses.dataclass, **kws))


@handlers.by_code(cast(types.FunctionType, dataclasses.dataclass()))
def _(tape: Tape, nodes: Nodes, f: Any, cls: Any) -> Traced:
    return _decorated(tape, cls, f)
