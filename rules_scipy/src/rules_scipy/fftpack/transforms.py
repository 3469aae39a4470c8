"""The transforms of `scipy.fftpack`, which packs the half spectrum of a real signal."""

import numpy as np
from scipy import fftpack as fp

from rules_scipy.shared.transforms import (
    ADJOINT_NORM,
    INVERSE_TYPE,
    along,
    axes_of,
    fft_adjoint,
    fftn_adjoint,
    ifft_adjoint,
    ifftn_adjoint,
    one_trigonometric_adjoint,
    resized,
    settled,
    trigonometric_adjoint,
)
from rulescore import Numeric, RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.fftpack.transforms")
ArrayLike = Numeric | list | tuple
rule.constant(fp.next_fast_len)


def declare(f, many, two, each, along_all):
    """Declare a complex transform along one axis, many, and two."""

    @rule.linear(f)
    def _(dy, x: ArrayLike, n=None, axis=-1, overwrite_x=False):
        return each(np.asarray(dy), np.shape(x)[axis], axis, None)

    @rule.linear(many)
    def _(dy, x: ArrayLike, shape=None, axes=None, overwrite_x=False):
        return along_all(np.asarray(dy), axes_of(x, shape, axes), None)

    @rule.linear(two)
    def _(dy, x: ArrayLike, shape=None, axes=(-2, -1), overwrite_x=False):
        return along_all(np.asarray(dy), axes_of(x, shape, axes), None)


declare(fp.fft, fp.fftn, fp.fft2, fft_adjoint, fftn_adjoint)
declare(fp.ifft, fp.ifftn, fp.ifft2, ifft_adjoint, ifftn_adjoint)


def squares(dy, axis):
    """Return the squared lengths of the rows of the packed transform."""
    n = dy.shape[axis]
    k = np.arange(n)
    weights = np.where((k == 0) | ((k == n - 1) & (n % 2 == 0)), n, n / 2)
    return along(weights.astype(dy.dtype), axis, dy.ndim)


@rule.linear(fp.rfft)
def _(dy, x: ArrayLike, n=None, axis=-1, overwrite_x=False):
    dy = np.asarray(dy)
    return resized(fp.irfft(dy * squares(dy, axis), axis=axis), np.shape(x)[axis], axis)


@rule.linear(fp.irfft)
def _(dy, x: ArrayLike, n=None, axis=-1, overwrite_x=False):
    dy = np.asarray(dy)
    return resized(fp.rfft(dy, axis=axis) / squares(dy, axis), np.shape(x)[axis], axis)


def declare_trigonometric(f, many, is_sine, inverse):
    """Declare a cosine or sine transform, along one axis and along many."""
    adjoint = one_trigonometric_adjoint(is_sine, False)

    @rule.linear(f)
    def _(dy, x: ArrayLike, type=2, n=None, axis=-1, norm=None, overwrite_x=False):
        kind = INVERSE_TYPE[type] if inverse else type
        norm = ADJOINT_NORM[norm] if inverse and norm is not None else norm
        return adjoint(dy, x, kind, axis, norm, None)

    @rule.linear(many)
    def _(dy, x: ArrayLike, type=2, shape=None, axes=None, norm=None, overwrite_x=False):
        kind, norm, choice = settled(type, norm, None, inverse and norm is not None)
        kind = settled(type, None, None, inverse)[0]
        axes = axes_of(x, shape, axes)
        return trigonometric_adjoint(np.asarray(dy), is_sine, kind, axes, norm, choice)


declare_trigonometric(fp.dct, fp.dctn, False, False)
declare_trigonometric(fp.idct, fp.idctn, False, True)
declare_trigonometric(fp.dst, fp.dstn, True, False)
declare_trigonometric(fp.idst, fp.idstn, True, True)
rule.without_rule(
    "it runs SciPy's tests: call it outside of what is differentiated", "scipy.fftpack.test"
)
