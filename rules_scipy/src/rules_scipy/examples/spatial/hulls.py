"""Calls that the rules of `rules_scipy.spatial.hulls` are checked with.

There are none: the objects have no equality. The tests differentiate what they hold.
"""
