"""What the inner code is given: each value of the outer code becomes an input of the inner one."""

from typing import Any

from zygote_lite._specialize.infer.forms import KINDS
from zygote_lite._specialize.infer.models import differentiated as _differentiated
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.derivatives import DerivativeInside, PullbackInside
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.facts import NUMBERS, ArrayOf, ListOf, Scalar
from zygote_lite._specialize.typed.naming import is_temporary
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Local, Method, Partial, StandIn, Super
from zygote_lite._specialize.typed.structures import mapping, named_tuple, structure
from zygote_lite._specialize.typed.values import Value, constant, shape_root

_FLOATING = NUMBERS - {bool}


class InnerInputs:
    """The inputs of inner code.

    Attributes:
        variables: the values of the outer code, by the names that the inner code has for them.
        containers: the lists, dicts and objects among what is not an argument.
    """

    def __init__(self, outer: Builder, inner: Builder) -> None:
        self.outer, self.inner = outer, inner
        self.variables: Env = {}
        self.containers: list[Value] = []
        self.known: dict[Value, Value] = {}
        self.roots: dict[Value, Value] = {}

    def argument(self, x: Value, *, active: bool) -> Value:
        """Return what an argument is inside; where it is differentiated, its leaves are active."""
        if not active:
            return self.value(x)
        if x.items is not None and type(x.sample) in KINDS:
            if type(x.sample) is dict:
                return mapping({
                    key: self.argument(part, active=True)
                    for key, part in zip(x.sample, x.items[1::2], strict=True)
                })  # fmt: skip
            return structure(type(x.sample), [self.argument(part, active=True) for part in x.items])
        if x.read is not None and self.outer.only_derives:
            _differentiated.read_all(self.inner, x)
            return x
        if x.fields is not None and isinstance(x.sample, tuple):
            fields = [self.argument(part, active=True) for part in x.fields.values()]
            return named_tuple(type(x.sample), fields)
        floats = isinstance(x.fact, ArrayOf) or (
            isinstance(x.fact, Scalar) and bool(x.fact.classes & _FLOATING)
        )
        if not floats:
            if not x.is_constant or isinstance(x.sample, StandIn):
                raise NotSupported.ARGUMENT_TYPE(
                    "a nested gradient is taken with respect to something other than numbers and "
                    "arrays"
                )
            return self.value(x)
        value = self.variable(x)
        value.active = True
        return value

    def value(self, x: Value) -> Value:
        """Return what a value is inside, where no gradient is taken by it."""
        if x not in self.known:
            self.known[x] = self.new(x)
        return self.known[x]

    def new(self, x: Value) -> Value:
        if x in self.outer.iterators:
            raise Unsound.ITERATOR(
                "the function of a nested gradient reads an iterator: pass it a list"
            )
        if isinstance(x.sample, StandIn):
            return self.stand_in(x)
        if x.items is not None:
            if type(x.sample) in (list, dict):
                self.containers.append(x)
            if type(x.sample) is dict:
                parts = zip(x.sample, x.items[1::2], strict=True)
                return mapping({key: self.value(part) for key, part in parts})
            return structure(type(x.sample), [self.value(part) for part in x.items])
        if x.fields is not None:
            made = self.known[x] = Value(x.fact, x.sample)
            self.containers.append(x)
            made.moved = True  # so that nothing may be assigned to it
            made.fields = {name: self.value(part) for name, part in x.fields.items()}
            return made
        if x.read is not None:
            raise NotSupported.ARGUMENT_TYPE(
                "the function of a nested gradient reads an object that is an argument: pass its "
                "numbers and arrays"
            )
        if x.is_constant or x.where is not None:
            return x
        return self.variable(x)

    def stand_in(self, x: Value) -> Value:
        """Return what a function is inside, with the variables that it reads."""
        f: Any = x.sample
        if isinstance(f, Local):
            inside = Local(f.code, f.globals, {}, {})
            found = self.known[x] = constant(inside)
            inside.around |= {name: self.value(y) for name, y in f.around.items()}
            inside.defaults |= {name: self.value(y) for name, y in f.defaults.items()}
            return found
        if isinstance(f, Method):
            return constant(Method(self.value(f.owner), f.name, f.function))
        if isinstance(f, Partial):
            given = [self.value(y) for y in f.arguments]
            options = {name: self.value(y) for name, y in f.keywords.items()}
            return constant(Partial(self.value(f.function), given, options))
        if isinstance(f, DerivativeInside):
            return constant(DerivativeInside(f.verb, self.value(f.f), f.argnums))
        if isinstance(f, Super | PullbackInside):
            raise NotSupported.SECOND_ORDER(
                "the function of a nested gradient calls a pullback or `super()`"
            )
        raise NotSupported.ARGUMENT_TYPE(
            "the function of a nested gradient reads an argument that is not a number, array or "
            "container of these"
        )

    def variable(self, x: Value) -> Value:
        """Return an input for a number, an array or a list."""
        self.outer.demand_value(x)
        stem = x.name if x.name and not is_temporary(x.name) else "x"
        found = Value(x.fact, x.sample, self.inner.name(stem), lengths=x.lengths)
        if isinstance(x.fact, ListOf):
            found.sample = [*x.sample]
            self.containers.append(x)
        elif x.is_array:
            root = self.roots.setdefault(shape_root(x), found)
            found.shaped = None if root is found else root
        self.variables[found.name] = x
        return found


def refuse_reached_twice(arguments: list[Value], others: list[Value]) -> None:
    """Refuse lists and dicts that are differentiated, and may be reached a second time.

    They have one gradient, wherever they are read. Those of another form are others.
    """
    mine = [x for argument in arguments for x in _mutable_in(argument)]
    for i, x in enumerate(mine):
        if any(_may_be_one(x, y) for y in (*mine[i + 1 :], *others)):
            raise Unsound.SHARED_WRITE(
                "two arguments of a nested gradient may be the same list or dict, or share one"
            )


def _mutable_in(x: Value) -> list[Value]:
    inside = [y for part in x.items or () for y in _mutable_in(part)]
    return [x, *inside] if type(x.sample) in (list, dict) else inside


def _may_be_one(x: Value, y: Value) -> bool:
    """Return whether two lists or dicts may be one and the same."""
    if x is y:
        return True
    if type(x.sample) is not type(y.sample) or x.items is None or y.items is None:
        return type(x.sample) is type(y.sample)
    if len(x.items) != len(y.items) or (
        list(x.sample) != list(y.sample) and type(x.sample) is dict
    ):
        return False
    a, b = leaves(x), leaves(y)
    return len(a) == len(b) and all(_may_be_alike(p, q) for p, q in zip(a, b, strict=True))


def _may_be_alike(x: Value, y: Value) -> bool:
    """Return whether two leaves may be one: arrays of other ranks never are."""
    if x.is_constant and y.is_constant:
        return x is y or type(x.sample) is type(y.sample)
    if isinstance(x.fact, ArrayOf) and isinstance(y.fact, ArrayOf):
        return x.fact.dtype == y.fact.dtype and len(x.fact.axes) == len(y.fact.axes)
    return x.is_scalar == y.is_scalar
