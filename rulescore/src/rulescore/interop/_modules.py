"""Modules as modules of another host: their functions, exported when they are asked for."""

import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

from rulescore._naming import home_of
from rulescore._plugins.loading import plugins
from rulescore._plugins.published import reason_of
from rulescore.interop._differentiator import Differentiator


class ExportedModule:
    """The functions of a module that can be differentiated, as functions of a host.

    Arguments:
        module: the module; or an object in it, such as `scipy.stats.norm`, for its methods. Modules
            and objects inside it are found likewise.
        differentiator: tells which functions are exported.
        export: makes a function of the host of one.
        name: the name of the module or object.
    """

    def __init__(
        self,
        module: Any,
        differentiator: Differentiator,
        export: Callable[[Any], Any],
        name: str | None = None,
    ) -> None:
        self.__wrapped__, self._differentiator, self._export = module, differentiator, export
        self._name = name or module.__name__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found: Any = getattr(self.__wrapped__, name)
        whole = f"{self._name}.{name}"
        if isinstance(found, ModuleType):
            if not self._is_of_package(found.__name__):
                raise AttributeError(f"{whole} is another library")
            found = ExportedModule(found, self._differentiator, self._export)
        elif callable(found) and not isinstance(found, type):
            plugins()
            if self._differentiator.knows(found):
                found = self._export(found)
            elif self._is_object(found):
                found = ExportedModule(found, self._differentiator, self._export, whole)
            else:
                raise AttributeError(f"{whole} is not exported: {why_not(found)}")
        self.__dict__[name] = found
        return found

    def _is_of_package(self, name: str) -> bool:
        return name.partition(".")[0] == self._name.partition(".")[0]

    def _is_object(self, x: Any) -> bool:
        """Return whether a value is an object of a class in Python of the same library."""
        home = vars(type(x)).get("__module__")
        return isinstance(home, str) and self._is_of_package(home)

    def __dir__(self) -> list[str]:
        """Return the names of the functions that are exported, and of objects with such methods."""
        plugins()
        return [name for name in dir(self.__wrapped__) if self._has(name)]

    def _has(self, name: str) -> bool:
        held = inspect.getattr_static(self.__wrapped__, name)
        if name.startswith("_") or not callable(held) or isinstance(held, type):
            return False
        found = getattr(self.__wrapped__, name)
        return self._differentiator.knows(found) or (
            self._is_object(found) and any(map(self._differentiator.knows, methods_of(found)))
        )

    def __repr__(self) -> str:
        return f"<functions of {self._name}, exported>"


def methods_of(x: Any) -> Iterator[Any]:
    """Yield the methods of an object."""
    for name in dir(x):
        if isinstance(inspect.getattr_static(x, name), FunctionType):
            yield getattr(x, name)


def why_not(f: Any) -> str:
    """Return why a function has no rule."""
    name = f"{home_of(f)}.{getattr(f, '__name__', '')}"
    reason = reason_of(name) or "nobody has a rule for it"
    if isinstance(f, FunctionType | MethodType):
        reason += "; `zygote_lite.interop` differentiates its source"
    return reason
