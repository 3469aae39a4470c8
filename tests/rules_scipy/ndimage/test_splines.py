"""Rules of `rules_scipy.ndimage.splines`: differences, and the dot product with SciPy's filter."""

import itertools

import numpy as np
import pytest
from scipy import ndimage as nd

from rules_scipy.ndimage.splines import sampled
from rules_scipy.shared.pixels.splines import PADDED
from rulescore import rrule
from rulescore.testing import check_rrule

MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
MODES += ("grid-constant", "grid-mirror", "grid-wrap")


@pytest.mark.filterwarnings("ignore:promoting specified output")  # which SciPy warns of
def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("mode", MODES)
def test_the_adjoint_is_exact_for_images_of_any_length(mode):
    generator = np.random.default_rng(3)
    for n, order in itertools.product((1, 2, 3, 9, 70), (0, 1, 2, 3, 4, 5)):
        x, dy = generator.normal(size=(2, n))
        y, back = rrule(nd.spline_filter1d, x, order, mode=mode)
        assert np.vdot(dy, y) == pytest.approx(np.vdot(back(dy)[1], x), abs=1e-11)


@pytest.mark.parametrize("mode", MODES)
def test_values_of_splines_are_those_of_scipy(mode):
    generator = np.random.default_rng(5)
    places = np.concatenate([generator.uniform(-25, 25, 60), np.arange(-7, 12) / 2])
    for n, order in itertools.product((1, 2, 7), (0, 1, 2, 3, 4, 5)):
        x = generator.normal(size=n)
        expected = nd.map_coordinates(x, [places], order=order, mode=mode)
        pads = order > 1 and mode in PADDED
        c = np.pad(x, 12, "edge" if mode == "nearest" else "constant") if pads else x
        c = nd.spline_filter(c, order, mode=mode) if order > 1 else c
        found = sampled(c, places[None] + 12 * pads, order, mode, 0.0, (0,))
        np.testing.assert_allclose(found, expected, atol=1e-11)
