"""The calls that the rules are checked with: one file for each file of rules, in the same tree.

None is imported until somebody asks a rule set for its `examples`.
"""
