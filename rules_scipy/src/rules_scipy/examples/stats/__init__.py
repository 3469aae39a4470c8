"""Calls that the rules of `rules_scipy.stats` are checked with."""
