"""What exported functions have in common, on every host: the names, and how options are given."""

from collections.abc import Callable
from typing import Any

from rulescore.interop._calls import Call, by_position
from rulescore.interop._differentiator import Differentiator, FunctionAndCall
from rulescore.interop._trees import LEAF, flatten


class ExportedFunction:
    """A function of a host, which has the name and the docstring of the function of NumPy's arrays.

    Arguments:
        f: the function of NumPy's arrays.
        differentiator: what differentiates it.
    """

    def __init__(self, f: Any, differentiator: Differentiator) -> None:
        self.f, self.differentiator = f, differentiator
        self.calls: dict[int, Call] = {}  # on leaves by position alone, by their number
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self.__doc__ = getattr(f, "__doc__", None)
        self.__wrapped__ = f

    def call_of_leaves(self, count: int) -> Call:
        """Return the call whose arguments are so many leaves, and keep it."""
        call = self.calls[count] = Call(self.f, (LEAF,) * count, {}, self.differentiator)
        return call

    def without_keywords(
        self,
        xs: tuple[Any, ...],
        options: dict[str, Any],
        is_leaf: Callable[[Any], bool],
        as_constant: Callable[[str, Any], Any],
    ) -> FunctionAndCall:
        """Return the function and its call, in which no leaf is among the options.

        Arguments:
            xs, options: the call.
            is_leaf, as_constant: as for `Differentiator.with_keywords`.
        """
        held: list[Any] = []
        if options:
            flatten(options, is_leaf, held)
        if not held:
            return self.f, xs, options
        xs, options = by_position(self.f, xs, options)
        return self.differentiator.with_keywords(self.f, xs, options, is_leaf, as_constant)
