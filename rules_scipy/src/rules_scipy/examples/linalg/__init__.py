"""Calls that the rules of `rules_scipy.linalg` are checked with."""
