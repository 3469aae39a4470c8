"""From Python's source to a small IR, and from the IR back to Python. It knows no derivative.

Read in this order: `source` (the definition of a function), `decompile` (the same where no text is
what runs), `nodes` (the IR), `lower` (from the syntax tree to the IR), `record` (every variable
gets a companion, the number of its value on the tape), `emit` (from the IR to a syntax tree),
`compile` (under the user's names). `intrinsics` are the functions that lowered code calls for what
has no name in Python. `operators` and `traits` are tables for all layers: Python's operators, and
what functions in C write and call; `names` and `places` tell users what is meant, and where.
"""
