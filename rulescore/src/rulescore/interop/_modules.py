"""Modules and plugins as modules of another host: their functions, exported when asked for."""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

from rulescore._errors import Fault
from rulescore._naming import home_of
from rulescore._plugins.loading import plugins
from rulescore._plugins.plugin import Plugin
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

    def is_empty(self) -> bool:
        """Return whether nothing is exported of the module, nor of those that it has loaded."""
        for name in dir(self):
            held = vars(self.__wrapped__).get(name, None)
            if not isinstance(held, ModuleType) or not getattr(self, name).is_empty():
                return False
        return True

    def _is_of_package(self, name: str) -> bool:
        return name.partition(".")[0] == self._name.partition(".")[0]

    def _is_object(self, x: Any) -> bool:
        """Return whether a value is an object of a class in Python of the same library."""
        home = vars(type(x)).get("__module__")
        return isinstance(home, str) and self._is_of_package(home)

    def __dir__(self) -> list[str]:
        """Return the names of the functions that are exported, of modules, and of such objects."""
        plugins()
        return [name for name in dir(self.__wrapped__) if self._has(name)]

    def _has(self, name: str) -> bool:
        if name.startswith("_"):
            return False
        held = inspect.getattr_static(self.__wrapped__, name, None)
        if held is None and isinstance(self.__wrapped__, ModuleType):  # a module not loaded yet
            return importlib.util.find_spec(f"{self._name}.{name}") is not None
        if isinstance(held, ModuleType):
            return held.__name__ == f"{self._name}.{name}"
        if not callable(held) or isinstance(held, type):
            return False
        found = getattr(self.__wrapped__, name)
        return self._differentiator.knows(found) or (
            self._is_object(found) and any(map(self._differentiator.knows, methods_of(found)))
        )

    def __repr__(self) -> str:
        return f"<functions of {self._name}, exported>"


class ExportedPlugin:
    """The functions that a plugin has rules for, as functions of a host.

    They are found by the name of their library, as `numpy.sin`; its own by their name alone.

    Arguments:
        plugin: the plugin.
        differentiator, export: as for `ExportedModule`.
    """

    def __init__(
        self, plugin: Plugin, differentiator: Differentiator, export: Callable[[Any], Any]
    ) -> None:
        if plugin.disabled or plugin.error is not None or not libraries_of(plugin):
            why = "is switched off by RULESCORE_DISABLE" if plugin.disabled else "has no rules here"
            raise Fault.HOST_CALL.of(
                TypeError, f"the plugin {plugin.name} {why}: nothing can be exported of it"
            )
        self.__wrapped__, self._differentiator, self._export = plugin, differentiator, export
        self._libraries = libraries_of(plugin)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        libraries: list[str] = self.__dict__["_libraries"]
        own = self.__wrapped__.name
        if name in libraries:
            found: Any = self._library(name)
        elif own in libraries:
            found = getattr(self._library(own), name)
        else:
            raise AttributeError(
                f"the plugin {own} has rules for functions of {listed(libraries)}, and {name} is "
                f"none of these: write {libraries[-1]}.{name}, say"
            )
        self.__dict__[name] = found
        return found

    def _library(self, name: str) -> ExportedModule:
        module = importlib.import_module(name)
        return ExportedModule(module, self._differentiator, self._export)

    def __dir__(self) -> list[str]:
        """Return the names of the libraries, and of the plugin's own functions."""
        own = self.__wrapped__.name
        return [*self._libraries, *(dir(self._library(own)) if own in self._libraries else ())]

    def __repr__(self) -> str:
        return f"<functions with rules of {self.__wrapped__.name}, exported>"


def libraries_of(plugin: Plugin) -> list[str]:
    """Return the names of the libraries that a plugin has rules for."""
    sections = [*plugin.waiting, *(part.section for part in plugin.deferred)]
    names = {name for s in sections for name in s.functions or s.modules}
    names |= {str(home_of(rule.function)) for part in plugin.loaded for rule in part.rules}
    heads = {name.partition(".")[0].lstrip("_") for name in names}  # `_operator` is `operator`
    found = sorted(n for n in heads - {"rulescore"} if n and importlib.util.find_spec(n))
    return [name for name in found if name != plugin.name] or found  # without its own helpers


def plugin_of(f: Any) -> Plugin | None:
    """Return the plugin that was given: itself, its name, or its package; `None` if it is none.

    Raises `TypeError` for a name that no installed plugin has.
    """
    if isinstance(f, Plugin):
        return f
    if isinstance(f, ModuleType):
        return next((p for p in plugins() if f.__name__ in package_of(p)), None)
    if not isinstance(f, str):
        return None
    for plugin in plugins():
        if f in (plugin.name, plugin.distribution):
            return plugin
    raise Fault.HOST_CALL.of(
        TypeError,
        f"no installed plugin is named {f!r}, of {listed([p.name for p in plugins()])}: give one "
        "of these, or a module or a function itself",
    )


def package_of(plugin: Plugin) -> set[str]:
    """Return the names of the packages of a plugin: its own, and not those of its functions."""
    return {plugin.name, *(plugin.packages - set(libraries_of(plugin)))}


def listed(names: list[str]) -> str:
    """Return names as in a sentence."""
    return ", ".join(names) or "none at all"


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
