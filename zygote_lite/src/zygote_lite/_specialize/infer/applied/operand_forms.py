"""Which forms the operands of rules have that are called as a whole, and of which leaves."""

import inspect
import types
from typing import Any

from rulescore import rules_of, why
from rulescore.faults import an
from zygote_lite._specialize.infer.applied.given_forms import (
    GivenConstant,
    GivenDict,
    GivenForm,
    GivenFunction,
    GivenItems,
    GivenLeaf,
)
from zygote_lite._specialize.infer.applied.lifted import PathRead, paths_read, with_attributes
from zygote_lite._specialize.infer.cells import contents, is_cell
from zygote_lite._specialize.infer.effects.sought import Search, is_known_constant
from zygote_lite._specialize.infer.models.classes import ABSENT, is_made_class, of_class
from zygote_lite._specialize.infer.models.dicts import entries_of_dict, is_dict
from zygote_lite._specialize.infer.models.objects import function_of
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import can_carry
from zygote_lite._specialize.typed.inputs import defaults_of
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import Local, Method, StandIn
from zygote_lite._specialize.typed.values import Value

_IN_CLASSES = (types.FunctionType, types.MemberDescriptorType, staticmethod)  # as they stand


class FormsOfGiven:
    """Find the forms of operands, and the leaves that these are made of.

    Attributes:
        leaves: the numbers and arrays, each once.
    """

    def __init__(self, builder: Builder, search: Search) -> None:
        self.builder, self.search = builder, search
        self.leaves: list[Value] = []
        self.places: dict[Value, int] = {}
        self.within: list[Any] = []

    def of(self, x: Value) -> GivenForm:
        """Return the form of an operand."""
        if isinstance(x.sample, Local):
            return self.of_function(x.sample)
        if isinstance(x.sample, Method):
            return self.of_method(x.sample)
        if (
            x.is_object
            and not is_made_class(x)
            and of_class(type(x.sample), "__call__") is not ABSENT
        ):
            return self.of_method(Method(x, "__call__"))
        if x.is_constant and not isinstance(x.sample, StandIn) and x.items is None:
            return self.of_constant(x.sample)
        if (x.is_array or x.is_scalar) and x not in self.builder.nullable:
            return self.leaf(x)
        if x.items is not None and x.contents is None and x not in self.builder.iterators:
            if is_dict(x):
                entries = entries_of_dict(x)
                return GivenDict([*entries], [*map(self.of, entries.values())])
            if type(x.sample) in (tuple, list):
                return GivenItems(type(x.sample), [*map(self.of, x.items)])
        raise self.refused()

    def leaf(self, x: Value) -> GivenForm:
        """Return the form of a number or an array."""
        if x.active and not can_carry(x.fact):
            raise Unsound.NO_FLOAT("a differentiated value is not a float")
        if x not in self.places:
            self.places[x] = len(self.leaves)
            self.leaves.append(x)
        return GivenLeaf(self.places[x], x.active)

    def of_constant(self, x: Any) -> GivenForm:
        """Return the form of a constant; one that is called must not have effects."""
        if callable(x):
            self.search.value(x, getattr(x, "__name__", "a function"), 0)
        elif type(x) is tuple:
            return GivenItems(tuple, [*map(self.of_constant, x)])
        elif not is_known_constant(x):
            raise NotSupported.RULE_OPERAND(
                f"it passes {an(type(x).__name__)} to a function whose rule takes the engine"
            )
        return GivenConstant(x)

    def of_function(self, f: Local) -> GivenForm:
        """Return the form of a function that is defined inside."""
        if f in self.within or f.is_abstract or f.is_wrapped:
            raise NotSupported.RECURSION(f"{f.code.co_name} calls itself, and is given to a rule")
        self.within.append(f)
        try:
            values = {name: self.captured(f, name) for name in f.code.co_freevars}
            code, parts = self.capturing(f.code, values)
        finally:
            self.within.pop()
        defaults = {name: self.of(x) for name, x in f.defaults.items()}
        if not all(isinstance(form, GivenConstant) for form in defaults.values()):
            raise NotSupported.RULE_OPERAND(
                f"{f.code.co_name} has computed defaults, and is given to a rule"
            )
        named = inspect.getargs(f.code)
        by_name = {n: form.made(()) for n, form in defaults.items() if n not in named.args}
        first = tuple([form.made(()) for n, form in defaults.items() if n in named.args])
        return self.function(code, f.globals, parts, first or None, by_name)

    def of_method(self, f: Method) -> GivenForm:
        """Return the form of a method: of a function that captures what it reads of its object."""
        builder, owner = self.builder, f.owner
        own = f.function
        if own is None and owner.is_object:
            own = function_of(builder.inputs, owner, f.name)
        if not isinstance(own, types.FunctionType) or not owner.is_object or is_made_class(owner):
            raise self.refused()
        code = own.__code__
        has_rule = rules_of(own) or rules_of(code) or (f.name == "__call__" and why(owner.sample))
        if own.__closure__ or own.__dict__ or not code.co_argcount or has_rule:
            raise self.refused()
        if code in self.within:
            raise NotSupported.RECURSION(f"{f.name} calls itself, and is given to a rule")
        builder.inputs.guard_function(own)
        defaults = defaults_of(own)
        for name, x in defaults.items():  # which the function that is made has, too
            builder.inputs.guard(builder.inputs.default_of(own, name), x)
        if not all(map(is_known_constant, defaults.values())):
            raise self.refused()
        self.within.append(code)
        try:
            made, parts = self.capturing(code, {code.co_varnames[0]: owner})
        finally:
            self.within.pop()
        return self.function(made, own.__globals__, parts, own.__defaults__, own.__kwdefaults__)

    def function(
        self, code: types.CodeType, globals_: dict[str, Any], parts: list[GivenForm],
        defaults: tuple[Any, ...] | None, by_name: dict[str, Any] | None,
    ) -> GivenForm:  # fmt: skip
        """Return the form of a function with these captured variables, which has no effects."""
        cells = tuple([types.CellType() for _ in parts])
        self.search.body(types.FunctionType(code, globals_, closure=cells), 0)
        return GivenFunction(code, globals_, parts, defaults, by_name)

    def capturing(
        self, code: types.CodeType, values: dict[str, Value]
    ) -> tuple[types.CodeType, list[GivenForm]]:
        """Return the code of a function, and the forms of the variables that it captures.

        In the place of an object it captures what it reads of that.
        """
        objects = frozenset(n for n, x in values.items() if x.is_object and not is_made_class(x))
        if objects:
            found = dict(self.read_by(values, path) for path in paths_read(code, objects))
            code, names = with_attributes(code, objects, (*found,))
            values = values | {name: found[path] for name, path in names.items()}
        return code, [self.of(values[name]) for name in code.co_freevars]

    def read_by(self, values: dict[str, Value], path: PathRead) -> tuple[PathRead, Value]:
        """Return how far a path leads by objects alone, with what is there."""
        x = values[path[0]]
        for count, name in enumerate(path[1:], 2):
            kind = type(x.sample)
            found = of_class(kind, name)
            computes = hasattr(type(found), "__get__") and not isinstance(found, _IN_CLASSES)
            if computes or of_class(kind, "__getattr__") is not ABSENT:
                raise Unsound.COMPUTED_ATTRIBUTE(
                    f"the attribute {name} is computed where it is read"
                )
            x = self.builder.attribute(x, name)
            self.builder.demand_value(x)
            if not x.is_object or is_made_class(x):
                return path[:count], x
        return path, x

    @staticmethod
    def refused() -> NotSpecializable:
        """Return why a function whose rule takes the engine cannot be called."""
        return NotSupported.RULE_OPERAND(
            "it passes an object, or a list of any length, to a function whose rule takes the "
            "engine"
        )

    def captured(self, f: Local, name: str) -> Value:
        """Return the value of a variable that a function captures."""
        x = f.around.get(name)
        if x is None:
            raise Unsound.UNSET(f"`{name}` may have no value")
        x = contents(x, name) if is_cell(x) else x
        self.builder.demand_value(x)
        return x
