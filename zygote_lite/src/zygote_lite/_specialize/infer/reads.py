"""What statements read: variables, constants, globals, attributes and items, `x[index]`."""

import builtins
import operator
import types
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._ir import nodes as ir
from zygote_lite._ir.intrinsics import INTRINSICS
from zygote_lite._ir.places import is_library
from zygote_lite._specialize.infer.cells import contents, is_cell
from zygote_lite._specialize.infer.effects.asked import entry_outside
from zygote_lite._specialize.infer.effects.collectors import (
    attribute_of_collector,
    demand_collector,
    is_collector,
)
from zygote_lite._specialize.infer.effects.draws import is_generator
from zygote_lite._specialize.infer.effects.variables import attribute_now, is_global_cell
from zygote_lite._specialize.infer.held import calls as _held_calls
from zygote_lite._specialize.infer.held import containers as _held
from zygote_lite._specialize.infer.held import methods as _held_methods
from zygote_lite._specialize.infer.inputs import attribute_that_stays, is_settled
from zygote_lite._specialize.infer.iteration.iterators import is_iterator
from zygote_lite._specialize.infer.iteration.known import Several
from zygote_lite._specialize.infer.iteration.rows import item_of_rows
from zygote_lite._specialize.infer.iteration.written import GlobalOf
from zygote_lite._specialize.infer.models import classes as _classes
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import errors as _errors
from zygote_lite._specialize.infer.models import objects as _objects
from zygote_lite._specialize.infer.models.arrays import JOINING, joined_by_index
from zygote_lite._specialize.infer.models.classes import definer_of, of_class
from zygote_lite._specialize.infer.models.lists import items as _lists
from zygote_lite._specialize.infer.models.lists.whole import copied
from zygote_lite._specialize.infer.models.lookups import is_lookup, looked_up
from zygote_lite._specialize.infer.models.wholes import attribute_of_whole
from zygote_lite._specialize.infer.operations import active
from zygote_lite._specialize.infer.tables import (
    attribute_of_table,
    is_table,
    item_of_table,
)
from zygote_lite._specialize.typed.abstract_eval import refuse_types, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contents import contents_in
from zygote_lite._specialize.typed.decisions import classes_of, is_of_numpy
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.facts import TRUTHS, ArrayOf, ListOf, Scalar, may_be_complex
from zygote_lite._specialize.typed.functions import attribute_of
from zygote_lite._specialize.typed.naming import is_of_body
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import (
    Descriptor,
    Error,
    Fields,
    Lookup,
    Method,
    OwnFlags,
    RowsOfData,
    Signature,
    SolverResult,
    StandIn,
    Super,
    Unfollowed,
)
from zygote_lite._specialize.typed.store_forwarding import stored_at
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant


def value_of_atom(builder: Builder, atom: ir.Atom, env: Env) -> Value:
    """Return the value of a variable, constant, global or intrinsic."""
    match atom:
        case ir.Name(name):
            if name not in env:
                error = Unsound.UNSET(f"`{name}` may have no value")
                # its own, not one of a function around it, nor of a class, where Python asks on
                own = not (builder.is_ours(name) or is_of_body(name))
                raise error.always(UnboundLocalError) if own else error
            x = contents(env[name], name) if is_cell(env[name]) else env[name]
            builder.demand_value(x)
            return x
        case ir.Const(value):
            return constant(value)
        case GlobalOf(path, globals_):
            return builder.global_value(globals_, path)
        case ir.Global(path):
            return builder.global_value(builder.frames[-1].globals, path)
        case ir.Intrinsic(path):
            return constant(_intrinsic(path))


def _intrinsic(path: str) -> Any:
    head, *rest = path.split(".")
    value = INTRINSICS.get(head, getattr(builtins, head, None))
    for name in rest:
        value = getattr(value, name)
    return value


def read_attribute(builder: Builder, x: Value, name: str) -> Value:
    """Write `x.name`, and return it."""
    if name == "__globals__":
        raise NotSupported.ATTRIBUTE("it reads all variables of its module, as `globals()` does")
    if x.is_array:
        return array_attribute(builder, x, name)
    if x.is_known_by_rule:
        return attribute_of_whole(builder, x, name)
    if is_table(x):
        return attribute_of_table(builder, x, name)
    if is_collector(x):
        return attribute_of_collector(x, name)
    if isinstance(x.sample, Error):
        return _errors.attribute_of_error(x, name)
    if isinstance(x.sample, SolverResult) and name in x.sample.parts:
        return x.sample.parts[name]
    if isinstance(x.sample, Unfollowed) and name == "T":
        return x
    if isinstance(x.sample, OwnFlags) and name == "writeable":
        return constant(True)
    if isinstance(x.sample, Signature) and name in x.sample.attributes:
        told: Value = x.sample.attributes[name](builder)
        return told
    if isinstance(x.sample, Signature) and x.sample.function is not None and name == "bind":
        return constant(Method(x, name))
    if is_iterator(x) or isinstance(x.sample, Fields):
        return constant(Method(x, name))
    if is_generator(x):
        return constant(Method(x, name))
    if x.is_object or isinstance(x.sample, Super):
        return _objects.attribute(builder, x, name)
    fields = getattr(type(x.sample), "_fields", ()) if isinstance(x.sample, tuple) else ()
    if name in fields:  # of what a call gives as a whole
        return builder.apply(operator.getitem, [x, constant(fields.index(name))])
    if isinstance(x.fact, Scalar) and may_be_complex(x.fact) and name in ("real", "imag"):
        return computed_attribute(builder, x, name)
    if name == "real" and isinstance(x.fact, Scalar) and not x.fact.classes & TRUTHS:
        return x
    if is_of_numpy(x):
        known = attribute_of_number(x, name)
        if known is not None:
            return known
    if x.contents is not None:
        found = _held_methods.held_attribute(builder, x, name)
        if found is not None:
            return found
    if x.is_scalar or x.items is not None or isinstance(x.fact, ListOf) or x.contents is not None:
        kinds = classes_of(x) if x.contents is None else {contents_in(x).kind}
        having = {hasattr(kind, name) for kind in kinds}
        if having == {False}:
            raise Unsound.RAISES(f"it reads the attribute {name}, which does not exist").always(
                AttributeError
            )
        if False in having:
            raise Unsound.CLASS(
                f"it reads the attribute {name} of a number that may be Python's or NumPy's, and "
                "only one has it"
            )
        return constant(Method(x, name))
    if isinstance(x.sample, Descriptor | Lookup):
        return constant(Method(x, name))
    if name == "add":
        demand_collector(builder, x)
    if x.is_constant and not isinstance(x.sample, StandIn):
        return _attribute_of_constant(builder, x, name)
    raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of {an(type(x.sample).__name__)}")


def _attribute_of_constant(builder: Builder, x: Value, name: str) -> Value:
    """Return `x.name` of a module, a class, a function or another object that stays the same."""
    space = x.sample
    if isinstance(space, types.ModuleType) and (
        (id(vars(space)), name) in builder.settings or is_global_cell(builder, vars(space), name)
    ):
        return builder.global_value(vars(space), name)
    if isinstance(space, types.FunctionType | type):
        found_in = definer_of(space, name) if isinstance(space, type) else space
        now = attribute_now(builder, found_in, name)
        if now is not None:
            return now
    changes = isinstance(space, types.ModuleType | types.FunctionType | type)
    if not changes or is_settled(builder, builder.frames[-1].globals):
        return constant(run(getattr, [space, name], {}))
    if isinstance(space, type) and type(of_class(space, name)) is classmethod:
        return _classes.class_method(builder, x, name)
    if isinstance(space, type) and _classes.names_class(space, name):
        return _classes.name_of_class(builder, space, name)
    found = attribute_that_stays(space, name)
    owner = builder.inputs.name_for(space, "o")
    return builder.read(found, f"{owner}.{name}", name)


def item(builder: Builder, x: Value, index: Value, stem: str = "") -> Value:
    """Write `x[index]`, and return it."""
    if is_collector(x):
        return entry_outside(builder, x, index)
    if is_table(x):
        return item_of_table(builder, x, index)
    if x.is_object:
        return builder.apply(operator.getitem, [x, index], {}, stem)
    if _held.is_held(x):
        return _held_calls.held_part(builder, x, index, stem)
    if _held.may_be_held(builder, x) and not index.is_constant:
        return item(builder, _held.hold(builder, x), index, stem)
    if x.made and not (builder.reverse or builder.plain):
        stored = stored_at(builder.out, x, index)
        if stored is not None and not (stored.is_array and builder.distinct):
            return stored
    if isinstance(x.fact, ListOf):
        if isinstance(index.sample, slice):
            return copied(builder, x, index)
        return _lists.item_of_list(builder, x, index, stem)
    if isinstance(x.sample, SolverResult) and index.is_constant and index.sample in x.sample.parts:
        return x.sample.parts[index.sample]
    if isinstance(x.sample, RowsOfData):
        return item_of_rows(builder, x, index)
    if x in builder.iterators:
        raise Unsound.ITERATOR("it indexes an iterator: make a list of it first")
    if x.items is not None and type(x.sample) in (tuple, list) and index.is_constant:
        if isinstance(index.sample, slice):
            return structure(type(x.sample), x.items[index.sample])
        n = operator.index(index.sample)
        if not -len(x.items) <= n < len(x.items):
            raise Unsound.RAISES("an index is out of range").always(IndexError)
        return x.items[n]
    if _dicts.is_dict(x):
        return _dicts.item_of_dict(x, index)
    if is_lookup(x):
        return looked_up(builder, x, index)
    if isinstance(x.sample, JOINING):
        return joined_by_index(builder, x, index)
    if x.is_constant and index.is_constant and not x.is_array:
        if isinstance(x.sample, type):
            _refuse_own_getitem(x.sample)
        return constant(run(operator.getitem, [x.sample, index.sample], {}))
    if is_of_numpy(x):
        return builder.apply(operator.getitem, [x, index], {}, stem)
    if x.is_scalar:
        refuse_types(operator.getitem, [x, constant(0)])
    if not x.is_array and type(x.sample) is not tuple:
        raise NotSupported.ITEM(f"it takes an item of {an(type(x.sample).__name__)}")
    return builder.apply(operator.getitem, [x, index], {}, stem)


def _refuse_own_getitem(kind: type) -> None:
    """Refuse an item of a class, such as `list[int]`, that a function of the user gives."""
    hook = getattr(kind, "__class_getitem__", None)
    for f in (getattr(hook, "__func__", None), getattr(type(kind), "__getitem__", None)):
        if not isinstance(f, types.FunctionType) or is_library(f.__code__.co_filename):
            continue
        raise NotSupported.METHOD(f"it calls the `__class_getitem__` of {kind.__name__}")


def array_attribute(builder: Builder, x: Value, name: str) -> Value:
    """Write `x.name` of an array, or note that a method was looked up."""
    member = getattr(np.ndarray, name, None)
    if callable(member):
        return constant(Method(x, name))
    fact = x.fact
    assert isinstance(fact, ArrayOf)
    if name in ("ndim", "dtype") or (x.has_no_axes and name in ("shape", "size")):
        return constant(getattr(x.sample, name))
    if name == "real" and fact.dtype.kind in "fiu":
        return x
    if name == "flat" and not builder.plain:
        found = constant(Several("from", [builder.apply(np.ravel, [x]), constant(0)]))
        builder.iterators[found] = [x]
        return found
    if name == "flags" and x.fresh and builder.is_own(x):
        return constant(OwnFlags())
    if name in ("real", "imag") and fact.dtype.kind == "c":
        return computed_attribute(builder, x, name)
    if name not in ("T", "mT", "shape", "size"):
        raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of an array")
    return computed_attribute(builder, x, name)


def computed_attribute(builder: Builder, x: Value, name: str) -> Value:
    """Write `x.real`, `x.T` or another attribute that is computed: once, where it is inactive."""
    f = attribute_of(name)
    if x.active and builder.follows and name not in ("shape", "size"):
        return active(builder, f, [x], {}, "")
    known = ("attribute", name, x)
    if known not in builder.known:
        builder.known[known] = builder.operation(f, [x]).target
    return builder.known[known]


def attribute_of_number(x: Value, name: str) -> Value | None:
    """Return an attribute that NumPy's numbers share with arrays without axes."""
    if name in ("shape", "ndim", "size") or (name == "dtype" and len(classes_of(x)) == 1):
        return constant(getattr(x.sample, name))
    return x if name == "T" else None
