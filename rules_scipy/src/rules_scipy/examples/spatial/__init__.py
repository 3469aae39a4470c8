"""Calls that the rules of `rules_scipy.spatial` are checked with."""
