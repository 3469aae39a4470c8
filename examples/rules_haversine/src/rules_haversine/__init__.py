"""Derivative rules for haversine: an example of a third-party rule plugin."""

from rulescore import Section, hookimpl

__version__ = "0.1.0"


@hookimpl
def rulescore_rules() -> list[Section]:
    """Return the rules of this plugin, to be imported when `haversine` has been."""
    return [Section("haversine", "rules_haversine._distances")]
