"""Calls that exported rules are checked with: the examples of the plugins, and whole programs."""

import numpy as np

from rulescore import find_rule, plugins
from rulescore._naming import name_of

PLUGINS = ("rules_base", "rules_nnlib", "rules_scipy")
KINKS = {  # examples at which a second derivative does not exist: it is checked beside them
    "rules_nnlib.mae": "the corner of the absolute value: a prediction is its target",
    "rules_nnlib.cross_entropy": "x * log(x) at a target of 0",
    "rules_nnlib.binary_cross_entropy": "x * log(x) at a target of 0",
}
SLOW = {  # twice: a second derivative that is not checked
    "scipy.special.bdtrin": "differences of an inverse that is found by steps: 10 seconds",
}
COUNT = 36  # rules of each plugin, and as many where there are fewer


def is_real(x):
    return (type(x) is np.ndarray and x.dtype == np.float64 and 0 < x.size <= 12) or (
        type(x) is float
    )


def is_plain(f, xs, options):
    """Return whether an example is a call of real numbers and arrays that a host can check."""
    if not callable(f) or isinstance(f, type) or any(n.startswith("check_") for n in options):
        return False
    if "._" in name_of(f):  # private: some that are compiled take no array that is read-only
        return False
    if not all(is_real(x) or isinstance(x, int | str | None) for x in xs):
        return False
    rule = find_rule(f, *xs, **options)
    if rule is None or rule.kind not in ("scalar", "general", "linear") or rule.needs_ad:
        return False
    asked = [x for i, x in enumerate(xs) if is_real(x) and i not in rule.refuses]
    return len(asked) == sum(map(is_real, xs)) > 0 and is_real(as_array(f(*xs, **options)))


def as_array(y):
    return y if isinstance(y, np.ndarray) else float(y) if isinstance(y, float) else None


def examples_of(name):
    """Return examples of rules of a plugin, of as many functions, from all its files."""
    (plugin,) = [p for p in plugins(all_sections=True) if p.name == name]
    found = {}
    for ruleset in plugin.rulesets:
        for f, xs, options in ruleset.examples:
            key = name_of(f)
            if key not in found and is_plain(f, xs, options):
                found[key] = (f, xs, options)
    each = [*found.values()]
    step = max(len(each) / COUNT, 1.0)
    return [each[int(i * step)] for i in range(min(COUNT, len(each)))]


def real_only(f, xs, options):
    """Return a function of the real arguments alone, and these."""
    places = [i for i, x in enumerate(xs) if is_real(x)]

    def call(*given):
        each = list(xs)
        for i, x in zip(places, given, strict=True):
            each[i] = x
        return f(*each, **options)

    return call, [xs[i] for i in places]


def beside_kinks(f, xs):
    """Return the arguments of an example, moved apart and inwards if it is at a kink."""
    if name_of(f) not in KINKS:
        return xs
    return tuple([x * (0.9 - 0.2 * i) + 0.05 if is_real(x) else x for i, x in enumerate(xs)])
