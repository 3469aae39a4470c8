"""`rrule` inside code that is differentiated, as rule bodies use it: the rule's body, recorded."""

import inspect
import types
from typing import Any

from rulescore import (
    custom_frule,
    custom_rule,
    find_rule,
    non_differentiable,
    project,
    rrule,
    scalar_rule,
)
from zygote_lite._activity.marks import mark_new
from zygote_lite._cotangents.kinds import DIFFERENTIATED_BY_TYPE
from zygote_lite._cotangents.registry import Handlers, Nodes, Traced
from zygote_lite._cotangents.run import state
from zygote_lite._ir.intrinsics import build_tuple
from zygote_lite._ir.names import name_of
from zygote_lite._ir.places import where
from zygote_lite._nested.cotangents import box, scaled
from zygote_lite._nested.gradients import inside, refused_inside
from zygote_lite._nested.pullbacks import pulled_by_parts
from zygote_lite._nested.run import NestedProduct, NestedPullback, NestedRun
from zygote_lite._tape.handed_over import unchanged
from zygote_lite._tape.rules import PullbackHandedIn, handed_in
from zygote_lite._tape.seeds import pair_of
from zygote_lite._tape.tape import Tape
from zygote_lite._tape.validate import refuse_keywords
from zygote_lite.errors import Fault

handlers = Handlers()


@handlers.desugared(rrule)
def _(tape: Tape, nodes: Nodes, f: Any, *xs: Any, ad: Any = None, **options: Any) -> Traced | None:
    rule = find_rule(f, *xs, ad=ad, **options)
    if rule is None or rule.kind == "constant":
        return rrule(f, *xs, ad=ad, **options), None
    if rule.needs_ad:
        options["ad"] = ad
    operands = (f, *xs) if rule.kind == "instance" else xs
    at = nodes[1 : 2 + len(xs)] if rule.kind == "instance" else nodes[2 : 2 + len(xs)]
    named = (None,) * len(options)
    if rule.kind == "scalar":
        inner = (None, None, None, None, *at)
        return tape.call(inner, _by_partials, f, rule.body, rule.takes_out, *operands)
    if rule.kind == "linear":
        inner = (None, None, None, None, *at, *named)
        return tape.call(inner, _by_adjoint, f, rule.body, rule.linear, *operands, **options)
    inner = (None, None, None, *at, *named)
    return tape.call(inner, _by_body, rule.body, rule.kind == "instance", *operands, **options)


class _Pullback:
    """The pullback of a rule inside code that is differentiated: its Python is recorded, too."""

    def __init__(self, pull: Any, count: Any, needed: Any = None) -> None:
        self.pull, self.count, self.needed = pull, count, needed

    def __call__(self, dy: Any) -> Any:
        return (None,) * self.count if dy is None else self.pull(dy, self.needed)

    def only(self, needed: Any) -> Any:
        return _Pullback(self.pull, self.count, tuple(needed))


def _by_body(body: Any, is_of_instances: Any, *xs: Any, **options: Any) -> Any:
    y, back = body(*xs, **options)
    count = len(xs) + 1 - is_of_instances

    def pull(dy: Any, needed: Any) -> Any:
        if back is None:
            return (None,) * count
        if callable(back):
            cotangents = back(dy)
        else:
            cotangents = pulled_by_parts(
                back, dy, needed if is_of_instances or needed is None else needed[1:]
            )
        found = cotangents if is_of_instances else (None, *cotangents)
        return (*found, *(None,) * (count - len(found)))  # those of options that stand by position

    return y, _Pullback(pull, count)


def _by_adjoint(f: Any, adjoint: Any, linear: Any, *xs: Any, **options: Any) -> Any:
    y = f(*xs, **options)

    def pull(dy: Any, needed: Any) -> Any:
        given = adjoint(dy, *xs, **options)
        each = (given,) if len(linear) == 1 else given
        found: list[Any] = [None] * (len(xs) + 1)
        for i, d in zip(linear, each, strict=True):
            found[i + 1] = None if d is None else project(d, xs[i])
        return tuple(found)

    return y, _Pullback(pull, len(xs) + 1)


def _by_partials(f: Any, partials: Any, takes_out: Any, *xs: Any) -> Any:
    y = f(*xs)

    def pull(dy: Any, needed: Any) -> Any:
        found = partials(*xs, y) if takes_out else partials(*xs)
        each = (found,) if len(xs) == 1 else found
        cotangents = [
            None if p is None else project(scaled(dy, p), x) for p, x in zip(each, xs, strict=True)
        ]
        return (None, *cotangents)

    return y, _Pullback(pull, len(xs) + 1)


def pullback_inside(tape: Tape, nodes: Nodes, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
    """Differentiate a function on a nested tape: what `pullback` does inside."""
    f, *arguments = xs
    run = NestedRun(tape, f, nodes[1:], (True,) * (len(nodes) - 1), arguments, kws)
    back = NestedPullback(run)
    mark_new(back)
    return tape.call((None, run.at_y, None), build_tuple, run.y, back)


def vjp_inside(tape: Tape, nodes: Nodes, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
    """Do what `vjp` does inside."""
    f, *arguments = xs
    has_aux = bool(kws.get("has_aux"))
    refuse_keywords("vjp", f, kws, has_aux=has_aux)
    flags = (None, *(True for _ in arguments))
    run = NestedRun(tape, f, nodes[1 : 1 + len(xs)], flags, arguments, {})
    back = NestedProduct(run, has_aux)
    mark_new(back)
    if not has_aux:
        return tape.call((None, run.at_y, None), build_tuple, run.y, back)
    pair_of(f, run.y)
    (y, at_y), (aux, at_aux) = run.parts()
    return tape.call((None, at_y, None, at_aux), build_tuple, y, back, aux)


def _handed_in_inside(tape: Tape, nodes: Nodes, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
    """Do what a rule's `ad` does inside: the function has no state, as outside."""
    if state.stale:
        raise Fault.NESTED(
            f"{where()}: {name_of(xs[0])} is run again in the reverse pass, and reads a list, a "
            "dict or an object that is changed later, inside a gradient that is itself "
            "differentiated: pass a copy of it as an argument"
        )
    with unchanged(xs[0], xs):
        return pullback_inside(tape, nodes, xs, kws)


inside(_handed_in_inside)(handed_in)


def _pulled_again(
    back: PullbackHandedIn, tape: Tape, nodes: Nodes, xs: tuple[Any, ...], kws: dict[str, Any]
) -> Traced:
    """Pull an active cotangent back to operands that are not: the function is run once more.

    So it is in forward mode, which gives a cotangent to all pullbacks (`Pushforward`).
    """
    (dy,) = xs
    operands = (back.f, *back.xs)
    with unchanged(back.f, operands):
        run = NestedRun(tape, back.f, (None,) * len(operands), (True,) * len(operands), back.xs, {})
    return run.value_with(tuple(run.back(box(dy, nodes[1], tape))))


DIFFERENTIATED_BY_TYPE[PullbackHandedIn] = _pulled_again


_OUTSIDE = "declare the rule outside of it, and give the function what it captures as an argument"
for _declares in (custom_rule, custom_frule, non_differentiable, scalar_rule):
    refused_inside(_declares, _OUTSIDE)


def _function_made_in(f: Any, name: str) -> types.FunctionType:
    """Return a function with the code of one that another makes."""
    consts = inspect.unwrap(f).__code__.co_consts
    code = next(x for x in consts if isinstance(x, types.CodeType) and x.co_name == name)
    return types.FunctionType(code, {}, closure=tuple(types.CellType() for _ in code.co_freevars))


@handlers.by_code(_function_made_in(scalar_rule, "declare"))
def _(tape: Tape, nodes: Nodes, f: Any, *xs: Any, **kws: Any) -> Traced:
    raise Fault.NESTED(
        f"{where()}: `scalar_rule` inside a function that is differentiated: declare the rule "
        "outside of it, and give the function what it captures as an argument"
    )
