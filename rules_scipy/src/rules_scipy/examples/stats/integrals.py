"""Calls that the rules of `rules_scipy.stats.integrals` are checked with: they need an AD."""

from rules_scipy.stats.integrals import rule

__all__ = ["rule"]
