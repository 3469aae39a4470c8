"""The example plugin's rules, against finite differences of the library's own functions.

They run where the plugin is installed: in the plugin matrix, which installs it as a wheel.
"""

import importlib

import numpy as np
import pytest

from rulescore import plugins, rrule
from rulescore.testing import check_rrule

PLUGIN = next((p for p in plugins(all_sections=True) if p.name == "rules_haversine"), None)
if PLUGIN is None:
    pytest.skip(
        "examples/rules_haversine is not installed here: `nox -s third_party` installs it",
        allow_module_level=True,
    )

library = importlib.import_module("haversine")  # it comes with the plugin
EXAMPLES = [example for ruleset in PLUGIN.rulesets for example in ruleset.examples]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_examples(f, xs, options):
    assert check_rrule(f, *xs, **options).plugin == "rules_haversine"


def test_along_the_equator():
    degree = library.haversine((0.0, 0.0), (0.0, 1.0))
    _, first, second = rrule(library.haversine, (0.0, 0.0), (0.0, 30.0))[1](1.0)
    assert first == pytest.approx((0.0, -degree))
    assert second == pytest.approx((0.0, degree))


def test_no_slope_where_points_coincide():
    points = np.array([[10.0, 20.0], [0.0, 0.0]])
    _, first, second = rrule(library.haversine_vector, points, points.copy())[1](np.ones(2))
    assert not np.any(first)
    assert not np.any(second)
