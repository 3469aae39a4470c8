"""Calls that the rules of `rules_scipy.signal` are checked with."""
