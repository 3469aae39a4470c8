"""Calls that the rules of `rules_scipy.spatial.neighbours` are checked with.

There are none: the trees have no equality. The tests differentiate what they find.
"""
