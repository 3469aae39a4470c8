"""What users call: gradients, Jacobians, `jit`, and the functions that show the code.

A function asks two tiers in turn (`calls.transformed_first`). *Transformed* code (`_specialize`)
answers where there is some for the types of the arguments. Else the call is *recorded* on a tape
(`_tape`), and noted, so that code is made for it later. Inside a function that is itself
differentiated the call is recorded on a nested tape (`_nested`).

Read in this order: `gradients` (`pullback` and what is made of it), `calls` (the order of the
tiers, and any call as a plain call by position), `checking` and `differences` (a gradient against
differences of the function), `show` (the emitted code as text), `export` (code as a module of its
own), `handlers` (what is installed on the tape).
"""
