"""Numbers that are `None` on some path: the code asks for that when it runs.

Such a variable is a number for all that reads it, and the code is left where it is `None`. Only
`x is None` and `x is not None` look at what it is, and the path where it is a number asks no more.
"""

import operator

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.cells import contents, is_cell
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.runtime import is_given
from zygote_lite._specialize.typed.values import Value, constant

_QUESTIONS = {"operator.is_": operator.is_, "operator.is_not": operator.is_not}


def is_constant_none(x: Value | None) -> bool:
    """Return whether a value is the constant `None`."""
    return x is not None and x.is_constant and x.sample is None


def may_be_nothing(builder: Builder) -> bool:
    """Return whether the code may have variables that are a number or `None`."""
    refused = builder.compiled or builder.twice or builder.inner or builder.handlers
    return builder.inputs.optional and not refused


def asked_for_nothing(builder: Builder, s: ir.Call, env: Env) -> Value | None:
    """Write `x is None` or `x is not None` of such a variable; return its value."""
    f = _QUESTIONS.get(s.function.path) if isinstance(s.function, ir.Intrinsic) else None
    names = [x.id for x in s.arguments if isinstance(x, ir.Name)]
    consts = [x for x in s.arguments if isinstance(x, ir.Const) and x.value is None]
    if f is None or len(names) != 1 or not consts or names[0] not in env:
        return None
    x = env[names[0]]
    x = contents(x, names[0]) if is_cell(x) else x
    if x not in builder.nullable:
        builder.inputs.meets_none |= x.sample is None and not x.is_constant
        return None
    if (is_given, x) in builder.known:
        return constant(f is operator.is_not)
    return builder.operation(f, [x, constant(None)]).target


def not_asked(builder: Builder, source: ir.Atom, env: Env) -> Value:
    """Return what a variable is assigned, which may be `None` without being a number."""
    x = env.get(source.id) if isinstance(source, ir.Name) else None
    return x if x in builder.nullable and x not in builder.uncertain else builder.atom(source, env)


def note_given(builder: Builder, test: Value, taken: bool) -> None:
    """Note on a path of a branch that a variable is a number there, where the test tells."""
    made = builder.definitions.get(test)
    if made is None or made.function not in (operator.is_, operator.is_not):
        return
    if made.arguments[0] in builder.nullable and taken is (made.function is operator.is_not):
        builder.known[is_given, made.arguments[0]] = made.arguments[0]
