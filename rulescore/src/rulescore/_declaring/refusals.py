"""What a declaration refuses. Each message begins with the rule set and the place in its source."""

import inspect
import warnings
from collections.abc import Mapping
from types import FunctionType
from typing import Any, get_origin

import numpy as np
import plum

from rulescore._declaring.in_place import advice_for
from rulescore._declaring.parameters import EMPTY, POSITIONAL, Parameter, Parameters, parameters_of
from rulescore._errors import Fault, RuleError
from rulescore._naming import name_of
from rulescore._origin import Origin
from rulescore.faults import counted

Place = tuple[str, int]
_faithful: dict[Any, bool] = {}


class Refusals:
    """Refuse declarations of one rule set that are not what they have to be.

    Arguments:
        ruleset: the name of the rule set.
    """

    def __init__(self, ruleset: str) -> None:
        self.ruleset = ruleset

    def error(self, kind: Fault, place: Place, message: str) -> RuleError:
        """Return the error for what stands at a place."""
        return kind(f"rule set {self.ruleset}, {place[0]}:{place[1]}: {message}")

    def place_of(self, body: Any, origin: Origin) -> Place:
        """Return where a body was written; `origin` is where it is declared."""
        if not isinstance(body, FunctionType):
            raise self.error(
                Fault.FORM,
                origin.line,
                f"{body!r} is not a plain function: write a rule as a `def` or a `lambda`",
            )
        code = inspect.unwrap(body).__code__
        return code.co_filename, code.co_firstlineno

    def nameless(self, functions: tuple[Any, ...], place: Place) -> None:
        """Refuse a rule for no function, or for what is none."""
        if not functions:
            raise self.error(Fault.FORM, place, "a rule is for a function: name it first")
        for f in functions:
            if not callable(f) and not inspect.isdatadescriptor(f):
                told = f"{f!r} is not callable: give the function that the rule is for"
                raise self.error(Fault.FORM, place, told)

    def in_place(self, functions: tuple[Any, ...], kind: str, place: Place) -> None:
        """Refuse a rule with derivatives for a function that changes what it is given."""
        if kind in ("constant", "opted out", "method", "instance"):
            return
        for f in functions:
            advice = advice_for(f)
            if advice is not None:
                raise self.error(
                    Fault.IN_PLACE,
                    place,
                    f"{name_of(f)} changes what it is given, and a rule has gradients for what a "
                    f"function returns alone: {advice}",
                )

    def too_many(
        self, functions: tuple[Any, ...], kind: str, types: tuple[Any, ...], place: Place
    ) -> None:
        """Refuse a rule of more arguments than its function takes by position: no call has it."""
        if kind not in ("general", "scalar", "linear", "forward", "batched"):
            return
        for f in functions:
            code = f.__code__ if isinstance(f, FunctionType) else None
            if code is None or code.co_flags & inspect.CO_VARARGS:
                continue
            if len(types) > code.co_argcount:
                raise self.error(
                    Fault.PARAMETERS,
                    place,
                    f"the rule for {name_of(f)} takes {len(types)} arguments, and the function "
                    f"takes {code.co_argcount} by position: give the rule as many",
                )

    def unfaithful(self, annotation: Any, place: Place, f: Any) -> None:
        """Refuse an annotation that cannot be dispatched on by the types of arguments alone."""
        if isinstance(annotation, str):
            raise self.error(
                Fault.ANNOTATION,
                place,
                f"the annotation {annotation!r} of the rule for {name_of(f)} is a string: write "
                "the class itself, and remove `from __future__ import annotations` from the rule "
                "module",
            )
        try:
            faithful = _faithful[annotation]
        except KeyError:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # plum warns of what is refused below
                faithful = _faithful[annotation] = plum.is_faithful(annotation)
        except TypeError:
            faithful = False
        if not faithful and get_origin(annotation) is None and not isinstance(annotation, type):
            told = f"the rule for {name_of(f)} is declared for {annotation!r}: give a class instead"
            raise self.error(Fault.ANNOTATION, place, told)
        if not faithful:
            raise self.error(
                Fault.ANNOTATION,
                place,
                f"the rule for {name_of(f)} cannot dispatch on {annotation!r}, because whether it "
                "matches depends on more than the argument's type: annotate with the plain class "
                "(`tuple`, not `tuple[int, ...]`) and look at the value in the body",
            )

    def uneven(
        self, each: tuple[Any, ...], functions: tuple[Any, ...], due: int, place: Place
    ) -> None:
        """Refuse partial derivatives that are too many, too few, or of other parameters."""
        if len(each) > 1:
            self._others(each, due, place)
        for f in functions:
            if isinstance(f, np.ufunc) and (f.nin != due or f.nout != 1):
                raise self.error(
                    Fault.PARAMETERS,
                    place,
                    f"{name_of(f)} has {counted(f.nin, 'input')} and {counted(f.nout, 'output')}, "
                    f"and these partial derivatives are for {due} and 1: give as many, or declare "
                    "`@rule(f)`",
                )

    def _others(self, each: tuple[Any, ...], due: int, place: Place) -> None:
        if len(each) != due:
            raise self.error(
                Fault.PARAMETERS,
                place,
                f"{len(each)} functions are given, and there are {due} inputs: give one for each "
                "partial derivative, or one that returns them all",
            )
        names = [p.name for p in parameters_of(each[0])]
        for other in each[1:]:
            if [p.name for p in parameters_of(other)] != names:
                raise self.error(
                    Fault.PARAMETERS,
                    (other.__code__.co_filename, other.__code__.co_firstlineno),
                    "the functions for the partial derivatives of one rule take the same "
                    f"parameters, here ({', '.join(names)}): give them these names",
                )

    def unknown(
        self, refused: Mapping[str, str], parameters: list[Parameter], place: Place
    ) -> dict[int, tuple[str, str]]:
        """Return the refused parameters by their positions; refuse names of what is none."""
        if not refused:
            return {}
        names = [p.name for p in parameters]
        for name in refused:
            if name not in names:
                raise self.error(
                    Fault.ARGUMENT,
                    place,
                    f"`refuses` names {name!r}, and the arguments are {', '.join(names)}: name "
                    "one of these",
                )
        return {names.index(name): (name, reason) for name, reason in refused.items()}

    def not_one_by_one(self, parameters: list[Parameter], place: Place) -> None:
        """Refuse partial derivatives that take anything but the inputs and the output."""
        if any(p.kind not in POSITIONAL or p.default is not EMPTY for p in parameters):
            raise self.error(
                Fault.PARAMETERS,
                place,
                "partial derivatives take the inputs one by one, and perhaps `out`: write them "
                "without defaults and `*`",
            )

    def without_cotangent(self, parameters: list[Parameter], place: Place) -> None:
        """Refuse the adjoint of a linear function that does not take a cotangent first."""
        if not parameters or parameters[0].kind not in POSITIONAL:
            raise self.error(
                Fault.PARAMETERS,
                place,
                "the first parameter of the adjoint of a linear function is the cotangent `dy` of "
                "its value: write it first",
            )

    def misplaced(
        self, linear: tuple[int, ...], found: Parameters, shifts: tuple[str, ...], place: Place
    ) -> None:
        """Refuse `argnums` and `shifts` of a linear rule that are none of its parameters."""
        count = len(found.types)
        if found.needs_ad:
            raise self.error(
                Fault.PARAMETERS,
                place,
                "the adjoint of a linear function takes no `ad`: leave it out",
            )
        if not linear or len(set(linear)) < len(linear) or not set(linear) <= set(range(count)):
            raise self.error(
                Fault.ARGUMENT,
                place,
                f"`argnums` {linear} of a linear rule are not positions of its arguments, of which "
                f"there are {count} besides `dy` and the options: count from 0, behind `dy`",
            )
        if found.options is not None and not found.options.issuperset(shifts):
            raise self.error(
                Fault.ARGUMENT,
                place,
                f"`shifts` {tuple(shifts)} of a linear rule name something that is not an "
                "option of it: name keyword-only parameters",
            )

    def other_owner(self, owner: Any, place: Place, body: Any) -> None:
        """Refuse a rule of instances that is not for the instances of a class of callables."""
        if isinstance(owner, str):
            self.unfaithful(owner, place, body)
        if not isinstance(owner, type) or not _has_callable_instances(owner):
            raise self.error(
                Fault.ANNOTATION,
                place,
                "a rule of instances is for a class of callable objects: annotate its first "
                "parameter with that class",
            )


def _has_callable_instances(owner: type) -> bool:
    return any("__call__" in vars(base) for base in owner.__mro__)
