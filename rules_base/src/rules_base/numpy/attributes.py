"""Attributes of arrays and numbers: `.T`, `.real` and what else reads as data."""

import numpy as np

from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base")


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

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
for attribute in (np.ndarray.T, np.ndarray.mT, np.ndarray.real, np.ndarray.imag):
    rule.example(attribute, MATRIX)
    rule.example(attribute, MATRIX * 1j + 1)
rule.example(np.generic.T, np.float64(0.5))
for attribute in (np.generic.real, np.generic.imag):
    rule.example(attribute, np.complex128(0.5 - 2j))
for attribute in (complex.real, complex.imag):
    rule.example(attribute, 0.5 - 2j)
for attribute in (float.real, float.imag):
    rule.example(attribute, 0.5)
for attribute in (int.real, int.imag):
    rule.example(attribute, 2)
rule.example(np.ndarray.flat, MATRIX)
