"""Which published plugin has rules for a module, and why a function has none."""

from rulescore._plugins.loading import plugins
from rulescore._table import changes

# what an installed plugin is for, its sections tell; this is for those that are not
_PUBLISHED = {
    "rules_base": ("builtins", "cmath", "math", "numpy", "operator", "_operator", "statistics"),
    "rules_nnlib": ("rules_nnlib",),
    "rules_torch": ("torch",),
    "rules_jax": ("jax",),
    "rules_scipy": (
        *("scipy.fft", "scipy.fftpack", "scipy.integrate", "scipy.interpolate", "scipy.linalg"),
        *("scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse", "scipy.spatial"),
        *("scipy.special", "scipy.stats"),
    ),
}


def provider_of(module: str) -> str | None:
    """Return the published plugin with rules for a module, if it is missing or switched off.

    Arguments:
        module: the name of a module, such as `scipy.special` or a part of it.
    """
    for name, modules in _PUBLISHED.items():
        if any(module == known or module.startswith(f"{known}.") for known in modules):
            given = [p for p in plugins() if p.name == name]
            is_there = any(p.deferred or any(map(changes.is_registered, p.loaded)) for p in given)
            return None if is_there else name
    return None


def reason_of(name: str) -> str | None:
    """Return why a function has no rule, if a plugin in use says so.

    Arguments:
        name: the full name of the function, such as `numpy.copyto`.
    """
    given = [ruleset.reasons for plugin in plugins() for ruleset in plugin.rulesets]
    return next((why[name] for why in given if name in why), None)
