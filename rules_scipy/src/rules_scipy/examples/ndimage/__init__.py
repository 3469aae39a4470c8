"""Calls that the rules of `rules_scipy.ndimage` are checked with."""
