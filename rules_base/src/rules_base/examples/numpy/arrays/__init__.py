"""Calls that the rules of `rules_base.numpy.arrays` are checked with."""
