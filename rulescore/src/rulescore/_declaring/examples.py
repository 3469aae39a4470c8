"""The calls that the rules of a set are checked with."""

import importlib
from typing import Any

Example = tuple[Any, tuple[Any, ...], dict[str, Any]]


class Examples:
    """Hold the recorded calls of a rule set, and import the module that records more.

    Arguments:
        module: the name of a module that records examples, or `None`.
    """

    def __init__(self, module: str | None) -> None:
        self.recorded: list[Example] = []
        self._module = module

    def all(self) -> list[Example]:
        """Return the recorded calls; the module of examples is imported now.

        What it raises is raised at each attempt, and none of its examples is kept: half of them
        would pass for all.
        """
        if self._module is not None:
            so_far = len(self.recorded)
            try:
                importlib.import_module(self._module)
            except BaseException:
                del self.recorded[so_far:]
                raise
            self._module = None
        return self.recorded
