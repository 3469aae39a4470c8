"""Calls that the rules of `rules_scipy.sparse.linalg` are checked with."""
