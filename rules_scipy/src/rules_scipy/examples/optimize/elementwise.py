"""Calls that the rules of `rules_scipy.optimize.elementwise` are checked with.

There are none: of what these functions return only a part has a gradient, and those of minima need
an AD that differentiates what it has differentiated. The tests are with one.
"""
