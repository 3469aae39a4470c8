"""Discrete Fourier transforms: linear maps, whose pullback is the adjoint transform.

The adjoint of a transform sums with the conjugate exponentials, and so is the inverse transform
without its division: `norm="backward"` and `norm="forward"` change places. A transform that pads
or cuts its input to `n` has an adjoint that cuts or pads. The half spectrum of a real signal
stands for both halves, so that its inner entries count twice.
"""

import numpy as np

from rules_base.shared.axes import like
from rules_base.shared.matrices import ArrayLike
from rulescore import Array, Numeric, RuleSet, project
from rulescore.batching import behind

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.fft", may_raise=False)
ADJOINT_NORM = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def resized(dx, n, axis):
    """Return `dx` cut or padded with zeros to the length `n` along `axis`."""
    length = dx.shape[axis]
    if length == n:
        return dx
    if length > n:
        return np.moveaxis(np.moveaxis(dx, axis, 0)[:n], 0, axis)
    widths = [(0, 0)] * dx.ndim
    widths[axis] = (0, n - length)
    return np.pad(dx, widths)


def half_spectrum_times(dy, inner, n, axis):
    """Return a half spectrum of a signal of length `n`, its inner entries times `inner`."""
    k = np.arange(dy.shape[axis], **like(dy))
    weights = np.where((k == 0) | (2 * k >= n), 1, inner).astype(dy.real.dtype)
    return dy * np.reshape(weights, (-1,) + (1,) * (dy.ndim - 1 - axis % dy.ndim))


def fft_adjoint(dy, length, axis, norm):
    """Return the cotangent, of `length` along `axis`, of the input of `np.fft.fft`."""
    return resized(np.fft.ifft(dy, axis=axis, norm=ADJOINT_NORM[norm]), length, axis)


def ifft_adjoint(dy, length, axis, norm):
    """Return the cotangent, of `length` along `axis`, of the input of `np.fft.ifft`."""
    return resized(np.fft.fft(dy, axis=axis, norm=ADJOINT_NORM[norm]), length, axis)


def rfft_adjoint(dy, n, length, axis, norm):
    """Return the cotangent of the input of `np.fft.rfft`, which was cut or padded to `n`."""
    halved = half_spectrum_times(dy, 0.5, n, axis)
    return resized(np.fft.irfft(halved, n, axis, ADJOINT_NORM[norm]), length, axis)


def irfft_adjoint(dy, length, axis, norm):
    """Return the cotangent, of `length` along `axis`, of the input of `np.fft.irfft`."""
    spectrum = np.fft.rfft(np.real(dy), axis=axis, norm=ADJOINT_NORM[norm])
    return resized(half_spectrum_times(spectrum, 2.0, dy.shape[axis], axis), length, axis)


@rule.linear(np.fft.fft)
def _(dy, a: ArrayLike, n=None, axis=-1, norm=None):
    return fft_adjoint(dy, np.shape(a)[axis], axis, norm)


@rule.linear(np.fft.ifft)
def _(dy, a: ArrayLike, n=None, axis=-1, norm=None):
    return ifft_adjoint(dy, np.shape(a)[axis], axis, norm)


@rule.linear(np.fft.rfft)
def _(dy, a: ArrayLike, n=None, axis=-1, norm=None):
    length = np.shape(a)[axis]
    return rfft_adjoint(dy, length if n is None else n, length, axis, norm)


@rule.linear(np.fft.irfft)
def _(dy, a: ArrayLike, n=None, axis=-1, norm=None):
    return irfft_adjoint(dy, np.shape(a)[axis], axis, norm)


@rule.linear(np.fft.hfft)
def _(dy, a: ArrayLike, n=None, axis=-1, norm=None):
    # hfft(a) is irfft(conj(a)) with the norm of the other direction
    return np.conj(irfft_adjoint(dy, np.shape(a)[axis], axis, ADJOINT_NORM[norm]))


@rule.linear(np.fft.ihfft)
def _(dy, a: ArrayLike, n=None, axis=-1, norm=None):
    # ihfft(a) is conj(rfft(a)) with the norm of the other direction
    length = np.shape(a)[axis]
    size = length if n is None else n
    return rfft_adjoint(np.conj(dy), size, length, axis, ADJOINT_NORM[norm])


def axes_of(a, s, axes):
    """Return the axes of a transform of many, each with its length before the transform.

    NumPy transforms the last of the axes first; an axis may be named again.
    """
    shape = list(np.shape(a))
    if axes is None:
        axes = range(len(shape)) if s is None else range(-len(s), 0)
    sizes = [-1] * len(axes) if s is None else s
    lengths = []
    for axis, n in list(zip(axes, sizes, strict=True))[::-1]:
        lengths.append((axis, shape[axis]))
        shape[axis] = shape[axis] if n in (-1, None) else n
    return lengths[::-1]


def fftn_adjoint(dy, a, s, axes, norm):
    """Return the cotangent of the input of `np.fft.fftn`: axis by axis, the last first done."""
    for axis, length in axes_of(a, s, axes):
        dy = fft_adjoint(dy, length, axis, norm)
    return dy


def ifftn_adjoint(dy, a, s, axes, norm):
    """Return the cotangent of the input of `np.fft.ifftn`."""
    for axis, length in axes_of(a, s, axes):
        dy = ifft_adjoint(dy, length, axis, norm)
    return dy


def rfftn_adjoint(dy, a, s, axes, norm):
    """Return the cotangent of the input of `np.fft.rfftn`, which transforms its last axis first."""
    *others, (last, length) = axes_of(a, s, axes)
    n = length if s is None or s[-1] in (-1, None) else s[-1]
    for axis, length_before in others:
        dy = fft_adjoint(dy, length_before, axis, norm)
    return rfft_adjoint(dy, n, length, last, norm)


def irfftn_adjoint(dy, a, s, axes, norm):
    """Return the cotangent of the input of `np.fft.irfftn`, which transforms its last axis last."""
    lengths = axes_of(a, s, axes)
    dy = irfft_adjoint(dy, lengths[-1][1], lengths[-1][0], norm)
    for axis, length in lengths[-2::-1]:
        dy = ifft_adjoint(dy, length, axis, norm)
    return dy


@rule.linear(np.fft.fft2)
def _(dy, a: ArrayLike, s=None, axes=(-2, -1), norm=None):
    return fftn_adjoint(dy, a, s, axes, norm)


@rule.linear(np.fft.fftn)
def _(dy, a: ArrayLike, s=None, axes=None, norm=None):
    return fftn_adjoint(dy, a, s, axes, norm)


@rule.linear(np.fft.ifft2)
def _(dy, a: ArrayLike, s=None, axes=(-2, -1), norm=None):
    return ifftn_adjoint(dy, a, s, axes, norm)


@rule.linear(np.fft.ifftn)
def _(dy, a: ArrayLike, s=None, axes=None, norm=None):
    return ifftn_adjoint(dy, a, s, axes, norm)


@rule.linear(np.fft.rfft2)
def _(dy, a: ArrayLike, s=None, axes=(-2, -1), norm=None):
    return rfftn_adjoint(dy, a, s, axes, norm)


@rule.linear(np.fft.rfftn)
def _(dy, a: ArrayLike, s=None, axes=None, norm=None):
    return rfftn_adjoint(dy, a, s, axes, norm)


@rule.linear(np.fft.irfft2)
def _(dy, a: ArrayLike, s=None, axes=(-2, -1), norm=None):
    return irfftn_adjoint(dy, a, s, axes, norm)


@rule.linear(np.fft.irfftn)
def _(dy, a: ArrayLike, s=None, axes=None, norm=None):
    return irfftn_adjoint(dy, a, s, axes, norm)


@rule.linear(np.fft.fftshift)
def _(dy, x: ArrayLike, axes=None):
    return np.fft.ifftshift(dy, axes)


@rule.linear(np.fft.ifftshift)
def _(dy, x: ArrayLike, axes=None):
    return np.fft.fftshift(dy, axes)


@rule(np.fft.fftfreq)
def _(n: object, d: Numeric):
    y = np.fft.fftfreq(n, d)

    def pullback(dy):
        return None, project(np.sum(dy * y) / -d, d)

    return y, pullback


@rule(np.fft.rfftfreq)
def _(n: object, d: Numeric):
    y = np.fft.rfftfreq(n, d)

    def pullback(dy):
        return None, project(np.sum(dy * y) / -d, d)

    return y, pullback


# -- of batches


def transform_of_batches(f):
    """Return the body for a transform along one axis."""

    def body(x: Array, n=None, axis=-1, norm=None):
        return f(x, n, behind(axis, x), norm)

    return body


for _f in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft):
    rule.batched(_f)(transform_of_batches(_f))
