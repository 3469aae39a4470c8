"""Calls that the rules of `rules_scipy.integrate` are checked with."""
