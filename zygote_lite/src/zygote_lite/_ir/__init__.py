"""From Python's source to a small IR, and from the IR back to Python. It knows no derivative.

Read in this order: `source` (the definition of a function; `bytecode` and `scopes` read what is
inside, and `recompile` tells whether it is what runs), `decompile` (the same where no text is what
runs), `nodes` (the IR), `lower` (from the syntax tree to the IR), `record` (every variable gets a
companion, the number of its value on the tape), `emit` (from the IR to a syntax tree), `compile`
(under the user's names).

`intrinsics` are the functions that lowered code calls for what has no name in Python.
`text_functions` makes a function of a text that `eval` or `exec` is given, and `module_hooks` knows
the `__getattr__` of modules.

`operators` and `traits` are tables for all layers: Python's operators, and what functions in C
write and call. `names` and `places` tell users what is meant, and where; `frames` and
`stand_in_frames` make the traceback one of the user's own code.
"""
