"""Calls that the rules of `rules_scipy.interpolate` are checked with."""
