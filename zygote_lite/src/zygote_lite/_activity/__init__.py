"""What depends on a differentiated argument, and what a call may change.

Read `activity` first (is an operand active?), then `marks` (which containers hold active values,
and when nothing else can), `walk`, `heap` and `reachability` (the walk through the heap),
`operands` and `doubts` (where none is needed), `deeds` (what a function may write and read, told
from its code), `hooks` and `side_effects` (which methods functions written in C may call), `named`
(what code may call by its names), `effects` and `watching` (what a function does to the system,
told from its code, and where it runs), `contents` (whether something has changed), `saved` (values
that pullbacks have saved and that are written later).
"""
