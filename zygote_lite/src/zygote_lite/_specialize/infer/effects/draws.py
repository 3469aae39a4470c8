"""Random draws, of generators that the program makes or is given, and clocks.

A generator is an object of the code, and its methods are called in the order of the program. What
it gives depends on no argument that is differentiated. Draws of a generator from outside are taken
back where the call goes to the tape.
"""

import copy
import time
from typing import Any

import numpy as np

from rulescore.faults import an
from zygote_lite._activity import asking
from zygote_lite._specialize.infer.effects.waiting import effects_of
from zygote_lite._specialize.infer.held.containers import NO_RESULT, mirror
from zygote_lite._specialize.typed.abstract_eval import Result, mark_made, run
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.effects import GENERATORS
from zygote_lite._specialize.typed.facts import ArrayOf, Other, Scalar, fact_of, without_lengths
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value, constant

_OF_SEEDS = (np.random.default_rng, *GENERATORS[1:])
_DRAWS = {
    "beta", "betavariate", "binomial", "chisquare", "choice", "choices", "dirichlet", "exponential",
    "expovariate", "gamma", "gammavariate", "gauss", "geometric", "gumbel", "integers", "laplace",
    "logistic", "lognormal", "lognormvariate", "multivariate_normal", "normal", "normalvariate",
    "permutation", "poisson", "rand", "randint", "randn", "random", "random_sample", "randrange",
    "rayleigh", "sample", "seed", "standard_exponential", "standard_gamma", "standard_normal",
    "standard_t", "triangular", "uniform", "vonmises", "weibull",
}  # fmt: skip
_CLOCKS = tuple(
    getattr(time, f"{name}{unit}")
    for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time")
    for unit in ("", "_ns")
)


def is_generator(x: Value) -> bool:
    """Return whether a value is a random generator."""
    return type(x.fact) is Other and x.fact.type in GENERATORS


def random_call(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value | None:
    """Write what makes a generator, draws from Python's own, or asks a clock; else `None`."""
    if f in _CLOCKS and not (xs or kws or builder.plain):
        return _time(builder, f, stem)
    text = xs[0].sample if f is np.datetime64 and xs else None
    if isinstance(text, str) and text in asking.NOW:
        raise Unsound.EFFECTS("it asks `datetime64` for the time")
    if f in _OF_SEEDS and not builder.plain:
        return _made_generator(builder, f, xs, kws, stem)
    owner, at = getattr(f, "__self__", None), f
    if f is np.random.seed:
        owner, at = np.random.mtrand._rand, np.random.mtrand
    if type(owner) in GENERATORS and not builder.plain:
        expression = f"{builder.inputs.name_for(at, 'o')}.{'_rand' if at is not f else '__self__'}"
        source = builder.read(owner, expression, "generator", changes=True)
        return drawn(builder, source, f.__name__, xs, kws, stem)
    return None


def _time(builder: Builder, f: Any, stem: str) -> Value:
    """Write a call of a clock, where it stands: each gives another time."""
    _refuse_where_again(builder)
    builder.inputs.tells_time = True
    sample = f()
    op = builder.write(Result(without_lengths(fact_of(sample)), sample, True), f, [], {}, stem)
    mirror(op, lambda builder, _: [], [])
    return op.target


def _made_generator(
    builder: Builder, f: Any, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write what makes a generator of a seed: without one, each run has another."""
    seeds = [*xs, *kws.values()]
    if len(seeds) != 1 or not isinstance(seeds[0].fact, Scalar) or seeds[0].active:
        raise Unsound.EFFECTS(
            "it makes a random generator without a number as its seed: give one, or pass the "
            "generator"
        )
    _refuse_where_again(builder)
    sample = run(f, [x.sample for x in xs], {name: x.sample for name, x in kws.items()})
    op = builder.write(Result(Other(type(sample)), sample), f, xs, kws, stem)
    mirror(op, lambda builder, _: [], [])
    return op.target


def _refuse_where_again(builder: Builder) -> None:
    if builder.inner or builder.compiled:
        raise Unsound.EFFECTS(
            "it draws random numbers, or asks a clock, in a nested gradient or in compiled code"
        )


def generator_from_outside(builder: Builder, x: Any, expression: str, stem: str) -> Value:
    """Return a generator that is given, or read from outside."""
    inputs = builder.inputs
    held = inputs.holder(type(x), expression)
    if held not in inputs.given:
        inputs.give(given_generator(builder, x, expression, stem), held)
    return inputs.given[held][0]


def given_generator(builder: Builder, x: Any, expression: str, name: str) -> Value:
    """Return the value of a generator that an expression gives."""
    value = Value(Other(type(x)), copy.deepcopy(x), builder.name(name))
    builder.inputs.sources[value] = builder.inputs.holder(type(x), expression)
    return value


def drawn(
    builder: Builder, x: Value, name: str, xs: list[Value], kws: dict[str, Value], stem: str
) -> Value:
    """Write a draw of a generator."""
    operands = [leaf for y in (*xs, *kws.values()) for leaf in leaves(y)]
    if name not in _DRAWS or builder.plain:
        raise Unsound.EFFECTS(f"it calls the method {name} of a random generator")
    if any(y.active for y in operands):
        raise NotSupported.RULE_OPERAND(
            "it differentiates an argument of a random draw: draw first, then scale and shift"
        )
    if not all(_is_operand_of_draw(y) for y in operands):
        raise NotSupported.METHOD("a random draw has an argument that is not a number or a shape")
    _refuse_where_again(builder)
    if x in builder.inputs.sources:
        effects_of(builder, name)
        builder.inputs.drawn[builder.inputs.sources[x]] = None
    given = {option: y.sample for option, y in kws.items()}
    sample = run(getattr(x.sample, name), [y.sample for y in xs], given)
    f = getattr(type(x.sample), name)
    if name == "seed":
        mirror(builder.write(NO_RESULT, f, [x, *xs], kws), lambda builder, _: [], [])
        return constant(None)
    fact = fact_of(sample)
    if not isinstance(fact, Scalar | ArrayOf):
        raise NotSupported.VALUE_TYPE(f"a random draw returns {an(type(sample).__name__)}")
    certain = isinstance(fact, ArrayOf) and all(y.is_constant for y in operands)
    op = builder.write(
        Result(fact if certain else without_lengths(fact), sample, certain), f, [x, *xs], kws, stem
    )
    mirror(op, lambda builder, _: [], [])
    op.target.base, op.target.fresh = None, True
    mark_made(np.copy, op.target)
    return op.target


def _is_operand_of_draw(x: Value) -> bool:
    """Return whether a value is a number, an array, a shape or `None`."""
    return x.is_scalar or x.is_array or x.sample is None or type(x.sample) is tuple
