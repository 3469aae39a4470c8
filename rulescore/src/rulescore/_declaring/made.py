"""The rules that a declaration makes: one for each of its functions, or none where one is refused.

A body is read here: its annotations are the types of the rule, its defaults the options.
"""

from collections.abc import Callable, Mapping
from typing import Any

from rulescore._declaring.parameters import parameters_of, sorted_out
from rulescore._declaring.refusals import Place, Refusals
from rulescore._errors import Fault
from rulescore._general import pull_general, pull_instance
from rulescore._linear import pull_linear
from rulescore._origin import Origin
from rulescore._rule import Rule


def rules_of_body(
    refuse: Refusals,
    functions: tuple[Any, ...],
    kind: str,
    body: Any,
    origin: Origin,
    argnums: int | tuple[int, ...] | None = None,
    shifts: tuple[str, ...] = (),
    refuses: Mapping[str, str] | None = None,
    by_position: Callable[..., Any] | None = None,
    names: Callable[..., Mapping[str, Any]] | None = None,
    *,
    may_raise: bool = False,
) -> list[Rule]:
    """Return the rules that a body declares, dispatched on its annotations."""
    place = refuse.place_of(body, origin)
    parameters = parameters_of(body)
    if kind == "linear":
        refuse.without_cotangent(parameters, place)
        del parameters[0]
    found = sorted_out(parameters)
    if kind in ("forward", "batched") and found.needs_ad:
        raise refuse.error(Fault.PARAMETERS, place, f"a {kind} rule takes no `ad`")
    if kind == "instance":
        owner = found.types[0] if found.types else None
        refuse.other_owner(owner, place, body)
        functions = (owner,)
    linear = tuple(range(len(found.types))) if argnums is None else argnums
    linear = (linear,) if isinstance(linear, int) else linear
    if kind == "linear":
        refuse.misplaced(linear, found, shifts, place)
    return rules_for(
        refuse,
        functions,
        kind,
        found.types,
        varargs=found.varargs,
        body=body,
        place=place,
        origin=origin,
        optional=found.optional,
        optional_names=found.optional_names,
        options=found.options,
        needs_ad=found.needs_ad,
        linear=linear if kind == "linear" else (),
        shifts=frozenset(shifts),
        may_raise=may_raise,
        refuses=refuse.unknown(refuses or {}, parameters[: len(found.types)], place),
        by_position=by_position,
        names=names,
        reverse=pull_linear if kind == "linear" else None,
    )


def rules_for(
    refuse: Refusals,
    functions: tuple[Any, ...],
    kind: str,
    types: tuple[Any, ...],
    *,
    place: Place,
    body: Any = None,
    varargs: Any = None,
    optional: tuple[Any, ...] = (),
    reverse: Callable[..., tuple[Any, ...]] | None = None,
    **more: Any,
) -> list[Rule]:
    """Return one rule for each of the functions; `more` has further fields of `Rule`."""
    refuse.nameless(functions, place)
    refuse.in_place(functions, kind, place)
    refuse.too_many(functions, kind, types, place)
    for annotation in (*types, *optional, varargs):
        refuse.unfaithful(annotation, place, functions[0])
    more["reverse"] = reverse or (pull_instance if kind == "instance" else pull_general)
    rules = {  # by identity: np.abs and np.absolute are one function
        id(f): Rule(
            f, kind, types, varargs, body or f, refuse.ruleset, *place, optional=optional, **more
        )
        for f in functions
    }
    return list(rules.values())
