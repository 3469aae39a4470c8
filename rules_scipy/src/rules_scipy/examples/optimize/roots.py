"""Calls that the rules of `rules_scipy.optimize.roots` are checked with."""

from rules_scipy.optimize.roots import BRACKETED, rule


def cubic(x, c, d):
    """Return a cubic polynomial, whose root is that of `c` for `d == 0`."""
    return x**3 + d * x - c


for method in BRACKETED:
    rule.example(method, cubic, 0.0, 3.0, (2.0, 0.3))
