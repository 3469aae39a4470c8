"""Calls that the rules of `rules_scipy.fftpack` are checked with."""
