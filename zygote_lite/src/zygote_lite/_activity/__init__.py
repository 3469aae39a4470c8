"""What depends on a differentiated argument, and what a call may change.

Read `activity` first (is an operand active? what was saved?), then `reachability` (the walk through
the heap), `side_effects` (what functions written in C may call, what code may write), `saved`
(values that pullbacks have saved and that are written later).
"""
