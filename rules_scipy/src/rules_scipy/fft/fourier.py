"""Discrete Fourier transforms, of complex and of real signals."""

import numpy as np
from scipy import fft as sf

from rules_scipy.shared.batches import along_axes, along_axis
from rules_scipy.shared.transforms import (
    ADJOINT_NORM,
    axes_of,
    fft_adjoint,
    fftn_adjoint,
    ifft_adjoint,
    ifftn_adjoint,
    irfft_adjoint,
    rfft_adjoint,
)
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.fft.fourier")
ArrayLike = Numeric | list | tuple
rule.constant(sf.next_fast_len, sf.get_workers)
if hasattr(sf, "prev_fast_len"):
    rule.constant(sf.prev_fast_len)


def declare(f, adjoint):
    """Declare a transform along one axis; `adjoint` takes `dy`, the input's length, axis, norm."""

    @rule.linear(f)
    def _(dy, x: ArrayLike, n=None, axis=-1, norm=None, *, overwrite_x=False, workers=None):
        length = x.shape[axis] if type(x) is np.ndarray else np.shape(x)[axis]
        return adjoint(dy if type(dy) is np.ndarray else np.asarray(dy), length, axis, norm)


def declare_halving(f, adjoint):
    """Declare a transform to a half spectrum; `adjoint` also takes the length of the signal."""

    @rule.linear(f)
    def _(dy, x: ArrayLike, n=None, axis=-1, norm=None, *, overwrite_x=False, workers=None):
        length = x.shape[axis] if type(x) is np.ndarray else np.shape(x)[axis]
        dy = dy if type(dy) is np.ndarray else np.asarray(dy)
        return adjoint(dy, length if n is None else n, length, axis, norm)


declare(sf.fft, fft_adjoint)
declare(sf.ifft, ifft_adjoint)
declare(sf.irfft, irfft_adjoint)
declare_halving(sf.rfft, rfft_adjoint)
# hfft(x) is irfft(conj(x)), and ihfft(x) conj(rfft(x)), with the norm of the other direction
declare(
    sf.hfft,
    lambda dy, length, axis, norm: irfft_adjoint(dy, length, axis, ADJOINT_NORM[norm]).conj(),
)
declare_halving(
    sf.ihfft,
    lambda dy, n, length, axis, norm: rfft_adjoint(dy.conj(), n, length, axis, ADJOINT_NORM[norm]),
)


def complex_adjoint(inverse, each):
    """Return the adjoint of a transform that is the same along all axes."""

    def adjoint(dy, x, s, axes, norm):
        if s is None:
            return inverse(dy, None, axes, ADJOINT_NORM[norm])
        return each(dy, axes_of(x, s, axes), norm)

    return adjoint


def rfftn_adjoint(dy, x, s, axes, norm):
    """Return the cotangent of the input of `rfftn`, which transforms its last axis first."""
    if s is None and type(axes) is tuple and type(x) is np.ndarray:  # as usual: of no axis a part
        *others, last = axes
        dy = sf.ifftn(dy, None, others, ADJOINT_NORM[norm]) if others else dy
        return rfft_adjoint(dy, x.shape[last], x.shape[last], last, norm)
    *others, (last, length, n) = axes_of(x, s, axes)
    dy = fftn_adjoint(dy, others, norm) if others else dy
    return rfft_adjoint(dy, n, length, last, norm)


def irfftn_adjoint(dy, x, s, axes, norm):
    """Return the cotangent of the input of `irfftn`, which transforms its last axis last."""
    if s is None and type(axes) is tuple and type(x) is np.ndarray:
        *others, last = axes
        dy = irfft_adjoint(dy, x.shape[last], last, norm)
        return sf.fftn(dy, None, others, ADJOINT_NORM[norm]) if others else dy
    *others, (last, length, _) = axes_of(x, s, axes)
    dy = irfft_adjoint(dy, length, last, norm)
    return ifftn_adjoint(dy, others, norm) if others else dy


def hfftn_adjoint(dy, x, s, axes, norm):
    """Return the cotangent of the input of `hfftn`, which is `irfftn` of the conjugate."""
    return irfftn_adjoint(dy, x, s, axes, ADJOINT_NORM[norm]).conj()


def ihfftn_adjoint(dy, x, s, axes, norm):
    """Return the cotangent of the input of `ihfftn`, the conjugate of `rfftn`."""
    return rfftn_adjoint(dy.conj(), x, s, axes, ADJOINT_NORM[norm])


def declare_many(two, many, adjoint):
    """Declare a transform along two axes, and along many."""

    @rule.linear(two)
    def _(dy, x: ArrayLike, s=None, axes=(-2, -1), norm=None, *, overwrite_x=False, workers=None):
        return adjoint(np.asarray(dy), x, s, axes, norm)

    @rule.linear(many)
    def _(dy, x: ArrayLike, s=None, axes=None, norm=None, *, overwrite_x=False, workers=None):
        return adjoint(np.asarray(dy), x, s, axes, norm)


declare_many(sf.fft2, sf.fftn, complex_adjoint(sf.ifftn, fftn_adjoint))
declare_many(sf.ifft2, sf.ifftn, complex_adjoint(sf.fftn, ifftn_adjoint))
declare_many(sf.rfft2, sf.rfftn, rfftn_adjoint)
declare_many(sf.irfft2, sf.irfftn, irfftn_adjoint)
declare_many(sf.hfft2, sf.hfftn, hfftn_adjoint)
declare_many(sf.ihfft2, sf.ihfftn, ihfftn_adjoint)

if sf.fftshift is not np.fft.fftshift:

    @rule.linear(sf.fftshift)
    def _(dy, x: ArrayLike, axes=None):
        return np.fft.ifftshift(dy, axes)

    @rule.linear(sf.ifftshift)
    def _(dy, x: ArrayLike, axes=None):
        return np.fft.fftshift(dy, axes)


def declare_frequencies(f):
    """Declare frequencies, which go with the inverse of the spacing."""

    @rule(f)
    def _(n: object, d: Numeric):
        y = f(n, d)

        def pullback(dy):
            return None, project(np.sum(dy * y) / -d, d)

        return y, pullback


if sf.fftfreq is not np.fft.fftfreq:
    declare_frequencies(sf.fftfreq)
    declare_frequencies(sf.rfftfreq)
rule.without_rule(
    "it runs SciPy's tests: call it outside of what is differentiated", "scipy.fft.test"
)


# -- of batches

for _f in (sf.fft, sf.ifft, sf.rfft, sf.irfft, sf.hfft, sf.ihfft):
    rule.batched(_f)(along_axis(_f))
for _f in (sf.fft2, sf.ifft2, sf.rfft2, sf.irfft2, sf.hfft2, sf.ihfft2):
    rule.batched(_f)(along_axes(_f, (-2, -1)))
for _f in (sf.fftn, sf.ifftn, sf.rfftn, sf.irfftn, sf.hfftn, sf.ihfftn):
    rule.batched(_f)(along_axes(_f))
