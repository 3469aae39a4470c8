"""Calls that the rules of `rules_base.python` are checked with."""
