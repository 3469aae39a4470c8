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
    if length == n:
        return dx
    axis = axis % dx.ndim
    if length > n:
        return dx[(slice(None),) * axis + (slice(n),)]
    return np.pad(dx, [(0, n - length if i == axis else 0) for i in range(dx.ndim)])


def along(weights, axis, ndim):
    """Return weights in the shape in which they act along an axis."""
    behind = ndim - 1 - axis % ndim
    return weights.reshape((-1,) + (1,) * behind) if behind else weights


def weights_of(n, inner, outer, is_first, is_last, like):
    """Return `n` weights in the precision of an array, of which the first or last are others."""
    weights = np.full(n, inner, like.real.dtype)
    if is_first:
        weights[0] = outer
    if is_last:
        weights[-1] = outer
    return weights


def half_spectrum_times(dy, inner, n, axis):
    """Return a half spectrum of a signal of length `n`, its inner entries times `inner`."""
    count = dy.shape[axis]
    weights = weights_of(count, inner, 1.0, True, 2 * (count - 1) >= n, dy)
    return dy * along(weights, axis, dy.ndim)


def fft_adjoint(dy, length, axis, norm):
    """Return the cotangent, of `length` along `axis`, of the input of `fft`."""
    return resized(sf.ifft(dy, None, axis, ADJOINT_NORM[norm]), length, axis)


def ifft_adjoint(dy, length, axis, norm):
    """Return the cotangent of the input of `ifft`."""
    return resized(sf.fft(dy, None, axis, ADJOINT_NORM[norm]), length, axis)


def fftn_adjoint(dy, axes, norm):
    """Return the cotangent of the input of `fftn`; `axes` are those that `axes_of` returns."""
    return all_resized(sf.ifftn(dy, None, [k for k, *_ in axes], ADJOINT_NORM[norm]), axes)


def ifftn_adjoint(dy, axes, norm):
    """Return the cotangent of the input of `ifftn`."""
    return all_resized(sf.fftn(dy, None, [k for k, *_ in axes], ADJOINT_NORM[norm]), axes)


def all_resized(dx, axes):
    """Return a cotangent with the lengths before a transform along `axes`."""
    for axis, length, _ in axes:
        dx = resized(dx, length, axis)
    return dx


def rfft_adjoint(dy, n, length, axis, norm):
    """Return the cotangent of the input of `rfft`, which was cut or padded to `n`."""
    halved = half_spectrum_times(dy, 0.5, n, axis)
    return resized(sf.irfft(halved, n, axis, ADJOINT_NORM[norm]), length, axis)


def irfft_adjoint(dy, length, axis, norm):
    """Return the cotangent of the input of `irfft`."""
    spectrum = sf.rfft(np.real(dy), None, axis, ADJOINT_NORM[norm])
    return resized(half_spectrum_times(spectrum, 2.0, dy.shape[axis], axis), length, axis)


def trigonometric_adjoint(dy, is_sine, type, axes, norm, orthogonalize):
    """Return the cotangent of the input of `dct`, or of `dst`, along `axes` as of `axes_of`."""
    orthogonalize = norm == "ortho" if orthogonalize is None else orthogonalize
    doubled = not orthogonalize and (type == 2 or (type == 1 and not is_sine))
    halved = not orthogonalize and (type == 3 or (type == 1 and not is_sine))
    ends = type == 1 or not is_sine, type == 1 or is_sine
    for axis, _, n in axes:
        size = n if type != 1 else n + 1 if is_sine else n - 1
        scale = 1.0 if norm == "ortho" else (2 * size) ** (-0.5 if norm == "forward" else 0.5)
        if doubled:
            weights = weights_of(n, scale, scale * 2**0.5, *ends, dy)
            dy = dy * along(weights, axis, dy.ndim)
        elif scale != 1:
            dy = dy * scale
    inverse = (sf.idst, sf.idstn) if is_sine else (sf.idct, sf.idctn)
    if len(axes) == 1:
        dx = inverse[0](dy, type, None, axes[0][0], "ortho", orthogonalize=True)
    else:
        dx = inverse[1](dy, type, None, [k for k, *_ in axes], "ortho", orthogonalize=True)
    if halved:
        for axis, _, n in axes:
            weights = weights_of(n, 1.0, 0.5**0.5, *ends, dy)
            dx = dx * along(weights, axis, dy.ndim)
    return all_resized(dx, axes)


def axes_of(x, s, axes):
    """Return the axes of a transform of many, each with its lengths before it and in it."""
    shape = x.shape if type(x) is np.ndarray else np.shape(x)
    if axes is None:
        first = 0 if s is None else len(shape) - len(np.atleast_1d(s))
        axes = range(first, len(shape))
    elif type(axes) is not tuple and type(axes) is not list:
        axes = [int(k) for k in np.atleast_1d(axes)]
    if s is None:
        return [(axis, shape[axis], shape[axis]) for axis in axes]
    sizes = [int(n) for n in np.atleast_1d(s)]
    return [
        (axis, shape[axis], shape[axis] if n == -1 else n)
        for axis, n in zip(axes, sizes, strict=True)
    ]
