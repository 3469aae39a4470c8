"""The table of rules: what holds them, how a call finds one, and how the table changes.

From below come rules (`_rule`). Read in this order: `primitive` (the rules of one function, and
which of them answers), `deferred` (what stands for rules that are not loaded), `table` (all that is
known now), `resolution` (`rrule`, the verb, and the order in which it looks), and `changes` (rule
sets are registered and taken out). Above, `_declaring` and `_plugins` change the table; the
look-up is public.
"""
