"""Attributes of arrays and numbers: `.T`, `.real` and what else reads as data."""

import numpy as np

from rules_base.shared.forward import linear_in_first
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.attributes", may_raise=False)


@rule(np.ndarray.T)
def _(x: Array):
    def pullback(dy):
        return (project(np.transpose(dy), x),)

    return x.T, pullback


@rule(np.ndarray.mT)
def _(x: Array):
    def pullback(dy):
        return (project(np.swapaxes(dy, -1, -2), x),)

    return np.swapaxes(x, -1, -2), pullback


@rule(np.ndarray.real, np.generic.real, float.real, complex.real, int.real)
def _(x: Numeric):
    def pullback(dy):
        return (project(dy, x),)

    return x.real, pullback


@rule(np.ndarray.imag, np.generic.imag, float.imag, complex.imag, int.imag)
def _(x: Numeric):
    def pullback(dy):
        return (project(1j * dy, x),)

    return x.imag, pullback


@rule(np.ndarray.flat)
def _(x: Array):
    def pullback(dy):
        return (project(np.reshape(dy, x.shape), x),)

    return x.flat, pullback


@rule(np.generic.T)
def _(x: np.generic):
    def pullback(dy):
        return (project(dy, x),)

    return x.T, pullback


linear_in_first(rule, Array, np.ndarray.T, np.ndarray.mT)
linear_in_first(rule, Numeric, np.ndarray.real, np.generic.real, np.ndarray.imag, np.generic.imag)


DESCRIPTIONS = (
    "shape",
    "ndim",
    "size",
    "dtype",
    "itemsize",
    "nbytes",
    "strides",
    "flags",
    "device",
)
for kind in (np.ndarray, np.generic):
    rule.constant(*(getattr(kind, name) for name in DESCRIPTIONS if hasattr(kind, name)))


# -- of batches


@rule.batched(np.ndarray.real, np.generic.real)
def _(x: Array | np.generic):
    return np.real(x)


@rule.batched(np.ndarray.imag, np.generic.imag)
def _(x: Array | np.generic):
    return np.imag(x)
