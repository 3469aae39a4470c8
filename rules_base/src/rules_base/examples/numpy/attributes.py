"""Calls that the rules of `rules_base.numpy.attributes` are checked with."""

import numpy as np

from rules_base.numpy.attributes import rule

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
