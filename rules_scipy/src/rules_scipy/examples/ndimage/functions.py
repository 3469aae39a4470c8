"""Calls that the rules of `rules_scipy.ndimage.functions` are checked with.

There are none: they take a function, which an AD differentiates. The tests compare with
differences.
"""
