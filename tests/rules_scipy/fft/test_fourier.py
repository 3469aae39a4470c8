"""Rules of `rules_scipy.fft.fourier`, against differences."""

import numpy as np
import pytest
from scipy import fft

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("name", ["fftn", "ifftn", "dctn", "dstn"])
def test_the_adjoint_along_several_axes_is_one_transform(name, monkeypatch):
    x = np.cos(np.arange(24.0)).reshape(2, 3, 4)
    y, back = rrule(getattr(fft, name), x)
    for one in ("fft", "ifft", "idct", "idst"):
        monkeypatch.setattr(fft, one, None)
    assert np.vdot(y, y).real == pytest.approx(np.vdot(back(y)[1], x), rel=1e-12)
