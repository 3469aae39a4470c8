"""What stands in the table for rules that are loaded when their function is looked up."""

from collections.abc import Iterable, Iterator
from sys import modules
from typing import Any, ClassVar, Protocol

from rulescore._table.primitive import Entry


class Part(Protocol):
    """A section of a plugin, as far as the table looks at it."""

    is_loaded: bool

    def load(self) -> None:
        """Load it, once."""


class Deferred:
    """Stand for the rules of a function, not all of which have been loaded.

    Arguments:
        function: the function, which is kept alive.
        parts: the sections of plugins with rules for it.
        entries: the rules that are there already.
    """

    __slots__ = ("_parts", "entries", "function")
    cache: ClassVar[dict[Any, Any]] = {}  # a look-up finds nothing here, and then loads

    def __init__(
        self, function: Any, parts: tuple[Part, ...], entries: tuple[Entry, ...] = ()
    ) -> None:
        self.function, self._parts, self.entries = function, parts, entries

    @property
    def waiting(self) -> tuple[Part, ...]:
        """Return the sections that have not been loaded."""
        return tuple([part for part in self._parts if not part.is_loaded])

    def load(self) -> None:
        """Load them."""
        for part in self._parts:
            part.load()


def functions_of(names: Iterable[str]) -> Iterator[Any]:
    """Find functions by names such as `numpy.ndarray.T`, and pass over what is not there."""
    owners: dict[str, Any] = {"": modules["builtins"]}
    for name in names:
        owner, _, last = name.rpartition(".")
        if owner not in owners:
            owners[owner] = modules.get(owner) or next(functions_of((owner,)), None)
        found = getattr(owners[owner], last, None)
        if found is not None:
            yield found
