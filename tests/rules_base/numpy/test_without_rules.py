"""Every public function of NumPy has a rule, or a reason why it has none."""

import importlib
import inspect

import numpy as np

from rules_base import MODULES
from rules_base.numpy.without_rules import WITHOUT_RULES


def with_rules():
    rulesets = [importlib.import_module(f"rules_base.{name}").rule for name in MODULES]
    return {id(rule.function) for ruleset in rulesets for rule in ruleset.rules}


def test_numpy_is_covered():
    known = with_rules()
    missing = {
        name
        for name in np.__all__
        if callable(getattr(np, name))
        and not name.startswith("_")
        and id(getattr(np, name)) not in known
        and not inspect.ismodule(getattr(np, name))
    }
    assert missing - WITHOUT_RULES.keys() == set()


def resolved(name):
    *owner, last = name.split(".")
    return getattr(getattr(np, owner[0]) if owner else np, last, None)


def test_no_reason_is_outdated():
    known = with_rules()
    assert [
        name for name in WITHOUT_RULES if name != "ndarray" and id(resolved(name)) in known
    ] == []
