"""Calls that the rules of `rules_base.numpy.random` are checked with."""

import numpy as np

from rules_base.numpy.random import RandomState, rule

GENERATOR, LEGACY = np.random.default_rng(5), RandomState(5)
LOCATION, SCALE = np.array([[0.5], [-1.5]]), np.array([1.25, 0.5, 2.0])
for name in ("normal", "laplace", "logistic", "gumbel", "uniform"):
    rule.example(getattr(np.random, name), LOCATION - 2, SCALE)
    rule.example(getattr(np.random, name), 0.5, 1.25, (2, 3))
    for generator in (GENERATOR, LEGACY):
        rule.example(getattr(type(generator), name), generator, LOCATION - 2, SCALE)
        rule.example(getattr(type(generator), name), generator, 0.5, 1.25, size=4)
for name in ("normal", "laplace", "logistic", "gumbel"):
    rule.example(getattr(np.random, name), LOCATION, size=(2, 3))
    for generator in (GENERATOR, LEGACY):
        rule.example(getattr(type(generator), name), generator, LOCATION)
for name in ("exponential", "rayleigh"):
    rule.example(getattr(np.random, name), SCALE, (2, 3))
    for generator in (GENERATOR, LEGACY):
        rule.example(getattr(type(generator), name), generator, SCALE)
for name in ("normal", "laplace", "logistic", "gumbel", "exponential", "rayleigh", "uniform"):
    rule.example(getattr(np.random, name), size=3)
    for generator in (GENERATOR, LEGACY):
        rule.example(getattr(type(generator), name), generator, size=3)
rule.example(RandomState.permutation, LEGACY, 5)
rule.example(np.random.Generator.permutation, GENERATOR, 5)
for generator in (GENERATOR, LEGACY):
    rule.example(type(generator).choice, generator, 5)
    rule.example(type(generator).choice, generator, 5, (2, 3))
    rule.example(type(generator).choice, generator, 5, 3, replace=False)
