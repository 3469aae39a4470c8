"""Calls that the rules of `rules_scipy.linalg.tangents` are checked with.

There are none of its own: `check_rrule` compares each forward rule with the rule for the same
function, on the examples of that one.
"""
