"""Calls that the rules of `rules_scipy.signal.placement` are checked with.

There are none: the objects have no equality. The tests differentiate the gain that they hold.
"""
