"""Rules for the functions that work along an axis."""

import numpy as np
from scipy import special as sp

from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy_special")


@rule(sp.logsumexp)
def _(a: Numeric, axis=None, *, keepdims=False):
    y = sp.logsumexp(a, axis=axis, keepdims=True)

    def pullback(dy):
        if axis is not None and not keepdims:
            dy = np.expand_dims(dy, axis)
        return (project(dy * sp.softmax(a, axis=axis), a),)

    return y if keepdims else np.sum(y, axis=axis), pullback


@rule(sp.softmax)
def _(x: Numeric, axis=None):
    y = sp.softmax(x, axis=axis)

    def pullback(dy):
        weighted = dy * y
        return (project(weighted - y * np.sum(weighted, axis=axis, keepdims=True), x),)

    return y, pullback


@rule(sp.log_softmax)
def _(x: Numeric, axis=None):
    y = sp.log_softmax(x, axis=axis)

    def pullback(dy):
        return (project(dy - np.exp(y) * np.sum(dy, axis=axis, keepdims=True), x),)

    return y, pullback


for f in (sp.logsumexp, sp.softmax, sp.log_softmax):
    rule.example(f, np.array([[0.3, -1.2], [2.0, 0.4]]))
    rule.example(f, np.array([[0.3, -1.2], [2.0, 0.4]]), axis=-1)
