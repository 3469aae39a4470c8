"""Code of plugins: its modules do not change, so the names in it are constants."""

from typing import Any

from rulescore import plugins

_OURS = ("rulescore", "numpy", "zygote_lite")


def is_of_plugin(globals_: dict[str, Any]) -> bool:
    """Return whether a module belongs to a plugin, or to a package that rules are written with."""
    return str(globals_.get("__name__")).partition(".")[0] in _packages(plugins())


_packages_of: dict[int, tuple[tuple[Any, ...], set[str]]] = {}  # plugins are kept: so is the id


def _packages(installed: tuple[Any, ...]) -> set[str]:
    """Return the packages that rules of plugins are written in, and what those are made of."""
    known = _packages_of.get(id(installed))
    if known is None:
        rules = [r for plugin in installed for ruleset in plugin.rulesets for r in ruleset.rules]
        modules = {str(getattr(r.body, "__module__", "")) for r in rules}
        names = {name.partition(".")[0] for name in modules if name} | {*_OURS}
        known = _packages_of[id(installed)] = installed, names
    return known[1]
