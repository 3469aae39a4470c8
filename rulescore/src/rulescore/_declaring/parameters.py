"""The parameters of a body: arguments with a gradient, and options."""

import inspect
from typing import Any, NamedTuple

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Parameters(NamedTuple):
    """What the parameters of a body say; the names are those of `Rule`."""

    types: tuple[Any, ...]
    varargs: Any
    optional: tuple[Any, ...]
    optional_names: tuple[str | None, ...]
    options: frozenset[str] | None
    needs_ad: bool


def parameters_of(body: Any) -> list[inspect.Parameter]:
    """Return the parameters of a function, in their order."""
    return list(inspect.signature(body).parameters.values())


def sorted_out(parameters: list[inspect.Parameter]) -> Parameters:
    """Tell arguments with a gradient from options."""
    types: list[Any] = []
    optional: list[Any] = []
    optional_names: list[str | None] = []
    options: set[str] = set()
    varargs, any_option, needs_ad = None, False, False
    for p in parameters:
        annotation = Any if p.annotation is p.empty else p.annotation
        if p.kind is p.VAR_KEYWORD:
            any_option = True
        elif p.kind is p.KEYWORD_ONLY:
            needs_ad |= p.name == "ad"
            options.add(p.name)
        elif p.kind is p.VAR_POSITIONAL:
            varargs = annotation
        elif p.default is p.empty:
            types.append(annotation)
        else:
            optional.append(annotation)
            optional_names.append(p.name if p.kind is p.POSITIONAL_OR_KEYWORD else None)
            if p.kind is p.POSITIONAL_OR_KEYWORD:
                options.add(p.name)
    return Parameters(
        tuple(types),
        varargs,
        tuple(optional),
        tuple(optional_names),
        None if any_option else frozenset(options),
        needs_ad,
    )
