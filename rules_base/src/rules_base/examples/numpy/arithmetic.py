"""Calls that the rules of `rules_base.numpy.arithmetic` are checked with."""

import operator

import numpy as np

from rules_base.numpy.arithmetic import rule

for f in (np.add, operator.add, np.subtract, operator.sub, np.multiply, operator.mul):
    rule.example(f, 0.7, -1.3)
    rule.example(f, np.array([[0.5, -1.5, 2.0]]), np.array([[1.25], [-0.5]]))
for f in (np.true_divide, operator.truediv, np.power, pow, operator.pow, np.float_power):
    rule.example(f, 0.7, -1.3)
    rule.example(f, np.array([[0.5, 1.5, 2.0]]), np.array([[1.25], [-0.5]]))
    rule.example(f, 2.0, np.array([1.25, -0.5, 2.0]))
for f in (np.remainder, operator.mod, np.fmod, np.floor_divide, operator.floordiv):
    rule.example(f, 0.7, -1.3)
    rule.example(f, np.array([[0.5, 1.7, 2.3]]), np.array([[1.25], [-0.8]]))
for f in (operator.neg, operator.pos, np.negative, np.positive, np.square, np.reciprocal):
    rule.example(f, 0.7)
    rule.example(f, np.array([0.5, -1.5, 2.0]))
for f in (divmod, np.divmod):
    rule.example(f, np.array([0.5, 1.7, 2.3]), np.array([1.25]))
rule.example(operator.mod, "%d", 3)
rule.example(np.modf, np.array([0.5, -1.7]))
rule.example(np.frexp, np.array([0.7, -3.7]))
rule.example(np.ldexp, np.array([0.7, -3.7]), np.array([3, -2]))
