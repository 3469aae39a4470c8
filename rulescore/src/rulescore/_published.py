"""The published plugins, by the modules that they have rules for: what to install where one lacks.

An installed plugin tells by its sections what it is for; this table is for those that are not.
"""

from rulescore import _changes
from rulescore._plugins import plugins

_PUBLISHED = {
    "rules_base": ("builtins", "cmath", "math", "numpy", "operator", "_operator", "statistics"),
    "rules_nnlib": ("rules_nnlib",),
    "rules_scipy": ("scipy.fft", "scipy.fftpack", "scipy.linalg", "scipy.special", "scipy.stats"),
}


def provider_of(module: str) -> str | None:
    """Return the published plugin with rules for a module, if there is one and it is not in use.

    Arguments:
        module: the name of a module, such as `scipy.special` or a part of it.
    """
    for name, modules in _PUBLISHED.items():
        if any(module == known or module.startswith(f"{known}.") for known in modules):
            given = [ruleset for p in plugins() if p.name == name for ruleset in p.rulesets]
            return None if any(map(_changes.is_registered, given)) else name
    return None
