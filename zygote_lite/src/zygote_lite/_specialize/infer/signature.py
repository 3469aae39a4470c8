"""The signature of arguments, by which their code is found, and what is too large to have one."""

from typing import Any

from rulescore import Tangent
from zygote_lite._cotangents.kinds import is_of_pandas
from zygote_lite._specialize.infer.models.classes import is_plain
from zygote_lite._specialize.infer.models.lists.items import fact_of_list
from zygote_lite._specialize.infer.models.named import is_named_tuple
from zygote_lite._specialize.typed.effects import GENERATORS
from zygote_lite._specialize.typed.facts import ListOf, Other, fact_of
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported

_LONG = 16  # items of a list: longer ones are told apart by what they hold, not by length
_MOST_STRUCTURES = 4096  # tuples, lists and dicts that are taken item by item


def signature(xs: tuple[Any, ...]) -> Any:
    """Return the key that tells the code for arguments apart, or the reason why there is none."""
    try:
        refuse_many_parts(xs)
        return tuple(map(_signature_of, xs))
    except NotSpecializable as reason:
        return reason
    except RecursionError:
        return NotSupported.TOO_LONG("an argument is nested too deeply")


def refuse_many_parts(xs: tuple[Any, ...]) -> None:
    """Raise `NotSpecializable` if arguments consist of too many tuples, lists and dicts.

    Lists that share lists, or a list that holds itself, have more parts than can be counted.
    """
    waiting: list[Any] = [xs]
    for _ in range(_MOST_STRUCTURES):
        if not waiting:
            return
        x = waiting.pop()
        if _uniform(x) is None:
            parts = x.values() if type(x) is dict else x
            waiting += [part for part in parts if type(part) in (tuple, list, dict)]
    raise NotSupported.TOO_LONG(
        "the arguments have too many items, or contain themselves: use arrays"
    )


def of_any_length(xs: tuple[Any, ...]) -> Any:
    """Return what arguments have in common that only differ in the lengths of lists, if any is."""
    found = tuple([fact_of_list(x) if type(x) is list else type(x) for x in xs])
    return found if any(isinstance(fact, ListOf) for fact in found) else None


def _signature_of(x: Any) -> Any:
    """Return the key for one argument. Raises `NotSpecializable` where there can be none."""
    if type(x) in (tuple, list):
        return _uniform(x) or (type(x), *map(_signature_of, x))
    if type(x) is dict and all(type(key) is str for key in x):
        return dict, tuple(x), *map(_signature_of, x.values())
    if is_named_tuple(type(x)):
        return type(x), *map(_signature_of, x)
    if type(x) is Tangent:
        return Tangent, x._primal, *map(_signature_of, (*x, *x._fields.values()))
    fact = fact_of(x)
    if isinstance(fact, Other):
        if isinstance(x, str | None):
            return x
        if not (is_plain(x) or is_of_pandas(type(x)) or type(x) in GENERATORS):
            raise NotSupported.ARGUMENT_TYPE(
                "an argument is not a number, array, tuple, list or dict of those"
            )
    return fact


def _uniform(x: Any) -> Any:
    """Return what holds for a long list of items that are alike."""
    return fact_of_list(x) if type(x) is list and len(x) > _LONG else None
