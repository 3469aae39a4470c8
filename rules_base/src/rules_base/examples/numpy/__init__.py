"""Calls that the rules of `rules_base.numpy` are checked with."""
