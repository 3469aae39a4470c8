"""Calls that the rules of `rules_scipy.optimize.fits` are checked with.

There are none: these rules need an AD that differentiates what it has differentiated. The tests are
with one.
"""
