"""Calls that the rules of `rules_scipy.fft` are checked with."""
