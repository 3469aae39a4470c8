"""Rules of `rules_scipy.ndimage.convolutions`: differences, and the dot product with SciPy."""

import itertools

import numpy as np
import pytest
from scipy import ndimage as nd

from rulescore import rrule
from rulescore.testing import check_rrule
from zygote_lite import gradient, hessian
from zygote_lite.errors import DifferentiationError

MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
MODES += ("grid-constant", "grid-mirror", "grid-wrap")


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("mode", MODES)
def test_the_adjoint_is_exact_where_weights_are_longer_than_the_image(mode):
    generator = np.random.default_rng(3)
    for n, size in itertools.product((1, 2, 5), (1, 2, 3, 7, 12)):
        for origin in range(-(size // 2), (size - 1) // 2 + 1):
            x, dy = generator.normal(size=(2, n)) + 1j * generator.normal(size=(2, n))
            w = generator.normal(size=size) + 1j * generator.normal(size=size)
            y, back = rrule(nd.correlate1d, x, w, mode=mode, origin=origin)
            _, dx, dw = back(dy)
            scalar = np.vdot(dy, y).real
            assert scalar == pytest.approx(np.vdot(dx, x).real, abs=1e-12)
            assert scalar == pytest.approx(np.vdot(dw, w).real, abs=1e-12)


def test_second_derivatives_by_image_and_weights():
    x, w = np.sin(np.arange(5.0)), np.array([0.3, -0.8, 0.4])

    def loss(z):
        return np.sum(nd.correlate1d(z[:5], z[5:], mode="mirror") ** 2) / 2

    z = np.concatenate([x, w])
    steps = 1e-5 * np.eye(8)
    slopes = [(gradient(loss, z + e)[0] - gradient(loss, z - e)[0]) / 2e-5 for e in steps]
    np.testing.assert_allclose(hessian(loss)(z), slopes, atol=1e-8)


def refused(what, f, *xs):
    with pytest.raises((DifferentiationError, NotImplementedError), match=what):
        gradient(f, *xs)


def test_what_is_written_rounded_or_an_option_is_refused():
    x, w = np.arange(5.0), np.array([1.0, 2.0, 1.0])
    refused("writes to `output`", lambda x: nd.correlate1d(x, w, output=np.zeros(5))[1], x)
    refused("rounds to int64", lambda w: nd.correlate1d(np.arange(5), w)[1], w)
    refused("rounds to int64", lambda x: nd.gaussian_filter(x, 1.0, output=int)[1], x)
    refused("option", lambda c: nd.correlate1d(x, w, mode="constant", cval=c)[0], 1.0)
