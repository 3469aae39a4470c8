"""From the syntax tree to the IR: one module for each kind of construct.

Read `function` first (statements), then `variables`, `expressions`, `looking` (`locals()` and its
kin), `functions` (and what becomes one), `classes`, `patterns`.
"""
