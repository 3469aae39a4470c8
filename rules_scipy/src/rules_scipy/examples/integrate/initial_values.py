"""Calls that the rules of `rules_scipy.integrate.initial_values` are checked with.

There are none: `solve_ivp` returns more than what carries a gradient. The tests compare with closed
forms and differences.
"""
