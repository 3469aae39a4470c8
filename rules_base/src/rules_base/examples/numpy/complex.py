"""Calls that the rules of `rules_base.numpy.complex` are checked with."""

import operator

import numpy as np

from rules_base.numpy.complex import rule

COMPLEX = np.array([0.5 - 0.3j, -0.8 + 0.4j])
for f in (np.absolute, abs, operator.abs, np.sign, np.conjugate, np.real, np.imag, np.angle):
    rule.example(f, COMPLEX)
    rule.example(f, np.array([0.5, -0.8]))
    rule.example(f, -0.8 + 0.4j)
for f in (np.absolute, abs, operator.abs, np.sign):
    rule.example(f, -0.7)
for f in (np.ndarray.conj, np.ndarray.conjugate):
    rule.example(f, COMPLEX)
rule.example(np.angle, COMPLEX, deg=True)
for f in (np.generic.conj, np.generic.conjugate):
    rule.example(f, np.complex128(0.5 - 2j))
