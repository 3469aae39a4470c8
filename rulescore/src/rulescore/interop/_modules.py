"""Modules as modules of another host: their functions, exported when they are asked for."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from rulescore._naming import home_of
from rulescore._plugins.loading import plugins
from rulescore._plugins.published import reason_of
from rulescore.interop._differentiator import Differentiator


class ExportedModule:
    """The functions of a module that can be differentiated, as functions of a host.

    Arguments:
        module: the module. Those inside it are found likewise.
        differentiator: tells which functions are exported.
        export: makes a function of the host of one.
    """

    def __init__(
        self, module: ModuleType, differentiator: Differentiator, export: Callable[[Any], Any]
    ) -> None:
        self.__wrapped__, self._differentiator, self._export = module, differentiator, export

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = self.__wrapped__
        found: Any = getattr(module, name)
        if isinstance(found, ModuleType):
            if found.__name__.partition(".")[0] != module.__name__.partition(".")[0]:
                raise AttributeError(f"{module.__name__}.{name} is another library")
            found = ExportedModule(found, self._differentiator, self._export)
        elif callable(found) and not isinstance(found, type):
            plugins()
            if not self._differentiator.knows(found):
                raise AttributeError(f"{module.__name__}.{name} is not exported: {why_not(found)}")
            found = self._export(found)
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        """Return the names of the functions that are exported."""
        plugins()
        named = vars(self.__wrapped__)
        return [
            name
            for name in dir(self.__wrapped__)
            if not name.startswith("_")
            and callable(named.get(name))
            and not isinstance(named[name], type)
            and self._differentiator.knows(named[name])
        ]

    def __repr__(self) -> str:
        return f"<functions of {self.__wrapped__.__name__}, exported>"


def why_not(f: Any) -> str:
    """Return why a function has no rule."""
    name = f"{home_of(f)}.{getattr(f, '__name__', '')}"
    return reason_of(name) or "nobody has a rule for it"
