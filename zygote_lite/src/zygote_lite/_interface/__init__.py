"""What users call: gradients, Jacobians, `jit`, and the functions that show the code.

A function asks two tiers in turn (`calls.transformed_first`). *Transformed* code (`_specialize`)
answers where there is some for the types of the arguments. Else the call is *recorded* on a tape
(`_tape`), and noted, so that code is made for it later. Inside a function that is itself
differentiated the call is recorded on a nested tape (`_nested`).

Read in this order: `gradients` (`pullback` and what is made of it), `calls` (the order of the
tiers, and any call as a plain call by position), `vjp`, `jacobians`, `tangents` and `linearizing`
(forward mode), `runs_inside` (what these return, inside a gradient), `checkpoints`, `batches`,
`trees`, `checking` and `differences` (a gradient against differences of the function).

The code is shown by `show` and `stages`, highlighted by `code`, and written as a module of its own
by `export`, with the functions that it calls (`written_out`); `jit` compiles it.
`library_functions` has Python functions that call others, `clusters` is what dask.distributed is
given, and `handlers` is what is installed on the tape.
"""
