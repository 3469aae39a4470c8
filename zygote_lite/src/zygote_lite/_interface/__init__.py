"""What users call: gradients, Jacobians, `jit`, and the functions that show the code.

Each function asks two tiers in turn. *Transformed* code (`_specialize`) answers if there is some
for the types of the arguments; else the call is *recorded* on a tape (`_tape`), and counted, so
that code is generated for it later.

Read in this order: `gradients` (`pullback`, and the functions based on it), `calls` (any call as a
plain call by position), `handlers` (the list of all handlers of the engine), `show` (the emitted
code as text), `export` (code as a module of its own), `demo` (the command line and the two moons).
"""
