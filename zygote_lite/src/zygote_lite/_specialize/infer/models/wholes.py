"""Values that rule sets know as a whole, as sparse arrays: operands that the code is given.

The code is made for their class, shape and dtype. It gives them to operators, functions and methods
that have a rule, and writes to none of them. No gradient passes to them: else the tape answers.
"""

import types
from typing import Any

from rulescore.faults import an
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import whole_fact
from zygote_lite._specialize.typed.functions import attribute_of
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.stand_ins import Method
from zygote_lite._specialize.typed.values import Value, constant

_TOLD = ("shape", "ndim", "dtype", "format")


def given_whole(builder: Builder, x: Any, expression: str, stem: str) -> Value | None:
    """Return a value from outside that is known as a whole, and demand that it stays of its kind.

    It is `None` for other values.
    """
    fact = whole_fact(x)
    if fact is None or builder.compiled or builder.twice:
        return None
    inputs = builder.inputs
    held = inputs.holder(type(x), expression)
    inputs.guards[f"{held}.shape == {fact.shape!r}"] = None
    inputs.guards[f"{held}.dtype == {inputs.name_for(fact.dtype, 'o')}"] = None
    value = Value(fact, x, builder.name(stem))
    inputs.wholes[value] = held
    return value


def attribute_of_whole(builder: Builder, x: Value, name: str) -> Value:
    """Write `x.name`: what the code is made for, the transpose, or a method."""
    if name in _TOLD and hasattr(x.sample, name):
        return constant(getattr(x.sample, name))
    if name == "T":
        return _transpose(builder, x)
    found = getattr(type(x.sample), name, None)
    if isinstance(found, types.FunctionType):
        return constant(Method(x, name, found))
    kind = type(x.sample).__name__
    raise NotSupported.ATTRIBUTE(f"it reads the attribute {name} of {an(kind)}")


def _transpose(builder: Builder, x: Value) -> Value:
    """Write `x.T`: of what comes from outside it is computed once, at entry."""
    inputs = builder.inputs
    if x not in inputs.wholes:
        return builder.operation(attribute_of("T"), [x]).target
    expression = f"{inputs.wholes[x]}.T"
    if expression not in inputs.given:
        fact = whole_fact(x.sample.T)
        assert fact is not None
        inputs.give(Value(fact, x.sample.T, builder.name("transposed")), expression)
    return inputs.given[expression][0]
