"""The calls that the rules are checked with: one file for each file of rules, in the same tree.

Each file records calls by `rule.example(f, *xs, **options)`. `python -m rulescore check` compares
them with finite differences, and the tests with more than that. None is imported until somebody
asks a rule set for its `examples`: a program that differentiates does not pay for them.

To add a rule, write it in `rules_base/<library>/<file>.py`, and a call that reaches it in
`rules_base/examples/<library>/<file>.py`; a rule without an example fails the check.
"""
