"""Forms: what holds for a variable at a point where paths meet, for a structure entry by entry.

A tuple, list or dict that a loop rebinds, or that a branch decides, has one form on all paths: the
same kind, and the same length or keys. Its entries are variables like others. What is no variable
(text, `None`, a function, an object, a list of any length) is the same value on all paths.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from rulescore.faults import an
from zygote_lite._specialize.infer.effects.attributes import refuse_adopted
from zygote_lite._specialize.infer.held.containers import hold, may_be_held
from zygote_lite._specialize.infer.nothing import is_constant_none, may_be_nothing
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import Contents, contents_in, merge, root_of
from zygote_lite._specialize.typed.facts import (
    COMPLEXES,
    FLOATS,
    Fact,
    ListOf,
    Other,
    Scalar,
    join_facts,
)
from zygote_lite._specialize.typed.naming import stem_of
from zygote_lite._specialize.typed.nodes import holds, leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import StandIn
from zygote_lite._specialize.typed.store_forwarding import value_key
from zygote_lite._specialize.typed.structures import (
    HELD,
    composition_of,
    is_named,
    mapping,
    named_tuple,
    settled_instance,
    structure,
)
from zygote_lite._specialize.typed.values import Value, constant

KINDS = (tuple, list, dict)
_OF_CODE = (
    "zygote_lite."  # objects of classes there are cells: each is the one that functions share
)


@dataclass(frozen=True)
class Entry:
    """What holds for a number, an array, or anything else that is not a structure.

    Attributes:
        fact: what holds on all paths.
        sample: a sample.
        active: whether a gradient may pass through it.
        value: one of the values that it is.
        same: the value that it is on all paths, if it is not a variable.
        contents: what it holds, where it is a container that the code makes as it runs.
        nullable: whether it is a number that is `None` on some path.
    """

    fact: Fact
    sample: Any
    active: bool
    value: Value | None = None
    same: Value | None = None
    contents: Contents | None = None
    nullable: bool = False


@dataclass(frozen=True)
class Parts:
    """What holds for a structure: its kind, its keys where it is a dict, and its entries."""

    kind: type
    keys: tuple[Any, ...]
    entries: tuple["Form", ...]


Form = Entry | Parts
Pairs = list[tuple[Value, Value]]
UNKNOWN_YET = Entry(Other(type(None)), None, False)


def split(x: Value) -> list[Value] | None:
    """Return the entries of a structure; `None` for what is none."""
    if x.fields is not None and (is_named(x) or x.moved):
        return _entries_of_object(x)
    if type(x.sample) not in KINDS:
        return None
    if x.items is not None:
        return x.items[1::2] if type(x.sample) is dict else x.items
    if x.is_constant and type(x.sample) is not list:  # of a dict, only an empty one is constant
        return [constant(part) for part in x.sample]
    return None


def form_of(builder: Builder, x: Value, within: bool = False) -> Form:
    """Return the form of a value, which may be an entry of a structure (`within`)."""
    if x in builder.iterators:
        raise Unsound.ITERATOR("two variables hold the same iterator: make a list of it first")
    if may_be_held(builder, x):
        hold(builder, x)
    if x.contents is not None:
        return Entry(x.fact, x.sample, False, x, None, contents_in(x))
    entries = split(x)
    if entries is not None:
        parts = [form_of(builder, entry, True) for entry in entries]
        return Parts(type(x.sample), _keys_of(x), tuple(parts))
    settled = _is_no_variable(x) or (within and x.is_constant and isinstance(x.fact, Other))
    same = x if settled else None
    return Entry(x.fact, x.sample, x.active, x, same, nullable=x in builder.nullable)


def _keys_of(x: Value) -> tuple[Any, ...]:
    """Return the keys of a dict, or the names of the attributes of an object made inside."""
    if x.fields is not None:
        return tuple(x.fields if is_named(x) else sorted(x.fields))
    return tuple(x.sample) if type(x.sample) is dict else ()


def _entries_of_object(x: Value) -> list[Value]:
    return [(x.fields or {})[name] for name in _keys_of(x)]


def _settled_object(builder: Builder, form: Form, later: bool) -> Form:
    """Return the form of an object in whose place another may stand, attribute by attribute.

    From now on nothing may be assigned to it. Raises `NotSpecializable` where something was, unless
    it is made anew in each iteration, and so is another object by then.
    """
    x = form.same if isinstance(form, Entry) else None
    if x is None or x.fields is None or isinstance(x.sample, type):
        return form
    if type(x.sample).__module__.startswith(_OF_CODE):
        return form
    refuse_adopted(x, "one of several")
    is_new = x.scope is builder.loop
    if later:  # at the end of an iteration of a loop that is in `builder.loop`
        is_new = not is_new and (builder.loop is None or _is_inside(x.scope, builder.loop))
    if x in builder.unsettled or (x in builder.assigned and not is_new):
        raise Unsound.SHARED_WRITE(
            "an object whose attributes are assigned is another one after some branch"
        )
    if any(holds(value, x) for value in x.fields.values()):
        raise NotSupported.CONTAINER(f"{an(type(x.sample).__name__)} contains itself")
    x.moved = True
    return form_of(builder, x)


def _is_inside(scope: Any, loop: Any) -> bool:
    while scope is not None and scope is not loop:
        scope = scope.outer
    return scope is loop


def _is_no_variable(x: Value) -> bool:
    """Return whether a value is one that no variable of the code can hold."""
    known = x.items is not None or x.is_object or isinstance(x.fact, ListOf)
    return known or isinstance(x.sample, StandIn)


def join_forms(builder: Builder, a: Form, b: Form, name: str, later: bool = False) -> Form:
    """Return what holds on the paths of either form.

    The sample is that of the first, or, where `later` and the second adds something, that one's.
    Raises `NotSpecializable` where no one form holds on both.
    """
    if isinstance(a, Parts) or isinstance(b, Parts) or not _are_one(a.same, b.same):
        a, b = _settled_object(builder, a, later), _settled_object(builder, b, later)
    if isinstance(a, Parts) and isinstance(b, Parts):
        if (a.kind, a.keys, len(a.entries)) != (b.kind, b.keys, len(b.entries)):
            raise NotSupported.DEPENDS_ON_PATH(
                f"`{name}` is a tuple, list or dict of another length or other keys after some "
                "branch or iteration"
            )
        pairs = zip(a.entries, b.entries, strict=True)
        entries = [join_forms(builder, x, y, name, later) for x, y in pairs]
        return Parts(a.kind, a.keys, tuple(entries))
    if isinstance(a, Parts) or isinstance(b, Parts):
        raise NotSupported.DEPENDS_ON_PATH(
            f"`{name}` is a tuple, list or dict after one branch only"
        )
    if a.same is not None or b.same is not None:
        if not _are_one(a.same or a.value, b.same or b.value):
            raise NotSupported.DEPENDS_ON_PATH(
                f"`{name}` holds another {type(a.sample).__name__} after some branch or iteration"
            )
        return a
    if a.contents is not None and b.contents is not None:
        merge(builder.changed, a.contents, b.contents)
        return a
    if a.contents is not None or b.contents is not None:
        raise NotSupported.DEPENDS_ON_PATH(f"`{name}` is a list, dict or set after one branch only")
    if is_constant_none(a.value) != is_constant_none(b.value):
        known = b if is_constant_none(a.value) else a
        builder.inputs.meets_none = True
        if isinstance(known.fact, Scalar) and may_be_nothing(builder):
            return replace(known, nullable=True)
    joined = join_facts(a.fact, b.fact)
    takes_other = (later and joined != a.fact) or _of_float(b.sample) > _of_float(a.sample)
    sample = b.sample if takes_other else a.sample
    nullable = a.nullable or b.nullable
    return Entry(joined, sample, a.active or b.active, a.value, nullable=nullable)


def _of_float(x: Any) -> int:
    return 2 if type(x) in COMPLEXES else type(x) in FLOATS


def _are_one(a: Value | None, b: Value | None) -> bool:
    """Return whether two values are surely the same."""
    if a is b or a is None or b is None:
        return a is b
    return a.is_constant and b.is_constant and value_key(a) == value_key(b) is not None


def is_stable(a: Form, b: Form | None) -> bool:
    """Return whether two forms say the same; their samples do not matter."""
    if isinstance(a, Parts):
        return isinstance(b, Parts) and all(
            is_stable(x, y) for x, y in zip(a.entries, b.entries, strict=True)
        )
    if a.contents is not None:
        other = b.contents if isinstance(b, Entry) else None
        return other is not None and root_of(a.contents) is root_of(other)
    known = (a.fact, a.active, a.same, a.nullable)
    return isinstance(b, Entry) and known == (b.fact, b.active, b.same, b.nullable)


def variable_of(
    form: Form, new: Callable[[Entry, str], Value], stem: str = "", at: str = ""
) -> Value:
    """Return a value of a form, with variables that `new` makes for its entries."""
    if isinstance(form, Entry):
        return form.same or new(form, f"{stem}_{at}" if stem and at else stem)
    keys = form.keys or range(len(form.entries))
    names = [_entry_name(key, i) for i, key in enumerate(keys)]
    within = f"{stem}_{at}" if stem and at else stem
    parts = [variable_of(e, new, within, n) for e, n in zip(form.entries, names, strict=True)]
    return _of_entries(form.kind, form.keys, parts)


def entry_value(builder: Builder, entry: Entry, stem: str) -> Value:
    """Return a variable for an entry."""
    sample = [*entry.sample] if type(entry.sample) is list else entry.sample
    value = builder.value(entry.fact, sample, stem)
    value.active = entry.active
    if entry.nullable:
        builder.nullable.add(value)
    if entry.contents is not None:
        value.contents = root_of(entry.contents)
        value.contents.owners.append(value)
    return value


def _of_entries(kind: type, keys: Iterable[Any], parts: list[Value]) -> Value:
    """Return a structure made of entries."""
    if kind is dict:
        return mapping(dict(zip(keys, parts, strict=True)))
    if kind in KINDS:
        return structure(kind, parts)
    if issubclass(kind, tuple) and HELD not in keys:
        return named_tuple(kind, parts)
    return settled_instance(kind, dict(zip(keys, parts, strict=True)))


def _entry_name(key: Any, place: int) -> str:
    is_name = isinstance(key, str) and key.isascii() and key.isidentifier()
    return key if is_name else str(place)


def joined_value(builder: Builder, a: Value | None, b: Value | None, name: str) -> Value:
    """Return the value of a variable that is one value on one path, another on the other."""
    alone = a is None or b is None
    a, b = a or b, b or a
    assert a is not None
    assert b is not None
    if not alone and _are_one(a, b) and isinstance(a.sample, str | None):
        return a
    if alone and split(a) is None and not (a.name or a.is_scalar):
        raise Unsound.UNSET(f"`{name}` is assigned in one branch only")
    form = join_forms(builder, form_of(builder, a), form_of(builder, b), name)
    if isinstance(form, Entry) and form.same is not None:
        kind = composition_of(form.same)
        raise NotSupported.DEPENDS_ON_PATH(
            f"`{name}` is another {kind} after some branch or iteration"
        )
    is_text = isinstance(form, Entry) and isinstance(form.fact, Other) and not form.contents
    if is_text and isinstance(a.sample, str) and isinstance(b.sample, str) and builder.held:
        is_text = False
    if is_text and (a.is_constant or b.is_constant):
        raise NotSupported.DEPENDS_ON_PATH(
            f"`{name}` is not a number, and is different after some branch"
        )
    if isinstance(form, Parts):
        settle_lists(builder, a)
        settle_lists(builder, b)
        form = form if alone else without_unchanged(form, a, a, [b])

    def new(entry: Entry, stem: str) -> Value:
        value = entry_value(builder, entry, stem)
        note_origin(builder, value, (builder.origin, name))
        return value

    value = variable_of(form, new, stem_of(name))
    if a.spread is not None and a.spread is b.spread:
        value.spread = a.spread
    return value


def note_origin(builder: Builder, x: Value, origin: Hashable) -> None:
    """Note where an array comes from that several paths give a variable."""
    builder.origins[x] = origin
    x.made = x.is_array and origin in builder.own
    if x.made:  # its first value may turn out not to be its own
        x.sample = x.sample.copy()


def moves_to(target: Value, source: Value) -> Pairs:
    """Return the moves that give a variable a value: where it is a structure, its entries."""
    parts, given = split(target), split(source)
    if target.fields is not None and given is None and source.fields is not None:
        given = _entries_of_object(source)
    if parts is None:
        return [(target, source)] if target.name and target is not source else []
    if given is None or len(given) != len(parts):
        return []  # their forms are joined next, which is refused
    return [pair for x, y in zip(parts, given, strict=True) for pair in moves_to(x, y)]


def without_unchanged(form: Form, phi: Value, before: Value, ends: list[Value]) -> Form:
    """Return the form in which entries of a structure that no path changes are no variables."""
    if isinstance(form, Entry):
        kept = [phi, before]
        unchanged = form.same is None and all(any(_are_one(x, y) for y in kept) for x in ends)
        return replace(form, same=before) if unchanged else form
    columns = zip(*[split(x) or [] for x in (phi, before, *ends)], strict=True)
    found = [
        without_unchanged(entry, column[0], column[1], [*column[2:]])
        for entry, column in zip(form.entries, columns, strict=True)
    ]
    return replace(form, entries=tuple(found))


def settle_lists(builder: Builder, x: Value) -> None:
    """Note that lists and dicts have another name on some path: nothing may change them later."""
    waiting, seen = [x], {x}
    while waiting:
        x = waiting.pop()
        if x in builder.homes and builder.held:
            return
        builder.homes.pop(x, None)
        inner = x.items or [*(x.fields or {}).values()]
        waiting += [part for part in inner if part not in seen]
        seen.update(inner)


def with_entries(x: Value, others: dict[Value, Value]) -> Value:
    """Return a value with others in the place of some of its entries."""
    entries = split(x)
    if entries is None:
        return others.get(x, x)
    parts = [with_entries(entry, others) for entry in entries]
    return _of_entries(type(x.sample), _keys_of(x), parts)


def may_be_unset(builder: Builder, x: Value | None) -> bool:
    """Return whether a variable may have no value, given the value that it has if any."""
    return x is None or any(leaf in builder.uncertain for leaf in leaves(x))


def is_absent(builder: Builder, x: Value | None) -> bool:
    """Return whether a variable of the engine's own may have no value, given what it has if any."""
    return x is None or any(leaf in builder.absent for leaf in leaves(x))


def note_unset(builder: Builder, name: str, x: Value) -> None:
    """Note that a variable may have no value: whoever reads it looks at one of its entries."""
    variables = variables_in(x)
    if not variables:
        raise Unsound.UNSET(f"`{name}` may have no value")
    builder.uncertain.update(variables)


def variables_in(x: Value) -> list[Value]:
    """Return the entries of a structure that are variables of the code, or the value itself."""
    is_one = x.items is None and x.fields is None
    return [x] if is_one else [leaf for leaf in leaves(x) if leaf.name]


def hold_all(builder: Builder, xs: list[Value]) -> None:
    """Have the code make the lists and dicts that other variables take, where it makes any."""
    if builder.held:
        for x in xs:
            form_of(builder, x)
