"""Calls that the rules of `rules_scipy.stats.studentized` are checked with."""

from scipy import stats

from rules_scipy.stats.studentized import rule

for name in ("_pdf", "_cdf"):
    rule.example(
        getattr(type(stats.studentized_range), name), stats.studentized_range, 2.7, 3.0, 9.0
    )
