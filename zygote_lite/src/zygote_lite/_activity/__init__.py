"""What depends on a differentiated argument, and what a call may change.

Read `activity` first (is an operand active?), then `marks` (which containers hold active values,
and when nothing else can), `walk`, `heap` and `reachability` (the walk through the heap),
`operands` and `doubts` (where no walk is needed), and `wholes` (values that hold arrays and go by
value, such as sparse matrices).

What a call may change: `classes` (what a class defines), `deeds` (what a function may write and
read, told from its code), `namespaces` (variables of modules that are written through a dict),
`hooks` and `side_effects` (which methods functions written in C may call), `named` (what code may
call by its names), `effects`, `watching` and `outputs` (what a function does to the system and to
streams, told from its code, and where it runs), `asking` (what it asks the system, a clock or a
generator), `contents` (whether something has changed), `saved` (values that pullbacks have saved
and that are written later), `constants` (calls that are declared to have no gradient: they may
change none of that).
"""
