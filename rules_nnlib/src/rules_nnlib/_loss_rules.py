"""Rules for the losses: gradients for the prediction and the target, with the factor of `agg`.

At a kink (no error at all in `mae`, the margin in `hinge_loss`) the loss has a minimum, and the
gradient is 0.
"""

import math

import numpy as np

from rules_nnlib._activations import sigmoid
from rules_nnlib._batches import paired
from rules_nnlib._losses import (
    aggregate,
    binary_cross_entropy,
    cross_entropy,
    epsilon,
    hinge_loss,
    huber_loss,
    is_unused,
    logit_binary_cross_entropy,
    logit_cross_entropy,
    mae,
    mse,
    pair,
    xlogy,
)
from rules_nnlib._numbers import plain, times
from rules_nnlib._softmax import largest
from rulescore import Numeric, RuleSet, project
from rulescore.batching import behind, called

rule = RuleSet("rules_nnlib", may_raise=False)
Values = Numeric | list | tuple


def share(dy, losses, agg):
    """Return the cotangent of each loss, from the cotangent of their aggregate."""
    return dy / max(math.prod(np.shape(losses)), 1) if agg is np.mean else dy


def share_classes(dy, entropy, agg, axis):
    """Return the cotangent of each summand of an entropy along `axis`."""
    dy = share(dy, entropy, agg)
    return np.expand_dims(dy, axis) if agg is None and np.ndim(dy) else dy


def like(dx, x):
    """Return the cotangent `dx` in the kind of `x`: a list for a list."""
    if isinstance(x, list | tuple):
        dx = np.broadcast_to(dx, np.shape(x))
        return type(x)(like(d, entry) for d, entry in zip(dx, x, strict=True))
    return project(dx, x)


def of_difference(x, y):
    """Return the parts of the pullback of `x - y`."""

    def dx(dz):
        return like(dz, x)

    def dy(dz):
        return like(-dz, y)

    return dx, dy


@rule(mse)
def _(y_pred: Values, y: Values, *, agg=np.mean):
    p, t = pair(y_pred, y)
    error = p - t

    def derror(dy):
        return times(share(dy, error, agg), 2 * error)

    return plain(aggregate(error * error, agg), y_pred, y), (derror, of_difference(y_pred, y))


@rule(mae)
def _(y_pred: Values, y: Values, *, agg=np.mean):
    p, t = pair(y_pred, y)
    error = p - t

    def derror(dy):
        return times(share(dy, error, agg), np.sign(error))

    return plain(aggregate(abs(error), agg), y_pred, y), (derror, of_difference(y_pred, y))


@rule(huber_loss)
def _(y_pred: Values, y: Values, *, agg=np.mean, delta=1.0):
    p, t = pair(y_pred, y)
    error = p - t
    size = abs(error)
    bent = np.minimum(size, delta)

    def derror(dy):
        return times(share(dy, error, agg), np.clip(error, -delta, delta))

    losses = aggregate(bent * (size - 0.5 * bent), agg)
    return plain(losses, y_pred, y), (derror, of_difference(y_pred, y))


@rule(hinge_loss)
def _(y_pred: Values, y: Values, *, agg=np.mean):
    p, t = pair(y_pred, y)
    losses = np.maximum(1 - p * t, 0.0)

    def dmargin(dy):
        return times(-share(dy, losses, agg), np.sign(losses))

    def dp(dm):
        return like(times(dm, t), y_pred)

    def dt(dm):
        return like(times(dm, p), y)

    return plain(aggregate(losses, agg), y_pred, y), (dmargin, (dp, dt))


@rule(cross_entropy)
def _(y_pred: Values, y: Values, *, axis=-1, agg=np.mean, eps=None):
    p, t = pair(y_pred, y)
    q = p + epsilon(p, eps)
    entropy = -np.sum(xlogy(t, q), axis=axis)

    def dp(dy):
        de = -share_classes(dy, entropy, agg, axis)
        with np.errstate(all="ignore"):  # the value has given its warnings
            return like(times(de, t / np.where(is_unused(t, q), 1.0, q)), y_pred)

    def dt(dy):
        de = -share_classes(dy, entropy, agg, axis)
        with np.errstate(all="ignore"):
            return like(times(de, np.log(q)), y)

    return plain(aggregate(entropy, agg), y_pred, y), (dp, dt)


@rule(logit_cross_entropy)
def _(y_pred: Values, y: Values, *, axis=-1, agg=np.mean):
    p, t = pair(y_pred, y)
    shifted = p - largest(p, axis)
    e = np.exp(shifted)
    total = np.sum(e, axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):  # the logarithm of an empty sum
        logs = shifted - np.log(total)
    entropy = -np.sum(t * np.where((t == 0) & ~np.isfinite(logs), 0.0, logs), axis=axis)

    def dp(dy):
        de = share_classes(dy, entropy, agg, axis)
        with np.errstate(all="ignore"):  # the value has given its warnings
            dp = times(de, e * (np.sum(t, axis=axis, keepdims=True) / total) - t)
        return like(dp, y_pred)

    def dt(dy):
        return like(times(-share_classes(dy, entropy, agg, axis), logs), y)

    return plain(aggregate(entropy, agg), y_pred, y), (dp, dt)


@rule(binary_cross_entropy)
def _(y_pred: Values, y: Values, *, agg=np.mean, eps=None):
    p, t = pair(y_pred, y)
    e = epsilon(p, eps)
    q, r = p + e, 1 - p + e
    losses = -xlogy(t, q) - xlogy(1 - t, r)

    def dp(dy):
        with np.errstate(all="ignore"):  # the value has given its warnings
            slope = (1 - t) / np.where(is_unused(1 - t, r), 1.0, r)
            slope = slope - t / np.where(is_unused(t, q), 1.0, q)
            return like(times(share(dy, losses, agg), slope), y_pred)

    def dt(dy):
        with np.errstate(all="ignore"):
            return like(times(share(dy, losses, agg), np.log(r) - np.log(q)), y)

    return plain(aggregate(losses, agg), y_pred, y), (dp, dt)


@rule(logit_binary_cross_entropy)
def _(y_pred: Values, y: Values, *, agg=np.mean):
    p, t = pair(y_pred, y)
    losses = np.maximum(p, 0.0) - p * t + np.log1p(np.exp(-abs(p)))

    def dp(dy):
        return like(times(share(dy, losses, agg), sigmoid(p) - t), y_pred)

    def dt(dy):
        return like(times(-share(dy, losses, agg), p), y)

    return plain(aggregate(losses, agg), y_pred, y), (dp, dt)


def aggregated(y, agg):
    """Return the losses of each entry as one number, or as they are."""
    if agg is None:
        return y
    if agg is not np.mean and agg is not np.sum:
        return NotImplemented  # which is an error for each entry
    return agg(y, axis=tuple(range(1, np.ndim(y))))


def loss_of_batches(loss):
    """Return the body for a loss that is elementwise, but for `agg`."""

    def body(y_pred: Numeric, y: Numeric, agg=np.mean, **options):
        return aggregated(called(loss, *paired(y_pred, y), agg=None, **options), agg)

    return body


def entropy_of_batches(loss):
    """Return the body for a loss that sums over the classes along `axis`."""

    def body(y_pred: Numeric, y: Numeric, axis=-1, agg=np.mean, **options):
        p, t = paired(y_pred, y)
        axis = behind(axis, p if np.ndim(p) else t)
        return aggregated(called(loss, p, t, axis=axis, agg=None, **options), agg)

    return body


for _loss in (
    mse, mae, huber_loss, hinge_loss, binary_cross_entropy,
    logit_binary_cross_entropy,
):  # fmt: skip
    rule.batched(_loss)(loss_of_batches(_loss))
for _loss in (cross_entropy, logit_cross_entropy):
    rule.batched(_loss)(entropy_of_batches(_loss))

_p, _t = np.array([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]]), np.array([[0.0, 1.0, 0.0], [0.6, 0.1, 0.3]])
for loss in (mse, mae, huber_loss, hinge_loss, cross_entropy, logit_cross_entropy):
    rule.example(loss, _p, _t)
    rule.example(loss, _p, _t, agg=None)
for loss in (binary_cross_entropy, logit_binary_cross_entropy):
    rule.example(loss, _p[0], _t[0])
    rule.example(loss, _p[0], _t[0], agg=np.sum)
