"""Calls that the rules of `rules_scipy.optimize` are checked with."""
