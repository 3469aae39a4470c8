"""Calls that the rules of `rules_scipy.sparse.csgraph` are checked with."""
