"""Calls that the rules of `rules_scipy.integrate.quadratures` are checked with.

There are none: the error that `quad` returns beside the value has no rule. The tests compare with
closed forms and differences.
"""
