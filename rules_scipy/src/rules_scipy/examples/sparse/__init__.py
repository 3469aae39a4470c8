"""Calls that the rules of `rules_scipy.sparse` are checked with."""
