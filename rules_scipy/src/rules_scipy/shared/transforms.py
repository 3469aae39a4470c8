"""Adjoints of Fourier, cosine and sine transforms along one axis.

The adjoint of a Fourier transform sums with the conjugate exponentials: it is the inverse transform
with the norm of the other direction. A cosine or sine transform is an orthogonal matrix between two
diagonal ones. A transform that pads or cuts its input has an adjoint that cuts or pads.
"""

import numpy as np
from scipy import fft as sf

ADJOINT_NORM = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}


def resized(dx, n, axis):
    """Return `dx` cut or padded with zeros to the length `n` along `axis`."""
    length = dx.shape[axis]
    if length >= n:
        return np.moveaxis(np.moveaxis(dx, axis, 0)[:n], 0, axis)
    widths = [(0, 0)] * dx.ndim
    widths[axis] = (0, n - length)
    return np.pad(dx, widths)


def along(weights, axis, ndim):
    """Return weights in the shape in which they act along an axis."""
    return weights.reshape((-1,) + (1,) * (ndim - 1 - axis % ndim))


def half_spectrum_times(dy, inner, n, axis):
    """Return a half spectrum of a signal of length `n`, its inner entries times `inner`."""
    k = np.arange(dy.shape[axis])
    weights = np.where((k == 0) | (2 * k >= n), 1, inner).astype(dy.real.dtype)
    return dy * along(weights, axis, dy.ndim)


def fft_adjoint(dy, length, axis, norm):
    """Return the cotangent, of `length` along `axis`, of the input of `fft`."""
    return resized(sf.ifft(dy, axis=axis, norm=ADJOINT_NORM[norm]), length, axis)


def ifft_adjoint(dy, length, axis, norm):
    """Return the cotangent of the input of `ifft`."""
    return resized(sf.fft(dy, axis=axis, norm=ADJOINT_NORM[norm]), length, axis)


def rfft_adjoint(dy, n, length, axis, norm):
    """Return the cotangent of the input of `rfft`, which was cut or padded to `n`."""
    halved = half_spectrum_times(dy, 0.5, n, axis)
    return resized(sf.irfft(halved, n, axis, ADJOINT_NORM[norm]), length, axis)


def irfft_adjoint(dy, length, axis, norm):
    """Return the cotangent of the input of `irfft`."""
    spectrum = sf.rfft(np.real(dy), axis=axis, norm=ADJOINT_NORM[norm])
    return resized(half_spectrum_times(spectrum, 2.0, dy.shape[axis], axis), length, axis)


def trigonometric_adjoint(dy, is_sine, type, length, axis, norm, orthogonalize):
    """Return the cotangent of the input of `dct`, or of `dst`."""
    orthogonalize = norm == "ortho" if orthogonalize is None else orthogonalize
    n = dy.shape[axis]
    size = n if type != 1 else n + 1 if is_sine else n - 1
    scale = {"ortho": 1.0, "forward": (2 * size) ** -0.5}.get(norm, (2 * size) ** 0.5)
    out, given = np.ones(n), np.ones(n)
    if not orthogonalize:
        ends = [0, n - 1] if type == 1 else [n - 1] if is_sine else [0]
        if type == 2 or (type == 1 and not is_sine):
            out[ends] = 2**0.5
        if type == 3 or (type == 1 and not is_sine):
            given[ends] = 0.5**0.5
    inverse = sf.idst if is_sine else sf.idct
    weighted = dy * along(scale * out, axis, dy.ndim).astype(dy.real.dtype)
    turned = inverse(weighted, type, axis=axis, norm="ortho", orthogonalize=True)
    return resized(turned * along(given, axis, dy.ndim).astype(dy.real.dtype), length, axis)


def axes_of(x, s, axes):
    """Return the axes of a transform of many, each with its lengths before it and in it."""
    shape = np.shape(x)
    if axes is None:
        first = 0 if s is None else len(shape) - len(np.atleast_1d(s))
        axes = range(first, len(shape))
    axes = [int(k) for k in np.atleast_1d(axes)]
    sizes = [None] * len(axes) if s is None else [int(n) for n in np.atleast_1d(s)]
    return [
        (axis, shape[axis], shape[axis] if n in (None, -1) else n)
        for axis, n in zip(axes, sizes, strict=True)
    ]
