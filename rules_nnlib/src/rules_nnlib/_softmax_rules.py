"""Rules for softmax and its relatives: each pullback is one product with the Jacobian."""

import numpy as np

from rules_nnlib._numbers import plain, real, times
from rules_nnlib._softmax import largest, logsoftmax, logsumexp, softmax
from rulescore import Array, Numeric, RuleSet, project
from rulescore.batching import behind, called

rule = RuleSet("rules_nnlib", may_raise=False)


@rule(softmax)
def _(x: Numeric, axis=-1):
    y = softmax(x, axis)

    def pullback(dy):
        weighted = times(dy, y)
        total = np.sum(weighted, axis=axis, keepdims=True)
        return (project(weighted - times(total, y), x),)

    return y, pullback


@rule(logsoftmax)
def _(x: Numeric, axis=-1):
    y = logsoftmax(x, axis)

    def pullback(dy):
        return (project(dy - times(np.sum(dy, axis=axis, keepdims=True), np.exp(y)), x),)

    return y, pullback


@rule(logsumexp)
def _(x: Numeric, axis=None, keepdims=False):
    a = real(x)
    peak = largest(a, axis)
    e = np.exp(a - peak)
    total = np.sum(e, axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):
        y = peak + np.log(total)

    def pullback(dy):
        # exp(a - y) would lose the logarithm where it is small beside the peak
        with np.errstate(invalid="ignore"):  # of infinite entries there are no shares
            shares = e / np.where(total == 0, 1.0, total)
        if axis is not None and not keepdims and np.ndim(a):
            dy = np.expand_dims(dy, axis)
        return (project(times(dy, shares), x),)

    return plain(y if keepdims else np.sum(y, axis=axis), x), pullback


def along_axis(f):
    """Return the body for a function that takes the entries along `axis` together."""

    def body(x: Array, axis=-1):
        return called(f, x, behind(axis, x))

    return body


rule.batched(softmax)(along_axis(softmax))
rule.batched(logsoftmax)(along_axis(logsoftmax))


@rule.batched(logsumexp)
def _(x: Array, axis=None, keepdims=False):
    return called(logsumexp, x, behind(axis, x), keepdims)


_logits = np.array([[0.1, -2.0, 1.5], [3.0, 0.2, 0.4]])
rule.example(softmax, _logits)
rule.example(softmax, _logits, 0)
rule.example(logsoftmax, _logits)
rule.example(logsumexp, _logits)
rule.example(logsumexp, _logits, axis=1)
rule.example(logsumexp, _logits, axis=0, keepdims=True)
