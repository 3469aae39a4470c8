"""What depends on a differentiated argument, and what a call may change.

Read `activity` first (is an operand active?), then `marks` (which containers hold active values,
and when nothing else can), `walk`, `heap` and `reachability` (the walk through the heap),
`operands` and `doubts` (where none is needed), `side_effects` (what functions written in C may
call, what code may write), `saved` (values that pullbacks have saved and that are written later).
"""
