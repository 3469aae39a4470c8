"""The parameters of a body: arguments with a gradient, and options."""

import inspect
from types import FunctionType
from typing import Any, NamedTuple

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD
EMPTY = inspect.Parameter.empty
_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Parameters(NamedTuple):
    """What the parameters of a body say; the names are those of `Rule`."""

    types: tuple[Any, ...]
    varargs: Any
    optional: tuple[Any, ...]
    optional_names: tuple[str | None, ...]
    options: frozenset[str] | None
    needs_ad: bool


class Parameter(NamedTuple):
    """A parameter, as `inspect.Parameter` has it; making those of a thousand bodies takes time."""

    name: str
    kind: Any
    default: Any
    annotation: Any


def parameters_of(body: Any) -> list[Parameter]:
    """Return the parameters of a function, in their order."""
    if type(body) is not FunctionType or vars(body):  # it may say that it has those of another
        found = inspect.signature(body).parameters.values()
        return [Parameter(p.name, p.kind, p.default, p.annotation) for p in found]
    code: Any = body.__code__
    count, only = code.co_argcount, code.co_posonlyargcount
    said = body.__annotations__
    given = body.__defaults__ or ()
    if not (given or only or code.co_kwonlyargcount or code.co_flags & _STARS):  # as most are
        names = code.co_varnames[:count]
        return [Parameter(name, POSITIONAL[1], EMPTY, said.get(name, EMPTY)) for name in names]
    kinds: list[Any] = [POSITIONAL[i >= only] for i in range(count)]
    kinds += [KEYWORD_ONLY] * code.co_kwonlyargcount
    names = [*code.co_varnames[: len(kinds)]]
    defaults = [EMPTY] * (count - len(given)) + [*given]
    defaults += [(body.__kwdefaults__ or {}).get(name, EMPTY) for name in names[count:]]
    rest = iter(code.co_varnames[len(kinds) :])
    if code.co_flags & inspect.CO_VARARGS:
        names.insert(count, next(rest))
        kinds.insert(count, VAR_POSITIONAL)
        defaults.insert(count, EMPTY)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        names.append(next(rest))
        kinds.append(VAR_KEYWORD)
        defaults.append(EMPTY)
    parts = zip(names, kinds, defaults, strict=True)
    return [Parameter(n, kind, value, said.get(n, EMPTY)) for n, kind, value in parts]


def sorted_out(parameters: list[Parameter]) -> Parameters:
    """Tell arguments with a gradient from options."""
    types: list[Any] = []
    optional: list[Any] = []
    optional_names: list[str | None] = []
    options: set[str] = set()
    varargs, any_option, needs_ad = None, False, False
    for p in parameters:
        annotation = Any if p.annotation is EMPTY else p.annotation
        if p.kind is VAR_KEYWORD:
            any_option = True
        elif p.kind is KEYWORD_ONLY:
            needs_ad |= p.name == "ad"
            options.add(p.name)
        elif p.kind is VAR_POSITIONAL:
            varargs = annotation
        elif p.default is EMPTY:
            types.append(annotation)
        else:
            optional.append(annotation)
            optional_names.append(p.name if p.kind is POSITIONAL[1] else None)
            if p.kind is POSITIONAL[1]:
                options.add(p.name)
    return Parameters(
        tuple(types),
        varargs,
        tuple(optional),
        tuple(optional_names),
        None if any_option else frozenset(options),
        needs_ad,
    )
