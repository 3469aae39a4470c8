"""Loss functions, under the names and with the conventions of Flux.

The first argument is the prediction, the second the target, of one shape (or one of them is a
number). `agg` says how the losses become one number: `np.mean` (the default), `np.sum`, or `None`
for none: then each loss stays, and the caller aggregates. Batches lie along the first axes; where
there are classes, they lie along `axis`, the last one. Integer targets count as real numbers.
"""

from typing import Any

import numpy as np

from rules_nnlib._numbers import plain, real
from rules_nnlib._softmax import logsoftmax


def mse(y_pred, y, *, agg=np.mean):
    """Return the mean squared error, agg((y_pred - y)²).

    Arguments:
        y_pred: the prediction, a real number or array.
        y: the target, of the shape of `y_pred`; one of them may be a number.
        agg: `np.mean`, `np.sum`, or `None`, which keeps the loss of each entry.

    Raises `ValueError` for other shapes or another `agg`, `TypeError` for complex numbers.
    (Flux's `mse`.)
    """
    p, t = pair(y_pred, y)
    error = p - t
    return plain(aggregate(error * error, agg), y_pred, y)


def mae(y_pred, y, *, agg=np.mean):
    """Return the mean absolute error, agg(|y_pred - y|).

    Arguments:
        y_pred: the prediction, a real number or array.
        y: the target, of the shape of `y_pred`; one of them may be a number.
        agg: `np.mean`, `np.sum`, or `None`, which keeps the loss of each entry.

    Raises `ValueError` for other shapes or another `agg`, `TypeError` for complex numbers.
    (Flux's `mae`.)
    """
    p, t = pair(y_pred, y)
    return plain(aggregate(abs(p - t), agg), y_pred, y)


def huber_loss(y_pred, y, *, agg=np.mean, delta=1.0):
    """Return the mean of error² / 2 where |error| <= delta, else delta * (|error| - delta / 2).

    Arguments:
        y_pred: the prediction, a real number or array.
        y: the target, of the shape of `y_pred`; one of them may be a number.
        agg: `np.mean`, `np.sum`, or `None`, which keeps the loss of each entry.
        delta: where the parabola becomes a line, a number > 0; an option without gradient.

    Raises `ValueError` for other shapes or another `agg`, `TypeError` for complex numbers.
    (Huber, 1964.)
    """
    p, t = pair(y_pred, y)
    size = abs(p - t)
    bent = np.minimum(size, delta)
    return plain(aggregate(bent * (size - 0.5 * bent), agg), y_pred, y)


def hinge_loss(y_pred, y, *, agg=np.mean):
    """Return agg(max(0, 1 - y_pred * y)), the max-margin loss, for targets of -1 and 1.

    Arguments:
        y_pred: the prediction, a real number or array.
        y: the target, of the shape of `y_pred`; one of them may be a number.
        agg: `np.mean`, `np.sum`, or `None`, which keeps the loss of each entry.

    Raises `ValueError` for other shapes or another `agg`, `TypeError` for complex numbers.
    (Flux's `hinge_loss`.)
    """
    p, t = pair(y_pred, y)
    return plain(aggregate(np.maximum(1 - p * t, 0.0), agg), y_pred, y)


def cross_entropy(y_pred, y, *, axis=-1, agg=np.mean, eps=None):
    """Return agg(-sum(y * log(y_pred + eps))), the sum over the classes along `axis`.

    Arguments:
        y_pred: a real array of probabilities that add up to 1 along `axis`, such as a `softmax`.
        y: the target's probabilities, such as one-hot vectors, of the shape of `y_pred`.
        axis: that of the classes.
        agg: `np.mean`, `np.sum`, or `None`, which keeps the loss of each example.
        eps: keeps the logarithm finite; `None` is the machine epsilon of `y_pred`.

    Raises `ValueError` for other shapes or another `agg`, `TypeError` for complex numbers.
    Prefer `logit_cross_entropy`, which is exact. (Flux's `crossentropy`.)
    """
    p, t = pair(y_pred, y)
    entropy = -np.sum(xlogy(t, p + epsilon(p, eps)), axis=axis)
    return plain(aggregate(entropy, agg), y_pred, y)


def logit_cross_entropy(y_pred, y, *, axis=-1, agg=np.mean):
    """Return agg(-sum(y * logsoftmax(y_pred))), the sum over the classes along `axis`.

    Arguments:
        y_pred: a real array of logits, that is, unnormalized logarithms of probabilities.
        y: the target's probabilities, such as one-hot vectors, of the shape of `y_pred`.
        axis: that of the classes.
        agg: `np.mean`, `np.sum`, or `None`, which keeps the loss of each example.

    Raises `ValueError` for other shapes or another `agg`, `TypeError` for complex numbers.
    (Flux's `logitcrossentropy`.)
    """
    p, t = pair(y_pred, y)
    logs = logsoftmax(p, axis)
    # an impossible class costs nothing where the target does not hold it
    entropy = -np.sum(t * np.where((t == 0) & ~np.isfinite(logs), 0.0, logs), axis=axis)
    return plain(aggregate(entropy, agg), y_pred, y)


def binary_cross_entropy(y_pred, y, *, agg=np.mean, eps=None):
    """Return agg(-y * log(y_pred + eps) - (1 - y) * log(1 - y_pred + eps)).

    Arguments:
        y_pred: probabilities of the one class, such as a `sigmoid`: a real number or array.
        y: the target's probabilities, between 0 and 1, of the shape of `y_pred`.
        agg: `np.mean`, `np.sum`, or `None`, which keeps the loss of each entry.
        eps: keeps the logarithms finite; `None` is the machine epsilon of `y_pred`.

    Raises `ValueError` for other shapes or another `agg`, `TypeError` for complex numbers.
    Prefer `logit_binary_cross_entropy`, which is exact. (Flux's `binarycrossentropy`.)
    """
    p, t = pair(y_pred, y)
    e = epsilon(p, eps)
    return plain(aggregate(-xlogy(t, p + e) - xlogy(1 - t, 1 - p + e), agg), y_pred, y)


def logit_binary_cross_entropy(y_pred, y, *, agg=np.mean):
    """Return agg(softplus(y_pred) - y * y_pred), the binary cross entropy of sigmoid(y_pred).

    Arguments:
        y_pred: logits, a real number or array.
        y: the target's probabilities, between 0 and 1, of the shape of `y_pred`.
        agg: `np.mean`, `np.sum`, or `None`, which keeps the loss of each entry.

    Raises `ValueError` for other shapes or another `agg`, `TypeError` for complex numbers.
    (Flux's `logitbinarycrossentropy`.)
    """
    p, t = pair(y_pred, y)
    losses = np.maximum(p, 0.0) - p * t + np.log1p(np.exp(-abs(p)))
    return plain(aggregate(losses, agg), y_pred, y)


def pair(y_pred: Any, y: Any) -> tuple[Any, Any]:
    """Return prediction and target as real arrays of one precision, or raise an error.

    Lists and tuples become arrays, integers take the precision of the other, a number is repeated.
    Raises `ValueError` where the shapes differ: to broadcast (n,) against (n, 1) is a mistake.
    """
    p, t = (np.asarray(x) if isinstance(x, list | tuple) else x for x in (y_pred, y))
    if np.shape(p) != np.shape(t) and np.ndim(p) and np.ndim(t):
        raise ValueError(
            f"a loss takes prediction and target of one shape, not {np.shape(p)} and {np.shape(t)}"
        )
    a, b = real(p), real(t)
    if hasattr(p, "dtype") and hasattr(t, "dtype"):
        if a is not p and b is t:
            a = p.astype(t.dtype)
        elif b is not t and a is p:
            b = t.astype(p.dtype)
    if np.ndim(a) < np.ndim(b):
        a = a + np.zeros_like(b)
    elif np.ndim(b) < np.ndim(a):
        b = b + np.zeros_like(a)
    return a, b


def aggregate(losses: Any, agg: Any) -> Any:
    """Return the losses as one number, or as they are."""
    if agg is None:
        return losses
    if agg is np.mean or agg is np.sum:
        return agg(losses)
    raise ValueError(
        f"agg is np.mean, np.sum or None, not {agg!r}; with None, aggregate the losses yourself"
    )


def epsilon(p: Any, eps: Any) -> Any:
    """Return what is added under a logarithm: `eps`, or the machine epsilon of `p`."""
    return float(np.finfo(getattr(p, "dtype", float)).eps) if eps is None else eps


def xlogy(x: Any, y: Any) -> Any:
    """Return x * log(y), and 0 where x is 0, whatever y."""
    return x * np.log(np.where(is_unused(x, y), 1.0, y))


def is_unused(t: Any, p: Any) -> Any:
    """Return where a target of 0 keeps a probability out of a loss: it has no logarithm.

    Where it has one, that is the slope by the target.
    """
    return (t == 0) & np.logical_not(p > 0)
