"""Softmax and its relatives, along an axis, shifted by the maximum so that nothing overflows."""

import numpy as np

from rules_nnlib._numbers import plain, real


def softmax(x, axis=-1):
    """Return exp(x) / sum(exp(x)) along `axis`: positive numbers that add up to 1.

    Arguments:
        x: a real array; the result has its shape and precision.
        axis: an axis, a tuple of axes, or `None` for all. NNlib's `dims`; the default is the
            last one, where NumPy code has its classes.

    Raises `TypeError` for complex numbers.
    """
    a = real(x)
    e = np.exp(a - largest(a, axis))
    return plain(e / np.sum(e, axis=axis, keepdims=True), x)


def logsoftmax(x, axis=-1):
    """Return log(softmax(x, axis)), with no digit lost where softmax underflows.

    Arguments:
        x: a real array; the result has its shape and precision.
        axis: an axis, a tuple of axes, or `None` for all.

    Raises `TypeError` for complex numbers.
    """
    a = real(x)
    a = a - largest(a, axis)
    with np.errstate(divide="ignore"):  # the logarithm of an empty sum
        return plain(a - np.log(np.sum(np.exp(a), axis=axis, keepdims=True)), x)


def logsumexp(x, axis=None, keepdims=False):
    """Return log(sum(exp(x))) over `axis`, a smooth maximum.

    Arguments:
        x: a real array; the result has its precision. No entries, or -inf alone, give -inf.
        axis: an axis, a tuple of axes, or `None` for all, the default as in NNlib and SciPy.
        keepdims: whether the axes summed over stay, with length 1.

    Raises `TypeError` for complex numbers.
    """
    a = real(x)
    peak = largest(a, axis)
    total = np.sum(np.exp(a - peak), axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):
        y = peak + np.log(total)
    return plain(y if keepdims else np.sum(y, axis=axis), x)


def largest(a, axis):
    """Return the maximum along `axis`, as a column to subtract; 0 where it is infinite."""
    if 0 in np.shape(a):
        return a.dtype.type(0)
    peak = np.max(a, axis=axis, keepdims=True)
    return np.where(np.isinf(peak), 0.0, peak)
