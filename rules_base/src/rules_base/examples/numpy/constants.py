"""Calls that the rules of `rules_base.numpy.constants` are checked with."""

import operator

from rules_base.numpy.constants import rule

for f in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
    rule.example(f, 6, 2)
for f in (operator.invert, operator.inv):
    rule.example(f, 6)
