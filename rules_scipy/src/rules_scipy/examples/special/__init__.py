"""Calls that the rules of `rules_scipy.special` are checked with."""
