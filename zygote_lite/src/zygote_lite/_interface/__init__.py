"""What users call: gradients, Jacobians, `jit`, and the functions that show the code.

Each function asks two tiers in turn. *Transformed* code (`_specialize`) answers where there is
some for the types of the arguments; else the call is *recorded* on a tape (`_tape`), and noted, so
that code is made for it later.

Read in this order: `gradients` (`pullback` and what is made of it), `calls` (any call as a plain
call by position), `nested` (the same functions inside differentiated code), `validate` (what goes
in and comes out), `show` (the emitted code as text), `export` (code as a module of its own),
`demo` (the command line and the two moons).
"""
