"""Adjoints of Fourier, cosine and sine transforms along one axis.

The adjoint of a Fourier transform sums with the conjugate exponentials: it is the inverse transform
with the norm of the other direction. A cosine or sine transform is an orthogonal matrix between two
diagonal ones. A transform that pads or cuts its input has an adjoint that cuts or pads.
"""

import functools

import numpy as np
from scipy import fft as sf

ADJOINT_NORM = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
FEW = 4096  # weights that are held
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


def weights_of(n, inner, outer, is_first, is_last, axis, like):
    """Return `n` weights along an axis of an array, of which the first or last are others.

    They are held for later calls if they are few.
    """
    make = held_weights if n <= FEW else held_weights.__wrapped__
    behind, kind = like.ndim - 1 - axis % like.ndim, like.dtype.char.lower()
    return make(n, inner, outer, is_first, is_last, behind, kind)


@functools.lru_cache(maxsize=256)
def held_weights(n, inner, outer, is_first, is_last, behind, kind):
    """Return `n` weights with some axes behind them, which nobody may write to."""
    first = outer if is_first or (is_last and n == 1) else inner
    last = [outer if is_last else inner] if n > 1 else []
    middle = np.full(max(n - 2, 0), inner, kind)
    weights = np.concatenate([[first], middle, last], dtype=kind)
    weights.flags.writeable = False
    return weights.reshape((-1,) + (1,) * behind) if behind else weights


def half_spectrum_times(dy, inner, n, axis):
    """Return a half spectrum of a signal of length `n`, its inner entries times `inner`."""
    shape = dy.shape
    count = shape[axis]
    if count > FEW:
        return dy * weights_of(count, inner, 1.0, True, 2 * (count - 1) >= n, axis, dy)
    ndim = len(shape)
    behind, kind = ndim - 1 - axis % ndim, dy.dtype.char.lower()
    return dy * held_weights(count, inner, 1.0, True, 2 * (count - 1) >= n, behind, kind)


def fft_adjoint(dy, length, axis, norm):
    """Return the cotangent, of `length` along `axis`, of the input of `fft`."""
    dx = sf.ifft(dy, None, axis, ADJOINT_NORM[norm])
    return dx if dx.shape[axis] == length else resized(dx, length, axis)


def ifft_adjoint(dy, length, axis, norm):
    """Return the cotangent of the input of `ifft`."""
    dx = sf.fft(dy, None, axis, ADJOINT_NORM[norm])
    return dx if dx.shape[axis] == length else resized(dx, length, axis)


def fftn_adjoint(dy, axes, norm):
    """Return the cotangent of the input of `fftn`; `axes` are those that `axes_of` returns."""
    return all_resized(sf.ifftn(dy, None, [k for k, _, _ in axes], ADJOINT_NORM[norm]), axes)


def ifftn_adjoint(dy, axes, norm):
    """Return the cotangent of the input of `ifftn`."""
    return all_resized(sf.fftn(dy, None, [k for k, _, _ in axes], ADJOINT_NORM[norm]), axes)


def all_resized(dx, axes):
    """Return a cotangent with the lengths before a transform along `axes`."""
    for axis, length, n in axes:
        if length != n:
            dx = resized(dx, length, axis)
    return dx


def rfft_adjoint(dy, n, length, axis, norm):
    """Return the cotangent of the input of `rfft`, which was cut or padded to `n`."""
    dx = sf.irfft(half_spectrum_times(dy, 0.5, n, axis), n, axis, ADJOINT_NORM[norm])
    return dx if n == length else resized(dx, length, axis)


def irfft_adjoint(dy, length, axis, norm):
    """Return the cotangent of the input of `irfft`."""
    dy = dy.real
    dx = half_spectrum_times(sf.rfft(dy, None, axis, ADJOINT_NORM[norm]), 2.0, dy.shape[axis], axis)
    return dx if dx.shape[axis] == length else resized(dx, length, axis)


@functools.lru_cache(maxsize=256)
def scaling(is_sine, type, norm, orthogonalize):
    """Return how `dct` or `dst` differs from an orthogonal matrix.

    These are: whether weights double ends before it, and halve them after it; whether these are the
    first and the last; by how much more its size is than the number of entries; and the power of
    its double size that scales it, or `None`.
    """
    doubled = not orthogonalize and (type == 2 or (type == 1 and not is_sine))
    halved = not orthogonalize and (type == 3 or (type == 1 and not is_sine))
    ends = type == 1 or not is_sine, type == 1 or is_sine
    more = 0 if type != 1 else 1 if is_sine else -1
    power = None if norm == "ortho" else -0.5 if norm == "forward" else 0.5
    return doubled, halved, ends, more, power


def trigonometric_adjoint(dy, is_sine, type, axes, norm, orthogonalize):
    """Return the cotangent of the input of `dctn`, or of `dstn`, along `axes` as of `axes_of`."""
    plan = scaling(is_sine, type, norm, bool(orthogonalize))
    for axis, *_ in axes:
        dy = before(dy, plan, axis)
    inverse = sf.idstn if is_sine else sf.idctn
    dx = inverse(dy, type, None, [k for k, _, _ in axes], "ortho", False, None, orthogonalize=True)
    if plan[1]:
        for axis, *_ in axes:
            dx = after(dx, plan, axis)
    return all_resized(dx, axes)


def settled(type, norm, orthogonalize, inverse):
    """Return the type, norm and choice of the forward transform that an inverse one is."""
    choice = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
    if inverse:
        return INVERSE_TYPE[type], ADJOINT_NORM[norm], choice
    return type, norm, choice


def one_trigonometric_adjoint(is_sine, inverse):
    """Return the function that gives the cotangent of the input of `dct`, `dst` or their inverses.

    It takes the cotangent of the result, the input, the type, the axis, the norm and what is said
    of `orthogonalize`.
    """
    f = sf.idst if is_sine else sf.idct

    def adjoint(dy, x, kind, axis, norm, orthogonalize):
        if type(dy) is not np.ndarray:
            dy = np.asarray(dy)
        shape = dy.shape
        n = shape[axis]
        make = held_factors if n <= FEW else held_factors.__wrapped__
        kind, first, last = make(
            n, is_sine, inverse, kind, norm, orthogonalize, axis, len(shape), dy.dtype.char
        )
        if first is not None:
            dy = dy * first
        dx = f(dy, kind, None, axis, "ortho", False, None, True)
        if last is not None:
            dx = dx * last
        length = x.shape[axis] if type(x) is np.ndarray else np.shape(x)[axis]
        return dx if n == length else resized(dx, length, axis)

    return adjoint


@functools.lru_cache(maxsize=256)
def held_factors(n, is_sine, inverse, type, norm, orthogonalize, axis, ndim, char):
    """Return the type of the orthogonal matrix, and what is multiplied by before and after it."""
    behind = ndim - 1 - axis % ndim
    type, norm, choice = settled(type, norm, orthogonalize, inverse)
    doubled, halved, ends, more, power = scaling(is_sine, type, norm, choice)
    make = held_weights if n <= FEW else held_weights.__wrapped__
    first = last = None
    if power is not None or doubled:
        first = 1.0 if power is None else (2 * (n + more)) ** power
        if doubled:
            first = make(n, first, first * 2**0.5, *ends, behind, char.lower())
    if halved:
        last = make(n, 1.0, 0.5**0.5, *ends, behind, char.lower())
    return type, first, last


def before(dy, plan, axis):
    """Return a cotangent times what the transform multiplies by behind the orthogonal matrix."""
    doubled, _, ends, more, power = plan
    if power is None and not doubled:
        return dy
    n = dy.shape[axis]
    scale = 1.0 if power is None else (2 * (n + more)) ** power
    if doubled:
        return dy * weights_of(n, scale, scale * 2**0.5, *ends, axis, dy)
    return dy * scale


def after(dx, plan, axis):
    """Return a cotangent times what the transform multiplies by before the orthogonal matrix."""
    return dx * weights_of(dx.shape[axis], 1.0, 0.5**0.5, *plan[2], axis, dx)


def axes_of(x, s, axes):
    """Return the axes of a transform of many, each with its lengths before it and in it."""
    shape = x.shape if type(x) is np.ndarray else np.shape(x)
    if s is None and (axes is None or type(axes) is tuple):
        axes = range(len(shape)) if axes is None else axes
        return [(axis, shape[axis], shape[axis]) for axis in axes]
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
