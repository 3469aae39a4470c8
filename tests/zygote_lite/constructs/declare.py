"""Declaring a case: the function, the construct that it stands for, and the inputs to try."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A function, what it stands for in the table, and what is to come of its gradient."""

    construct: str
    function: Any
    inputs: tuple[tuple[Any, ...], ...]
    message: str | None = None  # a pattern in the text of the error, where it is refused
    expected: Any = None  # a formula: from the arguments to the tuple of gradients

    @property
    def verdict(self):
        return "works" if self.message is None else "clear error"


def declaring(cases):
    """Return the decorators `works` and `refused`, which add cases to a list."""

    def works(construct, *inputs, expected=None):
        def add(function):
            cases.append(Case(construct, function, inputs, None, expected))
            return function

        return add

    def refused(construct, message, *inputs):
        def add(function):
            cases.append(Case(construct, function, inputs, message))
            return function

        return add

    return works, refused
