"""Calls that the rules of `rules_base.numpy.linalg` are checked with."""
