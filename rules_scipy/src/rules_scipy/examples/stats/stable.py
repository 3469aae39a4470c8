"""Calls that the rules of `rules_scipy.stats.stable` are checked with."""

from scipy import stats

from rules_scipy.stats.stable import rule

for name in ("_pdf", "_cdf"):
    rule.example(getattr(type(stats.levy_stable), name), stats.levy_stable, 0.7, 1.6, -0.5)
